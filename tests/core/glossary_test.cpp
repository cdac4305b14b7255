#include "core/base/files.h"
#include "core/base/text.h"
#include "core/io/presets.h"
#include "core/teach/glossary.h"
#include "tests/near.h"

#include <algorithm>
#include <cctype>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

const std::string kFile = std::string(SOURCE_DIR) + "/assets/glossary.json";

Plan preset(const char* id) {
    return Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(id);
}
std::string here(const char* id, const char* plan) {
    const Plan p = preset(plan);
    return in_this_plan(id, p, evaluate(p));
}

}  // namespace

TEST_CASE("the glossary that ships reads, and each term that is computed has an entry") {
    const Glossary g = load_glossary(read_file(kFile), kFile);
    CHECK(g.entries.size() >= 90);
    for (const std::string_view id : computed_terms()) {
        CAPTURE(id);
        REQUIRE(g.find(id) != nullptr);
        CHECK(g.find(id)->id == id);
    }
    for (const GlossaryEntry& e : g.entries) {
        CAPTURE(e.id);
        CHECK(e.text.back() == '.');
        CHECK(std::count(e.text.begin(), e.text.end(), '.') <= 8);
    }
}

TEST_CASE("the terms that a glossary of parallelism is asked for are found by any of their names") {
    const Glossary g = load_glossary(read_file(kFile), kFile);
    for (const char* term : {"MFU",
                             "HFU",
                             "bubble",
                             "GBS",
                             "micro-batch",
                             "HSDP",
                             "SP",
                             "EDP",
                             "all-to-all",
                             "ring",
                             "reduce-scatter",
                             "all-gather",
                             "P2P",
                             "device mesh",
                             "DDP",
                             "ZeRO-1",
                             "ZeRO-2",
                             "ZeRO-3",
                             "FSDP",
                             "GPipe",
                             "PipeDream",
                             "1F1B",
                             "interleaved 1F1B",
                             "zero bubble",
                             "Ring Attention",
                             "Striped Attention",
                             "expert sharding",
                             "token choice",
                             "expert choice",
                             "aux-loss-free balancing",
                             "DeepEP",
                             "context parallelism",
                             "kernel",
                             "bf16",
                             "flash attention",
                             "straggler"}) {
        CAPTURE(term);
        CHECK(g.find(term) != nullptr);
    }
    CHECK(g.find("phlogiston") == nullptr);
}

TEST_CASE("a term in a plan is the plan's figure") {
    CHECK(here("world-size", "zoom-1024") == "1,024 here, of 1,024 GPUs");
    CHECK(here("replica", "zoom-1024") == "16 here, of 64 GPUs each");
    CHECK(here("micro-batch", "llama-3.1-405b-16k") == "1 sequence");
    CHECK(here("microbatches", "llama-3.1-405b-16k") == "16 here: 2,048 / (1 × 128)");
    CHECK(here("tp", "llama-3-8b-fsdp") == "1 here: it cuts nothing");
    CHECK(here("sp", "llama-3.1-405b-16k") == "on, over tp 8");
    CHECK(here("bubble", "llama-3-8b-fsdp") == "none: there is no pipeline");
    CHECK(here("moe", "deepseek-v3-2048") == "256 experts, 8 for each token");
    CHECK(here("phlogiston", "mesh-8").empty());
}

TEST_CASE("each computed term says something of each plan that ships, with whole figures") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    std::size_t said = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        Plan plan = presets.plan(entry.id);
        plan.training.straggler_cv = 0.02;
        const Evaluation e = evaluate(plan);
        for (const std::string_view id : computed_terms()) {
            CAPTURE(entry.id);
            CAPTURE(id);
            const std::string text = in_this_plan(id, plan, e);
            said += text.empty() ? 0 : 1;
            for (const char* broken : {"nan", "inf ", "-1 ", "0 GPUs"})
                CHECK(text.find(broken) == std::string::npos);
        }
        // The same figures, read off the evaluation.
        REQUIRE(e.step);
        double exposed = 0;
        for (const double t : e.step->exposed_comm_s) exposed += t;
        CHECK(in_this_plan("exposed", plan, e).starts_with(time_text(exposed)));
        CHECK(in_this_plan("straggler", plan, e).find(time_text(e.step->straggler_s)) != std::string::npos);
    }
    CHECK(said > 20 * presets.list(PresetKind::plan).size());
}

TEST_CASE("sixteen bytes a parameter, eighteen with gradients of four") {
    Plan p = preset("llama-3-8b-fsdp");
    p.training.gradients = Dtype::bf16;
    CHECK(in_this_plan("bytes-per-parameter", p, evaluate(p)).starts_with("2 + 2 + 4 + 8 = 16"));
    p.training.gradients = Dtype::fp32;
    CHECK(in_this_plan("bytes-per-parameter", p, evaluate(p)).starts_with("2 + 4 + 4 + 8 = 18"));
}

TEST_CASE("parameters of four bytes are their own master copy, on the card as in memory") {
    Plan p = preset("single-gpu");
    p.training.parameters = p.training.gradients = Dtype::fp32;
    const Evaluation e = evaluate(p);
    CHECK(in_this_plan("bytes-per-parameter", p, e).starts_with("4 + 4 + 0 + 8 = 16"));
    REQUIRE(e.memory.stage.size() == 1);
    const StageMemory& m = e.memory.stage[0];
    CHECK(m.parameters + m.gradients + m.optimizer == near(16.0 * static_cast<double>(m.parameters_held)));
}

TEST_CASE("of an impossible plan the card has no figure, but the reason") {
    Plan p = preset("llama-3-70b-3d");
    p.layout.tp = 7;
    const Evaluation e = evaluate(p);
    REQUIRE_FALSE(e.valid);
    for (const std::string_view term : computed_terms()) {
        CAPTURE(term);
        CHECK(in_this_plan(term, p, e).starts_with("—: tp = 7"));
    }
    CHECK(in_this_plan("phlogiston", p, e).empty());
}

TEST_CASE("names know whether the plan uses them, and those that a plan cannot tell say nothing") {
    const Plan p = preset("deepseek-v3-2048"), q = preset("hsdp-64");
    const Evaluation a = evaluate(p), b = evaluate(q);
    CHECK(used_in("dualpipe", p, a) == true);
    CHECK(used_in("zero-1", p, a) == true);
    CHECK(used_in("zero-3", p, a) == false);
    CHECK(used_in("hsdp", q, b) == true);
    CHECK(used_in("fsdp", q, b) == false);
    CHECK(used_in("1f1b", q, b) == false);  // its schedule is of no use without stages
    CHECK_FALSE(used_in("deepep", p, a).has_value());
}

TEST_CASE("a search finds words by their beginning, best first") {
    const Glossary g = load_glossary(read_file(kFile), kFile);
    CHECK(glossary_match(*g.find("hsdp"), "hsdp") > glossary_match(*g.find("fsdp"), "hsdp"));
    CHECK(glossary_match(*g.find("all-reduce"), "all red") > 0);
    CHECK(glossary_match(*g.find("all-reduce"), "zebra") == -1);
    CHECK(glossary_match(*g.find("all-reduce"), "") == 0);
}

TEST_CASE("a broken glossary is refused with the place of its fault") {
    const auto refused = [](const char* text) {
        try {
            (void)load_glossary(text, "g.json");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    CHECK(refused("{") != "accepted");
    CHECK(refused(R"([])").find("list of entries") != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"a","term":"a"}]})").find("text is missing") != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"A b","term":"a","text":"t."}]})").find("/entries/0/id")
          != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"a","term":"a","text":"t.","axis":"xp"}]})").find("/axis")
          != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"a","term":"a","text":"t.","colour":1}]})").find("colour")
          != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"a","term":"a","text":"t."},{"id":"a","term":"b","text":"t."}]})")
              .find("twice")
          != std::string::npos);
    CHECK(refused(R"({"entries":[{"id":"a","term":"a","text":"t.","kind":"name"}]})").find("axis")
          != std::string::npos);
}

TEST_CASE("the figures of a term are those of the plan's file, of two plans and their clusters") {
    // DeepSeek-V3 on 2,048 H800: pp 16, ep 64, dp 128, 15,360 sequences of 4,096 tokens; 61 layers of 7,168
    // and 128 heads.
    const Plan p = preset("deepseek-v3-2048");
    const Evaluation e = evaluate(p);
    for (const auto& [bound_id, text] :
         {std::pair("rank", "0 to 2,047 here"),
          {"stage", "16 here"},
          {"device-mesh", "ep 64, dp_shard 128, pp 16, innermost first"},
          {"order", "ep 64, dp_shard 128, pp 16, innermost first"},
          {"schedule", "dualpipe, 120 micro-batches over 16 stages"},
          {"nvlink", "NVLink: 200 GB/s a GPU, one direction"},
          {"infiniband", "InfiniBand: 50 GB/s a GPU, one direction"},
          {"spine", "the cluster has none"},
          {"oversubscription", "none here"},
          {"fast-domain", "8 GPUs on NVLink"},
          {"batch", "15,360 sequences of 4,096 tokens"},
          {"microbatches", "120 here: 15,360 / (1 × 128)"},
          {"accumulation", "over 120 micro-batches"},
          {"precision", "computes in fp8, keeps weights in bf16 and gradients in fp32"},
          {"layer", "61 here"},
          {"hidden", "7,168 here"},
          {"head", "128 here"},
          {"gqa", "128 query heads, 128 of keys and values"},
          {"imbalance", "1 × the mean here"},
          {"sequence-length", "4,096 tokens"},
          {"master-weights", "fp32"},
          {"sp", "off: there is no tp"},
          {"straggler", "none is assumed in this plan"},
          {"replica", "128 here, of 16 GPUs each"},
          {"recompute", "full"}}) {
        const auto& id = bound_id;
        CAPTURE(id);
        CHECK(in_this_plan(id, p, e) == text);
    }
    CHECK(in_this_plan("step-time", p, e) == time_text(e.step->time_s) + " ± " + percent_text(e.step->error));
    CHECK(in_this_plan("tokens-per-second", p, e) == three_digits(15360.0 * 4096 / e.step->time_s) + " here");
    CHECK(in_this_plan("bubble", p, e).find(percent_text(schedule_bubble_s(*e.step) / e.step->time_s))
          != std::string::npos);
    // Llama 3 405B on 16,384: tp 8, pp 16, two tiers of Ethernet, the upper one 1:7 oversubscribed.
    CHECK(here("device-mesh", "llama-3.1-405b-16k") == "tp 8, pp 16, dp_shard 128, innermost first");
    CHECK(here("oversubscription", "llama-3.1-405b-16k").ends_with("1:7"));
    CHECK(here("schedule", "llama-3-70b-3d")
          == "interleaved, 5 chunks a device, 32 micro-batches over 4 stages");
    CHECK(here("schedule", "llama-3-8b-fsdp") == "no pipeline here");
    CHECK(here("order", "single-gpu") == "one rank");
    CHECK(here("moe", "llama-3-8b-fsdp") == "the model is dense");
    CHECK(here("sp", "llama-3-70b-3d") == "on, over tp 8");
}

TEST_CASE("a collective's card counts the calls and bytes of one GPU, over all axes") {
    for (const char* id : {"deepseek-v3-2048", "llama-3-70b-3d", "hsdp-64"}) {
        const Plan p = preset(id);
        const Evaluation e = evaluate(p);
        for (const auto& [term, collective] : {std::pair("all-reduce", Collective::all_reduce),
                                               {"reduce-scatter", Collective::reduce_scatter},
                                               {"all-gather", Collective::all_gather},
                                               {"all-to-all", Collective::all_to_all},
                                               {"p2p", Collective::send_recv}}) {
            double calls = 0, bytes = 0;
            for (const Operation& o : e.comm.operations)
                if (o.collective == collective && !o.on_other_stage)
                    calls += o.count_per_step, bytes += o.sent_bytes_per_rank;
            const std::string text = in_this_plan(term, p, e);
            CAPTURE(text);
            CHECK((text == "none here") == (calls == 0));
            if (calls == 0) continue;
            CHECK(text.starts_with(whole_text(calls) + " a step on "));
            CHECK(text.ends_with("which sends " + bytes_text(bytes)));
        }
    }
}

TEST_CASE("a name is used where its setting is, and by no other") {
    const auto used = [](const Plan& p) {
        const Evaluation e = evaluate(p);
        std::string out;
        for (const char* id :
             {"ddp", "zero-1", "zero-2", "zero-3", "fsdp", "hsdp", "megatron-tp", "megatron-sp", "async-tp",
              "ring-attention", "head-tail", "ulysses", "cp-allgather", "topk-routing", "switch", "folding"})
            if (used_in(id, p, e) == true) out += (out.empty() ? "" : " ") + std::string(id);
        return out;
    };
    Plan p = preset("llama-3-70b-3d");  // tp 8, pp 4, dp_shard 8 on 256 GPUs
    p.layout.pp = 1, p.layout.virtual_stages = 1, p.layout.schedule = Schedule::one_f_one_b;
    p.layout.dp_shard = 32;
    for (const auto& [zero, words] : {std::pair(0, "ddp megatron-tp megatron-sp"),
                                      {1, "zero-1 megatron-tp megatron-sp"},
                                      {2, "zero-2 megatron-tp megatron-sp"},
                                      {3, "zero-3 fsdp megatron-tp megatron-sp"}}) {
        p.layout.zero = zero;
        CHECK(used(p) == words);
    }
    p.layout.dp_shard = 16, p.layout.dp_replicate = 2;
    CHECK(used(p) == "zero-3 hsdp megatron-tp megatron-sp");
    p.layout.sequence_parallel = false, p.training.overlap.tp = true;
    CHECK(used(p) == "zero-3 hsdp megatron-tp async-tp");
    p.layout.tp = 1, p.layout.cp = 8, p.layout.dp_replicate = 1, p.layout.dp_shard = 32, p.layout.zero = 1;
    p.layout.cp_inner = 1;
    for (const auto& [comm, words] : {std::pair(CpComm::ring, "zero-1 ring-attention head-tail"),
                                      {CpComm::allgather, "zero-1 head-tail cp-allgather"},
                                      {CpComm::ulysses, "zero-1 ulysses"}}) {
        p.layout.cp_comm = comm;
        CHECK(used(p) == words);
    }
    p.layout.cp_comm = CpComm::ulysses_ring, p.layout.cp_inner = 2;
    CHECK(used(p) == "zero-1 ring-attention head-tail ulysses");
    Plan moe = preset("mixtral-8x7b-ep");  // ep 8 of 64
    CHECK(used(moe).ends_with("topk-routing folding"));
    moe.model.moe->top_k = 1;
    CHECK(used(moe).ends_with("topk-routing switch folding"));
    moe.layout.ep = 1;
    CHECK(used(moe).ends_with("topk-routing switch"));
}
