// A screen holds all that the window shows, except the plan.
#pragma once

#include "app/ui/scene/scene.h"
#include "app/ui/shell/settings.h"
#include "app/ui/views/table.h"
#include "core/teach/veil.h"

#include <cstdint>
#include <optional>

namespace pentamesh::ui {

// While a lesson is open in a narrow window, this is next to the view: the lesson, the plan, or nothing.
enum class SidePane : std::uint8_t { lesson, plan, view };

struct Screen {
    ViewStates views;
    Selection selection;
    Settings settings;
    std::optional<ViewId> full;
    std::uint64_t revision = 0;        // of the plan that `views` keeps things of
    Veil veil{};                       // of a question that is open
    std::optional<LessonTask> task{};  // that is open
};

}  // namespace pentamesh::ui
