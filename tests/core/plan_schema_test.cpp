// The schema and the parser must agree: a text that one takes the other takes. The validator below knows the
// keywords that the schema uses and stops at any other.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

using namespace pentamesh;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using test::presets;

bool is_type(const json& v, const std::string& type) {
    if (type == "object") return v.is_object();
    if (type == "array") return v.is_array();
    if (type == "string") return v.is_string();
    if (type == "boolean") return v.is_boolean();
    if (type == "null") return v.is_null();
    if (type == "number") return v.is_number();
    if (type == "integer") return v.is_number_integer();
    FAIL("unknown type ", type);
    return false;
}

bool accepts(const json& schema, const json& v);

bool accepts_members(const json& schema, const json& v) {
    const json none = json::object();
    const json& properties = schema.contains("properties") ? schema["properties"] : none;
    for (const auto& item : v.items()) {
        const auto it = properties.find(item.key());
        if (it != properties.end() ? !accepts(*it, item.value())
                                   : !schema.value("additionalProperties", true))
            return false;
    }
    const json required = schema.value("required", json::array());
    return std::all_of(required.begin(), required.end(),
                       [&](const json& key) { return v.contains(key.get<std::string>()); });
}

bool accepts_items(const json& schema, const json& v) {
    if (v.size() < schema.value("minItems", std::size_t{0})) return false;
    if (schema.contains("maxItems") && v.size() > schema["maxItems"].get<std::size_t>()) return false;
    if (schema.value("uniqueItems", false) && std::set<json>(v.begin(), v.end()).size() != v.size())
        return false;
    return !schema.contains("items")
           || std::all_of(v.begin(), v.end(), [&](const json& e) { return accepts(schema["items"], e); });
}

bool accepts_number(const json& schema, const json& v) {
    const double x = v.get<double>();
    return (!schema.contains("minimum") || x >= schema["minimum"].get<double>())
           && (!schema.contains("maximum") || x <= schema["maximum"].get<double>())
           && (!schema.contains("exclusiveMinimum") || x > schema["exclusiveMinimum"].get<double>());
}

bool accepts(const json& schema, const json& v) {
    static const std::set<std::string> known{
        "$schema", "$id",       "title",      "description", "default",  "type",
        "const",   "enum",      "anyOf",      "properties",  "required", "additionalProperties",
        "items",   "minimum",   "minItems",   "maxItems",    "maximum",  "exclusiveMinimum",
        "pattern", "minLength", "uniqueItems"};
    for (const auto& item : schema.items()) REQUIRE_MESSAGE(known.count(item.key()) == 1, item.key());
    if (schema.contains("type")) {
        const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
        if (std::none_of(types.begin(), types.end(), [&](const json& t) { return is_type(v, t); }))
            return false;
    }
    if (schema.contains("const") && v != schema["const"]) return false;
    if (schema.contains("enum")
        && std::find(schema["enum"].begin(), schema["enum"].end(), v) == schema["enum"].end())
        return false;
    if (schema.contains("anyOf")
        && std::none_of(schema["anyOf"].begin(), schema["anyOf"].end(),
                        [&](const json& s) { return accepts(s, v); }))
        return false;
    if (v.is_object() && !accepts_members(schema, v)) return false;
    if (v.is_array() && !accepts_items(schema, v)) return false;
    if (v.is_number() && !accepts_number(schema, v)) return false;
    if (v.is_string()) {
        const auto text = v.get<std::string>();
        if (text.size() < schema.value("minLength", std::size_t{0})) return false;
        if (schema.contains("pattern")
            && !std::regex_search(text, std::regex(schema["pattern"].get<std::string>())))
            return false;
    }
    return true;
}

const json& schema() {
    static const json value = json::parse(plan_schema());
    return value;
}

bool parses(const json& plan) {
    try {
        static_cast<void>(parse_plan(plan.dump(), "p.json", presets()));
        return true;
    } catch (const Error&) {
        return false;
    }
}

json plan_with(const std::string& pointer, const json& value) {
    json plan{{"format", "pentamesh.plan/1"},
              {"model", "llama-3-8b"},
              {"cluster", {{"preset", "h100-sxm-ib"}, {"gpus", 64}}},
              {"layout", json::object()},
              {"training", json::object()}};
    if (pointer.empty()) return plan;
    plan[json::json_pointer(pointer)] = value;
    return plan;
}

}  // namespace

TEST_CASE("the schema takes every plan that ships, and every seed of the fuzzer") {
    int plans = 0;
    for (const char* folder : {"/presets/plans", "/tests/fuzz/seeds/plan"})
        for (const auto& file : fs::directory_iterator(std::string(SOURCE_DIR) + folder)) {
            CAPTURE(file.path().string());
            const json plan = json::parse(read_file(file.path().string()));
            CHECK(accepts(schema(), plan));
            CHECK(parses(plan));
            ++plans;
        }
    CHECK(plans >= 20);
}

TEST_CASE("schema and parser take the same forms of a plan") {
    const json gpu{{"hbm_bytes", 8e10}, {"hbm_bytes_per_s", 3e12}, {"flops", {{"bf16", 1e15}}}};
    const json tiers{{{"kind", "nvlink"}, {"bytes_per_s", 4e11}}};
    for (const json& plan :
         {plan_with("", {}), plan_with("/layout/order", "tp-cp-ep-dp-pp"),
          plan_with("/layout/order", {"tp", "cp", "ep", "dp", "pp"}),
          plan_with("/layout", {{"dp_replicate", nullptr}, {"etp", nullptr}, {"microbatch_group", nullptr}}),
          plan_with("/layout/stage_layers", nullptr), plan_with("/layout/stage_layers", {1, 2, 3}),
          plan_with("/model", {{"preset", "mixtral-8x7b"}, {"moe", {{"top_k", 1}}}}),
          plan_with("/model", {{"preset", "mixtral-8x7b"}, {"moe", nullptr}}),
          plan_with("/model", {{"layers", 4}, {"hidden", 64}, {"heads", 4}, {"ffn", 128}, {"vocab", 100}}),
          plan_with("/cluster/gpu", {{"preset", "h100-sxm"}, {"efficiency", {{"gemm", 0.5}}}}),
          plan_with("/cluster/gpu", gpu), plan_with("/cluster/gpu", "b200"),
          plan_with("/cluster/fast_domain", 72), plan_with("/cluster", "gb200-nvl72"),
          plan_with("/cluster", {{"gpus", 8}, {"gpu", "h100-sxm"}, {"tiers", tiers}}),
          plan_with("/cluster", {{"gpus", 8}, {"gpu", gpu}, {"tiers", tiers}}),
          plan_with("/model", json::parse(read_file(GOLDEN_DIR "/hf_configs/deepseek-v3.json")))}) {
        CAPTURE(plan.dump());
        CHECK(accepts(schema(), plan));
        CHECK(parses(plan));
    }
}

TEST_CASE("schema and parser refuse the same mistakes") {
    for (const json& plan : {json(nullptr),
                             json::array(),
                             json::object(),
                             plan_with("/format", "x"),
                             plan_with("/extra", 1),
                             plan_with("/name", 1),
                             plan_with("/layout/tp", 0),
                             plan_with("/layout/tp", 2.5),
                             plan_with("/layout/tp", "8"),
                             plan_with("/layout/tp", nullptr),
                             plan_with("/layout/tp", 1 << 21),
                             plan_with("/layout/tpp", 1),
                             plan_with("/layout/zero", 4),
                             plan_with("/layout", nullptr),
                             plan_with("/layout/schedule", "2f2b"),
                             plan_with("/layout/order", {"tp", "tp"}),
                             plan_with("/layout/order", "tp"),
                             plan_with("/layout/stage_layers", {1, -1}),
                             plan_with("/training", nullptr),
                             plan_with("/training/router_imbalance", 0.5),
                             plan_with("/training/overlap", {{"x", true}}),
                             plan_with("/training/straggler_cv", "0"),
                             plan_with("/cluster/gpus", 0),
                             plan_with("/cluster", {{"gpus", 8}}),
                             plan_with("/cluster/tiers", json::array()),
                             plan_with("/cluster/gpu", 5),
                             plan_with("/model", 5),
                             plan_with("/model", {{"layers", 4}}),
                             plan_with("/model", {{"preset", "mixtral-8x7b"}, {"moe", {{"top", 1}}}})}) {
        CAPTURE(plan.dump());
        CHECK_FALSE(accepts(schema(), plan));
        CHECK_FALSE(parses(plan));
    }
}
