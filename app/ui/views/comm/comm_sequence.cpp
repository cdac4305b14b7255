#include "app/ui/views/comm/comm_sequence.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/scene/colors.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace pentamesh::ui {
namespace {

constexpr float kSequenceLine = 17, kBelowBars = 12;

}  // namespace

void draw_sequence_parallel(Ui& ui, Rect& room, const SequenceParallelBytes& bytes) {
    const Ink ink = ink_of(ui);
    const Theme& theme = ui.theme();
    const Color color = color_of(theme, GroupKind::tp);
    const auto sent = [&](Rect bar) { ink.canvas.rect(bar, color); };
    const auto gathered = [&](Rect bar) { ink.canvas.pattern(bar, Pattern::hatched, color); };
    const double with = bytes.with_bytes + bytes.again_bytes;
    RowChart chart{
        .columns = {{}, {.share = 1, .gap = 10, .high = std::max(bytes.without_bytes, with)}, {.gap = 10}}};
    chart.rows.push_back({.cells = {{"without SP"},
                                    {.marks = {{0, bytes.without_bytes, sent}}},
                                    {traffic_text(bytes.without_bytes) + " all-reduced"}},
                          .style = bytes.on ? ink.faint : ink.plain});
    RowChart::Cell bars{.marks = {{0, bytes.with_bytes, sent}}};
    if (bytes.again_bytes > 0) bars.marks.push_back({bytes.with_bytes, with, gathered});
    chart.rows.push_back(
        {.cells = {{"with SP"},
                   std::move(bars),
                   {traffic_text(bytes.with_bytes) + " gathered and scattered"
                    + (bytes.again_bytes > 0 ? ", " + traffic_text(bytes.again_bytes) + " again" : "")}},
         .style = bytes.on ? ink.plain : ink.faint});
    const std::string words = words_of(bytes);
    const float bars_h = chart_height(ink, chart);
    if (room.h < bars_h + 2 * kSequenceLine + kBelowBars) return;
    put_paragraph(ui, room, words, ui.small(), kSequenceLine, 4);
    draw_chart(ink, room.cut_top(bars_h), chart);
    room.cut_top(kBelowBars);
}

void draw_sequence_parallel_line(Ui& ui, Rect& room, const SequenceParallelBytes& bytes) {
    ui.label(room.cut_top(kSequenceLine), words_of(bytes), ui.small());
    room.cut_top(6);
}

}  // namespace pentamesh::ui
