#include "core/pipeline/stages.h"

#include "core/base/text.h"
#include "core/model/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
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

namespace {

std::string span_text(std::int64_t first, std::int64_t last) {
    return first == last ? with_commas(first) : with_commas(first) + "–" + with_commas(last);
}

// Names the layers of a device's chunks, at most the first two of them.
void name_layers(const ScheduleShape& shape, const Stages& stages, int device, StagePlace& place) {
    constexpr int kShown = 2;
    std::string text;
    int shown = 0, held = 0;
    bool several = false;
    for (int c = 0; c < stages.chunks; ++c) {
        const auto stage = static_cast<std::size_t>(stage_of(shape, device, c));
        const std::int64_t begin = stages.first_layer[stage], end = stages.first_layer[stage + 1];
        if (begin == end) continue;
        if (++held > kShown) continue;
        several = several || shown > 0 || end - begin > 1;
        text += (shown++ > 0 ? ", " : "") + span_text(begin, end - 1);
    }
    place.layers = held == 0 ? "no layers" : (several ? "layers " : "layer ") + text;
    if (held > kShown) place.layers += ", …", place.chunks = stages.chunks;
}

std::string ends_text(const Stages& stages, int device) {
    const StageContents& own = stages.contents(device);
    return own.embedding && own.head ? "embedding, head"
           : own.embedding           ? "embedding"
           : own.head                ? "head"
                                     : "";
}

}  // namespace

std::vector<StagePlace> stage_places(const Plan& plan, const Mesh& mesh, const ScheduleShape& shape,
                                     const Stages& stages) {
    const Factor pp = mesh.dense[Axis::pp];
    const std::int64_t domain =
        plan.cluster.tiers.empty() ? 1 : std::max<std::int64_t>(1, domain_of(plan.cluster, 0));
    const std::int64_t period = std::max<std::int64_t>(1, pp.stride * pp.size);  // ranks until stage 0 again
    std::vector<StagePlace> places(static_cast<std::size_t>(std::max(0, stages.devices)));
    for (int d = 0; d < stages.devices; ++d) {
        StagePlace& p = places[d];
        name_layers(shape, stages, d, p);
        p.ends = ends_text(stages, d);
        p.first_node = d * pp.stride / domain;
        p.last_node = ((d + 1) * pp.stride - 1) / domain;
        if (mesh.world <= period) continue;
        p.every_node = domain % period == 0;
        p.node_step = period % domain == 0 ? period / domain : 0;
    }
    return places;
}

std::string nodes_text(const StagePlace& p, std::string_view domain) {
    const std::string many = std::string(domain) + "s ";
    if (p.every_node) return "all " + std::string(domain) + "s";
    if (p.node_step == 1)
        return p.first_node == p.last_node ? std::string(domain) + " " + with_commas(p.first_node)
                                           : many + span_text(p.first_node, p.last_node);
    const std::string first = many + span_text(p.first_node, p.last_node);
    if (p.node_step == 0) return first + ", …";
    return first + ", " + span_text(p.first_node + p.node_step, p.last_node + p.node_step) + ", …";
}

std::string stage_text(int stage, const StagePlace& p, std::string_view domain) {
    std::string text = "stage " + with_commas(stage) + ", " + p.layers;
    if (p.chunks > 0) text += " " + count_text(p.chunks, "chunk");
    if (!p.ends.empty()) text += ", " + p.ends;
    return text + ", " + nodes_text(p, domain);
}

namespace {

using Layers = std::vector<std::int64_t>;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kEqual = 1e-9;     // relative: times that differ by less are the same
constexpr double kMostSteps = 1e8;  // of an exact search, and of the moves

// Keeps running sums, so that a range costs the same for any length.
class Ranges {
  public:
    explicit Ranges(const StageLoad& load) : recomputed_(load.layers_recomputed) {
        own_.push_back(0), more_.push_back(0);
        for (std::size_t i = 0; i < load.layer.size(); ++i) {
            own_.push_back(own_.back() + load.layer[i]);
            more_.push_back(more_.back() + (i < load.recomputed.size() ? load.recomputed[i] : 0));
        }
    }
    [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(own_.size()) - 1; }
    [[nodiscard]] double of(std::int64_t begin, std::int64_t end) const {
        const std::int64_t last = std::min(end, begin + std::min(recomputed_, layers()));
        return own_[end] - own_[begin] + more_[last] - more_[begin];
    }

  private:
    std::int64_t recomputed_;
    std::vector<double> own_, more_;
};

std::size_t devices_of(const StageLoad& load) {
    int most = -1;
    for (const int d : load.device) most = std::max(most, d);
    return static_cast<std::size_t>(most + 1);
}

bool one_chunk_each(const StageLoad& load) {
    return devices_of(load) == load.chunk.size();
}
// Returns true if chunk k and the k-th from the end are the same device's, and no device has more.
bool in_mirror(const StageLoad& load) {
    const std::size_t n = load.chunk.size();
    if (n % 2 != 0 || devices_of(load) * 2 != n) return false;
    for (std::size_t k = 0; k < n; ++k)
        if (load.device[k] != load.device[n - 1 - k]) return false;
    return true;
}
bool all_alike(const StageLoad& load) {
    const auto same = [](const std::vector<double>& v) {
        return v.empty() || std::all_of(v.begin(), v.end(), [&](double x) { return x == v.front(); });
    };
    const bool whole = load.layers_recomputed <= 0 || load.recomputed.empty() || load.recomputed.front() == 0
                       || load.layers_recomputed >= static_cast<std::int64_t>(load.layer.size());
    return whole && same(load.layer) && same(load.recomputed);
}

// ---- one chunk a device -----------------------------------------------------------------------------------

// Minimises `all(before, own)` over the layers that the chunks before have, chunk by chunk, where a chunk may
// take `most` at the most. The latest of equal chunks takes more: it keeps fewer micro-batches in flight.
template <typename All>
Layers chain(const StageLoad& load, const Ranges& ranges, double most, All&& all) {
    const std::size_t n = load.chunk.size();
    const std::int64_t count = ranges.layers();
    const auto width = static_cast<std::size_t>(count) + 1;
    std::vector<double> before(width, kNever), now(width);
    std::vector<std::int32_t> from(n * width, -1);
    before[0] = 0;
    for (std::size_t c = 0; c < n; ++c) {
        std::fill(now.begin(), now.end(), kNever);
        for (std::int64_t end = 0; end <= count; ++end)
            for (std::int64_t begin = 0; begin <= end; ++begin) {
                if (before[begin] == kNever) continue;
                const double own = load.chunk[c] + ranges.of(begin, end);
                if (own > most * (1 + kEqual)) continue;
                const double sum = all(before[begin], own);
                if (sum >= now[end] * (1 - kEqual * 1e-3) && now[end] != kNever) continue;
                now[end] = sum;
                from[c * width + static_cast<std::size_t>(end)] = static_cast<std::int32_t>(begin);
            }
        before.swap(now);
    }
    Layers out(n);
    std::int64_t end = count;
    for (std::size_t c = n; c-- > 0;) {
        const std::int64_t begin = from[c * width + static_cast<std::size_t>(end)];
        out[c] = end - begin;
        end = begin;
    }
    return out;
}

double busiest(const StageLoad& load, const Layers& layers) {
    const std::vector<double> all = device_seconds(load, layers);
    return *std::max_element(all.begin(), all.end());
}

Layers balance_chain(const StageLoad& load, const Ranges& ranges) {
    const Layers least =
        chain(load, ranges, kNever, [](double before, double own) { return std::max(before, own); });
    return chain(load, ranges, busiest(load, least),
                 [](double before, double own) { return before + own * own; });
}

// ---- two chunks a device, in mirror -----------------------------------------------------------------------

// Says if each device can stay within `most`, and then with which layers. It goes from both ends inwards:
// among those that leave as many layers at the front, the one that took most from the end leaves the least to
// do.
class Mirror {
  public:
    Mirror(const StageLoad& load, const Ranges& ranges)
        : load_(load), ranges_(ranges), pairs_(load.chunk.size() / 2),
          width_(static_cast<std::size_t>(ranges.layers()) + 1), steps_(pairs_ * width_) {}

    bool fits(double most, Layers* out) {
        const std::int64_t count = ranges_.layers();
        std::vector<std::int64_t> taken(width_, -1), next(width_);
        taken[0] = 0;
        for (std::size_t k = 0; k < pairs_; ++k) {
            const double left = most - load_.chunk[k] - load_.chunk[load_.chunk.size() - 1 - k];
            if (left < 0) return false;
            std::fill(next.begin(), next.end(), -1);
            for (std::int64_t i = 0; i <= count; ++i)
                if (taken[i] >= 0) extend(k, i, taken[i], left, next);
            taken.swap(next);
        }
        for (std::int64_t i = 0; i <= count; ++i)
            if (taken[i] >= 0 && i + taken[i] >= count) {
                if (out != nullptr) trace(i, *out);
                return true;
            }
        return false;
    }

  private:
    struct Step {
        std::int64_t front = 0, back = 0, took = 0;  // before, and what the device took of the end
    };

    void extend(std::size_t k, std::int64_t front, std::int64_t back, double left,
                std::vector<std::int64_t>& next) {
        const std::int64_t end = ranges_.layers() - back;
        std::int64_t took = end - front;
        for (std::int64_t i = front; i <= end; ++i) {
            const double own = ranges_.of(front, i);
            if (own > left) break;
            took = std::min(took, end - i);
            while (took > 0 && own + ranges_.of(end - took, end) > left) --took;
            if (back + took <= next[i]) continue;
            next[i] = back + took;
            steps_[k * width_ + static_cast<std::size_t>(i)] = {front, back, took};
        }
    }
    void trace(std::int64_t front, Layers& out) const {
        out.assign(load_.chunk.size(), 0);
        for (std::size_t k = pairs_; k-- > 0;) {
            const Step& s = steps_[k * width_ + static_cast<std::size_t>(front)];
            out[k] = front - s.front;
            out[out.size() - 1 - k] = s.took;
            front = s.front;
        }
    }

    const StageLoad& load_;
    const Ranges& ranges_;
    std::size_t pairs_, width_;
    std::vector<Step> steps_;
};

Layers balance_mirror(const StageLoad& load, const Ranges& ranges) {
    Mirror mirror(load, ranges);
    double low = 0,
           high = std::accumulate(load.chunk.begin(), load.chunk.end(), 0.0) + ranges.of(0, ranges.layers());
    Layers out;
    mirror.fits(high * (1 + kEqual), &out);
    for (int i = 0; i < 200 && high - low > high * kEqual * 1e-3; ++i) {
        const double middle = (low + high) / 2;
        if (Layers found; mirror.fits(middle, &found))
            out = std::move(found), high = middle;
        else
            low = middle;
    }
    return out;
}

// ---- any number of chunks a device ------------------------------------------------------------------------

// Deals out layers that all take the mean time: one after the other to the device with the least to do.
Layers balance_alike(const StageLoad& load, const Ranges& ranges) {
    const std::int64_t count = ranges.layers();
    const double each = count > 0 ? ranges.of(0, count) / static_cast<double>(count) : 0;
    Layers out(load.chunk.size(), 0);
    std::vector<double> busy = device_seconds(load, out);
    for (std::int64_t i = 0; i < count; ++i) {
        // Among equally short devices, the one whose chunk comes last is taken.
        std::size_t to = 0;
        const auto better = [&](std::size_t a, std::size_t b) {
            const double x = busy[load.device[a]], y = busy[load.device[b]];
            if (std::abs(x - y) > kEqual * std::max(x, y)) return x < y;
            return load.device[a] == load.device[b] ? out[a] <= out[b] : true;
        };
        for (std::size_t c = 1; c < out.size(); ++c)
            if (better(c, to)) to = c;
        ++out[to];
        busy[load.device[to]] += each;
    }
    return out;
}

// Compares two lists: by the busiest device first, then by the sum of squares.
struct Score {
    double most = 0, squares = 0;
    [[nodiscard]] bool below(const Score& o) const {
        if (std::abs(most - o.most) > kEqual * o.most) return most < o.most;
        return squares < o.squares * (1 - kEqual);
    }
};
Score score_of(const StageLoad& load, const Layers& layers) {
    Score s;
    for (const double x : device_seconds(load, layers)) s.most = std::max(s.most, x), s.squares += x * x;
    return s;
}

// Moves a layer over a border, or from any chunk to any other through those between, while that helps.
void move_layers(const StageLoad& load, Layers& layers) {
    Score best = score_of(load, layers);
    const bool many = layers.size() > 128;  // then only neighbours
    const auto size = static_cast<double>(layers.size() + load.layer.size());
    double steps = 0;
    for (bool moved = true; moved && steps < kMostSteps;) {
        moved = false;
        for (std::size_t from = 0; from < layers.size(); ++from)
            for (std::size_t to = 0; to < layers.size(); ++to) {
                if (from == to || layers[from] < 1) continue;
                if (many && from + 1 != to && to + 1 != from) continue;
                --layers[from], ++layers[to];
                const Score s = score_of(load, layers);
                steps += size;
                if (s.below(best))
                    best = s, moved = true;
                else
                    ++layers[from], --layers[to];
            }
    }
}

Layers even_split(std::size_t chunks, std::int64_t count) {
    Layers out;
    const auto n = static_cast<std::int64_t>(chunks);
    for (std::int64_t c = 0; c < n; ++c) out.push_back(count * (c + 1) / n - count * c / n);
    return out;
}

}  // namespace

double chunk_seconds(const StageLoad& load, std::size_t chunk, std::int64_t begin, std::int64_t end) {
    double sum = load.chunk[chunk];
    const std::int64_t first = std::max<std::int64_t>(begin, 0),
                       last = std::min(end, static_cast<std::int64_t>(load.layer.size()));
    for (std::int64_t i = first; i < last; ++i) {
        sum += load.layer[i];
        if (i - begin < load.layers_recomputed && static_cast<std::size_t>(i) < load.recomputed.size())
            sum += load.recomputed[i];
    }
    return sum;
}

std::vector<double> device_seconds(const StageLoad& load, const std::vector<std::int64_t>& layers) {
    std::vector<double> busy(devices_of(load), 0);
    std::int64_t begin = 0;
    for (std::size_t c = 0; c < layers.size(); ++c) {
        busy[load.device[c]] += chunk_seconds(load, c, begin, begin + layers[c]);
        begin += layers[c];
    }
    return busy;
}

std::vector<std::int64_t> with_chunk(std::vector<std::int64_t> layers, std::size_t chunk,
                                     std::int64_t count) {
    std::vector<std::size_t> others;
    for (std::size_t c = chunk + 1; c < layers.size(); ++c) others.push_back(c);
    for (std::size_t c = chunk; c-- > 0;) others.push_back(c);
    std::int64_t wanted = std::max<std::int64_t>(count, 0) - layers[chunk];
    for (const std::size_t c : others) {
        const std::int64_t given = std::min(wanted, layers[c]);  // negative: it takes them all
        layers[c] -= given, layers[chunk] += given;
        wanted -= given;
    }
    return layers;
}

std::vector<std::int64_t> balance(const StageLoad& load) {
    if (load.chunk.empty()) return {};
    const Ranges ranges(load);
    const auto n = static_cast<double>(load.chunk.size()), count = static_cast<double>(ranges.layers());
    if (n * count > kMostSteps) return even_split(load.chunk.size(), ranges.layers());
    const bool small = n * count * count <= kMostSteps;
    if (small && one_chunk_each(load)) return balance_chain(load, ranges);
    if (all_alike(load)) return balance_alike(load, ranges);
    Layers out = small && in_mirror(load) ? balance_mirror(load, ranges) : balance_alike(load, ranges);
    move_layers(load, out);
    if (small && in_mirror(load)) return out;
    Layers even = even_split(load.chunk.size(), ranges.layers());
    move_layers(load, even);
    return score_of(load, even).below(score_of(load, out)) ? even : out;
}

}  // namespace pentamesh
