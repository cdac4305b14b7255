// Writes Hugging Face accelerate's YAML: accelerate/commands/config, parallelism_config.py,
// utils/dataclasses.py.
#include "core/interop/export_page.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

namespace pentamesh::interop {
namespace {

using enum Axis;
constexpr std::array kAccelerate{tp, cp, ep, dp_shard, dp_replicate, pp};

enum class Engine : std::uint8_t { none, ddp, fsdp, deepspeed };

// Returns the engine: tp and a gathered or passed-on cp need FSDP 2, Ulysses and the lower ZeRO stages need
// DeepSpeed.
Engine engine_of(const Plan& p) {
    const Layout& l = p.layout;
    const bool ulysses = l.cp > 1 && (l.cp_comm == CpComm::ulysses || l.cp_comm == CpComm::ulysses_ring);
    if (p.cluster.gpus == 1) return Engine::none;
    if (ulysses) return Engine::deepspeed;
    const int zero = zero_in_force(p);
    if (zero == 3) return Engine::fsdp;
    if (zero > 0) return l.tp == 1 && l.cp == 1 ? Engine::deepspeed : Engine::fsdp;
    return l.cp > 1 || (l.tp > 1 && data_ranks(p) > 1) ? Engine::fsdp : Engine::ddp;
}

void accelerate_losses(Page& page, Engine engine) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const int zero = zero_in_force(p);
    if (l.pp > 1) page.lose("/layout/pp", "pp ", l.pp, ": accelerate trains without a pipeline");
    if (p.model.moe && l.ep > 1) page.lose("/layout/ep", "ep ", l.ep, ": accelerate has no expert axis");
    if (p.model.moe && l.ep == 1 && l.etp.value_or(l.tp) != l.tp)
        page.lose("/layout/etp", "etp: experts are cut as the rest, by tp");
    if (l.tp > 1 && l.sequence_parallel)
        page.lose("/layout/sequence_parallel", "sequence_parallel: accelerate has none beside tp");
    if (engine == Engine::fsdp && zero != 3)
        page.lose("/layout/zero", "zero ", l.zero,
                  ": with tp or cp accelerate shards by FSDP 2, which is zero 3");
    if (engine == Engine::deepspeed && l.zero > 0 && replicas(p) > 1)
        page.lose("/layout/dp_replicate", "dp_replicate ", replicas(p),
                  ": DeepSpeed under accelerate shards over all ranks");
    // Under FSDP accumulate() sums whole gradients unless the program asks for sync_each_batch.
    if (engine == Engine::deepspeed || engine == Engine::fsdp)
        lose_reduction(page, engine == Engine::fsdp ? GradientReduction::step
                                                    : usual_reduction(p, Software::deepspeed));
    if (engine == Engine::deepspeed && l.zero == 3 && reshard_of(p) == Reshard::never)
        page.lose("/layout/reshard", "reshard never: ZeRO-3 gives gathered weights up");
    if (engine == Engine::deepspeed && l.tp > 1)
        page.lose("/layout/tp", "tp ", l.tp, " with ulysses: accelerate does not join them");
    if (l.cp > 1 && l.cp_comm == CpComm::ulysses_ring)
        page.lose("/layout/cp_comm", "cp by ulysses+ring: accelerate has one level");
    // parallelism_config.py, __post_init__.
    if (engine == Engine::fsdp && (l.tp > 1 || l.cp > 1) && l.dp_shard == 1 && replicas(p) > 1)
        page.refuse("accelerate refuses tp or cp with replicas alone: dp_replicate ", replicas(p),
                    " wants a dp_shard above 1");
    lose_order(page, kAccelerate, "accelerate lays ranks as tp-cp-dp_shard-dp_replicate");
    lose_finer_choices(page);
}

void accelerate_axes(Page& page, Engine engine) {
    const Layout& l = page.plan.layout;
    const bool ulysses = engine == Engine::deepspeed && l.cp > 1;
    const bool axes = l.tp > 1 || l.cp > 1;
    if (!axes && engine != Engine::fsdp) return;
    const bool merged = l.zero == 0;
    page.put("/layout/dp_replicate", merged ? data_ranks(page.plan) : replicas(page.plan));
    page.put("/layout/dp_shard", merged ? std::int64_t{1} : l.dp_shard);
    page.put("/layout/tp", l.tp);
    if (ulysses) {
        page.say("parallelism_config.parallelism_config_sp_size", l.cp);
        page.say("parallelism_config.parallelism_config_sp_backend", std::string("deepspeed"));
        return;
    }
    page.put("/layout/cp", l.cp);
    if (l.cp == 1) return;
    page.say("parallelism_config.parallelism_config_cp_backend", std::string("torch"));
    page.put("/layout/cp_comm", std::string(l.cp_comm == CpComm::ring ? "alltoall" : "allgather"));
}

void accelerate_fsdp(Page& page) {
    const Plan& p = page.plan;
    const Training& t = p.training;
    page.say("fsdp_config.fsdp_version", std::int64_t{2});
    page.say("fsdp_config.fsdp_auto_wrap_policy", std::string("TRANSFORMER_BASED_WRAP"));
    page.put("/layout/reshard", reshard_of(p) == Reshard::after_forward);
    page.put("/training/recompute", t.recompute.whole_layers());
    if (t.recompute.any() && t.recompute != RecomputeChoice(Recompute::full))
        page.lose("/training/recompute", "recompute ", words_of(t.recompute),
                  ": FSDP here recomputes all layers or none");
    const bool away = t.offload.parameters == 1 && t.offload.optimizer == 1;
    page.say("fsdp_config.fsdp_offload_params", away);
    if (t.offload.any() && !away)
        page.lose("/training/offload", "offload: FSDP moves parameters and optimizer whole, or nothing");
    page.say("fsdp_config.fsdp_state_dict_type", std::string("SHARDED_STATE_DICT"));
}

void accelerate_deepspeed(Page& page) {
    const Layout& l = page.plan.layout;
    const Training& t = page.plan.training;
    page.put("/layout/zero", std::int64_t{l.zero});
    page.say("deepspeed_config.gradient_accumulation_steps", microbatches_of(page.plan));
    page.say("deepspeed_config.zero3_init_flag", l.zero == 3);
    const auto device = [&](const char* pointer, double share, bool allowed) {
        page.put(pointer, std::string(share == 1 && allowed ? "cpu" : "none"));
        if (share > 0 && (share < 1 || !allowed))
            page.lose(pointer, "offload: whole at the ZeRO stage that allows it, or nothing");
    };
    device("/training/offload/optimizer", t.offload.optimizer, l.zero >= 1);
    device("/training/offload/parameters", t.offload.parameters, l.zero == 3);
    if (t.recompute.any()) page.note("recompute: the model's code asks for it");
}

}  // namespace

void export_accelerate(Page& page) {
    const Plan& p = page.plan;
    const Engine engine = engine_of(p);
    accelerate_losses(page, engine);
    page.say("compute_environment", std::string("LOCAL_MACHINE"));
    static constexpr std::string_view names[] = {"NO", "MULTI_GPU", "FSDP", "DEEPSPEED"};
    page.say("distributed_type", std::string(names[static_cast<std::size_t>(engine)]));
    page.say("num_machines", p.cluster.gpus / gpus_per_host(p));
    page.put("/cluster/gpus", p.cluster.gpus);
    const Dtype compute = p.training.compute;
    if (compute == Dtype::fp4)
        page.lose("/training/compute", "compute fp4: accelerate has fp8, bf16, fp16 and no");
    const bool full = compute == Dtype::fp32 || compute == Dtype::tf32;
    page.put("/training/compute",
             full ? std::string("no")
                  : std::string(pentamesh::name_of(compute == Dtype::fp4 ? Dtype::fp8 : compute)));
    if (engine == Engine::fsdp) accelerate_fsdp(page);
    if (engine == Engine::deepspeed) accelerate_deepspeed(page);
    const bool plain = engine == Engine::ddp || engine == Engine::none;
    if (plain && p.training.recompute.any()) page.note("recompute: the model's code asks for it");
    if (plain && p.training.offload.any())
        page.lose("/training/offload", "offload: only with FSDP or DeepSpeed");
    accelerate_axes(page, engine);
    page.note("model, sequence length and micro-batch: your program's");
    if (microbatches_of(p) > 1 && engine != Engine::deepspeed)
        page.note("gradient accumulation over ", microbatches_of(p), " micro-batches: your program's");
    note_training(page, true);
    page.out.text = as_comment(head_lines(page)) + yaml_text(page.said);
}

}  // namespace pentamesh::interop
