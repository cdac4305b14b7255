#include "app/ui/review/pages.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

void scale_page(ReviewSheet& sheet, const ReviewContent& content) {
    sheet.section("Scale: how far the plan scales, and what sets the limit");
    if (!content.scaling) return;
    const ScalePicture& picture = *content.scaling;
    const Scale& s = picture.scale;
    const Plan& plan = content.plans[0];
    const ScaleWords words = words_of(plan, s);
    sheet.words(words.verdict, sheet.strong());
    sheet.words(words.held, sheet.faint());
    sheet.gap(0.3f);
    const float line = sheet.paper().line();
    const ScaleInk ink{sheet.canvas(), sheet.theme(), sheet.paper().small, sheet.paper().body, true};
    if (s.points.size() > 1) {
        sheet.need(line * 12);
        draw_scale_plot(ink, sheet.take(std::min(sheet.left(), line * 20)), plan, s);
    }
    sheet.head("Where it tips", 3 * line);
    if (s.crossings.empty()) sheet.words("Nothing, in this range.");
    for (const NamedTurn& t : named_turns(s)) {
        const std::string number = t.number > 0 ? std::to_string(t.number) + "   " : "";
        const std::string figures = figures_of(s, *t.of);
        std::string text = t.of->what + (figures.empty() ? "" : ". " + figures);
        if (!text.ends_with('.')) text += ".";
        sheet.entry(number + t.of->place, text, "");
    }
    sheet.head("Memory of the fullest GPU", 6 * line);
    draw_scale_memory(ink, sheet.take_grown(line * 6, line * 14), plan, s);
    if (picture.others.empty()) return;
    const float height = scale_bars_height(ink);
    sheet.head("The same question asked of other numbers of the plan", height + 3 * line);
    sheet.words("Seconds for the tokens of a step; below each value the memory of the fullest GPU, in GiB.",
                sheet.faint());
    draw_scale_legend(ink, sheet.take(line), picture.others);
    sheet.gap(0.3f);
    draw_scale_bars(ink, sheet.take_grown(height, 1.6f * height), plan, picture.others);
}

}  // namespace pentamesh::ui
