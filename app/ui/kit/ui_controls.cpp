// Draws buttons, segments, steppers, dropdowns, badges, text fields, links.
#include "app/ui/kit/ui.h"

#include "render/reworded.h"
#include "render/text_edit.h"
#include "render/typed_ahead.h"

#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {
constexpr float kControlRadius = 6;

TextFieldStyle text_style(const Theme& theme) {
    TextFieldStyle s;
    s.text = theme.text;
    s.hint = theme.faint;
    s.selection = theme.secondary.alpha(0.35f);
    return s;
}
}  // namespace

bool Ui::button(std::string_view name, Rect r, std::string_view label, std::uint64_t index, bool enabled,
                bool subtle) {
    const Hit hit = area(name, r, index, enabled);
    if (!subtle || hit.hovered) {
        canvas_.rect(r, hit.held ? theme_.hairline : theme_.raised, kControlRadius);
        canvas_.frame(r, hit.hovered ? mix(theme_.hairline, theme_.secondary, 0.5f) : theme_.hairline, 1,
                      kControlRadius);
    }
    TextStyle s = style(13, subtle && !hit.hovered ? Tone::secondary : Tone::text);
    if (!enabled) s.color = s.color.alpha(0.45f);
    canvas_.text_in(r.inset(8, 0), label, s, Align::center);
    if (hit.focused) focus_ring(r, kControlRadius);
    return hit.clicked;
}

int Ui::segments(std::string_view name, Rect r, std::span<const std::string_view> labels, int selected,
                 std::optional<Color> ground, std::uint32_t disabled_mask) {
    if (state_.for_picture) {  // the choice as words: a picture has no switches
        if (selected < 0 || selected >= static_cast<int>(labels.size())) return selected;
        if (ground) {
            swatch({r.x, r.center().y - 5}, *ground);
            r.cut_left(16);
        }
        label(r, labels[static_cast<std::size_t>(selected)], style(13, Tone::secondary));
        return selected;
    }
    canvas_.rect(r, theme_.raised, kControlRadius);
    canvas_.frame(r, theme_.hairline, 1, kControlRadius);
    // Wider labels get more room: every segment has its text and an equal share of the rest.
    const auto n = static_cast<int>(labels.size());
    float used = 0;
    const TextStyle plain = style(12, Tone::secondary);
    for (const auto& l : labels) used += canvas_.text_width(l, plain);
    const float share = (r.w - used) / static_cast<float>(n);
    int result = selected;
    float x = r.x;
    for (int i = 0; i < n; ++i) {
        const auto label = labels[i];
        const float w = i + 1 == n ? r.right() - x : std::round(canvas_.text_width(label, plain) + share);
        const Rect cell{x, r.y, w, r.h};
        const bool enabled = ((disabled_mask >> i) & 1U) == 0;
        const Hit hit = area(name, cell, static_cast<std::uint64_t>(i), enabled);
        TextStyle s = plain;
        if (i == selected) {
            const Color g = ground.value_or(theme_.text);
            canvas_.rect(cell, g, kControlRadius);
            s.color = ground ? ink_on(g) : theme_.panel;
            s.face = Face::semibold;
        } else if (hit.hovered) {
            s.color = theme_.text;
        }
        if (!enabled) s.color = s.color.alpha(0.45f);
        if (i > 0 && i != selected && i - 1 != selected)
            canvas_.line({x, r.y + 5}, {x, r.bottom() - 5}, theme_.hairline);
        canvas_.text_in(cell, label, s, Align::center);
        if (hit.focused) focus_ring(cell, kControlRadius);
        if (hit.clicked) result = i;
        x += w;
    }
    return result;
}

Ui::Step Ui::stepper(std::string_view name, Rect r, std::string_view value, bool can_down, bool can_up,
                     bool on, bool types, bool scrubs) {
    Step step;
    const Color ground = theme_.raised;
    canvas_.rect(r, on ? ground : ground.alpha(0.45f), kControlRadius);
    canvas_.frame(r, on ? theme_.hairline : theme_.hairline.alpha(0.45f), 1, kControlRadius);
    const float end = 20;
    const std::string base(name);
    const auto part = [&](const char* suffix, Rect cell, bool enabled, std::string_view sign) {
        const Hit hit = area(base + suffix, cell, 0, enabled, false);
        TextStyle s = style(13, hit.hovered ? Tone::text : Tone::faint);
        if (!enabled) s.color = theme_.faint.alpha(0.4f);
        canvas_.text_in(cell, sign, s, Align::center);
        return hit.clicked;
    };
    if (part(".minus", {r.x, r.y, end, r.h}, can_down, "−")) step.by = -1;
    if (part(".plus", {r.right() - end, r.y, end, r.h}, can_up, "+")) step.by = 1;
    const Rect middle{r.x + end, r.y, r.w - 2 * end, r.h};
    const Id own = id(name);
    const bool dragged = state_.dragged == own;
    const Hit hit = types && !dragged ? value_area(name, middle) : area(name, middle);
    constexpr float kStep = 16;  // pixels
    if (!frame_.down[0] && dragged) state_.dragged = 0;
    if (scrubs && hit.held && !dragged && std::abs(hit.drag.x) >= kStep / 2)
        state_.dragged = own, state_.drag_steps = 0;
    if (hit.held && state_.dragged == own) {
        const int wanted = static_cast<int>(hit.drag.x / kStep);
        if (wanted != state_.drag_steps) {
            const int by = wanted > state_.drag_steps ? 1 : -1;
            state_.drag_steps += by;
            step.by = by > 0 ? (can_up ? 1 : 0) : (can_down ? -1 : 0);
            step.drags = true;
            state_.wants_frame = true;
        }
    }
    TextStyle s = style(13, on ? Tone::text : Tone::faint);
    while (s.size > 10 && canvas_.text_width(value, s) > middle.w) s.size -= 1;
    canvas_.text_in(middle, value, s, Align::center);
    if (hit.clicked && !dragged) step.edit_requested = true;
    if (hit.focused) {
        focus_ring(r, kControlRadius);
        if (pressed({Key::right}, true) || pressed({Key::up}, true)) step.by = can_up ? 1 : 0;
        if (pressed({Key::left}, true) || pressed({Key::down}, true)) step.by = can_down ? -1 : 0;
        if (step.by != 0) state_.focus_visible = true;
    }
    if (const float by = take_wheel(r); by != 0) step.by = by > 0 ? (can_up ? 1 : 0) : (can_down ? -1 : 0);
    return step;
}

bool Ui::dropdown(std::string_view name, Rect r, std::string_view label, std::string_view right) {
    const Hit hit = area(name, r);
    canvas_.rect(r, theme_.raised, kControlRadius);
    canvas_.frame(r, hit.hovered ? mix(theme_.hairline, theme_.secondary, 0.5f) : theme_.hairline, 1,
                  kControlRadius);
    Rect inner = r.inset(10, 0);
    const Rect caret = inner.cut_right(14);
    const Vec2 c = caret.center();
    const std::array<Vec2, 3> triangle{Vec2{c.x - 2, c.y - 2}, Vec2{c.x + 5, c.y - 2},
                                       Vec2{c.x + 1.5f, c.y + 2.5f}};
    canvas_.polygon(triangle, hit.hovered ? theme_.text : theme_.secondary);
    if (!right.empty()
        && canvas_.text_width(right, style()) + canvas_.text_width(label, style()) + 14 < inner.w) {
        const float w = canvas_.text_width(right, style()) + 4;
        canvas_.text_in(inner.cut_right(w), right, style(13, Tone::secondary), Align::right);
        inner.cut_right(8);
    }
    if (canvas_.text_in(inner, label, style()) && hit.hovered) tooltip(std::string(label));
    if (hit.focused) focus_ring(r, kControlRadius);
    return hit.clicked;
}

void Ui::badge(Rect r, std::string_view label, Color color, Dash dash) {
    canvas_.frame(r.inset(0.5f), color, 1, r.h / 2, dash);
    TextStyle s = style(11.5f);
    s.color = color;
    if (canvas_.text_width(label, s) > r.w - 10) s.size = 10.5f;  // clear of the round ends
    canvas_.text_in(r.inset(3, 0), label, s, Align::center);
}

void Ui::badge_off(Rect r, std::string_view label) {
    canvas_.frame(r.inset(0.5f), theme_.hairline.alpha(0.6f), 1, r.h / 2);
    TextStyle s = style(11.5f, Tone::faint);
    s.color = s.color.alpha(0.7f);
    canvas_.text_in(r.inset(4, 0), label, s, Align::center);
}

bool Ui::link(std::string_view name, Vec2 at, std::string_view label, std::uint64_t index, float size,
              float most) {
    TextStyle s = style(size);
    const float w = std::min(canvas_.text_width(label, s), most);
    const Rect r{at.x, at.y, w, 18};
    const Hit hit = area(name, r, index);
    canvas_.text_in({r.x, r.y, w < most ? w + 2 : w, r.h}, label, s);
    canvas_.line({r.x, r.bottom() - 2}, {r.right(), r.bottom() - 2},
                 hit.hovered ? theme_.text : theme_.secondary);
    if (hit.focused) focus_ring(r, 3);
    return hit.clicked;
}

void Ui::swatch(Vec2 at, Color color, float size) {
    canvas_.rect({at.x, at.y, size, size}, color, 3);
}

void Ui::begin_text(Id id, Rect r) {
    if (part_ != nullptr) part_->has_field = true;
    state_.areas.push_back({id, r, layer_, true, true, false, part_ != nullptr ? part_->id : 0});
    if (!state_.for_picture) canvas_.rect(r, theme_.raised, kControlRadius);
}

bool Ui::takes_keyboard(Id id, bool focus_now, bool enabled) {
    const bool tabbed = state_.focus == id && state_.focus_visible && state_.edit != id;
    if (state_.edit == id && state_.focus != id) leave_text_field();  // Tab went on
    if (focus_now && !enabled) state_.edit_next = id, expect_text();
    const bool wanted = enabled && state_.edit_next == id;
    if (wanted) state_.edit_next = 0;
    return focus_now || tabbed || wanted;
}

void Ui::end_text(std::string_view name, Id id, Rect r, bool active, bool acted) {
    if (!state_.for_picture) canvas_.frame(r, active ? theme_.text : theme_.hairline, 1, kControlRadius);
    if (active)
        state_.edit = state_.focus = id;
    else if (state_.edit == id)
        state_.edit = 0;
    if (text_expected()) state_.wants_frame = true;
    if (state_.on_area) state_.on_area(name, id, acted);
}

bool Ui::text_field(std::string_view name, Rect r, std::string& text, std::string_view hint, bool focus_now,
                    bool* changed, const std::function<std::string(const std::string&)>* complete) {
    const Id id = this->id(name);
    begin_text(id, r);
    const bool enabled = layer_ >= state_.top_layer;  // one that opens now lies over all that were there
    const bool focus = takes_keyboard(id, focus_now, enabled);
    const TextFieldResult result =
        pentamesh::text_field(std::to_string(id), r.inset(10, 0), canvas_.scale(), text, hint,
                              text_style(theme_), focus, enabled, complete);
    tab_used_ = tab_used_ || result.completed;
    if (changed != nullptr) *changed = result.changed;
    end_text(name, id, r, result.active, result.changed || result.entered);
    return result.entered;
}

bool Ui::text_box(std::string_view name, Rect r, std::string& text, std::string& known, std::string_view hint,
                  bool focus_now) {
    const Id id = this->id(name);
    begin_text(id, r);
    const bool enabled = layer_ >= state_.top_layer;
    const bool focus = takes_keyboard(id, focus_now, enabled);
    const TextFieldResult result = pentamesh::text_box(std::to_string(id), r.inset(10, 8), canvas_.scale(),
                                                       text, known, text_style(theme_), focus, enabled);
    if (text.empty()) canvas_.text({r.x + 10, r.y + 8}, hint, style(13, Tone::faint));
    end_text(name, id, r, result.active, result.changed);
    return result.changed;
}

Ui::Typing Ui::typed_value(std::string_view name, Rect r, std::string& text, bool fresh) {
    // A click does not show a value that a question hides: one types into an empty field, or leaves it so.
    if (fresh && is_reworded(text)) text.clear();
    const bool entered = text_field(name, r, text, "", fresh), escaped = pressed({Key::escape});
    const bool left = !fresh && state_.edit != id(name);
    if (!entered && !escaped && !left) return Typing::goes_on;
    const Id from = std::exchange(state_.edit_from, 0);
    if ((entered || escaped) && from != 0 && state_.focus_visible) state_.focus = from;
    const bool left_hidden = text.empty() && rewording() != nullptr;
    return (escaped && !entered) || left_hidden ? Typing::dropped : Typing::taken;
}

}  // namespace pentamesh::ui
