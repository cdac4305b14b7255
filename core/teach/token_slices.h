// Shows what context parallelism cuts: the tokens of one sample over the ranks of a group, whose keys each
// rank's queries ask under the causal mask, and what attention waits for them in each way to bring them.
#pragma once

#include "core/evaluate.h"
#include "core/sharding/sharding.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh {

// One of the pieces of a sample, in the order of its tokens, and the rank of cp that holds it.
struct TokenSlice {
    Range tokens;
    std::int64_t rank = 0;
    bool operator==(const TokenSlice&) const = default;
};

// Returns how many pairs of a query and a key the mask asks: a query asks itself and the keys before it,
// with a window the last so many, itself among them (0: no window).
[[nodiscard]] double pairs_asked(Range queries, Range keys, std::int64_t window);

// A sample over the ranks. With `inner` > 1 so many neighbours exchange heads for tokens (Ulysses): each then
// has the queries and keys of all of them, for a part of the heads.
struct TokenCut {
    CpComm comm = CpComm::ring;
    std::int64_t ranks = 1, inner = 1, tokens = 1;
    std::int64_t window = 0;  // of the layer that is shown; 0: all keys
    std::vector<TokenSlice> slices;

    // Returns the numbers of the slices that a rank holds: one, or one from either end.
    [[nodiscard]] std::vector<std::size_t> slices_of(std::int64_t rank) const;
    // Returns true if the rank computes the queries of a slice, maybe for a part of the heads only.
    [[nodiscard]] bool computes(std::int64_t rank, std::size_t slice) const;
    // Returns true if a query that the rank computes asks a key of the slice.
    [[nodiscard]] bool asks(std::int64_t rank, std::size_t slice) const;
    // Keys come in rounds: 0 are a rank's own, the last is rounds() - 1.
    [[nodiscard]] std::int64_t rounds() const;
    [[nodiscard]] std::int64_t round_of(std::int64_t rank, std::int64_t sender) const;
    // Returns the rank's share of all pairs that the mask asks, heads counted in.
    [[nodiscard]] double share_of(std::int64_t rank) const;
    // Returns the share that the last rank would have if each had one slice, in order.
    [[nodiscard]] double last_share_in_order() const;
};
// Cuts a sample as the ranks of a plan's cp do (sequence_of, core/sharding/sharding.h).
[[nodiscard]] TokenCut cut_tokens(const Plan& plan, std::int64_t window);

// A call of one layer's forward that brings keys and values, or heads.
struct WayCall {
    What what = What::none;
    Collective collective = Collective::send_recv;
    double message_bytes = 0, call_s = 0;  // of one call
    double times = 1;                      // messages of a ring
    bool after = false;                    // it takes the output back to its tokens
};
// One way to bring them, with the same plan. Seconds and bytes are of one layer's forward on one GPU and
// micro-batch, as the step is worked out with; step_s and step_waits_s are of a whole step.
struct KeysWay {
    CpComm comm = CpComm::ring;
    bool own = false;        // the way of the plan itself
    std::string lacks;       // what the plan's software does not run of it; empty: it runs
    double attention_s = 0;  // of the core by itself
    double slowed_s = 0;     // that the core takes longer next to traffic
    double wire_s = 0, waits_s = 0;
    double sent_bytes = 0;
    double step_s = 0, step_waits_s = 0, held_bytes = 0;
    std::vector<WayCall> calls;
    [[nodiscard]] double all_s() const { return attention_s + slowed_s + waits_s; }
    // Returns the message of a ring; null in another way.
    [[nodiscard]] const WayCall* hop() const;
};

// Says of which plan the picture is.
enum class TokenSource : std::uint8_t {
    own,     // the plan itself cuts the sequence
    edited,  // the plan with another factor of cp
    small    // a few layers of its model on a few GPUs (plan_of_strategy, core/teach/loaf.h)
};

struct TokenSlices {
    TokenSource source = TokenSource::own;
    Plan plan;
    TokenCut cut;
    std::string why_not;        // nothing can be shown, a sentence; empty: the rest holds
    bool sparse = false;        // the layer picks keys by an indexer, which asks all of them
    std::int64_t heads = 0;     // of a rank before it exchanges them: after tp
    StageMemory held, whole;    // of the fullest GPU: with cp, and without it
    std::string whole_refused;  // why that cannot be laid out; empty: it can
    double hbm = 0;
    std::vector<KeysWay> ways;  // those that the plan can express, ring first
    [[nodiscard]] const KeysWay* own_way() const;
};

// `evaluation` is that of the plan. Where the plan does not cut the sequence and `cut` is true, so many ranks
// do; with `cut` false it is shown whole. Other plans are evaluated: keep the result while the plan stays.
[[nodiscard]] TokenSlices token_slices(const Plan& plan, const Evaluation& evaluation, bool cut,
                                       std::int64_t ranks);

// Returns the verdict of the picture and the sentence behind it.
struct TokenWords {
    std::string bold, plain;
};
[[nodiscard]] TokenWords words_of(const TokenSlices& slices);
// Returns how the share of the queries is balanced, in a sentence.
[[nodiscard]] std::string balance_words(const TokenCut& cut);
[[nodiscard]] std::string_view way_name(CpComm comm);  // "ring", "gather", "heads"

}  // namespace pentamesh
