// Gives the tokens of each expert in the routing workloads that Megatron-LM's benchmark of token imbalance
// names W0 to W7 (NVIDIA/Megatron-LM pull request 7488, benchmarks/moe/token_imbalance/README.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pentamesh {

struct NamedLoad {
    std::string_view name, words;
    bool offered = true;  // false: its loads are those of another one
};

// W3 is left out: its published figures do not follow from the rule that is published with them.
inline constexpr std::array<NamedLoad, 7> kNamedLoads{{
    {"W0", "every expert gets as many tokens", false},
    {"W1", "3 of 4 tokens choose in the first quarter of the experts"},
    {"W2", "the same experts are hot as in W1; which rank has them follows from the layout", false},
    {"W4", "the sources have uneven tokens, the experts even ones", false},
    {"W5", "the first half of the experts gets none"},
    {"W6", "as W1; the hot quarter moves every 3 steps", false},
    {"W7", "a burst, each fourth step: 1 of 2 tokens chooses in the first quarter"},
}};
// Returns null for another name.
[[nodiscard]] const NamedLoad* named_load(std::string_view name);
// Returns the expected load of each expert, of the mean expert's. The hot experts are a quarter of them, at
// least `top_k`; `experts` >= 1.
[[nodiscard]] std::vector<double> expert_loads_of(const NamedLoad& named, std::int64_t experts,
                                                  std::int64_t top_k);

}  // namespace pentamesh
