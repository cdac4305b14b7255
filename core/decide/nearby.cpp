#include "core/decide/nearby.h"

#include "core/plan/factors.h"
#include "core/rules/software_runs.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pentamesh {

namespace {

// These change as one edit; the same name twice means one field.
constexpr std::array<std::array<Varied, 2>, 11> kEdits{{{Varied::tp, Varied::tp},
                                                        {Varied::cp, Varied::cp},
                                                        {Varied::pp, Varied::pp},
                                                        {Varied::schedule, Varied::virtual_stages},
                                                        {Varied::ep, Varied::ep},
                                                        {Varied::etp, Varied::etp},
                                                        {Varied::dp_replicate, Varied::dp_replicate},
                                                        {Varied::zero, Varied::zero},
                                                        {Varied::micro_batch, Varied::micro_batch},
                                                        {Varied::recompute, Varied::recompute},
                                                        {Varied::order, Varied::order}}};

// Returns the space of all plans that differ only by these edits, and by dp_shard, which follows from the
// other factors.
SearchSpace space_around(const Plan& plan, std::size_t a, std::size_t b, bool any_software = false) {
    SpaceRequest request;
    for (const Varied v : all_of<Varied>()) {
        const auto free = [&](std::size_t edit) { return kEdits[edit][0] == v || kEdits[edit][1] == v; };
        if (v != Varied::dp_shard && !free(a) && !free(b)) request.hold.emplace_back(name_of(v));
    }
    request.any_software = any_software;
    std::optional<SpaceError> none;
    return search_space(plan, request, none);
}

bool means_nothing(const Plan& plan, std::size_t edit) {
    const Varied v = kEdits[edit][0];
    return !plan.model.moe && (v == Varied::ep || v == Varied::etp);
}

bool is_layout_of(const Plan& a, const Plan& b) {
    return a.layout == b.layout && a.training.micro_batch == b.training.micro_batch
           && a.training.recompute == b.training.recompute;
}

}  // namespace

std::vector<SearchResult> best_of_each_edit(const Plan& plan, const SearchOptions& options) {
    SearchOptions asked = options;
    asked.goal = Goal::tokens;
    // If its software does not run the plan, no layout may lack anything new; the search then has all.
    const bool lacking = lacks_of(plan, plan.training.software).any();
    constexpr int kAnyTop = 64;
    asked.top = lacking ? kAnyTop : 2;  // the plan itself may be the first
    Plan complete = plan;
    complete.layout.dp_replicate = replicas_in_force(plan);
    std::vector<SearchResult> out;
    for (std::size_t edit = 0; edit < kEdits.size(); ++edit) {
        if (means_nothing(plan, edit)) continue;
        SearchReport found = search(complete, space_around(complete, edit, edit, lacking), asked);
        const auto other = std::find_if(found.results.begin(), found.results.end(), [&](const auto& r) {
            return !is_layout_of(complete, r.plan) && !lack_that_came(plan, r.plan);
        });
        if (other == found.results.end()) continue;
        const auto again = [&](const SearchResult& r) { return is_layout_of(r.plan, other->plan); };
        if (std::none_of(out.begin(), out.end(), again)) out.push_back(std::move(*other));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const SearchResult& a, const SearchResult& b) { return a.step_s < b.step_s; });
    return out;
}

TriedEdits try_each_edit(const Plan& plan, double step_s) {
    constexpr double kAnyMemory = -1e3;  // the headroom that no layout goes below
    TriedEdits out{best_of_each_edit(plan, {.headroom = 0}),
                   best_of_each_edit(plan, {.headroom = kAnyMemory})};
    std::erase_if(out.unfit,
                  [&](const SearchResult& r) { return r.headroom >= 0 || 1 - r.step_s / step_s < kWorthIt; });
    return out;
}

std::optional<SearchResult> best_within_two_edits(const Plan& plan, const SearchOptions& options,
                                                  const std::atomic<bool>* cancel) {
    SearchOptions asked = options;
    asked.goal = Goal::tokens;
    asked.top = 1;
    std::optional<SearchResult> best;
    std::array<std::size_t, 2> edits{};
    for (std::size_t a = 0; a < kEdits.size(); ++a) {
        if (means_nothing(plan, a)) continue;
        for (std::size_t b = a + 1; b < kEdits.size(); ++b) {
            if (means_nothing(plan, b)) continue;
            const SearchReport found = search(plan, space_around(plan, a, b), asked, cancel);
            if (cancel != nullptr && *cancel) return std::nullopt;
            if (found.results.empty()) continue;
            const SearchResult& first = found.results.front();
            if (!best || first.step_s < best->step_s) best = first, edits = {a, b};
        }
    }
    if (!best) return best;
    // If one edit does as much, the second is not needed.
    for (const std::size_t edit : edits) {
        const SearchReport found = search(plan, space_around(plan, edit, edit), asked, cancel);
        if (cancel != nullptr && *cancel) return std::nullopt;
        if (!found.results.empty() && found.results.front().step_s <= best->step_s)
            return found.results.front();
    }
    return best;
}

}  // namespace pentamesh
