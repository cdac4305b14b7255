#include "core/explain/sequence_parallel.h"

#include "core/base/text.h"
#include "core/layer/parts.h"
#include "core/mesh/mesh.h"
#include "core/model/local_shard.h"
#include "core/model/model.h"

#include <cmath>
#include <string>

namespace pentamesh {
namespace {

// Returns the type with most layers of those that have any.
int type_of_most_layers(const Plan& plan, const LayerTypes& types, const LayerCounts& counts) {
    int most = type_of_layer(plan.model, types, 0);
    for (int t = 0; t < types.size(); ++t)
        if (counts[t] > counts[most]) most = t;
    return most;
}

}  // namespace

bool is_gathered_again(What what) {
    switch (what) {
    case What::attention_input_again_for_the_weight_gradient:
    case What::mlp_input_again_for_the_weight_gradient:
    case What::shared_experts_input_again_for_the_weight_gradient:
    case What::query_latents_again_for_the_weight_gradient:
    case What::key_and_value_latents_again_for_the_weight_gradient: return true;
    default: return false;
    }
}

std::optional<SequenceParallelBytes> sequence_parallel_bytes(const Plan& plan, const Evaluation& e) {
    if (!e.valid || plan.layout.tp < 2) return std::nullopt;
    const LayerTypes types = layer_types(plan.model);
    const LayerCounts counts = count_layers(plan.model, types, 0, plan.model.layers);
    const int type = type_of_most_layers(plan, types, counts);
    SequenceParallelBytes out{.on = plan.layout.sequence_parallel};
    for (int t = 0; t < types.size(); ++t)
        if (t != type && counts[t] > 0) out.one_kind = false;
    for (const bool sequence : {false, true}) {
        Plan p = plan;
        p.layout.sequence_parallel = sequence;
        Degrees degrees = degrees_of(plan, e.mesh);
        degrees.sequence_parallel = sequence;
        LayerParts parts;
        list_parts(p, degrees, types[type], parts);
        for (const LayerCall& c : parts.calls) {
            if (c.group != GroupKind::tp || c.part == LayerPart::experts) continue;
            const double sent = c.calls * sent_bytes(c.collective, c.ranks, c.bytes);
            if (!sequence)
                out.without_bytes += sent, out.all_reduces += c.calls;
            else
                (is_gathered_again(c.what) ? out.again_bytes : out.with_bytes) += sent;
        }
    }
    if (!(out.without_bytes > 0 && out.with_bytes > 0)) return std::nullopt;
    return out;
}

std::string words_of(const SequenceParallelBytes& b) {
    constexpr double kSame = 1e-6;  // of rounding, far below what is written
    const std::string without = bytes_text(b.without_bytes), with = bytes_text(b.with_bytes);
    const bool same = std::abs(b.with_bytes - b.without_bytes) <= kSame * b.without_bytes;
    return std::string(b.one_kind ? "A layer" : "A layer of the usual kind") + " of a micro-batch without SP"
           + (b.on ? ": " : ", as here: ")
           + count_text(static_cast<std::int64_t>(std::llround(b.all_reduces)), "all-reduce") + " send "
           + without + "; with it" + (b.on ? ", as here," : "") + " gathers and scatters send "
           + (same ? "the same " : "") + with
           + (b.again_bytes > 0 ? ", and " + bytes_text(b.again_bytes)
                                      + " more gather inputs again for the weights' gradients."
                                : std::string(", and nothing is gathered again."));
}

}  // namespace pentamesh
