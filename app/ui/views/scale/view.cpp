#include "app/ui/views/scale/view.h"

#include "app/tables/scale.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/view_head.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kWide = 860, kSide = 300, kLow = 300;

// Returns the pages that the plan has, as the switch offers them: weak scaling has a switch of its own.
std::vector<int> pages_over(const Plan& plan) {
    std::vector<int> out{0, 2, 3, 4, 5};
    if (plan.model.moe) out.push_back(6);
    out.push_back(7);
    return out;
}

void draw_switches(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, ScaleViewState& state) {
    const std::vector<int> pages = pages_over(scene.plan);
    std::vector<std::string_view> names;
    int shown = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        names.push_back(pages[i] == 0 ? "GPUs" : kScalePages[static_cast<std::size_t>(pages[i])]);
        if (pages[i] == state.page || (pages[i] == 0 && state.page == 1)) shown = static_cast<int>(i);
    }
    const Rect place = head_place(head_row, room, segments_width(ui, names, 0, shown));
    const int picked = ui.segments("scale.over", place, names, shown);
    if (picked != shown) state.page = pages[static_cast<std::size_t>(picked)];
    if (state.page > 1) return;
    static constexpr std::string_view kBatch[] = {"batch stays", "batch grows"};
    const Rect second = head_place(head_row, room, segments_width(ui, kBatch, 0, state.page));
    state.page = ui.segments("scale.batch", second, kBatch, state.page);
}

std::string tooltip_of(const Scale& s, const ScalePoint& p) {
    const std::string head = value_words(s.request.over, static_cast<double>(p.at));
    if (!p.possible()) return head + "\nrefused: " + p.reason;
    std::string out = head + "\n" + time_text(p.step_s) + " a step, " + count_text(p.tokens_per_s)
                      + " tokens/s, " + percent(p.of_best) + " of the best by GPU\n";
    for (const ScalePart& part : parts_of(p))
        if (part.time_s > 0) out += std::string(part.name) + " " + time_text(part.time_s) + "   ";
    out += "\nfullest GPU " + memory_text(p.memory_bytes) + ", which " + std::string(name_of(p.fit));
    return out + (p.at == s.own ? "\nthis plan" : "\nclick: make it the plan");
}

// Answers the mouse and the keyboard over a value. Returns true if it was clicked.
bool press_value(Ui& ui, std::string_view name, std::uint64_t index, Rect place, const Scale& s,
                 const ScalePoint& p) {
    const bool goes = p.possible() && p.at != s.own;
    const Hit hit = ui.area(name, place, index, goes);
    if (hit.hovered || ui.hovers(place)) ui.tooltip(tooltip_of(s, p));
    if (hit.focused) ui.focus_ring(place, 3);
    return goes && hit.clicked;
}

PlanEdit edit_to(const Plan& plan, const Scale& s, const ScalePoint& p) {
    return {scaled_plan(plan, s.request, p.at), value_words(s.request.over, static_cast<double>(p.at)), ""};
}

std::optional<PlanEdit> press_points(Ui& ui, const Plan& plan, const Scale& s, const Plot& plot) {
    std::optional<PlanEdit> edit;
    const auto at = [&](std::size_t i) { return plot.x.at(static_cast<double>(s.points[i].at)); };
    for (std::size_t i = 0; i < s.points.size(); ++i) {
        const float left = i > 0 ? (at(i - 1) + at(i)) / 2 : plot.area.x;
        const float right = i + 1 < s.points.size() ? (at(i) + at(i + 1)) / 2 : plot.area.right();
        const Rect place{left, plot.area.y, right - left, plot.area.h};
        if (ui.hovers(place))
            ui.canvas().line({at(i), place.y}, {at(i), place.bottom()}, ui.theme().secondary, 1);
        if (press_value(ui, "scale.point", i, place, s, s.points[i])) edit = edit_to(plan, s, s.points[i]);
    }
    return edit;
}

void draw_words(Ui& ui, Rect& room, const ScaleWords& words, bool low) {
    const TextStyle verdict = ui.style(low ? 13.0f : 16.0f, Tone::text, Face::semibold);
    room.cut_top(ui.canvas().paragraph(room, words.verdict, verdict, low ? 18.0f : 22.0f) + 2);
    if (!low) room.cut_top(ui.canvas().paragraph(room, words.held, ui.small(), 18) + 6);
}

std::optional<PlanEdit> draw_bars(Ui& ui, Rect room, const ScaleInk& ink, const Plan& plan,
                                  const ScalePicture& picture) {
    std::optional<PlanEdit> edit;
    ui.section(room.cut_top(18), "THE SAME QUESTION ASKED OF OTHER NUMBERS OF THE PLAN",
               room.w > 700 ? "seconds for the tokens of a step; below: memory, GiB" : "");
    room.cut_top(6);
    std::uint64_t index = 0;
    for (const ScaleBar& bar : draw_scale_bars(ink, room, plan, picture.others))
        if (press_value(ui, "scale.bar", index++, bar.place, *bar.of, *bar.point))
            edit = edit_to(plan, *bar.of, *bar.point);
    return edit;
}

void draw_side(Ui& ui, Rect side, const ScaleInk& ink, const Plan& plan, const Scale& s) {
    const float memory = std::clamp(side.h * 0.34f, 90.0f, 190.0f);
    Rect below = side.cut_bottom(memory);
    put_head(ui, side, 4, "WHERE IT TIPS");
    const float used = draw_turns(ink, side, s);
    // The memory follows the list where that is short.
    below.y = std::min(below.y, side.y + used + 10);
    put_head(ui, below, 4, "MEMORY OF THE FULLEST GPU");
    below.h = std::min(below.h, memory - 24);
    draw_scale_memory(ink, below, plan, s);
}

}  // namespace

ScaleRequest scale_request(int page) {
    constexpr std::array kOver{ScaleOver::gpus, ScaleOver::gpus, ScaleOver::batch, ScaleOver::sequence,
                               ScaleOver::tp,   ScaleOver::cp,   ScaleOver::ep,    ScaleOver::pp};
    static_assert(kOver.size() == kScalePages.size());
    return {.over = kOver[static_cast<std::size_t>(page)], .weak = page == 1};
}

std::optional<PlanEdit> draw_scale(Ui& ui, Rect head_row, Rect room, Scene& scene, ScaleViewState& state,
                                   std::uint64_t revision) {
    if (state.page == 6 && !scene.plan.model.moe) state.page = 0;
    draw_switches(ui, head_row, room, scene, state);
    const bool there = state.of.is_of({revision, state.page});
    if (there && state.of.error.empty()) state.last = state.of.value;
    if (there && !state.of.error.empty()) {
        ui.label(room.cut_top(24), "It could not be worked out: " + state.of.error, ui.small());
        return std::nullopt;
    }
    if (!state.last) {
        ui.label(room.cut_top(24), "evaluating the plan over this number …", ui.small());
        return std::nullopt;
    }
    const ScalePicture& picture = *state.last;
    const Scale& s = picture.scale;
    const bool low = room.h < kLow, wide = room.w >= kWide;
    draw_words(ui, room, words_of(scene.plan, s), low);
    if (s.points.size() < 2) return std::nullopt;
    const ScaleInk ink{ui.canvas(), ui.theme()};
    const float bars = scale_bars_height(ink) + 24;
    std::optional<PlanEdit> edit;
    if (wide && room.h > bars + 300 && !picture.others.empty()) {
        edit = draw_bars(ui, room.cut_bottom(bars), ink, scene.plan, picture);
        room.cut_bottom(14);
    }
    if (wide) {
        draw_side(ui, room.cut_right(std::min(std::max(kSide, room.w * 0.26f), 380.0f)), ink, scene.plan, s);
        room.cut_right(28);
    } else if (room.h > 2 * kLow) {
        draw_side(ui, room.cut_bottom(room.h * 0.45f), ink, scene.plan, s);
        room.cut_bottom(14);
    }
    const Plot plot = draw_scale_plot(ink, room, scene.plan, s);
    if (const auto pressed = press_points(ui, scene.plan, s, plot)) edit = pressed;
    return there ? edit : std::nullopt;
}

Table scale_data(const ScaleViewState& state, int part) {
    if (state.of.key && !state.of.running && state.of.value)
        return part == 0 ? scale_table(state.of.value->scale) : turns_table(state.of.value->scale);
    Table none;
    none.columns = {{"how far it scales"}};
    none.rows = {{state.of.error.empty() ? "evaluating the plan over this number …"
                                         : "It could not be worked out: " + state.of.error}};
    return none;
}

}  // namespace pentamesh::ui
