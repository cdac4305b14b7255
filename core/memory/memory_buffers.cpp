// Lists a framework's memory other than model state and activations, each part with a low, a middle and a
// high.
#include "core/memory/memory_costs.h"
#include "core/pipeline/gradient_reduction.h"

namespace pentamesh {
namespace {

BufferRange scaled(const MeasuredRange& r, double by) {
    return {whole(r.low * by), whole(r.mid * by), whole(r.high * by)};
}

// A value that the plan itself states is no range.
MeasuredRange said_or(double bytes, const MeasuredRange& measured) {
    return bytes > 0 ? MeasuredRange{bytes, bytes, bytes} : measured;
}

// Counts keys and values that context parallelism brings in: in a ring the next block's in addition to this
// one's (Liu et al. 2023), the whole sequence's when gathered (Grattafiori et al. 2024), the heads exchanged.
BufferRange context_parallel(const Plan& plan, const Degrees& d, const PartsByType& parts) {
    if (d.cp <= 1) return {};
    double local = 0;
    const TokenCounts tokens = token_counts(plan, d);
    for (const LayerParts& layer : parts.type) {
        double own = 0;
        for (const Activation& a : layer.kept)
            if (a.id == TensorId::attention_k || a.id == TensorId::attention_v) own += bytes_of(a, tokens);
        local = std::max(local, own);
    }
    switch (plan.layout.cp_comm) {
    case CpComm::ring: return {whole(local), whole(2 * local), whole(4 * local)};
    case CpComm::allgather: {
        const double all = local * static_cast<double>(d.cp);
        return {whole(all), whole(all), whole(2 * all)};
    }
    case CpComm::ulysses: return {whole(local), whole(local), whole(2 * local)};
    // It has the exchange of the inner groups, and the next block in addition.
    case CpComm::ulysses_ring: return {whole(2 * local), whole(3 * local), whole(6 * local)};
    }
    return {};
}

BufferRange dispatch(const Plan& plan, const Degrees& d) {
    if (!plan.model.moe || d.ep <= 1) return {};
    const double wide = activation_widths(plan.training.compute).wide;
    const Moe& e = *plan.model.moe;
    const auto width = static_cast<double>(e.latent > 0 ? e.latent : plan.model.hidden);
    if (plan.layout.ep_comm == EpComm::allgather) {
        // These are the tokens of all ranks of the group, gathered, and as many outputs before they are
        // summed.
        const double all = token_counts(plan, d).of(Tokens::region) / static_cast<double>(d.tp)
                           * static_cast<double>(d.ep) * static_cast<double>(d.etp) * width * wide;
        return {whole(all), whole(2 * all), whole(2 * all)};
    }
    const double tokens = token_counts(plan, d).of(Tokens::dispatched) * width;
    return {whole(tokens * wide), whole(tokens * wide), whole(2 * tokens * wide)};
}

// Returns the numbers of a tensor of the hidden width between two tensor-parallel regions, for one
// micro-batch.
double hidden_tokens(const Plan& plan, const Degrees& d) {
    return token_counts(plan, d).of(Tokens::between) * static_cast<double>(plan.model.hidden);
}

// Returns the recomputed bytes of one layer, or of the layers of a unit, whose inputs are recomputed except
// for the first.
double recomputed(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    double one = 0, recomputed = 0;
    c.each_type(s.recomputed, [&](double layers, const LayerSums& sums) {
        one = std::max(one, sums.recomputed);
        recomputed += layers;
    });
    const auto unit =
        std::clamp(static_cast<double>(plan.training.recompute.unit()), 1.0, std::max(recomputed, 1.0));
    return unit * one + (unit - 1) * c.layer_input();
}

// Activations on their way to host memory or back: what two layers keep, since one goes or comes while the
// next is computed (TransformerEngine, cpu_offload.py: a group's tensors are let go where the next group's
// forward ends, and brought in one group ahead); one at least, and never more than goes.
BufferRange on_the_way(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    const std::int64_t away = std::min(plan.training.offload.activations_layers, s.layers);
    if (away <= 0) return {};
    double layer = 0;
    c.each_type(s.once(), [&](double, const LayerSums& one) { layer = std::max(layer, one.all); });
    c.each_type(s.recomputed, [&](double, const LayerSums& one) { layer = std::max(layer, one.kept); });
    const double share = static_cast<double>(away) / static_cast<double>(s.layers);
    const double gone = std::floor(c.kept_by_layers(s) * share);
    const double one = std::min(whole(layer), gone), two = std::min(whole(2 * layer), gone);
    return {one, two, two};
}

// Recomputed tensors take the place of the head's: its backward is over by then.
double recomputed_beside_head(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    const double with_gradients = recomputed(plan, c, s) * (1 + c.software->backward_layer);
    return std::max(with_gradients - (s.head ? c.head.kept : 0), 0.0);
}

// Counts gradients of the layer that is being reduced after a backward, in addition to the shards: no more
// than a stage has beyond them. Where they are summed whole, by step or run, they count as gradients.
BufferRange unreduced(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    if (c.shards.in_a_run > 0) return {};
    const CutUnit u = cut_unit(c, s, c.shards.gradient);
    const StageNumbers n = numbers_of(plan.model, c.held, s);
    const double beyond = n.dense.all() * (1 - 1 / static_cast<double>(c.shards.gradient[0]))
                          + n.experts.all() * (1 - 1 / static_cast<double>(c.shards.gradient[1]));
    const double g = bytes_of(plan.training.gradients), layer = whole(std::min(u.layer, beyond) * g);
    return {layer, layer, whole(std::min(2 * u.layer + u.ends, beyond) * g)};
}

// Counts every layer of the stage at once: ZeRO-3 gathers them and never frees them.
double all_cut(const MemoryCosts& c, const Plan& plan, const StageMemory& s, const std::int64_t (&shard)[2]) {
    const StageNumbers n = numbers_of(plan.model, c.held, s);
    return (shard[0] > 1 ? n.dense.all() : 0) + (shard[1] > 1 ? n.experts.all() : 0);
}

// Visits the allocator's tensors.
template <typename F>
void visit_live(const Plan& plan, const MemoryCosts& c, const StageMemory& s, F&& put) {
    const double wide = activation_widths(plan.training.compute).wide;
    const CutUnit gathered = cut_unit(c, s, c.shards.parameter);
    const bool all_held = plan.layout.zero == 3 && holds_gathered(plan);
    const SoftwareFacts& software = *c.software;
    if (software.gradient_copy_bytes > 0) {
        const StageNumbers n = numbers_of(plan.model, c.held, s);
        if (const double copy = whole(gradient_copy_bytes(plan, n)); copy > 0)
            put(Buffer::gradient_copy, "beside their sum in fp32", BufferRange{copy, copy, copy});
    }
    if (all_held) {
        const double all = whole(all_cut(c, plan, s, c.shards.parameter) * wide);
        put(Buffer::gathered_layers,
            reshard_of(plan) == Reshard::never
                ? "ZeRO-3 that never lets go: the parameters of all layers, whole"
                : "ZeRO-3 that lets nothing go after a backward: the parameters of all layers, whole",
            BufferRange{all, all, all});
    } else {
        put(Buffer::gathered_layers,
            "ZeRO-3: parameters of the layer in use and of the next, prefetched, and embedding and head, "
            "whole",
            BufferRange{whole(gathered.layer * wide), whole((2 * gathered.layer + gathered.ends) * wide),
                        whole((3 * gathered.layer + gathered.ends) * wide)});
    }
    put(Buffer::unreduced_gradients, "ZeRO-2 and 3: a layer's gradients before they are summed and cut",
        unreduced(plan, c, s));
    put(Buffer::offloaded_layers, "activations between GPU and host memory", on_the_way(plan, c, s));
    const double recomputed = whole(recomputed_beside_head(plan, c, s));
    put(Buffer::recomputed_layer,
        s.head ? "activations of one layer or unit, made again while its backward runs, less what the head "
                 "held until then"
               : "activations of one layer or unit, made again while its backward runs",
        BufferRange{recomputed, recomputed, recomputed});
    put(Buffer::keys_and_values, "context parallelism: those of other ranks", c.shared.keys_and_values);
    put(Buffer::token_dispatch, "expert parallelism: tokens sent and received", c.shared.dispatch);
    put(Buffer::activation_gradients, "the backward pass's own tensors", c.shared.gradients);
}

// Visits the memory outside the allocator.
template <typename F>
void visit_outside(const Plan& plan, const MemoryCosts& c, F&& put) {
    put(Buffer::communicators, "NCCL's buffers, for each process group of more than one rank",
        communicator_bytes(plan, c.degrees.communicators));
    put(Buffer::context, "the driver's context, kernels and library workspaces",
        scaled(said_or(plan.training.buffers.context_bytes, c.software->context_bytes), 1));
}

}  // namespace

CutUnit cut_unit(const MemoryCosts& c, const StageMemory& s, const std::int64_t (&shard)[2]) {
    CutUnit u;
    for (int t = 0; t < c.types.size(); ++t) {
        const bool here = s.types[t] > 0 || (t == c.types.mtp && s.mtp_layers > 0);
        if (!here) continue;
        const HeldLayer& layer = c.held.of(t);
        const double n = (shard[0] > 1 ? layer.dense.all() : 0) + (shard[1] > 1 ? layer.experts.all() : 0);
        u.layer = std::max(u.layer, n);
    }
    if (shard[0] > 1 && s.embedding) u.ends += c.held.embedding.all();
    if (shard[0] > 1 && s.head) u.ends += c.held.head.all();
    return u;
}

double whole_in_a_run(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    if (c.shards.in_a_run <= 0) return 0;
    const StageNumbers n = numbers_of(plan.model, c.held, s);
    const double all = (c.shards.gradient[0] > 1 ? c.gradient.of(n.dense) : 0)
                       + (c.shards.gradient[1] > 1 ? c.gradient.of(n.experts) : 0);
    return std::max(whole(all * c.shards.in_a_run),
                    whole(cut_unit(c, s, c.shards.gradient).layer * c.gradient.other));
}

BufferRange communicator_bytes(const Plan& plan, int groups) {
    return scaled(said_or(plan.training.buffers.communicator_bytes, kCommunicatorBytes), groups);
}

SharedBuffers shared_buffers(const Plan& plan, const Degrees& degrees, const PartsByType& parts) {
    const double working =
        whole(facts_of(plan.training.software).working_hidden * 2 * hidden_tokens(plan, degrees));
    return {context_parallel(plan, degrees, parts), dispatch(plan, degrees), {working, working, working}};
}

FixedBuffers fixed_buffers(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage) {
    FixedBuffers sum;
    visit_live(plan, costs, stage, [&](Buffer, std::string_view, const BufferRange& r) { sum.live += r; });
    visit_outside(plan, costs, [&](Buffer, std::string_view, const BufferRange& r) { sum.outside += r; });
    return sum;
}

BufferRange reserved_beyond(const Training& training, const SoftwareFacts& software, double allocated) {
    if (const double share = training.buffers.fragmentation; share > 0) {
        const double bytes = whole(share * allocated);
        return {bytes, bytes, bytes};
    }
    const MeasuredRange &share = software.reserved, &fixed = software.reserved_bytes;
    return {whole((share.low - 1) * allocated + fixed.low), whole((share.mid - 1) * allocated + fixed.mid),
            whole((share.high - 1) * allocated + fixed.high)};
}

void list_buffers(const Plan& plan, const MemoryCosts& costs, const StageMemory& stage,
                  std::vector<BufferBytes>& out) {
    out.clear();
    const auto put = [&](Buffer buffer, std::string_view why, const BufferRange& r) {
        if (r.high > 0) out.push_back({buffer, why, r.low, r.mid, r.high});
    };
    visit_live(plan, costs, stage, put);
    put(Buffer::fragmentation, "what the allocator reserves beyond what is allocated",
        reserved_beyond(plan.training, *costs.software, stage.allocated));
    visit_outside(plan, costs, put);
}

void list_buffers(const Plan& plan, const Mesh& mesh, const StageMemory& stage,
                  std::vector<BufferBytes>& out) {
    list_buffers(plan, memory_costs(plan, degrees_of(plan, mesh)), stage, out);
}

}  // namespace pentamesh
