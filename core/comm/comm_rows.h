// Makes the list of a step's collectives: tensor and pipeline parallelism in comm.cpp, context parallelism,
// experts and the state of data parallelism in files of their own.
#pragma once

#include "core/comm/comm.h"
#include "core/model/layer_types.h"
#include "core/pipeline/gradient_reduction.h"

namespace pentamesh {

// Holds the factors of the volumes, as docs/communication.md names them.
struct Volumes {
    double tokens = 0;        // of a rank and micro-batch: b s / c
    double hidden_bytes = 0;  // b s/c h e2: S of the tensor-parallel collectives
    double tp = 1, cp = 1, pp = 1, ep = 1, etp = 1;
    double wire = 2;
};

// Appends rows; those over a single rank or without bytes are left out.
class CommRows {
  public:
    CommRows(const ResolvedPlan& resolved, Comm& out);

    void list();

  private:
    [[nodiscard]] const GroupSummary& summary_of(GroupKind k) const { return resolved_.groups[k]; }

    [[nodiscard]] std::int64_t expert_factor(Axis a) const { return resolved_.mesh.expert[a].size; }

    Operation* put(GroupKind group, Unit unit, Phase phase, Collective c, What what, double bytes,
                   double calls = 1) {
        return put(group, summary_of(group).degree, unit, phase, c, what, bytes, calls);
    }

    Operation* put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                   double bytes, double calls);

    static void describe(Operation& o);

    [[nodiscard]] bool recomputes_layers() const { return plan_.training.recompute.whole_layers(); }
    [[nodiscard]] bool recomputes(RecomputeModule m) const { return plan_.training.recompute.makes(m); }

    // A recomputed part runs its forward again, collectives included: adds those calls.
    void repeat(Operation* o, bool repeats);

    // Describes a layer's way in and out of a tensor-parallel region, Shoeybi et al. 2019 and, with SP,
    // Korthikanti et al. 2022 section 4.2: an all-reduce splits into a reduce-scatter and an all-gather of
    // the same bytes, and Megatron gathers the input once more for the weight gradient.
    struct Region {
        What in, out, grad_in, grad_out, gather_again;
    };
    void region(Unit unit, const Region& r, bool repeats);

    void tensor_parallel();
    // Adds latent attention: the products into the latents are whole on each rank and run on the tokens
    // between regions; the latents and the rotary keys are gathered (Megatron-LM multi_latent_attention.py).
    void latents(const Mla& mla);
    void vocabulary_parallel();

    // Returns keys and values of one layer on a rank: 2 b (s/c) (k/t) d e2; MLA attends with full heads.
    [[nodiscard]] double kv_bytes(const LayerType& type) const;
    [[nodiscard]] double key_bytes(const LayerType& type) const;  // of these, the keys'

    // Returns queries, and as many numbers of attention output.
    [[nodiscard]] double query_bytes(const LayerType& type, bool output) const;

    // Types with attention of the same sizes make the same calls; those without give their heads to the
    // ranks.
    void context_parallel();

    // A scan needs all tokens of a head in order: heads are exchanged for tokens and back, as in Ulysses
    // (Megatron-LM ssm/mamba_context_parallel.py).
    void scan_over_cp(const LayerType& type);
    void attention_over_cp(const LayerType& type);

    // Returns how many times keys and values are sent where they have fewer heads than ranks to hand them to.
    [[nodiscard]] double repeated_kv(const LayerType& type, std::int64_t ranks) const;
    // From Jacobs et al. 2023: kv heads fewer than the ranks are repeated.
    void ulysses(const LayerType& type, std::int64_t ranks, bool repeats_in, bool repeats_out);

    // Tokens that go to the experts come back, forward and backward.
    void experts();

    // Returns the numbers of a token on its way to the experts.
    [[nodiscard]] double token_width(const Moe& e) const;

    // Adds tokens of h numbers, times the copies of each that leave a rank, out and back.
    void exchange(double copies, double h, bool repeats);

    // Without sequence parallelism tensor-parallel ranks hold the same tokens. Each sends its part of them
    // and gathers the outputs; the backward of the part is a gather of its gradients (DeepSpeed
    // moe/mappings.py).
    void share_tokens(double all, bool repeats);

    // The ranks of an etp group bring different tokens, and each needs all of them.
    void expert_shards(double wide, bool repeats);

    // Adds one activation forward and one gradient backward over every boundary between two devices. V-shaped
    // placements turn around on the last device, loops close from the last device to the first.
    void pipeline();

    // Reduces dense parameters over dp x cp, routed experts over edp.
    void gradients();

    // DualPipe has two copies of a stage, on devices d and p - 1 - d, each of which runs half of the
    // micro-batches: their gradients are summed (deepseek-ai/DualPipe, issue 22). Each keeps half of the
    // optimizer state, updates that half and hands it to the other. `numbers` are those left on a rank after
    // data parallelism.
    void two_copies(double numbers);

    // Adds `bytes` of a round, in `layers` calls of as many bytes each; with 0, in one call that is of no
    // layer.
    void put_rounds(GroupKind group, std::int64_t ranks, Phase phase, Collective c, What what, double bytes,
                    const Rounds& rounds, double layers);
    void reduce_all(GroupKind group, double numbers, What what);
    void replicate(GroupKind group, std::int64_t n, double numbers, What what);

    struct Names {
        What gather_forward, gather_backward, scatter, gather;
    };
    static constexpr Names kDense{What::parameters_for_the_forward, What::parameters_again_for_the_backward,
                                  What::gradients, What::updated_parameters};
    static constexpr Names kExperts{What::experts_parameters_for_the_forward,
                                    What::experts_parameters_again_for_the_backward, What::experts_gradients,
                                    What::experts_updated_parameters};

    // Follows Rajbhandari et al. 2020 (ZeRO). It is layer by layer where ZeRO-3 gathers: one call per layer,
    // with that layer's share. gradient_reduction.h says how often.
    void shard_over(GroupKind group, std::int64_t n, double numbers, const Names& names);

    const ResolvedPlan& resolved_;
    const Plan& plan_;
    Comm& out_;
    Volumes v_;
    StateRounds rounds_;
    const LayerTypes& types_;
    LayerMask present_;
    LayerMask mixers_ = 0, ffns_ = 0;  // types whose calls are being added: `mixers_` for attention or a
                                       // scan, `ffns_` for an MLP
};

// ---- comm_count.cpp ----

// Finds the busiest device by the work of its layers (the numbers that a token meets), and the numbers to
// reduce. It needs stages and held.
void find_busiest(const Plan& plan, Comm& out);
// Returns true if a layer's call is a sync point. An all-reduce is one; so is a reduce-scatter, whose
// all-gather belongs to it, and an all-to-all.
[[nodiscard]] inline bool is_sync_point(const Operation& o) {
    return o.types != 0 && o.collective != Collective::all_gather && o.collective != Collective::send_recv;
}

}  // namespace pentamesh
