// Parts of the window are drawn once and then shown from a texture.
#include "app/ui/kit/ui.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

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
