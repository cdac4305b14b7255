// A design review wants these tables in addition to the windows' own: the figures on which a decision is
// made, the sum of the traffic over each axis and link, the assumptions and their grounds.
#pragma once

#include "app/tables/table.h"
#include "core/base/explain.h"
#include "core/evaluate.h"
#include "core/explain/verdict.h"
#include "core/mesh/places.h"
#include "core/runs/hang.h"
#include "core/runs/measured.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// Returns step, tokens/s, MFU, HFU, FLOP/s, fullest GPU, and what the training takes where the plan gives
// enough for it: name, figure and range, as words.
[[nodiscard]] Table key_figures_table(const Plan& plan, const Evaluation& e);
// Returns a table with a row for each stage: bytes free with the least, the common and the most that buffers
// take; negative means too much.
[[nodiscard]] Table headroom_table(const Memory& memory);
// Returns a table with a row for each axis: how many of its groups lose a GPU, and how many GPUs wait for it.
[[nodiscard]] Table failure_table(const Failure& failure);
// Returns a table with a row for each axis that talks: calls, bytes, time, exposed time of the busiest
// stage's GPU in one step.
[[nodiscard]] Table axes_traffic_table(const Evaluation& e);
// Returns the same by the slowest tier that a call crosses.
[[nodiscard]] Table links_traffic_table(const Plan& plan, const Evaluation& e);
// Explains the fullest stage's memory, each operation and each part of the step. Numbers that come to 0 are
// explained too, unless they are left out.
enum class Zero : std::uint8_t { explained, left_out };
[[nodiscard]] std::vector<Explanation> explanations_of(const Plan& plan, const Evaluation& e, Zero zero);
// Returns formula, this plan's numbers, result and source of each, those that come to 0 too.
[[nodiscard]] Table explanations_table(const Plan& plan, const Evaluation& e);
// A published run next to what the program says of it; rates in tokens a second and GPU.
struct NearRunRow {
    std::string name;    // model, GPUs, type of its compute
    std::string label;   // with its factors
    std::string source;  // hashes of commits are cut to twelve digits
    double estimated = 0, measured = 0;
    double distance = 0;  // from the plan, of core/step/constants.h
    [[nodiscard]] double off() const { return estimated / measured - 1; }
};
// Returns the nearest runs, the nearest first, with the estimate of the constants that ship.
[[nodiscard]] std::vector<NearRunRow> near_run_rows(NearestRuns& runs, const Plan& plan, std::size_t most);
// Lists the nearest measured runs, the nearest first: the measured figure, and the estimate with the
// constants that ship.
[[nodiscard]] Table near_runs_table(NearestRuns& runs, const Plan& plan, std::size_t most);
// Says what its distances are made of, and how near the nearest of all measured runs is.
[[nodiscard]] std::string near_runs_words(const Step& step);

// Says what the estimates leave out, a sentence each: first for every plan, then for this one.
[[nodiscard]] std::vector<std::string> left_out_of_estimates(const Plan& plan, const Evaluation& e);

// Lists what a real run says: parts of the step, collectives; of one that hangs, what ranks do.

[[nodiscard]] Table measured_parts_table(const runs::Measured& m);
[[nodiscard]] Table measured_collectives_table(const runs::Measured& m);
// Returns a row a rank of several that were traced: what each part of its step takes, and whether it is slow.
[[nodiscard]] Table measured_ranks_table(const runs::Measured& m);
// Says what share of each wire would explain the transfers that are known without their wait.
[[nodiscard]] std::vector<std::string> link_words(const runs::Measured& m);
// Lists who is to blame, stuck, waits, is held up.
[[nodiscard]] Table hang_table(const runs::HangRun& run, const Hosts& hosts = {},
                               const Cluster* cluster = nullptr);

}  // namespace pentamesh
