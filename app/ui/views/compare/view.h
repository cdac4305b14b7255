// Shows in what plans differ, and why one is faster: A, the open plan as B, and up to six more.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/view.h"
#include "core/decide/compare.h"
#include "core/evaluate.h"
#include "core/sharding/move.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct KeptPlan {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Evaluation> evaluation;
};

// Holds the edits from A to B. The key is the revision of the open plan and the version of the kept ones.
using ComparePath = Kept<std::vector<PathEdit>, std::pair<std::uint64_t, std::uint64_t>>;

// Holds what is drawn of the timelines of A and B: by the same key.
struct ComparedTimelines {
    std::array<KeptTimeline, 2> shown;
    std::array<SeenBlocks, 2> blocks;
};

struct MoveShown;

struct CompareViewState {
    std::vector<KeptPlan> kept;  // A, then C, D ...
    std::uint64_t version = 0;   // grows with `kept` and `proposal`
    // This is B while nothing is pinned: a layout that a search found better. The open plan is then A.
    std::optional<KeptPlan> proposal;
    bool awaits_proposal = false;  // the plan was edited, and no search has answered yet
    ComparePath path;
    Kept<PlanComparison, std::pair<std::uint64_t, std::uint64_t>> shown;  // by revision and version
    ComparedTimelines timelines;
    ScrollState scroll;
    int page = 0;                      // of kComparePages
    std::int64_t move_rank = -1;       // of B, whose pieces the page `move` shows; -1: the chosen one
    MoveOptions moves{};               // there, whether the optimizer's states move too
    std::shared_ptr<MoveShown> moved;  // what is kept of it (move_page.h)

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

inline constexpr std::array<std::string_view, 2> kComparePages{"plans", "move"};
inline constexpr int kMovePage = 1;

[[nodiscard]] Effects draw_compare(Ui& ui, Rect head_row, Rect room, Scene& scene, CompareViewState& state,
                                   std::uint64_t revision);
// `part` is 0 for figures, 1 for differences, 2 for why, 3 for the path of edits, 4 for what moves. Without a
// pinned plan, only the open plan is listed.
[[nodiscard]] Table compare_data(const Scene& scene, const CompareViewState& state, int part);

// Lists A, the open plan as B, then the others: letters and places of all tables. Where nothing is pinned,
// the open plan is A, and what is proposed B.
struct ComparedPlan {
    const Plan* plan = nullptr;
    const Evaluation* evaluation = nullptr;
    int kept = -1;  // index into CompareViewState::kept; or one of:
    static constexpr int kOpen = -1, kProposed = -2;
};
[[nodiscard]] std::vector<ComparedPlan> compared_plans(const Scene& scene, const CompareViewState& state);

// Compares all plans; only `why` is of A and B.
[[nodiscard]] PlanComparison shown_comparison(const Scene& scene, const CompareViewState& state);

// Returns "B is 9.8 s faster: 7.1 s less uneven stages, 3.4 s less tp exposed, 0.7 s more dp exposed."
[[nodiscard]] std::string why_words(const Evaluation& a, const Evaluation& b,
                                    const std::vector<PartRow>& why);
// Returns what distinguishes a plan from others of its title, "tp 8, ep 64"; "" where its title does.
[[nodiscard]] std::string apart_of(const PlanComparison& comparison, std::size_t index);
// Returns its title, and what distinguishes it from others of that title.
[[nodiscard]] std::string full_title(const PlanComparison& comparison, std::size_t index);
// field_name returns "tp" for "/layout/tp". field_value returns "8", "ring", "—".
[[nodiscard]] std::string field_name(const std::string& pointer);
[[nodiscard]] std::string field_value(const std::string& json);
// Returns 0 for a difference that is far below what is written of a step of that length.
[[nodiscard]] double without_noise(double delta_s, double step_s);

// All parts are handed the two plans as A and B.
struct ComparedPair {
    const Plan& a;
    const Evaluation& ea;
    const Plan& b;
    const Evaluation& eb;
    bool proposed = false;  // B is a proposal: nobody has gone the way from A to it
};

// Draws two steps as bars on one scale, the same parts joined by ribbons.
void draw_two_steps(Ui& ui, Rect room, const ComparedPair& pair);
// Draws part, A, B, B - A, and why.
// With `whole`, reasons are wrapped, not cut.
// Holds the heights of the reasons' rows. The largest differences have their whole reasons, as far as `most`
// goes; the others have one line.
struct WhyRows {
    std::vector<float> row;
    float height = 0;  // of all, with head and sum
};
inline constexpr float kEveryReason = 1e6f;
[[nodiscard]] WhyRows why_rows(Ui& ui, float width, const PlanComparison& shown, float most = kEveryReason);
void draw_why(Ui& ui, Rect room, const ComparedPair& pair, const PlanComparison& shown, const WhyRows& rows);
// Draws the cells of both, coloured by the groups of one axis, which is chosen above.
void draw_two_meshes(Ui& ui, Rect room, Scene& scene, const ComparedPair& pair);
// Draws bars of each stage, A's and B's side by side, against the GPU's memory.
void draw_two_memories(Ui& ui, Rect room, const ComparedPair& pair);
// Draws both steps on one time axis: the work of each device, then gradients, parameters and the optimizer.
void draw_two_timelines(Ui& ui, Rect room, const ComparedPair& pair, ComparedTimelines& kept);
// Draws fields and their values in A and B.
[[nodiscard]] float fields_height(const PlanComparison& shown);
void draw_fields(Ui& ui, Rect& room, const PlanComparison& shown);
// Draws edits from A to B, and the step after each.
[[nodiscard]] float path_height(const ComparePath& path);
void draw_path(Ui& ui, Rect& room, const ComparePath& path, const ComparedPair& pair);

}  // namespace pentamesh::ui
