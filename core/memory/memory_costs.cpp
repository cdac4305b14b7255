#include "core/memory/memory_costs.h"

namespace pentamesh {
namespace {

// fp8 and fp4 are storage types of the large matrices only; router, embedding, head, norms and biases stay
// bf16 (TransformerEngine fp8 primary weights).
double small_bytes(Dtype parameters) {
    return std::max(bytes_of(parameters), 2.0);
}

// A master copy no wider than the parameters is not kept: the parameters serve.
double master_bytes(const Training& t, double parameter) {
    const double master = bytes_of(t.master_weights);
    return master > parameter ? master : 0;
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
    // Momentum alone for matrices, AdamW for the rest (Jordan et al. 2024; Liu et al. 2025, Moonlight).
    case Optimizer::muon: return {1, 2, b};
    }
    return {};
}

}  // namespace

StateBytes parameter_bytes(const Training& t) {
    const double b = bytes_of(t.parameters), small = small_bytes(t.parameters);
    return {b, small, small};
}

StateBytes gradient_bytes(const Training& t) {
    const double b = bytes_of(t.gradients);
    return {b, b, b};
}

StateBytes optimizer_bytes(const Training& t) {
    const StateCount s = states_of(t);
    const StateBytes p = parameter_bytes(t);
    return {s.matrix * s.bytes + master_bytes(t, p.linear), s.matrix * s.bytes + master_bytes(t, p.router),
            s.other * s.bytes + master_bytes(t, p.other)};
}

MemoryCosts memory_costs(const Plan& plan, const Degrees& degrees) {
    MemoryCosts c;
    c.degrees = degrees;
    c.held = held_numbers(plan.model, degrees);
    c.parameter = parameter_bytes(plan.training);
    c.gradient = gradient_bytes(plan.training);
    c.optimizer = optimizer_bytes(plan.training);
    const int zero = plan.layout.zero;
    const std::int64_t shard[2] = {degrees.dense_shard, degrees.expert_shard};
    for (int k = 0; k < 2; ++k) {
        if (zero >= 3) c.parameter_shard[k] = shard[k];
        if (zero >= 2) c.gradient_shard[k] = shard[k];
        if (zero >= 1) c.optimizer_shard[k] = shard[k];
    }
    // DualPipe's two copies of a stage lie on two devices, which reduce their gradients and share one
    // optimizer state: each keeps half.
    c.copies = parameter_copies(schedule_shape(plan, 1));
    for (std::int64_t& n : c.optimizer_shard) n *= c.copies;

    const bool some_dense = moe_layers(plan.model) < plan.model.layers;
    if (some_dense || !plan.model.moe) c.dense = layer_sums(plan, degrees, LayerKind::dense);
    if (plan.model.moe) c.moe = layer_sums(plan, degrees, LayerKind::moe);
    c.head = layer_sums(plan, degrees, LayerKind::head);
    c.embedding = layer_sums(plan, degrees, LayerKind::embedding);
    if (plan.model.mtp_layers > 0) c.mtp = layer_sums(plan, degrees, LayerKind::mtp);
    return c;
}

StageNumbers stage_numbers(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage) {
    const HeldNumbers& h = costs.held;
    const auto mtp = static_cast<double>(stage.mtp_layers), layers = static_cast<double>(stage.layers);
    const auto moe = static_cast<double>(stage.moe_layers) + (plan.model.moe ? mtp : 0);
    StageNumbers n;
    n.dense.add(h.at(Place::every_layer), layers + mtp)
        .add(h.at(Place::dense_layer), layers + mtp - moe)
        .add(h.at(Place::moe_layer), moe)
        .add(h.at(Place::mtp), mtp);
    n.experts.add(h.experts, moe);
    if (stage.embedding) n.dense.add(h.at(Place::embedding), 1);
    if (stage.head) n.dense.add(h.at(Place::head), 1);
    // A tied head is the embedding: a stage with a head but no embedding keeps a copy of it (Megatron-LM
    // embedding group), and so does one with an MTP layer, which embeds tokens.
    const bool needs_embedding = stage.head && (plan.model.tied_embeddings || stage.mtp_layers > 0);
    if (needs_embedding && !stage.embedding) n.dense.other += h.word_embedding;
    return n;
}

double head_in_flight(Schedule schedule, double stage_in_flight) {
    switch (schedule) {
    case Schedule::gpipe:
    case Schedule::looped_bfs:
    case Schedule::zb_h1:
    case Schedule::zb_h2: return stage_in_flight;
    case Schedule::one_f_one_b:
    case Schedule::interleaved:
    case Schedule::zb_v:
    case Schedule::dualpipe:
    case Schedule::dualpipev: return std::min(stage_in_flight, 1.0);
    }
    return 1;
}

}  // namespace pentamesh
