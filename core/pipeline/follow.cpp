#include "core/pipeline/follow.h"

#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/edits.h"

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
    Followed out{set, {}, false};
    follow_stages(before, named, out.plan.layout);
    const Layout &was = before.layout, &now = out.plan.layout;
    const bool others = now.tp != was.tp || now.cp != was.cp || now.pp != was.pp
                        || out.plan.cluster.gpus != before.cluster.gpus;
    if (others && !named.has("/layout/dp_shard") && !named.has("/layout/dp_replicate")
        && ranks_laid_out(before) == before.cluster.gpus) {
        Plan filled = follow_ranks(before, out.plan);
        out.fills = filled.layout.dp_shard != now.dp_shard || filled.layout.dp_replicate != now.dp_replicate;
        out.plan = std::move(filled);
    }
    out.edits = edits_between(set, out.plan);
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
    if (followed.edits.empty()) return {};
    return sentence(
        words_of(followed.edits), followed.edits.size() == 1 ? " follows" : " follow",
        followed.fills ? sentence(", so that all ", followed.plan.cluster.gpus, " GPUs stay in use") : "");
}

}  // namespace pentamesh
