#include "app/ui/views/search/view.h"

#include "app/tables/decide_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "core/advice/advice.h"
#include "core/base/threads.h"
#include "core/decide/bounds.h"
#include "core/decide/choose.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/rules/state_runs.h"
#include "core/step/step.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kWide = 860, kLow = 400, kThumb = 8;
constexpr std::size_t kRows = 10, kLeastRows = 8;  // the reasons under them are reached by scrolling

// Returns the width of the results, right of the plot.
float list_width(float room) {
    return std::min(std::floor(room * (room > 1200 ? 0.5f : 0.46f)), 820.0f);
}

void draw_slices(Ui& ui, Rect bar, const Step& step) {
    for (const StepSlice& s : waterfall(step)) {
        const auto at = [&](double t) { return bar.x + static_cast<float>(t / step.time_s) * bar.w; };
        const Rect r{at(s.from_s), bar.y, at(s.from_s + s.time_s) - at(s.from_s), bar.h};
        fill_part(ui.canvas(), ui.theme(), r, s);
    }
}

// Draws the figures of a layout, next to `at`. Of a search for any software it says which software runs it.
void draw_card(Ui& ui, Rect room, Vec2 at, const Scene& scene, const SearchFound& found,
               const LayoutChoice& choice, const Evaluation& e, const std::optional<SearchRow>& row) {
    constexpr float kWidth = 340;
    if (!e.step || e.memory.stage.empty() || room.w < kWidth + 8) return;
    Canvas& c = ui.canvas();
    const std::string layout = words_of(choice, scene.plan.model.moe.has_value());
    const TextStyle bold = ui.style(12, Tone::text, Face::semibold);
    const float head = c.paragraph_height(kWidth - 24, layout, bold, 17);
    const std::string alike = row && row->alike > 0 ? plural(row->alike, "other layout", "other layouts")
                                                          + " with the same two figures   "
                                                    : "";
    const std::string run_by = found.request.any_software
                                   ? "run by " + run_by_words(with_choice(found, scene.plan, choice))
                                   : std::string();
    const float runs = run_by.empty() ? 0 : c.paragraph_height(kWidth - 24, run_by, ui.small(), 18);
    const float height = head + 116 + runs;
    Rect box{held_between(at.x + 16, room.x, room.right() - kWidth), at.y + 16, kWidth, height};
    // The card stands left of the list, so that the other rows can still be read.
    if (row && room.w >= kWide) box.x = room.right() - list_width(room.w) - kWidth - 12;
    if (box.bottom() > room.bottom()) box.y = std::max(room.y, at.y - height - 12);
    // A row with the focus may have been scrolled away.
    box.y = held_between(box.y, room.y, room.bottom() - height);
    c.box(box, ui.theme().raised, ui.theme().hairline, 1, 6);
    Rect in = box.inset(12, 10);
    in.cut_top(c.paragraph(in, layout, bold, 17) + 4);
    const Step& s = *e.step;
    const double exposed = exposed_of(s);
    c.text_in(in.cut_top(18),
              time_text(s.time_s) + "   " + count_text(s.tokens_per_s) + " tokens/s   MFU " + percent(s.mfu)
                  + (shows_causal_mfu(s) ? " (causal " + percent(mfu_causal(s)) + ")" : ""),
              ui.style(12));
    in.cut_top(4);
    draw_slices(ui, in.cut_top(10), s);
    in.cut_top(6);
    c.text_in(in.cut_top(18), gib(e.memory.peak()) + " of " + memory_text(e.memory.hbm), ui.small());
    c.text_in(in.cut_top(18),
              "bubble " + percent(schedule_bubble_s(s) / s.time_s)
                  + (s.uneven_s > 0 ? ", uneven stages " + percent(s.uneven_s / s.time_s) : "") + ", exposed "
                  + percent(exposed / s.time_s),
              ui.small());
    if (!run_by.empty()) in.cut_top(c.paragraph(in, run_by, ui.small(), 18));
    c.text_in(in.cut_top(18), alike + "click: open   Shift+click: compare", ui.small(Tone::faint));
}

void draw_words(Ui& ui, Rect& room, const SearchWords& words) {
    Canvas& c = ui.canvas();
    const TextStyle bold = ui.title(), plain = ui.style(13, Tone::secondary);
    const float w = c.text_width(words.bold, bold) + 16;
    if (w + c.text_width(words.plain, plain) <= room.w) {
        Rect row = room.cut_top(20);
        c.text_in(row.cut_left(w), words.bold, bold);
        c.text_in(row, words.plain, plain);
    } else {
        room.cut_top(c.paragraph(room, words.bold, bold, 18));
        if (!words.plain.empty()) room.cut_top(c.paragraph(room, words.plain, plain, 18));
    }
    room.cut_top(8);
}

void draw_lists(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state, std::size_t most,
                SearchPick& pick, float bottom) {
    draw_results(ui, room, scene, *state.found, *state.rows, {most, state.all_rows, state.then}, pick);
    // A list that scrolls has all rows; so has a picture whose height follows its content.
    const bool cut = ui.state().for_picture && !ui.state().picture_grows;
    draw_rejected(ui, room, *state.found, pick, cut ? bottom : std::numeric_limits<float>::infinity());
}

// Draws the plot left of the lists, or above them where the room is narrow. With `chips_below`, in a low room
// they follow the plot.
void draw_body(Ui& ui, Rect room, const Scene& scene, SearchViewState& state, bool chips_below,
               SearchPick& pick) {
    const auto plot = [&](Rect r) {
        bool clicked = false;
        if (const auto under =
                draw_search_plot(ui, r, scene, *state.found, state.dots, state.colored_by, clicked)) {
            pick.hovered = under;
            pick.at = ui.frame().mouse;
            if (clicked) pick.clicked = under;
        }
    };
    if (room.w >= kWide) {
        Rect list = room.cut_right(list_width(room.w));
        room.cut_right(28);
        const float others = rejected_height(*state.found) + 60;
        std::size_t most = ui.state().for_picture ? std::max(state.rows->size(), kRows) : kRows;
        while (most > kLeastRows && results_height(most) + others > list.h) --most;
        plot(room);
        {
            ScrollArea area(ui, "search.list", list, state.list_scroll);
            area.room.w -= kThumb;
            draw_lists(ui, area.room, scene, state, most, pick, list.bottom());
        }
        if (pick.row) mark_in_plot(ui, scene, state.dots, *pick.row);
        return;
    }
    ScrollArea area(ui, "search.scroll", room, state.scroll);
    area.room.w -= kThumb;
    plot(area.room.cut_top(std::max(std::min(room.h * (chips_below ? 1.0f : 0.56f), room.w * 0.6f), 180.0f)));
    area.room.cut_top(12);
    if (chips_below) draw_search_chips(ui, area.room, scene, state);
    draw_lists(ui, area.room, scene, state, kRows, pick, room.bottom());
    if (pick.row) mark_in_plot(ui, scene, state.dots, *pick.row);
}

PlanEdit opened(const SearchFound& found, const Scene& scene, const LayoutChoice& choice) {
    return {with_choice(found, scene.plan, choice),
            "layout " + words_of(choice, scene.plan.model.moe.has_value()), ""};
}

void compare_with(const SearchFound& found, Scene& scene, const LayoutChoice& choice, const Evaluation& e,
                  CompareViewState& compare) {
    const bool pins = compare.pinned() == nullptr;
    if (pins && !scene.evaluation.valid) {
        scene.next_hover.message =
            "This plan is not possible, so nothing is compared with it: open a layout first";
        return;
    }
    if (pins) compare.pin(scene.plan, scene.evaluation);
    Plan plan = with_choice(found, scene.plan, choice);
    plan.name = words_of(choice, plan.model.moe.has_value());
    const bool added = compare.add(plan, e);
    scene.next_hover.message =
        !added ? "Compare has " + std::to_string(kMostCompared) + " plans: remove one first (8)"
        : pins ? "This plan is pinned as A, and the layout joined Compare (8)"
               : "The layout joined Compare (8)";
}

}  // namespace

std::optional<PlanEdit> draw_search(Ui& ui, Rect head_row, Rect room, Scene& scene, SearchViewState& state,
                                    CompareViewState& compare) {
    const Rect whole = room;
    draw_search_head(ui, head_row, room, scene, state);
    const bool low = room.h < kLow && room.w < kWide;
    if (state.found) order_by(*state.found, state.then);
    if (state.found) {
        state.rows.update({state.found, state.found->version}, [&] { return rows_of(*state.found); });
        state.hsdp.update({state.found, state.found->version}, [&] {
            return state.rows->empty() || !still_holds(*state.found, scene.plan)
                       ? std::string()
                       : hsdp_words(scene.plan,
                                    with_choice(*state.found, scene.plan, state.rows->front().choice));
        });
    }
    const SearchWords words = search_words(scene, state);
    if (low) {
        ui.label(room.cut_top(20), words.bold + "  " + words.plain, ui.title());
    } else {
        draw_search_chips(ui, room, scene, state);
        draw_words(ui, room, words);
    }
    SearchPick pick;
    if (state.found) draw_body(ui, room, scene, state, low, pick);
    if (const auto software = std::exchange(state.wanted_software, std::nullopt)) {
        Plan plan = scene.plan;
        plan.training.software = *software;
        return PlanEdit{std::move(plan), "software " + std::string(name_of(*software)), ""};
    }
    if (!state.found) return std::nullopt;
    const SearchFound& found = *state.found;
    const auto evaluated = [&](const LayoutChoice& choice) {
        const Plan plan = with_choice(found, scene.plan, choice);
        return state.hovered.get(plan, [&] { return std::make_shared<const Evaluation>(evaluate(plan)); });
    };
    if (pick.hovered)
        draw_card(ui, whole, pick.at, scene, found, *pick.hovered, *evaluated(*pick.hovered), pick.row);
    if (pick.example != nullptr)
        return PlanEdit{in_place_of(scene.plan, *pick.example), "a layout that was rejected", ""};
    if (!pick.clicked) return std::nullopt;
    if (!ui.frame().shift) return opened(found, scene, *pick.clicked);
    compare_with(found, scene, *pick.clicked, *evaluated(*pick.clicked), compare);
    return std::nullopt;
}

Table search_data(const Scene& scene, const SearchViewState& state, int part) {
    if (part == 1) {
        if (state.found && state.found->report && !state.found->report->rejected.empty())
            return rejected_table(*state.found->report);
        Table none;
        none.columns = {{"reason"}};
        none.rows = {{state.found && state.found->report ? "none was rejected" : "the search runs"}};
        return none;
    }
    if (state.found && state.found->report && !state.found->report->results.empty())
        return results_table(*state.found->report);
    std::vector<FoundRow> rows;
    const bool experts = scene.plan.model.moe.has_value();
    if (state.found)
        for (const SearchRow& r : rows_of(*state.found))
            rows.push_back({words_of(r.choice, experts), r.step_s, r.memory_bytes});
    if (scene.evaluation.step && !scene.evaluation.memory.stage.empty())
        rows.push_back({"this plan: " + words_of(choice_of(scene.plan), experts),
                        scene.evaluation.step->time_s, scene.evaluation.memory.peak()});
    return found_table(rows);
}

namespace {

constexpr double kMostHeadroom = 0.5, kHeadroomStep = 0.01;
constexpr std::string_view kFinerName = "some layers, modules";
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
    return r.holds(v);
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
    const bool added = is_held_by_default(v) ? !varied : varied;
    std::vector<Varied>& list = is_held_by_default(v) ? state.request.freed : state.request.held;
    if (added)
        list.push_back(v);
    else
        std::erase(list, v);
    std::sort(list.begin(), list.end());
}

// Frees recomputation of some layers of a chunk and of modules, in addition to all or nothing.
void finer_chip(Ui& ui, Rect r, SearchViewState& state) {
    bool& finer = state.request.finer;
    const Hit hit = ui.area("search.finer", r);
    if (!chip(ui, r, hit, finer, ui.theme().faint, kFinerName,
              finer ? "recompute\nthe first 1 to 4 layers of each chunk, and single modules, are tried too; "
                      "click: only nothing, selective, full"
                    : "recompute\nclick: try the first 1 to 4 layers of each chunk, and single modules, too"))
        return;
    state.chosen = true;
    finer = !finer;
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
    const Software own = plan.training.software;
    const std::string& who = facts_of(own).name;
    const std::int64_t left_out = state.found ? state.found->counts.left_out : 0;
    std::string about = "Software\n";
    if (any)
        about += "layouts of any software; click: only those that " + who + " runs";
    else
        about += "only layouts that " + who + " runs"
                 + (left_out > 0 ? " (" + thousands(left_out) + " others are left out)" : "")
                 + (own == Training{}.software ? ", which is taken of a plan that names no software" : "")
                 + "; click: those of any software";
    const Hit hit = ui.area("search.software", r);
    if (chip(ui, r, hit, !any, ui.theme().faint, software_words(plan, state.request), about)) any = !any;
}

// Opens the list of software, behind the chip.
void software_mark(Ui& ui, Rect r, SearchViewState& state) {
    const Hit hit = ui.area("search.software.list", r);
    ui.canvas().text_in(r, "…", ui.style(12, hit.hovered ? Tone::text : Tone::secondary), Align::center);
    if (hit.focused) ui.focus_ring(r, 4);
    if (hit.hovered) ui.tooltip("Software\nfor which one the search is");
    if (hit.clicked) state.lists_software = !state.lists_software;
}

// Draws a chip a software: the plan then names it, and has its defaults. The last one takes any.
void list_software(Ui& ui, Rect& room, const Plan& plan, SearchViewState& state) {
    constexpr float kHigh = 24, kBetween = 7;
    constexpr std::string_view kAny = "any software";
    Rect row = room.cut_top(kHigh);
    const auto place = [&](std::string_view name) {
        const float w = chip_width(ui, name);
        if (row.w < w) {
            room.cut_top(6);
            row = room.cut_top(kHigh);
        }
        const Rect r = row.cut_left(w);
        row.cut_left(kBetween);
        return r;
    };
    for (const Software s : all_of<Software>()) {
        const std::string& name = facts_of(s).name;
        const Rect r = place(name);
        const Hit hit = ui.area("search.software.of", r, static_cast<std::uint64_t>(s));
        const bool on = !state.request.any_software && s == plan.training.software;
        if (!chip(ui, r, hit, on, ui.theme().faint, name, name + "\nclick: the plan is one of it")) continue;
        state.request.any_software = state.lists_software = false;
        if (s != plan.training.software) state.wanted_software = s;
    }
    const Rect r = place(kAny);
    if (chip(ui, r, ui.area("search.software.any", r), state.request.any_software, ui.theme().faint, kAny,
             "any software\nclick: layouts of all of them; each row says who runs it")) {
        state.request.any_software = true;
        state.lists_software = false;
    }
    room.cut_top(6);
}

// Says whose layouts the search looked at, as a part of a sentence.
std::string who_runs(const Plan& plan, const SearchRequest& request) {
    return request.any_software ? "was tried" : facts_of(plan.training.software).name + " runs";
}

// Says what the search found: its verdict first, then what it rests on.
SearchWords best_words(const Scene& scene, const SearchFound& found, const std::vector<SearchRow>& rows) {
    if (rows.empty()) return {};
    const SearchRow& best = rows.front();
    const std::string layout = words_of(best.choice, scene.plan.model.moe.has_value())
                               + (may_not_fit(best.fit) ? "; it may not fit" : "");
    if (!scene.evaluation.step || scene.evaluation.memory.stage.empty())
        return {"This plan is not possible: " + first_error(scene.evaluation.problems) + " The best "
                    + (found.request.goal == Goal::memory ? "takes " + memory_text(best.memory_bytes)
                                                          : "takes " + time_text(best.step_s))
                    + ": " + layout + ".",
                ""};
    const double own_s = scene.evaluation.step->time_s, own_b = scene.evaluation.memory.peak();
    if (found.request.goal == Goal::memory)
        return {"The smallest takes " + memory_text(best.memory_bytes) + " (this plan " + memory_text(own_b)
                    + "): " + layout + ".",
                ""};
    const double share = best.step_s / own_s - 1;
    std::string than = ", as long as this plan";
    if (std::abs(share) >= 0.0005)
        than = ", " + percent(std::abs(share)) + (share < 0 ? " less" : " more") + " than this plan";
    const SearchTies* ties = found.report ? &found.report->ties : nullptr;
    const SearchStanding stands =
        found.report ? standing_of(scene.evaluation, *found.report) : SearchStanding{};
    if (ties == nullptr || ties->count < 2)
        return {"The best takes " + time_text(best.step_s) + than + ": " + layout + ".",
                stands.standing == PlanStanding::tied ? stands.sentence : ""};
    const auto fastest = std::min_element(rows.begin(), rows.end(),
                                          [](const auto& a, const auto& b) { return a.step_s < b.step_s; });
    const bool own_fits = own_b <= scene.plan.cluster.gpu.hbm_bytes * (1 - found.request.headroom);
    const double near = 1 + ties->within;
    if (own_fits && stands.standing == PlanStanding::slower)
        return {"Nothing that " + who_runs(scene.plan, found.request)
                    + " comes near this plan: the best takes " + time_text(best.step_s) + ", "
                    + percent(share) + " more: " + layout + ".",
                ""};
    const std::string first = found.ordered == Second::step ? "The fastest" : "The first";
    const std::string tied = tie_words(*found.report), layout_of = ": " + layout + ".";
    if (stands.standing == PlanStanding::fits || stands.standing == PlanStanding::faster || share > 0)
        return {first + " takes " + time_text(best.step_s) + than + layout_of, tied};
    std::string verdict = "No layout is faster than this plan.";
    if (share < -0.0005)
        verdict = first + " gains " + percent(-share)
                  + (ties->estimate ? ", within the estimate's own " + percent(stands.range)
                                    : ", within " + percent(ties->within))
                  + layout_of;
    const bool one_of_them = own_fits && own_s <= fastest->step_s * near;
    return {verdict, tied + (one_of_them ? " This plan is one of them." : "")};
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

namespace {

// Returns true if a search can move something of it to host memory: where the link is known, and the software
// has it for some layout.
bool can_move(const Plan& plan, const SearchRequest& request, Varied v) {
    if (plan.cluster.gpu.host_bytes_per_s <= 0) return false;
    if (request.any_software) return true;
    const Offload& own = plan.training.offload;
    const Software software = plan.training.software;
    return v == Varied::offload_layers
               ? offloads_activations(plan, software, 1, false, own.activations_layers == 1 ? 2 : 1)
               : offloads_optimizer(plan, software, 1, own.optimizer == 1 ? 0 : 1);
}

// Returns true for what a layout of this plan can vary: of another choice a chip would give nothing. Only
// optimizers with a copy of the weights have types of their own.
bool can_vary(const Plan& plan, const SearchRequest& request, Varied v) {
    if (v == Varied::offload_layers || v == Varied::offload_optimizer) return can_move(plan, request, v);
    if (!request.any_software && (v == Varied::gradients || v == Varied::optimizer_state)) {
        const Software software = plan.training.software;
        const auto other = [](Dtype now) { return now == Dtype::bf16 ? Dtype::fp32 : Dtype::bf16; };
        return v == Varied::gradients
                   ? keeps_gradients(plan, software, other(plan.training.gradients))
                   : keeps_moments(plan, software, 1, other(plan.training.optimizer_state));
    }
    return plan.model.moe || (v != Varied::ep && v != Varied::etp);
}

// Returns "held: order Megatron"; empty where nothing is held as it is.
std::string held_words(const Plan& plan, const SearchRequest& request) {
    const LayoutChoice own = choice_of(plan);
    std::string held;
    for (const Varied v : all_of<Varied>())
        if (can_vary(plan, request, v) && is_held(request, v) && !is_held_by_default(v))
            held += (held.empty() ? "held: " : ", ") + std::string(chip_name(v)) + " " + value_text(own, v);
    return held;
}

// Says what the search varies, and what it holds.
std::string chip_words(const Plan& plan, const SearchRequest& request) {
    std::string varied;
    for (const Varied v : all_of<Varied>())
        if (can_vary(plan, request, v) && !is_held(request, v))
            varied += (varied.empty() ? "" : ", ") + ranged_name(request, v);
    if (request.finer) varied += (varied.empty() ? "" : ", ") + std::string(kFinerName);
    const std::string held = held_words(plan, request);
    return "Varied, " + software_words(plan, request) + ": " + (varied.empty() ? "nothing" : varied)
           + (held.empty() ? "" : "; " + held) + ".";
}

}  // namespace

void draw_search_chips(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state) {
    constexpr float kHeight = 24, kChipGap = 7, kRangeMark = 18;
    Canvas& c = ui.canvas();
    if (ui.state().for_picture) {  // nobody presses a chip there: their words do
        const std::string words = chip_words(scene.plan, state.request);
        room.cut_top(c.paragraph(room, words, ui.small(), 18) + 6);
        return;
    }
    Rect row = room.cut_top(kHeight);
    const LayoutChoice own = choice_of(scene.plan);
    const std::string held = held_words(scene.plan, state.request);
    software_chip(ui, row.cut_left(chip_width(ui, software_words(scene.plan, state.request))), scene.plan,
                  state);
    software_mark(ui, row.cut_left(kRangeMark), state);
    row.cut_left(kChipGap);
    for (const Varied v : all_of<Varied>()) {
        if (!can_vary(scene.plan, state.request, v)) continue;
        const bool varied = !is_held(state.request, v);
        const std::string name = ranged_name(state.request, v);
        const bool ranges = varied && has_numbers(v);
        const float w = chip_width(ui, name) + (ranges ? kRangeMark : 0);
        if (row.w < w) {
            room.cut_top(6);
            row = room.cut_top(kHeight);
        }
        Rect place = row.cut_left(w);
        vary_chip(ui, place, ranges ? kRangeMark : 0, v, varied, name, value_text(own, v), state);
        row.cut_left(kChipGap);
        if (ranges) range_mark(ui, place.cut_right(kRangeMark), v, varied, state);
        if (v != Varied::recompute || !varied) continue;
        const float finer_w = chip_width(ui, kFinerName);
        if (row.w < finer_w) {
            room.cut_top(6);
            row = room.cut_top(kHeight);
        }
        finer_chip(ui, row.cut_left(finer_w), state);
        row.cut_left(kChipGap);
    }
    row.cut_left(6);
    const float w = c.text_width(held, ui.small()) + 2;
    if (row.w < w && !held.empty()) row = room.cut_top(20);
    ui.label(row, held, ui.small());
    if (state.ranging && is_held(state.request, *state.ranging)) state.ranging.reset();
    if (state.ranging) {
        room.cut_top(6);
        draw_range(ui, room.cut_top(kHeight), scene.plan, *state.ranging, state);
    }
    if (state.lists_software) {
        room.cut_top(6);
        list_software(ui, room, scene.plan, state);
    }
    room.cut_top(8);
}

SearchWords search_words(const Scene& scene, const SearchViewState& state) {
    if (!state.found) return {"The search begins.", ""};
    const SearchFound& f = *state.found;
    const SearchCounts& n = f.counts;
    if (!f.error.empty()) return {"The search ended: " + f.error, ""};
    const std::string hsdp = state.hsdp->empty() ? "" : " " + *state.hsdp;
    if (!f.report) {
        std::string bold = n.layouts > 0 ? thousands(n.evaluated) + " of " + thousands(n.layouts)
                                               + " layouts looked at, " + thousands(f.fit) + " fit so far."
                                         : "Looking at the layouts …";
        const SearchWords best = best_words(scene, f, *state.rows);
        return {f.running ? bold : "Stopped: " + bold,
                best.bold + (best.plain.empty() ? "" : " " + best.plain) + hsdp};
    }
    const bool timed = f.seconds > 0;
    std::string held;
    for (const Varied v : f.request.held)
        held += (held.empty() ? " with " : ", ") + std::string(chip_name(v));
    if (!held.empty())
        held += state.chosen ? " held" : " held, as all free are more than " + thousands(kUsualLayouts);
    std::string bold =
        thousands(n.layouts) + " layouts" + held + (timed ? " in " + time_text(f.seconds) : "");
    if (n.left_out > 0 && f.space.software)
        bold = thousands(n.layouts) + " layouts that " + facts_of(*f.space.software).name + " runs" + held
               + (timed ? ", in " + time_text(f.seconds) : "");
    if (f.report->cancelled)
        bold = "Stopped after " + thousands(n.evaluated) + " of " + thousands(n.layouts) + " layouts";
    bold += "; " + thousands(n.fit) + (n.skipped > 0 ? " were tried and fit." : " fit.");
    if (!f.report->nothing_fits.empty()) return {f.report->nothing_fits, bold};
    SearchWords out = best_words(scene, f, *state.rows);
    if (out.bold.empty()) return {bold, hsdp};
    if (!state.beside.empty() && !state.chosen && f.request.goal != Goal::memory)
        out.plain = state.beside + (out.plain.empty() ? "" : " ") + out.plain;
    out.plain += (out.plain.empty() ? "" : " ") + bold + hsdp;
    return out;
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kBatch_s = 0.04;   // found layouts are handed over so often
constexpr double kSlice_s = 0.004;  // a slice of work takes so long where there are no threads
constexpr int kListed = 12;

double seconds_since(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
}

SearchOptions options_of(const SearchRequest& r, int threads) {
    return {.goal = r.goal, .headroom = r.headroom, .top = kListed, .threads = threads};
}

int half_of_the_cores() {
    return std::max(1, cores() / 2);
}

std::shared_ptr<SearchFound> begin(const Plan& plan, SearchViewState& state) {
    if (!state.chosen) state.request.held = held_at_first(plan, state.request.any_software);
    auto found = std::make_shared<SearchFound>();
    found->base = std::make_shared<const Plan>(plan);
    found->request = state.request;
    found->space = space_of(plan, state.request);
    found->version = state.found ? state.found->version + 1 : 1;
    return found;
}

}  // namespace

SearchRunner::SearchRunner(std::function<void()> wake) : job_(std::move(wake)) {}

// A search runs on a background thread to its end, or a slice of it.
struct SearchRunner::Work {
    std::shared_ptr<const SearchFound> asked;
    int threads = 0;
    Clock::time_point begun = Clock::now();
    std::int64_t layouts = 0;
    Batch batch;
    double sent_s = 0;
    std::unique_ptr<SlicedSearch> sliced;  // null: not begun, or not in slices

    [[nodiscard]] SearchProgress progress(const Job<Batch>::Output& out) {
        return [this, out](const std::vector<FoundLayout>& found, const SearchCounts& counts) {
            batch.found.insert(batch.found.end(), found.begin(), found.end());
            const double now_s = seconds_since(begun);
            if (now_s - sent_s < kBatch_s) return;
            batch.counts = counts;
            batch.counts.layouts = layouts;
            batch.seconds = sent_s = now_s;
            out.send(std::exchange(batch, {}));
        };
    }
    // Returns true if there is more to do.
    bool go_on(const Job<Batch>::Output& out) {
        const SearchOptions options = options_of(asked->request, threads);
        if (layouts == 0) layouts = static_cast<std::int64_t>(nodes_of(*asked->base, asked->space).layouts);
        SearchReport r;
        if (kHasThreads) {
            r = search(*asked->base, asked->space, options, &out.cancelled(), progress(out));
        } else {
            if (!sliced)
                sliced = std::make_unique<SlicedSearch>(*asked->base, asked->space, options, &out.cancelled(),
                                                        progress(out));
            const Clock::time_point from = Clock::now();
            if (sliced->go_on([from] { return seconds_since(from) < kSlice_s; })) return true;
            r = sliced->report();
        }
        if (!r.cancelled) find_ties(*asked->base, {.robust = true}, r, &out.cancelled());
        batch.seconds = seconds_since(begun);
        if (!r.cancelled)
            r.nothing_fits = what_would_fit(*asked->base, space_request(*asked->base, asked->request),
                                            options, r, &out.cancelled());
        batch.counts = r.counts;
        batch.report = std::move(r);
        out.send(std::move(batch));
        return false;
    }
};

void SearchRunner::start(const Plan& plan, SearchViewState& state, int threads) {
    stop(state);
    state.found = begin(plan, state);
    state.found->running = true;
    state.stopped = false;
    const auto asked = std::make_shared<const SearchFound>(*state.found);
    const auto work = std::make_shared<Work>();
    work->asked = asked, work->threads = threads;
    job_.start([work](const Job<Batch>::Output& out) { return work->go_on(out); });
}

void SearchRunner::stop(SearchViewState& state) {
    job_.cancel();
    if (state.found) state.found->running = false;
}

bool SearchRunner::take(SearchFound& found) {
    bool any = false;
    try {
        for (Batch& b : job_.take()) {
            any = true;
            for (const FoundLayout& x : b.found) found.add(x);
            found.counts = b.counts;
            found.seconds = b.seconds;
            if (!b.report) continue;
            found.report = std::move(b.report), found.running = false;
            found.ordered = Second::step;
        }
    } catch (const std::exception& e) {
        found.error = e.what();
        found.running = false;
        any = true;
    }
    if (any) ++found.version;
    return any;
}

bool SearchRunner::update(bool looked_at, const Plan& plan, std::uint64_t revision, SearchViewState& state,
                          bool quiet) {
    const bool runs = state.found && state.found->running;
    if (!looked_at) {
        if (!runs) return false;
        stop(state);
        return true;
    }
    const bool asked_again = std::exchange(state.again, false);
    if (state.stopped && runs) job_.cut_short();  // it hands over its best so far
    const bool news = runs && take(*state.found);
    const bool unseen = seen_revision_ != revision || !(seen_request_ == state.request);
    const bool over =
        state.found && (state.found->running || state.found->report || !state.found->error.empty());
    if (!unseen && over && !asked_again) return news;
    const bool holds =
        over && !asked_again && state.found->request == state.request && still_holds(*state.found, plan);
    if (!holds) start(plan, state, quiet ? half_of_the_cores() : 0);
    seen_revision_ = revision;
    seen_request_ = state.request;
    return !holds || news;
}

void search_to_the_end(const Plan& plan, SearchViewState& state) {
    const bool done = state.found && state.found->report && !state.found->report->cancelled
                      && state.found->request == state.request && still_holds(*state.found, plan);
    if (done) return;
    state.found = begin(plan, state);
    SearchFound& found = *state.found;
    const SearchOptions options = options_of(found.request, 1);
    SearchReport r = search(plan, found.space, options, nullptr,
                            [&](const std::vector<FoundLayout>& more, const SearchCounts&) {
                                for (const FoundLayout& x : more) found.add(x);
                            });
    find_ties(plan, {.robust = true}, r);
    r.nothing_fits = what_would_fit(plan, space_request(plan, found.request), options, r);
    found.counts = r.counts;
    found.report = std::move(r);
    ++found.version;
}

}  // namespace pentamesh::ui
