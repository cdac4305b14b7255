#include "core/pipeline/stages.h"

#include "core/model/model.h"
#include "core/pipeline/one_stage.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace pentamesh {
namespace {

// Finds which of a chunk's layers begin .. end-1 are recomputed in the backward pass.
void find_recomputed(const Plan& plan, const LayerTypes& types, std::int64_t begin, std::int64_t end,
                     ChunkLayers& k) {
    const RecomputeChoice& r = plan.training.recompute;
    if (!r.any()) return k.recomputed.resize(types.size());
    const std::int64_t last = r.some_layers() ? std::min(saturating_sum(begin, r.layers), end) : end;
    k.recomputed = last == end ? k.types : count_layers(plan.model, types, begin, last);
    const std::int64_t recomputed = last - begin, unit = std::max<std::int64_t>(r.unit(), 1);
    const std::int64_t units = (recomputed + unit - 1) / unit;
    k.skipped = static_cast<double>(recomputed - units);
}

// Prediction layers are recomputed with the others, except where these are counted (Megatron-LM
// multi_token_prediction.py).
void add_mtp(const Plan& plan, const LayerTypes& types, ChunkLayers& k) {
    const RecomputeChoice& r = plan.training.recompute;
    k.mtp = static_cast<double>(plan.model.mtp_layers);
    k.mtp_recomputed = r.any() && !r.some_layers() ? k.mtp : 0;
    k.types[types.mtp] += static_cast<std::uint32_t>(k.mtp);
    k.recomputed[types.mtp] += static_cast<std::uint32_t>(k.mtp_recomputed);
}

// Returns the layer from which on all are of one type; beyond the last where there is no such layer.
std::int64_t first_alike(const Model& m) {
    if (!m.pattern.empty()) return std::numeric_limits<std::int64_t>::max();
    if (!m.moe) return 0;
    return m.moe->every <= 1 ? std::max<std::int64_t>(m.moe->first_dense_layers, 0)
                             : std::numeric_limits<std::int64_t>::max();
}

std::int64_t chunk_count(const Layout& l) {
    const bool two_copies = traits_of(schedule_of(l)).placement == StagePlacement::two_copies;
    const std::int64_t v = two_copies ? 1 : std::max<std::int64_t>(virtual_stages_of(l), 1);
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
    // The rest goes to the chunks before the last: later stages keep fewer micro-batches in flight. Then, if
    // there is more, it goes to the last; the first takes the fewer to the end.
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
    s.schedule = schedule_of(l);
    s.devices = within(l.pp, 1, kMostChunks);
    s.microbatches = within(microbatches, 1, kMaxWorld);
    s.chunks = within(virtual_stages_of(l), 1, kMostChunks);
    s.group = l.pp > 1 ? within(l.microbatch_group.value_or(0), 0, kMaxWorld) : 0;
    return s;
}

void Stages::clear() {
    devices = chunks = 1;
    types = 0, mtp_type = 0;
    chunk_kinds.clear();
    stage_kind.clear();
    chunk_kind.clear();
    device_kinds.clear();
    device_kind.clear();
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
    find_recomputed(plan, types, range.begin, range.end, k);
    if (range.mtp) add_mtp(plan, types, k);
    const LayerMask moe_types = types.moe();
    k.moe = sum_of(k.types, moe_types);
    k.dense = sum_of(k.types, types.all() & ~moe_types);
    return k;
}

namespace {

// Holds the kinds of all chunks in model order. Most hold as many layers, all of one type: they are one kind.
class Chunks {
  public:
    Chunks(const Plan& plan, const LayerTypes& types, Stages& out)
        : plan_(plan), types_(types), out_(out),
          virtual_stages_(static_cast<std::int64_t>(out.first_layer.size()) - 1),
          mtp_stage_(mtp_chunk_of(plan.layout, virtual_stages_)), alike_from_(first_alike(plan.model)) {}

    void lay() {
        out_.chunk_kinds.clear();
        out_.stage_kind.resize(static_cast<std::size_t>(virtual_stages_));
        std::uint32_t* const kind = out_.stage_kind.data();
        const std::int64_t* const first = out_.first_layer.data();
        const std::int64_t last = virtual_stages_ - 1;
        std::int64_t stage = 0;
        for (; stage < last && (stage == 0 || first[stage] < alike_from_); ++stage)
            kind[stage] = kind_of(stage);
        for (; stage < last; ++stage) {
            const std::int64_t layers = first[stage + 1] - first[stage];
            if (stage == mtp_stage_)
                kind[stage] = kind_of(stage);
            else if (layers == usual_layers_)
                kind[stage] = usual_;
            else
                kind[stage] = usual_ = kind_of(stage), usual_layers_ = layers;
        }
        kind[last] = kind_of(last);
    }

  private:
    std::uint32_t kind_of(std::int64_t stage) {
        const auto kind = static_cast<std::uint32_t>(out_.chunk_kinds.size());
        out_.chunk_kinds.push_back(chunk_of(plan_, types_,
                                            {out_.first_layer[stage], out_.first_layer[stage + 1], stage == 0,
                                             stage == virtual_stages_ - 1, stage == mtp_stage_}));
        // A repeating pattern gives the same chunk as one not long before.
        constexpr std::uint32_t kLookBack = 4;
        for (std::uint32_t k = kind - std::min(kind, kLookBack); k < kind; ++k)
            if (out_.chunk_kinds[k] == out_.chunk_kinds[kind]) {
                out_.chunk_kinds.pop_back();
                return k;
            }
        return kind;
    }

    const Plan& plan_;
    const LayerTypes& types_;
    Stages& out_;
    const std::int64_t virtual_stages_, mtp_stage_, alike_from_;  // virtual_stages_ is at least 1
    std::int64_t usual_layers_ = -1;                              // of the kind that most are
    std::uint32_t usual_ = 0;
};

// Copies them from model order to devices.
void deal_out(const ScheduleShape& shape, Stages& out) {
    out.chunk_kind.resize(static_cast<std::size_t>(out.devices * out.chunks));
    std::uint32_t* const own = out.chunk_kind.data();
    if (traits_of(shape.schedule).placement == StagePlacement::loop) {
        const std::uint32_t* next = out.stage_kind.data();
        for (int c = 0; c < out.chunks; ++c) {
            std::uint32_t* to = own + c;
            for (int d = 0; d < out.devices; ++d, to += out.chunks) *to = *next++;
        }
        return;
    }
    for (int d = 0; d < out.devices; ++d)
        for (int c = 0; c < out.chunks; ++c) own[d * out.chunks + c] = out.stage_kind[stage_of(shape, d, c)];
}

// Calls use(kind, n) for each run of n chunks of a kind.
template <typename F>
void each_run(const std::uint32_t* begin, const std::uint32_t* end, F&& use) {
    while (begin != end) {
        const std::uint32_t* next = begin + 1;
        while (next != end && *next == *begin) ++next;
        use(*begin, static_cast<std::uint32_t>(next - begin));
        begin = next;
    }
}

StageContents contents_of(const Model& model, const Stages& stages, int device) {
    const ChunkLayers all = all_chunks(stages, device);
    const auto mtp = static_cast<std::int64_t>(all.mtp);
    StageContents s;
    s.types = all.types, s.recomputed = all.recomputed;
    s.types[stages.mtp_type] -= static_cast<std::uint32_t>(mtp);
    s.recomputed[stages.mtp_type] -= static_cast<std::uint32_t>(all.mtp_recomputed);
    s.skipped = static_cast<std::int64_t>(all.skipped);
    s.layers = static_cast<std::int64_t>(all.layers()) - mtp;
    s.moe_layers = static_cast<std::int64_t>(all.moe) - moe_of_mtp(model, mtp);
    s.mtp_layers = mtp;
    s.embedding = all.first;
    s.head = all.last;
    return s;
}

// Returns true if a device has the chunks of the one before it, whose kinds come before `own`.
bool as_before(const std::uint32_t* own, int chunks) {
    for (int c = 0; c < chunks; ++c)  // mostly one: less than a call of std::equal
        if (own[c] != own[c - chunks]) return false;
    return true;
}

}  // namespace

ChunkLayers all_chunks(const Stages& stages, int device) {
    ChunkLayers all;
    all.types.resize(stages.types), all.recomputed.resize(stages.types);
    const std::uint32_t* const own = stages.chunk_kind.data() + std::ptrdiff_t{device} * stages.chunks;
    each_run(own, own + stages.chunks, [&](std::uint32_t kind, std::uint32_t n) {
        const ChunkLayers& k = stages.chunk_kinds[kind];
        all.dense += n * k.dense, all.moe += n * k.moe;
        for (int t = 0; t < stages.types; ++t)
            all.types[t] += n * k.types[t], all.recomputed[t] += n * k.recomputed[t];
        all.mtp += n * k.mtp, all.mtp_recomputed += n * k.mtp_recomputed;
        all.skipped += n * k.skipped;
        all.first |= k.first, all.last |= k.last;
    });
    return all;
}

void lay_stages(const Plan& plan, const ScheduleShape& shape, Stages& out) {
    lay_stages(plan, layer_types(plan.model), shape, out);
}

void lay_stages(const Plan& plan, const LayerTypes& types, const ScheduleShape& shape, Stages& out) {
    layers_of_chunks(plan, out.first_layer);
    if (out.first_layer.empty()) return out.clear();
    // A running sum turns the layers of each virtual stage into the first of each.
    std::int64_t sum = 0;
    for (std::int64_t& layers : out.first_layer) sum = saturating_sum(sum, std::exchange(layers, sum));
    out.first_layer.push_back(sum);
    out.types = types.size(), out.mtp_type = types.mtp;
    out.devices = shape.devices;
    out.chunks = chunks_of(shape);
    Chunks(plan, types, out).lay();
    deal_out(shape, out);
    out.device_kinds.clear();
    out.device_kind.resize(static_cast<std::size_t>(out.devices));
    const std::uint32_t* own = out.chunk_kind.data();
    for (int d = 0; d < out.devices; ++d, own += out.chunks) {
        if (d == 0 || !as_before(own, out.chunks))
            out.device_kinds.push_back(contents_of(plan.model, out, d));
        out.device_kind[d] = static_cast<std::uint32_t>(out.device_kinds.size()) - 1;
    }
}

PerType<double> shares_recomputed(const Stages& stages) {
    PerType<double> all(stages.types), recomputed(stages.types);
    const std::uint32_t* const kinds = stages.chunk_kind.data();
    each_run(kinds, kinds + stages.chunk_kind.size(), [&](std::uint32_t kind, double n) {
        const ChunkLayers& k = stages.chunk_kinds[kind];
        for (int t = 0; t < stages.types; ++t) all[t] += n * k.types[t], recomputed[t] += n * k.recomputed[t];
    });
    for (int t = 0; t < stages.types; ++t) recomputed[t] = all[t] > 0 ? recomputed[t] / all[t] : 0;
    return recomputed;
}

bool copies_embedding(const Model& model, const StageContents& contents) {
    if (contents.embedding) return false;
    return contents.mtp_layers > 0 || (contents.head && model.tied_embeddings);
}

StageNumbers numbers_of(const Model& model, const HeldNumbers& held, const StageContents& contents) {
    StageNumbers n;
    const auto mtp = static_cast<double>(contents.mtp_layers);
    for (int t = 0; t < held.layer.size(); ++t) {
        const double layers = contents.with_mtp(t, held.mtp_type);
        n.dense.add(held.of(t).dense, layers);
        n.experts.add(held.of(t).experts, layers);
    }
    n.dense.add(held.mtp, mtp);
    if (contents.embedding) n.dense.add(held.embedding, 1);
    if (contents.head) n.dense.add(held.head, 1);
    if (copies_embedding(model, contents)) n.dense.other += held.word_embedding;
    return n;
}

}  // namespace pentamesh
