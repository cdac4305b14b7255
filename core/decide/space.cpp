#include "core/decide/space.h"

#include "core/base/text.h"
#include "core/decide/constraints.h"
#include "core/decide/units.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"
#include "core/rules/software_runs.h"

#include <algorithm>

namespace pentamesh {
namespace {

struct VariedName {
    std::string_view name, pointer, usual;
};
constexpr EnumArray<Varied, VariedName> kVaried{
    {{{"tp", "/layout/tp", "divisors of the GPUs inside the fast domain"},
      {"cp", "/layout/cp", "divisors of the GPUs that leave a rank 1,024 tokens"},
      {"pp", "/layout/pp", "divisors of the GPUs up to the layers"},
      {"virtual_stages", "/layout/virtual_stages", "1 to 8"},
      {"schedule", "/layout/schedule", "all"},
      {"ep", "/layout/ep", "divisors of the experts"},
      {"etp", "/layout/etp", "those of tp"},
      {"dp_shard", "/layout/dp_shard", "divisors of the GPUs"},
      {"dp_replicate", "/layout/dp_replicate", "divisors of the GPUs"},
      {"zero", "/layout/zero", "0 to 3"},
      {"micro_batch", "/training/micro_batch", "1, 2, 4, 8 that divide the batch"},
      {"recompute", "/training/recompute", "none, selective, full"},
      {"order", "/layout/order", "the frameworks' own"}}}};

constexpr std::int64_t kMostChunksTried = 8, kFewestTokens = 1024, kMostMicroBatch = 8;

template <typename T>
void tidy(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}
// Returns the values by default, without the plan's own.
SearchSpace usual_space(const Plan& p) {
    SearchSpace s;
    const std::int64_t gpus = std::max<std::int64_t>(p.cluster.gpus, 1);
    const std::int64_t domain = p.cluster.tiers.empty() ? 8 : domain_of(p.cluster, 0);
    for (const std::int64_t d : divisors(gpus)) {
        s.dp_shard.push_back(d);
        if (d <= domain) s.tp.push_back(d);
        if (d == 1 || p.training.sequence_length / d >= kFewestTokens) s.cp.push_back(d);
        if (d <= p.model.layers) s.pp.push_back(d);
    }
    s.dp_replicate = s.dp_shard;
    for (std::int64_t v = 1; v <= std::min(kMostChunksTried, p.model.layers); ++v)
        s.virtual_stages.push_back(v);
    for (const Schedule k : all_of<Schedule>()) s.schedule.push_back(k);
    s.ep = {1}, s.etp = {1};
    if (p.model.moe) {
        for (const std::int64_t d : divisors(std::max<std::int64_t>(p.model.moe->experts, 1)))
            if (d <= gpus) add_once(s.ep, d);
        s.etp = s.tp;
    }
    s.zero = {0, 1, 2, 3};
    for (std::int64_t b = 1; b <= kMostMicroBatch; b *= 2)
        if (b == 1 || p.training.global_batch % b == 0) s.micro_batch.push_back(b);
    s.recompute = {Recompute::none, Recompute::selective, Recompute::full};
    for (const OrderPreset& o : order_presets()) add_once(s.order, o.order);
    return s;
}

// Returns the plan's own values.
SearchSpace own_space(const Plan& p) {
    const Layout& l = p.layout;
    SearchSpace s;
    s.tp = {l.tp}, s.cp = {l.cp}, s.pp = {l.pp}, s.virtual_stages = {l.virtual_stages};
    s.ep = {l.ep}, s.etp = {l.etp.value_or(l.tp)};
    s.dp_shard = {l.dp_shard}, s.dp_replicate = {replicas_in_force(p)},
    s.micro_batch = {p.training.micro_batch};
    s.schedule = {l.schedule}, s.zero = {l.zero}, s.recompute = {p.training.recompute}, s.order = {l.order};
    return s;
}

}  // namespace

std::string_view name_of(Varied v) {
    return kVaried[v].name;
}
std::string_view pointer_of(Varied v) {
    return kVaried[v].pointer;
}
std::string_view usual_values(Varied v) {
    return kVaried[v].usual;
}
std::optional<Varied> varied_named(std::string_view name) {
    for (const Varied v : all_of<Varied>())
        if (name_of(v) == name || pointer_of(v) == name) return v;
    return std::nullopt;
}

SearchSpace search_space(const Plan& plan, const SpaceRequest& request, std::optional<SpaceError>& error) {
    error.reset();
    const SearchSpace own = own_space(plan);
    SearchSpace space = usual_space(plan);
    if (!request.any_software) space.software = plan.training.software;
    for (const Varied v : all_of<Varied>())
        with_list(v, [&](auto member) {
            for (const auto& value : own.*member) add_once(space.*member, value);
        });
    if (!plan.model.moe)
        space.ep = {1}, space.etp = {1};  // even if the plan's layout, which may fit no
                                          // dense model, has others
    constrain(plan, request, own, space, error);
    if (error) return space;
    for (auto* list : {&space.tp, &space.cp, &space.pp, &space.virtual_stages, &space.ep, &space.etp,
                       &space.dp_shard, &space.dp_replicate, &space.micro_batch})
        tidy(*list);
    tidy(space.schedule);
    tidy(space.zero);
    // A plan whose factors do not fill the cluster has no replicas of its own.
    if (space.dp_replicate.size() > 1) std::erase(space.dp_replicate, 0);
    return space;
}

double headroom_of(const SearchSpace& space, const Cluster& cluster, std::optional<double> asked,
                   double usual) {
    if (!space.most_memory || cluster.gpu.hbm_bytes <= 0) return asked.value_or(usual);
    return std::max(asked.value_or(0), 1 - *space.most_memory / cluster.gpu.hbm_bytes);
}

std::vector<std::string> SearchSpace::values_of(Varied v) const {
    std::vector<std::string> out;
    const auto quoted = [](std::string_view s) { return "\"" + std::string(s) + "\""; };
    with_list(v, [&](auto member) {
        for (const auto& value : this->*member) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Schedule>) {
                out.push_back(quoted(name_of(value)));
            } else if constexpr (std::is_same_v<T, RecomputeChoice>) {
                out.push_back(quoted(words_of(value)));
            } else if constexpr (std::is_same_v<T, AxisOrder>) {
                const std::string axes = join(value, "-");
                out.push_back(quoted(axes));
            } else {
                out.push_back(std::to_string(value));
            }
        }
    });
    return out;
}

void lay_out(const Plan& plan, const LayoutChoice& c, Plan& out) {
    Layout& l = out.layout;
    const Layout& own = plan.layout;
    l.tp = c.tp, l.cp = c.cp, l.pp = c.pp, l.virtual_stages = c.virtual_stages, l.schedule = c.schedule;
    l.ep = c.ep, l.dp_shard = c.dp_shard, l.dp_replicate = c.dp_replicate, l.zero = c.zero, l.order = c.order;
    if (plan.model.moe) l.etp = c.etp;
    l.sequence_parallel = own.tp == 1 && c.tp > 1 ? usual_sequence_parallel(plan) : own.sequence_parallel;
    l.cp_comm = own.cp == 1 && c.cp > 1 ? usual_cp_comm(plan) : own.cp_comm;
    const bool same = c.pp == own.pp && c.virtual_stages == own.virtual_stages
                      && traits_of(c.schedule).placement == traits_of(own.schedule).placement;
    if (same) {
        l.stage_layers = own.stage_layers;
        l.mtp_chunk = own.mtp_chunk;
    } else {
        l.stage_layers.clear();
        l.mtp_chunk.reset();
    }
    l.microbatch_group = same && c.schedule == own.schedule ? own.microbatch_group : std::nullopt;
    out.training.micro_batch = c.micro_batch;
    out.training.recompute = c.recompute;
    l.gradient_reduction = own.gradient_reduction;
    follow_software(plan, out);
}

}  // namespace pentamesh
