// Draws how long each axis sends in a step, and how much of that the step waits for.
#include "app/ui/kit/format.h"
#include "app/ui/review/figures.h"
#include "app/ui/scene/colors.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

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
