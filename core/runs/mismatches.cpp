#include "core/runs/culprits.h"

#include "core/base/text.h"
#include "core/mesh/rank_list.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace pentamesh::runs {
namespace {

struct Caller {
    std::int64_t rank;
    const DumpEntry* entry;
};
// Is what must be the same for all: the collective, and where `sizes` is set its elements and types.
using Kind = std::array<std::int64_t, 5>;

Kind kind_of(const DumpEntry& e, bool sizes) {
    if (!sizes) return {e.collective, 0, 0, 0, 0};
    return {e.collective, e.numbers_in, e.numbers_out, e.type_in, e.type_out};
}

// Returns true if a call's elements fit a group of `ranks`, as far as they have to.
bool is_plausible(std::string_view name, const Kind& kind, std::int64_t ranks) {
    const std::int64_t in = kind[1], out = kind[2];
    if (name.starts_with("_all_gather_base") || name == "all_gather_into_tensor") return out == in * ranks;
    if (name.starts_with("_reduce_scatter_base") || name == "reduce_scatter_tensor") return in == out * ranks;
    return name != "all_reduce" || in == out;
}

// Returns the kinds that are called most: several where they are equally many.
std::set<Kind> most_called(const std::map<Kind, std::int64_t>& counts) {
    std::int64_t most = 0;
    std::set<Kind> out;
    for (const auto& [kind, n] : counts) most = std::max(most, n);
    for (const auto& [kind, n] : counts)
        if (n == most) out.insert(kind);
    return out;
}

class Mismatches {
  public:
    Mismatches(const RunState& state, Suspects& suspects) : state_(state), suspects_(suspects) {}

    void find() {
        std::map<std::pair<int, std::int64_t>, std::vector<Caller>> calls;
        for (std::size_t g = 0; g < state_.run().names->groups().size(); ++g)
            for (const Progress& p : state_.in_group(static_cast<int>(g)))
                for (const DumpEntry* e : p.open) calls[{e->group, e->sequence}];
        for (const Dump& d : state_.run().dumps)
            for (const DumpEntry& e : d.entries) {
                if (e.p2p || e.coalesced) continue;
                const auto at = calls.find({e.group, e.sequence});
                if (at != calls.end()) at->second.push_back({d.rank, &e});
            }
        for (const auto& [key, callers] : calls) {  // by number within a group: the first counts
            if (suspects_.mismatch.contains(key.first)) continue;
            if (!differ(callers, false)) differ(callers, true);
        }
    }

  private:
    bool differ(const std::vector<Caller>& callers, bool sizes) {
        std::map<Kind, std::int64_t> counts;
        for (const Caller& c : callers) ++counts[kind_of(*c.entry, sizes)];
        for (std::size_t i = 1; i < callers.size(); ++i)
            if (callers[i].rank == callers[i - 1].rank) return false;  // a batch of several under one number
        if (counts.size() < 2) return false;
        const DumpEntry& first = *callers.front().entry;
        if (sizes && !comparable(first, counts.size(), callers.size())) return false;
        std::set<Kind> right = most_called(counts);
        if (right.size() > 1) right = settle(right, counts, first, sizes);
        if (right.size() > 1) right = plausible(right, callers, sizes);
        const bool sure = right.size() == 1;
        suspects_.mismatch[first.group] = first.sequence;
        for (const Caller& c : callers)
            if (!sure || !right.contains(kind_of(*c.entry, sizes))) blame(c, callers, right, sizes, sure);
        return true;
    }

    // Sizes that all differ are those of a call that may be uneven.
    [[nodiscard]] bool comparable(const DumpEntry& first, std::size_t kinds, std::size_t callers) const {
        return has_equal_sizes(state_.name(first.collective)) && state_.finished(first.group) < first.sequence
               && (kinds < callers || callers == 2);
    }

    // Keeps those whose elements fit the number of ranks; all of them where that leaves no single one.
    [[nodiscard]] std::set<Kind> plausible(const std::set<Kind>& tied, const std::vector<Caller>& callers,
                                           bool sizes) const {
        std::set<Kind> out;
        for (const Caller& c : callers) {
            const auto ranks = std::ssize(state_.run().names->ranks(c.entry->group));
            if (is_plausible(state_.name(c.entry->collective), kind_of(*c.entry, true), ranks)
                && tied.contains(kind_of(*c.entry, sizes)))
                out.insert(kind_of(*c.entry, sizes));
        }
        return out.size() == 1 ? out : tied;
    }

    // At a tie: what the sister groups call at that number, else what this group calls most.
    std::set<Kind> settle(const std::set<Kind>& tied, const std::map<Kind, std::int64_t>& here,
                          const DumpEntry& first, bool sizes) const {
        std::map<Kind, std::int64_t> sisters, own;
        const auto& groups = state_.run().names->groups();
        const int described = groups[static_cast<std::size_t>(first.group)].description;
        for (const Dump& d : state_.run().dumps)
            for (const DumpEntry& e : d.entries) {
                if (e.p2p || groups[static_cast<std::size_t>(e.group)].description != described) continue;
                const Kind kind = kind_of(e, sizes);
                if (!here.contains(kind)) continue;
                if (e.group == first.group)
                    ++own[kind];
                else if (e.sequence == first.sequence)
                    ++sisters[kind];
            }
        for (const auto* counts : {&sisters, &own}) {
            std::set<Kind> most = most_called(*counts);
            if (most.size() == 1 && tied.contains(*most.begin())) return most;
        }
        return tied;
    }

    void blame(const Caller& c, const std::vector<Caller>& callers, const std::set<Kind>& right, bool sizes,
               bool sure) {
        const DumpEntry& e = *c.entry;
        std::vector<std::int64_t> others;
        const DumpEntry* other = nullptr;
        for (const Caller& o : callers)
            if (right.contains(kind_of(*o.entry, sizes)) && kind_of(*o.entry, sizes) != kind_of(e, sizes)) {
                others.push_back(o.rank);
                other = o.entry;
            }
        if (!other) return;
        std::string why = "it calls " + std::string(state_.name(e.collective));
        if (sizes)
            why += " of " + with_commas(e.numbers_in) + " elements where " + ranks_text(others, 8) + " call"
                   + (others.size() == 1 ? "s" : "") + " it with " + with_commas(other->numbers_in);
        else
            why += " where " + ranks_text(others, 8) + " call" + (others.size() == 1 ? "s " : " ")
                   + std::string(state_.name(other->collective));
        if (!sure) why += "; which of them is wrong cannot be told";
        const RunCall call{e.group, e.collective, e.sequence, false};
        suspects_.culprits.try_emplace(
            c.rank, Culprit{c.rank, sizes ? FaultKind::size : FaultKind::mismatch, sure, call, why});
    }

    const RunState& state_;
    Suspects& suspects_;
};

}  // namespace

void find_mismatches(const RunState& state, Suspects& suspects) {
    Mismatches(state, suspects).find();
}

}  // namespace pentamesh::runs
