// Writes Megatron-LM's launch script and Megatron-Bridge's recipe: the same fields under two spellings. Names
// and conditions are from Megatron-LM megatron/training/arguments.py,
// megatron/core/transformer/transformer_config.py.
#include "core/interop/export_page.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
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

void put_degrees(Page& page) {
    const Layout& l = page.plan.layout;
    page.put("/layout/tp", l.tp);
    if (l.tp > 1 || page.target == Target::bridge)
        page.put("/layout/sequence_parallel", l.tp > 1 && l.sequence_parallel);
    if (l.weight_shards.value_or(1) > 1) page.put("/layout/weight_shards", *l.weight_shards * l.tp);
    page.put("/layout/pp", l.pp);
    page.put("/layout/cp", l.cp);
    if (l.cp > 1) {
        const char* kind = l.cp_comm == CpComm::ring        ? "p2p"
                           : l.cp_comm == CpComm::allgather ? "all_gather"
                           : l.cp_comm == CpComm::ulysses   ? "a2a"
                                                            : "a2a+p2p";
        page.put("/layout/cp_comm", std::string(kind));
        if (l.cp_comm == CpComm::ulysses_ring && l.cp_inner)
            page.put("/layout/cp_inner", std::vector<std::int64_t>{*l.cp_inner, l.cp / *l.cp_inner});
    }
    const auto order = order_in(page.plan, orders_of(Software::megatron));
    if (order && (*order == 1 || page.target == Target::bridge)) page.put("/layout/order", *order == 1);
}

void put_expert_degrees(Page& page) {
    const Layout& l = page.plan.layout;
    if (!page.plan.model.moe) return;
    page.put("/layout/ep", l.ep);
    page.put("/layout/etp", l.etp.value_or(l.tp));
    const bool flex = l.ep_comm == EpComm::deepep || l.ep_comm == EpComm::hybridep;
    const std::string kernel(pentamesh::name_of(l.ep_comm));
    page.put("/layout/ep_comm", flex ? std::string("flex") : kernel);
    if (flex) page.say_as("model", "moe_flex_dispatcher_backend", kernel);
    page.say_as("model", "moe_grouped_gemm", true);
}

void put_stages(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const bool bridge = page.target == Target::bridge;
    if (l.pp == 1) return;
    const std::vector<std::int64_t> layers = chunk_layers(p);
    const bool moved = p.model.mtp_layers > 0 && l.mtp_chunk && *l.mtp_chunk + 1 < l.pp * l.virtual_stages;
    const bool listed = !is_even(layers) || moved;
    if (static_cast<std::int64_t>(layers.size()) != l.pp * l.virtual_stages) return;  // another schedule's
    if (listed) page.put("/layout/stage_layers", pipeline_layout(p, layers));
    if (l.virtual_stages > 1 && (!listed || bridge)) page.put("/layout/virtual_stages", l.virtual_stages);
    if (l.virtual_stages > 1 && l.microbatch_group) page.put("/layout/microbatch_group", *l.microbatch_group);
    const Dtype compute = p.training.compute;
    const bool full = compute == Dtype::fp32 || compute == Dtype::tf32;
    const bool half = compute == Dtype::fp16 || (!full && p.training.parameters == Dtype::fp16);
    if (bridge)
        page.say("model.pipeline_dtype", Bare{full   ? "torch.float32"
                                              : half ? "torch.float16"
                                                     : "torch.bfloat16"});
}

void put_sharding(Page& page) {
    const Layout& l = page.plan.layout;
    const bool bridge = page.target == Target::bridge;
    if (l.zero > 0 || bridge) page.put("/layout/zero", l.zero > 0);
    if (bridge) page.say("optimizer.use_distributed_optimizer", l.zero > 0);
    if (l.zero >= 2) {
        page.say_as("ddp", "use_megatron_fsdp", true);
        page.say_as("ddp", "data_parallel_sharding_strategy",
                    std::string(l.zero == 2 ? "optim_grads" : "optim_grads_params"));
        page.say_as("checkpoint", "ckpt_format", std::string("fsdp_dtensor"));
    }
    if (l.zero > 0 && replicas(page.plan) > 1) page.put("/layout/dp_replicate", replicas(page.plan));
    lose_reduction(page, usual_reduction(page.plan, Software::megatron));
}

// These write the parts of Megatron's settings, by question.
void fill_megatron(Page& page) {
    fill_megatron_model(page);
    put_degrees(page);
    put_expert_degrees(page);
    put_stages(page);
    put_sharding(page);
    fill_megatron_training(page);
    note_training(page, false);
    const Software software = page.target == Target::bridge ? Software::megatron_bridge : Software::megatron;
    lose_lacks(page, software);
    refuse_by_rules(page, Rule::megatron, software);
}

}  // namespace

void export_megatron(Page& page) {
    fill_megatron(page);
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const std::int64_t host = gpus_per_host(p);
    std::string text = "#!/bin/bash\n" + as_comment(head_lines(page));
    // From arguments.py: sequence parallelism wants 1, FSDP wants more.
    if (l.zero >= 2)
        text += "unset CUDA_DEVICE_MAX_CONNECTIONS\n";
    else if (l.tp > 1 || l.cp > 1)
        text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    text +=
        "\nGPUS_PER_NODE=" + number_text(host) + "\nNUM_NODES=" + number_text(p.cluster.gpus / host) + "\n";
    text += "\nPLAN_ARGS=(\n" + flags_text(page.said) + ")\n";
    text += "\n# Not of the plan: data, learning rate, how long.\nRUN_ARGS=(\n";
    const double tokens = tokens_per_step(p.training);
    const auto steps =
        p.training.tokens_total > 0 ? static_cast<std::int64_t>(p.training.tokens_total / tokens) : 100;
    text += "    --mock-data\n    --lr ${LR:-1e-4}\n    --train-iters ${TRAIN_ITERS:-"
            + number_text(std::max<std::int64_t>(steps, 1)) + "}\n)\n";
    text += "\ntorchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --node_rank ${NODE_RANK:-0} \\\n"
            "    --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-6000} \\\n"
            "    pretrain_gpt.py \"${PLAN_ARGS[@]}\" \"${RUN_ARGS[@]}\"\n";
    page.out.text = std::move(text);
}

namespace {

// Returns true if a value is a call of that function.
bool says_call(const Page& page, std::string_view name) {
    return std::any_of(page.said.begin(), page.said.end(), [&](const Said& s) {
        const Bare* bare = std::get_if<Bare>(&s.value);
        return bare && bare->text.starts_with(name) && bare->text.substr(name.size()).starts_with('(');
    });
}

}  // namespace

void export_bridge(Page& page) {
    page.note("GPUs: the launcher starts them");
    fill_megatron(page);
    std::string text = as_comment(head_lines(page));
    text += "import torch\nimport torch.nn.functional as F\n\n"
            "from megatron.bridge.recipes.common import _pretrain_common\n"
            "from megatron.bridge.training.config import ConfigContainer\n";
    for (const char* name : {"MixedPrecisionConfig", "get_mixed_precision_config"})
        if (says_call(page, name))
            text += "from megatron.bridge.training.mixed_precision import " + std::string(name) + "\n";
    if (page.plan.model.ffn_kind == FfnKind::relu2)
        text += "from megatron.core.activations import squared_relu\n";
    if (page.plan.training.attention == AttentionImpl::math)
        text += "from megatron.core.transformer.enums import AttnBackend\n";
    const bool mla = page.plan.model.attention == AttentionKind::mla;
    const std::string provider = mla ? "MLAModelProvider" : "GPTModelProvider";
    text +=
        "from megatron.bridge.models." + std::string(mla ? "mla_provider" : "gpt_provider") + " import "
        + provider
        + "\n\n\ndef pretrain_config() -> ConfigContainer:\n    cfg = _pretrain_common()\n    cfg.model = "
        + provider + "(\n";
    // A provider must be made with these; the rest is set after it.
    static constexpr std::string_view made_with[] = {"model.num_layers", "model.hidden_size",
                                                     "model.num_attention_heads"};
    const auto is_made_with = [](const Said& s) {
        return std::find(std::begin(made_with), std::end(made_with), s.name) != std::end(made_with);
    };
    for (const Said& s : page.said)
        if (is_made_with(s)) text += "        " + s.name.substr(6) + "=" + python_text(s.value) + ",\n";
    text += "    )\n";
    for (const Said& s : page.said)
        if (!is_made_with(s)) text += "    cfg." + s.name + " = " + python_text(s.value) + "\n";
    text += "    return cfg\n";
    page.out.text = std::move(text);
}

}  // namespace pentamesh::interop
