#include "app/tables/timeline.h"

#include "core/plan/names.h"

namespace pentamesh {

Table devices_table(const Timeline& t) {
    Table out;
    out.columns = {{"device", Shown::plain},
                   {"busy", Shown::seconds},
                   {"bubble", Shown::share, "bubble_fraction"},
                   {"idle within its span", Shown::seconds, "idle_within_span"},
                   {"micro-batches held", Shown::figure, "peak_in_flight"}};
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const DeviceTime& time = t.device[d];
        out.rows.push_back({cell(static_cast<std::int64_t>(d)), cell(time.busy),
                            cell(t.makespan > 0 ? (t.makespan - time.busy) / t.makespan : 0.0),
                            cell(time.idle_within_span()), cell(time.peak_in_flight)});
    }
    return out;
}

Table operations_table(const Timeline& t, std::size_t most) {
    Table out;
    out.columns = {{"stage", Shown::plain},   {"op"},
                   {"chunk", Shown::plain},   {"micro-batch", Shown::plain, "microbatch"},
                   {"start", Shown::seconds}, {"end", Shown::seconds}};
    out.left_out = t.order.ops.size() > most ? t.order.ops.size() - most : 0;
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1] && out.rows.size() < most; ++i) {
            const Op& op = t.order.ops[i];
            out.rows.push_back({cell(static_cast<std::int64_t>(d)), std::string(letters_of(op.kind)),
                                cell(std::int64_t{op.chunk}), cell(std::int64_t{op.microbatch}),
                                cell(t.start[i]), cell(t.end[i])});
        }
    return out;
}

}  // namespace pentamesh
