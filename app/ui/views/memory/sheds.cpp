
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/memory/view.h"
#include "core/comm/call_names.h"
#include "core/mesh/mesh.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostBars = 8, kBarsOfMany = 4;
constexpr float kPanelGap = 10, kSide = 84, kNarrowSide = 66, kWireRow = 32;
// From the bottom: what ZeRO shares out lies on top, so that it falls from there.
constexpr std::array<std::size_t, kCategoryCount> kStack{kBuffers, 3, 0, 1, 2};

// Says what has room in a panel, the same in all of them, and its scale.
struct Shape {
    bool calls = false, wires = false;  // a line of what is sent; bars of it, with words
    float foot = 0;                     // height of what stands below the bars
    std::size_t most_wires = 0;
    double top = 0;        // bytes at the top of the plot
    double most_sent = 0;  // bytes of the longest bar of a wire
};

float panel_pad(float panel) {
    return panel < 200 ? 8 : 12;
}

// Returns the words under the wires.
std::string words_below(const ZeroRungs& all, const ZeroRung& r) {
    std::string words = r.zero == 0 && all.ranks > 1 ? "hatched: every copy keeps it whole" : r.wire_words;
    if (!words.empty() && r.gathered > 0) words += " (framed, while they are here)";
    return words;
}

// `panel` is the width of one.
Shape shape_of(Ui& ui, Rect room, float panel, const ZeroRungs& all) {
    Shape s;
    const float width = panel - 2 * panel_pad(panel);
    float words = 0;
    s.top = all.hbm;
    for (const ZeroRung& r : all.rung) {
        s.top = std::max(s.top, r.held.total());
        s.most_wires = std::max(s.most_wires, r.wires.size());
        const float h =
            ui.canvas().paragraph_height(width, words_below(all, r), ui.small(), 17)
            + (r.lacks.empty() ? 0 : ui.canvas().paragraph_height(width, r.lacks, ui.small(), 17));
        words = std::max(words, h);
        for (const ZeroWire& w : r.wires) s.most_sent = std::max(s.most_sent, w.sent_bytes);
    }
    s.top = ui.kept_scale("sheds.top", s.top);
    s.wires = room.h >= 430;
    s.calls = !s.wires && room.h >= 250;
    s.foot = s.wires ? 28 + words + kWireRow * static_cast<float>(s.most_wires) : s.calls ? 22 : 0;
    return s;
}

std::string headline(const ZeroRungs& all) {
    const std::string where =
        all.stages > 1 ? " Drawn is a GPU of stage " + std::to_string(all.stage) + "." : "";
    if (all.ranks > 1)
        return "ZeRO cuts nothing. " + thousands(all.ranks) + " copies shed what the others keep." + where;
    if (all.experts > 1)
        return "dp_shard is 1: only the experts' state has copies to share it out, " + thousands(all.experts)
               + "." + where;
    return "dp_shard is 1: no copies share out one state, and ZeRO 0 to 3 are the same." + where;
}

std::string sent_text(const ZeroRung& r) {
    double calls = 0;
    for (const ZeroWire& w : r.wires) calls += w.calls;
    return r.wires.empty() ? "sends nothing"
                           : traffic_text(r.sent_bytes) + " in "
                                 + plural(std::llround(calls), "call", "calls") + " a step";
}

// Returns the same in fewer words for less room: bytes and calls are not cut.
std::string sent_text(Ui& ui, float width, const ZeroRung& r) {
    std::string whole = sent_text(r);
    const std::string_view a_step = " a step";
    if (r.wires.empty()) return whole;
    const std::string calls = whole.substr(0, whole.size() - a_step.size());
    const std::string bytes = traffic_text(r.sent_bytes);
    const std::array<std::string, 4> words{whole, calls, "sends " + bytes, bytes};
    const std::string_view fits = wording(ui, width, words, ui.small());
    return fits.empty() ? bytes : std::string(fits);
}

std::string tooltip_of(const ZeroRungs& all, const ZeroRung& r) {
    std::string t = "ZeRO-" + std::to_string(r.zero) + (r.zero == all.own ? ", this plan" : ", click to set");
    if (!r.possible()) return t + "\n" + r.refused;
    t += "\n" + r.held_words;
    for (std::size_t i = kCategoryCount; i-- > 0;) {
        const std::size_t k = kStack[i];
        t += "\n" + std::string(category_name(k)) + "  " + memory_text(bytes_at(r.held, k));
        if (k < kStates && all.ranks > 1) t += r.shared[k] ? "  (a part)" : "  (whole, as on the others)";
    }
    if (r.gathered > 0)
        t += "\nof the buffers " + memory_text(r.gathered)
             + " are layers whose weights are whole for a moment";
    return t + "\ndata parallelism " + (r.wires.empty() ? "" : "sends ") + sent_text(r)
           + (r.lacks.empty() ? "" : "\n" + r.lacks);
}

// A part that every copy keeps is hatched, one that is shared out is solid.
void fill_part_of_rung(Ui& ui, Rect part, std::size_t k, const ZeroRungs& all, const ZeroRung& r) {
    const bool copied = k < kStates && all.ranks > 1 && !r.shared[k];
    fill_memory(ui.canvas(), ui.theme(), part, static_cast<MemoryCategory>(k), copied ? 0.22f : 1.0f);
    if (copied) ui.canvas().pattern(part, Pattern::hatched, ui.theme().memory[k]);
}

// Returns true if a room draws where the bars of this stage end: it is the GPU that the question is about.
bool is_guessed(const Scene& scene, const ZeroRungs& all, const ZeroRung& r) {
    return scene.guess_zero == r.zero && all.stages == 1 && r.possible();
}

std::string guess_of(const Scene& scene) {
    return "guess " + memory_text(scene.guess_bytes);
}

// Draws a plot of one stage; `before` is the stage that holds more, null for the first.
class CopyPlot {
  public:
    CopyPlot(Ui& ui, Rect room, const Shape& shape, const ZeroRungs& all, const ZeroRung& rung,
             const ZeroRung* before)
        : ui_(ui), c_(ui.canvas()), all_(all), rung_(rung), before_(before) {
        const bool narrow = narrow_ = room.w < 130;
        side_ = room.cut_right(narrow ? narrow_side(room.w) : room.w < 190 ? kNarrowSide : kSide);
        if (!narrow) room.cut_right(8), side_.cut_top(0);
        labels_ = room.cut_bottom(!narrow && all.ranks > 1 && shape.wires ? 36.0f : 18.0f);
        side_.cut_bottom(labels_.h);
        plot_ = room;
        px_ = room.h / (shape.top * 1.02);
        top_ = shape.top;
        shown_ = narrow ? 1 : all.ranks <= kMostBars ? all.ranks : kBarsOfMany;
        slot_ = narrow ? room.w : room.w / static_cast<float>(all.ranks <= kMostBars ? shown_ : 2 * shown_);
        slot_ = std::min(slot_, std::max(60.0f, room.w * 0.3f));
    }

    void draw() {
        for (std::int64_t i = 0; i < shown_; ++i) draw_copy(i);
        if (shown_ < all_.ranks && !narrow_) {
            Rect more{plot_.x + slot_ * static_cast<float>(shown_) + 4, plot_.bottom() - 36, 0, 36};
            more.w = plot_.right() - more.x;
            c_.paragraph(more, and_more(static_cast<std::size_t>(all_.ranks - shown_)), ui_.small(), 17);
        }
        const float line = y_of(all_.hbm);
        c_.line({plot_.x - 4, line}, {side_.right(), line}, ui_.theme().bad, 1, Dash::dashed);
        if (side_.w > 0) draw_side(line);
    }

    // The truth grows out of what was guessed. Call it before `draw`.
    void grow_from(double guess) {
        const double grown = ui_.glide("sheds.grown", 1.0, static_cast<std::uint64_t>(rung_.zero));
        if (guess > 0 && rung_.held.total() > 0) grows_ = grown + (1 - grown) * guess / rung_.held.total();
    }

    // Draws the place of the bars before they are known, and how far a room says that they go: the end of the
    // first is taken by the mouse, or moved by the arrows.
    void draw_open(const Scene& scene) {
        (void)ui_.glide("sheds.grown", 0.0, static_cast<std::uint64_t>(rung_.zero));
        c_.pattern({plot_.x, plot_.y, side_.right() - plot_.x, plot_.h}, Pattern::sparse,
                   ui_.theme().hairline);
        if (scene.move_guess) move_guess(scene);
        const float y = y_of(std::min(scene.guess_bytes, top_));
        for (std::int64_t i = 0; i < shown_; ++i) {
            const Rect bar{plot_.x + slot_ * static_cast<float>(i), y, bar_width(), plot_.bottom() - y};
            c_.frame(bar, ui_.theme().text, 1.5f, 2, Dash::dashed);
        }
        const float hbm = y_of(all_.hbm);
        c_.line({plot_.x - 4, hbm}, {side_.right(), hbm}, ui_.theme().bad, 1, Dash::dashed);
        if (scene.move_guess) c_.rect({plot_.x - 3, y - 4, bar_width() + 6, 8}, ui_.theme().text, 3);
    }

    // Draws over the true bars where the guess was.
    void draw_guess(const Scene& scene) {
        constexpr float kHigh = 17;
        const float y = y_of(std::min(scene.guess_bytes, top_));
        c_.line({plot_.x - 4, y}, {plot_.x + slot_ * static_cast<float>(shown_) + 4, y}, ui_.theme().text, 3);
        const std::string words = guess_of(scene);
        const float w = c_.text_width(words, ui_.title()) + 8;
        const float at = y - kHigh - 3 < plot_.y ? y + 4 : y - kHigh - 3;
        write_plate(ui_, {held_between(plot_.x, plot_.x, side_.right() - w), at, w, kHigh}, words,
                    ui_.title(), ui_.theme().window);
    }

  private:
    Ui& ui_;
    Canvas& c_;
    const ZeroRungs& all_;
    const ZeroRung& rung_;
    const ZeroRung* before_;
    Rect plot_, labels_, side_;
    double px_ = 0, top_ = 0;
    double grows_ = 1;  // of the true bar, on its way from the guess
    std::int64_t shown_ = 1;
    float slot_ = 0;
    bool narrow_ = false;  // one copy, and the parts' names where there is room

    // Returns the width of the names next to one bar; 0 where the bar would be too thin. They reach into the
    // panel's edge.
    [[nodiscard]] float narrow_side(float width) const {
        constexpr float kLeastBar = 26, kMostBar = 60, kGap = 4, kInEdge = 6;
        float names = 0;
        for (std::size_t k = 0; k < kCategoryCount; ++k)
            names = std::max(names, c_.text_width(category_name(k), ui_.small(Tone::text)) + 2);
        const float bar = std::min(kMostBar, width + kInEdge - names - kGap);
        return bar < kLeastBar ? 0 : width - bar;
    }

    [[nodiscard]] float y_of(double bytes) const { return plot_.bottom() - static_cast<float>(bytes * px_); }

    [[nodiscard]] double drawn(std::size_t k) const {
        return grows_
               * ui_.glide("sheds.bytes", bytes_at(rung_.held, k),
                           static_cast<std::uint64_t>(rung_.zero) * 8 + k);
    }

    [[nodiscard]] float bar_width() const { return std::max(2.0f, slot_ - std::min(8.0f, slot_ * 0.24f)); }

    void move_guess(const Scene& scene) {
        constexpr double kFine = 100, kCoarse = 10;
        const Rect bars{plot_.x - 4, plot_.y, slot_ * static_cast<float>(shown_) + 8, plot_.h};
        const Hit hit = ui_.area("memory.guess", bars, static_cast<std::uint64_t>(rung_.zero));
        double bytes = scene.guess_bytes;
        if (hit.held) bytes = static_cast<double>(plot_.bottom() - ui_.frame().mouse.y) / px_;
        if (hit.focused) {
            const double by = top_ / (ui_.frame().shift ? kCoarse : kFine);
            if (pressed({.key = Key::up, .shift = ui_.frame().shift}, true)) bytes += by;
            if (pressed({.key = Key::down, .shift = ui_.frame().shift}, true)) bytes -= by;
            ui_.focus_ring(bars, 4);
        }
        if (bytes != scene.guess_bytes) scene.move_guess(std::clamp(bytes, 0.0, top_));
    }

    void draw_copy(std::int64_t i) {
        const float x = plot_.x + slot_ * static_cast<float>(i), w = bar_width();
        float y = plot_.bottom();
        for (const std::size_t k : kStack) {
            const auto h = static_cast<float>(drawn(k) * px_);
            if (h <= 0) continue;
            y -= h;
            const Rect part{x, y, w, h};
            fill_part_of_rung(ui_, part, k, all_, rung_);
            if (k == kBuffers && rung_.gathered > 0) {
                const float slab = std::max(2.0f, static_cast<float>(rung_.gathered * px_));
                c_.frame({x, y, w, std::min(slab, h)}, ui_.theme().text, 1.5f);
            }
            if (h > 3) c_.line({x, y}, {x + w, y}, ui_.theme().panel, 1);
        }
        if (before_ != nullptr) draw_fallen({x, y_of(before_->held.total()), w, 0}, y, i);
        if (slot_ >= 14 && all_.ranks > 1)
            c_.text_in({x - 4, labels_.y, w + 8, labels_.h}, thousands(i), ui_.small(), Align::center);
    }

    // Draws the outline of what the stage before held on top, and that it fell.
    void draw_fallen(Rect gone, float top, std::int64_t i) {
        gone.h = top - gone.y;
        if (gone.h < 2) return;
        c_.frame(gone, ui_.theme().faint, 1, 2, Dash::dashed);
        if (gone.h < 26 || (i > 0 && i + 1 < shown_)) return;
        const float x = gone.center().x, to = gone.y + std::min(gone.h - 8, 34.0f);
        c_.line({x, gone.y + 10}, {x, to}, ui_.theme().secondary, 1.2f);
        const std::array<Vec2, 3> head{Vec2{x - 3.5f, to - 5}, Vec2{x, to}, Vec2{x + 3.5f, to - 5}};
        c_.polyline(head, ui_.theme().secondary, 1.2f);
    }

    void draw_side(float line) {
        bool any = false, sums = false;
        for (std::size_t k = 0; k < kStates; ++k)
            if (rung_.shared[k]) any = true, sums = sums || all_.adds_up(rung_, k);
        if (sums && !narrow_)
            draw_rests();
        else if (any && !narrow_ && all_.experts > 0 && all_.experts != all_.ranks)
            c_.paragraph({side_.x, side_.bottom() - 52, side_.w, 52},
                         "experts: shared out over " + thousands(all_.experts), ui_.small(), 17);
        else
            draw_names(line);
    }

    // Stacks what the copies keep: together it is one copy. A part that is whole on each, or of which a GPU
    // keeps more for a while, is an empty frame.
    void draw_rests() {
        const Rect column{side_.x + 16, side_.y, 34, side_.h};
        double at = 0;
        for (std::size_t k = 0; k < kStates; ++k) {
            const double whole = bytes_at(all_.rung[0].held, k);
            const Rect part{column.x, y_of(at + whole), column.w, y_of(at) - y_of(at + whole)};
            at += whole;
            if (part.h <= 0) continue;
            if (!rung_.shared[k] || !all_.adds_up(rung_, k)) {
                c_.frame(part, ui_.theme().faint, 1, 0, Dash::dotted);
                continue;
            }
            c_.rect(part, ui_.theme().memory[k]);
            const float piece = part.h / static_cast<float>(all_.ranks);
            const TextStyle ink = ui_.style(11).in(ink_on(ui_.theme().memory[k]));
            for (std::int64_t i = 0; piece >= 3 && i < all_.ranks; ++i) {
                const float y = part.bottom() - piece * static_cast<float>(i + 1);
                c_.line({part.x, y}, {part.right(), y}, ui_.theme().panel, 1);
                if (piece >= 14) c_.text_in({part.x, y, part.w, piece}, thousands(i), ink, Align::center);
            }
        }
        Rect label{side_.x, labels_.y, 66, 18};
        if (labels_.h > 30) {
            c_.text_in(label, thousands(all_.ranks) + " rests", ui_.small(Tone::text), Align::center);
            label.y += 16;
        }
        c_.text_in(label, "= 1 copy", ui_.small(Tone::text), Align::center);
    }

    // Names the parts, where no column of rests takes their place.
    void draw_names(float line) {
        const float above = line - 33 < side_.y ? line + 3 : line - 33;
        float free = side_.bottom() + 18, y = plot_.bottom();
        if (rung_.zero == 0 || !all_.rung[0].possible()) {
            const TextStyle red = ui_.small().in(ui_.theme().bad);
            c_.text_in({side_.x, above, side_.w + 10, 16}, "a GPU has", red);
            c_.text_in({side_.x, above + 16, side_.w + 10, 16}, memory_text(all_.hbm), red);
        }
        for (const std::size_t k : kStack) {
            const auto h = static_cast<float>(drawn(k) * px_);
            y -= h;
            const bool two = h >= 30;
            const float tall = two ? 32.0f : 16.0f;
            Rect at{side_.x, std::min(y + h / 2, free - tall / 2) - tall / 2, side_.w + 10, tall};
            // A part that the line goes through has its name above the line's own words, or below them.
            if (at.y < above + 34 && at.bottom() > above - 1)
                at.y = y <= above - tall ? above - 1 - tall : above + 34;
            // Activations are cut by no stage: of a low bar they too have a name.
            constexpr auto kUncut = static_cast<std::size_t>(MemoryCategory::activations);
            if (h < (k == kUncut ? 3.0f : 6.0f) || at.bottom() > free + 1) continue;
            free = at.y;
            const float middle = at.center().y;
            if (narrow_ && (middle < y - 1 || middle > y + h + 1))  // its name had to move off its part
                c_.line({plot_.x + bar_width() + 1, y + h / 2}, {at.x - 2, middle}, ui_.theme().faint);
            c_.text_in({at.x, at.y, at.w, 16}, category_name(k), ui_.small(Tone::text));
            if (two)
                c_.text_in({at.x, at.y + 16, at.w, 16}, memory_text(bytes_at(rung_.held, k)), ui_.small());
        }
    }
};

void draw_wires(Ui& ui, Rect room, const Shape& shape, const ZeroRungs& all, const ZeroRung& r) {
    Canvas& c = ui.canvas();
    const std::string head = "on the wire in a step, " + all.sender;
    const bool whole = c.text_width(head, ui.small()) <= room.w;
    ui.label(room.cut_top(22), whole ? head : "sent in a step", ui.small());
    Rect list = room.cut_top(kWireRow * static_cast<float>(shape.most_wires));
    if (r.wires.empty()) c.text_in(room.cut_top(18), "data parallelism sends nothing", ui.small(Tone::text));
    for (const ZeroWire& w : r.wires) {
        Rect row = list.cut_top(kWireRow);
        const float share = shape.most_sent > 0 ? static_cast<float>(w.sent_bytes / shape.most_sent) : 0;
        c.rect({row.x, row.y + 2, std::max(2.0f, row.w * 0.86f * share), 7}, color_of(ui.theme(), w.group));
        row.cut_top(11);
        TextStyle bold = ui.style(12, Tone::text, Face::semibold);
        const std::string sent = traffic_text(w.sent_bytes);
        const auto both = [&](std::string_view name) {
            return c.text_width(std::string(name) + " " + sent, bold) + 11;
        };
        const std::array<std::string, 2> names{plain_name(w.collective, w.carried), std::string(w.carried)};
        const std::string& name = both(names[0]) <= row.w ? names[0] : names[1];
        if (both(name) > row.w) bold.size = 11;
        write_left(ui, row, name, bold, 7);
        write_left(ui, row, sent, bold, 7);
        const std::array calls{"in " + plural(std::llround(w.calls), "call", "calls"),
                               "× " + thousands(std::llround(w.calls))};
        c.text_in(row, wording(ui, row.w, calls, ui.small()), ui.small());  // the panel's tooltip has them
    }
    put_paragraph(ui, room, words_below(all, r), ui.small(Tone::text), 17, 2);
    put_paragraph(ui, room, r.lacks, ui.small().in(ui.theme().amber), 17);
}

void draw_total_of(Ui& ui, Rect row, const ZeroRungs& all, const ZeroRung& r) {
    TextStyle bold = ui.style(13, Tone::text, Face::semibold);
    if (r.held.total() > all.hbm) bold.color = r.held.least() <= all.hbm ? ui.theme().amber : ui.theme().bad;
    if (r.zero == all.own) {
        const float w = ui.canvas().text_width("this plan", ui.small(Tone::text)) + 2;
        if (row.w > w + 90)
            ui.canvas().text_in(row.cut_right(w), "this plan", ui.small(Tone::text), Align::right);
    }
    write_left(ui, row, memory_text(r.held.total()), bold, 8);
    const std::string_view whose = all.stages > 1 ? "on this GPU" : "on every GPU";
    write_whole(ui, row, whose, ui.small());
}

// Draws a stage that is asked about: its place, and what the room says.
void draw_asked_stage(Ui& ui, Rect in, const Shape& shape, const ZeroRungs& all, const ZeroRung& r,
                      const Scene& scene) {
    const Rect row = in.cut_top(20);
    in.cut_top(4);
    in.cut_bottom(shape.foot);
    const std::array<std::string, 3> how{"drag the end of its bar", "drag the bar", "drag"};
    if (scene.guess_bytes > 0)
        ui.label(row, guess_of(scene), ui.style(13, Tone::text, Face::semibold));
    else if (scene.move_guess)
        ui.label(row, wording(ui, row.w, how, ui.small(Tone::text)), ui.small(Tone::text));
    CopyPlot(ui, in, shape, all, r, nullptr).draw_open(scene);
}

bool draw_panel(Ui& ui, Rect box, const Shape& shape, const ZeroRungs& all, std::size_t i,
                const Scene& scene) {
    Canvas& c = ui.canvas();
    const ZeroRung& r = all.rung[i];
    const bool asked = scene.asked, guessed = is_guessed(scene, all, r);
    const bool own = r.zero == all.own, hidden = asked && !own;
    const Hit hit = ui.area("memory.shed", box, i, !hidden && !own);
    c.box(box, hit.hovered ? ui.theme().raised : ui.theme().panel,
          own ? ui.theme().text : ui.theme().hairline, own ? 1.5f : 1.0f, 8);
    if (hit.focused) ui.focus_ring(box, 8);
    if (!hidden && ui.hovers(box)) ui.tooltip(tooltip_of(all, r));
    Rect in = box.inset(panel_pad(box.w), 8);
    Rect head = in.cut_top(20);
    write_left(ui, head, "ZeRO-" + std::to_string(r.zero), ui.style(14, Tone::text, Face::semibold), 9);
    if (hidden) {
        if (guessed)
            draw_asked_stage(ui, in, shape, all, r, scene);
        else
            c.text_in(in, "?", ui.style(28, Tone::secondary), Align::center);
        return false;
    }
    if (!r.possible()) {
        c.pattern(box.inset(2), Pattern::hatched, ui.theme().faint.alpha(0.3f));
        put_paragraph(ui, in, r.refused, ui.small(Tone::text), 17);
        return hit.clicked;
    }
    write_whole(ui, head, r.held_words, ui.small());
    draw_total_of(ui, in.cut_top(20), all, r);
    in.cut_top(4);
    Rect foot = in.cut_bottom(shape.foot);
    const ZeroRung* before = nullptr;
    for (std::size_t k = 0; k < i; ++k)
        if (all.rung[k].possible()) before = &all.rung[k];
    CopyPlot plot(ui, in, shape, all, r, asked ? nullptr : before);
    if (guessed) plot.grow_from(scene.guess_bytes);
    plot.draw();
    if (guessed && scene.guess_bytes > 0) plot.draw_guess(scene);
    if (shape.wires)
        draw_wires(ui, foot, shape, all, r);
    else if (shape.calls)
        ui.label(foot, sent_text(ui, foot.w, r), ui.small());
    return hit.clicked;
}

// Stages 2 and 3 sum gradients in each micro-batch, or keep them whole until the last: the rungs are shown
// with the plan's micro-batches, with one and with eight.
void draw_microbatches(Ui& ui, Rect& head_row, const Plan& plan, MemoryViewState& state) {
    constexpr float kChoice = 58, kLeastHead = 60, kGap = 8;
    const std::int64_t own = microbatches_of(plan);
    std::vector<std::int64_t> counts{own};
    for (const std::int64_t other : {1, 8})
        if (other != own) counts.push_back(other);
    const float width = kChoice * static_cast<float>(counts.size());
    if (ui.state().for_picture || head_row.w < width + kLeastHead || own < 1) return;
    std::vector<std::string> words;
    constexpr std::string_view kName = "micro-batches";
    const float name_w = ui.canvas().text_width(kName, ui.small()) + 2;
    const bool named = head_row.w >= width + kLeastHead + name_w + kGap;  // else a letter stands for it
    for (const std::int64_t m : counts) words.push_back((named ? "" : "m ") + thousands(m));
    const std::vector<std::string_view> names(words.begin(), words.end());
    const auto now = std::find(counts.begin(), counts.end(), state.microbatches);
    const Rect at = head_row.cut_right(width);
    head_row.cut_right(named ? kGap : 12.0f);
    if (named) {
        ui.canvas().text_in(head_row.cut_right(name_w), kName, ui.small(), Align::right);
        head_row.cut_right(12);
    }
    if (ui.hovers(at))
        ui.tooltip(
            "Micro-batches of a step: the plan's, or another number\nWith more than one ZeRO-2 and 3 sum "
            "gradients in each, or keep them whole until the last.");
    const int picked = ui.segments("memory.sheds.m", at, names,
                                   now == counts.end() ? 0 : static_cast<int>(now - counts.begin()));
    state.microbatches = picked == 0 ? 0 : counts[static_cast<std::size_t>(picked)];
}

// Returns the rungs of the plan with so many micro-batches.
ZeroRungs rungs_with(const Scene& scene, std::int64_t microbatches) {
    const std::int64_t own = microbatches_of(scene.plan);
    if (microbatches == 0 || own < 1) return zero_rungs(scene.plan, scene.evaluation);
    Plan plan = scene.plan;
    plan.training.global_batch = plan.training.global_batch / own * microbatches;
    return zero_rungs(plan, evaluate(plan));
}

}  // namespace

std::optional<PlanEdit> draw_sheds(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                                   std::uint64_t revision) {
    if (scene.asked)
        state.microbatches = 0;
    else
        draw_microbatches(ui, head_row, scene.plan, state);
    const ZeroRungs& all = state.rungs.get(std::pair(revision, state.microbatches),
                                           [&] { return rungs_with(scene, state.microbatches); });
    if (!all.any_possible()) {
        draw_void(ui, room, scene);
        return std::nullopt;
    }
    head_sentence(ui, head_row, room, headline(all));
    const float w = (room.w - kPanelGap * 3) / 4;
    const Shape shape = shape_of(ui, room, w, all);
    std::optional<PlanEdit> edit;
    for (std::size_t i = 0; i < kZeroStages; ++i) {
        const Rect box = room.cut_left(w);
        room.cut_left(kPanelGap);
        if (!draw_panel(ui, box, shape, all, i, scene)) continue;
        edit = PlanEdit{all.rung[i].plan, "ZeRO-" + std::to_string(i), ""};
        edit->plan.training.global_batch = scene.plan.training.global_batch;
    }
    return edit;
}

}  // namespace pentamesh::ui
