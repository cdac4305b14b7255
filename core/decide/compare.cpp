#include "core/decide/compare.h"

#include "core/base/text.h"
#include "core/decide/space.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

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

// Says why a step is longer than another: its parts side by side, and for each part the reason in the plans.

namespace {

using Said = std::string (*)(const Plan&, const Evaluation&);

std::string compute_fact(const Plan& p, const Evaluation& e) {
    const Step& s = *e.step;
    const double share = s.compute_s > 0 ? s.mfu * s.time_s / s.compute_s : 0;
    const double causal = s.compute_s > 0 ? mfu_causal(s) * s.time_s / s.compute_s : 0;
    return sentence(three_digits(s.model_flops_per_gpu / 1e12), " model TFLOP a GPU at ", percent_text(share),
                    " of the ", name_of(p.training.compute), " peak while it computes",
                    shows_causal_mfu(s) ? sentence(" (causal: ", percent_text(causal), ")") : "", "; tp ",
                    p.layout.tp, ", cp ", p.layout.cp, p.model.moe ? sentence(", ep ", p.layout.ep) : "",
                    ", micro-batch ", p.training.micro_batch);
}
std::string recompute_fact(const Plan& p, const Evaluation& e) {
    const Step& s = *e.step;
    const double share = s.compute_s > 0 ? s.recompute_s / s.compute_s : 0;
    return sentence("recompute ", words_of(p.training.recompute), ": ", percent_text(share),
                    " of the compute once more");
}
std::string bubble_fact(const Plan& p, const Evaluation& e) {
    if (p.layout.pp == 1) return "no pipeline";
    return sentence(name_of(p.layout.schedule), ", pp ", p.layout.pp, " with ",
                    count_text(p.layout.virtual_stages, "chunk"), " a stage, ", e.microbatches,
                    e.microbatches == 1 ? " micro-batch" : " micro-batches", " of ",
                    time_text((e.step->compute_s + e.step->recompute_s)
                              / static_cast<double>(std::max<std::int64_t>(1, e.microbatches))),
                    " of work a stage");
}
std::string uneven_fact(const Plan& p, const Evaluation& e) {
    if (p.layout.pp == 1) return "no pipeline";
    std::int64_t least = p.model.layers, most = 0;
    for (const StageMemory& s : e.memory.stage)
        least = std::min(least, s.layers), most = std::max(most, s.layers);
    return least == most ? sentence(count_text(most, "layer"), " a stage, with embedding and head")
                         : sentence(least, " to ", most, " layers a stage");
}
std::string optimizer_fact(const Plan& p, const Evaluation& e) {
    const std::int64_t shards =
        p.layout.zero == 0 ? 1 : std::max<std::int64_t>(1, e.groups[GroupKind::fsdp].degree);
    const StageMemory& s = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    return sentence("ZeRO-", std::int64_t{p.layout.zero}, " over ", shards, ": ", memory_text(s.optimizer),
                    " of states on the fullest GPU");
}
std::string offload_fact(const Plan& p, const Evaluation&) {
    const Offload& away = p.training.offload;
    if (!away.any()) return "nothing lies in host memory";
    if (p.cluster.gpu.host_bytes_per_s <= 0) return "the rate of the link to host memory is not known";
    return sentence(count_text(away.activations_layers, "layer"), " of activations, ",
                    percent_text(away.optimizer), " of the optimizer, ", percent_text(away.parameters),
                    " of the parameters in host memory, at ", bytes_text(p.cluster.gpu.host_bytes_per_s),
                    "/s");
}
std::string straggler_fact(const Plan& p, const Evaluation& e) {
    return sentence("the slowest of ", count_text(e.mesh.world, "GPU"), ", cv ",
                    percent_text(p.training.straggler_cv));
}

double hidden_s(const Evaluation& e) {
    double sum = 0;
    for (const AxisTraffic& t : e.comm.by_axis) sum += t.time_s - t.exposed_s;
    return std::max(sum, 0.0);
}
std::string slowed_fact(const Plan& p, const Evaluation& e) {
    return sentence(time_text(hidden_s(e)), " of traffic hides; compute runs at ",
                    percent_text(p.cluster.gpu.efficiency.overlap), " beside it");
}
std::string exposed_fact(const Plan& p, const Evaluation& e, GroupKind k) {
    const AxisTraffic& t = e.comm.by_axis[k];
    if (t.count <= 0) return "nothing is sent";
    const GroupSummary& g = e.groups[k];
    const double hidden = t.time_s > 0 ? std::max(1 - t.exposed_s / t.time_s, 0.0) : 0;
    return sentence(bytes_text(t.sent_bytes_per_rank, Zeros::kept), " a GPU in groups of ", g.degree,
                    " over ", tier_name(p.cluster, g.slowest_tier), ", ", time_text(t.time_s), " of which ",
                    percent_text(hidden, Zeros::kept), " hides");
}

// ZeRO and context parallelism rename the groups in which the same gradients and parameters move: they are
// one part.
double data_parallel_exposed(const Step& s) {
    double sum = 0;
    for (const GroupKind k : all_of<GroupKind>())
        if (is_data_parallel(k)) sum += s.exposed_comm_s[k];
    return sum;
}
std::string data_parallel_fact(const Plan& p, const Evaluation& e) {
    std::string out;
    for (const GroupKind k : all_of<GroupKind>()) {
        if (!is_data_parallel(k) || e.comm.by_axis[k].count <= 0) continue;
        const std::string_view name = k == GroupKind::fsdp ? "dp_shard × cp" : name_of(k);
        out += sentence(out.empty() ? "" : "; ", name, ": ", exposed_fact(p, e, k));
    }
    return out.empty() ? "nothing is sent" : out;
}

// ---- what changed, in few words ---------------------------------------------------------------------------

struct Side {
    const Plan& plan;
    const Evaluation& e;
};

// Adds "tp 8 -> 4"; nothing where both read the same.
void add_change(std::string& out, std::string_view before, const std::string& a, const std::string& b,
                std::string_view after = "") {
    if (a != b) out += sentence(out.empty() ? "" : ", ", before, a, " -> ", b, after);
}

std::string compute_brief(const Side& a, const Side& b) {
    const auto share = [](const Step& s) {
        return percent_text(s.compute_s > 0 ? s.mfu * s.time_s / s.compute_s : 0, Zeros::kept);
    };
    const auto work = [](const Step& s) { return three_digits(s.model_flops_per_gpu / 1e12); };
    std::string out;
    add_change(out, "", work(*a.e.step), work(*b.e.step), " TFLOP a GPU");
    add_change(out, "", share(*a.e.step), share(*b.e.step), " of the peak");
    return out;
}
std::string recompute_brief(const Side& a, const Side& b) {
    std::string out;
    add_change(out, "", words_of(a.plan.training.recompute), words_of(b.plan.training.recompute));
    return out;
}
std::string bubble_brief(const Side& a, const Side& b) {
    std::string out;
    const auto number = [](std::int64_t n) { return with_commas(n); };
    add_change(out, "", number(a.e.microbatches), number(b.e.microbatches), " micro-batches");
    add_change(out, "pp ", number(a.plan.layout.pp), number(b.plan.layout.pp));
    add_change(out, "", std::string(name_of(a.plan.layout.schedule)),
               std::string(name_of(b.plan.layout.schedule)));
    add_change(out, "chunks ", number(a.plan.layout.virtual_stages), number(b.plan.layout.virtual_stages));
    if (!out.empty()) return out;
    const auto work = [](const Evaluation& e) {
        return time_text((e.step->compute_s + e.step->recompute_s)
                         / static_cast<double>(std::max<std::int64_t>(1, e.microbatches)));
    };
    add_change(out, "", work(a.e), work(b.e), " a micro-batch");
    return out;
}
std::string layers_text(const Evaluation& e) {
    std::int64_t least = e.memory.stage.front().layers, most = 0;
    for (const StageMemory& s : e.memory.stage)
        least = std::min(least, s.layers), most = std::max(most, s.layers);
    return with_commas(least) + (least == most ? "" : " to " + with_commas(most));
}
std::string slowed_brief(const Side& a, const Side& b) {
    std::string out;
    add_change(out, "hidden traffic ", time_text(hidden_s(a.e)), time_text(hidden_s(b.e)));
    return out;
}

std::string uneven_brief(const Side& a, const Side& b) {
    std::string out;
    add_change(out, "", layers_text(a.e), layers_text(b.e), " layers a stage");
    return out;
}
std::string optimizer_brief(const Side& a, const Side& b) {
    const auto states = [](const Evaluation& e) {
        return memory_text(e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)].optimizer);
    };
    std::string out;
    add_change(out, "", states(a.e), states(b.e), " of states");
    return out;
}
std::string offload_brief(const Side& a, const Side& b) {
    const auto host = [](const Evaluation& e) {
        double most = 0;
        for (const StageMemory& s : e.memory.stage) most = std::max(most, s.host);
        return memory_text(most);
    };
    std::string out;
    add_change(out, "", host(a.e), host(b.e), " in host memory");
    return out;
}
std::string straggler_brief(const Side& a, const Side& b) {
    std::string out;
    add_change(out, "", count_text(a.e.mesh.world, "GPU"), count_text(b.e.mesh.world, "GPU"));
    add_change(out, "cv ", percent_text(a.plan.training.straggler_cv),
               percent_text(b.plan.training.straggler_cv));
    return out;
}

// Bytes and time of the groups of which `is` holds; the bytes, and the time where the bytes are the same.
template <typename Is>
std::string sent_brief(const Side& a, const Side& b, Is&& is) {
    struct Sent {
        double bytes = 0, time_s = 0;
        int tier = 0;
    };
    const auto sent = [&](const Side& side) {
        Sent out;
        for (const GroupKind k : all_of<GroupKind>()) {
            const AxisTraffic& t = side.e.comm.by_axis[k];
            if (!is(k) || t.count <= 0) continue;
            out.bytes += t.sent_bytes_per_rank, out.time_s += t.time_s;
            out.tier = std::max(out.tier, side.e.groups[k].slowest_tier);
        }
        return out;
    };
    const Sent x = sent(a), y = sent(b);
    const auto bytes = [](const Sent& s) {
        return s.bytes > 0 ? bytes_text(s.bytes, Zeros::kept) : "nothing";
    };
    std::string out;
    add_change(out, "", bytes(x), bytes(y));
    if (out.empty())
        add_change(out, "same " + bytes(x) + " in ", time_text(x.time_s, Zeros::kept),
                   time_text(y.time_s, Zeros::kept));
    if (x.bytes > 0 && y.bytes > 0)
        add_change(out, "", std::string(tier_name(a.plan.cluster, x.tier)),
                   std::string(tier_name(b.plan.cluster, y.tier)));
    return out;
}

struct Part {
    std::string name;
    StepPart kind;
    std::function<double(const Step&)> read;
    std::function<std::string(const Plan&, const Evaluation&)> fact;
    std::function<std::string(const Side&, const Side&)> brief;
    GroupKind group = GroupKind::tp;
    [[nodiscard]] std::string words() const { return name + (kind == StepPart::exposed ? " exposed" : ""); }
};

std::vector<Part> parts_of_step() {
    std::vector<Part> out{
        {"compute", StepPart::compute, [](const Step& s) { return s.compute_s; }, compute_fact,
         compute_brief},
        {"recompute", StepPart::recompute, [](const Step& s) { return s.recompute_s; }, recompute_fact,
         recompute_brief},
        {"bubble", StepPart::bubble, [](const Step& s) { return schedule_bubble_s(s); }, bubble_fact,
         bubble_brief},
        {"uneven stages", StepPart::uneven, [](const Step& s) { return s.uneven_s; }, uneven_fact,
         uneven_brief},
        {"slowed by traffic", StepPart::slowed, [](const Step& s) { return s.slowed_by_traffic_s; },
         slowed_fact, slowed_brief},
    };
    for (const GroupKind k : all_of<GroupKind>()) {
        if (is_data_parallel(k)) continue;
        out.push_back(
            {std::string(name_of(k)), StepPart::exposed, [k](const Step& s) { return s.exposed_comm_s[k]; },
             [k](const Plan& p, const Evaluation& e) { return exposed_fact(p, e, k); },
             [k](const Side& a, const Side& b) { return sent_brief(a, b, [&](auto x) { return x == k; }); },
             k});
    }
    out.push_back({"data parallel", StepPart::exposed, data_parallel_exposed, data_parallel_fact,
                   [](const Side& a, const Side& b) { return sent_brief(a, b, is_data_parallel); },
                   GroupKind::dp_shard});
    out.push_back({std::string(name_of(StepPart::offload)), StepPart::offload,
                   [](const Step& s) { return s.offload_s; }, offload_fact, offload_brief});
    out.push_back({"optimizer", StepPart::optimizer, [](const Step& s) { return s.optimizer_s; },
                   optimizer_fact, optimizer_brief});
    out.push_back({"stragglers", StepPart::straggler, [](const Step& s) { return s.straggler_s; },
                   straggler_fact, straggler_brief});
    return out;
}

// Writes each fact once where all plans say the same.
std::string because(const Part& part, std::span<const Plan> plans, std::span<const Evaluation> evaluations) {
    std::vector<std::string> facts;
    for (std::size_t i = 0; i < plans.size(); ++i) facts.push_back(part.fact(plans[i], evaluations[i]));
    const bool alike = std::all_of(facts.begin(), facts.end(), [&](const auto& f) { return f == facts[0]; });
    if (alike) return facts[0];
    std::string out;
    for (const std::string& f : facts) out += (out.empty() ? "" : plans.size() == 2 ? " -> " : " | ") + f;
    return out;
}

double sum_of(const std::vector<PartRow>& rows, std::size_t plan) {
    double sum = 0;
    for (const PartRow& r : rows) sum += r.delta_s[plan];
    return sum;
}

// Gives the remaining difference of a column to one of its rows. Returns false, with the row as it was, if
// that is lost in rounding.
bool add_up_by(std::vector<PartRow>& rows, std::size_t row, std::size_t plan, double difference) {
    double& delta = rows[row].delta_s[plan];
    const double before = delta;
    constexpr int kTurns = 4;
    for (int turn = 0; turn < kTurns; ++turn) {
        const double sum = sum_of(rows, plan);
        if (sum == difference) return true;
        delta += difference - sum;
    }
    if (sum_of(rows, plan) == difference) return true;
    delta = before;
    return false;
}

// Sums round: one part takes the remaining difference, so that the column adds up to the last digit. The
// largest is changed least by that; where its own digits are too coarse, one that is added later takes it.
void add_up(std::vector<PartRow>& rows, std::size_t plan, double difference) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::abs(rows[i].delta_s[plan]) > std::abs(rows[largest].delta_s[plan])) largest = i;
    if (rows.empty() || add_up_by(rows, largest, plan, difference)) return;
    for (std::size_t i = rows.size(); i-- > 0;)
        if (add_up_by(rows, i, plan, difference)) return;
}

// Sums and differences of parts of the step round: a value far below the last digit of one is 0.
double above_rounding(double s, double step_s) {
    constexpr double kRounding = 1e-12;
    return std::abs(s) < kRounding * step_s ? 0 : s;
}

}  // namespace

std::vector<FieldDifference> differing_fields(std::span<const Plan> plans) {
    // Replicas that only some of the plans state differ where their number does.
    std::vector<Plan> stated(plans.begin(), plans.end());
    const auto states = [](const Plan& p) { return p.layout.dp_replicate.has_value(); };
    if (std::any_of(stated.begin(), stated.end(), states))
        for (Plan& p : stated)
            if (const std::int64_t n = replicas_in_force(p); n > 0) p.layout.dp_replicate = n;
    std::vector<FieldDifference> out;
    for (std::size_t i = 1; i < stated.size(); ++i)
        for (const FieldUnit& unit : units_between(stated[0], stated[i]))
            for (const std::string& pointer : unit.pointers)
                if (std::none_of(out.begin(), out.end(), [&](const auto& f) { return f.pointer == pointer; }))
                    out.push_back({pointer, {}});
    for (FieldDifference& f : out)
        for (const Plan& p : stated) f.values.push_back(json_text_of(p, f.pointer));
    return out;
}

std::vector<PartRow> why_steps_differ(std::span<const Plan> plans, std::span<const Evaluation> evaluations) {
    for (const Evaluation& e : evaluations)
        if (!e.step) return {};
    std::vector<PartRow> rows;
    for (const Part& part : parts_of_step()) {
        PartRow row{part.words(), {}, {}, {}, part.kind, part.group, {}, part.name};
        bool any = false;
        for (const Evaluation& e : evaluations) {
            row.values_s.push_back(above_rounding(part.read(*e.step), e.step->time_s));
            row.delta_s.push_back(above_rounding(row.values_s.back() - row.values_s.front(), e.step->time_s));
            any = any || row.values_s.back() != 0;
        }
        if (!any) continue;
        row.because = because(part, plans, evaluations);
        if (plans.size() == 2) row.brief = part.brief({plans[0], evaluations[0]}, {plans[1], evaluations[1]});
        rows.push_back(std::move(row));
    }
    for (std::size_t i = 1; i < evaluations.size(); ++i)
        add_up(rows, i, evaluations[i].step->time_s - evaluations[0].step->time_s);
    return rows;
}

std::string main_parts_text(const Step& from, const Step& to) {
    constexpr double kMinor = 0.1;  // of the largest: not worth a word
    constexpr int kMost = 3;
    struct Change {
        std::string part;
        double delta_s;
    };
    const bool less = to.time_s < from.time_s;
    std::vector<Change> along, against;  // the way of the difference, and the other way
    for (const Part& part : parts_of_step())
        if (const double d = above_rounding(part.read(to) - part.read(from), from.time_s); d != 0)
            ((d < 0) == less ? along : against).push_back({part.words(), d});
    const auto larger = [](const Change& x, const Change& y) {
        return std::abs(x.delta_s) > std::abs(y.delta_s);
    };
    std::string out;
    double largest = 0;
    const auto say = [&](std::vector<Change>& changes, int most) {
        std::stable_sort(changes.begin(), changes.end(), larger);
        for (const auto& [part, d] : changes) {
            if (most-- == 0 || std::abs(d) < kMinor * largest) return;
            largest = std::max(largest, std::abs(d));
            out += (out.empty() ? "" : ", ") + time_text(std::abs(d)) + (d < 0 ? " less in " : " more in ")
                   + part;
        }
    };
    say(along, kMost);
    say(against, 1);
    return out;
}

}  // namespace pentamesh
