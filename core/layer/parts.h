// Lists what a layer consists of on one rank, as plain numbers. Communication counts the list's calls, time
// is the sum of its kernels; the steps of a layer (layer.h) have names and tensors beside it.
#pragma once

#include "core/base/short_list.h"
#include "core/layer/what.h"
#include "core/mesh/collective.h"
#include "core/mesh/mesh.h"
#include "core/model/layer_types.h"
#include "core/model/local_shard.h"
#include "core/plan/recompute.h"

namespace pentamesh {

enum class LayerPass : std::uint8_t { forward, backward };
enum class LayerPart : std::uint8_t { mixer, mlp, shared_experts, experts };

// This is a collective that one layer makes for one micro-batch.
struct LayerCall {
    What what = What::none;
    GroupKind group = GroupKind::tp;
    Collective collective = Collective::all_reduce;
    LayerPass pass = LayerPass::forward;
    LayerPart part = LayerPart::mixer;
    bool repeats = false;  // the plan recomputes this forward call in the backward
    std::int64_t ranks = 1;
    double bytes = 0;  // the full buffer on a rank
    double calls = 1;  // a ring sends several messages
};
using CallList = ShortList<LayerCall, 48>;

// Lists the calls of a layer of this type: those of the mixer, the dense MLP, the shared experts, the
// experts. The calls of data parallelism are not among them.
void list_calls(const Plan& plan, const Degrees& degrees, const LayerType& type, CallList& out);

// Says at which rate a kernel computes; `none` only moves bytes.
enum class LayerRate : std::uint8_t { none, linear, wide, grouped, core, scan };

// This is a kernel of the forward: a product of m tokens, `in` inputs and `out` outputs, `groups` times side
// by side; the attention core, m queries with heads of `in` and `out` numbers (`in` 0: the indexer's scores);
// a scan; or an element-wise kernel, which moves bytes. Its backward follows from it (core/step/compute.h).
struct LayerKernel {
    What what = What::none;
    LayerPart part = LayerPart::mixer;
    LayerRate rate = LayerRate::none;
    bool on_stream = false;    // a norm or an addition on the residual stream: it counts with the mixer
    bool fused = false;        // takes time only where it is recomputed
    bool launch_only = false;  // its bytes take no time (docs/step.md)
    bool casts_input = true, casts_gradient = true;  // of a product: in a pass of their own
    RecomputeModules modules{};                      // recomputing any of these recomputes it
    double m = 0, in = 0, out = 0, groups = 1;
    double flops = 0;               // of a core or a scan
    double bytes = 0, kernels = 0;  // of element-wise kernels
};
using KernelList = ShortList<LayerKernel, 48>;
void list_kernels(const Plan& plan, const Degrees& degrees, const LayerType& type, KernelList& out);

}  // namespace pentamesh
