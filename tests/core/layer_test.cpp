// Compares the list of a layer's steps with another derivation (golden/layer.json), the papers' counts, and
// the engine's memory, communication and step.
#include "core/layer/layer_tape.h"
#include "core/memory/memory.h"
#include "core/mesh/mesh.h"
#include "core/step/compute.h"
#include "layer_plans.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

LayerList layer_of(const Plan& p, int type = 0) {
    const Evaluation e = evaluate(p, {.timeline = false});
    REQUIRE_MESSAGE(e.valid, (e.problems.empty() ? "" : e.problems[0].message));
    return timed_layer(p, e.mesh, e.groups, type);
}

double calls_of(const LayerList& list, GroupKind axis, LayerOp op, LayerPass pass, bool again) {
    double n = 0;
    for (const LayerStep& s : list.steps)
        if (is_collective(s.op) && s.group == axis && s.op == op && s.phase == pass && s.recomputed == again)
            n += s.calls;
    return n;
}

Plan dense_plan(std::int64_t gpus) {
    Plan p = test::small_plan(gpus);
    p.layout.dp_shard = 1;
    return p;
}

// Returns the mesh of the golden file: FSDP 2, TP 2 with sequence sharding, CP 2, EP 2, PP 2.
Plan golden_plan() {
    Plan p = test::small_plan(16);
    Model& m = p.model;
    m.layers = 2, m.kv_heads = m.heads, m.positions = Positions::learned, m.max_positions = 8192;
    m.moe = Moe{};
    m.moe->experts = 8, m.moe->top_k = 2, m.moe->expert_ffn = 4096;
    m.ffn = 0;
    Layout& l = p.layout;
    l.tp = l.cp = l.ep = l.pp = l.dp_shard = 2;
    l.etp = 2;
    l.cp_comm = CpComm::allgather;
    l.zero = 3;
    p.training.global_batch = 64;
    return p;
}

struct Call {
    std::string op, axis;
    bool operator==(const Call&) const = default;
};
std::string golden_axis(GroupKind axis) {
    return axis == GroupKind::fsdp || axis == GroupKind::dp_shard || axis == GroupKind::edp
               ? "fsdp"
               : std::string(name_of(axis));
}
std::vector<Call> forward_calls(const LayerList& list, LayerBlock block, bool weights) {
    std::vector<Call> out;
    for (const LayerStep& s : list.steps) {
        if (!is_collective(s.op) || s.phase != LayerPass::forward) continue;
        const bool of_weights = s.block == LayerBlock::weights;
        if (of_weights == weights && (weights || s.block == block))
            out.push_back({std::string(name_of(s.op)), golden_axis(s.group)});
    }
    return out;
}

}  // namespace

TEST_CASE("the four cases of sharded products are those of the JAX scaling book") {
    using enum FactorCut;
    // A[I_X, J] B[J, K_Y]: no communication.
    CHECK(product_case(outer, whole) == ProductCase::local);
    CHECK(product_case(whole, outer) == ProductCase::local);
    // A[I, J_X] B[J, K]: A is gathered first.
    CHECK(product_case(inner, whole) == ProductCase::gather_one);
    CHECK(product_case(whole, inner) == ProductCase::gather_one);
    // A[I, J_X] B[J_X, K] -> C[I, K] {U_X}: an all-reduce or a reduce-scatter follows.
    CHECK(product_case(inner, inner) == ProductCase::partial);
    // A[I_X, J] B[J, K_X]: one of them is gathered.
    CHECK(product_case(outer, outer) == ProductCase::gather_either);
}

TEST_CASE("a layer's forward speaks as another derivation found, over FSDP, TP, CP and EP") {
    const Plan p = golden_plan();
    const LayerList list = layer_of(p, 1);
    const auto golden = test::golden("layer.json");
    for (const auto& [key, block] :
         {std::pair{"forward_attention", LayerBlock::mixer}, std::pair{"forward_moe", LayerBlock::mlp}}) {
        std::vector<Call> activations;
        bool gathers = false;
        for (const auto& call : golden[key]) {
            const Call c{call[0], call[1]};
            if (c.axis == "fsdp")
                gathers = true;
            else
                activations.push_back(c);
        }
        CHECK(forward_calls(list, block, false) == activations);
        const std::vector<Call> weights = forward_calls(list, block, true);
        CHECK(gathers == (std::ranges::find(weights, Call{"all_gather", "fsdp"}) != weights.end()));
    }
    for (const Call& c : forward_calls(list, LayerBlock::mixer, true)) CHECK(c == Call{"all_gather", "fsdp"});
}

TEST_CASE("Megatron's TP with SP gathers and scatters twice each way and gathers inputs again") {
    Plan p = dense_plan(8);
    p.layout.tp = 8;
    const LayerList list = layer_of(p);
    using enum LayerOp;
    using enum LayerPass;
    CHECK(calls_of(list, GroupKind::tp, all_gather, forward, false) == 2);
    CHECK(calls_of(list, GroupKind::tp, reduce_scatter, forward, false) == 2);
    CHECK(calls_of(list, GroupKind::tp, all_gather, backward, false) == 2);
    CHECK(calls_of(list, GroupKind::tp, reduce_scatter, backward, false) == 2);
    CHECK(calls_of(list, GroupKind::tp, all_gather, backward, true) == 2);
    CHECK(list.totals.calls.size() == 2);
    // Korthikanti et al. 2022, section 4.2.2: without SP two all-reduces each way, of the same bytes.
    p.layout.sequence_parallel = false;
    const LayerList plain = layer_of(p);
    CHECK(calls_of(plain, GroupKind::tp, all_reduce, forward, false) == 2);
    CHECK(calls_of(plain, GroupKind::tp, all_reduce, backward, false) == 2);
    double sent = 0;
    for (const LayerStep& s : list.steps) sent += s.recomputed ? 0 : s.sent_bytes;
    CHECK(sent == near(plain.totals.calls[0].sent_bytes));
}

TEST_CASE("eight heads of keys over sixteen ranks are eight parts: a rank has one, two have the same") {
    Plan p = dense_plan(16);
    p.layout.tp = 16;
    std::set<std::pair<double, std::int64_t>> held;  // heads of a rank, parts
    for (const LayerStep& s : layer_of(p).steps)
        for (const LayerTensor& t : s.out)
            for (const LayerDim& d : t.dims)
                if (d.name == DimName::kv_heads && d.cut_by(GroupKind::tp))
                    for (const LayerCut& c : d.cuts) held.insert({d.local, c.parts});
    CHECK(held == std::set<std::pair<double, std::int64_t>>{{1.0, 8}});
}

TEST_CASE("a product over a cut inner dimension leaves summands, which the next collective adds up") {
    Plan p = dense_plan(8);
    p.layout.tp = 4, p.layout.cp = 2;
    const LayerList list = layer_of(p);
    int sums = 0;
    for (std::size_t i = 0; i + 1 < list.steps.size(); ++i) {
        const LayerStep& s = list.steps[i];
        if (s.op != LayerOp::matmul || s.out[0].weight || !s.out[0].partial_over(GroupKind::tp)) continue;
        ++sums;
        const auto next = std::find_if(list.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       list.steps.end(), [&](const LayerStep& x) {
                                           return is_collective(x.op) && x.group == GroupKind::tp
                                                  && !x.in.empty() && x.in[0].partial_over(GroupKind::tp);
                                       });
        REQUIRE(next != list.steps.end());
        const bool adds = next->op == LayerOp::reduce_scatter || next->op == LayerOp::all_reduce;
        CHECK(adds);
        CHECK_FALSE(next->out[0].partial_over(GroupKind::tp));
    }
    CHECK(sums == 4);  // out and down, and the input gradients of the two ways in
}

TEST_CASE("a layer's FLOPs are 2 of each parameter and token forward, and twice that backward") {
    Plan p = dense_plan(1);
    const LayerList list = layer_of(p);
    const Model& m = p.model;
    const double h = static_cast<double>(m.hidden), f = static_cast<double>(m.ffn), s = 8192;
    const double kv = static_cast<double>(m.kv_heads * m.head_dim);
    const double products = 2 * s * (2 * h * h + 2 * h * kv + 3 * h * f), scores = 4 * s * s * h;
    CHECK(list.totals.flops_forward == near(products + scores));
    CHECK(list.totals.flops_backward == near(2 * (products + scores)));
    CHECK(list.totals.calls.empty());
}

TEST_CASE("kept activations of one layer are Korthikanti's sbh (34 + 5as/h) without any cut") {
    Plan p = dense_plan(1);
    Model& m = p.model;
    m.kv_heads = m.heads, m.ffn = 4 * m.hidden, m.ffn_kind = FfnKind::gelu;
    p.training.sequence_length = 2048;
    p.training.attention = AttentionImpl::math;
    p.training.dropout = true;
    const double s = 2048, h = static_cast<double>(m.hidden), a = static_cast<double>(m.heads);
    CHECK(layer_of(p).totals.kept_bytes == near(s * h * (34 + 5 * a * s / h)));
    p.cluster.gpus = 8, p.layout.tp = 8;
    CHECK(layer_of(p).totals.kept_bytes == near(s * h * (34 + 5 * a * s / h) / 8));
    p.training.recompute = Recompute::selective;
    CHECK(layer_of(p).totals.kept_bytes == near(s * h * 34 / 8));
    p.training.recompute = Recompute::full;
    CHECK(layer_of(p).totals.kept_bytes == near(2 * s * h / 8));
}

TEST_CASE("the stash is empty when the backward is done, and what was dropped is run again") {
    Plan p = dense_plan(8);
    p.layout.tp = 8;
    for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
        p.training.recompute = r;
        const LayerList list = layer_of(p);
        CHECK(list.steps.back().stash_bytes == 0);
        const double again = list.totals.flops_recomputed;
        CHECK((again > 0) == (r != Recompute::none));
        if (r == Recompute::full) CHECK(again == near(list.totals.flops_forward));
    }
}

TEST_CASE("the ring sends c - 1 blocks forward; backward again, and c blocks of gradients") {
    Plan p = dense_plan(4);
    p.layout.cp = 4;
    const LayerList list = layer_of(p);
    using enum LayerPass;
    CHECK(calls_of(list, GroupKind::cp, LayerOp::ring_send, forward, false) == 3);
    CHECK(calls_of(list, GroupKind::cp, LayerOp::ring_send, backward, true) == 3);
    CHECK(calls_of(list, GroupKind::cp, LayerOp::ring_send, backward, false) == 4);
}

TEST_CASE("a product's line multiplies by the weight as its notation has it, forward and backward") {
    Plan p = dense_plan(8);
    p.layout.tp = 4, p.layout.dp_shard = 2;
    const LayerList list = layer_of(p);
    int products = 0;
    for (const LayerStep& s : list.steps) {
        if (s.op != LayerOp::matmul) continue;
        CAPTURE(std::string(words_of(s.what)));
        const std::string torch = line_of(s, Notation::megatron, true), jax = line_of(s, Notation::jax, true);
        CHECK(line_of(s, Notation::dtensor, true) == torch);
        ++products;
        if (s.out[0].weight) {  // outputs by inputs: gradients on the left
            CHECK(torch.find(".T @ " + s.in[0].name) != std::string::npos);
            CHECK(jax.find(s.in[0].name + ".T @ ") != std::string::npos);
            continue;
        }
        const auto weight =
            std::find_if(s.in.begin(), s.in.end(), [](const LayerTensor& t) { return t.weight; });
        REQUIRE(weight != s.in.end());
        const bool back = s.phase == LayerPass::backward && !s.recomputed;
        // The sum runs over the last dimension of the left factor, which the right one begins with.
        const std::string_view summed = s.in[0].dims.back().symbol;
        const std::string_view outputs = weight->dims[0].symbol, inputs = weight->dims.back().symbol;
        CHECK((back ? outputs : inputs).ends_with(summed));  // "ad": heads of d numbers, one behind the other
        CHECK((torch.find(weight->name + ".T") != std::string::npos) == !back);
        CHECK((jax.find(weight->name + ".T") != std::string::npos) == back);
    }
    CHECK(products >= 9);
    // The data's own cut is named.
    const auto norm = std::find_if(list.steps.begin(), list.steps.end(),
                                   [](const LayerStep& s) { return s.op == LayerOp::norm; });
    REQUIRE(norm != list.steps.end());
    CHECK(text_of(norm->out[0], Notation::dtensor, true).find("dp=Shard(1)") != std::string::npos);
    CHECK(text_of(norm->out[0], Notation::dtensor, false).find("dp=") == std::string::npos);
}

// Megatron-LM ssm/gated_delta_net.py hands q, k, v, gate, beta and decay from tokens to heads
// (tensor_a2a_cp2hp); of Kimi's delta net the decay is as wide as the keys (Kimi Team 2025, section 3).
TEST_CASE("over cp a delta net exchanges all that its scan takes") {
    Plan p = dense_plan(8);
    p.layout.tp = p.layout.cp = 2, p.layout.dp_shard = 2;
    p.model.pattern = {{MixerKind::linear, LayerFfn::dense, 1}};
    const double keys = 16 * 64, values = 32 * 48, heads = 32;
    const auto exchanged = [&](LinearKind kind) {
        p.model.linear = Linear{kind, 16, 32, 64, 48, 4, false, false};
        const LayerList list = layer_of(p);
        double bytes = 0;
        for (const LayerStep& s : list.steps)
            if (s.what == What::inputs_of_the_scan_to_heads) bytes += s.message_bytes;
        const double tokens = static_cast<double>(p.training.sequence_length * p.training.micro_batch) / 2;
        return bytes / (tokens / 2 * 2);  // over tp, in bf16
    };
    CHECK(exchanged(LinearKind::gated_delta) == near(2 * keys + 2 * values + 2 * heads));
    CHECK(exchanged(LinearKind::kimi_delta) == near(3 * keys + 2 * values + heads));
    CHECK(exchanged(LinearKind::lightning) == near(2 * keys + 2 * values));
}

TEST_CASE("a layer's gradients and parameters move as often as the step's, over the same ranks") {
    test::LayerPlans plans(5);
    int seen = 0, of_experts = 0;
    for (int round = 0; round < 300; ++round) {
        Plan p = plans.next();
        p.layout.pp = 1;
        const Evaluation e = evaluate(p, {.timeline = false});
        if (!e.valid) continue;
        const LayerTypes types = layer_types(p.model);
        for (int t = 0; t < types.size(); ++t)
            for (const LayerStep& s : list_layer(p, e.mesh, e.groups, t).steps) {
                if (s.block != LayerBlock::weights || !is_collective(s.op)) continue;
                const auto same = [&](const Operation& o) {
                    return o.what == s.what && o.group == s.group && o.group_size == s.group_size;
                };
                const auto o = std::ranges::find_if(e.comm.operations, same);
                CAPTURE(round);
                REQUIRE(o != e.comm.operations.end());
                CHECK((o->each != GradientReduction::micro_batch) == s.per_step);
                ++seen, of_experts += is_expert(s.group);
            }
    }
    CHECK(seen > 300);
    CHECK(of_experts > 30);
}

// Rajbhandari et al. 2020 (ZeRO), section 7: a reduce-scatter of the gradients and an all-gather of the
// parameters, each of all numbers; a replica group sums what is left. A Llama layer has 2h(q + kv) + 3hf + 2h
// numbers.
TEST_CASE("with ZeRO-2 over 4 ranks and 2 replicas a layer's calls have the bytes of its numbers") {
    Plan p = dense_plan(8);
    p.layout.tp = 1, p.layout.sequence_parallel = false, p.layout.dp_shard = 4, p.layout.dp_replicate = 2,
    p.layout.zero = 2;
    p.training.global_batch = 64;
    Model& m = p.model;
    m.mlp_bias = m.attention_bias = false, m.ffn_kind = FfnKind::swiglu;
    const double h = static_cast<double>(m.hidden), q = static_cast<double>(m.heads * m.head_dim),
                 kv = static_cast<double>(m.kv_heads * m.head_dim), f = static_cast<double>(m.ffn);
    const double numbers = 2 * h * (q + kv) + 3 * h * f + 2 * h;
    const auto bytes_of_call = [&](What what) {
        double bytes = 0;
        for (const LayerStep& s : layer_of(p).steps)
            if (s.what == what) bytes += s.message_bytes;
        return bytes;
    };
    CHECK(bytes_of_call(What::gradients) == near(numbers * bytes_of(p.training.gradients)));
    CHECK(bytes_of_call(What::updated_parameters) == near(numbers * 2));
    CHECK(bytes_of_call(What::gradients_of_the_shard_across_replicas)
          == near(numbers / 4 * bytes_of(p.training.gradients)));
}
