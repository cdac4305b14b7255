#include "core/decide/nearby.h"

#include <algorithm>
#include <array>
#include <string>
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
SearchSpace space_around(const Plan& plan, std::size_t a, std::size_t b) {
    SpaceRequest request;
    for (const Varied v : all_of<Varied>()) {
        const auto free = [&](std::size_t edit) { return kEdits[edit][0] == v || kEdits[edit][1] == v; };
        if (v != Varied::dp_shard && !free(a) && !free(b)) request.hold.emplace_back(name_of(v));
    }
    std::optional<SpaceError> none;
    return search_space(plan, request, none);
}

bool means_nothing(const Plan& plan, std::size_t edit) {
    const Varied v = kEdits[edit][0];
    return !plan.model.moe && (v == Varied::ep || v == Varied::etp);
}

}  // namespace

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
