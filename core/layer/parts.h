// Lists what a layer consists of on one rank, as plain numbers. Communication counts the list's calls; the
// steps of a layer (layer.h) have names and tensors beside it.
#pragma once

#include "core/base/short_list.h"
#include "core/layer/what.h"
#include "core/mesh/collective.h"
#include "core/mesh/mesh.h"
#include "core/model/layer_types.h"
#include "core/model/local_shard.h"

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

}  // namespace pentamesh
