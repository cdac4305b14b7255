#include "core/rules/software_runs.h"

#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/pipeline/schedules/schedule.h"
#include "core/pipeline/sequence.h"
#include "core/pipeline/stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/software.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace pentamesh {
namespace {

bool in_megatron(Schedule s) {
    return traits_of(s).in_megatron;
}
bool in_pytorch(Schedule s) {
    return !traits_of(s).torchtitan.empty();
}
bool in_nanotron(Schedule s) {
    return !traits_of(s).nanotron.empty();
}
bool is_plain(Schedule s) {
    return s == usual_schedule(1);
}
bool is_in_one_backward(Schedule s) {
    return !traits_of(s).splits_backward && traits_of(s).placement == StagePlacement::loop;
}

namespace orders {  // the axes' bare names stay in here

using enum Axis;
constexpr std::array<AxisOrder, 2> kMegatronOrders{
    {{tp, cp, ep, dp_shard, dp_replicate, pp}, {tp, cp, ep, pp, dp_shard, dp_replicate}}};
constexpr std::array<AxisOrder, 1> kTorchtitanOrders{{{tp, cp, ep, dp_shard, dp_replicate, pp}}};
constexpr std::array<AxisOrder, 1> kDeepspeedOrders{{{tp, cp, ep, dp_shard, dp_replicate, pp}}};
constexpr std::array<AxisOrder, 1> kNanotronOrders{{{tp, cp, dp_shard, dp_replicate, pp, ep}}};

}  // namespace orders

// Megatron-LM d98e8a6: core/pipeline_parallel/schedules.py (1F1B, interleaved), core/parallel_state.py and
// training/initialize.py --use-tp-pp-dp-mapping (orders), megatron_fsdp.py:761 (weights are given up),
// transformer_config.py recompute_modules.
constexpr SoftwareRuns kMegatron{.who = "Megatron",
                                 .schedule = in_megatron,
                                 .orders = orders::kMegatronOrders,
                                 .order_words = "tp-cp-ep-dp-pp or tp-cp-ep-pp-dp",
                                 .lets_go = true};
// torchtitan b5bcd76: distributed/pipeline_parallel.py (get_schedule_class of PyTorch 0138610
// pipelining/schedules.py), distributed/parallel_dims.py (order, ep inside dp_shard x cp x tp, no etp
// together with ep), distributed/fsdp.py:129 (FSDP2 shards parameters too, over cp always),
// components/activation_checkpoint.py (none, selective, full), config/configs.py (training.dtype is float32),
// models/common/decoder.py:168 (a pipeline is refused with enable_weight_tying).
constexpr SoftwareRuns kTorchtitan{.who = "torchtitan",
                                   .schedule = in_pytorch,
                                   .orders = orders::kTorchtitanOrders,
                                   .order_words = "tp-cp-dp_shard-dp_replicate-pp, ep inside them",
                                   .zero = 0b1001,
                                   .etp = ExpertTensor::one_beside_ep,
                                   .heads = Heads::whole,
                                   .ties_stages = false,
                                   .recomputes = Recomputes::words,
                                   .keeps_fp32 = true};
// DeepSpeed edaa722: runtime/pipe/schedule.py (TrainSchedule is 1F1B), runtime/pipe/topology.py (order),
// runtime/zero/mics.py (replicas of shards, only with ZeRO-3), stage3.py:1886 (weights are given up),
// sequence/layer.py (Ulysses), module_inject/auto_tp.py (no sequence parallelism with tp; experts are cut as
// the rest), module_inject/auto_ep_folding.py (experts of AutoEP are whole).
constexpr SoftwareRuns kDeepspeed{.who = "DeepSpeed",
                                  .schedule = is_plain,
                                  .orders = orders::kDeepspeedOrders,
                                  .order_words = "tp-cp-dp-pp",
                                  .replicas_at = 0b1001,
                                  .lets_go = true,
                                  .etp = ExpertTensor::one_beside_ep,
                                  .cp_kinds = bit(CpComm::ulysses),
                                  .sequence_parallel = false};
// nanotron 2411b02: parallel/pipeline_parallel/engine.py (afab, 1f1b), parallel/context.py (order),
// helpers.py:409 (any stage above 0 is ZeRO-1 over all of dp), models/base.py (stages by its own cost of a
// block), models/qwen.py (ring and gathered attention; num_key_value_heads >= tp).
constexpr SoftwareRuns kNanotron{.who = "nanotron",
                                 .schedule = in_nanotron,
                                 .orders = orders::kNanotronOrders,
                                 .order_words = "tp-cp-dp-pp",
                                 .zero = 0b0011,
                                 .replicas_at = 0b0001,
                                 .experts = false,
                                 .etp = ExpertTensor::as_tp,
                                 .cp_kinds = bit(CpComm::ring) | bit(CpComm::allgather),
                                 .heads = Heads::at_least_tp,
                                 .uneven_stages = false,
                                 .recomputes = Recomputes::layers};
// MaxText e591f30: layers/pipeline.py scans over micro-batches, with repeats in a circle, and differentiates
// the whole; JaxPP adds 1F1B and interleaved. None of them splits the backward or runs two ways.
// configs/base.yml: weight_dtype and grad_dtype are float32, mu_dtype follows the first.
constexpr SoftwareRuns kMaxtext{.who = "MaxText", .schedule = is_in_one_backward, .keeps_fp32 = true};
// Automodel 36044ad: components/distributed/pipelining/functional.py asks PyTorch's get_schedule_class;
// hf_utils.py, validate_hf_model_for_pipeline_support, refuses tied embeddings.
constexpr SoftwareRuns kAutomodel{.who = "Automodel", .schedule = in_pytorch, .ties_stages = false};
// This is a program of one's own.
constexpr SoftwareRuns kFsdp{.who = "PyTorch FSDP"};

}  // namespace

const SoftwareRuns& runs_of(Software s) {
    switch (s) {
    case Software::megatron:
    case Software::megatron_bridge:
    case Software::megatron_bridge_2025: return kMegatron;
    case Software::torchtitan:
    case Software::torchtitan_2024: return kTorchtitan;
    case Software::deepspeed: return kDeepspeed;
    case Software::nanotron: return kNanotron;
    case Software::maxtext: return kMaxtext;
    case Software::automodel: return kAutomodel;
    case Software::fsdp: break;
    }
    return kFsdp;
}

namespace {

// ---- what a plan asks ----------------------------------------------------------------------------------

struct Asked {
    const Plan& plan;
    Software software;
    const SoftwareRuns& runs = runs_of(software);
    [[nodiscard]] const Layout& layout() const { return plan.layout; }
    [[nodiscard]] bool moe() const { return plan.model.moe.has_value(); }
    [[nodiscard]] bool megatron() const { return is_megatron(software); }
    [[nodiscard]] int zero() const { return zero_in_force(plan); }
    [[nodiscard]] std::int64_t etp() const { return layout().etp.value_or(layout().tp); }
};

// Returns true if both orders lay axes of more than one rank one after another in the same way.
bool same_places(const EnumArray<Axis, Factor>& sizes, const AxisOrder& a, const AxisOrder& b) {
    std::size_t j = 0;
    for (const Axis x : a) {
        if (sizes[x].size == 1) continue;
        while (sizes[b[j]].size == 1) ++j;
        if (b[j++] != x) return false;
    }
    return true;
}
bool same_ranks(const Mesh& mesh, const AxisOrder& a, const AxisOrder& b) {
    return same_places(mesh.dense, a, b) && (!mesh.has_experts || same_places(mesh.expert, a, b));
}
AxisOrder swapped_replicas(AxisOrder order) {
    for (Axis& a : order)
        a = a == Axis::dp_shard ? Axis::dp_replicate : a == Axis::dp_replicate ? Axis::dp_shard : a;
    return order;
}

bool lacks_order(const Asked& a) {
    return !a.runs.orders.empty() && !order_in(a.plan, a.runs.orders);
}
std::string order_words(const Asked& a) {
    return sentence("order: ", a.runs.who, " lays ranks as ", a.runs.order_words);
}

bool lacks_schedule(const Asked& a) {
    return a.layout().pp > 1 && a.runs.schedule && !a.runs.schedule(a.layout().schedule);
}
std::string schedule_words(const Asked& a) {
    return sentence(a.runs.who, " has no schedule ", name_of(a.layout().schedule));
}

bool lacks_stages(const Asked& a) {
    const Layout& l = a.layout();
    if (a.runs.uneven_stages || l.pp == 1) return false;
    const auto& stated = l.stage_layers;
    if (stated.empty()) return a.plan.model.layers % (l.pp * l.virtual_stages) != 0;
    return std::adjacent_find(stated.begin(), stated.end(), std::not_equal_to<>()) != stated.end();
}
std::string stages_words(const Asked& a) {
    return sentence("stage_layers: ", a.runs.who, " balances its stages by its own cost of a block");
}

// Megatron-FSDP, which Megatron has for ZeRO-2 and 3, lays all ranks of the world out as dp_cp x ep x tp, and
// ends with an error where a pipeline takes some of them (Megatron-LM d98e8a6,
// core/distributed/fsdp/mcore_fsdp_adapter.py, _get_dp_tp_mesh, _get_hsdp_tp_mesh).
bool has_pipeline_beside_shards(const Asked& a) {
    return a.megatron() && a.zero() >= 2 && a.layout().pp > 1;
}

bool lacks_zero(const Asked& a) {
    const int zero = a.zero();
    if ((a.runs.zero >> zero & 1U) == 0 || has_pipeline_beside_shards(a)) return true;
    if (is_torchtitan(a.software) && a.layout().zero == 0 && a.layout().cp > 1) return true;
    return zero_support(a.software, zero, a.layout().pp) != ReductionSupport::runs;
}
std::string zero_words(const Asked& a) {
    const int zero = a.layout().zero;
    if (is_torchtitan(a.software))
        return zero == 0
                   ? sentence("zero 0 with cp ", a.layout().cp, ": torchtitan (FSDP) shards over cp always")
                   : sentence("zero ", zero, ": torchtitan (FSDP) shards the parameters too, which is 3");
    if (has_pipeline_beside_shards(a))
        return sentence("zero ", zero, " with pp ", a.layout().pp,
                        ": Megatron-FSDP's mesh of ranks has no pipeline");
    if (a.software == Software::nanotron)
        return sentence("zero ", zero, ": nanotron shards only optimizer states, which is 1");
    return sentence("zero ", zero, ": ", a.runs.who, " refuses it under a pipeline");
}

bool lacks_reduction(const Asked& a) {
    const Layout& l = a.layout();
    if (l.gradient_reduction == GradientReduction::by_software || a.zero() < 2 || lacks_zero(a)) return false;
    if (a.plan.training.software == a.software) return reduction_support(a.plan) != ReductionSupport::runs;
    Plan theirs = a.plan;
    theirs.training.software = a.software;
    return reduction_support(theirs) != ReductionSupport::runs;
}
std::string reduction_words(const Asked& a) {
    return sentence("gradient_reduction ", name_of(a.layout().gradient_reduction), " with zero ",
                    a.layout().zero, ": not in ", a.runs.who);
}

bool lacks_gathered(const Asked& a) {
    return a.runs.lets_go && a.layout().zero == 3 && a.layout().reshard == Reshard::never;
}
std::string gathered_words(const Asked& a) {
    return sentence("reshard never: at ZeRO-3 ", a.runs.who, " gives gathered weights up");
}

// Returns the ranks that hold copies of one expert's part (edp): the world without pp, etp and ep.
std::int64_t expert_copies(const Asked& a) {
    const Layout& l = a.layout();
    return l.tp * l.cp * l.dp_shard * replicas_in_force(a.plan) / std::max<std::int64_t>(1, a.etp() * l.ep);
}

// Megatron-LM parallel_state.py, initialize_model_parallel: the instances of the distributed optimizer, which
// dp_replicate becomes, must divide the experts' data parallelism too.
bool splits_experts_unevenly(const Asked& a) {
    return a.megatron() && a.moe() && a.zero() > 0
           && expert_copies(a) % std::max<std::int64_t>(1, replicas_in_force(a.plan)) != 0;
}

bool lacks_replicas(const Asked& a) {
    if (replicas_in_force(a.plan) <= 1) return false;
    return (a.runs.replicas_at >> a.zero() & 1U) == 0 || splits_experts_unevenly(a);
}
std::string replicas_words(const Asked& a) {
    if ((a.runs.replicas_at >> a.zero() & 1U) != 0)
        return sentence("dp_replicate ", replicas_in_force(a.plan), ": ", a.runs.who,
                        " wants a divisor of the experts' data parallelism, here ", expert_copies(a));
    return sentence("dp_replicate ", replicas_in_force(a.plan), ": at ZeRO-", a.zero(), " ", a.runs.who,
                    " shards over all of data parallelism");
}

bool lacks_experts(const Asked& a) {
    return a.moe() && a.layout().ep > 1 && !a.runs.experts;
}
std::string experts_words(const Asked& a) {
    return sentence("ep ", a.layout().ep, ": ", a.runs.who, " builds no groups for it");
}

// From DeepSpeed runtime/engine.py, module_inject/auto_ep_folding.py: AutoEP does not go together with these.
bool lacks_joined_experts(const Asked& a) {
    const Layout& l = a.layout();
    if (a.software != Software::deepspeed || !a.moe() || l.ep == 1) return false;
    const Offload& away = a.plan.training.offload;
    if (l.zero == 3 && (l.tp > 1 || l.cp > 1 || replicas_in_force(a.plan) > 1)) return true;
    return l.tp > 1 && (l.cp > 1 || away.optimizer > 0 || away.parameters > 0);
}
std::string joined_experts_words(const Asked& a) {
    const Layout& l = a.layout();
    if (l.zero == 3)
        return "DeepSpeed refuses ep (AutoEP) at ZeRO-3 with tp, sequence parallelism or replicas (MiCS)";
    return sentence("DeepSpeed refuses ep (AutoEP) with tp and ",
                    l.cp > 1 ? "sequence parallelism" : "offload", " together");
}

// torchtitan's ep is inside dp_shard x cp x tp; without ZeRO all its data-parallel ranks are replicas.
std::int64_t titan_width(const Layout& l) {
    return (l.zero == 0 ? 1 : l.dp_shard) * l.cp * l.tp;
}
bool lacks_expert_width(const Asked& a) {
    return is_torchtitan(a.software) && a.moe() && titan_width(a.layout()) % a.layout().ep != 0;
}
std::string expert_width_words(const Asked& a) {
    return sentence("ep ", a.layout().ep, ": torchtitan takes it out of dp_shard × cp × tp, here ",
                    titan_width(a.layout()));
}

bool lacks_expert_tensor(const Asked& a) {
    const Layout& l = a.layout();
    if (!a.moe() || a.runs.etp == ExpertTensor::any) return false;
    const bool one = a.runs.etp == ExpertTensor::one_beside_ep && l.ep > 1;
    return a.etp() != (one ? 1 : l.tp);
}
std::string expert_tensor_words(const Asked& a) {
    return a.layout().ep > 1 && a.runs.etp == ExpertTensor::one_beside_ep
               ? sentence("etp ", a.etp(), ": beside ep ", a.runs.who, " does not cut experts")
               : sentence("etp ", a.etp(), ": ", a.runs.who, " cuts experts as the rest, by tp");
}

// deepseek-ai/DeepEP deep_ep/buffers/legacy.py, get_dispatch_config: it ends with an error for other numbers
// of ranks. Megatron-LM fused_a2a.py asks it with the ranks that share a layer's experts, etp x ep.
constexpr std::int64_t kDeepEpRanks[] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 144, 160};

bool lacks_exchange_ranks(const Asked& a) {
    if (!a.moe() || a.layout().ep == 1 || a.layout().ep_comm != EpComm::deepep) return false;
    return std::ranges::find(kDeepEpRanks, a.etp() * a.layout().ep) == std::end(kDeepEpRanks);
}
std::string exchange_ranks_words(const Asked& a) {
    return sentence("ep_comm deepep over ", a.etp() * a.layout().ep,
                    " ranks: DeepEP takes 2 to 160, and of these only those that its table lists");
}

// Megatron-LM parallel_state.py, initialize_model_parallel: without pp outermost dense and expert meshes must
// have as many data-parallel ranks, or their pipeline groups may differ. It builds both for every model: a
// dense one's experts are one group that is cut as etp says.
bool lacks_expert_order(const Asked& a) {
    const Layout& l = a.layout();
    if (!a.megatron() || l.pp == 1 || l.order.back() == Axis::pp) return false;
    return l.tp * l.cp != a.etp() * (a.moe() ? l.ep : 1);
}
std::string expert_order_words(const Asked&) {
    return "order: Megatron wants pp outermost where experts and the rest have different data-parallel sizes";
}

bool lacks_context(const Asked& a) {
    return a.layout().cp > 1 && (a.runs.cp_kinds & bit(a.layout().cp_comm)) == 0;
}
std::string context_words(const Asked& a) {
    return sentence("cp by ", name_of(a.layout().cp_comm), ": not in ", a.runs.who);
}

bool lacks_sequence_parallel(const Asked& a) {
    return a.layout().tp > 1 && a.layout().sequence_parallel && !a.runs.sequence_parallel;
}
std::string sequence_parallel_words(const Asked& a) {
    return sentence("sequence_parallel: ", a.runs.who, " has none beside tp");
}

// Megatron-LM arguments.py, moe_layer.py:636: sequence parallelism is required where experts and tp meet.
bool lacks_plain_tensor(const Asked& a) {
    return a.megatron() && a.moe() && a.layout().tp > 1 && !a.layout().sequence_parallel;
}
std::string plain_tensor_words(const Asked& a) {
    return sentence("tp ", a.layout().tp,
                    " with experts: Megatron refuses it without sequence parallelism (sequence_parallel)");
}

bool lacks_heads(const Asked& a) {
    const Model& m = a.plan.model;
    const std::int64_t tp_ranks = a.layout().tp;
    switch (a.runs.heads) {
    case Heads::whole: return m.attention == AttentionKind::mha_gqa && m.kv_heads % tp_ranks != 0;
    case Heads::at_least_tp: return m.kv_heads < tp_ranks;
    case Heads::any: break;
    }
    return false;
}
std::string heads_words(const Asked& a) {
    return sentence(a.runs.who, " refuses tp ", a.layout().tp, " with ", a.plan.model.kv_heads,
                    " key-value heads");
}

// The first stage has the embedding, the last one the head. Megatron sums the gradients of its two copies
// (core/distributed/finalize_model_grads.py), DeepSpeed those of a TiedLayerSpec (runtime/pipe/module.py),
// nanotron those of tied_parameters.py; MaxText keeps both outside of its pipeline (layers/decoders.py).
bool lacks_tied_pipeline(const Asked& a) {
    return !a.runs.ties_stages && a.layout().pp > 1 && a.plan.model.tied_embeddings;
}
std::string tied_pipeline_words(const Asked& a) {
    return sentence(a.runs.who, " refuses pp ", a.layout().pp, " with tied embeddings");
}

// Megatron-LM arguments.py.
bool lacks_tensor_overlap(const Asked& a) {
    return a.megatron() && a.layout().tp > 1 && !a.layout().sequence_parallel && a.plan.training.overlap.tp;
}
std::string tensor_overlap_words(const Asked&) {
    return "overlap of tp: Megatron wants sequence parallelism for it";
}

// arguments.py: Megatron-FSDP, which ZeRO 2 and 3 need, has two optimizers.
bool lacks_optimizer(const Asked& a) {
    return a.megatron() && a.layout().zero >= 2 && a.plan.training.optimizer == Optimizer::muon;
}
std::string optimizer_words(const Asked& a) {
    return sentence("zero ", a.layout().zero, " with muon: Megatron-FSDP takes Adam and SGD");
}

// From arguments.py: two ranks would have several messages between them at once.
bool lacks_message_overlap(const Asked& a) {
    const Layout& l = a.layout();
    return a.megatron() && l.pp == 2 && l.virtual_stages > 1 && !a.plan.training.overlap.pp;
}
std::string message_overlap_words(const Asked&) {
    return "overlap of pp: Megatron wants it for interleaved stages on pp 2";
}

bool lacks_expert_overlap(const Asked& a) {
    return a.megatron() && !expert_overlap_wants(a.plan).empty();
}
std::string expert_overlap_words(const Asked& a) {
    return sentence("overlap of ep: Megatron wants ", expert_overlap_wants(a.plan));
}

bool lacks_recompute(const Asked& a) {
    const RecomputeChoice& r = a.plan.training.recompute;
    if (!r.any()) return false;
    switch (a.runs.recomputes) {
    case Recomputes::modules: return a.megatron() && !r.whole_layers() && r.layers > 0;
    case Recomputes::words: return !r.is_plain();
    case Recomputes::layers: return r != RecomputeChoice(Recompute::full);
    }
    return false;
}
std::string recompute_words(const Asked& a) {
    return sentence("recompute ", words_of(a.plan.training.recompute), ": ", a.runs.who,
                    a.runs.recomputes == Recomputes::modules ? " takes modules of every layer, not of some"
                    : a.runs.recomputes == Recomputes::words ? " has none, selective and full"
                                                             : " recomputes all layers or none");
}

// ---- the table -----------------------------------------------------------------------------------------

struct Row {
    bool (*lacks)(const Asked&);
    std::string (*words)(const Asked&);
    ProblemCode code;
    std::string_view pointer;
    LackKind kind = LackKind::lost;
};
constexpr EnumArray<Lack, Row> kRows{
    {{{lacks_experts, experts_words, ProblemCode::software_ep, "/layout/ep"},
      {lacks_joined_experts, joined_experts_words, ProblemCode::software_ep, "/layout/ep", LackKind::refused},
      {lacks_expert_width, expert_width_words, ProblemCode::torchtitan_ep, "/layout/ep"},
      {lacks_expert_tensor, expert_tensor_words, ProblemCode::software_etp, "/layout/etp"},
      {lacks_exchange_ranks, exchange_ranks_words, ProblemCode::deepep_ranks, "/layout/ep_comm",
       LackKind::refused},
      {lacks_expert_order, expert_order_words, ProblemCode::megatron_expert_order, "/layout/order",
       LackKind::warned},
      {lacks_context, context_words, ProblemCode::software_cp_comm, "/layout/cp_comm"},
      {lacks_sequence_parallel, sequence_parallel_words, ProblemCode::software_sequence_parallel,
       "/layout/sequence_parallel"},
      {lacks_plain_tensor, plain_tensor_words, ProblemCode::megatron_moe_needs_sp,
       "/layout/sequence_parallel", LackKind::warned},
      {lacks_heads, heads_words, ProblemCode::software_kv_heads, "/layout/tp", LackKind::refused},
      {lacks_tied_pipeline, tied_pipeline_words, ProblemCode::software_tied, "/layout/pp", LackKind::refused},
      {lacks_tensor_overlap, tensor_overlap_words, ProblemCode::megatron_tp_overlap, "/training/overlap/tp",
       LackKind::warned},
      {lacks_zero, zero_words, ProblemCode::software_zero, "/layout/zero"},
      {lacks_reduction, reduction_words, ProblemCode::no_such_reduction, "/layout/gradient_reduction",
       LackKind::warned},
      {lacks_gathered, gathered_words, ProblemCode::software_reshard, "/layout/reshard"},
      {lacks_replicas, replicas_words, ProblemCode::software_replicas, "/layout/dp_replicate"},
      {lacks_optimizer, optimizer_words, ProblemCode::megatron_fsdp_optimizer, "/training/optimizer",
       LackKind::warned},
      {lacks_order, order_words, ProblemCode::software_order, "/layout/order"},
      {lacks_schedule, schedule_words, ProblemCode::software_schedule, "/layout/schedule"},
      {lacks_stages, stages_words, ProblemCode::software_stages, "/layout/stage_layers"},
      {lacks_message_overlap, message_overlap_words, ProblemCode::megatron_p2p_overlap,
       "/training/overlap/pp", LackKind::warned},
      {lacks_expert_overlap, expert_overlap_words, ProblemCode::megatron_ep_overlap, "/training/overlap/ep",
       LackKind::warned},
      {lacks_recompute, recompute_words, ProblemCode::software_recompute, "/training/recompute"}}}};
static_assert(kRows.back().lacks == lacks_recompute);  // none is missing

Lacks those_from(const Plan& plan, Software software, Lack from, Lack to) {
    Lacks out;
    if (software == Software::fsdp) return out;
    const Asked asked{plan, software};
    for (const Lack l : all_of<Lack>())
        if (l >= from && l <= to && kRows[l].lacks(asked)) out.add(l);
    return out;
}

}  // namespace

std::optional<Lack> Lacks::first() const {
    for (const Lack l : all_of<Lack>())
        if (has(l)) return l;
    return std::nullopt;
}

Lacks lacks_of(const Plan& plan, Software software) {
    return those_from(plan, software, Lack::experts, Lack::recompute);
}
std::vector<std::string_view> software_that_runs(const Plan& plan) {
    std::vector<std::string_view> out;
    for (const Software s : all_of<Software>()) {
        const bool today =
            s != Software::fsdp && s != Software::torchtitan_2024 && s != Software::megatron_bridge_2025;
        if (today && !lacks_of(plan, s).any()) out.emplace_back(facts_of(s).name);
    }
    return out;
}
Lacks lacks_of_ranks(const Plan& plan, Software software) {
    return those_from(plan, software, Lack::experts, Lack::order);
}
Lacks lacks_of_run(const Plan& plan, Software software) {
    return those_from(plan, software, Lack::schedule, Lack::recompute);
}
bool lacks(Lack what, const Plan& plan, Software software) {
    return kRows[what].lacks(Asked{plan, software});
}
std::optional<Lack> lack_that_came(const Plan& own, const Plan& changed) {
    const Software software = changed.training.software;
    const Lacks now = lacks_of(changed, software);
    return now.any() ? now.besides(lacks_of(own, software)).first() : std::nullopt;
}

std::string words_of(Lack lack, const Plan& plan, Software software) {
    return kRows[lack].words(Asked{plan, software});
}
std::string_view pointer_of(Lack lack) {
    return kRows[lack].pointer;
}
ProblemCode code_of(Lack lack) {
    return kRows[lack].code;
}
LackKind kind_of(Lack lack) {
    return kRows[lack].kind;
}

bool usual_sequence_parallel(const Plan& plan) {
    const Asked asked{plan, plan.training.software};
    if (!asked.runs.sequence_parallel) return false;
    return plan.layout.sequence_parallel || (asked.megatron() && asked.moe());
}
CpComm usual_cp_comm(const Plan& plan) {
    const unsigned kinds = runs_of(plan.training.software).cp_kinds;
    if ((kinds & bit(plan.layout.cp_comm)) != 0) return plan.layout.cp_comm;
    for (const CpComm k : {CpComm::ring, CpComm::allgather, CpComm::ulysses})
        if ((kinds & bit(k)) != 0) return k;
    return plan.layout.cp_comm;
}

std::span<const AxisOrder> orders_of(Software software) {
    return runs_of(software).orders;
}

std::optional<std::size_t> order_in(const Plan& plan, std::span<const AxisOrder> orders) {
    for (std::size_t i = 0; i < orders.size(); ++i)
        if (orders[i] == plan.layout.order) return i;
    const Mesh mesh = build_mesh(plan);
    for (std::size_t i = 0; i < orders.size(); ++i) {
        if (same_ranks(mesh, plan.layout.order, orders[i])) return i;
        // Without ZeRO it makes no difference which of the two a replica belongs to.
        if (plan.layout.zero == 0 && same_ranks(mesh, plan.layout.order, swapped_replicas(orders[i])))
            return i;
    }
    return std::nullopt;
}

// Megatron-LM transformer_config.py, overlap_moe_expert_parallel_comm.
std::string_view expert_overlap_wants(const Plan& plan) {
    const Layout& l = plan.layout;
    if (!plan.model.moe || l.ep == 1 || !plan.training.overlap.ep) return {};
    // Schedules that Megatron does not have overlap by themselves.
    if (l.pp > 1 && !traits_of(l.schedule).in_megatron) return {};
    const RecomputeChoice& recompute = plan.training.recompute;
    if (l.pp > 1 && l.virtual_stages == 1) return "virtual stages, where there is a pipeline";
    if (l.ep_comm == EpComm::allgather) return "an all-to-all of the tokens, not an all-gather";
    if (recompute.whole_layers()) return "layers that are not recomputed whole";
    if (recompute.any() && recompute.modules.has(RecomputeModule::moe))
        return "MoE layers that are not recomputed";
    if (plan.model.mtp_layers > 1) return "one multi-token-prediction layer at most";
    return {};
}

}  // namespace pentamesh
