#include "app/ui/views/step/view.h"

#include "app/tables/constants.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/difference.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 24, kName = 210, kFigure = 64;

struct Bars {
    float middle = 0, half = 0;  // where the step as it is stands, and how far a bar may reach
    double most_s = 1;           // the longest
    [[nodiscard]] float length(double by) const {
        return std::max(1.5f, static_cast<float>(std::abs(by) / most_s) * half);
    }
};

// Writes the change of time at the end of bars of that length, less time to the left.
void draw_words(Ui& ui, Rect row, const Bars& bars, double by, const std::string& words, float room) {
    const float length = bars.length(by), w = std::min(ui.canvas().text_width(words, ui.small()) + 2, room);
    const float x = by < 0 ? bars.middle - length - w - 5 : bars.middle + length + 5;
    ui.canvas().text_in({x, row.y, w, row.h}, words, ui.small());
}

// Draws one change: its bar, less time to the left. Returns true if it was clicked.
bool draw_nudge(Ui& ui, Rect row, const Bars& bars, const SensitivityRow& of, const Nudge& n, double step_s,
                std::uint64_t index) {
    Canvas& c = ui.canvas();
    const double by = n.same_tokens_s - step_s;
    const float length = bars.length(by);
    const Rect bar{by < 0 ? bars.middle - length : bars.middle, row.y + row.h / 6, length, row.h * 2 / 3};
    // The target is easier to hit than a bar of a pixel.
    const float least = std::max(length, 14.0f);
    const Rect target{by < 0 ? bars.middle - least : bars.middle, row.y, least, row.h};
    const Hit hit = ui.area("step.nudge", target, index);
    const Color color = by < 0 ? ui.theme().good : ui.theme().bad;
    if (n.fit == MemoryFit::yes)
        c.rect(bar, hit.hovered ? color : color.alpha(0.75f), 2);
    else
        c.pattern(bar, Pattern::hatched, color);
    if (hit.focused) ui.focus_ring(target, 3);
    if (hit.hovered)
        ui.tooltip(of.name + " " + of.value + " → " + n.value + "\n" + time_text(n.step_s) + " a step ("
                   + difference_text(by / step_s, percent)
                   + (n.same_tokens_s == n.step_s ? "" : " for as many tokens") + "), "
                   + count_text(n.tokens_per_s) + " tokens/s, fullest GPU " + memory_text(n.memory_bytes)
                   + (n.fit == MemoryFit::yes ? "" : ", which " + std::string(name_of(n.fit)))
                   + "\nclick: make this change");
    return hit.clicked;
}

// Returns by how much a change moves the step, for as many tokens; 0: by nothing.
double moved_s(const std::optional<Nudge>& n, double step_s) {
    return n && n->valid() ? n->same_tokens_s - step_s : 0;
}

// Draws a choice with its bars. Returns the change that was clicked.
std::optional<PlanEdit> draw_choice(Ui& ui, Rect row, float name_w, const Bars& bars, const SensitivityRow& r,
                                    double step_s, std::uint64_t index) {
    Canvas& c = ui.canvas();
    const Rect left{row.x, row.y, name_w - 8, row.h};
    const float w = std::min(c.text_width(r.name, ui.style(12)) + 8, left.w);
    ui.label({left.x, left.y, w, left.h}, r.name, ui.style(12));
    std::string value = r.value;
    if (!r.down && r.up) {  // one of several choices: which one matters more than from where
        value += " → " + r.up->value;
        if (c.text_width(value, ui.small()) > left.w - w) value = "→ " + r.up->value;
    }
    if (left.w - w > 24) ui.label({left.x + w, left.y, left.w - w, left.h}, value, ui.small());
    c.line({bars.middle, row.y}, {bars.middle, row.bottom()}, ui.theme().secondary);
    std::optional<PlanEdit> edit;
    const auto put = [&](const std::optional<Nudge>& n, std::uint64_t side, Rect room) {
        if (moved_s(n, step_s) != 0 && draw_nudge(ui, room, bars, r, *n, step_s, 2 * index + side))
            edit = PlanEdit{n->plan, r.name + " " + n->value, ""};
    };
    const double down = moved_s(r.down, step_s), up = moved_s(r.up, step_s);
    if (down * up > 0) {  // both one way: one above the other
        const double most = std::abs(down) > std::abs(up) ? down : up;
        Rect lower = row;
        put(r.down, 0, lower.cut_top(row.h / 2));
        put(r.up, 1, lower);
        const std::string both = difference_text(down, time_text) + ", " + difference_text(up, time_text);
        const float free = kFigure + bars.half - bars.length(most) - 5;
        const bool fits = c.text_width(both, ui.small()) + 2 <= free;
        draw_words(ui, row, bars, most, fits ? both : difference_text(most, time_text), free);
        return edit;
    }
    put(r.down, 0, row);
    put(r.up, 1, row);
    for (const double d : {down, up})
        if (d != 0) draw_words(ui, row, bars, d, difference_text(d, time_text), kFigure);
    return edit;
}

}  // namespace

std::optional<PlanEdit> draw_tornado(Ui& ui, Rect room, TornadoState& state, std::uint64_t revision) {
    if (!state.of.is_of(revision) || !state.of.error.empty()) {
        if (state.of.error.empty()) state.asked = revision;
        ui.label(room.cut_top(24),
                 state.of.error.empty() ? "trying one step either way of each choice …"
                                        : "It could not be worked out: " + state.of.error,
                 ui.small());
        return std::nullopt;
    }
    const Sensitivity& s = state.of.value;
    const std::string about =
        "One step down and up, all else equal; hardware and constants by 20 %. Green: less time for as many "
        "tokens; hatched: "
        + std::string(name_of(MemoryFit::no)) + ", or " + std::string(kFitsIfSmall) + ".";
    if (room.h > 120) room.cut_top(ui.canvas().paragraph(room, about, ui.small(), 18) + 4);
    std::vector<std::size_t> rows;
    Bars bars{0, 0, 0};
    for (const std::size_t i : s.by_reach()) {
        const double most =
            std::max(std::abs(moved_s(s.rows[i].down, s.step_s)), std::abs(moved_s(s.rows[i].up, s.step_s)));
        bars.most_s = std::max(bars.most_s, most);
        if (most > 0) rows.push_back(i);
    }
    std::optional<PlanEdit> edit;
    ScrollArea area(ui, "step.tornado", room, state.scroll);
    const float name = std::min(kName, room.w * 0.4f), width = area.room.w - name - 2 * kFigure;
    if (width < 60) return edit;
    bars.half = width / 2;
    bars.middle = area.room.x + name + kFigure + bars.half;
    for (const std::size_t i : rows) {
        const Rect row = area.room.cut_top(kRow);
        if (!area.sees(row)) continue;
        if (auto made = draw_choice(ui, row, name, bars, s.rows[i], s.step_s, i)) edit = std::move(made);
    }
    return edit;
}

Table tornado_data(const Scene& scene, const TornadoState& state) {
    const auto& of = state.of;
    const bool there = of.key && !of.running && of.error.empty() && scene.evaluation.step
                       && of.value.step_s == scene.evaluation.step->time_s;
    if (there) return sensitivity_table(of.value, true);
    Table none;
    none.columns = {{"what each choice is worth"}};
    none.rows = {{!scene.evaluation.step ? "no step comes out of this plan"
                  : of.error.empty()     ? "trying one step either way of each choice …"
                                         : "It could not be worked out: " + of.error}};
    return none;
}

}  // namespace pentamesh::ui
