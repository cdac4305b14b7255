// Draws a run that hangs over the mesh: who is to blame, who waits for whom, who is held up behind them; and
// says it in a list.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_cells.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/view.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Says what a rank does in the run; the later ones stand out more.
enum class RunRole : std::uint8_t { fine, held_up, waits, stuck, suspected, blamed };
inline constexpr std::size_t kRunRoles = 6;

// These follow from a run that hangs, and are found once for it.
struct HangShown {
    std::shared_ptr<const runs::HangRun> run;
    std::vector<RunRole> role;                     // by rank
    std::map<std::int64_t, runs::FaultKind> kind;  // by rank
    std::vector<runs::WaitingCall> calls;          // as waiting_by_call
    std::vector<bool> has_arrows;                  // by call: there are not too many
};
[[nodiscard]] const HangShown& hang_shown(const Scene& scene, MeshViewState& state);
// Returns the ranks that wait in a call and those for which they wait, ascending.
[[nodiscard]] std::vector<std::int64_t> ranks_of(const runs::WaitingCall& waiting);
// Returns the call whose ranks are selected; null: none.
[[nodiscard]] const runs::WaitingCall* picked_call(const HangShown& shown, const Selection& selection);
// Returns the axis of a call's group in the run's own layout.
[[nodiscard]] GroupKind axis_of(const runs::HangRun& run, const runs::RunCall& call);
// Returns the hosts' names; none where nobody named them.
[[nodiscard]] const Hosts& named_hosts(const Scene& scene);
void role_cell(Canvas& c, const Theme& theme, Rect cell, RunRole role);
// Draws the mark of a kind of fault in a box: a bar for one that stands, a cross for one that is gone.
void kind_mark(Canvas& c, Rect box, runs::FaultKind kind, Color ink);

// Returns true if there are dumps of a run with as many ranks as the plan.
[[nodiscard]] bool has_hang(const Scene& scene);
[[nodiscard]] inline bool shows_hang(const Scene& scene, const MeshViewState& state) {
    return state.shows_run && has_hang(scene);
}
// Draws the switch between the run and the groups at the right end of the row, and takes it off.
void run_switch(Ui& ui, Rect& row, MeshViewState& state);
[[nodiscard]] MeshCaption hang_caption(const Scene& scene);
// Draws what the marks mean and the list, and returns the room that is left for the cells.
[[nodiscard]] Rect draw_hang_list(Ui& ui, Rect room, Scene& scene, MeshViewState& state);
void draw_hang(Ui& ui, const MeshPlace& m, const Scene& scene, const HangShown& shown);
// Says what a rank does in the run, for its tooltip.
[[nodiscard]] std::string hang_tooltip(const Scene& scene, const HangShown& shown, std::int64_t rank);

}  // namespace pentamesh::ui
