#include "app/ui/kit/theme.h"

#include <algorithm>
#include <limits>

namespace pentamesh::ui {

std::string_view name_of(ThemeId id) {
    switch (id) {
    case ThemeId::dark: return "dark";
    case ThemeId::light: return "light";
    case ThemeId::high_contrast: return "high-contrast";
    }
    return "";
}

namespace {

constexpr Theme kDark{
    .id = ThemeId::dark,
    .window = rgb(0x0e1116),
    .panel = rgb(0x14181f),
    .raised = rgb(0x1b2029),
    .hairline = rgb(0x262d38),
    .text = rgb(0xe4e8ee),
    .secondary = rgb(0x8a94a4),
    .faint = rgb(0x6a7588),
    .good = rgb(0x6cbf5a),
    .amber = rgb(0xf0bf5e),
    .bad = rgb(0xe5604d),
    .beam = rgb(0x151a22),
    .axis = {rgb(0xe69f00), rgb(0x56b4e9), rgb(0xcc79a7), rgb(0xd55e00), rgb(0x3b82c4), rgb(0x12a37c)},
    .etp = rgb(0xe8d94a),
    .memory = {rgb(0x4a56bf), rgb(0x7a7cce), rgb(0xa4a3dc), rgb(0xcdcce9)},
    .forward = rgb(0xb8c2d2),
    .backward = rgb(0x64728a),
    .weight_grad = rgb(0x475267),
};

constexpr Theme kLight{
    .id = ThemeId::light,
    .window = rgb(0xf6f7f9),
    .panel = rgb(0xffffff),
    .raised = rgb(0xf0f2f5),
    .hairline = rgb(0xdde1e7),
    .text = rgb(0x1a2029),
    .secondary = rgb(0x5d6776),
    .faint = rgb(0x768090),
    .good = rgb(0x3d7a1f),
    .amber = rgb(0x965f00),
    .bad = rgb(0xc23a26),
    .beam = rgb(0xeceff3),
    .axis = {rgb(0xc98500), rgb(0x2f95d0), rgb(0xb65a90), rgb(0xc25200), rgb(0x0b66ad), rgb(0x008a65)},
    .etp = rgb(0xb5a400),
    .memory = {rgb(0x222244), rgb(0x3f417c), rgb(0x5f61b9), rgb(0x8c8dd4)},
    .forward = rgb(0x7f8ca3),
    .backward = rgb(0x4a5568),
    .weight_grad = rgb(0x2f3847),
};

constexpr Theme high_contrast() {
    Theme t = kDark;
    t.id = ThemeId::high_contrast;
    t.window = t.panel = rgb(0x000000);
    t.raised = rgb(0x101010);
    t.hairline = rgb(0x8a8a8a);
    t.text = rgb(0xffffff);
    t.secondary = rgb(0xe0e0e0);
    t.faint = rgb(0xb0b0b0);
    t.good = rgb(0x5fe0b0);
    t.amber = rgb(0xffcc66);
    t.bad = rgb(0xff8a78);
    t.beam = rgb(0x1c1c1c);
    t.memory = {rgb(0x6266c5), rgb(0x9092dd), rgb(0xc0bff3), rgb(0xf0efff)};
    t.forward = rgb(0xf0f4ff);
    t.backward = rgb(0x8fa0c0);
    t.weight_grad = rgb(0x5a6a8a);
    return t;
}
constexpr Theme kHighContrast = high_contrast();

}  // namespace

const Theme& theme_of(ThemeId id) {
    switch (id) {
    case ThemeId::light: return kLight;
    case ThemeId::high_contrast: return kHighContrast;
    case ThemeId::dark: break;
    }
    return kDark;
}

std::array<Color, kShadeCount> shades(const Theme& theme, Color base) {
    // Stepping by five through twelve visits each once and keeps neighbours five steps apart.
    std::array<Color, kShadeCount> out{};
    const bool light = theme.id == ThemeId::light;
    const Color low = mix(base, rgb(0x000000), light ? 0.62f : 0.68f);
    const Color high = mix(base, rgb(0xffffff), light ? 0.5f : 0.62f);
    for (int i = 0; i < kShadeCount; ++i) {
        const float k = static_cast<float>((i * 5) % kShadeCount) / static_cast<float>(kShadeCount - 1);
        out[i] = k < 0.5f ? mix(low, base, k * 2) : mix(base, high, k * 2 - 1);
    }
    // The first shade is the axis' own colour: a single group is drawn in it.
    const auto nearest = std::min_element(out.begin(), out.end(), [&](Color a, Color b) {
        const auto distance = [&](Color c) {
            return std::abs(c.r - base.r) + std::abs(c.g - base.g) + std::abs(c.b - base.b);
        };
        return distance(a) < distance(b);
    });
    std::rotate(out.begin(), nearest, out.end());
    return out;
}

Color ink_on(Color ground) {
    // Black is pure: the two then meet at 4.58 to 1, so that one of them always reads.
    return contrast(ground, rgb(0x000000)) >= contrast(ground, rgb(0xffffff)) ? rgb(0x000000) : rgb(0xffffff);
}

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
