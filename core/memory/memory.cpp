#include "core/memory/memory.h"

#include "core/memory/memory_costs.h"
#include "core/pipeline/stages.h"

namespace pentamesh {
namespace {

// A stage's layers and ends from the chunks that its device runs.
struct Contents {
    std::int64_t layers = 0, moe_layers = 0, mtp_layers = 0;
    bool embedding = false, head = false;
    bool operator==(const Contents&) const = default;
};
Contents contents_of(const Plan& plan, const ScheduleShape& shape, const Memory& memory, int device) {
    const auto stages = static_cast<int>(memory.chunk_layers.size()), chunks = chunks_of(shape);
    const bool moe = plan.model.moe.has_value();
    Contents s;
    for (int c = 0; c < chunks; ++c) {
        const int v = stage_of(shape, device, c);
        if (v < 0 || v >= stages) continue;
        const std::int64_t begin = memory.chunk_begin[static_cast<std::size_t>(v)];
        const std::int64_t end = begin + memory.chunk_layers[static_cast<std::size_t>(v)];
        s.layers += end - begin;
        if (moe) s.moe_layers += moe_layers_before(plan.model, end) - moe_layers_before(plan.model, begin);
        if (v == 0) s.embedding = true;
        if (v == stages - 1) {
            s.head = true;
            s.mtp_layers += plan.model.mtp_layers;
        }
    }
    return s;
}

double sharded(const StateBytes& bytes, const std::int64_t (&shard)[2], const StageNumbers& n) {
    return whole(bytes.of(n.dense) / static_cast<double>(shard[0]))
           + whole(bytes.of(n.experts) / static_cast<double>(shard[1]));
}

// Everything that does not depend on how many micro-batches are in flight.
void fill_static(const Plan& plan, const MemoryCosts& c, StageMemory& s) {
    const StageNumbers n = stage_numbers(plan, c, s);
    s.parameters_held = static_cast<std::int64_t>(whole(n.dense.all() + n.experts.all()));
    s.parameters = sharded(c.parameter, c.parameter_shard, n);
    s.gradients = sharded(c.gradient, c.gradient_shard, n);
    s.optimizer = sharded(c.optimizer, c.optimizer_shard, n);
    s.activations_per_layer = whole(c.layer(s.moe_layers > 0).kept);
    const BufferRange b = fixed_buffers(plan, c, s);
    s.buffers_low = b.low;
    s.buffers = b.mid;
    s.buffers_high = b.high;
}

void fill_activations(const Plan& plan, const MemoryCosts& c, double in_flight, StageMemory& s) {
    const auto dense = static_cast<double>(s.layers - s.moe_layers), moe = static_cast<double>(s.moe_layers);
    s.in_flight = in_flight;
    s.layer_activations = whole((dense * c.dense.kept + moe * c.moe.kept) * in_flight / c.copies);
    s.activations = s.layer_activations;
    if (s.embedding) s.activations += whole(c.embedding.kept * in_flight);
    if (s.head) {
        const auto mtp = static_cast<double>(s.mtp_layers);
        const double heads = c.head.kept * (1 + mtp);
        const double layers = mtp > 0 ? mtp * (c.layer(plan.model.moe.has_value()).kept + c.mtp.kept) : 0;
        s.activations += whole((heads + layers) * head_in_flight(plan.layout.schedule, in_flight));
    }
    const BufferRange f = fragmentation(s.activations);
    s.buffers_low += f.low;
    s.buffers += f.mid;
    s.buffers_high += f.high;
}

}  // namespace

ScheduleShape schedule_shape(const Plan& plan, std::int64_t microbatches) {
    const auto bounded = [](std::int64_t n) {
        return static_cast<int>(std::clamp<std::int64_t>(n, 1, 1 << 30));
    };
    const Layout& l = plan.layout;
    ScheduleShape s;
    s.schedule = l.schedule;
    s.devices = bounded(l.pp);
    s.microbatches = bounded(microbatches);
    s.chunks = bounded(l.virtual_stages);
    s.group = l.microbatch_group ? bounded(*l.microbatch_group) : 0;
    return s;
}

void compute_memory(const Plan& plan, const Degrees& degrees, const std::vector<double>& in_flight,
                    Memory& out) {
    out.hbm = plan.cluster.gpu.hbm_bytes;
    out.peak_stage = 0;
    layers_of_chunks(plan, out.chunk_layers);
    out.chunk_begin.assign(out.chunk_layers.size() + 1, 0);
    for (std::size_t i = 0; i < out.chunk_layers.size(); ++i)
        out.chunk_begin[i + 1] = saturating_sum(out.chunk_begin[i], out.chunk_layers[i]);
    if (out.chunk_layers.empty() || in_flight.size() != static_cast<std::size_t>(degrees.pp)) {
        out.stage.clear();
        return;
    }

    const MemoryCosts costs = memory_costs(plan, degrees);
    const ScheduleShape shape = schedule_shape(plan, 1);
    out.stage.resize(in_flight.size());
    Contents last;
    StageMemory fixed;  // of those contents, whatever is in flight
    double most = 0;
    for (std::size_t d = 0; d < in_flight.size(); ++d) {
        StageMemory& s = out.stage[d];
        const Contents own = contents_of(plan, shape, out, static_cast<int>(d));
        // Middle stages are alike: what they hold is computed once.
        if (d == 0 || !(own == last)) {
            fixed = {};
            fixed.layers = own.layers, fixed.moe_layers = own.moe_layers, fixed.mtp_layers = own.mtp_layers;
            fixed.embedding = own.embedding, fixed.head = own.head;
            fill_static(plan, costs, fixed);
            last = own;
        }
        s = fixed;
        s.stage = static_cast<int>(d);
        fill_activations(plan, costs, in_flight[d], s);
        if (const double total = s.total(); d == 0 || total > most) {
            most = total;
            out.peak_stage = static_cast<int>(d);
        }
    }
}

void compute_memory(const Plan& plan, const Mesh& mesh, const std::vector<double>& in_flight, Memory& out) {
    compute_memory(plan, degrees_of(plan, mesh), in_flight, out);
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
