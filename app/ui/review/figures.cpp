// Draws what a figure becomes, one choice after another. A row has the choice's name and reason, below them
// its bar on the scale that all rows share.
#include "app/ui/review/figures.h"

#include "app/tables/decide_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/pipeline/timeline.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kLeastRow = 2.1f, kHead = 1.25f;  // in lines
constexpr double kBeyond = 0.05;                  // of the scale, left and right of the values

// Maps the values to the page's width.
struct CourseScale {
    Rect plot;
    double low = 0, high = 1;
    bool logarithmic = false;
    [[nodiscard]] double place(double v) const { return logarithmic ? std::log(std::max(v, 1e-300)) : v; }
    [[nodiscard]] float x(double v) const {
        return plot.x + static_cast<float>((place(v) - low) / (high - low)) * plot.w;
    }
};

CourseScale scale_of(Rect plot, const Course& course) {
    CourseScale out{plot, 0, 1, course.logarithmic};
    double low = out.place(course.rows.front().to), high = low;
    const auto hold = [&](double v) {
        low = std::min(low, out.place(v)), high = std::max(high, out.place(v));
    };
    for (const Course::Row& r : course.rows) hold(r.to);
    if (course.limit) hold(*course.limit);
    const double beyond = std::max((high - low) * kBeyond, 1e-9 * std::abs(high));
    out.low = low - beyond, out.high = high + beyond;
    return out;
}

// Writes the name, the reason behind it where it has room, and draws the bar below them.
void draw_choice(ReviewSheet& sheet, Rect row, const Course::Row& r, double from, const CourseScale& scale,
                 std::optional<double> limit) {
    Canvas& c = sheet.canvas();
    const Theme& t = sheet.theme();
    Rect words = row.cut_top(std::min(row.h * 0.5f, sheet.paper().line() * 1.1f));
    sheet.label(words.cut_left(c.text_width(r.name, sheet.strong()) + sheet.paper().body), r.name,
                sheet.strong());
    if (c.text_width(r.why, sheet.faint()) <= words.w) sheet.label(words, r.why, sheet.faint());
    const float high = std::min(row.h * 0.7f, sheet.paper().line() * 1.2f), y = row.y + high / 2;
    const float x0 = std::min(scale.x(from), scale.x(r.to)), x1 = std::max(scale.x(from), scale.x(r.to));
    c.line({scale.plot.x, y}, {scale.plot.right(), y}, t.hairline, 1);
    if (x1 > x0) c.rect({x0, y - high / 2, x1 - x0, high}, r.color);
    if (limit) {  // it does not cross the words
        const float x = scale.x(*limit);
        c.line({x, row.y}, {x, row.y + high}, t.bad, 1.5f, Dash::dashed);
    }
    c.circle({scale.x(r.to), y}, high * 0.32f, t.text);
}

}  // namespace

float course_height(const ReviewSheet& sheet, const Course& course) {
    return sheet.paper().line() * (kHead + kLeastRow * static_cast<float>(course.rows.size()));
}

void draw_course(ReviewSheet& sheet, Rect room, const Course& course) {
    Canvas& c = sheet.canvas();
    std::array<float, 2> wide{};
    for (std::size_t k = 0; k < wide.size(); ++k) {
        wide[k] = c.text_width(course.heads[k + 1], sheet.faint());
        for (const Course::Row& r : course.rows)
            wide[k] = std::max(wide[k], c.text_width(r.figures[k], sheet.strong()));
        wide[k] += sheet.paper().body * 1.4f;
    }
    const auto columns = [&](Rect row) {
        const Rect last = row.cut_right(wide[1]), before = row.cut_right(wide[0]);
        return std::array<Rect, 3>{row, before, last};
    };
    Rect head = room.cut_top(sheet.paper().line() * kHead);
    head.h = sheet.paper().line();
    const std::array<Rect, 3> heads = columns(head);
    for (std::size_t k = 0; k < heads.size(); ++k)
        sheet.label(heads[k], course.heads[k], sheet.faint(), k == 0 ? Align::left : Align::right);
    Rect plot = room;
    plot.cut_right(wide[0] + wide[1]);
    const CourseScale scale = scale_of(plot, course);
    if (course.limit) {
        const float x = scale.x(*course.limit);
        TextStyle style = sheet.faint();
        style.color = sheet.theme().bad;
        const float w = c.text_width(course.limit_words, style) + 2;
        // The head of the names stands at the left.
        const float first = plot.x + c.text_width(course.heads[0], sheet.faint()) + sheet.paper().body;
        const float at = std::clamp(x - w / 2, first, std::max(first, plot.right() - w));
        sheet.label({at, head.y, w, head.h}, course.limit_words, style);
    }
    const float row_h = room.h / static_cast<float>(course.rows.size());
    double from = course.rows.front().to;
    for (const Course::Row& r : course.rows) {
        const Rect row = room.cut_top(row_h);
        const std::array<Rect, 3> cells = columns(row);
        draw_choice(sheet, cells[0], r, from, scale, course.limit);
        TextStyle last = sheet.strong();
        last.color = r.ink;
        sheet.label(cells[1], r.figures[0], sheet.plain(), Align::right);
        sheet.label(cells[2], r.figures[1], last, Align::right);
        from = r.to;
    }
}

namespace {

constexpr int kMostRowsAlone = 20;  // more stages stand in two columns

struct BarFrame {
    double bytes = 1;  // the bars' width stands for so many bytes
    float label = 0, total = 0;
};

// Fills with the category's colour and a texture of its own over it, which distinguishes it in grey print.
void fill_category(ReviewSheet& sheet, Rect r, int category) {
    static constexpr std::array<Pattern, kMemoryCategoryCount> kTexture{
        Pattern::solid, Pattern::hatched, Pattern::dotted, Pattern::solid, Pattern::cross_hatched};
    const auto k = static_cast<std::size_t>(category);
    const Theme& t = sheet.theme();
    if (category == static_cast<int>(MemoryCategory::buffers)) {
        sheet.canvas().pattern(r, kTexture[k], t.secondary.alpha(0.55f));
        return;
    }
    sheet.canvas().rect(r, t.memory[k]);
    if (kTexture[k] != Pattern::solid)
        sheet.canvas().pattern(r, kTexture[k], ink_on(t.memory[k]).alpha(0.3f));
}

// Buffers have their figure in the table: a whisker lies over them here.
void fill_segment(ReviewSheet& sheet, Rect bar, int category, double bytes) {
    Canvas& c = sheet.canvas();
    fill_category(sheet, bar, category);
    if (category == static_cast<int>(MemoryCategory::buffers)) return;
    const Color color = sheet.theme().memory[static_cast<std::size_t>(category)];
    const TextStyle style{Face::regular, sheet.paper().small, ink_on(color), 0};
    const std::string figure = memory_text(bytes, Zeros::kept);
    if (c.text_width(figure, style) + 8 <= bar.w && sheet.paper().small * 1.1f <= bar.h)
        sheet.label(bar, figure, style, Align::center);
}

// Draws one bar for stages that hold the same.
void draw_stage_bar(ReviewSheet& sheet, Rect row, const StageMemory& s, const std::string& name, double hbm,
                    const BarFrame& frame, bool peak) {
    const TextStyle style = peak ? sheet.strong() : sheet.plain();
    sheet.label(row.cut_left(frame.label), name, style, Align::left);
    sheet.label(row.cut_right(frame.total), memory_text(s.total(), Zeros::kept), style, Align::right);
    draw_memory_bar(sheet, row, s, hbm, frame.bytes);
}

void memory_legend(ReviewSheet& sheet, double hbm) {
    Canvas& c = sheet.canvas();
    const float mark = sheet.paper().small * 0.8f;
    const TextStyle style = sheet.faint();
    Rect row = sheet.take(sheet.paper().line() * 1.2f);
    const auto item = [&](const std::string& words, const std::function<void(Rect)>& draw) {
        const float w = mark + 8 + c.text_width(words, style) + sheet.paper().small * 1.2f;
        if (w > row.w + sheet.paper().small * 1.2f) row = sheet.take(sheet.paper().line() * 1.2f);
        Rect box = row.cut_left(w);
        draw({box.x, box.center().y - mark / 2, mark, mark});
        box.cut_left(mark + 8);
        sheet.label(box, words, style);
    };
    for (int k = 0; k < kMemoryCategoryCount; ++k)
        item(std::string(name_of(static_cast<MemoryCategory>(k))),
             [&](Rect r) { fill_category(sheet, r, k); });
    item("what buffers may take", [&](Rect r) {
        const float y = r.center().y;
        c.line({r.x, y}, {r.right(), y}, sheet.theme().text, 1.5f);
        for (const float x : {r.x, r.right()}) c.line({x, y - 3}, {x, y + 3}, sheet.theme().text, 1.5f);
    });
    item("a GPU has " + memory_text(hbm, Zeros::kept), [&](Rect r) {
        c.line({r.center().x, r.y}, {r.center().x, r.bottom()}, sheet.theme().bad, 1.5f, Dash::dashed);
    });
}

}  // namespace

void draw_memory_bar(ReviewSheet& sheet, Rect row, const StageMemory& s, double hbm, double whole) {
    Canvas& c = sheet.canvas();
    const float gap = std::max(1.0f, row.h * 0.08f);
    const auto x_of = [&](double bytes) { return row.x + static_cast<float>(bytes / whole) * (row.w - 8); };
    double at = 0;
    for (int k = 0; k < kMemoryCategoryCount; ++k) {
        const double bytes = bytes_of(s, static_cast<MemoryCategory>(k));
        const Rect bar{x_of(at), row.y + gap, x_of(at + bytes) - x_of(at), row.h - 2 * gap};
        at += bytes;
        if (bar.w > 0.2f) fill_segment(sheet, bar, k, bytes);
    }
    if (at > hbm) {
        const Rect over{x_of(hbm), row.y + gap, std::max(3.0f, x_of(at) - x_of(hbm)), row.h - 2 * gap};
        c.pattern(over, Pattern::hatched, sheet.theme().bad, sheet.theme().panel);
        c.frame(over, sheet.theme().bad, 1.2f, 0);
    }
    // A whisker shows the range of the buffers.
    const float y = row.center().y, low = x_of(s.least()), high = x_of(s.most());
    c.line({low, y}, {high, y}, sheet.theme().text, 1.5f);
    for (const float x : {low, high}) c.line({x, y - 3}, {x, y + 3}, sheet.theme().text, 1.5f);
    c.line({x_of(hbm), row.y}, {x_of(hbm), row.bottom()}, sheet.theme().bad, 1.5f, Dash::dashed);
}

std::vector<StageRun> stage_runs(const Memory& memory) {
    const auto same = [](const StageMemory& a, const StageMemory& b) {
        bool out = a.layers == b.layers && a.in_flight == b.in_flight && a.least() == b.least()
                   && a.most() == b.most();
        for (int k = 0; k < kMemoryCategoryCount; ++k) {
            const auto category = static_cast<MemoryCategory>(k);
            out = out && bytes_of(a, category) == bytes_of(b, category);
        }
        return out;
    };
    std::vector<StageRun> out;
    for (std::size_t i = 0; i < memory.stage.size(); ++i)
        if (!out.empty() && same(memory.stage[out.back().first], memory.stage[i]))
            out.back().last = i;
        else
            out.push_back({i, i});
    return out;
}

std::string name_of(const StageRun& run) {
    return std::to_string(run.first) + (run.last > run.first ? " to " + std::to_string(run.last) : "");
}

void draw_memory_bars(ReviewSheet& sheet, const Reviewed& of) {
    const Memory& m = of.evaluation.memory;
    if (m.stage.empty()) return;
    BarFrame frame;
    frame.bytes = m.hbm;
    Canvas& c = sheet.canvas();
    for (const StageMemory& s : m.stage) {
        frame.bytes = std::max(frame.bytes, s.most());
        frame.total =
            std::max(frame.total, c.text_width(memory_text(s.total(), Zeros::kept), sheet.strong()));
    }
    const std::vector<StageRun> runs = stage_runs(m);
    const auto n = static_cast<int>(runs.size());
    frame.label = c.text_width("stage", sheet.faint());
    for (const StageRun& r : runs)
        frame.label = std::max(frame.label, c.text_width(name_of(r), sheet.strong()));
    frame.label += sheet.paper().body * 0.6f;
    frame.total += sheet.paper().body * 0.6f;
    memory_legend(sheet, m.hbm);
    constexpr float kRow = 1.35f, kCloseRow = 1.02f;  // in lines
    const bool twice = n > kMostRowsAlone;
    // Rows move closer where all are on this page then.
    const float line = sheet.paper().line(),
                close = sheet.left() / static_cast<float>((twice ? (n + 1) / 2 : n) + 1);
    const float row_h = close < kCloseRow * line ? kRow * line : std::min(close, kRow * line);
    const float between = sheet.paper().body * 1.5f;
    for (int next = 0; next < n;) {
        const int rest = n - next, columns = twice ? 2 : 1;
        sheet.need(row_h * static_cast<float>(1 + std::min(3, (rest + columns - 1) / columns)));
        const int fit = std::max(1, static_cast<int>((sheet.left() - row_h) / row_h));
        const int rows = std::min(fit, (rest + columns - 1) / columns);
        const Rect head = sheet.take(row_h * 0.9f);
        // Bars that are few are thicker where the page would stay empty.
        const float high = row_h * static_cast<float>(rows);
        const float most = n == 1 ? 4 : 2.4f;
        const Rect all = rest == n && rows == n ? sheet.take_grown(high, most * high) : sheet.take(high);
        for (int k = 0; k < columns && next < n; ++k) {
            const float w = (all.w - between * static_cast<float>(columns - 1)) / static_cast<float>(columns);
            Rect column{all.x + static_cast<float>(k) * (w + between), all.y, w, all.h};
            sheet.label({column.x, head.y, w, head.h}, m.stage.size() > 1 ? "stage" : "GPU", sheet.faint());
            sheet.label({column.x, head.y, w, head.h}, "in all", sheet.faint(), Align::right);
            for (int r = 0; r < rows && next < n; ++r, ++next) {
                const StageRun& run = runs[static_cast<std::size_t>(next)];
                draw_stage_bar(sheet, column.cut_top(all.h / static_cast<float>(rows)), m.stage[run.first],
                               name_of(run), m.hbm, frame,
                               run.first <= static_cast<std::size_t>(m.peak_stage)
                                   && static_cast<std::size_t>(m.peak_stage) <= run.last);
            }
        }
    }
    sheet.gap();
}

namespace {

constexpr std::int64_t kMostNamed = 4096;

// Draws a node's name where type of the page's smallest size has room over the cells.
void name_nodes(ReviewSheet& sheet, const MeshPlace& m, const Cluster& cluster) {
    const MeshLayout::Boxes& node = m.layout.node;
    const float size = sheet.paper().small, above = (node.padding.y - m.layout.tile.padding.y) * m.zoom;
    if (node.count > kMostNamed || node.size < 2 || m.merged() || above < size + 2) return;
    const TextStyle style{Face::regular, size, sheet.theme().secondary, 0};
    for (std::int64_t i = 0; i < node.count; ++i) {
        const Rect r = m.node(i);
        const std::string name = std::string(domain_name(cluster)) + " " + std::to_string(i);
        if (sheet.canvas().text_width(name, style) + 8 < r.w)
            sheet.label({r.x + 4, r.y, r.w - 8, above}, name, style);
    }
}

// Numbers the cells of a small cluster.
void draw_ranks_in_cells(ReviewSheet& sheet, const MeshPlace& m, const Scene& scene) {
    CellGrid grid = m.grid;
    color_by_groups_on_page(sheet.theme(), scene, grid);
    const float size = sheet.paper().small;
    TextStyle style{Face::regular, size, sheet.theme().text, 0};
    const std::string longest(std::to_string(std::max(0, grid.count - 1)).size(), '0');
    if (grid.cell.y < size * 1.1f || sheet.canvas().text_width(longest, style) + 4 > grid.cell.x) return;
    for (std::int64_t r = 0; r < grid.count; ++r) {
        style.color = ink_on(grid.palette[cell_id(grid, r) % grid.palette_size]);
        sheet.label(m.cell(r), std::to_string(r), style, Align::center);
    }
}

}  // namespace

void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, std::optional<GroupKind> kind) {
    const Cluster& cluster = of.plan.cluster;
    const Mesh& mesh = of.evaluation.mesh;
    if (mesh.world <= 0 || cluster.gpus <= 0 || room.w < 20 || room.h < 20) return;
    PrintedScene printed(of);
    if (kind) printed.selection.choose(*kind);
    const Scene& scene = printed.scene;
    if (in_boxes(scene).pod > 0) room = room.inset(8, 0);  // its frame stands outside its cells
    // The mesh is laid out as on the screen, and enlarged where the page's type is.
    const float small = sheet.paper().small, line = small * 1.4f;
    float zoom = std::max(1.0f, small / 11);
    const TextStyle style{Face::regular, small, sheet.theme().secondary, 0};
    const auto lay_out = [&](float height) { return lay_out_mesh(scene, {room.w, height}, 0.1f, zoom); };
    MeshLayout layout = lay_out(room.h);
    const float words =
        layout.words.empty() ? 0 : sheet.canvas().paragraph_height(room.w, layout.words, style, line) + small;
    const float high = words > 0 && room.h > 2 * words ? room.h - words : room.h;
    layout = lay_out(high);
    constexpr float kLeastZoom = 0.3f, kSmaller = 0.85f;
    while (zoom > kLeastZoom && (layout.extent.x * zoom > room.w + 1 || layout.extent.y * zoom > high + 1)) {
        zoom *= kSmaller;
        layout = lay_out(high);
    }
    const CellGrid grid = seen(layout, {.zoom = zoom, .pan = {}}, room);
    MeshPlace place{.layout = layout,
                    .grid = grid,
                    .zoom = zoom,
                    .area = room,
                    .ranks = scene.evaluation.mesh.world,
                    .axes = axes_of(sheet.theme(), scene)};
    place.tile = tile_axis(place.axes, layout.tile.size);
    draw_still_mesh(sheet.canvas(), sheet.theme(), place, scene, small);
    name_nodes(sheet, place, cluster);
    if (!lit_groups(sheet.theme(), scene).shown) draw_ranks_in_cells(sheet, place, scene);
    room.cut_top(layout.extent.y * zoom + small * 0.6f);
    if (words > 0 && room.h >= words - small) sheet.canvas().paragraph(room, layout.words, style, line);
}

float draw_axis_words(ReviewSheet& sheet, Rect room, const Reviewed& of, GroupKind kind, bool draw) {
    const float line = sheet.paper().line(), mark = sheet.paper().body * 0.8f;
    const std::string text = caption_of(of.plan, of.evaluation, kind).text() + ".";
    const float h = sheet.words_height(text, room.w);
    if (!draw) return line + h;
    Rect row = room.cut_top(line);
    const Rect square = row.cut_left(mark + 8);
    sheet.canvas().rect({square.x, square.y + (line - mark) / 2, mark, mark}, color_of(sheet.theme(), kind),
                        3);
    sheet.label(row, axis_label(kind) + " " + with_commas(of.evaluation.groups[kind].degree), sheet.strong());
    sheet.canvas().paragraph(room, text, sheet.plain(), line);
    return line + h;
}

namespace {

std::string slice_figure(double time_s, double step_s) {
    return time_text(time_s, Zeros::kept) + "  " + percent_text(time_s / step_s, Zeros::kept);
}

float waterfall_row(const ReviewSheet& sheet) {
    return sheet.paper().line() * 1.15f;
}

}  // namespace

float waterfall_height(const ReviewSheet& sheet, const Step& step) {
    return waterfall_row(sheet) * static_cast<float>(waterfall(step).size() + 1);
}

void draw_waterfall_figure(ReviewSheet& sheet, Rect room, const Step& step, double whole_s) {
    Canvas& c = sheet.canvas();
    const std::vector<StepSlice> slices = waterfall(step);
    const float row_h = std::max(waterfall_row(sheet), room.h / static_cast<float>(slices.size() + 1));
    float label = c.text_width("step", sheet.strong()), figure = 0;
    for (const StepSlice& s : slices) {
        label = std::max(label, c.text_width(label_of(s), sheet.plain()));
        figure = std::max(figure, c.text_width(slice_figure(s.time_s, step.time_s), sheet.strong()));
    }
    figure = std::max(figure, c.text_width(slice_figure(step.time_s, step.time_s), sheet.strong()));
    label += sheet.paper().body * 0.8f, figure += sheet.paper().body * 0.8f;
    const float w = std::max(10.0f, room.w - label - figure);
    const auto x_of = [&](double t) { return room.x + label + static_cast<float>(t / whole_s) * w; };
    for (const StepSlice& s : slices) {
        const Rect row = room.cut_top(row_h);
        sheet.label({row.x, row.y, label, row.h}, label_of(s), sheet.plain());
        const float x = x_of(s.from_s), len = std::max(1.5f, x_of(s.from_s + s.time_s) - x);
        const Rect bar{x, row.y + row.h * 0.14f, len, row.h * 0.72f};
        fill_part(c, sheet.theme(), bar, s);
        c.line({x + len, bar.bottom()}, {x + len, row.bottom() + row_h * 0.14f}, sheet.theme().hairline);
        sheet.label({row.right() - figure, row.y, figure, row.h}, slice_figure(s.time_s, step.time_s),
                    sheet.plain(), Align::right);
    }
    const Rect last = room.cut_top(row_h);
    c.line({x_of(0), last.y + 1}, {x_of(step.time_s), last.y + 1}, sheet.theme().secondary, 1.5f);
    sheet.label({last.x, last.y, label, last.h}, "step", sheet.strong());
    sheet.label({last.right() - figure, last.y, figure, last.h}, slice_figure(step.time_s, step.time_s),
                sheet.strong(), Align::right);
}

// Draws the pipeline's timeline on paper: devices downwards, time to the right. Where blocks would be too
// narrow for their numbers, it is in three windows, as in the window: how it fills, a few of its equal
// periods, how it drains.

namespace {

constexpr float kMostBlocks_px = 6000;                 // blocks of a whole figure
constexpr float kStrip = 1, kBeam = 0.5f, kNames = 1;  // over three windows, in lines

// Returns the place of a time inside the scale's plot.
float x_in(const TimeScale& scale, double t) {
    return std::clamp(scale.x(t), scale.plot.x, scale.plot.right());
}

void draw_merged(ReviewSheet& sheet, const TimeScale& scale, Rect row, const Block& b) {
    const Theme& t = sheet.theme();
    const double all = std::max(b.work.all(), 1e-300);
    const auto strength = static_cast<float>(std::clamp(b.density(), 0.0, 1.0));
    const float x0 = x_in(scale, b.from), w = std::max(0.5f, x_in(scale, b.to) - x0);
    float y = row.y;
    const auto part = [&](double work, Color color) {
        const float h = row.h * static_cast<float>(work / all);
        if (h > 0) sheet.canvas().rect({x0, y, w, h}, mix(t.panel, color, strength));
        y += h;
    };
    part(b.work.forward, t.forward);
    part(b.work.backward, t.backward);
    part(b.work.weight, t.weight_grad);
}

// Writes a micro-batch's number in a block, where it has room.
void number_block(ReviewSheet& sheet, Rect r, int microbatch, Color ground) {
    const TextStyle style{Face::regular, sheet.paper().small, ink_on(ground), 0};
    const std::string number = std::to_string(microbatch);
    if (r.h >= style.size * 1.1f && sheet.canvas().text_width(number, style) + 3 <= r.w)
        sheet.label(r, number, style, Align::center);
}

void draw_op(ReviewSheet& sheet, const TimeScale& scale, Rect row, const Timeline& t, std::size_t i) {
    Canvas& c = sheet.canvas();
    const Op& op = t.order.ops[i];
    const int chunks = chunks_of(t.shape), batches = t.shape.microbatches;
    const float x0 = x_in(scale, t.start[i]), x1 = x_in(scale, t.end[i]);
    const Rect r{x0, row.y, std::max(0.8f, x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f)), row.h};
    if (op.kind == OpKind::FB) {
        Op forth = op, back = op;
        forth.kind = OpKind::F;
        back.kind = OpKind::B, back.chunk = op.backward_chunk, back.microbatch = op.backward_microbatch;
        for (const Op& half : {forth, back}) {
            const Rect of{r.x, half.kind == OpKind::F ? r.y : r.y + r.h / 2, r.w, r.h / 2};
            const Color color = shade_of(sheet.theme(), half, chunks);
            c.rect(of, color);
            number_block(sheet, of, half.microbatch % batches, color);
        }
        return;
    }
    const Color color = shade_of(sheet.theme(), op, chunks);
    c.rect(r, color);
    number_block(sheet, r, op.microbatch % batches, color);
}

// Draws the marks of the kinds of work, and when it ends.
void draw_timeline_foot(ReviewSheet& sheet, Rect row, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const TextStyle style = sheet.faint();
    sheet.label(row, time_text(t.makespan), style, Align::right);
    std::array<bool, 5> has{};
    for (const Op& op : t.order.ops) has[static_cast<std::size_t>(op.kind)] = true;
    const bool pairs = has[static_cast<std::size_t>(OpKind::FB)];
    if (pairs) has[static_cast<std::size_t>(OpKind::F)] = has[static_cast<std::size_t>(OpKind::B)] = true;
    const float mark = sheet.paper().small * 0.8f;
    const auto words = [&](const std::string& text) {
        const float w = c.text_width(text, style);
        sheet.label(row.cut_left(w + 1), text, style);
        row.cut_left(sheet.paper().small * 1.2f);
    };
    const auto item = [&](const std::string& text, auto&& draw) {
        draw(Rect{row.x, row.center().y - mark / 2, mark, mark});
        row.cut_left(mark + 6);
        words(text);
    };
    for (const OpKind kind : {OpKind::F, OpKind::B, OpKind::I, OpKind::W})
        if (has[static_cast<std::size_t>(kind)])
            item(std::string(name_of(kind)), [&](Rect r) { c.rect(r, color_of(sheet.theme(), kind)); });
    item("idle", [&](Rect r) { c.pattern(r, Pattern::hatched, sheet.theme().bad.alpha(0.55f)); });
    if (pairs) words("pairs: forward above backward");
}

// Draws the parts of one timeline, each on its scale.
class TimelineFigure {
  public:
    TimelineFigure(ReviewSheet& sheet, const Timeline& t, Rect room)
        : sheet_(sheet), t_(t), pixels_(static_cast<float>(t.device.size()) * room.w) {
        build_work_index(t, index_);
    }
    // The row is a device's, as wide as the figure.
    void row(const TimeScale& scale, Rect row, int device) {
        row.x = scale.plot.x, row.w = scale.plot.w;
        const float end = x_in(scale, t_.makespan);
        sheet_.canvas().pattern({row.x, row.y, end - row.x, row.h}, Pattern::hatched,
                                sheet_.theme().bad.alpha(0.55f));
        visible_blocks(t_, index_, device, scale.from_s, scale.to_s, static_cast<double>(row.w), blocks_,
                       {.least_px = std::clamp(static_cast<double>(pixels_ / kMostBlocks_px), 1.5, 16.0)});
        for (const Block& b : blocks_)
            if (b.merged())
                draw_merged(sheet_, scale, row, b);
            else
                draw_op(sheet_, scale, row, t_, b.first);
    }
    // Draws the whole step as a strip, and how the windows below come out of it.
    void overview(Rect strip, float beam_to, const TimelineWindows& w) {
        Canvas& c = sheet_.canvas();
        const TimeScale scale{0, w.whole_s, strip};
        for (const TimeScale& window : w.window) draw_beam(c, sheet_.theme(), scale, window, beam_to);
        const auto n = static_cast<int>(t_.device.size());
        Rect left = strip;
        for (int d = 0; d < n; ++d) row(scale, left.cut_top(strip.h / static_cast<float>(n)), d);
        for (const TimeScale& window : w.window) draw_window_frame(c, sheet_.theme(), scale, window);
    }

  private:
    ReviewSheet& sheet_;
    const Timeline& t_;
    float pixels_;
    WorkIndex index_;
    std::vector<Block> blocks_;
};

}  // namespace

float timeline_height(const ReviewSheet& sheet, const Timeline& timeline) {
    const auto rows = static_cast<float>(timeline.device.size());
    const float room = sheet.whole() * 0.72f;
    return std::clamp(room / rows, 3.0f, sheet.paper().line() * 1.3f) * rows + sheet.paper().line() * 1.4f;
}

void draw_timeline_figure(ReviewSheet& sheet, Rect room, const Timeline& t) {
    Canvas& c = sheet.canvas();
    const auto n = static_cast<int>(t.device.size());
    if (n == 0 || t.makespan <= 0) return;
    const TextStyle style = sheet.faint();
    const float line = sheet.paper().line();
    draw_timeline_foot(sheet, room.cut_bottom(line * 1.3f), t);
    Rect plot = room;
    plot.cut_left(c.text_width("stage " + std::to_string(n - 1), style) + sheet.paper().body * 0.6f);
    TimelineFigure figure(sheet, t, plot);
    const TextStyle number{Face::regular, sheet.paper().small, {}, 0};
    const std::string widest(std::to_string(t.shape.microbatches - 1).size(), '0');
    const float over = line * (kStrip + kBeam + kNames);
    std::optional<TimelineWindows> windows;
    if (plot.h > 2 * over) windows = find_windows(t, t.makespan, plot, c.text_width(widest, number) + 5, -1);
    if (windows) {
        const Rect strip = plot.cut_top(line * kStrip);
        figure.overview(strip, strip.bottom() + line * kBeam, *windows);
        room.cut_top(over);
        for (std::size_t i = 0; i < windows->window.size(); ++i) {
            const auto [name, words] = window_words(*windows, i, t);
            Rect row{windows->window[i].plot.x, room.y - line * kNames, windows->window[i].plot.w,
                     line * kNames};
            const float w = c.text_width(name, sheet.strong()) + sheet.paper().body * 0.6f;
            if (w > row.w + sheet.paper().body) continue;
            sheet.label(row.cut_left(w), name, sheet.strong());
            if (c.text_width(words, style) <= row.w) sheet.label(row, words, style);
        }
    }
    const float row_h = room.h / static_cast<float>(n);
    const int every = std::max(1, static_cast<int>(std::ceil(line * 0.95f / row_h)));
    for (int d = 0; d < n; ++d) {
        Rect row{room.x, room.y + static_cast<float>(d) * row_h, plot.right() - room.x, row_h};
        if (d % every == 0)
            sheet.label({row.x, row.y + (row_h >= line ? (row_h - line) / 2 : 0.0f), plot.x - row.x, line},
                        "stage " + std::to_string(d), style);
        row.h -= row_h > 6 ? 2.0f : row_h * 0.15f;
        if (!windows) {
            figure.row({0, t.makespan, plot}, row, d);
            continue;
        }
        for (const TimeScale& window : windows->window) figure.row(window, row, d);
    }
    if (windows) draw_breaks(c, sheet.theme(), room, *windows);
}

// Draws how long each axis sends in a step, and how much of that the step waits for.

namespace {

struct AxisTime {
    GroupKind kind;
    double time_s, waits_s;
    [[nodiscard]] std::string words() const {
        return time_text(time_s, Zeros::kept)
               + (waits_s <= 0        ? ", hidden"
                  : waits_s >= time_s ? ", all of it waits"
                                      : ", " + time_text(waits_s, Zeros::kept) + " waits");
    }
};

std::vector<AxisTime> axis_times(const Evaluation& e) {
    std::vector<AxisTime> out;
    for (const GroupKind k : all_of<GroupKind>())
        if (const AxisTraffic& t = e.comm.by_axis[k]; t.time_s > 0)
            out.push_back({k, t.time_s, std::min(t.time_s, t.exposed_s)});
    return out;
}

}  // namespace

float traffic_height(const ReviewSheet& sheet, const Evaluation& e) {
    return sheet.paper().line() * 1.2f * static_cast<float>(axis_times(e).size());
}

void draw_traffic_figure(ReviewSheet& sheet, Rect room, const Evaluation& e) {
    Canvas& c = sheet.canvas();
    const std::vector<AxisTime> axes = axis_times(e);
    const float apart = sheet.paper().body * 0.8f;
    float name = 0, words = 0;
    double longest = 0;
    for (const AxisTime& a : axes) {
        name = std::max(name, c.text_width(axis_label(a.kind), sheet.plain()) + apart);
        words = std::max(words, c.text_width(a.words(), sheet.plain()) + apart);
        longest = std::max(longest, a.time_s);
    }
    const float high = room.h / static_cast<float>(std::max<std::size_t>(1, axes.size()));
    for (const AxisTime& a : axes) {
        Rect row = room.cut_top(high);
        sheet.label(row.cut_left(name), axis_label(a.kind), sheet.plain());
        sheet.label(row.cut_right(words), a.words(), sheet.plain(), Align::right);
        Rect bar{row.x, row.y + row.h * 0.15f, static_cast<float>(a.time_s / longest) * row.w, row.h * 0.7f};
        bar.w = std::max(bar.w, 1.5f);
        const Color color = color_of(sheet.theme(), a.kind);
        c.rect(bar, mix(sheet.theme().panel, color, 0.15f));
        const Rect waits{bar.x, bar.y, static_cast<float>(a.waits_s / longest) * row.w, bar.h};
        if (waits.w > 0) fill_axis(c, sheet.theme(), waits, a.kind);
        c.frame(bar, color, 1);
    }
}

}  // namespace pentamesh::ui
