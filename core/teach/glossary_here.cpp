// Says what a term of the glossary is in a plan: a table from its id to a function of the plan and its
// evaluation.
#include "core/base/text.h"
#include "core/memory/memory_parts.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/teach/captions.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>

namespace pentamesh {
namespace {

struct OpenPlan {
    const Plan& p;
    const Evaluation& e;

    [[nodiscard]] std::int64_t degree(GroupKind k) const { return e.groups[k].degree; }
    [[nodiscard]] bool on(GroupKind k) const { return degree(k) > 1; }
    [[nodiscard]] bool gathers() const { return p.layout.zero == 3 && on(GroupKind::fsdp); }
    [[nodiscard]] const StageMemory* fullest() const {
        return e.memory.stage.empty() ? nullptr : &e.memory.stage[e.memory.peak_stage];
    }
};

std::string axis(const OpenPlan& h, GroupKind k) {
    const GroupSummary& g = h.e.groups[k];
    if (g.degree <= 1) return "1 here: it cuts nothing";
    return caption_of(h.p, h.e, k).text();
}

template <GroupKind k>
std::string axis_of(const OpenPlan& h) {
    return axis(h, k);
}

// Says how often a collective is called and how much it sends, over all axes.
template <Collective c>
std::string collective_of(const OpenPlan& h) {
    double calls = 0, bytes = 0;
    for (const Operation& o : h.e.comm.operations)
        if (o.collective == c && !o.on_other_stage) calls += o.count_per_step, bytes += o.sent_bytes_per_rank;
    if (calls <= 0) return "none here";
    return whole_text(calls) + " a step on " + rows_device_text(h.e.comm) + ", which sends "
           + bytes_text(bytes);
}

std::string of_step(const OpenPlan& h, double seconds) {
    return h.e.step && h.e.step->time_s > 0
               ? time_text(seconds) + ", " + percent_text(seconds / h.e.step->time_s) + " of the step"
               : "";
}

std::string exposed(const OpenPlan& h) {
    return h.e.step ? of_step(h, exposed_of(*h.e.step)) : "";
}

std::string of_fullest(const OpenPlan& h, double StageMemory::*part) {
    const StageMemory* s = h.fullest();
    return s ? memory_text(s->*part) + " on the fullest GPU" : "";
}

// Returns the bytes of a parameter of a matrix, as nearly all are.
std::string bytes_per_parameter(const OpenPlan& h) {
    const Training& t = h.p.training;
    const double weights = parameter_bytes(h.p).linear, gradients = gradient_bytes(t).linear,
                 master = master_bytes(t).linear, states = optimizer_bytes(t).linear - master;
    const double all = weights + gradients + master + states;
    return sentence(three_digits(weights), " + ", three_digits(gradients), " + ", three_digits(master), " + ",
                    three_digits(states), " = ", three_digits(all),
                    " here (weights, gradients, master copy, optimizer): ",
                    memory_text(all * static_cast<double>(h.e.parameters.total)), " in all");
}

std::string replicas(const OpenPlan& h) {
    const std::int64_t dp = h.degree(GroupKind::dp);
    return dp > 0 ? sentence(dp, " here, of ", count_text(h.e.mesh.world / dp, "GPU"), " each") : "";
}

std::string order(const OpenPlan& h) {
    std::string t;
    for (const Axis a : h.p.layout.order) {
        const std::int64_t size = a == Axis::ep ? h.degree(GroupKind::ep) : h.e.mesh.dense[a].size;
        if (size > 1) t += sentence(t.empty() ? "" : ", ", name_of(a), " ", size);
    }
    return t.empty() ? "one rank" : t + ", innermost first";
}

std::string schedule(const OpenPlan& h) {
    if (!h.on(GroupKind::pp)) return "no pipeline here";
    const Layout& l = h.p.layout;
    std::string t(name_of(l.schedule));
    if (l.virtual_stages > 1) t += sentence(", ", l.virtual_stages, " chunks a device");
    return sentence(t, ", ", h.e.microbatches, " micro-batches over ", h.degree(GroupKind::pp), " stages");
}

std::string tiers_from(const OpenPlan& h, std::size_t i) {
    if (i >= h.p.cluster.tiers.size()) return "the cluster has none";
    const Tier& t = h.p.cluster.tiers[i];
    return sentence(t.name, ": ", bytes_text(t.bytes_per_s), "/s a GPU, one direction",
                    t.oversubscription > 1 ? ", oversubscribed 1:" + three_digits(t.oversubscription) : "");
}

std::string straggler(const OpenPlan& h) {
    if (!h.e.step) return {};
    if (h.p.training.straggler_cv <= 0) return "none is assumed in this plan";
    return sentence(percent_text(h.p.training.straggler_cv), " spread over ", h.e.mesh.world,
                    " GPUs: ", of_step(h, h.e.step->straggler_s));
}

struct Row {
    std::string_view id;
    std::string (*text)(const OpenPlan&);
};

constexpr std::array kRows{
    Row{"dp", axis_of<GroupKind::dp>},
    Row{"dp_shard", axis_of<GroupKind::dp_shard>},
    Row{"dp_replicate", axis_of<GroupKind::dp_replicate>},
    Row{"tp", axis_of<GroupKind::tp>},
    Row{"pp", axis_of<GroupKind::pp>},
    Row{"cp", axis_of<GroupKind::cp>},
    Row{"ep", axis_of<GroupKind::ep>},
    Row{"etp", axis_of<GroupKind::etp>},
    Row{"edp", axis_of<GroupKind::edp>},
    Row{"gtp_remat", axis_of<GroupKind::gtp_remat>},
    Row{"sp",
        [](const OpenPlan& h) -> std::string {
            if (!h.on(GroupKind::tp)) return "off: there is no tp";
            return h.p.layout.sequence_parallel ? sentence("on, over tp ", h.degree(GroupKind::tp)) : "off";
        }},
    Row{"device-mesh", order},
    Row{"order", order},
    Row{"rank", [](const OpenPlan& h) { return sentence("0 to ", h.e.mesh.world - 1, " here"); }},
    Row{"world-size",
        [](const OpenPlan& h) {
            return sentence(h.e.mesh.world, " here, of ", count_text(h.p.cluster.gpus, "GPU"));
        }},
    Row{"replica", replicas},
    Row{"stage", [](const OpenPlan& h) { return sentence(h.degree(GroupKind::pp), " here"); }},
    Row{"all-reduce", collective_of<Collective::all_reduce>},
    Row{"reduce-scatter", collective_of<Collective::reduce_scatter>},
    Row{"all-gather", collective_of<Collective::all_gather>},
    Row{"all-to-all", collective_of<Collective::all_to_all>},
    Row{"p2p", collective_of<Collective::send_recv>},
    Row{"exposed", exposed},
    Row{"sync-point",
        [](const OpenPlan& h) {
            const std::string peers = sync_peers_text(h.e.comm);
            if (peers.empty()) return std::string("the layers wait for nobody here");
            return sentence("the layers wait for ", peers, " ",
                            whole_text(h.e.comm.sync_points_per_microbatch),
                            " times in each micro-batch here");
        }},
    Row{"fast-domain",
        [](const OpenPlan& h) -> std::string {
            if (h.p.cluster.tiers.empty()) return {};
            return sentence(count_text(domain_of(h.p.cluster, 0), "GPU"), " on ",
                            std::string(tier_name(h.p.cluster, 0)));
        }},
    Row{"nvlink", [](const OpenPlan& h) { return tiers_from(h, 0); }},
    Row{"infiniband", [](const OpenPlan& h) { return tiers_from(h, 1); }},
    Row{"spine", [](const OpenPlan& h) { return tiers_from(h, 2); }},
    Row{"oversubscription",
        [](const OpenPlan& h) -> std::string {
            for (const Tier& t : h.p.cluster.tiers)
                if (t.oversubscription > 1) return t.name + ": 1:" + three_digits(t.oversubscription);
            return "none here";
        }},
    Row{"hbm",
        [](const OpenPlan& h) {
            return sentence(memory_text(h.p.cluster.gpu.hbm_bytes), " at ",
                            bytes_text(h.p.cluster.gpu.hbm_bytes_per_s), "/s; the fullest GPU needs ",
                            memory_text(h.e.memory.peak()));
        }},
    Row{"straggler", straggler},
    Row{"parameters", [](const OpenPlan& h) { return sentence(h.e.parameters.total, " here"); }},
    Row{"active-parameters",
        [](const OpenPlan& h) {
            return sentence(h.e.parameters.active, " here, ", h.e.parameters.active_without_embedding,
                            " without the embedding's table");
        }},
    Row{"gradients", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::gradients); }},
    Row{"optimizer-state", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::optimizer); }},
    Row{"activations", [](const OpenPlan& h) { return of_fullest(h, &StageMemory::activations); }},
    Row{"master-weights",
        [](const OpenPlan& h) -> std::string { return std::string(name_of(h.p.training.master_weights)); }},
    Row{"bytes-per-parameter", bytes_per_parameter},
    Row{"in-flight",
        [](const OpenPlan& h) -> std::string {
            const StageMemory* s = h.fullest();
            return s ? sentence(three_digits(s->in_flight), " on the fullest GPU") : "";
        }},
    Row{"recompute", [](const OpenPlan& h) -> std::string { return words_of(h.p.training.recompute); }},
    Row{"precision",
        [](const OpenPlan& h) {
            return sentence("computes in ", name_of(h.p.training.compute), ", keeps weights in ",
                            name_of(h.p.training.parameters), " and gradients in ",
                            name_of(h.p.training.gradients));
        }},
    Row{"batch",
        [](const OpenPlan& h) {
            return sentence(count_text(h.p.training.global_batch, "sequence"), " of ",
                            h.p.training.sequence_length, " tokens");
        }},
    Row{"micro-batch", [](const OpenPlan& h) { return count_text(h.p.training.micro_batch, "sequence"); }},
    Row{"microbatches",
        [](const OpenPlan& h) {
            return sentence(h.e.microbatches, " here: ", h.p.training.global_batch, " / (",
                            h.p.training.micro_batch, " × ", h.degree(GroupKind::dp), ")");
        }},
    Row{"accumulation",
        [](const OpenPlan& h) {
            return sentence("over ", h.e.microbatches,
                            h.e.microbatches == 1 ? " micro-batch" : " micro-batches");
        }},
    Row{"bubble",
        [](const OpenPlan& h) -> std::string {
            if (!h.on(GroupKind::pp)) return "none: there is no pipeline";
            return h.e.step ? of_step(h, schedule_bubble_s(*h.e.step)) : "";
        }},
    Row{"schedule", schedule},
    Row{"virtual-stage", schedule},
    Row{"mfu", [](const OpenPlan& h) -> std::string { return h.e.step ? percent_text(h.e.step->mfu) : ""; }},
    Row{"hfu", [](const OpenPlan& h) -> std::string { return h.e.step ? percent_text(h.e.step->hfu) : ""; }},
    Row{"tokens-per-second",
        [](const OpenPlan& h) -> std::string {
            return h.e.step ? three_digits(h.e.step->tokens_per_s) + " here" : "";
        }},
    Row{"step-time",
        [](const OpenPlan& h) -> std::string {
            return h.e.step ? time_text(h.e.step->time_s) + " ± " + percent_text(h.e.step->error) : "";
        }},
    Row{"hidden", [](const OpenPlan& h) { return sentence(h.p.model.hidden, " here"); }},
    Row{"head", [](const OpenPlan& h) { return sentence(h.p.model.heads, " here"); }},
    Row{"gqa",
        [](const OpenPlan& h) {
            return sentence(h.p.model.heads, " query heads, ", h.p.model.kv_heads, " of keys and values");
        }},
    Row{"layer", [](const OpenPlan& h) { return sentence(h.p.model.layers, " here"); }},
    Row{"moe",
        [](const OpenPlan& h) -> std::string {
            if (!h.p.model.moe) return "the model is dense";
            return sentence(h.p.model.moe->experts, " experts, ", h.p.model.moe->top_k, " for each token");
        }},
    Row{"imbalance",
        [](const OpenPlan& h) -> std::string {
            return h.p.model.moe ? three_digits(h.p.training.router_imbalance) + " × the mean here"
                                 : "the model is dense";
        }},
    Row{"sequence-length",
        [](const OpenPlan& h) { return sentence(h.p.training.sequence_length, " tokens"); }},
};

struct Name {
    std::string_view id;
    bool (*used)(const OpenPlan&);
};

// Returns true if the plan's pipeline runs a schedule of this term; nullopt where no schedule has it.
std::optional<bool> runs(const OpenPlan& h, std::string_view term) {
    for (const Schedule s : all_of<Schedule>())
        if (traits_of(s).term == term)
            return h.on(GroupKind::pp) && traits_of(h.p.layout.schedule).term == term;
    return std::nullopt;
}
template <int stage>
bool zero_is(const OpenPlan& h) {
    return h.p.layout.zero == stage && h.on(stage == 0 ? GroupKind::dp : GroupKind::fsdp);
}

constexpr std::array kNamesUsed{
    Name{"ddp", zero_is<0>},
    Name{"zero-1", zero_is<1>},
    Name{"zero-2", zero_is<2>},
    Name{"zero-3", zero_is<3>},
    Name{"fsdp", [](const OpenPlan& h) { return h.gathers() && !h.on(GroupKind::dp_replicate); }},
    Name{"hsdp", [](const OpenPlan& h) { return h.gathers() && h.on(GroupKind::dp_replicate); }},
    Name{"megatron-tp", [](const OpenPlan& h) { return h.on(GroupKind::tp); }},
    Name{"megatron-sp",
         [](const OpenPlan& h) { return h.on(GroupKind::tp) && h.p.layout.sequence_parallel; }},
    Name{"async-tp", [](const OpenPlan& h) { return h.on(GroupKind::tp) && h.p.training.overlap.tp; }},
    Name{"ring-attention",
         [](const OpenPlan& h) {
             return h.on(GroupKind::cp)
                    && (h.p.layout.cp_comm == CpComm::ring || h.p.layout.cp_comm == CpComm::ulysses_ring);
         }},
    Name{"head-tail",
         [](const OpenPlan& h) { return h.on(GroupKind::cp) && h.p.layout.cp_comm != CpComm::ulysses; }},
    Name{"ulysses",
         [](const OpenPlan& h) {
             return h.on(GroupKind::cp)
                    && (h.p.layout.cp_comm == CpComm::ulysses || h.p.layout.cp_comm == CpComm::ulysses_ring);
         }},
    Name{"cp-allgather",
         [](const OpenPlan& h) { return h.on(GroupKind::cp) && h.p.layout.cp_comm == CpComm::allgather; }},
    Name{"topk-routing", [](const OpenPlan& h) { return h.p.model.moe.has_value(); }},
    Name{"switch", [](const OpenPlan& h) { return h.p.model.moe && h.p.model.moe->top_k == 1; }},
    Name{"folding", [](const OpenPlan& h) { return h.e.mesh.has_experts && h.on(GroupKind::ep); }},
};

}  // namespace

std::optional<bool> used_in(std::string_view id, const Plan& plan, const Evaluation& evaluation) {
    for (const Name& n : kNamesUsed)
        if (n.id == id) return n.used({plan, evaluation});
    return runs({plan, evaluation}, id);
}

std::string in_this_plan(std::string_view id, const Plan& plan, const Evaluation& evaluation) {
    if (!evaluation.valid) {
        const auto computed = computed_terms();
        const bool known = std::find(computed.begin(), computed.end(), id) != computed.end();
        return known ? "—: " + first_error(evaluation.problems) : "";
    }
    for (const Row& r : kRows)
        if (r.id == id) return r.text({plan, evaluation});
    const std::optional<bool> used = used_in(id, plan, evaluation);
    return !used ? "" : *used ? "used here" : "not used here";
}

std::vector<std::string_view> computed_terms() {
    std::vector<std::string_view> out;
    for (const Row& r : kRows) out.push_back(r.id);
    for (const Name& n : kNamesUsed) out.push_back(n.id);
    for (const Schedule schedule : all_of<Schedule>()) {
        const std::string_view term = traits_of(schedule).term;
        if (std::find(out.begin(), out.end(), term) == out.end()) out.push_back(term);
    }
    return out;
}

}  // namespace pentamesh
