#include "render/fonts.h"

#include "core/error.h"
#include "render/imgui_compat.h"
#include "render/surface_state.h"

#include <algorithm>
#include <cmath>
#include <imgui.h>

namespace pentamesh {

namespace {

// Latin-1, the Greek of formulas, punctuation, arrows, operators and the few shapes that the window draws as
// text.
constexpr ImWchar kRanges[] = {
    0x0020, 0x00ff, 0x0131, 0x0131, 0x0394, 0x0394, 0x03a3, 0x03a3, 0x03a6, 0x03a6, 0x03b1, 0x03b2, 0x03bc,
    0x03bc, 0x03c0, 0x03c0, 0x03c3, 0x03c3, 0x03c6, 0x03c6, 0x2010, 0x2015, 0x2018, 0x201d, 0x2022, 0x2022,
    0x2026, 0x2026, 0x2032, 0x2032, 0x2070, 0x2070, 0x2074, 0x2079, 0x2080, 0x2089, 0x2190, 0x2194, 0x21d2,
    0x21d2, 0x2211, 0x2212, 0x221a, 0x221e, 0x2248, 0x2248, 0x2260, 0x2260, 0x2264, 0x2265, 0x22c5, 0x22c5,
    0x2303, 0x2303, 0x25a0, 0x25a1, 0x25b2, 0x25b8, 0x25be, 0x25be, 0x25cf, 0x25cf, 0x2713, 0x2713, 0};

// Dear ImGui's size is ascent plus descent, a type size is the em: their ratio in each family's own tables.
constexpr std::array<float, kFaceCount> kHeightOfEm{1.21f, 1.21f, 1.32f};

}  // namespace

void build_fonts(const FontFiles& files, float scale) {
    SurfaceState& state = surface_state();
    state.scale = scale;
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
    rasterise_with_freetype();
    const std::array<const std::filesystem::path*, kFaceCount> paths{&files.regular, &files.semibold,
                                                                     &files.mono};
    for (std::size_t face = 0; face < paths.size(); ++face)
        for (std::size_t i = 0; i < kFontSizes.size(); ++i) {
            const bool mono_skips =
                face == 2 && kFontSizes[i] != 11.5f && kFontSizes[i] != 13 && kFontSizes[i] != 16;
            if (mono_skips) continue;
            const float pixels = std::max(4.0f, std::round(kFontSizes[i] * scale * kHeightOfEm[face]));
            ImFontConfig config;
            config.OversampleH = config.OversampleV = 1;
            config.PixelSnapH = true;
            ImFont* font = atlas.AddFontFromFileTTF(paths[face]->string().c_str(), pixels, &config, kRanges);
            if (font == nullptr)
                throw Error(ErrorKind::io, paths[face]->string(), "",
                            "the font could not be read; install it again");
            state.font[face][i] = font;
        }
    if (!rasterise())
        throw Error(ErrorKind::io, files.regular.string(), "", "the fonts could not be rasterised");
    ImGui::GetIO().FontDefault = state.font[0][3];
}

void keep_figures_tabular() {
    for (auto& face : surface_state().font)
        for (ImFont* font : face)
            if (font != nullptr) make_tabular(*font);
}

FontAtSize font_at(Face face, float size) {
    const SurfaceState& state = surface_state();
    const auto& row = state.font[static_cast<std::size_t>(face)];
    std::size_t best = row.size();
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] != nullptr
            && (best == row.size() || std::abs(kFontSizes[i] - size) < std::abs(kFontSizes[best] - size)))
            best = i;
    FontAtSize out{row[best], font_height(*row[best])};
    if (kFontSizes[best] != size) out.pixels = std::round(out.pixels * size / kFontSizes[best]);
    return out;
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
