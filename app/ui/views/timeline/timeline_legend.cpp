// Names the marks of the timeline: all that its rows show, and nothing else.
#include "app/ui/kit/format.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/pipeline/timeline.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace pentamesh::ui {

namespace {

// Adds what lies at the foot of blocks and below them.
void add_parts_of_blocks(const ShownTimeline& shown, const RowParts& row, double px_per_s,
                         TimelineMarks& out) {
    const float bar = row.bar;
    if (bar >= kLowRow_px) {
        for (const GroupKind k : all_of<GroupKind>())
            if (bar * shown.most.axis[k] >= kLeastStrip_px) out.add(TimelineMark::waits, k);
        if (bar * shown.most.slowed >= kLeastStrip_px) out.add(TimelineMark::slowed);
        if (bar * shown.most.recomputed >= kLeastStrip_px) out.add(TimelineMark::again);
        if (bar * shown.most.host >= kLeastStrip_px) out.add(TimelineMark::host);
        if (bar * shown.most.offload >= kLeastStrip_px) out.add(TimelineMark::offload);
    }
    if (row.hidden.sum() > 0)
        for (const GroupKind k : all_of<GroupKind>())
            if (shown.longest_hidden_s[k] * px_per_s >= double{kLeastMark_px})
                out.add(TimelineMark::hides, k);
    if (row.sends > 0) out.add(TimelineMark::sends);
}

}  // namespace

TimelineMarks marks_of(const Theme& theme, const ShownTimeline& shown, const Timeline& t, float row_h,
                       double px_per_s) {
    const RowParts row = parts_of_row(shown, static_cast<int>(t.device.size()), row_height(row_h));
    const bool low = row.bar < kLowRow_px;
    const auto has = [&](OpKind k) { return shown.has[static_cast<std::size_t>(k)]; };
    TimelineMarks out;
    if (has(OpKind::F) || has(OpKind::FB)) out.add(TimelineMark::forward);
    if (has(OpKind::B) || has(OpKind::FB) || (low && has(OpKind::I))) out.add(TimelineMark::backward);
    if (has(OpKind::I) && !low) out.add(TimelineMark::input_gradient);
    if (has(OpKind::W)) out.add(TimelineMark::weight_gradient);
    if (has(OpKind::FB) && !low) out.add(TimelineMark::pair);
    if (chunks_of(t.shape) > 1) out.add(TimelineMark::later_chunk);
    if (t.shape.devices > 1) out.add(TimelineMark::idle);
    if (shown.choice.slow.any() && t.shape.devices > 1) out.add(TimelineMark::slow_stage);
    add_parts_of_blocks(shown, row, px_per_s, out);
    for (const TailPart& part : tail_parts(theme, shown.tail))
        if (part.seconds * px_per_s >= double{kLeastMark_px}) part.mark_in(out);
    return out;
}

namespace {

// Draws entries one after another, each with the mark itself.
class TimelineLegend {
  public:
    TimelineLegend(Ui& ui, Rect room, const TimelineMarks& marks, bool draw)
        : c_(ui.canvas()), theme_(ui.theme()), marks_(marks),
          ink_(ink_of(ui)), lines_{.ink = ink_, .room = room, .apart = 14, .draw = draw} {
        ink_.faint = ui.style(11, Tone::secondary);
        ink_.line = kLegendRow;
    }

    int draw() {
        pass(TimelineMark::forward, OpKind::F);
        pass(TimelineMark::backward, OpKind::B);
        pass(TimelineMark::input_gradient, OpKind::I);
        pass(TimelineMark::weight_gradient, OpKind::W);
        item(TimelineMark::pair, "both at once", [&](Rect box) {
            c_.rect(box, theme_.forward);
            c_.rect({box.x, box.y + box.h / 2, box.w, box.h / 2}, theme_.backward);
            c_.frame(box, theme_.text, 1);
        });
        item(TimelineMark::later_chunk, "later chunk", [&](Rect box) {
            c_.rect(box, theme_.forward);
            c_.rect({box.x + box.w / 2, box.y, box.w / 2, box.h}, mix(theme_.forward, theme_.window, 0.45f));
        });
        plain(TimelineMark::again, "forward again", recompute_color(theme_));
        for (const GroupKind k : all_of<GroupKind>())
            if (marks_.has(TimelineMark::waits, k))
                lines_.item(axis_label(k) + " waits", [&](Rect box) {
                    c_.rect(box, color_of(theme_, k));
                    c_.pattern(box, Pattern::cross_hatched, theme_.window.alpha(0.35f));
                });
        plain(TimelineMark::slowed, "slowed by traffic", color_of_part(theme_, kSlowed));
        plain(TimelineMark::host, "waits for the host's launches", color_of_part(theme_, kHostBound));
        plain(TimelineMark::offload, "waits for host memory", color_of_part(theme_, kHostMemory));
        for (const GroupKind k : all_of<GroupKind>())
            if (marks_.has(TimelineMark::hides, k))
                lines_.item(axis_label(k) + ", hidden", [&](Rect box) {
                    c_.rect({box.x, box.y + 3, box.w, 5}, color_of(theme_, k).alpha(0.75f));
                });
        item(TimelineMark::sends, "sends: on solid, back dashed", [&](Rect box) {
            const Color color = color_of(theme_, GroupKind::pp);
            c_.rect({box.x, box.y + 2, box.w, 2}, color);
            for (const float x : {0.0f, 4.0f, 8.0f}) c_.rect({box.x + x, box.y + 6, 2, 2}, color);
        });
        plain(TimelineMark::optimizer, "optimizer", color_of_part(theme_, kOptimizer));
        hatched(TimelineMark::stragglers, "stragglers", Pattern::cross_hatched, 0.6f);
        hatched(TimelineMark::idle, "idle", kIdlePattern, kIdleStrength);
        hatched(TimelineMark::slow_stage, "waits because of the slow stage", Pattern::hatched, 0.9f);
        return lines_.lines;
    }

  private:
    void item(TimelineMark mark, std::string_view name, const RowChart::Paint& paint) {
        if (marks_.has(mark)) lines_.item(name, paint);
    }
    void plain(TimelineMark mark, std::string_view name, Color color) {
        item(mark, name, [&](Rect box) { c_.rect(box, color); });
    }
    void pass(TimelineMark mark, OpKind kind) {
        item(mark, name_of(kind), [&](Rect box) {
            c_.rect(box, color_of(theme_, kind));
            texture(c_, theme_, kind, box);
        });
    }
    void hatched(TimelineMark mark, std::string_view name, Pattern pattern, float strength) {
        item(mark, name, [&](Rect box) {
            c_.pattern(box, pattern, theme_.bad.alpha(strength));
            c_.frame(box, theme_.bad.alpha(strength), 1);
        });
    }

    Canvas& c_;
    const Theme& theme_;
    const TimelineMarks& marks_;
    Ink ink_;
    LegendLines lines_;
};

}  // namespace

int timeline_legend(Ui& ui, Rect room, const TimelineMarks& marks, bool draw) {
    return TimelineLegend(ui, room, marks, draw).draw();
}

}  // namespace pentamesh::ui
