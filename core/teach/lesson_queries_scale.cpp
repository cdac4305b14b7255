// Answers queries about how far a plan scales: what a GPU computes while a byte crosses a wire, how long an
// axis is on its wire against the compute, and on how many GPUs it takes longer.
#include "core/decide/scale.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/teach/lesson_query_parts.h"

#include <algorithm>

namespace pentamesh {
namespace {

using namespace query;

Answer flops_per_byte(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    const double peak = in.plan.cluster.gpu.flops.bf16, wire = in.plan.cluster.tiers[i].bytes_per_s;
    return measure(peak / wire, "",
                   sentence(three_digits(peak / 1e12), " TFLOP/s in bf16 / ", three_digits(wire / 1e9),
                            " GB/s of ", in.plan.cluster.tiers[i].name));
}
Answer step_tokens(const QueryInput& in) {
    const double tokens = tokens_per_step(in.plan.training), world = static_cast<double>(in.e.mesh.world);
    return measure(tokens / world, "",
                   sentence(whole_text(tokens), " tokens of a step / ", in.e.mesh.world, " GPUs"));
}

double compute_of(const Step& s) {
    return s.compute_s + s.recompute_s;
}
Answer compute_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    Answer a = measure(compute_of(*in.e.step), "s", "compute of the average stage in a step");
    a.text = time_text(a.number);
    return a;
}
Answer wire_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    Answer a = measure(in.e.comm.by_axis[in.arg.group].time_s, "s",
                       sentence("all calls of ", name_of(in.arg.group), " in a step, hidden or not"));
    a.text = time_text(a.number);
    return a;
}
Answer wire_share(const QueryInput& in) {
    if (!in.e.step || compute_of(*in.e.step) <= 0) return none("no step time");
    const double wire = in.e.comm.by_axis[in.arg.group].time_s, compute = compute_of(*in.e.step);
    return measure(100 * wire / compute, "%",
                   sentence(name_of(in.arg.group), " is ", time_text(wire), " on its wire, beside ",
                            time_text(compute), " of compute"));
}
Answer binds(const QueryInput& in) {
    const Scale s = scale_of(in.plan);
    const auto it = std::find_if(s.crossings.begin(), s.crossings.end(), [&](const ScaleCrossing& c) {
        return c.turn == ScaleTurn::passes_compute && c.axis == in.arg.group;
    });
    if (it == s.crossings.end())
        return none(sentence(name_of(in.arg.group), " takes longer than compute on no number of GPUs"));
    return measure(it->at, "GPUs", it->words());
}

constexpr Query kScaleQueries[] = {
    {"flops per byte N", "dense bf16 FLOPs that a GPU has time for while a byte crosses tier N",
     flops_per_byte},
    {"step tokens per gpu", "tokens of a step over the GPUs", step_tokens},
    {"compute time", "of the average stage in a step, seconds", compute_time},
    {"time AXIS", "of all its calls in a step, hidden or not, seconds", wire_time},
    {"time AXIS over compute", "the same as a share of the compute, %", wire_share},
    {"binds AXIS", "GPUs from which it takes longer than the compute, the batch as it is", binds},
};

}  // namespace

std::span<const Query> scale_queries() {
    return kScaleQueries;
}

}  // namespace pentamesh
