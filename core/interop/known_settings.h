// Says what is known of a framework's settings that no code reads: which are a field of the plan, which
// change nothing that a plan says, and which bear on memory or time and cannot be held. Each framework has a
// file of them, presets/frameworks/NAME.json, with its source. A setting that stands nowhere is not known,
// and is said so.
#pragma once

#include "core/interop/settings_sheet.h"
#include "core/io/presets.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pentamesh::interop {

// Returns the last part of a dotted name, two parts where one says too little ("optim.name").
[[nodiscard]] std::string leaf_key(const std::string& name);
// Returns the key of a flag, "num_layers" of "--num-layers"; of any other name its leaf_key.
[[nodiscard]] std::string flag_or_leaf(const std::string& name);

// Returns where the section of an evaluation or a test begins in a name ("lighteval.parallelism.dp"); npos:
// it is in none. What stands there sets no field of the training.
[[nodiscard]] std::size_t evaluation_in(std::string_view name);

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
