// Lists what a layer keeps for its backward, its activations one by one. docs/memory.md has the formulas and
// their sources.
#pragma once

#include "core/memory/memory.h"
#include "core/mesh/degrees.h"
#include "core/plan/software.h"

#include <algorithm>

namespace pentamesh {

// Says whose tokens a tensor has. region is a tp region's, all of the cp part's. between is between tp
// regions, a tp-th of them with sequence parallelism. dispatched are those sent to a rank's experts.
enum class Tokens : std::uint8_t { region, between, dispatched };

struct Activation {
    TensorId id = TensorId::embedding;
    Tokens tokens = Tokens::between;
    std::int64_t width = 0;        // numbers per token, before tp
    std::int64_t local_width = 0;  // after tp or etp
    double bytes_per_number = 2;
    RecomputeModules made_by;  // recomputing any of these recomputes it
    bool layer_input = false;  // full recompute keeps it
    std::string_view symbol;   // of width: "a d"
    bool of_kv_heads = false;  // tp cuts it by key-value heads, and copies it where it has more ranks
};

// Counts the tokens of one micro-batch that a rank has, by kind.
struct TokenCounts {
    double count[3];
    [[nodiscard]] double of(Tokens t) const { return count[static_cast<std::size_t>(t)]; }
};
[[nodiscard]] inline TokenCounts token_counts(const Plan& plan, const Degrees& d) {
    const Training& t = plan.training;
    const double region = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length)
                          / static_cast<double>(d.cp);
    const double top_k = plan.model.moe ? static_cast<double>(plan.model.moe->top_k) : 0;
    return {{region, d.sequence_parallel ? region / static_cast<double>(d.tp) : region,
             region * top_k * t.router_imbalance * static_cast<double>(d.etp) / static_cast<double>(d.tp)}};
}

// Holds widths in bytes: of the tensors that element-wise kernels and attention keep, and of a matrix
// product's kept input.
struct ActivationWidths {
    double wide = 2, product = 2;
};
[[nodiscard]] inline ActivationWidths activation_widths(Dtype compute) {
    const double b = bytes_of(compute);
    return {b < 2 ? 2 : b, b};
}

// Calls keep(Activation) for each tensor that the backward pass of one layer needs, in the order of the
// forward pass.
class ActivationVisitor {
  public:
    using Keep = void (*)(void* keeper, const Activation& activation);
    ActivationVisitor(const Plan& plan, const Degrees& degrees, void* keeper, Keep keep);

    void layer(const LayerType& t);
    void embedding();
    // Visits logits in the compute type and the loss's tensors from them, cut by vocabulary.
    void head();
    void mtp();

  private:
    using i64 = std::int64_t;

    void put(const Activation& a) { keep_(keeper_, a); }
    void between(TensorId id, i64 width, double bytes, std::string_view symbol, bool input = false,
                 RecomputeModules recomputed_by = {});
    void region(TensorId id, i64 width, i64 local, double bytes, std::string_view symbol,
                RecomputeModules recomputed_by = {}, bool of_kv_heads = false);
    // Visits the input of a product that tp cuts by columns.
    void product_input(TensorId id, RecomputeModules recomputed_by);
    // Ulysses hands whole heads to that many ranks.
    [[nodiscard]] i64 head_ranks() const { return head_ranks_of(layout_, d_.cp); }

    void mixer(const LayerType& t);
    void attention(const LayerType& t);
    void mla(const Mla& a, i64 heads);
    // Visits scores, softmax and their results. Unfused it follows Korthikanti et al. 2022, section 4.1, 5 a
    // s^2 b. Fused it is the output and the row's log-sum-exp in fp32 (Dao 2023, FlashAttention-2, section
    // 3.1).
    void core(i64 all_heads, i64 heads, i64 dim, std::string_view symbol);
    // `recomputed_by` names the modules that recompute the outputs of the products; `activated` those of the
    // activation.
    void mlp(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree, std::string_view symbol,
             RecomputeModules recomputed_by, RecomputeModules activated);
    void experts(const Moe& e);

    const Model& m_;
    const Training& t_;
    const Degrees& d_;
    const Layout& layout_;
    ActivationWidths w_;
    const SoftwareFacts& software_;
    void* keeper_;
    Keep keep_;
};

template <typename F>
[[nodiscard]] ActivationVisitor visitor_of(const Plan& plan, const Degrees& degrees, F& keep) {
    return {plan, degrees, &keep, [](void* keeper, const Activation& a) { (*static_cast<F*>(keeper))(a); }};
}

template <typename F>
void visit_layer(const Plan& plan, const Degrees& degrees, const LayerType& type, F&& keep) {
    visitor_of(plan, degrees, keep).layer(type);
}

// Returns the type that stands for the layers with a dense MLP, or for the MoE layers: with a pattern the one
// of most layers.
[[nodiscard]] int usual_type(const Model& model, const LayerTypes& types, bool moe);

template <typename F>
void visit_activations(const Plan& plan, const Degrees& degrees, LayerKind kind, F&& keep) {
    ActivationVisitor visitor = visitor_of(plan, degrees, keep);
    switch (kind) {
    case LayerKind::dense:
    case LayerKind::moe: {
        const LayerTypes types = layer_types(plan.model);
        visitor.layer(types[usual_type(plan.model, types, kind == LayerKind::moe)]);
        break;
    }
    case LayerKind::head: visitor.head(); break;
    case LayerKind::embedding: visitor.embedding(); break;
    case LayerKind::mtp: visitor.mtp(); break;
    }
}

[[nodiscard]] inline double bytes_of(const Activation& a, const TokenCounts& tokens) {
    return tokens.of(a.tokens) * static_cast<double>(a.local_width) * a.bytes_per_number;
}
[[nodiscard]] inline bool is_kept(const Activation& a, const RecomputeChoice& recompute,
                                  const SoftwareFacts& software) {
    if (!software.selective_keeps.empty() && recompute == RecomputeChoice(Recompute::selective)) {
        const TensorModule module = module_of(a.id);
        if (module == TensorModule::attention || module == TensorModule::norm || module == TensorModule::mlp)
            return std::ranges::find(software.selective_keeps, a.id) != software.selective_keeps.end();
    }
    return recompute.whole_layers() ? a.layer_input
                                    : !recompute.any() || !a.made_by.any_of(recompute.modules);
}

// Sums one layer's activations.
struct LayerSums {
    double all = 0;         // from forward to backward, where nothing is recomputed
    double kept = 0;        // the same of a layer that is recomputed
    double recomputed = 0;  // in addition, while that layer's backward runs
    double input = 0;       // of `all`: the layer's input
};
template <typename Visit>
[[nodiscard]] LayerSums sums_of(const Plan& plan, const Degrees& degrees, const RecomputeChoice& recompute,
                                Visit&& visit) {
    const TokenCounts tokens = token_counts(plan, degrees);
    const SoftwareFacts& software = facts_of(plan.training.software);
    LayerSums s;
    visit([&](const Activation& a) {
        const double b = bytes_of(a, tokens);
        s.all += b;
        (is_kept(a, recompute, software) ? s.kept : s.recomputed) += b;
        if (a.layer_input) s.input += b;
    });
    return s;
}
[[nodiscard]] inline LayerSums layer_sums(const Plan& plan, const Degrees& degrees, const LayerType& type) {
    return sums_of(plan, degrees, plan.training.recompute,
                   [&](auto&& keep) { visit_layer(plan, degrees, type, keep); });
}
// Sums a part that is no layer.
[[nodiscard]] inline LayerSums layer_sums(const Plan& plan, const Degrees& degrees, LayerKind kind) {
    return sums_of(plan, degrees, RecomputeChoice(),
                   [&](auto&& keep) { visit_activations(plan, degrees, kind, keep); });
}

}  // namespace pentamesh
