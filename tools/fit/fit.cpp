// Fits the step model's constants (presets/gpus/*.json, "efficiency") on presets/published_runs.json and
// prints the error, in the sample and leaving one run out at a time. docs/step.md says what is fitted and
// why. --check: fits nothing, and exits with 1 where the constants that ship err too much or a run moved.
#include "check.h"

#include "core/base/files.h"
#include "core/base/statistics.h"
#include "core/calibrate/parameters.h"
#include "core/evaluate.h"
#include "core/explain/published.h"
#include "core/io/presets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

using namespace pentamesh;

namespace {

// A run as the plan of it whose memory fits.
struct Case {
    const PublishedRun* run = nullptr;
    Plan plan;
};

constexpr double kNoTime = 10;  // error of a run that gets no step time

// Relative error of the throughput: measured time over ours, less 1.
double error_of(const PublishedRun& run, const Plan& plan, bool timeline, Evaluation& scratch) {
    evaluate(plan, scratch, {.timeline = timeline, .messages = false});
    if (!scratch.step) return kNoTime;
    const Step& s = *scratch.step;
    const double want =
        run.measured_s > 0 ? run.measured_s : s.time_s * s.tflops_per_gpu / run.measured_tflops;
    return want / s.time_s - 1;
}

Plan first_that_fits(const PublishedRun& run, Evaluation& scratch) {
    for (const Plan& p : run.plans) {
        evaluate(p, scratch, {.timeline = true, .messages = false});
        if (scratch.memory.may_fit()) return p;  // it has run
    }
    return run.plans.back();
}

// The cost of all cases but one, and of the parameters.
class Objective {
  public:
    Objective(std::vector<Case>& cases, std::vector<Parameter>& parameters)
        : cases_(cases), parameters_(parameters) {}

    double operator()(std::ptrdiff_t without = -1) {
        set_parameters(parameters_, [this](auto&& each) {
            for (Case& c : cases_) each(c.run->gpu, c.plan.cluster.gpu.efficiency);
        });
        double sum = cost_of_values(parameters_);
        for (std::size_t i = 0; i < cases_.size(); ++i)
            if (static_cast<std::ptrdiff_t>(i) != without)
                sum += cost_of_error(std::log1p(error_of(*cases_[i].run, cases_[i].plan, false, scratch_)));
        return sum;
    }

    void fit(std::ptrdiff_t without = -1) {
        minimize(parameters_, [&] { return (*this)(without); });
    }

  private:
    std::vector<Case>& cases_;
    std::vector<Parameter>& parameters_;
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

// Each run's error with the constants that ship, held against the table and the limits.
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

// The parameters and the error outside the sample go into the GPUs' files, to four digits.
void write_presets(const std::string& root, const std::vector<Parameter>& parameters, double error) {
    for (const auto& entry : std::filesystem::directory_iterator(root + "/presets/gpus")) {
        nlohmann::ordered_json gpu = nlohmann::ordered_json::parse(std::ifstream(entry.path()));
        const std::string id = entry.path().stem().string();
        const auto rounded = [](double x) {
            const double unit = std::pow(10, std::floor(std::log10(x)) - 3);
            return std::round(x / unit) * unit;
        };
        bool fitted = false;
        for (const Parameter& p : parameters)
            if (std::find(p.gpus.begin(), p.gpus.end(), id) != p.gpus.end()) {
                std::ostringstream digits;  // so that the file shows four, not seventeen
                digits.imbue(std::locale::classic());
                digits << rounded(p.value);
                gpu["efficiency"][std::string(p.key)] = nlohmann::ordered_json::parse(digits.str());
                fitted = true;
            }
        if (fitted && error > 0) gpu["efficiency"]["error"] = std::round(error * 1000) / 1000;
        std::ofstream(entry.path()) << gpu.dump(2) << '\n';
    }
}

// Each run's error when it is no part of what the constants are fitted on.
std::vector<RunError> leave_one_out(std::vector<Case>& cases, std::vector<Parameter>& parameters,
                                    Objective& objective, Evaluation& scratch) {
    const std::vector<Parameter> all = parameters;
    std::vector<RunError> outside;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        parameters = all;
        objective.fit(static_cast<std::ptrdiff_t>(i));
        outside.push_back({.label = label_of(*cases[i].run, outside),
                           .error = error_of(*cases[i].run, cases[i].plan, false, scratch),
                           .moe = cases[i].plan.model.moe.has_value()});
    }
    parameters = all;
    return outside;
}

struct Options {
    std::string root = ".";
    bool fit = true, renew = false, leave_out = false, write = false;
};

int run(const Options& options) {
    const Presets presets(options.root + "/presets");
    const std::vector<PublishedRun> runs = load_published_runs(presets);
    Evaluation scratch;
    std::vector<Case> cases;
    for (const PublishedRun& r : runs) cases.push_back({&r, first_that_fits(r, scratch)});

    std::vector<Parameter> parameters = fitted_parameters();
    Objective objective(cases, parameters);
    if (options.fit) {
        for (Parameter& p : parameters) p.value = p.expected;
        objective.fit();
        for (const Parameter& p : parameters)
            std::printf("%-28s %10.4g  (expected %.4g)\n", p.label().c_str(), p.value, p.expected);
    }
    std::vector<RunError> errors;
    for (const Case& c : cases) {
        errors.push_back({.label = label_of(*c.run, errors),
                          .error = error_of(*c.run, c.plan, true, scratch),
                          .moe = c.plan.model.moe.has_value()});
        if (scratch.step) print_parts(c, scratch, errors.back().error);
    }
    print_summary(options.fit ? "fitted" : "as shipped", errors);
    if (!options.fit) return check(options.root, errors, options.renew);
    if (options.leave_out) {
        const std::vector<RunError> outside = leave_one_out(cases, parameters, objective, scratch);
        print_summary("leaving one out", outside);
        if (options.write) write_presets(options.root, parameters, median(sizes_of(outside)));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--check")
            options.fit = false;
        else if (word == "--renew")
            options.renew = true;
        else if (word == "--leave-one-out")
            options.leave_out = true;
        else if (word == "--write")
            options.leave_out = options.write = true;
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
