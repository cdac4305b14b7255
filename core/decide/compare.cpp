#include "core/decide/compare.h"

#include "core/base/text.h"
#include "core/decide/units.h"
#include "core/plan/title.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

using Figure = std::optional<double> (*)(const Plan&, const Evaluation&);

std::optional<double> of_step(const Evaluation& e, double Step::*member) {
    return e.step ? std::optional<double>((*e.step).*member) : std::nullopt;
}
Cost costs_of(const Plan& p, const Evaluation& e) {
    return cost_of(p, e.step ? e.step->tokens_per_s : 0);
}
std::optional<double> memory_of(const Evaluation& e, double (*read)(const Memory&)) {
    return e.memory.stage.empty() ? std::nullopt : std::optional<double>(read(e.memory));
}

struct FigureKind {
    std::string_view key, name;
    FigureRow::Unit unit;
    FigureRow::Better better;
    Figure read;
    bool if_known = false;  // it is left out where no plan gives enough for it
};
using Unit = FigureRow::Unit;
using Better = FigureRow::Better;
// These two are what clusters of different sizes have in common.
constexpr std::string_view kPerGpu = "step.tokens_per_gpu_s", kPerBillion = "step.gpu_hours_per_billion";
constexpr std::array<FigureKind, 16> kFigures{{
    {"step.time_s", "step", Unit::seconds, Better::less,
     [](const Plan&, const Evaluation& e) { return of_step(e, &Step::time_s); }},
    {"step.tokens_per_s", "tokens", Unit::tokens_per_s, Better::more,
     [](const Plan&, const Evaluation& e) { return of_step(e, &Step::tokens_per_s); }},
    {kPerGpu, "tokens of a GPU", Unit::tokens_per_s, Better::more,
     [](const Plan&, const Evaluation& e) {
         return e.step ? std::optional<double>(tokens_per_gpu_s(e)) : std::nullopt;
     }},
    {kPerBillion, "GPU-hours of a billion tokens", Unit::gpu_hours, Better::less,
     [](const Plan&, const Evaluation& e) {
         return e.step ? std::optional<double>(gpu_hours_of_billion(e.mesh.world, e.step->tokens_per_s))
                       : std::nullopt;
     }},
    {"step.mfu", "MFU", Unit::share, Better::more,
     [](const Plan&, const Evaluation& e) { return of_step(e, &Step::mfu); }},
    {"step.mfu_causal", "MFU (causal)", Unit::share, Better::more,
     [](const Plan&, const Evaluation& e) {
         return e.step ? std::optional<double>(mfu_causal(*e.step)) : std::nullopt;
     }},
    {"step.hfu", "HFU", Unit::share, Better::neither,  // more recomputation raises it and helps nobody
     [](const Plan&, const Evaluation& e) { return of_step(e, &Step::hfu); }},
    {"step.bubble_s", "bubble and uneven stages", Unit::seconds, Better::less,
     [](const Plan&, const Evaluation& e) { return of_step(e, &Step::bubble_s); }},
    {"memory.peak", "fullest GPU", Unit::bytes, Better::less,
     [](const Plan&, const Evaluation& e) { return memory_of(e, [](const Memory& m) { return m.peak(); }); }},
    {"memory.headroom", "memory left on it", Unit::share, Better::more,
     [](const Plan&, const Evaluation& e) {
         return memory_of(e, [](const Memory& m) { return m.hbm > 0 ? 1 - m.peak() / m.hbm : 0; });
     }},
    {"cost.days", "days", Unit::days, Better::less,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).days; }, true},
    {"cost.gpu_hours", "GPU-hours", Unit::gpu_hours, Better::less,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).gpu_hours; }, true},
    {"cost.cost", "cost", Unit::money, Better::less,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).money; }, true},
    {"cost.energy_kwh", "energy", Unit::kwh, Better::less,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).kwh; }, true},
    {"cost.goodput", "goodput", Unit::share, Better::more,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).goodput; }, true},
    {"cost.days_with_failures", "days with failures", Unit::days, Better::less,
     [](const Plan& p, const Evaluation& e) { return costs_of(p, e).days_with_failures; }, true},
}};

// ---- the path -------------------------------------------------------------------------------------------

// Finds the way from one plan to another, edit by edit.
class Walk {
  public:
    Walk(const Plan& a, const Plan& b, const std::atomic<bool>* cancel)
        : at_(a), to_(b), left_(units_between(a, b)), cancel_(cancel) {}

    std::vector<PathEdit> go() {
        std::vector<PathEdit> out;
        evaluate(to_, seen_);
        if (!seen_.step) return out;
        while (!left_.empty() && !stopped()) out.push_back(turn());
        if (stopped()) out.clear();
        return out;
    }

  private:
    // At most so many fields change together, unless all the remaining ones do.
    static constexpr std::size_t kMostTogether = 4;

    struct Best {
        std::vector<std::size_t> which;
        PathEdit edit;
    };

    PathEdit turn() {
        Best best;
        for (std::size_t size = 1; size <= kMostTogether && size < left_.size() && best.which.empty(); ++size)
            each_choice(size, 0, best);
        if (best.which.empty()) {
            for (std::size_t i = 0; i < left_.size(); ++i) chosen_.push_back(i);
            try_chosen(best);
            chosen_.clear();
        }
        PathEdit edit = std::move(best.edit);
        for (const std::size_t i : best.which) {
            edit.edit += (edit.edit.empty() ? "" : ", ") + words_of_change(left_[i], at_, to_);
            for (const std::string& pointer : left_[i].pointers) edit.pointers.push_back(pointer);
        }
        for (const std::size_t i : best.which) take(left_[i], to_, at_);
        for (std::size_t n = best.which.size(); n > 0; --n)
            left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best.which[n - 1]));
        return edit;
    }

    void each_choice(std::size_t more, std::size_t from, Best& best) {
        if (more == 0) return try_chosen(best);
        for (std::size_t i = from; i + more <= left_.size(); ++i) {
            chosen_.push_back(i);
            each_choice(more - 1, i + 1, best);
            chosen_.pop_back();
        }
    }

    [[nodiscard]] bool stopped() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }

    void try_chosen(Best& best) {
        if (stopped()) return;
        Plan plan = at_;
        for (const std::size_t i : chosen_) take(left_[i], to_, plan);
        evaluate(plan, quick_, {.timeline = false, .messages = false});
        if (!quick_.valid) return;
        evaluate(plan, seen_, {.timeline = true, .messages = false});
        if (!seen_.step) return;
        if (!best.which.empty() && seen_.step->tokens_per_s <= best.edit.tokens_per_s) return;
        best.which = chosen_;
        best.edit = {
            {}, {}, seen_.step->time_s, seen_.step->tokens_per_s, seen_.memory.peak(), seen_.memory.fit()};
    }

    Plan at_;
    const Plan& to_;
    std::vector<FieldUnit> left_;
    const std::atomic<bool>* cancel_;
    std::vector<std::size_t> chosen_;
    Evaluation quick_, seen_;  // without and with the timeline, whose order stays
};

}  // namespace

std::string FigureRow::one_currency() const {
    std::optional<std::string> one;
    for (std::size_t i = 0; i < currency.size(); ++i) {
        if (!values[i]) continue;
        if (one && *one != currency[i]) return {};
        one = currency[i];
    }
    return one.value_or("");
}

std::optional<std::size_t> FigureRow::better() const {
    if (which == Better::neither) return std::nullopt;
    std::optional<std::size_t> best;
    bool alike = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i]) return std::nullopt;
        if (!currency.empty() && currency[i] != currency[0]) return std::nullopt;
        alike = alike && *values[i] == *values[0];
        if (!best || (which == Better::less ? *values[i] < *values[*best] : *values[i] > *values[*best]))
            best = i;
    }
    return alike ? std::nullopt : best;
}

double tokens_per_gpu_s(const Evaluation& e) {
    return e.step->tokens_per_s / static_cast<double>(e.mesh.world);
}

std::vector<FigureRow> compared_figures(std::span<const Plan> plans,
                                        std::span<const Evaluation> evaluations) {
    std::vector<FigureRow> out;
    const bool causal = std::any_of(evaluations.begin(), evaluations.end(),
                                    [](const Evaluation& e) { return e.step && shows_causal_mfu(*e.step); });
    const bool sizes = std::any_of(evaluations.begin(), evaluations.end(), [&](const Evaluation& e) {
        return e.mesh.world != evaluations.front().mesh.world;
    });
    for (const FigureKind& k : kFigures) {
        if (k.key == "step.mfu_causal" && !causal) continue;
        if ((k.key == kPerGpu || k.key == kPerBillion) && !sizes) continue;
        FigureRow row{k.key, k.name, k.unit, k.better};
        // More GPUs are faster, and that by itself is no merit.
        if (sizes && (k.key == "step.time_s" || k.key == "step.tokens_per_s")) row.which = Better::neither;
        bool any = false;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            row.values.push_back(k.read(plans[i], evaluations[i]));
            if (k.unit == FigureRow::Unit::money) row.currency.push_back(plans[i].cluster.currency);
            any = any || row.values.back().has_value();
        }
        if (any || !k.if_known) out.push_back(std::move(row));
    }
    return out;
}

std::vector<PathEdit> path_between(const Plan& a, const Plan& b, const std::atomic<bool>* cancel) {
    return Walk(a, b, cancel).go();
}

PlanComparison compare(std::span<const Plan> plans, std::span<const Evaluation> evaluations) {
    PlanComparison c;
    for (const Plan& p : plans) c.plans.push_back(title_of(p));
    for (const Evaluation& e : evaluations) c.fit.push_back(fit_of(e.memory));
    c.fields = differing_fields(plans);
    c.figures = compared_figures(plans, evaluations);
    c.why = why_steps_differ(plans, evaluations);
    if (plans.size() == 2) c.path = path_between(plans[0], plans[1]);
    return c;
}

}  // namespace pentamesh
