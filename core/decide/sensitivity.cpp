#include "core/decide/sensitivity.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/field_list.h"
#include "core/plan/order_presets.h"
#include "core/plan/problem.h"
#include "core/plan/ranges.h"
#include "core/rules/software_runs.h"
#include "core/step/constants.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr double kNudge = 0.2;
constexpr std::string_view kLayout = "/layout", kTraining = "/training";

class Nudger {
  public:
    Nudger(const Plan& plan, const Presets& presets, Sensitivity& out, const std::atomic<bool>* cancel)
        : plan_(plan), presets_(presets), out_(out), cancel_(cancel) {}

    void run() {
        gpus();
        for (const Axis a : all_of<Axis>()) factor(a);
        chunks();
        orders();
        fields();
        for (const Constant& c : list_constants(plan_, presets_)) constant(c);
    }

  private:
    using Kind = SensitivityRow::Kind;

    Nudge nudge(std::string value, Plan plan) {
        Nudge n{std::move(value), std::move(plan), {}};
        follow_software(plan_, n.plan);
        if (cancel_ != nullptr && *cancel_) {
            n.refused = "cancelled";
            return n;
        }
        if (const auto lack = lack_that_came(plan_, n.plan)) {
            n.refused = sentence(words_of(*lack, n.plan, n.plan.training.software), ".");
            return n;
        }
        evaluate(n.plan, seen_);
        if (!seen_.step) {
            n.refused = first_error(seen_.problems);
            if (n.refused.empty()) n.refused = "no time comes out";
            return n;
        }
        n.step_s = seen_.step->time_s;
        n.tokens_per_s = seen_.step->tokens_per_s;
        n.same_tokens_s = n.step_s * (tokens_per_step(plan_.training) / tokens_per_step(n.plan.training));
        n.memory_bytes = seen_.memory.peak();
        n.fit = seen_.memory.fit();
        return n;
    }

    void put(Kind kind, std::string id, std::string name, std::string value, std::optional<Nudge> down,
             std::optional<Nudge> up) {
        if (!down && !up) return;
        double least = out_.step_s, most = out_.step_s;
        for (const std::optional<Nudge>* n : {&down, &up})
            if (*n && (*n)->valid())
                least = std::min(least, (*n)->same_tokens_s), most = std::max(most, (*n)->same_tokens_s);
        out_.rows.push_back({kind, std::move(id), std::move(name), std::move(value), std::move(down),
                             std::move(up), most - least});
    }

    void gpus() {
        const std::int64_t now = plan_.cluster.gpus;
        const auto to = [&](std::int64_t n) -> std::optional<Nudge> {
            if (n == now) return std::nullopt;
            return nudge(std::to_string(n), with_gpus(plan_, n));
        };
        put(Kind::factor, "/cluster/gpus", "GPUs", std::to_string(now),
            to(next_value("/cluster/gpus", now, -1)), to(next_value("/cluster/gpus", now, 1)));
    }

    // Takes the next legal factors of an axis; data parallelism takes or gives the difference.
    void factor(Axis axis) {
        const std::int64_t now = factor_in_force(plan_, axis);
        std::int64_t below = 0, above = 0;
        for (const std::int64_t f : legal_factors(plan_, axis)) {
            if (f < now) below = f;
            if (f > now && above == 0) above = f;
        }
        const auto to = [&](std::int64_t f) -> std::optional<Nudge> {
            if (f == 0) return std::nullopt;
            return nudge(std::to_string(f), with_factor(plan_, axis, f, true));
        };
        put(Kind::factor, "/layout/" + std::string(name_of(axis)), std::string(name_of(axis)),
            std::to_string(now), to(below), to(above));
    }

    // Takes the next numbers of chunks that the schedule runs.
    void chunks() {
        const Layout& l = plan_.layout;
        const auto to = [&](int by) -> std::optional<Nudge> {
            for (std::int64_t v = l.virtual_stages + by; v >= 1 && v * l.pp <= plan_.model.layers; v += by) {
                Plan p = with_schedule(plan_, l.schedule, v);
                Nudge n = nudge(std::to_string(v), std::move(p));
                if (n.valid()) return n;
            }
            return std::nullopt;
        };
        put(Kind::setting, "/layout/virtual_stages", "virtual_stages", std::to_string(l.virtual_stages),
            to(-1), to(1));
    }

    // Takes another schedule, with chunks that it can run.
    void schedule(Schedule other) {
        const Layout& l = plan_.layout;
        const std::int64_t chunks = chunks_for(other, l.virtual_stages);
        put(Kind::setting, "/layout/schedule", "schedule", with_chunks(l.schedule, l.virtual_stages),
            std::nullopt, nudge(with_chunks(other, chunks), with_schedule(plan_, other, chunks)));
    }

    void orders() {
        std::vector<AxisOrder> seen{plan_.layout.order};
        for (const OrderPreset& o : order_presets()) {
            if (std::find(seen.begin(), seen.end(), o.order) != seen.end()) continue;
            seen.push_back(o.order);
            put(Kind::setting, "/layout/order", "order", std::string(order_name(plan_.layout.order)),
                std::nullopt, nudge(std::string(o.name), with_order(plan_, o.order)));
        }
    }

    void fields() {
        const auto list = list_fields(plan_);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const bool layout = list[i].owner == kLayout;
            if (!layout && !list[i].owner.starts_with(kTraining)) continue;
            std::visit([&](const auto& place) { field(i, list[i], place); }, list[i].place);
        }
    }

    using Listed = ListedField<true>;
    // Returns the plan with the field at `i` of the list changed by `change(place)`.
    template <typename Place, typename Change>
    Nudge changed(std::size_t i, std::string value, Change&& change) {
        Plan p = plan_;
        change(std::get<Place>(list_fields(p)[i].place));
        return nudge(std::move(value), std::move(p));
    }

    void field(std::size_t i, const Listed& f, const bool* now) {
        Nudge n = changed<bool*>(i, *now ? "off" : "on", [&](bool* v) { *v = !*v; });
        std::optional<Nudge> down, up;
        (*now ? down : up) = std::move(n);
        put(Kind::setting, f.pointer(), name(f), *now ? "on" : "off", std::move(down), std::move(up));
    }
    void field(std::size_t i, const Listed& f, const int* now) {  // zero
        const auto to = [&](int value) -> std::optional<Nudge> {
            if (value < 0 || value > 3) return std::nullopt;
            return changed<int*>(i, std::to_string(value), [&](int* v) { *v = value; });
        };
        put(Kind::setting, f.pointer(), name(f), std::to_string(*now), to(*now - 1), to(*now + 1));
    }
    // Sizes and batches halve and double. Factors have rows of their own.
    void field(std::size_t i, const Listed& f, const std::int64_t* now) {
        if (f.owner == kLayout) return;
        const bool layers = f.key == "activations_layers";
        const auto to = [&](std::int64_t value) -> std::optional<Nudge> {
            const auto* range = std::get_if<IntRange>(&f.range);
            if (!range || value == *now || value < range->least || value > range->most) return std::nullopt;
            return changed<std::int64_t*>(i, std::to_string(value), [&](std::int64_t* v) { *v = value; });
        };
        const bool odd = *now % 2 != 0;
        put(Kind::setting, f.pointer(), name(f), std::to_string(*now),
            layers ? to(*now - 1)
            : odd  ? std::nullopt
                   : to(*now / 2),
            to(layers ? *now + 1 : *now * 2));
    }
    void field(std::size_t i, const Listed& f, const double* now) {
        const auto* range = std::get_if<NumberRange>(&f.range);
        if (!range || f.key == "tokens_total" || f.key == "checkpoint_s") return;  // of no figure here
        if (f.owner == "/training/buffers" || f.key == "costly_share") return;     // listed as constants
        const double step = *now == 0 ? 0 : kNudge * *now;
        const auto to = [&](double value) -> std::optional<Nudge> {
            value = std::clamp(value, range->least, range->most);
            if (value == *now) return std::nullopt;
            return changed<double*>(i, three_digits(value), [&](double* v) { *v = value; });
        };
        put(Kind::setting, f.pointer(), name(f), three_digits(*now), to(*now - step), to(*now + step));
    }
    void field(std::size_t i, const Listed& f, const RecomputeChoice* now) {
        const auto to = [&](int kind) -> std::optional<Nudge> {
            if (kind < 0 || kind > static_cast<int>(Recompute::full)) return std::nullopt;
            const auto word = static_cast<Recompute>(kind);
            return changed<RecomputeChoice*>(i, std::string(name_of(word)),
                                             [&](RecomputeChoice* v) { *v = word; });
        };
        const int at = static_cast<int>(now->kind);
        put(Kind::setting, f.pointer(), name(f), words_of(*now), to(at - 1), to(at + 1));
    }
    void field(std::size_t i, const Listed& f, const FieldPlace<true>::Choice& now) {
        const bool stored = f.key == "parameters" || f.key == "gradients" || f.key == "optimizer_state";
        for (std::size_t k = 0; k < now.names.size(); ++k) {
            if (k == *now.value || f.key == "software") continue;
            const auto type = static_cast<Dtype>(k);  // of a choice of number formats
            if (stored && (type == Dtype::tf32 || type == Dtype::fp4)) continue;  // no plan stores these
            if (f.key == "schedule") {
                schedule(static_cast<Schedule>(k));
                continue;
            }
            put(Kind::setting, f.pointer(), name(f), std::string(now.names[*now.value]), std::nullopt,
                changed<FieldPlace<false>::Choice>(
                    i, std::string(now.names[k]),
                    [&](const FieldPlace<false>::Choice& v) { *v.value = static_cast<std::uint8_t>(k); }));
        }
    }
    // Finer choices that a plan may leave out, and lists, have no next value.
    void field(std::size_t, const Listed&, const std::optional<std::int64_t>*) {}
    void field(std::size_t, const Listed&, const std::vector<std::int64_t>*) {}
    void field(std::size_t, const Listed&, const std::array<Axis, kAxisCount>*) {}

    static std::string name(const Listed& f) {
        return f.owner == "/training/overlap"   ? "overlap " + std::string(f.key)
               : f.owner == "/training/offload" ? "offload " + std::string(f.key)
                                                : std::string(f.key);
    }

    void constant(const Constant& c) {
        if (c.id == "efficiency.error" || c.id == "costly_share") return;  // no part of any figure
        const auto to = [&](double value) -> std::optional<Nudge> {
            value = std::clamp(value, c.least, c.most);
            if (value == c.value) return std::nullopt;
            return nudge(general(value), with_constant(plan_, presets_, c.id, value));
        };
        if (c.unit == Constant::Unit::flag) {
            std::optional<Nudge> down, up;
            (c.value != 0 ? down : up) = to(c.value != 0 ? 0 : 1);
            put(Kind::constant, c.id, c.name, c.value != 0 ? "on" : "off", std::move(down), std::move(up));
            return;
        }
        put(Kind::constant, c.id, c.name, general(c.value), to(c.value * (1 - kNudge)),
            to(c.value * (1 + kNudge)));
    }
    static std::string general(double x) { return general_text(x, 4); }

    const Plan& plan_;
    const Presets& presets_;
    Sensitivity& out_;
    const std::atomic<bool>* cancel_;  // null: it runs to the end
    Evaluation seen_;
};

}  // namespace

std::vector<std::size_t> Sensitivity::by_reach() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto moves = [&](const std::optional<Nudge>& n) {
            return n && n->valid() && (n->same_tokens_s != step_s || n->memory_bytes != memory_bytes);
        };
        if (moves(rows[i].down) || moves(rows[i].up)) out.push_back(i);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].reach_s > rows[b].reach_s; });
    return out;
}

Sensitivity sensitivity_of(const Plan& plan, const Presets& presets, const std::atomic<bool>* cancel) {
    Sensitivity out;
    const Evaluation e = evaluate(plan);
    if (!e.step) return out;
    out.step_s = e.step->time_s;
    out.tokens_per_s = e.step->tokens_per_s;
    out.memory_bytes = e.memory.peak();
    Nudger(plan, presets, out, cancel).run();
    return out;
}

std::string_view name_of(SensitivityRow::Kind kind) {
    switch (kind) {
    case SensitivityRow::Kind::factor: return "factor";
    case SensitivityRow::Kind::setting: return "setting";
    case SensitivityRow::Kind::constant: return "constant";
    }
    return "";
}

}  // namespace pentamesh
