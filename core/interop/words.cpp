#include "core/interop/words.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// This is written at configure time from presets/frameworks/words.json.
constexpr std::string_view kWordsText =
#include "words.inc"
    ;

}  // namespace

const nlohmann::ordered_json& words(std::string_view table) {
    static const auto all = nlohmann::ordered_json::parse(kWordsText);
    return all.at(table);
}

std::string_view word_of(const nlohmann::ordered_json& text) {
    return text.get_ref<const std::string&>();
}

std::vector<std::string_view> word_list(std::string_view table) {
    std::vector<std::string_view> out;
    for (const auto& word : words(table)) out.push_back(word_of(word));
    return out;
}

bool is_among(std::string_view table, std::string_view word) {
    const auto& all = words(table);
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return word_of(one) == word; });
}

}  // namespace pentamesh::interop
