#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace pentamesh;
using nlohmann::json;

namespace {

using test::presets;

Plan parse(const json& value, const std::vector<std::string>& sets = {}) {
    return parse_plan(value.dump(), "test.plan.json", presets(), sets);
}

json small() {
    return {{"model", "llama-3-8b"},
            {"cluster", {{"preset", "h100-sxm-ib"}, {"gpus", 64}}},
            {"layout", {{"tp", 2}, {"pp", 2}}},
            {"training", {{"global_batch", 64}}}};
}

json with(const std::string& pointer, const json& value) {
    json plan = small();
    plan[json::json_pointer(pointer)] = value;
    return plan;
}

// Returns the error of a text, as one line; empty where it parses.
std::string error_of(const std::string& text, const std::vector<std::string>& sets = {}) {
    try {
        static_cast<void>(parse_plan(text, "test.plan.json", presets(), sets));
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void check_round_trip(const Plan& plan) {
    const std::string text = write_plan(plan);
    CAPTURE(text);
    const Plan again = parse_plan(text, "again", presets());
    CHECK(again == plan);
    CHECK(write_plan(again) == text);
}

}  // namespace

TEST_CASE("what a plan leaves out takes the defaults of the format") {
    const Plan p = parse({{"model", "llama-3-8b"}, {"cluster", "h100-sxm-ib"}});
    CHECK(p.layout == Layout{});
    CHECK(p.training == Training{});
    CHECK(p.layout.order
          == std::array{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp});
    CHECK(p.layout.sequence_parallel);
    CHECK(p.layout.zero == 1);
    CHECK_FALSE(p.layout.dp_replicate.has_value());
    CHECK_FALSE(p.layout.etp.has_value());
    CHECK(p.training.sequence_length == 8192);
    CHECK(p.training.global_batch == 2048);
    CHECK(p.training.gradients == Dtype::fp32);
    CHECK_FALSE(p.training.overlap.tp);
    CHECK(domain_of(p.cluster, p.cluster.tiers.size() - 1) == p.cluster.gpus);
}

TEST_CASE("dp in an order stands for both of its axes, in a list or in a text") {
    const auto want = std::array{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    CHECK(parse(with("/layout/order", "tp-cp-ep-dp-pp")).layout.order == want);
    CHECK(parse(with("/layout/order", {"tp", "cp", "ep", "dp", "pp"})).layout.order == want);
    CHECK(parse(with("/layout/order", "pp-dp_replicate-dp_shard-ep-cp-tp")).layout.order
          == std::array{Axis::pp, Axis::dp_replicate, Axis::dp_shard, Axis::ep, Axis::cp, Axis::tp});
    for (const char* bad :
         {"", "tp", "tp-tp-cp-ep-dp-pp", "tp-cp-ep-dp-pp-", "tp-cp-ep-dp-dp_shard-pp", "tp-cp-ep-xp-pp"})
        CHECK(holds(error_of(with("/layout/order", bad).dump()), "/layout/order"));
}

TEST_CASE("a cluster's preset is overridden field by field, its last tier always spans all GPUs") {
    const Plan p = parse(with("/cluster", {{"preset", "h100-sxm-ib"}, {"gpus", 144}, {"fast_domain", 72}}));
    CHECK(p.cluster.gpus == 144);
    CHECK(p.cluster.tiers[0].domain == 72);
    CHECK(domain_of(p.cluster, 1) == 144);
    CHECK(p.cluster.gpu.id == "h100-sxm");
    CHECK(p.cluster_source.overrides == std::vector<std::string>{"/gpus", "/fast_domain"});
    check_round_trip(p);
}

TEST_CASE("a GPU is an id, a preset with changes, or stated whole") {
    const Plan other = parse(with("/cluster/gpu", "b200"));
    CHECK(other.cluster.gpu == presets().gpu("b200"));
    check_round_trip(other);
    const Plan tuned = parse(with("/cluster/gpu", {{"preset", "h100-sxm"}, {"efficiency", {{"gemm", 0.5}}}}));
    CHECK(tuned.cluster.gpu.efficiency.gemm == 0.5);
    CHECK(tuned.cluster.gpu.efficiency.hbm == presets().gpu("h100-sxm").efficiency.hbm);
    check_round_trip(tuned);
    const Plan own = parse(with(
        "/cluster/gpu",
        {{"name", "mine"}, {"hbm_bytes", 1e11}, {"hbm_bytes_per_s", 4e12}, {"flops", {{"bf16", 1e15}}}}));
    CHECK(own.cluster.gpu.id.empty());
    CHECK(own.cluster.gpu.flops.fp8 == 0);
    CHECK(own.cluster.gpu.efficiency == presets().gpu("h100-sxm").efficiency);
    check_round_trip(own);
}

TEST_CASE("a model is an id, a preset with changes, stated whole, or a Hugging Face config") {
    const Plan wider = parse(with("/model", {{"preset", "llama-3-8b"}, {"layers", 40}}));
    CHECK(wider.model.layers == 40);
    CHECK(wider.model.hidden == 4096);
    CHECK(wider.model_source.overrides == std::vector<std::string>{"/layers"});
    check_round_trip(wider);
    const Plan fewer = parse(with("/model", {{"preset", "mixtral-8x7b"}, {"moe", {{"top_k", 1}}}}));
    CHECK(fewer.model.moe->top_k == 1);
    CHECK(fewer.model.moe->experts == 8);
    check_round_trip(fewer);
    const Plan dense = parse(with("/model", {{"preset", "mixtral-8x7b"}, {"moe", nullptr}}));
    CHECK_FALSE(dense.model.moe.has_value());
    check_round_trip(dense);
    const Plan own = parse(with(
        "/model",
        {{"name", "mine"}, {"layers", 4}, {"hidden", 512}, {"heads", 8}, {"ffn", 2048}, {"vocab", 1000}}));
    CHECK(own.model.kv_heads == 8);
    CHECK(own.model.head_dim == 64);
    check_round_trip(own);
    const Plan hf = parse(
        with("/model", json::parse(read_file(std::string(GOLDEN_DIR) + "/hf_configs/deepseek-v3.json"))));
    CHECK(hf.model.mla.has_value());
    CHECK(hf.model.moe->experts == 256);
    check_round_trip(hf);
}

TEST_CASE("every model and cluster that ships survives being written inline and read again") {
    for (const auto& entry : presets().list(PresetKind::model)) {
        CAPTURE(entry.id);
        Plan p = parse(with("/model", entry.id));
        check_round_trip(p);
        p.model_source = {};
        check_round_trip(p);
    }
    for (const auto& entry : presets().list(PresetKind::cluster)) {
        CAPTURE(entry.id);
        Plan p = parse(with("/cluster", entry.id));
        check_round_trip(p);
        p.cluster_source = {"", {"/gpu"}};
        check_round_trip(p);
    }
}

TEST_CASE("a field of the wrong kind or out of range is refused by its pointer") {
    struct Case {
        const char* pointer;
        json value;
        const char* says;
    };
    const std::vector<Case> cases{
        {"/layout/tp", 0, "from 1 to 1048576"},
        {"/layout/tp", -8, "found -8"},
        {"/layout/tp", 2.5, "found 2.5"},
        {"/layout/tp", 8.0, "without the point: 8"},
        {"/layout/tp", "8", "without the quotes"},
        {"/layout/tp", nullptr, "found null"},
        {"/layout/pp", std::int64_t{1000000000000000000}, "1048576"},
        {"/layout/pp", std::uint64_t{18446744073709551615u}, "1048576"},
        {"/layout/zero", 4, "from 0 to 3"},
        {"/layout/schedule", "2f2b", "the closest is \"1f1b\""},
        {"/layout/sequence_parallel", 1, "true or false"},
        {"/layout/stage_layers", {1, 2.5}, "found 2.5"},
        {"/cluster/gpus", 0, "from 1 to 1048576"},
        {"/training/sequence_length", -1, "found -1"},
        {"/training/gradients", "fp4", "\"fp32\", \"bf16\", \"fp16\", \"fp8\""},
        {"/training/straggler_cv", "much", "must be a number"},
        {"/training/overlap", true, "must be an object"},
        {"/training", nullptr, "must be an object"},
        {"/format", "pentamesh.plan/99", "pentamesh.plan/1"},
        {"/name", 5, "must be a text"},
        {"/model", 5, "must be a model preset's id"},
        {"/model", "llama-3-8", "llama-3-8b"},
        {"/cluster", "h100-sxm", "h100-sxm-ib"},
    };
    for (const Case& c : cases) {
        const std::string error = error_of(with(c.pointer, c.value).dump());
        CAPTURE(error);
        CHECK(holds(error, std::string("test.plan.json: ") + c.pointer));
        CHECK(holds(error, c.says));
    }
}

TEST_CASE("an unknown key is named with the closest known one") {
    const std::string error = error_of(with("/layout/tpp", 8).dump());
    CHECK(holds(error, "/layout/tpp: unknown key \"tpp\"; the closest known one is \"tp\""));
    CHECK(holds(error_of(with("/training/overlap", {{"ddp", true}}).dump()), "/training/overlap/ddp"));
    CHECK(holds(error_of(with("/trainings", json::object()).dump()), "\"training\""));
}

TEST_CASE("a text that is no JSON object of ours is refused with the place where reading stopped") {
    CHECK(holds(error_of(""), "not JSON"));
    CHECK(holds(error_of("{\n  \"format\":"), "line 2"));
    CHECK(holds(error_of("[]"), "must be an object"));
    CHECK(holds(error_of("null"), "must be an object"));
    CHECK(holds(error_of("{\"layout\":{\"tp\":1e999}}"), "/layout/tp"));
    CHECK(holds(error_of("{\"layout\":{\"tp\":NaN}}"), "/layout/tp: not JSON"));
    CHECK(holds(error_of("{\"layout\":{\"tp\":1,\"tp\":2}}"), "/layout/tp: the key stands here twice"));
    CHECK(holds(error_of(small().dump() + "x"), "not JSON"));
    CHECK(holds(error_of("{\"name\":\"\xff\"}"), "/name: not JSON"));
    CHECK(holds(error_of("{\"stage_layers\":[[1],[2,x"), "/stage_layers/1/1"));
    std::string deep;
    for (int i = 0; i < 5000; ++i) deep += "{\"a\":";
    CHECK(holds(error_of(deep), "deeper than 64"));
}

TEST_CASE("a set changes one field before the plan is read") {
    CHECK(parse(small(), {"layout.tp=4"}).layout.tp == 4);
    CHECK(parse(small(), {"/layout/tp=4", "layout.tp=8"}).layout.tp == 8);
    CHECK(parse(small(), {"layout.schedule=zb-h1"}).layout.schedule == Schedule::zb_h1);
    CHECK(parse(small(), {"layout.dp_replicate=null"}).layout.dp_replicate == std::nullopt);
    CHECK(parse(small(), {"training.overlap.tp=true"}).training.overlap.tp);
    CHECK(parse(small(), {"name=2048"}).name == "2048");
    const Plan p = parse(
        small(), {"model.layers=40", "cluster.gpu.efficiency.gemm=0.5", "/cluster/tiers/0/bytes_per_s=1e11"});
    CHECK(p.model.layers == 40);
    CHECK(p.cluster.gpu.efficiency.gemm == 0.5);
    CHECK(p.cluster.tiers[0].bytes_per_s == 1e11);
    CHECK(p.cluster.tiers[1].bytes_per_s == presets().cluster("h100-sxm-ib").tiers[1].bytes_per_s);
    check_round_trip(p);
    CHECK(holds(error_of(small().dump(), {"layout.tpp=4"}), "/layout/tpp"));
    CHECK(holds(error_of(small().dump(), {"layout.tp"}), "POINTER=VALUE"));
    CHECK(holds(error_of(small().dump(), {"layout.tp.x=4"}), "/layout/tp/x"));
    CHECK(holds(error_of(small().dump(), {"cluster.tiers.7.domain=4"}), "no element 7"));
}

TEST_CASE("edits of a fix are applied to the plan and held to the same rules") {
    const Plan plan = parse(small());
    const Plan fixed = apply_edits(
        plan, {{"/layout/tp", std::int64_t{8}}, {"/training/recompute", std::string("full")}}, presets());
    CHECK(fixed.layout.tp == 8);
    CHECK(fixed.training.recompute == Recompute::full);
    CHECK(fixed.layout.pp == plan.layout.pp);
    CHECK_THROWS_AS(static_cast<void>(apply_edits(plan, {{"/layout/tp", std::int64_t{0}}}, presets())),
                    Error);
}

TEST_CASE("text is UTF-8 where the JSON library writes it, byte for byte, and nowhere else") {
    std::mt19937 random(20261123);
    // Bytes at which a rule begins or ends, and letters of one to four bytes.
    static constexpr unsigned char kEdges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                               0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                               0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    int valid = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (std::size_t i = random() % 6; i-- > 0;)
            text += static_cast<char>(kEdges[random() % std::size(kEdges)]);
        if (round % 3 == 0) text += "é–𝄞";
        bool written = true;
        try {
            static_cast<void>(json(text).dump());
        } catch (const json::exception&) {
            written = false;
        }
        CHECK(is_utf8(text) == written);
        valid += written;
    }
    CHECK(valid > 2000);
    CHECK(as_utf8("a\xffz") == "a\xef\xbf\xbdz");
}

TEST_CASE("the author's words are texts, also where they look like numbers, and change no figure") {
    const Plan plain = parse(small());
    const Plan said = parse(small(), {"review.decision=42", "review.owner=Ada"});
    CHECK(said.review == AuthorWords{"42", {}, "Ada", {}, {}});
    CHECK(evaluate(said).step->time_s == evaluate(plain).step->time_s);
    CHECK(in_place_of(said, plain) == said);  // what is proposed keeps them
    CHECK_THROWS_AS(parse(with("/review/verdict", "yes")), Error);
    CHECK_THROWS_AS(parse(with("/review/risks", 3)), Error);
}
