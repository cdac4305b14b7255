#include "core/explain/plan_line.h"

#include "core/base/text.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

namespace pentamesh {
namespace {

std::string layout_text(const Plan& plan) {
    const Layout& l = plan.layout;
    std::string factors;
    for (const Axis a : l.order)
        if (const std::int64_t f = factor_in_force(plan, a); f > 1)
            factors += sentence(" ", name_of(a), " ", f);
    std::string s = factors.empty() ? "Layout: nothing is parallel" : "Layout, inner to outer:" + factors;
    if (l.ep > 1 && l.etp) s += sentence(" etp ", *l.etp);
    s += sentence("; ZeRO-", l.zero);
    if (l.tp > 1) s += l.sequence_parallel ? ", sequence parallel" : ", no sequence parallel";
    if (l.pp > 1) s += sentence(", ", name_of(l.schedule));
    if (l.pp > 1 && l.virtual_stages > 1) s += sentence(" × ", l.virtual_stages);
    return s;
}

}  // namespace

std::string plan_line(const Plan& plan) {
    const Training& t = plan.training;
    return sentence(layout_text(plan), ". Batch ", t.global_batch, " × ", t.sequence_length,
                    " tokens, micro-batch ", t.micro_batch, ", ", name_of(t.compute), ", gradients ",
                    name_of(t.gradients), ", ", name_of(t.optimizer), ", recompute ", words_of(t.recompute),
                    ".");
}

std::string asked_line(const Plan& plan, std::int64_t microbatches) {
    const Gpu& gpu = plan.cluster.gpu;
    std::string asked = sentence(plan.model.name, " on ", plan.cluster.gpus, " × ",
                                 gpu.name.empty() ? gpu.id : gpu.name, ". ", plan_line(plan));
    if (microbatches <= 0) return asked;
    return asked
           + sentence(" ", microbatches, microbatches == 1 ? " micro-batch" : " micro-batches", " per step.");
}

}  // namespace pentamesh
