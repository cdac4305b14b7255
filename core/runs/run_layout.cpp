#include "core/runs/run_layout.h"

#include "core/base/text.h"
#include "core/mesh/mesh.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace pentamesh::runs {
namespace {

using Factors = std::vector<Factor>;
using Sizes = EnumArray<RunAxis, std::int64_t>;

constexpr std::array kDense{RunAxis::tp,    RunAxis::gtp,       RunAxis::cp,
                            RunAxis::shard, RunAxis::replicate, RunAxis::pp};
constexpr std::array kExpert{RunAxis::etp, RunAxis::ep, RunAxis::edp, RunAxis::replicate, RunAxis::pp};
constexpr int kMostTries = 100'000;  // layouts that are compared, before one is called not found

// Returns the factors of some axes in a layout: neighbours are joined, so that equal groups compare equal.
Factors joined(const EnumArray<RunAxis, Factor>& axes, AxisSet set) {
    Factors out;
    for (const RunAxis a : all_of<RunAxis>())
        if ((set & bit_of(a)) != 0 && axes[a].size > 1) out.push_back(axes[a]);
    std::sort(out.begin(), out.end(), [](const Factor& a, const Factor& b) { return a.stride < b.stride; });
    for (std::size_t i = 1; i < out.size();) {
        if (out[i].stride == out[i - 1].size * out[i - 1].stride) {
            out[i - 1].size *= out[i].size;
            out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
    return out;
}

// One group of each set of axes stands for all in the search; every group is compared at the end.
struct Evidence {
    AxisSet axes = 0;
    Factors factors;
    [[nodiscard]] std::int64_t size() const {
        std::int64_t n = 1;
        for (const Factor& f : factors) n *= f.size;
        return n;
    }
};

struct Candidate {
    EnumArray<RunAxis, Factor> axes;
    std::vector<RunAxis> order;
    int matched = -1, unnamed = 0;  // evidence that fits; axes of more than one that no group names
};

// Tries the degrees and orders of one mesh. `axes` are its axes in the usual order; `rest` is the one that
// gets what is left of the world.
class Search {
  public:
    Search(std::span<const RunAxis> axes, RunAxis rest, std::int64_t world, std::vector<Evidence> evidence)
        : axes_(axes), rest_(rest), world_(world), evidence_(std::move(evidence)) {}

    // Says that an axis may have these sizes only.
    void allow(RunAxis axis, std::vector<std::int64_t> sizes) { allowed_[axis] = std::move(sizes); }

    Candidate run() {
        for (const RunAxis a : axes_)
            if (a != rest_ && allowed_[a].empty()) allowed_[a] = sizes_of(a);
        choose(0, world_);
        return best_;
    }
    [[nodiscard]] bool named(RunAxis axis) const {
        return std::any_of(evidence_.begin(), evidence_.end(),
                           [&](const Evidence& e) { return e.axes == bit_of(axis); });
    }

  private:
    // Returns the sizes that an axis can have: its own group's; 1 where no group has it; a divisor of those
    // that have it among others.
    [[nodiscard]] std::vector<std::int64_t> sizes_of(RunAxis axis) const {
        std::int64_t among = 0;
        for (const Evidence& e : evidence_) {
            if (e.axes == bit_of(axis)) return {e.size()};
            if ((e.axes & bit_of(axis)) != 0 && (among == 0 || e.size() < among)) among = e.size();
        }
        std::vector<std::int64_t> out{1};
        for (std::int64_t n = 2; n <= among; ++n)
            if (among % n == 0) out.push_back(n);
        return out;
    }

    void choose(std::size_t at, std::int64_t left) {
        if (at == axes_.size()) return arrange(left);
        const RunAxis a = axes_[at];
        if (a == rest_) return choose(at + 1, left);
        for (const std::int64_t n : allowed_[a]) {
            if (left % n != 0) continue;
            sizes_[a] = n;
            choose(at + 1, left / n);
        }
    }

    void arrange(std::int64_t left) {
        sizes_[rest_] = left;
        std::vector<std::size_t> order;
        int unnamed = 0;
        for (std::size_t i = 0; i < axes_.size(); ++i)
            if (sizes_[axes_[i]] > 1) {
                order.push_back(i);
                unnamed += axes_[i] != rest_ && !named(axes_[i]) ? 1 : 0;
            }
        do {
            if (++tries_ > kMostTries) return;
            judge(order, unnamed);
        } while (std::next_permutation(order.begin(), order.end()));
    }

    void judge(const std::vector<std::size_t>& order, int unnamed) {
        Candidate c;
        c.unnamed = unnamed;
        std::int64_t stride = 1;
        for (const std::size_t i : order) {
            c.axes[axes_[i]] = {sizes_[axes_[i]], stride};
            stride *= sizes_[axes_[i]];
            c.order.push_back(axes_[i]);
        }
        c.matched =
            static_cast<int>(std::count_if(evidence_.begin(), evidence_.end(), [&](const Evidence& e) {
                return joined(c.axes, e.axes) == e.factors;
            }));
        // The first of equals stays: orders are tried from the usual one on.
        if (c.matched > best_.matched || (c.matched == best_.matched && unnamed < best_.unnamed)) best_ = c;
    }

    std::span<const RunAxis> axes_;
    RunAxis rest_;
    std::int64_t world_;
    std::vector<Evidence> evidence_;
    EnumArray<RunAxis, std::vector<std::int64_t>> allowed_;
    Sizes sizes_{};
    Candidate best_;
    int tries_ = 0;
};

std::int64_t world_of(const DumpFolder& run) {
    std::int64_t world = 0;
    for (const Dump& d : run.dumps) world = std::max(world, d.rank + 1);
    for (std::size_t g = 0; g < run.names->groups().size(); ++g) {
        const auto& ranks = run.names->ranks(static_cast<int>(g));
        world = std::max(world, *std::max_element(ranks.begin(), ranks.end()) + 1);
    }
    return world;
}

// Returns true if the ranks are those of one group of these axes, whose factors are given.
bool fits(const RunLayout& l, AxisSet axes, const Factors& expected, std::int64_t first,
          const Factors& factors) {
    if (expected != factors) return false;
    for (const RunAxis a : all_of<RunAxis>())
        if ((axes & bit_of(a)) != 0 && l.coordinate(a, first) != 0) return false;
    return true;
}

// Returns all sets of axes that lie in one mesh. One of them explains a group whose description says nothing.
std::vector<AxisSet> sets_of_one_mesh(const RunLayout& l) {
    constexpr AxisSet kDenseAxes =
        bit_of(RunAxis::tp) | bit_of(RunAxis::gtp) | bit_of(RunAxis::cp) | bit_of(RunAxis::shard);
    std::vector<AxisSet> out;
    for (AxisSet set = 0; set < 1U << kEnumCount<RunAxis>; ++set)
        if ((set & kExpertAxes) == 0 || ((set & kDenseAxes) == 0 && l.has_experts)) out.push_back(set);
    return out;
}

void compare_groups(const RunNames& names, RunLayout& l) {
    std::map<AxisSet, Factors> expected;
    for (AxisSet set = 0; set < 1U << kEnumCount<RunAxis>; ++set) expected[set] = joined(l.factors, set);
    const std::vector<AxisSet> any = sets_of_one_mesh(l);
    for (std::size_t i = 0; i < names.groups().size(); ++i) {
        const int g = static_cast<int>(i);
        const GroupMeaning m = meaning_of(names.description(g));
        const bool known = m.kind == GroupMeaning::Kind::axes;
        const std::vector<std::int64_t>& ranks = names.ranks(g);
        const bool all = static_cast<std::int64_t>(ranks.size()) == l.world;
        if (m.kind == GroupMeaning::Kind::part || (all && !known)) continue;
        const std::optional<Factors> factors = factors_of(ranks);
        const std::int64_t first = *std::min_element(ranks.begin(), ranks.end());
        const auto explains = [&](AxisSet set) { return fits(l, set, expected[set], first, *factors); };
        if (!factors || (known ? !explains(m.axes) : std::none_of(any.begin(), any.end(), explains)))
            l.unexplained.push_back(g);
    }
}

std::vector<Evidence> evidence_of(const RunNames& names, RunLayout& l) {
    std::map<AxisSet, Evidence> by_axes;
    for (std::size_t i = 0; i < names.groups().size(); ++i) {
        const GroupMeaning m = meaning_of(names.description(static_cast<int>(i)));
        if (m.kind != GroupMeaning::Kind::axes) continue;
        l.device_mesh = l.device_mesh || m.device_mesh;
        l.has_experts = l.has_experts || (m.axes & kExpertAxes) != 0;
        if (by_axes.contains(m.axes)) continue;
        if (const auto factors = factors_of(names.ranks(static_cast<int>(i))))
            by_axes[m.axes] = {m.axes, *factors};
    }
    std::vector<Evidence> out;
    for (auto& [axes, e] : by_axes) out.push_back(std::move(e));
    return out;
}

// Weight shards have groups of their own, or there are none.
Candidate find_dense(std::int64_t world, std::vector<Evidence> evidence) {
    Search search(kDense, RunAxis::shard, world, std::move(evidence));
    if (!search.named(RunAxis::gtp)) search.allow(RunAxis::gtp, {1});
    return search.run();
}

// The experts' mesh re-folds the same ranks: pipelines and replicas are those of the dense one.
void find_experts(RunLayout& l, const std::vector<Evidence>& evidence) {
    std::vector<Evidence> own;
    for (const Evidence& e : evidence)
        if ((e.axes & kExpertAxes) != 0) own.push_back(e);
    for (const RunAxis a : {RunAxis::replicate, RunAxis::pp})
        own.push_back({bit_of(a), joined(l.factors, bit_of(a))});
    Search search(kExpert, RunAxis::edp, l.world, own);
    if (!search.named(RunAxis::etp)) search.allow(RunAxis::etp, {1, l.factors[RunAxis::tp].size});
    const Candidate found = search.run();
    if (found.matched < 0) return;
    for (const RunAxis a : {RunAxis::etp, RunAxis::ep, RunAxis::edp}) l.factors[a] = found.axes[a];
    l.expert_order = found.order;
}

// Groups that say nothing of themselves: what is called in them tells pipelines, experts and shards.
void find_by_calls(const DumpFolder& run, RunLayout& l) {
    l.from = LayoutFrom::calls;
    std::map<int, std::set<std::string>> calls;
    std::set<int> sends;
    for (const Dump& d : run.dumps)
        for (const DumpEntry& e : d.entries) {
            if (e.p2p)
                sends.insert(e.group);
            else if (e.collective >= 0)
                calls[e.group].insert(run.names->text(e.collective));
        }
    const auto small = [&](int g) { return static_cast<std::int64_t>(run.names->ranks(g).size()) < l.world; };
    std::vector<Evidence> evidence;
    std::set<AxisSet> seen;
    const auto add = [&](RunAxis axis, int g) {
        const auto factors = factors_of(run.names->ranks(g));
        if (factors && small(g) && seen.insert(bit_of(axis)).second)
            evidence.push_back({bit_of(axis), *factors});
    };
    for (const int g : sends) add(RunAxis::pp, g);
    for (const auto& [g, names] : calls) {
        if (names.contains("all_to_all") || names.contains("all_to_allv")) add(RunAxis::ep, g);
        if (!small(g) && (names.contains("_all_gather_base") || names.contains("_reduce_scatter_base")))
            l.sharded = true;
    }
    const Candidate dense = find_dense(l.world, evidence);
    for (const RunAxis a : kDense) l.factors[a] = dense.axes[a];
    l.order = dense.order;
    l.has_experts = seen.contains(bit_of(RunAxis::ep));
    if (l.has_experts) find_experts(l, evidence);
}

}  // namespace

std::optional<std::vector<Factor>> factors_of(std::vector<std::int64_t> ranks) {
    std::sort(ranks.begin(), ranks.end());
    Factors out;
    while (ranks.size() > 1) {
        const std::int64_t stride = ranks[1] - ranks[0];
        std::size_t run = 1;
        while (run < ranks.size() && ranks[run] - ranks[run - 1] == stride) ++run;
        if (ranks.size() % run != 0) return std::nullopt;
        std::vector<std::int64_t> firsts;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            if (i % run == 0)
                firsts.push_back(ranks[i]);
            else if (ranks[i] - ranks[i - 1] != stride)
                return std::nullopt;
        }
        out.push_back({static_cast<std::int64_t>(run), stride});
        ranks = std::move(firsts);
    }
    return out;
}

std::string_view RunLayout::name_of(RunAxis axis) const {
    switch (axis) {
    case RunAxis::tp: return "tp";
    case RunAxis::gtp: return "gtp_remat";
    case RunAxis::cp: return "cp";
    case RunAxis::shard: return device_mesh || sharded ? "dp_shard" : "dp";
    case RunAxis::replicate: return "dp_replicate";
    case RunAxis::pp: return "pp";
    case RunAxis::etp: return "etp";
    case RunAxis::ep: return "ep";
    case RunAxis::edp: return device_mesh ? "efsdp" : "edp";
    }
    return "";
}

std::vector<std::string_view> RunLayout::axes_of(const RunNames& names, int group) const {
    const GroupMeaning m = meaning_of(names.description(group));
    std::vector<std::string_view> out;
    const bool known = m.kind == GroupMeaning::Kind::axes;
    for (const RunAxis a : all_of<RunAxis>())
        if (known && (m.axes & bit_of(a)) != 0 && factors[a].size > 1) out.push_back(name_of(a));
    if (!out.empty()) return out;
    // Along which axes do its ranks differ?
    const std::vector<std::int64_t>& ranks = names.ranks(group);
    for (const RunAxis a : order)
        if (std::any_of(ranks.begin(), ranks.end(),
                        [&](std::int64_t r) { return coordinate(a, r) != coordinate(a, ranks.front()); }))
            out.push_back(name_of(a));
    return out;
}

RunLayout find_layout(const DumpFolder& run) {
    RunLayout l;
    l.world = world_of(run);
    const std::vector<Evidence> evidence = evidence_of(*run.names, l);
    if (evidence.empty()) {
        find_by_calls(run, l);
    } else {
        std::vector<Evidence> own;
        for (const Evidence& e : evidence)
            if ((e.axes & kExpertAxes) == 0) own.push_back(e);
        const Candidate dense = find_dense(l.world, own);
        for (const RunAxis a : kDense) l.factors[a] = dense.axes[a];
        l.order = dense.order;
        if (l.has_experts) find_experts(l, evidence);
    }
    if (l.order.empty() && l.world > 1) {  // no degrees divide this world
        l.factors[RunAxis::shard] = {l.world, 1};
        l.order = {RunAxis::shard};
    }
    compare_groups(*run.names, l);
    l.certain = l.from == LayoutFrom::names && l.unexplained.empty();
    return l;
}

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

namespace {

RunPart part_of_axes(AxisSet axes) {
    constexpr AxisSet kData =
        bit_of(RunAxis::gtp) | bit_of(RunAxis::shard) | bit_of(RunAxis::replicate) | bit_of(RunAxis::edp);
    constexpr AxisSet kExperts = bit_of(RunAxis::ep) | bit_of(RunAxis::etp);
    if ((axes & kData) != 0) return RunPart::dp;
    if (axes == bit_of(RunAxis::tp) || axes == bit_of(RunAxis::etp)) return RunPart::tp;
    if (axes == bit_of(RunAxis::cp)) return RunPart::cp;
    if (axes == bit_of(RunAxis::pp)) return RunPart::pp;
    if ((axes & ~kExperts) == 0) return RunPart::ep;
    return RunPart::unnamed;
}

// Groups that are a part of an axis name it in their description.
RunPart part_of_words(std::string_view description) {
    const auto has = [&](std::string_view word) { return description.find(word) != std::string_view::npos; };
    if (has("DATA_PARALLEL")) return RunPart::dp;
    if (has("CONTEXT_PARALLEL")) return RunPart::cp;
    if (has("EMBEDDING")) return RunPart::pp;
    return RunPart::unnamed;
}

std::optional<RunPart> part_in_mesh(const Mesh& mesh, const RunGroup& group) {
    for (const GroupKind k :
         {GroupKind::tp, GroupKind::cp, GroupKind::pp, GroupKind::ep, GroupKind::dp_shard,
          GroupKind::dp_replicate, GroupKind::dp, GroupKind::dp_cp, GroupKind::fsdp, GroupKind::gtp_remat,
          GroupKind::dp_without_gtp_remat, GroupKind::dp_cp_without_gtp_remat, GroupKind::etp, GroupKind::edp,
          GroupKind::edp_shard, GroupKind::edp_replicate, GroupKind::etp_ep}) {
        if (!has_kind(mesh, k)) continue;
        if (group.ranks.size() < 2 || group.ranks.front() >= mesh.world) continue;
        const std::vector<std::int64_t> members = group_members(mesh, k, group.ranks.front());
        // Only the first ranks of a long group may be known.
        if (members.size() > 1 && static_cast<std::int64_t>(members.size()) == group.size
            && group.ranks.size() <= members.size()
            && std::equal(group.ranks.begin(), group.ranks.end(), members.begin()))
            return part_of_kind(k);
    }
    return std::nullopt;
}

}  // namespace

RunPart part_of_kind(GroupKind kind) {
    if (is_data_parallel(kind)) return RunPart::dp;
    switch (kind) {
    case GroupKind::tp:
    case GroupKind::etp:
    case GroupKind::tp_cp: return RunPart::tp;
    case GroupKind::cp: return RunPart::cp;
    case GroupKind::pp: return RunPart::pp;
    case GroupKind::ep:
    case GroupKind::etp_ep: return RunPart::ep;
    default: return RunPart::unnamed;
    }
}

PartOfGroup parts_by(const Mesh* mesh) {
    return [mesh](const RunGroup& group, std::string_view collective, const RunFile& file) {
        if (group.size <= 0 && group.name.empty()) return RunPart::unnamed;
        const GroupMeaning meaning = meaning_of(group.name);
        if (meaning.kind == GroupMeaning::Kind::axes) return part_of_axes(meaning.axes);
        if (meaning.kind == GroupMeaning::Kind::part) return part_of_words(group.name);
        if (mesh)
            if (const std::optional<RunPart> part = part_in_mesh(*mesh, group)) return *part;
        const bool whole = group.size > 1
                           && std::all_of(file.groups.begin(), file.groups.end(),
                                          [&](const RunGroup& g) { return g.size == group.size; })
                           && (file.world < 0 || file.world == group.size);
        if (collective == "Send" || collective == "Recv") return RunPart::pp;
        if (collective == "AllToAll" || collective == "Dispatch" || collective == "Combine")
            return RunPart::ep;
        // Replicas of the whole job reduce and gather over all of its ranks.
        return whole ? RunPart::dp : RunPart::unnamed;
    };
}

std::optional<Collective> collective_called(std::string_view name) {
    if (name == "AllReduce") return Collective::all_reduce;
    if (name == "AllGather") return Collective::all_gather;
    if (name == "ReduceScatter") return Collective::reduce_scatter;
    if (name == "AllToAll" || name == "Dispatch" || name == "Combine") return Collective::all_to_all;
    if (name == "SendRecv" || name == "Send" || name == "Recv") return Collective::send_recv;
    return std::nullopt;
}

namespace {

// Returns a plan's order: the run's axes as they lie, ep where it lies in the experts' mesh, those of size 1
// in their usual place.
std::array<Axis, kAxisCount> order_of(const RunLayout& l) {
    std::vector<Axis> order;
    const auto add = [&](Axis a) {
        if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    };
    const auto before = [&](RunAxis a, RunAxis b) {
        return l.factors[a].size > 1 && l.factors[b].size > 1 && l.factors[a].stride < l.factors[b].stride;
    };
    std::vector<RunAxis> dense = l.order;
    for (const RunAxis a : {RunAxis::tp, RunAxis::cp})  // of size 1: innermost, where that changes nothing
        if (l.factors[a].size == 1) dense.insert(dense.begin(), a);
    for (const RunAxis a : dense) {
        const bool experts = l.has_experts && l.factors[RunAxis::ep].size > 1;
        // Experts lie inside what is left of data parallelism, unless their own mesh says otherwise.
        const bool outer =
            a == RunAxis::pp ? before(RunAxis::ep, RunAxis::pp) : !before(RunAxis::edp, RunAxis::ep);
        if (experts && outer && (a == RunAxis::shard || a == RunAxis::replicate || a == RunAxis::pp))
            add(Axis::ep);
        switch (a) {
        case RunAxis::tp: add(Axis::tp); break;
        case RunAxis::gtp:  // it takes all of data parallelism, or is the innermost part of it
            if (l.factors[RunAxis::shard].size == 1) add(Axis::cp), add(Axis::ep), add(Axis::dp_shard);
            break;
        case RunAxis::cp: add(Axis::cp); break;
        case RunAxis::shard: add(Axis::dp_shard); break;
        case RunAxis::replicate: add(Axis::dp_replicate); break;
        case RunAxis::pp: add(Axis::pp); break;
        default: break;
        }
    }
    for (const Axis a : Layout{}.order) add(a);
    std::array<Axis, kAxisCount> out{};
    std::copy(order.begin(), order.end(), out.begin());
    return out;
}

}  // namespace

Plan plan_of(const RunLayout& l, Plan base, bool fill) {
    const auto size = [&](RunAxis a) { return l.factors[a].size; };
    Layout& to = base.layout;
    const Layout fresh;
    to.order = order_of(l);
    to.tp = size(RunAxis::tp), to.cp = size(RunAxis::cp), to.pp = size(RunAxis::pp);
    to.dp_shard = size(RunAxis::gtp) * size(RunAxis::shard), to.dp_replicate = size(RunAxis::replicate);
    to.ep = l.has_experts ? size(RunAxis::ep) : 1;
    to.etp = l.has_experts ? std::optional(size(RunAxis::etp)) : std::nullopt;
    to.sequence_parallel = to.sequence_parallel && to.tp > 1;
    // These go with other degrees.
    to.virtual_stages = fresh.virtual_stages, to.schedule = fresh.schedule;
    to.stage_layers.clear();
    to.microbatch_group = fresh.microbatch_group, to.cp_inner = fresh.cp_inner;
    to.mtp_chunk = fresh.mtp_chunk, to.weight_shards = fresh.weight_shards;
    if (size(RunAxis::gtp) > 1) to.weight_shards = size(RunAxis::gtp);
    if (l.device_mesh || l.sharded) to.zero = 3;
    base.cluster.gpus = l.world;
    if (!base.cluster_source.preset.empty()
        && std::find(base.cluster_source.overrides.begin(), base.cluster_source.overrides.end(), "/gpus")
               == base.cluster_source.overrides.end())
        base.cluster_source.overrides.emplace_back("/gpus");
    base.name = "A run on " + count_text(l.world, "GPU");
    base.notes.clear();
    base.review = {};
    base.scene = {};
    if (fill) {
        constexpr std::int64_t kMicrobatches = 8;
        const std::int64_t replicas = size(RunAxis::gtp) * size(RunAxis::shard) * size(RunAxis::replicate);
        base.training.global_batch =
            replicas * base.training.micro_batch * std::max(kMicrobatches, 2 * size(RunAxis::pp));
    }
    return base;
}

std::vector<std::string> differences(const RunLayout& l, const Plan& plan) {
    std::vector<std::string> out;
    const Mesh mesh = build_mesh(plan);
    if (mesh.world != l.world) {
        out.push_back(sentence("The run has ", l.world, " ranks, the plan ", mesh.world, "."));
        return out;
    }
    const auto compare = [&](std::string_view name, const Factor& run, const Factor& planned) {
        if (run.size != planned.size)
            out.push_back(sentence("The run has ", name, " ", run.size, ", the plan ", planned.size, "."));
        else if (run.size > 1 && run.stride != planned.stride)
            out.push_back(sentence("Neighbours along ", name, " are ", count_text(run.stride, "rank"),
                                   " apart in the run and ", planned.stride, " in the plan."));
    };
    compare("tp", l.factors[RunAxis::tp], mesh.dense[Axis::tp]);
    compare("cp", l.factors[RunAxis::cp], mesh.dense[Axis::cp]);
    compare("pp", l.factors[RunAxis::pp], mesh.dense[Axis::pp]);
    if (l.device_mesh) {
        compare("dp_shard", l.factors[RunAxis::shard], mesh.dense[Axis::dp_shard]);
        compare("dp_replicate", l.factors[RunAxis::replicate], mesh.dense[Axis::dp_replicate]);
    } else {  // one axis in the run: the two of the plan have to lie one behind the other
        const auto joined = [&](GroupKind kind) {
            Factor all;
            const GroupFactors factors = group_factors(mesh, kind);
            for (const Factor& f : factors.span())
                all = {all.size * f.size, all.size > 1 ? all.stride : f.stride};
            return all;
        };
        compare("gtp_remat", l.factors[RunAxis::gtp], joined(GroupKind::gtp_remat));
        compare("dp", l.factors[RunAxis::shard],
                joined(mesh.weight_shards > 1 ? GroupKind::dp_without_gtp_remat : GroupKind::dp));
    }
    if (l.has_experts && mesh.has_experts) {
        compare("ep", l.factors[RunAxis::ep], mesh.expert[Axis::ep]);
        compare("etp", l.factors[RunAxis::etp], mesh.expert[Axis::tp]);
    } else if (l.has_experts != mesh.has_experts) {
        out.emplace_back(l.has_experts ? "The run has experts, the plan's model has none."
                                       : "The plan's model has experts; no group of the run is of experts.");
    }
    return out;
}

}  // namespace pentamesh::runs
