#include "app/ui/kit/ui.h"

#include "core/base/text.h"
#include "render/canvas.h"
#include "render/input.h"
#include "render/text_edit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {
constexpr double kTooltipDelay_s = 0.45;
constexpr float kRadius = 6;
}  // namespace

std::optional<Rect> UiState::rect_of(Id id) const {
    for (const Area& a : last_areas)
        if (a.id == id) return a.rect;
    return std::nullopt;
}

bool UiState::scrolls_at(Vec2 at) const {
    return std::any_of(last_areas.begin(), last_areas.end(), [&](const Area& a) {
        return a.scrolls && a.layer == top_layer && a.rect.contains(at);
    });
}

Ui::Ui(UiState& state, const FrameInfo& frame, const Theme& theme, Canvas canvas)
    : state_(state), frame_(frame), theme_(theme), canvas_(canvas), exceptions_(std::uncaught_exceptions()) {
    state_.last_areas.swap(state_.areas);
    state_.areas.clear();
    state_.named.clear();
    state_.layers_open = 0;
    state_.hidden = 0;
    state_.focus_home = 0;
    state_.keys_scroll = state_.scroll_has_focus;
    state_.scroll_has_focus = false;
    // The window rests after two quiet frames in a row: the first still shows the effect of the last event.
    const bool pressed_or_held = frame_.typed || frame_.wheel != 0 || state_.swipe.by != 0
                                 || frame_.double_clicked || frame_.down != std::array<bool, 3>{}
                                 || frame_.clicked != std::array<bool, 3>{}
                                 || frame_.released != std::array<bool, 3>{};
    if (state_.motion.begin_frame(frame_.time_s, state_.redraw_all)) state_.redraw_all = true;
    const bool idle = !state_.redraw_all && !state_.wants_frame && !pressed_or_held && state_.active == 0
                      && state_.edit == 0 && state_.top_layer == 0 && frame_.focused == state_.had_keyboard
                      && frame_.size == state_.size && frame_.scale == state_.scale;
    state_.idle_frames = idle ? state_.idle_frames + 1 : 0;
    state_.redraw_all = false;
    state_.had_keyboard = frame_.focused;
    state_.size = frame_.size;
    state_.scale = frame_.scale;
    state_.wants_frame = false;
    state_.tooltip_pending = false;
    if (frame_.clicked[0]) state_.focus_visible = false;
    state_.last_mouse = std::exchange(state_.mouse, frame_.mouse);
    const auto has_focus = [&](const UiState::Area& a) {
        return a.types && a.id == state_.focus && a.layer == state_.top_layer;
    };
    // A picture is drawn without a window, or inside of one that has its own fields.
    if (!state_.for_picture)
        focus_takes_text(state_.focus_visible
                         && std::any_of(state_.last_areas.begin(), state_.last_areas.end(), has_focus));
    begun_ = mark();
}

Ui::~Ui() {
    unwind(begun_);
    if (std::uncaught_exceptions() > exceptions_) {  // the frame is incomplete: keep nothing of it
        state_.parts.clear();
        state_.redraw_all = true;
    } else {
        draw_tooltip();
    }
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
    constexpr float kApart = 8;  // what has no room next to the head is left out
    const bool both = canvas_.text_width(head, s) + kApart + canvas_.text_width(right, s) <= row.w;
    if (!right.empty() && both) canvas_.text_in(row, right, s, Align::right);
}

double Ui::kept_scale(std::string_view name, double end, std::uint64_t index) const {
    constexpr double kStays_s = 0.6, kEases_s = 0.18;
    return std::max(end, moved(id(name, index), end, kStays_s, kEases_s));
}

double Ui::moved(Id id, double value, double wait_s, double takes_s) const {
    const double now = state_.motion.value(id, value, wait_s, takes_s);
    if (part_ == nullptr || !state_.motion.moves()) return now;
    const auto span = state_.motion.span_of(id);
    auto& moves = part_->moves;
    if (span && std::find(moves.begin(), moves.end(), *span) == moves.end()) moves.push_back(*span);
    return now;
}

void Ui::outline(Rect before, Rect now) {
    constexpr float kLeast = 2;  // pixels
    const bool same = std::abs(before.x - now.x) < kLeast && std::abs(before.right() - now.right()) < kLeast
                      && std::abs(before.y - now.y) < kLeast
                      && std::abs(before.bottom() - now.bottom()) < kLeast;
    if (!same && before.w > 2 * kLeast && before.h > 2 * kLeast)
        canvas_.frame(before, theme_.text, 1.3f, 0, Dash::dashed);
}

bool Ui::hovers(Rect r) const {
    const bool over = layer_ == state_.top_layer && layer_ == state_.layers_open && r.contains(frame_.mouse)
                      && inside_clip(canvas_, frame_.mouse) && (state_.active == 0 || !frame_.down[0]);
    if (over) hovered_row_ = r;
    return over;
}

Hit Ui::area(std::string_view name, Rect r, std::uint64_t index, bool enabled, bool focusable) {
    const Id id = this->id(name, index);
    state_.areas.push_back(
        {id, r, layer_, focusable && enabled, false, false, part_ != nullptr ? part_->id : 0});
    const Hit hit = enabled ? hit_of(id, r, focusable) : Hit{};
    if (state_.on_area)
        state_.on_area(name, id, hit.clicked || hit.released || hit.double_clicked || hit.right_clicked);
    return hit;
}

Hit Ui::value_area(std::string_view name, Rect r, std::uint64_t index, bool enabled) {
    Hit hit = area(name, r, index, enabled);
    const Id id = this->id(name, index);
    const auto own = std::find_if(state_.areas.rbegin(), state_.areas.rend(),
                                  [&](const UiState::Area& a) { return a.id == id; });
    if (own != state_.areas.rend()) own->types = enabled;
    if (hit.focused && state_.focus_visible && layer_ == state_.top_layer && letter_typed())
        hit.clicked = true;
    if (!enabled || (!hit.clicked && !hit.held)) return hit;
    expect_text();  // a press too: the click and the first letters may come in one slow frame
    if (hit.clicked) state_.edit_from = id;
    state_.wants_frame = true;
    return hit;
}

Hit Ui::hit_of(Id id, Rect r, bool focusable) {
    Hit hit;
    const bool reachable = layer_ == state_.top_layer;
    const bool over = reachable && r.contains(frame_.mouse) && inside_clip(canvas_, frame_.mouse);
    hit.hovered = over && (state_.active == 0 || state_.active == id);
    if (hit.hovered) hovered_now_ = id, hovered_row_ = r;
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
        && (pressed({Key::enter}) || (state_.focus_visible && pressed({Key::space})))) {
        hit.clicked = true;
        state_.focus_visible = true;
    }
    return hit;
}

float Ui::take_wheel(Rect r) {
    if (frame_.wheel == 0 || wheel_used_ || !hovers(r)) return 0;
    wheel_used_ = true;
    return frame_.wheel;
}

void Ui::scrolls(std::string_view name, Rect window) {
    state_.areas.push_back({id(std::string(name) + ".scrolls"), window, layer_});
    state_.areas.back().scrolls = true;
}

float Ui::take_swipe(Rect r, float step) {
    UiState::Swipe& swipe = state_.swipe;
    if (layer_ != state_.top_layer || !r.contains(swipe.at)) return 0;
    const float whole = std::trunc(swipe.by / step) * step;
    swipe.by -= whole;
    return whole;
}

void Ui::focus_ring(Rect r, float radius) {
    if (state_.focus_visible) canvas_.frame(r.inset(-2), theme_.text, 2, radius + 2);
}

void Ui::tooltip(std::string text, Rect clear) {
    constexpr float kMostRow = 40;  // of what is higher the tooltip may cover a part
    tooltip_ = std::move(text);
    tooltip_clear_ = clear;
    if (clear.h <= 0 && hovered_row_.h <= kMostRow && hovered_row_.contains(frame_.mouse))
        tooltip_clear_ = hovered_row_;
}

void Ui::names(UiState::Named named) {
    const bool hidden = named.rect.contains(frame_.mouse) && !inside_clip(canvas_, frame_.mouse);
    if (!hidden) state_.named.push_back(std::move(named));
}

void Ui::also_in_tooltip(std::string_view line) {
    if (!tooltip_.empty()) tooltip_ += '\n';
    tooltip_ += line;
}

void Ui::label(Rect r, std::string_view text, const TextStyle& style, Align align) {
    if (canvas_.text_in(r, text, style, align) && hovers(r)) tooltip(std::string(text));
}

void Ui::draw_tooltip() {
    if (frame_.typed) state_.tooltips_rest_at = frame_.mouse;  // the user types and does not point
    if (tooltip_.empty() || state_.tooltips_rest_at == frame_.mouse) return;
    const double rested = frame_.time_s - state_.hovered_since;
    if (hovered_now_ != 0 && hovered_now_ == state_.hovered_last && rested < kTooltipDelay_s) {
        state_.tooltip_pending = true;
        return;
    }
    Canvas front = frame_canvas(frame_, canvas_.page(), true);
    const std::vector<std::string_view> lines = split_lines(tooltip_);
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
    if (tooltip_clear_.h > 0 && tooltip_clear_.bottom() + 4 + box.h <= frame_.size.y)
        box.y = tooltip_clear_.bottom() + 4;
    else if (tooltip_clear_.h > 0 && tooltip_clear_.y - 4 - box.h >= 0)
        box.y = tooltip_clear_.y - 4 - box.h;
    front.rect(box, theme_.raised, kRadius);
    front.frame(box, theme_.hairline, 1, kRadius);
    Rect text = box.inset(12, 8);
    for (std::size_t i = 0; i < lines.size(); ++i)
        text.cut_top(
            front.paragraph({text.x, text.y, max_width, text.h}, lines[i], i == 0 ? head : body, 18));
}

// ---- layers -------------------------------------------------------------------------------------------

Ui::Layer::Layer(Ui& ui, std::string_view name, Rect r, bool modal) : ui_(ui), below_(ui.canvas_) {
    ui_.state_.layers_open += 1;
    ui_.layer_ = ui_.state_.layers_open;
    Canvas& c = ui_.canvas_;
    const Theme& theme = ui_.theme_;
    const FrameInfo& frame = ui_.frame_;
    c = begin_front_layer(name, frame, c.page());
    begun_ = ui_.mark();
    if (modal) c.rect({0, 0, frame.size.x, frame.size.y}, rgb(0x000000).alpha(0.45f));
    c.rect({r.x - 1, r.y + 2, r.w + 2, r.h + 6}, rgb(0x000000).alpha(0.16f), kRadius + 2);
    c.rect(r, theme.panel, kRadius + 2);
    c.frame(r, mix(theme.hairline, theme.secondary, 0.25f), 1, kRadius + 2);
    const bool top = ui_.layer_ == ui_.state_.top_layer;
    const bool outside = top && frame.clicked[0] && !r.contains(frame.mouse) && !modal;
    stays_ = !outside && !(top && pressed({Key::escape}));
}

Ui::Layer::~Layer() {
    ui_.unwind(begun_);
    end_front_layer();
    ui_.canvas_ = below_;
    ui_.layer_ -= 1;
}

Ui::Scope::Scope(Ui& ui, std::string_view name) : ui_(ui), outer_(ui.scope_) {
    ui_.scope_ = hash_more(hash_more(outer_, name), "/");
}

// ---- after a failure ----------------------------------------------------------------------------------

Ui::Mark Ui::mark() const {
    return {clip_depth(canvas_)};
}

void Ui::unwind(const Mark& mark) {
    while (clip_depth(canvas_) > mark.clips) canvas_.pop_clip();
}

// Goes to the first control of the next part that has one, in the order in which they are drawn.
void Ui::move_to_part(bool back) {
    std::vector<Id> parts, first;
    Id now = 0;
    for (const auto& a : state_.areas) {
        if (!a.focusable || a.layer != state_.layers_open || a.part == 0) continue;
        if (a.id == state_.focus) now = a.part;
        if (std::find(parts.begin(), parts.end(), a.part) != parts.end()) continue;
        parts.push_back(a.part);
        first.push_back(a.id);
    }
    if (parts.empty()) return;
    const auto n = parts.size();
    const auto at = static_cast<std::size_t>(std::find(parts.begin(), parts.end(), now) - parts.begin());
    const std::size_t next = at == n ? (back ? n - 1 : 0) : (at + (back ? n - 1 : 1)) % n;
    state_.focus = first[next];
    state_.focus_visible = state_.wants_frame = true;
}

void Ui::give_keyboard(std::string_view name, std::uint64_t index, bool types) {
    state_.focus = id(name, index);
    state_.focus_visible = state_.wants_frame = true;
    if (types) expect_text();
}

void Ui::move_focus() {
    if (tab_used_) return;
    for (const bool shift : {false, true})
        if (pressed({.key = Key::f6, .shift = shift}, true)
            || pressed({.key = Key::tab, .ctrl = true, .shift = shift}, true))
            return move_to_part(shift);
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
    state_.wants_frame = true;
}

// Draws buttons, segments, steppers, dropdowns, badges, text fields, links.

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

// Returns the first of the labels that are shown, and the end behind the last. Where that is not all, a mark
// at each end of `r`, which gets so much shorter, goes on to the next label that can be chosen.
std::pair<int, int> Ui::shown_segments(std::string_view name, Rect& r,
                                       std::span<const std::string_view> labels, int selected,
                                       std::uint32_t disabled_mask, int& result) {
    constexpr float kLeastAround = 4, kMark = 16;  // around a label; of a mark
    const auto n = static_cast<int>(labels.size());
    const auto needed = [&](int i) {
        const Face face = i == selected ? Face::semibold : Face::regular;
        return canvas_.text_width(labels[i], style(12, Tone::text, face)) + kLeastAround;
    };
    float all = 0;
    for (int i = 0; i < n; ++i) all += needed(i);
    if (all <= r.w || n < 3) return {0, n};
    int first = std::clamp(selected, 0, n - 1), end = first + 1;
    float left = r.w - 2 * kMark - needed(first);
    for (bool grows = true; grows;) {
        grows = false;
        if (end < n && needed(end) <= left) left -= needed(end++), grows = true;
        if (first > 0 && needed(first - 1) <= left) left -= needed(--first), grows = true;
    }
    const auto goes_on = [&](Rect box, std::string_view ending, int to, int by) {
        while (to >= 0 && to < n && ((disabled_mask >> to) & 1U) != 0) to += by;
        const bool enabled = to >= 0 && to < n;
        const Hit hit = area(std::string(name) + std::string(ending), box, 0, enabled);
        TextStyle s = style(13, hit.hovered ? Tone::text : Tone::secondary);
        if (!enabled) s.color = s.color.alpha(0.35f);
        canvas_.text_in(box, by < 0 ? "‹" : "›", s, Align::center);
        if (hit.hovered && enabled) tooltip(std::string(labels[to]));
        if (hit.focused) focus_ring(box, kControlRadius);
        if (hit.clicked) result = to;
    };
    goes_on(r.cut_left(kMark), ".earlier", first - 1, -1);
    goes_on(r.cut_right(kMark), ".later", end, 1);
    return {first, end};
}

int Ui::segments(std::string_view name, Rect r, std::span<const std::string_view> labels, int selected,
                 std::optional<Color> ground, std::uint32_t disabled_mask) {
    if (state_.for_picture) {  // it has no switches: a choice that has a colour is named, others show in what
                               // is drawn
        if (!ground || selected < 0 || selected >= static_cast<int>(labels.size())) return selected;
        swatch({r.x, r.center().y - 5}, *ground);
        r.cut_left(16);
        label(r, labels[static_cast<std::size_t>(selected)], style(13, Tone::secondary));
        return selected;
    }
    canvas_.rect(r, theme_.raised, kControlRadius);
    canvas_.frame(r, theme_.hairline, 1, kControlRadius);
    int result = selected;
    const auto [first, end] = shown_segments(name, r, labels, selected, disabled_mask, result);
    // Wider labels get more room: every segment has its text and an equal share of the rest.
    float used = 0;
    const TextStyle plain = style(12, Tone::secondary);
    for (int i = first; i < end; ++i) used += canvas_.text_width(labels[i], plain);
    const float share = (r.w - used) / static_cast<float>(std::max(1, end - first));
    float x = r.x;
    for (int i = first; i < end; ++i) {
        const auto label = labels[i];
        const float w = i + 1 == end ? r.right() - x : std::round(canvas_.text_width(label, plain) + share);
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
        if (i > first && i != selected && i - 1 != selected)
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
    const auto part = [&](const char* suffix, Rect cell, bool enabled, bool plus) {
        const Hit hit = area(base + suffix, cell, 0, enabled, false);
        const Color color = !enabled ? theme_.faint.alpha(0.4f) : hit.hovered ? theme_.text : theme_.faint;
        constexpr float kHalf = 3;
        const Vec2 m = cell.center();
        canvas_.line({m.x - kHalf, m.y}, {m.x + kHalf, m.y}, color, 1.2f);
        if (plus) canvas_.line({m.x, m.y - kHalf}, {m.x, m.y + kHalf}, color, 1.2f);
        return hit.clicked;
    };
    if (part(".minus", {r.x, r.y, end, r.h}, can_down, false)) step.by = -1;
    if (part(".plus", {r.right() - end, r.y, end, r.h}, can_up, true)) step.by = 1;
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
              float most, bool focusable) {
    TextStyle s = style(size);
    const float w = std::min(canvas_.text_width(label, s), most);
    const Rect r{at.x, at.y, w, 18};
    const Hit hit = area(name, r, index, true, focusable);
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
    const bool entered = text_field(name, r, text, "", fresh), escaped = pressed({Key::escape});
    const bool left = !fresh && state_.edit != id(name);
    if (!entered && !escaped && !left) return Typing::goes_on;
    const Id from = std::exchange(state_.edit_from, 0);
    if ((entered || escaped) && from != 0 && state_.focus_visible) state_.focus = from;
    return escaped && !entered ? Typing::dropped : Typing::taken;
}

// Parts of the window are drawn once and then shown from a texture.

bool Ui::begin_part(std::string_view name, std::uint64_t index, Rect r, std::uint64_t key, Color ground,
                    Rect moving) {
    const Id id = this->id(name, index);
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
    const bool glides = state_.motion.moves()
                        && std::any_of(part_->moves.begin(), part_->moves.end(), [&](const MotionSpan& s) {
                               return s.begin_s <= state_.motion.now_s();
                           });
    const bool unchanged = state_.idle_frames >= 2 && same && !part_->has_field && !glides
                           && away(frame_.mouse) && away(state_.last_mouse);
    part_->rect = r;
    part_->key = key;
    part_areas_ = state_.areas.size();
    part_named_ = state_.named.size();
    part_checked_ = unchanged && state_.check_parts && canvas_.page() == nullptr;
    part_mark_ = part_checked_ ? drawn_so_far(canvas_) : DrawMark{};
    const bool keeps = unchanged && !part_checked_ && canvas_.page() == nullptr;
    const std::uint64_t layer = keeps ? kept_generation() : 0;
    if (!unchanged) part_->drawn = 0, part_->has_field = false, part_->moves.clear();
    if (layer == 0) {
        part_->layer = 0;
        canvas_.push_clip(r);
        canvas_.rect(r, ground);
        part_begun_ = mark();
        return true;
    }
    if (part_->layer == layer) {
        show_kept(frame_, r);
        state_.areas.insert(state_.areas.end(), part_->areas.begin(), part_->areas.end());
        state_.named.insert(state_.named.end(), part_->named.begin(), part_->named.end());
        part_ = nullptr;
        return false;
    }
    part_->layer = layer;
    part_under_ = std::exchange(canvas_, kept_canvas(frame_, r, ground));
    part_begun_ = mark();
    return true;
}

void Ui::end_part() {
    UiState::Part& part = *std::exchange(part_, nullptr);
    unwind(part_begun_);
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
    part.named.assign(state_.named.begin() + static_cast<std::ptrdiff_t>(part_named_), state_.named.end());
    if (!part_under_) {
        canvas_.pop_clip();
        return;
    }
    canvas_ = *part_under_;
    part_under_.reset();
    show_kept(frame_, part.rect);
}

}  // namespace pentamesh::ui
