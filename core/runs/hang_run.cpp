#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/stand_in.h"
#include "core/runs/dump.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostRanks = 12;  // named in a sentence

// Says why no file is a dump: the first reason stands for all.
[[noreturn]] void refuse_folder(const DumpFolder& run, const std::string& place) {
    const auto files = static_cast<std::int64_t>(run.unreadable.size());
    std::string why = "there are no dumps of a flight recorder among its " + count_text(files, "file");
    if (files > 0)
        why += " (" + as_utf8(run.unreadable.front().file) + ": " + as_utf8(run.unreadable.front().why) + ")";
    throw Error(ErrorKind::invalid, place, "",
                why + "; pentamesh check reads a folder of settings and plans");
}

}  // namespace

int HangRun::tier_of(const RunCall& call, const Cluster& cluster) const {
    int slowest = 0;
    if (call.group < 0 || !is_known(cluster)) return slowest;
    const std::vector<std::int64_t>& ranks = run.names->ranks(call.group);
    for (const std::int64_t r : ranks) slowest = std::max(slowest, tier_between(cluster, ranks.front(), r));
    return slowest;
}

HangRun hang_of(DumpFolder run, const Plan* own, const Presets& presets) {
    // Without a plan nodes of 8 are taken: ranks next to each other that left no dump may have died together.
    Plan base = own != nullptr ? *own : presets.plan("llama-3-70b-3d");
    const std::int64_t node = base.cluster.tiers.empty() ? 1 : domain_of(base.cluster, 0);
    Hang hang = find_hang(run, node);
    if (own == nullptr && hang.layout.has_experts) base = presets.plan("deepseek-v3-2048");
    std::vector<std::string> differ;
    if (own != nullptr) differ = differences(hang.layout, base);
    const bool keep = own != nullptr && differ.empty();
    Plan plan = keep ? base : plan_of(hang.layout, base, own == nullptr);
    if (own == nullptr) plan = stand_in_of(std::move(plan));
    return {std::move(run), std::move(hang), std::move(plan), std::move(differ)};
}

HangRun read_hang(const std::filesystem::path& place, const Plan* own, const Presets& presets,
                  ReadWatch* watch) {
    DumpFolder run = read_dump_folder(place, watch);
    if (run.dumps.empty()) refuse_folder(run, place.string());
    return hang_of(std::move(run), own, presets);
}

std::filesystem::path place_of_dumps(const std::filesystem::path& dump) {
    const std::string name = dump.filename().string(), rank = std::to_string(rank_in_name(name));
    const std::size_t at = name.rfind(rank);
    return at == std::string::npos || at == 0 ? dump : dump.parent_path() / name.substr(0, at);
}

std::string coordinate_words(const RunLayout& l, std::int64_t rank) {
    std::string at;
    for (const RunAxis a : l.order)
        at += sentence(at.empty() ? "" : ", ", l.name_of(a), " ", l.coordinate(a, rank));
    return at;
}

std::optional<bool> on_one_host(const HangRun& run, const RunCall& call, const Hosts& hosts) {
    if (call.group < 0 || hosts.names.empty()) return std::nullopt;
    const std::vector<std::int64_t>& ranks = run.run.names->ranks(call.group);
    return std::all_of(ranks.begin(), ranks.end(), [&](std::int64_t r) {
        return r / hosts.gpus_each == ranks.front() / hosts.gpus_each;
    });
}

std::string wire_words(const HangRun& run, const RunCall& call, const Hosts& hosts, const Cluster* cluster) {
    if (call.group < 0) return "";
    const Cluster& of = cluster != nullptr ? *cluster : run.plan.cluster;
    if (is_known(of)) return sentence("over ", tier_name(of, run.tier_of(call, of)));
    const std::optional<bool> one = on_one_host(run, call, hosts);
    return !one ? "" : *one ? "on one host" : "across hosts";
}

namespace {

// Returns ", over NVLink", as the end of a sentence; empty where the wire is not known.
std::string wire_after(const HangRun& run, const RunCall& call, const Hosts& hosts, const Cluster* cluster) {
    const std::string wire = wire_words(run, call, hosts, cluster);
    return wire.empty() ? "" : ", " + wire;
}

}  // namespace

std::string culprit_words(const HangRun& run, const Culprit& c, const Hosts& hosts, const Cluster* cluster) {
    const std::string at = coordinate_words(run.hang.layout, c.rank);
    std::string out = sentence("rank ", c.rank, " ", name_of(c.kind), c.sure ? "" : " (not sure)",
                               at.empty() ? "" : " at " + at);
    if (!hosts.names.empty()) out += " on " + hosts.of(c.rank);
    out += ": " + c.why;
    if (c.call.group >= 0)
        out += " (" + call_words(run.hang, *run.run.names, c.call) + wire_after(run, c.call, hosts, cluster)
               + ")";
    return out;
}

std::vector<WaitingCall> waiting_by_call(const Hang& hang) {
    std::map<RunCall, WaitingCall> calls;
    for (const WaitingRank& w : hang.waiting) {
        WaitingCall& call = calls[w.call];
        call.call = w.call;
        call.who.push_back(w.rank);
        call.whom = w.whom;
    }
    std::vector<WaitingCall> out;
    out.reserve(calls.size());
    for (auto& [_, waiting] : calls) out.push_back(std::move(waiting));
    const auto later = [&](const WaitingCall& w) {
        const bool near = std::any_of(hang.culprits.begin(), hang.culprits.end(), [&](const Culprit& c) {
            return std::find(w.whom.begin(), w.whom.end(), c.rank) != w.whom.end();
        });
        return std::pair(!near, w.who.size() * w.whom.size());
    };
    // Groups have numbers by the order in which threads read them, so these say nothing.
    std::sort(out.begin(), out.end(), [&](const WaitingCall& a, const WaitingCall& b) {
        return std::tuple(later(a), a.who, a.whom, a.call.sequence)
               < std::tuple(later(b), b.who, b.whom, b.call.sequence);
    });
    return out;
}

std::string waiting_words(const HangRun& run, const WaitingCall& w, const Hosts& hosts,
                          const Cluster* cluster) {
    return sentence(ranks_text(w.who, kMostRanks), w.who.size() == 1 ? " waits" : " wait", " for ",
                    ranks_text(w.whom, kMostRanks), " in ", call_words(run.hang, *run.run.names, w.call),
                    wire_after(run, w.call, hosts, cluster));
}

namespace {

std::string_view advice_of(FaultKind kind) {
    switch (kind) {
    case FaultKind::stopped:
        return "Look at the Python stack of a rank that stopped (py-spy dump), and at its data loader, "
               "checkpoint and log.";
    case FaultKind::dead:
        return "Look at the log and the end of the process of a rank without a dump, and at the kernel log "
               "of its node; make sure that its file was copied.";
    case FaultKind::gpu:
        return "Look for Xid errors of the GPU in the kernel log of its node (dmesg), and take the node out.";
    case FaultKind::mismatch:
        return "Compare the code path of the rank with that of its group: a branch depends on its data or "
               "its "
               "rank.";
    case FaultKind::size: return "Compare the shapes that the rank gives with those of its group.";
    case FaultKind::slow:
        return "Compare clocks, temperature and input of the slow rank with those of its neighbours.";
    }
    return "";
}

}  // namespace

std::string layout_words(const RunLayout& l) {
    const auto list = [&](const std::vector<RunAxis>& axes) {
        std::string out;
        for (const RunAxis a : axes)
            out += sentence(out.empty() ? "" : " × ", l.name_of(a), " ", l.factors[a].size);
        return out;
    };
    std::string out = l.order.empty() ? "one rank" : list(l.order);
    if (!l.expert_order.empty()) out += "; experts " + list(l.expert_order);
    return out;
}

std::string verdict_words(const Hang& h) {
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    const auto ranks = [&](const auto& list) { return count_text(count(list), "rank"); };
    const std::string name(name_of(h.verdict));
    switch (h.verdict) {
    case RunVerdict::clean:
        return name + ": no call is open, and no rank stands out by its time in communication";
    case RunVerdict::slow: return name + ": no call is open; the others wait for " + ranks(h.culprits);
    case RunVerdict::hang:
    case RunVerdict::unclear: break;
    }
    std::string out = name + ": ";
    if (!h.culprits.empty()) {
        const bool sure =
            std::all_of(h.culprits.begin(), h.culprits.end(), [](const Culprit& c) { return c.sure; });
        out += ranks(h.culprits) + (count(h.culprits) == 1 ? " is" : " are")
               + (sure ? " to blame" : " suspected; who is to blame is not sure");
    } else if (!h.order_cycle.empty()) {
        out += "ranks " + ranks_text(h.order_cycle, kMostRanks)
               + " wait for each other in a ring: groups are entered in different orders";
    } else if (!h.groups_stuck.empty()) {
        out += "everybody has come to " + count_text(count(h.groups_stuck), "group")
               + ", and nothing moves: look at links, NICs and switches";
    } else {
        out += "calls are open, and nobody can be blamed for it";
        if (h.waiting.empty() && h.held_up.empty()) out = name + ": no call is open";
    }
    if (!h.waiting.empty()) out += "; " + ranks(h.waiting) + (h.waiting.size() == 1 ? " waits" : " wait");
    if (!h.held_up.empty())
        out += "; " + ranks(h.held_up) + (h.held_up.size() == 1 ? " is" : " are") + " held up behind them";
    if (!h.missing.empty()) out += "; " + ranks(h.missing) + " left no dump";
    return out;
}

std::string call_words(const Hang& h, const RunNames& names, const RunCall& call) {
    if (call.group < 0) return "";
    const std::string axes = join(h.layout.axes_of(names, call.group), ", ");
    std::vector<std::int64_t> ranks = names.ranks(call.group);
    std::sort(ranks.begin(), ranks.end());
    const std::string& described = names.description(call.group);
    return names.text(call.collective) + " " + std::to_string(call.sequence) + " of "
           + (described.empty() ? "a group" : described) + (axes.empty() ? "" : " (" + axes + ")")
           + ", ranks " + ranks_text(ranks, kMostRanks);
}

std::string next_words(const Hang& h) {
    std::set<FaultKind> kinds;
    for (const Culprit& c : h.culprits) kinds.insert(c.kind);
    std::string out = join(kinds, " ", [](const FaultKind k) { return advice_of(k); });
    if (!h.groups_stuck.empty())
        out +=
            "Run nccl-tests over the ranks that are stuck, and look at the error counters of their NICs and "
            "of the switch ports.";
    return out;
}

namespace {

constexpr std::size_t kMostMembers = std::size_t{1} << 26;  // of all groups of a run together

// Reads "[0, 1, 2]"; an empty list: it is no list, or names a rank twice.
std::vector<std::int64_t> parse_ranks(std::string_view text) {
    std::vector<std::int64_t> out;
    const auto skip = [&] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
    };
    skip();
    if (text.empty() || text.front() != '[') return {};
    text.remove_prefix(1);
    for (;;) {
        skip();
        std::int64_t n = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc() || n < 0 || n > kMostRank) return {};
        out.push_back(n);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        skip();
        if (text.empty()) return {};
        const char sign = text.front();
        text.remove_prefix(1);
        if (sign == ']') break;
        if (sign != ',') return {};
    }
    std::vector<std::int64_t> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? out
                                                                            : std::vector<std::int64_t>{};
}

}  // namespace

int RunNames::number_of(std::string_view text) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = number_of_text_.find(text); at != number_of_text_.end()) return at->second;
    }
    const std::unique_lock lock(mutex_);
    const auto [at, fresh] = number_of_text_.emplace(text, static_cast<int>(texts_.size()));
    if (fresh) texts_.emplace_back(text);
    return at->second;
}

int RunNames::list_of(std::string_view ranks) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = list_of_text_.find(ranks); at != list_of_text_.end()) return at->second;
    }
    std::vector<std::int64_t> list = parse_ranks(ranks);
    const std::unique_lock lock(mutex_);
    int number = -1;
    if (!list.empty()) {
        const auto [at, fresh] = list_numbers_.emplace(list, static_cast<int>(lists_.size()));
        if (fresh) lists_.push_back(std::move(list));
        number = at->second;
    }
    list_of_text_.emplace(ranks, number);
    return number;
}

int RunNames::group(std::string_view description, std::string_view ranks, int twin) {
    const int list = list_of(ranks);
    if (list < 0) return -1;
    const ProcessGroup key{number_of(description), list, twin};
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = group_numbers_.find(key); at != group_numbers_.end()) return at->second;
    }
    const std::unique_lock lock(mutex_);
    const std::size_t more = lists_[static_cast<std::size_t>(list)].size();
    if (members_ + more > kMostMembers) return -1;
    const auto [at, fresh] = group_numbers_.emplace(key, static_cast<int>(groups_.size()));
    if (fresh) {
        groups_.push_back(key);
        members_ += more;
    }
    return at->second;
}

std::int64_t RunNames::member(int group, std::int64_t index) {
    const std::shared_lock lock(mutex_);
    const std::vector<std::int64_t>& list = ranks(group);
    return index >= 0 && index < static_cast<std::int64_t>(list.size())
               ? list[static_cast<std::size_t>(index)]
               : -1;
}

namespace {

constexpr AxisSet kTp = bit_of(RunAxis::tp), kGtp = bit_of(RunAxis::gtp), kCp = bit_of(RunAxis::cp),
                  kShard = bit_of(RunAxis::shard), kReplicate = bit_of(RunAxis::replicate),
                  kPp = bit_of(RunAxis::pp), kEtp = bit_of(RunAxis::etp), kEp = bit_of(RunAxis::ep),
                  kEdp = bit_of(RunAxis::edp);

struct Described {
    std::string_view name;
    AxisSet axes;
};
// Megatron-LM, megatron/core/parallel_state.py:939-1573. Its data parallelism leaves weight shards out unless
// the name says otherwise.
constexpr std::array kMegatron{Described{"TENSOR_MODEL_PARALLEL_GROUP", kTp},
                               Described{"CONTEXT_PARALLEL_GROUP", kCp},
                               Described{"PIPELINE_MODEL_PARALLEL_GROUP", kPp},
                               Described{"DATA_PARALLEL_GROUP", kShard},
                               Described{"DATA_PARALLEL_GROUP_WITH_CP", kCp | kShard},
                               Described{"GTP_WEIGHT_REMAT_GROUP", kGtp},
                               Described{"DATA_PARALLEL_GROUP_WITH_GTP_REMAT", kGtp | kShard},
                               Described{"DATA_PARALLEL_GROUP_WITH_CP_WITH_GTP_REMAT", kGtp | kCp | kShard},
                               Described{"MODEL_PARALLEL_GROUP", kTp | kGtp | kPp},
                               Described{"TENSOR_AND_CONTEXT_PARALLEL_GROUP", kTp | kCp},
                               Described{"TENSOR_AND_DATA_PARALLEL_GROUP", kTp | kGtp | kShard},
                               Described{"TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", kTp | kGtp | kCp | kShard},
                               Described{"EXPERT_MODEL_PARALLEL_GROUP", kEp},
                               Described{"EXPERT_TENSOR_PARALLEL_GROUP", kEtp},
                               Described{"EXPERT_DATA_PARALLEL_GROUP", kEdp},
                               Described{"EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", kEtp | kEp},
                               Described{"EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", kEtp | kEp | kPp}};

// These are parts of groups, ends of pipelines, or lie over the whole world: they say nothing more.
constexpr std::array<std::string_view, 7> kParts{"EMBEDDING_GROUP",
                                                 "INTRA_PARTIAL_",
                                                 "INTER_PARTIAL_",
                                                 "HIERARCHICAL_",
                                                 "OPTIMIZER_INSTANCE",
                                                 "GTP",
                                                 "AMAX"};

// torch's DeviceMesh names a group "mesh_" and the dimension; a flattened one by its dimensions in a row
// (torchtitan/distributed/parallel_dims.py). The longer of two names that begin in the same way comes first.
constexpr std::array kMesh{Described{"dp_replicate", kReplicate},
                           Described{"dp_shard_mod_ep", kEdp},
                           Described{"dp_shard", kShard},
                           Described{"loss_mesh", kCp | kShard | kReplicate},
                           Described{"loss", kCp | kShard | kReplicate},
                           Described{"batch", kShard | kReplicate},
                           Described{"replicate", kReplicate},
                           Described{"efsdp", kEdp},
                           Described{"fsdp", kCp | kShard},
                           Described{"shard", kShard},
                           Described{"etp", kEtp},
                           Described{"ep", kEp},
                           Described{"tp", kTp},
                           Described{"cp", kCp},
                           Described{"pp", kPp},
                           Described{"dp", kShard | kReplicate}};

GroupMeaning mesh_meaning(std::string_view name) {
    GroupMeaning out{.device_mesh = true};
    if (name == "dp_shard_in_ep") {  // the part of dp_shard over which experts lie
        out.kind = GroupMeaning::Kind::part;
        return out;
    }
    while (!name.empty()) {
        const Described* found = nullptr;
        for (const Described& d : kMesh)
            if (!found && name.starts_with(d.name)
                && (name.size() == d.name.size() || name[d.name.size()] == '_'))
                found = &d;
        if (!found) return out;
        out.axes |= found->axes;
        name.remove_prefix(found->name.size());
        if (!name.empty()) name.remove_prefix(1);
    }
    if (out.axes != 0) out.kind = GroupMeaning::Kind::axes;
    return out;
}

}  // namespace

GroupMeaning meaning_of(std::string_view description) {
    if (description.empty() || description == "default_pg" || description == "undefined"
        || description == "mesh_default" || description == "mesh_world")
        return {.kind = GroupMeaning::Kind::world};
    if (description.starts_with("mesh_")) return mesh_meaning(description.substr(5));
    for (const std::string_view ending : {"_GLOO", "_AG"})
        if (description.ends_with(ending)) description.remove_suffix(ending.size());
    for (const Described& d : kMegatron)
        if (description == d.name) return {.kind = GroupMeaning::Kind::axes, .axes = d.axes};
    for (const std::string_view part : kParts)
        if (description.find(part) != std::string_view::npos) return {.kind = GroupMeaning::Kind::part};
    return {};
}

}  // namespace pentamesh::runs
