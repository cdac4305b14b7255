// Turns a framework's own settings into a plan. Every setting of the text ends in exactly one list; a refusal
// of the framework itself is an error. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/read_python.h"
#include "core/interop/sheet.h"
#include "core/io/presets.h"

#include <array>
#include <cstdint>
#include <optional>

namespace pentamesh::interop {

enum class Framework : std::uint8_t {
    megatron,
    bridge,
    torchtitan,
    deepspeed,
    accelerate,
    nanotron,
    picotron,
    hf
};
inline constexpr std::array<std::string_view, 8> kFrameworkNames{
    "megatron", "bridge", "torchtitan", "deepspeed", "accelerate", "nanotron", "picotron", "hf"};
[[nodiscard]] constexpr std::string_view name_of(Framework f) {
    return kFrameworkNames[static_cast<std::size_t>(f)];
}

[[nodiscard]] std::optional<Framework> framework_called(std::string_view name);

// Return the framework of a software's settings: figures and spellings. They return nothing where none of the
// kind is known.
[[nodiscard]] std::optional<Framework> framework_of(Software software);
[[nodiscard]] std::optional<Software> software_of(Framework framework);

// Stands in for a cluster that a text does not name.
inline constexpr std::string_view kAssumedCluster = "h100-sxm-ib";

// Returns the names that "read as" takes: frameworks, and tools that data tells.
[[nodiscard]] std::vector<std::string_view> tool_names();

struct ImportRequest {
    std::string text;
    std::string path;                       // named in errors; its ending is no evidence
    std::optional<Framework> framework{};   // empty: guessed from the content
    std::string dialect{};                  // a tool that data tells (dialect.h); empty: guessed with it
    void read_as(const std::string& name);  // sets one of them, or the other
    std::int64_t gpus = 0;                  // 0: the text says
    std::string model{};  // a preset's id, or the text of a model or config.json; empty: the text says
    std::optional<Model> own_model{};  // in place of `model`
    std::string cluster{};             // a preset's id; empty: kAssumedCluster
    std::vector<std::string> sets{};   // "layout.tp=4", after all
    std::string recipe{};              // which configuration of a text that has several; empty: the only one
    std::vector<std::string> variables{};  // "TP=4": of a script, where it does not say them
    std::string arguments{};               // of a script: its $1, $2 …
    OtherFile other{};                     // other files that it names; empty: there are none
};

struct Import {
    Framework framework = Framework::megatron;
    std::string kind;          // its name, or that of the tool whose settings are read as its own
    std::optional<Plan> plan;  // may be one that cannot be run: the problems say why, and how to mend it
    SettingLists settings;
    std::string hosts;  // the job's node list of SLURM; empty: it names none
    std::vector<ImportProblem> problems;
    std::vector<std::string> recipes;  // configurations that the text has, in its order
    std::string recipe;                // the one that was read; empty: none, or it has to be named
    // Returns true where there is no plan, or one that cannot be run.
    [[nodiscard]] bool failed() const;
};

// Returns frameworks whose text this may be, the likeliest first; empty where no framework is recognized.
[[nodiscard]] std::vector<Framework> guess_framework(std::string_view text);

// Throws Error (invalid) where the text cannot be read at all; a reader's findings are among the problems.
[[nodiscard]] Import import_settings(const ImportRequest& request, const Presets& presets);

}  // namespace pentamesh::interop
