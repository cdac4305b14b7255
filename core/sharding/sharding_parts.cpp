// Finds which part of a tensor, which layers, experts and tokens one rank holds.
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/stages.h"
#include "core/plan/software.h"
#include "core/sharding/sharding.h"
#include "core/sharding/sharding_rules.h"

namespace pentamesh {
namespace {

// Returns the index of a rank among the ranks of two axes together, in rank order.
std::int64_t joint_index(const EnumArray<Axis, Factor>& factors, const Coordinates& c, Axis a, Axis b) {
    const Factor &x = factors[a], &y = factors[b];
    return x.stride <= y.stride ? c[b] * x.size + c[a] : c[a] * y.size + c[b];
}

// Returns tokens [begin, end) of pieces laid one after the other.
std::vector<Range> slice(const std::vector<Range>& pieces, std::int64_t begin, std::int64_t end) {
    std::vector<Range> out;
    std::int64_t offset = 0;
    for (const Range& r : pieces) {
        const std::int64_t from = std::max(begin, offset), to = std::min(end, offset + r.size());
        if (from < to) out.push_back({r.begin + from - offset, r.begin + to - offset});
        offset += r.size();
    }
    return out;
}

std::int64_t length_of(const std::vector<Range>& pieces) {
    std::int64_t n = 0;
    for (const Range& r : pieces) n += r.size();
    return n;
}

struct RankPlace {
    const Plan& plan;
    const Mesh& mesh;
    Coordinates dense, expert;
    RankPlace(const Plan& p, const Mesh& m, std::int64_t rank)
        : plan(p), mesh(m), dense(dense_coordinates(m, rank)), expert(expert_coordinates(m, rank)) {}
    [[nodiscard]] std::int64_t size(Axis a) const { return size_of(mesh.dense, a); }
};

// ---- what a stage holds ---------------------------------------------------------------------------------

StageContents find_layers(const RankPlace& w, RankContents& out) {
    const Plan& plan = w.plan;
    const ScheduleShape shape = shape_of(plan, 1);
    Stages stages;
    lay_stages(plan, shape, stages);
    out.stage = w.dense[Axis::pp];
    const auto device = static_cast<int>(out.stage);
    if (device >= stages.devices || stages.empty()) return {};
    for (int c = 0; c < stages.chunks; ++c) {
        const int v = stage_of(shape, device, c);
        const std::int64_t* const first = &stages.first_layer[v];
        out.chunks.push_back({v, {first[0], first[1]}});
    }
    StageContents own = stages.contents(device);
    out.embedding = own.embedding;
    out.head = own.head;
    out.mtp_layers = own.mtp_layers;
    return own;
}

bool holds(const Model& model, const StageContents& c, const Placement& p) {
    if (p.place == Place::embedding)
        return c.embedding || (p.id == TensorId::embedding && copies_embedding(model, c));
    if (p.place == Place::head) return c.head;
    if (p.place == Place::mtp) return c.mtp_layers > 0;
    const bool of_mtp = c.mtp_layers > 0 && has(p.types, layer_types(model).mtp);
    return of_mtp || sum_of(c.types, p.types) > 0;
}

// ---- boxes ----------------------------------------------------------------------------------------------

// Returns the range of a dimension that tp cuts.
Range tp_range(const Placement& p, std::int64_t length, std::int64_t n, std::int64_t i) {
    if (p.kv_heads == 0) return chunk_of(length, n, i, p.unit);
    const Range heads = kv_heads_of(p.kv_heads, n, i);
    return {heads.begin * p.unit, heads.end * p.unit};
}

void weights_box(const RankPlace& w, const Placement& p, Part& part) {
    const Coordinates& c = p.expert ? w.expert : w.dense;
    const auto& factors = p.expert ? w.mesh.expert : w.mesh.dense;
    const AxisPlacement& tp = p.on(Axis::tp);
    if (p.on(Axis::ep).spread == Spread::cut)
        part.box[0] = experts_of(p.shape[0], p.on(Axis::ep).size, c[Axis::ep]);
    if (tp.spread == Spread::cut) {
        const std::size_t d = tp.dim == Dim::columns ? 2 : 1;
        part.box[d] = tp_range(p, p.shape[d], tp.size, c[Axis::tp]);
    }
    const AxisPlacement &shard = p.on(Axis::dp_shard), &cp = p.on(Axis::cp);
    const Dim dim = shard.spread == Spread::cut ? shard.dim : cp.spread == Spread::cut ? cp.dim : Dim::none;
    const std::int64_t shards = shard.size * cp.size;
    const std::int64_t index = joint_index(factors, c, Axis::dp_shard, Axis::cp);
    if (dim == Dim::rows) {
        const Range r = chunk_of(part.box[1].size(), shards, index);
        part.box[1] = {part.box[1].begin + r.begin, part.box[1].begin + r.end};
    }
    const std::int64_t numbers =
        saturating_product(saturating_product(part.box[0].size(), part.box[1].size()), part.box[2].size());
    part.flat = dim == Dim::flat ? chunk_of(numbers, shards, index) : Range{0, numbers};
    part.numbers = part.flat.size();
}

void dense_activation_box(const RankPlace& w, const Placement& p, Part& part) {
    const std::int64_t replica = joint_index(w.mesh.dense, w.dense, Axis::dp_shard, Axis::dp_replicate);
    const std::int64_t own = p.local[0];
    part.box[0] = {replica * own, (replica + 1) * own};
    const AxisPlacement &cp = p.on(Axis::cp), &tp = p.on(Axis::tp);
    std::vector<Range> tokens{{0, p.shape[1]}};
    if (cp.spread == Spread::cut && cp.dim == Dim::sequence)
        tokens = sequence_of(p.shape[1], cp.size, w.dense[Axis::cp], w.plan.layout.cp_comm);
    if (tp.spread == Spread::cut && tp.dim == Dim::sequence) {
        const Range r = chunk_of(length_of(tokens), tp.size, w.dense[Axis::tp]);
        tokens = slice(tokens, r.begin, r.end);
    }
    if (tp.spread == Spread::cut && tp.dim == Dim::width)
        part.box[2] = tp_range(p, p.shape[2], tp.size, w.dense[Axis::tp]);
    if (cp.spread == Spread::cut && cp.dim == Dim::width) {
        const Range r = chunk_of(part.box[2].size(), cp.size, w.dense[Axis::cp]);
        part.box[2] = {part.box[2].begin + r.begin, part.box[2].begin + r.end};
    }
    part.box[1] = tokens.empty() ? Range{} : tokens[0];
    if (tokens.size() > 1) part.second = tokens[1];
    part.numbers = saturating_product(saturating_product(own, length_of(tokens)), part.box[2].size());
    part.flat = {0, part.numbers};
}

void dispatched_box(const RankPlace& w, const Placement& p, Part& part) {
    const Coordinates& c = w.expert;
    const AxisPlacement& tp = p.on(Axis::tp);
    part.box[0] = experts_of(p.shape[0], p.on(Axis::ep).size, c[Axis::ep]);
    const std::int64_t edp = p.on(Axis::dp_shard).size * p.on(Axis::dp_replicate).size;
    part.box[1] =
        chunk_of(p.shape[1], edp, joint_index(w.mesh.expert, c, Axis::dp_shard, Axis::dp_replicate));
    if (tp.spread == Spread::cut) part.box[2] = tp_range(p, p.shape[2], tp.size, c[Axis::tp]);
    part.numbers =
        saturating_product(saturating_product(part.box[0].size(), part.box[1].size()), part.box[2].size());
    part.flat = {0, part.numbers};
}

}  // namespace

Range experts_of(std::int64_t experts, std::int64_t parts, std::int64_t ep) {
    return chunk_of(experts, parts, ep);
}

std::int64_t owner_of_expert(std::int64_t experts, std::int64_t parts, std::int64_t expert) {
    return expert / std::max<std::int64_t>(divide_up(experts, parts), 1);
}

double imbalance_of(const std::vector<double>& load, std::int64_t parts) {
    const auto experts = static_cast<std::int64_t>(load.size());
    parts = std::max<std::int64_t>(parts, 1);
    double most = 0, all = 0;
    for (std::int64_t ep = 0; ep < parts; ++ep) {
        const Range own = experts_of(experts, parts, ep);
        double sum = 0;
        for (std::int64_t e = own.begin; e < own.end; ++e) sum += load[e];
        most = std::max(most, sum);
        all += sum;
    }
    return all > 0 ? most * static_cast<double>(parts) / all : 1;
}

std::vector<Range> sequence_of(std::int64_t length, std::int64_t parts, std::int64_t i, CpComm comm) {
    if (parts <= 1) return {{0, length}};
    if (comm == CpComm::ulysses) return {chunk_of(length, parts, i)};
    const Range head = chunk_of(length, 2 * parts, i), tail = chunk_of(length, 2 * parts, 2 * parts - 1 - i);
    if (head.end == tail.begin) return {{head.begin, tail.end}};
    return {head, tail};
}

Part part_of(const Plan& plan, const Mesh& mesh, const Placement& placement, std::int64_t rank) {
    const RankPlace w(plan, mesh, rank);
    RankContents rank_contents;
    const StageContents contents = find_layers(w, rank_contents);
    Part part;
    if (!holds(plan.model, contents, placement)) return part;
    part.held = true;
    for (std::size_t i = 0; i < 3; ++i) part.box[i] = {0, placement.shape[i]};
    if (placement.state != TensorState::activations)
        weights_box(w, placement, part);
    else if (placement.expert)
        dispatched_box(w, placement, part);
    else
        dense_activation_box(w, placement, part);
    part.bytes = static_cast<double>(part.numbers) * placement.bytes_per_number;
    return part;
}

RankContents contents_of(const Plan& plan, const Mesh& mesh, std::int64_t rank) {
    const RankPlace w(plan, mesh, rank);
    const Model& m = plan.model;
    RankContents c;
    c.rank = rank;
    static_cast<void>(find_layers(w, c));
    const std::int64_t tp = w.size(Axis::tp), i = w.dense[Axis::tp];
    c.heads = chunk_of(m.heads, tp, i);
    c.kv_heads = m.attention == AttentionKind::mla ? c.heads : kv_heads_of(m.kv_heads, tp, i);
    if (times(m, Place::dense_layer) > 0) c.ffn = chunk_of(m.ffn, tp, i);
    if (c.embedding || c.head) c.vocabulary = chunk_of(m.vocab, tp, i, vocab_multiple_of(plan));
    if (m.moe && mesh.has_experts) {
        c.experts = experts_of(m.moe->experts, size_of(mesh.expert, Axis::ep), w.expert[Axis::ep]);
        c.expert_ffn = chunk_of(m.moe->expert_ffn, size_of(mesh.expert, Axis::tp), w.expert[Axis::tp]);
    } else if (m.moe) {
        c.experts = {0, m.moe->experts};
        c.expert_ffn = {0, m.moe->expert_ffn};
    }
    c.sequence =
        sequence_of(plan.training.sequence_length, w.size(Axis::cp), w.dense[Axis::cp], plan.layout.cp_comm);
    c.sequence_between = c.sequence;
    if (plan.layout.sequence_parallel && tp > 1) {
        const Range r = chunk_of(length_of(c.sequence), tp, i);
        c.sequence_between = slice(c.sequence, r.begin, r.end);
    }
    return c;
}

}  // namespace pentamesh
