// The papers of a review say how large a page and its type are.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/kit/theme.h"
#include "render/canvas.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

enum class PaperKind : std::uint8_t { slide, a4, letter };
inline constexpr int kPaperCount = 3;
[[nodiscard]] std::string_view name_of(PaperKind kind);  // "16:9", "a4", "letter"
[[nodiscard]] std::optional<PaperKind> paper_named(std::string_view name);

// Sizes are logical pixels, 96 to the inch. Nothing on the page is smaller than `small`.
struct Paper {
    Vec2 size{};
    float margin = 40;
    bool wide = false;        // a slide: a row of figures is as high as the page
    bool flows = false;       // of a slide: a part begins on a page that is less than half full
    bool one_a_page = false;  // each heading begins a page: one figure or table on each, as large as it goes
    float title = 28, head = 21, body = 18.67f, small = 18.67f;  // sizes of type
    [[nodiscard]] float line() const { return body * 1.3f; }
};
// Returns a slide of 13.33 x 7.5 inches with type of at least 14 pt, for a talk; or A4 or Letter upright, for
// reading.
[[nodiscard]] Paper paper_of(PaperKind kind);
// Returns a slide of another size, with type in proportion to its width.
[[nodiscard]] Paper slide_of(Vec2 size);
// Returns a slide with type for a reader, or for a wall of which it is all: 2 % of its height.
[[nodiscard]] Paper for_reading(Paper slide);

// Fills pages from the top: headings, sentences, figures, and tables that continue on the next page.

// Says what stands where in the document: for contents, outlines and links.
struct SheetMark {
    enum class Kind : std::uint8_t { section, heading, place, link } kind = Kind::section;
    std::string words;  // of a place, its name; of a link, the name of the place that it leads to
    int page = 1;
    Rect box{};
};

// Receives the pages. `turn` begins the next page and returns its canvas.
struct SheetTarget {
    std::function<Canvas(const std::string& section)> turn;
    int pages = 0;                                       // the number of pages; 0: not known yet
    std::function<void(const SheetMark&)> mark{};        // gets what stands where, page after page
    std::function<void(std::string_view name)> piece{};  // begins a piece as Page does; "" ends the last one
    const std::vector<float>* spare = nullptr;           // of a sheet that was filled before: its spare()
};

// Begins such a piece on a page, or ends the last one.
void put_piece(Page& page, std::string_view name);

// Returns the table as it is read on paper: figures rounded, arrows, minus signs.
[[nodiscard]] Table printed(const Table& exact);

class ReviewSheet {
  public:
    // `foot` is the text at the left of each page's foot. `banner` is a sentence over every page; it may be
    // empty.
    ReviewSheet(SheetTarget target, const Paper& paper, const Theme& theme, std::string plan_title,
                std::string foot, std::string banner);

    [[nodiscard]] Canvas& canvas() { return canvas_; }
    [[nodiscard]] const Theme& theme() const { return theme_; }
    [[nodiscard]] const Paper& paper() const { return paper_; }
    [[nodiscard]] int page() const { return page_; }
    [[nodiscard]] float width() const { return room_.w; }
    [[nodiscard]] float left() const { return room_.h; }  // height free on this page
    [[nodiscard]] float whole() const { return whole_; }  // height free on a page with nothing on it yet

    [[nodiscard]] TextStyle text(Color color) const { return {Face::regular, paper_.body, color, 0}; }
    [[nodiscard]] TextStyle plain() const { return text(theme_.text); }
    [[nodiscard]] TextStyle faint() const { return text(theme_.secondary); }
    [[nodiscard]] TextStyle strong() const { return {Face::semibold, paper_.body, theme_.text, 0}; }

    // Sets the place of the page's corner on its canvas; it is 0, 0 at first.
    void lay_at(Vec2 origin) { origin_ = origin; }
    // Sets the number of pages before the next one.
    void go_on_after(int pages) { page_ = pages; }
    // Begins a new page of that name, with a line under it: empty, the plan's title.
    void begin(std::string section, std::string under = "");
    // Begins a part of the document: a new page, or on upright paper what is left of this one, where that is
    // a good part of a page and has room for `behind` below the name.
    void section(std::string name, float behind = 0);
    // Begins a page without title and foot, for a figure by itself.
    void begin_bare();
    // Sets all that follows in so many columns, each filled before the next one and the next page; 1 means as
    // wide as the page again, below them.
    void columns(int count);
    // Sets what follows on this page in a share of its width, at the left; 1 is all of it again.
    void narrow(float share);
    // Returns what a narrow page has to the right, down to its lower edge.
    [[nodiscard]] Rect beside() const;
    // Writes a heading of one line and sentences below it, in one piece where a column has room for it. Both
    // lead to a place, where one is given.
    void entry(std::string_view head, std::string_view text, std::string_view to);
    // Gives what follows a name that links lead to.
    void place(std::string_view name) { mark(SheetMark::Kind::place, name, {room_.x, room_.y, room_.w, 1}); }
    // Makes a part of the page lead to the place of that name.
    void link(Rect box, std::string_view to) { mark(SheetMark::Kind::link, to, box); }
    // Begins a new column or page, "Memory, continued", unless so much height is free.
    void need(float height);
    // Returns a strip as wide as the page.
    [[nodiscard]] Rect take(float height);
    // Returns such a strip for a figure that may be as high as `most`: the figures of a page get what would
    // stay empty below them, the first one first, as far as a sheet that was filled before says so.
    [[nodiscard]] Rect take_grown(float height, float most);
    // Returns what stayed empty on each page that has such a figure.
    [[nodiscard]] std::vector<float> spare() const;
    void gap(float lines = 0.5f);
    // Writes a heading that is kept on one page with `behind` of the content after it; it is the page's title
    // where each has its own.
    void head(std::string_view words, float behind = 0);
    void words(std::string_view words, const TextStyle& style);
    void words(std::string_view words_) { words(words_, plain()); }
    [[nodiscard]] float words_height(std::string_view words, float width) const;
    // Writes the whole table: further rows continue on the next page under its head; too many columns
    // continue below.
    void table(const Table& exact);
    // Returns the height that a heading above it keeps together with it: the height of its head and first
    // rows, or all of a short table.
    [[nodiscard]] float table_start(const Table& exact) const;
    // Writes the same in a part of the page's width, without a new page; returns its height.
    float table_in(Rect room, const Table& exact, bool draw = true);

    // Returns how many pieces of text did not fit: no text of a review may be cut.
    [[nodiscard]] int cut() const { return cut_; }
    // Writes in a box, centred in its height. A text that does not fit is counted.
    void label(Rect box, std::string_view words, const TextStyle& style, Align align = Align::left);
    // Returns what draws in the page's type.
    [[nodiscard]] Ink ink() {
        return {
            canvas_,
            theme_,
            plain(),
            strong(),
            faint(),
            paper_.line(),
            [this](Rect r, std::string_view words, const TextStyle& s, Align a) { label(r, words, s, a); },
            true};
    }

  private:
    // All that is written while it lives is a piece of the document; pieces end with a page and go on.
    class Piece {
      public:
        Piece(ReviewSheet& sheet, std::string_view name) : sheet_(sheet) { sheet_.begin_piece(name); }
        ~Piece() { sheet_.end_piece(); }
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;

      private:
        ReviewSheet& sheet_;
    };
    void begin_piece(std::string_view name);
    void end_piece();
    void mark(SheetMark::Kind kind, std::string_view words, Rect box) {
        if (target_.mark) target_.mark({kind, std::string(words), page_, box});
    }

    SheetTarget target_;
    std::vector<std::string> pieces_{};  // that are open
    const Paper& paper_;
    const Theme& theme_;
    std::string plan_title_, foot_, banner_, section_;
    std::string heading_;  // the page's title; empty: the section's name
    std::string under_;    // below it; empty: the plan's title
    Canvas canvas_;
    Vec2 origin_{};
    Rect room_{};
    float whole_ = 0;
    int page_ = 0, cut_ = 0;
    int columns_ = 1, column_ = 0;
    Rect body_{};        // of the page, what the columns share
    float deepest_ = 0;  // the lower end of this page's longest column
    int grew_on_ = 0;    // the last page with a figure that may grow
    float grown_ = 0;    // by how much that page's figures have grown
    std::vector<float> spare_{};

    // Holds columns of a table that are side by side, and their places.
    struct Part {
        std::vector<std::size_t> column{};
        std::vector<float> x{}, w{};
        float size = 0;  // of type
        float pad = 0;   // a row is higher than its lines by this
    };
    using Lines = std::vector<std::vector<std::string_view>>;  // of each cell of a row
    void note_spare(std::vector<float>& spare) const;
    void turn(bool continued);
    void turn_page(bool continued);
    void next_column();
    // `paged` is how much of this page's height is not for the table; nullopt: it does not go on on another.
    [[nodiscard]] std::vector<Part> parts_of(const Table& t, float width, std::optional<float> paged) const;
    [[nodiscard]] int turns_of(const Table& t, const Part& part, float taken) const;
    [[nodiscard]] float head_height(const Table& t, const Part& part) const;
    [[nodiscard]] float row_height(const Part& part, const Table::Row& cells) const;
    [[nodiscard]] std::vector<Part> parts_with(const Table& t, float width, float size, float gap,
                                               float pad) const;
    [[nodiscard]] Lines lines_of(const Part& part, const Table::Row& cells, const TextStyle& style) const;
    [[nodiscard]] float height_of(std::size_t lines, float pad) const;
    [[nodiscard]] float table_head(const Table& t, const Part& part, Rect room, bool draw);
    void draw_cells(const Table& t, const Part& part, Rect row, const Lines& lines, const TextStyle& style,
                    std::size_t first, std::size_t count);
    void draw_part(const Table& t, const Part& part);
};

}  // namespace pentamesh::ui
