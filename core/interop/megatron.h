// Turns Megatron-LM's settings into a plan: its flags, which Megatron-Bridge and NeMo use as field names too.
// Names, defaults and refusals are from Megatron-LM, megatron/training/arguments.py and
// megatron/core/transformer.
#pragma once

#include "core/interop/settings_sheet.h"

#include <cstdint>
#include <optional>

namespace pentamesh::interop {

class KnownSettings;

// Says how the programs that share Megatron's names differ.
struct MegatronDialect {
    const KnownSettings& known;
    bool command_line = true;      // flags of pretrain_gpt.py: absent means Megatron's default
    bool model_named = false;      // the model comes from a preset: only what the text says is put over it
    std::optional<Model> named{};  // that preset's
    bool overlap_default = false;  // ddp.overlap_grad_reduce where it is not said
    bool distributed_optimizer_default = false;
    std::int64_t micro_batch_default = 0, global_batch_default = 0;  // 0: required, micro * dp
};

void read_megatron_model(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect);
void read_megatron_training(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect);
// It needs draft.gpus. Adds an error where Megatron itself would refuse.
void read_megatron_layout(SettingsSheet& sheet, PlanDraft& draft, const MegatronDialect& dialect);
// Returns the preset of a model's class of NeMo 2, "llm.Llama3Config8B", that a text starts from; empty: it
// names none.
[[nodiscard]] std::string class_of_nemo(const std::vector<Setting>& settings, const Presets& presets);
// Adds an error for each word that Megatron's flag does not take, and for settings that exclude each other or
// of which one asks for another.
void refuse_other_words(SettingsSheet& sheet);
// Adds an error for each flag that Megatron does not have and that is a letter or two, or a missing word,
// away from one that is read.
void refuse_misspelt(SettingsSheet& sheet, const KnownSettings& known);

// Holds layers of each part of a --pipeline-model-parallel-layout; it is empty, with an error, where the text
// is no layout.
struct PipelineParts {
    std::vector<std::int64_t> layers;  // transformer layers of each part, in model order
    std::int64_t mtp_part = -1;        // the part with prediction layers
    std::string error;
};
[[nodiscard]] PipelineParts parse_pipeline_layout(std::string_view text);

// Reads "[0,0,4]+[128,4]*20": a Python list of whole numbers; nullopt for any other text.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_number_list(std::string_view text);
// Reads "[0]*3+[1]*58", "([1]*2+[0])*4": a Python list of 0 and 1; nullopt for any other text.
[[nodiscard]] std::optional<std::vector<int>> parse_layer_pattern(std::string_view text);

}  // namespace pentamesh::interop
