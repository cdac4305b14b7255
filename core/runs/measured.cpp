#include "core/runs/measured.h"

#include "core/base/text.h"
#include "core/plan/factors.h"
#include "core/runs/fitting.h"
#include "core/runs/run_axes.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::runs {
namespace {

// Returns the files that divide a step: traces, else a log with timers.
std::vector<const RunFile*> dividing_files(const std::vector<RunFile>& files) {
    for (const RunFileKind kind : {RunFileKind::kineto, RunFileKind::megatron_log}) {
        std::vector<const RunFile*> out;
        for (const RunFile& f : files)
            if (f.kind == kind
                && std::any_of(f.parts.begin(), f.parts.end(), [](const auto& p) { return p.has_value(); }))
                out.push_back(&f);
        if (!out.empty()) return out;
    }
    return {};
}

std::optional<double> step_of(const RunFile& f, const Plan* plan) {
    if (f.step_s > 0) return f.step_s;
    if (plan && f.tokens_per_s_per_gpu > 0)
        return tokens_per_step(plan->training)
               / (f.tokens_per_s_per_gpu * static_cast<double>(plan->cluster.gpus));
    return std::nullopt;
}

// Returns the mean of the files that divide the step; without any, of all that have one.
std::optional<double> measured_step(const std::vector<RunFile>& files, const Plan* plan) {
    std::vector<const RunFile*> of = dividing_files(files);
    if (of.empty())
        for (const RunFile& f : files) of.push_back(&f);
    double sum = 0;
    int count = 0;
    for (const RunFile* f : of)
        if (const auto s = step_of(*f, plan)) sum += *s, ++count;
    if (count == 0) return std::nullopt;
    return sum / count;
}

Division division_of(const RunFile& file) {
    return file.kind == RunFileKind::kineto ? Division::trace : Division::timers;
}

// The parts of several ranks are their mean, which still adds up to the mean step.
void add_parts(Measured& m, const Prediction* prediction) {
    const std::vector<const RunFile*> files = dividing_files(m.files);
    if (files.empty()) return;
    const double share = 1 / static_cast<double>(files.size());
    EnumArray<RunPart, bool> measured{};
    EnumArray<RunPart, PartTime> time{};
    EnumArray<RunPart, double> predicted{};
    for (const RunFile* f : files)
        for (const RunPart p : all_of<RunPart>())
            if (f->parts[p]) {
                measured[p] = true;
                time[p].measured_s += f->parts[p]->measured_s * share;
                time[p].total_s += f->parts[p]->total_s * share;
            }
    if (prediction)
        for (const RunFile* f : files) {
            const Mesh& mesh = prediction->evaluation.mesh;
            const bool known = f->rank >= 0 && f->rank < mesh.world;
            const int stage = known ? static_cast<int>(dense_coordinates(mesh, f->rank)[Axis::pp]) : -1;
            const auto of_file = predict_parts(prediction->evaluation, division_of(*f), stage, measured);
            for (const RunPart p : all_of<RunPart>()) predicted[p] += of_file[p] * share;
        }
    for (const RunPart p : all_of<RunPart>()) {
        if (!measured[p] && !(std::abs(predicted[p]) > 0)) continue;
        PartRow row{p, time[p], std::nullopt, {}};
        if (prediction) {
            row.predicted_s = predicted[p];
            row.fitting = fit_part(*prediction, row, division_of(*files.front()), m.collectives);
            const Step& s = *prediction->evaluation.step;
            // Another stage's compute stands for the longest one's in proportion.
            if (p == RunPart::compute && !row.fitting.constant.empty())
                m.compute_s = row.time.measured_s * longest_compute(s) / predicted[p];
        }
        m.parts.push_back(std::move(row));
    }
}

// Names what a call is where its group is not named: the axes of the plan's operations that fit.
void name_calls(Measured& m, const Prediction& prediction) {
    for (CollectiveRow& r : m.collectives) {
        if (r.part == RunPart::unnamed && r.ranks > 1) {
            std::vector<RunPart> fit;
            for (const bool by_bytes : {true, false}) {
                for (const Operation& o : prediction.evaluation.comm.operations) {
                    CollectiveRow with = r;
                    with.part = part_of_kind(o.group);
                    const bool fits = by_bytes ? operation_of(prediction.evaluation, with) != nullptr : true;
                    if (o.group_size == r.ranks && fits
                        && std::find(fit.begin(), fit.end(), with.part) == fit.end())
                        fit.push_back(with.part);
                }
                if (!fit.empty()) break;
            }
            if (fit.size() == 1) r.part = fit.front();
            if (!fit.empty()) r.axis.clear();
            for (const RunPart p : fit) r.axis += sentence(r.axis.empty() ? "" : " or ", name_of(p));
        }
        if (const Operation* o = operation_of(prediction.evaluation, r)) r.predicted_s = o->call_s;
    }
}

// Says which axis calls without groups are of, where the plan talks over only one.
void name_unnamed(Measured& m, const Evaluation& e) {
    if (std::ranges::none_of(m.parts, [](const PartRow& r) { return r.part == RunPart::unnamed; })) return;
    std::vector<RunPart> axes;
    for (const Operation& o : e.comm.operations)
        if (std::ranges::find(axes, part_of_kind(o.group)) == axes.end())
            axes.push_back(part_of_kind(o.group));
    if (axes.size() == 1)
        m.warnings.push_back(sentence("The plan talks only over ", name_of(axes.front()),
                                      ": the unnamed communication is of it."));
}

// Says where the run cannot be that of the plan.
void compare(Measured& m, const Plan& plan, const Mesh& mesh) {
    const auto differs = [&](const RunFile& f, std::string_view what, std::int64_t run,
                             std::int64_t planned) {
        if (run > 0 && run != planned)
            m.problems.push_back({"run-differs", sentence(f.file, ": ", what, " ", run, " in the run and ",
                                                          planned, " in the plan.")});
    };
    for (const RunFile& f : m.files) {
        // A timeline of workers has no tensor-parallel ranks.
        if (f.kind != RunFileKind::straggler_timeline)
            differs(f, "there are so many ranks:", f.world, mesh.world);
        differs(f, "the global batch is", f.global_batch, plan.training.global_batch);
    }
}

std::string signed_time(double seconds) {
    return (seconds < 0 ? "-" : "+") + time_text(std::abs(seconds));
}

std::string summary_of(const Measured& m) {
    if (!m.measured_s)
        return m.collectives.empty() ? "" : "The files say how long collectives take, and no step.";
    std::string out = sentence("A step takes ", time_text(*m.measured_s));
    if (!m.predicted_s) return out + ".";
    const double off = *m.measured_s - *m.predicted_s;
    out += sentence(", predicted ", time_text(*m.predicted_s), ": ", signed_time(off), " (",
                    percent_text(std::abs(off) / *m.predicted_s), ").");
    const auto largest = std::ranges::max_element(m.parts, {}, [&](const PartRow& r) {
        return r.predicted_s ? r.difference_s() * (off < 0 ? -1 : 1) : 0;
    });
    constexpr double kSmall = 0.01;
    if (largest != m.parts.end() && largest->predicted_s && std::abs(off) > kSmall * *m.predicted_s)
        out += sentence(" The largest part of the difference is ", name_of(largest->part), ": ",
                        signed_time(largest->difference_s()), ".");
    return out;
}

}  // namespace

Measured measure(std::vector<RunFile> files, const Plan* plan, const Presets& presets) {
    Measured m;
    m.files = std::move(files);
    std::optional<Prediction> prediction;
    if (plan) {
        prediction.emplace(Prediction{*plan, presets, evaluate(*plan)});
        for (const Problem& p : prediction->evaluation.problems)
            if (p.severity == Severity::error)
                m.problems.push_back({"impossible-plan", "The plan is impossible: " + p.message});
        compare(m, *plan, prediction->evaluation.mesh);
    }
    const bool predicted = prediction && prediction->evaluation.step;
    m.collectives =
        collective_rows(m.files, parts_by(plan ? &prediction->evaluation.mesh : nullptr), m.warnings);
    m.measured_s = measured_step(m.files, plan);
    if (predicted) {
        const Step& s = *prediction->evaluation.step;
        m.predicted_s = s.time_s, m.ideal_s = s.ideal_s;
        name_calls(m, *prediction);
        m.links = fit_links(*prediction, m.collectives);
        const std::string words = m.measured_s ? impossible_words(*plan, s, *m.measured_s) : "";
        m.possible = words.empty();
        if (!m.possible) m.problems.push_back({"impossible-run", words});
    }
    add_parts(m, predicted ? &*prediction : nullptr);
    if (predicted) name_unnamed(m, prediction->evaluation);
    for (RunFile& f : m.files) {
        if (f.whatif && !m.whatif) m.whatif = f.whatif;
        for (const std::string& w : f.warnings) m.warnings.push_back(f.file + ": " + w);
    }
    const auto traces = std::ranges::count(m.files, RunFileKind::kineto, &RunFile::kind);
    if (traces == 1 && !m.collectives.empty())
        m.warnings.emplace_back(
            "One rank's trace does not tell the time of a transfer from the wait for other ranks.");
    m.summary = summary_of(m);
    return m;
}

}  // namespace pentamesh::runs
