#include "app/tables/comm.h"
#include "app/tables/review.h"
#include "app/ui/review/pages.h"
#include "core/base/text.h"

#include <algorithm>

namespace pentamesh::ui {

void communication_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    sheet.begin("Communication: what the GPUs say to each other");
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
    Table all = columns_of(comm_table(of.plan, e),
                           {"axis", "what", "collective", "group_size", "tier", "phase", "count_per_step",
                            "message_bytes", "sent_bytes_per_rank", "time_s", "exposed_s"});
    bool elsewhere = false;
    for (std::size_t i = 0; i < e.comm.operations.size(); ++i)
        if (e.comm.operations[i].on_other_stage) {
            all.rows[i][1] = all.rows[i][1].text() + "*";
            elsewhere = true;
        }
    sheet.head("Every collective", sheet.table_start(all));
    sheet.table(all);
    if (elsewhere)
        sheet.words("* on the first or last stage, where another one works longest: in no sum.",
                    sheet.faint());
}

}  // namespace pentamesh::ui
