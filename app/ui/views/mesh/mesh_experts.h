// The same ranks folded twice, for the dense layers and for the experts: the fold of a stage, how many tokens
// each expert gets, one token's way; and the ribbon of all ranks that the factors fold.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct ShownLoads;

struct ExpertFold {
    std::int64_t first_rank = 0, line = 0;  // the stage's ranks; a line of 0: it cannot be drawn so
    std::int64_t row = 0, rows = 0;         // ranks of a row, which hold all experts once; rows are copies
    std::int64_t domain = 1, stage = -1;    // -1: there is one stage
    std::int64_t shown = 4;  // of more rows the first, the second if this is 4, how many more, and the last
};
// The stage of a rank. Nothing where a stage's ranks do not neighbour, or a row is no whole number of nodes.
[[nodiscard]] ExpertFold fold_of(const Scene& scene, std::int64_t rank);
// "The same 128 GPUs of a stage serve two meshes: ...".
[[nodiscard]] std::string fold_words(const ExpertFold& fold);
[[nodiscard]] float fold_height(const ExpertFold& fold);
void draw_fold(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold, const ShownLoads& loads);
// Draws the fold through the rows of the cluster, where a row is a stage.
void draw_fold_lines(Canvas& canvas, const Theme& theme, const MeshLayout& layout, const CellGrid& grid,
                     const ExpertFold& fold);

// The plan knows one number of how uneven routing is: the busiest ep rank's load over the mean
// (training.router_imbalance). The loads of the others are assumed from it, or a person listed them.
enum class LoadForm : std::uint8_t { even, skewed, list };
struct ShownLoads {
    LoadForm form = LoadForm::even;
    std::vector<double> load;  // by expert, of the mean expert's; empty: none is known
    double exponent = 0;       // of a skewed one
};
[[nodiscard]] ShownLoads shown_loads(const Scene& scene, const ExpertLoads& drawn);

// Returns the exponent a for which the busiest of `ranks` has `imbalance` times the mean load where the k-th
// busiest has k^-a of the busiest's; nullopt where no a > 0 is: one rank cannot have more than all tokens.
[[nodiscard]] std::optional<double> skew_exponent(std::int64_t ranks, double imbalance);
// Reads "1, 0.5 2 ...": a number for each expert, or for each ep rank, which its experts then share. Returns
// what is wrong with it, or nothing, with the loads by expert in `out`.
[[nodiscard]] std::string read_loads(std::string_view text, std::int64_t experts, std::int64_t ranks,
                                     std::vector<double>& out);

inline constexpr float kLoadRow = 30;
// Draws the switch and the sentence that says which loads are drawn. Returns an edit of the plan's number.
[[nodiscard]] std::optional<PlanEdit> draw_load_row(Ui& ui, Rect row, const Scene& scene,
                                                    MeshViewState& state, ExpertLoads& drawn);
// Empties the cells of a node as far as their experts have fewer tokens than the busiest. `first_rank` is the
// node's first, `r` its frame.
void draw_node_loads(Canvas& canvas, const Theme& theme, Rect r, const Scene& scene, const ShownLoads& loads,
                     std::int64_t first_rank);

// Draws to which nodes and experts a layer sends one token; nothing where the room is too small for it, or
// where ep stays inside a node.
void draw_token_way(Ui& ui, Rect room, const Scene& scene, const ExpertFold& fold);

struct KeptPlan;

// `before`, null or a possible plan with as many ranks, stands at the left, and each piece that lay elsewhere
// there says where. Without it the experts' fold stands next to that of the dense layers.
void draw_ribbon(Ui& ui, Rect room, const Scene& scene, const KeptPlan* before);

// One fold of the ranks.
struct RibbonSide {
    const Plan& plan;
    const Evaluation& evaluation;
    bool experts = false;              // the experts' mesh
    const KeptPlan* before = nullptr;  // A, where the pieces lay before; null: it is not compared
    std::string title;
    bool open = true;  // it is the open plan: after an edit its pieces move

    [[nodiscard]] const EnumArray<Axis, Factor>& factors(const Mesh& mesh) const {
        return experts ? mesh.expert : mesh.dense;
    }
};

[[nodiscard]] float wire_width(double bytes);
// Draws the pieces of all ranks where these are few, else a group of each axis.
void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes);

}  // namespace pentamesh::ui
