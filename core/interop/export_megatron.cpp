// Writes Megatron-LM's launch script and Megatron-Bridge's recipe: the same fields under two spellings. Names
// and conditions are from Megatron-LM megatron/training/arguments.py,
// megatron/core/transformer/transformer_config.py.
#include "core/interop/export.h"
#include "core/mesh/mesh.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"
#include "core/rules/software_runs.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Returns "Et*7|t*9|(t*2|)..." without the brackets: each part written out by its count.
std::string pipeline_layout(const Plan& plan, const std::vector<std::int64_t>& layers) {
    const auto n = static_cast<std::int64_t>(layers.size());
    const std::int64_t mtp = plan.model.mtp_layers, holder = plan.layout.mtp_chunk.value_or(n - 1);
    const auto some = [](char letter, std::int64_t count) {
        if (count <= 0) return std::string();
        return count == 1 ? std::string(1, letter) : letter + ("*" + std::to_string(count));
    };
    std::string out = "E";
    for (std::int64_t i = 0; i < n; ++i) {
        if (i > 0) out += "|";
        out += some('t', layers[static_cast<std::size_t>(i)]);
        if (i == holder) out += some('m', mtp);
    }
    return out + "L";
}

void put_degrees(ExportDraft& draft) {
    const Layout& l = draft.plan.layout;
    draft.put("/layout/tp", l.tp);
    if (l.tp > 1 || draft.is("bridge"))
        draft.put("/layout/sequence_parallel", l.tp > 1 && l.sequence_parallel);
    if (l.weight_shards.value_or(1) > 1) draft.put("/layout/weight_shards", *l.weight_shards * l.tp);
    draft.put("/layout/pp", l.pp);
    draft.put("/layout/cp", l.cp);
    if (l.cp > 1) {
        const char* kind = l.cp_comm == CpComm::ring        ? "p2p"
                           : l.cp_comm == CpComm::allgather ? "all_gather"
                           : l.cp_comm == CpComm::ulysses   ? "a2a"
                                                            : "a2a+p2p";
        draft.put("/layout/cp_comm", std::string(kind));
        if (l.cp_comm == CpComm::ulysses_ring && l.cp_inner)
            draft.put("/layout/cp_inner", std::vector<std::int64_t>{*l.cp_inner, l.cp / *l.cp_inner});
    }
    const auto order = order_in(draft.plan, orders_of(Software::megatron));
    if (order && (*order == 1 || draft.is("bridge"))) draft.put("/layout/order", *order == 1);
}

void put_expert_degrees(ExportDraft& draft) {
    const Layout& l = draft.plan.layout;
    if (!draft.plan.model.moe) {  // Megatron lays its mesh of experts out without them too
        if (l.etp && *l.etp != l.tp) draft.put("/layout/etp", *l.etp);
        return;
    }
    draft.put("/layout/ep", l.ep);
    draft.put("/layout/etp", l.etp.value_or(l.tp));
    const bool flex = l.ep_comm == EpComm::deepep || l.ep_comm == EpComm::hybridep;
    const std::string kernel(pentamesh::name_of(l.ep_comm));
    draft.put("/layout/ep_comm", flex ? std::string("flex") : kernel);
    if (flex) draft.say_as("model", "moe_flex_dispatcher_backend", kernel);
    const bool one_by_one = draft.plan.training.experts_one_by_one;
    if (!one_by_one || draft.is("bridge")) draft.say_as("model", "moe_grouped_gemm", !one_by_one);
    if (draft.plan.training.routing_sizes == RoutingSizes::device)
        draft.lose(
            "/training/routing_sizes",
            "routing_sizes device: Megatron asks for a capacity of the experts, which the plan does not "
            "have (--moe-expert-capacity-factor, --moe-pad-expert-input-to-capacity)");
}

void put_loss(ExportDraft& draft) {
    const LossKernel kernel = draft.plan.training.loss_kernel;
    if (kernel == LossKernel::by_software) return;
    if (kernel == LossKernel::eager) {
        draft.lose("/training/loss_kernel",
                   "loss_kernel eager: Megatron's losses are fused or cast once to fp32");
        return;
    }
    // core/model_parallel_config.py: cross_entropy_fusion_impl is "native" or "te".
    if (kernel == LossKernel::chunked) {
        draft.lose("/training/loss_kernel", "loss_kernel chunked: Megatron makes no loss in parts");
        return;
    }
    // training/arguments.py, validate_args. Bridge does not ask it, and the configuration only warns.
    if (kernel == LossKernel::in_place && draft.is("megatron")) {
        draft.lose("/training/loss_kernel",
                   "loss_kernel in_place: Megatron-LM refuses TransformerEngine's loss, as not stable");
        return;
    }
    draft.say_as("model", "cross_entropy_loss_fusion", true);
    draft.say_as("model", "cross_entropy_fusion_impl",
                 std::string(kernel == LossKernel::in_place ? "te" : "native"));
}

void put_stages(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const bool bridge = draft.is("bridge");
    if (l.pp == 1) return;
    const std::vector<std::int64_t> layers = chunk_layers(p);
    const bool moved = p.model.mtp_layers > 0 && l.mtp_chunk && *l.mtp_chunk + 1 < l.pp * l.virtual_stages;
    const bool listed = !is_even(layers) || moved;
    if (static_cast<std::int64_t>(layers.size()) != l.pp * l.virtual_stages) return;  // another schedule's
    if (listed) draft.put("/layout/stage_layers", pipeline_layout(p, layers));
    if (l.virtual_stages > 1 && (!listed || bridge)) draft.put("/layout/virtual_stages", l.virtual_stages);
    if (l.virtual_stages > 1 && l.microbatch_group)
        draft.put("/layout/microbatch_group", *l.microbatch_group);
    const Dtype compute = p.training.compute;
    const bool full = compute == Dtype::fp32 || compute == Dtype::tf32;
    const bool half = compute == Dtype::fp16 || (!full && p.training.parameters == Dtype::fp16);
    if (bridge)
        draft.say("model.pipeline_dtype", Verbatim{full   ? "torch.float32"
                                                   : half ? "torch.float16"
                                                          : "torch.bfloat16"});
}

void put_sharding(ExportDraft& draft) {
    const Layout& l = draft.plan.layout;
    const bool bridge = draft.is("bridge");
    if (l.zero > 0 || bridge) draft.put("/layout/zero", l.zero > 0);
    if (bridge) draft.say("optimizer.use_distributed_optimizer", l.zero > 0);
    if (l.zero >= 2) {
        draft.say_as("ddp", "use_megatron_fsdp", true);
        draft.say_as("ddp", "data_parallel_sharding_strategy",
                     std::string(l.zero == 2 ? "optim_grads" : "optim_grads_params"));
        draft.say_as("checkpoint", "ckpt_format", std::string("fsdp_dtensor"));
    }
    if (l.zero > 0 && replicas(draft.plan) > 1) draft.put("/layout/dp_replicate", replicas(draft.plan));
    lose_reduction(draft, usual_reduction(draft.plan, Software::megatron));
}

// These write the parts of Megatron's settings, by question.
void fill_megatron(ExportDraft& draft) {
    fill_megatron_model(draft);
    put_degrees(draft);
    put_expert_degrees(draft);
    put_loss(draft);
    put_stages(draft);
    put_sharding(draft);
    fill_megatron_training(draft);
    note_training(draft, false);
    const Software software = draft.is("bridge") ? Software::megatron_bridge : Software::megatron;
    lose_lacks(draft, software);
    refuse_by_rules(draft, Rule::megatron, software);
}

}  // namespace

void export_megatron(ExportDraft& draft) {
    fill_megatron(draft);
    const Plan& p = draft.plan;
    const Layout& l = p.layout;
    const std::int64_t host = gpus_per_host(p);
    std::string text = "#!/bin/bash\n" + as_comment(head_lines(draft));
    // From arguments.py: sequence parallelism wants 1, FSDP wants more.
    if (l.zero >= 2)
        text += "unset CUDA_DEVICE_MAX_CONNECTIONS\n";
    else if (l.tp > 1 || l.cp > 1)
        text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    text +=
        "\nGPUS_PER_NODE=" + number_text(host) + "\nNUM_NODES=" + number_text(p.cluster.gpus / host) + "\n";
    text += "\nPLAN_ARGS=(\n" + flags_text(draft.settings) + ")\n";
    text += "\n# Not of the plan: data, learning rate, how long";
    if (p.model.positions == Positions::rope) text += ", --rotary-base and its scaling";
    text += ".\nRUN_ARGS=(\n";
    const double tokens = tokens_per_step(p.training);
    const auto steps =
        p.training.tokens_total > 0 ? static_cast<std::int64_t>(p.training.tokens_total / tokens) : 100;
    text += "    --mock-data\n    --lr ${LR:-1e-4}\n    --train-iters ${TRAIN_ITERS:-"
            + number_text(std::max<std::int64_t>(steps, 1)) + "}\n)\n";
    text += "\ntorchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --node_rank ${NODE_RANK:-0} \\\n"
            "    --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-6000} \\\n"
            "    pretrain_gpt.py \"${PLAN_ARGS[@]}\" \"${RUN_ARGS[@]}\"\n";
    draft.out.text = std::move(text);
}

namespace {

// Returns true if a value is a call of that function.
bool says_call(const ExportDraft& draft, std::string_view name) {
    return std::any_of(draft.settings.begin(), draft.settings.end(), [&](const WrittenSetting& s) {
        const Verbatim* bare = std::get_if<Verbatim>(&s.value);
        return bare && bare->text.starts_with(name) && bare->text.substr(name.size()).starts_with('(');
    });
}

}  // namespace

void export_bridge(ExportDraft& draft) {
    draft.note("GPUs: the launcher starts them");
    fill_megatron(draft);
    std::string text = as_comment(head_lines(draft));
    text += "import torch\nimport torch.nn.functional as F\n\n"
            "from megatron.bridge.recipes.common import _pretrain_common\n"
            "from megatron.bridge.training.config import ConfigContainer\n";
    for (const char* name : {"MixedPrecisionConfig", "get_mixed_precision_config"})
        if (says_call(draft, name))
            text += "from megatron.bridge.training.mixed_precision import " + std::string(name) + "\n";
    if (draft.plan.model.ffn_kind == FfnKind::relu2)
        text += "from megatron.core.activations import squared_relu\n";
    if (draft.plan.training.attention == AttentionImpl::math)
        text += "from megatron.core.transformer.enums import AttnBackend\n";
    const bool mla = draft.plan.model.attention == AttentionKind::mla;
    const std::string provider = mla ? "MLAModelProvider" : "GPTModelProvider";
    text +=
        "from megatron.bridge.models." + std::string(mla ? "mla_provider" : "gpt_provider") + " import "
        + provider
        + "\n\n\ndef pretrain_config() -> ConfigContainer:\n    cfg = _pretrain_common()\n    cfg.model = "
        + provider + "(\n";
    // A provider must be made with these; the rest is set after it.
    static constexpr std::string_view made_with[] = {"model.num_layers", "model.hidden_size",
                                                     "model.num_attention_heads"};
    const auto is_made_with = [](const WrittenSetting& s) {
        return std::find(std::begin(made_with), std::end(made_with), s.name) != std::end(made_with);
    };
    for (const WrittenSetting& s : draft.settings)
        if (is_made_with(s)) text += "        " + s.name.substr(6) + "=" + python_text(s.value) + ",\n";
    text += "    )\n";
    for (const WrittenSetting& s : draft.settings)
        if (!is_made_with(s)) text += "    cfg." + s.name + " = " + python_text(s.value) + "\n";
    text += "    return cfg\n";
    draft.out.text = std::move(text);
}

// Writes the model as Megatron's settings.

namespace {

// Adds a reason for each part of the model that the settings of a GPT model do not hold.
void lose_unusual_model(ExportDraft& draft) {
    const Model& m = draft.plan.model;
    const auto lose = [&](bool has, const char* what) {
        if (has) draft.lose("/model", "model: Megatron's GPT settings have no ", what);
    };
    lose(!m.pattern.empty() || m.linear || m.mamba, "layers of several kinds");
    lose(m.norm == NormKind::unweighted, "norm without weights");
    lose(m.ffn_kind == FfnKind::xielu, "xIELU");
    lose(m.qk_norm == QkNorm::full, "norm over all heads' queries and keys");
    lose(m.attention_gate != AttentionGate::none, "gate on the attention's output");
    lose(m.attention_sinks, "attention sinks in these fields");
    lose(m.value_head_dim > 0 && m.value_head_dim != m.head_dim, "head dimension of values");
    lose(m.post_norms, "norms after attention and MLP");
    lose(m.shared_norm, "attention and MLP side by side");
    lose(m.head_bias, "bias of the head");
    lose(m.attention_bias != m.mlp_bias, "biases in only one of attention and MLP");
    lose(m.mtp_layers > 0 && m.mtp_dense, "dense prediction layers of a model with experts");
    lose(m.mla && m.mla->index_heads > 0, "indexer of sparse attention");
    lose(m.compressed.has_value(), "attention over compressed keys in these fields");
    lose(m.hyper_streams > 0, "hyper-connections in these fields");
    if (!m.moe) return;
    lose(m.moe->beside_mlp, "MLP beside the experts");
    lose(m.moe->latent > 0, "experts on a smaller hidden state");
    lose(m.moe->shared_expert_gate, "gate on the shared experts in these fields");
}

// transformer/transformer_config.py, window_size: how many tokens before it a token sees, in all layers.
void put_window(ExportDraft& draft) {
    const std::int64_t before = draft.plan.model.sliding_window - 1;
    if (before < 0) return;
    draft.say_as("model", "window_size",
                 draft.is("bridge") ? Value(Verbatim{"(" + std::to_string(before) + ", 0)"})
                                    : Value(std::to_string(before) + ",0"));
}

void put_activation(ExportDraft& draft) {
    const FfnKind kind = draft.plan.model.ffn_kind;
    if (draft.is("megatron")) {
        if (kind == FfnKind::swiglu) draft.say("--swiglu", true);
        if (kind == FfnKind::geglu) draft.say("--quick-geglu", true);
        if (kind == FfnKind::relu2) draft.say("--squared-relu", true);
        return;
    }
    const bool gated = kind == FfnKind::swiglu || kind == FfnKind::geglu;
    draft.say("model.gated_linear_unit", gated);
    draft.say("model.activation_func", Verbatim{kind == FfnKind::swiglu  ? "F.silu"
                                                : kind == FfnKind::relu2 ? "squared_relu"
                                                                         : "F.gelu"});
}

void put_norms(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Model& m = p.model;
    const bool bridge = draft.is("bridge");
    draft.put("/model/norm", std::string(m.norm == NormKind::layernorm ? "LayerNorm" : "RMSNorm"));
    if (bridge)
        draft.say("model.add_bias_linear", m.mlp_bias);
    else if (!m.mlp_bias)
        draft.say("--disable-bias-linear", true);
    if (m.qkv_bias && !m.mlp_bias) draft.put("/model/qkv_bias", true);
    if (m.qk_norm == QkNorm::head) draft.put("/model/qk_norm", true);
    if (bridge)
        draft.put("/model/tied_embeddings", m.tied_embeddings);
    else if (!m.tied_embeddings)
        draft.say("--untie-embeddings-and-output-weights", true);
    const bool learned = m.positions == Positions::learned;
    draft.put("/model/positions", std::string(learned ? "learned_absolute" : "rope"));
    if (!bridge)
        draft.put("/model/max_positions",
                  learned && m.max_positions > 0 ? m.max_positions : p.training.sequence_length);
    if (bridge && learned && m.max_positions != p.training.sequence_length)
        draft.note("max_positions: Bridge makes as many as a sequence has tokens");
    draft.put("/model/vocab_multiple", vocab_multiple_of(p));
    if (bridge) return draft.put("/model/vocab", m.vocab);
    // NullTokenizer counted one token more than --vocab-size up to core 0.17, and counts as many since
    // c9dfe347 (megatron/core/tokenizers/text/libraries/null_tokenizer.py). Where that one token takes
    // another multiple of rows, the rows are said: --padded-vocab-size, since core 0.14.
    const bool full = m.vocab > 1 && m.vocab % (vocab_multiple_of(p) * p.layout.tp) == 0;
    draft.say("--tokenizer-type", std::string("NullTokenizer"));
    draft.put("/model/vocab", full ? m.vocab - 1 : m.vocab);
    if (full) draft.say("--padded-vocab-size", m.vocab);
}

void put_attention(ExportDraft& draft) {
    const Model& m = draft.plan.model;
    const bool bridge = draft.is("bridge");
    if (m.attention == AttentionKind::mla && m.mla) {
        draft.put("/model/attention", true);
        if (m.mla->q_lora_rank > 0) draft.put("/model/mla/q_lora_rank", m.mla->q_lora_rank);
        draft.put("/model/mla/kv_lora_rank", m.mla->kv_lora_rank);
        draft.put("/model/mla/qk_nope_head_dim", m.mla->qk_nope_head_dim);
        draft.put("/model/mla/qk_rope_head_dim", m.mla->qk_rope_head_dim);
        draft.put("/model/mla/v_head_dim", m.mla->v_head_dim);
        return;
    }
    draft.put("/model/head_dim", m.head_dim);
    if (!bridge && m.kv_heads != m.heads) draft.say("--group-query-attention", true);
    if (bridge || m.kv_heads != m.heads) draft.put("/model/kv_heads", m.kv_heads);
}

// Returns dense and MoE layers as a Python list; empty where every layer is MoE.
std::string layer_pattern(const Plan& p) {
    const Moe& e = *p.model.moe;
    if (e.first_dense_layers == 0 && e.every == 1) return "";
    std::string out;
    std::int64_t run = 0;
    bool moe = false;
    const auto close = [&] {
        if (run > 0)
            out += (out.empty() ? "" : "+") + std::string(moe ? "[1]*" : "[0]*") + std::to_string(run);
    };
    for (std::int64_t i = 0; i < p.model.layers; ++i) {
        const bool is = i >= e.first_dense_layers && (i - e.first_dense_layers + 1) % e.every == 0;
        if (is != moe) close(), run = 0;
        moe = is;
        ++run;
    }
    close();
    return out;
}

void put_experts(ExportDraft& draft) {
    const Plan& p = draft.plan;
    if (!p.model.moe) return;
    const Moe& e = *p.model.moe;
    const bool bridge = draft.is("bridge");
    draft.put("/model/moe/experts", e.experts);
    draft.put("/model/moe/top_k", e.top_k);
    draft.put("/model/moe/expert_ffn", e.expert_ffn);
    if (e.shared_experts > 0)
        draft.put("/model/moe/shared_expert_ffn",
                  e.shared_experts * (e.shared_expert_ffn > 0 ? e.shared_expert_ffn : e.expert_ffn));
    if (const std::string pattern = layer_pattern(p); !pattern.empty())
        draft.put("/model/moe/first_dense_layers", bridge ? Value(Verbatim{pattern}) : Value(pattern));
    if (e.router_bias) {
        draft.put("/model/moe/router_bias", true);
        // From transformer_config.py: a bias of experts goes with sigmoid scores.
        draft.say_as("model", "moe_router_score_function", std::string("sigmoid"));
    }
    if (e.max_nodes_per_token == 0) return;
    const std::int64_t domain = p.cluster.tiers.empty() ? 1 : domain_of(p.cluster, 0);
    const std::int64_t nodes = p.layout.ep / std::max<std::int64_t>(domain, 1);
    if (nodes > e.max_nodes_per_token && e.experts % nodes == 0) {
        draft.put("/model/moe/max_nodes_per_token", e.max_nodes_per_token);
        draft.say_as("model", "moe_router_num_groups", nodes);
    } else {
        draft.note("max_nodes_per_token: the experts of this layout lie on no more nodes");
    }
}

}  // namespace

void fill_megatron_model(ExportDraft& draft) {
    const Model& m = draft.plan.model;
    lose_unusual_model(draft);
    draft.put("/model/layers", m.layers);
    draft.put("/model/hidden", m.hidden);
    draft.put("/model/heads", m.heads);
    put_attention(draft);
    put_window(draft);
    if (m.ffn > 0) draft.put("/model/ffn", m.ffn);
    put_activation(draft);
    put_norms(draft);
    put_experts(draft);
    if (m.mtp_layers > 0) draft.put("/model/mtp_layers", m.mtp_layers);
}

// Writes batch, types, recomputation and overlap as Megatron's settings.

namespace {

// Holds the types that Megatron computes in and keeps, which may be others than the plan's.
struct Precision {
    bool half = false, full = false, fp8_parameters = false;
    [[nodiscard]] Dtype base() const { return half ? Dtype::fp16 : full ? Dtype::fp32 : Dtype::bf16; }
};

Precision precision_of(const Plan& plan) {
    const Training& t = plan.training;
    const bool small = t.compute == Dtype::fp8 || t.compute == Dtype::fp4;
    return {t.compute == Dtype::fp16 || (small && t.parameters == Dtype::fp16),
            t.compute == Dtype::fp32 || t.compute == Dtype::tf32,
            t.parameters == Dtype::fp8 && t.compute == Dtype::fp8 && plan.layout.zero > 0};
}

// Puts a recipe that Megatron-Bridge registers (training/mixed_precision.py). It is set up over the settings
// of model, optimizer and gradients, so what differs from it is said of itself.
void put_recipe(ExportDraft& draft, const Precision& precision) {
    const Training& t = draft.plan.training;
    const bool wide = t.gradients == Dtype::fp32;
    if (precision.full) {
        draft.put("/training/compute",
                  Verbatim{std::string("MixedPrecisionConfig(fp32=True, params_dtype=torch.float32, "
                                       "pipeline_dtype=torch.float32, grad_reduce_in_fp32=")
                           + (wide ? "True)" : "False)")});
        return;
    }
    std::string name = precision.half ? "fp16" : "bf16";
    bool gathers = false;
    if (t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::blockwise) {
        name += "_with_fp8_subchannel_scaling";
    } else if (t.compute == Dtype::fp8) {
        name += t.fp8_recipe == Fp8Recipe::mxfp8 ? "_with_mxfp8" : "_with_fp8_current_scaling";
        gathers = true;
    } else if (t.compute == Dtype::fp4 && precision.half) {
        draft.lose("/training/compute", "compute fp4 over fp16: Megatron-Bridge registers it over bf16 only");
    } else if (t.compute == Dtype::fp4) {
        name += "_with_nvfp4";
    }
    name += "_mixed";
    const bool same_gradients = wide != precision.half, same_gather = gathers == precision.fp8_parameters;
    if (same_gradients && same_gather) return draft.put("/training/compute", name);
    draft.put("/training/compute", Verbatim{"get_mixed_precision_config(\"" + name + "\")"});
    if (!same_gradients) draft.say("mixed_precision.grad_reduce_in_fp32", wide);
    if (!same_gather) draft.say("mixed_precision.fp8_param_gather", precision.fp8_parameters);
    if (!same_gather && t.fp8_recipe == Fp8Recipe::mxfp8)  // it is refused where nothing is gathered
        draft.say("mixed_precision.reuse_grad_buf_for_mxfp8_param_ag", precision.fp8_parameters);
}

void put_flags(ExportDraft& draft, const Precision& precision) {
    const Training& t = draft.plan.training;
    if (!precision.full) draft.say(precision.half ? "--fp16" : "--bf16", true);
    if (t.compute == Dtype::fp8) draft.say("--fp8-format", std::string("hybrid"));
    if (t.compute == Dtype::fp8 && t.fp8_recipe != Fp8Recipe::tensorwise
        && t.fp8_recipe != Fp8Recipe::rowwise)
        draft.put("/training/fp8_recipe", std::string(pentamesh::name_of(t.fp8_recipe)));
    if (t.compute == Dtype::fp4) draft.say("--fp4-format", std::string("e2m1"));
    if (precision.fp8_parameters) draft.say("--fp8-param-gather", true);
}

// optimizer/optimizer_config.py: the optimizer that takes states in other types than fp32 asks for the
// distributed one.
bool is_precision_aware(const Plan& plan) {
    return plan.layout.zero > 0 && plan.training.optimizer_state != Dtype::fp32;
}

// training/arguments.py: with main gradients in bf16 they are accumulated in it; without the optimizer that
// takes them so, they are reduced in bf16.
void say_bf16_gradients(ExportDraft& draft) {
    if (is_precision_aware(draft.plan))
        draft.say("--main-grads-dtype", std::string("bf16"));
    else
        draft.put("/training/gradients", true);
}

void put_precision(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    const bool bridge = draft.is("bridge");
    const Precision precision = precision_of(draft.plan);
    const Dtype base = precision.base();
    if (bridge)
        put_recipe(draft, precision);
    else
        put_flags(draft, precision);
    if (t.compute == Dtype::fp8 && t.fp8_recipe == Fp8Recipe::rowwise)
        draft.lose("/training/fp8_recipe", "fp8_recipe rowwise: Megatron scales tensors or blocks");
    if (t.compute == Dtype::tf32) draft.note("tf32: a switch of PyTorch, fp32 here");
    if (t.parameters != base && !precision.fp8_parameters)
        draft.note("parameters ", t.parameters, ": Megatron keeps them in ", base);
    if (bridge)
        draft.put("/training/gradients", t.gradients == Dtype::fp32);
    else if (t.gradients == Dtype::bf16 && base == Dtype::bf16)
        say_bf16_gradients(draft);
    else if (t.gradients == Dtype::fp32 && base == Dtype::fp16)
        draft.say("--accumulate-allreduce-grads-in-fp32", true);
    else if (t.gradients != Dtype::fp32 && t.gradients != base)
        draft.note("gradients ", t.gradients, ": not so in Megatron");
}

// transformer/transformer_config.py: graphs of layers are TransformerEngine's, in the scopes that the plan
// means.
void put_graphs(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    if (t.cuda_graphs == CudaGraphs::iteration) {
        draft.put("/training/cuda_graphs", std::string("local"));
        draft.say_as("model", "cuda_graph_scope", std::string("full_iteration"));
        // A graph of the whole step is refused with a check of each loss: training/arguments.py,
        // validate_args; Bridge's training/config.py.
        if (draft.is("bridge"))
            draft.say("rerun_state_machine.check_for_nan_in_loss", false);
        else
            draft.say("--no-check-for-nan-in-loss-and-grad", true);
    } else if (t.cuda_graphs == CudaGraphs::layers) {
        draft.put("/training/cuda_graphs", std::string("transformer_engine"));
    }
    if (t.fused_experts) draft.put("/training/fused_experts", true);
}

void put_optimizer(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    if (t.optimizer == Optimizer::sgd_momentum) draft.put("/training/optimizer", std::string("sgd"));
    if (t.optimizer == Optimizer::muon) draft.put("/training/optimizer", std::string("muon"));
    if (t.optimizer == Optimizer::adamw_8bit)
        draft.note("optimizer adamw-8bit: optimizer_state fp8 is as near as Megatron comes");
    if (t.optimizer_state != Dtype::fp32) {
        if (is_precision_aware(draft.plan)) {
            const std::string word(pentamesh::name_of(t.optimizer_state));
            const bool bridge = draft.is("bridge");
            const auto value = [&]() -> Value {
                if (!bridge) return word;
                return Verbatim{word == "bf16"   ? "torch.bfloat16"
                                : word == "fp16" ? "torch.float16"
                                                 : "torch.uint8"};
            };
            draft.say_as("optimizer", "use_precision_aware_optimizer", true);
            draft.put("/training/optimizer_state", value());
            draft.say_as("optimizer", "exp_avg_sq_dtype", value());
            draft.say_as("optimizer", "main_params_dtype",
                         bridge ? Value(Verbatim{"torch.float32"}) : Value(std::string("fp32")));
        } else {
            draft.note("optimizer_state: Megatron keeps it in fp32 without the distributed optimizer");
        }
    }
    // Parameters in fp32 are their own.
    if (t.master_weights != MasterWeights::fp32 && bytes_of(t.parameters) < bytes_of(Dtype::fp32))
        draft.note("master_weights ", t.master_weights, ": Megatron's are fp32 or fp16, and none cannot be");
}

void put_recompute(ExportDraft& draft) {
    const RecomputeChoice& r = draft.plan.training.recompute;
    if (!r.any()) return;
    if (r.whole_layers()) {
        draft.put("/training/recompute", std::string("full"));
        draft.say_as("model", "recompute_method",
                     std::string(pentamesh::name_of(r.some_layers() ? RecomputeMethod::block
                                                                    : RecomputeMethod::uniform)));
        draft.say_as("model", "recompute_num_layers", r.some_layers() ? r.layers : r.unit());
        return;
    }
    draft.put("/training/recompute", std::string("selective"));
    if (r.modules == RecomputeModules(RecomputeModule::core_attn)) return;
    std::vector<std::string> words;
    for (const RecomputeModule m : all_of<RecomputeModule>())
        if (r.modules.has(m)) words.emplace_back(pentamesh::name_of(m));
    draft.say_as("model", "recompute_modules", words);
}

void put_overlap(ExportDraft& draft) {
    const Plan& p = draft.plan;
    const Overlap& o = p.training.overlap;
    const bool bridge = draft.is("bridge");
    if (o.dp || bridge) draft.put("/training/overlap/dp", o.dp);
    if (p.layout.zero > 0 && (o.dp || bridge)) draft.say_as("ddp", "overlap_param_gather", o.dp);
    if (o.tp && p.layout.tp > 1) draft.put("/training/overlap/tp", true);
    if (o.ep && p.model.moe && p.layout.ep > 1) draft.put("/training/overlap/ep", true);
    if (!o.pp && p.layout.pp > 1 && p.layout.virtual_stages > 1) draft.put("/training/overlap/pp", !bridge);
}

}  // namespace

void fill_megatron_training(ExportDraft& draft) {
    const Training& t = draft.plan.training;
    draft.put("/training/sequence_length", t.sequence_length);
    if (draft.is("bridge")) draft.say("dataset.seq_length", t.sequence_length);
    draft.put("/training/micro_batch", t.micro_batch);
    draft.put("/training/global_batch", t.global_batch);
    put_precision(draft);
    put_graphs(draft);
    put_optimizer(draft);
    put_recompute(draft);
    put_overlap(draft);
    for (const char* key : {"attention_dropout", "hidden_dropout"})
        draft.say_as("model", key, t.dropout ? 0.1 : 0.0);
    if (t.attention == AttentionImpl::math)
        draft.say_as("model", "attention_backend",
                     draft.is("bridge") ? Value(Verbatim{"AttnBackend.unfused"})
                                        : Value(std::string("unfused")));
    const Offload& o = t.offload;
    if (o.activations_layers > 0) {
        // Megatron-LM has no such flag: its number of layers switches it on (training/arguments.py).
        if (draft.is("bridge")) draft.say("model.cpu_offloading", true);
        draft.put("/training/offload/activations_layers", o.activations_layers);
    }
    if (o.optimizer > 0) {
        // training/arguments.py: the optimizer on the CPU goes only with the precision-aware one.
        if (!is_precision_aware(draft.plan)) draft.say_as("optimizer", "use_precision_aware_optimizer", true);
        draft.put("/training/offload/optimizer", true);
        draft.say_as("optimizer", "optimizer_offload_fraction", o.optimizer);
    }
    if (o.parameters > 0) draft.lose("/training/offload/parameters", "Megatron offloads no parameters");
}

}  // namespace pentamesh::interop
