#include "core/interop/flags.h"

#include "core/interop/words.h"

namespace pentamesh::interop {
namespace {

// Returns the framework's name in a row of the table; empty: the row has none.
std::string_view spelled_in(const nlohmann::ordered_json& row, Framework framework) {
    const auto name = row.find(name_of(framework));
    return name == row.end() ? std::string_view() : word_of(*name);
}

}  // namespace

std::string_view flag_of(Framework framework, std::string_view pointer) {
    const auto row = words("spellings").find(pointer);
    return row == words("spellings").end() ? std::string_view() : spelled_in(*row, framework);
}

std::string zero_words(Framework framework, int stage) {
    std::string out(flag_of(framework, "/layout/zero"));
    const bool bridge = framework == Framework::bridge;
    if (framework != Framework::megatron && !bridge)
        return out.empty() ? out : out + " = " + std::to_string(stage);
    if (stage == 0) return "without " + out;
    if (stage == 1) return out;
    const std::string_view shards = stage == 2 ? "optim_grads" : "optim_grads_params";
    return out
           + (bridge ? ", ddp.use_megatron_fsdp, ddp.data_parallel_sharding_strategy = "
                     : " --use-megatron-fsdp --data-parallel-sharding-strategy ")
           + std::string(shards);
}

std::vector<SpelledField> flags_of(Framework framework) {
    std::vector<SpelledField> out;
    for (const auto& [pointer, row] : words("spellings").items())
        if (const std::string_view name = spelled_in(row, framework); !name.empty())
            out.push_back({pointer, name});
    return out;
}

}  // namespace pentamesh::interop
