#include "core/runs/hang_run.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/runs/hang_words.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <map>
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

int HangRun::tier_of(const RunCall& call) const {
    int slowest = 0;
    if (call.group < 0) return slowest;
    const std::vector<std::int64_t>& ranks = run.names->ranks(call.group);
    for (const std::int64_t r : ranks)
        slowest = std::max(slowest, tier_between(plan.cluster, ranks.front(), r));
    return slowest;
}

std::string_view HangRun::tier_name_of(const RunCall& call) const {
    return call.group < 0 ? "" : tier_name(plan.cluster, tier_of(call));
}

HangRun hang_of(DumpFolder run, const Plan* own, const Presets& presets) {
    // The default's cluster tells which ranks share a node.
    Plan base = own != nullptr ? *own : presets.plan("llama-3-70b-3d");
    const std::int64_t node = base.cluster.tiers.empty() ? 1 : domain_of(base.cluster, 0);
    Hang hang = find_hang(run, node);
    if (own == nullptr && hang.layout.has_experts) base = presets.plan("deepseek-v3-2048");
    std::vector<std::string> differ;
    if (own != nullptr) differ = differences(hang.layout, base);
    const bool keep = own != nullptr && differ.empty();
    Plan plan = keep ? base : plan_of(hang.layout, base, own == nullptr);
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

std::string culprit_words(const HangRun& run, const Culprit& c, const Hosts& hosts) {
    const std::string at = coordinate_words(run.hang.layout, c.rank);
    std::string out = sentence("rank ", c.rank, " ", name_of(c.kind), c.sure ? "" : " (not sure)",
                               at.empty() ? "" : " at " + at);
    if (!hosts.names.empty()) out += " on " + hosts.of(c.rank);
    out += ": " + c.why;
    if (c.call.group >= 0)
        out += sentence(" (", call_words(run.hang, *run.run.names, c.call), ", over ",
                        run.tier_name_of(c.call), ")");
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
    std::vector<std::pair<std::pair<bool, std::size_t>, std::size_t>> order;
    for (std::size_t i = 0; i < out.size(); ++i) order.emplace_back(later(out[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<WaitingCall> sorted;
    for (const auto& [_, i] : order) sorted.push_back(std::move(out[i]));
    return sorted;
}

std::string waiting_words(const HangRun& run, const WaitingCall& w) {
    return sentence(ranks_text(w.who, kMostRanks), w.who.size() == 1 ? " waits" : " wait", " for ",
                    ranks_text(w.whom, kMostRanks), " in ", call_words(run.hang, *run.run.names, w.call),
                    ", over ", run.tier_name_of(w.call));
}

}  // namespace pentamesh::runs
