// A list of models begins with the highest number of each family.
#include "core/io/preset_order.h"

#include "tests/core/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace pentamesh;

namespace {

std::vector<std::string> ordered(const std::vector<std::string>& names) {
    std::vector<Presets::Entry> entries;
    for (const std::string& name : names) entries.push_back({.id = name, .name = name, .source = ""});
    std::vector<std::string> out;
    for (const Presets::Entry* e : highest_number_first(entries)) out.push_back(e->name);
    return out;
}

}  // namespace

TEST_CASE("of a family the highest number comes first, and numbers of parameters are none") {
    using Names = std::vector<std::string>;
    CHECK(ordered(
              {"Llama 2 70B", "Llama 3 70B", "Llama 3 8B", "Llama 3.1 70B", "Mixtral 8x22B", "Mixtral 8x7B"})
          == Names{"Llama 3.1 70B", "Llama 3 70B", "Llama 3 8B", "Llama 2 70B", "Mixtral 8x22B",
                   "Mixtral 8x7B"});
    CHECK(ordered({"OLMo 2 7B", "OLMo 3 7B", "OLMo 7B"}) == Names{"OLMo 3 7B", "OLMo 2 7B", "OLMo 7B"});
    CHECK(ordered({"Qwen2.5 7B", "Qwen3 8B", "Qwen3.5 35B"})
          == Names{"Qwen3.5 35B", "Qwen3 8B", "Qwen2.5 7B"});
    CHECK(ordered({"Beta 7B", "Alpha 9B"}) == Names{"Beta 7B", "Alpha 9B"});  // families stay as they come
}

TEST_CASE("all models stay in the list, and the first with 70B is the latest Llama") {
    const auto& all = test::presets().list(PresetKind::model);
    const auto order = highest_number_first(all);
    CHECK(order.size() == all.size());
    const auto first = std::ranges::find_if(
        order, [](const Presets::Entry* e) { return e->name.find("70B") != std::string::npos; });
    REQUIRE(first != order.end());
    CHECK((*first)->id == "llama-3.1-70b");
}
