// Each framework has a reader: settings go in, a draft of the plan comes out. Each is in its own file.
#pragma once

#include "core/interop/draft.h"
#include "core/interop/launch.h"

#include <cstdint>

namespace pentamesh::interop {

class KnownSettings;

// `launch` is the script that the settings come from; it is null where they come from a file of settings.
void read_megatron(Sheet& sheet, Draft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known);
// Reads recipes in Python, YAML overrides, words "model.x=y", and the performance scripts' short flags; NeMo
// 1 and 2.
void read_bridge(Sheet& sheet, Draft& draft, const Presets& presets, const Launch* launch);
void read_torchtitan(Sheet& sheet, Draft& draft, const Presets& presets);

// Returns the last part of a dotted name, two parts where one says too little ("optim.name").
[[nodiscard]] std::string leaf_key(const std::string& name);

// Sets how many layers the draft's preset has, which the split over stages asks for. Where the text does not
// change it, `build` of import.cpp takes it out again.
void know_layers(Draft& draft, const Presets& presets);

// Sets the world where the text does not say it: the smallest that the degrees fill, and adds a problem that
// asks for it.
void ask_for_gpus(Sheet& sheet, Draft& draft, std::int64_t fewest);
// Sets the vocabulary that a tokenizer gives, and adds a problem that asks for it; `more` is said with it.
void ask_for_vocab(Sheet& sheet, nlohmann::json& model, const std::string& more);
// Sets a batch that the text leaves open: one micro-batch a rank, and adds a problem that asks for it.
void ask_for_batch(Sheet& sheet, Draft& draft, std::int64_t micro, std::int64_t ranks);

}  // namespace pentamesh::interop
