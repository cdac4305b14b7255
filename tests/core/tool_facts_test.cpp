// `import --tools` says of a setting what an import makes of it.
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/interop/tool_facts.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::interop;
using nlohmann::json;

namespace {

// Returns the names that a list may have for a setting of a text: "+a.b-c" is "a.b-c", "b-c" and "b_c".
std::vector<std::string> names_of(const std::string& written) {
    std::vector<std::string> out{written,
                                 written.substr(std::min(written.find_first_not_of("+-"), written.size()))};
    for (std::size_t dot = written.find('.'); dot != std::string::npos; dot = written.find('.', dot + 1))
        out.push_back(written.substr(dot + 1));
    for (std::size_t i = 0, n = out.size(); i < n; ++i) {
        std::string plain = out[i];
        std::replace(plain.begin(), plain.end(), '-', '_');
        out.push_back(plain);
    }
    return out;
}

bool near_field(const std::string& a, const std::string& b) {
    return a.starts_with(b) || b.starts_with(a);
}

const KnownSetting* called(const ToolFacts& facts, std::string_view name) {
    const auto it = std::find_if(facts.settings.begin(), facts.settings.end(),
                                 [&](const KnownSetting& s) { return s.name == name; });
    return it == facts.settings.end() ? nullptr : &*it;
}

ToolFacts facts_called(std::string_view tool) {
    return facts_of(*tool_called(tool), test::presets());
}

}  // namespace

TEST_CASE("each tool that is read says which texts, what is known of its settings and where that is from") {
    for (const Tool* tool : read_tools()) {
        CAPTURE(tool->name);
        const ToolFacts facts = facts_of(*tool, test::presets());
        CHECK_FALSE(facts.called.empty());
        CHECK_FALSE(tool->reads.empty());
        CHECK_FALSE(tool->reads.ends_with('.'));
        CHECK_FALSE(marks_in_words(*tool).empty());
        CHECK_FALSE(name_of(tool->reader).empty());
        REQUIRE_FALSE(facts.sources.empty());
        for (const ToolSource& source : facts.sources) {
            CHECK(source.repository.find('/') != std::string::npos);
            CHECK(words_of(source).starts_with(source.repository));
        }
        for (const SettingFate fate : {SettingFate::field, SettingFate::cannot_hold, SettingFate::ignored})
            CHECK(facts.count(fate) > 0);
        CHECK(facts.count(SettingFate::field) + facts.count(SettingFate::cannot_hold)
                  + facts.count(SettingFate::ignored)
              == facts.settings.size());
        for (const KnownSetting& s : facts.settings) {
            CAPTURE(s.name);
            for (const std::string& field : s.fields) CHECK(field.starts_with("/"));
            CHECK(s.why.empty() == (s.fate != SettingFate::cannot_hold));
        }
    }
}

TEST_CASE("a setting stands once in the lists of a tool: it changes nothing, or no plan holds it") {
    std::size_t found = 0;
    for (const auto& file : std::filesystem::directory_iterator(test::presets().root() / "frameworks")) {
        if (file.path().extension() != ".json") continue;
        CAPTURE(file.path().string());
        const json all = json::parse(read_file(file.path()));
        std::set<std::string> seen;
        const auto stands_once = [&](const json& names) {
            for (const json& name : names) {
                CAPTURE(name.get<std::string>());
                CHECK(seen.insert(name.get<std::string>()).second);
            }
        };
        stands_once(all.value("harmless", json::array()));
        for (const json& row : all.value("cannot_hold", json::array())) stands_once(row.at("settings"));
        found += seen.size();
    }
    CHECK(found > 1000);
}

TEST_CASE("a tool's own name, one that its rules ask for and one of another tool's list have their fields") {
    const ToolFacts roll = facts_called("roll");
    const KnownSetting* ulysses = called(roll, "actor_train.model_args.ulysses_size");
    REQUIRE(ulysses);
    CHECK(ulysses->fields == std::vector<std::string>{"/layout/cp"});
    const ToolFacts verl = facts_called("verl-megatron");
    const KnownSetting* prompt = called(verl, "data.max_prompt_length");
    REQUIRE(prompt);
    CHECK(prompt->fields == std::vector<std::string>{"/training/sequence_length"});
    REQUIRE(called(verl, "tensor_model_parallel_size"));
    CHECK(called(verl, "tensor_model_parallel_size")->fields == std::vector<std::string>{"/layout/tp"});
    const KnownSetting* offload = called(verl, "actor_rollout_ref.actor.megatron.param_offload");
    REQUIRE(offload);
    CHECK(offload->fate == SettingFate::cannot_hold);
    CHECK(verl.count(SettingFate::ignored) > facts_called("bridge").count(SettingFate::ignored));
    CHECK(facts_called("axolotl").pairs);
    CHECK_FALSE(facts_called("megatron").pairs);
    CHECK(words_of(facts_called("deepspeed").sources[0]) == "deepspeedai/DeepSpeed edaa7221 (2026-08-22)");
    CHECK(marks_in_words(*tool_called("nanotron")) == "`parallelism:` with `tokens:`");
}

// core/interop/megatron_model.cpp maps it to one or the other, by its word.
TEST_CASE("a setting that code reads into one of two fields is listed with both") {
    const ToolFacts megatron = facts_called("megatron");
    const KnownSetting* variant = called(megatron, "experimental_attention_variant");
    REQUIRE(variant);
    CHECK(variant->fields == std::vector<std::string>{"/model/attention", "/model/linear"});
    const KnownSetting* heads = called(megatron, "linear_num_key_heads");
    REQUIRE(heads);
    CHECK(heads->fate == SettingFate::field);
    const KnownSetting* rank = called(megatron, "q_lora_rank");
    REQUIRE(rank);
    CHECK(rank->fields == std::vector<std::string>{"/model/compressed", "/model/mla/q_lora_rank"});
}

TEST_CASE("a setting that an import maps is listed with that field") {
    // A launcher's flags and the keys of its file are accelerate's.
    const std::vector<std::string> launchers{"--deepspeed", "--fsdp_version"};
    std::size_t found = 0;
    for (const auto& file : std::filesystem::directory_iterator(SOURCE_DIR "/tests/fuzz/seeds/import")) {
        Import made;
        try {
            made = import_settings({.text = read_file(file.path()), .path = "seed"}, test::presets());
        } catch (const Error&) {
            continue;
        }
        const ToolFacts facts = facts_called(made.kind);
        for (const Listed& row : made.settings.mapped) {
            CAPTURE(made.kind);
            CAPTURE(row.setting);
            CAPTURE(row.path);
            bool listed = false, fits = false;
            for (const std::string& name : names_of(row.setting)) {
                const KnownSetting* s = called(facts, name);
                if (!s) continue;
                listed = true;
                const bool in_plan = s->fate == SettingFate::field;
                fits = fits
                       || (in_plan
                           && (s->fields.empty()
                               || std::any_of(s->fields.begin(), s->fields.end(), [&](const std::string& f) {
                                      return near_field(f, row.path);
                                  })));
            }
            if (!listed || std::find(launchers.begin(), launchers.end(), row.setting) != launchers.end())
                continue;
            CHECK(fits);
            ++found;
        }
    }
    CHECK(found > 100);
}
