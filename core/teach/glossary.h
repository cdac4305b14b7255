// Explains the words of the field: their meaning, and what each is in a plan. The texts are in
// assets/glossary.json.
#pragma once

#include "core/evaluate.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct GlossaryEntry {
    std::string id;                 // "micro-batch": lower case, digits, - and _
    std::string term;               // as it is written: "micro-batch"
    std::vector<std::string> also;  // other names
    std::string axis;               // "dp", "tp", "pp", "cp", "ep"; empty: none
    bool name = false;              // a method's or a program's name, which hangs under its axis on the map
    std::string text;               // one to three sentences
};

struct Glossary {
    std::vector<GlossaryEntry> entries;
    // Finds an entry by id, else by term or another name without regard to case. Returns null where there is
    // no such entry.
    [[nodiscard]] const GlossaryEntry* find(std::string_view term) const;
};

// `origin` names the file in errors. Throws Error (invalid) with the JSON pointer of the entry that is wrong.
[[nodiscard]] Glossary load_glossary(std::string_view text, const std::string& origin);

// Returns a score above -1 if every word that was typed begins a word of the entry's term or other names, or
// is in its text; higher is better. An empty search finds everything.
[[nodiscard]] int glossary_match(const GlossaryEntry& entry, std::string_view typed);

// Returns "8 here, all inside NVLink": what the term is in the plan; empty where that says nothing.
// `evaluation` is that of the plan.
[[nodiscard]] std::string in_this_plan(std::string_view id, const Plan& plan, const Evaluation& evaluation);

// Returns true if the plan uses the method; nullopt where a plan does not say.
[[nodiscard]] std::optional<bool> used_in(std::string_view id, const Plan& plan,
                                          const Evaluation& evaluation);
// Returns the ids that in_this_plan knows, for tests: each has an entry.
[[nodiscard]] std::vector<std::string_view> computed_terms();

}  // namespace pentamesh
