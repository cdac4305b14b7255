// The gallery: every widget of the kit in every state, in one picture.
#pragma once

#include "app/ui/kit/theme.h"
#include "render/surface.h"
#include "tests/ui/marks.h"

#include <vector>

namespace pentamesh::ui {

struct GalleryPicture {
    Image image;
    std::vector<DrawnMark> marks;  // of each tile, behind a mark "tile" of its place
};
[[nodiscard]] GalleryPicture draw_gallery(ThemeId theme);

}  // namespace pentamesh::ui
