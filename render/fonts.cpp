#include "render/fonts.h"

#include "core/base/error.h"
#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <ft2build.h>
#include <imgui.h>

#include FT_FREETYPE_H

namespace pentamesh {

namespace {

constexpr std::array<float, 5> kSizes{11.5f, 12, 13, 16, 20};

// These characters can be typed: Latin-1, Greek, punctuation, arrows, operators.
constexpr std::array<ImWchar, 11> kRanges{0x0020, 0x00ff, 0x0370, 0x03ff, 0x2010, 0x2026,
                                          0x2190, 0x2194, 0x2200, 0x2265, 0};

// Dear ImGui's size is ascent plus descent, while a type size is the em.
float height_per_em(const TypeFaces& faces, Face face) {
    const FT_FaceRec_& f = *faces.freetype(face);
    return static_cast<float>(f.ascender - f.descender) / static_cast<float>(f.units_per_EM);
}

}  // namespace

void build_fonts(const FontFiles& files, float scale) {
    SurfaceState& state = surface_state();
    state.scale = scale;
    state.glyphs.reset();
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    begin_fonts(atlas);
    atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
    state.fonts.clear();
    for (const Face face : {Face::regular, Face::mono})
        for (const float size : kSizes) {
            const auto& path = face == Face::regular ? files.regular : files.mono;
            ImFontConfig config;
            config.OversampleH = config.OversampleV = 1;
            config.PixelSnapH = true;
            const float pixels = std::max(4.0f, std::round(size * scale * height_per_em(state.faces, face)));
            ImFont* font = atlas.AddFontFromFileTTF(path.string().c_str(), pixels, &config, kRanges.data());
            if (font == nullptr)
                throw Error(ErrorKind::io, path.string(), "", "the font could not be read; install it again");
            state.fonts.push_back({face, size, font});
        }
    ImGui::GetIO().FontDefault = font_at(Face::regular, 13);
}

ImFont* font_at(Face face, float size) {
    const bool mono = face == Face::mono;
    const FieldFont* best = nullptr;
    for (const FieldFont& f : surface_state().fonts)
        if ((f.face == Face::mono) == mono
            && (best == nullptr || std::abs(f.size - size) < std::abs(best->size - size)))
            best = &f;
    return best != nullptr ? best->font : nullptr;
}

FontFiles find_fonts(const std::filesystem::path& data_folder) {
    struct Wanted {
        const char* name;
        const char* package;
        std::filesystem::path* into;
    };
    FontFiles files;
    const std::array<Wanted, 3> wanted{{{"Inter-Regular.otf", "fonts-inter", &files.regular},
                                        {"Inter-SemiBold.otf", "fonts-inter", &files.semibold},
                                        {"JetBrainsMono-Regular.ttf", "fonts-jetbrains-mono", &files.mono}}};
    const std::array<std::filesystem::path, 6> folders{data_folder / "fonts",
                                                       "/usr/share/fonts/opentype/inter",
                                                       "/usr/share/fonts/truetype/jetbrains-mono",
                                                       "/usr/share/fonts/truetype/inter",
                                                       "/usr/share/fonts/inter-fonts",
                                                       "/Library/Fonts"};
    for (const Wanted& w : wanted) {
        for (const auto& folder : folders) {
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(folder / w.name, ignored)) continue;
            *w.into = folder / w.name;
            break;
        }
        if (w.into->empty())
            throw Error(ErrorKind::io, w.name, "",
                        "this font is not installed; install the package " + std::string(w.package)
                            + " or put the file into " + (data_folder / "fonts").string());
    }
    return files;
}

}  // namespace pentamesh
