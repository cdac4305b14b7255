#include "app/ui/kit/ui.h"

#include "render/clip.h"
#include "render/text_edit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {
constexpr double kTooltipDelay_s = 0.45;
constexpr float kRadius = 6;
}  // namespace

std::optional<Rect> UiState::rect_of(std::string_view name, std::uint64_t index) const {
    const Id id = id_of(name, index);
    for (const Area& a : last_areas)
        if (a.id == id) return a.rect;
    return std::nullopt;
}

Ui::Ui(UiState& state, const FrameInfo& frame, const Theme& theme, Canvas canvas)
    : state_(state), frame_(frame), theme_(theme), canvas_(canvas) {
    state_.last_areas.swap(state_.areas);
    state_.areas.clear();
    state_.layers_open = 0;
    state_.focus_home = 0;
    // Two quiet frames in a row: the first still shows what the last event set off.
    const bool pressed_or_held =
        frame_.typed || frame_.wheel != 0 || frame_.double_clicked || frame_.down != std::array<bool, 3>{}
        || frame_.clicked != std::array<bool, 3>{} || frame_.released != std::array<bool, 3>{};
    const bool quiet = !state_.disturbed && !state_.animating && !pressed_or_held && state_.active == 0
                       && state_.edit == 0 && state_.top_layer == 0 && frame_.focused == state_.had_keyboard
                       && frame_.size == state_.size && frame_.scale == state_.scale;
    state_.quiet = quiet ? state_.quiet + 1 : 0;
    state_.disturbed = false;
    state_.had_keyboard = frame_.focused;
    state_.size = frame_.size;
    state_.scale = frame_.scale;
    state_.animating = state_.waiting = false;
    if (frame_.clicked[0]) state_.focus_visible = false;
    state_.last_mouse = std::exchange(state_.mouse, frame_.mouse);
}

Ui::~Ui() {
    draw_tooltip();
    if (hovered_now_ != state_.hovered_last) {
        state_.hovered_last = hovered_now_;
        state_.hovered_since = frame_.time_s;
    }
    state_.top_layer = state_.layers_open;
    if (!frame_.down[0]) state_.active = 0;
}

TextStyle Ui::style(float size, Tone tone, Face face) const {
    const Color c = tone == Tone::text        ? theme_.text
                    : tone == Tone::secondary ? theme_.secondary
                                              : theme_.faint;
    return {face, size, c, 0};
}

void Ui::section(Rect row, std::string_view head, std::string_view right) {
    TextStyle s = style(11, Tone::secondary);
    s.tracking = 0.6f;
    canvas_.text_in(row, head, s);
    if (!right.empty()) canvas_.text_in(row, right, s, Align::right);
}

bool Ui::hovers(Rect r) const {
    return layer_ == state_.top_layer && layer_ == state_.layers_open && r.contains(frame_.mouse)
           && inside_clip(canvas_, frame_.mouse) && (state_.active == 0 || !frame_.down[0]);
}

Hit Ui::area(std::string_view name, Rect r, std::uint64_t index, bool enabled, bool focusable) {
    const Id id = id_of(name, index);
    state_.areas.push_back({id, r, layer_, focusable && enabled});
    const Hit hit = enabled ? hit_of(id, r, focusable) : Hit{};
    if (state_.on_area)
        state_.on_area(name, id, hit.clicked || hit.released || hit.double_clicked || hit.right_clicked);
    return hit;
}

Hit Ui::hit_of(Id id, Rect r, bool focusable) {
    Hit hit;
    const bool reachable = layer_ == state_.top_layer;
    const bool over = reachable && r.contains(frame_.mouse) && inside_clip(canvas_, frame_.mouse);
    hit.hovered = over && (state_.active == 0 || state_.active == id);
    if (hit.hovered) hovered_now_ = id;
    if (over && frame_.clicked[0] && state_.active == 0) {
        state_.active = id;
        state_.press = frame_.mouse;
        state_.focus = focusable ? id : 0;
    }
    hit.held = state_.active == id && frame_.down[0];
    if (hit.held) hit.drag = frame_.mouse - state_.press;
    if (state_.active == id && frame_.released[0]) {
        hit.released = true;
        hit.clicked = over;
    }
    hit.double_clicked = over && frame_.double_clicked;
    hit.right_clicked = over && frame_.clicked[1];
    hit.focused = focusable && state_.focus == id;
    if (hit.focused && reachable && !text_field_active()
        && (pressed({Key::enter}) || pressed({Key::space}))) {
        hit.clicked = true;
        state_.focus_visible = true;
    }
    return hit;
}

void Ui::focus_ring(Rect r, float radius) {
    if (state_.focus_visible) canvas_.frame(r.inset(-2), theme_.link, 2, radius + 2);
}

void Ui::tooltip(std::string text) {
    tooltip_ = std::move(text);
}

void Ui::draw_tooltip() {
    if (tooltip_.empty() || state_.tooltips_rest_at == frame_.mouse) return;
    const double rested = frame_.time_s - state_.hovered_since;
    if (hovered_now_ != 0 && hovered_now_ == state_.hovered_last && rested < kTooltipDelay_s) {
        state_.waiting = true;
        return;
    }
    Canvas front = frame_canvas(frame_, canvas_.page(), true);
    std::vector<std::string_view> lines;
    for (std::string_view rest = tooltip_; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        lines.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const float max_width = std::min(360.0f, frame_.size.x - 32);
    const TextStyle head = style(12, Tone::text, Face::semibold);
    const TextStyle body = style(12, Tone::secondary);
    float w = 0, h = 16;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const TextStyle& s = i == 0 ? head : body;
        w = std::max(w, std::min(max_width, front.text_width(lines[i], s) + 1));
        h += front.paragraph_height(max_width, lines[i], s, 18);
    }
    Rect box{frame_.mouse.x + 14, frame_.mouse.y + 18, w + 24, h};
    if (box.right() > frame_.size.x - 8) box.x = std::max(8.0f, frame_.mouse.x - box.w - 8);
    if (box.bottom() > frame_.size.y - 8) box.y = std::max(8.0f, frame_.mouse.y - box.h - 8);
    front.rect(box, theme_.raised, kRadius);
    front.frame(box, theme_.hairline, 1, kRadius);
    Rect text = box.inset(12, 8);
    for (std::size_t i = 0; i < lines.size(); ++i)
        text.cut_top(
            front.paragraph({text.x, text.y, max_width, text.h}, lines[i], i == 0 ? head : body, 18));
}

// ---- controls -----------------------------------------------------------------------------------------

bool Ui::button(std::string_view name, Rect r, std::string_view label, std::uint64_t index, bool enabled,
                bool quiet) {
    const Hit hit = area(name, r, index, enabled);
    if (!quiet || hit.hovered) {
        canvas_.rect(r, hit.held ? theme_.hairline : theme_.raised, kRadius);
        canvas_.frame(r, hit.hovered ? mix(theme_.hairline, theme_.secondary, 0.5f) : theme_.hairline, 1,
                      kRadius);
    }
    TextStyle s = style(13, quiet && !hit.hovered ? Tone::secondary : Tone::text);
    if (!enabled) s.color = s.color.alpha(0.45f);
    canvas_.text_in(r.inset(8, 0), label, s, Align::center);
    if (hit.focused) focus_ring(r, kRadius);
    return hit.clicked;
}

int Ui::segments(std::string_view name, Rect r, std::span<const std::string_view> labels, int selected,
                 std::optional<Color> ground, std::uint32_t disabled_mask) {
    canvas_.rect(r, theme_.raised, kRadius);
    canvas_.frame(r, theme_.hairline, 1, kRadius);
    // Wider labels get more room: every segment its text and an equal share of what is left.
    const auto n = static_cast<int>(labels.size());
    float used = 0;
    const TextStyle plain = style(12, Tone::secondary);
    for (const auto& l : labels) used += canvas_.text_width(l, plain);
    const float share = (r.w - used) / static_cast<float>(n);
    int result = selected;
    float x = r.x;
    for (int i = 0; i < n; ++i) {
        const auto label = labels[static_cast<std::size_t>(i)];
        const float w = i + 1 == n ? r.right() - x : std::round(canvas_.text_width(label, plain) + share);
        const Rect cell{x, r.y, w, r.h};
        const bool enabled = ((disabled_mask >> i) & 1U) == 0;
        const Hit hit = area(name, cell, static_cast<std::uint64_t>(i), enabled);
        TextStyle s = plain;
        if (i == selected) {
            const Color g = ground.value_or(theme_.text);
            canvas_.rect(cell, g, kRadius);
            s.color = ground ? ink_on(g) : theme_.panel;
            s.face = Face::semibold;
        } else if (hit.hovered) {
            s.color = theme_.text;
        }
        if (!enabled) s.color = s.color.alpha(0.45f);
        if (i > 0 && i != selected && i - 1 != selected)
            canvas_.line({x, r.y + 5}, {x, r.bottom() - 5}, theme_.hairline);
        canvas_.text_in(cell, label, s, Align::center);
        if (hit.focused) focus_ring(cell, kRadius);
        if (hit.clicked) result = i;
        x += w;
    }
    return result;
}

Ui::Step Ui::stepper(std::string_view name, Rect r, std::string_view value, bool can_down, bool can_up,
                     bool on) {
    Step step;
    const Color ground = theme_.raised;
    canvas_.rect(r, on ? ground : ground.alpha(0.45f), kRadius);
    canvas_.frame(r, on ? theme_.hairline : theme_.hairline.alpha(0.45f), 1, kRadius);
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
    const Hit hit = area(name, middle);
    TextStyle s = style(13, on ? Tone::text : Tone::faint);
    while (s.size > 10 && canvas_.text_width(value, s) > middle.w) s.size -= 1;
    canvas_.text_in(middle, value, s, Align::center);
    if (hit.clicked) step.edit_requested = true;
    if (hit.focused) {
        focus_ring(r, kRadius);
        if (pressed({Key::right}, true) || pressed({Key::up}, true)) step.by = can_up ? 1 : 0;
        if (pressed({Key::left}, true) || pressed({Key::down}, true)) step.by = can_down ? -1 : 0;
        if (step.by != 0) state_.focus_visible = true;
    }
    if (hovers(r) && frame_.wheel != 0) step.by = frame_.wheel > 0 ? (can_up ? 1 : 0) : (can_down ? -1 : 0);
    return step;
}

bool Ui::dropdown(std::string_view name, Rect r, std::string_view label, std::string_view right) {
    const Hit hit = area(name, r);
    canvas_.rect(r, theme_.raised, kRadius);
    canvas_.frame(r, hit.hovered ? mix(theme_.hairline, theme_.secondary, 0.5f) : theme_.hairline, 1,
                  kRadius);
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
    if (hit.focused) focus_ring(r, kRadius);
    return hit.clicked;
}

void Ui::badge(Rect r, std::string_view label, Color color, Dash dash) {
    canvas_.frame(r.inset(0.5f), color, 1, r.h / 2, dash);
    TextStyle s = style(11.5f);
    s.color = color;
    canvas_.text_in(r.inset(4, 0), label, s, Align::center);
}

void Ui::badge_off(Rect r, std::string_view label) {
    canvas_.frame(r.inset(0.5f), theme_.hairline.alpha(0.6f), 1, r.h / 2);
    TextStyle s = style(11.5f, Tone::faint);
    s.color = s.color.alpha(0.7f);
    canvas_.text_in(r.inset(4, 0), label, s, Align::center);
}

bool Ui::link(std::string_view name, Vec2 at, std::string_view label, std::uint64_t index, float size) {
    TextStyle s = style(size);
    s.color = theme_.link;
    const float w = canvas_.text_width(label, s);
    const Rect r{at.x, at.y, w, 18};
    const Hit hit = area(name, r, index);
    canvas_.text_in({r.x, r.y, r.w + 2, r.h}, label, s);
    if (hit.hovered) canvas_.line({r.x, r.bottom() - 2}, {r.right(), r.bottom() - 2}, theme_.link);
    if (hit.focused) focus_ring(r, 3);
    return hit.clicked;
}

void Ui::swatch(Vec2 at, Color color, float size) {
    canvas_.rect({at.x, at.y, size, size}, color, 3);
}

bool Ui::text_field(std::string_view name, Rect r, std::string& text, std::string_view hint, bool focus_now,
                    bool* changed) {
    const Id id = id_of(name);
    if (part_ != nullptr) part_->has_field = true;
    state_.areas.push_back({id, r, layer_, true});
    canvas_.rect(r, theme_.raised, kRadius);
    TextFieldStyle s;
    s.text = theme_.text;
    s.hint = theme_.faint;
    s.selection = theme_.link.alpha(0.35f);
    const bool tabbed = state_.focus == id && state_.focus_visible && state_.edit != id;
    if (state_.edit == id && state_.focus != id) leave_text_field();  // Tab went on
    const bool enabled = layer_ >= state_.top_layer;  // one that opens now lies over all that were there
    if (focus_now && !enabled) state_.edit_next = id;
    const bool wanted = enabled && state_.edit_next == id;
    if (wanted) state_.edit_next = 0;
    const TextFieldResult result =
        pentamesh::text_field(std::to_string(id), r.inset(10, 0), canvas_.scale(), text, hint, s,
                              focus_now || tabbed || wanted, enabled);
    canvas_.frame(r, result.active ? theme_.link : theme_.hairline, 1, kRadius);
    if (result.active) {
        state_.edit = id;
        state_.focus = id;
    } else if (state_.edit == id) {
        state_.edit = 0;
    }
    if (changed != nullptr) *changed = result.changed;
    if (state_.on_area) state_.on_area(name, id, result.changed || result.entered);
    return result.entered;
}

// ---- parts that stay ----------------------------------------------------------------------------------

bool Ui::begin_part(std::string_view name, std::uint64_t index, Rect r, std::uint64_t key, Color ground,
                    Rect moving) {
    const Id id = id_of(name, index);
    auto at = std::find_if(state_.parts.begin(), state_.parts.end(),
                           [&](const UiState::Part& p) { return p.id == id; });
    if (at == state_.parts.end()) {
        state_.parts.emplace_back();
        at = state_.parts.end() - 1;
        at->id = id;
    }
    part_ = &*at;
    const bool same = part_->rect == r && part_->key == key;
    const auto away = [&](Vec2 mouse) { return !r.contains(mouse) || moving.contains(mouse); };
    const bool still =
        state_.quiet >= 2 && same && !part_->has_field && away(frame_.mouse) && away(state_.last_mouse);
    part_->rect = r;
    part_->key = key;
    part_areas_ = state_.areas.size();
    part_checked_ = still && state_.check_parts && canvas_.page() == nullptr;
    part_mark_ = part_checked_ ? drawn_so_far(canvas_) : DrawMark{};
    const bool keeps = still && !part_checked_ && canvas_.page() == nullptr;
    const std::uint64_t layer = keeps ? layer_generation() : 0;
    if (!still) part_->drawn = 0, part_->has_field = false;
    if (layer == 0) {
        part_->layer = 0;
        canvas_.push_clip(r);
        canvas_.rect(r, ground);
        return true;
    }
    if (part_->layer == layer) {
        show_layer(frame_, r);
        state_.areas.insert(state_.areas.end(), part_->areas.begin(), part_->areas.end());
        part_ = nullptr;
        return false;
    }
    part_->layer = layer;
    part_under_ = std::exchange(canvas_, layer_canvas(frame_, r, ground));
    return true;
}

void Ui::end_part() {
    UiState::Part& part = *std::exchange(part_, nullptr);
    const auto first = state_.areas.begin() + static_cast<std::ptrdiff_t>(part_areas_);
    if (part_checked_) {
        const std::uint64_t drawn = drawn_since(canvas_, part_mark_);
        const bool changed =
            part.drawn != 0
            && (drawn != part.drawn
                || !std::equal(first, state_.areas.end(), part.areas.begin(), part.areas.end()));
        if (changed) ++state_.stale_parts;
        part.drawn = drawn;
    }
    part.areas.assign(first, state_.areas.end());
    if (!part_under_) {
        canvas_.pop_clip();
        return;
    }
    canvas_ = *part_under_;
    part_under_.reset();
    show_layer(frame_, part.rect);
}

// ---- layers -------------------------------------------------------------------------------------------

bool Ui::begin_layer(std::string_view name, Rect r, bool modal) {
    state_.layers_open += 1;
    layer_ = state_.layers_open;
    under_.push_back(canvas_);
    canvas_ = begin_front_layer(name, frame_, canvas_.page());
    if (modal) canvas_.rect({0, 0, frame_.size.x, frame_.size.y}, rgb(0x000000).alpha(0.45f));
    canvas_.rect({r.x - 1, r.y + 2, r.w + 2, r.h + 6}, rgb(0x000000).alpha(0.16f), kRadius + 2);
    canvas_.rect(r, theme_.panel, kRadius + 2);
    canvas_.frame(r, mix(theme_.hairline, theme_.secondary, 0.25f), 1, kRadius + 2);
    const bool top = layer_ == state_.top_layer;
    const bool outside = top && frame_.clicked[0] && !r.contains(frame_.mouse) && !modal;
    const bool escaped = top && pressed({Key::escape});
    return !outside && !escaped;
}

void Ui::end_layer() {
    end_front_layer();
    canvas_ = under_.back();
    under_.pop_back();
    layer_ -= 1;
}

void Ui::move_focus() {
    const bool back = pressed({.key = Key::tab, .shift = true}, true);
    if (!back && !pressed({Key::tab}, true)) return;
    std::vector<Id> order;
    for (const auto& a : state_.areas)
        if (a.focusable && a.layer == state_.layers_open) order.push_back(a.id);
    if (order.empty()) return;
    const auto at = std::find(order.begin(), order.end(), state_.focus);
    std::size_t next = 0;
    const auto home = std::find(order.begin(), order.end(), state_.focus_home);
    if (at == order.end() && home != order.end() && !back)
        next = static_cast<std::size_t>(home - order.begin());
    else if (at == order.end())
        next = back ? order.size() - 1 : 0;
    else
        next = (static_cast<std::size_t>(at - order.begin()) + (back ? order.size() - 1 : 1)) % order.size();
    state_.focus = order[next];
    state_.focus_visible = true;
    state_.animating = true;
}

}  // namespace pentamesh::ui
