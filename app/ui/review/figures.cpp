// Draws the figures that pages share: views on a part of a page, what was tried, and the way from one step
// to another.
#include "app/ui/review/figures.h"

#include "app/tables/decide_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/review/pages.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/comm/view.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/search/search_found.h"
#include "app/ui/views/step/view.h"
#include "app/ui/views/timeline/view.h"
#include "core/base/text.h"
#include "core/decide/why_not.h"
#include "core/explain/lane_picture.h"
#include "core/pipeline/timeline.h"
#include "core/teach/glossary.h"
#include "render/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

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

// Pages show views by the views' own drawing.

namespace {

constexpr float kTypeOfRows = 13;  // of the window
constexpr float kHeadRow = 18;     // over a view: its sentence

}  // namespace

float window_pixel(const ReviewSheet& sheet) {
    return sheet.paper().small / kTypeOfRows;
}

void draw_on_page(ReviewSheet& sheet, Rect room, const Reviewed& of, std::string_view instead,
                  const DrawView& draw) {
    const float k = window_pixel(sheet);
    if (room.w < k || room.h < k) return;
    Canvas& canvas = sheet.canvas();
    PrintedScene printed(of);
    UiState state;
    state.for_picture = true;
    state.least_type = 11;
    FrameInfo frame;
    frame.size = {room.w / k, room.h / k};
    frame.scale = canvas.scale() * k;
    Page* page = canvas.page();
    if (page == nullptr) {  // a window shows the page
        Ui ui(state, frame, sheet.theme(), Canvas(canvas.list(), frame.scale));
        return draw(ui, {room.x / k, room.y / k, frame.size.x, frame.size.y}, printed.scene);
    }
    page->begin_piece("Figure", instead);
    page->begin_inset(room.min(), k);
    {
        Ui ui(state, frame, sheet.theme(), Canvas(nullptr, canvas.scale(), page));
        draw(ui, {0, 0, frame.size.x, frame.size.y}, printed.scene);
    }
    page->end_inset();
    page->end_piece();
}

// Holds all devices: each has a row of at most 36 pixels, and what stands over and below them has its room.
float pipeline_height(const ReviewSheet& sheet, const Timeline& timeline) {
    constexpr float kAround = 290, kAllRows = 400, kThinRow = 6, kThickRow = 36;
    const auto n = static_cast<float>(timeline.device.size());
    return window_pixel(sheet) * (kAround + n * std::clamp(kAllRows / n, kThinRow, kThickRow));
}

void draw_pipeline(ReviewSheet& sheet, Rect room, const Reviewed& of) {
    constexpr std::string_view kInstead =
        "Timeline of the pipeline in one step: a row for each stage, when it computes and when it waits.";
    draw_on_page(sheet, room, of, kInstead, [](Ui& ui, Rect r, Scene& scene) {
        TimelineViewState state;
        const Rect head = r.cut_top(kHeadRow);
        (void)draw_timeline(ui, head, r, scene, state, 1);
    });
}

void draw_mesh_figure(ReviewSheet& sheet, Rect room, const Reviewed& of, std::optional<GroupKind> kind) {
    const std::string instead = "Map of the GPUs, row by row in the order of their ranks. "
                                + (kind ? caption_of(of.plan, of.evaluation, *kind).text() + "."
                                        : "Lit: the groups of one rank along every axis.");
    draw_on_page(sheet, room, of, instead, [kind](Ui& ui, Rect r, Scene& scene) {
        if (kind) scene.selection.choose(*kind);
        draw_still_mesh(ui, r, scene);
    });
}

float memory_height(const ReviewSheet& sheet, const Memory& memory, MemoryPage page) {
    constexpr float kOneBar = 130, kBars = 270;
    return window_pixel(sheet) * (memory.stage.size() > 1 || page != MemoryPage::stages ? kBars : kOneBar);
}

void draw_held(ReviewSheet& sheet, Rect room, const Reviewed& of, MemoryPage page) {
    std::string instead = page == MemoryPage::saved ? "Bars: what each choice saves of the memory of a GPU."
                                                    : "Bars: what a GPU of each stage holds, by category.";
    if (page == MemoryPage::stages)
        for (const StageRun& run : stage_runs(of.evaluation.memory))
            instead += " Stage " + name_of(run) + ": "
                       + memory_text(of.evaluation.memory.stage[run.first].total()) + ".";
    draw_on_page(sheet, room, of, instead, [page](Ui& ui, Rect r, Scene& scene) {
        MemoryViewState state;
        state.page = page;
        const Rect head = r.cut_top(kHeadRow);
        (void)draw_memory(ui, head, r, scene, state, 1);
    });
}

void draw_traffic(ReviewSheet& sheet, Rect room, const Reviewed& of) {
    draw_on_page(
        sheet, room, of,
        "Bands: what each axis sends over which link in one step, and how much of it the step waits for.",
        [](Ui& ui, Rect r, Scene& scene) { draw_comm_flow(ui, r, scene, FlowWidth::time); });
}

void draw_lanes(ReviewSheet& sheet, const Reviewed& of) {
    constexpr float kLanes = 330;  // pixels of the window: two lanes, what stands out, the legend
    CommLanesState state;
    const std::optional<LanePicture>& picture = state.picture.get(
        {1, state.stage}, [&] { return lane_picture(of.plan, of.evaluation, state.stage); });
    if (!picture || picture->waits_s + picture->hidden_s <= 0) return;
    const float high = kLanes * window_pixel(sheet);
    sheet.head(picture->once ? "The first forward and the last backward on their lanes"
                             : "One micro-batch on its lanes",
               high);
    draw_on_page(sheet, sheet.take(high), of,
                 "Two lanes, compute and traffic: what compute hides, and what the step waits for.",
                 [&](Ui& ui, Rect r, Scene& scene) { draw_comm_lanes(ui, r, scene, state, 1); });
    sheet.gap();
}

void draw_sensitivity(ReviewSheet& sheet, const Reviewed& of, const Sensitivity& s) {
    constexpr float kAbout = 44, kChoice = 24;  // of the view: its words in two lines, a choice
    constexpr std::size_t kMostChoices = 20;
    const std::size_t all = tornado_rows(s).size();
    if (all == 0) return sheet.words("No single change moves the time for the step's tokens.");
    // The picture ends at a whole row.
    const float k = window_pixel(sheet), more = sheet.paper().line();
    const float free = std::max(sheet.left(), 8 * kChoice * k) - more;
    const auto fit = static_cast<std::size_t>((free / k - kAbout) / kChoice);
    const std::size_t rows = std::min({all, fit, kMostChoices});
    draw_on_page(sheet, sheet.take(k * (kAbout + kChoice * static_cast<float>(rows))), of,
                 "Bars: the changes of one field that move the step most, and by how much.",
                 [&s](Ui& ui, Rect r, Scene&) {
                     TornadoState state;
                     state.of.update(1, [&s] { return s; });
                     (void)draw_tornado(ui, r, state, 1);
                 });
    if (rows < all)
        sheet.words(plural(static_cast<std::int64_t>(all - rows), "more choice moves", "more choices move")
                        + " it less.",
                    sheet.faint());
}

// Draws what was tried, a row for each change: its step on one scale, and the memory of the fullest GPU on
// another one.

namespace {

struct TriedRow {
    std::string name;
    double step_s = 0, bytes = 0;
    std::string why{};  // it is not taken
    bool own = false, proposed = false, fits = true;
};

std::vector<TriedRow> tried_rows(const ReviewContent& content) {
    const Reviewed of = content.detail();
    const SearchResult* proposed = proposal_of(content);
    const Evaluation& e = of.evaluation;
    const bool now = fits(fit_of_plan(e));
    std::vector<TriedRow> out{{content.detail_name(), e.step->time_s, e.memory.peak(), "", true, false, now}};
    const auto is_proposed = [&](const SearchResult& r) {
        return proposed != nullptr && changed_choices(r.plan, proposed->choice).empty();
    };
    // A proposal of two changes was not tried one by one.
    const auto add = [&](const SearchResult& r, bool is_proposal) {
        out.push_back({change_words(of.plan, r.choice), r.step_s, r.memory_bytes,
                       why_not(e, content.decision, r).sentence, false, is_proposal, fits(r.fit)});
    };
    if (proposed != nullptr && std::ranges::none_of(content.tried, is_proposed)) add(*proposed, true);
    for (const SearchResult& r : content.tried) add(r, is_proposed(r));
    for (const SearchResult& r : content.unfit) add(r, false);
    return out;
}

std::string gain_text(double share) {
    return (share < 0 ? "−" : "+") + percent(std::abs(share));
}

RowChart tried_chart(const Ink& ink, float width, const ReviewContent& content) {
    constexpr float kLeastBars = 14;  // of both columns of bars, in heights of type
    constexpr float kWhy = 0.36f;     // of the width
    const double hbm = content.detail().evaluation.memory.hbm;
    const float body = ink.plain.size, gap = body * 0.6f;
    const auto as_wide_as = [&](std::string_view words) {
        return ink.canvas.text_width(words, ink.strong) + 4;
    };
    RowChart out{
        .columns =
            {{.head = "change", .most = 0.22f},
             {.head = "step", .align = Align::right, .width = as_wide_as("00.00 ms"), .gap = gap},
             {.align = Align::right, .width = as_wide_as("+0.000 %"), .gap = gap},
             {.share = 1, .gap = gap, .bar = 0.6f, .rules = {{0, ink.theme.secondary}}},
             {.head = "fullest GPU", .align = Align::right, .width = as_wide_as("fullest GPU"), .gap = gap},
             {.head = "of " + memory_text(hbm),
              .align = Align::right,
              .share = 1,
              .gap = gap,
              .high = hbm,
              .bar = 0.6f,
              .rules = {{hbm, ink.theme.bad, 1.5f, Dash::dashed}}},
             {.head = "why not", .width = kWhy * width, .gap = 1.5f * gap}},
        .measured = ink.strong};
    Canvas* c = &ink.canvas;
    const Theme* t = &ink.theme;
    const std::vector<TriedRow> rows = tried_rows(content);
    for (const TriedRow& r : rows) {
        const double share = r.step_s / rows.front().step_s - 1;
        const TextStyle style = r.proposed || r.own ? ink.strong : ink.plain;
        RowChart::Row row{.cells = {{.words = r.name, .wraps = true},
                                    {time_text(r.step_s)},
                                    {r.own ? "" : gain_text(share)},
                                    {},
                                    {memory_text(r.bytes), {}, r.fits ? style : style.in(t->bad)},
                                    {},
                                    {.words = r.why, .style = ink.plain, .wraps = true}},
                          .style = style};
        const Color color = share > 0 ? t->amber : t->good;
        if (share != 0) row.cells[3].marks = {{0, share, [c, color](Rect bar) { c->rect(bar, color); }}};
        row.cells[5].marks = {{0, std::min(r.bytes, hbm), [c, t](Rect bar) { c->rect(bar, t->memory[1]); }}};
        if (r.bytes > hbm)
            row.cells[5].marks.push_back({hbm, r.bytes, [c, t](Rect over) {
                                              c->pattern(over, Pattern::hatched, t->bad, t->panel);
                                              c->frame(over, t->bad, 1.2f, 0);
                                          }});
        if (r.proposed)
            row.under = [c, t](Rect all) { c->rect(all.inset(-4, 0), mix(t->panel, t->good, 0.14f), 3); };
        out.rows.push_back(std::move(row));
    }
    // The memory has its figures only if both would be too small to read.
    const PlacedChart at = place_chart(ink, {0, 0, width, 0}, out);
    if (at.column[3].w + at.column[5].w < body * kLeastBars) {
        out.columns.erase(out.columns.begin() + 5);
        for (RowChart::Row& r : out.rows) r.cells.erase(r.cells.begin() + 5);
    }
    return out;
}

}  // namespace

float tried_height(ReviewSheet& sheet, float width, const ReviewContent& content) {
    const Ink ink = sheet.ink();
    RowChart chart = tried_chart(ink, width, content);
    const PlacedChart at = place_chart(ink, {0, 0, width, 0}, chart);
    float out = ink.line * 1.1f;
    for (const RowChart::Row& r : chart.rows) out += chart_row_height(ink, at, r) + ink.line * 0.1f;
    return out;
}

void draw_tried(ReviewSheet& sheet, Rect room, const ReviewContent& content) {
    const Ink ink = sheet.ink();
    RowChart chart = tried_chart(ink, room.w, content);
    const PlacedChart at = place_chart(ink, room, chart);
    const float more =
        std::max(0.0f, room.h - tried_height(sheet, room.w, content)) / static_cast<float>(chart.rows.size());
    draw_chart_head(ink, at, room.cut_top(ink.line * 1.1f), chart);
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const float high = chart_row_height(ink, at, chart.rows[i]) + ink.line * 0.1f + more;
        draw_chart_row(ink, at, room.cut_top(high), chart, i);
    }
}

void draw_tried_rows(ReviewSheet& sheet, const ReviewContent& content) {
    const Ink ink = sheet.ink();
    RowChart chart = tried_chart(ink, sheet.width(), content);
    const Rect head = sheet.take(ink.line * 1.1f);
    const PlacedChart at = place_chart(ink, head, chart);
    draw_chart_head(ink, at, head, chart);
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const Rect row = sheet.take(chart_row_height(ink, at, chart.rows[i]) + ink.line * 0.1f);
        draw_chart_row(sheet.ink(), at, row, chart, i);
    }
}

// Draws the way from one step to another: a bar of A, a bar for each part that differs, a bar of B. The axis
// begins near the lowest of them, and says so.

namespace {

constexpr std::size_t kMostBars = 5;                      // parts; more are joined
constexpr double kWorthABar = 0.03;                       // of the largest part; less is joined too
constexpr std::size_t kWideLines = 2, kUprightLines = 3;  // of a cause
constexpr double kBreakFrom = 0.35;  // of the highest bar: where the lowest is less, the axis begins at 0

struct WayBar {
    std::string name, cause;
    StepSlice slice;
    double delta_s = 0;
};

// Returns the parts that differ, small ones joined, gains first.
std::vector<WayBar> way_bars(const PlanComparison& c) {
    std::vector<WayBar> out;
    for (const PartRow& r : c.why) {
        if (r.delta_s[1] == 0) continue;
        StepSlice slice;
        slice.part = r.kind, slice.group = r.group;
        out.push_back({r.name, typeset(r.brief), slice, r.delta_s[1]});
    }
    std::stable_sort(out.begin(), out.end(), [](const WayBar& a, const WayBar& b) {
        return std::abs(a.delta_s) > std::abs(b.delta_s);
    });
    std::size_t own = 0;  // bars of their own
    while (own < out.size() && std::abs(out[own].delta_s) >= kWorthABar * std::abs(out[0].delta_s)) ++own;
    if (own > kMostBars || out.size() > own + 1) {
        StepSlice slice;
        slice.part = StepPart::optimizer;
        WayBar other{"other", "", slice, 0};
        own = std::min(own, kMostBars - 1);
        for (std::size_t i = own; i < out.size(); ++i) {
            other.delta_s += out[i].delta_s;
            other.cause += (other.cause.empty() ? "" : ", ") + out[i].name;
        }
        out.resize(own);
        out.push_back(std::move(other));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const WayBar& a, const WayBar& b) { return a.delta_s < b.delta_s; });
    return out;
}

std::string change_text(double s) {
    return (s < 0 ? "−" : "+") + time_text(std::abs(s));
}

// Holds the scale from seconds to the page.
struct WayScale {
    Rect plot;
    double base = 0, top = 1;
    bool broken = false;
    [[nodiscard]] float y(double s) const {
        return plot.bottom() - static_cast<float>((s - base) / (top - base)) * plot.h;
    }
};

// `line` is the height of a label: the lowest bar leaves room for one below it.
constexpr double kBelow = 1.15;
WayScale scale_of(Rect plot, const std::vector<WayBar>& bars, double a_s, double b_s, float line) {
    double low = std::min(a_s, b_s), high = std::max(a_s, b_s), at = a_s;
    for (const WayBar& b : bars) {
        at += b.delta_s;
        low = std::min(low, at), high = std::max(high, at);
    }
    WayScale out{plot, 0, high};
    if (low < kBreakFrom * high) return out;
    const double room = std::max(1.0, static_cast<double>(plot.h) - kBelow * line),
                 a_pixel = std::max(high - low, 0.01 * high) / room;
    const double base = low - a_pixel * kBelow * line;
    if (base <= 0) return out;
    out.base = base, out.broken = true;
    return out;
}

// Returns the round numbers of seconds that the scale has lines at.
std::vector<double> ticks_of(const WayScale& scale, float line) {
    const double most = std::max(2.0, std::floor(static_cast<double>(scale.plot.h / (1.8f * line))));
    const double step = round_step((scale.top - scale.base) / most);
    std::vector<double> out;
    for (double i = std::ceil(scale.base / step); i * step <= scale.top; ++i) out.push_back(i * step);
    return out;
}

// Draws a whole step; where the axis is broken, so is the bar.
void draw_end(ReviewSheet& sheet, const WayScale& scale, Rect column, const std::string& letter, double s,
              Color color) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), y = scale.y(s);
    const Rect bar{column.x, y, column.w, scale.plot.bottom() - y};
    c.rect(bar, color);
    sheet.label({column.x - column.w * 0.2f, y - line, column.w * 1.4f, line}, letter + "  " + time_text(s),
                sheet.strong(), Align::center);
    if (!scale.broken) return;
    const float tooth = column.w / 8, mid = bar.bottom() - line * 0.45f;
    std::array<Vec2, 9> zigzag;
    for (std::size_t i = 0; i < zigzag.size(); ++i)
        zigzag[i] = {bar.x + tooth * static_cast<float>(i), mid + (i % 2 == 0 ? 1.0f : -1.0f) * tooth * 0.3f};
    for (std::size_t i = 0; i + 1 < zigzag.size(); ++i)
        c.line(zigzag[i], zigzag[i + 1], sheet.theme().panel, 3);
}

void draw_change(ReviewSheet& sheet, const WayScale& scale, Rect column, const WayBar& bar, double from) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), y0 = scale.y(from), y1 = scale.y(from + bar.delta_s);
    const float top = std::min(y0, y1), high = std::max(1.5f, std::abs(y1 - y0));
    fill_part(c, sheet.theme(), {column.x, top, column.w, high}, bar.slice);
    TextStyle style = sheet.strong();
    style.color = bar.delta_s < 0 ? sheet.theme().good : sheet.theme().bad;
    const float at = bar.delta_s < 0 ? top + high : top - line;
    sheet.label({column.x - column.w * 0.2f, at, column.w * 1.4f, line}, change_text(bar.delta_s), style,
                Align::center);
}

// Words below the bars: in the page's type, or in its small type where a word of them is wider than a column.
struct UnderStyle {
    TextStyle name, cause;
    void shrink_to(float size) { name.size = cause.size = size; }
};
UnderStyle under_style(const ReviewSheet& sheet, const Canvas& c, const std::vector<WayBar>& bars,
                       float width) {
    UnderStyle out{sheet.strong(), sheet.faint()};
    for (const WayBar& b : bars)
        if (longest_word(c, b.name, out.name) > width || longest_word(c, b.cause, out.cause) > width)
            out.shrink_to(sheet.paper().small);
    return out;
}

// Leaves the last of a cause's facts out until it takes no more lines than there are: the table of causes has
// them all.
std::string fitting_cause(const ReviewSheet& sheet, float width, std::string cause, const TextStyle& style,
                          Canvas& c) {
    const std::size_t most = sheet.paper().wide ? kWideLines : kUprightLines;
    for (std::size_t comma = cause.rfind(", ");
         comma != std::string::npos && c.wrapped(width, cause, style).size() > most;
         comma = cause.rfind(", "))
        cause.resize(comma);
    return cause;
}

// Writes a name and the cause below it, each as wide as its column; returns how many lines they take.
std::size_t draw_under(ReviewSheet& sheet, Rect column, const std::string& name, const std::string& cause,
                       const UnderStyle& style, bool draw) {
    const float line = sheet.paper().line();
    std::size_t lines = 0;
    const auto write = [&](const std::string& text, const TextStyle& of) {
        for (const std::string_view words : sheet.canvas().wrapped(column.w, text, of)) {
            if (draw) sheet.label(column.cut_top(line), words, of, Align::center);
            ++lines;
        }
    };
    write(name, style.name);
    write(fitting_cause(sheet, column.w, cause, style.cause, sheet.canvas()), style.cause);
    return lines;
}

}  // namespace

void draw_way_figure(ReviewSheet& sheet, Rect room, const PlanComparison& comparison, double a_s,
                     double b_s) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line();
    const std::vector<WayBar> bars = way_bars(comparison);
    const std::size_t last = bars.size() + 1;
    const float axis = c.text_width("00.00 ms", sheet.faint()) + 8;
    const float pitch = (room.w - axis) / static_cast<float>(last + 1);
    const double by = b_s / a_s - 1;
    const UnderStyle style = under_style(sheet, c, bars, pitch - 6);
    const auto words_below = [&](std::size_t i, float y, bool draw) {
        const Rect at{room.x + axis + pitch * static_cast<float>(i) + 3, y, pitch - 6, room.h};
        if (i == 0) return draw_under(sheet, at, "", "the axis does not begin at 0", style, draw);
        if (i == last)
            return draw_under(sheet, at, (by < 0 ? "−" : "+") + percent(std::abs(by)), "", style, draw);
        return draw_under(sheet, at, bars[i - 1].name, bars[i - 1].cause, style, draw);
    };
    std::size_t lines = 1;
    for (std::size_t i = 0; i <= last; ++i) lines = std::max(lines, words_below(i, 0, false));
    const Rect under = room.cut_bottom(line * static_cast<float>(lines));
    room.cut_top(line * 1.1f);  // of the label over the highest bar
    const WayScale scale = scale_of({room.x + axis, room.y, room.w - axis, room.h}, bars, a_s, b_s, line);
    for (const double s : ticks_of(scale, line)) {
        const float y = scale.y(s);
        c.line({scale.plot.x, y}, {scale.plot.right(), y}, sheet.theme().hairline, 1);
        sheet.label({room.x, y - line / 2, axis - 8, line}, time_text(s), sheet.faint(), Align::right);
    }
    const auto column = [&](std::size_t i) {
        return Rect{scale.plot.x + pitch * (static_cast<float>(i) + 0.17f), scale.plot.y, pitch * 0.66f, 0};
    };
    const auto join = [&](std::size_t i, double s) {
        c.line({column(i).right(), scale.y(s)}, {column(i + 1).x, scale.y(s)}, sheet.theme().secondary, 1,
               Dash::dotted);
    };
    draw_end(sheet, scale, column(0), "A", a_s, sheet.theme().secondary);
    double at = a_s;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        join(i, at);
        draw_change(sheet, scale, column(i + 1), bars[i], at);
        at += bars[i].delta_s;
    }
    join(last - 1, at);
    draw_end(sheet, scale, column(last), "B", b_s, sheet.theme().text);
    for (std::size_t i = scale.broken ? 0 : 1; i <= last; ++i) words_below(i, under.y, true);
}

}  // namespace pentamesh::ui
