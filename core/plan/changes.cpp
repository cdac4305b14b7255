#include "core/plan/changes.h"

#include "core/plan/edits.h"
#include "core/plan/factors.h"
#include "core/plan/field_list.h"

#include <algorithm>
#include <utility>

namespace pentamesh {
Plan with_gpus(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    p.cluster.gpus = std::clamp(gpus, kDegree.least, kDegree.most);
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return with_factor(p, Axis::tp, p.layout.tp, true);
}

Plan with_gpus_as_replicas(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    p.cluster.gpus = std::clamp(gpus, kDegree.least, kDegree.most);
    Layout& l = p.layout;
    l.dp_replicate.reset();  // the rest of the cluster
    const std::int64_t replicas = replicas_in_force(p);
    if (replicas < 1) return with_gpus(plan, gpus);
    if (plan.layout.dp_replicate) l.dp_replicate = replicas;
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return p;
}

Plan with_gpus_per_node(const Plan& plan, std::int64_t gpus) {
    Plan p = plan;
    if (p.cluster.tiers.size() < 2) return p;
    std::int64_t most = kDegree.most;                     // the next tier spans more
    const std::int64_t next = p.cluster.tiers[1].domain;  // 0: the cluster
    if (next > 0) most = std::max(kDegree.least, next - 1);
    p.cluster.tiers.front().domain = std::clamp(gpus, kDegree.least, most);
    const auto& stated = p.cluster_source.overrides;
    const auto says = [&](std::string_view pointer) {
        return std::find(stated.begin(), stated.end(), pointer) != stated.end();
    };
    if (!says("/fast_domain") && !says("/tiers"))
        state_over_preset(p.cluster_source, "/cluster/gpus_per_node");
    return p;
}

Plan with_cluster(const Plan& plan, Cluster cluster, std::string preset) {
    Plan p = plan;
    cluster.gpus = plan.cluster.gpus;
    p.cluster = std::move(cluster);
    p.cluster_source = {std::move(preset), {}};
    state_over_preset(p.cluster_source, "/cluster/gpus");
    return p;
}

Plan with_tiers(const Plan& plan, std::vector<Tier> tiers) {
    Plan p = plan;
    p.cluster.tiers = std::move(tiers);
    std::vector<std::string>& stated = p.cluster_source.overrides;
    if (!p.cluster_source.preset.empty() && std::find(stated.begin(), stated.end(), "/tiers") == stated.end())
        stated.emplace_back("/tiers");
    // The tiers state it themselves, and a single one spans the whole cluster.
    std::erase_if(stated, [](const std::string& s) { return s == "/fast_domain" || s == "/gpus_per_node"; });
    return p;
}

Model plain_model() {
    Model m;
    m.name = "New model";
    m.layers = 32, m.hidden = 4096, m.heads = m.kv_heads = 32, m.head_dim = 128;
    m.ffn = 11008, m.vocab = 32000;
    return m;
}

Plan with_model(const Plan& plan, Model model, std::string preset) {
    Plan p = plan;
    p.model = std::move(model);
    p.model_source = {std::move(preset), {}};
    p.layout.stage_layers.clear();
    p.layout.mtp_chunk.reset();
    if (!p.model.moe) {
        p.layout.ep = 1;
        p.layout.etp.reset();
    }
    return p;
}

Plan with_plain_layout(const Plan& plan) {
    Plan p = plan;
    p.layout = {};
    p.layout.dp_shard = p.cluster.gpus;
    p.layout.zero = 3;
    p.training.micro_batch = 1;
    const std::int64_t rounds = std::max<std::int64_t>(1, p.training.global_batch / p.cluster.gpus);
    p.training.global_batch = rounds * p.cluster.gpus;
    return p;
}

bool is_own_model(const Plan& plan) {
    return plan.model_source.preset.empty() || !plan.model_source.overrides.empty();
}

Plan with_schedule(const Plan& plan, Schedule schedule, std::int64_t virtual_stages) {
    Plan p = plan;
    p.layout.schedule = schedule;
    if (p.layout.virtual_stages != virtual_stages) {
        p.layout.stage_layers.clear();
        p.layout.mtp_chunk.reset();
    }
    p.layout.virtual_stages = virtual_stages;
    p.layout.microbatch_group.reset();
    return p;
}

Plan with_stage_layers(const Plan& plan, std::vector<std::int64_t> layers) {
    Plan p = plan;
    p.layout.stage_layers = std::move(layers);
    return p;
}

Plan with_order(const Plan& plan, const AxisOrder& order) {
    Plan p = plan;
    p.layout.order = order;
    return p;
}

AxisOrder moved(const AxisOrder& order, std::size_t from, std::size_t to) {
    AxisOrder out = order;
    const auto at = [&](std::size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) std::rotate(at(from), at(from + 1), at(to + 1));
    if (to < from) std::rotate(at(to), at(from), at(from + 1));
    return out;
}

Plan in_place_of(const Plan& open, Plan proposed) {
    proposed.name = open.name;
    proposed.notes = open.notes;
    proposed.review = open.review;
    proposed.scene = open.scene;
    return proposed;
}

Plan with_number(const Plan& plan, std::string_view pointer, std::int64_t value) {
    if (pointer == "/cluster/gpus") return with_gpus(plan, value);
    Plan p = plan;
    for (const auto& f : list_fields(p)) {
        const auto* range = std::get_if<IntRange>(&f.range);
        if (range && f.is(pointer)) (void)set_value(f.place, std::clamp(value, range->least, range->most));
    }
    return p;
}

}  // namespace pentamesh
