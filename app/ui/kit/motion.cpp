#include "app/ui/kit/motion.h"

#include <algorithm>
#include <limits>

namespace pentamesh::ui {

namespace {
// All that waits before it moves has arrived by then.
constexpr double kLongest_s = 0.8;
}  // namespace

void Motion::begin(MotionPace pace) {
    pace_ = pace;
    if (!pace.goes_on || edit_ == 0) ++edit_;
    waits_ = true;
}

void Motion::end() {
    tracks_.clear();
    waits_ = moves_ = outlines_ = false;
}

bool Motion::begin_frame(double now_s, bool all) {
    // A frame that drew all did not draw these: they are no longer on the screen.
    if (all_) std::erase_if(tracks_, [this](const auto& entry) { return entry.second.frame != frame_; });
    ++frame_;
    now_s_ = now_s;
    const bool begins = waits_;
    if (waits_) {
        last_begun_s_ = begun_s_;
        begun_s_ = now_s;
        waits_ = false;
    }
    const double since = now_s_ - begun_s_;
    const bool any = edit_ > 0 && !tracks_.empty(), moved = moves_, had_outlines = outlines_;
    moves_ = any && pace_.glides_s > 0 && since < std::max(pace_.glides_s, kLongest_s);
    outlines_ = any && (since < pace_.holds_s || (held_ && had_outlines));
    held_ = false;
    all_ = all || begins || (moved && !moves_) || had_outlines != outlines_;
    return all_;
}

double Motion::shown(const Track& t, double since_s, double glides_s) {
    const double takes = t.takes_s > 0 ? t.takes_s : glides_s;
    if (takes <= 0) return t.to;
    const double left = 1 - std::clamp((since_s - t.wait_s) / takes, 0.0, 1.0);
    return t.to + (t.from - t.to) * left * left * left;
}

double Motion::value(std::uint64_t id, double target, double wait_s, double takes_s) {
    const auto [at, is_new] = tracks_.try_emplace(id);
    Track& t = at->second;
    if (is_new) t = {target, target, target, 0, 0, edit_, frame_};
    if (t.edit != edit_) {  // the first frame after an edit
        t.from = t.edit + 1 == edit_ ? shown(t, begun_s_ - last_begun_s_, pace_.glides_s) : t.to;
        t.old = t.to;
        t.wait_s = wait_s, t.takes_s = pace_.glides_s > 0 ? takes_s : 0;
        t.edit = edit_;
        t.to = target;
    } else if (t.to != target) {  // no edit: another choice of what is drawn, or the same drag
        t.from = t.to = target;
        if (!pace_.goes_on) t.old = target;
    }
    t.frame = frame_;
    return moves_ ? shown(t, now_s_ - begun_s_, pace_.glides_s) : t.to;
}

std::optional<MotionSpan> Motion::span_of(std::uint64_t id) const {
    if (!moves_) return std::nullopt;
    const auto at = tracks_.find(id);
    if (at == tracks_.end() || at->second.edit != edit_ || at->second.from == at->second.to)
        return std::nullopt;
    const Track& t = at->second;
    const double begin = begun_s_ + t.wait_s, end = begin + (t.takes_s > 0 ? t.takes_s : pace_.glides_s);
    if (now_s_ >= end) return std::nullopt;
    return MotionSpan{begin, end};
}

std::optional<double> Motion::before(std::uint64_t id) const {
    const auto at = tracks_.find(id);
    if (!outlines_ || at == tracks_.end() || at->second.edit != edit_ || at->second.old == at->second.to)
        return std::nullopt;
    return at->second.old;
}

void Motion::hold() {
    constexpr double kMoment_s = 0.5;
    held_ = outlines_;
    if (held_) pace_.holds_s = std::max(pace_.holds_s, now_s_ - begun_s_ + kMoment_s);
}

double Motion::due_s() const {
    if (waits_ || moves_) return now_s_;
    return outlines_ ? begun_s_ + pace_.holds_s : std::numeric_limits<double>::infinity();
}

}  // namespace pentamesh::ui
