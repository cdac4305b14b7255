// Tests what the software can run: the table against facts of the frameworks, against the exporters'
// refusals, and that search and advice keep to it.
#include "core/rules/software_runs.h"

#include "core/advice/advice.h"
#include "core/decide/search.h"
#include "core/interop/export.h"
#include "core/plan/edits.h"
#include "plans.h"
#include "shipped.h"

#include <algorithm>
#include <doctest/doctest.h>

#include <functional>

using namespace pentamesh;

namespace {

using test::presets;

Plan plan_for(Software software, const std::string& model, std::int64_t gpus) {
    Plan p;
    p.model = presets().model(model);
    p.model_source.preset = model;
    p.cluster = test::shipped_cluster("h100-sxm-ib", gpus);
    p.layout.dp_shard = gpus;
    p.training.sequence_length = 4096, p.training.global_batch = 4 * gpus;
    p.training.software = software;
    return p;
}

std::string_view tool_of(Software s) {
    const interop::Tool* tool = interop::tool_for(s);
    REQUIRE(tool);
    return tool->name;
}

// Lists the fields chosen by a search that the export refuses, or cannot express. DeepSpeed builds its
// pipelines in code.
std::vector<std::string> refused(const Plan& plan) {
    const interop::Export made = interop::export_plan(plan, tool_of(plan.training.software), presets());
    std::vector<std::string> out = made.refused;
    for (const interop::Unsaid& u : made.lost) {
        const bool chosen = u.pointer.starts_with("/layout/") || u.pointer == "/training/recompute";
        const bool in_code = plan.training.software == Software::deepspeed && u.pointer == "/layout/pp";
        if (chosen && !in_code) out.push_back(u.why);
    }
    return out;
}

SearchReport first_20(const Plan& plan, bool any) {
    std::optional<SpaceError> error;
    SpaceRequest request{{"micro_batch=1,2"}, {}};
    request.any_software = any;
    const SearchReport r = search(plan, search_space(plan, request, error), {.top = 20, .threads = 1});
    REQUIRE(!error);
    return r;
}

constexpr Software kExported[] = {Software::megatron, Software::megatron_bridge, Software::torchtitan,
                                  Software::deepspeed, Software::nanotron};

}  // namespace

TEST_CASE(
    "each of the first layouts of a search is one that its framework runs: the export refuses nothing") {
    int pipelines = 0, strange = 0;
    for (const Software software : kExported)
        for (const char* model : {"llama-3-8b", "mixtral-8x7b"}) {
            if (software == Software::nanotron && model[0] == 'm') continue;  // it has no expert parallelism
            CAPTURE(name_of(software));
            CAPTURE(model);
            const Plan plan = plan_for(software, model, 32);
            const SearchReport r = first_20(plan, false);
            REQUIRE(r.results.size() >= 15);
            CHECK(r.counts.left_out > 0);
            for (const SearchResult& x : r.results) {
                CAPTURE(x.plan.layout.pp);
                CHECK(refused(x.plan) == std::vector<std::string>{});
                pipelines += x.plan.layout.pp > 1 ? 1 : 0;
            }
            for (const SearchResult& x : first_20(plan, true).results)
                strange += refused(x.plan).empty() ? 0 : 1;
        }
    CHECK(pipelines > 20);
    CHECK(strange > 50);  // without the table there would be many
}

TEST_CASE("DeepEP takes only the numbers of ranks of its table, and Megatron's replicas divide edp") {
    Plan p = plan_for(Software::megatron, "deepseek-v3", 2048);
    Layout& l = p.layout;
    l.pp = 2, l.etp = 1, l.ep_comm = EpComm::deepep;
    l.dp_shard = 1024, l.dp_replicate = 1;
    const auto lacks_it = [&](std::int64_t ep) {
        l.ep = ep;
        return lacks(Lack::exchange_ranks, p, Software::megatron);
    };
    for (const std::int64_t ep : {1, 8, 64, 128}) CHECK_FALSE(lacks_it(ep));
    for (const std::int64_t ep : {256, 512}) CHECK(lacks_it(ep));
    l.etp = 2, l.tp = 2, l.dp_shard = 512;
    CHECK(lacks_it(128));  // 256 ranks share the experts of a layer
    l.ep_comm = EpComm::alltoall;
    CHECK_FALSE(lacks_it(256));

    l.tp = 1, l.etp = 1, l.ep = 256, l.zero = 1;  // edp is 1024 / 256 = 4
    for (const std::int64_t replicas : {2, 4, 8, 64}) {
        l.dp_replicate = replicas, l.dp_shard = 1024 / replicas;
        CAPTURE(replicas);
        CHECK(lacks(Lack::replicas, p, Software::megatron) == (replicas > 4));
    }
    l.zero = 0;
    CHECK_FALSE(lacks(Lack::replicas, p, Software::megatron));
}

TEST_CASE("Megatron shards gradients and parameters only without a pipeline") {
    for (const Software software : {Software::megatron, Software::megatron_bridge}) {
        Plan p = plan_for(software, "llama-3-8b", 8);
        for (const int zero : {1, 2, 3})
            for (const std::int64_t pp : {1, 2}) {
                p.layout.zero = zero, p.layout.pp = pp, p.layout.dp_shard = 8 / pp;
                CAPTURE(zero);
                CAPTURE(pp);
                CHECK(lacks(Lack::zero, p, software) == (zero > 1 && pp > 1));
            }
    }
}

// Megatron-LM parallel_state.py, initialize_model_parallel asserts: order.endswith("pp") or pp == 1 or
// expert_data_parallel_size == data_parallel_size; the former is world / (etp x ep x pp), of a dense model
// too.
TEST_CASE("Megatron wants pp outermost beside cp, in dense models too") {
    Plan p = test::small_plan(16);
    p.layout.tp = p.layout.cp = p.layout.pp = p.layout.dp_shard = 2;
    p.layout.dp_replicate = 1;
    p.layout.zero = 1;
    p.layout.order = {Axis::tp, Axis::cp, Axis::ep, Axis::pp, Axis::dp_shard, Axis::dp_replicate};
    CHECK(lacks(Lack::expert_order, p, Software::megatron));
    CHECK_FALSE(lacks(Lack::expert_order, p, Software::torchtitan));
    p.training.software = Software::megatron;
    p.training.global_batch = 16;
    const auto problems = assess(p).problems;
    const auto refused = std::ranges::find(problems, ProblemCode::megatron_expert_order, &Problem::code);
    REQUIRE(refused != problems.end());
    CHECK(refused->message.find("builds both for every model: here 4 and 2.") != std::string::npos);
    Plan flat = p;
    flat.layout.cp = 1, flat.layout.dp_shard = 4;
    CHECK_FALSE(lacks(Lack::expert_order, flat, Software::megatron));
    Plan outer = p;
    outer.layout.order = Layout{}.order;
    CHECK_FALSE(lacks(Lack::expert_order, outer, Software::megatron));
}

TEST_CASE("a plan says what its software lacks, and only of its own software") {
    Plan p = plan_for(Software::megatron, "llama-3-8b", 8);
    p.layout.pp = 4, p.layout.dp_shard = 2;
    p.layout.schedule = Schedule::zb_v, p.layout.virtual_stages = 2;
    const auto says = [&] {
        for (const Problem& problem : assess(p).problems)
            if (problem.code == ProblemCode::software_schedule)
                return problem.message.find("zb-v") != std::string::npos;
        return false;
    };
    CHECK(says());
    p.training.software = Software::fsdp;  // taken to have everything
    CHECK_FALSE(says());
}

TEST_CASE("the table says what each framework has not") {
    using Change = std::function<void(Plan&)>;
    const Change zb_v = [](Plan& p) { p.layout.schedule = Schedule::zb_v, p.layout.virtual_stages = 2; };
    const Change interleaved = [](Plan& p) {
        p.layout.schedule = Schedule::interleaved, p.layout.virtual_stages = 2;
    };
    const Change dualpipe = [](Plan& p) { p.layout.schedule = Schedule::dualpipe; };
    const Change gpipe = [](Plan& p) { p.layout.schedule = Schedule::gpipe; };
    const auto zero = [](int stage) -> Change { return [stage](Plan& p) { p.layout.zero = stage; }; };
    const Change odd_order = [](Plan& p) {
        using enum Axis;
        p.layout.order = {pp, tp, cp, ep, dp_shard, dp_replicate};
        p.layout.tp = 2, p.layout.dp_shard = 1;
    };
    const Change modules = [](Plan& p) {
        p.training.recompute =
            RecomputeChoice(RecomputeModules(RecomputeModule::mlp), 0, RecomputeMethod::block);
    };
    const Change selective = [](Plan& p) { p.training.recompute = Recompute::selective; };
    const Change ring = [](Plan& p) { p.layout.cp = 2, p.layout.dp_shard = 1; };
    struct Case {
        Software software;
        Change change;
        std::optional<Lack> lack;
    };
    const Case cases[] = {
        {Software::megatron, zb_v, Lack::schedule},         {Software::megatron, dualpipe, Lack::schedule},
        {Software::megatron, gpipe, Lack::schedule},        {Software::megatron, interleaved, std::nullopt},
        {Software::megatron, zero(1), std::nullopt},        {Software::megatron, zero(3), Lack::zero},
        {Software::megatron, modules, std::nullopt},        {Software::megatron, odd_order, Lack::order},
        {Software::torchtitan, [](Plan&) {}, Lack::zero},  // the plan has ZeRO-1
        {Software::torchtitan, zero(3), std::nullopt},      {Software::automodel, zb_v, std::nullopt},
        {Software::automodel, dualpipe, Lack::schedule},    {Software::maxtext, zb_v, Lack::schedule},
        {Software::maxtext, gpipe, std::nullopt},           {Software::deepspeed, [](Plan&) {}, std::nullopt},
        {Software::deepspeed, interleaved, Lack::schedule}, {Software::deepspeed, zero(2), Lack::zero},
        {Software::deepspeed, ring, Lack::context},         {Software::nanotron, gpipe, std::nullopt},
        {Software::nanotron, interleaved, Lack::schedule},  {Software::nanotron, zero(2), Lack::zero},
        {Software::nanotron, selective, Lack::recompute},   {Software::fsdp, dualpipe, std::nullopt},
        {Software::fsdp, odd_order, std::nullopt}};
    for (const Case& c : cases) {
        Plan p = plan_for(c.software, "llama-3-8b", 8);
        p.layout.pp = 4, p.layout.dp_shard = 2;
        c.change(p);
        CAPTURE(name_of(c.software));
        CAPTURE(&c - cases);
        CHECK(lacks_of(p, c.software).first() == c.lack);
        if (!c.lack) continue;
        CHECK(lacks(*c.lack, p, c.software));
        CHECK(words_of(*c.lack, p, c.software).size() > 10);
        CHECK(pointer_of(*c.lack).starts_with("/"));
    }
}

TEST_CASE("what is advised is what the plan's software runs") {
    int offered = 0;
    for (const Presets::Entry& entry : presets().list(PresetKind::plan))
        for (const Software software : all_of<Software>()) {
            Plan plan = presets().plan(entry.id);
            plan.training.software = software;
            const Evaluation e = evaluate(plan);
            if (!e.step) continue;
            for (const Advised& a : advise(plan, e)) {
                Plan changed = plan;
                if (a.fix.empty() || !apply_in_core(changed, a.fix)) continue;
                CAPTURE(entry.id);
                CAPTURE(name_of(software));
                CAPTURE(name_of(a.code));
                ++offered;
                const auto lack = lack_that_came(plan, changed);
                CHECK((lack ? words_of(*lack, changed, software) : "") == "");
            }
        }
    CHECK(offered > 50);
}

// DeepSpeed module_inject/auto_ep_folding.py: AutoEP with tensor parallelism refuses sequence parallelism and
// any offload.
TEST_CASE("DeepSpeed joins ep and tp only where nothing is offloaded and no sequence is cut") {
    Plan p = plan_for(Software::deepspeed, "mixtral-8x7b", 16);
    Layout& l = p.layout;
    l.ep = 4, l.zero = 2;
    Offload& away = p.training.offload;
    const auto lacks_it = [&] { return lacks(Lack::joined_experts, p, Software::deepspeed); };
    for (const std::int64_t tp : {1, 2}) {
        CAPTURE(tp);
        l.tp = tp, l.dp_shard = 16 / tp;
        away = {};
        CHECK_FALSE(lacks_it());
        away.optimizer = 0.5;
        CHECK(lacks_it() == (tp > 1));
        away = {}, away.parameters = 0.5;
        CHECK(lacks_it() == (tp > 1));
        away = {}, l.cp = 2;
        CHECK(lacks_it() == (tp > 1));
        l.cp = 1;
    }
    CHECK_FALSE(lacks(Lack::joined_experts, p, Software::megatron));
    l.ep = 1, away.optimizer = 1;
    CHECK_FALSE(lacks_it());
}

// torchtitan b5bcd76, models/common/decoder.py:168: "Weight tying is not supported with Pipeline Parallel."
// Automodel 36044ad, components/distributed/pipelining/hf_utils.py:755 ends with an error for the same.
TEST_CASE("torchtitan and Automodel refuse a pipeline of a model whose head is its embedding") {
    for (const Software software : all_of<Software>()) {
        CAPTURE(name_of(software));
        const bool refuses = software == Software::torchtitan || software == Software::torchtitan_2024
                             || software == Software::automodel;
        for (const bool tied : {true, false})
            for (const std::int64_t pp : {1, 4}) {
                Plan p = plan_for(software, "llama-3.2-1b", 8);
                REQUIRE(p.model.tied_embeddings);
                p.model.tied_embeddings = tied;
                p.layout.pp = pp, p.layout.dp_shard = 8 / pp, p.layout.zero = 0;
                const bool refused = refuses && tied && pp > 1;
                CHECK(lacks(Lack::tied_pipeline, p, software) == refused);
                const Evaluation e = assess(p);
                const auto told = std::ranges::find(e.problems, ProblemCode::software_tied, &Problem::code);
                REQUIRE((told != e.problems.end()) == refused);
                if (!refused) continue;
                CHECK(told->severity == Severity::warning);
                CHECK(told->pointer == "/layout/pp");
                CHECK(told->said().find("refuses pp 4 with tied embeddings") != std::string::npos);
            }
    }
    Plan p = plan_for(Software::torchtitan, "llama-3.2-1b", 8);
    p.layout.pp = 4, p.layout.dp_shard = 2, p.layout.zero = 0;
    const auto says_it = [](const std::string& why) {
        return why.find("tied embeddings") != std::string::npos;
    };
    CHECK(std::ranges::any_of(refused(p), says_it));
    p.model.tied_embeddings = false;
    CHECK(std::ranges::none_of(refused(p), says_it));
}
