// Holds plans for tests of the communication and step models, built without presets.
#pragma once

#include "core/evaluate.h"
#include "core/io/hf_families.h"
#include "core/plan/names.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace pentamesh::test {

inline std::string read_text(const std::string& path) {
    std::ifstream file(path);
    REQUIRE_MESSAGE(file.good(), path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline nlohmann::json golden(const std::string& name) {
    return nlohmann::json::parse(read_text(std::string(GOLDEN_DIR "/") + name));
}

inline Model golden_model(const std::string& name) {
    const std::string text = read_text(std::string(GOLDEN_DIR "/hf_configs/") + name + ".json");
    Model m = model_from_hf(std::string_view(text), name);
    m.mtp_layers = 0;
    return m;
}

// Returns the shipped GPU and cluster files, read without the preset machinery.
inline Cluster shipped_cluster(const std::string& id, std::int64_t gpus) {
    const std::string root = SOURCE_DIR "/presets/";
    const auto j = nlohmann::json::parse(read_text(root + "clusters/" + id + ".json"));
    const auto g = nlohmann::json::parse(read_text(root + "gpus/" + j["gpu"].get<std::string>() + ".json"));
    Cluster c;
    c.name = id;
    c.gpus = gpus;
    c.gpu.id = j["gpu"];
    c.gpu.hbm_bytes = g["hbm_bytes"], c.gpu.hbm_bytes_per_s = g["hbm_bytes_per_s"];
    c.gpu.flops.bf16 = g["flops"]["bf16"], c.gpu.flops.fp16 = g["flops"]["fp16"];
    c.gpu.flops.fp8 = g["flops"].value("fp8", 0.0), c.gpu.flops.fp4 = g["flops"].value("fp4", 0.0);
    for (const EfficiencyKey& k : kEfficiencyKeys)
        c.gpu.efficiency.*k.member = g["efficiency"].value(std::string(k.key), 0.0);
    for (const auto& t : j["tiers"]) {
        Tier tier;
        tier.name = t["name"];
        tier.kind = parse_name<LinkKind>(t["kind"].get<std::string>()).value();
        tier.domain = t["domain"] == 0 ? gpus : t["domain"].get<std::int64_t>();
        tier.bytes_per_s = t["bytes_per_s"], tier.latency_s = t["latency_s"];
        tier.oversubscription = t["oversubscription"];
        c.tiers.push_back(tier);
    }
    return c;
}

// Returns a small dense model on H100s that everything divides.
inline Plan small_plan(std::int64_t gpus = 64) {
    Plan p;
    p.model.name = "small";
    p.model.layers = 32, p.model.hidden = 4096, p.model.heads = 32, p.model.kv_heads = 8;
    p.model.head_dim = 128, p.model.ffn = 14336, p.model.vocab = 128000;
    p.cluster = shipped_cluster("h100-sxm-ib", gpus);
    p.layout.dp_shard = gpus;
    p.layout.dp_replicate = 1;
    p.training.global_batch = 4 * gpus;
    return p;
}

inline double sent(const Comm& comm, GroupKind axis) {
    return comm.by_axis[static_cast<std::size_t>(axis)].sent_bytes_per_rank;
}

}  // namespace pentamesh::test
