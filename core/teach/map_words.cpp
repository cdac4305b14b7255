// Holds the map's words about each axis in any plan.
#include "core/teach/map.h"

#include "core/base/text.h"

#include <array>

namespace pentamesh {
namespace {

constexpr std::array<MapWords, kMapRowCount> kWords{{
    {.id = MapRowId::dp,
     .key = "dp",
     .name = "data parallelism",
     .cuts = "the batch",
     .says = "all-reduce of gradients",
     .often = "once per step",
     .sits = "any tier: it can hide behind the backward pass",
     .reach = "always: it is where every layout starts",
     .saves = "activations, by a smaller batch on each GPU",
     .scope = "the whole model",
     .model = "nothing",
     .drawback = "copies the model; the global batch is its ceiling",
     .why = "More replicas get through more samples in the same time. Each works alone until the gradients "
            "are added up.",
     .cost = "One sum over all gradients a step. A ring sends almost twice their size from every GPU, "
             "however many take part.",
     .short_name = "data parallel",
     .knife = "the batch, between samples",
     .talks = "sums the gradients"},
    {.id = MapRowId::zero,
     .key = "ZeRO",
     .name = "sharded data parallelism (ZeRO, FSDP)",
     .cuts = "the model's state over data-parallel ranks",
     .says = "reduce-scatter and all-gather",
     .often = "once per step; stage 3 in every layer",
     .sits = "between the fast tier and the slowest: HSDP keeps the gathers near",
     .reach = "the state barely fits, or does not, and the batch is large",
     .saves = "1 optimizer, 2 also gradients, 3 also parameters",
     .scope = "the whole model",
     .model = "nothing",
     .drawback = "stage 3 sends the weights again for every pass",
     .why = "Replicas need not all keep the same optimizer state, gradients and weights: each keeps its "
            "part and asks for the rest when it is used.",
     .cost = "Stages 1 and 2 send what plain data parallelism sends. Stage 3 gathers every layer's weights "
             "forward and backward, half as much again.",
     .short_name = "modifier of dp",
     .knife = "nothing: copies share out one state",
     .talks = "the same sum, in its two halves"},
    {.id = MapRowId::tp,
     .key = "tp",
     .name = "tensor parallelism",
     .cuts = "the hidden size: each matrix of a layer",
     .says = "all-reduce of activations",
     .often = "4 per layer and micro-batch",
     .sits = "inside the fast domain only",
     .reach = "a layer, or its activations, is too much for one GPU",
     .saves = "weights, gradients, optimizer and most activations",
     .scope = "the whole model",
     .model = "where each matrix may be cut",
     .drawback = "waits on the critical path; small products at high degree",
     .why = "A matrix cut into columns, and the next into rows, gives partial sums that one addition "
            "completes. So a layer can be larger than a GPU.",
     .cost = "Every layer waits for its sums, forward and backward, and the bytes grow with the tokens. "
             "Little of it hides.",
     .short_name = "tensor parallel",
     .knife = "each layer, through its width",
     .talks = "puts results together"},
    {.id = MapRowId::sp,
     .key = "sp",
     .name = "sequence parallelism",
     .cuts = "activations between tp's cuts",
     .says = "all-gather and reduce-scatter in place of all-reduce",
     .often = "where tp speaks",
     .sits = "with tp",
     .reach = "whenever tp is on",
     .saves = "activations of norms, dropout and residuals",
     .scope = "what lies between the matrices",
     .model = "which operations work on single tokens",
     .drawback = "the gathered input is kept or gathered again",
     .why = "Norms and dropout treat each token alone, so tp's ranks can share them out instead of each "
            "doing all of them.",
     .cost =
         "The forward sends the same bytes: an all-reduce is a reduce-scatter and an all-gather, and work "
         "is done between the halves. The backward gathers its inputs once more, since a rank kept a share.",
     .short_name = "modifier of tp",
     .knife = "nothing new: what lies between tp's cuts, by tokens",
     .talks = "tp's sums, in their two halves"},
    {.id = MapRowId::etp,
     .key = "etp",
     .name = "tensor parallelism inside experts",
     .cuts = "the width of each expert",
     .says = "all-gather and reduce-scatter of tokens",
     .often = "4 per MoE layer and micro-batch",
     .sits = "inside the fast domain only",
     .reach = "one expert is too much for a GPU",
     .saves = "experts' weights, gradients and optimizer",
     .scope = "the experts",
     .model = "where an expert's matrices may be cut",
     .drawback = "narrow experts make small products",
     .why = "The expert mesh folds the same GPUs anew, so that experts can be cut by another degree than "
            "attention is.",
     .cost = "Every token that is routed is gathered and summed once more.",
     .short_name = "modifier of tp",
     .knife = "each expert, through its width",
     .talks = "puts results together"},
    {.id = MapRowId::pp,
     .key = "pp",
     .name = "pipeline parallelism",
     .cuts = "the depth: whole layers",
     .says = "send and receive of activations",
     .often = "each micro-batch at each stage boundary",
     .sits = "across nodes: its messages are few and small",
     .reach = "the model does not fit even with tp and sharding",
     .saves = "weights, gradients and optimizer",
     .scope = "between layers",
     .model = "nothing; wants layers that balance",
     .drawback = "the bubble; many micro-batches; the schedule",
     .why = "A stage keeps its layers whole and hands on one activation. Nothing else is as cheap on the "
            "wire.",
     .cost = "Stages wait at the start and the end of a step. The wait shrinks with more micro-batches, "
             "which must be kept in flight.",
     .short_name = "pipeline parallel",
     .knife = "the stack, between layers",
     .talks = "hands on activations"},
    {.id = MapRowId::cp,
     .key = "cp",
     .name = "context parallelism",
     .cuts = "the sequence, attention included",
     .says = "keys and values around a ring",
     .often = "every attention layer",
     .sits = "near: the fast domain or the pod",
     .reach = "long context: from about 16K tokens, sure at 128K",
     .saves = "activations",
     .scope = "attention; the rest needs no talk",
     .model = "how attention may be computed in pieces",
     .drawback = "causal masks need balance; weights are not cut",
     .why = "Activations grow with the sequence, and neither more stages nor smaller batches cut a single "
            "sequence.",
     .cost = "Each rank needs all keys and values once a layer. They pass by while it computes, if there "
             "is enough to compute.",
     .short_name = "context parallel",
     .knife = "each sample, through its tokens",
     .talks = "gathers keys and values"},
    {.id = MapRowId::ep,
     .key = "ep",
     .name = "expert parallelism",
     .cuts = "the experts of MoE layers",
     .says = "all-to-all of tokens",
     .often = "4 per MoE layer and micro-batch",
     .sits = "near: the fast domain or the pod",
     .reach = "the model has experts",
     .saves = "experts' weights, gradients and optimizer",
     .scope = "MoE layers",
     .model = "how tokens are routed",
     .drawback = "follows the router's balance; the fullest rank sets the pace",
     .why = "Experts are most of the parameters and each token uses few of them. So tokens travel to the "
            "experts, not weights to the tokens.",
     .cost = "Every token goes to its experts and comes back. What a popular expert gets is what everyone "
             "waits for.",
     .short_name = "expert parallel",
     .knife = "the experts, drawer by drawer",
     .talks = "tokens there and back"},
}};

}  // namespace

const MapWords& words_of(MapRowId id) {
    return kWords[static_cast<std::size_t>(id)];
}

std::string short_setting(const MapRow& row) {
    if (row.verdict == Verdict::off) return "off";
    if (row.id == MapRowId::sp) return "on";
    return std::to_string(row.id == MapRowId::zero ? row.zero : row.degree);
}

CompactWords compact_words(const MapRow& row) {
    const MapWords& w = words_of(row.id);
    CompactWords out{std::string(w.knife), std::string(w.talks)};
    if (row.id == MapRowId::zero && row.zero > 0) {
        constexpr std::array<std::string_view, 3> kShared{"the optimizer", "gradients, optimizer",
                                                          "weights, gradients, optimizer"};
        out.cuts =
            "nothing: copies share out " + std::string(kShared[static_cast<std::size_t>(row.zero - 1)]);
        if (row.zero == 3) out.talks = "gathers the weights of every layer";
    }
    const bool in_layers = row.calls_per_layer > 0 && row.id != MapRowId::zero && row.id != MapRowId::dp;
    if (in_layers)
        out.talks += ", " + three_digits(row.calls_per_layer) + " times in every "
                     + (is_expert(row.kind) ? "MoE layer" : "layer");
    else if (row.id == MapRowId::pp)
        out.talks += ", for every micro-batch";
    else if (row.id == MapRowId::dp)
        out.talks += ", " + row.often;
    return out;
}

std::string_view name_of(Verdict verdict) {
    constexpr std::array<std::string_view, 3> names{"fine", "costly", "off"};
    return names[static_cast<std::size_t>(verdict)];
}

}  // namespace pentamesh
