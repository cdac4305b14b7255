// Holds what a micro-batch and a step's batch are in sequences, where the settings count something else.
#pragma once

#include "core/interop/dialect.h"
#include "core/interop/settings_sheet.h"

namespace pentamesh::interop {

// Micro-batches that are filled by tokens (the key micro_tokens, a GPU's most) have as many sequences of the
// plan's length as fit, at least one; the plan has the largest number of these that divides a rank's batch.
void take_token_batch(SettingsSheet& sheet, PlanDraft& draft);

// A sample of preference training (DPO, a reward model) is a chosen and a rejected sequence: micro-batch and
// batch count both. Where that is not sure a warning says so.
void take_pairs(const Dialect& dialect, const KnownSettings& known, SettingsSheet& sheet, PlanDraft& draft);

}  // namespace pentamesh::interop
