// Compare remembers the plans that were kept, the first of them as A. The open plan is B.
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/scroll.h"
#include "core/decide/compare.h"
#include "core/evaluate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct KeptPlan {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Evaluation> evaluation;
};

// Holds the edits from A to B. The key is the revision of the open plan and the version of the kept ones.
using ComparePath = WorkedOut<std::vector<PathEdit>, std::pair<std::uint64_t, std::uint64_t>>;

struct CompareViewState {
    std::vector<KeptPlan> kept;  // A, then C, D ...
    std::uint64_t version = 0;   // grows with `kept` and `proposal`
    // This is B while nothing is pinned: a layout that a search found better. The open plan is then A.
    std::optional<KeptPlan> proposal;
    bool awaits_proposal = false;  // the plan was edited, and no search has answered yet
    ComparePath path;
    Kept<PlanComparison, std::pair<std::uint64_t, std::uint64_t>> shown;  // by revision and version
    ScrollState scroll;
    bool wants_flip = false;    // the button was pressed
    bool wants_before = false;  // the button for the plan before the last edit was pressed

    void propose(const Plan& plan) {
        if (proposal && *proposal->plan == plan) return;
        proposal =
            KeptPlan{std::make_shared<const Plan>(plan), std::make_shared<const Evaluation>(evaluate(plan))};
        ++version;
    }
    void forget_proposal() {
        if (proposal) ++version;
        proposal.reset();
    }
    // Returns null where nothing is pinned.
    [[nodiscard]] const KeptPlan* pinned() const { return kept.empty() ? nullptr : &kept.front(); }
    [[nodiscard]] bool is_full() const { return kept.size() + 1 >= kMostCompared; }
    void pin(const Plan& plan, const Evaluation& evaluation) {
        KeptPlan k{std::make_shared<const Plan>(plan), std::make_shared<const Evaluation>(evaluation)};
        if (kept.empty())
            kept.push_back(std::move(k));
        else
            kept.front() = std::move(k);
        proposal.reset();
        ++version;
    }
    // Returns false if there are as many plans as can be compared.
    bool add(const Plan& plan, Evaluation evaluation) {
        if (is_full()) return false;
        kept.push_back(
            {std::make_shared<const Plan>(plan), std::make_shared<const Evaluation>(std::move(evaluation))});
        ++version;
        return true;
    }
    void remove(std::size_t index) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(index));
        ++version;
    }
};

}  // namespace pentamesh::ui
