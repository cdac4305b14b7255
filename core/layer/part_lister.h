// Makes the lists of a layer's parts (parts.h): attention in parts_attention.cpp, scans in parts_scan.cpp,
// MLP and experts in parts_mlp.cpp.
#pragma once

#include "core/layer/parts.h"
#include "core/model/mixer_flops.h"
#include "core/plan/plan.h"
#include "core/plan/software.h"

#include <cstdint>

namespace pentamesh {

class PartLister {
  public:
    PartLister(const Plan& plan, const Degrees& degrees, const LayerType& type, LayerParts& out);

    void list();

  private:
    using i64 = std::int64_t;

    void calls();
    void kernels();
    void kept();

    // Calls over one rank, or without bytes, are left out.
    void call(GroupKind group, i64 ranks, LayerPass pass, Collective c, What what, double bytes, bool repeats,
              double calls) {
        if (ranks > 1 && bytes > 0 && calls > 0)
            calls_.push_back({what, group, c, pass, part_, repeats, ranks, bytes, calls});
    }
    void forward(GroupKind group, i64 ranks, Collective c, What what, double bytes, bool repeats,
                 double calls = 1) {
        call(group, ranks, LayerPass::forward, c, what, bytes, repeats, calls);
    }
    void backward(GroupKind group, i64 ranks, Collective c, What what, double bytes, double calls = 1) {
        call(group, ranks, LayerPass::backward, c, what, bytes, false, calls);
    }

    // Describes a layer's way in and out of a tensor-parallel region, Shoeybi et al. 2019 and, with SP,
    // Korthikanti et al. 2022 section 4.2: an all-reduce splits into a reduce-scatter and an all-gather of
    // the same bytes, and Megatron gathers the input once more for the weight gradient.
    struct Region {
        What in, out, grad_in, grad_out, gather_again;
    };
    void region(const Region& r, bool repeats);
    // An input that the software keeps whole is not gathered a second time.
    [[nodiscard]] What again(What what) const { return software_.inputs_whole ? What::none : what; }

    void mixer_calls();
    void context_calls();
    void latent_calls(const Mla& mla);
    void attention_over_cp();
    void ulysses(i64 ranks, bool repeats_in, bool repeats_out);
    void scan_over_cp();
    // Returns how many times keys and values are sent where they have fewer heads than ranks to hand them to.
    [[nodiscard]] double repeated_kv(i64 ranks) const;

    void mlp_calls();
    void expert_calls(const Moe& moe);

    LayerKernel& kernel(What what, LayerRate rate, RecomputeModules modules = {}) {
        return kernels_.push_back({.what = what, .part = part_, .rate = rate, .modules = modules});
    }
    LayerKernel& product(What what, double m, double in, double out, RecomputeModules modules = {},
                         LayerRate rate = LayerRate::linear, double groups = 1) {
        LayerKernel& k = kernel(what, rate, modules);
        k.m = m, k.in = in, k.out = out, k.groups = groups;
        return k;
    }
    LayerKernel& element_wise(What what, double bytes, double kernels, RecomputeModules modules = {}) {
        LayerKernel& k = kernel(what, LayerRate::none, modules);
        k.bytes = bytes, k.kernels = kernels;
        return k;
    }
    void norm(What what, RecomputeModules modules = {});  // on the residual stream
    void addition();

    // Holds the widths of attention on a rank.
    struct Widths {
        double query = 0, key = 0, value = 0, output = 0, heads = 0;
    };
    [[nodiscard]] Widths widths() const;
    void mixer_kernels();
    void attention_kernels(const Widths& w);
    void latent_kernels(const Mla& mla, const Widths& w);
    void core_kernels(const Widths& w);
    void scan_kernels();
    template <typename Mixer>
    void scan_kernels(const Mixer& mixer);
    void mlp_kernels(What up, What down, double width, RecomputeModules modules);
    void expert_kernels(const Moe& moe);
    LayerKernel& activation(double tokens, double width, RecomputeModules modules);
    void keep_between(TensorId id, i64 width, double bytes, bool input = false,
                      RecomputeModules recomputed_by = {});
    void keep_region(TensorId id, i64 width, i64 local, double bytes, RecomputeModules recomputed_by = {},
                     bool of_kv_heads = false);
    void keep_product_input(TensorId id, RecomputeModules recomputed_by);  // of a product cut by columns
    void mixer_kept();
    void attention_kept();
    void latent_kept(const Mla& mla);
    // Keeps scores, softmax and their results. Unfused it follows Korthikanti et al. 2022, section 4.1, 5 a
    // s^2 b. Fused it is the output and the row's log-sum-exp in fp32 (Dao 2023, FlashAttention-2, section
    // 3.1).
    void core_kept(i64 all_heads, i64 heads, i64 dim);
    void scans_kept();
    // `recomputed_by` names the modules that recompute the outputs of the products; `activated` those of the
    // activation.
    void mlp_kept(const MlpTensors& ids, Tokens tokens, i64 width, i64 degree, RecomputeModules recomputed_by,
                  RecomputeModules activated);
    void experts_kept(const Moe& moe);

    [[nodiscard]] bool gated() const { return is_gated(m_.ffn_kind); }
    // Returns the outputs of an MLP's first product.
    [[nodiscard]] double up(double width) const { return gated() ? 2 * width : width; }

    [[nodiscard]] bool recomputes(RecomputeModule m) const { return t_.recompute.makes(m); }
    [[nodiscard]] bool latent() const {
        return type_.attends() && m_.attention == AttentionKind::mla && m_.mla;
    }

    const Plan& plan_;
    const Model& m_;
    const Training& t_;
    const Degrees& d_;
    const LayerType& type_;
    const SoftwareFacts& software_;
    double tp_, cp_;
    double wire_;           // bytes of a number that is sent, or that no product reads
    double product_bytes_;  // of one that a product reads
    double tokens_;         // of a rank and micro-batch: b s / c
    double outer_;          // of these, those of a rank between tensor-parallel regions
    double hidden_;
    double hidden_bytes_;  // of these at the hidden width: S of the tensor-parallel collectives
    LayerPart part_ = LayerPart::mixer;
    CallList& calls_;
    KernelList& kernels_;
    KeptList& kept_;
};

}  // namespace pentamesh
