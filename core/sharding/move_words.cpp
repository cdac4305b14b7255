// Says in words why there is no move between two plans, what moves, and what was assumed.
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/plan/names.h"
#include "core/sharding/move.h"

#include <algorithm>

namespace pentamesh {

namespace {

// The padding of the vocabulary does not move, so that it may differ.
Model without_name(Model m) {
    m.name.clear();
    m.vocab_multiple = 0;
    return m;
}

bool same_states(const Training& a, const Training& b) {
    const StateBytes x = optimizer_bytes(a), y = optimizer_bytes(b);
    return a.optimizer == b.optimizer && a.optimizer_state == b.optimizer_state && x.linear == y.linear
           && x.router == y.router && x.other == y.other;
}

std::string why_no_optimizer(const Plan& a, const Plan& b) {
    for (const auto& [name, plan] : {std::pair("A", &a), std::pair("B", &b)})
        if (parameter_copies(plan->layout.schedule) > 1 && plan->layout.pp > 1)
            return sentence("The pipeline of ", name,
                            " keeps two copies of each layer, which share one state of the optimizer: which "
                            "half each has is not known. Move only the weights, or set another "
                            "layout.schedule.");
    if (same_states(a.training, b.training)) return {};
    return "The optimizers of A and B keep other states of a weight, so that B's cannot come from A. Set "
           "training.optimizer, optimizer_state, master_weights and parameters equal, or move only the "
           "weights.";
}

}  // namespace

std::string no_move_words(const Plan& a, const Plan& b, const MoveOptions& options) {
    if (!(without_name(a.model) == without_name(b.model))) {
        const bool named = !a.model.name.empty() && !b.model.name.empty() && a.model.name != b.model.name;
        return sentence("A and B are plans of different models",
                        named ? sentence(": ", a.model.name, " and ", b.model.name) : std::string(),
                        ". The numbers of one are no part of the other: give both plans the same model.");
    }
    for (const auto& [name, plan] : {std::pair("A", &a), std::pair("B", &b)})
        if (plan->layout.weight_shards.value_or(1) > 1)
            return sentence(name,
                            " cuts each weight further by layout.weight_shards, whose pieces are not counted "
                            "here. Set it to 1.");
    constexpr std::int64_t kMostLayers = 4096;
    if (a.model.layers > kMostLayers) return "The model has more than 4,096 layers, which are not listed.";
    const auto node = [](const Plan& p) { return p.cluster.tiers.empty() ? 1 : domain_of(p.cluster, 0); };
    if (!options.apart && (node(a) != node(b) || a.cluster.gpu.name != b.cluster.gpu.name))
        return sentence("A and B lie on different machines: ", a.cluster.gpu.name, " with ", node(a), " a ",
                        domain_name(a.cluster), ", and ", b.cluster.gpu.name, " with ", node(b), " a ",
                        domain_name(b.cluster),
                        ". Then rank i of A is not on the GPU of rank i of B: say that they lie apart "
                        "(--apart), or give both plans the same cluster.");
    return options.optimizer ? why_no_optimizer(a, b) : std::string();
}

std::string move_sentence(const Move& move, const std::vector<Tier>& tiers) {
    const MoveBytes mean = move.mean();
    std::string out = sentence("From A to B ", move.gpus_b == 1 ? "the GPU" : "a GPU", " needs ",
                               memory_text(mean.needed), move.gpus_b == 1 ? "" : " on average");
    if (mean.moved() <= 0) return out + ". All of it is there already: nothing moves.";
    out += ": " + (mean.stays > 0 ? memory_text(mean.stays) + " stay" : std::string("nothing stays"));
    bool first = true;
    for (std::size_t t = 0; t < tiers.size() && t < mean.over.size(); ++t) {
        if (mean.over[t] <= 0) continue;
        out += sentence(", ", memory_text(mean.over[t]), first ? " come over " : " over ", tiers[t].name);
        first = false;
    }
    return out + sentence(". At least ", time_text(move.bound_s), ".");
}

std::string move_assumed(const Move& move, const Plan& a, const Plan& b) {
    std::string out;
    if (move.first_gpu > 0)
        out = sentence("B has GPUs of its own: its rank 0 is GPU ", with_commas(move.first_gpu),
                       ", A's are GPUs 0 to ", with_commas(move.gpus_a - 1), ". ");
    else if (move.gpus_a != move.gpus_b)
        out = sentence("Rank i of A is on the GPU of rank i of B, as far as there are both: A has ",
                       with_commas(move.gpus_a), " GPUs, B ", with_commas(move.gpus_b), ". ");
    else
        out = "Rank i of A is on the GPU of rank i of B. ";
    out += "What several GPUs of a node need crosses into it once and is handed on there; of several copies "
           "the nearest is taken: same GPU, same node, then the next wire out. The time is a bound, not a "
           "forecast: each wire at its full rate, all at once, and nothing but this traffic. ";
    out += move.options.optimizer
               ? "Weights, states of the optimizer and master copies move, gradients do not."
               : "Only the weights move: neither gradients nor states of the optimizer.";
    if (a.training.parameters != b.training.parameters)
        out += sentence(" Weights are counted in B's type, ", name_of(b.training.parameters),
                        ": they are cast before they are sent.");
    if (b.training.offload.any() || a.training.offload.any())
        out += " Numbers that lie in host memory count as if they lay on the GPU.";
    return out;
}

}  // namespace pentamesh
