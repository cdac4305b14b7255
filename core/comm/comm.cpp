#include "core/comm/comm.h"

#include "core/comm/collective_time.h"
#include "core/comm/comm_count.h"
#include "core/mesh/degrees.h"
#include "core/model/model.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

// What the volumes are made of, as docs/communication.md names it.
struct Volumes {
    double microbatches = 1, runs = 1;  // a step's, and those that each chunk of a device runs
    double tokens = 0;                  // of a rank and micro-batch: b s / c
    double hidden_bytes = 0;            // b s/c h e2: S of the tensor-parallel collectives
    double tp = 1, cp = 1, pp = 1, ep = 1, etp = 1;
    double wire = 2;
};

Volumes volumes_of(const Plan& plan) {
    const Layout& l = plan.layout;
    const Training& t = plan.training;
    Volumes v;
    v.microbatches = microbatches_or_one(plan);
    v.runs = runs_per_step(plan);
    v.tp = static_cast<double>(l.tp), v.cp = static_cast<double>(l.cp), v.pp = static_cast<double>(l.pp);
    v.ep = static_cast<double>(l.ep), v.etp = static_cast<double>(l.etp.value_or(l.tp));
    v.wire = wire_bytes(t.compute);
    v.tokens = static_cast<double>(t.micro_batch) * static_cast<double>(t.sequence_length) / v.cp;
    v.hidden_bytes = v.tokens * static_cast<double>(plan.model.hidden) * v.wire;
    return v;
}

// The types that a layer of the model, or a prediction layer, has.
LayerMask present_types(const Model& m, const LayerTypes& types) {
    const LayerCounts counts = count_layers(m, types, 0, m.layers);
    LayerMask mask = m.mtp_layers > 0 ? LayerMask{1} << types.mtp : 0;
    for (int t = 0; t < types.size; ++t)
        if (counts[static_cast<std::size_t>(t)] > 0) mask |= LayerMask{1} << t;
    return mask;
}

// Appends rows; those over a single rank or without bytes are nothing and left out.
class Rows {
  public:
    Rows(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary, Comm& out)
        : plan_(plan), mesh_(mesh), summary_(summary), out_(out), v_(volumes_of(plan)),
          types_(layer_types(plan.model)), present_(present_types(plan.model, types_)) {}

    void list() {
        const Layout& l = plan_.layout;
        if (l.tp > 1) tensor_parallel();
        if (l.cp > 1) context_parallel();
        if (plan_.model.moe) experts();
        if (l.pp > 1) pipeline();
        gradients();
    }

  private:
    [[nodiscard]] const GroupSummary& summary_of(GroupKind k) const { return summary_[k]; }

    [[nodiscard]] std::int64_t expert_factor(Axis a) const { return mesh_.expert[a].size; }

    Operation* put(GroupKind group, Unit unit, Phase phase, Collective c, std::string_view what, double bytes,
                   double calls = 1) {
        return put(group, summary_of(group).degree, unit, phase, c, what, bytes, calls);
    }

    Operation* put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c,
                   std::string_view what, double bytes, double calls) {
        if (ranks <= 1 || bytes <= 0 || calls <= 0) return nullptr;
        Operation& o = out_.operations.emplace_back();
        o.group = group, o.what = what, o.collective = c, o.phase = phase, o.unit = unit, o.calls = calls;
        o.types = unit == Unit::every_layer                              ? mixers_
                  : unit == Unit::dense_layer || unit == Unit::moe_layer ? ffns_
                                                                         : 0;
        o.group_size = ranks;
        o.tier = summary_of(group).slowest_tier;
        if (group == GroupKind::cp && ranks < summary_of(group).degree && c == Collective::all_to_all)
            o.tier =
                slowest_tier(within(find_route(plan_, mesh_, summary_of(group)), static_cast<double>(ranks)));
        o.message_bytes = bytes;
        describe(o);
        count_row(out_, v_.runs, o);
        return &o;
    }

    static void describe(Operation& o) {
        o.scope = o.unit == Unit::embedding ? Scope::embedding
                  : o.unit == Unit::head    ? Scope::head
                  : o.unit == Unit::step    ? Scope::step
                                            : Scope::layer;
        o.per = o.unit == Unit::embedding || o.unit == Unit::head ? "micro-batch"
                : o.unit == Unit::step                            ? "step"
                : o.unit == Unit::boundary                        ? "chunk and micro-batch"
                                                                  : "layer and micro-batch";
    }

    [[nodiscard]] bool recomputes_layers() const { return plan_.training.recompute.whole_layers(); }
    [[nodiscard]] bool recomputes(RecomputeModule m) const { return plan_.training.recompute.makes(m); }

    // What is recomputed runs its forward again, collectives included.
    void repeat(Operation* o, bool repeats) {
        if (!o || !repeats) return;
        Operation repeated = *o;
        repeated.phase = Phase::backward;
        repeated.recomputed = true;
        count_row(out_, v_.runs, repeated);
        out_.operations.push_back(repeated);
    }

    // A layer's way in and out of a tensor-parallel region, Shoeybi et al. 2019 and, with SP, Korthikanti et
    // al. 2022 section 4.2: an all-reduce splits into a reduce-scatter and an all-gather of the same bytes,
    // and Megatron gathers the input once more for the weight gradient.
    struct Region {
        std::string_view in, out, grad_in, grad_out, gather_again;
    };
    void region(Unit unit, const Region& r, bool repeats) {
        const GroupKind tp = GroupKind::tp;
        const double s = v_.hidden_bytes;
        using enum Collective;
        if (plan_.layout.sequence_parallel) {
            repeat(put(tp, unit, Phase::forward, all_gather, r.in, s), repeats);
            repeat(put(tp, unit, Phase::forward, reduce_scatter, r.out, s), repeats);
            put(tp, unit, Phase::backward, all_gather, r.grad_out, s);
            put(tp, unit, Phase::backward, reduce_scatter, r.grad_in, s);
            put(tp, unit, Phase::backward, all_gather, r.gather_again, s);
        } else {
            repeat(put(tp, unit, Phase::forward, all_reduce, r.out, s), repeats);
            put(tp, unit, Phase::backward, all_reduce, r.grad_in, s);
        }
    }

    void tensor_parallel() {
        const Model& m = plan_.model;
        mixers_ = types_.where([](const LayerType& t) { return t.mixer != MixerKind::none; });
        region(Unit::every_layer,
               {"activations before attention", "activations after attention", "gradients before attention",
                "gradients after attention", "attention input again for the weight gradient"},
               recomputes_layers());
        const LayerMask dense = types_.where([](const LayerType& t) { return t.ffn_width > 0; }) & present_;
        ffns_ = dense & ~types_.moe();
        if (ffns_ != 0)
            region(Unit::dense_layer,
                   {"activations before the MLP", "activations after the MLP", "gradients before the MLP",
                    "gradients after the MLP", "MLP input again for the weight gradient"},
                   recomputes(RecomputeModule::mlp));
        ffns_ = dense & types_.moe();
        if (ffns_ != 0)
            region(Unit::moe_layer,
                   {"activations before the MLP", "activations after the MLP", "gradients before the MLP",
                    "gradients after the MLP", "MLP input again for the weight gradient"},
                   recomputes(RecomputeModule::mlp));
        ffns_ = types_.moe();
        if (m.moe && m.moe->shared_experts > 0 && ffns_ != 0)
            region(Unit::moe_layer,
                   {"activations before the shared experts", "activations after the shared experts",
                    "gradients before the shared experts", "gradients after the shared experts",
                    "shared experts' input again for the weight gradient"},
                   recomputes(RecomputeModule::moe) || recomputes(RecomputeModule::shared_experts));
        vocabulary_parallel();
    }

    void vocabulary_parallel() {
        using enum Collective;
        const GroupKind tp = GroupKind::tp;
        const double s = v_.hidden_bytes, heads = 1 + static_cast<double>(plan_.model.mtp_layers);
        if (plan_.layout.sequence_parallel) {
            put(tp, Unit::embedding, Phase::forward, reduce_scatter, "embedded tokens", s);
            put(tp, Unit::embedding, Phase::backward, all_gather, "gradients of the embedded tokens", s);
            put(tp, Unit::head, Phase::forward, all_gather, "activations before the head", s, heads);
            put(tp, Unit::head, Phase::backward, reduce_scatter, "gradients before the head", s, heads);
            put(tp, Unit::head, Phase::backward, all_gather, "head input again for the weight gradient", s,
                heads);
        } else {
            put(tp, Unit::embedding, Phase::forward, all_reduce, "embedded tokens", s);
            put(tp, Unit::head, Phase::backward, all_reduce, "gradients before the head", s, heads);
        }
        // Largest logit, logit of the label, sum of exponentials: Megatron's vocab-parallel cross entropy.
        put(tp, Unit::head, Phase::forward, all_reduce, "cross entropy: maximum, label's logit, sum",
            v_.tokens * bytes_of(Dtype::fp32), 3 * heads);
    }

    // Keys and values of one layer on a rank: 2 b (s/c) (k/t) d e2; MLA attends with full heads.
    [[nodiscard]] double kv_bytes(const LayerType& type) const {
        const Model& m = plan_.model;
        if (m.attention == AttentionKind::mla && m.mla) {
            const Mla& a = *m.mla;
            const double width = static_cast<double>(a.qk_nope_head_dim + a.qk_rope_head_dim + a.v_head_dim);
            return v_.tokens * static_cast<double>(type.heads) / v_.tp * width * v_.wire;
        }
        const double heads = std::max(static_cast<double>(type.kv_heads) / v_.tp, 1.0);
        return v_.tokens * heads * static_cast<double>(type.head_dim + type.value_head_dim) * v_.wire;
    }

    // Queries, and as many numbers of attention output.
    [[nodiscard]] double query_bytes(const LayerType& type, bool output) const {
        const Model& m = plan_.model;
        double width = static_cast<double>(output ? type.value_head_dim : type.head_dim);
        if (m.attention == AttentionKind::mla && m.mla)
            width = static_cast<double>(output ? m.mla->v_head_dim
                                               : m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim);
        return v_.tokens * static_cast<double>(type.heads) / v_.tp * width * v_.wire;
    }

    // Types with attention of the same sizes speak alike; those without give their heads to the ranks.
    void context_parallel() {
        LayerMask seen = 0;
        for (int t = 0; t < types_.size; ++t) {
            const LayerType& type = types_[t];
            if (has(seen, t) || type.mixer == MixerKind::none) continue;
            mixers_ = types_.where([&](const LayerType& other) {
                return other.attends() == type.attends() && other.heads == type.heads
                       && other.kv_heads == type.kv_heads && other.head_dim == type.head_dim
                       && other.value_head_dim == type.value_head_dim && other.has_mamba() == type.has_mamba()
                       && (other.mixer == MixerKind::linear) == (type.mixer == MixerKind::linear)
                       && (other.mixer == MixerKind::none) == (type.mixer == MixerKind::none);
            });
            seen |= mixers_;
            if ((mixers_ & present_) == 0) continue;
            if (type.attends()) attention_over_cp(type);
            if (!type.attends() || type.mamba_beside) scan_over_cp(type);
        }
    }

    // A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
    // (Megatron-LM ssm/mamba_context_parallel.py).
    void scan_over_cp(const LayerType& type) {
        using enum Collective;
        const Model& m = plan_.model;
        double in = 0, out = 0;
        if (type.has_mamba() && m.mamba) {
            const Mamba& a = *m.mamba;
            in = static_cast<double>(2 * a.inner + (a.version == 1 ? 0 : 2 * a.groups * a.state + a.heads));
            out = static_cast<double>(a.inner);
        } else if (m.linear) {
            const Linear& a = *m.linear;
            const bool conv = a.kind == LinearKind::short_conv;
            out = static_cast<double>(conv ? m.hidden : a.value_heads * a.value_head_dim);
            in = conv ? 3 * out : 2 * static_cast<double>(a.key_heads * a.key_head_dim) + 2 * out;
        }
        const double bytes = v_.tokens / v_.tp * v_.wire;
        const Unit u = Unit::every_layer;
        const GroupKind cp = GroupKind::cp;
        const bool repeats = recomputes_layers();
        repeat(put(cp, u, Phase::forward, all_to_all, "inputs of the scan to heads", in * bytes), repeats);
        repeat(put(cp, u, Phase::forward, all_to_all, "outputs of the scan to tokens", out * bytes), repeats);
        put(cp, u, Phase::backward, all_to_all, "gradients of the scan's outputs to heads", out * bytes);
        put(cp, u, Phase::backward, all_to_all, "gradients of the scan's inputs to tokens", in * bytes);
    }

    void attention_over_cp(const LayerType& type) {
        using enum Collective;
        const GroupKind cp = GroupKind::cp;
        const Unit u = Unit::every_layer;
        const bool repeats = recomputes(RecomputeModule::core_attn);
        const double kv = kv_bytes(type), c = v_.cp;
        switch (plan_.layout.cp_comm) {
        case CpComm::ring:  // Liu et al. 2023 (Ring Attention)
            repeat(put(cp, u, Phase::forward, send_recv, "keys and values, rotated", kv, c - 1), repeats);
            put(cp, u, Phase::backward, send_recv, "keys and values, rotated", kv, c - 1);
            put(cp, u, Phase::backward, send_recv, "gradients of keys and values, rotated", kv, c);
            break;
        case CpComm::allgather:  // Llama Team 2024, section 3.3.2
            repeat(put(cp, u, Phase::forward, all_gather, "keys and values", kv * c), repeats);
            put(cp, u, Phase::backward, all_gather, "keys and values", kv * c);
            put(cp, u, Phase::backward, reduce_scatter, "gradients of keys and values", kv * c);
            break;
        case CpComm::ulysses: ulysses(type, plan_.layout.cp, repeats); break;
        // Ulysses inside, a ring of the inner groups outside (Fang and Zhao 2024, USP; Megatron-LM's
        // a2a+p2p).
        case CpComm::ulysses_ring: {
            const std::int64_t inner = head_ranks(), outer = plan_.layout.cp / inner;
            ulysses(type, inner, repeats);
            // A rank then holds `inner` times the tokens and as many times fewer heads.
            const double block = kv * repeated_kv(type, inner), rounds = static_cast<double>(outer);
            const auto turn = [&](Phase phase, std::string_view what, double calls) {
                return put(cp, outer, u, phase, send_recv, what, block, calls);
            };
            repeat(turn(Phase::forward, "keys and values, rotated", rounds - 1), repeats);
            turn(Phase::backward, "keys and values, rotated", rounds - 1);
            turn(Phase::backward, "gradients of keys and values, rotated", outer > 1 ? rounds : 0);
            break;
        }
        }
    }

    [[nodiscard]] std::int64_t head_ranks() const {
        return std::clamp<std::int64_t>(plan_.layout.cp_inner.value_or(1), 1, plan_.layout.cp);
    }
    // How many times keys and values are sent where there are fewer heads of them than ranks to hand them to.
    [[nodiscard]] double repeated_kv(const LayerType& type, std::int64_t ranks) const {
        if (plan_.model.attention == AttentionKind::mla) return 1;
        const double heads = static_cast<double>(type.kv_heads) / v_.tp;
        return std::max(static_cast<double>(ranks) / std::max(heads, 1.0), 1.0);
    }
    // Jacobs et al. 2023: kv heads fewer than the ranks are repeated.
    void ulysses(const LayerType& type, std::int64_t ranks, bool repeats) {
        using enum Collective;
        const auto send = [&](Phase phase, std::string_view what, double bytes) {
            return put(GroupKind::cp, ranks, Unit::every_layer, phase, all_to_all, what, bytes, 1);
        };
        const double in = query_bytes(type, false) + kv_bytes(type) * repeated_kv(type, ranks);
        const double out = query_bytes(type, true);
        repeat(send(Phase::forward, "queries, keys and values to heads", in), repeats);
        repeat(send(Phase::forward, "attention output to tokens", out), repeats);
        send(Phase::backward, "gradients of the output to heads", out);
        send(Phase::backward, "gradients of queries, keys and values to tokens", in);
    }

    // What goes out to the experts comes back, forward and backward.
    void experts() {
        using enum Collective;
        const Moe& e = *plan_.model.moe;
        ffns_ = types_.moe();
        if (ffns_ == 0) return;
        const double h = token_width(e);
        const double own = v_.tokens / (plan_.layout.sequence_parallel ? v_.tp : 1);
        const double copies = own * static_cast<double>(e.top_k) * plan_.training.router_imbalance;
        const Unit u = Unit::moe_layer;
        const bool repeats = recomputes(RecomputeModule::moe);
        if (plan_.layout.ep_comm == EpComm::allgather) {
            // Every rank sees every token and keeps those of its experts (Megatron-LM token_dispatcher.py).
            const double all = own * v_.ep * h * v_.wire;
            const GroupKind ep = GroupKind::ep;
            repeat(put(ep, u, Phase::forward, all_gather, "tokens to all ranks of experts", all), repeats);
            repeat(put(ep, u, Phase::forward, reduce_scatter, "sum of experts' outputs", all), repeats);
            put(ep, u, Phase::backward, all_gather, "output gradients to all ranks of experts", all);
            put(ep, u, Phase::backward, reduce_scatter, "sum of input gradients", all);
            expert_shards(all, repeats);
            return;
        }
        exchange(own * sent_copies(e), h, repeats);
        expert_shards(copies * h * v_.wire, repeats);
    }

    // Numbers of a token on its way to the experts.
    [[nodiscard]] double token_width(const Moe& e) const {
        return static_cast<double>(e.latent > 0 ? e.latent : plan_.model.hidden);
    }

    // Tokens of h numbers, times the copies of each that leave a rank, out and back.
    void exchange(double copies, double h, bool repeats) {
        using enum Collective;
        const double wide = copies * h * v_.wire, dispatched = copies * h * dispatch_bytes();
        const Unit u = Unit::moe_layer;
        const GroupKind ep = GroupKind::ep;
        const std::size_t first = out_.operations.size();
        repeat(put(ep, u, Phase::forward, all_to_all, "dispatch of tokens to experts", dispatched), repeats);
        repeat(put(ep, u, Phase::forward, all_to_all, "combine of experts' outputs", wide), repeats);
        put(ep, u, Phase::backward, all_to_all, "dispatch of output gradients", dispatched);
        put(ep, u, Phase::backward, all_to_all, "combine of input gradients", wide);
        const bool kernel = plan_.layout.ep_comm != EpComm::alltoall;
        const double share = kernel ? slow_share() : 1;
        for (std::size_t i = first; i < out_.operations.size(); ++i) {
            out_.operations[i].slow_share = share;
            out_.operations[i].forwarded = kernel;
        }
    }

    // Of q places, evenly drawn, k draws hit q (1 - (1 - 1/q)^k) different ones.
    [[nodiscard]] static double places_hit(double q, double k) { return q * (1 - std::pow(1 - 1 / q, k)); }

    // A copy for each expert; a kernel that knows the ranks sends one to each rank.
    [[nodiscard]] double sent_copies(const Moe& e) const {
        const double k = static_cast<double>(e.top_k), imbalance = plan_.training.router_imbalance;
        if (plan_.layout.ep_comm == EpComm::alltoall) return k * imbalance;
        return std::min(places_hit(v_.ep, k) * imbalance, k * imbalance);
    }

    // The ranks of an etp group hold different tokens under sequence parallelism, and each needs all of them.
    // Without it tensor-parallel ranks hold the same tokens: what is left is to sum their outputs.
    void expert_shards(double wide, bool repeats) {
        using enum Collective;
        const Unit u = Unit::moe_layer;
        const GroupKind etp = GroupKind::etp;
        const bool same_tokens = !plan_.layout.sequence_parallel && v_.etp <= v_.tp;
        if (same_tokens) {
            repeat(put(etp, u, Phase::forward, all_reduce, "outputs of the experts' shards", wide), repeats);
            put(etp, u, Phase::backward, all_reduce, "input gradients of the experts' shards", wide);
            return;
        }
        const double distinct = plan_.layout.sequence_parallel ? v_.etp : v_.etp / v_.tp;
        const double all = wide * distinct;
        repeat(put(etp, u, Phase::forward, all_gather, "tokens of the experts' shards", all), repeats);
        repeat(put(etp, u, Phase::forward, reduce_scatter, "outputs of the experts' shards", all), repeats);
        put(etp, u, Phase::backward, all_gather, "output gradients of the experts' shards", all);
        put(etp, u, Phase::backward, reduce_scatter, "input gradients of the experts' shards", all);
    }

    // DeepSeek-AI 2024 (DeepSeek-V3), section 3.3: dispatch in fp8 with an fp32 scale per 128 numbers.
    [[nodiscard]] double dispatch_bytes() const {
        const Dtype t = plan_.training.compute;
        if (t != Dtype::fp8 && t != Dtype::fp4) return v_.wire;
        return bytes_of(Dtype::fp8) + bytes_of(Dtype::fp32) / 128;
    }

    // Of the copies that ranks are sent, the share that crosses to another node: one for each node that is
    // hit, spread there over the first tier (DeepEP, internode kernels). At most the model's limit of nodes.
    [[nodiscard]] double slow_share() const {
        const GroupSummary& g = summary_of(GroupKind::ep);
        const double nodes = static_cast<double>(g.degree) / static_cast<double>(g.per_fast_domain);
        if (nodes <= 1) return 1;
        const double k = static_cast<double>(plan_.model.moe->top_k);
        const double limit = static_cast<double>(plan_.model.moe->max_nodes_per_token);
        double hit = places_hit(nodes, k);
        if (limit > 0) hit = std::min(hit, limit);
        return std::min(hit / std::min(places_hit(v_.ep, k), k), 1.0);
    }

    // One activation forward and one gradient backward over every boundary between two devices. V-shaped
    // placements turn around on the last device, loops close from the last device to the first.
    void pipeline() {
        using enum Collective;
        const GroupKind pp = GroupKind::pp;
        const double shards = plan_.layout.sequence_parallel ? v_.tp : 1;
        const double message = v_.hidden_bytes / shards, m = v_.runs;
        const auto chunks = static_cast<double>(out_.stages.chunks);
        const bool v_shaped = traits_of(plan_.layout.schedule).placement != StagePlacement::loop;
        // With two devices each chunk sends one way only, but for the closing of loops; a V never closes, nor
        // do DualPipe's two copies, which run against each other.
        const double back = v_.pp > 2 ? chunks : v_shaped ? chunks / 2 : chunks - 1;
        const double on = v_.pp > 2 || !v_shaped ? chunks : chunks / 2;
        put(pp, Unit::boundary, Phase::forward, send_recv, "activations to the next stage", message, on * m);
        put(pp, Unit::boundary, Phase::backward, send_recv, "gradients to the previous stage", message,
            back * m);
        if (out_.embedding_copies > 0) {
            const double bytes = out_.held.word_embedding * bytes_of(plan_.training.gradients);
            put(pp, 1 + out_.embedding_copies, Unit::step, Phase::step, all_reduce,
                plan_.model.tied_embeddings ? "gradients of the tied embedding, first and last stage"
                                            : "gradients of the word embedding, first and last stage",
                bytes, 1);
        }
    }

    // Dense parameters over dp x cp, routed experts over edp.
    void gradients() {
        const double dense = out_.reduced.dense.all(), experts = out_.reduced.experts.all();
        const bool cp = v_.cp > 1;
        const std::int64_t replicas = summary_of(GroupKind::dp_replicate).degree;
        if (plan_.layout.zero == 0) {
            reduce_all(cp ? GroupKind::dp_cp : GroupKind::dp, dense, "gradients");
            reduce_all(GroupKind::edp, experts, "experts' gradients");
            two_copies(dense + experts);
            return;
        }
        const GroupKind shard = cp ? GroupKind::fsdp : GroupKind::dp_shard;
        const std::int64_t n = summary_of(shard).degree;
        shard_over(shard, n, dense, kDense);
        replicate(GroupKind::dp_replicate, replicas, dense / static_cast<double>(n),
                  "gradients of the shard, across replicas");
        const std::int64_t shards = expert_factor(Axis::dp_shard);
        shard_over(GroupKind::edp, shards, experts, kExperts);
        replicate(GroupKind::edp, expert_factor(Axis::dp_replicate), experts / static_cast<double>(shards),
                  "experts' gradients of the shard, across replicas");
        two_copies(dense / static_cast<double>(n) + experts / static_cast<double>(shards));
    }

    // Of DualPipe's two copies of a stage, on devices d and p - 1 - d, each runs half of the micro-batches:
    // their gradients are summed (deepseek-ai/DualPipe, issue 22). Each keeps half of the optimizer state,
    // updates that half and hands it to the other. `numbers`: what is left on a rank after data parallelism.
    void two_copies(double numbers) {
        if (traits_of(plan_.layout.schedule).placement != StagePlacement::two_copies || v_.pp <= 1) return;
        using enum Collective;
        put(GroupKind::pp, 2, Unit::step, Phase::step, reduce_scatter, "gradients of a stage's two copies",
            numbers * bytes_of(plan_.training.gradients), 1);
        put(GroupKind::pp, 2, Unit::step, Phase::step, all_gather,
            "updated parameters of a stage's two copies", numbers * bytes_of(plan_.training.parameters), 1);
    }

    void reduce_all(GroupKind group, double numbers, std::string_view what) {
        put(group, Unit::step, Phase::step, Collective::all_reduce, what,
            numbers * bytes_of(plan_.training.gradients));
    }

    void replicate(GroupKind group, std::int64_t n, double numbers, std::string_view what) {
        put(group, n, Unit::step, Phase::step, Collective::all_reduce, what,
            numbers * bytes_of(plan_.training.gradients), 1);
    }

    struct Names {
        std::string_view gather_forward, gather_backward, scatter, gather;
    };
    static constexpr Names kDense{"parameters, for the forward", "parameters again, for the backward",
                                  "gradients", "updated parameters"};
    static constexpr Names kExperts{"experts' parameters, for the forward",
                                    "experts' parameters again, for the backward", "experts' gradients",
                                    "experts' updated parameters"};

    // Rajbhandari et al. 2020 (ZeRO); with a pipeline the parameters stay gathered over the micro-batches of
    // a step. Layer by layer where ZeRO-3 gathers: one call per layer, with that layer's share.
    void shard_over(GroupKind group, std::int64_t n, double numbers, const Names& names) {
        using enum Collective;
        const double p = numbers * bytes_of(plan_.training.parameters);
        const double g = numbers * bytes_of(plan_.training.gradients);
        if (plan_.layout.zero < 3) {
            put(group, n, Unit::step, Phase::step, reduce_scatter, names.scatter, g, 1);
            put(group, n, Unit::step, Phase::step, all_gather, names.gather, p, 1);
            return;
        }
        const double layers = std::max(out_.busiest.layers(), 1.0);
        const double often = v_.pp > 1 ? layers : layers * v_.microbatches;
        const std::string_view per = v_.pp > 1 ? "layer" : "layer and micro-batch";
        const auto layerwise = [&](Phase phase, Collective c, std::string_view what, double bytes) {
            Operation* o = put(group, n, Unit::step, phase, c, what, bytes / layers, often);
            if (o) o->scope = Scope::layer, o->per = per;
        };
        layerwise(Phase::forward, all_gather, names.gather_forward, p);
        if (plan_.layout.reshard == Reshard::after_forward)
            layerwise(Phase::backward, all_gather, names.gather_backward, p);
        layerwise(Phase::backward, reduce_scatter, names.scatter, g);
    }

    const Plan& plan_;
    const Mesh& mesh_;
    const GroupSummaries& summary_;
    Comm& out_;
    Volumes v_;
    LayerTypes types_;
    LayerMask present_;
    LayerMask mixers_ = 0, ffns_ = 0;  // whose calls are being put: attention's or a scan's, an MLP's
};

}  // namespace

void list_operations(const Plan& plan, const Mesh& mesh, const GroupSummaries& summary, Comm& out) {
    out.clear();
    if (mesh.world == 0) return;
    lay_stages(plan, shape_of(plan, microbatches_of(plan)), out.stages);
    out.held = held_numbers(plan.model, degrees_of(plan, mesh));
    find_busiest(plan, out);
    Rows(plan, mesh, summary, out).list();
    out.sync_points_per_microbatch = sync_points(plan, out);
    sum_axes(out);
}

}  // namespace pentamesh
