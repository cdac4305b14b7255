// The plan panel's files share this: its blocks, its typed numbers and the words next to a refused one.
#pragma once

#include "app/ui/panels/plan_panel.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace pentamesh::ui {

using MaybeEdit = std::optional<PlanEdit>;

// In a low window what explains is on hover, and what is off is left out of the order.
[[nodiscard]] inline bool is_low(const Ui& ui) {
    constexpr float kLow = 760;
    return ui.frame().size.y < kLow;
}

// Returns the factor in force, 1 where the layout leaves it out.
[[nodiscard]] std::int64_t shown_factor(const Plan& plan, Axis axis);

// Draws a text field in place of the value of the plan's number `pointer`. Returns the number once the field
// is left; one out of its range, or a text that is no number, is refused (field_message).
[[nodiscard]] std::optional<std::int64_t> typed_number(Ui& ui, std::string_view key, std::string_view pointer,
                                                       Rect box, PlanPanelState& state);
void start_editing(PlanPanelState& state, std::string_view key, std::int64_t value);
// Says below the field why its last value was refused, until the next edit. The words are cut from `room`.
void field_message(Ui& ui, Rect& room, std::string_view key, const PlanPanelState& state);
void open_menu(PlanPanelState& state, std::string_view name, Rect anchor);

[[nodiscard]] MaybeEdit order_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
[[nodiscard]] MaybeEdit modifiers_block(Ui& ui, Rect& room, const Scene& scene, PlanPanelState& state);
// Holds the full name of a method of context parallelism, and how its ranks meet.
struct CpWords {
    std::string_view name, how;
};
[[nodiscard]] const CpWords& words_of(CpComm comm);
// Draws the popovers of batch, precision, optimizer, attention and overlap.
[[nodiscard]] MaybeEdit draw_plan_popover(Ui& ui, Scene& scene, PlanPanelState& state);

}  // namespace pentamesh::ui
