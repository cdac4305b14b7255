// Keeps the layouts that are worth it while a search runs: the best by its goal, and those that no other
// beats in both time and memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pentamesh {

// This is a layout that fits. `index` is its place in the space, which decides between equals, so that a
// search gives the same answer in any order in which its threads find things.
struct FitLayout {
    double time_s = 0, memory = 0;
    std::uint64_t index = 0;
    std::int64_t alike = 0;  // how many other layouts take the same time and memory, to the last digit
};

// For each point no other one is at least as good in both and better in one; of equal points only the first
// is kept.
class Front {
  public:
    // Returns true if some point is strictly faster than `time_s` on no more than `memory`.
    [[nodiscard]] bool beats(double time_s, double memory) const {
        const auto after = first_above(memory);
        return after != points_.begin() && (after - 1)->time_s < time_s;
    }
    // Returns false if the point is beaten.
    bool add(const FitLayout& x) {
        auto after = first_above(x.memory);
        if (after != points_.begin()) {
            const FitLayout& at = *(after - 1);
            if (at.time_s < x.time_s) return false;
            if (at.time_s == x.time_s && (at.memory < x.memory || at.index < x.index)) return false;
        }
        auto from = after;  // of equal memory there is at most one, just before
        if (from != points_.begin() && (from - 1)->memory == x.memory) --from;
        auto to = after;
        while (to != points_.end() && to->time_s >= x.time_s) ++to;
        from = points_.erase(from, to);
        points_.insert(from, x);
        return true;
    }
    // Returns points in ascending memory, descending time.
    [[nodiscard]] const std::vector<FitLayout>& points() const { return points_; }

  private:
    [[nodiscard]] std::vector<FitLayout>::const_iterator first_above(double memory) const {
        return std::upper_bound(points_.begin(), points_.end(), memory,
                                [](double m, const FitLayout& p) { return m < p.memory; });
    }
    std::vector<FitLayout> points_;
};

// Keeps the best few by time, then memory, or the other way round. Of layouts with the same two figures the
// first of the space stands for all, and counts the others: no bound skips one of them, as none takes more
// than the last that is kept.
class Best {
  public:
    Best(std::size_t count, bool by_memory)
        : count_(std::max<std::size_t>(count, 1)), by_memory_(by_memory) {}
    // Returns true if a layout of at least this time and memory may still be among them.
    [[nodiscard]] bool may_take(double time_s, double memory) const {
        if (points_.size() < count_) return true;
        return by_memory_ ? memory <= points_.back().memory : time_s <= points_.back().time_s;
    }
    void add(const FitLayout& x) {
        const auto before = [this](const FitLayout& a, const FitLayout& b) { return less(a, b); };
        const auto at = std::lower_bound(points_.begin(), points_.end(), x, before);
        if (at != points_.end() && at->time_s == x.time_s && at->memory == x.memory) {
            at->alike += 1;
            at->index = std::min(at->index, x.index);
            return;
        }
        if (static_cast<std::size_t>(at - points_.begin()) >= count_) return;
        points_.insert(at, x);
        if (points_.size() > count_) points_.pop_back();
    }
    [[nodiscard]] bool less(const FitLayout& a, const FitLayout& b) const {
        const double a1 = by_memory_ ? a.memory : a.time_s, b1 = by_memory_ ? b.memory : b.time_s;
        const double a2 = by_memory_ ? a.time_s : a.memory, b2 = by_memory_ ? b.time_s : b.memory;
        if (a1 != b1) return a1 < b1;
        return a2 < b2;
    }
    [[nodiscard]] const std::vector<FitLayout>& points() const { return points_; }

  private:
    std::size_t count_;
    bool by_memory_;
    std::vector<FitLayout> points_;
};

}  // namespace pentamesh
