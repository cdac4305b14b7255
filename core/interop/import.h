// Turns a framework's own settings into a plan. Every setting of the text ends in exactly one list; a refusal
// of the framework itself is an error. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/known_settings.h"
#include "core/interop/make_plan.h"
#include "core/interop/script/read_text.h"
#include "core/interop/settings_sheet.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

// Stands in for a cluster that a text does not name.
inline constexpr std::string_view kAssumedCluster = "h100-sxm-ib";

struct ImportRequest {
    std::string text;
    std::string path;       // named in errors; its ending is no evidence
    std::string tool{};     // a name of tools.h; empty: guessed from the content
    std::int64_t gpus = 0;  // 0: the text says
    std::string model{};    // a preset's id, or the text of a model or config.json; empty: the text says
    std::optional<Model> own_model{};  // in place of `model`
    std::string cluster{};             // a preset's id; empty: kAssumedCluster
    std::vector<std::string> sets{};   // "layout.tp=4", after all
    std::string recipe{};              // which configuration of a text that has several; empty: the only one
    std::vector<std::string> variables{};  // "TP=4": of a script, where it does not say them
    std::string arguments{};               // of a script: its $1, $2 …
    OtherFile other{};                     // other files that it names; empty: there are none
    std::string
        folder{};  // of a file that a script names, "conf/", from where the script's own are looked for
};

struct Import {
    std::string kind;          // the name of the tool whose settings these are (tools.h)
    std::optional<Plan> plan;  // may be one that cannot be run: the problems say why, and how to mend it
    SettingLists settings;
    std::string hosts;  // the job's node list of SLURM; empty: it names none
    std::vector<ImportProblem> problems;
    std::vector<std::string> recipes;  // configurations that the text has, in its order
    std::string recipe;                // the one that was read; empty: none, or it has to be named
    // Returns true where there is no plan, or one that cannot be run.
    [[nodiscard]] bool failed() const;
};

// Throws Error (invalid) where the text cannot be read at all; a reader's findings are among the problems.
[[nodiscard]] Import import_settings(const ImportRequest& request, const Presets& presets);

// Each framework has a reader: settings go in, a draft of the plan comes out. Each is in its own file.

// `launch` is the script that the settings come from; it is null where they come from a file of settings.
void read_megatron(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known);
// Reads recipes in Python, YAML overrides, words "model.x=y", and the performance scripts' short flags; NeMo
// 1 and 2.
void read_bridge(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                 const KnownSettings& known);
void read_torchtitan(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                     const KnownSettings& known);

}  // namespace pentamesh::interop
