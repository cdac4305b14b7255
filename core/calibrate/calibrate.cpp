#include "core/calibrate/calibrate.h"

#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/calibrate/parameters.h"
#include "core/evaluate.h"
#include "core/interop/nccl_tests.h"
#include "core/runs/predicted.h"
#include "core/step/error_range.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

namespace pentamesh {
namespace {

// This is a run on the cluster that is calibrated. `replayed` is the time with the schedule replayed over the
// closed form's, which the fit uses because it is hundreds of times faster.
struct Fitted {
    const MeasuredRun* run = nullptr;
    Plan plan;
    double replayed = 1;
};

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

Fitted on_cluster(const MeasuredRun& run, const Cluster& on) {
    if (!run.has_time()) refuse("run \"" + run.id + "\" has no step time to fit");
    const Gpu& gpu = run.plan.cluster.gpu;
    if (!(gpu.flops == on.gpu.flops))
        refuse("run \"" + run.id + "\" is on " + gpu.name + ", the cluster has " + on.gpu.name
               + ": calibrate them apart");
    Fitted f{&run, run.plan, 1};
    f.plan.cluster.gpu.efficiency = on.gpu.efficiency;
    std::vector<Tier>& tiers = f.plan.cluster.tiers;
    for (std::size_t i = 0; i < std::min(tiers.size(), on.tiers.size()); ++i)
        if (tiers[i].kind == on.tiers[i].kind)
            tiers[i].bytes_per_s = on.tiers[i].bytes_per_s, tiers[i].latency_s = on.tiers[i].latency_s;
    return f;
}

// Returns the seconds of a step. Throws Error where the plan has no step.
double time_of(const Fitted& f, bool replay, Evaluation& scratch) {
    evaluate(f.plan, scratch, {.timeline = replay, .messages = true});
    if (scratch.step) return scratch.step->time_s;
    for (const Problem& p : scratch.problems)
        if (p.severity == Severity::error) refuse("run \"" + f.run->id + "\": " + p.message);
    refuse("run \"" + f.run->id + "\" gets no step time");
}

class Fit {
  public:
    Fit(std::vector<Fitted>& runs, std::vector<Parameter> parameters)
        : runs_(runs), parameters_(std::move(parameters)) {}

    // Runs for which `leave` is true are not fitted.
    void find(const std::function<bool(std::size_t)>& leave) {
        for (Parameter& p : parameters_) p.value = std::clamp(p.expected, p.least, p.most);
        minimize(parameters_, [&] { return cost(leave); });
    }
    void replay() {
        for (Fitted& f : runs_) f.replayed = time_of(f, true, scratch_) / time_of(f, false, scratch_);
    }
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

  private:
    double cost(const std::function<bool(std::size_t)>& leave) {
        double sum = cost_of_values(parameters_);
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            Fitted& f = runs_[i];
            for (const Parameter& p : parameters_) f.plan.cluster.gpu.efficiency.*p.member() = p.value;
            if (leave(i)) continue;
            evaluate(f.plan, scratch_, {.timeline = false, .messages = false});
            if (!scratch_.step) continue;
            const Step& s = *scratch_.step;
            // Compute that is known apart is the target of the constants of products; else the whole step.
            sum += cost_of_error(f.run->compute_s > 0
                                     ? std::log(f.run->compute_s / (s.compute_s + s.recompute_s + s.uneven_s))
                                     : std::log(f.run->measured_s(s) / (s.time_s * f.replayed)));
        }
        return sum;
    }

    std::vector<Fitted>& runs_;
    std::vector<Parameter> parameters_;
    Evaluation scratch_;
};

std::vector<Parameter> parameters_for(const std::vector<MeasuredRun>& runs, const Gpu& gpu) {
    const auto any = [&](auto&& of) { return std::any_of(runs.begin(), runs.end(), of); };
    const auto computes_in = [&](Dtype type) {
        return any([&](const MeasuredRun& r) { return r.plan.training.compute == type; });
    };
    std::vector<std::string_view> keys{"gemm"};
    if (computes_in(Dtype::fp8)) keys.emplace_back("gemm_fp8");
    if (computes_in(Dtype::fp4)) keys.emplace_back("gemm_fp4");
    if (any([](const MeasuredRun& r) { return r.plan.model.moe.has_value(); })) keys.emplace_back("grouped");
    keys.emplace_back("attention");
    keys.emplace_back("launch_s");
    if (keys.size() > runs.size()) keys.resize(runs.size());  // fewer runs than that say nothing of the rest
    const std::vector<Parameter> all = fitted_parameters();
    std::vector<Parameter> out;
    for (const std::string_view key : keys) {
        const Parameter* known = parameter_of(all, key, gpu.id);
        Parameter p = *known;
        // A cluster may leave the launch time out (0); the fit begins within the limits.
        p.expected = std::clamp(gpu.efficiency.*p.member(), p.least, p.most);
        out.push_back(p);
    }
    return out;
}

// Sets tiers as the tables measured them.
void set_links(const std::vector<LinkText>& links, Cluster& cluster, Calibrated& out) {
    for (const LinkText& l : links) {
        const interop::LinkMeasurement m = interop::read_nccl_tests(l.text, l.path, cluster);
        out.links.push_back(l.path + ": " + m.summary);
        Tier& t = cluster.tiers.at(static_cast<std::size_t>(m.tier));
        const auto set = [&](const char* key, double& value, const std::optional<double>& measured,
                             double most) {
            if (!measured) return;
            const std::string id = "tier." + std::to_string(m.tier) + "." + key;
            const auto known = std::ranges::find(out.constants, id, &CalibratedConstant::id);
            if (known == out.constants.end()) {
                out.constants.push_back({id, value, *measured, 0, most, true});
            } else {
                known->after = *measured;
                out.links.back() += " This counts in the place of an earlier table of the same tier.";
            }
            value = *measured;
        };
        set("bytes_per_s", t.bytes_per_s, m.bytes_per_s, 1e15);
        set("latency_s", t.latency_s, m.latency_s, 1);
    }
}

// Sets constants that parts of runs give by themselves, where hardware can reach them; the later one counts.
void set_parts(const std::vector<PartConstant>& parts, Cluster& cluster, Calibrated& out) {
    const std::vector<Parameter> all = fitted_parameters();
    for (const PartConstant& part : parts) {
        const std::string key = part.id.substr(part.id.find('.') + 1);
        const Parameter* p = parameter_of(all, key, cluster.gpu.id);
        if (!p) continue;
        if (part.value < p->least || part.value > p->most) {
            out.links.push_back(sentence(part.from, ": ", part.id, " would be ", three_digits(part.value),
                                         ", beyond ", three_digits(p->least), " to ", three_digits(p->most),
                                         ": it is not taken."));
            continue;
        }
        double& value = cluster.gpu.efficiency.*p->member();
        const auto known = std::ranges::find(out.constants, part.id, &CalibratedConstant::id);
        if (known == out.constants.end())
            out.constants.push_back({part.id, value, part.value, p->least, p->most, true});
        else
            known->after = part.value;
        value = part.value;
        out.links.push_back(sentence(part.from, " gives ", part.id, " ", three_digits(part.value), "."));
    }
}

// Says that the network is to blame where the error grows with exposed communication, and no link is
// measured.
void blame_links(const std::vector<double>& exposed, Calibrated& out) {
    constexpr std::size_t kLeastRuns = 3;
    if (out.runs.size() < kLeastRuns || !out.links.empty()) return;
    const auto n = static_cast<double>(exposed.size());
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < exposed.size(); ++i) {
        const double off = std::log(out.runs[i].measured_s / out.runs[i].after_s);
        x += exposed[i], y += off, xx += exposed[i] * exposed[i], yy += off * off, xy += exposed[i] * off;
    }
    const double spread = (xx - x * x / n) * (yy - y * y / n);
    constexpr double kClear = 0.8,
                     kLeastError = 0.02;  // correlation; the mean error of what is said to be off
    if (spread > 0 && (xy - x * y / n) / std::sqrt(spread) > kClear && std::sqrt(yy / n) > kLeastError)
        out.links.emplace_back(
            "The error grows with the communication that is exposed, and no link is measured: "
            "measure the links (nccl-tests or the NCCL Inspector).");
}

double median_off(const std::vector<CalibratedRun>& runs, double CalibratedRun::*ours) {
    std::vector<double> off;
    for (const CalibratedRun& r : runs) off.push_back(std::abs(r.measured_s / (r.*ours) - 1));
    return median(std::move(off));
}

// Returns the range of runs that were not fitted, as of measured runs that are all equally near.
Calibration calibration_of(const std::vector<CalibratedRun>& runs, const std::string& from) {
    Calibration c;
    c.runs = static_cast<std::int64_t>(runs.size());
    c.from = from;
    std::vector<MeasuredError> errors;
    for (const CalibratedRun& r : runs) errors.push_back({r.id, "", {}, r.measured_s / r.left_out_s - 1});
    const ErrorRange range = error_range(std::span<const MeasuredError>(errors), {});
    c.error = range.half;
    c.error_90 = std::max(range.most, kNineOfTen * range.half);
    return c;
}

// Fits each run only to the others; of many runs a part at a time is left out.
void leave_out(Fit& fit, std::vector<Fitted>& fitted, std::vector<CalibratedRun>& runs) {
    constexpr std::size_t kMostParts = 24;
    const std::size_t parts = std::min(fitted.size(), kMostParts);
    Evaluation scratch;
    for (std::size_t part = 0; part < parts; ++part) {
        fit.find([&](std::size_t i) { return i % parts == part; });
        for (std::size_t i = part; i < fitted.size(); i += parts)
            runs[i].left_out_s = time_of(fitted[i], true, scratch);
    }
}

}  // namespace

bool CalibratedRun::better() const {
    return std::abs(std::log(measured_s / after_s)) < std::abs(std::log(measured_s / before_s));
}

std::string Calibrated::worse_words() const {
    if (runs.empty()) return "";
    constexpr double kSame = 1e-9;
    if (after >= before)
        return "the fit is no better than none: half of the runs are off by " + percent_text(after)
               + " with it and " + percent_text(before) + " without";
    if (left_out > before + kSame)
        return "runs that are left out of the fit come out worse than without it: off by "
               + percent_text(left_out) + ", before by " + percent_text(before)
               + "; the runs do not say enough";
    return "";
}

Calibrated calibrate(const std::vector<MeasuredRun>& runs, const std::vector<LinkText>& links,
                     const Cluster& on, const std::string& from, const std::vector<PartConstant>& parts) {
    if (runs.empty() && links.empty() && parts.empty())
        refuse("there is no run and no table of nccl-tests to calibrate from");
    Calibrated out;
    out.cluster = on;
    out.cluster.calibration.reset();
    Evaluation scratch;
    for (const MeasuredRun& run : runs) {  // before anything is changed
        const double before_s = time_of(on_cluster(run, on), true, scratch);
        const double measured_s = run.measured_s(*scratch.step);
        if (const std::string words = runs::impossible_words(run.plan, *scratch.step, measured_s);
            !words.empty())
            refuse("run \"" + run.id + "\": " + words);
        out.runs.push_back({run.id, measured_s, before_s, before_s, before_s});
    }
    set_links(links, out.cluster, out);
    set_parts(parts, out.cluster, out);
    std::vector<Fitted> fitted;
    for (const MeasuredRun& run : runs) fitted.push_back(on_cluster(run, out.cluster));
    if (!fitted.empty()) {
        Fit fit(fitted, parameters_for(runs, on.gpu));
        const auto none = [](std::size_t) { return false; };
        for (int round = 0; round < 2; ++round) {  // again with the replay of what was found
            fit.replay();
            fit.find(none);
        }
        const std::vector<Parameter> found = fit.parameters();
        std::vector<double> exposed;
        for (std::size_t i = 0; i < fitted.size(); ++i) {
            out.runs[i].after_s = time_of(fitted[i], true, scratch);
            exposed.push_back(exposed_of(*scratch.step) / scratch.step->time_s);
        }
        blame_links(exposed, out);
        leave_out(fit, fitted, out.runs);
        for (const Parameter& p : found) {
            out.constants.push_back({"efficiency." + std::string(p.key), on.gpu.efficiency.*p.member(),
                                     p.value, p.least, p.most, false});
            out.cluster.gpu.efficiency.*p.member() = p.value;
        }
        out.cluster.calibration = calibration_of(out.runs, from);
    }
    out.before = median_off(out.runs, &CalibratedRun::before_s);
    out.after = median_off(out.runs, &CalibratedRun::after_s);
    out.left_out = median_off(out.runs, &CalibratedRun::left_out_s);
    return out;
}

}  // namespace pentamesh
