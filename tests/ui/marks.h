// A picture is a list of marks that a person can read: a rectangle, a line, a text, each with its place and
// its look. A golden file keeps the marks of many pictures, and a test holds new ones
// against them.
//
// Places do not hang on a font's version where all three faces are the monospaced one (mark_fonts): its
// characters are 0.6 em wide in every version, and a text's place is the corner of its line box.
#pragma once

#include "render/sink.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

struct DrawnMark {
    std::string kind;        // "rect", "text"
    std::vector<double> at;  // logical pixels
    std::string look;        // colour, then width, dash, size of type, words: equal or another mark
    bool operator==(const DrawnMark&) const = default;
};

// Keeps the marks of what is drawn on it and is seen: what lies beyond the clip is left out, and a rectangle
// ends at the clip.
class MarkPage final : public Page::Impl {
  public:
    MarkPage(std::shared_ptr<const TypeFaces> faces, std::vector<DrawnMark>& marks)
        : faces_(std::move(faces)), marks_(marks) {}
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
    void begin_inset(Vec2 corner, float scale) override;
    void end_inset() override;
    std::string finish() override { return {}; }
    [[nodiscard]] const TypeFaces& faces() const override { return *faces_; }

  private:
    std::shared_ptr<const TypeFaces> faces_;
    std::vector<DrawnMark>& marks_;
    std::vector<Rect> clips_;
    int many_ = 0;  // marks of one look before

    void glyphs(std::span<const PlacedGlyph>, float, Color) override {}  // a text is one mark
    void fill_rects(std::span<const Rect>, Color) override {}            // and so are cells and a pattern
    void stroke_pairs(std::span<const Vec2>, Color, float) override {}
    [[nodiscard]] bool hidden(Rect r) const;
    [[nodiscard]] Rect seen(Rect r) const;
    bool is_one_of_many(const DrawnMark& mark);
    void points(std::string_view kind, std::span<const Vec2> all, std::string look);
};

// Returns the monospaced font for all three faces.
[[nodiscard]] FontFiles mark_fonts();

// Returns a line a mark, places rounded to whole pixels. Equal marks at one distance are one line:
// "rect x4 10 20 8 8 by 12 0 0 0 #a0a0a0". Several that come in turns stand below "repeat 4 2": so many
// times, so many lines.
[[nodiscard]] std::vector<std::string> lines_of_marks(const std::vector<DrawnMark>& marks);
// Reads such lines. Throws std::runtime_error for another line.
[[nodiscard]] std::vector<DrawnMark> marks_of_lines(const std::vector<std::string>& lines);
// Returns "- " lines of golden marks that are missing and "+ " lines of new ones, in drawing order. Kind,
// look and order must be equal, places within three quarters of a pixel: half a pixel is the rounding.
[[nodiscard]] std::vector<std::string> difference_of_marks(const std::vector<DrawnMark>& golden,
                                                           const std::vector<DrawnMark>& now);

// Returns the marks that are more than those before, in drawing order.
[[nodiscard]] std::vector<DrawnMark> marks_beyond_those(const std::vector<DrawnMark>& before,
                                                        std::vector<DrawnMark> now);

// Keeps the marks of pictures by name in tests/golden/marks/NAME.txt.
class GoldenMarks {
  public:
    explicit GoldenMarks(std::string_view name);
    // Fails naming file and picture where marks differ; in a refresh (PENTAMESH_REFRESH_MARKS=1) takes them.
    void check(const std::string& picture, const std::vector<DrawnMark>& marks);
    // Fails if the file has a picture that was not checked; in a refresh writes the file.
    void finish();

  private:
    struct Picture {
        std::string name;
        std::vector<std::string> lines;
    };
    [[nodiscard]] std::vector<std::string> lines_of(const Picture& picture) const;

    std::string file_, name_;
    std::vector<Picture> golden_, now_;
    int printed_ = 0;  // lines
    bool refresh_, changed_ = false;
};

}  // namespace pentamesh::ui
