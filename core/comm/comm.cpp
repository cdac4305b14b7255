#include "core/comm/comm.h"

#include "core/comm/collective_time.h"
#include "core/layer/calls.h"
#include "core/model/model.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

// Returns where the rows of a call stand: of attention or a scan, of a dense MLP, of one next to experts, of
// shared experts, of context parallelism, of experts.
int place_of(const LayerCall& c, bool moe) {
    switch (c.part) {
    case LayerPart::mixer: return c.group == GroupKind::cp ? 4 : 0;
    case LayerPart::mlp: return moe ? 2 : 1;
    case LayerPart::shared_experts: return 3;
    case LayerPart::experts: break;
    }
    return 5;
}

}  // namespace

CommRows::CommRows(const ResolvedPlan& resolved, const PartsByType& parts, Comm& out)
    : resolved_(resolved), plan_(resolved.plan), parts_(parts), out_(out), types_(resolved.types),
      tokens_(static_cast<double>(plan_.training.micro_batch)
              * static_cast<double>(plan_.training.sequence_length) / static_cast<double>(plan_.layout.cp)),
      hidden_bytes_(tokens_ * static_cast<double>(plan_.model.hidden) * wire_bytes(plan_.training.compute)) {}

void CommRows::list() {
    constexpr int kPlaces = 6, kContext = 4;
    if (plan_.model.moe && plan_.layout.ep_comm != EpComm::alltoall)
        slow_share_ = slow_share(plan_, summary_of(GroupKind::ep));
    const auto has_layers = [&](int t) {
        return resolved_.counts[t] > 0 || (plan_.model.mtp_layers > 0 && t == types_.mtp);
    };
    for (int place = 0; place < kPlaces; ++place) {
        if (place == kContext) vocabulary_parallel();
        const std::size_t first = out_.operations.size();
        for (int t = 0; t < types_.size(); ++t) {
            if (!has_layers(t)) continue;
            for (const LayerCall& c : parts_[t].calls) {
                if (place_of(c, types_[t].is_moe()) != place) continue;
                put_call(c, t, false, first);
                if (c.repeats) put_call(c, t, true, first);
            }
        }
    }
    if (plan_.layout.pp > 1) pipeline();
    gradients();
}

void CommRows::put_call(const LayerCall& c, int type, bool recomputed, std::size_t first) {
    const Unit unit = c.part == LayerPart::mixer ? Unit::every_layer
                      : types_[type].is_moe()    ? Unit::moe_layer
                                                 : Unit::dense_layer;
    const Phase phase = recomputed || c.pass == LayerPass::backward ? Phase::backward : Phase::forward;
    const LayerMask bit = LayerMask{1} << type;
    for (std::size_t i = type > 0 ? first : out_.operations.size(); i < out_.operations.size(); ++i) {
        Operation& o = out_.operations[i];
        if (o.what == c.what && o.phase == phase && o.recomputed == recomputed && o.unit == unit
            && o.collective == c.collective && o.group == c.group && o.group_size == c.ranks
            && o.message_bytes == c.bytes && o.calls == c.calls && !has(o.types, type)) {
            o.types |= bit;
            return;
        }
    }
    Operation* o = put(c.group, c.ranks, unit, phase, c.collective, c.what, c.bytes, c.calls);
    if (o == nullptr) return;
    o->types = bit;
    o->recomputed = recomputed;
    if (c.group != GroupKind::ep || c.collective != Collective::all_to_all) return;
    o->forwarded = plan_.layout.ep_comm != EpComm::alltoall;
    o->slow_share = slow_share_;
}

Operation* CommRows::put(GroupKind group, std::int64_t ranks, Unit unit, Phase phase, Collective c, What what,
                         double bytes, double calls) {
    if (ranks <= 1 || bytes <= 0 || calls <= 0) return nullptr;
    Operation& o = out_.operations.emplace_back();
    o.group = group, o.what = what, o.collective = c, o.phase = phase, o.unit = unit, o.calls = calls;
    o.group_size = ranks;
    o.tier = summary_of(group).slowest_tier;
    if (group == GroupKind::cp && ranks < summary_of(group).degree && c == Collective::all_to_all)
        o.tier = slowest_tier(
            within(find_route(plan_, resolved_.mesh, summary_of(group)), static_cast<double>(ranks)));
    o.message_bytes = bytes;
    const bool end = unit == Unit::embedding || unit == Unit::head, step = unit == Unit::step;
    o.scope = unit == Unit::embedding ? Scope::embedding
              : unit == Unit::head    ? Scope::head
              : step                  ? Scope::step
                                      : Scope::layer;
    o.per = end                      ? "micro-batch"
            : step                   ? "step"
            : unit == Unit::boundary ? "chunk and micro-batch"
                                     : "layer and micro-batch";
    return &o;
}

void CommRows::vocabulary_parallel() {
    using enum Collective;
    const GroupKind tp = GroupKind::tp;
    const double s = hidden_bytes_, heads = head_passes(plan_.model);
    if (plan_.layout.sequence_parallel) {
        put(tp, Unit::embedding, Phase::forward, reduce_scatter, What::embedded_tokens, s);
        put(tp, Unit::embedding, Phase::backward, all_gather, What::gradients_of_the_embedded_tokens, s);
        put(tp, Unit::head, Phase::forward, all_gather, What::activations_before_the_head, s, heads);
        put(tp, Unit::head, Phase::backward, reduce_scatter, What::gradients_before_the_head, s, heads);
        if (!facts_of(plan_.training.software).inputs_whole)
            put(tp, Unit::head, Phase::backward, all_gather, What::head_input_again_for_the_weight_gradient,
                s, heads);
    } else {
        put(tp, Unit::embedding, Phase::forward, all_reduce, What::embedded_tokens, s);
        put(tp, Unit::head, Phase::backward, all_reduce, What::gradients_before_the_head, s, heads);
    }
    // The call sums the largest logit, the logit of the label and the exponentials: Megatron's vocab-parallel
    // cross entropy.
    put(tp, Unit::head, Phase::forward, all_reduce, What::cross_entropy, tokens_ * bytes_of(Dtype::fp32),
        3 * heads);
}

void CommRows::pipeline() {
    using enum Collective;
    const GroupKind pp = GroupKind::pp;
    const double shards = plan_.layout.sequence_parallel ? static_cast<double>(plan_.layout.tp) : 1;
    // All residual streams go on (Megatron-LM pull request 4946, get_tensor_shapes).
    const double message = hidden_bytes_ * residual_streams(plan_.model) / shards, m = resolved_.runs;
    const auto chunks = static_cast<double>(out_.stages.chunks);
    const bool v_shaped = traits_of(plan_.layout.schedule).placement != StagePlacement::loop;
    // With two devices each chunk sends one way only, except where loops close; a V never closes, nor do
    // DualPipe's two copies, which run against each other.
    const double back = plan_.layout.pp > 2 ? chunks : v_shaped ? chunks / 2 : chunks - 1;
    const double on = plan_.layout.pp > 2 || !v_shaped ? chunks : chunks / 2;
    put(pp, Unit::boundary, Phase::forward, send_recv, What::activations_to_the_next_stage, message, on * m);
    put(pp, Unit::boundary, Phase::backward, send_recv, What::gradients_to_the_previous_stage, message,
        back * m);
    if (out_.embedding_copies > 0) {
        const double bytes = out_.held.word_embedding * bytes_of(plan_.training.gradients);
        put(pp, 1 + out_.embedding_copies, Unit::step, Phase::step, all_reduce,
            plan_.model.tied_embeddings ? What::gradients_of_the_tied_embedding_first_and_last_stage
                                        : What::gradients_of_the_word_embedding_first_and_last_stage,
            bytes, 1);
    }
}

void list_calls(const ResolvedPlan& r, const PartsByType& parts, Comm& out) {
    out.clear();
    if (r.mesh.world == 0) return;
    lay_stages(r.plan, r.types, r.shape, out.stages);
    out.held = held_numbers(r.plan.model, r.types, r.degrees);
    find_busiest(r.plan, out);
    CommRows(r, parts, out).list();
}

namespace {

void add(AxisTraffic& to, const Operation& o) {
    to.count += o.count_per_step;
    to.sent_bytes_per_rank += o.sent_bytes_per_rank;
    to.payload_bytes += o.count_per_step * o.message_bytes;
    to.time_s += o.time_s;
    to.exposed_s += o.exposed_s;
}

}  // namespace

void Comm::clear() {
    operations.clear();
    by_axis.fill({});
    sync_points_per_microbatch = 0;
    busiest_device = 0;
    busiest = {};
    stages.clear();
    held = {};
    reduced = {};
    reducing.clear();
    embedding_copies = 0;
}

namespace {

// Keeps a device's numbers where no other has as many of both kinds, in the order of devices.
void list_reducing(const StageNumbers& own, std::vector<StageNumbers>& list) {
    const auto covers = [](const StageNumbers& a, const StageNumbers& b) {
        return a.dense.all() >= b.dense.all() && a.experts.all() >= b.experts.all();
    };
    for (const StageNumbers& other : list)
        if (covers(other, own)) return;
    std::erase_if(list, [&](const StageNumbers& other) { return covers(own, other); });
    list.push_back(own);
}

}  // namespace

void find_busiest(const Plan& plan, Comm& out) {
    const Model& m = plan.model;
    const HeldNumbers& h = out.held;
    double used = 1;  // share of the experts that it holds
    if (m.moe && m.moe->experts > 0) {
        const double local = static_cast<double>(m.moe->experts) / static_cast<double>(plan.layout.ep);
        used = static_cast<double>(m.moe->top_k) / std::max(local, 1.0);
    }
    double most = -1;
    int copies = 0;  // of the embedding, on this device
    for (int d = 0; d < out.stages.devices; ++d) {
        if (repeats_previous(out.stages, d)) {
            out.embedding_copies += copies;
            continue;
        }
        const StageContents& contents = out.stages.contents(d);
        copies = copies_embedding(m, contents) ? 1 : 0;
        out.embedding_copies += copies;
        const StageNumbers held = numbers_of(m, h, contents);
        if (held.dense.all() > out.reduced.dense.all()) out.reduced.dense = held.dense;
        if (held.experts.all() > out.reduced.experts.all()) out.reduced.experts = held.experts;
        list_reducing(held, out.reducing);
        double work = 0;
        for (int t = 0; t < h.layer.size(); ++t)
            work += contents.with_mtp(t, h.mtp_type) * (h.of(t).dense.all() + h.of(t).experts.all() * used);
        if (work <= most) continue;
        most = work;
        out.busiest_device = d;
    }
    out.busiest = all_chunks(out.stages, out.busiest_device);
}

namespace {

// Counts how often the device that `comm` counts for makes this call, in a step of so many runs of each of
// its chunks.
void count_row(const Comm& comm, double runs, Operation& o) {
    const ChunkLayers& b = comm.busiest;
    switch (o.unit) {
    case Unit::every_layer:
    case Unit::dense_layer:
    case Unit::moe_layer:
        o.count_per_step = o.calls * sum_of(o.recomputed ? b.recomputed : b.types, o.types) * runs;
        break;
    case Unit::embedding:
    case Unit::head: o.count_per_step = o.calls * runs; break;
    case Unit::boundary:
    case Unit::step: o.count_per_step = o.calls; break;
    }
    o.on_other_stage = (o.unit == Unit::embedding && !b.first) || (o.unit == Unit::head && !b.last);
    o.sent_bytes_per_rank = o.count_per_step * sent_bytes(o.collective, o.group_size, o.message_bytes);
}

double sync_points(const ResolvedPlan& r, const Comm& comm) {
    const LayerTypes& types = r.types;
    const LayerCounts& counts = r.counts;
    const PerType<double> share =
        r.plan.training.recompute.any() ? shares_recomputed(comm.stages) : PerType<double>(types.size());
    double points = 0;
    for (const Operation& o : comm.operations) {
        if (!is_sync_point(o)) continue;
        if (!o.recomputed) {
            points += o.calls * sum_of(counts, o.types);
            continue;
        }
        for (int t = 0; t < types.size(); ++t)
            if (has(o.types, t)) points += o.calls * counts[t] * share[t];
    }
    return points;
}

}  // namespace

void count_calls(double runs, int device, Comm& comm) {
    comm.busiest_device = device;
    comm.busiest = all_chunks(comm.stages, device);
    for (Operation& o : comm.operations) count_row(comm, runs, o);
}

void count_calls(const Plan& plan, int device, Comm& comm) {
    count_calls(runs_of(schedule_of(plan.layout), microbatches_or_one(plan)), device, comm);
}

void sum_calls(const ResolvedPlan& resolved, Comm& comm) {
    comm.sync_points_per_microbatch = sync_points(resolved, comm);
    comm.by_axis.fill({});
    for (const Operation& o : comm.operations)
        if (!o.on_other_stage) add(comm.by_axis[o.group], o);
}

std::vector<TrafficFlow> traffic_flows(const Comm& comm) {
    EnumArray<GroupKind, std::array<AxisTraffic, kMaxTiers>> sums{};
    for (const Operation& o : comm.operations)
        if (!o.on_other_stage) add(sums[o.group][std::clamp(o.tier, 0, kMaxTiers - 1)], o);
    std::vector<TrafficFlow> out;
    for (const GroupKind kind : all_of<GroupKind>())
        for (int tier = 0; tier < kMaxTiers; ++tier)
            if (const AxisTraffic& t = sums[kind][tier]; t.count > 0) out.push_back({kind, tier, t});
    return out;
}

std::string_view name_of(Scope s) {
    constexpr std::array<std::string_view, 4> names{"layer", "embedding", "head", "step"};
    return names[static_cast<std::size_t>(s)];
}
std::string_view name_of(Phase p) {
    constexpr std::array<std::string_view, 3> names{"forward", "backward", "step"};
    return names[static_cast<std::size_t>(p)];
}
std::string_view name_of(HiddenBehind h) {
    constexpr EnumArray<HiddenBehind, std::string_view> names{"",
                                                              "attention core",
                                                              "the products beside it",
                                                              "another micro-batch's compute",
                                                              "other micro-batches' compute",
                                                              "forward compute",
                                                              "backward compute"};
    static_assert(!names.back().empty());
    return names[h];
}

std::string_view name_of(WaitsBecause why) {
    constexpr EnumArray<WaitsBecause, std::string_view> names{
        "", "nothing_to_hide_behind", "longer_than_window", "card_busy", "software_does_not_overlap"};
    static_assert(!names.back().empty());
    return names[why];
}

std::string_view words_of(WaitsBecause why) {
    constexpr EnumArray<WaitsBecause, std::string_view> names{
        "", "nothing to hide behind", "longer than what it hides behind", "other traffic has the wire",
        "the software does not overlap it"};
    static_assert(!names.back().empty());
    return names[why];
}

std::string rows_device_text(const Comm& comm) {
    return comm.stages.devices > 1 ? "a GPU of stage " + std::to_string(comm.busiest_device) : "each GPU";
}

std::string sync_peers_text(const Comm& comm) {
    struct Peers {
        std::string_view word;
        bool waits = false;
    };
    std::array<Peers, 3> all{{{"tensor"}, {"context"}, {"expert"}}};
    for (const Operation& o : comm.operations) {
        if (!is_sync_point(o)) continue;
        all[0].waits |= o.group == GroupKind::tp || o.group == GroupKind::etp || o.group == GroupKind::etp_ep;
        all[1].waits |= o.group == GroupKind::cp;
        all[2].waits |= o.group == GroupKind::ep || o.group == GroupKind::etp_ep;
    }
    std::string text;
    int left =
        static_cast<int>(std::count_if(all.begin(), all.end(), [](const Peers& p) { return p.waits; }));
    for (const Peers& p : all) {
        if (!p.waits) continue;
        if (!text.empty()) text += left == 1 ? " and " : ", ";
        text += p.word;
        --left;
    }
    return text.empty() ? text : text + " peers";
}

// Lists the reductions and gathers of data parallelism: gradients and parameters.

void CommRows::gradients() {
    double left = 0;  // on a rank, after the reductions
    for (const bool experts : {false, true}) {
        const double numbers = experts ? out_.reduced.experts.all() : out_.reduced.dense.all();
        const StateCallList calls = list_state_calls(plan_, resolved_.mesh, resolved_.groups, experts);
        for (const StateCall& c : calls) put_state(c, numbers);
        left += numbers / calls.back().cut;
    }
    two_copies(left);
}

void CommRows::put_state(const StateCall& c, double numbers) {
    const double parts = c.by_layer ? std::max(out_.busiest.layers(), 1.0) : 1;
    const Phase phase = !c.by_layer                                          ? Phase::step
                        : c.collective == Collective::all_gather && !c.again ? Phase::forward
                                                                             : Phase::backward;
    Operation* o = put(c.group, c.ranks, Unit::step, phase, c.collective, c.what,
                       numbers / c.cut * c.bytes / parts, c.rounds.times * parts);
    if (o == nullptr) return;
    o->each = c.rounds.each, o->rounds = c.rounds.times;
    if (c.by_layer) o->scope = Scope::layer;
    switch (c.rounds.each) {
    case GradientReduction::micro_batch: o->per = c.by_layer ? "layer and micro-batch" : "micro-batch"; break;
    case GradientReduction::run: o->per = c.by_layer ? "layer and run" : "run"; break;
    default: o->per = c.by_layer ? "layer" : "step";
    }
}

void CommRows::two_copies(double numbers) {
    if (traits_of(plan_.layout.schedule).placement != StagePlacement::two_copies || plan_.layout.pp <= 1)
        return;
    using enum Collective;
    put(GroupKind::pp, 2, Unit::step, Phase::step, reduce_scatter, What::gradients_of_a_stages_two_copies,
        numbers * bytes_of(plan_.training.gradients), 1);
    put(GroupKind::pp, 2, Unit::step, Phase::step, all_gather,
        What::updated_parameters_of_a_stages_two_copies, numbers * updated_bytes(plan_.training), 1);
}

}  // namespace pentamesh
