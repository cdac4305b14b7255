#include "core/interop/make_plan.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/script/read_text.h"
#include "core/io/plan_json.h"
#include "core/memory/state_words.h"
#include "core/pipeline/follow.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {

void know_layers(PlanDraft& draft, const Presets& presets) {
    if (presets.has(PresetKind::model, draft.model_preset))
        draft.model["layers"] = presets.model(draft.model_preset).layers;
}

void ask_for_gpus(SettingsSheet& sheet, PlanDraft& draft, std::int64_t fewest) {
    if (draft.gpus > 0) return;
    const std::int64_t node = std::max<std::int64_t>(draft.gpus_per_node, 1);
    draft.gpus = (std::max<std::int64_t>(fewest, 1) + node - 1) / node * node;
    const std::string named =
        draft.gpus_of_name > 0 ? plain(" The file's name says ", draft.gpus_of_name, ".") : std::string();
    const std::string what =
        draft.gpus_per_node > 0 ? plain("The text says ", node,
                                        " GPUs (gpus) of a node and not how many "
                                        "nodes (trainer.num_nodes, the launcher) the job has: ")
                                : std::string("The text does not say how many GPUs (gpus) the job runs on: ");
    sheet.ask(Asked::gpus, Severity::warning, "gpus-missing",
              plain(what, draft.gpus, ", the fewest that this layout needs, stand in for them.", named,
                    " Say how many there are (--gpus on the command line)."),
              {{"/cluster/gpus", draft.gpus_of_name > 0 ? draft.gpus_of_name : draft.gpus}});
}

void ask_for_model(SettingsSheet& sheet, const PlanDraft& draft) {
    if (draft.own_model || !draft.model_preset.empty() || draft.model.contains("hidden")) return;
    sheet.ask(Asked::model, Severity::error, "model-missing",
              plain((draft.other_model.empty() ? "The text does not say the model: name it"
                     : !draft.why_no_preset.empty()
                         ? "A plan cannot state the model " + draft.other_model + ", " + draft.why_no_preset
                               + ": name one that is near"
                         : "No preset is the model " + draft.other_model + ": name one, or its config.json"),
                    " (--model on the command line)"));
}

void ask_for_vocab(SettingsSheet& sheet, nlohmann::json& model, const std::string& more) {
    constexpr std::int64_t stand_in = 128'000;
    model["vocab"] = stand_in;
    sheet.ask(Asked::nothing, Severity::warning, "vocab-missing",
              plain("The text does not say the vocabulary (vocab): it comes from the tokenizer.", more,
                    " 128,000 stands in for it; set /model/vocab."),
              {{"/model/vocab", stand_in}});
}

void ask_for_batch(SettingsSheet& sheet, PlanDraft& draft, std::int64_t micro, std::int64_t ranks) {
    const std::int64_t global = std::max<std::int64_t>(micro, 1) * std::max<std::int64_t>(ranks, 1);
    draft.training["micro_batch"] = std::max<std::int64_t>(micro, 1);
    draft.training["global_batch"] = global;
    sheet.ask(Asked::batch, Severity::warning, "batch-missing",
              plain("The text does not say the batch: one micro-batch of ", std::max<std::int64_t>(micro, 1),
                    " on each data-parallel rank, a global batch of ", global,
                    ", stands in for it; set /training/global_batch."),
              {{"/training/global_batch", global}});
}

namespace {

// Returns the id of presets/software, empty for the plan's default.
std::string_view software_named(const PlanDraft& draft, const Tool& tool) {
    // Without full sharding PyTorch's software is DDP.
    const bool plain = tool.software == Software::fsdp && draft.layout.value("zero", 0) < 2;
    return !tool.software || plain || *tool.software == Training{}.software ? std::string_view{}
                                                                            : name_of(*tool.software);
}

// Returns the "25.09" of "nvcr.io/nvidia/nemo:25.09", "nvidia+nemo+25.09.01", "nemo_25.09.sqsh"; empty where
// the text names no container of NeMo by its date.
std::string_view nemo_container(std::string_view text) {
    constexpr std::string_view kName = "nemo";
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
        const std::size_t date = at + kName.size() + 1;
        if (date >= text.size() || std::string_view(":+-_").find(text[date - 1]) == std::string_view::npos)
            continue;
        const bool month = digit(date) && digit(date + 1) && date + 2 < text.size() && text[date + 2] == '.'
                           && digit(date + 3) && digit(date + 4) && !digit(date + 5);
        if (month) return text.substr(date, 5);
    }
    return {};
}

// Takes the software of the year that the text's container is of, where it has figures of its own.
void take_date(const ImportRequest& r, SettingsSheet& sheet, nlohmann::json& training) {
    const std::string_view container = nemo_container(r.text);
    const auto software = training.value("software", "");
    if (container.empty() || container.substr(0, 2) > "25" || software != name_of(Software::megatron_bridge))
        return;
    training["software"] = name_of(Software::megatron_bridge_2025);
    sheet.problem(Severity::info, "software-date", "The text names the container ", container,
                  ": the figures of Megatron Bridge and NeMo in the containers of 2025 are taken.");
}

// Adds what the plan itself refuses, with its fixes. Fields that were set may have mended what the text's own
// layout was refused for.
void check_plan(const ImportRequest& r, const Tool& tool, const Plan& plan, SettingsSheet& sheet) {
    std::vector<Problem> found;
    const Mesh mesh = build_mesh(plan);
    const GroupSummaries groups{};
    const ResolvedPlan resolved(plan, mesh, groups);
    find_errors(resolved, true, found);
    const bool megatron = tool.software && is_megatron(*tool.software);
    if (found.empty() && megatron) {
        // Another software may lay a plan out so; Megatron ends before it has a group.
        std::vector<Problem> warned;
        Rules rules{resolved, true, warned};
        check_megatron(rules);
        for (const Problem& p : warned)
            if (p.code == ProblemCode::megatron_expert_order) found.push_back(p);
    }
    if (found.empty() && !r.sets.empty())
        std::erase_if(sheet.problems, [](const ImportProblem& p) { return p.set_field_mends; });
    for (const Problem& p : found) {
        sheet.ask(Asked::nothing, sheet.unread.empty() ? Severity::error : Severity::warning,
                  std::string(name_of(p.code)), p.message, p.fix);
        sheet.problems.back().opens = true;
    }
}

// Says what a parameter takes, where the text says in which types it is kept.
void say_states(const PlanDraft& draft, const Plan& plan, SettingsSheet& sheet) {
    const std::string words = state_words(plan, draft.optimizer_called);
    const std::string who = draft.optimizer_called;
    const bool named = who.empty() || who == "the engine" || has(words, who);
    sheet.problem(Severity::info, "state-types", words, named ? "" : " (" + who + ")", ".");
}

// Adds to `plan` what follows from the fields that the user sets; `text` is the plan of the text without
// them.
void follow_given(const ImportRequest& r, const Presets& presets, const nlohmann::json& text, Plan& plan,
                  SettingsSheet& sheet) {
    try {
        Followed followed = follow(plan_from_json(text, r.path, presets), plan, pointers_of_sets(r.sets));
        if (const std::string words = words_of(followed); !words.empty())
            sheet.problem(Severity::info, "field-follows", words, ".");
        plan = std::move(followed.plan);
    } catch (const Error&) {  // what is set mends the text: there is nothing that it follows from
    }
}

}  // namespace

std::optional<Plan> make_plan(const ImportRequest& r, const Presets& presets, const Tool& tool,
                              const PlanDraft& draft, SettingsSheet& sheet) {
    nlohmann::json plan = {
        {"format", "pentamesh.plan/1"}, {"layout", draft.layout}, {"training", draft.training}};
    if (const std::string_view software = software_named(draft, tool);
        !software.empty() && !draft.training.contains("software"))
        plan["training"]["software"] = software;
    take_date(r, sheet, plan["training"]);
    // fp4 needs a GPU that has it.
    const bool fp4 = draft.training.value("compute", "") == "fp4";
    std::string cluster = r.cluster.empty() ? draft.named_cluster : r.cluster;
    if (cluster.empty()) {
        cluster = fp4 ? "b200-ib" : kAssumedCluster;
        sheet.ask(Asked::cluster, Severity::info, "cluster-assumed",
                  plain("The text does not say the cluster: ", (fp4 ? "B200" : "H100"),
                        " with InfiniBand stand in for it; choose another (--cluster on the command line)."));
    }
    if (r.cluster.empty() && !draft.named_cluster.empty() && !draft.named_device.empty())
        sheet.ask(Asked::cluster, Severity::info, "network-assumed",
                  plain("The text names the accelerator ", draft.named_device,
                        " and not what joins them: the preset ", cluster,
                        " with its network stands for it; choose another (--cluster on the command line)."));
    plan["cluster"] = {{"preset", cluster}, {"gpus", draft.gpus}};
    if (!draft.model_preset.empty()) {
        plan["model"] = draft.model;
        plan["model"]["preset"] = draft.model_preset;
        if (draft.no_experts) plan["model"]["moe"] = nullptr;
        if (draft.model.value("layers", 0) == presets.model(draft.model_preset).layers)
            plan["model"].erase("layers");
    } else if (!draft.own_model) {
        plan["model"] = draft.model;
        plan["model"]["name"] = "imported";
    } else {
        plan["model"] = model_to_json(*draft.own_model);
    }
    if (tool.reader != Reader::model) plan["name"] = "Imported from " + std::string(tool.name);
    std::optional<Plan> out;
    try {
        out = plan_from_json(plan, r.path, presets, r.sets);
    } catch (const Error& e) {
        sheet.error("plan-not-valid", e.pointer(), ": ", e.message());
        return std::nullopt;
    }
    if (!r.sets.empty()) follow_given(r, presets, plan, *out, sheet);
    // A text without a sequence length means one that the model has positions for.
    const bool said = draft.training.contains("sequence_length")
                      || std::any_of(r.sets.begin(), r.sets.end(), [](const std::string& s) {
                             return s.find("sequence_length") != std::string::npos;
                         });
    if (!said && out->model.positions == Positions::learned
        && out->model.max_positions < out->training.sequence_length)
        out->training.sequence_length = out->model.max_positions;
    if (draft.states_read) say_states(draft, *out, sheet);
    check_plan(r, tool, *out, sheet);
    return out;
}

}  // namespace pentamesh::interop
