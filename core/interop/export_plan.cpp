// The exporters ask a plan these questions; several of them share these losses.
#include "core/base/text.h"
#include "core/interop/export_page.h"
#include "core/interop/flags.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/stages.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/rules/rules.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <stdexcept>

namespace pentamesh::interop {
void Page::put(std::string_view pointer, Value value) {
    const std::string_view name = flag_of(framework_of(target), pointer);
    if (name.empty())
        throw std::logic_error("no spelling of " + std::string(pointer) + " for "
                               + std::string(name_of(target)));
    say(std::string(name), std::move(value));
}

void Page::say_as(const char* section, std::string name, Value value) {
    if (target == Target::bridge) return say(std::string(section) + "." + name, std::move(value));
    std::replace(name.begin(), name.end(), '_', '-');
    say("--" + name, std::move(value));
}

std::string number_text(std::int64_t n) {
    return std::to_string(n);
}

std::int64_t replicas(const Plan& plan) {
    return std::max<std::int64_t>(1, replicas_in_force(plan));
}

std::int64_t data_ranks(const Plan& plan) {
    return plan.layout.dp_shard * replicas(plan);
}

// A domain larger than a machine is a rack of NVLink: its machines have four GPUs.
std::int64_t gpus_per_host(const Plan& plan) {
    constexpr std::int64_t largest_machine = 16, of_a_rack = 4;
    const std::int64_t gpus = plan.cluster.gpus;
    std::int64_t n = plan.cluster.tiers.empty() ? 1 : domain_of(plan.cluster, 0);
    if (n > largest_machine && n < gpus) n = of_a_rack;
    n = std::clamp<std::int64_t>(n, 1, std::min(gpus, largest_machine / 2));
    while (gpus % n != 0) --n;
    return n;
}

std::vector<std::int64_t> chunk_layers(const Plan& plan) {
    std::vector<std::int64_t> out;
    layers_of_chunks(plan, out);
    return out;
}

bool is_even(const std::vector<std::int64_t>& layers) {
    return std::adjacent_find(layers.begin(), layers.end(), std::not_equal_to<>()) == layers.end();
}

std::string hub_name(const Page& page) {
    constexpr std::string_view hub = "huggingface.co/";
    const std::string& id = page.plan.model_source.preset;
    for (const Presets::Entry& e : page.presets.list(PresetKind::model)) {
        const std::size_t at = e.source.find(hub);
        if (e.id != id || id.empty() || at == std::string::npos) continue;
        const std::string name = e.source.substr(at + hub.size());
        const std::size_t owner = name.find('/');
        if (owner == std::string::npos) continue;
        return name.substr(0, name.find_first_of("/ ,;)", owner + 1));
    }
    return id.empty() ? page.plan.model.name : id;
}

void lose_lacks(Page& page, Software software) {
    const Lacks lacks = lacks_of(page.plan, software);
    for (const Lack l : all_of<Lack>()) {
        if (!lacks.has(l) || kind_of(l) == LackKind::warned) continue;
        const std::string words = words_of(l, page.plan, software);
        if (kind_of(l) == LackKind::refused)
            page.refuse(words);
        else
            page.lose(std::string(pointer_of(l)), words);
    }
}

void lose_order(Page& page, const AxisOrder& order, const char* theirs) {
    if (!order_in(page.plan, {&order, 1})) page.lose("/layout/order", "order: ", theirs);
}

void refuse_by_rules(Page& page, Rule rule, Software software) {
    Plan plan = page.plan;
    plan.training.software = software;
    const Mesh mesh = build_mesh(plan);
    const GroupSummaries groups{};
    const ResolvedPlan resolved(plan, mesh, groups);
    std::vector<Problem> found;
    Rules rules{resolved, true, found};
    check_frameworks(rules);
    check_modules(rules);
    check_notices(rules);
    for (const Problem& p : found)
        if (p.rule == rule && p.severity == Severity::warning) page.refuse(p.message);
}

void lose_finer_choices(Page& page, bool says_ep_comm) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const std::string who(name_of(page.target));
    if (l.weight_shards.value_or(1) > 1)
        page.lose("/layout/weight_shards", who, " cuts no weights besides tp");
    if (p.model.mtp_layers > 0 && l.mtp_chunk && *l.mtp_chunk + 1 < l.pp * l.virtual_stages)
        page.lose("/layout/mtp_chunk", who, " has the prediction layers in the last stage");
    if (traits_of(l.schedule).in_groups && l.pp > 1 && l.microbatch_group.value_or(l.pp) != l.pp)
        page.lose("/layout/microbatch_group", who, " takes micro-batches in groups of pp");
    if (!says_ep_comm && p.model.moe && l.ep > 1 && l.ep_comm != EpComm::alltoall)
        page.lose("/layout/ep_comm", who, " has no setting for how tokens find their experts (", l.ep_comm,
                  ")");
}

GradientReduction usual_reduction(const Plan& plan, Software software) {
    Plan theirs = plan;
    theirs.training.software = software;
    theirs.layout.gradient_reduction = GradientReduction::by_software;
    return gradient_reduction_of(theirs);
}

void lose_reduction(Page& page, GradientReduction theirs) {
    const GradientReduction ours = gradient_reduction_of(page.plan);
    if (zero_in_force(page.plan) < 2 || microbatches_of(page.plan) <= 1 || ours == theirs) return;
    const std::string what = "gradient_reduction " + std::string(pentamesh::name_of(ours)) + ": "
                             + std::string(name_of(page.target)) + " reduces gradients by "
                             + std::string(pentamesh::name_of(theirs))
                             + ", which no setting of this file changes";
    if (page.plan.layout.gradient_reduction == GradientReduction::by_software) return page.note(what);
    page.lose("/layout/gradient_reduction", what);
}

void lose_schedule(Page& page, std::string_view who) {
    page.lose("/layout/schedule", who, " has no schedule ", page.plan.layout.schedule);
}

void note_training(Page& page, bool types) {
    const Training& t = page.plan.training;
    if (t.router_imbalance > 1) page.note("router_imbalance: what the router does, no setting");
    if (t.straggler_cv > 0) page.note("straggler_cv: what the machines do, no setting");
    if (!t.overlap.cp && page.plan.layout.cp > 1)
        page.note("overlap of context parallelism: the framework's own affair");
    if (!types) return;
    const Training usual;
    if (t.parameters != usual.parameters || t.gradients != usual.gradients
        || t.optimizer_state != usual.optimizer_state || t.master_weights != usual.master_weights)
        page.note("types of parameters, gradients and optimizer states: the framework's own");
    if (t.optimizer != Optimizer::adamw) page.note("optimizer ", t.optimizer, ": set it in your own code");
}

}  // namespace pentamesh::interop
