// Writes nanotron's YAML (nanotron/config/config.py) and picotron's JSON (picotron/train.py).
#include "core/interop/export_page.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

namespace pentamesh::interop {
namespace {

using enum Axis;
constexpr std::array kPicotron{tp, cp, ep, pp, dp_shard, dp_replicate};

std::string torch_name(Dtype t) {
    return t == Dtype::fp16 ? "float16" : t == Dtype::fp32 || t == Dtype::tf32 ? "float32" : "bfloat16";
}

// Returns why the model is not of Llama's kind; empty where it is.
std::string unlike_llama(const Model& m, bool qwen_bias, bool experts) {
    if (!m.pattern.empty() || m.linear || m.mamba) return "layers of several kinds";
    if (m.attention == AttentionKind::mla) return "multi-head latent attention (mla)";
    if (m.norm != NormKind::rmsnorm) return "its norm";
    if (m.ffn_kind != FfnKind::swiglu) return "its MLP (" + std::string(pentamesh::name_of(m.ffn_kind)) + ")";
    if (m.positions != Positions::rope) return "learned positions";
    if (m.attention_bias || m.mlp_bias || (m.qkv_bias && !qwen_bias)) return "biases";
    if (m.qk_norm != QkNorm::none || m.post_norms || m.shared_norm) return "its norms";
    if (m.attention_sinks || m.attention_gate != AttentionGate::none || m.sliding_window > 0)
        return "its attention";
    if (m.head_bias || m.mtp_layers > 0) return "its head";
    if (m.head_dim * m.heads != m.hidden) return "heads that do not make up the hidden size";
    if (m.value_head_dim > 0 && m.value_head_dim != m.head_dim) return "the dimension of its values";
    if (!m.moe) return "";
    const Moe& e = *m.moe;
    if (!experts) return "experts";
    if (e.first_dense_layers > 0 || e.every > 1 || e.router_bias || e.beside_mlp || e.latent > 0
        || e.shared_expert_gate || e.shared_experts > 1)
        return "its experts";
    return "";
}

std::string engine_of(Schedule schedule) {
    const std::string_view name = traits_of(schedule).nanotron;
    return std::string(name.empty() ? traits_of(usual_schedule(1)).nanotron : name);
}

void lose_common(Page& page, const std::string& name) {
    const Plan& p = page.plan;
    const Dtype c = p.training.compute;
    if (c == Dtype::fp8 || c == Dtype::fp4) page.lose("/training/compute", "compute ", c, ": not in ", name);
    if (p.training.offload.any()) page.lose("/training/offload", "offload: not in ", name);
    lose_finer_choices(page);
}

void nanotron_model(Page& page) {
    const Model& m = page.plan.model;
    if (const std::string why = unlike_llama(m, true, true); !why.empty())
        page.lose("/model", "model: nanotron has no field for ", why);
    // The attentions over cp, biases and experts are those of its Qwen 2.
    const bool qwen = m.qkv_bias || m.moe || page.plan.layout.cp > 1;
    const std::string config = "model.model_config.";
    page.say(config + (qwen ? "is_qwen2_config" : "is_llama_config"), true);
    page.say(config + "hidden_act", std::string("silu"));
    page.put("/model/layers", m.layers);
    page.put("/model/hidden", m.hidden);
    page.put("/model/heads", m.heads);
    page.put("/model/kv_heads", m.kv_heads);
    page.put("/model/ffn", m.ffn > 0 ? m.ffn : m.moe ? m.moe->expert_ffn : 1);
    page.put("/model/vocab", m.vocab);
    page.put("/model/tied_embeddings", m.tied_embeddings);
    if (qwen) page.put("/model/qkv_bias", m.qkv_bias);
    page.say(config + "max_position_embeddings", page.plan.training.sequence_length);
    if (page.plan.layout.cp > 1)
        page.put("/layout/cp_comm",
                 std::string(page.plan.layout.cp_comm == CpComm::allgather ? "llama3_ring_attention"
                                                                           : "ring_flash_triton"));
    if (!m.moe) return;
    page.put("/model/moe/experts", m.moe->experts);
    page.put("/model/moe/top_k", m.moe->top_k);
    page.put("/model/moe/expert_ffn", m.moe->expert_ffn);
    page.say(config + "moe_config.enable_shared_expert", m.moe->shared_experts > 0);
    if (m.moe->shared_experts > 0) page.put("/model/moe/shared_expert_ffn", m.moe->shared_expert_ffn);
}

void nanotron_losses(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    lose_common(page, "nanotron");
    lose_lacks(page, Software::nanotron);
    if (zero_in_force(p) > 0 && l.cp > 1 && l.dp_shard == 1)
        page.note("zero 1 over cp alone: nanotron shards over dp");
}

void picotron_losses(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    if (p.model.moe && l.ep > 1) page.lose("/layout/ep", "ep ", l.ep, ": picotron builds no groups for it");
    if (p.model.moe && l.ep == 1 && l.etp.value_or(l.tp) != l.tp)
        page.lose("/layout/etp", "etp: picotron cuts experts by tp");
    if (l.pp > 1 && traits_of(l.schedule).nanotron.empty()) lose_schedule(page, "picotron");
    if (l.cp > 1 && l.cp_comm != CpComm::ring)
        page.lose("/layout/cp_comm", "cp by ", l.cp_comm, ": picotron passes keys on in a ring");
    if (p.training.recompute.any())
        page.lose("/training/recompute", "recompute ", words_of(p.training.recompute),
                  ": picotron recomputes nothing");
}

}  // namespace

void export_nanotron(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    nanotron_losses(page);
    page.say("general.project", std::string("pentamesh"));
    page.say("general.run", p.name);
    page.say("general.seed", std::int64_t{42});
    page.put("/layout/dp_shard", data_ranks(p));
    page.put("/layout/pp", l.pp);
    page.put("/layout/tp", l.tp);
    page.put("/layout/cp", l.cp);
    page.put("/layout/ep", std::int64_t{1});
    page.put("/layout/schedule", engine_of(l.schedule));
    const bool sequence = l.tp > 1 && l.sequence_parallel;
    page.put("/layout/sequence_parallel", std::string(sequence ? "REDUCE_SCATTER" : "ALL_REDUCE"));
    page.put("/training/overlap/tp", t.overlap.tp && sequence);
    page.put("/training/recompute", t.recompute.whole_layers());
    page.put("/training/sequence_length", t.sequence_length);
    page.put("/training/micro_batch", t.micro_batch);
    page.put("/training/global_batch", microbatches_of(p));
    page.say("tokens.train_steps", std::int64_t{100});
    page.say("tokens.val_check_interval", std::int64_t{-1});
    page.put("/training/compute", torch_name(t.compute));
    page.say("model.make_vocab_size_divisible_by", vocab_multiple_of(p));
    page.say("model.ddp_bucket_cap_mb", std::int64_t{25});
    page.say("model.init_method.std", 0.02);
    nanotron_model(page);
    page.put("/layout/zero", std::int64_t{l.zero > 0 ? 1 : 0});
    page.put("/training/gradients", t.gradients == Dtype::fp32);
    page.say("optimizer.clip_grad", 1.0);
    page.say("optimizer.weight_decay", 0.1);
    page.say("optimizer.learning_rate_scheduler.learning_rate", 0.0003);
    page.say("optimizer.learning_rate_scheduler.lr_warmup_steps", std::int64_t{10});
    page.say("optimizer.optimizer_factory.name",
             std::string(t.optimizer == Optimizer::sgd_momentum ? "sgd" : "adamW"));
    // Without these fields the first kind of the union is taken, SGD (src/nanotron/config/config.py).
    if (t.optimizer != Optimizer::sgd_momentum) {
        page.say("optimizer.optimizer_factory.adam_eps", 1e-8);
        page.say("optimizer.optimizer_factory.adam_beta1", 0.9);
        page.say("optimizer.optimizer_factory.adam_beta2", 0.95);
        page.say("optimizer.optimizer_factory.torch_adam_is_fused", true);
    }
    page.say("tokenizer.tokenizer_name_or_path", hub_name(page));
    page.say("checkpoints.checkpoints_path", std::string("checkpoints"));
    page.say("checkpoints.checkpoint_interval", std::int64_t{1000});
    page.note("data, learning rate, steps: yours to set");
    note_training(page, t.gradients != Dtype::fp32 || t.optimizer != Optimizer::adamw);
    page.out.text = as_comment(head_lines(page)) + yaml_text(page.said)
                    + "data_stages:\n  - name: all\n    start_training_step: 1\n    data:\n      dataset: "
                      "null\n      seed: 42\n"
                      "      num_loading_workers: 1\n";
}

void export_picotron(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    lose_common(page, "picotron");
    picotron_losses(page);
    lose_order(page, kPicotron, "picotron lays ranks as tp-cp-pp-dp");
    if (zero_in_force(p) > 0) page.lose("/layout/zero", "zero ", l.zero, ": picotron shards nothing (DDP)");
    if (l.tp > 1 && l.sequence_parallel)
        page.lose("/layout/sequence_parallel", "sequence_parallel: picotron has none beside tp");
    if (const std::string why = unlike_llama(p.model, false, false); !why.empty())
        page.lose("/model", "model: picotron trains Llama alone, and this one has ", why);
    const std::vector<std::int64_t> layers = chunk_layers(p);
    for (std::size_t i = 0; l.pp > 1 && i < layers.size(); ++i)  // distribute_layers: what is left goes first
        if (layers[i]
                != p.model.layers / l.pp + (static_cast<std::int64_t>(i) < p.model.layers % l.pp ? 1 : 0)
            && l.virtual_stages == 1) {
            page.lose("/layout/stage_layers",
                      "stage_layers: picotron gives the first stages what is left over");
            break;
        }
    page.put("/layout/tp", l.tp);
    page.put("/layout/cp", l.cp);
    page.put("/layout/pp", l.pp);
    page.put("/layout/dp_replicate", data_ranks(p));
    page.put("/layout/schedule", engine_of(l.schedule));
    page.say("distributed.backend", std::string("nccl"));
    page.say("distributed.use_cpu", false);
    page.say("model.name", hub_name(page));
    page.put("/model/layers", p.model.layers);
    page.put("/model/heads", p.model.heads);
    page.put("/model/kv_heads", p.model.kv_heads);
    page.put("/training/compute", torch_name(t.compute));
    page.say("model.use_fused_adam", t.optimizer == Optimizer::adamw);
    page.put("/training/sequence_length", t.sequence_length);
    page.put("/training/micro_batch", t.micro_batch);
    page.put("/training/global_batch", microbatches_of(p));
    page.say("training.learning_rate", 0.0003);
    page.say("training.total_train_steps", std::int64_t{100});
    page.say("training.max_tokens", static_cast<std::int64_t>(100 * tokens_per_step(t)));
    page.say("training.seed", std::int64_t{42});
    page.say("checkpoint.save_dir", std::string("checkpoints"));
    page.say("checkpoint.save_frequency", std::int64_t{1000});
    page.say("checkpoint.load_path", std::string());
    page.say("logging.use_wandb", false);
    page.say("dataset.name", std::string("roneneldan/TinyStories"));
    page.say("dataset.num_workers", std::int64_t{0});
    page.say("dataset.num_proc", std::int64_t{4});
    // train.py reads these three before anything else, as texts.
    page.say("environment.OMP_NUM_THREADS", std::string("1"));
    page.say("environment.TOKENIZERS_PARALLELISM", std::string("false"));
    page.say("environment.FLASH_ATTEN", std::string(t.attention == AttentionImpl::flash ? "1" : "0"));
    page.note("data, learning rate, steps: yours to set");
    note_training(page, true);
    page.out.text = json_text(page.said, head_lines(page));
}

}  // namespace pentamesh::interop
