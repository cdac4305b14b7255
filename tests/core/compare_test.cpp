// Compares the results of compare and sensitivity with evaluations made by hand.
#include "core/base/text.h"
#include "core/decide/compare.h"
#include "core/decide/scale.h"
#include "core/decide/space.h"
#include "core/io/plan_json.h"
#include "core/rules/software_runs.h"
#include "core/rules/state_runs.h"

#include "shipped.h"
#include "tests/near.h"

#include <cmath>
#include <doctest/doctest.h>

#include <algorithm>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

const PartRow* part(const std::vector<PartRow>& rows, std::string_view name) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const PartRow& r) { return r.part == name; });
    return at == rows.end() ? nullptr : &*at;
}

std::vector<Evaluation> evaluations_of(const std::vector<Plan>& plans) {
    std::vector<Evaluation> out;
    for (const Plan& p : plans) out.push_back(evaluate(p));
    return out;
}

}  // namespace

TEST_CASE(
    "the deltas of a comparison add up to the difference of the steps, exactly, for all shipped plans") {
    std::vector<Plan> plans;
    for (const Presets::Entry& e : test::presets().list(PresetKind::plan)) {
        Plan p = test::presets().plan(e.id);
        if (evaluate(p).step) plans.push_back(std::move(p));
    }
    REQUIRE(plans.size() >= 8);
    for (std::size_t i = 0; i + 1 < plans.size(); ++i) {
        const std::vector<Plan> pair{plans[i], plans[i + 1]};
        const std::vector<Evaluation> e = evaluations_of(pair);
        const std::vector<PartRow> why = why_steps_differ(pair, e);
        CAPTURE(pair[0].name);
        CAPTURE(pair[1].name);
        double sum = 0;
        for (const PartRow& r : why) {
            CHECK(!r.because.empty());
            CHECK(r.delta_s[0] == 0);
            // A difference that only rounding leaves is shown as none.
            CHECK(std::abs(r.delta_s[1] - (r.values_s[1] - r.values_s[0])) <= 1e-9 * e[1].step->time_s);
            sum += r.delta_s[1];
        }
        CHECK(sum == e[1].step->time_s - e[0].step->time_s);
    }
}

TEST_CASE("a comparison lists the fields that differ and no others") {
    const Plan a = test::presets().plan("llama-3.1-405b-16k");
    Plan b = a;
    b.name = "another";
    CHECK(differing_fields(std::vector{a, b}).empty());
    b.layout.tp = 4, b.layout.pp = 32;
    b.layout.microbatch_group = 32;
    b.training.recompute = Recompute::full;
    b.model.hidden = 8192;
    const std::vector<FieldDifference> fields = differing_fields(std::vector{a, b});
    REQUIRE(fields.size() == 5);
    CHECK(fields[0].pointer == "/model/hidden");
    CHECK(fields[0].values == std::vector<std::string>{"16384", "8192"});
    CHECK(fields[1].pointer == "/layout/tp");
    CHECK(fields[2].pointer == "/layout/pp");
    CHECK(fields[3].pointer == "/layout/microbatch_group");
    CHECK(fields[3].values == std::vector<std::string>{"null", "32"});
    CHECK(fields[4].values == std::vector<std::string>{"\"none\"", "\"full\""});
}

TEST_CASE("replicas that one plan leaves out differ from those that another states by their number only") {
    Plan a = test::presets().plan("llama-3-70b-3d");
    a.layout.dp_replicate.reset();
    Plan b = a;
    b.layout.dp_replicate = 1;
    CHECK(differing_fields(std::vector{a, b}).empty());
    CHECK(differing_fields(std::vector{b, a}).empty());
    b.layout.dp_shard = 4, b.layout.dp_replicate = 2;
    const std::vector<FieldDifference> fields = differing_fields(std::vector{a, b});
    REQUIRE(fields.size() == 2);
    CHECK(fields[0].pointer == "/layout/dp_shard");
    CHECK(fields[1].pointer == "/layout/dp_replicate");
    CHECK(fields[1].values == std::vector<std::string>{"1", "2"});
}

TEST_CASE("the path of a comparison goes over valid plans, greedily, and ends at the second plan") {
    const Plan a = test::presets().plan("llama-3.1-405b-16k");
    Plan b = a;
    b.layout.tp = 4, b.layout.pp = 8, b.layout.virtual_stages = 1, b.layout.dp_shard = 512;
    b.layout.schedule = Schedule::one_f_one_b;
    b.training.recompute = Recompute::full;
    b.training.overlap.tp = true;
    const std::vector<PathEdit> path = path_between(a, b);
    REQUIRE(!path.empty());
    const Evaluation end = evaluate(b);
    CHECK(path.back().step_s == end.step->time_s);
    CHECK(path.back().memory_bytes == end.memory.peak());
    std::size_t pointers = 0;
    for (const PathEdit& e : path) pointers += e.pointers.size();
    CHECK(pointers == differing_fields(std::vector{a, b}).size());
    // Overlapping tp is the only edit that makes this step shorter by itself.
    CHECK(path.front().edit == "overlap/tp off -> on");
    Plan first = a;
    first.training.overlap.tp = true;
    CHECK(path.front().step_s == evaluate(first).step->time_s);
    // tp, pp and dp_shard fill the cluster together or not at all.
    const auto joint = std::find_if(path.begin(), path.end(), [](const PathEdit& e) {
        return std::find(e.pointers.begin(), e.pointers.end(), "/layout/tp") != e.pointers.end();
    });
    REQUIRE(joint != path.end());
    CHECK(std::find(joint->pointers.begin(), joint->pointers.end(), "/layout/dp_shard")
          != joint->pointers.end());
    CHECK(path_between(a, a).empty());
}

TEST_CASE("a step of a path that no GPU holds says so") {
    const Plan a = test::presets().plan("deepseek-v3-2048");
    Plan b = a;
    b.training.recompute = Recompute::none;
    b.layout.zero = 3;
    const std::vector<PathEdit> path = path_between(a, b);
    REQUIRE(!path.empty());
    CHECK(path.back().fit == evaluate(b).memory.fit());
    for (const PathEdit& e : path)
        if (e.memory_bytes <= a.cluster.gpu.hbm_bytes) CHECK(e.fit == MemoryFit::yes);
    CHECK(std::any_of(path.begin(), path.end(), [](const PathEdit& e) { return e.fit == MemoryFit::no; }));
}

TEST_CASE("the better of two plans is named by its index, and nothing where they are equal") {
    const std::vector<Plan> plans{test::presets().plan("llama-3.1-405b-8k"),
                                  test::presets().plan("llama-3.1-405b-16k")};
    const PlanComparison c = compare(plans, evaluations_of(plans));
    for (const FigureRow& f : c.figures) {
        // They have 8,192 and 16,384 GPUs: a shorter step is no merit, more tokens of a GPU are.
        if (f.key == "step.time_s") CHECK_FALSE(f.better().has_value());
        if (f.key == "step.tokens_per_gpu_s") {
            const auto each = [](const Plan& p) {
                return evaluate(p).step->tokens_per_s / static_cast<double>(p.cluster.gpus);
            };
            CHECK(f.better() == (each(plans[0]) > each(plans[1]) ? 0 : 1));
        }
        if (f.key == "memory.peak")
            CHECK(f.better()
                  == (evaluate(plans[0]).memory.peak() < evaluate(plans[1]).memory.peak() ? 0 : 1));
    }
    CHECK(part(c.why, "bubble") != nullptr);
    std::vector<Plan> again(2, test::presets().plan("llama-3-70b-3d"));
    again[1].training.recompute = Recompute::full;
    for (const FigureRow& f : compare(again, evaluations_of(again)).figures) {
        if (f.key == "step.mfu") CHECK(f.better() == 0);
        if (f.key != "step.hfu") continue;
        CHECK(*f.values[1] != *f.values[0]);
        CHECK(!f.better());  // what is computed twice is no gain
    }
    const std::vector<Plan> same{plans[0], plans[0]};
    for (const FigureRow& f : compare(same, evaluations_of(same)).figures) CHECK(!f.better());
}

TEST_CASE("the parts that make most of the difference between two steps are said, the largest first") {
    Step from, to;
    from.time_s = 26, to.time_s = 20;
    CHECK(main_parts_text(from, to).empty());
    from.exposed_comm_s[GroupKind::tp] = 5.5, to.exposed_comm_s[GroupKind::tp] = 0.5;
    from.bubble_s = from.uneven_s = 3, to.bubble_s = 1;  // a bubble of the schedule instead of uneven stages
    CHECK(main_parts_text(from, to)
          == "5 s less in tp exposed, 3 s less in uneven stages, 1 s more in bubble");
    CHECK(main_parts_text(to, from)
          == "5 s more in tp exposed, 3 s more in uneven stages, 1 s less in bubble");
    // Parts that go against the difference are named after those that make it, however large.
    to.compute_s = 6;
    CHECK(main_parts_text(from, to)
          == "5 s less in tp exposed, 3 s less in uneven stages, 6 s more in compute");
    // Less than a tenth of the largest is not worth a word.
    to = from, to.compute_s = 6, to.optimizer_s = 0.5, to.time_s = 32.5;
    CHECK(main_parts_text(from, to) == "6 s more in compute");
}

TEST_CASE("data parallelism is one part of a step, whatever its groups are called") {
    Plan a = test::presets().plan("llama-3.1-405b-16k");
    a.layout.zero = 1, a.layout.gradient_reduction = GradientReduction::by_software;
    Plan b = a;
    b.layout.cp = 2, b.layout.dp_shard /= 2;
    const std::vector<Plan> pair{a, b};
    const std::vector<Evaluation> e = evaluations_of(pair);
    REQUIRE(e[0].step->exposed_comm_s[GroupKind::dp_shard] > 0);
    REQUIRE(e[1].step->exposed_comm_s[GroupKind::fsdp] > 0);
    const std::vector<PartRow> why = why_steps_differ(pair, e);
    const PartRow* row = part(why, "data parallel exposed");
    REQUIRE(row != nullptr);
    CHECK(row->values_s[0] == near(e[0].step->exposed_comm_s[GroupKind::dp_shard]));
    CHECK(row->values_s[1] == near(e[1].step->exposed_comm_s[GroupKind::fsdp]));
    CHECK(row->because.find("nothing is sent") == std::string::npos);
    for (const PartRow& r : why) {
        CHECK(r.part.find("fsdp") == std::string::npos);
        CHECK(r.part.find("dp_shard") == std::string::npos);
        CHECK(r.because.find("fsdp") == std::string::npos);
    }
    Step from, to;
    from.time_s = 10, from.exposed_comm_s[GroupKind::dp_shard] = 2;
    to.time_s = 10.5, to.exposed_comm_s[GroupKind::fsdp] = 2.5;
    CHECK(main_parts_text(from, to) == "500 ms more in data parallel exposed");
}

TEST_CASE("each row of the sensitivity is the evaluation of the plan that it names") {
    const Plan plan = test::presets().plan("llama-3.1-405b-16k");
    const Sensitivity s = sensitivity_of(plan, test::presets());
    CHECK(s.step_s == evaluate(plan).step->time_s);
    std::size_t seen = 0;
    for (const SensitivityRow& r : s.rows)
        for (const std::optional<Nudge>* n : {&r.down, &r.up}) {
            if (!*n) continue;
            CAPTURE(r.id);
            CAPTURE((*n)->value);
            const Evaluation e = evaluate((*n)->plan);
            const Training& t = (*n)->plan.training;
            const bool types =
                t.compute != plan.training.compute || state_lack((*n)->plan, t.software).empty();
            CHECK((e.step && types && !lack_that_came(plan, (*n)->plan)) == (*n)->valid());
            CHECK(!((*n)->plan == plan));
            if (!(*n)->valid()) continue;
            CHECK((*n)->step_s == e.step->time_s);
            CHECK((*n)->memory_bytes == e.memory.peak());
            CHECK((*n)->same_tokens_s == near(s.tokens_per_s * s.step_s / e.step->tokens_per_s));
            ++seen;
        }
    CHECK(seen > 60);
}

TEST_CASE("the sensitivity offers no type that the plan's software does not keep") {
    struct Offered {
        Software software;
        bool one_type;  // of weights, gradients and moments
    };
    Plan plan = test::presets().plan("llama-3-8b-fsdp");
    for (const Offered& of : {Offered{Software::torchtitan, true}, Offered{Software::deepspeed, false},
                              Offered{Software::megatron, false}}) {
        CAPTURE(std::string(name_of(of.software)));
        Plan own = plan;
        own.training.software = of.software;
        if (of.one_type) {
            Training& t = own.training;
            t.parameters = t.gradients = t.optimizer_state = Dtype::fp32;
            t.master_weights = MasterWeights::none;
        }
        REQUIRE(state_lack(own, of.software).empty());
        bool gradients = false;
        const Sensitivity rows = sensitivity_of(own, test::presets());
        for (const SensitivityRow& r : rows.rows)
            for (const std::optional<Nudge>* n : {&r.down, &r.up}) {
                if (!*n || !(*n)->valid()) continue;
                const Training& t = (*n)->plan.training;
                CAPTURE(r.id);
                CAPTURE((*n)->value);
                CHECK(t.gradients != Dtype::fp8);
                if (of.one_type && t.compute == own.training.compute)
                    CHECK((t.parameters == t.gradients && t.gradients == t.optimizer_state));
                if (of.software == Software::deepspeed && t.compute == own.training.compute) {
                    CHECK(t.parameters == Dtype::bf16);
                    CHECK(t.master_weights == MasterWeights::fp32);
                }
                gradients = gradients || t.gradients != own.training.gradients;
            }
        CHECK(gradients == !of.one_type);
    }
    // All of torchtitan's states in bf16 are one choice, training.dtype.
    Training& t = plan.training;
    t.parameters = t.gradients = t.optimizer_state = Dtype::bf16, t.master_weights = MasterWeights::none;
    CHECK(state_lack(plan, Software::torchtitan).empty());
    plan.layout.zero = 3;
    CHECK(state_lack(plan, Software::deepspeed).empty());
    plan.layout.zero = 0;
    CHECK(state_lack(plan, Software::deepspeed).find("ZeRO-1 on") != std::string::npos);
    t.gradients = Dtype::fp32;
    CHECK(state_lack(plan, Software::torchtitan).find("one type") != std::string::npos);
}

TEST_CASE(
    "a row of the sensitivity reaches from its shortest to its longest step, and the widest comes first") {
    for (const char* id : {"llama-3-70b-3d", "mixtral-8x7b-ep"}) {
        const Plan plan = test::presets().plan(id);
        const Evaluation own = evaluate(plan);
        const Sensitivity s = sensitivity_of(plan, test::presets());
        CHECK(s.memory_bytes == own.memory.peak());
        CHECK(s.tokens_per_s == own.step->tokens_per_s);
        std::vector<std::size_t> moved;
        for (std::size_t i = 0; i < s.rows.size(); ++i) {
            const SensitivityRow& r = s.rows[i];
            CAPTURE(r.id);
            std::vector<double> steps{s.step_s};
            bool moves = false;
            for (const std::optional<Nudge>* n : {&r.down, &r.up}) {
                if (!*n || !(*n)->valid()) continue;
                steps.push_back((*n)->same_tokens_s);
                moves = moves || (*n)->same_tokens_s != s.step_s || (*n)->memory_bytes != s.memory_bytes;
            }
            const auto [least, most] = std::ranges::minmax(steps);
            CHECK(r.reach_s == near(most - least));
            if (moves) moved.push_back(i);
        }
        std::vector<std::size_t> order = s.by_reach();
        for (std::size_t i = 1; i < order.size(); ++i)
            CHECK(s.rows[order[i - 1]].reach_s >= s.rows[order[i]].reach_s);
        std::ranges::sort(order);
        CHECK(order == moved);
    }
}

TEST_CASE("a shorter sequence or batch gains no more than it makes as many tokens faster") {
    const Plan plan = test::presets().plan("llama-3-70b-3d");
    const Sensitivity s = sensitivity_of(plan, test::presets());
    int seen = 0;
    for (const SensitivityRow& r : s.rows) {
        if (r.id != "/training/global_batch" && r.id != "/training/sequence_length") continue;
        REQUIRE(r.down);
        CHECK(r.down->step_s < 0.6 * s.step_s);
        CHECK(r.down->same_tokens_s > s.step_s);  // longer bubbles, smaller products
        CHECK(r.reach_s < 0.2 * s.step_s);
        ++seen;
    }
    CHECK(seen == 2);
}

TEST_CASE("what --set takes for a row of the sensitivity gives the row's figures, chunks of a schedule too") {
    for (const char* id : {"llama-3-70b-3d", "deepseek-v3-2048"}) {
        Plan plan = test::presets().plan(id);
        if (plan.layout.schedule == Schedule::interleaved) plan.layout.microbatch_group = plan.layout.pp;
        std::size_t seen = 0, chunks = 0;
        for (const SensitivityRow& r : sensitivity_of(plan, test::presets()).rows)
            for (const std::optional<Nudge>* n : {&r.down, &r.up}) {
                if (!*n || !(*n)->valid()) continue;
                const std::vector<std::string> sets = sets_between(plan, (*n)->plan);
                CAPTURE(sets);
                const Plan other = parse_plan(write_plan(plan), "", test::presets(), sets);
                CHECK(evaluate(other).step->time_s == (*n)->step_s);
                ++seen;
                if (r.id != "/layout/schedule") continue;
                const std::int64_t v = (*n)->plan.layout.virtual_stages;
                CHECK((v > 1) == ((*n)->value.find(std::to_string(v) + " chunks") != std::string::npos));
                chunks += v != plan.layout.virtual_stages ? 1 : 0;
            }
        CHECK(seen > 60);
        CHECK(chunks > 0);
    }
}

TEST_CASE("gradients in fp8 are offered to a program of one's own, and to no framework") {
    Plan plan = test::presets().plan("llama-3-8b-fsdp");
    for (const Software software : {Software::megatron, Software::torchtitan, Software::fsdp}) {
        plan.training.software = software;
        const Sensitivity s = sensitivity_of(plan, test::presets());
        const auto offered = [&](std::string_view value) {
            return std::ranges::any_of(s.rows, [&](const SensitivityRow& r) {
                return r.id == "/training/gradients" && r.up && r.up->value == value;
            });
        };
        CHECK(offered("fp8") == (software == Software::fsdp));
        CHECK(offered("bf16"));
    }
}

TEST_CASE("plans that differ in a figure of the GPU alone say which, those of two GPUs their names") {
    const Plan plan = test::presets().plan("hsdp-64");
    const auto differing = [&](const std::string& set) {
        const std::vector<Plan> plans{plan, parse_plan(write_plan(plan), "", test::presets(), {set})};
        const std::vector<FieldDifference> out = differing_fields(plans);
        REQUIRE(out.size() == 1);
        return out[0];
    };
    const FieldDifference gemm = differing("/cluster/gpu/efficiency/gemm=0.5");
    CHECK(gemm.pointer == "/cluster/gpu/efficiency/gemm");
    CHECK(gemm.values[1] == "0.5");
    const FieldDifference gpu = differing("/cluster/gpu=h200-sxm");
    CHECK(gpu.pointer == "/cluster/gpu");
    CHECK(gpu.values == std::vector<std::string>{"\"h100-sxm\"", "\"h200-sxm\""});
}

TEST_CASE("costs in two currencies are not compared, and a cost names its own") {
    const Plan base = test::presets().plan("hsdp-64");
    const auto cost_row = [&](std::string first, std::string second) {
        std::vector<Plan> plans{base, base};
        plans[0].training.tokens_total = plans[1].training.tokens_total = 1e12;
        plans[0].cluster.price_per_gpu_hour = 2, plans[1].cluster.price_per_gpu_hour = 3;
        plans[0].cluster.currency = std::move(first), plans[1].cluster.currency = std::move(second);
        for (FigureRow& f : compared_figures(plans, evaluations_of(plans)))
            if (f.key == "cost.cost") return std::move(f);
        return FigureRow{};
    };
    CHECK(cost_row("USD", "USD").better() == 0);
    CHECK(cost_row("", "").better() == 0);
    CHECK(!cost_row("USD", "EUR").better());
    CHECK(!cost_row("USD", "").better());
    CHECK(cost_row("USD", "USD").one_currency() == "USD");
    CHECK(cost_row("USD", "EUR").one_currency().empty());
}

TEST_CASE("a slower link or GPU makes no step shorter, a faster one none longer") {
    for (const char* id : {"llama-3.1-405b-16k", "deepseek-v3-2048", "hsdp-64"}) {
        const Plan plan = test::presets().plan(id);
        const Sensitivity s = sensitivity_of(plan, test::presets());
        for (const SensitivityRow& r : s.rows) {
            const bool rate = r.id.ends_with("bytes_per_s") || r.id.starts_with("flops.");
            if (!rate) continue;
            CAPTURE(r.id);
            REQUIRE(r.down);
            CHECK(r.down->step_s >= s.step_s * (1 - 1e-12));
            CHECK(r.up->step_s <= s.step_s * (1 + 1e-12));
        }
        const std::vector<std::size_t> order = s.by_reach();
        for (std::size_t i = 1; i < order.size(); ++i)
            CHECK(s.rows[order[i - 1]].reach_s >= s.rows[order[i]].reach_s);
    }
}

TEST_CASE("each reason of a difference states the figures of both plans, each change in few words") {
    // Llama 3 70B on 256 GPUs: tp 8, pp 4, 5 chunks, dp 8; 32 micro-batches, 20 layers a stage. Then tp 4, dp
    // 16, all recomputed, a pipeline of one chunk with uneven stages and stragglers.
    const Plan a = test::presets().plan("llama-3-70b-3d");
    Plan b = a;
    b.layout.tp = 4, b.layout.dp_shard = 16, b.layout.virtual_stages = 1;
    b.layout.schedule = Schedule::one_f_one_b, b.layout.stage_layers = {22, 20, 20, 18};
    b.training.recompute = Recompute::full, b.training.straggler_cv = 0.04;
    const std::vector<Plan> plans{a, b};
    const std::vector<Evaluation> e{evaluate(a), evaluate(b)};
    REQUIRE(e[1].step);
    const Step &x = *e[0].step, &y = *e[1].step;
    const std::vector<PartRow> rows = why_steps_differ(plans, e);
    const auto row = [&](std::string_view part) {
        const auto it = std::ranges::find(rows, part, &PartRow::part);
        REQUIRE_MESSAGE(it != rows.end(), part);
        return *it;
    };
    const auto flops = [](const Step& s) { return three_digits(s.model_flops_per_gpu / 1e12); };
    const auto peak = [](const Step& s) { return s.model_flops_per_gpu / s.compute_s / 989.4e12; };
    const auto compute = [&](const Step& s, const std::string& tp) {
        return flops(s) + " model TFLOP a GPU at " + percent_text(peak(s))
               + " of the bf16 peak while it computes; tp " + tp + ", cp 1, micro-batch 1";
    };
    CHECK(row("compute").because == compute(x, "8") + " -> " + compute(y, "4"));
    CHECK(row("compute").brief
          == percent_text(peak(x), Zeros::kept) + " -> " + percent_text(peak(y), Zeros::kept)
                 + " of the peak");
    CHECK(row("recompute").because
          == "recompute none: 0 % of the compute once more -> recompute full: "
                 + percent_text(y.recompute_s / y.compute_s) + " of the compute once more");
    CHECK(row("recompute").brief == "none -> full");
    const auto work = [](const Step& s, double m) { return time_text((s.compute_s + s.recompute_s) / m); };
    CHECK(row("bubble").because
          == "interleaved, pp 4 with 5 chunks a stage, 32 micro-batches of " + work(x, 32)
                 + " of work a stage -> 1f1b, pp 4 with 1 chunk a stage, 16 micro-batches of " + work(y, 16)
                 + " of work a stage");
    CHECK(row("bubble").brief == "32 -> 16 micro-batches, interleaved -> 1f1b, chunks 5 -> 1");
    CHECK(row("uneven stages").because.ends_with(" -> 18 to 22 layers a stage"));
    CHECK(row("uneven stages").brief == "20 -> 18 to 22 layers a stage");
    const auto states = [&](std::size_t i) {
        double most = 0;
        for (const StageMemory& s : e[i].memory.stage)
            if (s.total() == e[i].memory.peak()) most = s.optimizer;
        return memory_text(most);
    };
    CHECK(row("optimizer").because
          == "ZeRO-1 over 8: " + states(0) + " of states on the fullest GPU -> ZeRO-1 over 16: " + states(1)
                 + " of states on the fullest GPU");
    CHECK(row("optimizer").brief == states(0) + " -> " + states(1) + " of states");
    CHECK(row("stragglers").because == "the slowest of 256 GPUs, cv 0 % -> the slowest of 256 GPUs, cv 4 %");
    CHECK(row("stragglers").brief == "cv 0 % -> 4 %");
    const auto sends = [&](std::size_t i, GroupKind k, const std::string& where) {
        const AxisTraffic& t = e[i].comm.by_axis[k];
        return bytes_text(t.sent_bytes_per_rank, Zeros::kept) + " a GPU in groups of " + where + ", "
               + time_text(t.time_s) + " of which " + percent_text(1 - t.exposed_s / t.time_s, Zeros::kept)
               + " hides";
    };
    CHECK(row("tp exposed").because
          == sends(0, GroupKind::tp, "8 over NVLink") + " -> " + sends(1, GroupKind::tp, "4 over NVLink"));
    const auto bytes = [&](std::size_t i, GroupKind k) {
        return bytes_text(e[i].comm.by_axis[k].sent_bytes_per_rank, Zeros::kept);
    };
    CHECK(row("tp exposed").brief == bytes(0, GroupKind::tp) + " -> " + bytes(1, GroupKind::tp));
    CHECK(row("data parallel exposed").because
          == "dp_shard: " + sends(0, GroupKind::dp_shard, "8 over InfiniBand")
                 + " -> dp_shard: " + sends(1, GroupKind::dp_shard, "16 over InfiniBand"));
    for (const PartRow& r : rows) CHECK(r.delta_s[1] == test::within(r.values_s[1] - r.values_s[0], 1e-9));
}
