// Follows one token through a layer of experts: which of them the router picks, on which GPUs they are, how
// many tokens every GPU's experts get, and what the ways there and back cost. All follows from the plan but
// the router's scores, which no plan has: they are made up, always the same for a rank.
#pragma once

#include "core/evaluate.h"
#include "core/sharding/sharding.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pentamesh {

// Returns what a router may say of each expert for one token: shares that sum to 1. They are made up from the
// seed, and are the same wherever they are asked for.
[[nodiscard]] std::vector<double> made_up_scores(std::int64_t experts, std::uint64_t seed);

// Returns the `top_k` experts of the highest scores, the highest first. `node` says on which node each expert
// is; where `most_nodes` > 0, they come from so many nodes, those whose best top_k / most_nodes experts have
// the highest sum (DeepSeek-V3, arXiv 2412.19437, section 2.1.2), and from more only where these have too
// few.
[[nodiscard]] std::vector<std::int64_t> pick_experts(std::span<const double> scores, std::int64_t top_k,
                                                     std::span<const std::int64_t> node,
                                                     std::int64_t most_nodes);

// The experts of one rank of an ep group, and the tokens that they get from a micro-batch in a layer.
struct TokenDrawer {
    std::int64_t rank = 0, node = 0;  // of the cluster's first tier
    Range experts;
    double tokens = 0;  // copies: a token counts once for each of its experts
    double load = 1;    // over that of the mean drawer
};

struct TokenPick {
    std::int64_t expert = 0;
    std::size_t drawer = 0;
    double weight = 0;  // of its output in the sum that comes home; the weights of a token sum to 1
};

struct TokenWay {
    std::int64_t experts = 0, top_k = 0, shared = 0;  // experts: 0 where the model has none
    std::int64_t etp = 1;                             // ranks that cut each expert between them
    std::int64_t nodes = 1;                           // that the ep group has ranks in
    std::int64_t most_nodes = 0;                      // that a token may reach; 0: all
    EpComm comm = EpComm::alltoall;
    double tokens = 0;                 // of a GPU, a micro-batch in a layer, before the router
    double mean_tokens = 0;            // of a drawer
    std::vector<TokenDrawer> drawers;  // of the ep group, by its coordinate
    std::size_t own = 0;               // the drawer of the rank whose token it is
    std::size_t hot = 0;               // the fullest drawer, the first of them
    bool even = true;                  // no drawer is fuller than another
    std::vector<double> scores;        // by expert
    std::vector<TokenPick> picks;      // top_k of them, the highest weight first
    std::vector<std::int64_t> copies;  // another ep group that holds the same experts, where there is one

    [[nodiscard]] std::size_t size() const { return drawers.size(); }
    // Returns true if the token has an expert there.
    [[nodiscard]] bool reaches(std::size_t drawer) const;
    [[nodiscard]] std::int64_t nodes_reached() const;
    // Returns the ways of an exchange in which every GPU sends to every other.
    [[nodiscard]] std::int64_t ways() const;
    // Returns the share of the longest drawer's time in which this one has nothing to do.
    [[nodiscard]] double idle_share(std::size_t drawer) const;
};
// `evaluation` is that of the plan, a possible one. `loads` has the tokens of each expert over the mean
// expert's; where it is empty, all get as many.
[[nodiscard]] TokenWay token_way(const Plan& plan, const Evaluation& evaluation, std::int64_t rank,
                                 std::span<const double> loads);
// Returns the drawers that a picture shows, ascending: all, where they are `most` at the most, else the
// token's own, those that it reaches as far as they have room, and the fullest.
[[nodiscard]] std::vector<std::size_t> drawers_to_draw(const TokenWay& way, std::size_t most);

// Holds the costs of the ways of all tokens, and the step that one busy GPU makes of it.
struct TokenCosts {
    bool sends = false;  // the experts are on more than one GPU
    Collective collective = Collective::all_to_all;
    int tier = 0;           // the slowest that a call crosses
    double sent_bytes = 0;  // that leave a GPU in the call that brings tokens to their experts
    double call_s = 0;      // of that call
    double calls = 0;       // of a layer and micro-batch, forward and backward
    double repeated = 0;    // of these, forward calls that recomputation makes once more
    double time_s = 0;      // of all calls of a step
    double waits_s = 0;     // of these, for which the step waits
    double step_s = 0;
    double peak_bytes = 0, hbm_bytes = 0;

    // The same plan with another load of the busiest rank: kUnevenLoad times the mean where the plan is even,
    // else the mean.
    double imbalance = 1, other_imbalance = 1;
    std::optional<double> other_step_s, other_peak_bytes;  // nullopt: it has no such plan
};
inline constexpr double kUnevenLoad = 1.5;
// Evaluates the plan with the other load: keep it while the plan stays.
[[nodiscard]] TokenCosts token_costs(const Plan& plan, const Evaluation& evaluation);

}  // namespace pentamesh
