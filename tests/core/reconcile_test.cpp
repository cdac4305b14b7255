// One fact has one number: what a stage holds is the same for memory, for the placements of its tensors, for
// the gradients that are reduced and for the optimizer's time.
#include "core/evaluate.h"
#include "core/memory/memory_costs.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"
#include "plans.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace pentamesh;

namespace {

class RandomPlans {
  public:
    explicit RandomPlans(unsigned seed) : random_(seed) {}

    Plan next() {
        Plan p = test::small_plan(8);
        p.training.sequence_length = 64;
        make_model(p.model);
        Layout& l = p.layout;
        l.tp = pick({1, 2, 4});
        l.cp = pick({1, 1, 2});
        l.dp_shard = pick({1, 2, 3, 4});
        l.dp_replicate = pick({1, 2});
        l.zero = static_cast<int>(pick({0, 1, 2, 3}));
        make_pipeline(p);
        const std::int64_t per_stage = l.tp * l.cp * l.dp_shard * *l.dp_replicate;
        p.cluster.gpus = per_stage * l.pp;
        if (p.model.moe) {
            l.etp = pick({1, 2});
            l.ep = pick({1, 2, 4});
            if (per_stage % (*l.etp * l.ep) != 0) l.etp = l.ep = 1;
        }
        Training& t = p.training;
        t.global_batch = pick({8, 16}) * l.pp * l.dp_shard * *l.dp_replicate;
        t.recompute = static_cast<Recompute>(pick({0, 1, 2}));
        t.parameters = pick({0, 1}) == 0 ? Dtype::bf16 : Dtype::fp32;
        t.gradients = pick({0, 1}) == 0 ? Dtype::bf16 : Dtype::fp32;
        t.optimizer = static_cast<Optimizer>(pick({0, 1, 2, 3}));
        t.master_weights = static_cast<MasterWeights>(pick({0, 1, 2}));
        make_choices(p);
        return p;
    }

  private:
    LinearKind pick_scan() {
        return static_cast<LinearKind>(
            std::uniform_int_distribution<int>(0, static_cast<int>(kNames<LinearKind>.size()) - 1)(random_));
    }
    std::int64_t pick(std::initializer_list<std::int64_t> of) {
        return *(of.begin()
                 + std::uniform_int_distribution<int>(0, static_cast<int>(of.size()) - 1)(random_));
    }
    void make_model(Model& m) {
        m.layers = 16, m.hidden = 64, m.heads = 8, m.head_dim = 8, m.ffn = 192, m.vocab = pick({240, 241});
        m.kv_heads = pick({1, 2, 8});
        m.tied_embeddings = pick({0, 1});
        m.mtp_layers = pick({0, 0, 1, 2});
        m.attention_bias = pick({0, 1});
        if (pick({0, 1})) m.moe = Moe{8, 2, 48, pick({0, 1}), 32, pick({0, 3}), pick({1, 2}), true, true, 0};
        if (pick({0, 0, 1})) {
            m.attention = AttentionKind::mla;
            m.mla = Mla{pick({0, 16}), 8, 6, 2, 8};
            if (pick({0, 1})) m.mla->index_heads = 2, m.mla->index_head_dim = 4, m.mla->index_top_k = 8;
        }
        m.mtp_dense = m.moe && pick({0, 1});
        if (m.vocab == 240) m.vocab_multiple = pick({0, 16});
        if (pick({0, 0, 1})) make_pattern(m);
    }
    // Sets layers of every kind, cut at the end of the model.
    void make_pattern(Model& m) {
        m.linear = Linear{pick_scan(), 4, 8, 8, 8, 4, pick({0, 1}) == 1, true};
        m.mamba = Mamba{pick({1, 2}), 64, 8, 8, 8, 4, 16, true, false, true};
        const LayerFfn ffn = m.moe ? LayerFfn::moe : LayerFfn::dense;
        m.pattern = {
            {MixerKind::linear, ffn, 2}, {MixerKind::mamba, LayerFfn::none, 1}, {MixerKind::full, ffn, 1}};
        LayerRun window{MixerKind::window, LayerFfn::dense, 2};
        window.head_dim = 16, window.window = 128, window.ffn_width = 96,
        window.keys_as_values = pick({0, 1});
        window.mamba_beside = pick({0, 1});
        window.shares_index = true;  // where the model has an indexer
        m.pattern.push_back(window);
        m.pattern.push_back({MixerKind::none, ffn, 1});
    }
    void make_pipeline(Plan& p) {
        Layout& l = p.layout;
        l.pp = pick({1, 2, 4});
        if (l.pp == 1) return;
        l.schedule = static_cast<Schedule>(pick({0, 1, 2, 3, 4, 5, 6, 7, 8}));
        l.virtual_stages = chunks_for(l.schedule, 1);
        if (pick({0, 1})) return;
        l.stage_layers.assign(static_cast<std::size_t>(l.pp * l.virtual_stages), 1);  // uneven
        l.stage_layers[1] += p.model.layers - l.pp * l.virtual_stages;
    }
    // Changes fields that move bytes or wires but never what a stage holds.
    void make_choices(Plan& p) {
        Layout& l = p.layout;
        if (pick({0, 1})) std::shuffle(l.order.begin(), l.order.end(), random_);
        l.cp_comm = static_cast<CpComm>(pick({0, 1, 2, 3}));
        if (l.cp_comm == CpComm::ulysses_ring) l.cp_inner = l.cp;
        l.ep_comm = static_cast<EpComm>(pick({0, 1, 2, 3}));
        l.reshard = static_cast<Reshard>(pick({0, 1, 2}));
        p.training.offload.activations_layers = pick({0, 0, 1});
    }
    std::mt19937 random_;
};

struct Held {
    double dense = 0, experts = 0;
};

// Returns how often a stage has the tensors of a place.
double times_on(const Model& m, const StageMemory& s, const Placement& x) {
    const auto mtp = static_cast<double>(s.mtp_layers), all = static_cast<double>(s.layers) + mtp;
    if (x.place == Place::mtp) return mtp;
    if (x.place == Place::embedding || x.place == Place::head) return 1;
    if (!m.pattern.empty()) {  // of the prediction layers one type's
        const LayerTypes types = layer_types(m);
        return sum_of(s.types, x.types) + (pentamesh::has(x.types, types.mtp) ? mtp : 0);
    }
    const double moe = static_cast<double>(s.moe_layers) + (m.moe && !m.mtp_dense ? mtp : 0);
    return x.place == Place::every_layer ? all : x.place == Place::moe_layer ? moe : all - moe;
}

// Returns the parameters that the fullest rank of a stage holds before ZeRO, by the index ranges of its
// tensors.
Held held_by_ranges(Plan p, const Mesh& mesh, const StageMemory& s) {
    p.layout.zero = 0;
    Held most;
    for (const Placement& x : list_placements(p, mesh, TensorState::parameters, Moment::at_rest)) {
        std::int64_t numbers = 0;
        for (std::int64_t r = 0; r < mesh.world; ++r)
            if (dense_coordinates(mesh, r)[static_cast<std::size_t>(Axis::pp)] == s.stage)
                numbers = std::max(numbers, part_of(p, mesh, x, r).numbers);
        (x.expert ? most.experts : most.dense) += static_cast<double>(numbers) * times_on(p.model, s, x);
    }
    return most;
}

bool is_shard_group(GroupKind k) {
    return k == GroupKind::dp || k == GroupKind::dp_cp || k == GroupKind::dp_shard || k == GroupKind::fsdp;
}

// Returns the numbers whose gradients one step reduces over the shards (or, without ZeRO, over all replicas).
Held reduced_by_calls(const Plan& p, const Comm& comm) {
    Held sum;
    const Collective c = p.layout.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter;
    const double once = state_rounds(p).reductions.times;
    for (const Operation& o : comm.operations) {
        const bool experts = o.group == GroupKind::edp || o.group == GroupKind::edp_shard;
        if (o.collective != c || (!is_shard_group(o.group) && !experts)) continue;
        const double numbers = o.count_per_step / once * o.message_bytes / bytes_of(p.training.gradients);
        (experts ? sum.experts : sum.dense) += numbers;
    }
    return sum;
}

double close(double x) {
    return 1e-9 * std::max(x, 1.0);
}

}  // namespace

TEST_CASE("a stage holds the same numbers for memory, placements, reduced gradients and the optimizer") {
    RandomPlans plans(14);
    int seen = 0, mtp = 0, copies = 0, folded = 0, sharded = 0, kept = 0, reordered = 0, contexts = 0;
    for (int round = 0; round < test::rounds(600); ++round) {
        const Plan p = plans.next();
        const Evaluation e = evaluate(p);
        if (!e.valid) continue;
        CAPTURE(round);
        ++seen;
        mtp += p.model.mtp_layers > 0;
        copies += p.layout.schedule == Schedule::dualpipe;
        folded += e.mesh.has_experts;
        sharded += p.layout.zero > 0 && p.layout.dp_shard > 1;
        kept += p.layout.zero == 3 && reshard_of(p) == Reshard::never;
        reordered += p.layout.order != Layout{}.order;
        contexts += p.layout.cp > 1 && p.layout.cp_comm != CpComm::ring;
        const int stage_copies = p.layout.schedule == Schedule::dualpipe ? 2 : 1;

        Held largest;
        std::vector<Held> stages;
        double state_bytes = 0;
        for (const StageMemory& s : e.memory.stage) {
            const Held own = held_by_ranges(p, e.mesh, s);
            CHECK(static_cast<double>(s.parameters_held) == own.dense + own.experts);
            stages.push_back(own);
            largest.dense = std::max(largest.dense, own.dense);
            largest.experts = std::max(largest.experts, own.experts);
            state_bytes = std::max(state_bytes, s.optimizer);
        }

        const std::int64_t dense_ranks = p.layout.zero == 0
                                             ? p.layout.dp_shard * *p.layout.dp_replicate * p.layout.cp
                                             : p.layout.dp_shard * p.layout.cp;
        const Factor shard = e.mesh.expert[static_cast<std::size_t>(Axis::dp_shard)],
                     replica = e.mesh.expert[static_cast<std::size_t>(Axis::dp_replicate)];
        const std::int64_t expert_ranks = p.layout.zero == 0 ? shard.size * replica.size : shard.size;
        const Held reduced = reduced_by_calls(p, e.comm);
        // One stage has both kinds.
        CHECK(std::any_of(stages.begin(), stages.end(), [&](const Held& own) {
            return (dense_ranks <= 1 || std::abs(reduced.dense - own.dense) <= close(own.dense))
                   && (expert_ranks <= 1 || std::abs(reduced.experts - own.experts) <= close(own.experts));
        }));

        // If one stage holds most of both, the optimizer's time is that of its state, read and written,
        // and of two passes over the gradients and the way of the parameters.
        const bool one_stage =
            std::any_of(e.memory.stage.begin(), e.memory.stage.end(), [&](const StageMemory& s) {
                return static_cast<double>(s.parameters_held) == largest.dense + largest.experts;
            });
        REQUIRE(e.step);
        if (!one_stage) continue;
        const double cut = p.layout.zero > 0 ? 1 : 0;
        const double dense_shards = (cut > 0 ? static_cast<double>(dense_ranks) : 1) * stage_copies,
                     expert_shards = (cut > 0 ? static_cast<double>(expert_ranks) : 1) * stage_copies;
        const double numbers = largest.dense / dense_shards + largest.experts / expert_shards;
        const double parameter = bytes_of(p.training.parameters),
                     master = bytes_of(p.training.master_weights);
        const double moved = 2 * state_bytes + 2 * bytes_of(p.training.gradients) * numbers
                             + (master > parameter ? 1 : 2) * parameter * numbers;
        const Gpu& gpu = p.cluster.gpu;
        const double counted =
            (e.step->optimizer_s - gpu.efficiency.step_s) * gpu.hbm_bytes_per_s * gpu.efficiency.hbm;
        CHECK(std::abs(counted - moved) <= 1e-6 * moved + 8);  // memory rounds up to whole bytes
    }
    CHECK(seen > test::rounds(200));
    CHECK(mtp > test::rounds(50));
    CHECK(copies > test::rounds(5));
    CHECK(folded > test::rounds(50));
    CHECK(sharded > test::rounds(50));
    CHECK(kept > test::rounds(10));
    CHECK(reordered > test::rounds(50));
    CHECK(contexts > test::rounds(20));
}

TEST_CASE("the waterfall of memory ends at the peak, to the byte, in every plan that is possible") {
    RandomPlans plans(20261129);
    int possible = 0, over_one = 0, replicas_alone = 0;
    for (int n = 0; n < test::rounds(400); ++n) {
        Plan p = plans.next();
        if (n % 3 == 0) p.training.software = n % 2 == 0 ? Software::deepspeed : Software::torchtitan;
        const Evaluation e = evaluate(p);
        if (e.memory.stage.empty() || !e.step) continue;
        CAPTURE(title_of(p));
        const std::vector<SavingStep> steps = savings(p, e.in_flight);
        CHECK(steps.back().fullest.total() == e.memory.peak());
        for (std::size_t i = 1; i < steps.size(); ++i)
            CHECK(steps[i].saved == steps[i - 1].fullest.total() - steps[i].fullest.total());
        ++possible;
        over_one += p.layout.zero > 0 && p.layout.dp_shard * p.layout.cp == 1;
        replicas_alone += p.layout.zero == 0 && *p.layout.dp_replicate > 1;
    }
    CHECK(possible > test::rounds(200));
    CHECK(over_one > test::rounds(20));
    CHECK(replicas_alone > test::rounds(20));
}
