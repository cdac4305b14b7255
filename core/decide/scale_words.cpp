#include "core/decide/scale.h"

#include "core/base/text.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr double kKept = 0.9;       // of perfect scaling: so much is worth a name
constexpr double kMostNamed = 0.8;  // of a loss: parts that make up so much are named
constexpr double kSmall = 0.01;     // a smaller loss is not named

// Names the parts that a point loses against the best one, by how much longer each is than if it had grown as
// the tokens of a GPU did: these differences sum to the loss.
std::string lost_to(const ScalePoint& best, const ScalePoint& own) {
    struct Loss {
        std::string_view name;
        double time_s;
    };
    const double grown = own.step_s * own.of_best / best.step_s;
    const std::vector<ScalePart> before = parts_of(best), after = parts_of(own);
    std::vector<Loss> losses;
    for (const ScalePart& p : after) {
        const auto same =
            std::find_if(before.begin(), before.end(), [&](const ScalePart& b) { return b.name == p.name; });
        losses.push_back({p.name, p.time_s - (same == before.end() ? 0 : same->time_s * grown)});
    }
    std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.time_s > b.time_s; });
    const double lost = own.step_s * (1 - own.of_best);
    std::string out;
    double named = 0;
    for (std::size_t i = 0; i < 2 && i < losses.size(); ++i) {
        if (losses[i].time_s <= 0.1 * lost || named >= kMostNamed * lost) break;
        out += (out.empty() ? "" : " and ") + std::string(losses[i].name);
        named += losses[i].time_s;
    }
    return out;
}

std::string most_to(const ScalePoint& best, const ScalePoint& own) {
    const std::string parts = lost_to(best, own);
    return parts.empty() ? "" : ", most of it to " + parts;
}

std::string gpus_verdict(const Scale& s, const ScalePoint& best, const ScalePoint* own) {
    const auto gpus = [](const ScalePoint& p) {
        return value_words(ScaleOver::gpus, static_cast<double>(p.at));
    };
    const ScalePoint* last = &best;
    for (const ScalePoint& p : s.points)
        if (p.possible() && p.at > last->at && p.of_best >= kKept) last = &p;
    const std::string scaling = s.request.weak ? " of perfect weak scaling" : " of perfect scaling";
    std::string out = "Up to " + gpus(*last) + " " + percent_text(last->of_best) + scaling + " is kept";
    if (own == nullptr || !own->possible()) return out + "; this plan is refused.";
    if (own == last) return out + ": that is this plan.";
    const double lost = 1 - own->of_best;
    out += "; at this plan's " + gpus(*own) + " ";
    if (lost < kSmall) return out + "hardly anything is lost.";
    return out + percent_text(lost) + " is lost" + most_to(best, *own) + ".";
}

std::string rate_verdict(const Scale& s, const ScalePoint& best, const ScalePoint* own) {
    const auto words = [&](const ScalePoint& p) {
        return value_words(s.request.over, static_cast<double>(p.at));
    };
    const std::string most = "Most tokens per second come out of ";
    if (own == nullptr || !own->possible()) return most + words(best) + "; this plan is refused.";
    if (own == &best || 1 - own->of_best < kSmall)
        return "No other value gives noticeably more tokens per second than this plan's, " + words(*own)
               + ".";
    return most + words(best) + "; this plan, with " + words(*own) + ", has " + percent_text(1 - own->of_best)
           + " less, lost to " + lost_to(best, *own) + ".";
}

std::string held_words(const Plan& plan, const Scale& s) {
    if (axis_of(s.request.over))
        return "The " + value_words(ScaleOver::gpus, static_cast<double>(plan.cluster.gpus))
               + " and the batch stay: data parallelism gives and takes the ranks.";
    const std::string batch =
        sentence(plan.training.global_batch, " sequences of ", plan.training.sequence_length, " tokens");
    if (s.request.over == ScaleOver::sequence)
        return "The batch stays at " + sentence(plan.training.global_batch, " sequences")
               + ", so a step has more tokens the longer they are.";
    if (s.request.over == ScaleOver::batch) return "The GPUs and the layout stay.";
    return s.request.weak ? "The batch grows with the GPUs; data parallelism takes them."
                          : "The batch stays at " + batch + "; data parallelism takes the GPUs.";
}

}  // namespace

std::string value_words(ScaleOver over, double value) {
    const std::string n = whole_text(value);
    switch (over) {
    case ScaleOver::gpus: return n + " GPUs";
    case ScaleOver::batch: return "a batch of " + n;
    case ScaleOver::sequence: return n + " tokens";
    default: return std::string(name_of(over)) + " " + n;
    }
}

std::vector<ScalePart> parts_of(const ScalePoint& p) {
    std::vector<ScalePart> out{{StepPart::compute, GroupKind::tp, "compute", p.compute_s}};
    for (const GroupKind k : all_of<GroupKind>())
        if (p.waits_s[k] > 0) out.push_back({StepPart::exposed, k, name_of(k), p.waits_s[k]});
    out.push_back({StepPart::bubble, GroupKind::tp, "the bubble", p.bubble_s});
    out.push_back({StepPart::optimizer, GroupKind::tp, "the optimizer", p.optimizer_s});
    out.push_back({StepPart::straggler, GroupKind::tp, "stragglers", p.straggler_s});
    return out;
}

ScaleWords words_of(const Plan& plan, const Scale& s) {
    const ScalePoint* best = s.best();
    if (best == nullptr) return {"No value of these is possible.", held_words(plan, s)};
    const ScalePoint* own = s.at(s.own);
    return {s.request.over == ScaleOver::gpus ? gpus_verdict(s, *best, own) : rate_verdict(s, *best, own),
            held_words(plan, s)};
}

}  // namespace pentamesh
