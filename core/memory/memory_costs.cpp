#include "core/memory/memory_costs.h"

#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/one_stage.h"

namespace pentamesh {
namespace {

// fp8 and fp4 are storage types of the large matrices only; router, embedding, head, norms and biases stay
// bf16 (TransformerEngine fp8 primary weights).
double small_bytes(Dtype parameters) {
    return std::max(bytes_of(parameters), 2.0);
}

StateBytes one_copy(const Training& t) {
    const double small = small_bytes(t.parameters);
    return {bytes_of(t.parameters), small, small};
}

// bitsandbytes keeps one fp32 scale per block of 256 numbers of an 8-bit state (Dettmers et al. 2022).
constexpr double kBlock = 256;

struct StateCount {
    double matrix = 0, other = 0;  // states per number of a matrix and of anything else
    double bytes = 0;              // of one
};
StateCount states_of(const Training& t) {
    const double b = bytes_of(t.optimizer_state);
    switch (t.optimizer) {
    case Optimizer::adamw: return {2, 2, b};
    case Optimizer::adamw_8bit: return {2, 2, 1 + bytes_of(Dtype::fp32) / kBlock};
    case Optimizer::sgd_momentum: return {1, 1, b};
    // Matrices have only momentum, the rest has AdamW (Jordan et al. 2024; Liu et al. 2025, Moonlight).
    case Optimizer::muon: return {1, 2, b};
    }
    return {};
}

// Copies of a matrix that is stored in fp8. A product wants its operands along what it sums over, and the
// backward sums over the other dimension: with a scale a tensor the same numbers serve where products take
// any layout, else they are kept transposed too; with a scale a row or block they are others each way
// (TransformerEngine, float8_tensor.py, mxfp8_tensor.py: _transpose, _columnwise_data). ZeRO-3 makes the
// transposed ones of what it gathered (Megatron-FSDP, keep_fp8_transpose_cache).
double fp8_copies(const Plan& plan) {
    if (plan.training.fp8_recipe != Fp8Recipe::tensorwise) return 2;
    return plan.cluster.gpu.fp8_any_layout || plan.layout.zero >= 3 ? 1 : 2;
}

}  // namespace

StateBytes parameter_bytes(const Plan& plan) {
    const StateBytes one = one_copy(plan.training);
    const double copies = plan.training.parameters == Dtype::fp8 ? fp8_copies(plan) : 1;
    return {copies * one.linear, one.router, one.other};
}

StateBytes gradient_bytes(const Training& t) {
    const double b = bytes_of(t.gradients);
    return {b, b, b};
}

// A master copy no wider than the parameters is not kept: the parameters serve.
StateBytes master_bytes(const Training& t) {
    const StateBytes p = one_copy(t);
    const double master = bytes_of(t.master_weights);
    const auto kept = [&](double parameter) { return master > parameter ? master : 0; };
    return {kept(p.linear), kept(p.router), kept(p.other)};
}

StateBytes optimizer_bytes(const Training& t) {
    const StateCount s = states_of(t);
    const StateBytes m = master_bytes(t);
    return {s.matrix * s.bytes + m.linear, s.matrix * s.bytes + m.router, s.other * s.bytes + m.other};
}

double gradient_copy_bytes(const Plan& plan, const StageNumbers& numbers) {
    const Training& t = plan.training;
    const bool copies = plan.layout.zero <= 1 && bytes_of(t.gradients) > 2 && bytes_of(t.parameters) <= 2;
    return copies ? facts_of(t.software).gradient_copy_bytes * (numbers.dense.all() + numbers.experts.all())
                  : 0;
}

StateShards shards_of(const Plan& plan, const Degrees& degrees) {
    StateShards s;
    s.copies = parameter_copies(schedule_of(plan.layout));
    const int zero = plan.layout.zero;
    const GradientReduction when = gradient_reduction_of(plan);
    if (when == GradientReduction::run) s.in_a_run = 1 / static_cast<double>(virtual_stages_of(plan.layout));
    const std::int64_t shard[2] = {degrees.dense_shard, degrees.expert_shard};
    for (int k = 0; k < 2; ++k) {
        if (zero >= 3) s.parameter[k] = shard[k];
        if (zero >= 2 && when != GradientReduction::step) s.gradient[k] = shard[k];
        if (zero >= 1) s.optimizer[k] = shard[k];
        s.optimizer[k] *= s.copies;
    }
    return s;
}

MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees) {
    const LayerTypes types = layer_types(plan.model);
    PartsByType parts;
    list_parts(plan, degrees, types, parts);
    return memory_costs(plan, degrees, types, held_numbers(plan.model, types, degrees), parts);
}

MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees, const LayerTypes& types,
                         const HeldNumbers& held, const PartsByType& parts) {
    MemoryCosts c;
    c.degrees = degrees;
    c.types = types;
    c.software = &facts_of(plan.training.software);
    c.held = held;
    c.parameter = parameter_bytes(plan);
    c.gradient = gradient_bytes(plan.training);
    c.optimizer = optimizer_bytes(plan.training);
    c.shards = shards_of(plan, degrees);
    for (int t = 0; t < types.size(); ++t) c.layer.push_back(layer_sums(plan, degrees, parts[t].kept));
    c.head = layer_sums(plan, degrees, ModelEnd::head);
    c.embedding = layer_sums(plan, degrees, ModelEnd::embedding);
    if (plan.model.mtp_layers > 0) c.mtp = layer_sums(plan, degrees, ModelEnd::mtp);
    c.shared = shared_buffers(plan, degrees, parts);
    return c;
}

double head_in_flight(Schedule schedule, double stage_in_flight) {
    return traits_of(schedule).head_held == HeadHeld::all ? stage_in_flight : std::min(stage_in_flight, 1.0);
}

}  // namespace pentamesh
