// Makes the map's smaller tables: pipeline stages against sharded parameters, the usual way to a layout,
// usual combinations.
#include "core/base/text.h"
#include "core/teach/map.h"

namespace pentamesh {
namespace {

std::int64_t degree(const Evaluation& e, GroupKind k) {
    return e.groups[k].degree;
}

bool gathers_weights(const Plan& plan, const Evaluation& e) {
    return plan.layout.zero == 3 && degree(e, GroupKind::fsdp) > 1;
}

double sent(const Evaluation& e, bool (*mine)(const Operation&)) {
    double bytes = 0;
    for (const Operation& o : e.comm.operations)
        if (!o.on_other_stage && mine(o)) bytes += o.sent_bytes_per_rank;
    return bytes;
}

std::string traffic_text(const Evaluation& e, double bytes) {
    return ": " + bytes_text(bytes) + " from " + rows_device_text(e.comm) + " a step";
}

bool inside_fast(const Evaluation& e, GroupKind k) {
    return e.groups[k].slowest_tier == 0;
}

// Returns the tokens that a gathered layer serves: those of one data-parallel rank.
double tokens_per_replica(const Evaluation& e) {
    return e.step->tokens_per_step / static_cast<double>(degree(e, GroupKind::dp));
}

std::string_view fast_name(const Plan& p) {
    return p.cluster.tiers.empty() ? std::string_view("the fast domain")
                                   : std::string_view(p.cluster.tiers.front().name);
}

RecipeStep tensor_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::tp, "tp, with sp, as far as the fast domain reaches", {}, Verdict::off};
    const std::int64_t tp = degree(e, GroupKind::tp);
    if (tp == 1) {
        s.here = "tp is off";
        return s;
    }
    const bool inside = inside_fast(e, GroupKind::tp);
    s.verdict = inside ? Verdict::fine : Verdict::costly;
    s.here = sentence("tp ", tp, inside ? " inside " : " reaches beyond ", fast_name(p),
                      p.layout.sequence_parallel ? ", sp on" : ", sp off");
    return s;
}

RecipeStep across_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::pp, "then pp, or ZeRO-3, across nodes until it fits", {}, Verdict::off};
    const std::int64_t pp = degree(e, GroupKind::pp);
    const bool gathers = gathers_weights(p, e);
    if (pp > 1 && gathers) {
        s.verdict = Verdict::costly;
        s.here =
            sentence("both: pp ", pp, " and ZeRO-3 over ", degree(e, GroupKind::fsdp), ", which is rare");
    } else if (pp > 1 || gathers) {
        s.verdict = Verdict::fine;
        s.here = pp > 1 ? sentence("pp ", pp) : sentence("ZeRO-3 over ", degree(e, GroupKind::fsdp));
    } else {
        s.here = "neither";
    }
    if (!e.memory.stage.empty() && !e.memory.fits()) {
        if (!e.memory.may_fit()) s.verdict = Verdict::costly;
        s.here += sentence("; ", name_of(e.memory.fit()), ": ", memory_text(e.memory.peak()), " of ",
                           memory_text(e.memory.hbm));
    }
    return s;
}

RecipeStep data_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::dp, "dp around it, with ZeRO-1 or 2, for the batch", {}, Verdict::off};
    const std::int64_t dp = degree(e, GroupKind::dp);
    if (dp == 1) {
        s.here = "one replica";
        return s;
    }
    s.verdict = Verdict::fine;
    s.here = p.layout.zero == 0 ? sentence("dp ", dp, ", no ZeRO: each keeps the whole state")
                                : sentence("dp ", dp, " with ZeRO-", p.layout.zero);
    return s;
}

RecipeStep context_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::cp, "cp where sequences are long", {}, Verdict::off};
    const std::int64_t cp = degree(e, GroupKind::cp);
    s.here = cp > 1 ? sentence("cp ", cp, " at ", p.training.sequence_length, " tokens")
                    : sentence("off at ", p.training.sequence_length, " tokens");
    if (cp > 1) s.verdict = Verdict::fine;
    return s;
}

RecipeStep expert_step(const Plan& p, const Evaluation& e) {
    RecipeStep s{MapRowId::ep, "ep where the model has experts", {}, Verdict::off};
    const std::int64_t ep = degree(e, GroupKind::ep);
    if (!p.model.moe)
        s.here = "a dense model";
    else if (ep == 1)
        s.here = sentence("off: all ", p.model.moe->experts, " experts on every GPU");
    else
        s.here = sentence("ep ", ep, ": ", p.model.moe->experts / ep, " of ", p.model.moe->experts,
                          " experts a GPU"),
        s.verdict = Verdict::fine;
    return s;
}

}  // namespace

std::vector<Comparison> pipeline_or_sharding(const Plan& p, const Evaluation& e) {
    const std::int64_t pp = degree(e, GroupKind::pp), shards = degree(e, GroupKind::fsdp);
    const bool piped = pp > 1, gathers = gathers_weights(p, e);
    const double wire_pp = sent(e, [](const Operation& o) { return o.group == GroupKind::pp; });
    const double wire_z = sent(e, [](const Operation& o) {
        return o.group == GroupKind::dp_shard || o.group == GroupKind::fsdp || o.group == GroupKind::edp;
    });
    std::vector<Comparison> out;
    out.push_back({"a GPU stores",
                   piped
                       ? sentence("all of about ",
                                  three_digits(static_cast<double>(p.model.layers) / static_cast<double>(pp)),
                                  " of ", p.model.layers, " layers")
                       : "all of a few layers",
                   gathers ? sentence("1/", shards, " of every layer") : "a part of every layer"});
    out.push_back({"what travels", "activations" + (piped ? traffic_text(e, wire_pp) : ""),
                   "weights and their gradients" + (gathers ? traffic_text(e, wire_z) : "")});
    out.push_back({"the model's code", "need not know of it", "need not know of it"});
    std::string many = "many micro-batches", large = "many tokens on each data-parallel rank";
    if (piped && e.microbatches > 0) {
        many += sentence(": here ", e.microbatches, " for ", pp, " stages");
        if (e.step && e.step->time_s > 0)
            many += ", " + percent_text(schedule_bubble_s(*e.step) / e.step->time_s) + " bubble";
    }
    if (gathers && e.step && e.mesh.world > 0)
        large += sentence(": here ", whole_text(tokens_per_replica(e)), " a step");
    out.push_back({"it wants", std::move(many), std::move(large)});
    out.push_back({"the hard part", "stages that balance, and the schedule",
                   "cutting tensors, and gathering ahead of use"});
    out.push_back({"both at once",
                   "rare: the batch must feed both; weights then stay gathered over a step's micro-batches",
                   "ZeRO-1 and ZeRO-2 go with pp without harm: DeepSeek-V3 is pp with ZeRO-1"});
    return out;
}

std::vector<RecipeStep> map_recipe(const Plan& p, const Evaluation& e) {
    return {tensor_step(p, e), across_step(p, e), data_step(p, e), context_step(p, e), expert_step(p, e)};
}

std::vector<Combination> map_combinations(const Plan& p, const Evaluation& e) {
    const bool tp = degree(e, GroupKind::tp) > 1, pp = degree(e, GroupKind::pp) > 1,
               cp = degree(e, GroupKind::cp) > 1, ep = degree(e, GroupKind::ep) > 1,
               dp = degree(e, GroupKind::dp) > 1, copies = degree(e, GroupKind::dp_replicate) > 1;
    const bool gathers = gathers_weights(p, e), alone = !tp && !pp && !cp && !ep;
    return {
        {"dp alone (DDP)", "the model fits on one GPU", alone && dp && !gathers},
        {"FSDP", "the state does not fit, the batch is large", alone && gathers && !copies},
        {"HSDP", "as FSDP, and gathers should stay near", alone && gathers && copies},
        {"tp + dp", "a layer is too much for one GPU, a node holds the model", tp && !pp && !cp && !ep && dp},
        {"tp + pp", "one copy over several nodes", tp && pp && !cp && !ep && !dp},
        {"tp + pp + dp", "about 1,000 GPUs and more", tp && pp && !cp && !ep && dp},
        {"tp + cp + pp + dp", "sequences of 128K tokens", tp && cp && pp && !ep},
        {"tp + pp + ep + dp", "a model with experts", tp && pp && ep},
        {"pp + ep + dp", "many small experts: no matrix is worth cutting", !tp && pp && ep && dp},
        {"ep + dp", "experts first, then FSDP inside what is left", !tp && !pp && ep && dp},
        {"pp + ZeRO-3", "rare: each wants the batch for itself", pp && gathers},
    };
}

}  // namespace pentamesh
