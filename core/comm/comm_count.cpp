#include "core/comm/comm_count.h"

#include "core/comm/comm_rows.h"
#include "core/model/model.h"
#include "core/pipeline/one_stage.h"
#include "core/plan/factors.h"

#include <algorithm>
#include <array>

namespace pentamesh {
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

}  // namespace pentamesh
