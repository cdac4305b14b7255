#include "app/ui/views/compare/view.h"

#include "app/tables/decide_tables.h"
#include "app/tables/move_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/move_page.h"
#include "core/decide/choose.h"
#include "core/explain/verdict.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kWide = 900, kGap = 22, kPlanRow = 24, kThumb = 8;
constexpr float kOneRow = 820;  // a plan's title and its figures are in one row

// Says, where nothing is pinned, what this view is for, and how to begin.
Effects draw_empty(Ui& ui, Rect room, const Scene& scene, CompareViewState& state) {
    Canvas& c = ui.canvas();
    const float w = std::min(room.w, 560.0f);
    Rect box{room.x + (room.w - w) / 2, room.y + std::max(0.0f, room.h * 0.28f - 20), w, room.h};
    c.text_in(box.cut_top(26), ui.state().for_picture ? "Nothing to compare with." : "Nothing is pinned yet.",
              {Face::semibold, 16, ui.theme().text, 0});
    box.cut_top(
        c.paragraph(
            box,
            ui.state().for_picture
                ? "No other plan was given, and of layouts that "
                      + facts_of(scene.plan.training.software).name
                      + " runs none within two changes of this one is faster and fits. Search looks at all "
                        "of them."
                : "Pin this plan (Ctrl+D) and it stays as A. Then change the plan: it is B, and here "
                  "both stand side by side, with what differs and why one is faster. After an edit the plan "
                  "before it can still be A. In Search (9), Shift+click adds a layout.",
            ui.style(13, Tone::secondary), 20)
        + 14);
    if (ui.state().for_picture) return {};
    if (ui.button("compare.pin", {box.x, box.y, 150, 28}, "Pin this plan as A"))
        state.pin(scene.plan, scene.evaluation);
    const Rect before{box.x + 160, box.y, 310, 28};
    if (scene.has_before && before.right() <= room.right()
        && ui.button("compare.before", before, "Compare with the plan before the last edit"))
        return Effects(Effects::Pins::before_last_edit);
    return {};
}

// Returns true if the proposal was made for the plan before an edit, and another is looked for.
bool is_old_proposal(const Scene& scene, const CompareViewState& state) {
    return state.proposal && state.awaits_proposal && scene.better.empty()
           && state.proposal->plan->model == scene.plan.model
           && state.proposal->plan->cluster == scene.plan.cluster;
}

// A picture has what was proposed to it. After an edit the old proposal stays until there is another.
void refresh_proposal(Ui& ui, const Scene& scene, CompareViewState& state) {
    if (ui.state().for_picture) return;
    const bool open = state.pinned() == nullptr && scene.evaluation.step.has_value();
    if (open && !scene.better.empty())
        state.propose(with_true_title(scene.plan, scene.better.front().edit.plan));
    else if (!open || !is_old_proposal(scene, state))
        state.forget_proposal();
}

// Says, where nothing is pinned, that B is a proposal, and what can be done with it: in the row, or, where
// that is too short, below it.
Effects draw_proposal(Ui& ui, Rect row, Rect& room, const Scene& scene, CompareViewState& state,
                      const PlanComparison& shown) {
    Effects out;
    const std::string changes = join(shown.fields, ", ", [](const FieldDifference& f) {
        return field_name(f.pointer) + " " + field_value(f.values[0]) + " → " + field_value(f.values[1]);
    });
    const bool old = is_old_proposal(scene, state);
    if (!ui.state().for_picture) {
        if (!old && ui.button("compare.take", row.cut_right(72).inset(0, 2), "Open B"))
            out.add(PlanEdit{in_place_of(scene.plan, *state.proposal->plan),
                             "the layout that Compare proposed", ""});
        row.cut_right(8);
        if (ui.button("compare.pin", row.cut_right(132).inset(0, 2), "Pin this plan as A"))
            state.pin(scene.plan, scene.evaluation);
        row.cut_right(8);
        if (scene.has_before && row.w > 560
            && ui.button("compare.before", row.cut_right(150).inset(0, 2), "The plan before"))
            out.add(Effects(Effects::Pins::before_last_edit));
        row.cut_right(8);
    }
    const std::string from =
        old ? "Nothing is pinned. B was proposed before the edit; another is looked for: "
            : "Nothing is pinned. B is a proposal: ";
    const TextStyle words = ui.style(13, Tone::secondary);
    if (!write_whole(ui, row, from + changes + ".", words))
        room.cut_top(ui.canvas().paragraph(room, from + changes + ".", words, 18) + 2);
    return out;
}

struct RowActions {
    bool open = false, remove = false, first = false;
};

// Draws what can be done with a plan at the right of its row.
RowActions draw_actions(Ui& ui, Rect actions, std::size_t index, int kept) {
    Canvas& c = ui.canvas();
    RowActions act;
    const auto link = [&](std::string_view name, std::string_view label) {
        const float w = c.text_width(label, ui.small()) + 2;
        const Rect at = actions.cut_right(w);
        actions.cut_right(10);
        return ui.link(name, {at.x, at.y + 4}, label, index);
    };
    if (kept < 0) {
        c.text_in(actions, kept == ComparedPlan::kProposed ? "proposed" : "this plan", ui.small(),
                  Align::right);
        return act;
    }
    act.remove = link("compare.remove", index == 0 ? "unpin" : "remove");
    act.open = link("compare.open", "open");
    if (index > 0) act.first = link("compare.first", "as A");
    return act;
}

// Draws a plan's main figures at the right, each with its difference to A.
void draw_row_figures(Ui& ui, Rect& cells, const Evaluation& e, const Evaluation* a, bool per_gpu) {
    if (cells.w <= 420 || !e.step || e.memory.stage.empty()) return;
    Canvas& c = ui.canvas();
    const auto figure = [&](float w, const std::string& text, double by, bool less,
                            std::string (*words)(double)) {
        Rect cell = cells.cut_right(w);
        const std::string difference = a == nullptr || a == &e ? "" : difference_text(by, words);
        TextStyle s = ui.small();
        if (!difference.empty()) s.color = (by < 0) == less ? ui.theme().good : ui.theme().bad;
        const float right = c.text_width(difference, s) + (difference.empty() ? 0 : 6);
        c.text_in(cell.cut_right(right), difference, s, Align::right);
        c.text_in(cell, text, ui.style(12), Align::right);
    };
    const bool against = a != nullptr && a->step && !a->memory.stage.empty();
    const auto by = [&](double now, double was) { return against ? difference(now, was) : 0; };
    figure(150, memory_text(e.memory.peak()), by(e.memory.peak(), against ? a->memory.peak() : 0), true,
           memory_text);
    const auto tokens = [&](const Evaluation& of) {
        return per_gpu ? tokens_per_gpu_s(of) : of.step->tokens_per_s;
    };
    figure(per_gpu ? 150 : 134, count_text(tokens(e)) + (per_gpu ? "/s a GPU" : "/s"),
           by(tokens(e), against ? tokens(*a) : 0), false, count_text);
    figure(122, time_text(e.step->time_s), by(e.step->time_s, against ? a->step->time_s : 0), true,
           time_text);
    cells.cut_right(14);
}

// Draws A, B ... with their main figures, and the actions for each.
RowActions draw_plan_row(Ui& ui, Rect row, Rect below, std::size_t index, const ComparedPlan& p,
                         const Evaluation* a, const std::string& apart, bool per_gpu) {
    Canvas& c = ui.canvas();
    const bool two_rows = row.w < kOneRow && !ui.state().for_picture;
    RowActions act;
    c.text_in(row.cut_left(22), plan_letter(index), ui.title());
    if (!ui.state().for_picture) {
        constexpr float kActions = 128;  // of each row, so that figures stand below each other
        act = draw_actions(ui, row.cut_right(std::min(kActions, row.w)), index, p.kept);
    }
    if (!two_rows) draw_row_figures(ui, row, *p.evaluation, a, per_gpu);
    const std::string bare = title_of(*p.plan);
    const std::array titles{bare + (apart.empty() ? "" : " (" + apart + ")"), bare};
    const std::string_view fits = wording(ui, row.w, titles, ui.style(12));
    const std::string title(fits.empty() ? bare : fits);
    const float w = std::min(c.text_width(title, ui.style(12)) + 14, row.w);
    ui.label(row.cut_left(w), title, ui.style(12));
    const std::string line = plan_line(*p.plan);
    if (two_rows) {
        below.cut_left(22);
        draw_row_figures(ui, below, *p.evaluation, a, per_gpu);
        write_whole(ui, below, line, ui.small());
    } else if (below.h > 0)  // whole, under the row
        c.paragraph({below.x + 22, below.y - 2, below.w - 22, below.h}, line, ui.small(), 17);
    else if (ui.state().for_picture ? c.text_width(line, ui.small()) <= row.w : row.w > 60)
        ui.label(row, line, ui.small());  // in a low picture whole or not at all
    return act;
}

// Returns the height of a plan's line under its row: in a high picture, where it does not fit into the row.
float line_below(Ui& ui, float width, float height, const Plan& plan, const std::string& apart) {
    constexpr float kIndent = 22, kBesideTitle = 420, kHigh = 640;
    if (!ui.state().for_picture && width < kOneRow) return kPlanRow;
    if (!ui.state().for_picture || height < kHigh) return 0;
    const std::string title = title_of(plan) + (apart.empty() ? "" : " (" + apart + ")");
    const float used = kIndent + ui.canvas().text_width(title, ui.style(12)) + 16
                       + (width > kBesideTitle ? kBesideTitle : 0);
    const std::string line = plan_line(plan);
    if (used + ui.canvas().text_width(line, ui.small()) <= width) return 0;
    return ui.canvas().paragraph_height(width - kIndent, line, ui.small(), 17) + 4;
}

std::optional<PlanEdit> draw_plans(Ui& ui, Rect& room, float height, Scene& scene, CompareViewState& state,
                                   const PlanComparison& shown) {
    std::optional<PlanEdit> edit;
    std::optional<std::size_t> remove, first;
    const std::vector<ComparedPlan> plans = compared_plans(scene, state);
    const Evaluation* a = plans.front().evaluation;
    const bool per_gpu = std::any_of(plans.begin(), plans.end(), [&](const ComparedPlan& p) {
        return p.evaluation->mesh.world != a->mesh.world;
    });
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::string apart = apart_of(shown, i);
        const Rect row = room.cut_top(kPlanRow);
        const Rect below = room.cut_top(line_below(ui, row.w, height, *plans[i].plan, apart));
        const RowActions act = draw_plan_row(ui, row, below, i, plans[i], a, apart, per_gpu);
        if (plans[i].kept < 0) continue;
        const auto kept = static_cast<std::size_t>(plans[i].kept);
        if (act.open) edit = PlanEdit{*plans[i].plan, "open " + plan_letter(i) + " of Compare", ""};
        if (act.remove) remove = kept;
        if (act.first) first = kept;
    }
    room.cut_top(10);
    if (first) std::swap(state.kept[0], state.kept[*first]), ++state.version;
    if (remove) state.remove(*remove);
    return edit;
}

void draw_words(Ui& ui, Rect& room, const ComparedPair& pair, const PlanComparison& shown) {
    const std::array<JudgedPlan, 2> plans{{{&pair.a, &pair.ea}, {&pair.b, &pair.eb}}};
    put_paragraph(ui, room, choose_among(plans).words(), ui.title(), 19, 2);
    put_paragraph(ui, room, why_words(pair.ea, pair.eb, shown.why), ui.style(13, Tone::secondary), 18, 4);
}

void rule(Ui& ui, Rect& room) {
    room.cut_top(kGap / 2);
    ui.canvas().line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(kGap / 2);
}

constexpr float kRow = 20;                                      // of the lists
constexpr float kWhyShare = 0.48f, kWhyShareOfPicture = 0.56f;  // of the width

// Draws three rows: the step and why; meshes, memory and differences; the timelines.
void draw_wide(Ui& ui, Rect& room, float height, Scene& scene, const ComparedPair& pair,
               const PlanComparison& shown, const ComparePath& path, ComparedTimelines& timelines_of) {
    const bool picture = ui.state().for_picture;
    const float least_timelines = picture ? 110.0f : 130.0f, least_middle = picture ? 145.0f : 170.0f;
    const float lists = fields_height(shown) + path_height(path),
                why = room.w * (picture ? kWhyShareOfPicture : kWhyShare);
    // A picture that may grow has all of each reason; one of a fixed height has what it can.
    const float below = least_middle + least_timelines + 2 * kGap + 2;
    const float short_of =
        why_rows(ui, why, shown).height + std::max(lists - least_middle, 0.0f) + below - height;
    const WhyRows rows = why_rows(ui, why, shown, picture && short_of > 0 ? height - below : kEveryReason);
    if (picture) ui.state().hidden = std::max(ui.state().hidden, std::ceil(short_of));
    const float top_h = std::max(rows.height, 140.0f);
    Rect top = room.cut_top(top_h);
    draw_why(ui, top.cut_right(why), pair, shown, rows);
    top.cut_right(kGap);
    top.h = std::min(top.h, 210.0f);
    draw_two_steps(ui, top, pair);
    rule(ui, room);
    const float rest = height - top_h - 2 * kGap - 2;
    const float timelines = std::clamp(std::min(height * 0.24f, rest - lists), least_timelines, 420.0f);
    // A picture cannot be scrolled: its lists end with the number of rows that are left out.
    const float left = rest - timelines;
    const float middle_h = picture ? std::max(left, 100.0f) : std::max({left, lists, least_middle});
    Rect middle = room.cut_top(middle_h);
    Rect right = middle.cut_right(middle.w * 0.32f);
    middle.cut_right(kGap);
    Rect memory = middle.cut_right(middle.w * 0.42f);
    middle.cut_right(kGap);
    draw_two_meshes(ui, middle, scene, pair);
    draw_two_memories(ui, memory, pair);
    draw_fields(ui, right, shown);
    if (!pair.proposed) draw_path(ui, right, path, pair);
    rule(ui, room);
    draw_two_timelines(ui, room.cut_top(timelines), pair, timelines_of);
}

// Draws the parts one under the other, to be scrolled. A picture cannot be: it has the parts that are whole
// above `bottom`, and the lists say how many rows are left out.
void draw_narrow(Ui& ui, Rect& room, float bottom, Scene& scene, const ComparedPair& pair,
                 const PlanComparison& shown, const ComparePath& path, ComparedTimelines& timelines) {
    const bool picture = ui.state().for_picture;
    const auto part = [&](float height, float gap, auto&& draw) {
        const Rect place = room.cut_top(height);
        if (!picture || place.bottom() <= bottom) draw(place);
        room.cut_top(gap);
    };
    const auto list = [&](float height, float gap, auto&& draw) {
        Rect place = room.cut_top(height);
        if (picture) place.h = std::min(place.h, bottom - place.y);
        if (place.h > 2 * kRow) draw(place);
        room.cut_top(gap);
    };
    part(150, kGap, [&](Rect r) { draw_two_steps(ui, r, pair); });
    list(why_rows(ui, room.w, shown).height, kGap,
         [&](Rect r) { draw_why(ui, r, pair, shown, why_rows(ui, r.w, shown, r.h)); });
    list(fields_height(shown), 0, [&](Rect r) { draw_fields(ui, r, shown); });
    if (!pair.proposed) list(path_height(path), 0, [&](Rect r) { draw_path(ui, r, path, pair); });
    room.cut_top(kGap);
    part(190, kGap, [&](Rect r) { draw_two_memories(ui, r, pair); });
    part(170, kGap, [&](Rect r) { draw_two_timelines(ui, r, pair, timelines); });
    part(230, 0, [&](Rect r) { draw_two_meshes(ui, r, scene, pair); });
}

}  // namespace

namespace {

// Draws the page `move`. A click on the sheet asks for another GPU of B.
void draw_move(Ui& ui, Rect& head_row, Rect room, const Scene& scene, const ComparedPair& pair,
               CompareViewState& state, std::uint64_t revision) {
    constexpr std::array<std::string_view, 2> kStates{"weights", "optimizer too"};
    const int shown = state.moves.optimizer ? 1 : 0;
    if (!ui.state().for_picture)
        state.moves.optimizer =
            ui.segments("compare.state", head_place(head_row, room, segments_width(ui, kStates, 0, shown)),
                        kStates, shown)
            == 1;
    if (!state.moved) state.moved = std::make_shared<MoveShown>();
    const std::int64_t rank = state.move_rank >= 0 ? state.move_rank : chosen_rank(scene);
    keep_move(*state.moved, pair, {revision, state.version}, rank, state.moves,
              ui.state().for_picture ? std::numeric_limits<std::int64_t>::max() : kMostMoved);
    const std::int64_t picked = draw_move_page(ui, room, pair, *state.moved);
    if (picked >= 0) state.move_rank = picked;
}

}  // namespace

Effects draw_compare(Ui& ui, Rect head_row, Rect room, Scene& scene, CompareViewState& state,
                     std::uint64_t revision) {
    const bool proposes = state.pinned() == nullptr;
    refresh_proposal(ui, scene, state);
    if (proposes && !state.proposal) {
        return draw_empty(ui, room, scene, state);
    }
    if (!ui.state().for_picture)
        state.page = ui.segments("compare.page",
                                 head_place(head_row, room, segments_width(ui, kComparePages, 0, state.page)),
                                 kComparePages, state.page);
    const PlanComparison shown =
        state.shown.get({revision, state.version}, [&] { return shown_comparison(scene, state); });
    Effects out;
    if (proposes) {
        const bool picture = ui.state().for_picture;  // there it is the subtitle
        const Rect row = picture ? head_row : room.cut_top(28);
        room.cut_top(picture ? 0.0f : 4.0f);
        out = draw_proposal(ui, row, room, scene, state, shown);
    } else if (!ui.state().for_picture) {
        const float flip = 118;
        if (ui.button("compare.flip", head_place(head_row, room, flip), "Flip A and B"))
            out.add(Effects(Effects::Pins::open));
        write_whole(ui, head_row, "X flips A and B", ui.small());
        const bool alike =
            state.pinned()->plan->layout == scene.plan.layout && *state.pinned()->plan == scene.plan;
        if (alike && scene.has_before) {
            const Rect row = room.cut_top(24);
            if (ui.link("compare.instead", {row.x, row.y + 3},
                        "B is A. Compare with the plan before the last edit instead"))
                out.add(Effects(Effects::Pins::before_last_edit));
        }
    }
    if (proposes && !state.proposal) return out;                          // it was pinned just now
    const KeptPlan other = proposes ? *state.proposal : *state.pinned();  // it may go while it is drawn
    const ComparedPair pair =
        proposes ? ComparedPair{scene.plan, scene.evaluation, *other.plan, *other.evaluation, true}
                 : ComparedPair{*other.plan, *other.evaluation, scene.plan, scene.evaluation};
    if (state.page == kMovePage) {
        draw_move(ui, head_row, room, scene, pair, state, revision);
        return out;
    }
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const Evaluation& e = i == 0 ? pair.ea : pair.eb;
        if (!e.timeline.empty())
            keep_shown(i == 0 ? pair.a : pair.b, e, revision, static_cast<int>(state.version), {},
                       state.timelines.shown[i]);
    }
    const ComparePath none;
    const ComparePath& path = proposes ? none : state.path;
    const float height = room.h;
    ScrollArea area(ui, "compare.scroll", room, state.scroll);
    const float begun = area.room.y;
    if (!ui.state().for_picture) area.room.w -= kThumb;
    draw_words(ui, area.room, pair, shown);
    std::optional<PlanEdit> edit = draw_plans(ui, area.room, height, scene, state, shown);
    // A window can be scrolled, and between its panels the reasons would be a few words wide.
    constexpr float kWideInWindow = 1280;
    if (room.w >= (ui.state().for_picture ? kWide : kWideInWindow))
        draw_wide(ui, area.room, height - (area.room.y - begun), scene, pair, shown, path, state.timelines);
    else
        draw_narrow(ui, area.room, room.bottom(), scene, pair, shown, path, state.timelines);
    if (!out.edit) out.edit = std::move(edit);
    return out;
}

namespace {

// Lists the pieces of the GPU that the page `move` shows.
Table move_data(const Scene& scene, const CompareViewState& state) {
    const std::vector<ComparedPlan> plans = compared_plans(scene, state);
    Table t{{{"move"}}, {}};
    if (plans.size() < 2) {
        t.rows = {{"nothing is pinned"}};
        return t;
    }
    const MoveEnd a{*plans[0].plan, plans[0].evaluation->mesh}, b{*plans[1].plan, plans[1].evaluation->mesh};
    const MoveOptions options = state.moves;
    if (!plans[0].evaluation->valid || !plans[1].evaluation->valid) {
        t.rows = {{"one of the plans has errors"}};
        return t;
    }
    if (const std::string why = no_move_words(a.plan, b.plan, options); !why.empty()) {
        t.rows = {{why}};
        return t;
    }
    const std::int64_t wanted = state.move_rank >= 0 ? state.move_rank : chosen_rank(scene);
    const std::int64_t rank = wanted >= 0 && wanted < b.mesh.world ? wanted : 0;
    return move_pieces_table(pieces_of_rank(a, b, options, rank), move_tiers(a.plan, b.plan));
}

}  // namespace

Table compare_data(const Scene& scene, const CompareViewState& state, int part) {
    if (part == 4) return move_data(scene, state);
    PlanComparison c = shown_comparison(scene, state);
    c.path = *state.path;
    Table t = part == 1   ? fields_table(c)
              : part == 2 ? why_table(c)
              : part == 3 ? path_table(c)
                          : figures_table(c);
    if (t.rows.empty()) {
        t = {};
        t.columns = {{"compare"}};
        t.rows = {{state.pinned() == nullptr ? "nothing is pinned" : "nothing"}};
    }
    return t;
}

namespace {

constexpr std::size_t kMostReasons = 4;
constexpr double kWorthSaying = 0.03;  // of the largest part's difference

// A comparison reads only these figures; the timeline and the lists of work are not copied.
Evaluation figures_alone(const Evaluation& e) {
    Evaluation out;
    out.valid = e.valid;
    out.parameters = e.parameters;
    out.mesh = e.mesh;
    out.groups = e.groups;
    out.microbatches = e.microbatches;
    out.memory = e.memory;
    out.comm = e.comm;
    out.step = e.step;
    return out;
}

}  // namespace

std::vector<ComparedPlan> compared_plans(const Scene& scene, const CompareViewState& state) {
    std::vector<ComparedPlan> out;
    for (std::size_t i = 0; i < state.kept.size(); ++i) {
        out.push_back({state.kept[i].plan.get(), state.kept[i].evaluation.get(), static_cast<int>(i)});
        if (i == 0) out.push_back({&scene.plan, &scene.evaluation, ComparedPlan::kOpen});
    }
    if (!out.empty()) return out;
    out.push_back({&scene.plan, &scene.evaluation, ComparedPlan::kOpen});
    if (state.proposal)
        out.push_back(
            {state.proposal->plan.get(), state.proposal->evaluation.get(), ComparedPlan::kProposed});
    return out;
}

PlanComparison shown_comparison(const Scene& scene, const CompareViewState& state) {
    std::vector<Plan> plans;
    std::vector<Evaluation> evaluations;
    for (const ComparedPlan& p : compared_plans(scene, state)) {
        plans.push_back(*p.plan);
        evaluations.push_back(figures_alone(*p.evaluation));
    }
    PlanComparison c;
    for (const Plan& p : plans) c.plans.push_back(title_of(p));
    c.figures = compared_figures(plans, evaluations);
    if (plans.size() < 2) return c;
    c.fields = differing_fields(plans);
    c.why = why_steps_differ(std::span(plans).first(2), std::span(evaluations).first(2));
    return c;
}

namespace {

// Returns "B does not fit (90.9 of 79.6 GiB). "; empty for a plan that fits.
std::string unfit_words(const char* name, const Memory& memory) {
    if (memory.fit() == MemoryFit::yes) return {};
    return std::string(name) + " " + std::string(name_of(memory.fit())) + " (" + gib(memory.peak()) + " of "
           + memory_text(memory.hbm) + "). ";
}

// Says what clusters of different sizes have in common; empty for those of one size.
std::string per_gpu_words(const Evaluation& a, const Evaluation& b) {
    if (a.mesh.world == b.mesh.world) return {};
    const auto each = [](const Evaluation& e) { return count_text(tokens_per_gpu_s(e)); };
    const auto hours = [](const Evaluation& e) {
        const double h = gpu_hours_of_billion(e.mesh.world, e.step->tokens_per_s);
        return thousands(static_cast<std::int64_t>(std::llround(h)));
    };
    return " A GPU makes " + each(a) + " tokens/s in A and " + each(b) + " in B: a billion tokens take "
           + hours(a) + " and " + hours(b) + " GPU-hours.";
}

}  // namespace

std::string why_words(const Evaluation& a, const Evaluation& b, const std::vector<PartRow>& why) {
    if (!a.step || !b.step) return "One of the plans has no step.";
    const double by = difference(b.step->time_s, a.step->time_s);
    std::string out = unfit_words("A", a.memory) + unfit_words("B", b.memory);
    if (by == 0)
        out += "A and B take the same time";
    else
        out += "B is " + time_text(std::abs(by)) + (by < 0 ? " faster" : " slower");
    std::vector<const PartRow*> rows;
    for (const PartRow& r : why)
        if (r.delta_s.back() != 0) rows.push_back(&r);
    std::sort(rows.begin(), rows.end(), [](const PartRow* x, const PartRow* y) {
        return std::abs(x->delta_s.back()) > std::abs(y->delta_s.back());
    });
    std::string reasons;
    for (std::size_t i = 0; i < std::min(rows.size(), kMostReasons); ++i) {
        const double d = rows[i]->delta_s.back();
        if (std::abs(d) < kWorthSaying * std::abs(rows.front()->delta_s.back())) break;
        reasons += (reasons.empty() ? "" : ", ") + time_text(std::abs(d)) + (d < 0 ? " less " : " more ")
                   + rows[i]->part;
    }
    out += reasons.empty() ? "." : ": " + reasons + ".";
    const double memory = difference(b.memory.peak(), a.memory.peak());
    if (memory != 0)
        out += " Its fullest GPU holds " + memory_text(std::abs(memory)) + (memory < 0 ? " less." : " more.");
    return out + per_gpu_words(a, b);
}

std::string apart_of(const PlanComparison& c, std::size_t index) {
    constexpr std::size_t kMost = 3;
    const std::string& title = c.plans[index];
    std::string out;
    if (std::count(c.plans.begin(), c.plans.end(), title) < 2) return out;
    std::size_t said = 0;
    for (const FieldDifference& f : c.fields) {
        bool tells = false;
        for (std::size_t i = 0; i < c.plans.size() && i < f.values.size(); ++i)
            tells = tells || (c.plans[i] == title && f.values[i] != f.values[index]);
        if (!tells || index >= f.values.size()) continue;
        if (said++ == kMost) return out + ", …";
        out += (out.empty() ? "" : ", ") + field_name(f.pointer) + " " + field_value(f.values[index]);
    }
    return out;
}

std::string full_title(const PlanComparison& c, std::size_t index) {
    const std::string apart = apart_of(c, index);
    return c.plans[index] + (apart.empty() ? "" : " (" + apart + ")");
}

std::string field_name(const std::string& pointer) {
    for (const std::string_view group : {"/layout/", "/training/"})
        if (pointer.starts_with(group)) return pointer.substr(group.size());
    return pointer.substr(pointer.starts_with('/') ? 1 : 0);
}

std::string field_value(const std::string& json) {
    if (json == "null") return "—";
    if (json.size() >= 2 && json.front() == '"') return json.substr(1, json.size() - 2);
    if (json.size() < 2 || json.front() != '[') return json;
    // The value is a list: names in an order, or numbers.
    const std::string_view between = json.find('"') != std::string::npos ? " · " : ", ";
    std::string out;
    for (const char c : json.substr(1, json.size() - 2)) {
        if (c == ',')
            out += between;
        else if (c != '"')
            out += c;
    }
    return out;
}

// Writes as rows why B differs, the differences, and the way from A to B.

namespace {

constexpr float kFigure = 70;

// Returns how many of `rows` have room; where not all have, a line is left to say how many more there are.
std::size_t rows_in(Rect room, std::size_t rows) {
    const auto fit = static_cast<std::size_t>(std::max(0.0f, room.h) / kRow);
    return rows <= fit ? rows : fit > 0 ? fit - 1 : 0;
}

void more_rows(Ui& ui, Rect& room, std::size_t more) {
    if (more > 0 && room.h >= kRow) ui.canvas().text_in(room.cut_top(kRow), and_more(more), ui.small());
}

Words difference_cell(Ui& ui, float width, double by, bool bold) {
    TextStyle s = ui.style(12, Tone::text, bold ? Face::semibold : Face::regular);
    if (by != 0) s.color = by < 0 ? ui.theme().good : ui.theme().bad;
    return {by == 0 ? "0" : difference_text(by, time_text), px(width), s, Align::right};
}

float value_width(Ui& ui, const std::vector<FieldDifference>& fields, std::size_t plan) {
    float w = 30;
    for (const FieldDifference& f : fields)
        w = std::max(w, ui.canvas().text_width(field_value(f.values[plan]), ui.style(12)) + 2);
    return std::min(w, 150.0f);
}

}  // namespace

double without_noise(double delta_s, double step_s) {
    constexpr double kNoise = 1e-6;
    return std::abs(delta_s) < kNoise * step_s ? 0 : delta_s;
}

// In a row of that width the reasons stand after the name and three figures.
constexpr float kPartName = 132;
float reason_width(float width) {
    return width - kPartName - 3 * kFigure - 14;
}

float why_row(Ui& ui, float width, const std::string& because) {
    if (reason_width(width) < 60 || because.empty()) return kRow;
    return std::max(kRow, ui.canvas().paragraph_height(reason_width(width), because, ui.small(), 16) + 4);
}

WhyRows why_rows(Ui& ui, float width, const PlanComparison& shown, float most) {
    WhyRows out;
    out.row.assign(shown.why.size(), kRow);
    out.height = 20 + kRow * static_cast<float>(shown.why.size() + 1) + 6;
    std::vector<std::size_t> order(shown.why.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(shown.why[a].delta_s[1]) > std::abs(shown.why[b].delta_s[1]);
    });
    double a_s = 0;
    for (const PartRow& part : shown.why) a_s += part.values_s[0];
    for (const std::size_t i : order) {
        if (without_noise(shown.why[i].delta_s[1], a_s) == 0) continue;  // it gets no reason
        const float h = why_row(ui, width, typeset(shown.why[i].because));
        if (out.height + h - kRow > most) continue;
        out.height += h - kRow;
        out.row[i] = h;
    }
    return out;
}

void draw_why(Ui& ui, Rect room, const ComparedPair& pair, const PlanComparison& shown, const WhyRows& rows) {
    Canvas& c = ui.canvas();
    const Rect head = room.cut_top(20);
    constexpr float name = kPartName;
    const bool narrow = room.w < name + 3 * kFigure + 60;
    const Size name_size = narrow ? share() : px(name), rest_size = narrow ? px(0) : share();
    ui.section(columns(head, {name_size, px(3 * kFigure), rest_size})[0], "WHY");
    text_row(ui, head,
             {{{}, name_size},
              {"A", px(kFigure), ui.small(), Align::right},
              {"B", px(kFigure), ui.small(), Align::right},
              {"B − A", px(kFigure), ui.small(), Align::right},
              {{}, rest_size}});
    const auto line = [&](std::string_view part, double a, double b, double by, const std::string& because,
                          const std::string& brief, float height, bool bold) {
        const Rect all = room.cut_top(height);
        const Rect row{all.x, all.y, all.w, kRow};
        const TextStyle s = ui.style(12, Tone::text, bold ? Face::semibold : Face::regular);
        text_row(ui, row,
                 {{std::string(part), name_size, s},
                  {time_text(a), px(kFigure), ui.style(12, Tone::secondary), Align::right},
                  {time_text(b), px(kFigure), s, Align::right},
                  difference_cell(ui, kFigure, by, bold),
                  {{}, rest_size}});
        Rect rest = columns(row, {name_size, px(3 * kFigure), rest_size})[2];
        rest.cut_left(14);
        if (!narrow && !because.empty() && all.h > kRow)
            c.paragraph({rest.x, rest.y + 2, rest.w, all.h}, because, ui.small(), 16);
        else if (!narrow && !because.empty())  // a reason that would be cut gives way to its short form
            ui.label(rest, c.text_width(because, ui.small()) <= rest.w || brief.empty() ? because : brief,
                     ui.small());
        if (narrow && !because.empty() && ui.hovers(row)) ui.tooltip(std::string(part) + "\n" + because);
    };
    const double a_s = pair.ea.step ? pair.ea.step->time_s : 0;
    for (std::size_t i = 0; i < shown.why.size(); ++i) {
        const PartRow& r = shown.why[i];
        if (rows.row[i] + kRow > room.h) {  // one more follows: the step's own
            more_rows(ui, room, shown.why.size() + 1 - i);
            return;
        }
        const double by = without_noise(r.delta_s[1], a_s);  // what is equal needs no reason
        line(r.part, r.values_s[0], r.values_s[1], by, by == 0 ? "" : typeset(r.because), typeset(r.brief),
             rows.row[i], false);
    }
    if (!pair.ea.step || !pair.eb.step) return;
    c.line({room.x, room.y}, {room.x + name + 3 * kFigure, room.y}, ui.theme().hairline);
    const double a = pair.ea.step->time_s, b = pair.eb.step->time_s;
    line("step", a, b, difference(b, a), "", "", kRow, true);
}

float fields_height(const PlanComparison& shown) {
    return 24 + kRow * static_cast<float>(std::max<std::size_t>(shown.fields.size(), 1)) + 12;
}

void draw_fields(Ui& ui, Rect& room, const PlanComparison& shown) {
    std::vector<FieldDifference> fields;
    for (const FieldDifference& f : shown.fields)
        if (f.values.size() > 1 && f.values[0] != f.values[1]) fields.push_back(f);
    const Rect head = room.cut_top(20);
    const float wa = value_width(ui, fields, 0), wb = value_width(ui, fields, 1);
    ui.section(columns(head, {share(), px(14 + wa + wb)})[0], "WHAT DIFFERS");
    text_row(ui, head,
             {{{}, share()},
              {"A", px(wa), ui.small(), Align::right},
              space(14),
              {"B", px(wb), ui.small(), Align::right}});
    if (fields.empty()) ui.label(room.cut_top(kRow), "Nothing: B is A. Change the plan.", ui.small());
    const std::size_t shown_rows = rows_in(room, fields.size());
    for (const FieldDifference& f : std::span(fields).first(shown_rows)) {
        text_row(
            ui, room.cut_top(kRow),
            {{field_name(f.pointer), share(), ui.style(12)},
             space(8),
             {field_value(f.values[0]), px(wa), ui.style(12, Tone::secondary), Align::right},
             space(14),
             {field_value(f.values[1]), px(wb), ui.style(12, Tone::text, Face::semibold), Align::right}});
    }
    more_rows(ui, room, fields.size() - shown_rows);
    room.cut_top(12);
}

float path_height(const ComparePath& path) {
    return 24 + kRow * static_cast<float>(std::max<std::size_t>(path->size(), 1));
}

void draw_path(Ui& ui, Rect& room, const ComparePath& path, const ComparedPair& pair) {
    const Rect head = room.cut_top(20);
    const float figure = 66;
    ui.section(columns(head, {share(), px(2 * figure)})[0], "FROM A TO B, LARGEST GAIN FIRST");
    text_row(ui, head,
             {{{}, share()},
              {"step", px(figure), ui.small(), Align::right},
              {"change", px(figure), ui.small(), Align::right}});
    if (path->empty()) {
        const bool alike = pair.a == pair.b;
        ui.label(room.cut_top(kRow),
                 path.running()          ? "working it out …"
                 : !path.error().empty() ? "It could not be worked out: " + path.error()
                 : alike                 ? "No edit is needed."
                                         : "—",
                 ui.small());
    }
    double before = pair.ea.step ? pair.ea.step->time_s : 0;
    if (room.h < kRow) return;
    const std::size_t shown = rows_in(room, path->size());
    for (const PathEdit& e : std::span(*path).first(shown)) {
        const TextStyle bad = ui.style(12).in(e.fit == MemoryFit::no ? ui.theme().bad : ui.theme().amber);
        const std::string fit =
            e.fit == MemoryFit::yes ? "" : memory_text(e.memory_bytes) + ": " + std::string(name_of(e.fit));
        const float fit_w = fit.empty() ? 0 : ui.canvas().text_width(fit, bad) + 8;
        text_row(ui, room.cut_top(kRow),
                 {{typeset(e.edit), share(), ui.style(12)},
                  space(8),
                  {fit, px(fit_w), bad},
                  {time_text(e.step_s), px(figure), ui.style(12), Align::right},
                  difference_cell(ui, figure, difference(e.step_s, before), false)});
        before = e.step_s;
    }
    more_rows(ui, room, path->size() - shown);
}

}  // namespace pentamesh::ui
