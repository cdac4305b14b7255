// The page that decides between two plans: what to take and why, the way from A to B in parts of the step,
// where each runs and whether it fits, and what each axis costs.
#include "app/tables/compare.h"
#include "app/tables/memory.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/signs.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/mesh/mesh_axes.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "app/ui/views/mesh/mesh_parts.h"
#include "core/explain/verdict.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTile = 28, kStripShare = 0.6f;  // of a node; of the page's width

// Returns "16 nodes, 128 GPUs, one of 128 replicas".
std::string period_words(const Reviewed& of, const Period& p) {
    const std::int64_t gpus = p.nodes * domain_of(of.plan.cluster, 0);
    std::string out = plural(p.nodes, "node", "nodes") + ", " + thousands(gpus) + " GPUs: ";
    return out + (p.count > 1 ? "one of " + thousands(p.count) + " " + p.noun + "s" : "the whole " + p.noun);
}

float strip_row_height(const ReviewSheet& sheet) {
    return sheet.paper().line() + strip_height(kTile) + sheet.paper().small * 0.7f;
}

void draw_strip_of(ReviewSheet& sheet, Rect room, const Reviewed& of, const std::string& letter) {
    const PrintedScene printed(of);
    const Period period = replica_of(printed.scene, 0);
    Rect head = room.cut_top(sheet.paper().line());
    sheet.label(head.cut_left(sheet.paper().body * 1.3f), letter, sheet.strong());
    if (period.nodes > 1) {
        sheet.label(head, period_words(of, period), sheet.faint());
        draw_strip(sheet.canvas(), sheet.theme(), sheet.paper().small, room, kTile, printed.scene, period);
        return;
    }
    sheet.label(head, plural(of.evaluation.mesh.world, "GPU", "GPUs"), sheet.faint());
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    room.cut_top(sheet.paper().line() * 0.2f);
    draw_mesh_figure(sheet, room, of,
                     axes.empty() || of.evaluation.mesh.world > kMostCards ? std::nullopt
                                                                           : std::optional(axes.front()));
}

// Draws the fullest GPU's memory, with a sentence over it.
void draw_fit_of(ReviewSheet& sheet, Rect room, const Reviewed& of, double whole) {
    const Memory& m = of.evaluation.memory;
    const StageMemory& full = m.stage[static_cast<std::size_t>(m.peak_stage)];
    const MemoryFit fit = fit_of_plan(of.evaluation);
    TextStyle style = sheet.strong();
    if (const auto sign = verdict_of(of.evaluation).sign(); sign != MemoryFit::yes)
        style.color = color_of(sheet.theme(), sign);
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), gib(m.peak()) + " of " + memory_text(m.hbm), style);
    draw_memory_bar(sheet, room.cut_top(std::min(kTile, room.h - line)), full, m.hbm, whole);
    const double over = m.peak() - m.hbm;
    style.face = Face::regular;
    sheet.label(room.cut_top(line),
                fit == MemoryFit::yes  ? fit_words(of.evaluation) + ", " + memory_text(-over) + " free"
                : fit == MemoryFit::no ? "does not fit: " + memory_text(over) + " over"
                                       : "fits if buffers stay under " + memory_text(room_for_buffers(m)),
                style);
}

// Draws each plan's strip, and next to it the memory of its fullest GPU, both on one scale.
void draw_both(ReviewSheet& sheet, const ReviewContent& content) {
    double whole = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const Memory& m = content.evaluations[i].memory;
        whole = std::max({whole, m.hbm, m.stage[static_cast<std::size_t>(m.peak_stage)].most()});
    }
    for (std::size_t i = 0; i < 2; ++i) {
        const Reviewed of = content.of(content.compared(i));
        Rect row = sheet.take(strip_row_height(sheet));
        draw_strip_of(sheet, row.cut_left(row.w * kStripShare), of, plan_letter(i));
        row.cut_left(sheet.paper().body * 1.5f);
        draw_fit_of(sheet, row, of, whole);
    }
}

// Holds the time of an axis in A and in B. ZeRO and context parallelism rename the groups in which gradients
// and parameters move: where these differ they are one, dp.
struct AxisPair {
    std::string name;
    const MeshAxis* shown = nullptr;
    std::array<std::optional<double>, 2> time_s{};  // none: the axis is off
    std::string words{};
};

std::string axis_time_words(const std::optional<double>& time_s) {
    return !time_s ? "off" : *time_s > 0 ? time_text(*time_s) : "sends nothing";
}

std::vector<AxisPair> pairs_of(const ReviewContent& content,
                               const std::array<std::vector<MeshAxis>, 2>& axes) {
    const auto data_axes = [&](std::size_t i) {
        std::vector<GroupKind> out;
        for (const MeshAxis& a : axes[i])
            if (is_data_parallel(a.kind)) out.push_back(a.kind);
        return out;
    };
    const bool join = data_axes(0) != data_axes(1);
    std::vector<AxisPair> out;
    for (std::size_t i = 0; i < 2; ++i)
        for (const MeshAxis& a : axes[i]) {
            const std::string name = join && is_data_parallel(a.kind) ? "dp" : axis_label(a.kind);
            auto at = std::find_if(out.begin(), out.end(), [&](const AxisPair& p) { return p.name == name; });
            if (at == out.end()) at = out.insert(out.end(), {name, &a});
            at->time_s[i] =
                at->time_s[i].value_or(0) + cost_of(content.of(content.compared(i)).evaluation, a).time_s;
            if (name == "dp" && cost_of(content.of(content.compared(i)).evaluation, a).time_s > 0)
                at->shown = &a;
        }
    for (AxisPair& p : out)
        p.words = "A " + axis_time_words(p.time_s[0]) + " → B " + axis_time_words(p.time_s[1]);
    return out;
}

// Returns the height; draws where `draw` says so.
float draw_costs_of_both(ReviewSheet& sheet, const ReviewContent& content, bool draw) {
    std::array<std::vector<MeshAxis>, 2> axes;
    for (std::size_t i = 0; i < 2; ++i)
        axes[i] = axes_that_send(sheet.theme(), PrintedScene(content.of(content.compared(i))).scene);
    const std::vector<AxisPair> pairs = pairs_of(content, axes);
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), sample = sheet.paper().body * 1.6f, apart = sheet.paper().body;
    float widest = 1;
    for (const AxisPair& p : pairs)
        widest = std::max(widest, sample + c.text_width(p.name, sheet.strong()) + 8
                                      + c.text_width(p.words, sheet.plain()) + apart);
    const auto columns = std::max<std::size_t>(
        1, std::min<std::size_t>(pairs.size(), static_cast<std::size_t>(sheet.width() / widest)));
    const std::size_t rows = (pairs.size() + columns - 1) / std::max<std::size_t>(1, columns);
    const float high = line * static_cast<float>(rows);
    if (!draw) return high;
    const Rect room = sheet.take(high);
    const float w = room.w / static_cast<float>(columns);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::size_t column = i % columns, row = i / columns;
        Rect cell{room.x + w * static_cast<float>(column), room.y + line * static_cast<float>(row), w, line};
        const MeshAxis& shown = *pairs[i].shown;
        const Rect mark = cell.cut_left(sample);
        c.line({mark.x, mark.center().y}, {mark.right() - 6, mark.center().y}, shown.color, 3,
               shown.mark.dash);
        const std::string& name = pairs[i].name;
        sheet.label(cell.cut_left(c.text_width(name, sheet.strong()) + 8), name, sheet.strong());
        sheet.label(cell, pairs[i].words, sheet.plain());
    }
    return high;
}

}  // namespace

void pair_page(ReviewSheet& sheet, const ReviewContent& content) {
    std::string plans;
    for (std::size_t i = 0; i < 2; ++i)
        plans += (i == 0 ? "" : "   ·   ") + plan_letter(i) + ": " + full_title(*content.comparison, i);
    sheet.begin(decision_of(content, nullptr), plans);
    const auto taken = better_of(content);
    draw_verdict(sheet, taken ? &content.evaluations[*taken] : nullptr, reason_of(content, nullptr));
    pair_figures(sheet, content);
}

void pair_figures(ReviewSheet& sheet, const ReviewContent& content) {
    const Evaluation &a = content.evaluations[content.compared(0)],
                     &b = content.evaluations[content.compared(1)];
    const float line = sheet.paper().line(), gap = line * 0.3f;
    const float below = 2 * strip_row_height(sheet) + draw_costs_of_both(sheet, content, false) + 2 * gap + 2;
    const float most = line * 17, least = line * 7;
    Rect chart = sheet.take(std::clamp(sheet.left() - below, least, most));
    Rect head = chart.cut_top(line);
    const double by = b.step->time_s - a.step->time_s;
    const bool same_gpus = a.mesh.world == b.mesh.world,
               same_tokens = a.step->tokens_per_step == b.step->tokens_per_step,
               same = same_gpus && same_tokens;
    const std::string title = by < 0   ? same ? "Why B is faster" : "Why a step of B is shorter"
                              : by > 0 ? same ? "Why B is slower" : "Why a step of B is longer"
                                       : "The step of A and of B";
    const std::string differ =
        !same_gpus     ? "A has " + with_commas(a.mesh.world) + " GPUs, B " + with_commas(b.mesh.world)
        : !same_tokens ? "A trains " + count_text(a.step->tokens_per_step) + " tokens in one, B "
                             + count_text(b.step->tokens_per_step)
                       : "time of a step, from A to B";
    sheet.label(head.cut_left(sheet.canvas().text_width(title, sheet.strong()) + sheet.paper().body), title,
                sheet.strong());
    sheet.label(head, differ, sheet.faint());
    draw_way_figure(sheet, chart, *content.comparison, a.step->time_s, b.step->time_s);
    sheet.gap(0.3f);
    draw_both(sheet, content);
    sheet.gap(0.3f);
    draw_costs_of_both(sheet, content, true);
}

}  // namespace pentamesh::ui
