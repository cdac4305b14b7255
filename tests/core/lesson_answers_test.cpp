// Compares every query with arithmetic done here, from the plan's own numbers.
#include "core/teach/lesson.h"

#include "core/base/text.h"
#include "core/teach/lesson_parts.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

using test::presets;

struct Open {
    Plan plan;
    Evaluation e;
    std::set<std::string>* asked = nullptr;
    explicit Open(const char* id) : plan(presets().plan(id)), e(evaluate(plan)) {}
    [[nodiscard]] Answer ask(const char* query) const { return answer_query(query, plan, e, presets()); }
    [[nodiscard]] double number(const char* query) const {
        const Answer a = ask(query);
        CHECK_MESSAGE(a.kind == Answer::Kind::number, query << ": " << a.working);
        return a.number;
    }
    [[nodiscard]] std::string text(const char* query) const { return ask(query).text; }
};
using Ranks = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("queries of the mesh agree with a mesh worked out by hand") {
    const Open m("mesh-8");  // tp 2, dp_shard 2, dp_replicate 2 over two nodes of four
    CHECK(m.number("world") == 8);
    CHECK(m.number("gpus") == 8);
    CHECK(m.number("degree tp") == 2);
    CHECK(m.number("groups tp") == 4);
    CHECK(m.text("tier_of tp") == "NVLink");
    CHECK(m.text("tier_of dp_replicate") == "InfiniBand");
    CHECK(m.text("inside dp_shard") == "yes");
    CHECK(m.text("inside dp_replicate") == "no");
    CHECK(m.number("spilling dp_replicate") == 4);
    CHECK(m.number("spilling tp") == 0);
    CHECK(m.ask("peers tp 5").ranks == Ranks{4});
    CHECK(m.ask("peers dp_shard 5").ranks == Ranks{7});
    CHECK(m.ask("group dp_replicate 1").ranks == Ranks{1, 5});
    CHECK(m.text("group dp_shard 4") == "4, 6");
    CHECK(m.number("node_of 5") == 1);
    CHECK(m.number("stage_of 5") == 0);
    CHECK(m.text("tier 0") == "NVLink");
    CHECK(m.number("domain 0") == 4);
    CHECK(m.number("bandwidth 0") == near(450));
    const Efficiency& reached = m.plan.cluster.gpu.efficiency;
    CHECK(m.number("link share 0") == near(100 * reached.fast_link));
    CHECK(m.number("link share 1") == near(100 * reached.slow_link));
    CHECK(m.ask("link share 7").kind == Answer::Kind::none);
    CHECK(m.number("minimum world") == 2);
    CHECK(m.number("naive world") == 8);
    CHECK(m.text("caption cp") == "cp is 1: it cuts nothing");
    CHECK(m.ask("tier_of cp").kind == Answer::Kind::none);
    CHECK(m.ask("peers tp 8").kind == Answer::Kind::none);
    const Open z("zoom-1024");
    CHECK(z.number("stage_of 1023") == 7);
    CHECK(z.number("degree dp") == 16);
    const Open h("hsdp-64");
    CHECK(h.text("layout name") == "HSDP");
}

TEST_CASE("queries of expert meshes count ranks once, not once per axis") {
    const Open d("deepseek-v3-2048");  // pp 16, ep 64, dp 128, tp 1
    CHECK(d.number("world") == 2048);
    CHECK(d.number("naive world") == 16.0 * 64 * 128);
    CHECK(d.number("degree edp") == 2048 / (1 * 64 * 16));
    CHECK(d.number("minimum world") == 16 * 64);
    CHECK(d.number("experts") == 256);
    CHECK(d.number("experts per gpu") == 4);
    CHECK(d.number("active parameters") == near(37.5, 0.02));
    CHECK(d.text("collective ep") == "all-to-all");
    CHECK(Open("mixtral-8x7b-ep").number("calls ep per layer") == 4);
}

TEST_CASE("queries of a step agree with the closed forms of a dense plan") {
    const Open l("llama-3-70b-3d");
    const double layers = 80, m = l.number("microbatches");
    const auto& p = l.plan;
    const double dp = static_cast<double>(p.cluster.gpus / (p.layout.tp * p.layout.pp * p.layout.cp));
    CHECK(m
          == static_cast<double>(p.training.global_batch) / dp / static_cast<double>(p.training.micro_batch));
    CHECK(l.number("layers") == layers);
    CHECK(l.number("hidden") == 8192);
    CHECK(l.number("heads") == 64);
    CHECK(l.number("kv heads") == 8);
    CHECK(l.number("sync per micro-batch") == 4 * layers);
    CHECK(l.number("sync per step") == 4 * layers * m);
    CHECK(l.number("batch") == p.training.global_batch);
    CHECK(l.number("samples per replica") == near(static_cast<double>(p.training.global_batch) / dp));
    CHECK(l.number("sequence") == p.training.sequence_length);
    CHECK(l.number("tokens per gpu") == p.training.sequence_length);
    CHECK(l.number("state per parameter") == 18);
    CHECK(l.number("with training.gradients=bf16: state per parameter") == 16);
    CHECK(l.number("parameters") == near(70.55, 0.001));
    CHECK(l.number("model state") == near(18 * 70.5537, 0.001));
    CHECK(l.text("collective pp") == "send-recv");
    // Sent bytes of tp: per layer and micro-batch 4 all-reduces of the tokens' hidden states.
    const double per_call = 2.0 * 7 / 8 * 8192.0 * 8192 * 2;
    const double floor = 4 * per_call * layers / static_cast<double>(p.layout.pp) * m / 1e9;
    const double whole = l.number("with layout.sequence_parallel=false: bytes tp per step");
    CHECK(whole >= floor * 0.99);
    CHECK(whole <= floor * 1.15);  // embedding and head are in addition
    // There are 10 half-calls a layer with sequence parallelism: the sums' 8, and 2 gathers of inputs in the
    // backward.
    CHECK(l.number("bytes tp per step") == near(whole * 10 / 8, 0.02));
    CHECK(l.number("calls tp per layer") == 10);
    CHECK(l.number("with layout.sequence_parallel=false: calls tp per layer") == 4);
    CHECK(l.number("heads per gpu") == 8);
    // They are those of 20 layers a GPU, and of the ends in addition.
    CHECK(l.number("calls tp per step") >= 10 * 20 * m);
    CHECK(l.number("calls tp per step") <= 10 * 20 * m * 1.05);
    CHECK(l.number("step time") == near(l.e.step->time_s));
    CHECK(l.number("mfu") + l.number("lost") == near(100));
    CHECK(
        l.number("tokens per second")
        == near(static_cast<double>(p.training.global_batch * p.training.sequence_length) / l.e.step->time_s,
                1e-4));
    CHECK(l.number("exposed tp") < 100);
    CHECK(l.number("bubble share") < 100);
}

TEST_CASE("queries of memory agree with the fullest stage worked out by hand") {
    const Open l("llama-3-70b-3d");  // tp 8, pp 4, ZeRO-1 over 8, bf16 parameters, fp32 gradients, AdamW
    const double gib = std::pow(2.0, 30);
    // Llama 3 70B: 80 layers, hidden 8192, 8 of 64 heads for keys and values, ffn 28672, vocabulary 128256.
    const double attention = 2.0 * 8192 * 8192 + 2.0 * 8192 * 1024, mlp = 3.0 * 8192 * 28672;
    const double held = 20 * ((attention + mlp) / 8 + 2 * 8192) + 128256.0 * 8192 / 8;
    CHECK(l.number("memory parameters") == near(2 * held / gib, 1e-3));
    CHECK(l.number("memory gradients") == near(4 * held / gib, 1e-3));
    CHECK(l.number("memory optimizer") == near(12 * held / 8 / gib, 1e-3));
    CHECK(l.number("memory hbm") == near(81559.0 / 1024));
    CHECK(l.number("fullest stage") == 0);
    CHECK(l.number("memory state") == near((2 + 4 + 12.0 / 8) * held / gib, 1e-3));
    double sum = 0;
    for (const char* part : {"memory parameters", "memory gradients", "memory optimizer",
                             "memory activations", "memory buffers"})
        sum += l.number(part);
    CHECK(l.number("memory stage 0") == near(sum));
    CHECK(l.number("memory fullest") == near(sum));
    CHECK(l.number("memory stage 1") < sum);
    CHECK(l.text("fits") == "yes");
    CHECK(l.text("with model=llama-3.1-405b: fits") == "no");
    CHECK(l.text("with training.micro_batch=4: fits") == "no");
    CHECK(l.text("memory largest") == "activations");
}

TEST_CASE("queries of the bubble keep fraction and overhead apart") {
    Open z("zoom-1024");
    z.plan = plan_with(z.plan,
                       {"layout.schedule=1f1b", "layout.virtual_stages=1", "training.micro_batch=1",
                        "training.global_batch=512"},
                       presets());
    z.e = evaluate(z.plan);
    CHECK(z.number("microbatches") == 32);
    CHECK(z.number("bubble formula") == near(100.0 * 7 / 39));
    CHECK(z.number("bubble overhead") == near(100.0 * 7 / 32));
    CHECK(z.number("bubble fraction") == near(100 * z.e.timeline.bubble_fraction()));
    CHECK(z.number("bubble fraction") > 100.0 * 7 / 39);  // its stages are not equal
    CHECK(z.number("in_flight 0") == 8);
    CHECK(z.number("in_flight 7") == 1);
    CHECK(z.number("with layout.schedule=gpipe: in_flight 0") == 32);
}

TEST_CASE("the straggler's bound and its exact share are both told") {
    Open l("llama-3.1-405b-16k");
    l.plan.training.straggler_cv = 0.05;
    l.plan.cluster.gpus = 16384;
    l.e = evaluate(l.plan);
    CHECK(l.number("straggler bound") == near(5 * std::sqrt(2 * std::log(16384.0))));
    CHECK(l.number("straggler loss") < l.number("straggler bound"));
    CHECK(l.number("straggler loss") == near(19.87, 0.002));
}

TEST_CASE("what is wrong with a plan can be asked") {
    const Open good("mesh-8");
    CHECK(good.text("valid") == "yes");
    CHECK(good.text("with layout.tp=3: valid") == "no");
    CHECK(good.text("problem") == "nothing is wrong");
    CHECK(good.text("with layout.tp=3: problem").find("tp") != std::string::npos);
}

TEST_CASE("a query may change the plan first, a factor with data parallelism taking the rest") {
    const Open m("mesh-8");
    CHECK(m.number("with tp=4: degree tp") == 4);
    CHECK(m.number("with tp=4: world") == 8);
    CHECK(m.ask("with layout.tpp=4: world").kind == Answer::Kind::none);
    CHECK(m.ask("with nonsense: world").kind == Answer::Kind::none);
    CHECK(check_query("with tp=4 world").find("colon") != std::string::npos);
}

TEST_CASE("words of the map can be asked for and asked back") {
    const Open m("mesh-8");
    CHECK(m.text("map dp cuts") == "the batch");
    CHECK(m.text("axis whose cuts has batch") == "dp");
    CHECK(m.text("axis whose cuts has hidden") == "tp");
    CHECK(m.text("axis whose cuts has depth") == "pp");
    CHECK(m.text("axis whose cuts has experts") == "ep");
    CHECK(m.ask("axis whose cuts has cheese").kind == Answer::Kind::none);
}

TEST_CASE("the bytes of an axis without calls of its own are those of the group that sends for it") {
    const Open m("llama-3-8b-fsdp");
    // Plain copies send their gradients over all of data parallelism: 2 (N - 1) / N of 4 bytes each.
    const double copies = 2 * 63.0 / 64 * 4 * static_cast<double>(m.e.parameters.total) / 1e9;
    CHECK(m.number("with layout.zero=0: bytes dp per step") == near(copies, 1e-3));
    CHECK(m.number("with layout.zero=0: bytes dp_shard per step") == near(copies, 1e-3));
    CHECK(m.number("with layout.zero=0: bytes dp_replicate per step") == 0);  // there is one
}

TEST_CASE("of options the shortest step that fits is right, and what does not fit says what it holds") {
    const Open m("llama-3-8b-fsdp");
    const Answer fits = m.ask("step time that fits");
    CHECK(fits.number == m.e.step->time_s);
    const Answer not_fit = m.ask("with training.sequence_length=65536: step time that fits");
    CHECK(not_fit.kind == Answer::Kind::text);
    CHECK(not_fit.text.starts_with("does not fit, "));
    LessonQuestion q;
    q.rule = LessonQuestion::Rule::lowest;
    q.options = {{"long", "with training.sequence_length=65536: step time that fits"},
                 {"as it is", "step time that fits"},
                 {"again", "with training.recompute=full: step time that fits"}};
    CHECK(solve(q, m.plan, m.e, presets()).option == 1);
}

TEST_CASE("no layout with room is faster than the best step time") {
    const Open m("mesh-8");
    const double best = m.number("best step time");
    double least = 1e9;
    for (const std::int64_t tp : {1, 2, 4, 8})
        for (const std::int64_t pp : {1, 2, 4, 8})
            for (const int zero : {0, 1, 2, 3}) {
                if (tp * pp > 8) continue;
                Plan p = m.plan;
                p.layout.tp = tp, p.layout.pp = pp, p.layout.zero = zero;
                p.layout.dp_shard = 8 / (tp * pp), p.layout.dp_replicate = 1;
                const Evaluation e = evaluate(p);
                if (!e.valid || !e.step || e.memory.stage.empty()) continue;
                const double held = e.memory.stage[e.memory.peak_stage].total();
                if (held <= (1 - kHeadroom) * e.memory.hbm) least = std::min(least, e.step->time_s);
            }
    CHECK(best <= least * (1 + 1e-12));
    CHECK(best > least / 2);
    CHECK(m.text("best step time").starts_with(time_text(best)));
}

TEST_CASE("every query has a pattern of its own, and answers or says why not on every preset") {
    std::set<std::string> seen;
    for (const Query& q : query_table()) CHECK(seen.insert(std::string(q.pattern)).second);
    for (const char* id : {"single-gpu", "mesh-8", "moe-nvl72", "broken-pp-zero3"}) {
        const Open p(id);
        for (const Query& q : query_table()) {
            std::string text(q.pattern);
            for (const auto& [from, to] :
                 std::initializer_list<std::pair<const char*, const char*>>{{"AXIS", "ep"},
                                                                            {"ROW", "dp"},
                                                                            {"FIELD", "cuts"},
                                                                            {"WORD", "batch"},
                                                                            {"PART", "optimizer"},
                                                                            {" N", " 0"}})
                if (const auto at = text.find(from); at != std::string::npos)
                    text.replace(at, std::string(from).size(), to);
            CAPTURE(text);
            CHECK(check_query(text).empty());
            const Answer a = p.ask(text.c_str());
            if (a.kind == Answer::Kind::none)
                CHECK_FALSE(a.working.empty());
            else
                CHECK_FALSE(a.text.empty());
        }
    }
}

TEST_CASE("a curve is right with one point outside its tolerance; the given point does not count") {
    const Open m("llama-3-70b-3d");
    LessonQuestion q;
    q.kind = QuestionKind::curve;
    q.query = "step time";
    q.tolerance = 0.25;
    q.given = 1;
    for (const char* tp : {"4", "8", "16", "32"})
        q.options.push_back({tp, std::string("with tp=") + tp + ": step time"});
    const Solution s = solve(q, m.plan, m.e, presets());
    REQUIRE(s.solvable(QuestionKind::curve));
    std::vector<double> truth;
    for (const Answer& a : s.options) truth.push_back(a.number);
    CHECK(truth[1] == near(m.e.step->time_s, 1e-9));  // the plan's own
    // Beyond the node of eight GPUs the step gets longer: more than half again, then nearly three times.
    CHECK(truth[2] > 1.5 * truth[1]);
    CHECK(truth[3] > truth[2]);
    CHECK(points_right(q, s, truth) == 3);
    CHECK(is_right(q, s, {-1, truth, {}}));
    std::vector<double> one_off = truth;
    one_off[3] *= 2;
    one_off[1] *= 2;  // that is given
    CHECK(is_right(q, s, {-1, one_off, {}}));
    std::vector<double> two_off = one_off;
    two_off[0] *= 1.3;
    CHECK_FALSE(is_right(q, s, {-1, two_off, {}}));
    CHECK_FALSE(is_right(q, s, {-1, {1, 2}, {}}));
    CHECK(parse_points("9, 8.5, 8000 ms, 7 s", "s", 4) == std::vector<double>{9, 8.5, 8, 7});
    CHECK(parse_points("9, 8", "s", 4).empty());
    const AskedPlans asked = asked_plans(q, s);
    REQUIRE(asked.plans.size() == 4);
    CHECK(asked.plans[3].label == "tp 32");
    CHECK(asked.first == -1);  // the step's own plan stays until another is asked for
}

TEST_CASE("guesses are judged within their tolerance, ranks as sets, options by what the plan says") {
    const Open m("mesh-8");
    LessonQuestion q;
    q.kind = QuestionKind::number;
    q.query = "groups tp";
    q.tolerance = 0.1;
    Solution s = solve(q, m.plan, m.e, presets());
    CHECK(is_right(q, s, {-1, {4}, {}}));
    CHECK(is_right(q, s, {-1, {4.3}, {}}));
    CHECK_FALSE(is_right(q, s, {-1, {5}, {}}));
    q.kind = QuestionKind::ranks;
    q.query = "group tp 4";
    s = solve(q, m.plan, m.e, presets());
    CHECK(is_right(q, s, {-1, {}, {5, 4}}));
    CHECK_FALSE(is_right(q, s, {-1, {}, {5}}));
    q.kind = QuestionKind::choose;
    q.rule = LessonQuestion::Rule::lowest;
    q.options = {{"a", "with layout.zero=0: memory fullest"}, {"b", "with layout.zero=3: memory fullest"}};
    s = solve(q, m.plan, m.e, presets());
    CHECK(s.option == 1);
    CHECK(s.of_options.size() == 2);
    q.kind = QuestionKind::tier;
    q.rule = LessonQuestion::Rule::matches;
    q.query = "tier_of dp_replicate";
    s = solve(q, m.plan, m.e, presets());
    CHECK(s.tier == 1);
    CHECK(parse_guess("1,024 GPUs") == 1024.0);
    CHECK(parse_guess("17.9 %") == 17.9);
    // A comma groups thousands, or begins a fraction.
    CHECK(parse_guess("9,9 %", "%") == 9.9);
    CHECK(parse_guess("21,35", "%") == 21.35);
    CHECK(parse_guess("0,125") == 0.125);
    CHECK(parse_guess("16,384") == 16384.0);
    CHECK(parse_guess("1,234,567") == 1234567.0);
    CHECK_FALSE(parse_guess("many"));
    CHECK(parse_guess("1.13 TB", "GB") == near(1130));
    CHECK(parse_guess("1.5TiB", "GiB") == near(1536));
    CHECK(parse_guess("129 k") == near(129000));
    CHECK(parse_guess("0.45 TB/s", "GB/s") == near(450));
    CHECK(parse_guess("820 ms", "s") == near(0.82));
    CHECK(parse_guess("500 ns", "ms") == near(5e-4));
    CHECK(parse_guess("2 min", "s") == near(120));
    CHECK(parse_guess("400 Gb/s", "GB/s") == near(50));  // bits
    CHECK(parse_guess("7/39", "%") == near(100.0 * 7 / 39));
    CHECK_FALSE(parse_guess("7/0", "%"));
    // A length is written in 1,024: "16K" of a count may be either.
    CHECK(guesses_of("16K") == std::vector<double>{16000, 16384});
    CHECK(guesses_of("128 k").back() == 131072);
    CHECK(guesses_of("1M").back() == 1048576);
    CHECK(guesses_of("8").size() == 1);
    CHECK(guesses_of("1.5 T", "GB") == std::vector<double>{1500});
    CHECK(guesses_of("many").empty());
    CHECK(parse_ranks("1, 4-6") == Ranks{1, 4, 5, 6});
    CHECK_FALSE(parse_ranks("6-4"));
    CHECK_FALSE(parse_ranks("x"));
}

TEST_CASE("a value in brackets or quotes may have commas") {
    const Open m("mesh-8");
    const char* outside =
        "with layout.order=[\"dp_shard\",\"dp_replicate\",\"cp\",\"ep\",\"pp\",\"tp\"], layout.zero=1: "
        "tier_of tp";
    CHECK(split_query(outside).sets.size() == 2);
    CHECK(m.text(outside) == "InfiniBand");
    CHECK(sets_text(split_query(outside).sets) == "order dp_shard,dp_replicate,cp,ep,pp,tp, ZeRO 1");
}

// PyTorch's FSDP reduces in every backward unless set_requires_gradient_sync says otherwise; its pipelines
// say so (pipelining/stage.py, backward_maybe_with_nosync). Megatron's buckets wait for the last micro-batch.
TEST_CASE("gradients are summed once a micro-batch by FSDP, once a step by Megatron and under a pipeline") {
    const Open l("llama-3-8b-fsdp");
    CHECK(l.text("with training.software=torchtitan: gradients summed") == "once a micro-batch");
    CHECK(l.text("with training.software=torchtitan, layout.zero=0: gradients summed")
          == "once a micro-batch");
    CHECK(l.text("with training.software=torchtitan, pp=2: gradients summed") == "once a step");
    CHECK(l.text("with training.software=megatron, layout.zero=0: gradients summed") == "once a step");
    CHECK(l.text("with training.software=megatron, layout.zero=1: gradients summed") == "once a step");
}

TEST_CASE("what a change does to a number is more, the same or less of it") {
    const Open l("llama-3-70b-3d");
    LessonQuestion q;
    q.rule = LessonQuestion::Rule::change;
    q.options = {{"longer", "more"}, {"as long", "same"}, {"shorter", "less"}};
    const auto right = [&](const char* query) {
        q.query = query;
        return solve(q, l.plan, l.e, presets()).option;
    };
    CHECK(right("with tp=16: step time") == 0);
    CHECK(right("with layout.zero=1: step time") == 1);  // its own value
    CHECK(right("with training.micro_batch=1, layout.zero=3: memory optimizer") == 1);
    CHECK(right("with layout.zero=0: memory optimizer") == 0);
    CHECK(right("with tp=1: tier_of tp") == -1);  // no number
    // Twice the micro-batches leave the bubble as long as it is, and make its share smaller.
    const std::string twice =
        "with training.global_batch=" + std::to_string(2 * l.plan.training.global_batch) + ": ";
    CHECK(right((twice + "bubble time").c_str()) == 1);
    CHECK(right((twice + "bubble share").c_str()) == 2);
    CHECK(l.number("bubble time") == near(l.number("bubble share") / 100 * l.e.step->time_s));
}

TEST_CASE("the plans that a question asks about are shown after it, first the right one") {
    const Open m("mesh-8");
    LessonQuestion q;
    q.rule = LessonQuestion::Rule::lowest;
    q.options = {{"none", "memory fullest"},
                 {"a", "with layout.zero=0: memory fullest"},
                 {"b", "with tp=4: memory fullest"}};
    AskedPlans asked = asked_plans(q, solve(q, m.plan, m.e, presets()));
    REQUIRE(asked.plans.size() == 2);  // the first is the step's own
    CHECK(asked.first == 1);
    CHECK(asked.plans[1].label == "b");
    CHECK(asked.plans[1].sets == std::vector<std::string>{"tp=4"});
    q.rule = LessonQuestion::Rule::matches;
    q.kind = QuestionKind::number;
    q.query = "with tp=4, layout.zero=1: memory fullest";
    asked = asked_plans(q, {});
    REQUIRE(asked.plans.size() == 1);
    CHECK(asked.first == 0);
    CHECK(asked.plans[0].label == "tp 4, ZeRO 1");
    q.shown = {"tp=8"};
    CHECK(asked_plans(q, {}).plans[0].sets == q.shown);
    q.shows = false;
    CHECK(asked_plans(q, {}).plans.empty());
    q = {};
    q.query = "groups tp";
    CHECK(asked_plans(q, {}).plans.empty());
}

TEST_CASE("a scale for a guess is round, above the answer, and another for another title") {
    const auto round = [](double x) {
        const double digits = x / std::pow(10.0, std::floor(std::log10(x)));
        return std::set<double>{1, 1.5, 2, 3, 5, 7}.count(std::round(digits * 100) / 100) == 1;
    };
    std::set<double> ends;
    for (const char* title : {"A wall", "The copies shed", "One", "Two", "Three", "Four", "Five", "Six"}) {
        for (const double answer : {0.0021, 1.0, 67.6, 161.9, 3e6}) {
            const double end = guess_scale(answer, "GiB", title);
            CHECK(end >= 1.2 * answer);
            CHECK(end <= 2.4 * 1.6 * answer);
            CHECK(round(end));
            CHECK(end == guess_scale(answer, "GiB", title));
        }
        ends.insert(guess_scale(161.9, "GiB", title));
        CHECK(guess_scale(80, "%", title) == 100);
        CHECK(guess_scale(2, "%", title) < 100);
    }
    CHECK(ends.size() > 1);
}

TEST_CASE("a known mistake is known as people round it, the nearer of two, and so are GB, GiB and shares") {
    const Open m("mesh-8");
    LessonQuestion q;
    q.kind = QuestionKind::number;
    q.tolerance = 0.02;
    Solution s;
    s.answer.kind = Answer::Kind::number;
    const std::vector<LessonQuestion::Mistake> mistakes{{"10.9", "of the work", 1}, {"12", "of both", 2}};
    const auto because = [&](double given, double right, const char* unit) {
        s.answer.number = right;
        s.answer.unit = unit;
        return mistake_made(q, mistakes, s, {-1, {given}, {}}, m.plan);
    };
    CHECK(because(10.9, 40, "x") == "of the work");
    CHECK(because(11, 40, "x") == "of the work");
    CHECK(because(11.9, 40, "x") == "of both");
    CHECK(because(11.5, 40, "x") == "");           // 4 % and 5 % away
    CHECK(because(10, 40, "x") == "of the work");  // both are 10 to one digit: the nearer
    CHECK(because(40, 40, "x") == "");
    CHECK(because(10.9, 10.9, "x") == "");  // it is right
    CHECK(because(53.7, 50, "GiB").find("GB") != std::string::npos);
    CHECK(because(50, 53.7, "GB").find("GiB") != std::string::npos);
    CHECK(because(0.25, 25, "%").find("share") != std::string::npos);
    CHECK(because(0.25, 25, "s") == "");
}

TEST_CASE("a text's queries become this plan's numbers") {
    const Open m("mesh-8");
    CHECK(expand("{{world}} GPUs, {{ degree tp }} each", m.plan, m.e, presets()) == "8 GPUs, 2 each");
    CHECK(expand("{{tier_of cp}} {{", m.plan, m.e, presets()) == "(not in this plan) {{");
}

TEST_CASE("a plan that fits only if buffers stay small does not fit") {
    Plan p = presets().plan("llama-3-8b-fsdp");
    const StageMemory held = evaluate(p).memory.stage.front();
    REQUIRE(held.least() < held.total());
    for (const auto& [hbm, said] : {std::pair(held.total() + 1, "yes"),
                                    {(held.least() + held.total()) / 2, "no"},
                                    {held.least() - 1, "no"}}) {
        p.cluster.gpu.hbm_bytes = hbm;
        CHECK(answer_query("fits", p, evaluate(p), presets()).text == said);
    }
}

TEST_CASE("the working of an answer about memory names every part, and their sum") {
    for (const char* id : {"llama-3-70b-3d", "deepseek-v3-2048", "single-gpu"}) {
        const Open open(id);
        const auto& stages = open.e.memory.stage;
        const auto words = [&](const StageMemory& s) {
            return "stage " + std::to_string(s.stage) + ": parameters " + memory_text(s.parameters)
                   + " + gradients " + memory_text(s.gradients) + " + optimizer " + memory_text(s.optimizer)
                   + " + activations " + memory_text(s.activations) + " + buffers " + memory_text(s.buffers)
                   + " = " + memory_text(s.total());
        };
        const StageMemory& most = stages[static_cast<std::size_t>(open.e.memory.peak_stage)];
        CHECK(open.ask("memory fullest").working == words(most));
        CHECK(open.ask("memory stage 0").working == words(stages.front()));
        CHECK(open.ask("fullest stage").working == words(most));
        CHECK(open.ask("memory largest").working == words(most));
        const auto [largest, name] = std::max({std::pair(most.parameters, "parameters"),
                                               {most.gradients, "gradients"},
                                               {most.optimizer, "optimizer"},
                                               {most.activations, "activations"},
                                               {most.buffers, "buffers"}});
        CHECK(open.text("memory largest") == name);
        CHECK(largest >= most.total() / 5);
    }
}
