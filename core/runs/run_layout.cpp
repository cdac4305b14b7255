#include "core/runs/run_layout.h"

#include <algorithm>
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

}  // namespace pentamesh::runs
