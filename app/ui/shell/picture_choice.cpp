#include "app/ui/shell/picture_choice.h"

#include <charconv>
#include <cmath>

namespace pentamesh::ui {

std::optional<Vec2> picture_size_named(std::string_view text) {
    const auto within = [](int side, float least, float most) {
        return static_cast<float>(side) >= least && static_cast<float>(side) <= most;
    };
    int width = 0, height = 0;
    const char* end = text.data() + text.size();
    const auto w = std::from_chars(text.data(), end, width);
    if (w.ec != std::errc() || !within(width, kLeastPicture.x, kMostPicture.x)) return std::nullopt;
    const std::string_view rest(w.ptr, static_cast<std::size_t>(end - w.ptr));
    if (rest == "xauto") return Vec2{static_cast<float>(width), 0};
    if (!rest.starts_with('x')) return std::nullopt;
    const auto h = std::from_chars(w.ptr + 1, end, height);
    if (h.ec != std::errc() || h.ptr != end || !within(height, kLeastPicture.y, kMostPicture.y))
        return std::nullopt;
    return Vec2{static_cast<float>(width), static_cast<float>(height)};
}

std::string picture_limits_words() {
    return picture_size_words(kLeastPicture) + " to " + picture_size_words(kMostPicture);
}

std::string picture_size_words(Vec2 size) {
    const auto whole = [](float v) { return std::to_string(std::lround(v)); };
    return whole(size.x) + "x" + (size.y > 0 ? whole(size.y) : "auto");
}

std::string_view ending_of(PictureFile file) {
    return file == PictureFile::svg ? "svg" : file == PictureFile::pdf ? "pdf" : "png";
}

}  // namespace pentamesh::ui
