// Draws the pictures of two plans, of A above or next to the same of B: steps and memory on one scale, the
// cells of the meshes, timelines on one time axis.
#include "app/tables/decide_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/mesh/mesh_large.h"
#include "app/ui/views/step/view.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/step/step.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kLetter = 92;
constexpr float kLettered = 8, kLetterRow = 14;  // a bar's least width for its letter, the letter's row

bool same_part(const StepSlice& a, const StepSlice& b) {
    return a.part == b.part && (a.part != StepPart::exposed || a.group == b.group);
}

// The letter stands below the bar, where no line runs through it.
void draw_memory_of(Ui& ui, Rect column, double px_per_byte, const StageMemory& s, double hbm, bool b) {
    Canvas& c = ui.canvas();
    const MemoryParts parts = memory_parts(column, s, px_per_byte, true);
    fill_memory(c, ui.theme(), parts, b ? 1.0f : 0.62f);
    const float line = column.bottom() - static_cast<float>(hbm * px_per_byte), top = parts.back().y;
    if (top < line - 0.5f) hatch_over(c, ui.theme(), {column.x, top, column.w, line - top});
    if (column.w < kLettered) return;
    c.text_in({column.x - 4, column.bottom() + 1, column.w + 8, kLetterRow - 1}, b ? "B" : "A",
              ui.style(11, b ? Tone::text : Tone::secondary), Align::center);
}

constexpr std::array<GroupKind, 7> kOffered{GroupKind::tp,       GroupKind::cp,           GroupKind::pp,
                                            GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::ep,
                                            GroupKind::etp};

std::vector<GroupKind> kinds_of(const ComparedPair& pair) {
    std::vector<GroupKind> out;
    for (const GroupKind k : kOffered)
        if (pair.ea.groups[k].degree > 1 || pair.eb.groups[k].degree > 1) out.push_back(k);
    return out;
}

void draw_mesh_of(Ui& ui, Rect room, const Scene& from, std::string_view letter, const Plan& plan,
                  const Evaluation& e, GroupKind kind) {
    Selection plain;
    plain.choose(kind);
    const Hover none;
    Hover unused;
    const Scene scene{.plan = plan,
                      .evaluation = e,
                      .presets = from.presets,
                      .selection = plain,
                      .hover = none,
                      .next_hover = unused};
    const std::string words = caption_of(plan, e, kind).where;
    Rect head = room.cut_top(20);
    ui.canvas().text_in(head.cut_left(18), letter, ui.title());
    if (!write_whole(ui, head, words, ui.small()))
        room.cut_top(ui.canvas().paragraph(room, words, ui.small(), 16));
    room.cut_top(2);
    // A strip of a few nodes shows how groups lie in a node, the cells below it the rest of them.
    constexpr float kTile = 34, kLeastMesh = 70, kType = 11;
    const Period period = replica_of(scene, 0);
    if (period.nodes > 1 && room.w >= 200 && room.h >= strip_height(kTile)) {
        draw_strip(ui.canvas(), ui.theme(), kType, room.cut_top(strip_height(kTile)), kTile, scene, period);
        if (room.h < kLeastMesh) return;
    }
    draw_still_mesh(ui, room, scene);
}

// Draws the devices as the view Timeline does, all or some of them.
void draw_line(Ui& ui, Rect room, std::string_view letter, const Evaluation& e, const TimeScale& scale,
               const ShownTimeline& shown, SeenBlocks& blocks) {
    constexpr float kLeastRow = 3, kMostRow = 22;
    Canvas& c = ui.canvas();
    c.text_in({room.x - 24, room.y, 20, std::min(room.h, 20.0f)}, letter, ui.title());
    if (!e.timeline.complete || e.timeline.empty()) {
        c.text_in(room, "no replay: too many operations", ui.small());
        return;
    }
    const auto devices = static_cast<int>(e.timeline.device.size());
    const int most = std::max(1, static_cast<int>(room.h / kLeastRow)), every = (devices + most - 1) / most,
              drawn = (devices + every - 1) / every;
    const RowPlace rows{room, std::min(room.h / static_cast<float>(drawn), kMostRow), 0};
    RowPainter painter(ui, e, shown, scale, blocks);
    painter.expect_rows(0, drawn - 1, row_height(rows.row_h));
    for (int k = 0; k < drawn; ++k) painter.row(rows.row(k), k * every);
    draw_tail(ui, shown.tail, e.timeline.makespan,
              {room.x, room.y, room.w, rows.row_h * static_cast<float>(drawn)}, scale);
    if (every > 1 && ui.hovers(room))
        ui.tooltip(std::to_string(devices) + " devices\neach " + ordinal(every) + " has a row");
}

}  // namespace

void draw_two_steps(Ui& ui, Rect room, const ComparedPair& pair) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "WHERE THE STEP GOES, SECONDS");
    if (!pair.ea.step || !pair.eb.step) return;
    const Step &a = *pair.ea.step, &b = *pair.eb.step;
    const double longest = std::max(a.time_s, b.time_s);
    room.cut_top(4);
    const float bar_h = std::clamp(room.h * 0.3f, 18.0f, 38.0f),
                between = std::min(64.0f, room.h - 2 * bar_h);
    const auto letter = [&](Rect row, std::string_view name, const Step& s) {
        c.text_in(row, name, ui.title());
        row.cut_left(22);
        c.text_in(row, time_text(s.time_s), ui.style(12, Tone::secondary));
    };
    const float after = 132;  // for the difference
    Rect bars{room.x + kLetter, room.y, room.w - kLetter - after, bar_h};
    letter({room.x, bars.y, kLetter, bar_h}, "A", a);
    const auto draw_bar = [&](const Step& step) {
        std::vector<DrawnPart> out = draw_step_bar(
            ink_of(ui), bars, joined(waterfall(step), is_of_compute, StepPart::compute), longest);
        for (const DrawnPart& p : out)
            if (ui.hovers(p.at))
                ui.tooltip(label_of(p.of) + "\n" + time_text(p.of.time_s) + ", "
                           + percent(p.of.time_s / step.time_s) + " of the step");
        return out;
    };
    const std::vector<DrawnPart> upper = draw_bar(a);
    bars.y += bar_h + between;
    letter({room.x, bars.y, kLetter, bar_h}, "B", b);
    const std::vector<DrawnPart> lower = draw_bar(b);
    for (const DrawnPart& u : upper)
        for (const DrawnPart& l : lower) {
            if (!same_part(u.of, l.of)) continue;
            c.polygon({{u.at.x, u.at.bottom()},
                       {u.at.right(), u.at.bottom()},
                       {l.at.right(), l.at.y},
                       {l.at.x, l.at.y}},
                      color_of_part(ui.theme(), u.of).alpha(0.22f));
        }
    const double by = difference(b.time_s, a.time_s);
    if (by == 0) return;
    const TextStyle s = ui.title().in(by < 0 ? ui.theme().good : ui.theme().bad);
    const float end = lower.empty() ? bars.x : lower.back().at.right();
    c.line({end + 6, bars.y - 6}, {end + 6, bars.bottom() + 6}, s.color, 1.5f);
    const std::string words = difference_text(by, time_text) + ", " + difference_text(by / a.time_s, percent);
    c.text_in({end + 12, bars.y, room.right() - end - 8, bar_h}, words, s);
}

void draw_two_memories(Ui& ui, Rect room, const ComparedPair& pair) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "MEMORY BY STAGE, A AND B");
    const Memory &a = pair.ea.memory, &b = pair.eb.memory;
    const std::size_t stages = std::max(a.stage.size(), b.stage.size());
    if (stages == 0 || room.h < 50) return;
    const double hbm = std::max(a.hbm, b.hbm);
    const double most = std::max({hbm * 1.02, a.peak(), b.peak()});
    Rect foot = room.cut_bottom(18);
    room.cut_bottom(kLetterRow);
    room.cut_top(6);
    const Rect plot{room.x, room.y, room.w - 62, room.h};
    const double px = static_cast<double>(plot.h) / most;
    // If there are more stages than pixels for two bars, only every `every`-th pair is drawn.
    const auto fit = static_cast<std::size_t>(std::max(1.0f, plot.w / 5));
    const std::size_t every = (stages + fit - 1) / fit, shown = (stages + every - 1) / every;
    const float step = std::min(plot.w / static_cast<float>(shown), 90.0f);
    for (std::size_t k = 0; k < shown; ++k) {
        const std::size_t i = k * every;
        const float w = step * 0.4f;
        const Rect ca{plot.x + static_cast<float>(k) * step, plot.y, w, plot.h},
            cb{ca.x + w + 1, ca.y, w, ca.h};
        if (i < a.stage.size()) draw_memory_of(ui, ca, px, a.stage[i], a.hbm, false);
        if (i < b.stage.size()) draw_memory_of(ui, cb, px, b.stage[i], b.hbm, true);
        if (ui.hovers({ca.x, ca.y, 2 * w + 1, ca.h})) {
            std::string words = stages > 1 ? "stage " + std::to_string(i) : "each GPU";
            if (i < a.stage.size()) words += "\nA " + memory_text(a.stage[i].total());
            if (i < b.stage.size()) words += "\nB " + memory_text(b.stage[i].total());
            ui.tooltip(words);
        }
    }
    const auto limit = [&](double bytes, const std::string& words) {
        const float y = plot.bottom() - static_cast<float>(bytes * px);
        c.line({plot.x, y}, {plot.right(), y}, ui.theme().bad, 1, Dash::dashed);
        c.text_in({plot.right() + 4, y - 8, 58, 16}, words, ui.small().in(ui.theme().bad));
    };
    limit(a.hbm, memory_text(a.hbm));
    if (b.hbm != a.hbm) limit(b.hbm, memory_text(b.hbm));
    const std::string words = "A: " + plural(static_cast<std::int64_t>(a.stage.size()), "stage", "stages")
                              + ", fullest " + memory_text(a.peak()) + "   B: "
                              + plural(static_cast<std::int64_t>(b.stage.size()), "stage", "stages")
                              + ", fullest " + memory_text(b.peak());
    const std::string some =
        every > 1 ? "   (each " + ordinal(static_cast<std::int64_t>(every)) + " stage)" : "";
    const std::array<std::string, 3> wordings{
        words + some, words, "fullest: A " + memory_text(a.peak()) + ", B " + memory_text(b.peak())};
    ui.label(foot, wording(ui, foot.w, wordings, ui.small()), ui.small());
}

void draw_two_meshes(Ui& ui, Rect room, Scene& scene, const ComparedPair& pair) {
    const std::vector<GroupKind> kinds = kinds_of(pair);
    Rect head = room.cut_top(22);
    if (kinds.empty()) {
        ui.section(head, "MESH: ONE GPU EACH");
        return;
    }
    GroupKind kind = scene.selection.group;
    if (scene.selection.all_axes || std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        // The axis that tells most: one that differs, else the first.
        const auto differs = std::find_if(kinds.begin(), kinds.end(), [&](GroupKind k) {
            return pair.ea.groups[k].degree != pair.eb.groups[k].degree;
        });
        kind = differs != kinds.end() ? *differs : kinds.front();
    }
    std::vector<std::string> labels;
    std::vector<std::string_view> names;
    for (const GroupKind k : kinds) labels.push_back(axis_label(k));
    for (const std::string& l : labels) names.emplace_back(l);
    const float words = 118, width = segments_width(ui, names);
    if (ui.state().for_picture || words + width > head.w) {
        ui.section(head, "MESH, GROUPS OF " + axis_label(kind));
    } else {
        ui.section(head.cut_left(words), "MESH, GROUPS OF");
        const auto at = static_cast<int>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
        const int picked =
            ui.segments("compare.axis", head.cut_left(width), names, at, color_of(ui.theme(), kind));
        if (picked != at) scene.selection.choose(kinds[static_cast<std::size_t>(picked)]);
    }
    room.cut_top(4);
    const float gap = 18, half = std::floor((room.w - gap) / 2);
    draw_mesh_of(ui, room.cut_left(half), scene, "A", pair.a, pair.ea, kind);
    room.cut_left(gap);
    draw_mesh_of(ui, room, scene, "B", pair.b, pair.eb, kind);
}

void draw_two_timelines(Ui& ui, Rect room, const ComparedPair& pair, ComparedTimelines& kept) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), "TIMELINES ON ONE TIME AXIS");
    if (!pair.ea.step || !pair.eb.step || room.h < 60) return;
    room.cut_left(24);
    room.cut_right(56);
    const double a_s = pair.ea.step->time_s, b_s = pair.eb.step->time_s, longest = std::max(a_s, b_s);
    const Rect ticks = room.cut_bottom(20);
    const PlotScale scale{0, longest, ScaleKind::linear, room.x, room.right()};
    const std::vector<double> at = round_ticks(scale, std::max(2, static_cast<int>(room.w / 140)));
    for (const double t : at) {
        const float x = scale.at(t);
        c.line({x, room.y}, {x, room.bottom()}, ui.theme().hairline);
        c.text_in({x - 40, ticks.y, 80, 18}, t == 0 ? "0" : time_text(t), ui.small(), Align::center);
    }
    const float gap = 10;
    const Rect first = room.cut_top((room.h - gap) / 2);
    room.cut_top(gap);
    draw_line(ui, first, "A", pair.ea, {0, longest, first}, *kept.shown[0], kept.blocks[0]);
    draw_line(ui, room, "B", pair.eb, {0, longest, room}, *kept.shown[1], kept.blocks[1]);
    const auto end = [&](double s, Rect row, Color color) {
        const float x = scale.at(s);
        c.line({x, row.y}, {x, row.bottom()}, color, 1.5f, Dash::dashed);
        c.text_in({x + 4, row.bottom() - 16, 60, 16}, time_text(s), ui.small().in(color));
    };
    end(a_s, first, ui.theme().secondary);
    end(b_s, room, b_s < a_s ? ui.theme().good : b_s > a_s ? ui.theme().bad : ui.theme().secondary);
}

}  // namespace pentamesh::ui
