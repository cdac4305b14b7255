#include "core/pipeline/stages.h"

#include "core/model/model.h"
#include "core/model/model_tensors.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh {
namespace {

constexpr std::int64_t kMostChunks = std::int64_t{1} << 20;  // beyond any pipeline; keeps hostile plans small

std::int64_t chunk_count(const Layout& l) {
    const std::int64_t v = l.schedule == Schedule::dualpipe ? 1 : std::max<std::int64_t>(l.virtual_stages, 1);
    const std::int64_t p = std::max<std::int64_t>(l.pp, 1);
    return p > kMostChunks / v ? 0 : p * v;
}

double ceil_div(double a, double b) {
    return std::ceil(a / std::max(b, 1.0));
}

// Rows and columns that a rank keeps of one tensor, copies included.
double local_numel(const Tensor& t, double tp, double etp, double ep) {
    const double rows = static_cast<double>(t.rows), cols = static_cast<double>(t.cols);
    const double copies = static_cast<double>(t.copies), unit = static_cast<double>(t.unit);
    const double cut = t.per_expert ? etp : tp;
    const double held = t.per_expert ? ceil_div(copies, ep) : copies;
    switch (t.cut) {
    case TpCut::none: return rows * cols * held;
    case TpCut::row: return rows * std::min(ceil_div(cols / unit, cut) * unit, cols) * held;
    default: return std::min(ceil_div(rows / unit, cut) * unit, rows) * cols * held;
    }
}

// Running sum of the virtual stages' layers. DualPipe's two chunks are two copies of the same p stages; every
// other schedule cuts p * chunks.
void find_first_layers(const Plan& plan, const ScheduleShape& shape, Stages& out) {
    const int n = shape.schedule == Schedule::dualpipe ? shape.devices : shape.devices * out.chunks;
    std::vector<std::int64_t>& v = out.first_layer;
    layers_of_chunks(plan, v);
    if (static_cast<int>(v.size()) != n) {
        v.assign(static_cast<std::size_t>(n), plan.model.layers / n);
        for (std::int64_t i = 0; i < plan.model.layers % n; ++i) ++v[static_cast<std::size_t>(i)];
    }
    std::int64_t sum = 0;
    for (std::int64_t& layers : v) sum += std::exchange(layers, sum);
    v.push_back(sum);
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
    for (std::int64_t i = end - left; i < end; ++i) ++out[static_cast<std::size_t>(i)];
}

ScheduleShape shape_of(const Plan& plan, std::int64_t microbatches) {
    const Layout& l = plan.layout;
    ScheduleShape s;
    s.schedule = l.schedule;
    s.devices = static_cast<int>(std::clamp<std::int64_t>(l.pp, 1, 1 << 20));
    s.microbatches = static_cast<int>(std::clamp<std::int64_t>(microbatches, 1, 1 << 28));
    s.chunks = static_cast<int>(std::clamp<std::int64_t>(l.virtual_stages, 1, 255));
    s.group = static_cast<int>(std::clamp<std::int64_t>(l.microbatch_group.value_or(0), 0, 1 << 28));
    return s;
}

void lay_stages(const Plan& plan, const ScheduleShape& shape, Stages& out) {
    const Model& m = plan.model;
    out.devices = shape.devices;
    out.chunks = chunks_of(shape);
    find_first_layers(plan, shape, out);
    const int virtual_stages = static_cast<int>(out.first_layer.size()) - 1;
    out.chunk.resize(static_cast<std::size_t>(out.devices * out.chunks));
    const std::int64_t* const first_layer = out.first_layer.data();
    ChunkLayers* k = out.chunk.data();
    const bool moe = m.moe.has_value();
    for (int d = 0; d < out.devices; ++d) {
        for (int c = 0; c < out.chunks; ++c, ++k) {
            const int stage = stage_of(shape, d, c);
            const std::int64_t begin = first_layer[stage], end = first_layer[stage + 1];
            const std::int64_t experts = moe ? moe_layers_before(m, end) - moe_layers_before(m, begin) : 0;
            k->moe = static_cast<double>(experts);
            k->dense = static_cast<double>(end - begin - experts);
            k->first = stage == 0;
            k->last = stage == virtual_stages - 1;
            if (k->last) (moe ? k->moe : k->dense) += static_cast<double>(m.mtp_layers);
        }
    }
}

bool repeats_previous(const Stages& stages, int device) {
    if (device == 0) return false;
    const auto here = stages.chunk.begin() + device * stages.chunks;
    return std::equal(here, here + stages.chunks, here - stages.chunks);
}

LocalWeights local_weights(const Plan& plan) {
    const Layout& l = plan.layout;
    const double tp = static_cast<double>(l.tp), etp = static_cast<double>(l.etp.value_or(l.tp));
    const double ep = static_cast<double>(l.ep);
    LocalWeights w;
    visit_tensors(plan.model, [&](const Tensor& t) {
        const double n = local_numel(t, tp, etp, ep);
        switch (t.place) {
        case Place::embedding: w.embedding += n; break;
        case Place::every_layer: w.every_layer += n; break;
        case Place::dense_layer: w.dense_layer += n; break;
        case Place::moe_layer: (t.per_expert ? w.experts : w.moe_layer) += n; break;
        case Place::mtp: w.mtp += n; break;
        case Place::head: w.head += n; break;
        }
    });
    return w;
}

HeldWeights held_by(const Plan& plan, const LocalWeights& w, const Stages& stages, int device) {
    HeldWeights held;
    bool first = false, last = false;
    for (int c = 0; c < stages.chunks; ++c) {
        const ChunkLayers& k = stages.chunk[static_cast<std::size_t>(device * stages.chunks + c)];
        held.dense += k.layers() * w.every_layer + k.dense * w.dense_layer + k.moe * w.moe_layer;
        held.experts += k.moe * w.experts;
        first |= k.first;
        last |= k.last;
    }
    if (first) held.dense += w.embedding;
    if (last) {
        held.dense += w.head + static_cast<double>(plan.model.mtp_layers) * w.mtp;
        // A tied head is the embedding itself, held once more where the last stage is another device.
        if (plan.model.tied_embeddings && !first) held.dense += w.embedding;
    }
    return held;
}

}  // namespace pentamesh
