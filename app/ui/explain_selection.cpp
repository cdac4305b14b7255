#include "app/ui/explain_selection.h"

namespace pentamesh::ui {

Explanation explain_selection(const Scene& scene) {
    (void)scene;
    return {};
}

}  // namespace pentamesh::ui
