// A dialog asks how a picture of a view is to look and where it is to go. A host gets these answers.
#pragma once

#include "app/ui/kit/theme.h"
#include "render/canvas.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Type may be drawn so much larger in a picture of the same size.
inline constexpr float kLeastType = 0.5f, kMostType = 4;
inline constexpr Vec2 kLeastPicture{200, 150}, kMostPicture{20000, 20000};
[[nodiscard]] std::string picture_limits_words();  // "200x150 to 20000x20000"

// "1600x900" or "1600xauto", in logical pixels; a height of 0 is "auto": as high as the content takes.
// nullopt: not written so, or a side is out of reach.
[[nodiscard]] std::optional<Vec2> picture_size_named(std::string_view text);
[[nodiscard]] std::string picture_size_words(Vec2 size);  // "1600x900"

enum class PictureFile : std::uint8_t { png, svg, pdf };
[[nodiscard]] std::string_view ending_of(PictureFile file);  // "png"

struct PictureChoice {
    Vec2 size{1600, 900};
    float scale = 2;                 // pixels of a PNG per logical pixel
    float text = 1;                  // how large type is: a picture of the same size shows less
    std::optional<ThemeId> theme{};  // none: the window's
    bool title = true;               // of the plan, over the view
    bool caption = true;             // the line of model, cluster and layout
    PictureFile file = PictureFile::png;
    bool operator==(const PictureChoice&) const = default;
};

struct PictureOrder {
    enum class Use : std::uint8_t { file, clipboard, preview };
    Use use = Use::file;
    std::string view;  // "dashboard" or a view's name
    PictureChoice choice{};
    std::filesystem::path path{};  // of a file; its ending says which kind
};

}  // namespace pentamesh::ui
