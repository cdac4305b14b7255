// Reads logs of Megatron, with or without timers, and of torchtitan.
#include "core/base/characters.h"
#include "core/base/number.h"
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/runs/gzip.h"
#include "core/runs/run_file.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostSteps = 10'000'000;
constexpr double kMostFigure = 1e12;  // milliseconds or tokens a second

// Removes colours of a terminal, which torchtitan writes into its log.
std::string without_colours(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            const std::size_t end = text.find_first_not_of("0123456789;", i + 2);
            if (end == std::string_view::npos) break;
            i = end;
        } else {
            out += text[i];
        }
    }
    return out;
}

// Returns the largest figure in a text such as "(12.10, 14.20)" or "7,212"; 0 without one.
double largest_figure(std::string_view text) {
    double largest = 0;
    const bool two = text.find('(') != std::string_view::npos;  // the comma then stands between two
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
        const std::size_t end =
            std::min(text.find_first_not_of(two ? "0123456789.eE+-" : "0123456789.,eE+-", at), text.size());
        std::string digits(text.substr(at, end - at));
        std::erase(digits, ',');
        if (const auto x = parse_double(digits); x && *x <= kMostFigure) largest = std::max(largest, *x);
        at = end;
    }
    return largest;
}

// Returns the figure that follows a word in a line; 0 without one.
double figure_behind(std::string_view line, std::string_view word) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) return 0;
    line.remove_prefix(at + word.size());
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find_first_not_of("0123456789.,eE+-", begin), line.size());
    return largest_figure(line.substr(begin, end - begin));
}

double middle_of(std::vector<double> steps) {
    constexpr std::size_t kWarm = 2;  // they compile, allocate and connect
    if (steps.size() > kWarm) steps.erase(steps.begin(), steps.begin() + kWarm);
    return median(std::move(steps));
}

// Megatron's timers that are read (megatron/core/timers.py, training.py); sums over the micro-batches.
enum class Timer : std::uint8_t {
    forward_backward,
    forward,
    backward,
    grads_sync,
    optimizer,
    params_gather,
    forward_recv
};

}  // namespace
}  // namespace pentamesh::runs

namespace pentamesh {
template <>
inline constexpr std::size_t kEnumCount<runs::Timer> = 7;
}  // namespace pentamesh

namespace pentamesh::runs {
namespace {

constexpr EnumArray<Timer, std::string_view> kTimers{{"forward-backward", "forward-compute",
                                                      "backward-compute", "all-grads-sync", "optimizer",
                                                      "params-all-gather", "forward-recv"}};

class LogReader {
  public:
    void line(std::string_view line) {
        if (const double ms = figure_behind(line, "elapsed time per iteration (ms):"); ms > 0) {
            keep(steps_ms_, ms);
            blocks_ = 0, open_ = false;
            if (const double batch = figure_behind(line, "global batch size:"); batch > 0 && batch < 1e9)
                out_.global_batch = static_cast<std::int64_t>(batch);
        } else if (line.find("across ranks (ms):") != std::string_view::npos) {
            open_ = ++blocks_ == 1;  // later ones are of checkpoints and evaluations
        } else if (const std::size_t at = line.find("time (ms) |"); at != std::string_view::npos) {
            if (++blocks_ == 1) old_timers(line.substr(at + std::string_view("time (ms) |").size()));
        } else if (open_) {
            open_ = timer_line(line);
        } else if (steps_ms_.empty() && line.find("tps:") != std::string_view::npos) {
            if (const double rate = figure_behind(without_colours(line), "tps:"); rate > 0)
                keep(rates_, rate);
        }
    }

    RunFile finish() {
        if (!steps_ms_.empty()) {
            out_.kind = RunFileKind::megatron_log;
            out_.steps = steps_ms_.size();
            out_.step_s = middle_of(std::move(steps_ms_)) / 1e3;
            find_parts();
        } else {
            out_.kind = RunFileKind::torchtitan_log;
            out_.steps = rates_.size();
            out_.tokens_per_s_per_gpu = middle_of(std::move(rates_));
        }
        return std::move(out_);
    }

  private:
    static void keep(std::vector<double>& list, double x) {
        if (list.size() < kMostSteps) list.push_back(x);
    }
    // Reads "    forward-compute ....: (12.10, 14.20)", and with --timing-log-option all "  forward-compute:"
    // and lines "     rank  0: 12.1" below it. Returns false for a line of another kind.
    bool timer_line(std::string_view line) {
        const std::size_t colon = line.rfind(':');
        const std::string_view name = trimmed(line.substr(0, std::min(colon, line.size())));
        if (colon == std::string_view::npos || name.empty() || name.find('|') != std::string_view::npos)
            return false;
        const double ms = largest_figure(line.substr(colon + 1));
        if (name.starts_with("rank ")) {
            if (of_ranks_ && ms > 0) {
                std::vector<double>& all = timers_[*of_ranks_];
                if (fresh_) keep(all, ms);
                if (!fresh_ && !all.empty()) all.back() = std::max(all.back(), ms);
                fresh_ = false;
            }
            return true;
        }
        of_ranks_.reset();
        for (const Timer t : all_of<Timer>())
            if (name.substr(0, name.find_first_of(" .")) == kTimers[t]) {
                if (ms > 0) keep(timers_[t], ms);
                if (trimmed(line.substr(colon + 1)).empty()) of_ranks_ = t, fresh_ = true;
            }
        return true;
    }
    // Reads "forward-compute: 58.16 | backward-compute: 110.2", as older versions write it.
    void old_timers(std::string_view line) {
        for (const std::string_view timer : split_lines(line, '|')) static_cast<void>(timer_line(timer));
    }

    // megatron/core/pipeline_parallel/schedules.py:763-886, training.py:3159-3177,
    // finalize_model_grads.py:638-680, distrib_optimizer.py:3180-3197: which timers hold which.
    void find_parts() {
        EnumArray<Timer, double> s{};
        for (const Timer t : all_of<Timer>()) s[t] = middle_of(timers_[t]) / 1e3;
        if (s[Timer::forward_backward] <= 0) return;
        bool below_zero = false;
        const auto put = [&](RunPart part, double x) {
            if (x < 0) below_zero = true;
            out_.parts[part] = PartTime{std::max(x, 0.0), std::max(x, 0.0)};
        };
        const double compute = s[Timer::forward] + s[Timer::backward];
        const double sync = s[Timer::grads_sync], gather = s[Timer::params_gather];
        if (compute > 0) put(RunPart::compute, compute);
        put(RunPart::pipeline, s[Timer::forward_backward] - compute - sync);
        put(RunPart::dp, sync + gather);
        put(RunPart::optimizer, s[Timer::optimizer] - gather);
        put(RunPart::rest, out_.step_s - s[Timer::forward_backward] - s[Timer::optimizer]);
        if (below_zero)
            out_.warnings.emplace_back(
                "A part came out below 0 and counts as 0: the timers' maxima are of different ranks.");
        if (!(compute > 0))
            out_.warnings.emplace_back(
                "The timers do not say compute (--timing-log-level 2 does): it stands in pipeline.");
        else
            out_.warnings.emplace_back("Timers of level 2 wait for the device around each of them: the run "
                                       "is slower with them than without.");
        if (s[Timer::forward_recv] > 0)
            out_.warnings.emplace_back("The timers of receives hold the wait for the neighbouring stage.");
    }

    RunFile out_;
    std::vector<double> steps_ms_, rates_;
    EnumArray<Timer, std::vector<double>> timers_;
    int blocks_ = 0;     // of timers since the last iteration
    bool open_ = false;  // lines are timers of that iteration
    std::optional<Timer> of_ranks_;
    bool fresh_ = false;  // no rank's time is noted yet
};

}  // namespace

RunFile read_run_log(UnpackedBytes& bytes) {
    LogReader reader;
    std::istream in(&bytes);
    in.exceptions(std::ios::badbit);  // what a read throws goes on
    for (std::string line; std::getline(in, line);) {
        bytes.mark();
        reader.line(line);
    }
    return reader.finish();
}

RunFile read_run_log(const std::string& text) {
    std::istringstream in(text);
    UnpackedBytes bytes(in);
    return read_run_log(bytes);
}

}  // namespace pentamesh::runs
