// Makes a plan of the draft that a framework's reader filled; what the text leaves open is asked for, and a
// value stands in for it.
#pragma once

#include "core/interop/settings_sheet.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pentamesh::interop {

struct ImportRequest;

// Sets how many layers the draft's preset has, which the split over stages asks for. Where the text does not
// change it, make_plan takes it out again.
void know_layers(PlanDraft& draft, const Presets& presets);

// Sets the world where the text does not say it: the smallest that the degrees fill, and adds a problem that
// asks for it.
void ask_for_gpus(SettingsSheet& sheet, PlanDraft& draft, std::int64_t fewest);
// Adds a problem that asks for the model where the draft has none.
void ask_for_model(SettingsSheet& sheet, const PlanDraft& draft);
// Sets the vocabulary that a tokenizer gives, and adds a problem that asks for it; `more` is said with it.
void ask_for_vocab(SettingsSheet& sheet, nlohmann::json& model, const std::string& more);
// Sets a batch that the text leaves open: one micro-batch a rank, and adds a problem that asks for it.
void ask_for_batch(SettingsSheet& sheet, PlanDraft& draft, std::int64_t micro, std::int64_t ranks);

// Returns the plan of a draft, and adds the problems that it has as a plan; nullopt, with an error, where its
// fields make none.
[[nodiscard]] std::optional<Plan> make_plan(const ImportRequest& r, const Presets& presets, const Tool& tool,
                                            const PlanDraft& draft, SettingsSheet& sheet);

}  // namespace pentamesh::interop
