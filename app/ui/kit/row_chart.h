// Rows of words and bars: each column is as wide as its words or has a share of what they leave, and a column
// of bars has one scale. A screen and a sheet of paper show the same; who draws says with which type.
//   RowChart chart{.columns = {{}, {.share = 1, .high = step_s}, {.align = Align::right}}};
//   chart.rows.push_back({.cells = {{"compute"}, {.marks = {{0, 1.2, paint}}}, {"1.2 s"}}});
#pragma once

#include "app/ui/kit/theme.h"
#include "render/canvas.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

class Ui;

// Says on what, and with which type, something is drawn.
struct Ink {
    Canvas& canvas;
    const Theme& theme;
    TextStyle plain, strong, faint;
    float line = 18;
    // Writes in a box; a sheet counts what was cut there, a window shows the whole words in a tooltip.
    std::function<void(Rect, std::string_view, const TextStyle&, Align)> label{};
    bool paper = false;  // it may be printed in grey: hatches distinguish axes too
};

// Returns what draws in the type of the window's rows.
[[nodiscard]] Ink ink_of(Ui& ui);

// Says that another style is meant: the row's, or plain.
inline constexpr TextStyle kNoStyle{Face::regular, 0, {}, 0};

struct RowChart {
    using Paint = std::function<void(Rect)>;
    struct Mark {
        double from = 0, to = 0;  // on the column's scale
        Paint paint{};
    };
    struct Cell {
        std::string words{};
        std::vector<Mark> marks{};
        TextStyle style = kNoStyle;  // none: the row's
        bool wraps = false;
    };
    // A line through all rows at a value.
    struct Rule {
        double at = 0;
        Color color{};
        float width = 1;
        Dash dash = Dash::solid;
        bool below = false;  // the marks
    };
    struct Column {
        std::string head{};
        Align align = Align::left;
        float share = 0;               // of what words leave; 0: as wide as its words
        float most = 1, width = 0;     // the most of the chart's width; a given width
        float gap = 0;                 // before it
        double low = 0, high = 0;      // the scale, which grows to hold its marks
        float bar = 0.64f, least = 1;  // height of a bar in rows, its least length
        std::vector<Rule> rules{};
    };
    struct Row {
        std::vector<Cell> cells;
        TextStyle style = kNoStyle;  // none: plain
        Paint under{};               // draws below the cells
    };
    std::vector<Column> columns;
    std::vector<Row> rows{};
    TextStyle measured = kNoStyle;  // words have room for this style; none: for their own
};

// Holds where the columns of a chart stand; their scales hold all marks.
struct PlacedChart {
    std::vector<Rect> column;
    [[nodiscard]] Rect cell(std::size_t k, Rect row) const {
        return {column[k].x, row.y, column[k].w, row.h};
    }
    [[nodiscard]] float x(const RowChart& of, std::size_t k, double value) const {
        const RowChart::Column& c = of.columns[k];
        return column[k].x + static_cast<float>((value - c.low) / (c.high - c.low)) * column[k].w;
    }
};
[[nodiscard]] PlacedChart place_chart(const Ink& ink, Rect room, RowChart& chart);
// Returns the least height of a row: of one line, or of its wrapped words.
[[nodiscard]] float chart_row_height(const Ink& ink, const PlacedChart& at, const RowChart::Row& row);
void draw_chart_head(const Ink& ink, const PlacedChart& at, Rect row, const RowChart& chart);
void draw_chart_row(const Ink& ink, const PlacedChart& at, Rect row, const RowChart& chart, std::size_t i);
[[nodiscard]] inline float chart_height(const Ink& ink, const RowChart& chart) {
    return ink.line * 1.15f * static_cast<float>(chart.rows.size());
}
// Draws all rows, each as high as the others.
void draw_chart(const Ink& ink, Rect room, RowChart& chart);

// Names marks one after another, in as many lines as they need; those below the room are left out. With
// `draw` false it only counts the lines.
struct LegendLines {
    const Ink& ink;
    Rect room;
    Vec2 mark{10, 10};
    float apart = 16;
    bool draw = true;
    int lines = 1;
    float end = 0;  // of the last line
    // Returns the place of the next entry of this width; nullopt where nothing is to be drawn.
    std::optional<Rect> next(float width);
    void item(std::string_view name, const RowChart::Paint& paint);
};

}  // namespace pentamesh::ui
