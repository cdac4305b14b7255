// Tests presets of one's own: they are kept in addition to those that ship, never in their place.
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "tests/core/shipped.h"
#include "tests/folder.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

using test::Folder;

Presets with_own(const Folder& folder) {
    return Presets(std::filesystem::path(SOURCE_DIR) / "presets", folder.path);
}

const Presets::Entry* entry_of(const Presets& presets, PresetKind kind, std::string_view id,
                               bool own = true) {
    const auto& all = presets.list(kind);
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Presets::Entry& e) { return e.id == id && e.own == own; });
    return at == all.end() ? nullptr : &*at;
}

Plan typed(Plan plan, std::initializer_list<std::pair<const char*, const char*>> fields,
           const Presets& presets) {
    for (const auto& [pointer, text] : fields) plan = with_field(plan, pointer, text, presets);
    return plan;
}

const PlanField* field_of(const std::vector<PlanField>& all, std::string_view pointer) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const PlanField& f) { return f.pointer == pointer; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("a model, a GPU and a cluster of one's own are kept, listed as own and named by plans") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = typed(presets.plan("llama-3-70b-3d"),
                            {{"/model/layers", "64"},
                             {"/model/hidden", "6656"},
                             {"/cluster/gpu/hbm_bytes", "141 GB"},
                             {"/cluster/tiers/1/bytes_per_s", "800 Gb/s"}},
                            presets);
    const Plan model = save_own_preset(presets, PresetKind::model, "Ours 38B", plan);
    const Plan gpu = save_own_preset(presets, PresetKind::gpu, "Big H100", model);
    const Plan all = save_own_preset(presets, PresetKind::cluster, "Room 4", gpu);
    CHECK(model.model_source.preset == "ours-38b");
    CHECK(all.cluster_source.preset == "room-4");
    CHECK(all.cluster.gpu.id == "big-h100");
    CHECK(all.model.hidden == 6656);
    CHECK(all.cluster.gpu.hbm_bytes == 141e9);
    CHECK(all.cluster.tiers[1].bytes_per_s == 100e9);
    CHECK(all.cluster.gpus == plan.cluster.gpus);
    CHECK(evaluate(all).step->time_s == near(evaluate(plan).step->time_s, 1e-12));
    // Another program that starts on the same folder reads them, and the plan that names them.
    const Presets again = with_own(folder);
    CHECK(parse_plan(write_plan(all), "", again) == all);
    for (const auto& [kind, id] :
         std::initializer_list<std::pair<PresetKind, const char*>>{{PresetKind::model, "ours-38b"},
                                                                   {PresetKind::gpu, "big-h100"},
                                                                   {PresetKind::cluster, "room-4"}}) {
        const std::string name = id;
        CAPTURE(name);
        const Presets::Entry* e = entry_of(again, kind, id);
        REQUIRE(e != nullptr);
        CHECK(e->broken.empty());
        CHECK(e->source.starts_with("made by hand, from "));
        CHECK(again.has_own(kind, id));
        CHECK(std::is_sorted(again.list(kind).begin(), again.list(kind).end(),
                             [](const auto& a, const auto& b) { return a.id < b.id; }));
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_plan(write_plan(all), "", test::presets())),
                         doctest::Contains("there is no such model preset"), Error);
}

TEST_CASE("a cluster keeps a GPU that is changed over its preset") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = typed(presets.plan("llama-3-70b-3d"), {{"/cluster/gpu/hbm_bytes", "141 GB"}}, presets);
    const Plan saved = save_own_preset(presets, PresetKind::cluster, "changed", plan);
    CHECK(saved.cluster.gpu.hbm_bytes == 141e9);
    CHECK(parse_plan(write_plan(saved), "", presets) == saved);
    const Plan more = with_field(saved, "/cluster/gpu/hbm_bytes_per_s", "4 TB/s", presets);
    CHECK(more.cluster.gpu.hbm_bytes == 141e9);
    CHECK(more.cluster.gpu.hbm_bytes_per_s == 4e12);
    CHECK(parse_plan(write_plan(more), "", presets) == more);
    CHECK(with_preset_field(more, "/cluster/gpu/hbm_bytes_per_s", presets).cluster.gpu == saved.cluster.gpu);
    // A file written by hand may use a short form; a plan that changes more of it keeps that, too.
    folder.put("clusters/short.json",
               R"({"preset": "h100-sxm-ib", "gpu": {"preset": "h100-sxm", "hbm_bytes": 141e9}})");
    presets.reread();
    Plan s = plan;
    s.cluster = presets.cluster("short");
    s.cluster_source = {"short", {}};
    const Plan faster = with_field(s, "/cluster/gpu/hbm_bytes_per_s", "4 TB/s", presets);
    CHECK(faster.cluster.gpu.hbm_bytes == 141e9);
    CHECK(parse_plan(write_plan(faster), "", presets).cluster.gpu.hbm_bytes == 141e9);
}

TEST_CASE("names of own presets that cannot be are refused in words, and what ships is never replaced") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = presets.plan("llama-3-70b-3d");
    for (const auto& [bound_name, why] :
         {std::pair("", "needs a name"),
          {"   ", "needs a name"},
          {"+++", "needs a letter"},
          {"con", "Windows"},
          {"LPT1", "Windows"},
          {"Llama 3 8B", "ships"},
          {"llama-3-8b", "ships"},
          {"a name that is longer than anybody would ever want to type or to read", "at most"}}) {
        const auto& name = bound_name;
        CAPTURE(name);
        CHECK(refused_preset_name(presets, PresetKind::model, name).find(why) != std::string::npos);
        CHECK_THROWS_AS(static_cast<void>(save_own_preset(presets, PresetKind::model, name, plan)), Error);
    }
    CHECK(refused_preset_name(presets, PresetKind::model, "llama-3-8b").find("ships") != std::string::npos);
    CHECK(refused_preset_name(presets, PresetKind::gpu, "llama-3-8b").empty());
    CHECK(preset_id_of("../../etc/passwd") == "etc-passwd");
    CHECK(preset_id_of("Größe 8×7B") == "gr-e-8-7b");
    CHECK(preset_id_of(".hidden.") == "hidden");
    CHECK(folder.entries() == 0);
    const Presets nowhere(std::filesystem::path(SOURCE_DIR) / "presets");
    CHECK(refused_preset_name(nowhere, PresetKind::model, "mine").find("no folder") != std::string::npos);
    // Laid there by hand it is listed with the reason, and the shipped one is used.
    folder.put("models/llama-3-8b.json", R"({"preset": "llama-3-8b", "layers": 2})");
    presets.reread();
    CHECK(presets.model("llama-3-8b").layers == 32);
    const Presets::Entry* own = entry_of(presets, PresetKind::model, "llama-3-8b");
    REQUIRE(own != nullptr);
    CHECK(own->broken.find("ships") != std::string::npos);
    CHECK(entry_of(presets, PresetKind::model, "llama-3-8b", false)->broken.empty());
    CHECK_FALSE(presets.has_own(PresetKind::model, "llama-3-8b"));
}

TEST_CASE("a broken own preset is listed with what is wrong, and the others can be used") {
    const Folder folder;
    folder.put("models/good.json", R"({"preset": "llama-3-8b", "layers": 16})");
    folder.put("models/cut.json", R"({"layers": 1)");
    folder.put("models/odd.json", R"({"preset": "llama-3-8b", "layer": 16})");
    folder.put("models/ring.json", R"({"preset": "ring"})");
    folder.put("clusters/lost.json", R"({"preset": "h100-sxm-ib", "gpu": "nowhere-made"})");
    folder.put("models/notes.txt", "not a preset");
    const Presets presets = with_own(folder);
    CHECK(entry_of(presets, PresetKind::model, "good")->broken.empty());
    CHECK(presets.model("good").layers == 16);
    CHECK(entry_of(presets, PresetKind::model, "notes") == nullptr);
    for (const auto& [kind, id, reason] :
         std::initializer_list<std::tuple<PresetKind, const char*, const char*>>{
             {PresetKind::model, "cut", "cut.json"},
             {PresetKind::model, "odd", "unknown key \"layer\""},
             {PresetKind::model, "ring", "built on itself"},
             {PresetKind::cluster, "lost", "no such GPU preset"}}) {
        const std::string name = id;
        CAPTURE(name);
        const Presets::Entry* e = entry_of(presets, kind, id);
        REQUIRE(e != nullptr);
        CAPTURE(e->broken);
        CHECK(e->broken.find(reason) != std::string::npos);
    }
    CHECK(presets.model("llama-3-8b").layers == 32);
}

TEST_CASE("a file in the place of the folder of own presets is no end of the program") {
    const Folder folder;
    folder.put("models", "a file");
    const Presets presets = with_own(folder);
    CHECK(presets.list(PresetKind::model).size() == test::presets().list(PresetKind::model).size());
    CHECK_THROWS_AS(static_cast<void>(
                        save_own_preset(presets, PresetKind::model, "mine", presets.plan("llama-3-8b-fsdp"))),
                    Error);
}

TEST_CASE("what is removed or saved anew is read anew, and lists that were handed out stay") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = presets.plan("llama-3-8b-fsdp");
    static_cast<void>(save_own_preset(presets, PresetKind::model, "mine", plan));
    CHECK(presets.model("mine").layers == 32);
    const Plan fewer = with_field(plan, "/model/layers", "16", presets);
    static_cast<void>(save_own_preset(presets, PresetKind::model, "Mine", fewer));
    CHECK(presets.model("mine").layers == 16);
    CHECK(presets.model("mine").name == "Mine");
    const std::vector<Presets::Entry>& before = presets.list(PresetKind::model);
    const std::size_t n = before.size();
    remove_own_preset(presets, *entry_of(presets, PresetKind::model, "mine"));
    CHECK(before.size() == n);
    CHECK(presets.list(PresetKind::model).size() == n - 1);
    CHECK_FALSE(presets.has(PresetKind::model, "mine"));
    CHECK_THROWS_AS(remove_own_preset(presets, *entry_of(presets, PresetKind::model, "llama-3-8b", false)),
                    Error);
    CHECK(presets.has(PresetKind::model, "llama-3-8b"));
}

TEST_CASE("a plan without its own presets means the same and is read where only the shipped ones are") {
    const Folder folder;
    const Presets presets = with_own(folder);
    Plan plan = typed(presets.plan("llama-3-70b-3d"),
                      {{"/model/layers", "64"}, {"/cluster/tiers/1/bytes_per_s", "800 Gb/s"}}, presets);
    CHECK(without_own_presets(plan, presets) == plan);
    plan = save_own_preset(presets, PresetKind::model, "mine", plan);
    plan = save_own_preset(presets, PresetKind::gpu, "mine", plan);
    const Plan gpu_alone = without_own_presets(plan, presets);
    CHECK(gpu_alone.cluster_source.preset == "h100-sxm-ib");
    plan = save_own_preset(presets, PresetKind::cluster, "mine", plan);
    plan = typed(plan, {{"/model/hidden", "4K"}, {"/cluster/gpu/hbm_bytes", "90 GB"}}, presets);
    for (const Plan& p : {plan, gpu_alone}) {
        const Plan whole = without_own_presets(p, presets);
        CHECK(parse_plan(write_plan(whole), "", test::presets()) == whole);
        CHECK(whole.model == p.model);
        CHECK(evaluate(whole).step->time_s == near(evaluate(p).step->time_s, 1e-12));
        CHECK(evaluate(whole).memory.peak() == evaluate(p).memory.peak());
    }
}

TEST_CASE("when an own preset changes or goes, a plan that stood over it keeps what it meant") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = presets.plan("llama-3-70b-3d");
    Plan over = save_own_preset(presets, PresetKind::model, "mine", plan);
    over = save_own_preset(presets, PresetKind::gpu, "chip", over);
    over = save_own_preset(presets, PresetKind::cluster, "room", over);
    CHECK(with_same_meaning(over, presets) == over);
    CHECK(with_same_meaning(plan, presets) == plan);
    // The chip is part of the room: the plan over the room keeps the old one.
    const Plan hbm = with_field(over, "/cluster/gpu/hbm_bytes", "90 GB", presets);
    static_cast<void>(save_own_preset(presets, PresetKind::gpu, "chip", hbm));
    REQUIRE(presets.cluster("room").gpu.hbm_bytes == 90e9);
    const Plan kept = with_same_meaning(over, presets);
    CHECK(kept.cluster.gpu.hbm_bytes == plan.cluster.gpu.hbm_bytes);
    CHECK(parse_plan(write_plan(kept), "", presets) == kept);
    remove_own_preset(presets, *entry_of(presets, PresetKind::model, "mine"));
    remove_own_preset(presets, *entry_of(presets, PresetKind::gpu, "chip"));
    CHECK(entry_of(presets, PresetKind::cluster, "room")->broken.find("chip") != std::string::npos);
    const Plan left = with_same_meaning(over, presets);
    CHECK(left.model == over.model);
    CHECK(parse_plan(write_plan(left), "", test::presets()) == left);
    CHECK(evaluate(left).step->time_s == near(evaluate(plan).step->time_s, 1e-12));
}

TEST_CASE("a field that differs from its preset goes back by itself: one tier, another GPU, a group") {
    const Folder folder;
    const Presets presets = with_own(folder);
    const Plan plan = presets.plan("llama-3-70b-3d");
    const Plan two =
        typed(plan, {{"/cluster/tiers/0/bytes_per_s", "100 GB/s"}, {"/cluster/tiers/1/latency_s", "9 us"}},
              presets);
    const Plan one = with_preset_field(two, "/cluster/tiers/0/bytes_per_s", presets);
    CHECK(one.cluster.tiers[0] == plan.cluster.tiers[0]);
    CHECK(one.cluster.tiers[1].latency_s == 9e-6);
    CHECK(with_preset_field(one, "/cluster/tiers/1/latency_s", presets) == plan);
    // A GPU put in by its id is held against its own preset, not against the cluster's.
    const Plan other = typed(save_own_preset(presets, PresetKind::gpu, "ours", plan),
                             {{"/cluster/gpu/hbm_bytes", "90 GB"}}, presets);
    int marked = 0;
    for (const PlanField& f : list_plan_fields(other, presets))
        if (f.pointer.starts_with("/cluster/gpu/") && !f.preset_value.empty()) ++marked;
    CHECK(marked == 1);
    CHECK(with_preset_field(other, "/cluster/gpu/hbm_bytes", presets).cluster.gpu.hbm_bytes
          == plan.cluster.gpu.hbm_bytes);
    const Plan moe = typed(plan, {{"/model/moe", "on"}, {"/model/moe/experts", "64"}}, presets);
    const auto fields = list_plan_fields(moe, presets);
    REQUIRE(field_of(fields, "/model/moe/experts") != nullptr);
    CHECK(field_of(fields, "/model/moe/experts")->preset_value == "none");
    CHECK_FALSE(with_preset_field(moe, "/model/moe/experts", presets).model.moe);
    // A preset that is gone marks nothing and stops nothing.
    Plan lost = other;
    lost.model_source = {"was-mine", {"/hidden"}};
    CHECK(list_plan_fields(lost, presets).size() > 90);
}

TEST_CASE("each field of a plan that is changed by hand goes back to what the preset has") {
    const Presets& presets = test::presets();
    const Plan plan = presets.plan("deepseek-v3-2048");
    for (const PlanField& before : list_plan_fields(plan, presets)) {
        const bool number = before.kind == PlanField::Kind::whole || before.kind == PlanField::Kind::number;
        const bool flag = before.kind == PlanField::Kind::flag;
        if (!before.pointer.starts_with("/model/") && !before.pointer.starts_with("/cluster/")) continue;
        if ((!number && !flag) || before.pointer == "/cluster/gpus") continue;
        CAPTURE(before.pointer);
        Plan changed;
        try {
            changed =
                with_field(plan, before.pointer, flag ? (before.value == "on" ? "off" : "on") : "2", presets);
        } catch (const Error&) {
            continue;  // out of its range
        }
        const auto fields = list_plan_fields(changed, presets);
        const PlanField* f = field_of(fields, before.pointer);
        REQUIRE(f != nullptr);
        if (f->value == before.value) continue;
        CHECK(f->preset_value == before.value);
        const Plan back = with_preset_field(changed, before.pointer, presets);
        CHECK(back.model == plan.model);
        CHECK(back.cluster == plan.cluster);
    }
}
