// The page `token` of Mesh: expert parallelism as the way of one token. It leaves its GPU for the experts
// that its router picks, drawers on other GPUs, and comes home; behind it the ways of all others.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/view.h"
#include "core/teach/token_way.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pentamesh::ui {

// The costs of a plan, kept while the plan stays.
struct KeptTokenCosts {
    Plan plan;
    TokenCosts costs;
};

// Draws the page. While a question asks for GPUs (MeshViewState::plain) rows are its answers, and no way is
// drawn; after it they grow. Returns an edit of the load of the busiest rank.
[[nodiscard]] std::optional<PlanEdit> draw_token(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                 MeshViewState& state, ExpertLoads& loads,
                                                 std::uint64_t revision);
// Returns the drawers of the token's ep group.
[[nodiscard]] Table token_data(const Scene& scene, const ExpertLoads& loads);
// A row of that table stands for a GPU.
void hover_token_row(Scene& scene, const Table::Row& row);
void pick_token_row(Scene& scene, const Table::Row& row);

// Says in words where the token goes, and what a drawer holds (mesh_token_words.cpp).

struct TokenCard {
    std::string title, words;  // rich text
};
// The first sentence is the verdict.
[[nodiscard]] std::string token_verdict(const TokenWay& way, const Cluster& cluster);
[[nodiscard]] std::string token_facts(const Scene& scene, const TokenWay& way);
[[nodiscard]] TokenCard ways_card(const Scene& scene, const TokenWay& way, const TokenCosts& costs);
[[nodiscard]] TokenCard calls_card(const TokenWay& way, const TokenCosts& costs);
// `asked`: figures of another plan may be the answer to a question.
[[nodiscard]] TokenCard clock_card(const TokenWay& way, const TokenCosts& costs, bool asked);
// The figures of the cards in one line, for a room without cards.
[[nodiscard]] std::string costs_line(const Scene& scene, const TokenWay& way, const TokenCosts& costs);
// Says how much of the step is drawn.
struct TokenDrawn {
    std::int64_t gpus = 0, of_gpus = 0;  // all of the plan
    std::int64_t tokens = 0;             // of each
    bool picks = false;                  // of a router
    bool assumed = false;                // of the loads the plan says only the fullest
};
[[nodiscard]] std::string drawn_words(const TokenWay& way, const TokenDrawn& drawn);
[[nodiscard]] std::string drawer_tooltip(const Scene& scene, const TokenWay& way, std::size_t drawer);
[[nodiscard]] std::string experts_words(const Range& experts);  // "expert 3", "experts 12–15"
[[nodiscard]] std::string times_words(double load);             // "1.5 times the mean"

}  // namespace pentamesh::ui
