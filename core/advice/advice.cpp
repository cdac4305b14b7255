#include "core/advice/advice.h"

#include "core/advice/advice_rules.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

double sent_per_step(const Evaluation& e, bool data_parallel_only) {
    double sum = 0;
    for (const GroupKind k : all_of<GroupKind>())
        if (!data_parallel_only || is_data_parallel(k)) sum += e.comm.by_axis[k].sent_bytes_per_rank;
    return sum;
}

// Returns a figure of the ring of the FSDP group that gathers and reduces.
double of_ring(Measure measure, const Plan& plan, const Evaluation& e) {
    const GroupSummary& ring = e.groups[GroupKind::fsdp];
    const auto tier = static_cast<std::size_t>(ring.slowest_tier);
    double messages = 0, piece = 0;
    for (const Operation& o : e.comm.operations) {
        if (o.group_size != ring.degree || o.collective == Collective::all_reduce) continue;
        messages += o.count_per_step;
        if (piece == 0) piece = o.message_bytes / static_cast<double>(ring.degree);
    }
    if (measure == Measure::ring_piece) return piece;
    const double hop = tier < plan.cluster.tiers.size() ? plan.cluster.tiers[tier].latency_s : 0;
    const double call = static_cast<double>(ring.degree - 1) * hop;
    return measure == Measure::ring_latency_s ? call : messages * call;
}

double of_memory(Measure measure, const Memory& m) {
    if (m.stage.empty()) return 0;
    const StageMemory& s = m.stage[static_cast<std::size_t>(m.peak_stage)];
    switch (measure) {
    case Measure::memory_over: return s.total() - m.hbm;
    case Measure::memory_least: return s.least();
    case Measure::hbm: return m.hbm;
    case Measure::parameters: return s.parameters;
    case Measure::gradients: return s.gradients;
    case Measure::optimizer: return s.optimizer;
    case Measure::activations: return s.activations;
    case Measure::buffers: return s.buffers;
    case Measure::buffers_high: return s.buffers_high;
    default: return m.peak();
    }
}

double of_step(Measure measure, const Plan& plan, const Step& s) {
    switch (measure) {
    case Measure::bubble_s: return schedule_bubble_s(s);
    case Measure::bubble_share: return schedule_bubble_s(s) / s.time_s;
    case Measure::uneven_s: return s.uneven_s;
    case Measure::uneven_share: return s.uneven_s / s.time_s;
    case Measure::straggler_s: return s.straggler_s;
    case Measure::straggler_share: return s.straggler_s / (s.time_s - s.straggler_s);
    case Measure::straggler_cv: return plan.training.straggler_cv;
    case Measure::straggler_bound: return s.straggler_bound;
    default: return s.time_s;
    }
}

// Returns the measure in `e`, which has a step; a saving is against `now`. `kind` is that of
// Measure::group_*.
double measured(Measure measure, const Plan& plan, const Evaluation& now, const Evaluation& e,
                GroupKind kind) {
    switch (measure) {
    case Measure::step_saved_s: return now.step->time_s - e.step->time_s;
    case Measure::memory_saved: return now.memory.peak() - e.memory.peak();
    case Measure::sent: return sent_per_step(e, false);
    case Measure::sent_data_parallel: return sent_per_step(e, true);
    case Measure::group_sent: return e.comm.by_axis[kind].sent_bytes_per_rank;
    case Measure::group_time_s: return e.comm.by_axis[kind].time_s;
    case Measure::group_exposed_s: return e.comm.by_axis[kind].exposed_s;
    case Measure::ring_piece:
    case Measure::ring_latency_s:
    case Measure::ring_latency_step_s: return of_ring(measure, plan, e);
    default: break;
    }
    return measure < Measure::memory ? of_step(measure, plan, *e.step) : of_memory(measure, e.memory);
}

bool by_severity(const Problem& a, const Problem& b) {
    return a.severity < b.severity;
}

}  // namespace

Candidate Advice::candidate() const {
    return {needed_edits(plan, changed), trial.step->time_s, trial.memory.peak()};
}

bool Advice::show(const std::vector<Edit>& edits) {
    shown_edits = edits;
    changed.layout = plan.layout;
    changed.training = plan.training;
    changed.cluster.gpus = plan.cluster.gpus;
    if (!apply_in_core(changed, edits)) return false;
    evaluate(changed, shown, {!now.timeline.empty(), false});
    return shown.valid && shown.step.has_value();
}

Stated Advice::before(Measure measure, GroupKind kind) const {
    return {measure, measured(measure, plan, now, now, kind), {}, static_cast<int>(kind)};
}
Stated Advice::after(Measure measure, GroupKind kind) const {
    return {measure, measured(measure, plan, now, shown, kind), shown_edits, static_cast<int>(kind)};
}

namespace {

// Returns the edits without those that do nothing for the step or for memory. The edit of the field which the
// problem is about stays: without it the problem would.
std::vector<Edit> without_idle(Advice& a, std::vector<Edit> edits, std::string_view pointer) {
    if (!a.show(edits)) return edits;
    double time_s = a.shown.step->time_s, peak = a.shown.memory.peak();
    for (std::size_t i = 0; edits.size() > 1 && i < edits.size();) {
        std::vector<Edit> fewer = edits;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        const bool idle = edits[i].path != pointer && a.show(fewer) && a.shown.step->time_s <= time_s
                          && a.shown.memory.peak() <= peak;
        if (idle) {
            time_s = a.shown.step->time_s, peak = a.shown.memory.peak();
            edits = std::move(fewer);
            i = 0;
        } else {
            ++i;
        }
    }
    return edits;
}

}  // namespace

bool offer(Advice& a, Advised& problem, const Candidate& candidate) {
    const std::vector<Edit> edits = without_idle(a, candidate.edits, problem.pointer);
    if (!a.show(edits) || !a.shown_is_faster() || !a.shown_memory_allows()) return false;
    say_help(problem, "With ", words_of(edits), " a step takes ", a.after(Measure::step_s), " instead of ",
             a.before(Measure::step_s));
    const bool opens_fit = a.now.memory.fit() == MemoryFit::yes && may_not_fit(a.shown.memory.fit());
    say_help(problem, opens_fit ? ", but it may not fit." : ".");
    problem.fix = edits;
    return true;
}

void offer_or_withdraw(Advice& a, Advised& problem, const Candidate& candidate) {
    if (!offer(a, problem, candidate)) a.out.pop_back();
}

void say_change(std::string& text, Advised& problem, const Stated& now, const Stated& was,
                std::string_view unit) {
    if (text_of(now) == text_of(was))
        say_in(text, problem, now, unit, ", as before");
    else
        say_in(text, problem, now, unit, " instead of ", was);
}

void say_price(Advice& a, Advised& problem, std::string& text) {
    constexpr double kSame = 1e-3;
    const Stated sent = a.before(Measure::sent), then = a.after(Measure::sent);
    if (std::abs(then.value - sent.value) <= kSame * sent.value)
        say_in(text, problem, " for the same bytes on the wire");
    else if (text_of(then) == text_of(sent))
        say_in(text, problem, " for about the same bytes on the wire");
    else
        say_in(text, problem, "; each GPU then sends ", then, " a step instead of ", sent);
    const Stated time = a.before(Measure::step_s), takes = a.after(Measure::step_s);
    if (text_of(takes) != text_of(time))
        say_in(text, problem, ", and a step takes ", takes, " instead of ", time);
}

std::vector<Advised> advise(const Plan& plan, const Evaluation& evaluation) {
    std::vector<Advised> out;
    // Advice on an impossible plan would only hide the errors.
    if (!evaluation.valid) return out;
    std::vector<Problem> found;
    const ResolvedPlan resolved(plan, evaluation.mesh, evaluation.groups);
    Rules rules{resolved, true, found};
    check_frameworks(rules);
    check_notices(rules);
    for (Problem& p : found) out.push_back({std::move(p), {}});

    Advice advice{plan, evaluation, out};
    advice.changed.model = plan.model;
    advice.changed.cluster = plan.cluster;
    evaluate(plan, advice.base, {false, false});
    if (evaluation.step && advice.base.step && advice.base.step->time_s > 0) {
        advise_experts(advice);
        advise_memory(advice);
        advise_placement(advice);
        advise_sharding(advice);
        advise_step(advice);
    }
    std::stable_sort(out.begin(), out.end(), by_severity);
    return out;
}

void find_advice(const Plan& plan, const Evaluation& evaluation, std::vector<Problem>& out) {
    for (Advised& p : advise(plan, evaluation)) out.push_back(std::move(static_cast<Problem&>(p)));
}

void assess(const Plan& plan, Evaluation& out, const EvaluateOptions& options) {
    evaluate(plan, out, options);
    find_advice(plan, out, out.problems);
}

Evaluation assess(const Plan& plan, const EvaluateOptions& options) {
    Evaluation out;
    assess(plan, out, options);
    return out;
}

MeasureUnit unit_of(Measure measure) {
#define PENTAMESH_UNIT(measure, unit) MeasureUnit::unit,
    static constexpr EnumArray<Measure, MeasureUnit> kUnits{PENTAMESH_MEASURES(PENTAMESH_UNIT)};
#undef PENTAMESH_UNIT
    return kUnits[measure];
}
std::string_view name_of(Measure measure) {
#define PENTAMESH_NAME(measure, unit) #measure,
    static constexpr EnumArray<Measure, std::string_view> kNamesOfMeasures{
        PENTAMESH_MEASURES(PENTAMESH_NAME)};
#undef PENTAMESH_NAME
    return kNamesOfMeasures[measure];
}

std::string text_of(const Stated& stated) {
    switch (unit_of(stated.measure)) {
    case MeasureUnit::seconds: return time_text(stated.value);
    case MeasureUnit::share: return percent_text(stated.value);
    case MeasureUnit::memory: return memory_text(stated.value);
    case MeasureUnit::traffic: return bytes_text(stated.value);
    }
    return {};
}

// Advises on data parallelism: which states are sharded over how many ranks, and the cost of that on the
// wire.

namespace {

std::int64_t dp_of(const Advice& a) {
    return data_parallel(a.plan);
}

// Returns the group over which ZeRO shards.
const GroupSummary& shard_group(const Advice& a) {
    return a.base.groups[GroupKind::fsdp];
}

// Tries HSDP for the fastest: dp_shard a divisor of the data-parallel degree, replicas the rest.
void consider_hsdp(Advice& a, Fastest& fastest, std::int64_t limit) {
    const std::int64_t dp = dp_of(a);
    for (std::int64_t shard = 2; shard <= limit; ++shard) {
        if (dp % shard != 0) continue;
        fastest.consider([&](Plan& q) {
            q.layout.dp_shard = shard;
            q.layout.dp_replicate = dp / shard;
        });
    }
}

void shards_over_slow_tier(Advice& a) {
    const Layout& l = a.plan.layout;
    const GroupSummary& s = shard_group(a);
    if (l.zero != 3 || l.dp_shard == 1 || s.slowest_tier == 0) return;
    // So many shards lie inside a domain of the next faster tier.
    const std::int64_t inside = domain_of(a.plan.cluster, s.slowest_tier - 1)
                                / std::max<std::int64_t>(1, a.base.mesh.dense[Axis::dp_shard].stride);
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min({l.dp_shard - 1, std::int64_t{1024}, inside}));
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!c || !a.show(c->edits) || a.shown.groups[GroupKind::fsdp].slowest_tier >= s.slowest_tier) return;
    Advised& p =
        a.add(Severity::warning, Rule::advice, ProblemCode::hsdp_keeps_shards_inside, "/layout/dp_shard");
    say(p, "Parameters are sharded over ", s.degree, " GPUs, at most ", s.per_fast_domain, " of them in one ",
        tier_name(a.plan.cluster, 0), " domain: ", rows_device_text(a.now.comm), " sends ",
        a.before(Measure::sent_data_parallel), " of shards and gradients per step over ",
        tier_name(a.plan.cluster, s.slowest_tier), ". Sharding inside and replicating across needs ",
        a.after(Measure::sent_data_parallel), " and ", a.after(Measure::memory), " per GPU instead of ",
        a.before(Measure::memory), ".");
    offer_or_withdraw(a, p, *c);
}

// Says down to which size, halved and halved again with the same batch for each GPU, `groups` are faster than
// the plan.
std::string sizes_text(const Plan& plan, const Plan& groups) {
    const auto seconds = [](Plan q, std::int64_t parts) -> std::optional<double> {
        q.training.global_batch /= parts;
        const Evaluation e = evaluate(q, {.timeline = false, .messages = false, .report = false});
        return e.step ? std::optional(e.step->time_s) : std::nullopt;
    };
    std::int64_t holds = 1, fails = 0;
    for (std::int64_t parts = 2; fails == 0; parts *= 2) {
        if (plan.cluster.gpus % parts != 0 || plan.training.global_batch % parts != 0) break;
        const std::int64_t gpus = plan.cluster.gpus / parts;
        const Plan few = with_gpus_as_replicas(groups, gpus);
        if (few.layout.dp_shard != groups.layout.dp_shard) break;
        const auto all = seconds(with_gpus(plan, gpus), parts), grouped = seconds(few, parts);
        if (!all || !grouped) break;
        (*grouped < kFaster * *all ? holds : fails) = parts;
    }
    const std::int64_t gpus = plan.cluster.gpus;
    if (holds > 1)
        return sentence(
            " With the same batch for each GPU, such groups save a hundredth of the step or more down to ",
            gpus / holds, " GPUs", fails > 0 ? sentence(", not at ", gpus / fails) : "", ".");
    if (fails > 0)
        return sentence(" At ", gpus / fails,
                        " GPUs, with the same batch for each, they save less than a hundredth.");
    return {};
}

}  // namespace

std::string hsdp_words(const Plan& plan, const Plan& found) {
    const auto grouped = [](const Layout& l) { return l.zero == 3 && l.dp_shard > 1; };
    if (!grouped(plan.layout) || !grouped(found.layout) || replicas_in_force(plan) > 1) return {};
    const std::int64_t copies = replicas_in_force(found);
    if (copies <= 1) return {};
    return sentence("HSDP: shards over ", found.layout.dp_shard, " GPUs, ", copies, " copies across.",
                    sizes_text(plan, found));
}

namespace {

void many_shards(Advice& a) {
    constexpr std::int64_t kSeveral = 32, kMany = 1024;
    const GroupSummary& s = shard_group(a);
    const Layout& l = a.plan.layout;
    if (l.zero != 3 || l.dp_shard == 1 || s.slowest_tier == 0 || s.degree < kSeveral) return;
    const bool many = s.degree >= kMany;
    const bool said = std::any_of(a.out.begin(), a.out.end(), [](const Advised& p) {
        return p.code == ProblemCode::hsdp_keeps_shards_inside;
    });
    if (!many && said) return;
    Fastest fastest(a);
    consider_hsdp(a, fastest, std::min<std::int64_t>(l.dp_shard - 1, kMany / 2));
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    if (!many && c == nullptr) return;
    Advised& p = a.add(many ? Severity::warning : Severity::info, Rule::advice, ProblemCode::fsdp_many_ranks,
                       "/layout/dp_shard");
    if (many)
        say(p, "FSDP over ", s.degree, " ranks: a ring of that length takes ", s.degree - 1, " steps of ",
            a.before(Measure::ring_piece), " each; latency by itself is ", a.before(Measure::ring_latency_s),
            " a collective, ", a.before(Measure::ring_latency_step_s),
            " a step. Of all its time the step waits ",
            a.before(Measure::group_exposed_s, GroupKind::dp_shard), ".");
    else
        say(p, "FSDP over ", s.degree, " ranks, at most ", s.per_fast_domain, " of them in one ",
            tier_name(a.plan.cluster, 0), " domain: the step waits ",
            a.before(Measure::group_exposed_s, GroupKind::dp_shard), " for gathers and reductions.");
    if (c == nullptr) return;
    if (!offer(a, p, *c)) {
        if (!many) a.out.pop_back();
        return;
    }
    Plan fixed = a.plan;
    if (apply_in_core(fixed, p.fix)) say_help(p, sizes_text(a.plan, fixed));
}

// Says in words what the plan does between the micro-batches of a step.
std::string rounds_text(const Advice& a) {
    const StateRounds rounds = state_rounds(a.plan);
    const bool every = rounds.forward.each == GradientReduction::micro_batch,
               twice = rounds.backward.times > 0;
    const std::string gathers =
        every ? sentence("each of the ", a.base.microbatches, " micro-batches gathers the parameters",
                         twice ? ", for its forward and again for its backward" : "")
              : sentence("the parameters are kept gathered over the ", a.base.microbatches,
                         " micro-batches of a step, so that they take as much memory as without sharding");
    const GradientReduction when = rounds.reductions.each;
    return gathers
           + (when == GradientReduction::micro_batch ? ", and reduces its gradients at once."
              : when == GradientReduction::run       ? ", and gradients are reduced after each run of them."
                                                     : ", and gradients are summed whole.");
}

void pipeline_with_sharded_parameters(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.pp == 1 || l.zero != 3 || l.dp_shard == 1) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::pp_with_zero3, "/layout/zero");
    say(p, "ZeRO-3 under a pipeline of ", l.pp, " stages: ", rounds_text(a), " Each GPU sends ",
        a.before(Measure::sent_data_parallel), " per step for data parallelism.");
    Fastest fastest(a);
    for (const int zero : {2, 1}) fastest.consider([&](Plan& q) { q.layout.zero = zero; }, true);
    const Candidate* c = fastest.any();
    if (c == nullptr || !a.show(c->edits) || !a.shown.memory.fits()) return;
    say_help(p, "With ", words_of(c->edits), " it is ", a.after(Measure::sent_data_parallel), " and ",
             a.after(Measure::memory), " per GPU, which ", name_of(a.shown.memory.fit()), "; a step takes ");
    say_change(p.help, p, a.after(Measure::step_s), a.before(Measure::step_s));
    say_help(p, ".");
    p.fix = c->edits;
}

void shard_axis_that_shards_nothing(Advice& a) {
    const Layout& l = a.plan.layout;
    if (l.zero != 0 || l.dp_shard == 1) return;
    Advised& p = a.add(Severity::info, Rule::advice, ProblemCode::shard_axis_without_zero, "/layout/zero");
    say(p, "dp_shard = ", l.dp_shard, " with zero = 0 shards nothing: it is plain replication.");
    const std::vector<Edit> edits{{"/layout/zero", std::int64_t{1}}};
    if (!a.show(edits)) return;
    const Stated saved = a.after(Measure::memory_saved);
    if (saved.value <= 0) return;
    say_help(p, "zero = 1 would save ", saved, " per GPU");
    say_price(a, p, p.help);
    say_help(p, ".");
    p.fix = edits;
}

}  // namespace

void advise_sharding(Advice& a) {
    shards_over_slow_tier(a);
    many_shards(a);
    pipeline_with_sharded_parameters(a);
    shard_axis_that_shards_nothing(a);
}

// Says if all stages work equally long, and if not, which lists of layers were tried.

namespace {

constexpr double kLargeUnevenness = 0.05;
constexpr int kMostMoves = 32;  // layers that go from one stage to another, one after the other

// Returns the chunk of a device with the most layers, or the fewest; in model order.
std::size_t chunk_of_device(const std::vector<std::int64_t>& layers, const ScheduleShape& shape, int device,
                            bool most) {
    std::size_t found = static_cast<std::size_t>(stage_of(shape, device, 0));
    for (int c = 1; c < chunks_of(shape); ++c) {
        const auto at = static_cast<std::size_t>(stage_of(shape, device, c));
        if (most ? layers[at] > layers[found] : layers[at] < layers[found]) found = at;
    }
    return found;
}

// Moves layers from the longest stage to the shortest, one by one. It ends where the shortest would become as
// long. Among equally short stages it takes the latest, which keeps the fewest micro-batches in flight.
void move_layers(Advice& a, const ScheduleShape& shape, std::vector<std::int64_t> layers, Fastest& fastest) {
    const int chunks = chunks_of(shape);
    for (int moves = 0; moves < kMostMoves; ++moves) {
        int longest = 0, shortest = 0;
        double most = 0, least = 0;
        for (int d = 0; d < shape.devices; ++d) {
            const double work = device_busy(a.trial.costs, d, chunks);
            if (d == 0 || work > most * (1 + 1e-9)) longest = d, most = work;
            if (d == 0 || work <= least * (1 + 1e-9)) shortest = d, least = work;
        }
        std::int64_t& giver = layers[chunk_of_device(layers, shape, longest, true)];
        std::int64_t& taker = layers[chunk_of_device(layers, shape, shortest, false)];
        if (giver < 1 || &giver == &taker) return;
        --giver, ++taker;
        fastest.consider([&](Plan& q) { q.layout.stage_layers = layers; });
        if (!a.trial.valid || !a.trial.step) return;
        if (device_busy(a.trial.costs, shortest, chunks) >= most * (1 - 1e-9)) return;
    }
}

}  // namespace

void advise_stages(Advice& a) {
    const Step& s = *a.now.step;
    const double share = s.uneven_s / s.time_s;
    if (a.plan.layout.pp == 1 || share <= kLargeUnevenness) return;
    const int stage = a.now.comm.busiest_device;
    const StageContents& contents = a.base.comm.stages.contents(stage);
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::stages_uneven, "/layout/stage_layers");
    say(p, "Stage ", stage, " computes ", a.before(Measure::uneven_s), " a step (",
        a.before(Measure::uneven_share), ") longer than the average of ", a.base.comm.stages.devices,
        " stages, which wait for it: it has ", count_text(contents.layers, "layer"),
        contents.head ? " and the head" : "", ".");
    // The even split is the start, for any list of the plan.
    Fastest fastest(a);
    fastest.consider([](Plan& q) { q.layout.stage_layers.clear(); });
    if (a.trial.valid && a.trial.step) {
        std::vector<std::int64_t> layers;
        layers_of_chunks(a.changed, layers);
        move_layers(a, shape_of(a.plan, a.base.microbatches), std::move(layers), fastest);
    }
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

namespace {

// Puts the ranks of another ep next to each other, so that its all-to-all stays as near as possible.
void with_ep(Layout& l, std::int64_t ep, bool near) {
    l.ep = ep;
    if (!near) return;
    for (const Axis first : {Axis::ep, Axis::tp})
        std::stable_partition(l.order.begin(), l.order.end(), [&](Axis a) { return a == first; });
}

}  // namespace

void advise_experts(Advice& a) {
    if (!a.plan.model.moe || a.plan.layout.ep != 1) return;
    const GroupSummary& copies = a.base.groups[GroupKind::edp];
    if (copies.degree <= 1) return;
    const std::int64_t experts = a.plan.model.moe->experts;
    const bool fits = a.now.memory.fits();
    Fastest fastest(a);
    for (std::int64_t ep = 2; ep <= std::min(experts, copies.degree); ++ep) {
        if (experts % ep != 0) continue;
        for (const bool near : {false, true})
            fastest.consider([&](Plan& q) { with_ep(q.layout, ep, near); }, true);
    }
    const Candidate* c = fits ? fastest.better_than(a.base.step->time_s) : fastest.any();
    if (!c) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::experts_copied, "/layout/ep");
    say(p, "ep = 1: ", copies.degree, " GPUs keep the same ", experts,
        " experts each. Expert parallelism deals them out.");
    if (fits) {
        offer_or_withdraw(a, p, *c);
        return;
    }
    if (!a.show(c->edits) || !a.shown.memory.fits()) return;
    say_help(p, "With ", words_of(c->edits), " the fullest GPU takes ", a.after(Measure::memory),
             " instead of ", a.before(Measure::memory), ", which ", name_of(a.shown.memory.fit()),
             "; a step takes ");
    say_change(p.help, p, a.after(Measure::step_s), a.before(Measure::step_s));
    say_help(p, ".");
    p.fix = c->edits;
}

// Advises on where groups lie: talk that crosses a slow tier and need not.

namespace {

const GroupSummary& groups_of(const Evaluation& e, GroupKind kind) {
    return e.groups[kind];
}
const AxisTraffic& traffic(const Evaluation& e, GroupKind kind) {
    return e.comm.by_axis[kind];
}
std::int64_t crossing(const GroupSummary& s) {
    return s.groups - s.by_tier[0];
}

void put_innermost(Layout& l, Axis axis) {
    std::stable_partition(l.order.begin(), l.order.end(), [&](Axis a) { return a == axis; });
}

// Lowers tp by `factor`; the ranks go to data parallelism, or to the pipeline.
void less_tp(Layout& l, std::int64_t tp, bool to_pipeline) {
    const std::int64_t factor = l.tp / tp;
    l.tp = tp;
    if (to_pipeline) {
        l.pp *= factor;
        l.stage_layers.clear();
    } else if (l.dp_shard > 1 || l.zero > 0) {
        l.dp_shard *= factor;
    } else {
        l.dp_replicate = l.dp_replicate.value_or(1) * factor;
    }
}

// Describes groups that are small enough for a fast domain but straddle two, because its size is no multiple
// of theirs.
std::string straddle_text(const Advice& a, const GroupSummary& s) {
    const std::int64_t domain = a.plan.cluster.tiers.empty() ? 0 : domain_of(a.plan.cluster, 0);
    const GroupFactors f = group_factors(a.base.mesh, s.kind);
    const Factor& top = f.factor[f.count - 1];
    const std::int64_t extent = top.size * top.stride;
    if (extent > domain || domain % extent == 0) return {};
    return sentence(" A group would fit a domain of ", domain, " GPUs, but ", domain, " is no multiple of ",
                    extent, ": ranks counted through make groups straddle two. A job that uses ",
                    domain / extent * extent, " GPUs of each domain keeps every group inside.");
}

void say_crossing(const Advice& a, Advised& p, const GroupSummary& s, std::string_view name) {
    const AxisTraffic& t = traffic(a.now, s.kind);
    say(p, name, " = ", s.degree, " crosses ", tier_name(a.plan.cluster, s.slowest_tier), " in ", crossing(s),
        " of its ", s.groups, " groups: ", a.before(Measure::group_time_s, s.kind), " of a step go into the ",
        a.before(Measure::group_sent, s.kind), " that ", rows_device_text(a.now.comm), " sends in it, ");
    if (t.exposed_s > 0.995 * t.time_s)
        say(p, "all");
    else
        say(p, a.before(Measure::group_exposed_s, s.kind));
    say(p, " on the critical path.", straddle_text(a, s));
}

void tensor_parallel_over_slow_tier(Advice& a) {
    const GroupSummary& s = groups_of(a.base, GroupKind::tp);
    if (s.degree == 1 || crossing(s) == 0) return;
    Advised& p = a.add(Severity::warning, Rule::advice, ProblemCode::tp_spans_nodes, "/layout/tp");
    say_crossing(a, p, s, "tp");
    Fastest fastest(a);
    fastest.consider([](Plan& q) { put_innermost(q.layout, Axis::tp); });
    const std::int64_t inside = a.plan.cluster.tiers.empty() ? 1 : domain_of(a.plan.cluster, 0);
    for (std::int64_t tp = 1; tp < s.degree && tp <= inside; ++tp) {
        if (s.degree % tp != 0) continue;
        for (const bool to_pipeline : {false, true})
            fastest.consider([&](Plan& q) {
                put_innermost(q.layout, Axis::tp);
                less_tp(q.layout, tp, to_pipeline);
            });
    }
    if (const Candidate* c = fastest.better_than(a.base.step->time_s)) offer(a, p, *c);
}

void experts_over_slow_tier(Advice& a) {
    const GroupSummary& s = groups_of(a.base, GroupKind::ep);
    const AxisTraffic& t = traffic(a.now, GroupKind::ep);
    if (!a.base.mesh.has_experts || s.degree == 1 || crossing(s) == 0) return;
    Fastest fastest(a);
    fastest.consider([](Plan& q) {
        put_innermost(q.layout, Axis::ep);
        put_innermost(q.layout, Axis::tp);
    });
    fastest.consider([](Plan& q) { q.layout.etp = 1; });
    for (std::int64_t ep = s.degree - 1; ep >= 1; --ep)
        if (s.degree % ep == 0)
            fastest.consider([&](Plan& q) {
                put_innermost(q.layout, Axis::ep);
                put_innermost(q.layout, Axis::tp);
                q.layout.ep = ep;
            });
    const Candidate* c = fastest.better_than(a.base.step->time_s);
    // Experts over nodes are a choice that large models make; it is a warning only where another one is
    // faster.
    const bool large = t.exposed_s > 0.1 * a.now.step->time_s;
    Advised& p = a.add(c && large ? Severity::warning : Severity::info, Rule::advice,
                       ProblemCode::ep_spans_nodes, "/layout/ep");
    say_crossing(a, p, s, "ep");
    if (c) offer(a, p, *c);
}

// Returns the axis whose exposed time falls most between two evaluations.
GroupKind most_relieved(const Evaluation& before, const Evaluation& after) {
    int best = 0;
    double gain = 0;
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const double g = traffic(before, kind).exposed_s - traffic(after, kind).exposed_s;
        if (g > gain) gain = g, best = k;
    }
    return static_cast<GroupKind>(best);
}

void order_puts_chatty_axis_outside(Advice& a) {
    if (a.plan.layout.order == Layout{}.order) return;
    if (!a.works([](Plan& q) { q.layout.order = Layout{}.order; })) return;
    if (a.trial.step->time_s >= 0.98 * a.base.step->time_s) return;
    const Candidate usual = a.candidate();
    if (!a.show(usual.edits)) return;
    const GroupKind kind = most_relieved(a.now, a.shown);
    const GroupSummary &before = groups_of(a.now, kind), &after = groups_of(a.shown, kind);
    Advised& p =
        a.add(Severity::warning, Rule::advice, ProblemCode::order_puts_chatty_axis_outside, "/layout/order");
    say(p, "This order lays ", name_of(kind), " (stride ", group_factors(a.base.mesh, kind).factor[0].stride,
        ") over ", tier_name(a.plan.cluster, before.slowest_tier), ": ",
        a.before(Measure::group_exposed_s, kind), " of it stays exposed per step, against ",
        a.after(Measure::group_exposed_s, kind), " over ", tier_name(a.plan.cluster, after.slowest_tier),
        ".");
    offer_or_withdraw(a, p, usual);
}

void tiers_that_do_not_nest(Advice& a) {
    const std::vector<Tier>& tiers = a.plan.cluster.tiers;
    for (std::size_t i = 1; i + 1 < tiers.size(); ++i) {
        if (tiers[i - 1].domain < 1 || tiers[i].domain % tiers[i - 1].domain == 0) continue;
        Advised& p = a.add(Severity::info, Rule::hardware, ProblemCode::tiers_do_not_nest, "/cluster/tiers");
        p.message = sentence("A ", tiers[i].name, " domain of ", tiers[i].domain,
                             " GPUs is not a whole number of ", tiers[i - 1].name, " domains of ",
                             tiers[i - 1].domain, ": some of those lie in two of them.");
    }
}

}  // namespace

void advise_placement(Advice& a) {
    tensor_parallel_over_slow_tier(a);
    experts_over_slow_tier(a);
    order_puts_chatty_axis_outside(a);
    tiers_that_do_not_nest(a);
}

}  // namespace pentamesh
