// Explains the words of the field: their meaning, and what each is in a plan. The texts are in
// assets/glossary.json.
#pragma once

#include "core/evaluate.h"
#include "core/plan/plan.h"

#include <cstdint>
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

// Describes the groups of an axis, and one rank: as data, and as the sentence under the picture.

struct AxisCaption {
    GroupKind kind = GroupKind::tp;
    std::int64_t groups = 0, degree = 1;
    std::int64_t inside_fast = 0;  // groups inside the first tier
    std::string_view slowest_tier;
    std::vector<Collective> collectives;  // distinct, in the order of a step
    double calls_per_layer = 0;           // of one micro-batch, forward and backward
    int calls_per_boundary = 0;           // between two pipeline stages, of one micro-batch, both ways
    double calls_per_step = 0;            // of one rank
    std::string where;                    // "128 groups of 8, all inside NVLink"
    std::string talk;  // "reduce-scatter + all-gather, 8 per layer"; empty: the groups do not talk
    [[nodiscard]] std::string text() const { return talk.empty() ? where : where + ": " + talk; }
};
// Returns the kind under which the talk of an axis is listed: the gradients of dp_shard or dp_replicate may
// go over all of data parallelism at once.
[[nodiscard]] GroupKind group_listed_under(const Evaluation& evaluation, GroupKind kind);
// `evaluation` is that of the plan. An axis of degree 1 says that it cuts nothing. The calls are those of the
// kind that the axis is listed under; where its groups are larger, the text names it.
[[nodiscard]] AxisCaption caption_of(const Plan& plan, const Evaluation& evaluation, GroupKind kind);

struct RankGroup {
    GroupKind kind = GroupKind::tp;
    std::int64_t index = 0;     // of the group, in canonical order
    std::int64_t position = 0;  // of the rank in it
    std::int64_t degree = 1;
    std::int64_t previous = 0, next = 0;  // ring neighbours
    int tier = 0;                         // slowest that this group crosses
};
struct RankExplanation {
    std::int64_t rank = 0, node = 0, stage = 0;
    Coordinates dense{}, expert{};
    std::vector<RankGroup> groups;  // kinds with more than one rank a group
    std::string text;               // "Rank 1,234: node 154, stage 4; tp 2 of 8, dp_shard 77 of 128."
};
// It takes microseconds: no list of members is built. Precondition: 0 <= rank < world.
[[nodiscard]] RankExplanation explain_rank(const Plan& plan, const Mesh& mesh, std::int64_t rank);

// Says in one plain sentence what an axis or a modifier is: the first thing that is read about it.

[[nodiscard]] std::string_view sentence_of(Axis axis);
// Says what copies need not all keep at this stage of ZeRO, 0 to 3.
[[nodiscard]] std::string_view sentence_of_zero(int stage);
inline constexpr std::string_view kSequenceParallelSentence =
    "SP keeps what lies between tp's cuts in pieces, by token.";

}  // namespace pentamesh
