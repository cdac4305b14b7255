// Tests plans as configurations of MaxText. What its own checks ask is from AI-Hypercomputer/maxtext
// e591f30c, src/maxtext/configs/types.py: the factors inside a slice multiply to its devices, those between
// slices to the slices, and a call takes the whole part of devices x per_device_batch_size.
#include "core/evaluate.h"
#include "core/interop/export.h"
#include "core/interop/import.h"
#include "core/mesh/mesh.h"
#include "core/model/model.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace pentamesh;
using namespace pentamesh::interop;
using test::presets;

namespace {

// Returns the settings of a flat YAML.
std::map<std::string, std::string> maxtext_settings(const std::string& text) {
    std::map<std::string, std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (!line.starts_with('#') && colon != std::string::npos)
            out[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return out;
}

std::int64_t product_of(const std::map<std::string, std::string>& settings, const std::string& prefix) {
    std::int64_t out = 1;
    for (const auto& [name, value] : settings)
        if (name.starts_with(prefix) && name.ends_with("_parallelism")) out *= std::stoll(value);
    return out;
}

Import read_maxtext(const Export& made, std::int64_t gpus) {
    ImportRequest r;
    r.text = made.text;
    r.path = "exported.yml";
    r.gpus = gpus;
    return import_settings(r, presets());
}

bool loses_field(const Export& made, std::string_view pointer) {
    return std::any_of(made.lost.begin(), made.lost.end(),
                       [&](const Unsaid& u) { return u.pointer == pointer; });
}

bool refuses(const Export& made, std::string_view word) {
    return std::any_of(made.refused.begin(), made.refused.end(),
                       [&](const std::string& reason) { return reason.find(word) != std::string::npos; });
}

// A dense plan of `gpus` H100, all of it over fsdp.
Plan sharded_plan(std::int64_t gpus) {
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.cluster.gpus = gpus;
    p.layout = Layout();
    p.layout.zero = 3, p.layout.dp_shard = gpus, p.layout.dp_replicate = 1;
    p.training.micro_batch = 1, p.training.global_batch = 2 * gpus;
    p.training.recompute = Recompute::full;
    return p;
}

}  // namespace

TEST_CASE("MaxText: the factors inside a slice are its devices, those between slices the slices") {
    Plan p = sharded_plan(64);
    p.layout.tp = 4, p.layout.dp_shard = 8, p.layout.dp_replicate = 2;
    const Export made = export_plan(p, "maxtext", presets());
    CHECK(made.lost.empty());
    const auto said = maxtext_settings(made.text);
    CHECK(said.at("ici_tensor_sequence_parallelism") == "4");
    CHECK(said.at("ici_fsdp_parallelism") == "2");
    CHECK(said.at("dcn_fsdp_parallelism") == "4");
    CHECK(said.at("dcn_data_parallelism") == "2");
    CHECK(product_of(said, "ici_") == 8);  // GPUs of a node
    CHECK(product_of(said, "dcn_") == 8);  // nodes
    p.layout.sequence_parallel = false;
    CHECK(maxtext_settings(export_plan(p, "maxtext", presets()).text).at("ici_tensor_parallelism") == "4");
    // 12 GPUs of 8 a node: no factor of 12 fills a node.
    p = sharded_plan(12);
    CHECK(loses_field(export_plan(p, "maxtext", presets()), "/layout/order"));
}

TEST_CASE("MaxText: a call takes as many samples as the plan has, also of a third of a sample a device") {
    for (std::int64_t cp = 1; cp <= 48; ++cp)
        for (const std::int64_t samples : {1, 3, 7}) {
            Plan p = sharded_plan(8 * cp);
            p.layout.cp = cp, p.layout.dp_shard = 8;
            p.training.micro_batch = samples, p.training.global_batch = 2 * 8 * samples;
            const auto said = maxtext_settings(export_plan(p, "maxtext", presets()).text);
            const std::string& text = said.at("per_device_batch_size");
            double each = 0;
            std::from_chars(text.data(), text.data() + text.size(), each);
            CAPTURE(text);
            CHECK(static_cast<std::int64_t>(static_cast<double>(8 * cp) * each) == 8 * samples);
            CHECK(said.at("gradient_accumulation_steps") == "2");
        }
}

TEST_CASE("MaxText: each plan that ships comes back with the same layout, or what is lost is named") {
    int whole = 0, limited = 0;
    for (const Presets::Entry& e : presets().list(PresetKind::plan)) {
        CAPTURE(e.id);
        const Plan p = presets().plan(e.id);
        if (!evaluate(p, {.timeline = false, .messages = false}).valid) continue;
        const Export made = export_plan(p, "maxtext", presets());
        const Import read = read_maxtext(made, p.cluster.gpus);
        CHECK(read.kind == "maxtext");
        for (const Listed& l : read.settings.not_known) CHECK(l.setting == "");
        if (!made.lost.empty() || !made.refused.empty()) {
            ++limited;
            continue;
        }
        ++whole;
        REQUIRE(read.plan);
        const Layout &a = p.layout, &b = read.plan->layout;
        CHECK(a.tp == b.tp);
        CHECK(a.cp == b.cp);
        CHECK(a.pp == b.pp);
        CHECK(data_ranks(p) == data_ranks(*read.plan));
        const Mesh x = build_mesh(p), y = build_mesh(*read.plan);
        for (const GroupKind kind : {GroupKind::tp, GroupKind::cp, GroupKind::pp, GroupKind::dp})
            CHECK(all_groups(x, kind) == all_groups(y, kind));
        CHECK(p.training.sequence_length == read.plan->training.sequence_length);
        CHECK(p.training.micro_batch == read.plan->training.micro_batch);
        CHECK(p.training.global_batch == read.plan->training.global_batch);
        CHECK(count_parameters(read.plan->model).total == count_parameters(p.model).total);
    }
    MESSAGE(whole << " plans whole, " << limited << " limited");
    CHECK(whole >= 3);
    CHECK(limited > 3);
}

TEST_CASE("MaxText: each model that ships comes back, by its name there or by its sizes, or is lost") {
    int named = 0, sized = 0;
    for (const Presets::Entry& e : presets().list(PresetKind::model)) {
        CAPTURE(e.id);
        Plan p = sharded_plan(8);
        p.model = presets().model(e.id);
        p.model_source = {e.id, {}};
        const Export made = export_plan(p, "maxtext", presets());
        if (loses_field(made, "/model")) continue;
        const bool by_name = maxtext_settings(made.text).contains("model_name");
        ++(by_name ? named : sized);
        const Import read = read_maxtext(made, 8);
        REQUIRE(read.plan);
        if (!counts_all(count_parameters(p.model))) continue;
        CHECK(count_parameters(read.plan->model).total == count_parameters(p.model).total);
        CHECK(count_parameters(read.plan->model).active == count_parameters(p.model).active);
    }
    MESSAGE(named << " by name, " << sized << " by sizes");
    CHECK(named > 30);
    CHECK(sized > 5);
    // Sizes say the model that a name says.
    Plan p = sharded_plan(8);
    p.model_source = {};
    const Import read = read_maxtext(export_plan(p, "maxtext", presets()), 8);
    REQUIRE(read.plan);
    CHECK(count_parameters(read.plan->model).total == 8030261248);  // Llama 3 8B
}

TEST_CASE("MaxText: a pipeline runs all forwards first, in rounds; what it refuses is refused") {
    Plan p = sharded_plan(32);
    p.layout.pp = 4, p.layout.dp_shard = 8, p.layout.schedule = Schedule::gpipe;
    p.training.global_batch = 8 * 16;
    Export made = export_plan(p, "maxtext", presets());
    CHECK(made.lost.empty());
    CHECK(made.refused.empty());
    auto said = maxtext_settings(made.text);
    CHECK(said.at("num_pipeline_microbatches") == "16");
    CHECK(said.at("num_layers_per_pipeline_stage") == "8");
    CHECK(said.at("num_pipeline_repeats") == "1");
    CHECK(said.at("per_device_batch_size") == "4.0");
    CHECK(said.at("gradient_accumulation_steps") == "1");
    Import read = read_maxtext(made, 32);
    REQUIRE(read.plan);
    CHECK(read.plan->layout.schedule == Schedule::gpipe);
    CHECK(read.plan->training.micro_batch == 1);
    CHECK(microbatches_of(*read.plan) == 16);
    p.layout.schedule = Schedule::looped_bfs, p.layout.virtual_stages = 4;
    made = export_plan(p, "maxtext", presets());
    CHECK(made.lost.empty());
    said = maxtext_settings(made.text);
    CHECK(said.at("num_layers_per_pipeline_stage") == "2");
    read = read_maxtext(made, 32);
    REQUIRE(read.plan);
    CHECK(read.plan->layout.schedule == Schedule::looped_bfs);
    CHECK(read.plan->layout.virtual_stages == 4);
    p.layout.schedule = Schedule::one_f_one_b, p.layout.virtual_stages = 1;
    CHECK(loses_field(export_plan(p, "maxtext", presets()), "/layout/schedule"));
    p.layout.schedule = Schedule::gpipe, p.training.global_batch = 8 * 6;
    CHECK(refuses(export_plan(p, "maxtext", presets()), "num_pipeline_microbatches"));
}

TEST_CASE("MaxText: what it cannot say is listed") {
    Plan p = sharded_plan(64);
    p.layout.cp = 2, p.layout.dp_shard = 32, p.layout.cp_comm = CpComm::ulysses;
    CHECK(refuses(export_plan(p, "maxtext", presets()), "ulysses"));
    p.layout.cp_comm = CpComm::ring;
    const Import ring = read_maxtext(export_plan(p, "maxtext", presets()), 64);
    REQUIRE(ring.plan);
    CHECK(ring.plan->layout.cp_comm == CpComm::ring);
    p.layout.cp = 1, p.layout.dp_shard = 64;
    p.layout.zero = 2;
    CHECK(loses_field(export_plan(p, "maxtext", presets()), "/layout/zero"));
    p.layout.zero = 0;
    CHECK_FALSE(loses_field(export_plan(p, "maxtext", presets()), "/layout/zero"));
    p.layout.zero = 3;
    p.training.optimizer = Optimizer::sgd_momentum;
    CHECK(loses_field(export_plan(p, "maxtext", presets()), "/training/optimizer"));
    p.training.optimizer = Optimizer::adamw;
    p.training.recompute = Recompute::none;
    const Export none = export_plan(p, "maxtext", presets());
    CHECK(none.lost.empty());
    CHECK(std::any_of(none.notes.begin(), none.notes.end(),
                      [](const std::string& n) { return n.starts_with("recompute none"); }));
    const Import kept = read_maxtext(none, 64);
    REQUIRE(kept.plan);
    CHECK(kept.plan->training.recompute == RecomputeChoice(Recompute::none));
    p.training.recompute = {RecomputeModules(RecomputeModule::mlp), 0, RecomputeMethod::block};
    CHECK(loses_field(export_plan(p, "maxtext", presets()), "/training/recompute"));
    p.training.recompute = Recompute::full;
    p.training.dropout = true;
    const Import drops = read_maxtext(export_plan(p, "maxtext", presets()), 64);
    REQUIRE(drops.plan);
    CHECK(drops.plan->training.dropout);
}

TEST_CASE("MaxText: types of state that come out otherwise are named once") {
    int named = 0;
    for (const Presets::Entry& entry : presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Export made = export_plan(presets().plan(entry.id), "maxtext", presets());
        const auto notes = std::count_if(made.notes.begin(), made.notes.end(),
                                         [](const std::string& n) { return n.starts_with("types of"); });
        CHECK(notes <= 1);
        named += static_cast<int>(notes);
    }
    CHECK(named >= 3);
}
