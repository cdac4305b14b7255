#include "app/ui/panels/change_card.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/difference.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kCardWidth = 304, kCardRow = 20, kCardPad = 12;

struct CardRow {
    std::string name, by, from_to;
    Color color;
};

std::string factor_words(const PlanChange& change, Axis axis) {
    return std::string(name_of(axis)) + " " + thousands(change.before.factor[axis]) + " → "
           + thousands(change.now.factor[axis]);
}

CardRow line_of(const Ui& ui, std::string name, double was, double now, std::string (*text)(double)) {
    const std::string by = difference_text(difference(now, was), text);
    return {std::move(name), by.empty() ? "the same" : by,
            text(was) == text(now) ? text(now) : text(was) + " → " + text(now),
            by.empty() ? ui.theme().secondary : color_of_difference(ui.theme(), now - was, true)};
}

std::vector<CardRow> lines_of(const Ui& ui, const PlanChange& change) {
    const ChangeFigures &a = change.before, &b = change.now;
    std::vector<CardRow> out{line_of(ui, "memory", a.memory, b.memory, memory_text),
                             line_of(ui, "step", a.step_s, b.step_s, time_text)};
    if (a.wires.size() == b.wires.size())
        for (std::size_t i = 0; i < b.wires.size(); ++i)
            if (a.wires[i].second > 0 || b.wires[i].second > 0)
                out.push_back(
                    line_of(ui, b.wires[i].first, a.wires[i].second, b.wires[i].second, traffic_text));
    return out;
}

// Returns what must be said in amber: the layout's name, and a modifier that does nothing now.
std::vector<std::string> remarks_of(const PlanChange& change) {
    std::vector<std::string> out;
    if (change.before.layout != change.now.layout && !change.now.layout.empty())
        out.push_back("now " + change.now.layout
                      + (change.before.layout.empty() ? "" : ", was " + change.before.layout));
    if (change.before.shares_for_nothing.empty() && !change.now.shares_for_nothing.empty())
        out.push_back(change.now.shares_for_nothing);
    return out;
}

}  // namespace

void draw_change_card(Ui& ui, const PlanChange& change) {
    const std::string row = change.touched ? "layout." + std::string(name_of(*change.touched)) : "layout.tp";
    const auto badge = ui.rect_of(row + ".badge");
    if (!badge || change.what.empty() || !ui.state().motion.has_outlines()) return;
    Canvas c = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const std::vector<CardRow> lines = lines_of(ui, change);
    const std::vector<std::string> remarks = remarks_of(change);
    TextStyle amber = ui.small();
    amber.color = ui.theme().amber;
    const float w = kCardWidth - 2 * kCardPad;
    float h = 2 * kCardPad + 24 + kCardRow * static_cast<float>(lines.size());
    for (const std::string& remark : remarks) h += c.paragraph_height(w, remark, amber, 17) + 4;
    const Vec2 press = ui.state().press;
    if (!change.touched && (press.x < 0 || press.x > badge->right() + 8)) return;  // it was made elsewhere
    const float at = change.touched ? badge->center().y : press.y;
    const float x = badge->right() + 22, y = at - 24;
    if (x + kCardWidth > ui.frame().size.x) return;
    const Rect box{x, std::clamp(y, 4.0f, std::max(4.0f, ui.frame().size.y - h - 4)), kCardWidth, h};
    const Color color =
        change.touched ? color_of(ui.theme(), group_of(*change.touched)) : ui.theme().secondary;
    if (change.touched) {
        const std::array<Vec2, 3> tip{Vec2{x - 6, at}, Vec2{x + 1, at - 6}, Vec2{x + 1, at + 6}};
        c.polygon(tip, color);
    }
    c.rect(box, ui.theme().panel, 6);
    c.frame(box, color, 1.5f, 6);
    Rect room = box.inset(kCardPad, kCardPad);
    Rect head = room.cut_top(24);
    const std::string title = change.touched ? factor_words(change, *change.touched) : change.what;
    const TextStyle bold = ui.style(14, Tone::text, Face::semibold);
    c.text_in(head.cut_left(std::min(w, c.text_width(title, bold) + 8)), title, bold);
    if (const auto paid = change.paid())
        c.text_in(head, factor_words(change, *paid), ui.small(), Align::right);
    for (const CardRow& line : lines) {
        Rect cells = room.cut_top(kCardRow);
        c.text_in(cells.cut_left(70), line.name, ui.small());
        TextStyle by = ui.style(12, Tone::text, Face::semibold);
        by.color = line.color;
        c.text_in(cells.cut_left(74), line.by, by, Align::right);
        cells.cut_left(8);
        c.text_in(cells, line.from_to, ui.style(11, Tone::secondary), Align::right);
    }
    for (const std::string& remark : remarks) {
        room.cut_top(4);
        room.cut_top(c.paragraph(room, remark, amber, 17));
    }
    if (box.contains(ui.frame().mouse)) ui.state().motion.hold();
}

}  // namespace pentamesh::ui
