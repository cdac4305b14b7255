// Compares the search with brute force: every layout of small spaces is evaluated one by one, with nothing
// skipped.
#include "core/decide/bounds.h"
#include "core/decide/search.h"
#include "core/plan/problem.h"
#include "core/rules/state_runs.h"

#include "plans.h"
#include "shipped.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

Plan of_64_gpus(const Model& model, std::int64_t sequence, std::int64_t batch) {
    Plan p;
    p.model = model;
    p.cluster = test::shipped_cluster("h100-sxm-ib", 64);
    p.layout.dp_shard = 64, p.layout.dp_replicate = 1;
    p.training.sequence_length = sequence, p.training.global_batch = batch;
    return p;
}

Model small_dense() {
    Model m;
    m.name = "dense";
    m.layers = 10, m.hidden = 4096, m.heads = 32, m.kv_heads = 8, m.head_dim = 128, m.ffn = 14336;
    m.vocab = 128256;
    return m;
}

Model small_moe() {
    Model m = small_dense();
    m.name = "moe", m.layers = 8;
    m.moe = Moe{};
    m.moe->experts = 16, m.moe->top_k = 2, m.moe->expert_ffn = 4096, m.moe->first_dense_layers = 1;
    return m;
}

// Has layers that differ, a tied embedding, a prediction layer.
Model small_mixed() {
    Model m = small_dense();
    m.name = "mixed", m.layers = 12, m.tied_embeddings = true, m.mtp_layers = 1;
    m.pattern = {{MixerKind::full, LayerFfn::dense, 1}, {MixerKind::window, LayerFfn::dense, 2}};
    m.pattern[1].window = 1024;
    m.pattern[1].ffn_width = 8192;
    return m;
}

struct Point {
    double time_s = 0, memory = 0;
    LayoutChoice choice;
};

struct BruteForce {
    std::int64_t layouts = 0, invalid = 0, too_big = 0, left_out = 0;
    std::vector<Point> fit;
    std::map<ProblemCode, std::int64_t> codes;
};

bool counts(const LayoutChoice& c, const Plan& plan) {
    if (c.tp * c.cp * c.pp * c.dp_shard * c.dp_replicate != plan.cluster.gpus) return false;
    if (c.pp == 1) return c.schedule == Schedule::one_f_one_b && c.virtual_stages == 1;
    return chunks_for(c.schedule, c.virtual_stages) == c.virtual_stages;
}

// Returns true for the first of those orders that lay axes of more than one rank in the same way.
bool first_of_its_orders(const LayoutChoice& c, const Plan& plan, const SearchSpace& s) {
    const std::int64_t dp = c.dp_shard * c.dp_replicate;
    const auto standing = [&](const AxisOrder& order) {
        std::pair<std::vector<Axis>, std::vector<Axis>> out;
        const bool moe = plan.model.moe.has_value();
        for (const Axis a : order) {
            const bool data = a == Axis::dp_shard || a == Axis::dp_replicate;
            if (a == Axis::tp   ? c.tp > 1
                : a == Axis::cp ? c.cp > 1
                : a == Axis::pp ? c.pp > 1
                                : data && dp > 1)
                out.first.push_back(a);
            if (moe
                && (a == Axis::tp   ? c.etp > 1
                    : a == Axis::ep ? c.ep > 1
                    : a == Axis::pp ? c.pp > 1
                                    : data))
                out.second.push_back(a);
        }
        return out;
    };
    for (const AxisOrder& o : s.order) {
        if (o == c.order) return true;
        if (standing(o) == standing(c.order)) return false;
    }
    return false;
}

std::vector<std::pair<Switched, Switched>> overlaps_of(const SearchSpace& s) {
    std::vector<std::pair<Switched, Switched>> out;
    for (const Switched tp : s.overlap_tp)
        for (const Switched pp : s.overlap_pp) out.emplace_back(tp, pp);
    return out;
}

BruteForce brute_force(const Plan& plan, const SearchSpace& s, double headroom) {
    BruteForce out;
    Evaluation e;
    Plan p = plan;
    LayoutChoice c;
    const double room = plan.cluster.gpu.hbm_bytes * (1 - headroom);
    const auto look = [&] {
        if (!counts(c, plan) || !first_of_its_orders(c, plan, s)) return;
        lay_out(plan, c, p);
        for (const Inside& one : s.inside)
            if (evaluate(p, {.timeline = false}).groups[one.group].slowest_tier > one.tier) return;
        if (s.software
            && !(keeps_gradients(plan, *s.software, c.settings.gradients)
                 && keeps_moments(plan, *s.software, c.zero, c.settings.optimizer_state)
                 && offloads_optimizer(plan, *s.software, c.zero, c.settings.offload_optimizer)
                 && offloads_activations(plan, *s.software, c.pp, c.recompute.any(),
                                         c.settings.offload_layers)))
            return;
        if (const auto lack = s.software ? lacks_of(p, *s.software).first() : std::nullopt) {
            ++out.left_out;
            ++out.codes[code_of(*lack)];
            return;
        }
        ++out.layouts;
        evaluate(p, e, {.timeline = true, .messages = false});
        if (!e.step) {
            ++out.invalid;
            REQUIRE(!e.problems.empty());
            ++out.codes[e.problems.front().code];
        } else if (e.memory.peak() > room) {
            ++out.too_big;
        } else {
            out.fit.push_back({e.step->time_s, e.memory.peak(), c});
        }
    };
    const auto of_these_settings = [&] {
        for (const std::int64_t tp : s.tp)
            for (const std::int64_t cp : s.cp)
                for (const std::int64_t pp : s.pp)
                    for (const std::int64_t shard : s.dp_shard)
                        for (const std::int64_t replicate : s.dp_replicate) {
                            c.tp = tp, c.cp = cp, c.pp = pp, c.dp_shard = shard, c.dp_replicate = replicate;
                            if (tp * cp * pp * shard * replicate != plan.cluster.gpus) continue;
                            for (const std::int64_t v : s.virtual_stages)
                                for (const Schedule k :
                                     pp == 1 ? std::vector{Schedule::one_f_one_b} : s.schedule)
                                    for (const std::int64_t ep : s.ep)
                                        for (const std::int64_t etp : s.etp)
                                            for (const int zero : s.zero)
                                                for (const std::int64_t b : s.micro_batch)
                                                    for (const RecomputeChoice& r : s.recompute)
                                                        for (const AxisOrder& o : s.order) {
                                                            c.virtual_stages = v, c.schedule = k, c.ep = ep;
                                                            c.etp = etp, c.zero = zero, c.micro_batch = b;
                                                            c.recompute = r, c.order = o;
                                                            look();
                                                        }
                        }
    };
    for (const Dtype gradients : s.gradients)
        for (const Dtype moments : s.optimizer_state)
            for (const Reshard reshard : s.reshard)
                for (const auto& [overlap, pp] : overlaps_of(s))
                    for (const std::int64_t layers : s.offload_layers)
                        for (const double optimizer : s.offload_optimizer) {
                            c.settings = {gradients, moments, reshard, overlap, pp, layers, optimizer};
                            of_these_settings();
                        }
    return out;
}

// Returns the fields to vary; under the sanitizers the second list, which gives fewer layouts.
SpaceRequest in_short(std::vector<std::string> vary, std::vector<std::string> sanitized) {
    return {test::kSanitized ? std::move(sanitized) : std::move(vary), {}};
}
SpaceRequest of_any_software(SpaceRequest request) {
    request.any_software = true;
    return request;
}

using Pair = std::pair<double, double>;

// Returns the points for which no other is at least as good in both and better in one.
std::set<Pair> pareto(const std::vector<Point>& fit) {
    std::vector<Pair> sorted;
    for (const Point& p : fit) sorted.emplace_back(p.time_s, p.memory);
    std::sort(sorted.begin(), sorted.end());
    std::set<Pair> out;
    double least = 1e300;
    for (const Pair& p : sorted)
        if (p.second < least) least = p.second, out.insert(p);
    return out;
}

// Looks at the layouts of the space, or at those that are drawn: none may take less time or memory than its
// bounds say. Returns how many it looked at.
std::int64_t no_layout_below_its_bounds(const Plan& plan, const SearchSpace& space, double nodes_drawn = 1,
                                        double layouts_drawn = 1) {
    std::mt19937 random(29);
    const auto drawn = [&](double share) {
        return share >= 1 || std::uniform_real_distribution<double>(0, 1)(random) < share;
    };
    const SearchNodes nodes = nodes_of(plan, space);
    const BoundOf of(plan);
    Plan laid = plan;
    Evaluation e, whole;
    NodeBounds bounds;
    std::int64_t looked_at = 0;
    for (const SearchNode& n : nodes.node) {
        if (!drawn(nodes_drawn)) continue;
        bound_node(plan, nodes, n, of, laid, e, bounds);
        for (std::size_t r = 0; r < bounds.run.size(); ++r) {
            if (!bounds.run[r].possible() || !drawn(layouts_drawn)) continue;
            lay_out(plan, whole_states(plan, nodes, n, r), laid);
            evaluate(laid, whole, {.report = false, .state_waits = false});
            RunBound replayed = bounds.run[r].bound;
            if (!whole.timeline.empty() && whole.timeline.complete)
                replayed.makespan = std::max(replayed.makespan, whole.timeline.makespan);
            for (std::size_t q = 0; q < n.shards.size(); ++q) {
                lay_out(plan, nodes.choice(n, r, q), laid);
                evaluate(laid, e);
                if (!e.step) continue;
                ++looked_at;
                REQUIRE(bounds.shard[q].has_value());
                const LayoutChoice c = nodes.choice(n, r, q);
                CAPTURE(c.tp);
                CAPTURE(c.cp);
                CAPTURE(c.pp);
                CAPTURE(c.ep);
                CAPTURE(c.etp);
                CAPTURE(c.dp_shard);
                CAPTURE(c.zero);
                CAPTURE(c.virtual_stages);
                CAPTURE(name_of(c.schedule));
                CAPTURE(name_of(c.recompute.kind));
                CHECK(of.memory(bounds.run[r].bound, *bounds.shard[q]) <= e.memory.peak());
                CHECK(of.time(bounds.run[r].bound, *bounds.shard[q]) <= e.step->time_s);
                CHECK(of.time(replayed, *bounds.shard[q]) <= e.step->time_s);
            }
        }
    }
    return looked_at;
}

void same_as_brute_force(const Plan& plan, const SpaceRequest& request, double headroom) {
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, request, error);
    REQUIRE_MESSAGE(!error, error->message);
    CHECK(no_layout_below_its_bounds(plan, space) > (test::kSanitized ? 50 : 60));
    const BruteForce all = brute_force(plan, space, headroom);
    CAPTURE(plan.model.name);
    CAPTURE(all.layouts);
    REQUIRE(all.fit.size() > 20);
    const std::set<Pair> line = pareto(all.fit);
    for (const Goal goal : {Goal::tokens, Goal::memory}) {
        SearchOptions options{goal, headroom, 7, 2};
        const SearchReport r = search(plan, space, options);
        const SearchCounts& c = r.counts;
        CHECK(c.layouts == all.layouts);
        CHECK(c.layouts == c.skipped + c.evaluated);
        CHECK(c.evaluated == c.invalid + c.too_big + c.fit);
        CHECK(c.invalid == all.invalid);
        CHECK(c.left_out == all.left_out);
        CHECK((c.left_out > 0) == space.software.has_value());
        CHECK(c.too_big <= all.too_big);
        CHECK(c.fit <= static_cast<std::int64_t>(all.fit.size()));
        std::map<ProblemCode, std::int64_t> codes;
        for (const Rejection& x : r.rejected)
            if (x.code != ProblemCode::out_of_memory) codes[x.code] = x.count;
        CHECK(codes == all.codes);

        std::set<Pair> found;
        for (const SearchResult& x : r.results)
            if (x.pareto) found.insert({x.step_s, x.memory_bytes});
        CHECK(found == line);

        std::map<Pair, std::int64_t> best;  // how many layouts have these two figures
        for (const Point& p : all.fit)
            best[goal == Goal::tokens ? Pair{p.time_s, p.memory} : Pair{p.memory, p.time_s}] += 1;
        REQUIRE(best.size() >= 7);
        REQUIRE(r.results.size() >= 7);
        auto expected = best.begin();
        for (std::size_t i = 0; i < 7; ++i, ++expected) {
            const SearchResult& x = r.results[i];
            const auto& [time, memory] = std::tie(x.step_s, x.memory_bytes);
            CHECK((goal == Goal::tokens ? Pair{time, memory} : Pair{memory, time}) == expected->first);
            CHECK(x.alike + 1 == expected->second);
        }
    }
}

}  // namespace

TEST_CASE("a search of 64 GPUs finds what brute force finds: a dense model") {
    same_as_brute_force(
        of_64_gpus(small_dense(), 8192, 128),
        of_any_software(in_short({"virtual_stages=1,2,3", "micro_batch=1,2"},
                                 {"virtual_stages=1,2", "micro_batch=1", "zero=1,3", "cp=1,2"})),
        0.05);
}

TEST_CASE("a search of 64 GPUs finds what brute force finds: experts folded over other ranks") {
    Plan p = of_64_gpus(small_moe(), 4096, 64);
    p.training.overlap.ep = true;
    same_as_brute_force(
        p,
        of_any_software(
            in_short({"virtual_stages=1,2", "micro_batch=1,2", "cp=1,2", "recompute=none,full", "etp=1,2,4",
                      "tp=1,2,4", "schedule=1f1b,interleaved,zb-v,dualpipe", "zero=0,1,3"},
                     {"virtual_stages=1,2", "micro_batch=1", "cp=1", "recompute=none,full", "etp=1,2",
                      "tp=1,2", "schedule=1f1b,interleaved,dualpipe", "zero=1,3"})),
        0.1);
}

TEST_CASE(
    "a search of 64 GPUs finds what brute force finds: uneven layers, stragglers, an order of one's own") {
    Plan p = of_64_gpus(small_mixed(), 4096, 64);
    p.training.straggler_cv = 0.02;
    p.training.overlap.pp = false;
    p.layout.order = {Axis::tp, Axis::dp_shard, Axis::pp, Axis::cp, Axis::dp_replicate, Axis::ep};
    same_as_brute_force(
        p,
        of_any_software(in_short({"virtual_stages=1,2", "micro_batch=1,2", "cp=1,2", "recompute=none,full",
                                  "tp=1,2,8", "schedule=1f1b,interleaved,zb-h1,dualpipe,looped-bfs"},
                                 {"virtual_stages=1,2", "micro_batch=1", "cp=1", "recompute=none,full",
                                  "tp=1,8", "schedule=1f1b,interleaved,dualpipe,looped-bfs"})),
        0.5);
}

TEST_CASE("a search for a software finds what brute force finds among what it runs") {
    for (const Software software :
         {Software::megatron, Software::torchtitan, Software::deepspeed, Software::nanotron}) {
        CAPTURE(name_of(software));
        Plan p = of_64_gpus(software == Software::nanotron ? small_dense() : small_moe(), 4096, 64);
        p.training.software = software;
        p.training.overlap.ep = true;
        same_as_brute_force(
            p,
            in_short({"virtual_stages=1,2", "micro_batch=1", "cp=1,2", "recompute=none,full", "etp=1,2",
                      "ep=1,4,8", "tp=1,2,8", "schedule=gpipe,1f1b,interleaved,zb-v", "zero=0,1,3"},
                     {"virtual_stages=1,2", "micro_batch=1", "cp=1,2", "recompute=none,full", "etp=1,2",
                      "ep=1,8", "tp=1,2", "schedule=1f1b,zb-v", "zero=1,3"}),
            0.1);
    }
}

TEST_CASE("a search finds what brute force finds where it varies types, layers, modules and switches") {
    for (const bool any : {true, false}) {
        CAPTURE(any);
        Plan p = of_64_gpus(small_dense(), 8192, 128);
        p.training.overlap.pp = any;  // Megatron wants it for interleaved stages on pp 2
        SpaceRequest request{{"virtual_stages=1,2", "micro_batch=1", "cp=1", "tp=1,8", "zero=1,3",
                              "dp_replicate=1,2", "schedule=1f1b,interleaved", "order=Megatron",
                              "recompute=none,full", "recompute_layers=2",
                              "recompute_modules=mlp,core_attn+mlp", "gradients"},
                             {}};
        request.any_software = any;
        request.vary.emplace_back(any ? "reshard=after_forward,never" : "optimizer_state");
        request.vary.emplace_back(any ? "overlap.tp=on" : "overlap.tp");
        request.vary.emplace_back("overlap.pp");
        same_as_brute_force(p, request, 0.05);
    }
}

TEST_CASE("a search finds what brute force finds where it varies what lies in host memory") {
    struct Case {
        Software software;
        bool any = false;
        double rate = 55e9;
    };
    for (const Case& c : {Case{Software::megatron}, Case{Software::deepspeed}, Case{Software::fsdp, true},
                          Case{Software::megatron, false, 2e9}}) {
        CAPTURE(name_of(c.software));
        CAPTURE(c.rate);
        Plan p = of_64_gpus(small_dense(), 8192, 128);
        p.training.software = c.software;
        p.cluster.gpu.host_bytes_per_s = c.rate;
        p.training.overlap.dp = !c.any;
        SpaceRequest request{{"virtual_stages=1", "micro_batch=1,2", "cp=1", "tp=1,8", "pp=1,2", "zero=1,3",
                              "dp_replicate=1,2", "schedule=1f1b", "order=Megatron", "recompute=none,full",
                              "offload.activations_layers=0,2,5", "offload.optimizer=0,0.5,1"},
                             {}};
        request.any_software = c.any;
        same_as_brute_force(p, request, 0.05);
    }
}

constexpr GradientReduction kReductions[]{GradientReduction::by_software, GradientReduction::step,
                                          GradientReduction::run, GradientReduction::micro_batch};

// Changes what decides how a step's traffic hides.
Plan with_other_traffic(Plan plan, std::mt19937& random) {
    plan.training.software = all_of<Software>()[random() % kEnumCount<Software>];
    plan.training.overlap.dp = random() % 3 != 0;
    plan.training.overlap.pp = random() % 3 != 0;
    plan.layout.gradient_reduction = kReductions[random() % 4];
    if (random() % 4 == 0) plan.training.straggler_cv = 0.05;
    if (random() % 4 == 0) plan.training.micro_batch *= 2;
    if (random() % 4 == 0) {
        plan.training.offload.activations_layers = static_cast<std::int64_t>(random() % 8);
        plan.training.offload.optimizer = 0.25 * static_cast<double>(random() % 5);
        plan.cluster.gpu.host_bytes_per_s = random() % 2 ? 5e9 : 5e10;  // the slower one is waited for
    }
    return plan;
}

TEST_CASE("no layout near a shipped plan, or one like it, takes less than its bounds say") {
    std::mt19937 random(37);
    std::int64_t looked_at = 0;
    for (const Presets::Entry& entry : test::presets().list(PresetKind::plan))
        for (const bool changed : {false, true}) {
            const Plan own = test::presets().plan(entry.id);
            const Plan plan = changed ? with_other_traffic(own, random) : own;
            CAPTURE(entry.id);
            CAPTURE(changed);
            std::optional<SpaceError> error;
            const SearchSpace space = search_space(plan, of_any_software({}), error);
            REQUIRE(!error);
            const double nodes = static_cast<double>(nodes_of(plan, space).node.size());
            looked_at += no_layout_below_its_bounds(plan, space, (test::kSanitized ? 3 : 12) / nodes, 0.05);
        }
    CHECK(looked_at > (test::kSanitized ? 2000 : 20000));
}

TEST_CASE("what a search finds is what report says of the same plan, to the last digit") {
    const Plan plan = test::presets().plan("llama-3-8b-fsdp");
    std::optional<SpaceError> error;
    const SearchReport r =
        search(plan, search_space(plan, in_short({}, {"micro_batch=1", "zero=3"}), error), {.threads = 2});
    REQUIRE(!r.results.empty());
    for (const SearchResult& x : r.results) {
        CHECK(x.headroom == near(1 - x.memory_bytes / x.plan.cluster.gpu.hbm_bytes));
        const Evaluation e = evaluate(x.plan);
        REQUIRE(e.step);
        CHECK(x.step_s == e.step->time_s);
        CHECK(x.tokens_per_s == e.step->tokens_per_s);
        CHECK(x.memory_bytes == e.memory.peak());
        CHECK(x.memory_bytes <= plan.cluster.gpu.hbm_bytes * 0.95);
        CHECK(x.plan.layout.dp_replicate.has_value());
    }
    CHECK(r.results.front().tokens_per_s >= r.base.tokens_per_s);
}

TEST_CASE("a search gives the same answer on any number of threads") {
    const Plan plan = of_64_gpus(small_dense(), 8192, 128);
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, in_short({}, {"micro_batch=1", "cp=1,2"}), error);
    const SearchReport one = search(plan, space, {.threads = 1});
    for (const int threads : {2, 3, 5}) {
        if (test::kSanitized && threads == 3) continue;
        const SearchReport many = search(plan, space, {.threads = threads});
        REQUIRE(many.results.size() == one.results.size());
        for (std::size_t i = 0; i < one.results.size(); ++i) {
            CHECK(many.results[i].choice == one.results[i].choice);
            CHECK(many.results[i].pareto == one.results[i].pareto);
        }
    }
}

TEST_CASE("a cancelled search stops and has what it found so far") {
    const Plan plan = of_64_gpus(small_dense(), 8192, 128);
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, {}, error);
    std::atomic<bool> cancel{false};
    int found = 0;
    const SearchReport r = search(plan, space, {.threads = 2}, &cancel,
                                  [&](const std::vector<FoundLayout>& layouts, const SearchCounts& c) {
                                      found += static_cast<int>(layouts.size());
                                      CHECK(c.evaluated == c.invalid + c.too_big + c.fit);
                                      if (found == 3) cancel = true;
                                  });
    CHECK(r.cancelled);
    CHECK(found >= 3);
    CHECK(!r.results.empty());
    CHECK(r.counts.layouts == r.counts.skipped + r.counts.evaluated);
}

TEST_CASE("no replay of any schedule ends before its bound") {
    for (const Schedule k : all_of<Schedule>())
        for (int p = 1; p <= 8; ++p)
            for (int m = 1; m <= 20; ++m)
                for (int v = 1; v <= 3; ++v) {
                    const ScheduleShape shape{k, p, m, v, 0};
                    if (!accepts(shape)) continue;
                    TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0.1);
                    for (std::size_t i = 0; i < costs.chunk.size(); ++i) {
                        const double uneven = 1 + 0.3 * static_cast<double>(i * 7 % 5);
                        costs.chunk[i].forward *= uneven;
                        costs.chunk[i].input_grad *= 1.1 * uneven;
                        costs.chunk[i].weight_grad *= 0.7 * uneven;
                    }
                    Timeline t;
                    run_timeline(shape, costs, t);
                    CAPTURE(static_cast<int>(k));
                    CAPTURE(p);
                    CAPTURE(m);
                    CAPTURE(v);
                    const double least = least_makespan(shape, costs);
                    CHECK(least <= t.makespan);
                    CHECK(least > 0.5 * t.makespan);
                }
}

TEST_CASE("1F1B of equal stages ends at its bound") {
    const ScheduleShape shape{Schedule::one_f_one_b, 4, 16, 1, 0};
    const TimelineCosts costs = uniform_costs(shape, 1, 1, 1, 0);
    CHECK(least_makespan(shape, costs) == near((16 + 3) * 3.0, 2e-9));
}

TEST_CASE("a search whose groups stay inside a tier finds what brute force finds") {
    SpaceRequest request = of_any_software(
        in_short({"micro_batch=1", "zero=1,3", "cp<=2", "schedule=1f1b,interleaved", "virtual_stages=1..2"},
                 {"micro_batch=1", "zero=1", "cp=1", "schedule=1f1b", "virtual_stages=1"}));
    request.hold = {"fsdp inside the node", "pp<=8"};
    const Plan plan = of_64_gpus(small_dense(), 8192, 128);
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, request, error);
    REQUIRE(space.inside == std::vector<Inside>{{GroupKind::fsdp, 0}});
    SpaceRequest anywhere = request;
    anywhere.hold = {"pp<=8"};
    CHECK(nodes_of(plan, space).layouts < nodes_of(plan, search_space(plan, anywhere, error)).layouts);
    same_as_brute_force(plan, request, 0.05);
    Plan experts = of_64_gpus(small_moe(), 4096, 64);
    request.hold = {"ep inside NVLink", "dp_shard inside the node", "etp=1"};
    same_as_brute_force(experts, request, 0.05);
}

TEST_CASE("a space without a fit layout says which limit binds and what would lift it") {
    const Plan plan = test::presets().plan("llama-3.1-405b-8k");
    Plan small = plan;
    small.cluster.gpus = 16;
    small.layout = {};
    small.training.global_batch = 16;
    const SpaceRequest request = in_short({}, {"micro_batch=1", "zero=1,3", "schedule=1f1b,interleaved"});
    std::optional<SpaceError> error;
    const SearchOptions options{.threads = 2};
    const SearchReport r = search(small, search_space(small, request, error), options);
    CHECK(r.counts.fit == 0);
    CHECK(r.results.empty());
    const std::string text = what_would_fit(small, request, options, r);
    CAPTURE(text);
    CHECK(text.find("memory binds first") != std::string::npos);
    CHECK(text.find("of these") != std::string::npos);
}

TEST_CASE("each reason why a search left layouts out has words of its own") {
    std::set<ProblemCode> seen;
    const auto look = [&](const Plan& plan) {
        std::optional<SpaceError> error;
        const SearchSpace space =
            search_space(plan, {{"micro_batch=1", "recompute=none,full", "dp_replicate=1,2"}, {}}, error);
        REQUIRE(!error);
        for (const Rejection& r : search(plan, space, {.threads = 2}).rejected) seen.insert(r.code);
    };
    for (const Software software : all_of<Software>()) {
        Plan dense = of_64_gpus(small_dense(), 8192, 64);
        dense.training.software = software;
        look(dense);
        Plan experts = test::presets().plan("mixtral-8x7b-ep");
        experts.training.software = software;
        look(experts);
    }
    std::set<std::string_view> words;
    for (const ProblemCode code : seen) {
        CAPTURE(name_of(code));
        CHECK(reason_words(code) != name_of(code));
        words.insert(reason_words(code));
    }
    CHECK(words.size() == seen.size());
    CHECK(seen.size() > 12);
}

TEST_CASE("values that no plan may have are refused with the field and its range") {
    const Plan plan = of_64_gpus(small_dense(), 8192, 128);
    std::optional<SpaceError> error;
    for (const char* bad : {"tp=0", "tp=-3", "tp=two", "zero=4", "pp=99999999999999999999", "micro_batch="}) {
        static_cast<void>(search_space(plan, {{bad}, {}}, error));
        REQUIRE(error);
        CAPTURE(error->message);
        CHECK(error->message.find("a whole number from") != std::string::npos);
        CHECK(error->message.find(error->name) != std::string::npos);
    }
    static_cast<void>(search_space(plan, {{"schedule=zbh1"}, {}}, error));
    REQUIRE(error);
    CHECK(error->message.find("zb-h1") != std::string::npos);
    static_cast<void>(search_space(plan, {{}, {"tpp"}}, error));
    REQUIRE(error);
    CHECK(error->message.find("\"tp\"") != std::string::npos);
}
