#include "app/ui/views/search/view.h"

#include "app/tables/search.h"
#include "app/ui/kit/format.h"
#include "core/plan/changes.h"
#include "core/step/step.h"

#include <algorithm>

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

// Draws the figures of a layout, next to `at`.
void draw_card(Ui& ui, Rect room, Vec2 at, const Scene& scene, const LayoutChoice& choice,
               const Evaluation& e, const std::optional<SearchRow>& row) {
    constexpr float kWidth = 340;
    if (!e.step || e.memory.stage.empty() || room.w < kWidth + 8) return;
    Canvas& c = ui.canvas();
    const std::string layout = words_of(choice, scene.plan.model.moe.has_value());
    const TextStyle bold = ui.style(12, Tone::text, Face::semibold);
    const float head = c.paragraph_height(kWidth - 24, layout, bold, 17);
    const std::string alike = row && row->alike > 0 ? plural(row->alike, "other layout", "other layouts")
                                                          + " with the same two figures   "
                                                    : "";
    const float height = head + 116;
    Rect box{std::clamp(at.x + 16, room.x, room.right() - kWidth), at.y + 16, kWidth, height};
    // The card stands left of the list, so that the other rows can still be read.
    if (row && room.w >= kWide) box.x = room.right() - list_width(room.w) - kWidth - 12;
    if (box.bottom() > room.bottom()) box.y = std::max(room.y, at.y - height - 12);
    // A row with the focus may have been scrolled away.
    box.y = std::clamp(box.y, room.y, std::max(room.y, room.bottom() - height));
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
                SearchPick& pick) {
    draw_results(ui, room, scene, *state.found, *state.rows, {most, state.all_rows, state.then}, pick);
    draw_rejected(ui, room, *state.found, pick);
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
            draw_lists(ui, area.room, scene, state, most, pick);
        }
        if (pick.row) mark_in_plot(ui, scene, state.dots, *pick.row);
        return;
    }
    ScrollArea area(ui, "search.scroll", room, state.scroll);
    area.room.w -= kThumb;
    plot(area.room.cut_top(std::max(std::min(room.h * (chips_below ? 1.0f : 0.56f), room.w * 0.6f), 180.0f)));
    area.room.cut_top(12);
    if (chips_below) draw_search_chips(ui, area.room, scene, state);
    draw_lists(ui, area.room, scene, state, kRows, pick);
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
    if (state.found)
        state.rows.update({state.found, state.found->version}, [&] { return rows_of(*state.found); });
    const SearchWords words = search_words(scene, state);
    if (low) {
        ui.label(room.cut_top(20), words.bold + "  " + words.plain, ui.title());
    } else {
        draw_search_chips(ui, room, scene, state);
        draw_words(ui, room, words);
    }
    if (!state.found) return std::nullopt;
    SearchPick pick;
    draw_body(ui, room, scene, state, low, pick);
    const SearchFound& found = *state.found;
    const auto evaluated = [&](const LayoutChoice& choice) {
        const Plan plan = with_choice(found, scene.plan, choice);
        return state.hovered.get(plan, [&] { return std::make_shared<const Evaluation>(evaluate(plan)); });
    };
    if (pick.hovered)
        draw_card(ui, whole, pick.at, scene, *pick.hovered, *evaluated(*pick.hovered), pick.row);
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

}  // namespace pentamesh::ui
