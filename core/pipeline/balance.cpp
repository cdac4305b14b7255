#include "core/pipeline/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pentamesh {
namespace {

using Layers = std::vector<std::int64_t>;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kEqual = 1e-9;     // relative: times that differ by less are the same
constexpr double kMostSteps = 1e8;  // of an exact search, and of the moves

// Keeps running sums, so that a range costs the same for any length.
class Ranges {
  public:
    explicit Ranges(const StageLoad& load) : recomputed_(load.layers_recomputed) {
        own_.push_back(0), more_.push_back(0);
        for (std::size_t i = 0; i < load.layer.size(); ++i) {
            own_.push_back(own_.back() + load.layer[i]);
            more_.push_back(more_.back() + (i < load.recomputed.size() ? load.recomputed[i] : 0));
        }
    }
    [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(own_.size()) - 1; }
    [[nodiscard]] double of(std::int64_t begin, std::int64_t end) const {
        const std::int64_t last = std::min(end, begin + std::min(recomputed_, layers()));
        return own_[end] - own_[begin] + more_[last] - more_[begin];
    }

  private:
    std::int64_t recomputed_;
    std::vector<double> own_, more_;
};

std::size_t devices_of(const StageLoad& load) {
    int most = -1;
    for (const int d : load.device) most = std::max(most, d);
    return static_cast<std::size_t>(most + 1);
}

bool one_chunk_each(const StageLoad& load) {
    return devices_of(load) == load.chunk.size();
}
// Returns true if chunk k and the k-th from the end are the same device's, and no device has more.
bool in_mirror(const StageLoad& load) {
    const std::size_t n = load.chunk.size();
    if (n % 2 != 0 || devices_of(load) * 2 != n) return false;
    for (std::size_t k = 0; k < n; ++k)
        if (load.device[k] != load.device[n - 1 - k]) return false;
    return true;
}
bool all_alike(const StageLoad& load) {
    const auto same = [](const std::vector<double>& v) {
        return v.empty() || std::all_of(v.begin(), v.end(), [&](double x) { return x == v.front(); });
    };
    const bool whole = load.layers_recomputed <= 0 || load.recomputed.empty() || load.recomputed.front() == 0
                       || load.layers_recomputed >= static_cast<std::int64_t>(load.layer.size());
    return whole && same(load.layer) && same(load.recomputed);
}

// ---- one chunk a device -----------------------------------------------------------------------------------

// Minimises `all(before, own)` over the layers that the chunks before have, chunk by chunk, where a chunk may
// take `most` at the most. The latest of equal chunks takes more: it keeps fewer micro-batches in flight.
template <typename All>
Layers chain(const StageLoad& load, const Ranges& ranges, double most, All&& all) {
    const std::size_t n = load.chunk.size();
    const std::int64_t count = ranges.layers();
    const auto width = static_cast<std::size_t>(count) + 1;
    std::vector<double> before(width, kNever), now(width);
    std::vector<std::int32_t> from(n * width, -1);
    before[0] = 0;
    for (std::size_t c = 0; c < n; ++c) {
        std::fill(now.begin(), now.end(), kNever);
        for (std::int64_t end = 0; end <= count; ++end)
            for (std::int64_t begin = 0; begin <= end; ++begin) {
                if (before[begin] == kNever) continue;
                const double own = load.chunk[c] + ranges.of(begin, end);
                if (own > most * (1 + kEqual)) continue;
                const double sum = all(before[begin], own);
                if (sum >= now[end] * (1 - kEqual * 1e-3) && now[end] != kNever) continue;
                now[end] = sum;
                from[c * width + static_cast<std::size_t>(end)] = static_cast<std::int32_t>(begin);
            }
        before.swap(now);
    }
    Layers out(n);
    std::int64_t end = count;
    for (std::size_t c = n; c-- > 0;) {
        const std::int64_t begin = from[c * width + static_cast<std::size_t>(end)];
        out[c] = end - begin;
        end = begin;
    }
    return out;
}

double busiest(const StageLoad& load, const Layers& layers) {
    const std::vector<double> all = device_seconds(load, layers);
    return *std::max_element(all.begin(), all.end());
}

Layers balance_chain(const StageLoad& load, const Ranges& ranges) {
    const Layers least =
        chain(load, ranges, kNever, [](double before, double own) { return std::max(before, own); });
    return chain(load, ranges, busiest(load, least),
                 [](double before, double own) { return before + own * own; });
}

// ---- two chunks a device, in mirror -----------------------------------------------------------------------

// Says if each device can stay within `most`, and then with which layers. It goes from both ends inwards:
// among those that leave as many layers at the front, the one that took most from the end leaves the least to
// do.
class Mirror {
  public:
    Mirror(const StageLoad& load, const Ranges& ranges)
        : load_(load), ranges_(ranges), pairs_(load.chunk.size() / 2),
          width_(static_cast<std::size_t>(ranges.layers()) + 1), steps_(pairs_ * width_) {}

    bool fits(double most, Layers* out) {
        const std::int64_t count = ranges_.layers();
        std::vector<std::int64_t> taken(width_, -1), next(width_);
        taken[0] = 0;
        for (std::size_t k = 0; k < pairs_; ++k) {
            const double left = most - load_.chunk[k] - load_.chunk[load_.chunk.size() - 1 - k];
            if (left < 0) return false;
            std::fill(next.begin(), next.end(), -1);
            for (std::int64_t i = 0; i <= count; ++i)
                if (taken[i] >= 0) extend(k, i, taken[i], left, next);
            taken.swap(next);
        }
        for (std::int64_t i = 0; i <= count; ++i)
            if (taken[i] >= 0 && i + taken[i] >= count) {
                if (out != nullptr) trace(i, *out);
                return true;
            }
        return false;
    }

  private:
    struct Step {
        std::int64_t front = 0, back = 0, took = 0;  // before, and what the device took of the end
    };

    void extend(std::size_t k, std::int64_t front, std::int64_t back, double left,
                std::vector<std::int64_t>& next) {
        const std::int64_t end = ranges_.layers() - back;
        std::int64_t took = end - front;
        for (std::int64_t i = front; i <= end; ++i) {
            const double own = ranges_.of(front, i);
            if (own > left) break;
            took = std::min(took, end - i);
            while (took > 0 && own + ranges_.of(end - took, end) > left) --took;
            if (back + took <= next[i]) continue;
            next[i] = back + took;
            steps_[k * width_ + static_cast<std::size_t>(i)] = {front, back, took};
        }
    }
    void trace(std::int64_t front, Layers& out) const {
        out.assign(load_.chunk.size(), 0);
        for (std::size_t k = pairs_; k-- > 0;) {
            const Step& s = steps_[k * width_ + static_cast<std::size_t>(front)];
            out[k] = front - s.front;
            out[out.size() - 1 - k] = s.took;
            front = s.front;
        }
    }

    const StageLoad& load_;
    const Ranges& ranges_;
    std::size_t pairs_, width_;
    std::vector<Step> steps_;
};

Layers balance_mirror(const StageLoad& load, const Ranges& ranges) {
    Mirror mirror(load, ranges);
    double low = 0,
           high = std::accumulate(load.chunk.begin(), load.chunk.end(), 0.0) + ranges.of(0, ranges.layers());
    Layers out;
    mirror.fits(high * (1 + kEqual), &out);
    for (int i = 0; i < 200 && high - low > high * kEqual * 1e-3; ++i) {
        const double middle = (low + high) / 2;
        if (Layers found; mirror.fits(middle, &found))
            out = std::move(found), high = middle;
        else
            low = middle;
    }
    return out;
}

// ---- any number of chunks a device ------------------------------------------------------------------------

// Deals out layers that all take the mean time: one after the other to the device with the least to do.
Layers balance_alike(const StageLoad& load, const Ranges& ranges) {
    const std::int64_t count = ranges.layers();
    const double each = count > 0 ? ranges.of(0, count) / static_cast<double>(count) : 0;
    Layers out(load.chunk.size(), 0);
    std::vector<double> busy = device_seconds(load, out);
    for (std::int64_t i = 0; i < count; ++i) {
        // Among equally short devices, the one whose chunk comes last is taken.
        std::size_t to = 0;
        const auto better = [&](std::size_t a, std::size_t b) {
            const double x = busy[load.device[a]], y = busy[load.device[b]];
            if (std::abs(x - y) > kEqual * std::max(x, y)) return x < y;
            return load.device[a] == load.device[b] ? out[a] <= out[b] : true;
        };
        for (std::size_t c = 1; c < out.size(); ++c)
            if (better(c, to)) to = c;
        ++out[to];
        busy[load.device[to]] += each;
    }
    return out;
}

// Compares two lists: by the busiest device first, then by the sum of squares.
struct Score {
    double most = 0, squares = 0;
    [[nodiscard]] bool below(const Score& o) const {
        if (std::abs(most - o.most) > kEqual * o.most) return most < o.most;
        return squares < o.squares * (1 - kEqual);
    }
};
Score score_of(const StageLoad& load, const Layers& layers) {
    Score s;
    for (const double x : device_seconds(load, layers)) s.most = std::max(s.most, x), s.squares += x * x;
    return s;
}

// Moves a layer over a border, or from any chunk to any other through those between, while that helps.
void move_layers(const StageLoad& load, Layers& layers) {
    Score best = score_of(load, layers);
    const bool many = layers.size() > 128;  // then only neighbours
    const auto size = static_cast<double>(layers.size() + load.layer.size());
    double steps = 0;
    for (bool moved = true; moved && steps < kMostSteps;) {
        moved = false;
        for (std::size_t from = 0; from < layers.size(); ++from)
            for (std::size_t to = 0; to < layers.size(); ++to) {
                if (from == to || layers[from] < 1) continue;
                if (many && from + 1 != to && to + 1 != from) continue;
                --layers[from], ++layers[to];
                const Score s = score_of(load, layers);
                steps += size;
                if (s.below(best))
                    best = s, moved = true;
                else
                    ++layers[from], --layers[to];
            }
    }
}

Layers even_split(std::size_t chunks, std::int64_t count) {
    Layers out;
    const auto n = static_cast<std::int64_t>(chunks);
    for (std::int64_t c = 0; c < n; ++c) out.push_back(count * (c + 1) / n - count * c / n);
    return out;
}

}  // namespace

double chunk_seconds(const StageLoad& load, std::size_t chunk, std::int64_t begin, std::int64_t end) {
    double sum = load.chunk[chunk];
    const std::int64_t first = std::max<std::int64_t>(begin, 0),
                       last = std::min(end, static_cast<std::int64_t>(load.layer.size()));
    for (std::int64_t i = first; i < last; ++i) {
        sum += load.layer[i];
        if (i - begin < load.layers_recomputed && static_cast<std::size_t>(i) < load.recomputed.size())
            sum += load.recomputed[i];
    }
    return sum;
}

std::vector<double> device_seconds(const StageLoad& load, const std::vector<std::int64_t>& layers) {
    std::vector<double> busy(devices_of(load), 0);
    std::int64_t begin = 0;
    for (std::size_t c = 0; c < layers.size(); ++c) {
        busy[load.device[c]] += chunk_seconds(load, c, begin, begin + layers[c]);
        begin += layers[c];
    }
    return busy;
}

std::vector<std::int64_t> with_chunk(std::vector<std::int64_t> layers, std::size_t chunk,
                                     std::int64_t count) {
    std::vector<std::size_t> others;
    for (std::size_t c = chunk + 1; c < layers.size(); ++c) others.push_back(c);
    for (std::size_t c = chunk; c-- > 0;) others.push_back(c);
    std::int64_t wanted = std::max<std::int64_t>(count, 0) - layers[chunk];
    for (const std::size_t c : others) {
        const std::int64_t given = std::min(wanted, layers[c]);  // negative: it takes them all
        layers[c] -= given, layers[chunk] += given;
        wanted -= given;
    }
    return layers;
}

std::vector<std::int64_t> balance(const StageLoad& load) {
    if (load.chunk.empty()) return {};
    const Ranges ranges(load);
    const auto n = static_cast<double>(load.chunk.size()), count = static_cast<double>(ranges.layers());
    if (n * count > kMostSteps) return even_split(load.chunk.size(), ranges.layers());
    const bool small = n * count * count <= kMostSteps;
    if (small && one_chunk_each(load)) return balance_chain(load, ranges);
    if (all_alike(load)) return balance_alike(load, ranges);
    Layers out = small && in_mirror(load) ? balance_mirror(load, ranges) : balance_alike(load, ranges);
    move_layers(load, out);
    if (small && in_mirror(load)) return out;
    Layers even = even_split(load.chunk.size(), ranges.layers());
    move_layers(load, even);
    return score_of(load, even).below(score_of(load, out)) ? even : out;
}

}  // namespace pentamesh
