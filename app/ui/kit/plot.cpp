#include "app/ui/kit/plot.h"

#include "core/base/text.h"
#include "render/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

double round_step(double least) {
    const double decade = std::pow(10.0, std::floor(std::log10(least)));
    for (const double k : {1.0, 2.0, 5.0})
        if (k * decade >= least * (1 - 1e-9)) return k * decade;
    return 10 * decade;
}

namespace {

constexpr float kLabelHeight = 18, kLabelGap = 6;

std::vector<double> linear_ticks(double low, double high, int count) {
    const double rough = (high - low) / count;
    if (!(rough > 0) || !std::isfinite(rough)) return {low};
    const double step = round_step(rough);
    std::vector<double> out;
    const double first = std::ceil(low / step - 1e-9);
    for (int i = 0; (first + i) * step <= high + step * 1e-9; ++i) out.push_back((first + i) * step);
    return out;
}

// Returns powers of ten; every second, third ... where there are more than `count`.
std::vector<double> decade_ticks(double low, double high, int count) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9)),
              last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int every = std::max(1, (last - first + count) / count);
    std::vector<double> out;
    for (int e = first; e <= last; e += every) out.push_back(std::pow(10.0, e));
    return out;
}

// Returns 1, 2 and 5 times powers of ten, for less than two decades.
std::vector<double> one_two_five(double low, double high) {
    std::vector<double> out;
    for (int e = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, e) <= high; ++e)
        for (const double k : {1.0, 2.0, 5.0})
            if (const double v = k * std::pow(10.0, e); v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9))
                out.push_back(v);
    return out;
}

int fitting(float length, float spacing) {
    return std::max(2, static_cast<int>(length / spacing));
}

std::vector<double> ticks_of(const PlotAxis& axis, const PlotScale& scale) {
    if (!axis.ticks.empty()) return axis.ticks;
    return round_ticks(scale, fitting(std::abs(scale.to - scale.from), axis.spacing), axis.unit);
}

}  // namespace

float PlotScale::at(double v) const {
    const bool log = kind == ScaleKind::logarithmic;
    const double k =
        log ? std::log(std::max(v, 1e-300) / low) / std::log(high / low) : (v - low) / (high - low);
    return from + static_cast<float>(k) * (to - from);
}

double PlotScale::value(float at) const {
    const double k = static_cast<double>(at - from) / static_cast<double>(to - from);
    return kind == ScaleKind::logarithmic ? low * std::pow(high / low, k) : low + k * (high - low);
}

std::vector<double> round_ticks(const PlotScale& scale, int count, double unit) {
    count = std::max(2, count);
    const double low = std::min(scale.low, scale.high) / unit, high = std::max(scale.low, scale.high) / unit;
    std::vector<double> out;
    if (scale.kind == ScaleKind::logarithmic && low > 0 && high >= 100 * low) {
        out = decade_ticks(low, high, count);
    } else if (scale.kind == ScaleKind::logarithmic && low > 0) {
        out = one_two_five(low, high);
        if (out.size() < 2 || out.size() > static_cast<std::size_t>(count))
            out = linear_ticks(low, high, count);
    } else {
        out = linear_ticks(low, high, count);
    }
    for (double& v : out) v *= unit;
    return out;
}

Plot draw_axes(Ui& ui, Rect room, const PlotAxis& x, const PlotAxis& y) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.small();
    if (x.label || !x.title.empty()) room.cut_bottom(kLabelHeight);
    if (!y.title.empty()) c.text_in(room.cut_top(kLabelHeight), y.title, style);
    if (y.label) room.cut_top(kLabelHeight / 2);  // half of the top tick's label
    Plot plot;
    plot.y = {y.low, y.high, y.kind, room.bottom(), room.y};
    const std::vector<double> y_ticks = ticks_of(y, plot.y);
    float widest = 0;
    if (y.label)
        for (const double v : y_ticks) widest = std::max(widest, c.text_width(y.label(v), style));
    if (widest > 0) room.cut_left(std::ceil(widest) + kLabelGap);
    plot.area = room;
    plot.x = {x.low, x.high, x.kind, room.x, room.right()};
    for (const double v : y_ticks) {
        const float at = plot.y.at(v);
        if (y.grid) c.line({room.x, at}, {room.right(), at}, ui.theme().hairline);
        if (y.label)
            c.text_in({room.x - kLabelGap - widest - 1, at - kLabelHeight / 2, widest + 1, kLabelHeight},
                      y.label(v), style, Align::right);
    }
    float free_from = -1e9f;  // labels do not touch
    for (const double v : ticks_of(x, plot.x)) {
        const float at = plot.x.at(v);
        if (x.grid) c.line({at, room.y}, {at, room.bottom()}, ui.theme().hairline);
        if (!x.label) continue;
        const std::string text = x.label(v);
        const float w = c.text_width(text, style) + 1;
        const float left = std::clamp(at - w / 2, room.x - widest, std::max(room.x, room.right() - w));
        if (left < free_from) continue;
        c.text_in({left, room.bottom(), w, kLabelHeight}, text, style);
        free_from = left + w + kLabelGap;
    }
    const float title = c.text_width(x.title, style) + 1;
    if (!x.title.empty() && room.right() - title >= free_from)
        c.text_in({room.right() - title, room.bottom(), title, kLabelHeight}, x.title, style);
    return plot;
}

void draw_break(Canvas& canvas, const Theme& theme, Rect rows, float middle, float apart) {
    constexpr float kTooth = 6, kHalf = 2;
    for (const float x : {middle - apart, middle + apart}) {
        std::vector<Vec2> zigzag;
        int n = 0;
        for (float y = rows.y; y <= rows.bottom(); y += kTooth)
            zigzag.push_back({x + (n++ % 2 == 0 ? -kHalf : kHalf), y});
        if (zigzag.size() > 1) canvas.polyline(zigzag, theme.secondary, 1);
    }
}

std::optional<std::size_t> nearest_point(std::span<const Vec2> points, Vec2 to, float reach) {
    std::optional<std::size_t> best;
    float least = reach;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const float d = std::hypot(points[i].x - to.x, points[i].y - to.y);
        if (d <= least && (!best || d < least)) best = i, least = d;
    }
    return best;
}

std::vector<RichParagraph> read_rich(std::string_view text) {
    std::vector<RichParagraph> out;
    bool open = false, bold = false, code = false;
    const auto add = [&](std::string_view part) {
        std::vector<RichRun>& runs = out.back().runs;
        if (part.empty()) return;
        if (runs.empty() || runs.back().bold != bold || runs.back().code != code)
            runs.push_back({"", bold, code});
        runs.back().text += part;
    };
    for (std::string_view line : split_lines(text)) {
        if (line.find_first_not_of(' ') == std::string_view::npos) {
            open = false;
            continue;
        }
        const bool bullet = line.starts_with("- ");
        if (bullet) line.remove_prefix(2);
        if (!open || bullet) {
            out.push_back({bullet, !open, {}});
            bold = code = false;
        } else {
            add(" ");
        }
        open = true;
        // A mark stays on over several words and lines. Two stars in code are code.
        while (!line.empty()) {
            const std::size_t mark = code ? line.find('`') : std::min(line.find('`'), line.find("**"));
            add(line.substr(0, mark));
            if (mark == std::string_view::npos) break;
            const bool of_code = line[mark] == '`';
            bool& on = of_code ? code : bold;
            on = !on;
            line.remove_prefix(mark + (of_code ? 1 : 2));
        }
    }
    return out;
}

std::vector<RichWord> words_of(const RichParagraph& paragraph) {
    std::vector<RichWord> out;
    bool glued = false;
    for (const RichRun& run : paragraph.runs) {
        const Face face = run.code ? Face::mono : run.bold ? Face::semibold : Face::regular;
        for (std::string_view rest = run.text; !rest.empty();) {
            if (rest.front() == ' ') {
                rest.remove_prefix(1);
                glued = false;
                continue;
            }
            std::size_t end = 1;
            while (end < rest.size() && (rest[end] != ' ' || before_unit(rest, end))) ++end;
            if (!glued) out.emplace_back();
            out.back().push_back({rest.substr(0, end), face});
            glued = true;
            rest.remove_prefix(end);
        }
    }
    return out;
}

std::string without_marks(std::string_view text) {
    std::string out;
    for (const RichParagraph& p : read_rich(text)) {
        out += out.empty() ? "" : p.apart ? "\n\n" : "\n";
        if (p.bullet) out += "- ";
        for (const RichRun& run : p.runs) out += run.text;
    }
    return out;
}

float rich_text(Ui& ui, Rect box, std::string_view text, const RichStyle& style, bool draw) {
    Canvas& c = ui.canvas();
    const auto look = [&](Face face) {
        TextStyle s = ui.style(face == Face::mono ? style.size - 1 : style.size,
                               face == Face::semibold ? Tone::text : style.tone, face);
        return s;
    };
    const float blank = c.text_width("n n", look(Face::regular)) - 2 * c.text_width("n", look(Face::regular));
    float y = box.y;
    bool first = true, after_bullet = false;
    for (const RichParagraph& p : read_rich(text)) {
        if (!first) y += p.bullet && after_bullet ? style.gap / 2 : style.gap;
        first = false;
        after_bullet = p.bullet;
        const float indent = p.bullet ? style.size + 2 : 0;
        if (p.bullet && draw)
            c.circle({box.x + style.size * 0.4f, y + style.line / 2}, style.size * 0.15f,
                     ui.theme().secondary);
        float x = box.x + indent;
        for (const RichWord& word : words_of(p)) {
            float w = 0;
            for (const RichPiece& piece : word) w += c.text_width(piece.text, look(piece.face));
            if (x > box.x + indent && x + w > box.right()) {
                x = box.x + indent;
                y += style.line;
            }
            for (const RichPiece& piece : word) {
                const TextStyle s = look(piece.face);
                const float used = c.text_width(piece.text, s);
                if (draw) c.text_in({x, y, used + 2, style.line}, piece.text, s);
                x += used;
            }
            x += blank;
        }
        y += style.line;
    }
    return y - box.y;
}

bool player_button(Ui& ui, std::string_view name, Rect r, PlayerMark mark, std::string_view what) {
    const Hit hit = ui.area(name, r);
    Canvas& c = ui.canvas();
    if (hit.hovered) {
        c.rect(r, ui.theme().raised, 6);
        ui.tooltip(std::string(what));
    }
    const Color ink = hit.hovered ? ui.theme().text : ui.theme().secondary;
    const Vec2 m = r.center();
    const auto triangle = [&](float x, float to) {
        const std::array<Vec2, 3> p{Vec2{x, m.y - 5}, Vec2{x, m.y + 5}, Vec2{to, m.y}};
        const std::array<Vec2, 3> q{p[0], p[2], p[1]};
        c.polygon(to > x ? q : p, ink);
    };
    switch (mark) {
    case PlayerMark::play: triangle(m.x - 3.5f, m.x + 5); break;
    case PlayerMark::pause:
        c.rect({m.x - 4.5f, m.y - 5, 3, 10}, ink);
        c.rect({m.x + 1.5f, m.y - 5, 3, 10}, ink);
        break;
    case PlayerMark::back:
        triangle(m.x + 4, m.x - 3);
        c.rect({m.x - 5.5f, m.y - 5, 2, 10}, ink);
        break;
    case PlayerMark::forward:
        triangle(m.x - 4, m.x + 3);
        c.rect({m.x + 3.5f, m.y - 5, 2, 10}, ink);
        break;
    }
    if (hit.focused) ui.focus_ring(r, 6);
    return hit.clicked;
}

double moment_of(const Playback& played, const Film& film) {
    return played.at < 0 ? film.telling : std::min(played.at, film.end);
}

void play_on(Ui& ui, Playback& played, const Film& film) {
    constexpr double kRestBetween_s = 0.9, kLongestFrame_s = 0.1;
    if (!played.playing) return;
    const double passed_s = ui.frame().time_s - played.played_at;
    ui.state().wants_frame = true;
    if (ui.state().reduced_motion) {
        if (passed_s < kRestBetween_s) return;
        played.at = film.after(moment_of(played, film));
    } else {
        played.at = moment_of(played, film) + std::clamp(passed_s, 0.0, kLongestFrame_s) * film.a_second;
    }
    played.played_at = ui.frame().time_s;
    if (played.at >= film.end) played.at = film.end, played.playing = false;
}

void play_or_pause(Ui& ui, Playback& played, const Film& film) {
    if (!played.playing && (played.at < 0 || played.at >= film.end)) played.at = 0;
    played.playing = !played.playing;
    played.played_at = ui.frame().time_s;
    ui.state().wants_frame = true;
}

void step_film(Playback& played, const Film& film, int by) {
    const double at = moment_of(played, film);
    played.at = by > 0 ? film.after(at) : film.before(at);
    played.playing = false;
}

PlayerClick player_buttons(Ui& ui, Rect& row, std::string_view name, bool playing, const PlayerWords& words,
                           float width) {
    const std::string of(name), key = "  (" + std::string(words.key) + ")";
    const auto clicked = [&](const char* which, PlayerMark mark, const std::string& what) {
        return player_button(ui, of + which, row.cut_left(width), mark, what);
    };
    PlayerClick out = PlayerClick::nothing;
    if (clicked(".back", PlayerMark::back, std::string(words.back))) out = PlayerClick::back;
    if (clicked(".play", playing ? PlayerMark::pause : PlayerMark::play, (playing ? "pause" : "play") + key))
        out = PlayerClick::play;
    if (clicked(".forward", PlayerMark::forward, std::string(words.forward))) out = PlayerClick::forward;
    return out;
}

void draw_player(Ui& ui, Rect& row, std::string_view name, Playback& played, const Film& film) {
    const PlayerClick clicked =
        player_buttons(ui, row, name, played.playing,
                       {"back to the moment before  (left)", "Space", "on to the next moment  (right)"});
    if (clicked == PlayerClick::play) play_or_pause(ui, played, film);
    if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
        step_film(played, film, clicked == PlayerClick::back ? -1 : 1);
}

}  // namespace pentamesh::ui
