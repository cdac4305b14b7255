// Fits the constants of the time model on the measured runs (tests/golden/measured.json) of one half of the
// sources, prints how near the program is on both halves (tests/golden/halves.json), and with --write puts
// the constants into presets/: the GPUs' efficiencies to Megatron's runs, then each framework's own figures
// to its runs. docs/step.md says what is fitted and why. With --check it fits nothing, and exits with 1 where
// the constants that ship err too much on presets/published_runs.json or a run moved.
#include "check.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/evaluate.h"
#include "core/explain/verdict.h"
#include "core/io/presets.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/runs/calibrate.h"
#include "tools/accuracy/measured.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace pentamesh;

namespace {

// Holds a published run, and its plan whose memory fits.
struct Case {
    const PublishedRun* run = nullptr;
    Plan plan;
};

constexpr double kNoTime = 10;  // error of a run that gets no step time

// Returns the relative error of the throughput: measured time over ours, less 1.
double error_of(const PublishedRun& run, const Plan& plan, Evaluation& scratch) {
    evaluate(plan, scratch, {.timeline = true, .messages = false});
    if (!scratch.step) return kNoTime;
    const Step& s = *scratch.step;
    const double want =
        run.measured_s > 0 ? run.measured_s : s.time_s * s.tflops_per_gpu / run.measured_tflops;
    return want / s.time_s - 1;
}

double error_of(const MeasuredRun& run, Evaluation& scratch) {
    evaluate(run.plan, scratch, {.timeline = false, .messages = false});
    return scratch.step ? run.measured_s(*scratch.step) / scratch.step->time_s - 1 : kNoTime;
}

Plan first_that_fits(const PublishedRun& run, Evaluation& scratch) {
    for (const Plan& p : run.plans) {
        evaluate(p, scratch, {.timeline = true, .messages = false});
        if (scratch.memory.may_fit()) return p;  // it has run
    }
    return run.plans.back();
}

// The GPUs' efficiencies are those of the software of today.
bool is_today(Software s) {
    return is_megatron(s) && s == framework_of(s);
}

// GPUs of which Megatron has no run: one whose power is limited, which is the GPU's doing and not
// torchtitan's, and Google's.
bool has_other_runs(const Gpu& gpu) {
    return gpu.id == "h100-96gb-500w" || gpu.id.starts_with("tpu-");
}

// Fits to its runs and sums their cost. A run that is far off shows an effect that no constant describes:
// beyond a limit it pulls no more.
class Fit {
    // This is the weight of the prior knowledge of a constant. When each of six sources is left out of the
    // fit in its turn, its runs are off by 23 % with 1, 19 % with 5, 18 % with 20.
    static constexpr double kPrior = 5;

  public:
    explicit Fit(const std::vector<MeasuredRun>& runs, const Halves& halves) {
        for (const MeasuredRun& r : runs)
            if (r.has_time() && !halves.judged(r.family)) runs_.push_back(r);
    }

    // The GPUs' efficiencies, to Megatron's runs and those of GPUs of which it has none.
    void fit_gpus(std::vector<Parameter>& parameters) {
        minimize(parameters, [&] {
            set_parameters(parameters, [this](auto&& each) {
                for (MeasuredRun& r : runs_) each(r.plan.cluster.gpu.id, r.plan.cluster.gpu.efficiency);
            });
            return kPrior * cost_of_values(parameters) + cost([](const Plan& p) {
                       return is_today(p.training.software) || has_other_runs(p.cluster.gpu);
                   });
        });
    }

    // Fits one framework's own figures to its runs.
    void fit_software(Software software, std::vector<SoftwareParameter>& parameters) {
        if (parameters.empty()) return;
        const SoftwareFacts facts = facts_of(software);
        minimize(parameters, [&] {
            set_facts(software, with_values(facts, parameters));
            return kPrior * cost_of_values(parameters)
                   + cost([software](const Plan& p) { return p.training.software == software; });
        });
    }

  private:
    template <typename Which>
    double cost(Which&& which) {
        constexpr double kFar = 0.5;
        double sum = 0;
        for (const MeasuredRun& r : runs_)
            if (which(r.plan))
                sum += cost_of_error(std::clamp(std::log1p(error_of(r, scratch_)), -kFar, kFar));
        return sum;
    }

    std::vector<MeasuredRun> runs_;
    Evaluation scratch_;
};

void print_parts(const Case& c, const Evaluation& e, double error) {
    const Step& s = *e.step;
    const auto share = [&](double part) { return 100 * part / s.time_s; };
    std::printf("%+6.1f%%  %-58s recompute %d compute %4.1f again %4.1f bubble %4.1f optimizer %4.1f |",
                100 * error, c.run->label.c_str(), static_cast<int>(c.plan.training.recompute.kind),
                share(s.compute_s), share(s.recompute_s), share(s.bubble_s), share(s.optimizer_s));
    for (std::size_t i = 0; i < s.exposed_comm_s.size(); ++i) {
        const std::string name(name_of(static_cast<GroupKind>(i)));
        if (share(s.exposed_comm_s[i]) > 0.1)
            std::printf(" %s %.1f", name.c_str(), share(s.exposed_comm_s[i]));
    }
    std::printf(" | %.3f s, MFU %.2f, %.0f GB\n", s.time_s, s.mfu, e.memory.peak() / 1e9);
}

void print_summary(const char* title, const std::vector<RunError>& runs) {
    const std::vector<double> sizes = sizes_of(runs);
    std::printf("%s: median %.1f %%, 90th percentile %.1f %%, worst %.0f %% of %zu runs\n", title,
                100 * median(sizes), 100 * percentile(sizes, 0.9), 100 * sizes.back(), sizes.size());
    if (const std::vector<RunError> moe = moe_of(runs); !moe.empty())
        std::printf("of them MoE: median %.1f %% of %zu runs\n", 100 * median(sizes_of(moe)), moe.size());
}

// Runs of one label (two containers of a framework) are counted.
std::string label_of(const PublishedRun& run, const std::vector<RunError>& before) {
    const auto same = std::count_if(before.begin(), before.end(), [&](const RunError& r) {
        return r.label == run.label || r.label.starts_with(run.label + " #");
    });
    return same == 0 ? run.label : run.label + " #" + std::to_string(same + 1);
}

// Holds each run's error with the constants that ship against the table and the limits.
int check(const std::string& root, const std::vector<RunError>& runs, bool renew) {
    const std::string file = root + "/tests/golden/step_errors.txt";
    if (renew) {
        write_file(file, write_errors(runs));
        std::printf("wrote %s\n", file.c_str());
        return errors_hold(runs, runs) ? 0 : 1;
    }
    if (errors_hold(runs, read_errors(read_file(file), file))) return 0;
    std::printf("Where this is meant: fit %s --check --renew\n", root.c_str());
    return 1;
}

// Writes the parameters into the GPUs' files, to four digits, and the error on the judged half where the rate
// of products is fitted to runs of the GPU.
void write_presets(const std::string& root, const std::vector<Parameter>& parameters, double error) {
    const std::vector<Parameter> all = fitted_parameters();
    for (const auto& entry : std::filesystem::directory_iterator(root + "/presets/gpus")) {
        nlohmann::ordered_json gpu = nlohmann::ordered_json::parse(std::ifstream(entry.path()));
        const std::string id = entry.path().stem().string();
        const auto has = [&](const Parameter& p) {
            return std::find(p.gpus.begin(), p.gpus.end(), id) != p.gpus.end();
        };
        for (const Parameter& p : parameters)
            if (has(p))
                gpu["efficiency"][std::string(p.key)] =
                    nlohmann::ordered_json::parse(general_text(p.value, 4));
        const bool fitted = std::any_of(all.begin(), all.end(),
                                        [&](const Parameter& p) { return p.key == "gemm" && has(p); });
        if (fitted && error > 0) gpu["efficiency"]["error"] = std::round(error * 1000) / 1000;
        std::ofstream(entry.path()) << gpu.dump(2) << '\n';
    }
}

// Prints how near the current constants are, by half and framework; returns the median size on the judged
// half.
double print_halves(const std::vector<MeasuredRun>& runs, const Halves& halves) {
    std::map<std::string, std::vector<double>> by;
    Evaluation scratch;
    for (const MeasuredRun& r : runs) {
        if (!r.has_time()) continue;
        const std::string half = halves.judged(r.family) ? "judged" : "fitted";
        const double error = error_of(r, scratch);
        by[half].push_back(error);
        by[half + ", " + std::string(name_of(r.plan.training.software))].push_back(error);
        by[half + ", source " + r.family].push_back(error);
    }
    for (const auto& [name, errors] : by) {
        const ErrorSpread s = spread_of(errors);
        std::printf("%-36s n %3zu  median %5.1f %%  nine of ten %5.1f %%  bias %+6.1f %%\n", name.c_str(),
                    s.runs, 100 * s.median, 100 * s.most, 100 * s.bias);
    }
    return spread_of(by["judged"]).median;
}

struct Options {
    std::string root = ".";
    bool check = false, renew = false, write = false;
    std::vector<std::string> only;  // keys of Efficiency, "gemm" or "gemm:h100-sxm", and software; none: all
};

int check_published(const Options& options, const Presets& presets) {
    const std::vector<PublishedRun> runs = load_published_runs(presets);
    Evaluation scratch;
    std::vector<RunError> errors;
    for (const PublishedRun& r : runs) {
        const Case c{&r, first_that_fits(r, scratch)};
        errors.push_back({.label = label_of(r, errors),
                          .error = error_of(r, c.plan, scratch),
                          .moe = c.plan.model.moe.has_value()});
        if (scratch.step) print_parts(c, scratch, errors.back().error);
    }
    print_summary("as shipped", errors);
    return check(options.root, errors, options.renew);
}

int run(const Options& options) {
    const Presets presets(options.root + "/presets");
    if (options.check) return check_published(options, presets);
    const Halves halves = read_halves_file(options.root + "/tests/golden/halves.json");
    std::vector<MeasuredRun> runs = read_golden_runs(options.root + "/tests/golden", halves, presets);
    std::printf("as shipped\n");
    print_halves(runs, halves);

    std::vector<Parameter> parameters = fitted_parameters();
    if (!options.only.empty())
        std::erase_if(parameters, [&](const Parameter& p) {
            return std::none_of(options.only.begin(), options.only.end(), [&](const std::string& only) {
                return only == p.key || only == std::string(p.key) + ":" + std::string(p.gpus.front());
            });
        });
    // The fit starts and stays near the constants that ship: a constant that the runs do not determine stays
    // as it is.
    for (Parameter& p : parameters)
        p.value = p.expected = presets.gpu(std::string(p.gpus.front())).efficiency.*p.member();
    EnumArray<Software, std::vector<SoftwareParameter>> figures;
    for (const Software s : all_of<Software>())
        if (options.only.empty()
            || std::find(options.only.begin(), options.only.end(), name_of(s)) != options.only.end())
            figures[s] = fitted_of(facts_of(s));
    Fit fit(runs, halves);
    constexpr int kRounds = 2;  // Megatron's own figures and the GPUs' bear on the same runs
    for (int round = 0; round < kRounds; ++round) {
        fit.fit_gpus(parameters);
        for (const Software s : all_of<Software>()) fit.fit_software(s, figures[s]);
    }
    for (const Parameter& p : parameters)
        std::printf("%-28s %10.4g  (expected %.4g)\n", p.label().c_str(), p.value, p.expected);
    for (const Software s : all_of<Software>())
        for (const SoftwareParameter& p : figures[s])
            std::printf("%-28s %10.4g\n", (std::string(name_of(s)) + " " + std::string(p.key)).c_str(),
                        p.value);
    set_parameters(parameters, [&](auto&& each) {
        for (MeasuredRun& r : runs) each(r.plan.cluster.gpu.id, r.plan.cluster.gpu.efficiency);
    });
    std::printf("fitted\n");
    const double error = print_halves(runs, halves);
    if (!options.write) return 0;
    write_presets(options.root, parameters, error);
    for (const Software s : all_of<Software>()) write_software(options.root, name_of(s), figures[s]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--check")
            options.check = true;
        else if (word == "--renew")
            options.check = options.renew = true;
        else if (word == "--write")
            options.write = true;
        else if (word.starts_with("--only="))
            options.only.emplace_back(word.substr(7));
        else
            options.root = word;
    }
    try {
        return run(options);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fit: %s\n", e.what());
        return 3;
    }
}
