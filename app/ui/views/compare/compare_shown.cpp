#include "app/ui/views/compare/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/difference.h"
#include "core/plan/title.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kMostReasons = 4;
constexpr double kWorthSaying = 0.03;  // of the largest part's difference

// A comparison reads only these figures; the timeline and the lists of work are not copied.
Evaluation figures_alone(const Evaluation& e) {
    Evaluation out;
    out.valid = e.valid;
    out.parameters = e.parameters;
    out.mesh = e.mesh;
    out.groups = e.groups;
    out.microbatches = e.microbatches;
    out.memory = e.memory;
    out.comm = e.comm;
    out.step = e.step;
    return out;
}

}  // namespace

std::vector<ComparedPlan> compared_plans(const Scene& scene, const CompareViewState& state) {
    std::vector<ComparedPlan> out;
    for (std::size_t i = 0; i < state.kept.size(); ++i) {
        out.push_back({state.kept[i].plan.get(), state.kept[i].evaluation.get(), static_cast<int>(i)});
        if (i == 0) out.push_back({&scene.plan, &scene.evaluation, ComparedPlan::kOpen});
    }
    if (!out.empty()) return out;
    out.push_back({&scene.plan, &scene.evaluation, ComparedPlan::kOpen});
    if (state.proposal)
        out.push_back(
            {state.proposal->plan.get(), state.proposal->evaluation.get(), ComparedPlan::kProposed});
    return out;
}

PlanComparison shown_comparison(const Scene& scene, const CompareViewState& state) {
    std::vector<Plan> plans;
    std::vector<Evaluation> evaluations;
    for (const ComparedPlan& p : compared_plans(scene, state)) {
        plans.push_back(*p.plan);
        evaluations.push_back(figures_alone(*p.evaluation));
    }
    PlanComparison c;
    for (const Plan& p : plans) c.plans.push_back(title_of(p));
    c.figures = compared_figures(plans, evaluations);
    if (plans.size() < 2) return c;
    c.fields = differing_fields(plans);
    c.why = why_steps_differ(std::span(plans).first(2), std::span(evaluations).first(2));
    return c;
}

namespace {

// Returns "B does not fit (90.9 of 79.6 GiB). "; empty for a plan that fits.
std::string unfit_words(const char* name, const Memory& memory) {
    if (memory.fit() == MemoryFit::yes) return {};
    return std::string(name) + " " + std::string(name_of(memory.fit())) + " (" + gib(memory.peak()) + " of "
           + memory_text(memory.hbm) + "). ";
}

// Says what clusters of different sizes have in common; empty for those of one size.
std::string per_gpu_words(const Evaluation& a, const Evaluation& b) {
    if (a.mesh.world == b.mesh.world) return {};
    const auto each = [](const Evaluation& e) { return count_text(tokens_per_gpu_s(e)); };
    const auto hours = [](const Evaluation& e) {
        const double h = gpu_hours_of_billion(e.mesh.world, e.step->tokens_per_s);
        return thousands(static_cast<std::int64_t>(std::llround(h)));
    };
    return " A GPU makes " + each(a) + " tokens/s in A and " + each(b) + " in B: a billion tokens take "
           + hours(a) + " and " + hours(b) + " GPU-hours.";
}

}  // namespace

std::string why_words(const Evaluation& a, const Evaluation& b, const std::vector<PartRow>& why) {
    if (!a.step || !b.step) return "One of the plans has no step.";
    const double by = difference(b.step->time_s, a.step->time_s);
    std::string out = unfit_words("A", a.memory) + unfit_words("B", b.memory);
    if (by == 0)
        out += "A and B take the same time";
    else
        out += "B is " + time_text(std::abs(by)) + (by < 0 ? " faster" : " slower");
    std::vector<const PartRow*> rows;
    for (const PartRow& r : why)
        if (r.delta_s.back() != 0) rows.push_back(&r);
    std::sort(rows.begin(), rows.end(), [](const PartRow* x, const PartRow* y) {
        return std::abs(x->delta_s.back()) > std::abs(y->delta_s.back());
    });
    std::string reasons;
    for (std::size_t i = 0; i < std::min(rows.size(), kMostReasons); ++i) {
        const double d = rows[i]->delta_s.back();
        if (std::abs(d) < kWorthSaying * std::abs(rows.front()->delta_s.back())) break;
        reasons += (reasons.empty() ? "" : ", ") + time_text(std::abs(d)) + (d < 0 ? " less " : " more ")
                   + rows[i]->part;
    }
    out += reasons.empty() ? "." : ": " + reasons + ".";
    const double memory = difference(b.memory.peak(), a.memory.peak());
    if (memory != 0)
        out += " Its fullest GPU holds " + memory_text(std::abs(memory)) + (memory < 0 ? " less." : " more.");
    return out + per_gpu_words(a, b);
}

std::string apart_of(const PlanComparison& c, std::size_t index) {
    constexpr std::size_t kMost = 3;
    const std::string& title = c.plans[index];
    std::string out;
    if (std::count(c.plans.begin(), c.plans.end(), title) < 2) return out;
    std::size_t said = 0;
    for (const FieldDifference& f : c.fields) {
        bool tells = false;
        for (std::size_t i = 0; i < c.plans.size() && i < f.values.size(); ++i)
            tells = tells || (c.plans[i] == title && f.values[i] != f.values[index]);
        if (!tells || index >= f.values.size()) continue;
        if (said++ == kMost) return out + ", …";
        out += (out.empty() ? "" : ", ") + field_name(f.pointer) + " " + field_value(f.values[index]);
    }
    return out;
}

std::string full_title(const PlanComparison& c, std::size_t index) {
    const std::string apart = apart_of(c, index);
    return c.plans[index] + (apart.empty() ? "" : " (" + apart + ")");
}

std::string field_name(const std::string& pointer) {
    for (const std::string_view group : {"/layout/", "/training/"})
        if (pointer.starts_with(group)) return pointer.substr(group.size());
    return pointer.substr(pointer.starts_with('/') ? 1 : 0);
}

std::string field_value(const std::string& json) {
    if (json == "null") return "—";
    if (json.size() >= 2 && json.front() == '"') return json.substr(1, json.size() - 2);
    if (json.size() < 2 || json.front() != '[') return json;
    // The value is a list: names in an order, or numbers.
    const std::string_view between = json.find('"') != std::string::npos ? " · " : ", ";
    std::string out;
    for (const char c : json.substr(1, json.size() - 2)) {
        if (c == ',')
            out += between;
        else if (c != '"')
            out += c;
    }
    return out;
}

}  // namespace pentamesh::ui
