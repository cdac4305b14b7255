#include "app/ui/views/layer/view.h"

#include "core/base/text.h"
#include "core/plan/problem.h"
#include "core/step/layer_time.h"
#include "core/teach/single_axis.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {
namespace {

Strategy strategy_of(AloneAxis axis) {
    switch (axis) {
    case AloneAxis::dp: return Strategy::ddp;
    case AloneAxis::fsdp: return Strategy::fsdp;
    case AloneAxis::tp: return Strategy::tp;
    case AloneAxis::tp_sp: return Strategy::tp_sp;
    case AloneAxis::cp_ring:
    case AloneAxis::cp_allgather:
    case AloneAxis::cp_ulysses: return Strategy::cp;
    case AloneAxis::ep: return Strategy::ep;
    }
    return Strategy::tp;
}

bool in_part(const LayerStep& s, LayerPart part) {
    if (part == LayerPart::both || s.block == LayerBlock::weights) return true;
    return (s.block == LayerBlock::mixer) == (part == LayerPart::attention);
}

// Compares the collectives of activations with the plan's rows: weights and gradients are counted there over
// all layers together.
void compare_with_plan(const Comm& comm, ShownLayer& out) {
    double calls = 0, sent = 0;
    for (const LayerStep& s : out.list.steps)
        if (is_collective(s.op) && s.block != LayerBlock::weights) calls += s.calls, sent += s.sent_bytes;
    out.plan_calls = out.plan_sent_bytes = 0;
    for (const Operation& o : comm.operations) {
        if (!has(o.types, out.list.type)) continue;
        out.plan_calls += o.calls;
        out.plan_sent_bytes += o.calls * sent_bytes(o.collective, o.group_size, o.message_bytes);
    }
    out.tally_equals = std::abs(calls - out.plan_calls) < 1e-6
                       && std::abs(sent - out.plan_sent_bytes) <= 1e-9 * std::max(sent, 1.0);
}

// Returns the rank whose part is highlighted: the chosen one, else the first.
std::int64_t rank_of(const Scene& scene, const LayerChoice& choice) {
    return choice.alone ? 0 : std::max<std::int64_t>(chosen_rank(scene), 0);
}

std::string why_not(const Evaluation& e) {
    const std::string error = first_error(e.problems);
    return error.empty() ? "It cannot be laid out." : error;
}

// Returns the small plan with only one axis.
Plan plan_alone(const Plan& plan, AloneAxis axis, std::int64_t gpus) {
    Plan p = plan_of_strategy(plan, strategy_of(axis), gpus);
    p.layout.cp_comm = axis == AloneAxis::cp_allgather ? CpComm::allgather
                       : axis == AloneAxis::cp_ulysses ? CpComm::ulysses
                                                       : CpComm::ring;
    if (axis == AloneAxis::tp) p.layout.sequence_parallel = false;
    return p;
}

}  // namespace

std::string short_name(const LayerStep& s) {
    const auto names = [](const std::vector<LayerTensor>& list) {
        return join(list, " ", [](const LayerTensor& t) { return t.name; });
    };
    const bool back = s.phase == LayerPass::backward && !s.recomputed;
    switch (s.op) {
    case LayerOp::matmul:
        if (!s.out.empty() && s.out[0].weight) return "dW";
        switch (s.what) {
        case What::down:
        case What::down_of_the_experts:
        case What::down_of_the_shared_experts: return "down";
        case What::output_of_attention:
        case What::output_of_the_scan: return "out";
        case What::gate_and_up:
        case What::gate_and_up_of_the_experts:
        case What::gate_and_up_of_the_shared_experts: return s.out.size() > 1 ? "gate up" : "up";
        default: return names(s.out);
        }
    case LayerOp::norm: return "norm";
    case LayerOp::rotary: return "rotary";
    case LayerOp::attention: return s.work.rate == LayerRate::scan ? "scan" : "attention";
    case LayerOp::activation: return back ? "d act" : "act";
    case LayerOp::router: return "router";
    case LayerOp::permute: return "sort";
    case LayerOp::residual: return "add";
    case LayerOp::dropout: return "dropout";
    case LayerOp::all_gather: return "gather";
    case LayerOp::reduce_scatter: return "scatter";
    case LayerOp::all_reduce: return "reduce";
    case LayerOp::all_to_all: return "exchange";
    case LayerOp::ring_send: return "ring";
    }
    return {};
}

void keep_shown(const Scene& scene, const LayerChoice& choice, std::uint64_t revision, KeptLayer& kept) {
    kept.update({revision, choice, rank_of(scene, choice)},
                [&](ShownLayer& out) { make_shown(scene, choice, out); });
}

void make_shown(const Scene& scene, const LayerChoice& choice, ShownLayer& out) {
    out.choice = choice, out.alone = choice.alone;
    out.why_not.clear();
    out.list = {};
    out.forward.clear(), out.backward.clear(), out.lines.clear(), out.marks.clear();
    if (choice.alone) {
        if (choice.axis == AloneAxis::ep && !scene.plan.model.moe) {
            out.why_not = "The model has no experts to deal.";
            return;
        }
        for (const std::int64_t gpus : {8, 4, 2}) {  // as many as its heads and experts allow
            out.plan = plan_alone(scene.plan, choice.axis, gpus);
            evaluate(out.plan, out.evaluation, {.timeline = false});
            if (out.evaluation.valid) break;
        }
        if (!out.evaluation.valid) {
            out.why_not = why_not(out.evaluation);
            return;
        }
    }
    const Plan& plan = out.plan_of(scene);
    const Evaluation& e = out.evaluation_of(scene);
    if (!e.valid || e.mesh.world <= 0) {
        out.why_not = why_not(e);
        return;
    }
    const LayerTypes types = layer_types(plan.model);
    const LayerCounts counts = count_layers(plan.model, types, 0, plan.model.layers);
    out.has_moe = sum_of(counts, types.moe()) > 0;
    out.has_dense = sum_of(counts, types.all() & ~types.moe()) > 0;
    const bool moe = out.has_moe && !(choice.dense && out.has_dense);
    out.layers = std::llround(sum_of(counts, moe ? types.moe() : types.all() & ~types.moe()));
    const int type = usual_type(plan.model, types, moe);
    out.dp = e.groups[GroupKind::dp].degree > 1;
    out.list = timed_layer(plan, e.mesh, e.groups, type, std::min(rank_of(scene, choice), e.mesh.world - 1),
                           kMostRanks);
    for (std::size_t i = 0; i < out.list.steps.size(); ++i) {
        const LayerStep& s = out.list.steps[i];
        out.lines.push_back(line_of(s, choice.notation, out.dp));
        std::string mark;
        if (!s.out.empty() && !s.out[0].weight)
            for (const GroupKind axis : s.out[0].partial)
                mark += (mark.empty() ? "{sum " : " ") + std::string(name_of(axis));
        out.marks.push_back(mark.empty() ? mark : mark + "}");
        if (in_part(s, choice.part))
            (s.phase == LayerPass::forward ? out.forward : out.backward).push_back(static_cast<int>(i));
    }
    compare_with_plan(e.comm, out);
}

std::vector<KeptTensor> stash_at(const LayerList& list, int at) {
    std::vector<KeptTensor> out;
    for (int i = 0; i <= at && i < static_cast<int>(list.steps.size()); ++i) {
        const LayerStep& s = list.steps[static_cast<std::size_t>(i)];
        out.insert(out.end(), s.kept.begin(), s.kept.end());
        for (const KeptTensor& f : s.freed)
            std::erase_if(out, [&](const KeptTensor& k) { return k.activation == f.activation; });
    }
    return out;
}

std::vector<Tally> tally_at(const LayerList& list, int at) {
    std::vector<Tally> out;
    for (std::size_t i = 0; i < list.steps.size(); ++i) {
        const LayerStep& s = list.steps[i];
        if (!is_collective(s.op)) continue;
        auto t = std::ranges::find_if(out, [&](const Tally& x) {
            return x.group == s.group && x.op == s.op && x.recomputed == s.recomputed;
        });
        if (t == out.end()) t = out.insert(t, {s.group, s.op, s.recomputed, 0, 0, 0, 0});
        t->calls += s.calls, t->sent_bytes += s.sent_bytes;
        if (static_cast<int>(i) <= at) t->calls_so_far += s.calls, t->sent_so_far += s.sent_bytes;
    }
    return out;
}

double sent_over_tp_once(const LayerList& list) {
    double sent = 0;
    for (const LayerStep& s : list.steps)
        if (is_collective(s.op) && s.group == GroupKind::tp && !s.recomputed) sent += s.sent_bytes;
    return sent;
}

}  // namespace pentamesh::ui
