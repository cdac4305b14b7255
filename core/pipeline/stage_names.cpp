#include "core/pipeline/stage_names.h"

#include "core/base/text.h"

#include <algorithm>

namespace pentamesh {
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

}  // namespace pentamesh
