// Import says truly why it does not take a setting: the plan has no field, or the import does not read it.
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/import.h"
#include "core/interop/script/settings.h"
#include "core/io/plan_json.h"
#include "core/model/model.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace pentamesh;
using namespace pentamesh::interop;
using nlohmann::json;

namespace {

// Collects words of all keys that a plan file may have: "weight_shards" gives "weight" and "shards".
void collect_words(const json& schema, std::set<std::string>& out) {
    if (schema.is_array())
        for (const json& s : schema) collect_words(s, out);
    if (!schema.is_object()) return;
    for (const auto& item : schema.items()) {
        if (item.key() == "properties")
            for (const auto& property : item.value().items()) {
                std::string word;
                for (const char c : property.key() + "_")
                    if (c == '_')
                        out.insert(std::exchange(word, ""));
                    else
                        word += c;
            }
        collect_words(item.value(), out);
    }
}

bool schema_has(const json& schema, std::string_view pointer) {
    if (pointer.empty()) return true;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string key(pointer.substr(1, end - 1));
    if (schema.is_array())
        return std::any_of(schema.begin(), schema.end(),
                           [&](const json& s) { return schema_has(s, pointer); });
    if (!schema.is_object()) return false;
    if (const auto own = schema.find("properties"); own != schema.end() && own->contains(key))
        if (schema_has((*own)[key], pointer.substr(end))) return true;
    const auto forms = schema.find("anyOf");
    return forms != schema.end() && schema_has(*forms, pointer);
}

// A denial may use these words of the field though keys of the plan have them, for it denies another thing.
const std::map<std::string_view, std::string_view> kReviewed{
    {"moe_shared_expert_overlap", "shared, overlap: the plan has both, not the two together"},
    {"distribute_saved_activations", "activations, tp: the plan offloads them, it does not cut them"},
};

const Listed* unmapped(const Import& made, std::string_view setting) {
    const auto it = std::find_if(made.settings.unmapped.begin(), made.settings.unmapped.end(),
                                 [&](const Listed& l) { return l.setting == setting; });
    return it == made.settings.unmapped.end() ? nullptr : &*it;
}

constexpr const char* kShortRun =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 6 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
    "--micro-batch-size 1 --global-batch-size 64 --bf16 ";

Import import_line(const std::string& more) {
    return import_settings({.text = kShortRun + more, .path = "run.sh", .tool = "megatron"}, test::presets());
}

KnownSettings known(std::string_view framework) {
    return {framework, test::presets()};
}

}  // namespace

TEST_CASE("what import says that no plan has names no field that plans have") {
    const json schema = json::parse(plan_schema());
    std::set<std::string> words;
    collect_words(schema, words);
    REQUIRE(words.contains("linear"));
    std::size_t rows = 0;
    for (const Tool* tool : written_tools()) {
        const KnownSettings settings = known(tool->name);
        for (const auto& item : settings.all_cannot_hold()) {
            const std::string& key = item.first;
            const CannotHold& row = item.second;
            ++rows;
            const std::string said = words_of(row);
            CAPTURE(said);
            CAPTURE(key);
            REQUIRE_FALSE(said.empty());
            if (!row.field.empty()) {
                CHECK(schema_has(schema, row.field));
                CHECK(said.find("no field") == std::string::npos);
                continue;
            }
            constexpr std::string_view kDenial = "the plan has no field for ";
            if (!row.why.starts_with(kDenial) || kReviewed.contains(key)) continue;
            std::string word;
            for (const char c : row.why.substr(kDenial.size()) + " ")
                if (c == ' ') {
                    CAPTURE(word);
                    CHECK_FALSE(words.contains(word));
                    word.clear();
                } else {
                    word += c;
                }
        }
    }
    CHECK(rows > 150);
}

TEST_CASE(
    "the tables of names are of frameworks and fields that there are, and each value is one of its field") {
    const json schema = json::parse(plan_schema());
    std::size_t rows = 0;
    for (const std::string_view framework : {"bridge", "torchtitan"})  // bridge has those of megatron too
        for (const KnownSettings settings = known(framework); const NamedField& f : settings.fields()) {
            CAPTURE(f.key);
            CHECK(schema_has(schema, f.field));
            if (!f.as.is_object()) continue;
            const auto named = f.as.value("words", nlohmann::ordered_json::object());
            const auto& values = named.is_string() ? words(word_of(named)) : named;
            for (const auto& value : values) CHECK(schema.dump().find(value.dump()) != std::string::npos);
            ++rows;
        }
    CHECK(rows > 25);
    for (const auto& item : words("spellings").items()) {
        const std::string& pointer = item.key();
        CAPTURE(pointer);
        CHECK(schema_has(schema, pointer));
        for (const auto& name : item.value().items()) CHECK(tool_called(name.key()));
    }
    for (const auto& item : words("torchtitan_flavours").items())
        CHECK(test::presets().has(PresetKind::model, item.key()));
}

TEST_CASE("a setting that says a field of the plan is not harmless, and is denied with that field only") {
    for (const std::string_view framework : {"megatron", "bridge", "torchtitan"})
        for (const SpelledField& f : flags_of(framework)) {
            std::string key(f.name.substr(f.name.find_last_of('.') + 1));
            key.erase(0, key.find_first_not_of('-'));
            std::replace(key.begin(), key.end(), '-', '_');
            CAPTURE(key);
            const KnownSettings settings = known(framework);
            if (const CannotHold* row = settings.cannot_hold(key)) CHECK(f.pointer.starts_with(row->field));
            CHECK_FALSE(settings.is_harmless(key, std::string(f.name)));
        }
    for (const std::string_view framework : {"megatron", "torchtitan"})
        for (const KnownSettings settings = known(framework); const NamedField& f : settings.fields()) {
            CAPTURE(f.key);
            CHECK(settings.cannot_hold(f.key) == nullptr);
            CHECK_FALSE(settings.is_harmless(f.key, f.key));
        }
}

TEST_CASE("a flag that is a field of the plan needs one row: it is read, and known where it is misspelt") {
    const Import read =
        import_line("--multi-latent-attention --kv-lora-rank 256 --no-overlap-p2p-communication");
    REQUIRE(read.plan);
    REQUIRE(read.plan->model.mla);
    CHECK(read.plan->model.mla->kv_lora_rank == 256);
    CHECK_FALSE(read.plan->training.overlap.pp);
    const Import misspelt = import_line("--dsa-indexer-topc 512");
    CHECK_FALSE(misspelt.plan);
    CHECK(std::any_of(misspelt.problems.begin(), misspelt.problems.end(), [](const ImportProblem& p) {
        return p.message.ends_with("the closest is --dsa-indexer-topk");
    }));
    const KnownSettings titan = known("torchtitan");
    const std::vector<std::string> section = titan.all_of_section("parallelism");
    CHECK(std::find(section.begin(), section.end(), "tensor_parallel_degree") != section.end());
    CHECK(std::find(section.begin(), section.end(), "mixed_precision_param") == section.end());
    CHECK(titan.all_of_section("training").empty());
}

TEST_CASE("a setting that is said to change nothing changes nothing") {
    const auto plan_of = [](const std::string& more) {
        Import made = import_line(more);
        return made.plan ? write_plan(*made.plan) : std::string();
    };
    const std::string plain = plan_of("");
    REQUIRE_FALSE(plain.empty());
    const json file = json::parse(read_file(test::presets().root() / "frameworks" / "megatron.json"));
    const KnownSettings settings = known("megatron");
    std::size_t tried = 0;
    for (const json& row : file["harmless"]) {
        const auto key = row.get<std::string>();
        CAPTURE(key);
        CHECK(settings.cannot_hold(key) == nullptr);
        std::string flag = "--" + key;
        std::replace(flag.begin(), flag.end(), '_', '-');
        CHECK(plan_of(flag + (settings.is_switch(key) ? "" : " 3")) == plain);
        ++tried;
    }
    CHECK(tried > 400);
}

TEST_CASE("a setting that nobody knows is said to be not known, the likeliest to bear on a layout first") {
    const Import made = import_line("--my-own-colour red --ring-shard-size 4 --log-interval 10");
    const SettingLists& l = made.settings;
    REQUIRE(l.not_known.size() == 2);
    CHECK(l.not_known[0].setting == "--ring-shard-size");
    CHECK(l.not_known[1].setting == "--my-own-colour");
    REQUIRE(l.ignored.size() == 1);
    CHECK(l.ignored[0].setting == "--log-interval");
    CHECK(summary_of(l).find("2 are not known") != std::string::npos);
}

TEST_CASE("what belongs to one feature of Megatron has one verdict") {
    const SettingLists l =
        import_line("--dynamic-context-parallel --max-seqlen-per-dp-cp-rank 8192 --context-parallel-size 2")
            .settings;
    CHECK(l.not_known.empty());
    REQUIRE(l.unmapped.size() == 2);
    CHECK(l.unmapped[0].why == l.unmapped[1].why);
    CHECK(l.unmapped[0].why.find("one degree of cp") != std::string::npos);
}

// megatron/training/arguments.py at d98e8a64; Megatron-DeepSpeed, megatron/arguments.py.
TEST_CASE("Megatron's latent experts, gates, windows and Megatron-DeepSpeed's stage stand in the plan") {
    const Import experts = import_line(
        "--num-experts 8 --moe-router-topk 2 --moe-latent-size 256 --moe-shared-expert-intermediate-size 512 "
        "--moe-shared-expert-gate --moe-layer-freq -1 --attention-output-gate --window-size 128,0");
    REQUIRE(experts.plan);
    REQUIRE(experts.plan->model.moe);
    CHECK(experts.plan->model.moe->latent == 256);
    CHECK(experts.plan->model.moe->shared_expert_gate);
    CHECK(experts.plan->model.moe->every == 1);
    CHECK(experts.plan->model.attention_gate == AttentionGate::full);
    CHECK(experts.plan->model.sliding_window == 129);
    CHECK(experts.settings.not_known.empty());

    const Import deepspeed = import_line(
        "--deepspeed --zero-stage 2 --deepspeed-activation-checkpointing --checkpoint-activations");
    REQUIRE(deepspeed.plan);
    CHECK(deepspeed.plan->layout.zero == 2);
    CHECK(deepspeed.plan->training.software == Software::deepspeed);
    CHECK(deepspeed.plan->training.recompute.kind == Recompute::full);
    const Import whose = import_line("--deepspeed --zero-stage 2 --deepspeed-activation-checkpointing");
    REQUIRE(whose.plan);
    CHECK(whose.plan->training.recompute.kind == Recompute::none);

    const Import empty = import_line("--pipeline-model-parallel-size 4 --num-layers 8 --noop-layers 6,7");
    REQUIRE(empty.plan);
    CHECK(empty.plan->model.layers == 6);
    CHECK(empty.plan->layout.stage_layers == std::vector<std::int64_t>{2, 2, 2, 0});

    const Import ulysses = import_line("--context-parallel-size 2 --context-parallel-algo ulysses_cp_algo");
    REQUIRE(ulysses.plan);
    CHECK(ulysses.plan->layout.cp_comm == CpComm::ulysses);
}

TEST_CASE("a name that contains a known one, or that Megatron has, is no misspelt flag") {
    for (const char* flag : {"--padded-vocab-size 32000", "--original-max-position-embeddings 4096",
                             "--num-zero-experts 4", "--inference-moe-token-dispatcher-type alltoall"}) {
        CAPTURE(flag);
        const Import made = import_line(flag);
        CHECK(made.plan.has_value());
    }
    const Import short_of_a_word = import_line("--tensor-parallel-size 8");
    CHECK_FALSE(short_of_a_word.plan);
}

// Megatron-LM d98e8a64, megatron/core/models/hybrid/hybrid_layer_allocation.py: "M-M-|M-M*-/MM/MM" is its own
// example.
TEST_CASE("a pattern of mixers says the layers, the stages and how many predict further tokens") {
    const Import made = import_line("--hybrid-layer-pattern 'M-M-|M-M*-/MM/MM' --num-layers 12");
    REQUIRE(made.plan);
    const Model& m = made.plan->model;
    CHECK(m.layers == 9);
    CHECK(m.mtp_layers == 2);
    REQUIRE(m.mamba);
    CHECK(m.mamba->state == 128);
    CHECK(m.mamba->inner == 64 * m.mamba->heads);
    const auto [mamba, full] = std::pair{MixerKind::mamba, MixerKind::full};
    const std::vector<std::pair<MixerKind, LayerFfn>> wanted{
        {mamba, LayerFfn::none},           {MixerKind::none, LayerFfn::dense},
        {mamba, LayerFfn::none},           {MixerKind::none, LayerFfn::dense},
        {mamba, LayerFfn::none},           {MixerKind::none, LayerFfn::dense},
        {mamba, LayerFfn::none},           {full, LayerFfn::none},
        {MixerKind::none, LayerFfn::dense}};
    REQUIRE(m.pattern.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(m.pattern[i].kind == wanted[i].first);
        CHECK(m.pattern[i].ffn == wanted[i].second);
    }
    CHECK(std::any_of(made.problems.begin(), made.problems.end(),
                      [](const ImportProblem& p) { return p.code == "prediction-layers"; }));
    const Import other = import_line("--hybrid-override-pattern MGM --linear-attention-freq 4");
    CHECK(other.failed());
    const Listed* row = unmapped(other, "--linear-attention-freq");
    REQUIRE(row != nullptr);
    CHECK(row->why.find("/model/pattern") != std::string::npos);
}

// NVIDIA-NeMo/Megatron-Bridge 067f987d: recipes/nemotronh/h100/nemotron_3_nano.py, its sizes and pattern,
// with the vocabulary of the checkpoint, whose total it has to meet.
TEST_CASE("Bridge's Nemotron 3 Nano has the parameters of the published model") {
    ImportRequest r;
    r.path = "test";
    r.tool = "bridge";
    r.text = R"(
def nemotron_3_nano_pretrain_8gpu_h100_bf16_config() -> ConfigContainer:
    cfg = ConfigContainer()
    cfg.model = HybridModelProvider(
        hybrid_layer_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
        hidden_size=2688, num_attention_heads=32, num_query_groups=2, kv_channels=128, ffn_hidden_size=1856,
        mamba_num_heads=64, mamba_head_dim=64, activation_func=squared_relu, num_moe_experts=128,
        moe_ffn_hidden_size=1856, moe_shared_expert_intermediate_size=3712, moe_router_topk=6,
        moe_router_enable_expert_bias=True, vocab_size=131072, seq_length=8192)
    cfg.train.global_batch_size = 512
    cfg.train.micro_batch_size = 1
    return cfg
)";
    const Import made = import_settings(r, test::presets());
    REQUIRE(made.plan);
    CHECK(count_parameters(made.plan->model).total
          == count_parameters(test::presets().model("nemotron-3-nano")).total);
}

// The base recipes that performance recipes begin with have the layers of their models, not only the sizes.
TEST_CASE("Bridge's base recipes of hybrid models have the parameters of the published models") {
    const std::pair<const char*, const char*> models[] = {
        {"nemotron_3_nano_pretrain_config", "nemotron-3-nano"},
        {"nemotronh_56b_pretrain_config", "nemotron-h-56b"}};
    for (const auto& [base, preset] : models) {
        ImportRequest r;
        r.path = "test";
        r.tool = "bridge";
        r.text = sentence("from megatron.bridge.recipes.nemotronh import ", base,
                          "\n\ndef of_64gpu_h100_config() -> ConfigContainer:\n    cfg = ", base,
                          "()\n    return cfg\n");
        const Import made = import_settings(r, test::presets());
        REQUIRE(made.plan);
        CHECK(count_parameters(made.plan->model).total
              == count_parameters(test::presets().model(preset)).total);
    }
}

// Megatron-Bridge 067f987d, perf_recipes/llama/b200/llama31.py: some recipes are others by name.
TEST_CASE("A recipe that is another one by name is listed and read") {
    ImportRequest r;
    r.path = "test";
    r.tool = "bridge";
    r.text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n\n\n"
             "def llama3_8b_pretrain_8gpu_gb200_config() -> ConfigContainer:\n"
             "    cfg = llama3_8b_pretrain_config()\n"
             "    cfg.train.global_batch_size = 64\n"
             "    return cfg\n\n\n"
             "llama3_8b_pretrain_16gpu_b200_config = llama3_8b_pretrain_8gpu_gb200_config\n";
    CHECK(import_settings(r, test::presets()).recipes
          == std::vector<std::string>{"llama3_8b_pretrain_8gpu_gb200_config",
                                      "llama3_8b_pretrain_16gpu_b200_config"});
    r.recipe = "llama3_8b_pretrain_16gpu_b200_config";
    const Import made = import_settings(r, test::presets());
    REQUIRE(made.plan);
    CHECK(made.plan->training.global_batch == 64);
    CHECK(made.plan->cluster.gpus == 16);
}

TEST_CASE("MoE layers in no regular order become the plan's pattern") {
    const std::string experts = "--num-experts 8 --moe-router-topk 2 --moe-layer-freq ";
    const Import made = import_line(experts + "'[1,1,0,0,1,0]'");
    REQUIRE(made.plan);
    const std::vector<LayerRun>& pattern = made.plan->model.pattern;
    REQUIRE(pattern.size() == 4);
    const LayerFfn ffn[] = {LayerFfn::moe, LayerFfn::dense, LayerFfn::moe, LayerFfn::dense};
    const int count[] = {2, 2, 1, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(pattern[i].kind == MixerKind::full);
        CHECK(pattern[i].ffn == ffn[i]);
        CHECK(pattern[i].count == count[i]);
    }
    CHECK(unmapped(made, "--moe-layer-freq") == nullptr);
    // A pattern that repeats is held once: 1 of 3 MoE, the first one.
    const Import again = import_line(experts + "'[1,0,0]*2'");
    REQUIRE(again.plan);
    REQUIRE(again.plan->model.pattern.size() == 2);
    CHECK(again.plan->model.pattern[0].count + again.plan->model.pattern[1].count == 3);
}

TEST_CASE("Bridge's offloaded optimizer stands in the plan and in one list") {
    const Import made = import_settings(
        {.text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
                 "cfg = llama3_8b_pretrain_config()\ncfg.optimizer.optimizer_cpu_offload = True\n",
         .path = "recipe.py",
         .tool = "bridge",
         .gpus = 8,
         .model = "llama-3-8b"},
        test::presets());
    REQUIRE(made.plan);
    CHECK(made.plan->training.offload.optimizer == 1);
    for (const Listed& row : made.settings.unmapped)
        CHECK(row.setting.find("optimizer_cpu_offload") == std::string::npos);
}

TEST_CASE("Megatron's CUDA graphs, fp8 recipe and fused operations stand in the plan") {
    const auto training = [](const std::string& more) {
        const Import made = import_line(more);
        REQUIRE(made.plan);
        for (const Listed& row : made.settings.unmapped)
            CHECK(row.setting.find("graph") == std::string::npos);
        return made.plan->training;
    };
    CHECK(training("").cuda_graphs == CudaGraphs::none);
    CHECK(training("--cuda-graph-impl none --cuda-graph-scope full_iteration").cuda_graphs
          == CudaGraphs::none);
    CHECK(training("--cuda-graph-impl transformer_engine --cuda-graph-scope attn").cuda_graphs
          == CudaGraphs::layers);
    CHECK(training("--cuda-graph-impl local --cuda-graph-scope full_iteration").cuda_graphs
          == CudaGraphs::iteration);
    CHECK(training("--cuda-graph-impl full_iteration").cuda_graphs == CudaGraphs::iteration);
    CHECK(training("--enable-cuda-graph").cuda_graphs == CudaGraphs::layers);
    CHECK(training("--fp8-format hybrid --fp8-recipe mxfp8").fp8_recipe == Fp8Recipe::mxfp8);
    CHECK(training("--fp8-format hybrid --fp8-recipe blockwise").fp8_recipe == Fp8Recipe::blockwise);
    CHECK(training("--fp8-format hybrid --fp8-recipe delayed").fp8_recipe == Fp8Recipe::tensorwise);
    CHECK(training("--use-transformer-engine-op-fuser").fused_experts);
    CHECK_FALSE(training("").fused_experts);
    // Without the flag Megatron runs a layer's experts one by one; of a dense model it says nothing.
    const std::string experts = "--num-experts 8 --moe-router-topk 2 ";
    CHECK(training(experts).experts_one_by_one);
    CHECK_FALSE(training(experts + "--moe-grouped-gemm").experts_one_by_one);
    CHECK_FALSE(training("").experts_one_by_one);
    CHECK(training(experts).routing_sizes == RoutingSizes::by_software);
    CHECK(training(experts + "--moe-expert-capacity-factor 1.0 --moe-pad-expert-input-to-capacity")
              .routing_sizes
          == RoutingSizes::device);
    // compute_language_model_loss takes the fused loss by its implementation.
    CHECK(training("").loss_kernel == LossKernel::by_software);
    CHECK(training("--cross-entropy-fusion-impl te").loss_kernel == LossKernel::by_software);
    const std::string fused = "--cross-entropy-loss-fusion ";
    CHECK(training(fused).loss_kernel == LossKernel::fp32);
    CHECK(training(fused + "--cross-entropy-fusion-impl native").loss_kernel == LossKernel::fp32);
    CHECK(training(fused + "--cross-entropy-fusion-impl te").loss_kernel == LossKernel::in_place);
    CHECK(training(fused + "--cross-entropy-fusion-impl linear").loss_kernel == LossKernel::chunked);
}

TEST_CASE("the container that a text of Megatron Bridge names says the date of its software") {
    const auto software = [](const std::string& container) {
        const Import made =
            import_settings({.text = "from megatron.bridge.recipes.llama import llama3_8b_pretrain_config\n"
                                     "cfg = llama3_8b_pretrain_config()\n# srun --container-image="
                                     + container + " run.sh\n",
                             .path = "recipe.py",
                             .gpus = 8},
                            test::presets());
        REQUIRE(made.plan);
        const bool said = std::any_of(made.problems.begin(), made.problems.end(),
                                      [](const ImportProblem& p) { return p.code == "software-date"; });
        CHECK(said == (made.plan->training.software == Software::megatron_bridge_2025));
        return made.plan->training.software;
    };
    for (const char* image :
         {"nvcr.io/nvidia/nemo:25.09", "/images/nvidia+nemo+25.11.01.sqsh", "nemo_25.02.sqsh"})
        CHECK(software(image) == Software::megatron_bridge_2025);
    for (const char* image :
         {"nvcr.io/nvidia/nemo:26.02", "nvcr.io/nvidia/pytorch:25.09-py3", "nemo:dev", "nemo:25"})
        CHECK(software(image) == Software::megatron_bridge);
}

// The keys of a published config.json (Qwen/Qwen3-VL-8B-Instruct): what makes the model is read, an encoder
// is left out and said, what nobody knows is said.
TEST_CASE("a config.json says which of its keys it read") {
    const Import made = import_settings({.text = R"({"model_type": "qwen3_vl", "image_token_id": 151655,
                     "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 4096, "num_hidden_layers": 36,
                       "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                       "intermediate_size": 12288, "vocab_size": 151936, "rope_theta": 5000000,
                       "initializer_range": 0.02, "my_new_gate": true},
                     "vision_config": {"depth": 27, "hidden_size": 1152}})",
                                         .path = "config.json",
                                         .gpus = 8},
                                        test::presets());
    REQUIRE(made.plan);
    const auto stands = [](const std::vector<Listed>& rows, std::string_view setting) {
        return std::any_of(rows.begin(), rows.end(), [&](const Listed& l) { return l.setting == setting; });
    };
    const SettingLists& l = made.settings;
    for (const char* key : {"text_config.hidden_size", "text_config.vocab_size", "model_type"}) {
        CAPTURE(key);
        CHECK(stands(l.mapped, key));
    }
    for (const char* key : {"text_config.rope_theta", "text_config.initializer_range", "image_token_id"}) {
        CAPTURE(key);
        CHECK(stands(l.ignored, key));
    }
    CHECK(stands(l.unmapped, "vision_config.depth"));
    CHECK(stands(l.not_known, "text_config.my_new_gate"));
    CHECK(std::any_of(made.problems.begin(), made.problems.end(),
                      [](const ImportProblem& p) { return p.code == "language-model-only"; }));
}

TEST_CASE("settings of GPT-NeoX are no DeepSpeed file") {
    const Import made = import_settings({.text = R"({"train_micro_batch_size_per_gpu": 4,
        "pipe_parallel_size": 1, "model_parallel_size": 8, "zero_optimization": {"stage": 1},
        "num_layers": 48, "hidden_size": 8192, "num_attention_heads": 64, "seq_length": 4096, "pos_emb": "rotary"})",
                                         .path = "34B.yml",
                                         .gpus = 16},
                                        test::presets());
    CHECK(made.kind == "gpt-neox");
    REQUIRE(made.plan);
    CHECK(made.plan->layout.tp == 8);
    CHECK(made.plan->layout.dp_shard == 2);
}
