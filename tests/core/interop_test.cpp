// Compares frameworks' settings with the results of their own parsers: tests/golden/interop.json, each case
// with its source in "_about".
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/interop/megatron.h"
#include "core/io/plan_json.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "tests/core/imports.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::interop;
using nlohmann::json;

namespace {

using test::presets;

json golden() {
    std::ifstream in(std::string(GOLDEN_DIR) + "/interop.json");
    REQUIRE(in.good());
    return json::parse(in);
}

Import read_case(const json& c) {
    ImportRequest r;
    r.text = c["text"];
    r.path = c["file_name"];
    if (c.contains("gpus") && c["gpus"].is_number()) r.gpus = c["gpus"];
    if (c.contains("model") && c["model"].is_string()) r.model = c["model"];
    return import_settings(r, presets());
}

// Returns the plan's value under a dotted name, model presets filled in; null where it has no such value.
json value_of(const Plan& plan, const std::string& key) {
    json whole = json::parse(write_plan(plan));
    if (whole["model"].is_string() || whole["model"].contains("preset")) {
        Plan open = plan;
        open.model_source = {};
        whole["model"] = json::parse(write_plan(open))["model"];
    }
    const json* at = &whole;
    std::size_t from = 0;
    while (from <= key.size()) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        const std::string part = key.substr(from, dot - from);
        if (!at->is_object() || !at->contains(part)) return nullptr;
        at = &(*at)[part];
        from = dot + 1;
    }
    return *at;
}

// Returns a value by the golden file's own name for it ("_about" there), where the plan has it in another
// form; all other fields have the plan's names.
json meant_by(const Plan& plan, const std::string& key) {
    const Layout& l = plan.layout;
    if (key == "layout.dp") return l.dp_shard * replicas_in_force(plan);
    if (key == "model.moe.shared_total")
        return plan.model.moe->shared_experts * plan.model.moe->shared_expert_ffn;
    if (key == "layout.stage_layers") {
        std::vector<std::int64_t> layers;
        layers_of_chunks(plan, layers);
        return layers;
    }
    if (key != "layout.order") return value_of(plan, key);
    std::string order;
    for (const Axis a : l.order)
        order += (order.empty() ? "" : "-") + std::string(kNames<Axis>[static_cast<std::size_t>(a)]);
    return order;
}

// Returns the axes of an order whose degree is above 1, from the fastest; both of data parallelism are dp.
std::vector<std::string> in_force(const Plan& plan, const std::string& order) {
    const Layout& l = plan.layout;
    const std::map<std::string, std::int64_t> degree{
        {"tp", l.tp}, {"cp", l.cp}, {"ep", l.ep}, {"pp", l.pp}, {"dp", l.dp_shard * replicas_in_force(plan)}};
    std::vector<std::string> out;
    std::istringstream words(order);
    for (std::string axis; std::getline(words, axis, '-');) {
        if (axis.starts_with("dp")) axis = "dp";
        if (degree.at(axis) > 1 && (out.empty() || out.back() != axis)) out.push_back(axis);
    }
    return out;
}

// Returns false for fields whose value means nothing at degree 1.
bool is_compared(const Plan& plan, const std::string& key) {
    const Layout& l = plan.layout;
    if (key == "layout.etp") return plan.model.moe.has_value();
    if (key == "layout.sequence_parallel") return l.tp > 1;
    if (key == "layout.schedule") return l.pp > 1;
    if (key == "layout.cp_comm") return l.cp > 1;
    if (key == "layout.zero") return plan.cluster.gpus > 1;
    if (key == "layout.dp_shard" || key == "layout.dp_replicate") return l.zero > 0;
    return true;
}

bool lists(const std::vector<Listed>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Listed& r) { return r.setting.find(name) != std::string::npos; });
}

bool says(const Import& made, const std::string& word) {
    return std::any_of(made.problems.begin(), made.problems.end(),
                       [&](const ImportProblem& p) { return p.message.find(word) != std::string::npos; });
}

Import import_of(const std::string& text, std::int64_t gpus = 0, const std::string& model = {}) {
    ImportRequest r;
    r.text = text;
    r.path = "test";
    r.gpus = gpus;
    r.model = model;
    return import_settings(r, presets());
}

}  // namespace

TEST_CASE("each framework's settings become the plan that its own parser means") {
    int cases = 0;
    json all = golden();
    for (json& c : all["cases"]) {
        if (!c["error"].is_null()) continue;
        const std::string id = c["id"];
        CAPTURE(id);
        const Import made = read_case(c);
        REQUIRE(made.plan);
        ++cases;
        for (const auto& item : c["expect"].items()) {
            const std::string key = item.key();
            const json& want = item.value();
            if (!is_compared(*made.plan, key)) continue;
            CAPTURE(key);
            const json got = meant_by(*made.plan, key);
            // A field that is left out has its default: false, 0, or the first choice.
            if (key == "layout.order")
                CHECK(in_force(*made.plan, want) == in_force(*made.plan, got));
            else if (want.is_object())
                CHECK(std::ranges::count(want["any"], got) > 0);
            else if (got.is_null())
                CHECK((want == false || want == 0 || want == "none" || want == "mha_gqa"));
            else
                CHECK(got == want);
        }
    }
    CHECK(cases >= 40);
}

TEST_CASE("every setting of a text stands in one list, and what no field holds is said") {
    json all = golden();
    for (json& c : all["cases"]) {
        if (!c["error"].is_null()) continue;
        const std::string id = c["id"];
        CAPTURE(id);
        const Import made = read_case(c);
        for (const std::string name : c["seen"]) {
            CAPTURE(name);
            CHECK((lists(made.settings.mapped, name) || lists(made.settings.ignored, name)
                   || lists(made.settings.unmapped, name) || lists(made.settings.not_known, name)));
        }
        for (const std::string name : c["unmapped"]) {
            CAPTURE(name);
            CHECK((lists(made.settings.unmapped, name) || says(made, name)));
        }
        for (const std::string name : c["asks"]) {
            CAPTURE(name);
            CHECK(says(made, name));
        }
    }
}

TEST_CASE("what a framework refuses is refused with the words that name the place") {
    int cases = 0;
    json all = golden();
    for (json& c : all["cases"]) {
        if (c["error"].is_null()) continue;
        const std::string id = c["id"];
        CAPTURE(id);
        ++cases;
        try {
            const Import made = read_case(c);
            CHECK((made.failed() || c.value("soft", false)));
            for (const std::string word : c["says"]) CHECK(says(made, word));
        } catch (const Error& e) {
            for (const std::string word : c["says"])
                CHECK(std::string(e.what()).find(word) != std::string::npos);
        }
    }
    CHECK(cases >= 8);
}

TEST_CASE(
    "a launch script is read as the shell would run it, and an unknown value is named where it matters") {
    const std::string line =
        " --num-layers 8 --hidden-size 1024 --num-attention-heads 8 --seq-length 2048 --micro-batch-size 1"
        " --max-position-embeddings 2048 --vocab-size 32000 --bf16\n";
    const Import made =
        import_of("TP=$((8 / 4))\nX=(--sequence-parallel)\n"
                  "if [ \"$TP\" -gt 1 ]; then X+=(--tensor-model-parallel-size $TP); fi\n"
                  "torchrun --nproc_per_node 8 --nnodes ${N:-2} pretrain_gpt.py \"${X[@]}\" --data-path $1"
                  + line);
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 16);
    CHECK(made.plan->layout.tp == 2);
    CHECK(made.plan->layout.sequence_parallel);
    CHECK(made.hosts.empty());
    // A part that an unknown condition adds may be there or not: the rest is imported, a layout flag is
    // named.
    const std::string maybe = "X=(--tensor-model-parallel-size 2)\nif [ \"$(hostname)\" = a ]; then X+=(";
    const std::string job =
        "); fi\ntorchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \"${X[@]}\"" + line;
    const Import added = import_of(maybe + "--lr 0.1 --log-interval 5" + job);
    REQUIRE(added.plan);
    CHECK(added.plan->layout.tp == 2);
    const Import deeper = import_of(maybe + "--pipeline-model-parallel-size 4" + job);
    CHECK(deeper.failed());
    CHECK(says(deeper, "--pipeline-model-parallel-size"));
    CHECK(says(deeper, "line 2"));
    const Import text = import_of(
        "X=\"--tensor-model-parallel-size 2\"\nif [ \"$(hostname)\" = a ]; then X=\"$X --lr 0.1\"; fi\n"
        "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py $X"
        + line);
    REQUIRE(text.plan);
    CHECK(text.plan->layout.tp == 2);
    const Import named =
        import_of("#SBATCH -w gpu[01-02]\ntorchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py" + line);
    CHECK(named.hosts == "gpu[01-02]");
    const Import open =
        import_of("torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size $(nproc)" + line);
    CHECK(open.failed());
    CHECK(says(open, "--tensor-model-parallel-size"));
    CHECK(says(open, "$(nproc)"));
    CHECK(says(open, "line 1"));
}

// parallel_state.py, initialize_model_parallel: an assertion on every model, dense ones too.
TEST_CASE("an order that Megatron refuses is refused") {
    const std::string flags =
        "--use-tp-pp-dp-mapping --pipeline-model-parallel-size 2 --num-layers 16 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 "
        "--global-batch-size 32 --bf16 --vocab-size 32000 ";
    CHECK_FALSE(test::import_text(flags, 16).failed());
    const Import refused = test::import_text(flags + "--context-parallel-size 2", 16);
    CHECK(refused.failed());
    const ImportProblem* const why = test::problem_called(refused, "megatron-expert-order");
    REQUIRE(why != nullptr);
    CHECK(why->severity == Severity::error);
}

TEST_CASE("a pipeline layout and a layer pattern are written out as Megatron does") {
    const PipelineParts parts = parse_pipeline_layout("Et*3|(tt|)*29,m|L");
    REQUIRE(parts.layers.size() == 32);
    CHECK(parts.layers.front() == 3);
    CHECK(parts.layers[1] == 2);
    CHECK(parts.layers.back() == 0);
    CHECK(parts.mtp_part == 30);
    CHECK(parse_pipeline_layout("Etx|L").error == "it has the letter x; E, t, m, L, |, * and ( ) are known");
    CHECK(parse_pipeline_layout("E(t|").error.starts_with("it is no layout of stages"));
    const auto pattern = parse_layer_pattern("([0]*3+[1]*58)");
    REQUIRE(pattern);
    CHECK(pattern->size() == 61);
    CHECK(std::count(pattern->begin(), pattern->end(), 1) == 58);
    CHECK_FALSE(parse_layer_pattern("[0]*3+"));
    CHECK_FALSE(parse_layer_pattern("[0]*999999999"));
}

TEST_CASE("the block of arguments that Megatron prints into its log is read like its command line") {
    const Import made = import_of("------------------------ arguments ------------------------\n"
                                  "  world_size ...................................... 32\n"
                                  "  tensor_model_parallel_size ...................... 4\n"
                                  "  pipeline_model_parallel_size .................... 2\n"
                                  "  num_layers ...................................... 16\n"
                                  "  hidden_size ..................................... 2048\n"
                                  "  num_attention_heads ............................. 16\n"
                                  "  seq_length ...................................... 4096\n"
                                  "  max_position_embeddings ......................... 4096\n"
                                  "  micro_batch_size ................................ 2\n"
                                  "  global_batch_size ............................... 64\n"
                                  "  bf16 ............................................ True\n"
                                  "  use_distributed_optimizer ....................... True\n"
                                  "-------------------- end of arguments ---------------------\n");
    REQUIRE(made.plan);
    CHECK(made.plan->cluster.gpus == 32);
    CHECK(made.plan->layout.tp == 4);
    CHECK(made.plan->layout.dp_shard == 4);
    CHECK(made.plan->layout.zero == 1);
    CHECK(made.plan->training.global_batch == 64);
}

TEST_CASE("a text of very many settings has each of them in one list, and says what was not looked for") {
    constexpr std::size_t kArguments = 100000;
    const auto log_of = [](std::size_t arguments) {
        std::string text = "------------------------ arguments ------------------------\n";
        for (std::size_t i = 0; i < arguments; ++i)
            text += "  arg_" + std::to_string(i) + " ............ 1\n";
        return text;
    };
    const std::string text = log_of(kArguments), more = log_of(3 * kArguments);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(interop::import_settings({.text = more, .path = "log"}, test::presets())),
        doctest::Contains("at most 200,000"), Error);
    const interop::Import made = interop::import_settings({.text = text, .path = "log"}, test::presets());
    CHECK(made.settings.size() == kArguments);
    CHECK(made.settings.not_known.size() == kArguments);
    std::string script = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2";
    for (int i = 0; i < 600; ++i) script += " --arg-" + std::to_string(i) + " 1";
    const interop::Import flags =
        interop::import_settings({.text = script, .path = "run.sh"}, test::presets());
    CHECK(std::any_of(flags.problems.begin(), flags.problems.end(),
                      [](const interop::ImportProblem& p) { return p.code == "many-unknown"; }));
}

// deepspeed/runtime/zero/config.py: overlap_comm is None, and then true at stage 3 only.
TEST_CASE("DeepSpeed hides its communication by default at ZeRO-3 only") {
    for (const int stage : {1, 2, 3}) {
        CAPTURE(stage);
        const Import made =
            import_of(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": )"
                          + std::to_string(stage) + "}}",
                      8, "llama-3-8b");
        REQUIRE(made.plan);
        CHECK(made.plan->training.overlap.dp == (stage == 3));
    }
}

// Megatron-LM megatron/training/arguments.py: --bf16 accumulates and reduces gradients in fp32 always, --fp16
// only where
// --accumulate-allreduce-grads-in-fp32 says so; else they have the type of the parameters.
TEST_CASE(
    "gradients of a Megatron script have two bytes with --fp16, four where they are accumulated in fp32") {
    struct Case {
        const char* flags;
        Dtype gradients;
    };
    for (const Case& c : {Case{"--fp16", Dtype::fp16}, Case{"--bf16", Dtype::fp32}, Case{"", Dtype::fp32},
                          Case{"--fp16 --accumulate-allreduce-grads-in-fp32", Dtype::fp32},
                          Case{"--bf16 --grad-reduce-in-bf16", Dtype::bf16}}) {
        CAPTURE(c.flags);
        const Import made = import_of(
            std::string("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
                        "--num-attention-heads 8 --seq-length 2048 --micro-batch-size 1 "
                        "--max-position-embeddings 2048 --vocab-size 32000 ")
            + c.flags);
        REQUIRE(made.plan);
        CHECK(made.plan->training.gradients == c.gradients);
    }
}

// torchtitan pipeline_parallel.py: the stages are ceil((layers + input weight + output weight) / layers per
// stage), the weights 1 where nothing says otherwise, spread evenly over pp ranks; the first of the stages
// take what is left over.
TEST_CASE("torchtitan's layers of a stage count what the first and the last stage hold beside layers") {
    struct Case {
        int per_stage, less_first, less_last;
        std::int64_t chunks;
        std::vector<std::int64_t> layers;
    };
    const Case cases[] = {{11, 1, 1, 2, {8, 9, 8, 7}},  // 34 / 11: 4 stages; 33 / 11 would be 3
                          {11, 2, 0, 2, {7, 9, 8, 8}},  // 34 / 11
                          {17, 1, 1, 1, {16, 16}},      // 34 / 17
                          {16, 0, 0, 1, {16, 16}}};
    for (const Case& c : cases) {
        CAPTURE(c.per_stage);
        const Import made = import_of(
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
            "local_batch_size = 8\nseq_len = 4096\n[parallelism]\n"
            "pipeline_parallel_degree = 2\n"
            "pipeline_parallel_schedule = \""
                + std::string(c.chunks > 1 ? "Interleaved1F1B" : "1F1B")
                + "\"\npipeline_parallel_layers_per_stage = " + std::to_string(c.per_stage)
                + "\npipeline_parallel_first_stage_less_layers = " + std::to_string(c.less_first)
                + "\npipeline_parallel_last_stage_less_layers = " + std::to_string(c.less_last) + "\n",
            8);
        REQUIRE(made.plan);
        CHECK(made.plan->layout.virtual_stages == c.chunks);
        std::vector<std::int64_t> layers;
        layers_of_chunks(*made.plan, layers);
        CHECK(layers == c.layers);
    }
}
