// Writes DeepSpeed's JSON: deepspeed/runtime/config.py, runtime/zero/config.py.
#include "core/interop/export_page.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

namespace pentamesh::interop {
namespace {

void deepspeed_layout(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    if (l.tp > 1) page.put("/layout/tp", l.tp);
    if (l.cp > 1) page.put("/layout/cp", l.cp);
    if (l.pp > 1)
        page.lose("/layout/pp", "pp ", l.pp,
                  ": a pipeline is built in the model's code (PipelineModule), no setting says it");
    if (p.model.moe && l.ep > 1) {
        page.say("expert_parallel.enabled", true);
        page.put("/layout/ep", l.ep);
    }
    lose_lacks(page, Software::deepspeed);
    lose_finer_choices(page);
}

void deepspeed_zero(Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const Training& t = p.training;
    page.put("/layout/zero", std::int64_t{l.zero});
    if (l.zero > 0 && replicas(p) > 1) page.put("/layout/dp_shard", l.dp_shard);
    if (l.zero > 0) page.put("/training/overlap/dp", t.overlap.dp);
    lose_reduction(page, usual_reduction(p, Software::deepspeed));
    const auto away = [&](const char* pointer, const char* name, double share, bool allowed) {
        if (share <= 0) return;
        if (!allowed) return page.lose(pointer, name, ": not at ZeRO-", l.zero);
        page.say("zero_optimization." + std::string(name) + ".device", std::string("cpu"));
        if (share < 1) page.say("zero_optimization." + std::string(name) + ".ratio", share);
    };
    away("/training/offload/optimizer", "offload_optimizer", t.offload.optimizer, l.zero >= 1);
    away("/training/offload/parameters", "offload_param", t.offload.parameters, l.zero == 3);
    if (t.offload.activations_layers > 0)
        page.lose("/training/offload/activations_layers",
                  "offload of activations: the model's code asks for it");
}

void deepspeed_batch(Page& page) {
    const Plan& p = page.plan;
    page.put("/training/micro_batch", p.training.micro_batch);
    page.say("gradient_accumulation_steps", microbatches_of(p));
    // With AutoTP DeepSpeed counts the ranks of tp into the world that this figure is divided by.
    if (p.layout.tp == 1) page.put("/training/global_batch", p.training.global_batch);
}

void deepspeed_types(Page& page) {
    const Training& t = page.plan.training;
    if (t.compute == Dtype::fp16)
        page.say("fp16.enabled", true);
    else
        page.put("/training/compute", t.compute != Dtype::fp32 && t.compute != Dtype::tf32);
    if (t.compute == Dtype::fp8 || t.compute == Dtype::fp4)
        page.lose("/training/compute", "compute ", t.compute, ": DeepSpeed's JSON has bf16 and fp16");
    const std::string word(pentamesh::name_of(t.gradients));
    if (t.gradients != Dtype::fp8) page.put("/training/gradients", word);
    const bool sgd = t.optimizer == Optimizer::sgd_momentum, muon = t.optimizer == Optimizer::muon;
    if (sgd || muon) page.put("/training/optimizer", std::string(sgd ? "SGD" : "Muon"));
    if (t.optimizer == Optimizer::adamw_8bit)
        page.note("optimizer adamw-8bit: pass it to deepspeed.initialize from your code");
}

}  // namespace

void export_deepspeed(Page& page) {
    deepspeed_batch(page);
    deepspeed_types(page);
    deepspeed_zero(page);
    deepspeed_layout(page);
    note_training(page, false);
    page.note("model and sequence length: your program's");
    page.note("GPUs: the launcher starts them");
    if (page.plan.training.recompute.any())
        page.note("recompute: the model's code asks for it (activation_checkpointing of the JSON switches "
                  "nothing on)");
    page.out.text = json_text(page.said, head_lines(page));
}

}  // namespace pentamesh::interop
