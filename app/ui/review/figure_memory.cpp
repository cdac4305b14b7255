#include "app/ui/review/figures.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
