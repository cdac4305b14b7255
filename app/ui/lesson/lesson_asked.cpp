#include "app/ui/lesson/lesson_parts.h"

#include "app/ui/kit/rich_text.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kChipGap = 6, kOneRow = 480, kHeadWidth = 144;

// A chip is as wide as its words; chips go on in the next row.
class ChipRow {
  public:
    ChipRow(Ui& ui, Rect room, float size, bool draw)
        : ui_(ui), room_(room), size_(size), draw_(draw), x_(room.x), y_(room.y) {}

    // Returns true if it was pressed.
    bool chip(std::uint64_t index, const std::string& label, bool chosen) {
        const TextStyle style = ui_.style(size_, chosen ? Tone::text : Tone::secondary);
        const float w = std::min(room_.w, std::ceil(ui_.canvas().text_width(label, style)) + 20);
        if (x_ > room_.x && x_ + w > room_.right()) x_ = room_.x, y_ += height() + kChipGap;
        const Rect r{x_, y_, w, height()};
        x_ += w + kChipGap;
        if (!draw_) return false;
        const Hit hit = ui_.area("lesson.asked", r, index);
        const Theme& t = ui_.theme();
        ui_.canvas().rect(r, t.raised, 6);
        ui_.canvas().frame(r,
                           chosen        ? t.text
                           : hit.hovered ? t.secondary
                                         : t.hairline,
                           chosen ? 2.0f : 1.0f, 6);
        if (ui_.canvas().text_in(r.inset(10, 0), label, style) && hit.hovered) ui_.tooltip(label);
        if (hit.focused) ui_.focus_ring(r, 6);
        return hit.clicked;
    }
    // Returns what is left of the last row.
    [[nodiscard]] Rect rest() const { return {x_ + kChipGap, y_, room_.right() - x_ - kChipGap, height()}; }
    [[nodiscard]] float used() const { return y_ + height() - room_.y; }

  private:
    Ui& ui_;
    Rect room_;
    float size_;
    bool draw_;
    float x_, y_;

    [[nodiscard]] float height() const { return std::round(size_ * 2); }
};

}  // namespace

float draw_asked(Ui& ui, Rect room, const LessonSession& session, float size, LessonAction& action,
                 bool draw) {
    const float top = room.y;
    const auto& plans = session.asked.plans;
    if (plans.empty() || !session.state().shown()) return 0;
    room.cut_top(8);
    const bool one_row = room.w >= kOneRow;
    const Rect head = one_row ? Rect{room.x, room.y, kHeadWidth, std::round(size * 2)} : room.cut_top(20);
    if (draw) ui.section(head, "THE PICTURE SHOWS");
    Rect chips = room;
    if (one_row) chips.cut_left(kHeadWidth);
    ChipRow row(ui, chips, size, draw);
    const auto chip = [&](std::size_t index, const std::string& label) {
        const bool chosen = session.asked_shown == static_cast<int>(index) - 1;
        if (row.chip(index, label, chosen)) action = {LessonAction::Kind::ask_plan, index};
    };
    chip(0, "as it was");
    for (std::size_t i = 0; i < plans.size(); ++i) chip(i + 1, plans[i].label);
    room.cut_top(row.used() + 6);
    std::string says = "V: the plan that was asked about, or the step's own.";
    if (session.asked_shown >= 0) {
        const AskedPlan& shown = plans[static_cast<std::size_t>(session.asked_shown)];
        const std::string sets = sets_text(shown.sets);
        if (sets != shown.label) says = sets + ". " + says;
    }
    if (one_row) {  // V stands among the keys as well
        const TextStyle plain = ui.style(size - 1, Tone::secondary);
        if (draw && ui.canvas().text_width(says, plain) <= row.rest().w)
            ui.canvas().text_in(row.rest(), says, plain);
        return room.y - top;
    }
    const RichStyle style{std::max(10.0f, size - 1), std::round(size * 1.4f), 4, Tone::secondary};
    room.cut_top(rich_text(ui, room, says, style, draw) + 8);
    return room.y - top;
}

}  // namespace pentamesh::ui
