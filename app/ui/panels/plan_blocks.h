// What the plan panel's files share: its blocks, its typed numbers and what it says beside a refused one.
#pragma once

#include "app/ui/panels/plan_panel.h"

#include <optional>
#include <string_view>

namespace pentamesh::ui {

using MaybeEdit = std::optional<PlanEdit>;

// The factor in force, 1 where the layout leaves none.
[[nodiscard]] std::int64_t shown_factor(const Plan& plan, Axis axis);

// A text field in place of the value of the plan's number `pointer`. Returns the number once the
// field is left; one out of its range, or none, is refused (field_message).
[[nodiscard]] std::optional<std::int64_t> typed_number(Ui& ui, std::string_view key, std::string_view pointer,
                                                       Rect box, PlanPanelState& state);
void start_editing(PlanPanelState& state, std::string_view key, std::int64_t value);
// Why the field's last value was refused, below it, until the next edit. Cut from `room`.
void field_message(Ui& ui, Rect& room, std::string_view key, const PlanPanelState& state);
void open_menu(PlanPanelState& state, std::string_view name, Rect anchor);

[[nodiscard]] MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
[[nodiscard]] MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
// What a way of context parallelism is called in full, and how its ranks meet.
struct CpWords {
    std::string_view name, how;
};
[[nodiscard]] const CpWords& words_of(CpComm comm);
// The popovers of batch, precision, optimizer, attention and overlap.
[[nodiscard]] MaybeEdit draw_plan_popover(Ui& ui, Scene& scene, PlanPanelState& state);

}  // namespace pentamesh::ui
