// Makes random small plans for tests of a layer: models and layouts of every kind, some of them impossible.
#pragma once

#include "plans.h"

#include <cstdint>
#include <random>

namespace pentamesh::test {

class LayerPlans {
  public:
    explicit LayerPlans(unsigned seed) : random_(seed) {}

    Plan next() {
        Plan p = test::small_plan(8);
        make_model(p.model);
        make_layout(p);
        Training& t = p.training;
        t.sequence_length = pick({64, 128});
        t.micro_batch = pick({1, 2});
        t.global_batch = 16 * t.micro_batch * p.layout.dp_shard * *p.layout.dp_replicate;
        t.recompute = static_cast<Recompute>(pick({0, 0, 1, 2}));
        if (pick({0, 0, 1})) {
            RecomputeModules modules;
            for (const RecomputeModule m : all_of<RecomputeModule>())
                if (pick({0, 1})) modules.add(m);
            t.recompute = RecomputeChoice(modules, 0, RecomputeMethod::block);
        }
        t.attention = pick({0, 1}) ? AttentionImpl::flash : AttentionImpl::math;
        t.dropout = pick({0, 0, 1});
        t.compute = pick({0, 0, 1}) ? Dtype::fp8 : Dtype::bf16;
        t.router_imbalance = pick({0, 1}) ? 1.0 : 1.5;
        constexpr Software kSoftware[] = {Software::megatron, Software::nanotron, Software::torchtitan};
        t.software = kSoftware[static_cast<std::size_t>(pick({0, 0, 0, 1, 2}))];
        // nanotron has no latent attention.
        if (t.software == Software::nanotron && p.model.mla) t.software = Software::megatron;
        return p;
    }
    LinearKind pick_scan() {
        return static_cast<LinearKind>(
            std::uniform_int_distribution<int>(0, static_cast<int>(kNames<LinearKind>.size()) - 1)(random_));
    }
    std::int64_t pick(std::initializer_list<std::int64_t> of) {
        return *(of.begin()
                 + std::uniform_int_distribution<int>(0, static_cast<int>(of.size()) - 1)(random_));
    }

  private:
    void make_model(Model& m) {
        m.layers = 8, m.hidden = 64, m.heads = 16, m.head_dim = 8, m.ffn = 192, m.vocab = 256;
        m.kv_heads = pick({4, 8, 16});
        m.ffn_kind = pick({0, 1}) ? FfnKind::swiglu : FfnKind::gelu;
        m.qk_norm = static_cast<QkNorm>(pick({0, 0, 1, 2}));
        m.post_norms = pick({0, 0, 1});
        m.attention_gate = static_cast<AttentionGate>(pick({0, 0, 0, 1, 2}));
        m.shared_norm = pick({0, 0, 0, 1});
        m.mlp_bias = pick({0, 0, 1});
        if (pick({0, 1})) {
            m.moe = Moe{};
            m.moe->experts = 16, m.moe->top_k = pick({2, 4}), m.moe->expert_ffn = 48;
            m.moe->shared_experts = pick({0, 1}), m.moe->shared_expert_ffn = 32;
            m.moe->first_dense_layers = pick({0, 3});
            m.moe->latent = pick({0, 0, 0, 32});
        }
        if (pick({0, 0, 1})) {
            m.attention = AttentionKind::mla;
            m.kv_heads = m.heads;
            m.mla = Mla{pick({0, 16}), 8, 6, 2, 8};
            if (pick({0, 1})) m.mla->index_heads = 2, m.mla->index_head_dim = 4, m.mla->index_top_k = 8;
            m.attention_gate = AttentionGate::none;
            m.qk_norm = QkNorm::none;
        }
        if (pick({0, 0, 1})) make_pattern(m);
    }
    void make_pattern(Model& m) {
        m.linear = Linear{pick_scan(), 8, 16, 8, 8, 4, pick({0, 1}) == 1, true};
        m.mamba = Mamba{pick({1, 2}), 64, 8, 16, 8, 4, 16, true, false, true};
        const LayerFfn ffn = m.moe ? LayerFfn::moe : LayerFfn::dense;
        m.pattern = {
            {MixerKind::linear, ffn, 1}, {MixerKind::mamba, LayerFfn::none, 1}, {MixerKind::full, ffn, 1}};
        LayerRun window{MixerKind::window, LayerFfn::dense, 1};
        window.window = 32, window.ffn_width = 96, window.keys_as_values = pick({0, 1});
        // Falcon-H1 has Mamba and attention in one layer; no model has it with latent attention.
        window.mamba_beside = m.attention != AttentionKind::mla && pick({0, 1}) == 1;
        window.shares_index = true;  // where the model has an indexer
        m.pattern.push_back(window);
    }
    void make_layout(Plan& p) {
        Layout& l = p.layout;
        l.tp = pick({1, 2, 4});
        l.sequence_parallel = p.model.moe ? true : pick({0, 1}) == 1;
        l.cp = pick({1, 1, 2, 4});
        l.cp_comm = static_cast<CpComm>(pick({0, 1, 2, 3}));
        if (l.cp_comm == CpComm::ulysses_ring) l.cp_inner = std::min<std::int64_t>(2, l.cp);
        l.dp_shard = pick({1, 2, 4});
        l.dp_replicate = pick({1, 2});
        l.zero = static_cast<int>(pick({0, 1, 2, 3}));
        l.pp = pick({1, 1, 2});
        l.reshard = pick({0, 1}) ? Reshard::never : Reshard::after_forward;
        l.gradient_reduction =
            l.zero >= 2 && l.dp_shard % 4 == 0 ? GradientReduction::step : GradientReduction::by_software;
        const std::int64_t per_stage = l.tp * l.cp * l.dp_shard * *l.dp_replicate;
        p.cluster.gpus = per_stage * l.pp;
        if (!p.model.moe) return;
        l.etp = pick({1, 2, 4});
        l.ep = pick({1, 2, 4});
        l.ep_comm = static_cast<EpComm>(pick({0, 0, 1, 2, 3}));
        if (per_stage % (*l.etp * l.ep) != 0) l.etp = l.ep = 1;
    }
    std::mt19937 random_;
};

}  // namespace pentamesh::test
