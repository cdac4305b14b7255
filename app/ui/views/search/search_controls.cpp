#include "app/ui/views/search/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/view_head.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr double kMostHeadroom = 0.5, kHeadroomStep = 0.01;
constexpr std::string_view kGoals[] = {"tokens/s", "memory", "cost"};

std::optional<GroupKind> axis_of(Varied v) {
    switch (v) {
    case Varied::tp: return GroupKind::tp;
    case Varied::cp: return GroupKind::cp;
    case Varied::pp:
    case Varied::virtual_stages: return GroupKind::pp;
    case Varied::ep: return GroupKind::ep;
    case Varied::etp: return GroupKind::etp;
    case Varied::dp_shard:
    case Varied::zero: return GroupKind::dp_shard;
    case Varied::dp_replicate: return GroupKind::dp_replicate;
    default: return std::nullopt;
    }
}

bool is_held(const SearchRequest& r, Varied v) {
    return std::find(r.held.begin(), r.held.end(), v) != r.held.end();
}

// Returns true if the chip was clicked.
bool chip(Ui& ui, Rect r, const Hit& hit, bool on, Color color, std::string_view name,
          const std::string& about) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    if (on)
        c.rect(r, hit.hovered ? mix(t.text, t.secondary, 0.25f) : t.text, 5);
    else
        c.box(r, t.raised, hit.hovered ? t.secondary : t.hairline, 1, 5);
    ui.swatch({r.x + 8, r.center().y - 5}, color);
    TextStyle s = ui.style(12, on ? Tone::text : Tone::secondary, on ? Face::semibold : Face::regular);
    if (on) s.color = t.panel;
    c.text_in({r.x + 24, r.y, r.w - 30, r.h}, name, s);
    if (hit.focused) ui.focus_ring(r, 5);
    if (hit.hovered) ui.tooltip(about);
    return hit.clicked;
}

float chip_width(Ui& ui, std::string_view name) {
    return ui.canvas().text_width(name, ui.style(12, Tone::text, Face::semibold)) + 34;
}

void vary_chip(Ui& ui, Rect r, float mark, Varied v, bool varied, const std::string& name,
               const std::string& value, SearchViewState& state) {
    const auto axis = axis_of(v);
    const Hit hit = ui.area("search.vary", {r.x, r.y, r.w - mark, r.h}, static_cast<std::uint64_t>(v));
    if (!chip(
            ui, r, hit, varied, axis ? color_of(ui.theme(), *axis) : ui.theme().faint, name,
            std::string(name_of(v)) + "\n"
                + (varied ? "varied; click: hold it at " + value : "held at " + value + "; click: vary it")))
        return;
    state.chosen = true;
    if (varied)
        state.request.held.push_back(v);
    else
        std::erase(state.request.held, v);
    std::sort(state.request.held.begin(), state.request.held.end());
}

// Returns "pp", or "pp 1 to 8" where its values are limited.
std::string ranged_name(const SearchRequest& request, Varied v) {
    const ValueRange* range = request.range_of(v);
    std::string name(chip_name(v));
    if (range == nullptr || is_held(request, v)) return name;
    if (range->least == range->most) return name + " " + thousands(range->least);
    return name + " " + thousands(range->least) + " to " + thousands(range->most);
}

// Opens the range of a field, from the right end of its chip.
void range_mark(Ui& ui, Rect r, Varied v, bool varied, SearchViewState& state) {
    const Hit hit = ui.area("search.range", r, static_cast<std::uint64_t>(v));
    TextStyle style = ui.style(12, hit.hovered ? Tone::text : Tone::secondary);
    if (varied) style.color = mix(ui.theme().panel, ui.theme().secondary, hit.hovered ? 0.0f : 0.4f);
    ui.canvas().text_in(r, "…", style, Align::center);
    if (hit.focused) ui.focus_ring(r, 4);
    if (hit.hovered) ui.tooltip("Range\nfrom which value to which it is varied");
    if (!hit.clicked) return;
    state.ranging = state.ranging == v ? std::nullopt : std::optional(v);
}

// Draws the two ends of a field's range. Each moves along the values that the field has.
void draw_range(Ui& ui, Rect row, const Plan& plan, Varied v, SearchViewState& state) {
    const std::vector<std::int64_t> values = numbers_of(plan, state.request, v);
    if (values.size() < 2) return;
    const ValueRange* set = state.request.range_of(v);
    ValueRange range = set != nullptr ? *set : ValueRange{v, values.front(), values.back()};
    const auto index = [&](std::int64_t value) {
        return static_cast<int>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
    };
    const int last = static_cast<int>(values.size()) - 1;
    int from = std::min(index(range.least), last), to = std::min(index(range.most), last);
    constexpr float kBox = 110;
    const auto end = [&](std::string_view name, std::string_view words, int& at, int least, int most) {
        const float w = ui.canvas().text_width(words, ui.small()) + 8;
        ui.canvas().text_in(row.cut_left(w), words, ui.small());
        const auto step =
            ui.stepper(name, row.cut_left(kBox), thousands(values[static_cast<std::size_t>(at)]), at > least,
                       at < most, true, false);
        row.cut_left(10);
        at = std::clamp(at + step.by, least, most);
    };
    end("search.from", std::string(chip_name(v)) + " from", from, 0, to);
    end("search.to", "to", to, from, last);
    range.least = values[static_cast<std::size_t>(from)], range.most = values[static_cast<std::size_t>(to)];
    std::erase_if(state.request.ranges, [&](const ValueRange& r) { return r.field == v; });
    const bool whole = ui.link("search.whole", {row.x, row.y + 4}, "all values") || (from == 0 && to == last);
    if (!whole) state.request.ranges.push_back(range);
    std::sort(state.request.ranges.begin(), state.request.ranges.end(),
              [](const ValueRange& a, const ValueRange& b) { return a.field < b.field; });
    state.chosen = state.chosen || !whole;
}

// Says for which software the search is.
std::string software_words(const Plan& plan, const SearchRequest& request) {
    return request.any_software ? "for any software" : "for " + facts_of(plan.training.software).name;
}
void software_chip(Ui& ui, Rect r, const Plan& plan, SearchViewState& state) {
    bool& any = state.request.any_software;
    const std::string& who = facts_of(plan.training.software).name;
    const std::int64_t left_out = state.found ? state.found->counts.left_out : 0;
    std::string about = "Software\n";
    if (any)
        about += "layouts of any software; click: only those that " + who + " runs";
    else
        about += "only layouts that " + who + " runs"
                 + (left_out > 0 ? " (" + thousands(left_out) + " others are left out)" : "")
                 + "; click: those of any software";
    const Hit hit = ui.area("search.software", r);
    if (chip(ui, r, hit, !any, ui.theme().faint, software_words(plan, state.request), about)) any = !any;
}

std::string best_words(const Scene& scene, const SearchFound& found, const std::vector<SearchRow>& rows) {
    if (rows.empty()) return "";
    const SearchRow& best = rows.front();
    const std::string layout = words_of(best.choice, scene.plan.model.moe.has_value());
    if (!scene.evaluation.step || scene.evaluation.memory.stage.empty())
        return "This plan is not possible: " + first_error(scene.evaluation.problems) + " The best "
               + (found.request.goal == Goal::memory ? "takes " + memory_text(best.memory_bytes)
                                                     : "takes " + time_text(best.step_s))
               + ": " + layout + ".";
    const double own_s = scene.evaluation.step->time_s, own_b = scene.evaluation.memory.peak();
    if (found.request.goal == Goal::memory)
        return "The smallest takes " + memory_text(best.memory_bytes) + " (this plan " + memory_text(own_b)
               + "): " + layout + ".";
    const double share = best.step_s / own_s - 1;
    std::string than = ", as long as this plan";
    if (std::abs(share) >= 0.0005)
        than = ", " + percent(std::abs(share)) + (share < 0 ? " less" : " more") + " than this plan";
    const SearchTies* ties = found.report ? &found.report->ties : nullptr;
    if (ties == nullptr || ties->count < 2)
        return "The best takes " + time_text(best.step_s) + than + ": " + layout + ".";
    const auto fastest = std::min_element(rows.begin(), rows.end(),
                                          [](const auto& a, const auto& b) { return a.step_s < b.step_s; });
    const bool own_fits = own_b <= scene.plan.cluster.gpu.hbm_bytes * (1 - found.request.headroom);
    const bool own_tied = own_fits && own_s <= fastest->step_s * (1 + ties->within);
    return tie_words(*found.report) + (own_tied ? " This plan is one of them. " : " ")
           + (found.ordered == Second::step ? "The fastest takes " : "The first takes ")
           + time_text(best.step_s) + than + ": " + layout + ".";
}

}  // namespace

void draw_search_head(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, SearchViewState& state) {
    const bool priced = scene.plan.cluster.price_per_gpu_hour > 0;
    if (!priced && state.request.goal == Goal::cost) state.request.goal = Goal::tokens;
    if (ui.state().for_picture) return;
    constexpr float kHeadroom = 118, kStop = 104;
    const float goals = segments_width(ui, kGoals);
    Rect place = head_place(head_row, room, goals + kHeadroom + kStop + 24);
    const int goal = static_cast<int>(state.request.goal);
    const Rect goal_box = place.cut_left(std::min(goals, place.w));
    const int picked = ui.segments("search.goal", goal_box, kGoals, goal, std::nullopt, priced ? 0U : 4U);
    if (picked != goal) state.request.goal = static_cast<Goal>(picked);
    if (ui.hovers(goal_box))
        ui.tooltip(
            std::string("Goal\nwhat the best layout has: most tokens/s, least memory, least cost per token")
            + (priced ? "" : " (the plan gives no price per GPU-hour)"));
    place.cut_left(12);
    if (place.w >= kHeadroom) {
        const Rect box = place.cut_left(kHeadroom);
        const double h = state.request.headroom;
        const Ui::Step step = ui.stepper("search.headroom", box, trimmed(h * 100) + " % free",
                                         h > kHeadroomStep / 2, h < kMostHeadroom, true, false);
        if (step.edit_requested) state.request.headroom = SearchRequest{}.headroom;
        if (step.by != 0)
            state.request.headroom =
                std::clamp(std::round(h / kHeadroomStep + step.by) * kHeadroomStep, 0.0, kMostHeadroom);
        if (ui.hovers(box)) ui.tooltip("Headroom\nthe share of the fullest GPU's memory that stays free");
        place.cut_left(12);
    }
    const bool running = state.found && state.found->running;
    const bool cut = state.found && state.found->report && state.found->report->cancelled;
    if (place.w < kStop - 1 || !(running || cut)) return;
    if (ui.button("search.stop", place.cut_left(kStop), running ? "Stop" : "Search again", 0,
                  running ? !state.stopped : true)) {
        state.stopped = running;
        state.again = !running;
    }
}

void draw_search_chips(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state) {
    constexpr float kHeight = 24, kGap = 7, kMark = 18;
    Canvas& c = ui.canvas();
    Rect row = room.cut_top(kHeight);
    const LayoutChoice own = choice_of(scene.plan);
    std::string held;
    software_chip(ui, row.cut_left(chip_width(ui, software_words(scene.plan, state.request))), scene.plan,
                  state);
    row.cut_left(kGap);
    for (const Varied v : all_of<Varied>()) {
        const bool expert = v == Varied::ep || v == Varied::etp;
        if (expert && !scene.plan.model.moe) continue;
        const bool varied = !is_held(state.request, v);
        const std::string name = ranged_name(state.request, v);
        if (!varied)
            held += (held.empty() ? "held: " : ", ") + std::string(chip_name(v)) + " " + value_text(own, v);
        const bool ranges = varied && !ui.state().for_picture && v != Varied::schedule
                            && v != Varied::recompute && v != Varied::order;
        const float w = chip_width(ui, name) + (ranges ? kMark : 0);
        if (row.w < w) {
            room.cut_top(6);
            row = room.cut_top(kHeight);
        }
        Rect place = row.cut_left(w);
        vary_chip(ui, place, ranges ? kMark : 0, v, varied, name, value_text(own, v), state);
        row.cut_left(kGap);
        if (ranges) range_mark(ui, place.cut_right(kMark), v, varied, state);
    }
    row.cut_left(6);
    const float w = c.text_width(held, ui.small()) + 2;
    if (row.w < w && !held.empty()) row = room.cut_top(20);
    ui.label(row, held, ui.small());
    if (state.ranging && is_held(state.request, *state.ranging)) state.ranging.reset();
    if (state.ranging && !ui.state().for_picture) {
        room.cut_top(6);
        draw_range(ui, room.cut_top(kHeight), scene.plan, *state.ranging, state);
    }
    room.cut_top(8);
}

SearchWords search_words(const Scene& scene, const SearchViewState& state) {
    if (!state.found) return {"The search begins.", ""};
    const SearchFound& f = *state.found;
    const SearchCounts& n = f.counts;
    if (!f.error.empty()) return {"The search ended: " + f.error, ""};
    if (!f.report) {
        std::string bold = n.layouts > 0 ? thousands(n.evaluated) + " of " + thousands(n.layouts)
                                               + " layouts looked at, " + thousands(f.fit) + " fit so far."
                                         : "Looking at the layouts …";
        return {f.running ? bold : "Stopped: " + bold, best_words(scene, f, *state.rows)};
    }
    const bool timed = f.seconds > 0;
    std::string held;
    for (const Varied v : f.request.held)
        held += (held.empty() ? " with " : ", ") + std::string(chip_name(v));
    if (!held.empty()) held += " held";
    std::string bold =
        thousands(n.layouts) + " layouts" + held + (timed ? " in " + time_text(f.seconds) : "");
    if (n.left_out > 0 && f.space.software)
        bold = thousands(n.layouts) + " layouts that " + facts_of(*f.space.software).name + " runs" + held
               + (timed ? ", in " + time_text(f.seconds) : "");
    if (f.report->cancelled)
        bold = "Stopped after " + thousands(n.evaluated) + " of " + thousands(n.layouts) + " layouts";
    bold += "; " + thousands(n.fit) + (n.skipped > 0 ? " were tried and fit." : " fit.");
    if (!f.report->nothing_fits.empty()) return {bold, f.report->nothing_fits};
    return {bold, best_words(scene, f, *state.rows)};
}

}  // namespace pentamesh::ui
