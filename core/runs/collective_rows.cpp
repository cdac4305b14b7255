// Puts the calls of several ranks together: how long a transfer takes, and who comes last.
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/runs/measured.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pentamesh::runs {
namespace {

struct OfRank {
    std::int64_t rank;
    const RunCalls* calls;
};

// Holds the shortest time of each call that all ranks have, and how often a rank had it.
struct Matched {
    std::vector<double> shortest;
    std::map<std::int64_t, std::size_t> last;
};

// The calls of ranks match by number, else by order, where all have as many. The rank that is in a call for
// the shortest time has come last: the others' time holds their wait for it.
std::optional<Matched> match(const std::vector<OfRank>& ranks) {
    std::map<std::int64_t, std::vector<std::pair<double, std::int64_t>>> calls;
    for (const OfRank& r : ranks) {
        const RunCalls& c = *r.calls;
        if (c.numbers.empty() && c.seconds.size() != ranks.front().calls->seconds.size()) return std::nullopt;
        for (std::size_t i = 0; i < c.seconds.size(); ++i)
            calls[c.numbers.empty() ? static_cast<std::int64_t>(i) : c.numbers[i]].emplace_back(c.seconds[i],
                                                                                                r.rank);
    }
    Matched out;
    for (const auto& [number, times] : calls) {
        if (number < 0 || times.size() != ranks.size()) continue;
        const auto& [seconds, rank] = *std::min_element(times.begin(), times.end());
        out.shortest.push_back(seconds);
        ++out.last[rank];
    }
    if (out.shortest.empty()) return std::nullopt;
    return out;
}

bool has_transfer(const std::string& collective) {
    return collective != "Send" && collective != "Recv" && collective != "SendRecv";
}

// Collects one row: the groups of an axis that make the same call.
struct Row {
    CollectiveRow row;
    std::vector<double> seconds, shortest;
};

}  // namespace

std::vector<CollectiveRow> collective_rows(const std::vector<RunFile>& files, const PartOfGroup& part_of,
                                           std::vector<std::string>& warnings) {
    using GroupKey = std::tuple<std::string, std::string, std::int64_t, std::vector<std::int64_t>,
                                std::string, std::int64_t>;
    std::map<GroupKey, std::vector<OfRank>> of_group;
    std::map<GroupKey, RunPart> part;
    const RunGroup none;
    bool twice = false;
    for (const RunFile& f : files)
        for (const RunCalls& c : f.calls) {
            const RunGroup& g = c.group < 0 ? none : f.groups[static_cast<std::size_t>(c.group)];
            const GroupKey key(g.name, g.own_name, g.size, g.ranks, c.collective, c.bytes);
            std::vector<OfRank>& ranks = of_group[key];
            const bool again =
                std::ranges::any_of(ranks, [&](const OfRank& o) { return o.rank >= 0 && o.rank == f.rank; });
            twice = twice || again;
            if (!again) ranks.push_back({f.rank, &c});
            part[key] = part_of(g, c.collective, f);
        }
    std::map<std::tuple<RunPart, std::string, std::int64_t, std::string, std::int64_t>, Row> rows;
    bool uneven = false;
    for (const auto& [key, ranks] : of_group) {
        const auto& [name, own_name, size, members, collective, bytes] = key;
        Row& r = rows[{part[key], name, size, collective, bytes}];
        r.row.part = part[key], r.row.axis = name_of(part[key]), r.row.group_name = name;
        r.row.collective = collective, r.row.ranks = size, r.row.bytes = bytes;
        r.row.buffer = ranks.front().calls->buffer;
        for (const OfRank& o : ranks) {
            r.row.calls = std::max(r.row.calls, o.calls->seconds.size());
            r.seconds.insert(r.seconds.end(), o.calls->seconds.begin(), o.calls->seconds.end());
        }
        if (ranks.size() < 2 || size < 2 || !has_transfer(collective)) continue;
        const std::optional<Matched> matched = match(ranks);
        if (!matched) uneven = true;
        if (!matched) continue;
        r.shortest.insert(r.shortest.end(), matched->shortest.begin(), matched->shortest.end());
        for (const auto& [rank, times] : matched->last) {
            const double share = static_cast<double>(times) / static_cast<double>(matched->shortest.size());
            if (share > r.row.last_share) r.row.last_share = share, r.row.last_rank = rank;
        }
    }
    if (twice) warnings.emplace_back("Two files are of one rank: the calls of the second are left out.");
    if (uneven)
        warnings.emplace_back(
            "Ranks of one group made a call not equally often: such calls are not matched.");
    std::vector<CollectiveRow> out;
    for (auto& [key, r] : rows) {
        r.row.median_s = median(std::move(r.seconds));
        if (!r.shortest.empty()) r.row.transfer_s = median(std::move(r.shortest));
        out.push_back(std::move(r.row));
    }
    return out;
}

}  // namespace pentamesh::runs
