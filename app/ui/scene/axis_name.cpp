#include "app/ui/scene/axis_name.h"

#include "core/base/enum_array.h"

#include <utility>

namespace pentamesh::ui {

void names_axis(Ui& ui, GroupKind kind, Rect r, std::string action, Id control, Rect clear) {
    for (const Axis axis : all_of<Axis>()) {
        if (group_of(axis) != kind) continue;
        ui.names(
            {static_cast<int>(axis), r, clear.h > 0 ? clear : r, std::move(action), control, ui.layer()});
        return;
    }
}

}  // namespace pentamesh::ui
