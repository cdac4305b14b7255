#include "core/teach/stage_loaf.h"

#include "core/sharding/sharding.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {
namespace {

StageBox box_of(const Plan& plan, const Evaluation& e, const Degrees& degrees, std::int64_t rank) {
    StageBox out;
    const RankContents contents = contents_of(plan, e.mesh, rank);
    const StageMemory& m = e.memory.stage[static_cast<std::size_t>(contents.stage)];
    out.stage = static_cast<int>(contents.stage);
    out.rank = rank;
    for (std::size_t c = 0; c < contents.chunks.size(); ++c) {
        const auto& range = contents.chunks[c].layers;
        out.pieces.push_back({out.stage, static_cast<int>(c), range.begin, range.end});
        out.layers += range.size();
    }
    out.embedding = m.embedding;
    out.head = m.head;
    out.copied_table = copies_embedding(plan.model, m);
    out.optimizer = m.optimizer;
    out.gradients = m.gradients;
    out.parameters = m.parameters;
    out.buffers = m.buffers;
    if (m.head) {
        const double embedded =
            m.embedding ? layer_sums(plan, degrees, ModelEnd::embedding).kept * m.in_flight : 0;
        out.head_bytes = std::max(0.0, m.activations - m.layer_activations - embedded);
    }
    out.slices = m.in_flight * cost_divisor(shape_of(plan, e.microbatches));
    if (out.slices > 0) out.slice_bytes = (m.activations - out.head_bytes) / out.slices;
    return out;
}

StageCut cut_of(const Plan& plan, const Comm& comm) {
    StageCut out;
    for (const Operation& o : comm.operations) {
        if (o.group != GroupKind::pp) continue;
        if (o.what == What::activations_to_the_next_stage) out.activation_bytes = o.message_bytes;
        if (o.what == What::gradients_to_the_previous_stage) out.gradient_bytes = o.message_bytes;
        if (o.collective == Collective::all_reduce
            && (o.what == What::gradients_of_the_tied_embedding_first_and_last_stage
                || o.what == What::gradients_of_the_word_embedding_first_and_last_stage)) {
            out.table_bytes = o.sent_bytes_per_rank;
            out.table_stages = o.group_size;
        }
    }
    out.closes =
        comm.stages.chunks > 1 && traits_of(schedule_of(plan.layout)).placement == StagePlacement::loop;
    return out;
}

// Counts what each piece keeps at most.
void count_kept(const Timeline& t, StageBox& box) {
    std::vector<int> kept(box.pieces.size());
    const auto d = static_cast<std::size_t>(box.stage);
    for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
        const Op& op = t.order.ops[i];
        if (op.kind == OpKind::F || op.kind == OpKind::FB) {
            StagePiece& piece = box.pieces[op.chunk];
            piece.most_kept = std::max(piece.most_kept, ++kept[op.chunk]);
        }
        if (op.kind == OpKind::FB) --kept[op.backward_chunk];
        if (op.kind == OpKind::B || op.kind == OpKind::W) --kept[op.chunk];
    }
}

// The pieces in model order: a stage of two copies of the model is named once.
std::vector<StagePiece> pieces_of(const Plan& plan, const Evaluation& e) {
    const Stages& stages = e.comm.stages;
    const ScheduleShape shape = shape_of(plan, e.microbatches);
    std::vector<StagePiece> out;
    for (std::size_t k = 0; k + 1 < stages.first_layer.size(); ++k)
        for (int c = 0; c < stages.chunks; ++c) {
            const int device = device_of(shape, static_cast<int>(k), c);
            if (device < 0 || device >= stages.devices) continue;
            out.push_back({device, c, stages.first_layer[k], stages.first_layer[k + 1]});
            break;
        }
    return out;
}

bool grows_to_first(const Plan& plan, const Evaluation& e) {
    const auto stages = static_cast<std::int64_t>(e.memory.stage.size());
    for (const StageMemory& s : e.memory.stage)
        if (std::abs(s.in_flight - static_cast<double>(std::min(stages - s.stage, e.microbatches))) > 1e-9)
            return false;
    return schedule_of(plan.layout) == Schedule::one_f_one_b;
}

// A change of how full the stages are: their sum, each against its peak.
struct Change {
    double time = 0, by = 0;
};

// Returns the middle of the first stretch in which the stages hold most.
double fullest_moment(const Timeline& t) {
    std::vector<Change> changes;
    for (int d = 0; d < t.shape.devices; ++d) {
        const double peak = t.device[static_cast<std::size_t>(d)].peak_in_flight;
        double before = 0;
        for (const InFlightStep& s : in_flight(t, d)) {
            if (peak > 0) changes.push_back({s.time, (s.held - before) / peak});
            before = s.held;
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.time < b.time; });
    constexpr double kRounding = 1e-9;
    double now = 0, most = 0, from = 0, to = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        now += changes[i].by;
        const double until = i + 1 < changes.size() ? changes[i + 1].time : t.makespan;
        if (until <= changes[i].time) continue;
        if (now > most + kRounding) most = now, from = changes[i].time, to = until;
    }
    return (from + to) / 2;
}

// Returns when the first device has finished its first backward: from then on it does the same again.
double first_return(const Timeline& t) {
    for (std::size_t i = t.order.begin[0]; i < t.order.begin[1]; ++i)
        if (const OpKind k = t.order.ops[i].kind; k == OpKind::B || k == OpKind::W || k == OpKind::FB)
            return t.end[i];
    return t.makespan;
}

}  // namespace

LoafRound round_of(const Plan& plan, const Evaluation& e) {
    LoafRound out{1, std::max<std::int64_t>(e.microbatches, 1)};
    if (plan.layout.pp <= 1 || e.in_flight.empty()) return out;
    const double most = *std::max_element(e.in_flight.begin(), e.in_flight.end());
    out.at_once =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(most - 1e-9)), 1, out.microbatches);
    return out;
}

StageLoaf stage_loaf_of(const Plan& plan, const Evaluation& e, std::int64_t rank, std::size_t most) {
    StageLoaf out;
    const Mesh& mesh = e.mesh;
    std::vector<std::int64_t> ranks =
        group_members(mesh, GroupKind::pp, std::clamp<std::int64_t>(rank, 0, mesh.world - 1));
    out.stages = static_cast<std::int64_t>(ranks.size());
    if (ranks.size() > most) {
        out.left_out = out.stages - 4;
        ranks = {ranks[0], ranks[1], ranks[2], ranks.back()};
    }
    const Degrees degrees = degrees_of(plan, mesh);
    for (const std::int64_t r : ranks) out.boxes.push_back(box_of(plan, e, degrees, r));
    out.pieces = pieces_of(plan, e);
    out.cut = cut_of(plan, e.comm);
    out.grows_to_first = grows_to_first(plan, e);
    const Timeline& t = e.timeline;
    if (t.empty() || !t.complete) return out;
    for (StageBox& box : out.boxes) count_kept(t, box);
    out.fullest_s = fullest_moment(t);
    constexpr double kRounds = 1.5, kMostOfIt = 0.6;
    out.shown_s = kRounds * std::max(first_return(t), out.fullest_s);
    if (out.shown_s > kMostOfIt * t.makespan) out.shown_s = t.makespan;
    return out;
}

std::vector<KeptSlice> kept_at(const Timeline& t, int device, double time_s) {
    std::vector<KeptSlice> out;
    const auto d = static_cast<std::size_t>(device);
    for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1]; ++i) {
        if (t.start[i] > time_s) break;
        const Op& op = t.order.ops[i];
        if (op.kind == OpKind::F || op.kind == OpKind::FB) out.push_back({op.chunk, op.microbatch});
        if (t.end[i] > time_s || op.kind == OpKind::F || op.kind == OpKind::I) continue;
        const KeptSlice ends = op.kind == OpKind::FB ? KeptSlice{op.backward_chunk, op.backward_microbatch}
                                                     : KeptSlice{op.chunk, op.microbatch};
        std::erase(out, ends);
    }
    return out;
}

int chunk_of_head(const StageBox& box) {
    const auto later = [](const StagePiece& a, const StagePiece& b) { return a.end < b.end; };
    const auto last = std::max_element(box.pieces.begin(), box.pieces.end(), later);
    return last == box.pieces.end() ? 0 : last->chunk;
}

double head_bytes_at(const Plan& plan, const StageBox& box, const std::vector<KeptSlice>& kept) {
    if (box.head_bytes <= 0 || kept.empty() || box.slices <= 0) return 0;
    if (traits_of(schedule_of(plan.layout)).head_held == HeadHeld::one) {
        const int last = chunk_of_head(box);
        const auto there = [&](const KeptSlice& k) { return k.chunk == last; };
        return std::any_of(kept.begin(), kept.end(), there) ? box.head_bytes : 0;
    }
    return box.head_bytes * std::min(1.0, static_cast<double>(kept.size()) / box.slices);
}

}  // namespace pentamesh
