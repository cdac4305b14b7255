// Says what is known of a tool's settings: docs/frameworks.md and `pentamesh import --tools` are made of it.
#pragma once

#include "core/interop/tools.h"
#include "core/io/presets.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::interop {

enum class SettingFate : std::uint8_t {
    field,        // it is a field of the plan, by itself or with others
    cannot_hold,  // it bears on memory or time, and the plan does not say it
    ignored       // it changes nothing that a plan says
};

// Holds a setting, or all of a section ("logger.*").
struct KnownSetting {
    std::string name;
    SettingFate fate = SettingFate::field;
    std::vector<std::string> fields;  // pointers into the plan; empty: code reads it together with others
    std::string why;                  // it cannot be held
};

struct ToolSource {
    std::string repository, commit, date;  // a commit or a release; both may be empty
};

struct ToolFacts {
    const Tool* tool = nullptr;
    std::string called, software;        // software: whose figures a plan of it has; empty: no kind is known
    bool pairs = false;                  // it may train on pairs of sequences, which are known
    std::vector<ToolSource> sources;     // of what is known
    std::vector<KnownSetting> settings;  // by fate, then by name
    [[nodiscard]] std::size_t count(SettingFate fate) const;
};

// Throws Error where the tool's file cannot be read. What a tool takes from others ("also") is counted too.
[[nodiscard]] ToolFacts facts_of(const Tool& tool, const Presets& presets);

// Returns the marks as "`a` with `b`, or `c`". What must not stand in the text is left out.
[[nodiscard]] std::string marks_in_words(const Tool& tool);
// Returns "NVIDIA/Megatron-LM d98e8a64 (2026-08-22)".
[[nodiscard]] std::string words_of(const ToolSource& source);

}  // namespace pentamesh::interop
