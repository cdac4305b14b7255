#include "core/decide/why_not.h"

#include "core/base/text.h"
#include "core/decide/compare.h"
#include "core/memory/memory.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {

namespace {

std::string held_of(double bytes, double hbm) {
    return memory_text(bytes) + " of " + memory_text(hbm);
}

// Returns "412 ms more in exposed tp": the part of the step that grows most.
std::string largest_part(const Step& from, const Step& to) {
    const std::string all = main_parts_text(from, to);
    return all.substr(0, all.find(", "));
}

// Says it of a layout that fits while a better one is proposed; empty where that one is not what decides.
WhyNot beside_proposal(const PlanDecision& d, const SearchResult& other, double freed) {
    const double behind = other.step_s / d.proposal->step_s - 1;
    if (d.ground == Ground::leaner) {
        if (freed >= d.freed_bytes) return {};
        return {"frees less",
                freed > 0
                    ? "It frees " + memory_text(freed) + ", the proposal " + memory_text(d.freed_bytes) + "."
                    : "It frees nothing, the proposal " + memory_text(d.freed_bytes) + "."};
    }
    if (behind < kWorthIt) return {};
    return {percent_text(behind) + " behind", percent_text(behind) + " slower than the proposal."};
}

// Says it of a layout that is slower than the plan.
WhyNot slower(const Evaluation& e, const SearchResult& other, double loss, double freed) {
    std::string out = percent_text(loss) + " slower";
    if (const std::string part = largest_part(*e.step, other.step); !part.empty()) out += ": " + part;
    if (freed >= kMuchMemory * e.memory.hbm) out += ", for " + memory_text(freed) + " less";
    return {percent_text(loss) + " slower", out + "."};
}

}  // namespace

WhyNot why_not(const Evaluation& e, const std::optional<PlanDecision>& decision, const SearchResult& other) {
    const bool proposes = decision && decision->proposal;
    if (proposes && changed_choices(other.plan, decision->proposal->choice).empty())
        return {"proposed", "Proposed: " + gained_words(*decision) + "."};
    const double hbm = e.memory.hbm, freed = e.memory.peak() - other.memory_bytes,
                 gain = 1 - other.step_s / e.step->time_s;
    if (!fits(other.fit) || other.memory_bytes > hbm)
        return {std::string(name_of(other.fit)),
                "It " + std::string(name_of(other.fit)) + ": " + held_of(other.memory_bytes, hbm) + "."};
    if (other.memory_bytes > most_after_change(e.memory))
        return {percent_text(other.headroom) + " left", "It " + little_left_words(other.headroom) + "."};
    const bool fits_now = fits(fit_of(e.memory).value_or(MemoryFit::no));
    if (proposes)
        if (WhyNot out = beside_proposal(*decision, other, freed);
            !out.brief.empty() && (gain > 0 || !fits_now))
            return out;
    if (gain >= kWorthIt) {
        const double range = std::max(e.step->error, other.step.error);
        std::string words = percent_text(gain) + " faster by the estimate";
        if (gain < range) words += ", less than its range of " + percent_text(range);
        return {percent_text(gain) + " faster", words + "."};
    }
    if (gain > -kWorthIt) {
        std::string words = "As fast to within 1 %";
        if (std::abs(freed) >= kMuchMemory * hbm)
            words += ", with " + memory_text(std::abs(freed)) + (freed > 0 ? " less" : " more");
        return {"as fast", words + (fits_now ? ": no reason to change." : ".")};
    }
    return slower(e, other, -gain, freed);
}

}  // namespace pentamesh
