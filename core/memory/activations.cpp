#include "core/memory/activations.h"

#include <algorithm>

namespace pentamesh {
namespace {

using i64 = std::int64_t;

void list_embedding(const Plan& plan, KeptList& out) {
    out.push_back({TensorId::embedding_tokens, Tokens::region, 1, 1, 8, {}, false});
    const i64 h = plan.model.hidden;
    if (plan.training.dropout)
        out.push_back({TensorId::embedding_dropout_mask, Tokens::between, h, h, 1, {}, false});
}

// Lists logits in the compute type and the loss's tensors from them, cut by vocabulary.
void list_head(const Plan& plan, const Degrees& d, double wide, KeptList& out) {
    const i64 v = local_vocab(plan.model.vocab, d.vocab_multiple, d.tp), padded = v * d.tp;
    const i64 h = plan.model.hidden;
    for (const TensorId id : {TensorId::norm_final_input, TensorId::head_input})
        out.push_back({id, Tokens::between, h, h, wide, {}, false});
    const SoftwareFacts& software = facts_of(plan.training.software);
    const double loss = d.tp > 1 ? software.loss_bytes_cut : software.loss_bytes;
    const auto logits = [&](TensorId id, double bytes) {
        out.push_back({id, Tokens::region, padded, v, bytes, {}, false});
    };
    logits(TensorId::head_logits, std::min(wide, loss));
    if (loss > wide) logits(TensorId::head_loss, loss - wide);
}

void list_mtp(const Plan& plan, const ActivationWidths& w, KeptList& out) {
    const i64 h = plan.model.hidden, both = saturating_product(2, h);
    for (const TensorId id : {TensorId::norm_mtp_embedding_input, TensorId::norm_mtp_hidden_input})
        out.push_back({id, Tokens::between, h, h, w.wide, {}, false});
    out.push_back({TensorId::mtp_projection_input, Tokens::between, both, both, w.product, {}, false});
}

LayerSums sums_of(const Plan& plan, const Degrees& degrees, const RecomputeChoice& recompute,
                  const KeptList& kept) {
    const TokenCounts tokens = token_counts(plan, degrees);
    const SoftwareFacts& software = facts_of(plan.training.software);
    LayerSums s;
    for (const Activation& a : kept) {
        const double b = bytes_of(a, tokens);
        s.all += b;
        (is_kept(a, recompute, software) ? s.kept : s.recomputed) += b;
        if (a.layer_input) s.input += b;
    }
    return s;
}

}  // namespace

void list_kept(const Plan& plan, const Degrees& degrees, ModelEnd end, KeptList& out) {
    const ActivationWidths widths = activation_widths(plan.training.compute);
    switch (end) {
    case ModelEnd::head: list_head(plan, degrees, widths.wide, out); break;
    case ModelEnd::embedding: list_embedding(plan, out); break;
    case ModelEnd::mtp: list_mtp(plan, widths, out); break;
    }
}

LayerSums layer_sums(const Plan& plan, const Degrees& degrees, const KeptList& kept) {
    return sums_of(plan, degrees, plan.training.recompute, kept);
}

LayerSums layer_sums(const Plan& plan, const Degrees& degrees, ModelEnd end) {
    KeptList kept;
    list_kept(plan, degrees, end, kept);
    return sums_of(plan, degrees, RecomputeChoice(), kept);
}

}  // namespace pentamesh
