#include "app/tables/comm.h"
#include "app/tables/review.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/base/text.h"
#include "core/mesh/failure.h"
#include "core/mesh/places.h"
#include "core/step/cost.h"

#include <algorithm>

namespace pentamesh::ui {

void draw_axes_grid(ReviewSheet& sheet, const Reviewed& of, const std::vector<GroupKind>& axes) {
    const bool wide = sheet.paper().wide;
    const std::size_t most = sheet.paper().one_a_page ? 1 : wide ? 3 : 2;
    const std::size_t rows = (axes.size() + most - 1) / most;
    const std::size_t columns = (axes.size() + rows - 1) / rows;
    const float gap = sheet.paper().body * 1.6f, line = sheet.paper().line();
    const float w = (sheet.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    for (std::size_t next = 0; next < axes.size(); next += columns) {
        const std::size_t count = std::min(columns, axes.size() - next);
        float words = 0;
        for (std::size_t i = 0; i < count; ++i)
            words = std::max(words, draw_axis_words(sheet, {0, 0, w, 0}, of, axes[next + i], false));
        words += line * 0.4f;
        // A slide's row of meshes is as high as the slide; on upright paper three of them share a page.
        const float least = words + line * 7;
        if (sheet.left() < least) sheet.need(sheet.whole());
        const float high = wide ? sheet.left() - line : std::min(sheet.left(), words + w * 0.8f);
        const Rect row = sheet.take(std::max(high, std::min(least, sheet.left())));
        for (std::size_t i = 0; i < count; ++i) {
            Rect cell{row.x + static_cast<float>(i) * (w + gap), row.y, w, row.h};
            draw_axis_words(sheet, cell, of, axes[next + i]);
            cell.cut_top(words);
            draw_mesh_figure(sheet, cell, of, axes[next + i]);
        }
        sheet.gap();
    }
}

namespace {

// Says who waits when a node is lost, what survives, and how often it happens where the plan says so.
void draw_failure(ReviewSheet& sheet, const Reviewed& of) {
    const Failure f = lose_node(of.plan, of.evaluation.mesh, 0);
    if (f.axes.empty()) return;
    const std::string node(domain_name(of.plan.cluster));
    std::string words =
        "Without " + node + " 0 no step ends: " + with_commas(f.waiting) + " other GPUs wait. "
        + sentence(f.replicas_hit, " of ", pentamesh::count_text(f.replicas, "data-parallel rank"),
                   f.replicas_hit == 1 ? " loses GPUs. " : " lose GPUs. ")
        + (f.state_survives ? "Other GPUs hold every shard that is lost."
                            : "No other GPU holds its shards: the run goes back to its last "
                              "checkpoint.");
    const Cost cost = cost_of(of.plan, of.evaluation.step ? of.evaluation.step->tokens_per_s : 0);
    if (cost.hours_between_failures)
        words += " A GPU of the cluster fails every " + three_digits(*cost.hours_between_failures) + " hours";
    if (cost.hours_between_failures && cost.goodput)
        words += ", and " + percent_text(*cost.goodput) + " of the time the training moves on";
    if (cost.hours_between_failures) words += ".";
    const Table hit = failure_table(f);
    sheet.head("If a " + node + " is lost",
               sheet.words_height(words, sheet.width()) + sheet.table_start(hit));
    sheet.words(words);
    sheet.gap(0.3f);
    sheet.table(hit);
}

}  // namespace

void placement_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    sheet.begin("Placement: who talks to whom, over which link");
    if (!of.evaluation.valid) return;
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    if (axes.empty()) {
        sheet.words("One GPU does all: no axis cuts anything, nobody talks.");
        return;
    }
    sheet.words(of.evaluation.mesh.world > kMostCards
                    ? "Lit: the group of rank 0, whose GPUs talk to each other. The other groups are quiet."
                    : "A square is a GPU, a frame a " + std::string(domain_name(of.plan.cluster))
                          + ". GPUs of one shade are one group of the axis, which talk to each other.",
                sheet.faint());
    sheet.gap(0.3f);
    draw_axes_grid(sheet, of, axes);
    const Table groups = without(groups_table(of.plan, of.evaluation, kinds_of(of.evaluation), false),
                                 {"per_fast_domain", "sharing_node", "collectives"});
    sheet.head("Groups by link", sheet.paper().line() + sheet.table_start(groups));
    sheet.words("Of how many groups the slowest link is this one. Combined axes below their parts.",
                sheet.faint());
    sheet.table(groups);
    draw_failure(sheet, of);
}

}  // namespace pentamesh::ui
