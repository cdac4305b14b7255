#include "core/mesh/places.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/model_fields.h"
#include "core/plan/stand_in.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace pentamesh {

std::string_view domain_name(const Cluster& cluster) {
    constexpr std::int64_t kLargestNode = 16;
    if (!is_known(cluster)) return "block";
    return !cluster.tiers.empty() && domain_of(cluster, 0) > kLargestNode ? "rack" : "node";
}

std::string_view tier_name(const Cluster& cluster, int tier) {
    const auto i = static_cast<std::size_t>(tier);
    return tier >= 0 && i < cluster.tiers.size() ? std::string_view(cluster.tiers[i].name) : "the network";
}

std::string place_of(const Cluster& cluster, std::int64_t rank) {
    const std::int64_t domain = cluster.tiers.empty() ? 1 : std::max<std::int64_t>(1, domain_of(cluster, 0));
    std::string s;
    if (cluster.tiers.size() > 2)
        s = "pod " + with_commas(rank / std::max<std::int64_t>(1, domain_of(cluster, 1))) + ", ";
    return s + std::string(domain_name(cluster)) + " " + with_commas(rank / domain) + ", GPU "
           + std::to_string(rank % domain);
}

double bytes_per_s_of(const Tier& tier) {
    return tier.bytes_per_s / std::max(1.0, tier.oversubscription);
}

std::string tier_label(const Cluster& cluster, int tier) {
    if (tier < 0 || static_cast<std::size_t>(tier) >= cluster.tiers.size()) return "";
    const Tier& t = cluster.tiers[static_cast<std::size_t>(tier)];
    return t.oversubscription > 1 ? t.name + " 1:" + three_digits(t.oversubscription) : t.name;
}

namespace {

constexpr std::size_t kMostHosts = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\n";

[[noreturn]] void refuse_list(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

std::optional<std::int64_t> number_in(std::string_view text) {
    const auto n = parse_whole(text);
    return n && *n >= 0 ? n : std::nullopt;
}

// Returns both ends of "3-7", twice the number of "3".
std::optional<std::pair<std::int64_t, std::int64_t>> range_in(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = number_in(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return std::pair{*first, *last};
}

// Adds "01-04" as 01 02 03 04: as wide as the first is written.
void add_range(std::vector<std::string>& out, std::string_view text) {
    const auto range = range_in(text);
    if (!range) refuse_list("\"" + std::string(text) + "\" in brackets is no number and no range of numbers");
    if (range->second < range->first) refuse_list("the range " + std::string(text) + " falls");
    const std::size_t width = std::min(text.find('-'), text.size());
    if (static_cast<std::size_t>(range->second - range->first) >= kMostHosts)
        refuse_list("more than a million hosts");
    for (std::int64_t n = range->first; n <= range->second; ++n) {
        std::string digits = std::to_string(n);
        if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
        out.push_back(std::move(digits));
    }
}

// Returns the names for one element of the list.
std::vector<std::string> expand_name(std::string_view name) {
    std::vector<std::string> made{""};
    while (!name.empty()) {
        const std::size_t open = std::min(name.find('['), name.size());
        for (std::string& m : made) m += name.substr(0, open);
        if (open == name.size()) break;
        const std::size_t close = name.find(']', open);
        if (close == std::string_view::npos) refuse_list("a bracket does not close in " + std::string(name));
        std::vector<std::string> parts;
        std::string_view inside = name.substr(open + 1, close - open - 1);
        for (std::size_t comma = 0; comma != std::string_view::npos;) {
            comma = inside.find(',');
            add_range(parts, inside.substr(0, comma));
            if (comma != std::string_view::npos) inside.remove_prefix(comma + 1);
        }
        if (made.size() * parts.size() > kMostHosts) refuse_list("more than a million hosts");
        std::vector<std::string> next;
        for (const std::string& m : made)
            for (const std::string& p : parts) next.push_back(m + p);
        made = std::move(next);
        name.remove_prefix(close + 1);
    }
    return made;
}

}  // namespace

std::vector<std::int64_t> parse_rank_list(std::string_view text, std::int64_t world) {
    std::vector<std::int64_t> out;
    for (const std::string_view word : split_words(text, " \t\r\n,;")) {
        const auto range = range_in(word);
        if (!range || range->second < range->first)
            refuse_list("\"" + std::string(word.substr(0, 40))
                        + "\" is no rank and no range of ranks; write 0-7, 12, 99");
        if (range->second >= world)
            refuse_list("there is no rank " + std::to_string(range->second) + ": the plan has ranks 0 to "
                        + std::to_string(world - 1));
        if (static_cast<std::int64_t>(out.size()) + range->second - range->first > 4 * world)
            refuse_list("ranks stand in the list many times");
        for (std::int64_t r = range->first; r <= range->second; ++r) out.push_back(r);
    }
    if (out.empty()) refuse_list("no rank is given; write 0-7, 12, 99");
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string ranks_text(const std::vector<std::int64_t>& ranks, std::size_t most) {
    std::string text;
    std::size_t parts = 0;
    for (std::size_t i = 0; i < ranks.size(); ++parts) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (parts == most)
            return text + ", … (" + with_commas(static_cast<std::int64_t>(ranks.size())) + " ranks)";
        if (!text.empty()) text += ", ";
        text += std::to_string(ranks[i]);
        if (end == i + 2) end = i + 1;  // two neighbours stand apart
        if (end > i + 1) text += "-" + std::to_string(ranks[end - 1]);
        i = end;
    }
    return text;
}

std::vector<std::string> expand_hosts(std::string_view list) {
    std::vector<std::string> out;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        const char c = i < list.size() ? list[i] : ',';
        if (c == '[') ++depth;
        if (c == ']' && --depth < 0) refuse_list("a bracket closes that was not open");
        const bool ends =
            i == list.size() || kBlanks.find(c) != std::string_view::npos || (c == ',' && depth == 0);
        if (!ends) continue;
        if (i > begin) {
            auto names = expand_name(list.substr(begin, i - begin));
            if (out.size() + names.size() > kMostHosts) refuse_list("more than a million hosts");
            out.insert(out.end(), std::make_move_iterator(names.begin()),
                       std::make_move_iterator(names.end()));
        }
        begin = i + 1;
    }
    if (depth > 0) refuse_list("a bracket does not close");
    if (out.empty()) refuse_list("the list names no host");
    return out;
}

Hosts hosts_of(std::string_view list, std::int64_t world, std::int64_t domain) {
    Hosts hosts{expand_hosts(list), 1};
    const auto n = static_cast<std::int64_t>(hosts.names.size());
    hosts.gpus_each = world / n;
    const bool whole = world % n == 0 && (domain % hosts.gpus_each == 0 || n == 1);
    if (!whole)
        refuse_list(sentence("the list names ", count_text(n, "host"), ", the plan has ", world,
                             " ranks on nodes of ", domain, ": as many GPUs on each host as fill its nodes, ",
                             "that is ", (world + domain - 1) / domain, " hosts"));
    return hosts;
}

std::string hosts_text(const Hosts& hosts, const std::vector<std::int64_t>& ranks, std::size_t most) {
    std::string text;
    std::size_t named = 0;
    std::int64_t last = -1, count = 0;
    for (const std::int64_t r : ranks) {
        if (r / hosts.gpus_each == last) continue;
        last = r / hosts.gpus_each;
        ++count;
        if (named == most) continue;
        ++named;
        text += (text.empty() ? "" : ", ") + hosts.of(r);
    }
    return count > static_cast<std::int64_t>(named) ? text + ", … (" + with_commas(count) + " hosts)" : text;
}

namespace {

std::int64_t size_of(const Mesh& mesh, Axis a) {
    return mesh.dense[a].size;
}

// Returns the name of data parallelism by itself. `shard` and `replicate` are its two factors. ZeRO also cuts
// over the ranks of context parallelism (Megatron-LM's distributed optimizer, torchtitan's fsdp mesh).
LayoutName data_parallel_name(int zero, std::int64_t shard, std::int64_t replicate, std::int64_t cp) {
    const std::int64_t dp = shard * replicate;
    const std::string over =
        cp > 1 ? sentence(shard * cp, " GPUs (dp ", shard, " × cp ", cp, ")") : sentence(shard, " GPUs");
    if (zero == 0 || shard * cp == 1)
        return {"DDP", sentence("each of ", dp, " replicas holds everything; gradients are all-reduced.")};
    if (zero == 3 && replicate > 1)
        return {"HSDP", sentence("parameters are sharded over ", over, cp > 1 ? "" : " (dp_shard)",
                                 " and each shard is kept ", replicate,
                                 " times (dp_replicate): gathers stay in the small group, only gradients "
                                 "of a shard cross.")};
    if (zero == 3)
        return {"FSDP", sentence("parameters, gradients and optimizer state are sharded over ", over,
                                 " and gathered layer by layer (ZeRO-3).")};
    const std::string_view what = zero == 1 ? "optimizer state is" : "optimizer state and gradients are";
    std::string reason = sentence(what, " sharded over ", over);
    if (replicate > 1) reason += sentence(", and that ", replicate, " times");
    return {sentence("ZeRO-", zero), reason + "."};
}

void append_axis(std::string& text, int& count, std::string_view name, std::int64_t size) {
    if (size <= 1) return;
    text += sentence(text.empty() ? "" : " × ", name, " ", size);
    ++count;
}

std::string folding_reason(const Mesh& mesh) {
    const auto expert = [&](Axis a) { return mesh.expert[a].size; };
    return sentence(" The experts re-fold the same ", mesh.world, " GPUs as etp ", expert(Axis::tp), " × ep ",
                    expert(Axis::ep), " × edp ", expert(Axis::dp_shard) * expert(Axis::dp_replicate),
                    " × pp ", expert(Axis::pp), ": ep multiplies nothing.");
}

}  // namespace

LayoutName layout_name(const Plan& plan, const Mesh& mesh) {
    const std::int64_t shard = size_of(mesh, Axis::dp_shard), replicate = size_of(mesh, Axis::dp_replicate);
    const bool experts = mesh.has_experts && mesh.expert[Axis::ep].size > 1;
    std::string product;
    int axes = 0;
    append_axis(product, axes, "tp", size_of(mesh, Axis::tp));
    append_axis(product, axes, "cp", size_of(mesh, Axis::cp));
    append_axis(product, axes, "pp", size_of(mesh, Axis::pp));
    const int model_axes = axes;
    append_axis(product, axes, "dp", shard * replicate);

    LayoutName out;
    if (axes == 0)
        out = {"one GPU", "nothing is cut and nobody is spoken to."};
    else if (model_axes == 0)
        out = data_parallel_name(plan.layout.zero, shard, replicate, 1);
    else if (axes == 1 && !experts)
        out = {sentence(size_of(mesh, Axis::tp) > 1   ? "tensor"
                        : size_of(mesh, Axis::cp) > 1 ? "context"
                                                      : "pipeline",
                        " parallelism only"),
               sentence(product, " is the only axis.")};
    else {
        const int dimensions = axes + (experts ? 1 : 0);
        out = {sentence(dimensions, "D parallelism"),
               sentence(product, experts ? ", and experts by ep" : "", ".")};
        if (shard * replicate > 1) {
            const LayoutName dp =
                data_parallel_name(plan.layout.zero, shard, replicate, size_of(mesh, Axis::cp));
            out.name += " with " + dp.name;
            out.reason += sentence(" ", dp.name, ": ", dp.reason);
        }
    }
    if (!experts) return out;
    out.name += model_axes == 0 ? " with folded experts" : ", experts folded";
    out.reason += folding_reason(mesh);
    return out;
}

namespace {

// Every chip has a link each way in each dimension.
double link_rate(const TorusWays& w, double chip_rate) {
    return chip_rate / (2 * w.count);
}

// Returns the seconds in which `bytes` are gathered dimension by dimension, from the given one on.
double one_after_another(const TorusWays& w, double bytes, double link, int from) {
    double time = 0, inside = 1;
    for (int i = 0; i < w.count; ++i) {
        const TorusWay& d = w.way[static_cast<std::size_t>((from + i) % w.count)];
        time += (d.ways - 1) / d.ways * bytes / inside / d.rate(link);
        inside *= d.ways;
    }
    return time;
}

// The buffer is cut into a part for each dimension that the group uses, and each part begins in another
// dimension: all links work at once, and a turn ends when its slowest dimension is done.
double all_at_once(const TorusWays& w, double bytes, double link) {
    std::array<TorusWay, kMaxTorusSizes> used{};
    std::size_t n = 0;
    for (int i = 0; i < w.count; ++i)
        if (w.way[static_cast<std::size_t>(i)].ways > 1) used[n++] = w.way[static_cast<std::size_t>(i)];
    double time = 0;
    std::array<double, kMaxTorusSizes> inside{1, 1, 1};
    for (std::size_t turn = 0; turn < n; ++turn) {
        double slowest = 0;
        for (std::size_t part = 0; part < n; ++part) {
            const TorusWay& d = used[(part + turn) % n];
            slowest = std::max(slowest, (d.ways - 1) / d.ways * bytes / static_cast<double>(n) / inside[part]
                                            / d.rate(link));
            inside[part] *= d.ways;
        }
        time += slowest;
    }
    return time;
}

double farthest_hops(const TorusWay& d) {
    const bool ring = d.rate(1) * d.hops > 1;
    return (ring ? std::floor(d.ways / 2) : d.ways - 1) * d.hops;
}

}  // namespace

std::optional<TorusSizes> torus_sizes(std::string_view text) {
    TorusSizes out;
    for (const std::string_view word : split(text, 'x')) {
        const std::optional<std::int64_t> size = parse_whole(word);
        if (!size || *size < 1 || *size > kMostDegree || out.count == static_cast<int>(kMaxTorusSizes))
            return std::nullopt;
        out.size[static_cast<std::size_t>(out.count++)] = *size;
    }
    return out;
}

TorusWays torus_ways(std::string_view torus, std::span<const Factor> group) {
    TorusWays out;
    if (torus.empty()) return out;
    const std::optional<TorusSizes> sizes = torus_sizes(torus);
    if (!sizes) return out;
    out.count = sizes->count;
    double inner = 1;  // ranks from one chip of this dimension to the next
    for (int i = 0; i < sizes->count; ++i) {
        TorusWay& d = out.way[static_cast<std::size_t>(i)];
        d.size = static_cast<double>(sizes->size[static_cast<std::size_t>(i)]);
        for (const Factor& f : group) {
            const double from = std::max(static_cast<double>(f.stride), inner);
            const double to = std::min(static_cast<double>(f.stride * f.size), inner * d.size);
            if (to <= from) continue;
            d.hops = std::max(d.hops, from / inner / d.ways);
            d.ways *= to / from;
        }
        inner *= d.size;
    }
    return out;
}

TorusWays inner_ways(const TorusWays& ways, double inner) {
    TorusWays out = ways;
    for (TorusWay& d : out.way) {
        d.ways = std::min(d.ways, std::max(inner, 1.0));
        inner /= d.ways;
    }
    return out;
}

TorusWays outer_ways(const TorusWays& ways, double inner) {
    TorusWays out = ways;
    for (TorusWay& d : out.way) {
        const double left_out = std::min(d.ways, std::max(inner, 1.0));
        d.ways /= left_out, d.hops *= left_out, inner /= left_out;
    }
    return out;
}

double torus_gather_s(const TorusWays& w, double bytes, double chip_rate, double latency_s) {
    const double link = link_rate(w, chip_rate);
    double time = all_at_once(w, bytes, link), latency = 0;
    for (int i = 0; i < w.count; ++i) {
        time = std::min(time, one_after_another(w, bytes, link, i));
        latency += farthest_hops(w.way[static_cast<std::size_t>(i)]) * latency_s;
    }
    return latency + time;
}

// Around a ring of n chips bytes go n / 4 links far on average, and both directions share them; over the
// middle of a line goes a quarter of all n chips' bytes. Each dimension carries all of a chip's bytes.
double torus_exchange_s(const TorusWays& w, double bytes, double chip_rate) {
    double time = 0;
    for (int i = 0; i < w.count; ++i) {
        const TorusWay& d = w.way[static_cast<std::size_t>(i)];
        if (d.ways > 1) time = std::max(time, bytes * d.ways / 4 / d.rate(link_rate(w, chip_rate)));
    }
    return time;
}

double torus_send_s(const TorusWays& w, double bytes, double chip_rate, double latency_s) {
    double hops = 0;
    for (int i = 0; i < w.count; ++i)
        if (w.way[static_cast<std::size_t>(i)].ways > 1)
            hops = std::max(hops, w.way[static_cast<std::size_t>(i)].hops);
    return hops * (latency_s + bytes / link_rate(w, chip_rate));
}

namespace {

// Counts distinct groups of a kind with a rank in [begin, end).
std::int64_t groups_touched(const Mesh& mesh, GroupKind kind, std::int64_t begin, std::int64_t end,
                            std::vector<std::int64_t>& scratch) {
    scratch.clear();
    for (std::int64_t r = begin; r < end; ++r) scratch.push_back(group_index(mesh, kind, r));
    std::sort(scratch.begin(), scratch.end());
    return std::unique(scratch.begin(), scratch.end()) - scratch.begin();
}

// Returns true if each lost rank has a survivor that holds the same shards.
bool copies_survive(const Plan& plan, const Mesh& mesh, std::int64_t begin, std::int64_t end) {
    const GroupKind copies = plan.layout.zero == 0 ? GroupKind::dp : GroupKind::dp_replicate;
    const GroupFactors f = group_factors(mesh, copies);
    for (std::int64_t r = begin; r < end; ++r) {
        // The first or the last member of its group is outside unless all members are inside: they ascend.
        const std::int64_t first = first_rank_of_group(mesh, copies, r);
        std::int64_t last = first;
        for (const Factor& x : f.span()) last += (x.size - 1) * x.stride;
        if (first >= begin && last < end) return false;
    }
    return true;
}

}  // namespace

std::int64_t node_size(const Mesh& mesh, const Cluster& cluster) {
    const std::int64_t domain = cluster.tiers.empty() ? 1 : domain_of(cluster, 0);
    return std::clamp<std::int64_t>(domain, 1, std::max<std::int64_t>(mesh.world, 1));
}

Failure lose_node(const Plan& plan, const Mesh& mesh, std::int64_t node) {
    Failure f;
    const std::int64_t size = node_size(mesh, plan.cluster);
    if (node < 0 || node >= (mesh.world + size - 1) / size) return f;
    const std::int64_t begin = node * size, end = std::min(mesh.world, begin + size);
    f.first_rank = begin;
    f.lost = end - begin;
    std::vector<std::int64_t> scratch;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (is_expert(kind) && !mesh.has_experts) continue;
        std::int64_t degree = 1;
        const GroupFactors factors = group_factors(mesh, kind);
        for (const Factor& x : factors.span()) degree *= x.size;
        if (degree == 1) continue;
        const std::int64_t hit = groups_touched(mesh, kind, begin, end, scratch);
        f.axes.push_back({kind, hit, mesh.world / degree, hit * degree - f.lost});
    }
    f.waiting = mesh.world - f.lost;
    // A replica is a data-parallel coordinate: its ranks share everything but tp, cp and pp.
    std::int64_t dp = 1;
    const GroupFactors replicas = group_factors(mesh, GroupKind::dp);
    for (const Factor& x : replicas.span()) dp *= x.size;
    f.replicas = dp;
    scratch.clear();
    for (std::int64_t r = begin; r < end; ++r) {
        const Coordinates c = dense_coordinates(mesh, r);
        scratch.push_back(c[Axis::dp_replicate] * mesh.dense[Axis::dp_shard].size + c[Axis::dp_shard]);
    }
    std::sort(scratch.begin(), scratch.end());
    f.replicas_hit = std::unique(scratch.begin(), scratch.end()) - scratch.begin();
    f.state_survives = copies_survive(plan, mesh, begin, end);
    return f;
}

}  // namespace pentamesh
