#include "app/ui/review/paper.h"

#include <array>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, kPaperCount> kPaperNames{"16:9", "a4", "letter"};

Paper sheet_of_paper(Vec2 size) {
    Paper p;
    p.size = size;
    p.margin = 52;
    p.title = 22, p.head = 15, p.body = 12.5f, p.small = 11;
    return p;
}

}  // namespace

std::string_view name_of(PaperKind kind) {
    return kPaperNames[static_cast<std::size_t>(kind)];
}

std::optional<PaperKind> paper_named(std::string_view name) {
    for (int i = 0; i < kPaperCount; ++i)
        if (kPaperNames[static_cast<std::size_t>(i)] == name) return static_cast<PaperKind>(i);
    return std::nullopt;
}

Paper paper_of(PaperKind kind) {
    switch (kind) {
    case PaperKind::a4: return sheet_of_paper({793.7f, 1122.5f});  // 210 x 297 mm
    case PaperKind::letter: return sheet_of_paper({816, 1056});
    case PaperKind::slide: break;
    }
    return slide_of({1280, 720});
}

Paper slide_of(Vec2 size) {
    const float k = size.x / 1280;
    Paper p;
    p.size = size;
    p.margin = 40 * k;
    p.wide = true;
    p.title = 28 * k, p.head = 21 * k, p.body = p.small = 18.67f * k;
    return p;
}

}  // namespace pentamesh::ui
