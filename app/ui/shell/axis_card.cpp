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
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kRests_s = 0.4;  // the mouse rests so long on a name before its card opens
constexpr float kWide = 460, kPad = 14, kLine = 20, kPicture = 84;

Axis axis_of(const UiState::Named& named) {
    return static_cast<Axis>(named.subject);
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

bool is_over(const UiState& state, const UiState::Named& named) {
    return named.layer == state.top_layer && named.rect.contains(state.mouse);
}

// Returns where a card of this size stands: right or left of what it keeps clear, below or above it. Without
// room on any side it covers a part of that if it `must` be seen; else there is no card.
std::optional<Rect> place_card(Rect clear, Vec2 size, Vec2 screen, bool must) {
    constexpr float kGap = 12, kEdge = 8;
    const auto within = [&](float at, float most) { return std::clamp(at, kEdge, std::max(kEdge, most)); };
    const float x = within(clear.x, screen.x - size.x - kEdge),
                y = within(clear.y, screen.y - size.y - kEdge);
    const float right = clear.right() + kGap, left = clear.x - kGap - size.x, below = clear.bottom() + kGap,
                above = clear.y - kGap - size.y;
    if (right + size.x <= screen.x - kEdge) return Rect{right, y, size.x, size.y};
    if (left >= kEdge) return Rect{left, y, size.x, size.y};
    if (below + size.y <= screen.y - kEdge) return Rect{x, below, size.x, size.y};
    if (above >= kEdge) return Rect{x, above, size.x, size.y};
    return must ? std::optional(Rect{within(right, screen.x - size.x - kEdge), y, size.x, size.y})
                : std::nullopt;
}

class AxisCard {
  public:
    AxisCard(Ui& ui, const Scene& scene, AxisCardState& state, const UiState::Named& by)
        : ui_(ui), scene_(scene), state_(state), by_(by), axis_(axis_of(by)), kind_(group_of(axis_)),
          color_(color_of(ui.theme(), kind_)), canvas_(frame_canvas(ui.frame(), ui.canvas().page(), true)) {
        const std::vector<MapRow>& rows = state.figures->rows;
        const int at = row_of(rows, kind_);
        if (at < 0) return;
        row_ = &rows[static_cast<std::size_t>(at)];
        facts_ = facts_of(scene, *row_, kind_);
    }
    // Returns false if there is no room next to the name.
    bool draw() {
        if (row_ == nullptr) return false;
        const float h = put(Rect{0, 0, kWide - 2 * kPad, 0}, true) + 2 * kPad;
        const auto box = place_card(by_.clear, {kWide, h}, ui_.frame().size, state_.asked.has_value());
        if (!box) return false;
        canvas_.rect(*box, ui_.theme().panel, 6);
        canvas_.frame(*box, color_, 1.5f, 6);
        put(box->inset(kPad, kPad), false);
        return true;
    }

  private:
    Ui& ui_;
    const Scene& scene_;
    AxisCardState& state_;
    const UiState::Named& by_;
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
        if (state_.figures->tries.size() >= 2) {
            room.y += 6;
            put_section(room, "ONE PRESS FURTHER", measure);
            for (const AxisTry& t : state_.figures->tries) {
                if (!measure) put_try({room.x, room.y, room.w, kLine}, t);
                room.y += kLine;
            }
        }
        room.y += 8;
        const auto small = [&](std::string_view line) {
            if (line.empty()) return;
            if (!measure) canvas_.paragraph({room.x, room.y, room.w, 100}, line, ui_.small(), 17);
            room.y += canvas_.paragraph_height(room.w, line, ui_.small(), 17);
        };
        small(by_.action);
        small(flag_words());
        return room.y - top;
    }
    // Returns the setting of the framework whose settings are shown; empty where it has none.
    [[nodiscard]] std::string flag_words() const {
        if (!scene_.flags) return {};
        const std::string_view flag =
            interop::flag_of(*scene_.flags, "/layout/" + std::string(name_of(axis_)));
        const auto target = static_cast<interop::Target>(*scene_.flags);
        return flag.empty() ? "" : std::string(target_words(target)) + ": " + std::string(flag);
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

const UiState::Named* named_axis(const UiState& state) {
    const auto& named = state.named;
    auto at = std::find_if(named.rbegin(), named.rend(), [&](const auto& n) { return is_over(state, n); });
    if (at == named.rend() && state.focus_visible && state.focus != 0)
        at = std::find_if(named.rbegin(), named.rend(),
                          [&](const auto& n) { return n.control == state.focus; });
    return at == named.rend() ? nullptr : &*at;
}

void draw_axis_card(Ui& ui, Scene& scene, AxisCardState& state, std::uint64_t revision) {
    UiState& s = ui.state();
    const FrameInfo& frame = ui.frame();
    const bool escaped = pressed({Key::escape}), sent_away = frame.clicked[0] || escaped;
    if (std::exchange(state.shown, false) && escaped) scene.keys.took_escape = true;
    if (state.asked && (!(s.mouse == state.asked_at) || sent_away)) state.asked.reset();
    const UiState::Named* named = named_axis(s);
    if (named != nullptr && !is_over(s, *named)) named = nullptr;
    const Rect over = named != nullptr ? named->rect : Rect{};
    if (over != state.over) state.over = over, state.since_s = frame.time_s, state.dismissed = false;
    if (sent_away) state.dismissed = true;
    if (state.asked)
        named = &*state.asked;
    else if (named == nullptr || state.dismissed)
        return;
    else if (frame.time_s - state.since_s < kRests_s) {
        s.tooltip_pending = true;
        return;
    }
    if (!state.loaves) state.loaves = mini_loaves(scene.presets);
    const Axis axis = axis_of(*named);
    state.figures.update({revision, axis}, [&](AxisCardFigures& f) {
        f.rows = map_rows(scene.plan, scene.evaluation, MapStyle::own_rows);
        f.tries = tries_of(scene, axis);
    });
    state.shown = AxisCard(ui, scene, state, *named).draw();
    if (state.shown) s.tooltips_rest_at = frame.mouse;  // it says the same
}

}  // namespace pentamesh::ui
