// The gallery: every widget of the kit in every state, in one picture.
#pragma once

#include "app/ui/kit/theme.h"
#include "render/surface.h"

#include <vector>

namespace pentamesh::ui {

struct GalleryPicture {
    Image image;
    std::vector<TextRun> runs;
};
[[nodiscard]] GalleryPicture draw_gallery(ThemeId theme);

}  // namespace pentamesh::ui
