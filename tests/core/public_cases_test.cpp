// Runs the small public texts of tests/golden/public_cases.json: each has its files, a command, and the
// values that must stand in the plan. Those whose answer is to be read by eye have no value.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/core/imports.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

using namespace pentamesh;
using namespace pentamesh::interop;

namespace {

using nlohmann::json;

ImportRequest request_of(const json& one) {
    ImportRequest r;
    const std::vector<std::string> words = one["command"].get<std::vector<std::string>>();
    std::map<std::string, std::string> files;
    for (const auto& [name, text] : one["files"].items())
        files[name] = text.is_string() ? text.get<std::string>() : text.dump();
    r.path = words[1];
    r.text = files.at(r.path);
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
        if (words[i] == "--gpus") r.gpus = std::atoll(words[i + 1].c_str());
        if (words[i] == "--model") r.model = words[i + 1];
        if (words[i] == "--set") r.sets.push_back(words[i + 1]);
        if (words[i] == "--var") r.variables.push_back(words[i + 1]);
        if (words[i] == "--args") r.arguments = words[i + 1];
    }
    r.other = test::found_in(files);
    return r;
}

}  // namespace

TEST_CASE("small public texts are read as their tools read them") {
    const json cases = json::parse(read_file(std::string(GOLDEN_DIR) + "/public_cases.json"));
    int imported = 0;
    for (const json& one : cases) {
        if (one["command"][0] != "import") continue;
        ++imported;
        const std::string name = one["name"];
        INFO(name);
        std::optional<Import> made;
        try {
            made = import_settings(request_of(one), test::presets());
        } catch (const Error&) {  // it is refused: no plan
        }
        const json expected = one["expect_json"];
        for (const auto& item : expected.items()) {
            const std::string& pointer = item.key();
            const json& value = item.value();
            if (value.is_object() && value.contains("refused")) {
                CHECK((!made || made->failed()) == value["refused"].get<bool>());
                continue;
            }
            REQUIRE(made);
            const json all = {{"kind", made->kind},
                              {"plan", made->plan ? json::parse(write_plan(*made->plan)) : json()}};
            const json::json_pointer at(pointer);
            CAPTURE(pointer);
            REQUIRE(all.contains(at));
            CHECK(all[at] == value);
        }
    }
    CHECK(imported >= 12);
}

TEST_CASE("GPUs of one node are no job: the nodes are asked for") {
    const json cases = json::parse(read_file(std::string(GOLDEN_DIR) + "/public_cases.json"));
    for (const json& one : cases) {
        if (one["name"] != "nemo1-devices-asked-for") continue;
        const Import made = import_settings(request_of(one), test::presets());
        const ImportProblem* asked = test::problem_called(made, "gpus-missing");
        REQUIRE(asked);
        CHECK(asked->message.find("trainer.num_nodes") != std::string::npos);
        CHECK(asked->message.find("--gpus") != std::string::npos);
        REQUIRE(made.plan);
        CHECK(made.plan->cluster.gpus == 8);
    }
}
