// Turns a framework's own settings into a plan. Every setting of the text ends in exactly one list; a refusal
// of the framework itself is an error. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/script/read_python.h"
#include "core/interop/script/shell_script.h"
#include "core/interop/settings_sheet.h"
#include "core/io/presets.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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

// Holds each framework's spelling of each field of the plan in one table: exporters write by it, spelling
// errors are compared with it, and tests hold it against the names that importers read.

// Returns the setting's whole name as the framework's own text has it: "--tensor-model-parallel-size",
// "parallelism.tensor_parallel_degree". `pointer` is a field of the plan, "/layout/tp". It is empty where the
// framework has no single setting for that field. Where several bear on it, it is the one with the plan's
// meaning.
[[nodiscard]] std::string_view flag_of(Framework framework, std::string_view pointer);

// Returns in one line the settings that select a stage of ZeRO: Megatron's flag without another one means
// stage 1.
[[nodiscard]] std::string zero_words(Framework framework, int stage);

struct SpelledField {
    std::string_view pointer, name;
};
// Returns every field that the framework has a setting for, in the order of the plan.
[[nodiscard]] std::vector<SpelledField> flags_of(Framework framework);

// Tells by its content what a text of settings is.

[[nodiscard]] bool has(std::string_view text, std::string_view what);
// Returns true if a line of the text begins with `what`, after blanks only.
[[nodiscard]] bool has_line(std::string_view text, std::string_view what);
// Returns the text without blanks and byte order mark at its beginning.
[[nodiscard]] std::string_view without_blanks(std::string_view text);
// Returns true for the arguments that Megatron prints into its log.
[[nodiscard]] bool is_argument_log(std::string_view text);
// Says how a text of Megatron's, Megatron-Bridge's or torchtitan's settings is written.
enum class TextForm : std::uint8_t { argument_log, toml, python, yaml, script };
[[nodiscard]] bool is_script(std::string_view text);
[[nodiscard]] TextForm form_of(std::string_view text, Framework framework);

// Each framework has a reader: settings go in, a draft of the plan comes out. Each is in its own file.

class KnownSettings;

// `launch` is the script that the settings come from; it is null where they come from a file of settings.
void read_megatron(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known);
// Reads recipes in Python, YAML overrides, words "model.x=y", and the performance scripts' short flags; NeMo
// 1 and 2.
void read_bridge(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch);
void read_torchtitan(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets);

// Returns the last part of a dotted name, two parts where one says too little ("optim.name").
[[nodiscard]] std::string leaf_key(const std::string& name);

// Sets how many layers the draft's preset has, which the split over stages asks for. Where the text does not
// change it, `build` of import.cpp takes it out again.
void know_layers(PlanDraft& draft, const Presets& presets);

// Sets the world where the text does not say it: the smallest that the degrees fill, and adds a problem that
// asks for it.
void ask_for_gpus(SettingsSheet& sheet, PlanDraft& draft, std::int64_t fewest);
// Sets the vocabulary that a tokenizer gives, and adds a problem that asks for it; `more` is said with it.
void ask_for_vocab(SettingsSheet& sheet, nlohmann::json& model, const std::string& more);
// Sets a batch that the text leaves open: one micro-batch a rank, and adds a problem that asks for it.
void ask_for_batch(SettingsSheet& sheet, PlanDraft& draft, std::int64_t micro, std::int64_t ranks);

// Says what is known of a framework's settings that no reader reads: which change nothing that
// a plan says, and which bear on memory or time and cannot be held. Each framework has a file of them,
// presets/frameworks/NAME.json, with its source. A setting that stands nowhere is not known, and is said so.

// Says why an import does not take a setting: the plan has no field for it, or it has one that is not read.
struct CannotHold {
    std::string why;    // a clause; may be empty where `field` says all
    std::string field;  // the plan's field that can say the same or the nearest; empty: it has none
    std::vector<std::string> same;  // values with which the setting changes nothing
};

class KnownSettings {
  public:
    // Throws Error where the file of the framework cannot be read. A framework without one knows nothing.
    KnownSettings(std::string_view name, const Presets& presets) { read(name, presets); }

    // Keys have underscores.
    [[nodiscard]] bool is_switch(std::string_view key) const { return switches_.contains(std::string(key)); }
    // `name` is the whole dotted name: a section of it may be known as a whole ("logger.*").
    [[nodiscard]] const CannotHold* cannot_hold(std::string_view key, std::string_view name = {}) const;
    // Returns what a short flag stands for ("-tp"); empty: it is not one.
    [[nodiscard]] std::string full_name(const std::string& flag) const;
    [[nodiscard]] bool is_harmless(std::string_view key, std::string_view name) const;
    [[nodiscard]] bool knows(std::string_view key) const;  // in any of the lists
    [[nodiscard]] const std::unordered_map<std::string, CannotHold>& all_cannot_hold() const {
        return cannot_hold_;
    }

  private:
    void read(std::string_view name, const Presets& presets);

    std::unordered_map<std::string, CannotHold> cannot_hold_;
    std::unordered_set<std::string> harmless_, switches_;
    std::unordered_map<std::string, std::string> short_;
    std::vector<std::string> begins_;  // of names that change nothing unless they sound of layout: "logger."
};

// Returns "the import does not read it; /model/pattern of the plan can say the same"; else why the plan
// cannot.
[[nodiscard]] std::string words_of(const CannotHold& setting);
// Puts each setting that no reader read into its list: cannot be held, ignored, or not known.
void sort_rest(SettingsSheet& sheet, const KnownSettings& known);

}  // namespace pentamesh::interop
