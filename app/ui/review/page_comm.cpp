#include "app/tables/comm.h"
#include "app/tables/review.h"
#include "app/ui/review/pages.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

// Joins calls that have all figures in common to one row, with the names of all. Returns true if there are
// such.
bool join_alike(Table& t, std::size_t name) {
    std::vector<Table::Row> out;
    for (const Table::Row& row : t.rows) {
        const auto alike = std::find_if(out.begin(), out.end(), [&](const Table::Row& r) {
            for (std::size_t i = 0; i < row.size(); ++i)
                if (i != name && !(r[i] == row[i])) return false;
            return true;
        });
        if (alike == out.end())
            out.push_back(row);
        else
            (*alike)[name] = (*alike)[name].text() + "; " + row[name].text();
    }
    const bool any = out.size() < t.rows.size();
    t.rows = std::move(out);
    return any;
}

}  // namespace

void communication_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    sheet.section("Communication: what the GPUs say to each other");
    sheet.place(kCommunicationPage);
    if (!e.valid) return;
    if (e.comm.operations.empty()) {
        sheet.words("Nothing: no GPU talks to another.");
        return;
    }
    sheet.words("In one step, " + rows_device_text(e.comm)
                + ". Exposed is time that no compute hides; sent is what leaves the GPU.");
    sheet.gap(0.3f);
    const Table axes = axes_traffic_table(e), links = links_traffic_table(of.plan, e);
    const float gap = sheet.paper().body * 2.5f, half = (sheet.width() - gap) / 2;
    const float head = sheet.paper().line() * 1.3f;
    const float high = head
                       + std::max(sheet.table_in({0, 0, half, 0}, axes, false),
                                  sheet.table_in({0, 0, half, 0}, links, false));
    Rect left = sheet.take(std::min(high, sheet.whole()));
    Rect right = left.cut_right(half);
    sheet.label(left.cut_top(head), "By axis", sheet.strong());
    sheet.label(right.cut_top(head), "By link", sheet.strong());
    sheet.table_in({left.x, left.y, half, left.h}, axes);
    sheet.table_in(right, links);
    sheet.gap();
    if (e.step) {
        const float bars = traffic_height(sheet, e);
        sheet.head("What waits, and what compute hides", bars);
        draw_traffic_figure(sheet, sheet.take_grown(bars, 2 * bars), e);
        sheet.gap();
    }
    Table all = columns_of(comm_table(of.plan, e),
                           {"axis", "what", "collective", "group_size", "tier", "phase", "count_per_step",
                            "message_bytes", "sent_bytes_per_rank", "time_s", "exposed_s"});
    bool elsewhere = false;
    for (std::size_t i = 0; i < e.comm.operations.size(); ++i)
        if (e.comm.operations[i].on_other_stage) {
            all.rows[i][1] = all.rows[i][1].text() + "*";
            elsewhere = true;
        }
    // The axis has its degree and its link in one column: the names of what is sent need the room.
    for (Table::Row& row : all.rows) {
        row[0] = row[0].text() + " " + with_commas(static_cast<std::int64_t>(row[3].number())) + " "
                 + row[4].text();
        row.erase(row.begin() + 3, row.begin() + 5);
    }
    all.columns.erase(all.columns.begin() + 3, all.columns.begin() + 5);
    all.columns[0].title = "axis, link";
    const bool joined = join_alike(all, 1);
    sheet.head("Every collective", (joined ? sheet.paper().line() : 0) + sheet.table_start(all));
    if (joined)
        sheet.words("A row with several names has the figures of each of them, not of all together.",
                    sheet.faint());
    sheet.table(all);
    if (elsewhere)
        sheet.words("* on the first or last stage, where another one works longest: in no sum.",
                    sheet.faint());
}

}  // namespace pentamesh::ui
