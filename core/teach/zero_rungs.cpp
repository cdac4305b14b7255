#include "core/teach/zero_rungs.h"

#include "core/base/text.h"
#include "core/layer/wire_bytes.h"
#include "core/memory/memory_parts.h"
#include "core/mesh/degrees.h"
#include "core/pipeline/gradient_reduction.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

constexpr std::size_t kParameters = 0, kGradients = 1, kOptimizer = 2;

double part_bytes(const StageMemory& held, std::size_t part) {
    return bytes_of(held, static_cast<MemoryCategory>(part));
}

// Sums the calls of data parallelism by collective.
void collect_wires(const Evaluation& e, ZeroRung& out) {
    std::array<double, kGroupKindCount> most{};  // by collective: the bytes of the group that has most
    for (const Operation& o : e.comm.operations) {
        if (o.on_other_stage || !is_data_parallel(o.group) || o.count_per_step <= 0) continue;
        auto same = std::find_if(out.wires.begin(), out.wires.end(),
                                 [&](const ZeroWire& w) { return w.collective == o.collective; });
        if (same == out.wires.end()) same = out.wires.insert(out.wires.end(), {o.collective, o.group, 0, 0});
        same->sent_bytes += o.sent_bytes_per_rank;
        same->calls += o.count_per_step;
        double& own = most[static_cast<std::size_t>(o.collective)];
        if (o.sent_bytes_per_rank > own) own = o.sent_bytes_per_rank, same->group = o.group;
        out.sent_bytes += o.sent_bytes_per_rank;
    }
    const auto place = [](const ZeroWire& w) {
        return w.collective == Collective::reduce_scatter ? 0
               : w.collective == Collective::all_gather   ? 1
                                                          : 2;
    };
    std::stable_sort(out.wires.begin(), out.wires.end(),
                     [&](const ZeroWire& a, const ZeroWire& b) { return place(a) < place(b); });
}

Plan with_zero(const Plan& own, int zero) {
    Plan out = own;
    if (zero == own.layout.zero) return out;
    out.layout.zero = zero;
    follow_software(own, out);
    return out;
}

std::string lacks_text(const Plan& own, const Plan& plan) {
    const Software software = plan.training.software;
    if (lacks(Lack::zero, plan, software)) return words_of(Lack::zero, plan, software);
    const auto came = lack_that_came(own, plan);
    return came ? words_of(*came, plan, software) : std::string();
}

void fill_rung(const Evaluation& e, int stage, ZeroRung& out) {
    out.held = e.memory.stage[static_cast<std::size_t>(stage)];
    std::vector<BufferBytes> buffers;
    list_buffers(out.plan, e.mesh, out.held, buffers);
    for (const BufferBytes& b : buffers)
        if (b.buffer == Buffer::gathered_layers) out.gathered += b.mid;
    const StateShards shards = shards_of(out.plan, degrees_of(out.plan, e.mesh));
    out.shared = {shards.parameter[0] > 1, shards.gradient[0] > 1, shards.optimizer[0] > shards.copies};
    collect_wires(e, out);
}

// Says how many bytes more or less a stage sends than the one before; empty where either has none.
std::string difference_words(const ZeroRung& before, const ZeroRung& now) {
    const double by = now.sent_bytes - before.sent_bytes;
    const std::string other = sentence("ZeRO-", before.zero);
    if (std::abs(by) < 0.5) return "not a byte more than " + other;
    return percent_text(std::abs(by) / before.sent_bytes) + (by > 0 ? " more than " : " less than ") + other;
}

// Says why the bytes are others.
std::string why_words(const ZeroRung& before, const ZeroRung& now) {
    const Training& t = now.plan.training;
    const StateRounds rounds = state_rounds(now.plan);
    const double gathers = rounds.forward.times + rounds.backward.times;
    if (now.zero == 3 && gathers > 1)
        return "a layer's weights come "
               + (gathers == 2 ? std::string("twice") : whole_text(gathers) + " times");
    const double reductions = rounds.reductions.times, earlier = state_rounds(before.plan).reductions.times;
    if (reductions > earlier) return "gradients are summed " + whole_text(reductions) + " times a step";
    if (before.zero == 0 && now.sent_bytes < before.sent_bytes && updated_bytes(t) < bytes_of(t.gradients))
        return "weights go out in " + three_digits(updated_bytes(t)) + " bytes each, gradients in "
               + three_digits(bytes_of(t.gradients));
    return {};
}

std::string held_words_of(const ZeroRungs& all, const ZeroRung& r) {
    const bool experts_differ = all.experts > 0 && all.experts != all.ranks;
    if (r.zero == 0)
        return experts_differ ? "each keeps its whole state"
                              : sentence(all.ranks, all.ranks == 1 ? " copy" : " copies", " of everything");
    constexpr std::array<std::size_t, kZeroStages> kParts{0, kOptimizer, kGradients, kParameters};
    if (!r.shared[kParts[static_cast<std::size_t>(r.zero)]])
        return r.zero == 2 && all.ranks > 1 ? "gradients stay whole: summed once a step"
                                            : "nothing to share out";
    constexpr std::array<const char*, kZeroStages> kShares{"", "the optimizer is shared out",
                                                           "the gradients as well", "the weights as well"};
    return kShares[static_cast<std::size_t>(r.zero)];
}

void write_words(ZeroRungs& all) {
    const ZeroRung* before = nullptr;
    for (ZeroRung& r : all.rung) {
        if (!r.possible()) continue;
        r.held_words = held_words_of(all, r);
        if (before != nullptr && before->sent_bytes > 0 && all.ranks > 1) {
            const std::string why = why_words(*before, r);
            r.wire_words = difference_words(*before, r) + (why.empty() ? "" : ": " + why);
        }
        before = &r;
    }
}

}  // namespace

bool ZeroRungs::adds_up(const ZeroRung& of, std::size_t part) const {
    const double whole = rung[0].possible() ? part_bytes(rung[0].held, part) : 0;
    const double sum = part_bytes(of.held, part) * static_cast<double>(ranks);
    return whole > 0 && std::abs(sum - whole) <= 0.001 * whole;
}

bool ZeroRungs::any_possible() const {
    return std::any_of(rung.begin(), rung.end(), [](const ZeroRung& r) { return r.possible(); });
}

ZeroRungs zero_rungs(const Plan& plan, const Evaluation& evaluation) {
    ZeroRungs out;
    const Degrees degrees = degrees_of(plan, evaluation.mesh);
    out.own = std::clamp(plan.layout.zero, 0, 3);
    out.ranks = degrees.dense_shard;
    if (evaluation.mesh.has_experts) out.experts = degrees.expert_shard;
    out.hbm = plan.cluster.gpu.hbm_bytes;
    std::array<Evaluation, kZeroStages> made;
    std::array<const Evaluation*, kZeroStages> of{};
    const Evaluation* first = evaluation.valid ? &evaluation : nullptr;
    for (std::size_t i = 0; i < kZeroStages; ++i) {
        ZeroRung& r = out.rung[i];
        r.zero = static_cast<int>(i);
        r.plan = with_zero(plan, r.zero);
        of[i] = r.zero == plan.layout.zero ? &evaluation : &made[i];
        if (of[i] == &made[i]) evaluate(r.plan, made[i]);
        if (!of[i]->valid) r.refused = first_error(of[i]->problems);
        r.lacks = lacks_text(plan, r.plan);
        if (first == nullptr && of[i]->valid) first = of[i];
    }
    if (first == nullptr) return out;
    out.stage = first->memory.peak_stage;
    out.stages = static_cast<int>(first->memory.stage.size());
    out.sender = rows_device_text(first->comm);
    for (std::size_t i = 0; i < kZeroStages; ++i)
        if (of[i]->valid) fill_rung(*of[i], out.stage, out.rung[i]);
    write_words(out);
    return out;
}

}  // namespace pentamesh
