#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/pipeline/stages.h"
#include "tests/core/memory_plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace pentamesh;
using namespace pentamesh::test;
using nlohmann::json;

namespace {

std::vector<json> cases(const std::string& kind) {
    std::ifstream in(std::string(GOLDEN_DIR) + "/memory.json");
    REQUIRE(in.good());
    std::vector<json> out;
    const json all = json::parse(in);
    for (const json& c : all["cases"])
        if (c["kind"] == kind) out.push_back(c);
    REQUIRE_FALSE(out.empty());
    return out;
}

double state_bytes(const StageMemory& s) {
    return s.parameters + s.gradients + s.optimizer;
}

// Returns the memory plans of Korthikanti et al. 2022.
Plan korthikanti(const json& c) {
    const json &g = c["config"], &l = c["layout"];
    Plan p = plan_of_size(g["layers"], g["hidden"], g["heads"]);
    p.model.ffn_kind = FfnKind::gelu;
    p.model.vocab = 51200;
    p.model.tied_embeddings = p.model.attention_bias = p.model.mlp_bias = true;
    p.model.norm = NormKind::layernorm;
    p.model.positions = Positions::learned;
    p.model.max_positions = 2048;
    p.layout.tp = l["tp"];
    p.layout.sequence_parallel = l["sequence_parallel"];
    p.layout.pp = l.value("pp", 1);
    p.layout.virtual_stages = l.value("virtual_stages", 1);
    if (p.layout.virtual_stages > 1) p.layout.schedule = Schedule::interleaved;
    p.training.sequence_length = g["sequence"];
    p.training.micro_batch = g["micro_batch"];
    p.training.global_batch = p.training.micro_batch * 4 * p.layout.pp;
    p.training.attention = AttentionImpl::math;
    p.training.dropout = true;
    const std::string r = l["recompute"];
    p.training.recompute = r == "none"   ? Recompute::none
                           : r == "full" ? Recompute::full
                                         : Recompute::selective;
    return p;
}

}  // namespace

TEST_CASE("weights and optimizer of the first stage are those of Megatron's estimator") {
    int checked = 0;
    for (const json& c : cases("megatron_weight_and_optimizer")) {
        const json &g = c["config"], &l = c["layout"];
        if (l["cp"] > 1 && l["zero"] > 0) continue;  // it divides by dp, its optimizer by dp * cp
        Plan p = plan_of_size(g["layers"], g["hidden"], g["heads"]);
        Model& m = p.model;
        m.kv_heads = g["kv_heads"];
        m.head_dim = g["head_dim"];
        m.ffn = g["ffn"];
        m.ffn_kind = g["ffn_kind"] == "swiglu" ? FfnKind::swiglu : FfnKind::gelu;
        m.vocab = g["vocab"];
        m.tied_embeddings = g["tied"];
        m.norm = g["norm"] == "rmsnorm" ? NormKind::rmsnorm : NormKind::layernorm;
        if (!g["experts"].is_null())
            m.moe = Moe{g["experts"], g["top_k"], g["expert_ffn"], 0, 0, 0, 1, false, false, 0};
        p.layout.tp = l["tp"];
        p.layout.cp = l["cp"];
        p.layout.pp = l["pp"];
        p.layout.ep = l["ep"];
        p.layout.etp = l["etp"].get<std::int64_t>();
        p.layout.zero = l["zero"];
        (p.layout.zero > 0 ? p.layout.dp_shard : *p.layout.dp_replicate) = l["dp"];
        p.training.global_batch = l["dp"].get<std::int64_t>() * p.layout.pp;
        CAPTURE(c.dump());
        CHECK(state_bytes(memory_of(p).stage[0]) == near(c["bytes"].get<double>(), 2e-3));
        ++checked;
    }
    CHECK(checked > 10);
}

TEST_CASE("activations of a layer are Table 2 of Korthikanti et al.") {
    for (const json& c : cases("korthikanti_layer")) {
        CAPTURE(c.dump());
        const double want = c["bytes_per_layer_per_microbatch"];
        CHECK(memory_of(korthikanti(c)).stage[0].activations_per_layer == near(want, 1e-9));
    }
}

TEST_CASE("layer activations of the first stage grow by 1 + (p-1)/(pv) when interleaved") {
    for (const json& c : cases("korthikanti_first_stage")) {
        CAPTURE(c.dump());
        const double want = c["layer_activations_bytes"];
        CHECK(memory_of(korthikanti(c)).stage[0].layer_activations == near(want, 1e-6));
    }
}

TEST_CASE("model state shrinks with each ZeRO stage as the ZeRO paper says") {
    for (const json& c : cases("zero_paper"))
        for (int z = 0; z < 4; ++z) {
            Plan p = plan_of_size(8, 4096, 32);
            p.layout.zero = z;
            (z > 0 ? p.layout.dp_shard : *p.layout.dp_replicate) = c["dp"];
            p.training.global_batch = c["dp"];
            p.training.gradients = Dtype::bf16;
            const double total = static_cast<double>(count_parameters(p.model).total);
            const double got = state_bytes(memory_of(p).stage[0]) / total * c["params"].get<double>();
            CHECK(got == near(c["zero" + std::to_string(z)].get<double>(), 1e-6));
        }
}

TEST_CASE("layers lie as evenly as possible, the ends taking the fewer") {
    const auto chunks = [](std::int64_t layers, std::int64_t pp, std::int64_t v = 1) {
        Plan p = plan_of_size(layers, 64, 1);
        p.layout.pp = pp;
        p.layout.virtual_stages = v;
        std::vector<std::int64_t> out;
        layers_of_chunks(p, out);
        return out;
    };
    using Chunks = std::vector<std::int64_t>;
    CHECK(chunks(126, 16) == Chunks{7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7});
    CHECK(chunks(8, 4) == Chunks{2, 2, 2, 2});
    CHECK(chunks(9, 2) == Chunks{4, 5});
    CHECK(chunks(11, 4) == Chunks{2, 3, 3, 3});
    CHECK(chunks(10, 2, 2) == Chunks{2, 3, 3, 2});
    CHECK(chunks(61, 16).front() == 3);
    CHECK(chunks(61, 16).back() == 3);
    CHECK(chunks(3, 5) == Chunks{0, 1, 1, 1, 0});
    CHECK(chunks(8, std::int64_t{1} << 31).empty());
    for (std::int64_t layers = 1; layers < 60; ++layers)
        for (std::int64_t pp = 1; pp < 12; ++pp) {
            const Chunks c = chunks(layers, pp);
            std::int64_t sum = 0;
            for (const std::int64_t n : c) sum += n;
            CHECK(sum == layers);
            const auto [low, high] = std::minmax_element(c.begin(), c.end());
            CHECK(*high - *low <= 1);
            CHECK(c.front() == *low);
        }
    Plan p = plan_of_size(10, 64, 1);
    p.layout.pp = 2;
    p.layout.stage_layers = {7, 3};
    Chunks out;
    layers_of_chunks(p, out);
    CHECK(out == Chunks{7, 3});
}

TEST_CASE("embedding and head lie on the devices of the first and last chunk") {
    Plan p = plan_of_size(16, 1024, 8);
    p.layout.pp = 4;
    p.training.global_batch = 16;
    const auto ends = [&](Schedule s, std::int64_t v) {
        p.layout.schedule = s;
        p.layout.virtual_stages = v;
        std::string text;
        for (const StageMemory& m : memory_of(p).stage)
            text += m.embedding && m.head ? 'b' : m.embedding ? 'e' : m.head ? 'h' : '.';
        return text;
    };
    CHECK(ends(Schedule::one_f_one_b, 1) == "e..h");
    CHECK(ends(Schedule::interleaved, 2) == "e..h");
    CHECK(ends(Schedule::zb_v, 2) == "b...");
    CHECK(ends(Schedule::dualpipev, 2) == "b...");
    CHECK(ends(Schedule::dualpipe, 1) == "b..b");
}

TEST_CASE("a tied embedding is counted on both ends of the pipeline, once where both are one device") {
    Plan p = plan_of_size(16, 1024, 8);
    p.model.tied_embeddings = true;
    const double whole_model = static_cast<double>(count_parameters(p.model).total);
    const double embedding = static_cast<double>(p.model.vocab * p.model.hidden);
    const auto held = [&] {
        double sum = 0;
        for (const StageMemory& s : memory_of(p).stage) sum += static_cast<double>(s.parameters_held);
        return sum;
    };
    CHECK(held() == whole_model);
    p.layout.pp = 4;
    p.training.global_batch = 16;
    CHECK(held() == whole_model + embedding);
    p.layout.schedule = Schedule::zb_v;
    p.layout.virtual_stages = 2;
    CHECK(held() == whole_model);
}

TEST_CASE("DualPipe holds parameters and gradients twice, the optimizer once") {
    Plan p = plan_of_size(16, 1024, 8);
    p.layout.pp = 4;
    p.training.global_batch = 16;
    const auto sums = [&] {
        StageMemory sum;
        for (const StageMemory& s : memory_of(p).stage) {
            sum.parameters += s.parameters;
            sum.gradients += s.gradients;
            sum.optimizer += s.optimizer;
        }
        return sum;
    };
    const StageMemory one = sums();
    p.layout.schedule = Schedule::dualpipe;
    const StageMemory two = sums();
    CHECK(two.parameters == 2 * one.parameters);
    CHECK(two.gradients == 2 * one.gradients);
    CHECK(two.optimizer == one.optimizer);
}

TEST_CASE("an MTP layer and its copy of the embedding lie with the last stage") {
    Plan p = plan_of_size(16, 1024, 8);
    p.layout.pp = 4;
    p.training.global_batch = 16;
    const Memory without = memory_of(p);
    p.model.mtp_layers = 1;
    const Memory with = memory_of(p);
    for (int d = 0; d < 3; ++d) CHECK(with.stage[d].parameters_held == without.stage[d].parameters_held);
    CHECK(with.stage[3].parameters_held - without.stage[3].parameters_held
          == count_parameters(p.model).mtp + p.model.vocab * p.model.hidden);
    CHECK(with.stage[3].activations > without.stage[3].activations);
    CHECK(with.stage[3].layer_activations == without.stage[3].layer_activations);
}

TEST_CASE("key and value heads fewer than tp are copied, the vocabulary is padded to the cut") {
    Plan p = plan_of_size(1, 1024, 16);
    p.model.kv_heads = 2;
    p.model.vocab = 1001;
    p.layout.tp = 8;
    const Model& m = p.model;
    const std::int64_t vocab = 128 * m.hidden, whole = 126 * m.hidden, kv = m.head_dim * m.hidden;
    const std::int64_t q = 2 * m.head_dim * m.hidden, mlp = 3 * m.ffn / 8 * m.hidden, norms = 3 * m.hidden;
    CHECK(memory_of(p).stage[0].parameters_held == 2 * vocab + 2 * kv + 2 * q + mlp + norms);
    p.training.software = Software::nanotron;  // cut evenly, padded no further
    CHECK(memory_of(p).stage[0].parameters_held == 2 * whole + 2 * kv + 2 * q + mlp + norms);
}

// Megatron-LM, vocab_size_with_padding: 50,257 becomes 50,304 with tp 1.
TEST_CASE("one padded vocabulary: parameters, logits and the head's time have the same rows") {
    Plan p = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("single-gpu");
    REQUIRE(p.model.vocab == 50257);
    Plan padded = p, plain = p;
    padded.model.vocab = 50304;
    plain.training.software = padded.training.software = Software::fsdp;
    const Evaluation e = evaluate(p);
    CHECK(e.memory.stage[0].parameters_held - e.parameters.total == 47 * p.model.hidden);
    padded.training.software = Software::megatron;
    const Evaluation same = evaluate(padded);
    CHECK(e.memory.stage[0].parameters_held == same.memory.stage[0].parameters_held);
    CHECK(e.memory.stage[0].activations == same.memory.stage[0].activations);
    REQUIRE((e.step && same.step));
    CHECK(e.step->compute_s == near(same.step->compute_s));
    CHECK(evaluate(plain).memory.stage[0].parameters_held == e.parameters.total);
    // Rows of 50,257 numbers begin on no line: the products of the head are slower.
    Plan lines = plain;
    lines.model.vocab = 50304;
    CHECK(evaluate(plain).step->compute_s > 1.01 * evaluate(lines).step->compute_s);
}

TEST_CASE("experts are cut by ep and etp, the rest of the layer by tp") {
    const Plan p = moe_plan();
    const Memory m = memory_of(p);
    CHECK(m.stage[0].moe_layers == 4);
    CHECK(m.stage[1].moe_layers == 6);
    Plan fewer = p;
    fewer.model.moe->experts = 12;
    const std::int64_t expert = 3 * 512 * 1024, router_row = 1024 + 1;
    CHECK(m.stage[1].parameters_held - memory_of(fewer).stage[1].parameters_held
          == 6 * (expert + 4 * router_row));
}

TEST_CASE("dispatched tokens take the place of a layer's own in the experts, times the imbalance") {
    Plan p = moe_plan();
    const auto bytes = [&](TensorId id) {
        for (const KeptBytes& a : kept_tensors(p, true))
            if (a.id == id) return a.bytes;
        FAIL("no activation ", name_of(id));
        return 0.0;
    };
    // 2048 tokens for 2 experts each, a tp-th of them from this rank's part of the sequence.
    CHECK(bytes(TensorId::experts_input) == 2048.0 * 2 / 2 * 1024 * 2);
    CHECK(bytes(TensorId::experts_up) == 2048.0 * 2 / 2 * 512 * 2);
    CHECK(bytes(TensorId::router_logits) == 2048.0 / 2 * 16 * 4);
    CHECK(bytes(TensorId::shared_expert_product) == 2048.0 * 768 / 2 * 2);
    p.training.router_imbalance = 1.5;
    CHECK(bytes(TensorId::experts_up) == 1.5 * 2048 * 2 / 2 * 512 * 2);
    p.layout.etp = 2;  // then each holds half the width, and all of the pair's tokens
    CHECK(bytes(TensorId::experts_up) == 1.5 * 2048 * 2 * 512 / 2 * 2);
}

TEST_CASE("the activations of a layer, tensor by tensor, add up to the stage's figure") {
    for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full})
        for (const AttentionImpl a : {AttentionImpl::flash, AttentionImpl::math})
            for (const bool moe : {false, true}) {
                Plan p = moe ? moe_plan() : plan_of_size(4, 1024, 8);
                p.training.recompute = r;
                p.training.attention = a;
                p.training.dropout = moe;
                double sum = 0;
                for (const KeptBytes& x : kept_tensors(p, moe))
                    if (x.kept) sum += x.bytes;
                CHECK(sum == memory_of(p).stage[0].activations_per_layer);
            }
}

TEST_CASE("context parallelism divides every activation, and Ulysses copies heads that are too few") {
    Plan p = plan_of_size(4, 1024, 8);
    p.training.attention = AttentionImpl::math;
    const double whole_sequence = memory_of(p).stage[0].activations_per_layer;
    p.layout.cp = 4;
    CHECK(memory_of(p).stage[0].activations_per_layer == whole_sequence / 4);
    p.model.kv_heads = 2;
    const double ring = memory_of(p).stage[0].activations_per_layer;
    p.layout.cp_comm = CpComm::ulysses;
    // Two heads for four ranks: keys and values twice as large.
    CHECK(memory_of(p).stage[0].activations_per_layer == ring + 2.0 * 512 * 2 * 128 * 2);
}

TEST_CASE("optimizers keep the states that they are known for") {
    Plan p = plan_of_size(4, 1024, 8);
    const double n = static_cast<double>(count_parameters(p.model).total);
    const auto bytes = [&](Optimizer o, Dtype state, MasterWeights master) {
        p.training.optimizer = o;
        p.training.optimizer_state = state;
        p.training.master_weights = master;
        return memory_of(p).stage[0].optimizer;
    };
    CHECK(bytes(Optimizer::adamw, Dtype::fp32, MasterWeights::fp32) == 12 * n);
    CHECK(bytes(Optimizer::adamw, Dtype::bf16, MasterWeights::none) == 4 * n);
    CHECK(bytes(Optimizer::adamw, Dtype::bf16, MasterWeights::bf16) == 4 * n);  // the parameters are bf16
    CHECK(bytes(Optimizer::sgd_momentum, Dtype::fp32, MasterWeights::none) == 4 * n);
    CHECK(bytes(Optimizer::adamw_8bit, Dtype::fp32, MasterWeights::none) == near(2 * n * (1 + 4.0 / 256)));
    const double ends = 2.0 * 128000 * 1024 + 9 * 1024;  // embedding, head and norms keep AdamW
    CHECK(bytes(Optimizer::muon, Dtype::fp32, MasterWeights::none) == 4 * (n - ends) + 8 * ends);
    p.training.parameters = Dtype::fp32;
    CHECK(bytes(Optimizer::adamw, Dtype::fp32, MasterWeights::fp32) == 8 * n);
}

TEST_CASE("fp8 parameters store the large matrices alone in fp8: once, or both ways where products need it") {
    Plan p = plan_of_size(4, 1024, 8);
    const double n = static_cast<double>(count_parameters(p.model).total);
    const double ends = 2.0 * 128000 * 1024 + 9 * 1024;
    p.training.parameters = Dtype::fp8;
    const double once = (n - ends) + 2 * ends, both_ways = 2 * n;
    p.cluster.gpu.fp8_any_layout = false;  // Hopper
    CHECK(memory_of(p).stage[0].parameters == both_ways);
    p.layout.zero = 3;
    CHECK(memory_of(p).stage[0].parameters == once);
    p.cluster.gpu.fp8_any_layout = true;  // Blackwell
    p.layout.zero = 1;
    CHECK(memory_of(p).stage[0].parameters == once);
    for (const Fp8Recipe recipe : {Fp8Recipe::rowwise, Fp8Recipe::blockwise, Fp8Recipe::mxfp8}) {
        p.training.fp8_recipe = recipe;
        CHECK(memory_of(p).stage[0].parameters == both_ways);
    }
}

TEST_CASE("stages add up: categories to the total, the buffers' parts to the buffers, whole bytes") {
    for (Plan p : {plan_of_size(16, 1024, 8), moe_plan()}) {
        p.layout.pp = 2;
        p.layout.zero = 3;
        p.layout.cp = 2;
        p.training.recompute = Recompute::full;
        const Mesh mesh = build_mesh(p);
        const Memory m = memory_of(p);
        std::vector<BufferBytes> parts;
        for (const StageMemory& s : m.stage) {
            double sum = 0, low = 0, mid = 0, high = 0;
            for (int c = 0; c < kMemoryCategoryCount; ++c) {
                const double b = bytes_of(s, static_cast<MemoryCategory>(c));
                CHECK(b == std::floor(b));
                sum += b;
            }
            CHECK(sum == s.total());
            list_buffers(p, mesh, s, parts);
            for (const BufferBytes& b : parts) {
                CHECK(b.low <= b.mid);
                CHECK(b.mid <= b.high);
                low += b.low;
                mid += b.mid;
                high += b.high;
            }
            CHECK(low == s.buffers_low);
            CHECK(mid == s.buffers);
            CHECK(high == s.buffers_high);
            CHECK(m.peak() >= s.total());
        }
    }
}

TEST_CASE("full recompute keeps layer inputs and holds one layer's activations while it runs again") {
    Plan p = plan_of_size(8, 1024, 8);
    p.layout.pp = 2;  // recomputed tensors take the place of the head's: a stage without a head
    const Memory none = memory_of(p);
    p.training.recompute = Recompute::full;
    const Memory full = memory_of(p);
    CHECK(full.stage[0].layer_activations == full.stage[0].in_flight * 4.0 * 2 * 2048 * 1024);
    std::vector<BufferBytes> parts;
    list_buffers(p, build_mesh(p), full.stage[0], parts);
    const auto again = std::find_if(parts.begin(), parts.end(), [](const BufferBytes& b) {
        return b.buffer == Buffer::recomputed_layer;
    });
    REQUIRE(again != parts.end());
    CHECK(again->mid == none.stage[0].activations_per_layer - 2.0 * 2048 * 1024);
}

// DeepSeek-V3.2, section 2.1: 64 heads of 128 choose 2,048 keys for each token; topk's indices are kept as
// int32.
TEST_CASE("sparse attention keeps its indexer's queries, keys, weights and choice") {
    Plan p = plan_of_size(2, 7168, 128);
    p.model.attention = AttentionKind::mla;
    p.model.mla = Mla{};
    p.model.mla->q_lora_rank = 1536, p.model.mla->kv_lora_rank = 512;
    p.model.mla->qk_nope_head_dim = p.model.mla->v_head_dim = 128, p.model.mla->qk_rope_head_dim = 64;
    const double without = memory_of(p).stage[0].activations_per_layer;
    p.model.mla->index_heads = 64, p.model.mla->index_head_dim = 128, p.model.mla->index_top_k = 2048;
    const double bytes_per_token = 2 * (64 * 128 + 128 + 64) + 4 * 2048;
    CHECK(memory_of(p).stage[0].activations_per_layer - without == near(2048 * bytes_per_token));
}

TEST_CASE("a stage without layers keeps nothing of a layer") {
    Plan p = plan_of_size(4, 1024, 8);
    p.layout.pp = 4;
    p.layout.stage_layers = {0, 1, 2, 1};
    p.training.global_batch = 8;
    const Memory m = memory_of(p);
    CHECK(m.stage[0].activations_per_layer == 0);
    CHECK(m.stage[1].activations_per_layer == m.stage[2].activations_per_layer);
}

TEST_CASE("a mesh that is no mesh, and flights that do not match it, give no stages") {
    Plan p = plan_of_size(8, 1024, 8);
    p.layout.pp = 4;
    Memory m;
    compute_memory(p, build_mesh(p), {1.0, 1.0}, m);
    CHECK(m.stage.empty());
    CHECK(m.peak() == 0);
}

// docs/memory.md: at ZeRO-2 a layer's gradients wait to be reduced, two layers' and those of embedding and
// head at most, and never more than a rank has beyond its shard.
TEST_CASE("unreduced gradients are of a layer, of two and of both ends at most") {
    for (const std::int64_t layers : {12, 1}) {
        Plan p = plan_of_size(layers, 1024, 16);
        p.cluster.gpus = p.layout.dp_shard = 8, p.layout.zero = 2;
        p.training.global_batch = 8, p.training.gradients = Dtype::fp32;
        const double h = 1024, layer = 4 * h * h + 3 * h * 4 * h + 2 * h, ends = 2 * 128000 * h + h;
        const double beyond = (static_cast<double>(layers) * layer + ends) * 7 / 8;
        const Mesh mesh = build_mesh(p);
        std::vector<BufferBytes> buffers;
        list_buffers(p, mesh, memory_of(p).stage.front(), buffers);
        const auto found = std::ranges::find(buffers, Buffer::unreduced_gradients,
                                             [](const BufferBytes& b) { return b.buffer; });
        REQUIRE(found != buffers.end());
        CHECK(found->low == near(4 * layer));
        CHECK(found->mid == near(4 * layer));
        CHECK(found->high == near(4 * std::min(2 * layer + ends, beyond)));
    }
}

TEST_CASE("the numbers that a GPU keeps between steps are its bytes of parameters, two for each in bf16") {
    const Presets presets(SOURCE_DIR "/presets");
    int experts = 0, cut = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan))
        for (const int zero : {1, 3}) {
            Plan p = presets.plan(entry.id);
            p.layout.zero = zero, p.training.parameters = Dtype::bf16;
            if (p.layout.schedule == Schedule::dualpipe) continue;  // it holds every parameter twice
            const Evaluation e = evaluate(p);
            CAPTURE(entry.id);
            CAPTURE(zero);
            for (const StageMemory& s : e.memory.stage) {
                CHECK(s.parameters == near(2 * static_cast<double>(s.parameters_kept), 1e-6));
                experts += p.model.moe && zero == 3;
                cut += s.parameters_kept < s.parameters_held;
            }
        }
    CHECK(experts == 2);
    CHECK(cut > 5);
}

// docs/memory.md: keys and values of the next block in a ring (Liu et al. 2023), of the whole sequence where
// they are gathered (Grattafiori et al. 2024), of the heads exchanged by Ulysses.
TEST_CASE("keys and values that context parallelism brings in are a rank's own, so many times") {
    struct Case {
        CpComm comm;
        double low, mid, high;
    };
    for (const Case& c :
         {Case{CpComm::ring, 1, 2, 4}, Case{CpComm::allgather, 4, 4, 8}, Case{CpComm::ulysses, 1, 1, 2}}) {
        Plan p = plan_of_size(4, 1024, 16);
        p.cluster.gpus = p.layout.cp = 4, p.layout.cp_comm = c.comm;
        const double own = 2 * 2048.0 / 4 * 1024 * 2;  // both, of a quarter of 2,048 tokens, in bf16
        std::vector<BufferBytes> buffers;
        list_buffers(p, build_mesh(p), memory_of(p).stage.front(), buffers);
        const auto found = std::ranges::find(buffers, Buffer::keys_and_values, &BufferBytes::buffer);
        REQUIRE(found != buffers.end());
        CHECK(found->low == near(c.low * own));
        CHECK(found->mid == near(c.mid * own));
        CHECK(found->high == near(c.high * own));
    }
}

TEST_CASE("a plan that names its loss hangs on no other, and keeps the bytes of the software that has it") {
    Plan plan = test::presets().plan("llama-3-8b-fsdp");
    plan.layout.tp = 2, plan.layout.dp_shard /= 2, plan.layout.zero = 1;
    plan.training.software = Software::megatron;
    const double logits = static_cast<double>(plan.training.micro_batch * plan.training.sequence_length)
                          * static_cast<double>(plan.model.vocab);
    // A GPU has room for the plan, and for a tenth of what another loss would keep.
    const StageMemory last_stage = evaluate(plan).memory.stage.back();
    plan.cluster.gpu.hbm_bytes =
        std::max(evaluate(plan).memory.peak(), last_stage.total() + 0.1 * last_stage.loss_other);
    const Evaluation open = evaluate(plan);
    CHECK(open.memory.hangs_on_loss());
    const auto peak = [&](LossKernel kernel) {
        plan.training.loss_kernel = kernel;
        const Evaluation e = evaluate(plan);
        for (const StageMemory& s : e.memory.stage) CHECK(s.loss_other == 0);
        double last = 0;  // the head's stage
        for (const StageMemory& s : e.memory.stage) last = s.total();
        return last;
    };
    const double cut = logits / static_cast<double>(plan.layout.tp);
    const double fp32 = peak(LossKernel::fp32), in_place = peak(LossKernel::in_place);
    CHECK(fp32 == open.memory.stage.back().total());  // Megatron's own
    // The allocator reserves a share more than the 4 bytes a logit between them.
    CHECK(fp32 - in_place >= 4 * cut);
    CHECK(fp32 - in_place <= 1.1 * 4 * cut);
    CHECK(peak(LossKernel::chunked) < in_place);
    CHECK(peak(LossKernel::eager) - fp32 >= 16 * cut);  // 22 bytes where tp cuts the vocabulary
}
