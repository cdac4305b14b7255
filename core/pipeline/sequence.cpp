#include "core/pipeline/sequence.h"

#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/software.h"

#include <algorithm>
#include <cmath>
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

namespace {

using When = GradientReduction;

// Sources for DeepSpeed: stage_1_and_2.py:1768. Megatron: schedules.py:814 (DistributedOptimizer),
// megatron_fsdp.py:761-767 (ZeRO-2, 3). MaxText: gradient_accumulation.py:110-164. torchtitan:
// trainer.py:880, under a pipeline PyTorch's pipelining/stage.py (REDUCE_GRAD), which other programs on FSDP
// use too. Automodel: defer_fsdp_grad_sync, config.py:318. nanotron: helpers.py:431.
When usual_reduction(const Plan& plan) {
    const bool cut = plan.layout.zero >= 2, pipeline = plan.layout.pp > 1;
    switch (plan.training.software) {
    case Software::nanotron:
    case Software::automodel: return When::step;
    case Software::torchtitan:
    case Software::torchtitan_2024:
        return !pipeline && plan.layout.zero != 1 ? When::micro_batch : When::step;
    case Software::fsdp: return cut && !pipeline ? When::micro_batch : When::step;
    case Software::megatron:
    case Software::megatron_bridge:
    case Software::megatron_bridge_2025:
    case Software::deepspeed:
    case Software::maxtext: break;
    }
    return cut ? When::micro_batch : When::step;
}

bool on_pytorch_pipelines(Software software) {
    return is_torchtitan(software) || software == Software::fsdp || software == Software::automodel;
}

// FSDP2 all-reduces the shard with every reduction unless set_requires_all_reduce says otherwise, and so do
// FSDP1's HYBRID_SHARD and XLA under MaxText; Megatron's optimizer instances
// (param_and_grad_buffer.py:701-761), Megatron-FSDP (megatron_fsdp.py:782-786) and MiCS (mics.py:411) do it
// once a step.
bool replicas_every_time(Software software) {
    return on_pytorch_pipelines(software) || software == Software::maxtext;
}

}  // namespace

GradientReduction gradient_reduction_of(const Plan& plan) {
    const Layout& l = plan.layout;
    When when = l.gradient_reduction;
    if (when == When::by_software) when = usual_reduction(plan);
    if (l.zero < 2) return when;
    if (microbatches_of(plan) <= 1) return When::micro_batch;
    return when == When::run && virtual_stages_of(l) == 1 ? When::step : when;
}

// torchtitan b5bcd76, distributed/fsdp.py:129-132 (get_fsdp_reshard_after_forward_policy): by default weights
// are let go after a forward where there is no pipeline. Automodel: parallelizer.py:685.
Reshard reshard_of(const Plan& plan) {
    if (plan.layout.reshard != Reshard::by_software) return plan.layout.reshard;
    return plan.layout.pp > 1 && on_pytorch_pipelines(plan.training.software) ? Reshard::never
                                                                              : Reshard::after_forward;
}

// PyTorch 0138610, pipelining/stage.py, backward_maybe_with_nosync: set_requires_gradient_sync(False) and
// set_reshard_after_backward(False) until the last backward. Automodel resets both where each micro-batch
// reduces (fsdp_mixin.py:282).
bool holds_gathered(const Plan& plan) {
    if (reshard_of(plan) == Reshard::never) return true;
    return plan.layout.pp > 1 && on_pytorch_pipelines(plan.training.software)
           && gradient_reduction_of(plan) != When::micro_batch;
}

bool can_reduce(GradientReduction when, const Layout& layout) {
    switch (when) {
    case When::by_software:
    case When::step: return true;
    case When::micro_batch: return layout.zero != 1;
    case When::run:
        return layout.zero >= 2 && traits_of(schedule_of(layout)).placement == StagePlacement::loop;
    }
    return true;
}

// Sources for DeepSpeed: pipe/engine.py:76. nanotron: any zero_stage above 0 is ZeRO-1 (helpers.py:409).
ReductionSupport zero_support(Software software, int zero, std::int64_t pp) {
    if (zero < 2) return ReductionSupport::runs;
    if (software == Software::nanotron) return ReductionSupport::lacks;
    return software == Software::deepspeed && pp > 1 ? ReductionSupport::refuses : ReductionSupport::runs;
}

// Megatron-FSDP's grad_reduce_every_bprop has no way to switch it off. MaxText has
// pipeline_fsdp_ag_per_repeat.
ReductionSupport reduction_support(const Plan& plan) {
    const Layout& l = plan.layout;
    const Software software = plan.training.software;
    const bool cut = l.zero >= 2, pipeline = l.pp > 1;
    const When asked = l.gradient_reduction;
    if (const ReductionSupport zero = zero_support(software, l.zero, l.pp); zero != ReductionSupport::runs)
        return zero;
    if (asked == When::run && software != Software::maxtext) return ReductionSupport::lacks;
    const bool megatron = is_megatron(software);
    if (megatron && cut && asked == When::step) return ReductionSupport::lacks;
    if (is_torchtitan(software) && !pipeline && asked == When::step && l.zero != 1)
        return ReductionSupport::lacks;
    return ReductionSupport::runs;
}

void follow_software(const Plan& own, Plan& changed) {
    When& when = changed.layout.gradient_reduction;
    if (when == When::by_software) return;
    const bool lacks = reduction_support(changed) != ReductionSupport::runs
                       && reduction_support(own) == ReductionSupport::runs;
    if (lacks || !can_reduce(when, changed.layout)) when = When::by_software;
}

bool hides_sends(const Plan& plan) {
    const Software s = plan.training.software;
    const bool megatron = is_megatron(s);
    return plan.training.overlap.pp && !(megatron && schedule_of(plan.layout) == Schedule::one_f_one_b);
}

StateRounds state_rounds(const Plan& plan) {
    const Layout& l = plan.layout;
    const double m = microbatches_or_one(plan);
    const Rounds once, every{When::micro_batch, runs_of(schedule_of(l), m)};
    StateRounds out;
    switch (gradient_reduction_of(plan)) {
    case When::micro_batch: out.reductions = every; break;
    case When::run: {
        const auto group = static_cast<double>(l.microbatch_group.value_or(l.pp));
        out.reductions = {When::run, traits_of(schedule_of(l)).in_groups ? std::ceil(m / group) : 1};
        break;
    }
    case When::by_software:
    case When::step: break;
    }
    if (replicas_every_time(plan.training.software)) out.replicas = out.reductions;
    // A backward that lets nothing go leaves all weights to the forward after it: only the forwards before a
    // stage's first backward gather, and each backward behind a forward, m + 1 times in 1F1B and GPipe.
    const bool whole = l.pp > 1 && holds_gathered(plan) && out.reductions.each != When::micro_batch;
    out.forward = whole ? once : every;
    out.backward = reshard_of(plan) == Reshard::never ? Rounds{When::step, 0} : every;
    return out;
}

ResolvedPlan::ResolvedPlan(const Plan& of, const Mesh& its_mesh, const GroupSummaries& its_groups)
    : plan(of), mesh(its_mesh), groups(its_groups), software(facts_of(of.training.software)),
      types(layer_types(of.model)), counts(count_layers(of.model, types, 0, of.model.layers)),
      microbatches(microbatches_of(of)), shape(shape_of(of, microbatches)),
      runs(runs_of(shape.schedule, static_cast<double>(std::max<std::int64_t>(microbatches, 1)))),
      degrees(degrees_of(of, its_mesh)) {}

}  // namespace pentamesh
