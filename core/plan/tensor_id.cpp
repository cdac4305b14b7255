#include "core/plan/tensor_id.h"

#include <array>

namespace pentamesh {
namespace {

struct TensorRow {
    TensorId id;
    TensorModule module;
    std::string_view name;
};
namespace tensor_table {  // the enumerators' bare names stay in here

using enum TensorId;
constexpr std::array kTensors{
#define PENTAMESH_ROW(id, module, name) TensorRow{id, TensorModule::module, name},
    PENTAMESH_TENSORS(PENTAMESH_ROW)
#undef PENTAMESH_ROW
};

constexpr MlpTensors kMlp{mlp_gate,    mlp_up,        mlp_down,      mlp_gate_bias,
                          mlp_up_bias, mlp_down_bias, mlp_activated, mlp_product};
constexpr MlpTensors kExperts{experts_gate,    experts_up,        experts_down,      experts_gate_bias,
                              experts_up_bias, experts_down_bias, experts_activated, experts_product};
constexpr MlpTensors kShared{shared_expert_gate,      shared_expert_up,      shared_expert_down,
                             shared_expert_gate_bias, shared_expert_up_bias, shared_expert_down_bias,
                             shared_expert_activated, shared_expert_product};

}  // namespace tensor_table
using tensor_table::kTensors;

constexpr const TensorRow& row_of(TensorId id) {
    return kTensors[static_cast<std::size_t>(id)];
}

}  // namespace

std::string_view name_of(TensorId id) {
    return row_of(id).name;
}

std::string_view short_name_of(TensorId id) {
    const std::string_view name = row_of(id).name;
    return name.substr(name.find('.') + 1);
}

const MlpTensors& mlp_tensors(TensorModule module) {
    return module == TensorModule::experts         ? tensor_table::kExperts
           : module == TensorModule::shared_expert ? tensor_table::kShared
                                                   : tensor_table::kMlp;
}

TensorModule module_of(TensorId id) {
    return row_of(id).module;
}

std::optional<TensorId> tensor_called(std::string_view name) {
    for (const TensorRow& row : kTensors)
        if (row.name == name) return row.id;
    return std::nullopt;
}

}  // namespace pentamesh
