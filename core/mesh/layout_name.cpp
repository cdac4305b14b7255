#include "core/mesh/layout_name.h"

#include "core/base/text.h"

namespace pentamesh {
namespace {

std::int64_t size_of(const Mesh& mesh, Axis a) {
    return mesh.dense[a].size;
}

// Returns the name of data parallelism by itself. `shard` and `replicate` are its two factors. ZeRO also cuts
// over the ranks of context parallelism (Megatron-LM's distributed optimizer, torchtitan's fsdp mesh).
LayoutName data_parallel_name(int zero, std::int64_t shard, std::int64_t replicate, std::int64_t cp) {
    const std::int64_t dp = shard * replicate;
    const std::string over =
        cp > 1 ? sentence(shard * cp, " GPUs (dp ", shard, " × cp ", cp, ")") : sentence(shard, " GPUs");
    if (zero == 0 || shard * cp == 1)
        return {"DDP", sentence("each of ", dp, " replicas holds everything; gradients are all-reduced.")};
    if (zero == 3 && replicate > 1)
        return {"HSDP", sentence("parameters are sharded over ", over, cp > 1 ? "" : " (dp_shard)",
                                 " and each shard is kept ", replicate,
                                 " times (dp_replicate): gathers stay in the small group, only gradients "
                                 "of a shard cross.")};
    if (zero == 3)
        return {"FSDP", sentence("parameters, gradients and optimizer state are sharded over ", over,
                                 " and gathered layer by layer (ZeRO-3).")};
    const std::string_view what = zero == 1 ? "optimizer state is" : "optimizer state and gradients are";
    std::string reason = sentence(what, " sharded over ", over);
    if (replicate > 1) reason += sentence(", and that ", replicate, " times");
    return {sentence("ZeRO-", zero), reason + "."};
}

void append_axis(std::string& text, int& count, std::string_view name, std::int64_t size) {
    if (size <= 1) return;
    text += sentence(text.empty() ? "" : " × ", name, " ", size);
    ++count;
}

std::string folding_reason(const Mesh& mesh) {
    const auto expert = [&](Axis a) { return mesh.expert[a].size; };
    return sentence(" The experts re-fold the same ", mesh.world, " GPUs as etp ", expert(Axis::tp), " × ep ",
                    expert(Axis::ep), " × edp ", expert(Axis::dp_shard) * expert(Axis::dp_replicate),
                    " × pp ", expert(Axis::pp), ": ep multiplies nothing.");
}

}  // namespace

LayoutName layout_name(const Plan& plan, const Mesh& mesh) {
    const std::int64_t shard = size_of(mesh, Axis::dp_shard), replicate = size_of(mesh, Axis::dp_replicate);
    const bool experts = mesh.has_experts && mesh.expert[Axis::ep].size > 1;
    std::string product;
    int axes = 0;
    append_axis(product, axes, "tp", size_of(mesh, Axis::tp));
    append_axis(product, axes, "cp", size_of(mesh, Axis::cp));
    append_axis(product, axes, "pp", size_of(mesh, Axis::pp));
    const int model_axes = axes;
    append_axis(product, axes, "dp", shard * replicate);

    LayoutName out;
    if (axes == 0)
        out = {"one GPU", "nothing is cut and nobody is spoken to."};
    else if (model_axes == 0)
        out = data_parallel_name(plan.layout.zero, shard, replicate, 1);
    else if (axes == 1 && !experts)
        out = {sentence(size_of(mesh, Axis::tp) > 1   ? "tensor"
                        : size_of(mesh, Axis::cp) > 1 ? "context"
                                                      : "pipeline",
                        " parallelism alone"),
               sentence(product, " is the only axis.")};
    else {
        const int dimensions = axes + (experts ? 1 : 0);
        out = {sentence(dimensions, "D parallelism"),
               sentence(product, experts ? ", and experts by ep" : "", ".")};
        if (shard * replicate > 1) {
            const LayoutName dp =
                data_parallel_name(plan.layout.zero, shard, replicate, size_of(mesh, Axis::cp));
            out.name += " with " + dp.name;
            out.reason += sentence(" ", dp.name, ": ", dp.reason);
        }
    }
    if (!experts) return out;
    out.name += model_axes == 0 ? " with folded experts" : ", experts folded";
    out.reason += folding_reason(mesh);
    return out;
}

}  // namespace pentamesh
