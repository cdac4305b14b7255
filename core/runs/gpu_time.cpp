#include "core/runs/gpu_time.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <set>
#include <utility>

namespace pentamesh::runs {
namespace {

// Joins intervals that overlap, in order of their begin.
void join_overlapping(std::vector<std::pair<double, double>>& of) {
    std::sort(of.begin(), of.end());
    std::size_t kept = 0;
    for (const auto& next : of) {
        if (kept > 0 && next.first <= of[kept - 1].second)
            of[kept - 1].second = std::max(of[kept - 1].second, next.second);
        else
            of[kept++] = next;
    }
    of.resize(kept);
}

// Holds what runs at an instant, and adds up the time of each part.
class Sweep {
  public:
    explicit Sweep(const std::vector<RunPart>& part) : part_(part) {}

    void begin(const GpuEvent& e, std::size_t number) {
        to(e.begin_us);
        const RunPart p = part_of(e);
        ++running_[p];
        if (e.work == GpuWork::communication) first_.emplace(number, p);
        ends_.push({e.begin_us + e.length_us, number, p, e.work == GpuWork::communication});
    }
    void finish() { to(std::numeric_limits<double>::infinity()); }

    // Notes in which part each of many short times of a step lies.
    void watch(double begin_us, double end_us) {
        begin_us_ = begin_us, bin_us_ = (end_us - begin_us) / kBins;
        bins_.assign(kBins, {});
    }
    // Returns the part that fills most of each short time; those of one part in a row are one.
    [[nodiscard]] std::vector<PartSpan> spans() const;

    EnumArray<RunPart, double> own_us{}, total_us{};

  private:
    struct End {
        double at;
        std::size_t number;
        RunPart part;
        bool communicates;
        bool operator>(const End& o) const { return at > o.at; }
    };
    [[nodiscard]] RunPart part_of(const GpuEvent& e) const {
        switch (e.work) {
        case GpuWork::compute: return RunPart::compute;
        case GpuWork::optimizer: return RunPart::optimizer;
        case GpuWork::copy: return RunPart::memory;
        case GpuWork::communication: break;
        }
        return part_[static_cast<std::size_t>(e.calls)];
    }
    void to(double time) {
        while (!ends_.empty() && ends_.top().at <= time) {
            const End end = ends_.top();
            count_until(end.at);
            ends_.pop();
            --running_[end.part];
            if (end.communicates) first_.erase(std::pair(end.number, end.part));
        }
        if (!ends_.empty()) count_until(time);
        now_ = time;
    }
    void count_until(double time) {
        const double length = time - now_;
        now_ = time;
        if (!(length > 0)) return;
        for (const RunPart p : all_of<RunPart>())
            if (running_[p] > 0) total_us[p] += length;
        if (running_[RunPart::compute] > 0)
            own(RunPart::compute, length);
        else if (running_[RunPart::optimizer] > 0)
            own(RunPart::optimizer, length);
        else if (!first_.empty())
            own(first_.begin()->second, length);
        else if (running_[RunPart::memory] > 0)
            own(RunPart::memory, length);
    }
    // Counts a time that ends now for a part.
    void own(RunPart part, double length) {
        own_us[part] += length;
        if (bins_.empty()) return;
        const double end = (now_ - begin_us_) / bin_us_, begin = std::max(0.0, end - length / bin_us_);
        for (double at = begin; at < std::min(end, static_cast<double>(kBins));) {
            const double next = std::min(end, std::floor(at) + 1);
            bins_[static_cast<std::size_t>(at)][part] += static_cast<float>(next - at);
            at = next;
        }
    }

    static constexpr int kBins = 65536;
    const std::vector<RunPart>& part_;
    double now_ = 0, begin_us_ = 0, bin_us_ = 1;
    std::vector<EnumArray<RunPart, float>> bins_;  // the share of each that a part fills
    EnumArray<RunPart, int> running_{};
    std::set<std::pair<std::size_t, RunPart>> first_;  // communication that runs, in the order of its begin
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

std::vector<PartSpan> Sweep::spans() const {
    std::vector<PartSpan> out;
    const double bin_s = bin_us_ / 1e6;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        const EnumArray<RunPart, float>& bin = bins_[i];
        float filled = 0;
        RunPart most = RunPart::idle;
        for (const RunPart p : all_of<RunPart>()) {
            filled += bin[p];
            if (bin[p] > bin[most]) most = p;
        }
        if (most == RunPart::idle || bin[most] < 1 - filled) continue;
        const double begin = static_cast<double>(i) * bin_s;
        if (!out.empty() && out.back().part == most && out.back().end_s >= begin - bin_s / 2)
            out.back().end_s = begin + bin_s;
        else
            out.push_back({begin, begin + bin_s, most});
    }
    return out;
}

}  // namespace

// A kernel is the optimizer's if its middle lies in one of its annotations.
void GpuTime::find_optimizer() {
    join_overlapping(optimizer_);
    for (GpuEvent& e : events_) {
        if (e.work != GpuWork::compute) continue;
        const double middle = e.begin_us + e.length_us / 2;
        const auto after =
            std::ranges::upper_bound(optimizer_, middle, {}, &std::pair<double, double>::first);
        if (after != optimizer_.begin() && middle <= std::prev(after)->second) e.work = GpuWork::optimizer;
    }
}

void GpuTime::find_step(RunFile& out) const {
    double begin = events_.front().begin_us, end = begin, outside = 0, all = 0;
    std::vector<std::pair<double, double>> marks = marks_;
    join_overlapping(marks);
    for (const GpuEvent& e : events_) {
        end = std::max(end, e.begin_us + e.length_us);
        all += e.length_us;
        const auto after = std::ranges::upper_bound(marks, e.begin_us, {}, &std::pair<double, double>::first);
        if (after == marks.begin() || e.begin_us > std::prev(after)->second) outside += e.length_us;
    }
    out.steps = std::max<std::size_t>(1, marks_.size());
    out.step_s = (end - begin) / 1e6;
    if (marks_.empty()) {
        out.warnings.emplace_back("It has no marks of steps (ProfilerStep): all of it counts as one step.");
        return;
    }
    double sum = 0;
    for (const auto& [from, to] : marks_) sum += to - from;
    out.step_s = sum / 1e6 / static_cast<double>(marks_.size());
    constexpr double kMostOutside = 0.05;
    if (outside > kMostOutside * all)
        out.warnings.push_back(
            sentence(percent_text(outside / all),
                     " of the GPU's work begins outside of the marks of steps; it counts too."));
}

void GpuTime::split(const std::vector<RunPart>& part, RunFile& out) {
    find_optimizer();
    std::sort(events_.begin(), events_.end(),
              [](const GpuEvent& a, const GpuEvent& b) { return a.begin_us < b.begin_us; });
    Sweep sweep(part);
    if (const auto mark = std::min_element(marks_.begin(), marks_.end());
        mark != marks_.end() && mark->second > mark->first)
        sweep.watch(mark->first, mark->second);
    else if (marks_.empty() && events_.back().begin_us > events_.front().begin_us)
        sweep.watch(events_.front().begin_us, events_.back().begin_us + events_.back().length_us);
    std::size_t number = 0;
    for (const GpuEvent& e : events_) {
        sweep.begin(e, number++);
        if (e.calls >= 0)
            out.calls[static_cast<std::size_t>(e.calls)].seconds.push_back(
                static_cast<float>(e.length_us / 1e6));
    }
    sweep.finish();
    out.spans = sweep.spans();
    find_step(out);
    const double steps_us = 1e6 * static_cast<double>(out.steps);
    double busy = 0;
    for (const RunPart p : all_of<RunPart>()) {
        const bool always = p == RunPart::compute || p == RunPart::optimizer || p == RunPart::memory;
        if (!always && !(sweep.total_us[p] > 0)) continue;
        out.parts[p] = PartTime{sweep.own_us[p] / steps_us, sweep.total_us[p] / steps_us};
        busy += sweep.own_us[p] / steps_us;
    }
    const double idle = std::max(out.step_s - busy, 0.0);
    out.parts[RunPart::idle] = PartTime{idle, idle};
    if (busy > out.step_s)
        out.warnings.emplace_back(
            "The GPU's work takes longer than the marks of steps: the parts do not add up to the step.");
}

}  // namespace pentamesh::runs
