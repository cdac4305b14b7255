// Turns a framework's own settings into a plan. Every setting of the text ends in exactly one list; a refusal
// of the framework itself is an error. docs/frameworks.md lists the settings.
#pragma once

#include "core/interop/script/read_text.h"
#include "core/interop/settings_sheet.h"
#include "core/interop/tools.h"
#include "core/io/presets.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

class KnownSettings;

// `launch` is the script that the settings come from; it is null where they come from a file of settings.
void read_megatron(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                   const KnownSettings& known);
// Reads recipes in Python, YAML overrides, words "model.x=y", and the performance scripts' short flags; NeMo
// 1 and 2.
void read_bridge(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                 const KnownSettings& known);
void read_torchtitan(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                     const KnownSettings& known);

// Returns the last part of a dotted name, two parts where one says too little ("optim.name").
[[nodiscard]] std::string leaf_key(const std::string& name);

// Returns where the section of an evaluation or a test begins in a name ("lighteval.parallelism.dp"); npos:
// it is in none. What stands there sets no field of the training.
[[nodiscard]] std::size_t evaluation_in(std::string_view name);

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

// Says what is known of a framework's settings that no code reads: which are a field of the plan, which
// change nothing that a plan says, and which bear on memory or time and cannot be held. Each framework has a
// file of them, presets/frameworks/NAME.json, with its source. A setting that stands nowhere is not known,
// and is said so.

// Says why an import does not take a setting: the plan has no field for it, or it has one that is not read.
struct CannotHold {
    std::string why;    // a clause; may be empty where `field` says all
    std::string field;  // the plan's field that can say the same or the nearest; empty: it has none
    std::vector<std::string> same;  // values with which the setting changes nothing
};

// Holds a row of "names": a setting that is a field of the plan as it stands (take_fields).
struct NamedField {
    std::string section, key;   // "parallelism", "tensor_parallel_degree"
    std::string field;          // "/layout/tp"
    nlohmann::ordered_json as;  // how its value becomes the field's
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
    // Returns those that are fields of the plan, in the order in which they are taken: of files that this one
    // names under "also" first.
    [[nodiscard]] const std::vector<NamedField>& fields() const { return fields_; }
    // Returns names that code asks for and that no exporter writes.
    [[nodiscard]] const std::vector<std::string>& also_read() const { return also_read_; }
    // Returns all names of a section that the framework has, if it refuses others; else none.
    [[nodiscard]] std::vector<std::string> all_of_section(std::string_view section) const;
    [[nodiscard]] const std::unordered_map<std::string, CannotHold>& all_cannot_hold() const {
        return cannot_hold_;
    }

  private:
    void read(std::string_view name, const Presets& presets);

    std::vector<NamedField> fields_;
    std::vector<std::string> also_read_;
    std::unordered_map<std::string, std::vector<std::string>> closed_;  // by section, without those of fields
    std::unordered_map<std::string, CannotHold> cannot_hold_;
    std::unordered_set<std::string> harmless_, switches_;
    std::unordered_map<std::string, std::string> short_;
    std::vector<std::string> begins_;  // of names that change nothing unless they sound of layout: "logger."
};

// Returns the names of settings that are read of a tool's text, with underscores: what `tool` spells
// (flags_of), and what is known.
[[nodiscard]] std::vector<std::string> names_read(std::string_view tool, const KnownSettings& known);
// Returns "the import does not read it; /model/pattern of the plan can say the same"; else why the plan
// cannot.
[[nodiscard]] std::string words_of(const CannotHold& setting);
// Puts each setting that no reader read into its list: cannot be held, ignored, or not known.
void sort_rest(SettingsSheet& sheet, const KnownSettings& known);

}  // namespace pentamesh::interop
