// Checks tokens, micro-batches and number formats: if the sequence can be cut, the batch divides, the
// schedule accepts it, the GPU can compute in that type.
#include "core/rules/rules.h"

#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <algorithm>
#include <numeric>

namespace pentamesh {
namespace {

// Returns the unit of which the sequence must be a multiple. Causal masks are balanced by giving each cp rank
// two chunks, one from either end (Megatron-LM, Llama 3): 2 cp; ulysses cuts plainly. Sequence parallelism
// cuts by tp as well.
std::int64_t sequence_unit(const Layout& l) {
    const std::int64_t halves = l.cp == 1 ? 1 : l.cp_comm == CpComm::ulysses ? l.cp : 2 * l.cp;
    return l.sequence_parallel ? std::lcm(halves, l.tp * l.cp) : halves;
}

// Rounds the sequence to the unit, or lowers cp, or gives up sequence parallelism, the first of these that is
// possible.
void fit_sequence(Plan& q) {
    Layout& l = q.layout;
    std::int64_t& s = q.training.sequence_length;
    while (l.cp > 1 && sequence_unit(l) > s) l.cp = largest_divisor(l.cp, l.cp - 1);
    if (sequence_unit(l) > s) l.sequence_parallel = false;
    const std::int64_t unit = sequence_unit(l), down = s / unit * unit, up = down + unit;
    const bool limited = q.model.positions == Positions::learned && q.model.max_positions > 0;
    const bool may_grow = !limited || up <= q.model.max_positions;
    if (down != s) s = may_grow && up - s < s - down ? up : down;
}

void check_positions(Rules& r) {
    const Model& m = r.plan.model;
    const std::int64_t s = r.plan.training.sequence_length;
    if (m.positions != Positions::learned || m.max_positions < 1 || s <= m.max_positions) return;
    Problem& p =
        r.error(Rule::arithmetic, ProblemCode::sequence_exceeds_positions, "/training/sequence_length");
    if (!r.messages) return;
    p.message =
        sentence("sequence_length = ", s, ", but the model has learned ", m.max_positions, " positions.");
    p.fix = fix_by(r.plan, [&](Plan& q) { q.training.sequence_length = m.max_positions; });
}

void check_ulysses(Rules& r) {
    const Layout& l = r.plan.layout;
    if (l.cp == 1 || l.cp_comm != CpComm::ulysses || r.plan.model.heads % (l.tp * l.cp) == 0) return;
    Problem& p = r.error(Rule::arithmetic, ProblemCode::ulysses_heads, "/layout/cp");
    if (!r.messages) return;
    p.message = sentence("Ulysses hands each rank whole heads: ", r.plan.model.heads,
                         " heads do not divide by tp × cp = ", l.tp * l.cp, ". The ring has no such limit.");
    p.fix = {{"/layout/cp_comm", std::string(name_of(CpComm::ring))}};
}

// Sets the values that the schedule asks for, or takes the plain one where the model has too few layers for
// it.
void satisfy_schedule(Plan& q, const Refusal& why, std::int64_t sequences) {
    Layout& l = q.layout;
    if (why.microbatches > 0) {
        q.training.global_batch = why.microbatches * sequences;
    } else if (why.group > 0) {
        l.microbatch_group = why.group;
    } else if (why.chunks > 0 && why.chunks * l.pp <= q.model.layers) {
        l.virtual_stages = why.chunks;
        l.stage_layers.clear();
    } else {
        if (l.virtual_stages != 1) l.stage_layers.clear();
        l.schedule = usual_schedule(1);
        l.virtual_stages = 1;
    }
}

void check_schedule(Rules& r, std::int64_t sequences) {
    const ScheduleShape& shape = r.resolved.shape;
    if (accepts(shape)) return;
    Problem& p = r.error(Rule::schedule, ProblemCode::schedule_refuses, "/layout/schedule");
    if (!r.messages) return;
    const Refusal why = refuse(shape);
    p.message = why.message;
    if (!why.pointer.empty()) p.pointer = why.pointer;
    p.fix = fix_by(r.plan, [&](Plan& q) { satisfy_schedule(q, why, sequences); });
}

double flops_of(const Flops& f, Dtype t) {
    switch (t) {
    case Dtype::bf16: return f.bf16;
    case Dtype::fp16: return f.fp16;
    case Dtype::fp8: return f.fp8;
    case Dtype::fp4: return f.fp4;
    case Dtype::tf32: return f.tf32;
    case Dtype::fp32: return f.bf16;  // runs on the vector units of every GPU
    }
    return 0;
}

}  // namespace

void check_sequence(Rules& r) {
    check_positions(r);
    check_ulysses(r);
    const Layout& l = r.plan.layout;
    const std::int64_t s = r.plan.training.sequence_length;
    const std::int64_t unit = sequence_unit(l);
    if (s % unit == 0) return;
    Problem& p =
        r.error(Rule::arithmetic, ProblemCode::sequence_does_not_divide, "/training/sequence_length");
    if (!r.messages) return;
    const std::string_view why = l.cp == 1 ? "sequence parallelism cuts it by tp"
                                 : l.cp_comm == CpComm::ulysses
                                     ? "cp cuts it"
                                     : "each cp rank holds one chunk from either end";
    p.message = sentence(
        "sequence_length = ", s, " is not a multiple of ", unit, " (tp ", l.tp, ", cp ", l.cp, "): ", why,
        l.cp > 1 && l.sequence_parallel && l.tp > 1 ? ", sequence parallelism cuts that by tp" : "", ".");
    p.fix = fix_by(r.plan, fit_sequence);
}

void check_batch(Rules& r) {
    const Training& t = r.plan.training;
    const std::int64_t dp = data_parallel(r.plan);
    // The product is the sequences of one micro-batch on every replica. Both are bounded where they matter:
    // dp by the world.
    const std::int64_t sequences = t.micro_batch > kMaxWorld ? 0 : t.micro_batch * dp;
    if (sequences == 0 || t.global_batch % sequences != 0) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::batch_does_not_divide, "/training/global_batch");
        if (!r.messages) return;
        p.message =
            sentence("global_batch = ", t.global_batch, " sequences is not a multiple of micro_batch ",
                     t.micro_batch, " × ", dp, " data-parallel replicas.");
        p.fix = fix_by(r.plan, [&](Plan& q) {
            if (sequences == 0) q.training.micro_batch = 1;
            const std::int64_t each = sequences == 0 ? dp : sequences;
            const std::int64_t nearest = std::max<std::int64_t>(1, (t.global_batch + each / 2) / each);
            q.training.global_batch = std::min(nearest, kMaxWorld) * each;
        });
        return;
    }
    if (t.global_batch / sequences > kMaxWorld) {
        Problem& p = r.error(Rule::arithmetic, ProblemCode::too_many_microbatches, "/training/global_batch");
        if (!r.messages) return;
        p.message = sentence("global_batch = ", t.global_batch, " makes ", t.global_batch / sequences,
                             " micro-batches per step, more than ", kMaxWorld, ".");
        // It is half, so that a schedule which rounds up to whole groups still finds room.
        p.fix = {{"/training/global_batch", kMaxWorld / 2 * sequences}};
        return;
    }
    check_schedule(r, sequences);
}

void check_precision(Rules& r) {
    const Flops& f = r.plan.cluster.gpu.flops;
    const Dtype t = r.plan.training.compute;
    if (f.bf16 <= 0 || flops_of(f, t) > 0) return;
    Problem& p = r.error(Rule::hardware, ProblemCode::compute_type_unsupported, "/training/compute");
    if (!r.messages) return;
    p.message = sentence(r.plan.cluster.gpu.name, " has no ", name_of(t), " matrix units; bf16 it has.");
    p.fix = {{"/training/compute", std::string(name_of(Dtype::bf16))}};
}

}  // namespace pentamesh
