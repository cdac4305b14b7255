// Says which settings of Megatron-LM exclude each other or ask for one another (words.json,
// "megatron_refuses": the asserts of megatron/training/arguments.py and of
// megatron/core/transformer/transformer_config.py that look at no sizes).
#include "core/base/text.h"
#include "core/interop/megatron.h"
#include "core/interop/script/settings.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Returns true if the settings are as the word says: "name" is switched on, "name=x" is that word, "name>1" a
// whole number above it.
bool is_so(const SettingsSheet& s, std::string_view word) {
    const std::size_t at = word.find_first_of("=>");
    const Setting* said = s.last(std::string(word.substr(0, at)));
    if (!said || !said->unknown.empty()) return false;
    if (at == std::string_view::npos)
        return !said->stated || (!says_nothing(said->value) && flag_of_word(said->value) != false);
    const std::string_view wanted = word.substr(at + 1);
    if (word[at] == '=') return said->value == wanted;
    return parse_integer(said->value).value_or(0) > parse_integer(wanted).value_or(0);
}

}  // namespace

void refuse_other_pairs(SettingsSheet& s) {
    if (s.printed || s.has("deepspeed") || s.has("zero_stage")) return;  // Megatron-DeepSpeed has its own
    for (const auto& row : words("megatron_refuses")) {
        const auto holds = [&](const auto& word) { return is_so(s, word_of(word)); };
        const auto& with = row["with"];
        const auto& without = row["without"];
        if (std::all_of(with.begin(), with.end(), holds)
            && std::none_of(without.begin(), without.end(), holds))
            s.refusal("settings-at-odds", "Megatron", word_of(row["why"]));
    }
}

}  // namespace pentamesh::interop
