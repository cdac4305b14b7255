// `layer` says what one GPU does in one layer, step by step.
#include "app/tables/layer.h"
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "core/advice/advice.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/plan/title.h"
#include "core/step/layer_time.h"

#include <array>
#include <cmath>

namespace pentamesh::cli {
namespace {

struct LayerOptions {
    PlanArgument plan;
    std::string kind, notation = "jax";
    std::int64_t rank = 0;
    Forms forms;
};

// A tensor can be cut by these axes: those of its mesh that have more than one rank.
constexpr std::array kDenseAxes{GroupKind::tp, GroupKind::cp}, kExpertAxes{GroupKind::etp, GroupKind::ep};
constexpr std::array kWeightAxes{GroupKind::fsdp, GroupKind::dp_shard, GroupKind::dp_replicate,
                                 GroupKind::edp,  GroupKind::dp,       GroupKind::dp_cp};

Json json_of_layer_tensor(const LayerTensor& t, const GroupSummaries& groups, Notation notation, bool dp) {
    Json global = Json::array(), local = Json::array(), placement = Json::object();
    std::string dims;
    bool expert = false;
    for (const LayerDim& d : t.dims) {
        global.push_back(std::llround(d.size));
        local.push_back(std::llround(d.local));
        dims += (dims.empty() ? "" : " ") + std::string(d.symbol);
        expert |= d.name == DimName::tokens || (t.weight && d.name == DimName::experts && t.dims.size() > 2);
    }
    const auto say = [&](GroupKind axis, bool always) {
        if (groups[axis].degree <= 1) return;
        const std::string p = placement_of(t, axis);
        if (always || p != "replicate") placement[std::string(name_of(axis))] = p;
    };
    for (const GroupKind axis : expert ? kExpertAxes : kDenseAxes) say(axis, t.dims.size() > 1);
    for (const GroupKind axis : expert ? kDenseAxes : kExpertAxes) say(axis, false);
    for (const GroupKind axis : kWeightAxes) say(axis, false);
    return {{"name", t.name},
            {"global", std::move(global)},
            {"local", std::move(local)},
            {"dims", std::move(dims)},
            {"placement", std::move(placement)},
            {"text", text_of(t, notation, dp)},
            {"bytes", whole(std::round(t.bytes()))}};
}

Json json_of_layer_kept(const std::vector<KeptTensor>& list) {
    Json out = Json::array();
    for (const KeptTensor& k : list)
        out.push_back(
            {{"name", k.name}, {"activation", name_of(k.activation)}, {"bytes", whole(std::round(k.bytes))}});
    return out;
}

Json json_of_layer_step(const LayerStep& s, const GroupSummaries& groups, Notation notation, bool dp) {
    const bool speaks = is_collective(s.op);
    Json in = Json::array(), out = Json::array();
    for (const LayerTensor& t : s.in) in.push_back(json_of_layer_tensor(t, groups, notation, dp));
    for (const LayerTensor& t : s.out) out.push_back(json_of_layer_tensor(t, groups, notation, dp));
    return {{"n", s.n},
            {"phase", name_of(s.phase)},
            {"op", name_of(s.op)},
            {"what", words_of(s.what)},
            {"again", s.recomputed},
            {"per", s.per_run    ? "run"
                    : s.per_step ? "step"
                                 : "micro-batch"},
            {"axis", speaks ? Json(name_of(s.group)) : Json()},
            {"group", s.ranks},
            {"line", line_of(s, notation, dp)},
            {"in", std::move(in)},
            {"out", std::move(out)},
            {"flops", whole(std::round(s.flops))},
            {"bytes_moved", whole(std::round(s.bytes_moved))},
            {"message_bytes", whole(std::round(s.message_bytes))},
            {"sent_bytes", whole(std::round(s.sent_bytes))},
            {"calls", s.calls},
            {"time_s", s.time_s},
            {"kept", json_of_layer_kept(s.kept)},
            {"freed", json_of_layer_kept(s.freed)},
            {"stash_bytes", whole(std::round(s.stash_bytes))}};
}

Json json_of_layer_totals(const LayerTotals& t) {
    Json calls = Json::object();
    for (const LayerCallSum& c : t.calls)
        calls[std::string(name_of(c.group))][std::string(name_of(c.op))] = whole(c.calls);
    return {{"kept_bytes", whole(std::round(t.kept_bytes))},
            {"peak_bytes", whole(std::round(t.peak_bytes))},
            {"flops_forward", whole(std::round(t.flops_forward))},
            {"flops_backward", whole(std::round(t.flops_backward))},
            {"flops_again", whole(std::round(t.flops_recomputed))},
            {"time_forward_s", t.time_forward_s},
            {"time_backward_s", t.time_backward_s},
            {"calls", std::move(calls)}};
}

Notation notation_of(const std::string& word) {
    for (const Notation n : all_of<Notation>())
        if (name_of(n) == word) return n;
    refuse("--notation: \"" + shown_text(word) + "\" is none of megatron, dtensor, jax");
}

// Returns true for the MoE layer. Where no kind is asked for, it is chosen if the model has one.
bool is_moe(const Plan& plan, const std::string& word) {
    const LayerTypes types = layer_types(plan.model);
    const LayerCounts counts = count_layers(plan.model, types, 0, plan.model.layers);
    const bool moe = sum_of(counts, types.moe()) > 0, dense = sum_of(counts, types.all() & ~types.moe()) > 0;
    if (word.empty()) return moe;
    if (word != "dense" && word != "moe")
        refuse("--kind: \"" + shown_text(word) + "\" is none of dense, moe");
    if (word == "moe" && !moe) refuse("--kind moe: the model has no MoE layer");
    if (word == "dense" && !dense) refuse("--kind dense: every layer of the model is a MoE layer");
    return word == "moe";
}

Document document_of(const Plan& plan, const Evaluation& e, const LayerList& list, Notation notation,
                     bool dp) {
    const LayerTotals& t = list.totals;
    const LayerTypes types = layer_types(plan.model);
    Section head{
        sentence("One layer (", words_of(types[list.type]), "), one micro-batch, rank ", list.rank), {}, {}};
    head.lines = {"Kept for the backward: " + memory_text(t.kept_bytes)
                      + "; at most alive: " + memory_text(t.peak_bytes),
                  "FLOPs: " + three_digits(t.flops_forward / 1e12) + " TFLOP forward, "
                      + three_digits(t.flops_backward / 1e12) + " backward"
                      + (t.flops_recomputed > 0
                             ? ", of these " + three_digits(t.flops_recomputed / 1e12) + " again"
                             : ""),
                  "Steps one after the other: " + time_text(t.time_forward_s) + " forward, "
                      + time_text(t.time_backward_s) + " backward"};
    Document d{title_of(plan), {std::move(head)}};
    d.sections.push_back(
        {"Steps",
         {},
         columns_of(layer_table(list, notation, dp), {"n", "phase", "line", "what", "again", "axis",
                                                      "sent_bytes", "time_s", "kept", "stash_bytes"})});
    if (!t.calls.empty())
        d.sections.push_back({"Said, by axis and collective", {}, layer_calls_table(list, e.comm)});
    return d;
}

int show_layer(const Context& context, const LayerOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Notation notation = notation_of(options.notation);
    const Evaluation e = assess(plan);
    if (!e.valid || e.mesh.world == 0) {
        if (context.json) print_json({{"kind", nullptr}, {"steps", Json::array()}, {"totals", nullptr}}, e);
        return status_of(e);
    }
    if (options.rank < 0 || options.rank >= e.mesh.world)
        refuse(sentence("--rank ", options.rank, ": the plan has ranks 0 to ", e.mesh.world - 1));
    const bool moe = is_moe(plan, options.kind), dp = e.groups[GroupKind::dp].degree > 1;
    const int type = usual_type(plan.model, layer_types(plan.model), moe);
    const LayerList list = timed_layer(plan, e.mesh, e.groups, type, options.rank);
    const auto json = [&] {
        Json steps = Json::array();
        for (const LayerStep& s : list.steps) steps.push_back(json_of_layer_step(s, e.groups, notation, dp));
        return Json{{"kind", moe ? "moe" : "dense"},   {"notation", name_of(notation)},
                    {"micro_batch", list.micro_batch}, {"rank", list.rank},
                    {"steps", std::move(steps)},       {"totals", json_of_layer_totals(list.totals)}};
    };
    return print_form(
        context, options.forms, e, json, [&] { return layer_table(list, notation, dp); },
        [&] { return document_of(plan, e, list, notation, dp); });
}

}  // namespace

void add_layer(Options& app, Context& context) {
    auto& options = run_with(app, context, show_layer);
    add_plan_argument(app, options.plan);
    app.add_option("--kind", options.kind,
                   "which layer; the MoE layer where it is left out and the model has one")
        .type_name("{dense,moe}");
    app.add_option("--rank", options.rank, "whose groups the collectives name; default 0");
    app.add_option("--notation", options.notation, "whose words; jax where it is left out")
        .type_name("{megatron,dtensor,jax}");
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
