#include "app/ui/kit/ui.h"

#include "core/base/text.h"
#include "render/clip.h"
#include "render/text_edit.h"
#include "render/typed_ahead.h"

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
    if (!right.empty()) canvas_.text_in(row, right, s, Align::right);
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

}  // namespace pentamesh::ui
