#include "core/mesh/torus.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/plan/field_words.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
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

}  // namespace pentamesh
