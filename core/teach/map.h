// Computes the teaching map of the axes and modifiers for a plan: what each cuts, says, sends, where it is
// and whether that is fine. Figures come from the evaluation; the words are in map.cpp.
#pragma once

#include "core/evaluate.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

// Rows are in the order in which they are taught. zero, sp and etp are modifiers: of dp, tp and tp.
enum class MapRowId : std::uint8_t { dp, zero, tp, sp, etp, pp, cp, ep };
inline constexpr int kMapRowCount = 8;

// Holds the words that are true of an axis in any plan. Sentences in a table's cell have no full stop.
struct MapWords {
    MapRowId id = MapRowId::dp;
    std::string_view key;    // "dp"
    std::string_view name;   // "data parallelism"
    std::string_view cuts;   // "the batch"
    std::string_view says;   // the primitive it is known for
    std::string_view often;  // frequency of its calls
    std::string_view sits;   // the tier it should sit on
    std::string_view reach;  // the reason to use it
    std::string_view saves;  // the memory that it saves
    std::string_view scope;  // the part of the model that it applies to
    std::string_view model;  // needed knowledge of the model
    std::string_view drawback;
    std::string_view why, cost;     // sentences, for the card
    std::string_view short_name;    // "data parallel"
    std::string_view knife, talks;  // what it cuts and where, what it says: "the batch, between samples"
};
[[nodiscard]] const MapWords& words_of(MapRowId id);

enum class Verdict : std::uint8_t { fine, costly, off };
[[nodiscard]] std::string_view name_of(Verdict verdict);

struct MapRow {
    MapRowId id = MapRowId::dp;
    bool modifier = false;                // stands under the axis that it modifies
    GroupKind kind = GroupKind::tp;       // selecting the row selects this
    std::int64_t degree = 1;              // ranks that share the cut
    std::string setting;                  // "8", "ZeRO-2 over 128", "on", "off"
    int zero = 0;                         // ZeRO's stage, where the row shards; 0: it does not
    std::vector<Collective> collectives;  // those with more than a hundredth of its bytes, most first
    std::string talk;                     // the same by what they carry: "all-reduce of gradients"
    double calls_per_layer = 0;           // of one micro-batch, forward and backward
    double calls = 0;                     // per step and GPU
    double sent_bytes = 0;                // per step and GPU
    double time_s = 0, exposed_s = 0;     // as in comm.h
    double waits_s = 0;                   // of the step: its part of Step::exposed_comm_s
    double bubble_s = 0, uneven_s = 0;    // pp: what the schedule, and uneven stages, leave idle
    std::array<double, kMaxTiers> sent_by_tier{};  // of sent_bytes, by the slowest tier that a call crosses
    int tier = -1;                                 // the slowest that its talk crosses; -1: it does not talk
    double without = 0;  // bytes of the fullest GPU with only this row off, all else as it is; 0: not asked
    std::string often;   // "10 per layer and micro-batch"
    std::string bound;   // limit of the degree: "128 heads, 8 of keys and values"
    Verdict verdict = Verdict::off;
    std::string reason;
    // Returns the seconds of a step that the row costs: what it waits for, and what it leaves idle.
    [[nodiscard]] double cost_s() const { return waits_s + bubble_s + uneven_s; }
};
// Returns the place of the axis that costs most, a costly one before one that is fine; of the first where
// none costs anything.
[[nodiscard]] std::size_t costliest_row(std::span<const MapRow> rows);
// Returns "all-gather + reduce-scatter".
[[nodiscard]] std::string collectives_text(const MapRow& row);
// Returns the row's setting in a word: "8", "2" of ZeRO, "on", "off".
[[nodiscard]] std::string short_setting(const MapRow& row);
// Says what a row cuts and what it says how often: "each layer, through its width", "puts results together,
// 10 times in every layer".
struct CompactWords {
    std::string cuts, talks;
};
[[nodiscard]] CompactWords compact_words(const MapRow& row);
enum class MapStyle : std::uint8_t {
    modifiers,  // five axes; ZeRO, SP (and etp where it differs from 1) under the axis they modify
    own_rows    // FSDP and SP as rows of their own: dp keeps what replicates, zero has what gathers
};
// `evaluation` is that of the plan. Computes memory once more for each row that is on: keep the rows while
// the plan stays.
[[nodiscard]] std::vector<MapRow> map_rows(const Plan& plan, const Evaluation& evaluation, MapStyle style);
// Returns the row that stands for a group kind, or -1.
[[nodiscard]] int row_of(std::span<const MapRow> rows, GroupKind kind);

// Describes a level of the bandwidth hierarchy and the axes there. HBM is first, then the cluster's tiers,
// storage last.
struct MapLevel {
    std::string name;
    double bytes_per_s = 0;  // per GPU, one direction, oversubscription counted in; 0: no figure
    std::int64_t reach = 1;  // GPUs that share it
    std::string note;        // "1:7 oversubscribed", "the cluster's file gives no figure"
    struct Sitter {
        int row = 0;            // index into the rows
        double sent_bytes = 0;  // of its calls that cross this level and no slower one
    };
    std::vector<Sitter> sitters;
};
[[nodiscard]] std::vector<MapLevel> map_levels(const Plan& plan, std::span<const MapRow> rows);

// Compares pipeline stages with sharded parameters, point by point.
struct Comparison {
    std::string_view aspect;
    std::string pipeline, sharded;  // with this plan's figures where it has them
};
[[nodiscard]] std::vector<Comparison> pipeline_or_sharding(const Plan& plan, const Evaluation& evaluation);

// Describes a step of the usual way to a layout, and how the plan does it.
struct RecipeStep {
    MapRowId row = MapRowId::tp;
    std::string_view rule;
    std::string here;
    Verdict verdict = Verdict::off;  // fine: kept; costly: broken; off: not asked for
};
[[nodiscard]] std::vector<RecipeStep> map_recipe(const Plan& plan, const Evaluation& evaluation);

// Says which axes are combined, when, and if the plan does so.
struct Combination {
    std::string_view what, when;
    bool here = false;
};
[[nodiscard]] std::vector<Combination> map_combinations(const Plan& plan, const Evaluation& evaluation);

}  // namespace pentamesh
