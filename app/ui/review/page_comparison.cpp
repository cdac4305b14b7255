#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

std::string plan_of(const PlanComparison& c, std::size_t i) {
    std::string title = full_title(c, i);
    if (const std::size_t more = title.find(", …"); more != std::string::npos)
        title.replace(more, 5, " and more");
    return plan_letter(i) + ": " + title;
}

// Returns the axis to show both meshes by: one whose groups are not the same, else one that both have. It is
// nullopt if neither plan cuts anything.
std::optional<GroupKind> telling_axis(const ReviewContent& content) {
    const Evaluation &a = content.evaluations[0], &b = content.evaluations[1];
    std::optional<GroupKind> shared;
    for (const GroupKind k : all_of<GroupKind>()) {
        const bool in_a = in_use(a, k), in_b = in_use(b, k);
        if (!in_a && !in_b) continue;
        const GroupSummary &ga = a.groups[k], &gb = b.groups[k];
        if (ga.degree != gb.degree || ga.slowest_tier != gb.slowest_tier) return k;
        if (in_a && in_b && !shared) shared = k;
    }
    return shared;
}

// Draws on both sides of the page, one plan each, of that height or more, by `draw(rect, index)`.
template <typename Draw>
void both_sides(ReviewSheet& sheet, float height, float most, Draw&& draw) {
    const float gap = sheet.paper().body * 2;
    const Rect row = sheet.take_grown(std::min(height, sheet.whole()), most);
    const float w = (row.w - gap) / 2;
    for (std::size_t i = 0; i < 2; ++i)
        draw(Rect{row.x + static_cast<float>(i) * (w + gap), row.y, w, row.h}, i);
}

// Draws few fields at the left and the figures at the right. Returns false if there is no room for that, and
// then draws nothing.
bool fields_beside_figures(ReviewSheet& sheet, const PlanComparison& c) {
    const Table fields = shown_fields(c), figures = worded_figures_table(c);
    const float apart = sheet.paper().body * 2, line = sheet.paper().line() * 1.4f;
    const auto tall = [&](const Table& t, float w) { return sheet.table_in({0, 0, w, 0}, t, false); };
    // Fields that need no more give their room to the figures.
    const float half = (sheet.width() - apart) / 2, narrow = sheet.width() * 0.32f;
    const float left = tall(fields, narrow) <= tall(fields, half) ? narrow : half;
    const float right = sheet.width() - apart - left;
    const float high = line + std::max(tall(fields, left), tall(figures, right));
    if (c.fields.empty() || high > sheet.left()) return false;
    Rect row = sheet.take(high);
    const auto draw = [&](Rect r, const char* name, const Table& t) {
        sheet.label(r.cut_top(line), name, {Face::semibold, sheet.paper().head, sheet.theme().text, 0});
        sheet.table_in(r, t);
    };
    draw(row.cut_left(left), "What differs", fields);
    row.cut_left(apart);
    draw(row, "The figures", figures);
    sheet.gap();
    return true;
}

void both_meshes(ReviewSheet& sheet, const ReviewContent& content) {
    const float line = sheet.paper().line();
    if (const auto axis_or_none = telling_axis(content)) {
        const GroupKind axis = *axis_or_none;
        const float w = (sheet.width() - sheet.paper().body * 2) / 2;
        float words = 0;
        for (std::size_t i = 0; i < 2; ++i)
            words = std::max(
                words, draw_axis_words(sheet, {0, 0, w, 0}, content.of(content.compared(i)), axis, false));
        const float high = words + line * 1.4f + std::min(w * 0.5f, sheet.whole() * 0.5f);
        sheet.head("Placement", high);
        both_sides(sheet, high, 1.8f * high, [&](Rect r, std::size_t i) {
            sheet.label(r.cut_top(line), plan_letter(i), sheet.strong());
            draw_axis_words(sheet, r, content.of(content.compared(i)), axis);
            r.cut_top(words + line * 0.3f);
            draw_mesh_figure(sheet, r, content.of(content.compared(i)), axis);
        });
        sheet.gap();
    }
}

}  // namespace

Table shown_fields(const PlanComparison& c) {
    Table t = fields_table(c);
    for (Table::Row& row : t.rows) {
        row[0] = field_name(row[0].text());
        for (std::size_t i = 1; i < row.size(); ++i) row[i] = field_value(row[i].text());
    }
    return t;
}

std::string comparison_verdict(const ReviewContent& content) {
    const PlanComparison& c = *content.comparison;
    return why_words(content.evaluations[content.compared(0)], content.evaluations[content.compared(1)],
                     c.why);
}

namespace {

// Returns the parts of the steps; a difference that is far below what is written of a step is 0.
Table parts_of_steps(const PlanComparison& c) {
    Table t = brief_why_table(c);
    const std::size_t n = c.plans.size();
    for (Table::Row& row : t.rows)
        for (std::size_t i = 1; i < n; ++i)
            row[n + i] = Cell(without_noise(row[n + i].number(), t.rows.back()[1].number()));
    return t;
}

// Returns what each part of the step takes in each of more than two plans, and why.
Table why_of_many(const PlanComparison& c) {
    constexpr std::string_view kBetween = " | ";
    Table t;
    t.columns = {{"part"}, {"plan"}, {"takes", Shown::seconds}, {"than A", Shown::seconds}, {"because"}};
    double step_s = 0;  // of A
    for (const PartRow& p : c.why) step_s += p.values_s[0];
    for (const PartRow& p : c.why) {
        std::string_view rest = p.because;
        std::string_view before;
        const bool one = rest.find(kBetween) == std::string_view::npos;  // all plans have the same cause
        for (std::size_t i = 0; i < c.plans.size(); ++i) {
            const std::string_view fact = rest.substr(0, rest.find(kBetween));
            if (!one) rest.remove_prefix(std::min(rest.size(), fact.size() + kBetween.size()));
            const bool as_before =
                i > 0 && fact == before && time_text(p.values_s[i]) == time_text(p.values_s[i - 1]);
            before = fact;
            if (as_before) {
                Cell& plans = t.rows.back()[1];
                plans = Cell(plans.text() + ", " + plan_letter(i));
                continue;
            }
            const double delta = without_noise(p.delta_s[i], step_s);
            t.rows.push_back({i == 0 ? p.part : "", plan_letter(i), p.values_s[i],
                              i == 0 ? Cell("") : Cell(delta), std::string(one && i > 0 ? "" : fact)});
        }
    }
    return t;
}

// Draws what differs between all plans, their figures, and why; the way from one to the other, of two.
void comparison_tables(ReviewSheet& sheet, const ReviewContent& content) {
    const PlanComparison& c = *content.comparison;
    const float line = sheet.paper().line();
    const bool possible = std::all_of(content.evaluations.begin(), content.evaluations.end(),
                                      [](const Evaluation& e) { return e.valid; });
    if (!possible || !fields_beside_figures(sheet, c)) {
        sheet.head("What differs", line + sheet.table_start(shown_fields(c)));
        if (c.fields.empty()) sheet.words("Nothing.");
        sheet.table(shown_fields(c));
        if (!possible) {
            sheet.words("An impossible plan has no figures to compare.");
            return;
        }
        sheet.head("The figures", line + sheet.table_start(worded_figures_table(c)));
        sheet.table(worded_figures_table(c));
    }
    if (content.plans.size() == 2 && !content.brief()) both_meshes(sheet, content);
    const bool many = content.plans.size() > 2;
    Table parts = many ? why_of_many(c) : parts_of_steps(c);
    // Their sum is among the figures.
    if (!many && sheet.paper().wide && !parts.rows.empty()) parts.rows.pop_back();
    sheet.head("Why", line + sheet.table_start(parts));
    if (c.why.empty()) sheet.words("Not every plan has a step.");
    sheet.table(parts);
    if (many) return;
    // Both steps on one scale, where the page has room for them.
    if (!content.request.second_is_a && !sheet.paper().one_a_page && !c.why.empty()
        && sheet.left() >= candidates_height(sheet, content))
        candidate_figures(sheet, content);
    if (c.path.size() < 2 || content.brief()) return;  // one edit is all that differs
    const Table way = path_table(c);
    sheet.head("From A to B, each time the edit that gains most", line + sheet.table_start(way));
    sheet.table(way);
}

void name_plans(ReviewSheet& sheet, const ReviewContent& content) {
    for (std::size_t i = 0; i < content.plans.size(); ++i) {
        sheet.words(plan_of(*content.comparison, i), sheet.strong());
        const std::size_t at = content.plans.size() == 2 ? content.compared(i) : i;
        if (const Evaluation& e = content.evaluations[at]; !e.valid)
            draw_item(sheet, sheet.theme().bad,
                      plan_letter(i) + " is impossible: " + first_error(e.problems));
    }
}

}  // namespace

void comparison_page(ReviewSheet& sheet, const ReviewContent& content) {
    if (!content.comparison) return;
    const bool two = content.plans.size() == 2;
    const std::string rest = two ? "The two plans" : "The plans";
    const bool steps = std::all_of(content.evaluations.begin(), content.evaluations.end(),
                                   [](const Evaluation& e) { return e.step.has_value(); });
    if (!two) candidates_page(sheet, content);
    if (two && steps) pair_page(sheet, content);
    if (two && !steps) {
        sheet.begin(decision_of(content, nullptr));
        sheet.words(comparison_verdict(content));
    } else {
        sheet.section(rest, sheet.whole() * 0.5f);
    }
    name_plans(sheet, content);
    sheet.gap(0.4f);
    comparison_tables(sheet, content);
}

// The page that decides between two plans: what to take and why, the way from A to B in parts of the step,
// where each runs and whether it fits, and what each axis costs.

namespace {

constexpr float kTile = 28, kStripShare = 0.6f;  // of a node; of the page's width

// Returns "16 nodes, 128 GPUs, one of 128 replicas".
std::string period_words(const Reviewed& of, const Period& p) {
    const std::int64_t gpus = p.nodes * domain_of(of.plan.cluster, 0);
    std::string out = plural(p.nodes, "node", "nodes") + ", " + thousands(gpus) + " GPUs: ";
    return out + (p.count > 1 ? "one of " + thousands(p.count) + " " + p.noun + "s" : "the whole " + p.noun);
}

// Returns "tp: 64 groups of 4. ", of the innermost axis; empty where nothing is cut.
std::string groups_words(const Reviewed& of) {
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    if (axes.empty()) return {};
    const GroupSummary& g = of.evaluation.groups[axes.front()];
    return axis_label(axes.front()) + ": " + plural(g.groups, "group", "groups") + " of "
           + thousands(g.degree) + ". ";
}

float strip_row_height(const ReviewSheet& sheet) {
    return sheet.paper().line() + strip_height(kTile) + sheet.paper().small * 0.7f;
}

void draw_strip_of(ReviewSheet& sheet, Rect room, const Reviewed& of, const std::string& letter) {
    const PrintedScene printed(of);
    const Period period = replica_of(printed.scene, 0);
    Rect head = room.cut_top(sheet.paper().line());
    sheet.label(head.cut_left(sheet.paper().body * 1.3f), letter, sheet.strong());
    if (period.nodes > 1) {
        sheet.label(head, groups_words(of) + period_words(of, period), sheet.faint());
        draw_strip(sheet.canvas(), sheet.theme(), sheet.paper().small, room, kTile, printed.scene, period);
        return;
    }
    sheet.label(head, plural(of.evaluation.mesh.world, "GPU", "GPUs"), sheet.faint());
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    room.cut_top(sheet.paper().line() * 0.2f);
    draw_mesh_figure(sheet, room, of,
                     axes.empty() || of.evaluation.mesh.world > kMostCards ? std::nullopt
                                                                           : std::optional(axes.front()));
}

// Draws the fullest GPU's memory, with a sentence over it.
void draw_fit_of(ReviewSheet& sheet, Rect room, const Reviewed& of, double whole) {
    const Memory& m = of.evaluation.memory;
    const StageMemory& full = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const MemoryFit fit = fit_of_plan(of.evaluation);
    TextStyle style = sheet.strong();
    if (fit != MemoryFit::yes) style.color = color_of(sheet.theme(), fit);
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), gib(m.peak()) + " of " + memory_text(m.hbm), style);
    draw_memory_bar(sheet.ink(), room.cut_top(std::min(kTile, room.h - line)), full, m.hbm, whole);
    const double over = m.peak() - m.hbm;
    style.face = Face::regular;
    sheet.label(room.cut_top(line),
                fits(fit)              ? std::string(name_of(fit)) + ", " + memory_text(-over) + " free"
                : fit == MemoryFit::no ? "does not fit: " + memory_text(over) + " over"
                                       : "fits if buffers stay under " + memory_text(room_for_buffers(m)),
                style);
}

// Draws each plan's strip, and next to it the memory of its fullest GPU, both on one scale.
void draw_both(ReviewSheet& sheet, const ReviewContent& content) {
    double whole = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const Memory& m = content.evaluations[i].memory;
        whole = std::max({whole, m.hbm, m.stage[static_cast<std::size_t>(m.peak_stage)].most()});
    }
    for (std::size_t i = 0; i < 2; ++i) {
        const Reviewed of = content.of(content.compared(i));
        Rect row = sheet.take(strip_row_height(sheet));
        draw_strip_of(sheet, row.cut_left(row.w * kStripShare), of, plan_letter(i));
        row.cut_left(sheet.paper().body * 1.5f);
        draw_fit_of(sheet, row, of, whole);
    }
}

// Holds the time of an axis in A and in B. ZeRO and context parallelism rename the groups in which gradients
// and parameters move: where these differ they are one, dp.
struct AxisPair {
    std::string name;
    const MeshAxis* shown = nullptr;
    std::array<std::optional<double>, 2> time_s{};  // none: the axis is off
    std::string words{};
};

std::string axis_time_words(const std::optional<double>& time_s) {
    return !time_s ? "off" : *time_s > 0 ? time_text(*time_s) : "sends nothing";
}

std::vector<AxisPair> pairs_of(const ReviewContent& content,
                               const std::array<std::vector<MeshAxis>, 2>& axes) {
    const auto data_axes = [&](std::size_t i) {
        std::vector<GroupKind> out;
        for (const MeshAxis& a : axes[i])
            if (is_data_parallel(a.kind)) out.push_back(a.kind);
        return out;
    };
    const bool join = data_axes(0) != data_axes(1);
    std::vector<AxisPair> out;
    for (std::size_t i = 0; i < 2; ++i)
        for (const MeshAxis& a : axes[i]) {
            const std::string name = join && is_data_parallel(a.kind) ? "dp" : axis_label(a.kind);
            auto at = std::find_if(out.begin(), out.end(), [&](const AxisPair& p) { return p.name == name; });
            if (at == out.end()) at = out.insert(out.end(), {name, &a});
            at->time_s[i] =
                at->time_s[i].value_or(0) + cost_of(content.of(content.compared(i)).evaluation, a).time_s;
            if (name == "dp" && cost_of(content.of(content.compared(i)).evaluation, a).time_s > 0)
                at->shown = &a;
        }
    for (AxisPair& p : out)
        p.words = "A " + axis_time_words(p.time_s[0]) + " → B " + axis_time_words(p.time_s[1]);
    return out;
}

// Returns the height; draws where `draw` says so.
float draw_costs_of_both(ReviewSheet& sheet, const ReviewContent& content, bool draw) {
    std::array<std::vector<MeshAxis>, 2> axes;
    for (std::size_t i = 0; i < 2; ++i)
        axes[i] = axes_that_send(sheet.theme(), PrintedScene(content.of(content.compared(i))).scene);
    const std::vector<AxisPair> pairs = pairs_of(content, axes);
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), sample = sheet.paper().body * 1.6f, apart = sheet.paper().body;
    float widest = 1;
    for (const AxisPair& p : pairs)
        widest = std::max(widest, sample + c.text_width(p.name, sheet.strong()) + 8
                                      + c.text_width(p.words, sheet.plain()) + apart);
    const auto columns = std::max<std::size_t>(
        1, std::min<std::size_t>(pairs.size(), static_cast<std::size_t>(sheet.width() / widest)));
    const std::size_t rows = (pairs.size() + columns - 1) / std::max<std::size_t>(1, columns);
    const float high = line * static_cast<float>(rows);
    if (!draw) return high;
    const Rect room = sheet.take(high);
    const float w = room.w / static_cast<float>(columns);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::size_t column = i % columns, row = i / columns;
        Rect cell{room.x + w * static_cast<float>(column), room.y + line * static_cast<float>(row), w, line};
        const MeshAxis& shown = *pairs[i].shown;
        const Rect mark = cell.cut_left(sample);
        c.line({mark.x, mark.center().y}, {mark.right() - 6, mark.center().y}, shown.color, 3,
               shown.mark.dash);
        const std::string& name = pairs[i].name;
        sheet.label(cell.cut_left(c.text_width(name, sheet.strong()) + 8), name, sheet.strong());
        sheet.label(cell, pairs[i].words, sheet.plain());
    }
    return high;
}

}  // namespace

void pair_page(ReviewSheet& sheet, const ReviewContent& content) {
    std::string plans;
    for (std::size_t i = 0; i < 2; ++i)
        plans += (i == 0 ? "" : "   ·   ") + plan_letter(i) + ": " + full_title(*content.comparison, i);
    sheet.begin(decision_of(content, nullptr), plans);
    const auto taken = better_of(content);
    draw_verdict(sheet, taken ? &content.evaluations[*taken] : nullptr, reason_of(content, nullptr));
    pair_figures(sheet, content);
}

void pair_figures(ReviewSheet& sheet, const ReviewContent& content) {
    const Evaluation &a = content.evaluations[content.compared(0)],
                     &b = content.evaluations[content.compared(1)];
    const float line = sheet.paper().line(), gap = line * 0.3f;
    const float below = 2 * strip_row_height(sheet) + draw_costs_of_both(sheet, content, false) + 2 * gap + 2;
    const float most = line * 17, least = line * 7;
    Rect chart = sheet.take(std::clamp(sheet.left() - below, least, most));
    Rect head = chart.cut_top(line);
    const double by = b.step->time_s - a.step->time_s;
    const bool same_gpus = a.mesh.world == b.mesh.world,
               same_tokens = a.step->tokens_per_step == b.step->tokens_per_step,
               same = same_gpus && same_tokens;
    const std::string title = by < 0   ? same ? "Why B is faster" : "Why a step of B is shorter"
                              : by > 0 ? same ? "Why B is slower" : "Why a step of B is longer"
                                       : "The step of A and of B";
    const std::string differ =
        !same_gpus     ? "A has " + with_commas(a.mesh.world) + " GPUs, B " + with_commas(b.mesh.world)
        : !same_tokens ? "A trains " + count_text(a.step->tokens_per_step) + " tokens in one, B "
                             + count_text(b.step->tokens_per_step)
                       : "time of a step, from A to B";
    sheet.label(head.cut_left(sheet.canvas().text_width(title, sheet.strong()) + sheet.paper().body), title,
                sheet.strong());
    sheet.label(head, differ, sheet.faint());
    draw_way_figure(sheet, chart, *content.comparison, a.step->time_s, b.step->time_s);
    sheet.gap(0.3f);
    draw_both(sheet, content);
    sheet.gap(0.3f);
    draw_costs_of_both(sheet, content, true);
}

namespace {

std::string layout_words(const Reviewed& of) {
    if (!of.evaluation.valid) return "";
    const LayoutName name = layout_name(of.plan, of.evaluation.mesh);
    return name.name + ": " + name.reason;
}

// Draws what the axes in use are called, each on its colour; returns the height.
float draw_axis_names(ReviewSheet& sheet, Rect room, const Reviewed& of, const std::vector<GroupKind>& axes,
                      bool draw) {
    Ink ink = sheet.ink();
    ink.faint = ink.strong;
    const float mark = sheet.paper().body * 0.8f;
    LegendLines lines{
        .ink = ink, .room = room, .mark = {mark, mark}, .apart = sheet.paper().body, .draw = draw};
    for (const GroupKind kind : axes)
        lines.item(axis_label(kind) + " " + with_commas(of.evaluation.groups[kind].degree),
                   [&](Rect box) { ink.canvas.rect(box, color_of(ink.theme, kind), 3); });
    return ink.line * static_cast<float>(lines.lines);
}

// Draws figures at the left, the mesh at the right: one rank's groups of every axis, in a small cluster those
// of the first axis.
void figures_and_mesh(ReviewSheet& sheet, const Reviewed& of) {
    const Table figures = key_figures_table(of.plan, of.evaluation);
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    const bool all = of.evaluation.mesh.world > kMostCards;
    const auto draw_words = [&](Rect room, bool draw) {
        return all ? draw_axis_names(sheet, room, of, axes, draw)
                   : draw_axis_words(sheet, room, of, axes.front(), draw);
    };
    const float gap = sheet.paper().body * 2;
    const float left = axes.empty() ? sheet.width() : sheet.width() * 0.58f;
    const float right = sheet.width() - left - gap;
    const float table = sheet.table_in({0, 0, left, 0}, figures, false);
    float words = 0;
    if (!axes.empty()) words = draw_words({0, 0, right, 0}, false);
    const float least = axes.empty() ? 0 : words + sheet.paper().line() * 5;
    const Rect room = sheet.take(std::min(std::max(table, least), sheet.whole()));
    sheet.table_in({room.x, room.y, left, table}, figures);
    if (axes.empty()) return;
    Rect mesh{room.x + left + gap, room.y, right, room.h};
    draw_words(mesh, true);
    mesh.cut_top(words + sheet.paper().line() * 0.3f);
    draw_mesh_figure(sheet, mesh, of, all ? std::nullopt : std::optional(axes.front()));
}

}  // namespace

std::string by_and_when(const ReviewRequest& r) {
    return r.author + (!r.author.empty() && !r.date.empty() ? ", " : "") + r.date;
}

std::string problem_words(const Problem& p) {
    static constexpr std::array<const char*, 3> kWords{"Error", "Warning", "Note"};
    const std::string change = words_of(p.fix);
    return kWords[static_cast<std::size_t>(p.severity)] + (": " + p.said())
           + (change.empty() ? "" : " Change: " + change + ".");
}

bool in_use(const Evaluation& e, GroupKind axis) {
    return e.groups[axis].groups > 0 && e.groups[axis].degree > 1;
}

std::vector<GroupKind> axes_in_use(const Evaluation& e) {
    static constexpr std::array kAll{
        GroupKind::tp,  GroupKind::cp, GroupKind::dp_shard,  GroupKind::dp_replicate,  GroupKind::pp,
        GroupKind::etp, GroupKind::ep, GroupKind::edp_shard, GroupKind::edp_replicate, GroupKind::edp};
    std::vector<GroupKind> out;
    for (const GroupKind k : kAll)
        if (in_use(e, k) && (k != GroupKind::edp || !has_kind(e.mesh, GroupKind::edp_shard)))
            out.push_back(k);
    return out;
}

void draw_item(ReviewSheet& sheet, Color mark, std::string_view words) {
    const float side = sheet.paper().body * 0.55f, indent = sheet.paper().body * 1.2f;
    bool first = true;
    const auto lines = sheet.canvas().wrapped(sheet.width() - indent, words, sheet.plain());
    sheet.need(std::min(sheet.whole(), sheet.paper().line() * static_cast<float>(lines.size())));
    for (const std::string_view line : lines) {
        Rect row = sheet.take(sheet.paper().line());
        if (first) sheet.canvas().rect({row.x, row.center().y - side / 2, side, side}, mark, 2);
        first = false;
        row.cut_left(indent);
        sheet.label(row, line, sheet.plain());
    }
}

void draw_problem_list(ReviewSheet& sheet, const Evaluation& e) {
    const Theme& t = sheet.theme();
    if (e.problems.empty()) sheet.words("None.");
    for (const Problem& p : e.problems) {
        const Color mark = p.severity == Severity::error     ? t.bad
                           : p.severity == Severity::warning ? t.amber
                                                             : t.secondary;
        draw_item(sheet, mark, problem_words(p));
        sheet.gap(0.2f);
    }
}

void author_words(ReviewSheet& sheet, const AuthorWords& words) {
    const std::array<std::pair<const char*, const std::string*>, 5> said{
        {{"Decision", &words.decision},
         {"Alternatives", &words.alternatives},
         {"Open questions", &words.open_questions},
         {"Risks", &words.risks},
         {"Owner", &words.owner}}};
    if (words == AuthorWords{}) return;
    sheet.head("In the author's words", sheet.paper().line() * 2);
    for (const auto& [name, text] : said) {
        if (text->empty()) continue;
        sheet.words(name, sheet.strong());
        for (const std::string& item : items_of(*text)) draw_item(sheet, sheet.theme().secondary, item);
        sheet.gap(0.3f);
    }
    sheet.gap();
}

namespace {

// Lists what the figures leave open, where the author asks nothing: the first page had no room for it.
void program_questions(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    if (content.comparison || !of.evaluation.step || !items_of(of.plan.review.open_questions).empty()) return;
    sheet.head("Open questions", sheet.paper().line() * 2);
    for (const std::string& q : open_questions(content, 0)) draw_item(sheet, sheet.theme().secondary, q);
    sheet.gap();
}

}  // namespace

float problems_height(const ReviewSheet& sheet, const Evaluation& e) {
    const float line = sheet.paper().line(), indent = sheet.paper().body * 1.2f;
    if (e.problems.empty()) return 0;
    float list = sheet.paper().head * 1.35f + line * 0.25f;
    for (const Problem& p : e.problems)
        list += sheet.words_height(problem_words(p), sheet.width() - indent) + line * 0.2f;
    return list;
}

void problems_and_advice(ReviewSheet& sheet, const Evaluation& e) {
    const float line = sheet.paper().line(), indent = sheet.paper().body * 1.2f;
    // That there are none is no page of its own.
    if (e.problems.empty() && sheet.left() < line * 3) return;
    const std::string first = e.problems.empty() ? "" : problem_words(e.problems[0]);
    sheet.head("Problems and advice", sheet.words_height(first, sheet.width() - indent));
    draw_problem_list(sheet, e);
}

namespace {

// Lists the problems, and draws what else was tried where the first page has no room for all of it. On a
// slide a long list has one half of the page, the changes the other one.
void advice_and_tried(ReviewSheet& sheet, const ReviewContent& content) {
    const Evaluation& e = content.detail().evaluation;
    const bool tried = e.step && content.tried.size() + content.unfit.size() > 0
                       && (sheet.paper().wide || content.comparison);
    const bool halves = tried && !e.problems.empty() && sheet.paper().wide && !sheet.paper().one_a_page
                        && problems_height(sheet, e) > sheet.left();
    if (halves) {
        sheet.need(sheet.whole());
        sheet.columns(2);
    }
    problems_and_advice(sheet, e);
    if (!tried) return;
    if (halves) sheet.need(sheet.whole());  // the other half
    const float rows = tried_height(sheet, sheet.width(), content);
    sheet.head("What else was tried, one change each", rows);
    if (halves) {
        draw_tried(sheet, sheet.take(std::max(rows, std::min(2.6f * rows, sheet.left()))), content);
        sheet.columns(1);
    } else {
        draw_tried(sheet, sheet.take_grown(rows, 1.8f * rows), content);
    }
}

}  // namespace

void tried_page(ReviewSheet& sheet, const ReviewContent& content) {
    if (!content.detail().evaluation.step) return;
    sheet.section("What else was tried, and why not", sheet.whole() / 2);
    const float rows = tried_height(sheet, sheet.width(), content);
    if (content.tried.empty() && content.unfit.empty())
        return sheet.words("No other layout within one change fits, and none that does not would be faster.");
    sheet.words("One change each of " + content.detail_name()
                    + ", the best value of it, and the proposal where there is one. The other factors stay; "
                      "sharded data parallelism takes what a factor gives up.",
                sheet.faint());
    sheet.gap(0.3f);
    if (rows > sheet.left())
        draw_tried_rows(sheet, content);
    else
        draw_tried(sheet, sheet.take_grown(rows, 1.6f * rows), content);
    sheet.gap();
}

void plan_lines(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const ReviewRequest& r = content.request;
    if (!r.title.empty() && r.title != title_of(of.plan)) sheet.words(title_of(of.plan), sheet.strong());
    if (!r.author.empty()) sheet.words(r.author, sheet.faint());  // the date is in the foot
    sheet.words(asked_line(of.plan, of.evaluation.valid ? of.evaluation.microbatches : 0));
    if (const std::string layout = layout_words(of); !layout.empty()) sheet.words(layout, sheet.faint());
    sheet.gap(content.brief() ? 0.4f : 1);
    if (!content.brief() || !of.evaluation.step || of.plan.notes.empty()) return;
    sheet.head("Notes of the plan", sheet.words_height(of.plan.notes, sheet.width()));
    sheet.words(of.plan.notes);
    sheet.gap(0.4f);
}

namespace {

// Writes what of the author's words had no room on the first page.
void rest_of_words(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.section("What is said of the plan");
    author_words(sheet, content.plans[0].review);
    program_questions(sheet, content);
}

}  // namespace

void summary_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const ReviewRequest& r = content.request;
    bool said = false;  // all of the author's words, on the first page
    if (of.evaluation.step && !content.comparison) {
        said = decision_page(sheet, content);
        if (r.first_page_only) return;
    }
    if (!of.evaluation.valid && !content.comparison) impossible_page(sheet, content);
    if (content.brief() && of.evaluation.step) {
        if (!said && !(content.plans[0].review == AuthorWords{} && content.comparison))
            rest_of_words(sheet, content);
        return;
    }
    const std::string letter = content.comparison ? plan_letter(content.compared(content.shown)) : "";
    sheet.section(letter.empty() ? "The plan" : "Plan " + letter + ", on the pages from here on");
    plan_lines(sheet, content);
    if (of.evaluation.valid) {
        figures_and_mesh(sheet, of);
        sheet.gap();
    }
    if (!said) {
        author_words(sheet, content.plans[0].review);
        program_questions(sheet, content);
    }
    if (!of.plan.notes.empty()) {
        sheet.head("Notes of the plan", sheet.words_height(of.plan.notes, sheet.width()));
        sheet.words(of.plan.notes);
        sheet.gap();
    }
    if (!of.evaluation.valid && !content.comparison) return;  // they are on the first page
    advice_and_tried(sheet, content);
}

// The first page of the review of a plan that cannot be built: what forbids it, and what it would be with the
// smallest changes that the rules name.

std::optional<MendedPlan> mended_plan(const Plan& plan) {
    constexpr int kMostFixes = 4;
    Plan at = plan;
    for (int i = 0; i < kMostFixes; ++i) {
        const Evaluation e = evaluate(at, {.timeline = false});
        if (e.valid) break;
        const auto error = std::find_if(e.problems.begin(), e.problems.end(), [](const Problem& p) {
            return p.severity == Severity::error && !p.fix.empty();
        });
        if (error == e.problems.end() || !apply_in_core(at, error->fix)) return std::nullopt;
    }
    Evaluation e = assess(at);
    if (!e.valid) return std::nullopt;
    return MendedPlan{std::move(at), std::move(e)};
}

std::string impossible_decision(const ReviewContent& content) {
    const std::string& own = content.plans[0].review.decision;
    if (!own.empty()) return own;
    if (!content.mended) return "It cannot be built.";
    const Evaluation& then = content.mended->evaluation;
    return "It cannot be built as it is. With "
           + words_of(needed_edits(content.plans[0], content.mended->plan)) + " it can"
           + (then.step && fit_of_plan(then) != MemoryFit::yes
                  ? ", but " + std::string(name_of(fit_of_plan(then)))
                  : "")
           + ".";
}

void impossible_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.begin(impossible_decision(content));
    sheet.head("Problems", sheet.paper().line() * 2);
    draw_problem_list(sheet, content.evaluations[0]);
    sheet.gap();
    if (!content.mended) return;
    const MendedPlan& then = *content.mended;
    sheet.head("With " + words_of(needed_edits(content.plans[0], then.plan)), sheet.paper().line() * 4);
    const PlanVerdict verdict = verdict_of(then.evaluation);
    draw_verdict(sheet, &then.evaluation, verdict.sentence + " " + verdict.reason);
    sheet.table(key_figures_table(then.plan, then.evaluation));
    sheet.gap();
}

}  // namespace pentamesh::ui
