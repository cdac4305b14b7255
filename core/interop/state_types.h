// Says in which types a trainer keeps parameters, gradients, moments and a master copy. There is one rule for
// all tools: parameters stay in the type that they are stored in, not in that of the products;
// the optimizer keeps its moments as it is written (words.json, "optimizers"), and a copy of the parameters
// only where it, or an engine around it, is asked for one.
#pragma once

#include "core/interop/settings_sheet.h"

#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::interop {

// Holds what a text says of them: each by the name of a setting of the sheet, which may be missing in it.
struct StateSettings {
    // The type between two steps, and that of the tool where it is "auto".
    std::string_view stored = own::kStored.name, usual = own::kUsualStored.name;
    std::string_view optimizer = own::kOptimizerName.name;  // "torch.optim.AdamW", "adamw_torch"
    std::string_view first_moment = own::kExpAvgDtype.name, second_moment = own::kExpAvgSqDtype.name;
    std::string_view master = own::kMasterWeights.name, master_type = own::kMasterWeightDtype.name;
    // Gradients where they are kept in another type than parameters.
    std::string_view gradients = own::kKeptGradients.name;
    std::string_view upcast = own::kUpcast.name;      // true: stored in fp32, and not as the text says
    std::string_view engine = own::kEngineCopy.name;  // true: DeepSpeed's engine updates a copy in fp32
};

// Sets the types of the draft's training where the text says how parameters are stored, or which engine
// updates them; else they stay as they are. A type that the text states itself stands. It adds the words of
// the optimizer to the draft, for the sentence of how many bytes a parameter takes.
void read_state_types(SettingsSheet& sheet, PlanDraft& draft, const StateSettings& settings = {});

// Turns "torch.bfloat16", "DType.float32", "bf16" into a plan's name; empty for an unknown type.
[[nodiscard]] std::string dtype_name(std::string_view text);

}  // namespace pentamesh::interop
