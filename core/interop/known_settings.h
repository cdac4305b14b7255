// Says what is known of a framework's settings that no reader reads: which change nothing that
// a plan says, and which bear on memory or time and cannot be held. Each framework has a file of them,
// presets/frameworks/NAME.json, with its source. A setting that stands nowhere is not known, and is said so.
#pragma once

#include "core/interop/import.h"
#include "core/interop/sheet.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pentamesh::interop {

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
void sort_rest(Sheet& sheet, const KnownSettings& known);

}  // namespace pentamesh::interop
