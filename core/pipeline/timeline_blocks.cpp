#include "core/pipeline/timeline_blocks.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

using Sums = WorkIndex::Sums;

Sums minus(const Sums& a, const Sums& b) {
    return {a.forward - b.forward, a.backward - b.backward, a.weight - b.weight};
}

Sums plus(const Sums& a, const Sums& b, double share) {
    return {a.forward + share * b.forward, a.backward + share * b.backward, a.weight + share * b.weight};
}

Sums work_of(OpKind kind, double takes) {
    switch (kind) {
    case OpKind::F: return {takes, 0, 0};
    case OpKind::B:
    case OpKind::I: return {0, takes, 0};
    case OpKind::W: return {0, 0, takes};
    case OpKind::FB: return {takes / 2, takes / 2, 0};
    }
    return {};
}

struct Row {
    const Timeline& t;
    const WorkIndex& index;
    std::size_t device, end;
    double least, most;  // time that least_px and most_px are
    double tolerance;

    // Returns the first op from `begin` on that ends after `time`.
    [[nodiscard]] std::size_t ending_after(std::size_t begin, double time) const {
        const double last = static_cast<double>(index.slices) - 1;
        auto slice = static_cast<std::size_t>(std::clamp(time / index.slice_s, 0.0, last));
        if (slice > 0 && index.begin_of(slice) > time) --slice;  // the division may round up
        const std::uint32_t* const first = &index.ending_after[device * (index.slices + 1) + slice];
        const std::size_t low = std::max<std::size_t>(begin, first[0]);
        const std::size_t high =
            slice + 1 < index.slices && index.begin_of(slice + 1) > time ? first[1] : end;
        const auto ends = t.end.begin();
        const auto found = std::upper_bound(ends + static_cast<std::ptrdiff_t>(low),
                                            ends + static_cast<std::ptrdiff_t>(std::max(low, high)), time);
        return static_cast<std::size_t>(found - ends);
    }

    [[nodiscard]] bool wide(std::size_t i) const { return t.end[i] - t.start[i] >= least; }

    [[nodiscard]] Block block(std::size_t first, std::size_t last) const {
        return {t.start[first], t.end[last], first, last,
                minus(index.before[device + last + 1], index.before[device + first])};
    }

    // Returns the work done before `time`, which op `from` or a later one runs in or after.
    [[nodiscard]] Sums work_before(std::size_t from, double time) const {
        const std::size_t i = ending_after(from, time);
        Sums sums = index.before[device + i];
        if (i == end || t.start[i] >= time) return sums;
        const double share = (time - t.start[i]) / (t.end[i] - t.start[i]);
        return plus(sums, minus(index.before[device + i + 1], sums), share);
    }

    // Returns the same for any time, as if the work within a slice were even: a good guess over many slices,
    // and one access to memory instead of several.
    [[nodiscard]] Sums about_before(double time) const {
        const double at = std::clamp(time / index.slice_s, 0.0, static_cast<double>(index.slices));
        const auto slice = std::min(static_cast<std::size_t>(at), index.slices - 1);
        const Sums* const done = &index.done[device * (index.slices + 1) + slice];
        return plus(done[0], minus(done[1], done[0]), at - static_cast<double>(slice));
    }

    // Returns true if the work from op `first` on is much the same in each quarter of the next `span`.
    [[nodiscard]] bool alike(std::size_t first, double span) const {
        const double quarter = span / 4, begin = t.start[first];
        const bool coarse = quarter >= 8 * index.slice_s;
        Sums before = coarse ? about_before(begin) : index.before[device + first], least_work{}, most_work{};
        for (int q = 1; q <= 4; ++q) {
            const double time = begin + q * quarter;
            const Sums now = coarse ? about_before(time) : work_before(first, time),
                       work = minus(now, before);
            before = now;
            if (q == 1) least_work = most_work = work;
            least_work = {std::min(least_work.forward, work.forward),
                          std::min(least_work.backward, work.backward),
                          std::min(least_work.weight, work.weight)};
            most_work = {std::max(most_work.forward, work.forward),
                         std::max(most_work.backward, work.backward),
                         std::max(most_work.weight, work.weight)};
        }
        const Sums range = minus(most_work, least_work);
        return std::max({range.forward, range.backward, range.weight}) <= tolerance * quarter;
    }

    // Earlier runs predict the next: how long it may be, in time, and how many are not worth trying.
    struct Guess {
        double span;
        int pause = 0;
    };
    // Returns the op after the last that joins `first`, which is narrow. A run is at most twice as long as
    // the one before. After a run that ended early the next few are taken short: where the work changes often
    // that saves trying every length.
    [[nodiscard]] std::size_t run_end(std::size_t first, Guess& guess) const {
        constexpr int kPause = 3;
        if (guess.pause > 0) {
            --guess.pause;
        } else {
            for (double span = std::min(most, 2 * guess.span); span > 4 * least; span /= 2) {
                const std::size_t next = ending_after(first, t.start[first] + span);
                const bool narrow = static_cast<double>(next - first) * least >= span;
                if (!narrow || !alike(first, span)) continue;
                guess.span = span;
                return next;
            }
            guess = {4 * least, kPause};
        }
        return std::max(ending_after(first, t.start[first] + least), first + 1);
    }
};

}  // namespace

void build_work_index(const Timeline& t, WorkIndex& out) {
    const std::size_t devices = t.device.size();
    out.before.resize(t.order.ops.size() + devices);
    out.slices = std::max<std::size_t>(1, t.order.ops.size() / std::max<std::size_t>(1, 2 * devices));
    out.slice_s = std::max(t.makespan, 1e-300) / static_cast<double>(out.slices);
    out.ending_after.clear();
    out.ending_after.reserve(devices * (out.slices + 1));
    out.done.clear();
    out.done.reserve(devices * (out.slices + 1));
    for (std::size_t d = 0; d < devices; ++d) {
        WorkIndex::Sums sums;
        const std::size_t row = out.ending_after.size();
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
            out.before[d + i] = sums;
            const double takes = t.end[i] - t.start[i];
            const Sums own = work_of(t.order.ops[i].kind, takes);
            while (out.ending_after.size() - row <= out.slices) {
                const double begin = out.begin_of(out.ending_after.size() - row);
                if (begin >= t.end[i]) break;
                out.ending_after.push_back(static_cast<std::uint32_t>(i));
                out.done.push_back(plus(sums, own, begin > t.start[i] ? (begin - t.start[i]) / takes : 0));
            }
            sums = plus(sums, own, 1);
        }
        out.before[d + t.order.begin[d + 1]] = sums;
        out.ending_after.resize(row + out.slices + 1, static_cast<std::uint32_t>(t.order.begin[d + 1]));
        out.done.resize(row + out.slices + 1, sums);
    }
}

void visible_blocks(const Timeline& t, const WorkIndex& index, int device, double from, double to,
                    double pixels, std::vector<Block>& out, const BlockLimits& limits) {
    out.clear();
    if (!(to > from) || !(pixels > 0)) return;
    const auto d = static_cast<std::size_t>(device);
    const double pixel = (to - from) / pixels;
    const Row row{
        t, index, d, t.order.begin[d + 1], limits.least_px * pixel, limits.most_px * pixel, limits.tolerance};
    Row::Guess guess{row.most};
    std::size_t i = row.ending_after(t.order.begin[d], from);
    while (i < row.end && t.start[i] < to) {
        const std::size_t next = row.wide(i) ? i + 1 : row.run_end(i, guess);
        out.push_back(row.block(i, next - 1));
        i = next;
    }
}

void SeenBlocks::look(std::uint64_t version, double from, double to, double pixels,
                      const BlockLimits& limits) {
    const double span = to - from, pixel = span / pixels;
    const bool same = version == version_ && limits == limits_ && std::abs(pixel - pixel_) < 1e-9 * pixel_;
    from_ = from, to_ = to;
    if (same && from >= known_from_ && to <= known_to_) return;
    known_from_ = same ? from - span / 4 : from;
    known_to_ = same ? to + span / 4 : to;
    version_ = version, limits_ = limits;
    if (!same) pixel_ = pixel;
    for (Row& row : rows_) row.known = false;
}

std::span<const Block> SeenBlocks::row(const Timeline& t, const WorkIndex& index, int device) {
    const auto d = static_cast<std::size_t>(device);
    if (d >= rows_.size()) rows_.resize(d + 1);
    Row& row = rows_[d];
    if (!row.known)
        visible_blocks(t, index, device, known_from_, known_to_, (known_to_ - known_from_) / pixel_,
                       row.blocks, limits_);
    row.known = true;
    const auto begin = std::partition_point(row.blocks.begin(), row.blocks.end(),
                                            [&](const Block& b) { return b.to <= from_; });
    const auto end =
        std::partition_point(begin, row.blocks.end(), [&](const Block& b) { return b.from < to_; });
    return std::span(row.blocks)
        .subspan(static_cast<std::size_t>(begin - row.blocks.begin()), static_cast<std::size_t>(end - begin));
}

}  // namespace pentamesh
