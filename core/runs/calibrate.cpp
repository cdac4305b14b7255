#include "core/runs/calibrate.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/explain/verdict.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/runs/measured.h"
#include "core/step/constants.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace pentamesh {

std::string Parameter::label() const {
    return std::string(key) + " " + std::string(gpus.front())
           + (gpus.size() > 1 ? " + " + std::to_string(gpus.size() - 1) : "");
}

double Efficiency::*Parameter::member() const {
    for (const EfficiencyKey& k : kEfficiencyKeys)
        if (k.key == key) return k.member;
    return nullptr;
}

const Parameter* parameter_of(const std::vector<Parameter>& all, std::string_view key, std::string_view gpu) {
    const Parameter* first = nullptr;
    for (const Parameter& p : all) {
        if (p.key != key) continue;
        if (std::find(p.gpus.begin(), p.gpus.end(), gpu) != p.gpus.end()) return &p;
        if (!first) first = &p;
    }
    return first;
}

double cost_of_error(double error) {
    constexpr double kRound = 0.03;
    return std::sqrt(error * error + kRound * kRound) + 4 * error * error;
}

std::vector<Parameter> fitted_parameters() {
    const std::vector<std::string_view> ampere{"a100-80gb-sxm", "a100-40gb-sxm"};
    const std::vector<std::string_view> hopper{"h100-sxm", "h800-sxm", "h200-sxm"};
    const std::vector<std::string_view> blackwell{"b200", "b300", "gb200", "gb300"};
    const std::vector<std::string_view> limited{"h100-96gb-500w"};  // by its power: only products
    const std::vector<std::string_view> tpu{"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"};
    std::vector<std::string_view> modern = hopper;
    modern.insert(modern.end(), blackwell.begin(), blackwell.end());
    std::vector<std::string_view> older = hopper;
    older.insert(older.end(), ampere.begin(), ampere.end());
    std::vector<std::string_view> all = modern;
    all.insert(all.end(), ampere.begin(), ampere.end());
    // The host's time for a launch is the CPU's doing.
    std::vector<std::string_view> launched = all;
    for (const std::string_view other :
         {"a800-80gb-sxm", "h100-96gb-500w", "h100-nvl", "h100-pcie", "h20", "l4", "l40s", "mi250x", "mi300x",
          "mi325x", "mi350x", "mi355x", "mi455x", "rtx-4090", "rtx-5090", "rtx-pro-6000-blackwell",
          "rtx-pro-6000-blackwell-server", "vr200"})
        launched.push_back(other);
    // Constants are shared as widely as possible: a constant of its own for every chip fits the runs no
    // better than these and predicts unseen runs worse (docs/step.md).
    return {
        {"gemm", ampere, 0.80, 0.10, 0.3, 0.95},
        {"gemm", hopper, 0.75, 0.10, 0.3, 0.95},
        {"gemm", limited, 0.58, 0.10, 0.3, 0.95},
        {"gemm", blackwell, 0.75, 0.10, 0.3, 0.95},
        {"gemm", tpu, 0.75, 0.10, 0.3, 0.95},
        {"gemm_fp8", hopper, 0.65, 0.15, 0.2, 0.95},
        {"gemm_fp8", limited, 0.66, 0.15, 0.2, 0.95},
        {"gemm_fp8", blackwell, 0.72, 0.15, 0.2, 0.95},
        {"gemm_fp4", blackwell, 0.50, 0.2, 0.1, 0.95},
        // FlashAttention-3 (Shah et al. 2024, figures 5 and 6), causal, head width 128, forward and backward
        // on H100.
        {"attention", modern, 0.56, 0.06, 0.2, 0.8},
        {"attention", tpu, 0.4, 0.2, 0.1, 0.8},
        {"grouped", hopper, 0.6, 0.1, 0.1, 0.9},
        {"grouped", blackwell, 0.5, 0.1, 0.1, 0.9},
        {"hbm", all, 0.80, 0.1, 0.5, 0.95},
        {"fast_link", older, 0.75, 0.15, 0.4, 0.95},
        // NCCL on 8 B200: 0.67 for all-gather and reduce-scatter, 0.74 for all-reduce (SimuMax,
        // b200_bf16_ceperm).
        {"fast_link", blackwell, 0.70, 0.05, 0.4, 0.95},
        {"slow_link", all, 0.75, 0.15, 0.4, 0.95},
        {"all_to_all", modern, 0.6, 0.2, 0.1, 0.95},
        {"overlap", all, 0.85, 0.1, 0.2, 1.0},
        {"kernel_s", all, 3e-6, 0.3, 1e-6, 1e-5},
        {"launch_s", launched, 2.3e-5, 0.5, 2e-6, 6e-5},
    };
}

namespace {

using Json = nlohmann::json;

constexpr double kBytesOfGib = 1024.0 * 1024 * 1024;

// Returns the plan with the fields that only later versions of the program know, given by pointer.
Plan plan_of_case(const Json& run, const std::string& place, const Presets& presets) {
    Json plan = run.at("plan");
    if (plan.is_string()) return presets.plan(plan.get<std::string>());
    if (run.contains("more"))
        for (const auto& [pointer, value] : run["more"].items()) plan[Json::json_pointer(pointer)] = value;
    return plan_from_json(plan, place, presets);
}

// Returns 0 where it is not given. Throws Error where it is given and cannot be a time or a rate.
double measured_figure(const Json& m, const char* key, const std::string& place) {
    if (!m.contains(key)) return 0;
    const double x = m[key].get<double>();
    if (!(x > 0) || !std::isfinite(x))
        throw Error(ErrorKind::invalid, place, std::string("/measured/") + key,
                    "must be more than 0, found " + m[key].dump());
    return x;
}

void read_times(const Json& m, const std::string& place, MeasuredRun& run) {
    run.step_s = measured_figure(m, "iteration_s", place);
    if (const double rate = measured_figure(m, "tokens_per_s_per_gpu", place); rate > 0)
        run.step_s = tokens_per_step(run.plan.training) / (rate * static_cast<double>(run.plan.cluster.gpus));
    run.tflops = measured_figure(m, "model_tflops_per_gpu", place);
}

// nvidia-smi shows the reserved memory and the context, which is taken off.
void read_peak(const Json& m, MeasuredRun& run) {
    if (m.contains("peak_allocated_gib")) {
        run.memory = kBytesOfGib * m["peak_allocated_gib"].get<double>();
    } else if (m.contains("peak_reserved_gib")) {
        run.memory = kBytesOfGib * m["peak_reserved_gib"].get<double>();
        run.memory_kind = MemoryMeasured::reserved;
    } else if (m.contains("peak_smi_gib")) {
        run.memory = kBytesOfGib * (m["peak_smi_gib"].get<double>() - m.value("smi_outside_gib", 0.0));
        run.memory_kind = MemoryMeasured::reserved;
    }
    if (!m.contains("rank")) return;
    run.rank = m["rank"] == 0        ? MeasuredRun::Rank::first
               : m["rank"] == "last" ? MeasuredRun::Rank::last
                                     : MeasuredRun::Rank::largest;
}

MeasuredRun read_case(const Json& given, const std::string& place, const Presets& presets) {
    MeasuredRun run;
    run.plan = plan_of_case(given, place, presets);
    run.id = given.value("id", run.plan.name);
    run.framework = given.value("framework", std::string(name_of(run.plan.training.software)));
    run.family = given.value("family", std::string());
    const Json& m = given.at("measured");
    read_times(m, place, run);
    read_peak(m, run);
    if (m.contains("fits")) run.fits = m["fits"].get<bool>();
    return run;
}

// The source leaves some choices open (recomputation): the first that fits is taken.
MeasuredRun from_published(const PublishedRun& published) {
    Evaluation scratch;
    MeasuredRun run;
    run.plan = published.plans.back();
    for (const Plan& p : published.plans) {
        evaluate(p, scratch, {.timeline = false, .messages = false});
        if (!scratch.memory.may_fit()) continue;  // it has run
        run.plan = p;
        break;
    }
    run.id = published.label;
    run.framework = name_of(run.plan.training.software);
    run.step_s = published.measured_s;
    run.tflops = published.measured_tflops;
    return run;
}

}  // namespace

std::vector<MeasuredRun> read_measured(std::string_view text, const std::string& path,
                                       const Presets& presets) {
    const Json root = parse_json(text, path);
    const Json* cases = root.is_array()                              ? &root
                        : root.is_object() && root.contains("cases") ? &root["cases"]
                                                                     : nullptr;
    if (!cases || !cases->is_array())
        throw Error(ErrorKind::invalid, path, "/cases", "is missing, must be a list of runs");
    std::vector<MeasuredRun> runs;
    for (std::size_t i = 0; i < cases->size(); ++i) {
        const Json& given = (*cases)[i];
        const std::string pointer = (root.is_array() ? "/" : "/cases/") + std::to_string(i);
        try {
            const std::string place =
                path + ": " + (given.is_object() ? given.value("id", pointer) : pointer);
            if (given.is_object() && given.contains("plan")) {
                runs.push_back(read_case(given, place, presets));
            } else {
                const std::string one = Json{{"cases", {given}}}.dump();
                runs.push_back(from_published(read_published_runs(one, place, presets).at(0)));
            }
        } catch (const Json::exception& e) {
            throw Error(ErrorKind::invalid, path, pointer, e.what());
        }
    }
    return runs;
}

std::vector<MeasuredRun> read_measured_file(const std::string& path, const Presets& presets) {
    return read_measured(read_file(path), path, presets);
}

MeasuredRun read_log(std::string_view text, const std::string& path, const Plan* plan,
                     const std::string& cluster, const Presets& presets) {
    return run_of_log(runs::read_run_log(std::string(text)), text, path, plan, cluster, presets);
}

MeasuredRun run_of_log(const runs::RunFile& log, std::string_view text, const std::string& path,
                       const Plan* plan, const std::string& cluster, const Presets& presets) {
    if (log.steps == 0)
        throw Error(
            ErrorKind::invalid, path, "",
            "has no step times: \"elapsed time per iteration (ms): ...\" of Megatron, \"tps: ...\" of "
            "torchtitan or \"CurrSamplesPerSec=...\" of DeepSpeed");
    if (log.warm_up)
        throw Error(
            ErrorKind::invalid, path, "",
            "has only the first step, which warms up: constants cannot be fitted to it. Give a log of "
            "more steps.");
    MeasuredRun run;
    run.id = path;
    if (plan) {
        run.plan = *plan;
    } else {
        interop::ImportRequest request;
        request.text = text;
        request.path = path;
        request.cluster = cluster;
        const auto ask = " Name the run's plan with --plan.";
        if (interop::guess_tools(text).empty())
            throw Error(ErrorKind::invalid, path, "", std::string("does not say the run's settings.") + ask);
        const interop::Import made = interop::import_settings(request, presets);
        for (const interop::ImportProblem& p : made.problems)
            if (!made.plan && p.severity == Severity::error)
                throw Error(ErrorKind::invalid, path, "", p.message + "." + ask);
        if (!made.plan) throw Error(ErrorKind::invalid, path, "", std::string("does not hold a plan.") + ask);
        run.plan = *made.plan;
    }
    run.framework = name_of(run.plan.training.software);
    const runs::Measured m = runs::measure({log}, &run.plan, presets);
    run.step_s = m.measured_s.value_or(0), run.compute_s = m.compute_s;
    return run;
}

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

// Returns the range of runs that were not fitted, as of sources that are all equally near.
Calibration calibration_of(const std::vector<CalibratedRun>& runs, const std::string& from) {
    Calibration c;
    c.runs = static_cast<std::int64_t>(runs.size());
    c.from = from;
    std::vector<MeasuredError> errors;
    for (const CalibratedRun& r : runs)
        errors.push_back({r.id, "", {}, r.measured_s / r.left_out_s - 1, errors.size()});
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
    runs::refuse_without_runs();
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

OwnFile own_file_kind(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool object = first != std::string_view::npos && text[first] == '{';
    // A log may begin with "[rank0]"; a list of runs begins with an object.
    const std::size_t second =
        first == std::string_view::npos ? first : text.find_first_not_of(" \t\r\n", first + 1);
    const bool list = first != std::string_view::npos && text[first] == '['
                      && second != std::string_view::npos && (text[second] == '{' || text[second] == ']');
    if (object || list) return OwnFile::table;
    return interop::fabric_tool(text) == interop::FabricTool::nccl_tests ? OwnFile::links : OwnFile::log;
}

std::string add_own_file(OwnFiles& own, const std::string& text, const std::string& path, const Plan* plan,
                         const std::string& cluster, const Presets& presets) {
    std::string found;
    switch (own_file_kind(text)) {
    case OwnFile::table: {
        const std::vector<MeasuredRun> runs = read_measured(text, path, presets);
        const std::size_t before = own.runs.size();
        std::copy_if(runs.begin(), runs.end(), std::back_inserter(own.runs),
                     [](const MeasuredRun& r) { return r.has_time(); });
        const std::size_t timed = own.runs.size() - before;
        found = count_text(static_cast<std::int64_t>(timed), "run");
        if (timed < runs.size())
            found += ", " + std::to_string(runs.size() - timed) + " without a time left out";
        break;
    }
    case OwnFile::links:
        own.links.push_back({text, path});
        found = "a table of nccl-tests";
        break;
    case OwnFile::log: {
        const runs::RunFile log = runs::read_run_log(text);
        MeasuredRun run = run_of_log(log, text, path, plan, cluster, presets);
        run.id = std::filesystem::path(path).filename().string();
        found = "a log of " + count_text(static_cast<std::int64_t>(log.steps), "step");
        own.runs.push_back(std::move(run));
        break;
    }
    }
    own.from += (own.from.empty() ? "" : ", ") + std::filesystem::path(path).filename().string();
    return found;
}

void add_run_files(OwnFiles& own, std::vector<runs::RunFile> files, const Plan& plan,
                   const Presets& presets) {
    if (files.empty()) return;
    const runs::Measured m = runs::measure(std::move(files), &plan, presets);
    std::string name = m.files.front().file;
    if (m.files.size() > 1)
        name += sentence(" and ", count_text(static_cast<std::int64_t>(m.files.size()) - 1, "file"));
    if (!m.predicted_s && !m.problems.empty())
        throw Error(ErrorKind::invalid, name, "", m.problems.front().message);
    if (m.measured_s) {
        MeasuredRun run;
        run.id = name, run.plan = plan;
        run.framework = name_of(plan.training.software);
        run.step_s = *m.measured_s, run.compute_s = m.compute_s;
        own.runs.push_back(std::move(run));
    }
    std::vector<runs::Fitting> fits = m.links;
    for (const runs::PartRow& r : m.parts)
        if (r.part == runs::RunPart::optimizer) fits.push_back(r.fitting);
    for (const runs::Fitting& f : fits)
        if (!f.constant.empty()) own.parts.push_back({f.constant, f.would_be, name});
    if (!m.measured_s && own.parts.empty())
        throw Error(ErrorKind::invalid, name, "", "says no step, and no transfer that the plan has too");
    own.from += (own.from.empty() ? "" : ", ") + name;
}

bool is_measured_text(const std::string& text) {
    if (own_file_kind(text) == OwnFile::log)
        return interop::guess_tools(text).empty() && runs::read_run_log(text).steps > 0;
    if (own_file_kind(text) != OwnFile::table) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    if (!value) return false;
    const nlohmann::json* const cases = value->is_array()          ? &*value
                                        : value->contains("cases") ? &value->at("cases")
                                                                   : nullptr;
    return cases != nullptr && cases->is_array() && !cases->empty() && cases->at(0).is_object()
           && cases->at(0).contains("measured");
}

const Cluster* cluster_of_runs(const OwnFiles& own) {
    return own.runs.empty() ? nullptr : &own.runs.front().plan.cluster;
}

// Writes a calibrated cluster to a file.

std::string write_constants(const Calibrated& made, const std::string& name, const Presets& presets) {
    Cluster cluster = made.cluster;
    Gpu& gpu = cluster.gpu;
    Source stated;  // over the GPU's preset, where it is one but for its constants
    if (!gpu.id.empty() && presets.has(PresetKind::gpu, gpu.id)) {
        const Gpu shipped = presets.gpu(gpu.id);
        Gpu same = gpu;
        same.efficiency = shipped.efficiency;
        if (!(same == shipped)) gpu.id.clear();
        for (const EfficiencyKey& k : kEfficiencyKeys)
            if (gpu.efficiency.*k.member != shipped.efficiency.*k.member)
                stated.overrides.push_back("/gpu/efficiency/" + std::string(k.key));
    } else {
        gpu.id.clear();
    }
    if (!name.empty()) cluster.name = name;
    nlohmann::ordered_json out = cluster_to_json(cluster, stated);
    std::string source = made.runs.empty() ? "tiers measured by nccl-tests"
                                           : "calibrated from " + count_text(std::ssize(made.runs), "run");
    if (cluster.calibration && !cluster.calibration->from.empty())
        source += " (" + cluster.calibration->from + ")";
    out["source"] = source;
    return pretty(out);
}

std::filesystem::path save_calibrated(const Calibrated& made, const std::string& name,
                                      const Presets& presets) {
    const std::string refused = refused_preset_name(presets, PresetKind::cluster, name);
    if (!refused.empty()) throw Error(ErrorKind::usage, "", "", refused);
    std::filesystem::path file = own_preset_file(presets, PresetKind::cluster, preset_id_of(name));
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error)
        throw Error(ErrorKind::io, file.parent_path().string(), "", "cannot be made: " + error.message());
    write_file(file, write_constants(made, name, presets));
    presets.reread();
    return file;
}

}  // namespace pentamesh
