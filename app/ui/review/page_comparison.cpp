#include "app/tables/compare.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/compare/view.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <cmath>

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

constexpr double kNoise = 1e-6;  // of A's step: a smaller difference is noise

// Returns the parts of the steps; a difference that is far below what is written of a step is 0.
Table parts_of_steps(const PlanComparison& c) {
    Table t = brief_why_table(c);
    const std::size_t n = c.plans.size();
    for (Table::Row& row : t.rows)
        for (std::size_t i = 1; i < n; ++i)
            if (std::abs(row[n + i].number()) < kNoise * t.rows.back()[1].number()) row[n + i] = Cell(0.0);
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
            const double delta = std::abs(p.delta_s[i]) < kNoise * step_s ? 0 : p.delta_s[i];
            t.rows.push_back({i == 0 ? p.part : "", plan_letter(i), p.values_s[i],
                              i == 0 ? Cell("") : Cell(delta), std::string(one && i > 0 ? "" : fact)});
        }
    }
    return t;
}

// Draws the way from A to B, one edit after another: as a table below what stands on the page; where it needs
// a slide of its own, as a picture.
void draw_way(ReviewSheet& sheet, const ReviewContent& content) {
    const PlanComparison& c = *content.comparison;
    const Table table = path_table(c);
    const std::string title = "From A to B, each time the edit that gains most";
    const float line = sheet.paper().line(), behind = line + sheet.table_start(table);
    const Evaluation& a = content.evaluations[content.compared(0)];
    const bool joins = !sheet.paper().one_a_page && sheet.left() >= behind + line;
    if (!sheet.paper().wide || joins || !a.step) {
        sheet.head(title, behind);
        sheet.table(table);
        return;
    }
    const Theme& t = sheet.theme();
    const auto held = [&](double bytes, MemoryFit fit) {
        return memory_text(bytes, Zeros::kept) + ", " + std::string(name_of(fit));
    };
    const auto row = [&](const std::string& name, double step_s, double bytes, MemoryFit fit) {
        return Course::Row{name,        "",
                           step_s,      {time_text(step_s), held(bytes, fit)},
                           t.secondary, fit == MemoryFit::no ? t.bad : t.text};
    };
    Course course{.heads = {"edit", "step", "fullest GPU"}};
    course.rows.push_back(row("A", a.step->time_s, a.memory.peak(), fit_of_plan(a)));
    for (const PathEdit& e : c.path)
        course.rows.push_back(row(typeset(e.edit), e.step_s, e.memory_bytes, e.fit));
    const float high = std::min(course_height(sheet, course), sheet.whole() - 4 * line);
    sheet.head(title, high);
    draw_course(sheet, sheet.take_grown(high, 1.8f * high), course);
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
    if (content.plans.size() == 2) both_meshes(sheet, content);
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
    if (c.path.size() > 1) draw_way(sheet, content);  // one edit is all that differs
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
        sheet.section(rest);
    }
    name_plans(sheet, content);
    sheet.gap(0.4f);
    comparison_tables(sheet, content);
}

}  // namespace pentamesh::ui
