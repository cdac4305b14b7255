#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_token.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

std::string whole(double n) {
    return thousands(std::llround(n));
}

std::string domains(std::int64_t n, const Cluster& cluster) {
    return thousands(n) + " " + std::string(domain_name(cluster)) + (n == 1 ? "" : "s");
}

// Returns "the other 7 wait", "the other one waits".
std::string others_wait(std::size_t ranks) {
    return ranks == 2 ? "the other one waits"
                      : "the other " + thousands(static_cast<std::int64_t>(ranks) - 1) + " wait";
}

}  // namespace

std::string experts_words(const Range& e) {
    if (e.size() <= 0) return "no expert";
    if (e.size() == 1) return "expert " + thousands(e.begin);
    return "experts " + thousands(e.begin) + "–" + thousands(e.end - 1);
}

std::string times_words(double load) {
    return trimmed(load) + " times the mean";
}

std::string token_verdict(const TokenWay& way, const Cluster& cluster) {
    const std::string to = "To " + thousands(way.top_k) + " of " + thousands(way.experts) + " experts";
    if (way.size() == 1) return to + ", and all of them are at home.";
    const bool limited = way.most_nodes > 0 && way.most_nodes < way.nodes;
    return to
           + (limited ? ", on at most " + thousands(way.most_nodes) + " of " + domains(way.nodes, cluster)
                      : ", wherever they are")
           + ", and home again.";
}

std::string token_facts(const Scene& scene, const TokenWay& way) {
    const auto ranks = static_cast<std::int64_t>(way.size());
    std::string out = scene.plan.model.name + ", ep " + thousands(ranks);
    const std::int64_t each = way.experts / std::max<std::int64_t>(1, ranks);
    if (each * ranks == way.experts) out += ": " + plural(each, "expert", "experts") + " a GPU";
    if (way.etp > 1) out += ", each cut over " + thousands(way.etp) + " (etp)";
    if (way.shared > 0) out += ", " + thousands(way.shared) + " shared on every GPU";
    return out + ", " + whole(way.tokens) + " tokens a GPU, every token picks " + thousands(way.top_k) + ".";
}

TokenCard ways_card(const Scene& scene, const TokenWay& way, const TokenCosts& costs) {
    const auto ranks = static_cast<std::int64_t>(way.size());
    if (!costs.sends)
        return {"No token leaves its GPU",
                "All " + thousands(way.experts) + " experts are here, so nothing is sent for them. ep 2 or "
                    + "more deals them out: then less is held, and tokens travel."};
    const std::string wire(tier_name(scene.plan.cluster, costs.tier));
    const bool busiest = costs.imbalance > 1 && costs.collective == Collective::all_to_all;
    const std::string figures =
        "**" + traffic_text(costs.sent_bytes) + "** " + (busiest ? "reach the busiest GPU" : "leave each GPU")
        + ", **" + time_text(costs.call_s) + "**"
        + (costs.tier == 0 ? " of " + wire + ", all at once." : ", all at once, partly over " + wire + ".");
    if (costs.collective != Collective::all_to_all)
        return {"Every token to every GPU", "An all-gather over " + thousands(ranks)
                                                + " GPUs: each sees all tokens and keeps those of its "
                                                  "experts. "
                                                + figures};
    const std::string peers =
        ranks == 2 ? "Its peer is the other one"
                   : "Its peers are the " + thousands(ranks - 1) + " others, however they are numbered";
    const bool once = way.comm == EpComm::deepep || way.comm == EpComm::hybridep;
    return {"All pairs, not a ring", "**" + thousands(way.ways()) + "** ways between " + thousands(ranks)
                                         + " GPUs: an all-to-all. " + peers
                                         + (once ? "; a token goes once to a GPU that has several of its "
                                                   "experts. "
                                                 : ". ")
                                         + figures};
}

TokenCard calls_card(const TokenWay& way, const TokenCosts& costs) {
    if (!costs.sends)
        return {"Nothing to wait for", way.etp > 1 ? "Only etp speaks here: the GPUs that cut an expert "
                                                     "hand its tokens to each other."
                                                   : "No call brings tokens to experts or back."};
    std::string words = "**" + trimmed(costs.calls) + "** such calls a layer";
    if (costs.repeated > 0)
        words += ", " + trimmed(costs.repeated) + " of them as recomputation runs the forward once more";
    words += ". The experts need the tokens, the next layer the results. ";
    const double hidden = costs.time_s > 0 ? 1 - costs.waits_s / costs.time_s : 0;
    if (hidden > 0.01)
        words += percent(hidden) + " of their time hides behind other work. ";
    else if (costs.waits_s > 0)
        words += "Nothing hides them. ";
    if (costs.step_s > 0)
        words +=
            "**" + time_text(costs.waits_s) + "** of a step of " + time_text(costs.step_s) + " wait for it.";
    return {"Out and back, forward and backward", std::move(words)};
}

TokenCard clock_card(const TokenWay& way, const TokenCosts& costs, bool asked) {
    const std::string title = "The longest drawer is the clock";
    if (way.size() == 1) return {title, "Every GPU has all the drawers: it waits for those of no other."};
    const bool known = costs.other_step_s && costs.other_peak_bytes && costs.step_s > 0;
    std::string words =
        costs.imbalance > 1
            ? "The busiest GPU gets " + times_words(costs.imbalance) + ": " + others_wait(way.size()) + "."
            : "Every GPU gets as many tokens" + std::string(known && !asked ? ". " : ".");
    if (!known || asked) return {title, std::move(words)};
    if (costs.imbalance > 1) {
        words += " Dealt out evenly, a step takes **" + time_text(*costs.other_step_s) + "**, not **"
                 + time_text(costs.step_s) + "**, and a GPU holds **" + memory_text(*costs.other_peak_bytes)
                 + "**, not **" + memory_text(costs.peak_bytes) + "**.";
        return {title, std::move(words)};
    }
    words += "If one gets " + times_words(costs.other_imbalance) + ", " + others_wait(way.size())
             + ": step **" + time_text(costs.step_s) + " → " + time_text(*costs.other_step_s)
             + "**, memory **" + memory_text(costs.peak_bytes) + " → " + memory_text(*costs.other_peak_bytes)
             + "**";
    const bool fits = *costs.other_peak_bytes <= costs.hbm_bytes;
    words += fits ? "." : ", more than the " + memory_text(costs.hbm_bytes) + " of a GPU.";
    return {title, std::move(words)};
}

std::string costs_line(const Scene& scene, const TokenWay& way, const TokenCosts& costs) {
    if (!costs.sends) return ways_card(scene, way, costs).title + ".";
    const bool busiest = costs.imbalance > 1 && costs.collective == Collective::all_to_all;
    return "**" + traffic_text(costs.sent_bytes)
           + (busiest ? "** reach the busiest GPU a call, **" : "** leave each GPU a call, **")
           + time_text(costs.call_s) + (costs.tier == 0 ? "** of " : "** partly over ")
           + std::string(tier_name(scene.plan.cluster, costs.tier)) + "; **" + trimmed(costs.calls)
           + "** calls a layer; **" + time_text(costs.waits_s) + "** of " + time_text(costs.step_s)
           + " wait.";
}

std::string drawn_words(const TokenWay& way, const TokenDrawn& drawn) {
    const std::string tokens = thousands(drawn.tokens) + " of " + whole(way.tokens) + " tokens ";
    std::string out =
        "Drawn: "
        + (drawn.gpus < drawn.of_gpus
               ? thousands(drawn.gpus) + " of " + thousands(drawn.of_gpus) + " GPUs, " + tokens + "each."
               : tokens + "a GPU.");
    if (drawn.picks)
        out += std::string(" The router's choice and its weights are made up")
               + (drawn.assumed
                      ? "; which GPU is the fullest and what the others get is assumed. All else follows "
                        "from the plan."
                      : "; all figures follow from the plan.");
    return out;
}

std::string drawer_tooltip(const Scene& scene, const TokenWay& way, std::size_t drawer) {
    const TokenDrawer& d = way.drawers[drawer];
    std::string out = "GPU " + thousands(d.rank) + ": " + experts_words(d.experts) + "\n"
                      + place_of(scene.plan.cluster, d.rank) + "\n";
    const double all = way.mean_tokens * static_cast<double>(way.size());
    out += whole(d.tokens) + " copies of tokens in a layer and micro-batch";
    if (way.size() > 1 && all > 0) {
        out += ", " + percent(d.tokens / all) + " of all: " + (way.even ? "the mean" : times_words(d.load));
        if (way.even)
            out += "\nnobody waits for it";
        else if (way.idle_share(drawer) <= 1e-9)
            out += "\n" + others_wait(way.size()) + " for it";
        else
            out += "\nwaits " + percent(way.idle_share(drawer)) + " of the time of GPU "
                   + thousands(way.drawers[way.hot].rank);
    }
    if (way.etp > 1)
        out += "\nits experts are cut over " + thousands(way.etp) + " GPUs, which get the same tokens";
    std::string picked;
    for (const TokenPick& p : way.picks)
        if (p.drawer == drawer) picked += (picked.empty() ? "" : ", ") + thousands(p.expert);
    if (!picked.empty()) out += "\nthe token's router picks expert " + picked + " (made up)";
    return out;
}

}  // namespace pentamesh::ui
