#include "core/io/hf_families.h"
#include "core/io/presets.h"
#include "core/model/model.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace pentamesh;
using nlohmann::json;

namespace {

json load(const std::string& path) {
    std::ifstream in(path);
    REQUIRE_MESSAGE(in.good(), path);
    return json::parse(in);
}

std::vector<json> golden_cases() {
    return load(std::string(GOLDEN_DIR) + "/params.json")["cases"].get<std::vector<json>>();
}

Model model_of_case(const json& c) {
    if (c.contains("hf_config")) {
        const std::string path = std::string(GOLDEN_DIR) + "/" + c["hf_config"].get<std::string>();
        return model_from_hf(load(path), path);
    }
    const json& g = c["gpt"];
    Model m;
    m.layers = g["layers"];
    m.hidden = g["hidden"];
    m.heads = m.kv_heads = g["heads"];
    m.head_dim = m.hidden / m.heads;
    m.ffn = g["ffn"];
    m.ffn_kind = FfnKind::gelu;
    m.vocab = g["vocab"];
    m.tied_embeddings = true;
    m.norm = NormKind::layernorm;
    m.positions = Positions::learned;
    m.max_positions = g["max_positions"];
    m.attention_bias = m.mlp_bias = true;
    return m;
}

}  // namespace

TEST_CASE("parameter counts equal the released checkpoints to the unit") {
    int checked = 0;
    for (const json& c : golden_cases()) {
        CAPTURE(c["model"].get<std::string>());
        const ParameterCounts n = count_parameters(model_of_case(c));
        if (c.contains("total_billions_rounded")) {
            CHECK(std::round(static_cast<double>(n.total) / 1e8) / 10
                  == c["total_billions_rounded"].get<double>());
        } else {
            CHECK(n.total == c["total"].get<std::int64_t>());
            CHECK(n.active == c["active"].get<std::int64_t>());
            if (c.contains("active_without_embedding"))
                CHECK(n.active_without_embedding == c["active_without_embedding"].get<std::int64_t>());
            if (n.mtp > 0 && c.value("mtp", std::int64_t{0}) > 0)
                CHECK(n.mtp == c["mtp"].get<std::int64_t>());
            for (int k = 0; k < kTensorKindCount; ++k) {
                const std::string kind(name_of(static_cast<TensorKind>(k)));
                CAPTURE(kind);
                CHECK(n.by_kind[static_cast<std::size_t>(k)] == c["by_kind"].value(kind, std::int64_t{0}));
            }
        }
        ++checked;
    }
    CHECK(checked == 45);
}

TEST_CASE("the models that ship count as the golden data and as their released checkpoints") {
    const Presets presets(std::string(SOURCE_DIR) + "/presets");
    for (const json& c : golden_cases()) {
        const std::string id = c["model"];
        CAPTURE(id);
        const ParameterCounts n = count_parameters(presets.model(id));
        if (c.contains("total")) CHECK(n.total == c["total"].get<std::int64_t>());
        if (c.contains("active")) CHECK(n.active == c["active"].get<std::int64_t>());
    }
    // Parameter counts of the released checkpoints.
    const std::pair<const char*, std::int64_t> released[] = {
        {"llama-2-13b", 13015864320},      {"llama-2-70b", 68976648192},  {"llama-3.1-8b", 8030261248},
        {"llama-3.1-70b", 70553706496},    {"llama-3.2-1b", 1235814400},  {"mixtral-8x22b", 140620634112},
        {"qwen2.5-32b", 32763876352},      {"qwen3-32b", 32762123264},    {"qwen1.5-moe-a2.7b", 14315784192},
        {"gemma-2-27b", 27227128320},      {"gemma-3-1b", 999885952},     {"deepseek-v2", 235741434880},
        {"deepseek-v2-lite", 15706484224}, {"gpt-oss-20b", 20914757184},  {"phi-2", 2779683840},
        {"phi-3-mini", 3821079552},        {"phi-3-medium", 13960238080}, {"olmo-7b", 6888095744},
        {"olmo-2-7b", 7298617344},         {"gpt-neox-20b", 20554567680}, {"kimi-k2", 1026408232448}};
    for (const auto& each : released) {
        CAPTURE(each.first);
        CHECK(count_parameters(presets.model(each.first)).total == each.second);
    }
    // These are published in billions, in all and of one token (0: dense), with half of the last digit.
    struct Published {
        const char* id;
        double total, active, half;
    };
    const Published published[] = {{"qwen3.5-27b", 27e9, 0, 0.5e9},
                                   {"mimo-v2-flash", 309e9, 15e9, 0.5e9},
                                   {"glm-4.7-flash", 30e9, 0, 0.5e9}};
    for (const Published& p : published) {
        CAPTURE(p.id);
        const ParameterCounts n = count_parameters(presets.model(p.id));
        CHECK(std::abs(static_cast<double>(n.total) - p.total) <= p.half);
        if (p.active > 0) CHECK(std::abs(static_cast<double>(n.active) - p.active) <= p.half);
    }
    // The hub counts 31 billion in zai-org/GLM-4.7-Flash: its layer of multi-token prediction has an
    // embedding and a head of its own there.
    const ParameterCounts flash = count_parameters(presets.model("glm-4.7-flash"));
    CHECK(std::abs(static_cast<double>(flash.total + flash.mtp + 2 * 154880 * 2048) - 31e9) <= 0.5e9);
}

// The lists are those of NVIDIA-NeMo/Megatron-Bridge 067f987d (src/megatron/bridge/models, recipes, and
// examples/model_verification_cards, which count what was converted) and of NVIDIA-NeMo/Automodel 36044ad3.
TEST_CASE("the models of Megatron-Bridge's lists count as their checkpoints do") {
    const Presets presets(std::string(SOURCE_DIR) + "/presets");
    const auto count = [&](const char* id) { return count_parameters(presets.model(id)); };
    const std::pair<const char*, std::int64_t> released[] = {{"gemma-2b", 2506172416},
                                                             {"gemma-7b", 8537680896},
                                                             {"gemma-2-2b", 2614341888},
                                                             {"olmoe-1b-7b", 6919161856},
                                                             {"ernie-4.5-0.3b", 360748032},
                                                             {"mistral-7b-v0.3", 7248023552},
                                                             {"nemotron-3-nano-4b", 3973556832},
                                                             {"exaone-4.0-1.2b", 1279391488},
                                                             {"nemotron-nano-12b-v2", 12310001152}};
    for (const auto& each : released) {
        CAPTURE(each.first);
        CHECK(count(each.first).total == each.second);
    }

    // Elements of the checkpoint, with the layer for multi-token prediction.
    const ParameterCounts glm = count("glm-5.2"), lightning = count("nemotron-3.5-lightning");
    CHECK(glm.total + glm.mtp == 753329940480);
    CHECK(glm.total - 75 * 256
          == 743377000704);  // as transformers counts, where the routers' bias is no parameter
    CHECK(lightning.total + lightning.mtp == 32913266240);

    // The card of Qwen3.8-27B counts the text model, a layer of full attention that predicts, and the
    // encoder.
    const std::int64_t full = 5120 * 256 * (3 * 24 + 2 * 4) + 2 * 256 + 3 * 5120 * 17408 + 2 * 5120,
                       predicts = full + 2 * 5120 * 5120 + 3 * 5120,
                       block = 4 * 1152 * 1152 + 4 * 1152 + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152,
                       merger = 2 * 1152 + 4608 * 4608 + 4608 + 4608 * 5120 + 5120,
                       encoder = 27 * block + 1536 * 1152 + 1152 + 2304 * 1152 + merger;
    CHECK(count("qwen3.5-27b").total + predicts + encoder == 27781427952);

    // In Step-3.5-Flash Megatron gives each number of a head a gate, where the checkpoint has one a head
    // (step35_bridge.py: 12 layers of 64 heads, 33 of 96), and builds three layers that predict, with 96
    // heads and a dense MLP.
    const std::int64_t wider = (12 * 64 + 33 * 96) * 127LL * 4096,
                       ahead = 4096 * (3 * 96 + 2 * 8) * 128LL + 2 * 128 + 3 * 4096 * 11264LL + 2 * 4096
                               + 2 * 4096 * 4096LL + 3 * 4096;
    CHECK(count("step-3.5-flash").total - 42 * 288 + wider + 3 * ahead == 199997706240);

    // These are published in billions: in all, and of one token (0: not published).
    struct Published {
        const char* id;
        double total, active, half, left_out;
    };
    const Published published[] = {{"nemotron-h-4b", 4e9, 0, 0.5e9, 0},
                                   {"nemotron-h-47b", 47e9, 0, 0.5e9, 0},
                                   {"hy-mt2-30b-a3b", 30e9, 3e9, 0.5e9, 0},
                                   {"qwen3.5-9b", 9e9, 0, 0.5e9, 0},
                                   {"qwen3.5-4b", 4e9, 0, 0.5e9, 0},
                                   {"qwen3.5-0.8b", 0.8e9, 0, 0.05e9, 0},
                                   {"ministral-3-3b", 3.8e9, 0, 0.1e9, 0.4e9},
                                   {"ministral-3-8b", 8.9e9, 0, 0.1e9, 0.4e9},
                                   {"ministral-3-14b", 13.9e9, 0, 0.1e9, 0.4e9}};
    for (const Published& p : published) {
        CAPTURE(p.id);
        const ParameterCounts n = count(p.id);
        CHECK(std::abs(static_cast<double>(n.total) + p.left_out - p.total) <= p.half);
        if (p.active > 0) CHECK(std::abs(static_cast<double>(n.active) - p.active) <= p.half);
    }
    // Sarvam's 30 billion are without table and head.
    const ParameterCounts sarvam = count("sarvam-30b");
    CHECK(count("glm-4.5v").total
          == count("glm-4.5-air").total);  // Bridge builds it without the layer that predicts
    CHECK(count("glm-4.5v").mtp == 0);
    const auto tables = [](const ParameterCounts& n) {
        return n.by_kind[static_cast<std::size_t>(TensorKind::embedding)]
               + n.by_kind[static_cast<std::size_t>(TensorKind::head)];
    };
    CHECK((sarvam.total - tables(sarvam)) / 100'000'000 == 300);
}

TEST_CASE("the list of tensors adds up to the counts, each name once") {
    for (const json& c : golden_cases()) {
        const Model m = model_of_case(c);
        CAPTURE(c["model"].get<std::string>());
        const std::vector<Tensor> tensors = list_tensors(m);
        std::int64_t sum = 0;
        std::set<std::pair<TensorId, LayerMask>> ids;  // layers of other sizes list their own
        const LayerTypes types = layer_types(m);
        const LayerCounts counts = count_layers(m, types, 0, m.layers);
        for (const Tensor& t : tensors) {
            sum += t.numel() * times(m, types, counts, t);
            CHECK_MESSAGE(ids.insert({t.id, t.types}).second, name_of(t.id));
        }
        const ParameterCounts n = count_parameters(m);
        CHECK(sum == n.total + n.mtp);
        CHECK(tensors.size() < 40);
    }
}

TEST_CASE("a multi-token-prediction layer of DeepSeek V3 is a MoE layer, a projection and four norms") {
    const std::string path = std::string(GOLDEN_DIR) + "/hf_configs/deepseek-v3.json";
    Model m = model_from_hf(load(path), path);
    const ParameterCounts with = count_parameters(m);
    m.layers += 1;
    const std::int64_t layer = count_parameters(m).total - with.total;
    CHECK(with.mtp == layer + 2 * m.hidden * m.hidden + 3 * m.hidden);
    m.mtp_layers = 0;
    CHECK(count_parameters(m).mtp == 0);
}

TEST_CASE("MoE layers start after the dense ones and come once in every") {
    Model m;
    m.layers = 10;
    CHECK(moe_layers(m) == 0);
    m.moe.emplace();
    CHECK(moe_layers(m) == 10);
    m.moe->first_dense_layers = 3;
    m.moe->every = 2;
    std::vector<std::int64_t> moe;
    for (std::int64_t i = 0; i < m.layers; ++i)
        if (is_moe_layer(m, i)) moe.push_back(i);
    CHECK(moe == std::vector<std::int64_t>{4, 6, 8});
    CHECK(moe_layers(m) == 3);
    CHECK(moe_layers_before(m, 7) == 2);
    m.moe->first_dense_layers = 12;
    CHECK(moe_layers(m) == 0);
}

TEST_CASE("sizes beyond what an integer holds stay at the largest number") {
    Model m;
    m.layers = m.hidden = m.heads = m.kv_heads = m.head_dim = m.ffn = m.vocab = std::int64_t{1} << 31;
    m.moe = Moe{m.ffn, 1, m.ffn, m.ffn, m.ffn, 0, 1, true, true, 0};
    m.mtp_layers = m.ffn;
    CHECK(count_parameters(m).total == INT64_MAX);
    CHECK(count_parameters(m).mtp == INT64_MAX);
}
