#include "app/ui/shell/axis_card.h"

#include "app/ui/kit/format.h"
#include "app/ui/panels/export_sheet.h"
#include "app/ui/scene/colors.h"
#include "core/interop/flags.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/teach/axis_sentences.h"
#include "core/teach/captions.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr double kRests_s = 0.4;  // the mouse rests so long on a name before its card opens
constexpr float kWide = 460, kPad = 14, kLine = 20, kPicture = 84;

std::string name_area(Axis axis) {
    return "layout." + std::string(name_of(axis)) + ".toggle";
}

AxisTry try_factor(const Scene& scene, Axis axis, std::int64_t factor, bool now) {
    AxisTry out{.factor = factor, .now = now, .memory = {}, .step_s = {}, .filled = 0, .note = {}};
    Evaluation made;
    if (!now) evaluate(with_factor(scene.plan, axis, factor, true), made);
    const Evaluation& e = now ? scene.evaluation : made;
    if (!e.valid || !e.step) {
        out.note = e.problems.empty() ? "not possible" : title_of(e.problems.front().code);
        return out;
    }
    out.memory = e.memory.peak();
    out.filled = e.memory.peak() / e.memory.hbm;
    out.step_s = e.step->time_s;
    if (now)
        out.note = "now";
    else if (e.memory.fit() != MemoryFit::yes)
        out.note = name_of(e.memory.fit());
    return out;
}

// Tries the factor below, the one in force, and two above.
std::vector<AxisTry> tries_of(const Scene& scene, Axis axis) {
    const std::int64_t now = std::max<std::int64_t>(factor_in_force(scene.plan, axis), 1);
    if (axis == Axis::ep && !scene.plan.model.moe) return {};
    const std::vector<std::int64_t> legal = legal_factors(scene.plan, axis);
    std::vector<AxisTry> out;
    const auto from = std::lower_bound(legal.begin(), legal.end(), now);
    const auto above = std::upper_bound(from, legal.end(), now);
    if (from != legal.begin()) out.push_back(try_factor(scene, axis, *(from - 1), false));
    out.push_back(try_factor(scene, axis, now, true));
    for (auto i = above; i != legal.end() && i - above < 2; ++i)
        out.push_back(try_factor(scene, axis, *i, false));
    return out;
}

struct Fact {
    std::string_view label;
    std::string text;
};

// Says what the axis costs in this plan, line by line.
std::vector<Fact> facts_of(const Scene& scene, const MapRow& row, GroupKind kind) {
    const Evaluation& e = scene.evaluation;
    if (!e.valid) return {{"here", "this plan is impossible and has no figures"}};
    if (e.groups[kind].degree <= 1) return {{"here", "off: " + row.reason}};
    std::vector<Fact> out{{"talks", caption_of(scene.plan, e, kind).where}};
    if (!row.often.empty()) out.push_back({"says", collectives_text(row) + ", " + row.often});
    if (row.sent_bytes > 0)
        out.push_back(
            {"sends", traffic_text(row.sent_bytes) + " a step from each GPU, in " + time_text(row.time_s)});
    if (e.step && row.sent_bytes > 0)
        out.push_back({"waits", row.waits_s > 0 ? percent(row.waits_s / e.step->time_s) + " of the step"
                                                : std::string("nothing waits for it")});
    if (e.step && row.bubble_s > 0)
        out.push_back({"idles", percent(row.bubble_s / e.step->time_s) + " of the step: the bubble"});
    return out;
}

class AxisCard {
  public:
    AxisCard(Ui& ui, const Scene& scene, AxisCardState& state, Axis axis)
        : ui_(ui), scene_(scene), state_(state), axis_(axis), kind_(group_of(axis)),
          color_(color_of(ui.theme(), kind_)), canvas_(frame_canvas(ui.frame(), ui.canvas().page(), true)) {
        const std::vector<MapRow>& rows = state.figures->rows;
        const int at = row_of(rows, kind_);
        if (at < 0) return;
        row_ = &rows[static_cast<std::size_t>(at)];
        facts_ = facts_of(scene, *row_, kind_);
    }
    void draw(Rect by) {
        if (row_ == nullptr) return;
        const float h = put(Rect{0, 0, kWide - 2 * kPad, 0}, true) + 2 * kPad;
        const Vec2 screen = ui_.frame().size;
        Rect box{by.right() + 12, by.y - 8, kWide, h};
        if (box.right() > screen.x - 8) box.x = std::max(8.0f, by.x - kWide - 12);
        box.y = std::clamp(box.y, 4.0f, std::max(4.0f, screen.y - h - 4));
        canvas_.rect(box, ui_.theme().panel, 6);
        canvas_.frame(box, color_, 1.5f, 6);
        put(box.inset(kPad, kPad), false);
    }

  private:
    Ui& ui_;
    const Scene& scene_;
    AxisCardState& state_;
    Axis axis_;
    GroupKind kind_;
    Color color_;
    Canvas canvas_;
    const MapRow* row_ = nullptr;
    std::vector<Fact> facts_;

    // Writes all of it from the top; returns its height. With `measure` nothing is drawn.
    float put(Rect room, bool measure) {
        const float top = room.y;
        if (!measure) put_head(room);
        room.y += 26;
        const TextStyle words = ui_.style(13);
        const std::string_view sentence = sentence_of(axis_);
        if (!measure) canvas_.paragraph({room.x, room.y, room.w, 200}, sentence, words, 19);
        room.y += canvas_.paragraph_height(room.w, sentence, words, 19) + 8;
        if (!measure) put_picture({room.x, room.y, room.w, kPicture});
        room.y += kPicture + 8;
        put_section(room, "WHAT IT COSTS HERE", measure);
        for (const Fact& f : facts_) {
            const TextStyle s = ui_.small(Tone::text);
            const Rect at{room.x + 56, room.y, room.w - 56, 100};
            if (!measure) canvas_.text_in({room.x, room.y, 50, 17}, f.label, ui_.small());
            if (!measure) canvas_.paragraph(at, f.text, s, 17);
            room.y += canvas_.paragraph_height(at.w, f.text, s, 17) + 3;
        }
        if (state_.figures->tries.size() < 2) return room.y - top;
        room.y += 6;
        put_section(room, "ONE PRESS FURTHER", measure);
        for (const AxisTry& t : state_.figures->tries) {
            if (!measure) put_try({room.x, room.y, room.w, kLine}, t);
            room.y += kLine;
        }
        room.y += 8;
        if (!measure)
            canvas_.text_in({room.x, room.y, room.w, 17},
                            factor_in_force(scene_.plan, axis_) > 1
                                ? "click to switch off; the GPUs go to data parallelism"
                                : "click to switch on",
                            ui_.small());
        room.y += 17;
        if (!scene_.flags) return room.y - top;
        const std::string field = "/layout/" + std::string(name_of(axis_));
        const std::string_view flag = interop::flag_of(*scene_.flags, field);
        if (flag.empty()) return room.y - top;
        const std::string target(target_words(static_cast<interop::Target>(*scene_.flags)));
        if (!measure)
            canvas_.text_in({room.x, room.y, room.w, 17}, target + ": " + std::string(flag), ui_.small());
        room.y += 17;
        return room.y - top;
    }
    void put_head(Rect room) {
        canvas_.rect({room.x, room.y + 4, 12, 12}, color_, 3);
        const std::int64_t factor = std::max<std::int64_t>(factor_in_force(scene_.plan, axis_), 1);
        const TextStyle bold = ui_.style(14, Tone::text, Face::semibold);
        canvas_.text_in({room.x + 20, room.y, room.w - 80, 20},
                        std::string(name_of(axis_)) + ", " + std::string(words_of(row_->id).name), bold);
        canvas_.text_in({room.right() - 60, room.y, 60, 20}, factor > 1 ? thousands(factor) : "off", bold,
                        Align::right);
    }
    void put_picture(Rect room) {
        const Loaf& loaf = (*state_.loaves)[static_cast<std::size_t>(row_->id)];
        draw_mini(canvas_, ui_.theme(), {room.x, room.y + 4, 150, room.h - 8}, loaf, color_, true);
        const bool copied = std::any_of(loaf.slices.begin(), loaf.slices.end(), [](const LoafSlice& slice) {
            return std::any_of(slice.blocks.begin(), slice.blocks.end(),
                               [](const LoafBlock& block) { return block.copies > 1; });
        });
        canvas_.paragraph(
            {room.x + 176, room.y + 12, room.w - 176, room.h},
            std::string("The step of a small model") + (row_->id == MapRowId::zero ? ", with ZeRO-3," : ",")
                + " cut like this over two GPUs." + (copied ? " Hatched: both have it whole." : ""),
            ui_.small(), 17);
    }
    void put_section(Rect& room, std::string_view words, bool measure) {
        if (!measure) {
            canvas_.line({room.x, room.y}, {room.right(), room.y}, ui_.theme().hairline);
            canvas_.text_in({room.x, room.y + 6, room.w, 16}, words, ui_.style(11, Tone::secondary));
        }
        room.y += 26;
    }
    // Draws a factor with its memory as a bar, a line where a GPU is full, and the step's time.
    void put_try(Rect room, const AxisTry& t) {
        const Theme& theme = ui_.theme();
        if (t.now) canvas_.rect(room.inset(-4, 0), theme.raised, 4);
        const TextStyle style = ui_.style(12, Tone::text, t.now ? Face::semibold : Face::regular);
        canvas_.text_in(room.cut_left(104), std::string(name_of(axis_)) + " " + thousands(t.factor), style);
        if (t.memory && t.step_s) {
            Rect bar = room.cut_left(70).inset(0, 6);
            canvas_.rect(bar, theme.hairline, 2);
            constexpr double kFull = 0.85;  // a full GPU's share of the bar
            const auto part = static_cast<float>(std::min(1.0, kFull * t.filled));
            canvas_.rect({bar.x, bar.y, bar.w * part, bar.h}, t.filled > 1 ? theme.bad : theme.text, 2);
            const float line = bar.x + bar.w * static_cast<float>(kFull);
            canvas_.line({line, bar.y - 3}, {line, bar.bottom() + 3}, theme.bad);
            canvas_.text_in(room.cut_left(74), memory_text(*t.memory), style, Align::right);
            canvas_.text_in(room.cut_left(62), time_text(*t.step_s), style, Align::right);
            room.cut_left(10);
        }
        canvas_.text_in(room, t.note, ui_.small(t.now ? Tone::text : Tone::secondary));
    }
};

}  // namespace

std::optional<Axis> axis_named(const UiState& state) {
    for (const Axis axis : all_of<Axis>()) {
        const std::string area = name_area(axis);
        const auto at = state.rect_of(area);
        if (at && (at->contains(state.mouse) || (state.focus_visible && state.focus == id_of(area))))
            return axis;
    }
    return std::nullopt;
}

void draw_axis_card(Ui& ui, const Scene& scene, AxisCardState& state, std::uint64_t revision) {
    UiState& s = ui.state();
    const FrameInfo& frame = ui.frame();
    if (state.asked && (!(s.mouse == state.asked_at) || frame.clicked[0] || pressed({Key::escape})))
        state.asked.reset();
    std::optional<Axis> axis = state.asked;
    const auto named = axis_named(s);
    if (!axis && named && s.hovered_last == id_of(name_area(*named))) {
        if (frame.time_s - s.hovered_since >= kRests_s)
            axis = named;
        else
            s.tooltip_pending = true;
    }
    const auto by = axis ? s.rect_of("layout." + std::string(name_of(*axis)) + ".badge") : std::nullopt;
    if (!by) return;
    s.tooltips_rest_at = frame.mouse;  // the card says what the tooltip says
    if (!state.loaves) state.loaves = mini_loaves(scene.presets);
    state.figures.update({revision, *axis}, [&](AxisCardFigures& f) {
        f.rows = map_rows(scene.plan, scene.evaluation, MapStyle::own_rows);
        f.tries = tries_of(scene, *axis);
    });
    AxisCard(ui, scene, state, *axis).draw(*by);
}

}  // namespace pentamesh::ui
