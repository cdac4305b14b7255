#include "core/memory/memory.h"

#include "core/layer/parts.h"
#include "core/memory/memory_costs.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"

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
    const bool whole = facts_of(plan.training.software).inputs_whole && d.sequence_parallel;
    out.push_back({TensorId::norm_final_input, Tokens::between, h, h, wide, {}, false});
    out.push_back({TensorId::head_input, whole ? Tokens::region : Tokens::between, h, h, wide, {}, false});
    if (const i64 all = saturating_product(plan.model.hyper_streams, h); all > 0)
        out.push_back({TensorId::head_hyper, Tokens::between, all, all, wide, {}, false});
    const double loss = loss_bytes_of(plan.training, d.tp > 1).all;
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

namespace {

double sharded(const StateBytes& bytes, const std::int64_t (&shard)[2], const StageNumbers& n) {
    return whole(bytes.of(n.dense) / static_cast<double>(shard[0]))
           + whole(bytes.of(n.experts) / static_cast<double>(shard[1]));
}

// Returns the layer that is shown as one of the stage: a MoE layer where it has one, of these the one of most
// layers.
int shown_type(const MemoryCosts& c, const StageMemory& s) {
    int best = s.moe_layers > 0 || c.types.size() == 1 ? c.types.size() - 1 : 0;
    std::uint32_t most = 0;
    for (int t = 0; t < c.types.size(); ++t) {
        const std::uint32_t n = s.types[t];
        if (c.types[t].is_moe() == (s.moe_layers > 0) && n > most) most = n, best = t;
    }
    return best;
}

// Returns the bytes of a state that stay on the GPU when a share lies in host memory.
double kept_back(double bytes, double share, double& host) {
    const double kept = whole(bytes * (1 - share));
    host += bytes - kept;
    return kept;
}

// Fills everything that does not depend on how many micro-batches are in flight.
void fill_static(const Plan& plan, const MemoryCosts& c, StageMemory& s) {
    const StageNumbers n = numbers_of(plan.model, c.held, s);
    s.parameters_held = static_cast<std::int64_t>(whole(n.dense.all() + n.experts.all()));
    s.parameters_kept =
        static_cast<std::int64_t>(whole(n.dense.all() / static_cast<double>(c.shards.parameter[0]))
                                  + whole(n.experts.all() / static_cast<double>(c.shards.parameter[1])));
    s.parameters = sharded(c.parameter, c.shards.parameter, n);
    s.gradients = sharded(c.gradient, c.shards.gradient, n) + whole_in_a_run(plan, c, s);
    s.optimizer = sharded(c.optimizer, c.shards.optimizer, n);
    const Offload& away = plan.training.offload;
    s.parameters = kept_back(s.parameters, away.parameters, s.host);
    s.optimizer = kept_back(s.optimizer, away.optimizer, s.host);
    const int shown = s.layers > 0 ? shown_type(c, s) : c.types.mtp;
    const bool recomputed = s.recomputed[shown] > 0;
    const bool any = s.layers + s.mtp_layers > 0;  // a stage may hold no more than the model's ends
    s.activations_per_layer = any ? whole(recomputed ? c.of(shown).kept : c.of(shown).all) : 0;
    const FixedBuffers b = fixed_buffers(plan, c, s);
    s.allocated = s.parameters + s.gradients + s.optimizer + b.live.mid;
    s.buffers_low = b.live.low + b.outside.low;
    s.buffers = b.live.mid + b.outside.mid;
    s.buffers_high = b.live.high + b.outside.high;
}

// Returns the bytes of the prediction layers of a stage, for one micro-batch.
double mtp_activations(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    if (s.mtp_layers == 0) return 0;
    const LayerSums& layer = c.of(c.types.mtp);
    const double kept = plan.training.recompute.some_layers() ? layer.all : layer.kept;
    return static_cast<double>(s.mtp_layers) * (kept + c.mtp.kept);
}

// `kept` is that of one micro-batch.
void fill_activations(const Plan& plan, const MemoryCosts& c, double kept, double in_flight, StageMemory& s) {
    s.in_flight = in_flight;
    s.layer_activations = whole(kept * in_flight / c.shards.copies);
    const std::int64_t away = std::min(plan.training.offload.activations_layers, s.layers);
    if (away > 0)
        s.layer_activations =
            kept_back(s.layer_activations, static_cast<double>(away) / static_cast<double>(s.layers), s.host);
    s.activations = s.layer_activations;
    if (s.embedding) s.activations += whole(c.embedding.kept * in_flight);
    // No later layer waits for the last one: tensors there are held as the head's are.
    const double ends = s.head ? c.head.kept * head_passes(plan.model) : 0;
    const double mtp = mtp_activations(plan, c, s);
    const double at_head = head_in_flight(schedule_of(plan.layout), in_flight);
    if (s.head)
        s.activations += whole((ends + mtp) * at_head), s.loss_other = whole(c.loss_other);
    else
        s.activations += whole(mtp * in_flight);
    s.allocated += s.activations;
    const BufferRange f = reserved_beyond(plan.training, *c.software, s.allocated);
    s.reserved = s.allocated + f.mid;
    s.buffers_low += f.low;
    s.buffers += f.mid;
    s.buffers_high += f.high;
}

}  // namespace

void Memory::clear() {
    stage.clear();
    peak_stage = 0;
    hbm = 0;
}

namespace {

// Holds the part that does not depend on micro-batches in flight, and the activations of one micro-batch.
struct FixedMemory {
    StageMemory stage;
    double kept = 0;
};
FixedMemory fixed_memory(const Plan& plan, const MemoryCosts& costs, const StageContents& own) {
    FixedMemory f;
    StageMemory& s = f.stage;
    static_cast<StageContents&>(s) = own;
    fill_static(plan, costs, s);
    f.kept = costs.kept_by_layers(s);
    return f;
}

void fill_stages(const Plan& plan, const MemoryCosts& costs, const Stages& stages,
                 const std::vector<double>& in_flight, MemoryOf of, Memory& out) {
    out.hbm = plan.cluster.gpu.hbm_bytes;
    out.peak_stage = 0;
    out.stage.clear();
    if (stages.empty() || in_flight.size() != static_cast<std::size_t>(costs.degrees.pp)) return;

    double most = 0;
    const auto put = [&](const FixedMemory& fixed, int device) {
        StageMemory& s = out.stage.emplace_back(fixed.stage);
        s.stage = device;
        fill_activations(plan, costs, fixed.kept, in_flight[device], s);
        if (const double total = s.total(); out.stage.size() == 1 || total > most) {
            most = total;
            out.peak_stage = static_cast<int>(out.stage.size()) - 1;
        }
    };
    const int devices = static_cast<int>(in_flight.size());
    for (int first = 0, end = 0; first < devices; first = end) {
        const FixedMemory fixed = fixed_memory(plan, costs, stages.contents(first));
        int fullest = first;
        for (end = first; end < devices && (end == first || repeats_previous(stages, end)); ++end) {
            if (in_flight[end] > in_flight[fullest]) fullest = end;
            if (of == MemoryOf::every_stage) put(fixed, end);
        }
        if (of == MemoryOf::fullest_stages) put(fixed, fullest);
    }
}

}  // namespace

void compute_memory(const Plan& plan, const Degrees& degrees, const Stages& stages,
                    const std::vector<double>& in_flight, Memory& out) {
    fill_stages(plan, memory_costs(plan, degrees), stages, in_flight, MemoryOf::every_stage, out);
}

void compute_memory(const ResolvedPlan& r, const PartsByType& parts, const Stages& stages,
                    const HeldNumbers& held, const std::vector<double>& in_flight, MemoryOf of, Memory& out) {
    fill_stages(r.plan, memory_costs(r.plan, r.degrees, r.types, held, parts), stages, in_flight, of, out);
}

void compute_memory(const Plan& plan, const Mesh& mesh, const std::vector<double>& in_flight, Memory& out) {
    Stages stages;
    lay_stages(plan, shape_of(plan, 1), stages);
    compute_memory(plan, degrees_of(plan, mesh), stages, in_flight, out);
}

std::string_view name_of(MemoryCategory category) {
    constexpr std::array<std::string_view, kMemoryCategoryCount> names{"parameters", "gradients", "optimizer",
                                                                       "activations", "buffers"};
    return names[static_cast<std::size_t>(category)];
}

double bytes_of(const StageMemory& stage, MemoryCategory category) {
    switch (category) {
    case MemoryCategory::parameters: return stage.parameters;
    case MemoryCategory::gradients: return stage.gradients;
    case MemoryCategory::optimizer: return stage.optimizer;
    case MemoryCategory::activations: return stage.activations;
    case MemoryCategory::buffers: return stage.buffers;
    }
    return 0;
}

// Lists a framework's memory other than model state and activations, each part with a low, a middle and a
// high.

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

// Returns the numbers of the residual stream, or streams, between two tensor-parallel regions, for one
// micro-batch.
double hidden_tokens(const Plan& plan, const Degrees& d) {
    return token_counts(plan, d).of(Tokens::between) * static_cast<double>(plan.model.hidden)
           * residual_streams(plan.model);
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
