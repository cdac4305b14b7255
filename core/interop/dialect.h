// Holds how a tool names what other settings, or fields of a plan, say. presets/frameworks/NAME.json tells
// it, so that a tool needs no reader of its own.
#pragma once

#include "core/interop/import.h"
#include "core/interop/script/shell_script.h"
#include "core/interop/settings_sheet.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

using SettingsByKey = std::map<std::string, Setting, std::less<>>;

// Returns true if a setting is as a rule wants it; a null pointer: the text has no such setting. Each wanted
// value is one of: "~x": x in small or large letters; "*": any value that is not off; "*x": one that has x in
// it; "*/x": behind its last slash; ">1", "</layout/tp": a whole number above that, or below another
// setting's; "!=2", "!%NAME": a whole number that is another one, or no multiple of another setting's;
// "!~x|y": a word that is neither, in small or large letters; null: no such setting; a list: one of its
// values.
[[nodiscard]] bool setting_fits(const nlohmann::json& wanted, const Setting* found,
                                const SettingsByKey& others = {});

// "called": the tool in a sentence.
// "source": what this was taken from, a list of {"repository", "commit" or "release", "date"} (tool_facts.h).
// "fields": its names are fields of the plan, and the file is read without code (Reader::fields). "software"
//   then says whose figures the plan has, "left_over_layers" that stages take layers that do not divide.
// "names": a tool's name to the name that a reader asks for. In a dialect of fields this is the field itself
//   ("/layout/tp"), or one of own_names.h (`gpus`, `accumulation`); in any other a field, or an object with
//   one, is taken as it stands (take_fields).
// "model_name": the setting that names the model where the text does not say its sizes.
// "sections": where they are named, the settings outside of them are read by "names" only.
// "bases": the setting that names files whose settings hold where a file does not say others.
// "file_word": the word of a command that names its file of settings.
// "default_files": the tool's own files of defaults, which commands name.
// "toml": the file is TOML. "also": other files whose lists are known too.
// "roles": sections of other programs of the same job.
// "rules", in their order, each only where nothing says its target yet:
//   {"when": {NAME: VALUE or [VALUE...]}, "set": {NAME: VALUE}}; for values see setting_fits;
//   "null": it stands there without a value
//   {"make": NAME, "product" or "sum": [NAME, "NAME=1"...], "over": N}: 1 where the text does not say it; a
//   part "=4" is 4, "-NAME" is taken off, a list of Python is its length; the result is divided by N, a
//   number or a setting, multiplied by the decimal setting "times" and rounded down,
//   and rounded up to the setting "multiple_of"
//   {"when": ..., "off": SECTION}: it is switched off, and changes nothing
//   {"when": ..., "refuse", "warn" or "info": WORDS, "code": CODE}; what is refused is a clause, and the tool
//   refuses it unless "who" names another
// "pairs": {"of": [{NAME: VALUE}...], "perhaps": [...]}: where one of the first holds, each sample is two
//   sequences (step_batch.h); one of the others only warns of it. "a.*" is any setting of the section, "are"
//   says what the two are.
// "the program": in rules and pairs what the launch starts ("dpo.py", "trl dpo").

// Says that a sample is two sequences.
struct Pairs {
    std::string key;  // of the setting that says so; empty: the program does
    std::string by;   // in words: "stage dpo", "the program dpo.py"
    std::string are = "a chosen and a rejected one";
    bool sure = true;  // false: it may be so
};

class Dialect {
  public:
    Dialect(std::string_view name, const Presets& presets);

    // Returns the name that a reader asks for.
    [[nodiscard]] std::string key_of(const std::string& written) const;
    // Adds the settings that follow from others by the rules; `program` is what the launch starts.
    void complete(std::vector<Setting>& settings, const std::string& program = {});
    // Returns what complete() found of pairs; null: samples are single sequences.
    [[nodiscard]] const Pairs* pairs() const { return pairs_ ? &*pairs_ : nullptr; }
    // Marks the settings that rules took as mapped to what they gave, and those of other roles.
    void mark(SettingsSheet& sheet) const;
    // Its rules say nothing of this code: what they would say was answered.
    void silence(const std::string& code) { quiet_.insert(code); }
    // True: its names are fields of the plan.
    [[nodiscard]] bool of_fields() const { return data_.value("fields", false); }
    [[nodiscard]] const nlohmann::json& data() const { return data_; }

  private:
    struct Used {
        std::string key, target;
    };
    struct Finding {
        Severity severity = Severity::error;
        std::string code, words, who;  // who refuses: of an error
    };
    nlohmann::json data_;
    std::set<std::string> leaves_;  // last words of names that are known to change nothing, or not to be held
    std::set<std::string> quiet_;   // codes of findings that are not said
    std::vector<Used> used_;
    std::vector<Finding> findings_;  // of rules
    std::vector<std::string> off_;   // sections that are switched off
    std::optional<Pairs> pairs_;
};

// Reads settings whose names are the plan's fields.
void read_fields(SettingsSheet& sheet, PlanDraft& draft, const Presets& presets, const Launch* launch,
                 const nlohmann::json& dialect);

}  // namespace pentamesh::interop
