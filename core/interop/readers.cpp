#include "core/interop/readers.h"

#include "core/interop/megatron.h"

#include <algorithm>

namespace pentamesh::interop {

std::string leaf_key(const std::string& name) {
    const std::size_t dot = name.rfind('.', name.find(" ("));  // a condition has dots of its own
    if (dot == std::string::npos) return name;
    // Data of tests, and encoders, have settings of the same last names as the training and its model.
    for (const char* other :
         {"validation_ds.", "test_ds.", "vision_config.", "vision_encoder.", "audio_config."})
        if (name.find(other) < dot) return name;
    std::string leaf = name.substr(dot + 1);
    if (leaf != "name" && leaf != "type" && leaf != "enabled" && leaf != "device") return leaf;
    const std::size_t before = name.rfind('.', dot - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

void know_layers(Draft& draft, const Presets& presets) {
    if (presets.has(PresetKind::model, draft.model_preset))
        draft.model["layers"] = presets.model(draft.model_preset).layers;
}

void ask_for_gpus(Sheet& sheet, Draft& draft, std::int64_t fewest) {
    if (draft.gpus > 0) return;
    draft.gpus = std::max<std::int64_t>(fewest, 1);
    sheet.ask(Asked::gpus, Severity::warning, "gpus-missing",
              plain("The text does not say how many GPUs (gpus) the job runs on: ", draft.gpus,
                    ", the fewest that this layout needs, stand in for them. Say how many there are "
                    "(--gpus on the command line)."),
              {{"/cluster/gpus", draft.gpus}});
}

void ask_for_vocab(Sheet& sheet, nlohmann::json& model, const std::string& more) {
    constexpr std::int64_t stand_in = 128'000;
    model["vocab"] = stand_in;
    sheet.ask(Asked::nothing, Severity::warning, "vocab-missing",
              plain("The text does not say the vocabulary (vocab): it comes from the tokenizer.", more,
                    " 128,000 stands in for it; set /model/vocab."),
              {{"/model/vocab", stand_in}});
}

void ask_for_batch(Sheet& sheet, Draft& draft, std::int64_t micro, std::int64_t ranks) {
    const std::int64_t global = std::max<std::int64_t>(micro, 1) * std::max<std::int64_t>(ranks, 1);
    draft.training["micro_batch"] = std::max<std::int64_t>(micro, 1);
    draft.training["global_batch"] = global;
    sheet.ask(Asked::batch, Severity::warning, "batch-missing",
              plain("The text does not say the batch: one micro-batch of ", std::max<std::int64_t>(micro, 1),
                    " on each data-parallel rank, a global batch of ", global,
                    ", stands in for it; set /training/global_batch."),
              {{"/training/global_batch", global}});
}

void read_megatron(Sheet& sheet, Draft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known) {
    MegatronDialect dialect;
    dialect.model_named = !draft.model_preset.empty() && !sheet.has("num_layers");
    const auto nodes = sheet.integer("nodes", "/cluster/gpus"),
               each = sheet.integer("gpus_per_node", "/cluster/gpus");
    if (draft.gpus == 0 && each) draft.gpus = nodes.value_or(1) * *each;
    for (const char* word : {"bert", "t5", "ict", "retro", "vision", "tasks/"})
        if (launch && launch->program.find(word) != std::string::npos)
            sheet.problem(Severity::warning, "other-model", launch->program,
                          " trains no GPT: the plan has its layers as a decoder's, and "
                          "nothing else of its model.");
    if (launch && draft.gpus == 0) draft.gpus = launch->gpus;
    if (const auto n = sheet.integer("world_size", "/cluster/gpus"); n && draft.gpus == 0) draft.gpus = *n;
    if (launch && draft.gpus == 0 && !launch->gpus_unknown.empty())
        sheet.ask(Asked::gpus, Severity::warning, "gpus-unknown",
                  plain("The number of GPUs (gpus) is not known: ", launch->gpus_unknown));
    know_layers(draft, presets);
    read_megatron_model(sheet, draft, dialect);
    read_megatron_training(sheet, draft, dialect);
    read_megatron_layout(sheet, draft, dialect);
    refuse_misspelt(sheet, known);
}

}  // namespace pentamesh::interop
