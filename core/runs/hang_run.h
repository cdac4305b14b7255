// Reads the dumps of a run, finds who hangs in it and a plan of its layout, and says each finding in a
// sentence.
#pragma once

#include "core/io/presets.h"
#include "core/mesh/rank_list.h"
#include "core/plan/plan.h"
#include "core/runs/hang.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

struct HangRun {
    DumpFolder run;
    Hang hang;
    Plan plan;                               // of the run's layout
    std::vector<std::string> differences{};  // of the layout from the plan that was given; none: it agrees
    [[nodiscard]] int tier_of(const RunCall& call) const;  // the slowest that the call's group crosses
    [[nodiscard]] std::string_view tier_name_of(const RunCall& call) const;  // empty for no call
};

// `own` is the plan of the run: its cluster says which ranks share a node, and it is kept where its layout
// agrees; nullptr: a preset's model and cluster stand for it. Throws Error (invalid) where there are no
// dumps.
[[nodiscard]] HangRun hang_of(DumpFolder run, const Plan* own, const Presets& presets);
[[nodiscard]] HangRun read_hang(const std::filesystem::path& place, const Plan* own, const Presets& presets,
                                ReadWatch* watch = nullptr);

// Returns what the names of all dumps begin with that lie in the folder of one of them: "dumps/rank_" of
// "dumps/rank_3.json".
[[nodiscard]] std::filesystem::path place_of_dumps(const std::filesystem::path& dump);

// Returns "tp 0, dp 1, pp 3": the place of a rank in the run's mesh, the innermost axis first.
[[nodiscard]] std::string coordinate_words(const RunLayout& layout, std::int64_t rank);
// Returns "rank 12 stopped (not sure) at tp 0, pp 3 on gpu004: why (the call, over NVLink)".
[[nodiscard]] std::string culprit_words(const HangRun& run, const Culprit& culprit, const Hosts& hosts);

// The ranks that wait in one call.
struct WaitingCall {
    RunCall call;
    std::vector<std::int64_t> who, whom;
};
// Returns first those in which the others wait for a rank that is to blame, then those of few ranks.
[[nodiscard]] std::vector<WaitingCall> waiting_by_call(const Hang& hang);
[[nodiscard]] std::string waiting_words(const HangRun& run, const WaitingCall& waiting);

}  // namespace pentamesh::runs
