// Pages that are filled from the top: headings, sentences, figures, and tables that go on on the next page.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/theme.h"
#include "app/ui/review/paper.h"
#include "render/canvas.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Where pages go. `turn`: the next page, from now on drawn on by what it returns.
struct SheetTarget {
    std::function<Canvas(const std::string& section)> turn;
    int pages = 0;  // that there will be; 0: not known yet
};

class ReviewSheet {
  public:
    // `foot`: what stands at the left of each page's foot. `banner`: a sentence over every page; empty: none.
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

    // Where the page's corner lies on its canvas; 0, 0 unless it is said.
    void lay_at(Vec2 origin) { origin_ = origin; }
    // So many pages lie before the next one.
    void go_on_after(int pages) { page_ = pages; }
    // A new page of that name.
    void begin(std::string section);
    // A page without title and foot: for a figure by itself.
    void begin_bare();
    // What follows is set in so many columns, each filled before the next one and the next page; 1: as wide
    // as the page again, below them.
    void columns(int count);
    // A heading of one line and sentences below it, in one piece where a column has room for it.
    void entry(std::string_view head, std::string_view text);
    // At least so much is free, or a new column or page begins: "Memory, continued".
    void need(float height);
    // A strip as wide as the page.
    [[nodiscard]] Rect take(float height);
    void gap(float lines = 0.5f);
    // A heading that has `behind` of what follows on its own page; the page's title where each has its own.
    void head(std::string_view words, float behind = 0);
    void words(std::string_view words, const TextStyle& style);
    void words(std::string_view words_) { words(words_, plain()); }
    [[nodiscard]] float words_height(std::string_view words, float width) const;
    // Whole: what does not fit continues on the next page under its head; too many columns continue below.
    void table(const Table& exact);
    // What a heading above it is to have behind it: the height of its head and first rows, of a short one
    // all.
    [[nodiscard]] float table_start(const Table& exact) const;
    // The same in a part of the page's width, without a new page; returns its height.
    float table_in(Rect room, const Table& exact, bool draw = true);

    // What a reader must be able to see: no text of the review is cut. How many pieces of text did not fit.
    [[nodiscard]] int cut() const { return cut_; }
    // In a box, centred in its height. Counted where it does not fit.
    void label(Rect box, std::string_view words, const TextStyle& style, Align align = Align::left);

  private:
    SheetTarget target_;
    const Paper& paper_;
    const Theme& theme_;
    std::string plan_title_, foot_, banner_, section_;
    std::string heading_;  // that the page has as its title; empty: the section's name
    Canvas canvas_;
    Vec2 origin_{};
    Rect room_{};
    float whole_ = 0;
    int page_ = 0, cut_ = 0;
    int columns_ = 1, column_ = 0;
    Rect body_{};        // of the page, what the columns share
    float deepest_ = 0;  // where the longest column of this page ends

    // Columns of a table that stand beside each other, and where.
    struct Part {
        std::vector<std::size_t> column{};
        std::vector<float> x{}, w{};
        float size = 0;  // of type
    };
    using Lines = std::vector<std::vector<std::string_view>>;  // of each cell of a row
    void turn(bool continued);
    void turn_page(bool continued);
    void next_column();
    [[nodiscard]] std::vector<Part> parts_of(const Table& t, float width) const;
    [[nodiscard]] std::vector<Part> parts_with(const Table& t, float width, float size, float gap) const;
    [[nodiscard]] Lines lines_of(const Part& part, const std::vector<std::string>& cells,
                                 const TextStyle& style) const;
    [[nodiscard]] float height_of(std::size_t lines) const;
    [[nodiscard]] float table_head(const Table& t, const Part& part, Rect room, bool draw);
    void draw_cells(const Table& t, const Part& part, Rect row, const Lines& lines, const TextStyle& style,
                    std::size_t first, std::size_t count);
    void draw_part(const Table& t, const Part& part);
};

}  // namespace pentamesh::ui
