// Draws into a Dear ImGui draw list. One texture has the white texel, the line widths, the patterns and the
// glyphs. So a list is one draw call as long as that texture has room.
#pragma once

#include "render/sink.h"

namespace pentamesh {

class ScreenSink final : public Sink {
  public:
    // `scale` is the number of physical pixels per logical pixel.
    ScreenSink(ImDrawList& list, float scale) : list_(list), scale_(scale) {}
    void rect(Rect r, Color fill, float radius) override;
    void frame(Rect r, Color color, float width, float radius) override;
    void pattern(Rect r, Pattern pattern, Color color) override;
    void stroke(std::span<const Vec2> points, Color color, float width, bool closed, Dash dash) override;
    void polygon(std::span<const Vec2> convex, Color fill) override;
    void circle(Vec2 center, float radius, Color fill) override;
    void text(Vec2 pen, std::string_view utf8, const TextStyle& style) override;
    void cells(const CellGrid& grid) override;
    void push_clip(Rect r) override;
    void pop_clip() override;

  private:
    [[nodiscard]] float snap(float logical) const;
    [[nodiscard]] Rect pixels(Rect r) const;  // on whole pixels, never thinner than one

    ImDrawList& list_;
    float scale_;
};

}  // namespace pentamesh
