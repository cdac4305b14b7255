#include "core/pipeline/follow.h"

#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"

#include <algorithm>

namespace pentamesh {
namespace {

// Answers which fields are named.
class NamedFields {
  public:
    explicit NamedFields(const std::vector<std::string>& pointers) : pointers_(pointers) {}
    [[nodiscard]] bool has(std::string_view field) const {
        return std::any_of(pointers_.begin(), pointers_.end(), [&](const std::string& p) {
            return field == p || (field.starts_with(p) && field.substr(p.size()).starts_with("/"));
        });
    }

  private:
    const std::vector<std::string>& pointers_;
};

// A split of layers is of as many chunks as there were.
void forget_split(const NamedFields& named, Layout& l) {
    if (!named.has("/layout/stage_layers")) l.stage_layers.clear();
    if (!named.has("/layout/mtp_chunk")) l.mtp_chunk.reset();
}

void follow_stages(const Plan& before, const NamedFields& named, Layout& l) {
    const Layout& was = before.layout;
    if (l.pp != was.pp) forget_split(named, l);
    const bool schedule = named.has("/layout/schedule"), chunks = named.has("/layout/virtual_stages");
    const bool single = l.pp == 1 && was.pp != 1 && !schedule && !chunks;
    if (single) l.schedule = Layout{}.schedule;
    if ((schedule || single) && !chunks)
        l.virtual_stages = chunks_for(l.schedule, single ? 1 : l.virtual_stages);
    if (l.virtual_stages != was.virtual_stages) forget_split(named, l);
    if (l.schedule != was.schedule && !named.has("/layout/microbatch_group")) l.microbatch_group.reset();
}

// A reduction that the other fields rule out is the software's own again.
void follow_reduction(const Plan& before, const NamedFields& named, Layout& l) {
    GradientReduction& when = l.gradient_reduction;
    if (named.has("/layout/gradient_reduction") || can_reduce(when, l) || !can_reduce(when, before.layout))
        return;
    when = GradientReduction::by_software;
}

// Returns the plan where the other degree of data parallelism has what the named one leaves.
Plan follow_pair(const Plan& set, Axis named) {
    const Layout& l = set.layout;
    const std::int64_t factor = named == Axis::dp_shard ? l.dp_shard : l.dp_replicate.value_or(0);
    if (factor < 1) return set;
    Plan p = with_factor(set, named, factor, true);
    return ranks_laid_out(p) == set.cluster.gpus ? p : set;
}

constexpr std::int64_t kUsualNode = 8;  // GPUs

// Returns the field that says how many GPUs a node has, where the plan itself says it and makes nodes small.
std::string_view field_of_small_nodes(const Cluster& c, const Source& source) {
    if (c.tiers.size() < 2 || !is_known(c) || c.gpus <= kUsualNode) return {};
    const std::int64_t each = c.tiers.front().domain;
    if (each < 1 || each >= kUsualNode) return {};
    const auto states = [&](std::string_view pointer) {
        return std::find(source.overrides.begin(), source.overrides.end(), pointer) != source.overrides.end();
    };
    if (states("/gpus_per_node")) return "gpus_per_node";
    return source.preset.empty() || states("/fast_domain") || states("/tiers") ? "fast_domain" : "";
}

// Returns "nodes stay nodes of 4 GPUs, 64 of them".
std::string small_nodes(const Cluster& c) {
    const std::int64_t each = c.tiers.front().domain;
    return sentence("nodes stay nodes of ", each, " GPUs, ", (c.gpus + each - 1) / each, " of them");
}

// Says so where more GPUs are set and nothing is said of nodes.
std::string small_nodes_that_stay(const Plan& before, const NamedFields& named, const Plan& set) {
    for (const char* const field : {"/cluster/fast_domain", "/cluster/gpus_per_node", "/cluster/tiers"})
        if (named.has(field)) return {};
    const std::string_view field = field_of_small_nodes(set.cluster, set.cluster_source);
    if (field.empty() || set.cluster.gpus <= before.cluster.gpus) return {};
    return sentence(small_nodes(set.cluster), "; cluster.", field, " = ", kUsualNode, " makes them larger");
}

// Returns the plan with the ranks that are left given to data parallelism.
Plan follow_ranks(const Plan& before, const Plan& set) {
    // GPUs go first, as if they were stepped; then the degrees.
    const std::int64_t gpus = set.cluster.gpus;
    const Plan start = gpus == before.cluster.gpus ? before : with_gpus(before, gpus);
    Plan p = set;
    p.layout.dp_shard = start.layout.dp_shard;
    std::int64_t replicas = replicas_in_force(start);
    if (replicas < 1) replicas = replicas_in_force(before);
    p.layout.dp_replicate = std::max<std::int64_t>(1, replicas);
    p = with_factor(p, Axis::tp, p.layout.tp, true);
    if (ranks_laid_out(p) != gpus) return set;
    if (!set.layout.dp_replicate) p.layout.dp_replicate.reset();  // it is what the others leave
    return p;
}

}  // namespace

Followed follow(const Plan& before, const Plan& set, const std::vector<std::string>& pointers) {
    const NamedFields named(pointers);
    Followed out{set, {}, false, small_nodes_that_stay(before, named, set)};
    follow_stages(before, named, out.plan.layout);
    follow_reduction(before, named, out.plan.layout);
    const Layout &was = before.layout, &now = out.plan.layout;
    const bool others = now.tp != was.tp || now.cp != was.cp || now.pp != was.pp
                        || out.plan.cluster.gpus != before.cluster.gpus;
    const bool shard = named.has("/layout/dp_shard"), replicate = named.has("/layout/dp_replicate");
    if ((others || shard || replicate) && !(shard && replicate)
        && ranks_laid_out(before) == before.cluster.gpus) {
        Plan filled = shard       ? follow_pair(out.plan, Axis::dp_shard)
                      : replicate ? follow_pair(out.plan, Axis::dp_replicate)
                                  : follow_ranks(before, out.plan);
        out.fills = filled.layout.dp_shard != now.dp_shard || filled.layout.dp_replicate != now.dp_replicate;
        out.plan = std::move(filled);
    }
    out.edits = edits_between(set, out.plan);
    return out;
}

Plan with_schedule_and_rest(const Plan& plan, Schedule schedule, std::int64_t virtual_stages) {
    return follow(plan, with_schedule(plan, schedule, virtual_stages),
                  {"/layout/schedule", "/layout/virtual_stages"})
        .plan;
}

std::string words_of_edit(const Plan& before, const Plan& after) {
    constexpr std::int64_t kMany = 4;  // times as many GPUs
    const Cluster &was = before.cluster, &is = after.cluster;
    std::string out;
    const bool more = is.gpus > was.gpus && (was.gpus <= kUsualNode || is.gpus / kMany >= was.gpus);
    if (more && !field_of_small_nodes(is, after.cluster_source).empty() && !was.tiers.empty()
        && was.tiers.front().domain == is.tiers.front().domain)
        out = "N" + small_nodes(is).substr(1) + "; the number behind \"nodes of\" changes that";
    const GradientReduction when = before.layout.gradient_reduction;
    if (after.layout.gradient_reduction != when && !can_reduce(when, after.layout))
        out += sentence(out.empty() ? "" : ". ", "gradient_reduction ", when,
                        " is not possible with this schedule and ZeRO stage: it is ",
                        after.layout.gradient_reduction, " now");
    return out;
}

std::vector<std::string> pointers_of_sets(const std::vector<std::string>& sets) {
    std::vector<std::string> out;
    out.reserve(sets.size());
    for (const std::string& set : sets) out.push_back(pointer_of_field(set.substr(0, set.find('='))));
    return out;
}

Followed follow_sets(const Plan& before, const std::vector<std::string>& sets, const Presets& presets) {
    return follow(before, with_sets(before, sets, presets), pointers_of_sets(sets));
}

std::int64_t next_gpus(const Plan& plan, int by, std::int64_t each) {
    const std::int64_t now = plan.cluster.gpus, last = next_value("/cluster/gpus", now / each, by) * each;
    const auto used = [&](std::int64_t gpus) {
        const Plan p = with_gpus(plan, gpus);
        return ranks_laid_out(p) == gpus && microbatches_of(p) > 0;
    };
    if (used(last)) return last;
    const std::int64_t step = by > 0 ? each : -each;
    for (std::int64_t n = now / each * each + step; by > 0 ? n < last : n > last; n += step)
        if (used(n)) return n;
    return last;
}

std::string words_of(const Followed& followed) {
    if (followed.edits.empty()) return followed.stays;
    return sentence(
        words_of(followed.edits), followed.edits.size() == 1 ? " follows" : " follow",
        followed.fills ? sentence(", so that all ", followed.plan.cluster.gpus, " GPUs stay in use") : "",
        followed.stays.empty() ? "" : "; ", followed.stays);
}

}  // namespace pentamesh
