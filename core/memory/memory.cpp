#include "core/memory/memory.h"

#include "core/layer/parts.h"
#include "core/memory/activations.h"
#include "core/memory/memory_costs.h"
#include "core/mesh/degrees.h"
#include "core/pipeline/one_stage.h"
#include "core/pipeline/resolved_plan.h"

namespace pentamesh {
namespace {

double sharded(const StateBytes& bytes, const std::int64_t (&shard)[2], const StageNumbers& n) {
    return whole(bytes.of(n.dense) / static_cast<double>(shard[0]))
           + whole(bytes.of(n.experts) / static_cast<double>(shard[1]));
}

// Returns the layer that is shown as one of the stage: a MoE layer where it has one, of these the one of most
// layers.
int shown_type(const MemoryCosts& c, const StageMemory& s) {
    int best = s.moe_layers > 0 || c.types.size() == 1 ? c.types.size() - 1 : 0;
    std::uint32_t most = 0;
    for (int t = 0; t < c.types.size(); ++t) {
        const std::uint32_t n = s.types[t];
        if (c.types[t].is_moe() == (s.moe_layers > 0) && n > most) most = n, best = t;
    }
    return best;
}

// Returns the bytes of a state that stay on the GPU when a share lies in host memory.
double kept_back(double bytes, double share, double& host) {
    const double kept = whole(bytes * (1 - share));
    host += bytes - kept;
    return kept;
}

// Fills everything that does not depend on how many micro-batches are in flight.
void fill_static(const Plan& plan, const MemoryCosts& c, StageMemory& s) {
    const StageNumbers n = numbers_of(plan.model, c.held, s);
    s.parameters_held = static_cast<std::int64_t>(whole(n.dense.all() + n.experts.all()));
    s.parameters_kept =
        static_cast<std::int64_t>(whole(n.dense.all() / static_cast<double>(c.shards.parameter[0]))
                                  + whole(n.experts.all() / static_cast<double>(c.shards.parameter[1])));
    s.parameters = sharded(c.parameter, c.shards.parameter, n);
    s.gradients = sharded(c.gradient, c.shards.gradient, n) + whole_in_a_run(plan, c, s);
    s.optimizer = sharded(c.optimizer, c.shards.optimizer, n);
    const Offload& away = plan.training.offload;
    s.parameters = kept_back(s.parameters, away.parameters, s.host);
    s.optimizer = kept_back(s.optimizer, away.optimizer, s.host);
    const int shown = shown_type(c, s);
    const bool recomputed = s.recomputed[shown] > 0;
    s.activations_per_layer = whole(recomputed ? c.of(shown).kept : c.of(shown).all);
    const FixedBuffers b = fixed_buffers(plan, c, s);
    s.allocated = s.parameters + s.gradients + s.optimizer + b.live.mid;
    s.buffers_low = b.live.low + b.outside.low;
    s.buffers = b.live.mid + b.outside.mid;
    s.buffers_high = b.live.high + b.outside.high;
}

// Returns the bytes of the prediction layers of a stage, for one micro-batch.
double mtp_activations(const Plan& plan, const MemoryCosts& c, const StageMemory& s) {
    if (s.mtp_layers == 0) return 0;
    const LayerSums& layer = c.of(c.types.mtp);
    const double kept = plan.training.recompute.some_layers() ? layer.all : layer.kept;
    return static_cast<double>(s.mtp_layers) * (kept + c.mtp.kept);
}

// `kept` is that of one micro-batch.
void fill_activations(const Plan& plan, const MemoryCosts& c, double kept, double in_flight, StageMemory& s) {
    s.in_flight = in_flight;
    s.layer_activations = whole(kept * in_flight / c.shards.copies);
    const std::int64_t away = std::min(plan.training.offload.activations_layers, s.layers);
    if (away > 0)
        s.layer_activations =
            kept_back(s.layer_activations, static_cast<double>(away) / static_cast<double>(s.layers), s.host);
    s.activations = s.layer_activations;
    if (s.embedding) s.activations += whole(c.embedding.kept * in_flight);
    // No later layer waits for the last one: tensors there are held as the head's are.
    const double ends = s.head ? c.head.kept * head_passes(plan.model) : 0;
    const double mtp = mtp_activations(plan, c, s);
    const double at_head = head_in_flight(schedule_of(plan.layout), in_flight);
    if (s.head)
        s.activations += whole((ends + mtp) * at_head);
    else
        s.activations += whole(mtp * in_flight);
    s.allocated += s.activations;
    const BufferRange f = reserved_beyond(plan.training, *c.software, s.allocated);
    s.reserved = s.allocated + f.mid;
    s.buffers_low += f.low;
    s.buffers += f.mid;
    s.buffers_high += f.high;
}

}  // namespace

void Memory::clear() {
    stage.clear();
    peak_stage = 0;
    hbm = 0;
}

namespace {

// Holds the part that does not depend on micro-batches in flight, and the activations of one micro-batch.
struct FixedMemory {
    StageMemory stage;
    double kept = 0;
};
FixedMemory fixed_memory(const Plan& plan, const MemoryCosts& costs, const StageContents& own) {
    FixedMemory f;
    StageMemory& s = f.stage;
    static_cast<StageContents&>(s) = own;
    fill_static(plan, costs, s);
    f.kept = costs.kept_by_layers(s);
    return f;
}

void fill_stages(const Plan& plan, const MemoryCosts& costs, const Stages& stages,
                 const std::vector<double>& in_flight, MemoryOf of, Memory& out) {
    out.hbm = plan.cluster.gpu.hbm_bytes;
    out.peak_stage = 0;
    out.stage.clear();
    if (stages.empty() || in_flight.size() != static_cast<std::size_t>(costs.degrees.pp)) return;

    double most = 0;
    const auto put = [&](const FixedMemory& fixed, int device) {
        StageMemory& s = out.stage.emplace_back(fixed.stage);
        s.stage = device;
        fill_activations(plan, costs, fixed.kept, in_flight[device], s);
        if (const double total = s.total(); out.stage.size() == 1 || total > most) {
            most = total;
            out.peak_stage = static_cast<int>(out.stage.size()) - 1;
        }
    };
    const int devices = static_cast<int>(in_flight.size());
    for (int first = 0, end = 0; first < devices; first = end) {
        const FixedMemory fixed = fixed_memory(plan, costs, stages.contents(first));
        int fullest = first;
        for (end = first; end < devices && (end == first || repeats_previous(stages, end)); ++end) {
            if (in_flight[end] > in_flight[fullest]) fullest = end;
            if (of == MemoryOf::every_stage) put(fixed, end);
        }
        if (of == MemoryOf::fullest_stages) put(fixed, fullest);
    }
}

}  // namespace

void compute_memory(const Plan& plan, const Degrees& degrees, const Stages& stages,
                    const std::vector<double>& in_flight, Memory& out) {
    fill_stages(plan, memory_costs(plan, degrees), stages, in_flight, MemoryOf::every_stage, out);
}

void compute_memory(const ResolvedPlan& r, const PartsByType& parts, const Stages& stages,
                    const HeldNumbers& held, const std::vector<double>& in_flight, MemoryOf of, Memory& out) {
    fill_stages(r.plan, memory_costs(r.plan, r.degrees, r.types, held, parts), stages, in_flight, of, out);
}

void compute_memory(const Plan& plan, const Mesh& mesh, const std::vector<double>& in_flight, Memory& out) {
    Stages stages;
    lay_stages(plan, shape_of(plan, 1), stages);
    compute_memory(plan, degrees_of(plan, mesh), stages, in_flight, out);
}

std::string_view name_of(MemoryCategory category) {
    constexpr std::array<std::string_view, kMemoryCategoryCount> names{"parameters", "gradients", "optimizer",
                                                                       "activations", "buffers"};
    return names[static_cast<std::size_t>(category)];
}

double bytes_of(const StageMemory& stage, MemoryCategory category) {
    switch (category) {
    case MemoryCategory::parameters: return stage.parameters;
    case MemoryCategory::gradients: return stage.gradients;
    case MemoryCategory::optimizer: return stage.optimizer;
    case MemoryCategory::activations: return stage.activations;
    case MemoryCategory::buffers: return stage.buffers;
    }
    return 0;
}

}  // namespace pentamesh
