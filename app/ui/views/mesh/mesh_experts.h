// Draws what the experts have to do, over the rows of the fold: how many tokens each gets, and one token's
// way.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_fold.h"
#include "app/ui/views/mesh/view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
