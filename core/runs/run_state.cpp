#include "core/runs/run_state.h"

#include <algorithm>
#include <array>

namespace pentamesh::runs {
namespace {

Progress& progress_of(std::vector<Progress>& group, int dump) {
    if (group.empty() || group.back().dump != dump) {
        group.emplace_back();
        group.back().dump = dump;
    }
    return group.back();
}

// Returns null where the dump has no such group; `all` may be constant.
template <typename All>
auto find_in(All& all, int dump) -> decltype(all.data()) {
    const auto at = std::lower_bound(all.begin(), all.end(), dump,
                                     [](const Progress& p, int wanted) { return p.dump < wanted; });
    return at != all.end() && at->dump == dump ? &*at : nullptr;
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool has_root(std::string_view collective) {
    static constexpr std::array<std::string_view, 6> kRooted{"broadcast", "reduce",         "gather",
                                                             "scatter",   "_broadcast_oop", "_reduce_oop"};
    return is_one_of(collective, kRooted);
}

bool has_equal_sizes(std::string_view collective) {
    static constexpr std::array<std::string_view, 6> kUneven{"all_gather", "gather",         "scatter",
                                                             "barrier",    "reduce_scatter", "alltoall"};
    return !is_one_of(collective, kUneven) && !collective.starts_with("all_to_all")
           && collective.find("coalesced") == std::string_view::npos;
}

RunState::RunState(const DumpFolder& run)
    : run_(run), groups_(run.names->groups().size()), finished_(groups_.size(), -1) {
    for (std::size_t i = 0; i < run.dumps.size(); ++i) {
        const Dump& d = run.dumps[i];
        const int dump = static_cast<int>(i);
        dump_of_[d.rank] = dump;
        for (const int g : d.groups) progress_of(in_group(g), dump);
        for (const DumpEntry& e : d.entries) {
            if (e.p2p) continue;
            std::vector<Progress>& group = in_group(e.group);
            if (group.empty() || group.back().dump != dump) continue;
            group.back().issued = std::max(group.back().issued, e.sequence);
            if (e.open) group.back().open.push_back(&e);
        }
    }
    count_status();
    for (std::size_t g = 0; g < groups_.size(); ++g)
        for (Progress& p : groups_[g]) {
            std::sort(p.open.begin(), p.open.end(),
                      [](const DumpEntry* a, const DumpEntry* b) { return a->sequence < b->sequence; });
            finished_[g] = std::max(finished_[g], finished_by(p));
        }
}

// pg_status counts the sends of a group too, if there are any. So it is believed of those descriptions only
// for which it agrees with the entries wherever there are both.
void RunState::count_status() {
    std::set<int> doubtful;
    const auto described = [&](int g) {
        return run_.names->groups()[static_cast<std::size_t>(g)].description;
    };
    for (const Dump& d : run_.dumps)
        for (const DumpEntry& e : d.entries)
            if (e.p2p) doubtful.insert(described(e.group));
    for (const Dump& d : run_.dumps)
        for (const GroupStatus& s : d.status) {
            const Progress* p = progress(s.group, d.rank);
            if (p && p->issued >= 0 && s.enqueued >= 0 && p->issued != s.enqueued)
                doubtful.insert(described(s.group));
        }
    for (const Dump& d : run_.dumps)
        for (const GroupStatus& s : d.status) {
            if (s.enqueued < 0 || doubtful.contains(described(s.group))) continue;
            if (Progress* p = find(s.group, dump_of(d.rank))) p->issued = std::max(p->issued, s.enqueued);
        }
}

int RunState::dump_of(std::int64_t rank) const {
    const auto at = dump_of_.find(rank);
    return at == dump_of_.end() ? -1 : at->second;
}

Progress* RunState::find(int group, int dump) {
    return find_in(in_group(group), dump);
}

const Progress* RunState::progress(int group, std::int64_t rank) const {
    return find_in(in_group(group), dump_of(rank));
}

std::int64_t RunState::finished_by(const Progress& p) const {
    if (p.open.empty()) return p.issued;
    // The entries that a full ring has lost may be open too.
    if (run_.dumps[static_cast<std::size_t>(p.dump)].oldest_open) return -1;
    return p.open.front()->sequence - 1;
}

std::string_view RunState::name(int collective) const {
    return run_.names->text(collective);
}

void RunState::close(const DumpEntry& entry, int dump) {
    if (Progress* p = find(entry.group, dump)) std::erase(p->open, &entry);
}

}  // namespace pentamesh::runs
