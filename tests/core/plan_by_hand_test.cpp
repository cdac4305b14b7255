// Tests every field of a plan by hand: it is listed, typed, refused and put back.
#include "core/io/plan_json.h"

#include "core/base/files.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <set>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

using test::presets;

const PlanField* field_at(const std::vector<PlanField>& all, std::string_view pointer) {
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const PlanField& s) { return s.pointer == pointer; });
    return it == all.end() ? nullptr : &*it;
}

// Collects the pointers of all fields of a schema: objects are entered, a field of several forms is one.
void collect_fields(const nlohmann::json& form, const std::string& pointer, std::set<std::string>& out) {
    nlohmann::json s = form;
    if (form.contains("anyOf") && form["anyOf"][0].value("type", "") == "string")  // a preset's id, or whole
        for (const auto& one : form["anyOf"])
            if (one.contains("properties") && !one["properties"].contains("preset")) s = one;
    if (!s.contains("properties")) {
        // The author's words are texts of the dialog that exports a review.
        if (pointer != "/format" && !pointer.starts_with("/review/") && !pointer.ends_with("source")
            && !pointer.ends_with("/efficiency_of") && pointer != "/cluster/fast_domain"
            && pointer != "/cluster/gpus_per_node")  // a tier's domain
            out.insert(pointer);
        return;
    }
    for (const auto& item : s["properties"].items())
        collect_fields(item.value(), pointer + "/" + item.key(), out);
}

// Returns a value to type that differs from the current one, and is legal by itself.
std::string another_value(const PlanField& s) {
    switch (s.kind) {
    case PlanField::Kind::flag:
    case PlanField::Kind::group: return s.value == "on" ? "off" : "on";
    case PlanField::Kind::choice: return s.choices.front() == s.value ? s.choices.back() : s.choices.front();
    case PlanField::Kind::whole:
    case PlanField::Kind::number: return s.value == "none" ? "1" : s.value;
    default: return s.value;
    }
}

struct Typed {
    std::string_view pointer, text;
};

}  // namespace

TEST_CASE(
    "every field of the schema is listed for a plan that has experts, latent attention and every group") {
    Plan plan = presets().plan("deepseek-v3-2048");
    for (const PlanField& s : list_plan_fields(plan, presets()))
        if (s.kind == PlanField::Kind::group && s.value == "off" && s.pointer != "/model/compressed")
            plan = with_field(plan, s.pointer, "on", presets());
    Plan compressed = plan;  // a model has latent attention or attention over compressed keys
    compressed.model = presets().model("deepseek-v4-flash");
    std::set<std::string> listed;
    for (const Plan& one : {plan, compressed})
        for (const PlanField& s : list_plan_fields(one, presets())) {
            std::string p = s.pointer;
            if (p.starts_with("/cluster/tiers/")) p = "/cluster/tiers";
            listed.insert(p);
        }
    std::set<std::string> wanted;
    collect_fields(nlohmann::json::parse(plan_schema()), "", wanted);
    CHECK(wanted.size() > 80);
    for (const std::string& pointer : wanted) {
        CAPTURE(pointer);
        CHECK(listed.count(pointer) == 1);
    }
}

TEST_CASE("typing the value that a field has changes nothing, in every field of every preset") {
    for (const char* id : {"deepseek-v3-2048", "llama-3-70b-3d", "mixtral-8x7b-ep", "hsdp-64"}) {
        const Plan plan = presets().plan(id);
        const Evaluation before = evaluate(plan);
        for (const PlanField& s : list_plan_fields(plan, presets())) {
            if (s.kind == PlanField::Kind::group || s.value == "none") continue;
            CAPTURE(id);
            CAPTURE(s.pointer);
            CAPTURE(s.value);
            const Plan same = with_field(plan, s.pointer, s.value, presets());
            CHECK(evaluate(same).step->time_s == near(before.step->time_s, 1e-9));
        }
    }
}

TEST_CASE("a field that is changed by hand is in the plan, in its file, and can be put back") {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    for (const Typed& t : {Typed{"/model/hidden", "8K"},
                           {"/model/layers", "48"},
                           {"/cluster/gpu/hbm_bytes", "141 GB"},
                           {"/cluster/tiers/1/nics", "4"},
                           {"/cluster/tiers/1/bytes_per_s", "400 Gb/s"}}) {
        CAPTURE(t.pointer);
        const Plan changed = with_field(plan, t.pointer, t.text, presets());
        CHECK_FALSE(changed == plan);
        CHECK(parse_plan(write_plan(changed), "", presets()) == changed);
        const auto all = list_plan_fields(changed, presets());
        REQUIRE(field_at(all, t.pointer) != nullptr);
        if (t.text != "400 Gb/s" && t.text != "4")
            CHECK_FALSE(field_at(all, t.pointer)->preset_value.empty());
        CHECK(evaluate(with_preset_field(changed, t.pointer, presets())).step->time_s
              == evaluate(plan).step->time_s);
    }
    const Plan big = with_field(plan, "/model/hidden", "8K", presets());
    CHECK(big.model.hidden == 8192);
    CHECK(with_field(plan, "/cluster/tiers/1/bytes_per_s", "400 Gb/s", presets()).cluster.tiers[1].bytes_per_s
          == 50e9);
}

TEST_CASE("only the second tier has NICs, and a choice reads as a person says it") {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const auto all = list_plan_fields(plan, presets());
    CHECK(field_at(all, "/cluster/tiers/0/nics") == nullptr);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(apply_edits(plan, {{"/cluster/tiers/0/nics", std::int64_t{4}}}, presets())),
        doctest::Contains("only the second says how many"), Error);
    const PlanField* reshard = field_at(all, "/layout/reshard");
    REQUIRE(reshard != nullptr);
    CHECK(choice_words(*reshard, "by_software") == "as the software does");
    CHECK(choice_words(*reshard, "after_forward") == "after forward");
}

TEST_CASE("recomputation is typed in its three parts, and shown as it was typed") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    const auto typed = [](const Plan& p, std::string_view part, std::string_view text) {
        return with_field(p, "/training/recompute" + std::string(part), text, presets());
    };
    const auto shown = [](const Plan& p, std::string_view part) {
        return field_at(list_plan_fields(p, presets()), "/training/recompute" + std::string(part))->value;
    };
    const Plan full = typed(plan, "", "full");
    CHECK(full.training.recompute == RecomputeChoice(Recompute::full));
    CHECK(shown(full, "") == "full");
    CHECK(shown(full, "/modules") == "none");
    const Plan four = typed(typed(full, "/layers", "4"), "/method", "uniform");
    CHECK(four.training.recompute == RecomputeChoice({}, 4, RecomputeMethod::uniform));
    CHECK(typed(four, "/layers", "0").training.recompute == RecomputeChoice(Recompute::full));
    CHECK(typed(four, "", "full").training.recompute == four.training.recompute);
    const Plan modules = typed(plan, "/modules", "mlp, core_attn");
    CHECK(modules.training.recompute
          == RecomputeChoice(RecomputeModules(RecomputeModule::core_attn, RecomputeModule::mlp), 0,
                             RecomputeMethod::block));
    CHECK(shown(modules, "") == "selective");
    CHECK(shown(modules, "/modules") == "core_attn, mlp");
    CHECK(typed(modules, "/layers", "2").training.recompute.layers == 2);
    CHECK(typed(modules, "/modules", "none").training.recompute == RecomputeChoice());
    CHECK(typed(typed(plan, "", "selective"), "/layers", "3").training.recompute
          == RecomputeChoice(RecomputeModules(RecomputeModule::core_attn), 3, RecomputeMethod::block));
    for (const Typed& t :
         {Typed{"", "sometimes"}, {"/modules", "mlp, heads"}, {"/layers", "-1"}, {"/method", "uniform"}}) {
        CAPTURE(t.pointer);
        CHECK_THROWS_AS((void)typed(plan, t.pointer, t.text), Error);
    }
}

TEST_CASE("experts and latent attention are switched on and off") {
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const Plan moe = with_field(plan, "/model/moe", "on", presets());
    REQUIRE(moe.model.moe);
    const Plan more = with_field(moe, "/model/moe/experts", "128", presets());
    CHECK(more.model.moe->experts == 128);
    CHECK_FALSE(with_field(more, "/model/moe", "off", presets()).model.moe);
    const auto all = list_plan_fields(plan, presets());
    REQUIRE(field_at(all, "/model/moe") != nullptr);
    CHECK(field_at(all, "/model/moe")->value == "off");
    CHECK(field_at(all, "/model/moe/experts") == nullptr);
}

TEST_CASE("what a field refuses is said with what is allowed, and the plan stays") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    for (const Typed& t : {Typed{"/model/layers", "many"},
                           {"/model/layers", "0"},
                           {"/model/layers", "1.5"},
                           {"/cluster/tiers/0/bytes_per_s", "25 m"},
                           {"/layout/schedule", "sideways"},
                           {"/layout/stage_layers", "20, x"},
                           {"/nowhere", "1"}}) {
        CAPTURE(t.pointer);
        CAPTURE(t.text);
        CHECK_THROWS_AS((void)with_field(plan, t.pointer, t.text, presets()), Error);
    }
}

TEST_CASE(
    "each choice and switch of the schema can be set to another value by hand, or is refused in words") {
    const Plan plan = presets().plan("deepseek-v3-2048");
    int set = 0;
    for (const PlanField& s : list_plan_fields(plan, presets())) {
        CAPTURE(s.pointer);
        try {
            const Plan changed = with_field(plan, s.pointer, another_value(s), presets());
            ++set;
            CHECK(parse_plan(write_plan(changed), "", presets()) == changed);
        } catch (const Error& e) {
            CHECK(e.message().size() > 10);
        }
    }
    CHECK(set > 80);
}
