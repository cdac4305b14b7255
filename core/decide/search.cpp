#include "core/decide/search.h"

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/decide/bounds.h"
#include "core/decide/search_worker.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/rules/software_runs.h"
#include "core/step/exposure.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh {

using namespace searching;

namespace {

// Passes the first exception of any thread on to the caller, and ends the others' work.
template <typename Pass>
void on_threads(Shared& all, int threads, Pass&& pass) {
    all.next = 0;
    std::exception_ptr first;
    const auto work = [&] {
        try {
            pass(Worker(all));
        } catch (...) {
            const std::lock_guard lock(all.mutex);
            if (!all.failed.exchange(true)) first = std::current_exception();
        }
    };
    try {
        run_on_threads(threads, work);
    } catch (...) {  // no memory for a thread; those that did start have ended
        if (!first) first = std::current_exception();
    }
    if (first) std::rethrow_exception(first);
}

SearchResult result_of(const Plan& plan, const LayoutChoice& choice) {
    SearchResult r;
    r.choice = choice;
    r.plan = plan;
    lay_out(plan, choice, r.plan);
    const Evaluation e = evaluate(r.plan);
    if (!e.step) return r;
    r.step = *e.step;
    r.step_s = e.step->time_s;
    r.tokens_per_s = e.step->tokens_per_s;
    r.mfu = e.step->mfu;
    r.bubble_s = e.step->bubble_s;
    r.exposed_s = exposed_of(*e.step);
    r.memory_bytes = e.memory.peak();
    r.fit = e.memory.fit();
    r.headroom = e.memory.hbm > 0 ? 1 - r.memory_bytes / e.memory.hbm : 0;
    r.cost_per_token = cost_per_token(plan, r.tokens_per_s);
    return r;
}

void list_results(const Plan& plan, const Shared& all, SearchReport& out) {
    std::vector<FitLayout> kept = all.best.points();
    for (const FitLayout& x : all.front.points())
        if (std::none_of(kept.begin(), kept.end(), [&](const FitLayout& k) { return k.index == x.index; }))
            kept.push_back(x);
    std::sort(kept.begin(), kept.end(),
              [&](const FitLayout& a, const FitLayout& b) { return all.best.less(a, b); });
    for (const FitLayout& x : kept) {
        SearchResult& r = out.results.emplace_back(result_of(plan, all.nodes.choice(x.index)));
        r.alike = x.alike;
        const auto& front = all.front.points();
        r.pareto = std::any_of(front.begin(), front.end(), [&](const auto& p) { return p.index == x.index; });
    }
}

void list_rejected(const Plan& plan, const Shared& all, SearchReport& out) {
    for (const auto& [code, r] : all.rejected) {
        Rejection& one = out.rejected.emplace_back();
        one.code = code;
        one.count = r.count;
        one.example = plan;
        lay_out(plan, all.nodes.choice(r.example), one.example);
        const Evaluation e = evaluate(one.example);
        one.message = e.valid && code == ProblemCode::out_of_memory ? too_big_text(e, all.options.headroom)
                                                                    : first_error(e.problems);
    }
    for (const LeftOut& l : all.nodes.left_out) {
        Rejection& one = out.rejected.emplace_back();
        one.code = code_of(l.lack);
        one.count = static_cast<std::int64_t>(l.count);
        one.example = plan;
        lay_out(plan, l.example, one.example);
        one.message = sentence(words_of(l.lack, one.example, *out.space.software), ".");
    }
    std::stable_sort(out.rejected.begin(), out.rejected.end(),
                     [](const Rejection& a, const Rejection& b) { return a.count > b.count; });
}

void sort_runs(Shared& all) {
    std::sort(all.runs.begin(), all.runs.end(), [](const RunNode& a, const RunNode& b) {
        if (a.bound.makespan != b.bound.makespan) return a.bound.makespan < b.bound.makespan;
        return a.node != b.node ? a.node < b.node : a.run < b.run;
    });
    all.next = 0;
}

SearchReport report_of(const Shared& all, const SearchSpace& space, int threads) {
    SearchReport out;
    out.goal = all.options.goal;
    out.space = space;
    out.threads = threads;
    out.asked = static_cast<std::size_t>(std::max(all.options.top, 1));
    out.cancelled = all.stopped();
    out.counts = all.counts;
    out.counts.layouts = static_cast<std::int64_t>(all.nodes.layouts);
    for (const LeftOut& l : all.nodes.left_out) out.counts.left_out += static_cast<std::int64_t>(l.count);
    out.counts.skipped = out.counts.layouts - out.counts.evaluated;  // of a cancelled search too
    list_results(all.plan, all, out);
    list_rejected(all.plan, all, out);
    const Evaluation base = evaluate(all.plan);
    out.base.valid = base.valid;
    if (base.step) {
        out.base.step_s = base.step->time_s;
        out.base.tokens_per_s = base.step->tokens_per_s;
        out.base.mfu = base.step->mfu;
        out.base.mfu_causal = mfu_causal(*base.step);
        out.base.memory_bytes = base.memory.peak();
        out.base.fit = base.memory.fit();
        out.base.lacks = lacks_of(all.plan, all.plan.training.software);
    }
    return out;
}

}  // namespace

double cost_per_token(const Plan& plan, double tokens_per_s) {
    constexpr double kSecondsOfHour = 3600;
    if (plan.cluster.price_per_gpu_hour <= 0 || tokens_per_s <= 0) return 0;
    return plan.cluster.price_per_gpu_hour * static_cast<double>(plan.cluster.gpus) / kSecondsOfHour
           / tokens_per_s;
}

struct SlicedSearch::Impl {
    Plan plan;
    SearchSpace space;
    SearchOptions options;
    SearchProgress progress;
    SearchNodes nodes = nodes_of(plan, space);
    Shared all;
    std::optional<Worker> worker;
    bool bounded = false, done = false;

    Impl(Plan p, SearchSpace s, const SearchOptions& o, const std::atomic<bool>* cancel, SearchProgress f)
        : plan(std::move(p)), space(std::move(s)), options(o), progress(std::move(f)),
          all(plan, nodes, options, cancel, progress) {
        options.threads = 1;
        worker.emplace(all);
    }
};

SlicedSearch::SlicedSearch(Plan plan, SearchSpace space, const SearchOptions& options,
                           const std::atomic<bool>* cancel, SearchProgress progress)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(space), options, cancel, std::move(progress))) {
}
SlicedSearch::~SlicedSearch() = default;

bool SlicedSearch::go_on(const std::function<bool()>& in_time) {
    Impl& s = *impl_;
    if (s.done) return false;
    if (!s.bounded) {
        if (!s.worker->bound_nodes(in_time)) return true;
        s.bounded = true;
        sort_runs(s.all);
        s.worker.emplace(s.all);
    }
    s.done = s.worker->try_runs(in_time);
    return !s.done;
}

SearchReport SlicedSearch::report() const {
    return report_of(impl_->all, impl_->space, 1);
}

SearchReport search(const Plan& plan, const SearchSpace& space, const SearchOptions& options,
                    const std::atomic<bool>* cancel, const SearchProgress& progress) {
    const int threads = kHasThreads ? (options.threads > 0 ? options.threads : cores()) : 1;
    const SearchNodes nodes = nodes_of(plan, space);
    Shared all(plan, nodes, options, cancel, progress);
    const auto always = [] { return true; };
    on_threads(all, threads, [&](Worker w) { w.bound_nodes(always); });
    sort_runs(all);
    on_threads(all, threads, [&](Worker w) { w.try_runs(always); });
    return report_of(all, space, threads);
}

std::vector<Varied> held_at_first(const Plan& plan, bool any_software) {
    // Those that change the result least come first.
    static constexpr std::array<Varied, 4> kHeldFirst{Varied::order, Varied::cp, Varied::schedule,
                                                      Varied::etp};
    SpaceRequest request;
    request.any_software = any_software;
    std::vector<Varied> out;
    for (const Varied v : kHeldFirst) {
        std::optional<SpaceError> none;
        const SearchSpace space = search_space(plan, request, none);
        if (nodes_of(plan, space).layouts <= kUsualLayouts) break;
        if (space.values_of(v).size() < 2) continue;
        out.push_back(v);
        request.hold.emplace_back(name_of(v));
    }
    return out;
}

void keep_within(SearchReport& report, double share) {
    report.goal = Goal::memory;
    if (report.results.empty()) return;
    const double most = report.results.front().step_s * (1 + share);
    std::erase_if(report.results, [most](const SearchResult& r) { return !r.pareto || r.step_s > most; });
    std::sort(report.results.begin(), report.results.end(),
              [](const SearchResult& a, const SearchResult& b) { return a.memory_bytes < b.memory_bytes; });
}

namespace {

// These change as one edit; the same name twice means one field.
constexpr std::array<std::array<Varied, 2>, 11> kEdits{{{Varied::tp, Varied::tp},
                                                        {Varied::cp, Varied::cp},
                                                        {Varied::pp, Varied::pp},
                                                        {Varied::schedule, Varied::virtual_stages},
                                                        {Varied::ep, Varied::ep},
                                                        {Varied::etp, Varied::etp},
                                                        {Varied::dp_replicate, Varied::dp_replicate},
                                                        {Varied::zero, Varied::zero},
                                                        {Varied::micro_batch, Varied::micro_batch},
                                                        {Varied::recompute, Varied::recompute},
                                                        {Varied::order, Varied::order}}};

// Returns the space of all plans that differ only by these edits, and by dp_shard, which follows from the
// other factors.
SearchSpace space_around(const Plan& plan, std::size_t a, std::size_t b, bool any_software = false) {
    SpaceRequest request;
    for (const Varied v : all_of<Varied>()) {
        const auto free = [&](std::size_t edit) { return kEdits[edit][0] == v || kEdits[edit][1] == v; };
        if (v != Varied::dp_shard && !free(a) && !free(b)) request.hold.emplace_back(name_of(v));
    }
    request.any_software = any_software;
    std::optional<SpaceError> none;
    return search_space(plan, request, none);
}

bool means_nothing(const Plan& plan, std::size_t edit) {
    const Varied v = kEdits[edit][0];
    return !plan.model.moe && (v == Varied::ep || v == Varied::etp);
}

constexpr int kAnyTop = 64;  // results among which one is looked for that lacks nothing new

}  // namespace

std::vector<SearchResult> best_of_each_edit(const Plan& plan, const SearchOptions& options) {
    SearchOptions asked = options;
    asked.goal = Goal::tokens;
    // If its software does not run the plan, no layout may lack anything new; the search then has all.
    const bool lacking = lacks_of(plan, plan.training.software).any();
    asked.top = lacking ? kAnyTop : 3;  // the plan itself may be among the first, in two spellings
    Plan complete = plan;
    complete.layout.dp_replicate = replicas_in_force(plan);
    std::vector<SearchResult> out;
    for (std::size_t edit = 0; edit < kEdits.size(); ++edit) {
        if (means_nothing(plan, edit)) continue;
        SearchReport found = search(complete, space_around(complete, edit, edit, lacking), asked);
        const auto other = std::find_if(found.results.begin(), found.results.end(), [&](const auto& r) {
            return !is_laid_out_as(complete, r.plan) && !changed_choices(plan, r.choice).empty()
                   && !lack_that_came(plan, r.plan);
        });
        if (other == found.results.end()) continue;
        const auto again = [&](const SearchResult& r) { return is_laid_out_as(r.plan, other->plan); };
        if (std::none_of(out.begin(), out.end(), again)) out.push_back(std::move(*other));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const SearchResult& a, const SearchResult& b) { return a.step_s < b.step_s; });
    return out;
}

TriedEdits try_each_edit(const Plan& plan, const Evaluation& e) {
    constexpr double kAnyMemory = -1e3;  // the headroom that no layout goes below
    TriedEdits out{best_of_each_edit(plan, {.headroom = kept_free(e.memory)}),
                   best_of_each_edit(plan, {.headroom = kAnyMemory})};
    const double most_bytes = most_after_change(e.memory);
    std::erase_if(out.unfit, [&](const SearchResult& r) {
        return r.memory_bytes <= most_bytes || 1 - r.step_s / e.step->time_s < kWorthIt;
    });
    return out;
}

namespace {

// Keeps the fastest layout of several searches, and the leanest of those that take at most `most_s`.
struct NearKept {
    const Plan& plan;
    double most_s;
    bool lacking;       // its software does not run the plan: no layout may lack anything new
    double most_bytes;  // of the fullest GPU
    NearLayouts best{};
    std::array<std::size_t, 2> edits_of_fastest{}, edits_of_surest{}, edits_of_leanest{};

    [[nodiscard]] bool may_be(const SearchResult& r) const {
        return r.memory_bytes <= most_bytes
               && (!lacking || (!lack_that_came(plan, r.plan) && !is_laid_out_as(plan, r.plan)));
    }
    static bool has(const std::array<std::size_t, 2>& edits, std::size_t edit) {
        return edits[0] == edit || edits[1] == edit;
    }
    [[nodiscard]] bool is_of(std::size_t edit) const {
        return best.fastest
               && (has(edits_of_fastest, edit) || has(edits_of_surest, edit) || has(edits_of_leanest, edit));
    }
    void take(const SearchReport& found, std::array<std::size_t, 2> edits) {
        for (const SearchResult& r : found.results) {
            if (!may_be(r)) continue;
            if (!best.fastest || r.step_s < best.fastest->step_s) best.fastest = r, edits_of_fastest = edits;
            if (r.fit == MemoryFit::yes && (!best.surest || r.step_s < best.surest->step_s))
                best.surest = r, edits_of_surest = edits;
            if (r.step_s <= most_s && (!best.leanest || r.memory_bytes < best.leanest->memory_bytes))
                best.leanest = r, edits_of_leanest = edits;
        }
    }
    // Takes the layout of one edit where it does as much as the best of two.
    void take_single(const SearchReport& found, std::size_t edit) {
        if (!is_of(edit)) return;
        for (const SearchResult& r : found.results) {
            if (!may_be(r)) continue;
            if (has(edits_of_fastest, edit) && r.step_s <= best.fastest->step_s) best.fastest = r;
            if (best.surest && has(edits_of_surest, edit) && r.fit == MemoryFit::yes
                && r.step_s <= best.surest->step_s)
                best.surest = r;
            if (best.leanest && has(edits_of_leanest, edit) && r.step_s <= most_s
                && r.memory_bytes <= best.leanest->memory_bytes)
                best.leanest = r;
        }
    }
};

// Fills `kept` from the searches of two edits each. Returns false where it was cancelled.
//
// One run serves all limits of memory: a search lists its Pareto line, and of the layouts that take no more
// than some bytes the fastest lies on it, as does the leanest of those that take no more than some time: what
// beats either in both has no more bytes, or no more time.
bool keep_of_two_edits(const Plan& plan, const SearchOptions& options, const std::atomic<bool>* cancel,
                       std::vector<NearKept>& kept) {
    SearchOptions asked = options;
    asked.goal = Goal::tokens;
    const bool lacking = kept.front().lacking;
    asked.top = lacking ? kAnyTop : 1;  // the layouts of the Pareto line come with them
    const auto cancelled = [cancel] { return cancel != nullptr && *cancel; };
    for (std::size_t a = 0; a < kEdits.size(); ++a) {
        if (means_nothing(plan, a)) continue;
        for (std::size_t b = a + 1; b < kEdits.size(); ++b) {
            if (means_nothing(plan, b)) continue;
            const SearchReport found = search(plan, space_around(plan, a, b, lacking), asked, cancel);
            if (cancelled()) return false;
            for (NearKept& k : kept) k.take(found, {a, b});
        }
    }
    for (std::size_t edit = 0; edit < kEdits.size(); ++edit) {
        if (std::none_of(kept.begin(), kept.end(), [edit](const NearKept& k) { return k.is_of(edit); }))
            continue;
        const SearchReport found = search(plan, space_around(plan, edit, edit, lacking), asked, cancel);
        if (cancelled()) return false;
        for (NearKept& k : kept) k.take_single(found, edit);
    }
    return true;
}

NearKept near_kept(const Plan& plan, double most_s, double most_bytes) {
    return {.plan = plan,
            .most_s = most_s,
            .lacking = lacks_of(plan, plan.training.software).any(),
            .most_bytes = most_bytes};
}

constexpr double kAnyBytes = std::numeric_limits<double>::infinity();  // the search's headroom limits them

}  // namespace

NearLayouts layouts_within_two_edits(const Plan& plan, double most_s, const SearchOptions& options,
                                     const std::atomic<bool>* cancel) {
    std::vector<NearKept> kept{near_kept(plan, most_s, kAnyBytes)};
    if (!keep_of_two_edits(plan, options, cancel, kept)) return {};
    return std::move(kept.front().best);
}

NearLayouts roomy_within_two_edits(const Plan& plan, double most_s, double roomy,
                                   const SearchOptions& options, const std::atomic<bool>* cancel) {
    const double most_bytes = (1 - roomy) * plan.cluster.gpu.hbm_bytes;
    std::vector<NearKept> kept{near_kept(plan, most_s, most_bytes), near_kept(plan, most_s, kAnyBytes)};
    if (kept[0].lacking) {  // layouts are left out after a search: its line need not have the roomy ones
        SearchOptions roomier = options;
        roomier.headroom = roomy;
        NearLayouts out = layouts_within_two_edits(plan, most_s, roomier, cancel);
        if (out.fastest || (cancel != nullptr && *cancel)) return out;
        return layouts_within_two_edits(plan, most_s, options, cancel);
    }
    if (!keep_of_two_edits(plan, options, cancel, kept)) return {};
    return std::move(kept[kept[0].best.fastest ? 0 : 1].best);
}

namespace {

bool differ(const LayoutChoice& a, const LayoutChoice& b, Varied v) {
    switch (v) {
    case Varied::tp: return a.tp != b.tp;
    case Varied::cp: return a.cp != b.cp;
    case Varied::pp: return a.pp != b.pp;
    case Varied::virtual_stages: return a.virtual_stages != b.virtual_stages;
    case Varied::schedule: return a.schedule != b.schedule;
    case Varied::ep: return a.ep != b.ep;
    case Varied::etp: return a.etp != b.etp;
    case Varied::dp_shard: return a.dp_shard != b.dp_shard;
    case Varied::dp_replicate: return a.dp_replicate != b.dp_replicate;
    case Varied::zero: return a.zero != b.zero;
    case Varied::micro_batch: return a.micro_batch != b.micro_batch;
    case Varied::recompute: return !(a.recompute == b.recompute);
    case Varied::order: return a.order != b.order;
    case Varied::gradients: return a.settings.gradients != b.settings.gradients;
    case Varied::optimizer_state: return a.settings.optimizer_state != b.settings.optimizer_state;
    case Varied::reshard: return a.settings.reshard != b.settings.reshard;
    case Varied::overlap_tp: return a.settings.overlap_tp != b.settings.overlap_tp;
    case Varied::overlap_pp: return a.settings.overlap_pp != b.settings.overlap_pp;
    case Varied::offload_layers: return a.settings.offload_layers != b.settings.offload_layers;
    case Varied::offload_optimizer: return a.settings.offload_optimizer != b.settings.offload_optimizer;
    }
    return false;
}

// Returns the larger of the steps under which a layout is tried.
double hard_step(const SearchResult& r) {
    return std::max(r.slow_link_s, r.slow_stage_s);
}

bool sooner(Second then, const SearchResult& a, const SearchResult& b) {
    const auto by = [&](const auto& first) {
        return std::tuple(first(a), a.step_s, a.memory_bytes)
               < std::tuple(first(b), b.step_s, b.memory_bytes);
    };
    switch (then) {
    case Second::step: break;
    case Second::memory: return by([](const SearchResult& r) { return r.memory_bytes; });
    case Second::robust: return by(hard_step);
    case Second::simple: return by([](const SearchResult& r) { return r.changes; });
    }
    return by([](const SearchResult& r) { return r.step_s; });
}

}  // namespace

LayoutChoice choice_of(const Plan& plan) {
    const Layout& l = plan.layout;
    LayoutChoice c;
    c.tp = l.tp, c.cp = l.cp, c.pp = l.pp, c.virtual_stages = l.virtual_stages;
    c.ep = l.ep, c.etp = plan.model.moe ? l.etp.value_or(l.tp) : 1, c.dp_shard = l.dp_shard;
    c.dp_replicate = replicas_in_force(plan), c.micro_batch = plan.training.micro_batch;
    c.schedule = l.schedule, c.zero = l.zero, c.recompute = plan.training.recompute, c.order = l.order;
    c.settings = settings_of(plan);
    return c;
}

std::vector<Varied> changed_choices(const Plan& plan, const LayoutChoice& to) {
    const LayoutChoice from = choice_of(plan);
    std::vector<Varied> out;
    for (const Varied v : all_of<Varied>()) {
        if (!plan.model.moe && (v == Varied::ep || v == Varied::etp)) continue;
        if (v == Varied::etp && !plan.layout.etp && to.etp == to.tp) continue;
        if (v != Varied::dp_shard && differ(from, to, v)) out.push_back(v);
    }
    return out;
}

double step_with_slow_link(const Plan& plan) {
    Plan slow = plan;
    if (slow.cluster.tiers.empty()) return 0;
    slow.cluster.tiers.back().bytes_per_s *= kSlowLink;
    const Evaluation e = evaluate(slow);
    return e.step ? e.step->time_s : 0;
}

double step_with_slow_stage(const Plan& plan) {
    const Evaluation e = evaluate(plan);
    if (!e.step || e.timeline.empty()) return 0;
    SlowDevice slow{0, kSlowStage};
    for (std::size_t d = 0; d < e.timeline.device.size(); ++d)
        if (e.timeline.device[d].busy > e.timeline.device[static_cast<std::size_t>(slow.device)].busy)
            slow.device = static_cast<int>(d);
    TimelineCosts costs = e.costs;
    apply_slow(slow, e.timeline.shape.devices, costs);
    Timeline slowed;
    run_timeline(e.timeline.shape, costs, slowed);
    return step_with_makespan(*e.step, e.timeline.makespan, slowed.makespan);
}

void order_ties(Second then, SearchReport& r) {
    const auto end = std::stable_partition(r.results.begin(), r.results.end(),
                                           [](const SearchResult& x) { return x.tied; });
    std::sort(r.results.begin(), end,
              [&](const SearchResult& a, const SearchResult& b) { return sooner(then, a, b); });
}

void find_ties(const Plan& plan, const TieOptions& options, SearchReport& r,
               const std::atomic<bool>* cancel) {
    r.ties = {};
    const auto fastest =
        std::min_element(r.results.begin(), r.results.end(),
                         [](const SearchResult& a, const SearchResult& b) { return a.step_s < b.step_s; });
    if (fastest == r.results.end() || r.goal == Goal::memory) return;
    r.ties.within = options.within.value_or(fastest->step.error);
    r.ties.estimate = !options.within;
    const double most = fastest->step_s * (1 + r.ties.within);
    // The search knows all layouts of its best few and of the Pareto line. The first are those of the least
    // steps: if the slowest of them is no longer tied, no other layout of the space is.
    std::size_t listed = 0;
    double last_s = 0;
    for (SearchResult& x : r.results) {
        x.tied = x.step_s <= most;
        x.changes = static_cast<std::int64_t>(changed_choices(plan, x.choice).size());
        r.ties.count += x.tied ? 1 + x.alike : 0;
        if (listed++ < r.asked) last_s = std::max(last_s, x.step_s);
    }
    r.ties.all = r.results.size() < r.asked || last_s > most;
    if (options.robust || options.then == Second::robust)
        for (SearchResult& x : r.results) {
            if (!x.tied || (cancel != nullptr && *cancel)) continue;
            x.slow_link_s = step_with_slow_link(x.plan), x.slow_stage_s = step_with_slow_stage(x.plan);
        }
    order_ties(options.then, r);
}

std::string tie_words(const SearchReport& r) {
    if (r.ties.count < 2) return {};
    const std::string n = (r.ties.all ? "" : "At least ") + with_commas(r.ties.count);
    const std::string within = percent_text(r.ties.within);
    if (!r.ties.estimate) return n + " layouts take at most " + within + " more than the fastest one.";
    return n + " layouts cannot be told apart: their steps lie within " + within
           + " of the fastest one's, and the estimate may be off by as much.";
}

}  // namespace pentamesh
