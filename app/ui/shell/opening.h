// The first thing that is seen: the plan that the window opens with, and the pictures of the welcome.
#pragma once

#include "core/teach/loaf.h"

#include <string_view>

namespace pentamesh::ui {

// Small enough to be seen at once, and no press of a factor makes it impossible.
inline constexpr std::string_view kFirstPlan = "mesh-8";

// One step of a small model: its samples cut, then each of its layers too. Both have it whole as well.
struct OpeningLoaves {
    Loaf samples, layers;
};

}  // namespace pentamesh::ui
