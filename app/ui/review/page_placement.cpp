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
    const std::size_t most = sheet.paper().one_a_page ? 1 : wide || axes.size() == 3 ? 3 : 2;
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
        const float fits = wide ? sheet.left() - line : std::min(sheet.left(), words + w * 0.8f),
                    high = std::max(fits, std::min(least, sheet.left()));
        const Rect row = sheet.take_grown(high, wide ? high : words + w * 1.5f);
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
std::string failure_words(const Reviewed& of, const Failure& f) {
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
    return words;
}

// Returns a row for each axis: of how many groups the slowest link is which one, how many lose a GPU with the
// node, and how many GPUs wait in those.
Table groups_and_failure(const Reviewed& of, const Failure& failure) {
    Table t = without(groups_table(of.plan, of.evaluation, kinds_of(of.evaluation), false),
                      {"per_fast_domain", "sharing_node", "collectives", "slowest_tier"});
    const Table hit = failure_table(failure);
    const std::ptrdiff_t before = static_cast<std::ptrdiff_t>(t.columns.size()) - 1;
    t.columns.insert(t.columns.begin() + before, {{"lose a GPU", Shown::count}, {"GPUs wait", Shown::count}});
    for (Table::Row& row : t.rows) {
        const auto same = std::find_if(hit.rows.begin(), hit.rows.end(),
                                       [&](const Table::Row& r) { return r[0].text() == row[0].text(); });
        const bool found = same != hit.rows.end();
        row.insert(row.begin() + before,
                   {found ? (*same)[1] : Cell(std::string()), found ? (*same)[3] : Cell(std::string())});
    }
    return t;
}

}  // namespace

void placement_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    sheet.section("Placement: who talks to whom, over which link");
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
    const Failure failure = lose_node(of.plan, of.evaluation.mesh, 0);
    const Table groups = groups_and_failure(of, failure);
    const std::string words = failure.axes.empty() ? "" : failure_words(of, failure);
    sheet.head("Groups by link, and the loss of a " + std::string(domain_name(of.plan.cluster)),
               sheet.words_height(words, sheet.width()) + sheet.paper().line() + sheet.table_start(groups));
    sheet.words(words);
    sheet.words("Over a link: of how many groups it is the slowest. Combined axes below their parts.",
                sheet.faint());
    sheet.table(groups);
}

}  // namespace pentamesh::ui
