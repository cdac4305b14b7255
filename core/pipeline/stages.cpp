#include "core/pipeline/stages.h"

#include "core/model/model.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace pentamesh {
namespace {

// Which of a chunk's layers begin .. end-1 run again in the backward pass.
void find_again(const Plan& plan, const LayerTypes& types, std::int64_t begin, std::int64_t end,
                ChunkLayers& k) {
    const RecomputeChoice& r = plan.training.recompute;
    if (!r.any()) return k.again.resize(types.size());
    const std::int64_t last = r.some_layers() ? std::min(saturating_sum(begin, r.layers), end) : end;
    k.again = last == end ? k.types : count_layers(plan.model, types, begin, last);
    const std::int64_t again = last - begin, unit = std::max<std::int64_t>(r.unit(), 1);
    const std::int64_t units = (again + unit - 1) / unit;
    k.skipped = static_cast<double>(again - units);
}

// Prediction layers run again with the others, but where these are counted (Megatron-LM
// multi_token_prediction.py).
void add_mtp(const Plan& plan, const LayerTypes& types, ChunkLayers& k) {
    const RecomputeChoice& r = plan.training.recompute;
    k.mtp = static_cast<double>(plan.model.mtp_layers);
    k.mtp_again = r.any() && !r.some_layers() ? k.mtp : 0;
    k.types[types.mtp] += static_cast<std::uint32_t>(k.mtp);
    k.again[types.mtp] += static_cast<std::uint32_t>(k.mtp_again);
}

// From this layer on all are of one type; none: beyond the last.
std::int64_t first_alike(const Model& m) {
    if (!m.pattern.empty()) return std::numeric_limits<std::int64_t>::max();
    if (!m.moe) return 0;
    return m.moe->every <= 1 ? std::max<std::int64_t>(m.moe->first_dense_layers, 0)
                             : std::numeric_limits<std::int64_t>::max();
}

std::int64_t chunk_count(const Layout& l) {
    const bool two_copies = traits_of(l.schedule).placement == StagePlacement::two_copies;
    const std::int64_t v = two_copies ? 1 : std::max<std::int64_t>(l.virtual_stages, 1);
    const std::int64_t p = std::max<std::int64_t>(l.pp, 1);
    return p > kMostChunks / v ? 0 : p * v;
}

}  // namespace

void layers_of_chunks(const Plan& plan, std::vector<std::int64_t>& out) {
    const std::int64_t n = chunk_count(plan.layout);
    const auto& given = plan.layout.stage_layers;
    if (!given.empty() && static_cast<std::int64_t>(given.size()) == n) {
        out.assign(given.begin(), given.end());
        return;
    }
    const std::int64_t layers = std::max<std::int64_t>(plan.model.layers, 0);
    out.assign(static_cast<std::size_t>(n), n > 0 ? layers / n : 0);
    // What is left goes to the chunks before the last: later stages keep fewer micro-batches in flight. Then,
    // if there is more, to the last; the first takes the fewer to the end.
    const std::int64_t left = n > 0 ? layers % n : 0;
    const std::int64_t end = left <= n - 2 ? n - 1 : n;
    for (std::int64_t i = end - left; i < end; ++i) ++out[i];
}

ScheduleShape shape_of(const Plan& plan, std::int64_t microbatches) {
    const auto within = [](std::int64_t n, std::int64_t least, std::int64_t most) {
        return static_cast<int>(std::clamp(n, least, most));
    };
    const Layout& l = plan.layout;
    ScheduleShape s;
    s.schedule = l.schedule;
    s.devices = within(l.pp, 1, kMostChunks);
    s.microbatches = within(microbatches, 1, kMaxWorld);
    s.chunks = within(l.virtual_stages, 1, kMostChunks);
    s.group = within(l.microbatch_group.value_or(0), 0, kMaxWorld);
    return s;
}

void Stages::clear() {
    devices = chunks = 1;
    types = 0, mtp_type = 0;
    chunk.clear();
    repeats.clear();
    first_layer.clear();
}

std::int64_t mtp_chunk_of(const Layout& layout, std::int64_t chunks) {
    return std::clamp<std::int64_t>(layout.mtp_chunk.value_or(chunks - 1), 0, chunks - 1);
}

ChunkLayers chunk_of(const Plan& plan, const LayerTypes& types, const ChunkRange& range) {
    ChunkLayers k;
    k.types = count_layers(plan.model, types, range.begin, range.end);
    k.first = range.first;
    k.last = range.last;
    find_again(plan, types, range.begin, range.end, k);
    if (range.mtp) add_mtp(plan, types, k);
    const LayerMask moe_types = types.moe();
    k.moe = sum_of(k.types, moe_types);
    k.dense = sum_of(k.types, types.all() & ~moe_types);
    return k;
}

void lay_stages(const Plan& plan, const ScheduleShape& shape, Stages& out) {
    const Model& m = plan.model;
    layers_of_chunks(plan, out.first_layer);
    if (out.first_layer.empty()) return out.clear();
    // Running sum, from the layers of each virtual stage to the first of each.
    std::int64_t sum = 0;
    for (std::int64_t& layers : out.first_layer) sum = saturating_sum(sum, std::exchange(layers, sum));
    out.first_layer.push_back(sum);
    out.devices = shape.devices;
    out.chunks = chunks_of(shape);
    const int virtual_stages = static_cast<int>(out.first_layer.size()) - 1;
    out.chunk.resize(static_cast<std::size_t>(out.devices * out.chunks));
    const std::int64_t* const first_layer = out.first_layer.data();
    ChunkLayers* k = out.chunk.data();
    const LayerTypes types = layer_types(m);
    out.types = types.size(), out.mtp_type = types.mtp;
    out.repeats.assign(static_cast<std::size_t>(out.devices), false);
    const std::int64_t mtp_stage = mtp_chunk_of(plan.layout, virtual_stages);
    // Most chunks hold as many layers, all of one type: they are laid once and copied.
    const std::int64_t alike_from = first_alike(m);
    const ChunkLayers* usual = nullptr;
    std::int64_t usual_layers = 0;
    int usual_before = 0;  // chunks of the device before that are copies of it
    for (int d = 0; d < out.devices; ++d) {
        int usual_here = 0;
        for (int c = 0; c < out.chunks; ++c, ++k) {
            const int stage = stage_of(shape, d, c);
            const std::int64_t begin = first_layer[stage], end = first_layer[stage + 1];
            const bool between = stage != 0 && stage != virtual_stages - 1 && stage != mtp_stage;
            const bool alike = between && begin >= alike_from;
            if (alike && usual && end - begin == usual_layers) {
                *k = *usual;
                ++usual_here;
                continue;
            }
            *k = chunk_of(plan, types,
                          {begin, end, stage == 0, stage == virtual_stages - 1, stage == mtp_stage});
            if (alike && !usual) usual = k, usual_layers = end - begin, ++usual_here;
        }
        const bool copied = usual_here == out.chunks && usual_before == out.chunks;
        const ChunkLayers* const end = k;
        if (d > 0)
            out.repeats[d] =
                copied || std::equal(end - out.chunks, end, end - std::ptrdiff_t{2} * out.chunks);
        usual_before = usual_here;
    }
}

namespace {
// Prediction layers among them.
void add_types(const Stages& stages, int device, LayerCounts& types, LayerCounts& again) {
    types.assign(stages.types), again.assign(stages.types);
    for (int c = 0; c < stages.chunks; ++c) {
        const ChunkLayers& k = stages.chunk[device * stages.chunks + c];
        for (int t = 0; t < stages.types; ++t) types[t] += k.types[t], again[t] += k.again[t];
    }
}
}  // namespace

PerType<double> shares_again(const Stages& stages) {
    PerType<double> all(stages.types), again(stages.types);
    LayerCounts own, own_again;
    for (int d = 0; d < stages.devices; ++d) {
        if (!repeats_previous(stages, d)) add_types(stages, d, own, own_again);
        for (int t = 0; t < stages.types; ++t) all[t] += own[t], again[t] += own_again[t];
    }
    for (int t = 0; t < stages.types; ++t) again[t] = all[t] > 0 ? again[t] / all[t] : 0;
    return again;
}

StageContents contents_of(const Model& model, const Stages& stages, int device) {
    StageContents s;
    s.types.resize(stages.types), s.again.resize(stages.types);
    for (int c = 0; c < stages.chunks; ++c) {
        const ChunkLayers& k = stages.chunk[device * stages.chunks + c];
        const auto mtp = static_cast<std::int64_t>(k.mtp);
        s.skipped += static_cast<std::int64_t>(k.skipped);
        s.layers += static_cast<std::int64_t>(k.layers()) - mtp;
        s.moe_layers += static_cast<std::int64_t>(k.moe) - moe_of_mtp(model, mtp);
        s.mtp_layers += mtp;
        for (int t = 0; t < stages.types; ++t) s.types[t] += k.types[t], s.again[t] += k.again[t];
        s.types[stages.mtp_type] -= static_cast<std::uint32_t>(mtp);
        s.again[stages.mtp_type] -= static_cast<std::uint32_t>(k.mtp_again);
        s.embedding |= k.first;
        s.head |= k.last;
    }
    return s;
}

}  // namespace pentamesh
