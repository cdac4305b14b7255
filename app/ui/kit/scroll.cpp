#include "app/ui/kit/scroll.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {
constexpr float kThumb = 3, kGrip = 9;  // widths: what is drawn, what the mouse can take
}

ScrollArea::ScrollArea(Ui& ui, std::string_view name, Rect window, ScrollState& state, Options options)
    : room(window.inset(options.pad.x, options.pad.y)), ui_(ui), window_(window), state_(state),
      options_(options), first_area_(ui.state().areas.size()) {
    state_.at = std::round(std::max(0.0f, state_.at));
    ui.canvas().push_clip(window);
    if (state_.most > 0 && !ui.state().for_picture) {  // before the content: it takes the press
        const Hit hit = ui.area(std::string(name) + ".thumb",
                                {window.right() - kGrip, window.y, kGrip, window.h}, 0, true, false);
        ui.scrolls(name, window);
        thumb_held_ = hit.held;
        thumb_lit_ = hit.hovered || hit.held;
        if (hit.held)  // the middle of the thumb goes where the mouse is
            state_.at = std::clamp((ui.frame().mouse.y - window.y) / window.h * (state_.most + window.h)
                                       - window.h / 2,
                                   0.0f, state_.most);
    }
    room.y -= state_.at;
    room.h = 1e5f;
    top_ = room.y;
}

void ScrollArea::show(Rect r) {
    const float before = state_.at;
    if (r.bottom() > window_.bottom()) state_.at += r.bottom() - window_.bottom();
    if (r.y < window_.y) state_.at -= window_.y - r.y;
    if (state_.at != before) ui_.state().wants_frame = true;
}

void ScrollArea::take_keys() {
    UiState& s = ui_.state();
    const auto begin = s.areas.begin() + static_cast<std::ptrdiff_t>(std::min(first_area_, s.areas.size()));
    const auto focused = std::find_if(begin, s.areas.end(), [&](const UiState::Area& a) {
        return s.focus != 0 && a.id == s.focus && a.layer == ui_.layer();
    });
    const bool inside = focused != s.areas.end();
    if (inside && s.focus_visible && state_.focus != s.focus) show(focused->rect.inset(-4));
    state_.focus = s.focus;
    if (state_.most <= 0 || ui_.layer() != s.top_layer) return;
    const bool keyboard = inside && s.focus_visible;
    if (keyboard) s.scroll_has_focus = true;
    if (s.page_keys && (keyboard || ui_.hovers(window_))) {
        const float page = std::max(40.0f, window_.h - 40);
        if (pressed({Key::page_down}, true)) state_.at += page;
        if (pressed({Key::page_up}, true)) state_.at -= page;
    }
    if (keyboard && pressed({Key::home})) state_.at = 0;
    if (keyboard && pressed({Key::end})) state_.at = state_.most;
}

ScrollArea::~ScrollArea() {
    const float drawn_at = state_.at;
    const float content = room.y - top_ + 2 * options_.pad.y;
    state_.most = std::max(0.0f, std::ceil(content - window_.h - 0.5f));
    ui_.state().hidden = std::max(ui_.state().hidden, state_.most);
    if (options_.wheel && state_.most > 0) state_.at -= ui_.take_wheel(window_) * options_.wheel_step;
    if (options_.wheel && state_.most > 0) state_.at -= ui_.take_swipe(window_);
    if (options_.keys) take_keys();
    state_.at = std::round(std::clamp(state_.at, 0.0f, state_.most));
    if (state_.at != drawn_at) ui_.state().wants_frame = true;
    if (state_.most > 0 && !ui_.state().for_picture && !ui_.state().without_bars) {
        const float h = std::max(16.0f, window_.h * window_.h / content);
        const float y = window_.y + (window_.h - h) * state_.at / state_.most;
        const Theme& t = ui_.theme();
        ui_.canvas().rect({window_.right() - 4, y, kThumb, h}, thumb_lit_ ? t.secondary : t.hairline,
                          kThumb / 2);
    }
    ui_.canvas().pop_clip();
}

}  // namespace pentamesh::ui
