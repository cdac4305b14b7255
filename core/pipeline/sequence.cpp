#include "core/pipeline/sequence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pentamesh {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::size_t kOwnLanes = 4;  // of a chunk: F, B, I, W. Behind those of all chunks stand the pairs'

void link_chunks(const ScheduleShape& shape, std::vector<ChunkLink>& out) {
    const int chunks = chunks_of(shape), p = shape.devices;
    const bool two_copies = traits_of(shape.schedule).placement == StagePlacement::two_copies;
    const int stages = two_copies ? p : p * chunks;
    out.assign(static_cast<std::size_t>(p * chunks), {});
    // A copy's chunk never changes along the way; otherwise each stage is one chunk of one device.
    const auto neighbour = [&](int chunk, int stage, std::int32_t& index, std::int32_t& device) {
        if (stage < 0 || stage >= stages) return;
        for (int c = two_copies ? chunk : 0; c < (two_copies ? chunk + 1 : chunks); ++c) {
            device = device_of(shape, stage, c);
            if (device < 0 || device >= p) continue;
            index = device * chunks + c;
            return;
        }
    };
    for (int d = 0; d < p; ++d)
        for (int c = 0; c < chunks; ++c) {
            ChunkLink& l = out[static_cast<std::size_t>(d * chunks + c)];
            const int stage = stage_of(shape, d, c);
            neighbour(c, stage - 1, l.before, l.before_device);
            neighbour(c, stage + 1, l.after, l.after_device);
        }
}

void list_lanes(std::size_t devices, std::size_t chunks, bool pairs, std::vector<Lane>& out) {
    constexpr OpKind kinds[kOwnLanes]{OpKind::F, OpKind::B, OpKind::I, OpKind::W};
    out.clear();
    const auto put = [&](OpKind kind, std::size_t d, std::size_t c, std::size_t back) {
        out.push_back({kind, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(d * chunks + c),
                       static_cast<std::uint32_t>(d * chunks + back), 0});
    };
    for (std::size_t d = 0; d < devices; ++d) {
        for (std::size_t c = 0; c < chunks; ++c)
            for (const OpKind kind : kinds) put(kind, d, c, c);
        for (std::size_t c = 0; pairs && c < chunks; ++c)
            for (std::size_t back = 0; back < chunks; ++back) put(OpKind::FB, d, c, back);
    }
}

void find_rows(std::size_t chunks, std::size_t lanes, Sequence& out) {
    const std::size_t each = out.forward_op.size() / out.link.size();
    out.rows.resize(out.link.size());
    for (std::size_t i = 0; i < out.link.size(); ++i) {
        const ChunkLink& l = out.link[i];
        const auto row = [&](std::vector<std::int32_t>& table, std::size_t chunk) {
            return table.data() + chunk * each;
        };
        Sequence::Rows& c = out.rows[i];
        c.forward = row(out.forward_op, i), c.backward = row(out.backward_op, i);
        c.before = l.before < 0 ? nullptr : row(out.forward_op, static_cast<std::size_t>(l.before));
        // The last stage's input is its own forward.
        c.after = l.after < 0 ? c.forward : row(out.backward_op, static_cast<std::size_t>(l.after));
        const std::size_t own = i / chunks;
        c.before_shift = slot_shift(l.before < 0 ? own : static_cast<std::size_t>(l.before_device));
        c.after_shift = slot_shift(l.after < 0 ? own : static_cast<std::size_t>(l.after_device));
        c.lane = static_cast<std::uint32_t>(i / chunks * lanes + i % chunks * kOwnLanes);
    }
}

// Each device hands out its ops until one lacks an input. Forwards go one way along the devices and backwards
// the other, so the devices are asked in both directions by turns: in any schedule, an op is examined once or
// a few times.
class Walk {
  public:
    Walk(const Order& order, std::size_t chunks, std::size_t lanes, Sequence& out)
        : order_(order), chunks_(chunks), lanes_(lanes), out_(out), turn_(out.turn.data()),
          back_(out.back_input.empty() ? nullptr : out.back_input.data()) {}

    // Returns the number of ops of the list.
    std::size_t go() {
        const std::size_t p = out_.device.size();
        // Devices far from each other take turns: neighbours in the list then rarely wait for one another,
        // and a processor times several of them at once.
        const std::size_t apart = (p + kAbreast - 1) / kAbreast;
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t k = 0; k < apart; ++k)
                for (std::size_t d = k; d < p; d += apart) moved = run(d) || moved;
            for (std::size_t k = apart; k-- > 0;)
                for (std::size_t d = k; d < p; d += apart) moved = run(d) || moved;
        }
        return static_cast<std::size_t>(turn_ - out_.turn.data());
    }

  private:
    static constexpr std::size_t kAbreast = 8;

    // Finds the slot of the op that makes an input; the slot stays as it is where no input is needed. Returns
    // null where it is known, else the entry that is waited for.
    [[nodiscard]] static const std::int32_t* find(const std::int32_t* row, std::int32_t shift,
                                                  std::int32_t microbatch, std::int32_t& slot) {
        if (!row) return nullptr;
        slot = row[microbatch] + shift;
        return row[microbatch] < 0 ? row + microbatch : nullptr;
    }

    // Returns true if it had ops to hand out.
    bool run(std::size_t d) {
        Sequence::Device& device = out_.device[d];
        Sequence::Progress& progress = out_.progress[d];
        if (progress.waits_for && *progress.waits_for < 0) return false;
        const std::size_t first = order_.begin[d], from = first + device.ops, stop = order_.begin[d + 1];
        const std::int32_t shift = slot_shift(d);
        const Sequence::Rows* const rows = &out_.rows[d * chunks_];
        const Op* const ops = order_.ops.data();
        Turn* turn = turn_;
        int held = progress.held, most = device.most_held;
        const std::int32_t* waits_for = nullptr;
        std::size_t i = from;
        for (; i < stop; ++i) {
            const Op op = ops[i];
            const Sequence::Rows& c = rows[op.chunk];
            const auto own = static_cast<std::int32_t>(i);
            const std::int32_t slot = own + shift;
            std::int32_t input = slot - 1, gradient = slot - 1;
            std::uint32_t lane = c.lane;
            if (op.kind == OpKind::F) {
                if ((waits_for = find(c.before, c.before_shift, op.microbatch, input))) break;
                c.forward[op.microbatch] = own;
                most = std::max(most, ++held);
            } else if (op.kind == OpKind::W) {
                lane += 3;
                --held;
            } else if (op.kind != OpKind::FB) {
                if ((waits_for = find(c.after, c.after_shift, op.microbatch, input))) break;
                c.backward[op.microbatch] = own;
                const bool whole = op.kind == OpKind::B;
                lane += whole ? 1 : 2;
                held -= whole ? 1 : 0;
            } else {
                const Sequence::Rows& back = rows[op.backward_chunk];
                if ((waits_for = find(c.before, c.before_shift, op.microbatch, input))) break;
                waits_for = find(back.after, back.after_shift, op.backward_microbatch, gradient);
                if (waits_for) break;
                c.forward[op.microbatch] = own;
                back.backward[op.backward_microbatch] = own;
                most = std::max(most, held + 1);
                lane = static_cast<std::uint32_t>(d * lanes_ + chunks_ * (kOwnLanes + op.chunk)
                                                  + op.backward_chunk);
            }
            *turn++ = {slot, input, lane};
            if (back_) *back_++ = gradient;
            ++out_.lane[lane].ops;
        }
        turn_ = turn;
        progress = {waits_for ? waits_for : &kThrough, held};
        device = {i - first, most};
        return i != from;
    }

    static constexpr std::int32_t kThrough =
        kNone;  // stands for the input of a device that has handed out all of its ops

    const Order& order_;
    const std::size_t chunks_, lanes_;
    Sequence& out_;
    Turn* turn_;
    std::int32_t* back_;  // null: the schedule has no pairs
};

}  // namespace

void Sequence::clear() {
    shape = {};
    iterations = 0;
    link.clear();
    forward_op.clear();
    backward_op.clear();
    lane.clear();
    turn.clear();
    back_input.clear();
    device.clear();
    rows.clear();
    progress.clear();
}

void find_sequence(const ScheduleShape& shape, int iterations, const Order& order, Sequence& out) {
    const auto p = static_cast<std::size_t>(shape.devices),
               chunks = static_cast<std::size_t>(chunks_of(shape));
    const auto each = static_cast<std::size_t>(std::int64_t{shape.microbatches} * iterations);
    const bool pairs = traits_of(shape.schedule).overlaps_pairs;
    link_chunks(shape, out.link);
    out.forward_op.assign(p * chunks * each, kNone);
    out.backward_op.assign(p * chunks * each, kNone);
    list_lanes(p, chunks, pairs, out.lane);
    out.turn.resize(order.ops.size());
    out.back_input.resize(pairs ? order.ops.size() : 0);
    out.device.assign(p, {});
    out.progress.assign(p, {});
    const std::size_t lanes = out.lane.size() / p;
    find_rows(chunks, lanes, out);
    const std::size_t ops = Walk(order, chunks, lanes, out).go();
    out.turn.resize(ops);
    out.back_input.resize(pairs ? ops : 0);
    out.shape = shape;
    out.iterations = iterations;
}

}  // namespace pentamesh
