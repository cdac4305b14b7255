#include "core/timeline_blocks.h"

#include <algorithm>

namespace pentamesh {
namespace {

// First op of [begin, end) that ends after `time`.
std::size_t first_ending_after(const Timeline& t, std::size_t begin, std::size_t end, double time) {
    const auto ends = t.end.begin();
    const auto found = std::upper_bound(ends + static_cast<std::ptrdiff_t>(begin),
                                        ends + static_cast<std::ptrdiff_t>(end), time);
    return static_cast<std::size_t>(found - ends);
}

Block block_of(const Timeline& t, const WorkIndex& index, std::size_t device, std::size_t first,
               std::size_t last) {
    Block b{t.start[first], t.end[last], first, last, {}};
    const WorkIndex::Sums &before = index.before[device + first], &after = index.before[device + last + 1];
    b.work = {after.forward - before.forward, after.backward - before.backward, after.weight - before.weight};
    return b;
}

}  // namespace

void build_work_index(const Timeline& t, WorkIndex& out) {
    out.before.resize(t.order.ops.size() + t.device.size());
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        WorkIndex::Sums sums;
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            out.before[d + i] = sums;
            const double takes = t.end[i] - t.start[i];
            switch (t.order.ops[i].kind) {
            case OpKind::F: sums.forward += takes; break;
            case OpKind::B:
            case OpKind::I: sums.backward += takes; break;
            case OpKind::W: sums.weight += takes; break;
            case OpKind::FB:
                sums.forward += takes / 2;
                sums.backward += takes / 2;
                break;
            }
        }
        out.before[d + t.order.begin[d + 1]] = sums;
    }
}

void visible_blocks(const Timeline& t, const WorkIndex& index, int device, double from, double to,
                    double pixels, std::vector<Block>& out, double least_px) {
    out.clear();
    const auto d = static_cast<std::size_t>(device);
    const std::size_t end = t.order.begin[d + 1];
    if (!(to > from) || !(pixels > 0)) return;
    const double least = least_px * (to - from) / pixels;
    const auto wide = [&](std::size_t i) { return t.end[i] - t.start[i] >= least; };
    std::size_t i = first_ending_after(t, t.order.begin[d], end, from);
    while (i < end && t.start[i] < to) {
        if (wide(i)) {
            out.push_back(block_of(t, index, d, i, i));
            ++i;
            continue;
        }
        // Ops that end within the column; what is wide begins a block of its own, and can only be the one
        // after, since a wide op does not end within a column.
        const std::size_t next = std::max(first_ending_after(t, i, end, t.start[i] + least), i + 1);
        out.push_back(block_of(t, index, d, i, next - 1));
        i = next;
    }
}

}  // namespace pentamesh
