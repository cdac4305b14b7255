#include "app/tables/compare.h"
#include "app/ui/review/pages.h"
#include "core/base/text.h"
#include "core/rules/first_error.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

std::string plan_of(const PlanComparison& c, std::size_t i) {
    return plan_letter(i) + ": " + c.plans[i];
}

// The axis to show both meshes by: in use in both where there is one.
std::vector<GroupKind> shared_axes(const ReviewContent& content) {
    const std::vector<GroupKind> a = axes_in_use(content.evaluations[0]),
                                 b = axes_in_use(content.evaluations[1]);
    std::vector<GroupKind> out;
    for (const GroupKind k : a)
        if (std::find(b.begin(), b.end(), k) != b.end()) out.push_back(k);
    if (out.empty()) out = a.empty() ? b : a;
    if (out.size() > 1) out.resize(1);
    return out;
}

// Both sides of the page, one plan each, of that height; `draw(rect, index)`.
template <typename Draw>
void both_sides(ReviewSheet& sheet, float height, Draw&& draw) {
    const float gap = sheet.paper().body * 2;
    const Rect row = sheet.take(std::min(height, sheet.whole()));
    const float w = (row.w - gap) / 2;
    for (std::size_t i = 0; i < 2; ++i)
        draw(Rect{row.x + static_cast<float>(i) * (w + gap), row.y, w, row.h}, i);
}

// Few fields stand at the left, the figures at the right. False: there is no room for that, nothing is drawn.
bool fields_beside_figures(ReviewSheet& sheet, const PlanComparison& c) {
    const Table fields = fields_table(c), figures = figures_table(c);
    const float half = (sheet.width() - sheet.paper().body * 2) / 2, line = sheet.paper().line() * 1.4f;
    const float high = line
                       + std::max(sheet.table_in({0, 0, half, 0}, fields, false),
                                  sheet.table_in({0, 0, half, 0}, figures, false));
    if (c.fields.empty() || high > sheet.left()) return false;
    both_sides(sheet, high, [&](Rect r, std::size_t i) {
        sheet.label(r.cut_top(line), i == 0 ? "What differs" : "The figures",
                    {Face::semibold, sheet.paper().head, sheet.theme().text, 0});
        sheet.table_in(r, i == 0 ? fields : figures);
    });
    sheet.gap();
    return true;
}

void both_meshes(ReviewSheet& sheet, const ReviewContent& content) {
    const float line = sheet.paper().line();
    for (const GroupKind axis : shared_axes(content)) {
        const float w = (sheet.width() - sheet.paper().body * 2) / 2;
        float words = 0;
        for (std::size_t i = 0; i < 2; ++i)
            words = std::max(
                words, draw_axis_words(sheet, {0, 0, w, 0}, content.of(content.compared(i)), axis, false));
        const float high = words + line * 1.4f + std::min(w * 0.5f, sheet.whole() * 0.5f);
        sheet.head("Placement", high);
        both_sides(sheet, high, [&](Rect r, std::size_t i) {
            sheet.label(r.cut_top(line), plan_letter(i), sheet.strong());
            draw_axis_words(sheet, r, content.of(content.compared(i)), axis);
            r.cut_top(words + line * 0.3f);
            draw_mesh_figure(sheet, r, content.of(content.compared(i)), axis);
        });
        sheet.gap();
    }
}

void both_waterfalls(ReviewSheet& sheet, const ReviewContent& content) {
    if (!content.evaluations[0].step || !content.evaluations[1].step) return;
    double whole = 0;
    float high = 0;
    for (const Evaluation& e : content.evaluations) {
        whole = std::max(whole, e.step->time_s);
        high = std::max(high, waterfall_height(sheet, *e.step));
    }
    const float line = sheet.paper().line();
    sheet.head("Where the time goes, on one scale", high + line);
    both_sides(sheet, high + line, [&](Rect r, std::size_t i) {
        sheet.label(r.cut_top(line), plan_letter(i), sheet.strong());
        draw_waterfall_figure(sheet, r, *content.evaluations[content.compared(i)].step, whole);
    });
    sheet.gap();
}

}  // namespace

void comparison_page(ReviewSheet& sheet, const ReviewContent& content) {
    if (!content.comparison) return;
    const PlanComparison& c = *content.comparison;
    sheet.begin("Compared with another plan");
    sheet.words(plan_of(c, 0), sheet.strong());
    sheet.words(plan_of(c, 1), sheet.strong());
    sheet.gap(0.4f);
    bool possible = true;
    for (std::size_t i = 0; i < 2; ++i)
        if (const Evaluation& e = content.evaluations[content.compared(i)]; !e.valid) {
            possible = false;
            draw_item(sheet, sheet.theme().bad,
                      plan_letter(i) + " is impossible: " + first_error(e.problems));
        }
    const float line = sheet.paper().line();
    if (!possible || !fields_beside_figures(sheet, c)) {
        sheet.head("What differs", line + sheet.table_start(fields_table(c)));
        if (c.fields.empty()) sheet.words("Nothing.");
        sheet.table(fields_table(c));
        if (!possible) {
            sheet.words("An impossible plan has no figures to compare.");
            return;
        }
        sheet.head("The figures", line + sheet.table_start(figures_table(c)));
        sheet.table(figures_table(c));
    }
    both_meshes(sheet, content);
    both_waterfalls(sheet, content);
    sheet.head("Why", line + sheet.table_start(why_table(c)));
    if (c.why.empty()) sheet.words("Not every plan has a step.");
    sheet.table(why_table(c));
    sheet.head("From A to B, the edit that gains most first", line + sheet.table_start(path_table(c)));
    if (c.path.empty()) sheet.words(c.fields.empty() ? "No edit is needed." : "B has no step.");
    sheet.table(path_table(c));
}

}  // namespace pentamesh::ui
