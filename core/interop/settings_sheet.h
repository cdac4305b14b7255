// Holds the settings of one text while a framework's reader goes over them: each ends in exactly one list.
#pragma once

#include "core/interop/own_names.h"
#include "core/interop/script/settings.h"
#include "core/io/presets.h"
#include "core/plan/problem.h"

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pentamesh::interop {

// At most so many unknown settings are compared with all that the framework knows. A text may have hundreds
// of thousands of them.
inline constexpr int kMostStrange = 500;

// This is one row of the lists that an import shows.
struct Listed {
    std::string setting, value;
    std::string path;  // of the plan, "/layout/tp"; mapped settings only
    std::string why;   // of what cannot be held
    int line = 0;
    std::string file{};  // that the line is of; empty: the text itself
};

// Holds every setting of a text in exactly one list.
struct SettingLists {
    std::vector<Listed> mapped;     // stand in the plan
    std::vector<Listed> unmapped;   // bear on memory or time, and the plan cannot say it
    std::vector<Listed> ignored;    // are known to change nothing that a plan says
    std::vector<Listed> not_known;  // may change anything
    [[nodiscard]] std::size_t size() const {
        return mapped.size() + unmapped.size() + ignored.size() + not_known.size();
    }
};

// Returns "9 settings: 5 stand in the plan, 1 cannot be held, 2 change nothing that a plan says, 1 is not
// known."
[[nodiscard]] std::string summary_of(const SettingLists& lists);

// Names a value that the text does not have, and that the user can give.
enum class Asked : std::uint8_t { nothing, gpus, model, cluster, batch, recipe, value };

struct ImportProblem {
    Severity severity = Severity::error;
    std::string code;  // kebab-case
    std::string message;
    std::vector<Edit> fix;
    Asked asks = Asked::nothing;
    bool opens = false;            // an error that the plan shows again: it is made all the same
    bool set_field_mends = false;  // it is of sizes: a field that the user sets may have mended it
    std::string name{};            // of the value that is asked for, "TP", or of the setting
};

class SettingsSheet {
  public:
    // `key_of` turns a setting's name into the one that a reader asks for ("--num-layers" -> "num_layers").
    SettingsSheet(std::vector<Setting> settings,
                  const std::function<std::string(const std::string&)>& key_of);

    [[nodiscard]] bool has(std::string_view key) const { return last(key) != nullptr; }
    // Returns the setting in force, the last of its name, or null.
    [[nodiscard]] const Setting* last(std::string_view key) const;
    // Returns the name as the text writes it; the key where the text does not have it.
    [[nodiscard]] std::string written(std::string_view key) const;

    // Reading marks a setting as mapped to `path`. A value that is unknown, of the wrong type or out of range
    // reads as absent, and an error names setting, value and place. "None", "null" and an empty
    // value are absent.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::string_view path,
                                                      std::int64_t least = 1,
                                                      std::int64_t most = std::int64_t{1} << 31);
    [[nodiscard]] std::optional<double> number(std::string_view key, std::string_view path);
    [[nodiscard]] std::optional<bool> flag(std::string_view key, std::string_view path);
    [[nodiscard]] std::optional<std::string> text(std::string_view key, std::string_view path);
    [[nodiscard]] std::optional<std::int64_t> integer(const OwnName& own) {
        return integer(own.name, own.field);
    }
    [[nodiscard]] std::optional<double> number(const OwnName& own) { return number(own.name, own.field); }
    [[nodiscard]] std::optional<bool> flag(const OwnName& own) { return flag(own.name, own.field); }
    // Looks without marking.
    [[nodiscard]] std::string value_of(std::string_view key) const;

    // Says that the setting's value is made by `what`, which is not read: it is asked for when it is read.
    void leave_unknown(std::string_view key, const std::string& what);
    void map(std::string_view key, std::string_view path) { mark(key, State::mapped, path, {}); }
    void map(const OwnName& own) { map(own.name, own.field); }
    // Maps a setting to where another one, which follows from it, went.
    void map_as(std::string_view key, std::string_view other);
    void ignore(std::string_view key) { mark(key, State::ignored, {}, {}); }
    void cannot_hold(std::string_view key, std::string_view why) { mark(key, State::unmapped, {}, why); }
    void not_known(std::string_view key) { mark(key, State::not_known, {}, {}); }

    template <typename... Parts>
    void problem(Severity severity, const std::string& code, const Parts&... message) {
        ask(Asked::nothing, severity, code, plain(message...));
    }
    void ask(Asked what, Severity severity, std::string code, std::string message,
             std::vector<Edit> fix = {}) {
        problems.push_back({severity, std::move(code), std::move(message), std::move(fix), what});
    }
    template <typename... Parts>
    void error(const std::string& code, const Parts&... message) {
        problem(Severity::error, code, message...);
    }
    // Adds that a setting may not have its value.
    void not_allowed(std::string_view key, const std::string& allowed) {
        if (const Setting* s = last(key)) refuse(*s, allowed);
    }
    // Adds that `who` refuses the layout, whose plan opens all the same; `what` is a clause with the names of
    // the settings. Where a function is called that no text has (`unread`) nobody knows whether it does.
    template <typename... Parts>
    ImportProblem& refusal(const std::string& code, std::string_view who, const Parts&... what) {
        return add_refusal(code, who, plain(what...));
    }
    // Says that the text names something that sets more, and has it not.
    void leave_unread(const std::string& what) {
        unread = what;
        problem(Severity::warning, "not-read", what, " is not in the text: what it sets is not known here.");
    }
    [[nodiscard]] bool failed() const;  // no plan can be made

    // Returns keys that nothing has read yet.
    [[nodiscard]] std::vector<std::string> open_keys() const;
    // Adds each setting to its list; of those that are not known, names that sound of parallelism come first.
    void lists(SettingLists& to) const;

    std::vector<ImportProblem> problems;
    std::map<std::string, std::string, std::less<>>
        given{};  // fields that the user sets: "/layout/tp" to "4"
    std::string unread;
    bool printed = false;  // by the framework itself: no name in it is misspelled

  private:
    enum class State : std::uint8_t { open, mapped, ignored, unmapped, not_known };
    // Holds the result for all settings of one name.
    struct Key {
        std::string name;
        std::size_t last = 0;  // of its settings, the one in force
        State state = State::open;
        std::string path, why;
    };
    struct Row {
        Setting setting;
        std::size_t key = 0;
    };
    void mark(std::string_view key, State state, std::string_view path, std::string_view why);
    [[nodiscard]] const Setting* read(std::string_view key, std::string_view path);
    void refuse(const Setting& s, const std::string& allowed);
    // Puts the user's value of a field in the place of one that cannot be read. Returns false: the user set
    // none.
    bool heal(std::string_view key, std::string_view path);
    ImportProblem& add_refusal(const std::string& code, std::string_view who, const std::string& what);

    std::vector<Row> rows_;
    std::vector<Key> keys_;                            // as they first come
    std::unordered_map<std::string, std::size_t> at_;  // a key's name to its place
};

// Returns true for a name that may bear on parallelism, memory or precision. No pattern of a list makes it
// harmless.
[[nodiscard]] bool sounds_of_layout(std::string_view name);

// Holds a plan while it is put together from a framework's settings: first the text's values, then those that
// follow from them.

class KnownSettings;

struct PlanDraft {
    nlohmann::json model = nlohmann::json::object();  // inline fields, over `model_preset` where there is one
    std::string model_preset;
    bool no_experts = false;  // the text takes away those of the model that it names
    nlohmann::json layout = nlohmann::json::object();
    nlohmann::json training = nlohmann::json::object();
    std::int64_t gpus = 0;  // 0: the text does not say
    std::int64_t gpus_per_node = 0;
    std::optional<Model> own_model{};  // the user's, whole, in place of the text's
    std::string named_model;           // a preset's id, by the recipe's name: where the text says no model
    std::string class_model;           // the preset of a class of NeMo 2 whose sizes the text changes
    std::string named_cluster;         // the same: where the user says no cluster
    std::string named_device;          // the accelerator that says the cluster, "H100"; empty: none does
    std::int64_t gpus_of_name = 0;     // that the file's name says; 0: it says none
    std::string other_model;           // the text's name of a model that no preset has
    std::string why_no_preset;         // what of its blocks a plan cannot state, where that is known
    std::string optimizer_called;      // who updates the parameters, as the text names it
    bool states_read = false;          // the text says in which types they are kept (state_types.h)
};

// Holds what the name of a recipe says: "llama3_70b_pretrain_64gpu_gb200_bf16_config".
struct RecipeName {
    std::string model, cluster;  // presets' ids; empty: it says none
    std::int64_t gpus = 0;
};
[[nodiscard]] RecipeName read_recipe_name(std::string_view name, const Presets& presets);

// Returns the preset for a framework's or the hub's name of a model: "meta-llama/Llama-2-7b-hf", "llama3 8B",
// "llama3_70b". It is empty where no preset is meant.
[[nodiscard]] std::string preset_for(const Presets& presets, std::string_view name);
// Returns what of a model's blocks a plan cannot state, after "the model X, ": it is empty where that is not
// known.
[[nodiscard]] std::string why_no_preset(const Presets& presets, std::string_view name);
// Returns true where a model's name, in a path of it, says that it reads pictures or sound too.
[[nodiscard]] bool has_encoders(const Presets& presets, std::string_view path);
// Takes the model that the setting `key` names into the draft, which has none yet; `name` is its value where
// that is not all of it.
void take_model(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, std::string_view key,
                std::string name = {});

// Returns the place of a field of the plan in the draft: "/layout/tp", "/training/overlap/dp".
[[nodiscard]] nlohmann::json& place_of(PlanDraft& draft, std::string_view pointer);
// Takes the settings that are fields of an object of the plan as they stand ("/layout", "/model/mla"): rows
// of "names" in presets/frameworks, in their order, so that of several for a field the last holds. A row is
// the field, "/layout/tp", for a whole number, or an object with it under "to": from "least" (1); by "flag"
// the one value where it is off, the other where it is on; by "words" a value for each word (or the name of a
// table of words.json), also of an enumeration ("AttnBackend.unfused") and in capitals, "*" for any other,
// which else cannot be held, for the reason "why", or changes nothing; "says_no_more": other settings say the
// field whole. A field whose value is null stays as it is.
void take_fields(SettingsSheet& sheet, PlanDraft& draft, const KnownSettings& known, std::string_view object);

// Returns degrees in force, as whole numbers; 1 where the draft has none.
[[nodiscard]] std::int64_t degree(const PlanDraft& draft, const char* axis);

}  // namespace pentamesh::interop
