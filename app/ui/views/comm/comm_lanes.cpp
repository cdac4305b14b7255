// Draws one micro-batch of one stage on its lanes: what computes, what is on which wire, what the step waits
// for.
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/comm/view.h"
#include "core/base/number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {
namespace {

constexpr float kBreakWidth = 30, kLaneGap = 10, kRowGap = 3, kLeastLayer = 20, kBarWidth = 250;
constexpr float kLegendLine = 20, kPhaseLine = 18;

// ---- the times that are shown ----

struct LaneSpan {
    double from_s = 0, to_s = 0;
};
struct LaneWindow {
    LaneSpan span;
    float x0 = 0, x1 = 0;
    [[nodiscard]] float x(double s) const {
        const double share = (s - span.from_s) / (span.to_s - span.from_s);
        return x0 + static_cast<float>(std::clamp(share, 0.0, 1.0)) * (x1 - x0);
    }
    [[nodiscard]] bool sees(double from_s, double to_s) const {
        return to_s > span.from_s && from_s < span.to_s;
    }
};
struct LaneWindows {
    std::vector<LaneWindow> window;
    double px_per_s = 1;
};

std::vector<LaneSpan> computes_of(const LanePicture& p) {
    std::vector<LaneSpan> out;
    for (const LanePiece& piece : p.pieces)
        if (piece.kind == LanePieceKind::compute && piece.end_s > piece.start_s)
            out.push_back({piece.start_s, piece.end_s});
    std::sort(out.begin(), out.end(),
              [](const LaneSpan& a, const LaneSpan& b) { return a.from_s < b.from_s; });
    return out;
}

// Returns the times at which a picture may be cut: where a unit begins to compute, and where a call begins
// while nothing computes.
std::vector<double> cuts_of(const LanePicture& p, const std::vector<LaneSpan>& computes) {
    std::vector<double> cuts{0, p.end_s};
    for (std::size_t i = 1; i < computes.size(); ++i) cuts.push_back(computes[i].from_s);
    const double first = computes.empty() ? 0 : computes.front().from_s,
                 last = computes.empty() ? 0 : computes.back().to_s;
    for (const LanePiece& piece : p.pieces)
        if (piece.kind == LanePieceKind::call && (piece.start_s >= last || piece.end_s <= first))
            cuts.push_back(piece.start_s);
    std::sort(cuts.begin(), cuts.end());
    const double equal = 1e-9 * p.end_s;
    cuts.erase(std::unique(cuts.begin(), cuts.end(), [&](double a, double b) { return b - a <= equal; }),
               cuts.end());
    cuts.back() = p.end_s;
    return cuts;
}

// Chooses what is seen of the parts between cuts: all, or the two ends and the turn to the backward.
class WindowChooser {
  public:
    // `computes` are the picture's.
    WindowChooser(const LanePicture& p, const std::vector<LaneSpan>& computes, float width)
        : all_(p.layers > 0), cuts_(cuts_of(p, computes)), width_(width) {
        const std::size_t n = parts();
        seen_.assign(n, false);
        std::vector<double> computing, calling;
        for (const LanePiece& piece : p.pieces)
            if (piece.forward && piece.kind != LanePieceKind::own)
                (piece.kind == LanePieceKind::compute ? computing : calling)
                    .push_back(piece.end_s - piece.start_s);
        const double compute = median(computing), call = median(calling);
        layer_s_ = call > 0 ? std::min(compute, call) : compute;
        std::vector<double> lengths;
        for (std::size_t i = 0; i < n; ++i) lengths.push_back(length(i));
        giant_s_ = 12 * std::max(median(lengths), layer_s_);
        double turn_s = p.forward_s;
        for (const LanePiece& piece : p.pieces)
            if (!piece.forward && piece.kind == LanePieceKind::compute) {
                turn_s = piece.start_s;
                break;
            }
        while (!computes.empty() && last_ + 1 < n && cuts_[last_ + 1] < computes.back().to_s) ++last_;
        while (turn_ < n && cuts_[turn_ + 1] <= turn_s + 1e-9 * p.end_s) ++turn_;
    }

    LaneWindows choose(float x) {
        const double whole = cuts_.back() - cuts_.front();
        if (whole <= 0) return {};
        if (all_ || layer_s_ <= 0 || width_ / whole * layer_s_ >= kLeastLayer || parts() <= 9) {
            std::fill(seen_.begin(), seen_.end(), true);
        } else {
            take_parts();
        }
        return windows(x);
    }

  private:
    [[nodiscard]] std::size_t parts() const { return cuts_.size() - 1; }
    [[nodiscard]] double length(std::size_t i) const { return cuts_[i + 1] - cuts_[i]; }
    [[nodiscard]] int breaks() const {
        int n = 0;
        bool before = false;
        for (std::size_t i = 0; i < parts(); ++i) {
            if (seen_[i] && !before && i > 0) ++n;
            before = seen_[i];
        }
        return n;
    }
    [[nodiscard]] double seen_s() const {
        double sum = 0;
        for (std::size_t i = 0; i < parts(); ++i) sum += seen_[i] ? length(i) : 0;
        return sum;
    }
    [[nodiscard]] bool fits(double px_per_s) const {
        return seen_s() * px_per_s + static_cast<double>(breaks()) * kBreakWidth
               <= static_cast<double>(width_);
    }
    // Returns the parts of a window in the order in which they are taken; very long ones are left to the
    // breaks.
    [[nodiscard]] std::vector<std::size_t> order(int window) const {
        std::vector<std::size_t> out;
        const std::size_t n = parts();
        // A window begins after a very long part and ends before the next.
        struct Way {
            bool begun = false, ended = false;
        };
        const auto add = [&](std::size_t i, Way& way) {
            const bool giant = length(i) > giant_s_;
            way.ended = way.ended || (way.begun && giant);
            if (giant || way.ended) return;
            way.begun = true;
            out.push_back(i);
        };
        Way on, back, on_last;
        for (std::size_t k = 0; k < n; ++k) {
            if (window == 0) add(k, on);
            if (window == 1 && turn_ + k < n) add(turn_ + k, on);
            if (window == 1 && turn_ > k) add(turn_ - 1 - k, back);
            if (window == 2 && k < n) {
                add(n - 1 - k, back);  // the end, and what computes last
                if (last_ + 1 < n && k <= last_) add(last_ - k, on_last);
            }
        }
        return out;
    }
    void take_parts() {
        const std::array<std::vector<std::size_t>, 3> orders{order(0), order(1), order(2)};
        std::array<std::size_t, 3> taken{};
        const std::size_t least = width_ < 700 ? 2 : 3;
        for (std::size_t w = 0; w < 3; ++w)
            for (; taken[w] < std::min(least, orders[w].size()); ++taken[w])
                seen_[orders[w][taken[w]]] = true;
        const double scale = kLeastLayer / layer_s_;
        for (bool more = true; more;) {
            more = false;
            for (std::size_t w = 0; w < 3; ++w) {
                while (taken[w] < orders[w].size() && seen_[orders[w][taken[w]]]) ++taken[w];
                if (taken[w] >= orders[w].size()) continue;
                const std::size_t part = orders[w][taken[w]];
                seen_[part] = true;
                if (fits(scale))
                    more = true;
                else
                    seen_[part] = false;
            }
        }
        // A break is no narrower than what it leaves out.
        const double per_s = width_ / std::max(seen_s(), 1e-300);
        for (std::size_t i = 1; i + 1 < parts(); ++i)
            if (!seen_[i] && seen_[i - 1] && seen_[i + 1] && length(i) * per_s < kBreakWidth) seen_[i] = true;
    }
    [[nodiscard]] LaneWindows windows(float x) const {
        LaneWindows out;
        out.px_per_s =
            std::max(1.0, static_cast<double>(width_) - breaks() * static_cast<double>(kBreakWidth))
            / seen_s();
        for (std::size_t i = 0; i < parts(); ++i) {
            if (!seen_[i]) continue;
            if (i > 0 && seen_[i - 1] && !out.window.empty())
                out.window.back().span.to_s = cuts_[i + 1];
            else
                out.window.push_back({.span = {cuts_[i], cuts_[i + 1]}});
        }
        for (LaneWindow& w : out.window) {
            w.x0 = x;
            w.x1 = x + static_cast<float>((w.span.to_s - w.span.from_s) * out.px_per_s);
            x = w.x1 + kBreakWidth;
        }
        return out;
    }

    bool all_;
    std::vector<double> cuts_;
    float width_;
    std::vector<bool> seen_;
    double layer_s_ = 0, giant_s_ = 0;
    std::size_t turn_ = 0, last_ = 0;  // the first part of the backward, the last that computes
};

// ---- the rows ----

enum class LaneRowKind : std::uint8_t { gather, scatter, reduce, own };

struct LaneRow {
    TrafficLane lane = TrafficLane::fast;
    LaneRowKind kind = LaneRowKind::gather;
    Rect place{};
};

LaneRowKind row_kind(const LanePiece& p) {
    return p.kind == LanePieceKind::own ? LaneRowKind::own : static_cast<LaneRowKind>(p.call);
}

// Says how large things are: a low room gets smaller lanes, and then loses words.
struct LaneLooks {
    float compute, row, thin;
    bool why, assumed, legend, marks;
};
constexpr LaneLooks kLaneLooks[] = {
    {64, 30, 14, true, true, true, true},   {46, 24, 12, true, true, true, true},
    {34, 18, 9, true, true, true, true},    {22, 14, 7, true, true, true, true},
    {22, 14, 7, false, true, true, true},   {22, 14, 7, false, false, true, true},
    {22, 14, 7, false, false, false, true}, {22, 14, 7, false, false, false, false}};

// Says what of a picture is drawn, and how wide: strips that stand together share a scale of time.
struct LaneStrip {
    double longest_s = 0;  // of the strips; 0: the picture fills its room
    bool sentence = true, legend = true;
    std::string_view area = "comm.lanes";
};
constexpr float kTwoStrips = 430;  // height from which the layer by itself stands above its pair
constexpr float kGainWidth = 190;  // least room for what a pair gains, right of it

constexpr LaneLooks kSmallLanes{24, 13, 6, false, false, false, false};
constexpr float kCardRadius = 6, kCardGap = 4, kCardWords = 20, kCardPad = 12;

std::string short_name(const std::string& unit) {
    if (unit == "embedding") return "emb";
    for (const std::string_view kind : {std::string_view("layer "), std::string_view("bucket ")})
        if (unit.rfind(kind, 0) == 0) {
            const std::string rest = unit.substr(kind.size());
            return rest.substr(0, rest.find(' '));
        }
    return unit;
}

// ---- the drawing ----

class LaneDrawer {
  public:
    LaneDrawer(Ui& ui, const Scene& scene, const LanePicture& p, const LaneStrip& strip = {})
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), p_(p), strip_(strip),
          computes_(computes_of(p)) {
        find_rows();
    }

    // Returns the height that it uses, from the room's top on.
    float draw(Rect room) {
        const Rect whole = room;
        draw_words(room);
        if (!lay_columns(room, {.least = 84, .around = 16, .gap = 12, .right = 1})) return room.y - whole.y;
        lay_out_legend(room);
        choose_looks(room);
        place_rows(room);
        draw_lanes();
        if (p_.paired) draw_gain();
        if (looks_.marks) draw_marks(room);
        if (looks_.legend && strip_.legend) draw_legend(room);
        if (looks_.assumed && strip_.legend) {
            const TextStyle style = ui_.style(11.5f, Tone::faint);
            const float h = c_.paragraph_height(room.w, p_.assumed, style, 16);
            c_.paragraph(room.cut_top(h), p_.assumed, style, 16);
        }
        answer_mouse();
        return room.y - whole.y;
    }
    // Draws only the lanes, in their smallest form.
    void draw_small(Rect room) {
        small_ = true;
        looks_ = kSmallLanes;
        if (!lay_columns(room, {.least = 0, .around = 14, .gap = 10, .right = 0})) return;
        place_rows(room);
        draw_lanes();
    }
    [[nodiscard]] std::optional<GroupKind> clicked() const { return clicked_; }

  private:
    // Room around the names of the lanes: at least so wide, so much more than the words, between them and the
    // lanes, and right of these.
    struct NameRoom {
        float least, around, gap, right;
    };
    // Parts the names from the lanes, and chooses what is seen of these. Returns false if nothing is.
    bool lay_columns(Rect room, NameRoom around) {
        float names = c_.text_width("compute", name_style(true));
        for (const LaneRow& r : rows_)
            names = std::max(names, c_.text_width(lane_words(r.lane), name_style(true)));
        names = std::min(std::max(names + around.around, around.least), room.w * 0.25f);
        names_ = {room.x, 0, names - around.gap, 0};
        lanes_ = {room.x + names, 0, room.w - names - around.right, 0};
        rest_w_ = lanes_.w;
        if (strip_.longest_s > 0) lanes_.w *= static_cast<float>(p_.end_s / strip_.longest_s);
        rest_w_ -= lanes_.w;
        windows_ = WindowChooser(p_, computes_, lanes_.w).choose(lanes_.x);
        return !windows_.window.empty();
    }
    void draw_lanes() {
        draw_tracks();
        draw_compute();
        for (const LaneRow& r : rows_) draw_row(r);
        draw_names();
        draw_breaks_between();
        draw_phases();
    }
    void find_rows() {
        std::array<std::array<bool, 4>, kEnumCount<TrafficLane>> used{};
        for (const LanePiece& p : p_.pieces) {
            if (!p.lane || p.end_s <= p.start_s) continue;
            used[static_cast<std::size_t>(*p.lane)][static_cast<std::size_t>(row_kind(p))] = true;
            const double s = p.end_s - p.start_s;
            if (p.kind == LanePieceKind::call) {
                by_axis_[p.axis] += s;
                queues_ = queues_ || p.queued_s > 0.01 * s;
            } else {
                own_axis_[p.axis] += s;
            }
        }
        for (const TrafficLane lane : all_of<TrafficLane>())
            for (std::size_t k = 0; k < 4; ++k)
                if (used[static_cast<std::size_t>(lane)][k])
                    rows_.push_back({lane, static_cast<LaneRowKind>(k)});
    }
    [[nodiscard]] std::string lane_words(std::optional<TrafficLane> lane) const {
        return lane_name(scene_.plan, p_, lane);
    }
    [[nodiscard]] TextStyle name_style(bool strong) const {
        return strong && !small_ ? ui_.style(13, Tone::text, Face::semibold)
                                 : ui_.style(11.5f, Tone::secondary);
    }

    // ---- above the lanes ----
    void draw_words(Rect& room) {
        const TextStyle title = ui_.style(16, Tone::text, Face::semibold),
                        plain = ui_.style(13, Tone::secondary),
                        strong = ui_.style(13, Tone::text, Face::semibold);
        const double all = p_.waits_s + p_.hidden_s;
        const std::string waits = time_text(p_.waits_s) + " waits",
                          hides = ", " + time_text(p_.hidden_s) + " hides";
        const float words =
            c_.text_width("traffic: ", plain) + c_.text_width(waits, strong) + c_.text_width(hides, plain);
        const float wants = words + 12 + kBarWidth;
        if (all > 0 && c_.text_width(p_.title, title) + wants + 32 <= room.w) {
            Rect row = room.cut_top(24);
            c_.text_in(row, p_.title, title);
            Rect right = row.cut_right(wants);
            const Rect bar = Rect(right.cut_right(kBarWidth)).inset(0, 5.5f);
            right.cut_right(12);
            c_.text_in(right, hides, plain, Align::right);
            right.cut_right(c_.text_width(hides, plain));
            c_.text_in(right, waits, strong, Align::right);
            right.cut_right(c_.text_width(waits, strong));
            c_.text_in(right, "traffic: ", plain, Align::right);
            const Color axis = most_axis_color();
            c_.rect(bar, mix(theme_.window, axis, 0.12f));
            c_.rect({bar.x, bar.y, bar.w * static_cast<float>(p_.waits_s / all), bar.h}, axis);
            c_.frame(bar, axis, 1.3f);
        } else {
            put_paragraph(ui_, room, p_.title, title, 22, 2);
        }
        std::string sentence = p_.sentence;
        const bool stages = scene_.evaluation.comm.stages.devices > 1;
        const std::string stage = "tage " + std::to_string(p_.stage);
        if (p_.layers > 0)
            sentence += " One of " + plural(p_.layers, "layer", "like layers")
                        + (stages ? " of s" + stage + "." : ".");
        else if (stages)
            sentence +=
                (sentence.empty() ? "S" : " S") + stage + (p_.once ? ", the one that works longest." : ".");
        if (!sentence.empty() && strip_.sentence) put_paragraph(ui_, room, sentence, plain, 18, 8);
    }
    // Ends a pair with a line; right of it stands what it gains.
    void draw_gain() {
        const float x = lanes_.right();
        c_.line({x, phases_.y}, {x, lanes_.bottom()}, theme_.text, 1.4f);
        if (rest_w_ < kGainWidth || p_.alone.empty()) return;
        Rect room{x + 14, compute_.y, rest_w_ - 14, lanes_.bottom() - compute_.y};
        const auto put = [&](const std::string& words, const TextStyle& style, float line) {
            if (c_.paragraph_height(room.w, words, style, line) <= room.h)
                put_paragraph(ui_, room, words, style, line, 4);
        };
        put("\xE2\x88\x92" + time_text(p_.alone.front().end_s - p_.end_s) + " a pair",
            ui_.style(16, Tone::text, Face::semibold).in(theme_.good), 22);
        if (p_.slowed_s > 0)
            put(time_text(p_.slowed_s) + " lost to slower compute", ui_.style(13, Tone::secondary), 18);
        const TrafficLane lane = p_.slowest_lane();
        constexpr double kNearlyFull = 0.6;
        put(lane_words(lane) + " is busy " + time_text(p_.busy_s[lane]) + " of " + time_text(p_.end_s)
                + (p_.busy_s[lane] > kNearlyFull * p_.end_s ? ": longer, and it would be the wall" : ""),
            ui_.style(13, Tone::secondary), 18);
    }
    [[nodiscard]] Color most_axis_color() const {
        GroupKind most = GroupKind::dp_shard;
        for (const GroupKind k : all_of<GroupKind>())
            if (by_axis_[k] > by_axis_[most]) most = k;
        return color_of(theme_, most);
    }

    // ---- places ----
    [[nodiscard]] float height_of(const LaneRow& r, const LaneLooks& looks) const {
        return r.kind == LaneRowKind::gather || r.kind == LaneRowKind::scatter ? looks.row : looks.thin;
    }
    [[nodiscard]] float height(const LaneLooks& looks, float assumed) const {
        float h = kPhaseLine + looks.compute;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            h += height_of(rows_[i], looks)
                 + (i > 0 && rows_[i].lane == rows_[i - 1].lane ? kRowGap : kLaneGap);
        if (looks.marks && !p_.marks.empty()) h += 30 + (looks.why ? 16.0f : 0.0f);
        h += 10;
        if (looks.legend && strip_.legend) h += legend_h_ + 4;
        if (looks.assumed && strip_.legend) h += assumed;
        return h;
    }
    void choose_looks(Rect room) {
        const float assumed = c_.paragraph_height(room.w, p_.assumed, ui_.style(11.5f, Tone::faint), 16);
        looks_ = kLaneLooks[std::size(kLaneLooks) - 1];
        for (const LaneLooks& looks : kLaneLooks)
            if (height(looks, assumed) <= room.h) {
                looks_ = looks;
                break;
            }
    }
    void place_rows(Rect& room) {
        phases_ = room.cut_top(kPhaseLine);
        compute_ = room.cut_top(looks_.compute);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            room.cut_top(i > 0 && rows_[i].lane == rows_[i - 1].lane ? kRowGap
                         : small_                                    ? kCardGap
                                                                     : kLaneGap);
            rows_[i].place = room.cut_top(height_of(rows_[i], looks_));
        }
        lanes_.y = compute_.y;
        lanes_.h = room.y - compute_.y;
    }

    // ---- lanes ----
    [[nodiscard]] Color track() const { return mix(theme_.window, theme_.raised, 0.55f); }
    void draw_tracks() {
        for (const LaneWindow& w : windows_.window) {
            c_.rect({w.x0, compute_.y, w.x1 - w.x0, compute_.h}, track());
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const bool joined = i > 0 && rows_[i].lane == rows_[i - 1].lane;
                const float y = rows_[i].place.y - (joined ? kRowGap : 0.0f);
                c_.rect({w.x0, y, w.x1 - w.x0, rows_[i].place.bottom() - y}, track());
            }
        }
    }
    // Hatches where nothing computes.
    void fill_idle(Rect r) {
        c_.pattern(r, Pattern::hatched, mix(theme_.window, theme_.bad, 0.62f),
                   mix(theme_.window, theme_.bad, 0.07f));
    }
    void draw_compute() {
        const auto hole = [&](double from_s, double to_s) {
            for (const LaneWindow& w : windows_.window)
                if (w.sees(from_s, to_s) && w.x(to_s) - w.x(from_s) >= 0.5f)
                    fill_idle({w.x(from_s), compute_.y, w.x(to_s) - w.x(from_s), compute_.h});
        };
        double at = 0;
        for (const LaneSpan& s : computes_) {
            if (s.from_s > at) hole(at, s.from_s);
            at = std::max(at, s.to_s);
        }
        if (p_.end_s > at) hole(at, p_.end_s);
        for (const LanePiece& p : p_.pieces)
            if (p.kind == LanePieceKind::compute)
                for (const LaneWindow& w : windows_.window)
                    if (w.sees(p.start_s, p.end_s)) draw_unit(p, w);
        for (const LanePiece& p : p_.pieces)
            if (p.kind == LanePieceKind::call)
                for (const LaneWindow& w : windows_.window)
                    if (w.sees(p.start_s, p.end_s)) draw_edge(p, w);
    }
    void draw_unit(const LanePiece& p, const LaneWindow& w) {
        const Color color = p.forward ? theme_.forward : theme_.backward;
        const Rect r{w.x(p.start_s), compute_.y, std::max(w.x(p.end_s) - w.x(p.start_s), 1.0f), compute_.h};
        c_.rect(r, color);
        if (r.w > 4 && p.start_s > w.span.from_s) c_.line({r.x, r.y}, {r.x, r.bottom()}, theme_.window, 1);
        write_name({r.x, r.y + edge_h(), r.w, r.h - edge_h()}, short_name(p.unit), ink_on(color));
        note(r, p);
    }
    [[nodiscard]] float edge_h() const { return looks_.compute >= 46 ? 5 : 3; }
    // Marks where a unit computes next to a call.
    void draw_edge(const LanePiece& p, const LaneWindow& w) {
        for (const LaneSpan& s : beside(p)) {
            const float x0 = w.x(s.from_s), x1 = w.x(s.to_s);
            if (w.sees(s.from_s, s.to_s) && x1 - x0 >= 0.5f)
                c_.rect({x0, compute_.y, x1 - x0, edge_h()}, color_of(theme_, p.axis));
        }
    }
    // Returns the times of a piece at which something computes.
    [[nodiscard]] std::vector<LaneSpan> beside(const LanePiece& p) const {
        std::vector<LaneSpan> out;
        auto at = std::upper_bound(computes_.begin(), computes_.end(), p.start_s,
                                   [](double s, const LaneSpan& span) { return s < span.to_s; });
        for (; at != computes_.end() && at->from_s < p.end_s; ++at) {
            const LaneSpan s{std::max(at->from_s, p.start_s), std::min(at->to_s, p.end_s)};
            if (!out.empty() && s.from_s <= out.back().to_s)
                out.back().to_s = s.to_s;
            else
                out.push_back(s);
        }
        return out;
    }
    void write_name(Rect r, const std::string& words, Color ink) {
        if (r.h < 13) return;
        const TextStyle style = ui_.style(11.5f).in(ink);
        if (c_.text_width(words, style) + 5 <= r.w) c_.text_in(r, words, style, Align::center);
    }

    void draw_row(const LaneRow& row) {
        const auto of_row = [&](const LanePiece& p) { return p.lane == row.lane && row_kind(p) == row.kind; };
        for (const LanePiece& p : p_.pieces)
            if (of_row(p) && p.kind == LanePieceKind::call)
                for (const LaneWindow& w : windows_.window)
                    if (w.sees(p.start_s - p.queued_s, p.start_s)) draw_queue(p, row.place, w);
        for (const LanePiece& p : p_.pieces)
            if (of_row(p))
                for (const LaneWindow& w : windows_.window)
                    if (w.sees(p.start_s, p.end_s)) draw_call(p, row.place, w);
    }
    // Draws a line from the issue of a call to its start.
    void draw_queue(const LanePiece& p, Rect row, const LaneWindow& w) {
        const double issued_s = p.start_s - p.queued_s;
        const float x0 = w.x(issued_s), x1 = w.x(p.start_s), y = row.center().y;
        if (p.queued_s * windows_.px_per_s < 6 || x1 <= x0) return;
        const Color color = color_of(theme_, p.axis);
        c_.line({x0, y}, {x1, y}, color, 1.2f);
        const float tick = std::min(4.0f, row.h / 2);
        if (issued_s >= w.span.from_s) c_.line({x0 + 0.6f, y - tick}, {x0 + 0.6f, y + tick}, color, 1.2f);
    }
    // Fills a call where the step waits, and outlines it where something computes next to it.
    void draw_call(const LanePiece& p, Rect row, const LaneWindow& w) {
        const Color axis = color_of(theme_, p.axis), ground = mix(track(), axis, 0.12f);
        const Rect r{w.x(p.start_s), row.y, std::max(w.x(p.end_s) - w.x(p.start_s), 1.5f), row.h};
        note(r, p);
        if (p.kind == LanePieceKind::own) {
            c_.pattern(r, Pattern::hatched, axis, ground);
            if (r.w > 4) c_.frame(r, axis, 1);
            return;
        }
        const double all = p.end_s - p.start_s;
        if (p.hidden_s >= all * (1 - 1e-6)) {
            outline_call(r, axis, ground);
            write_call(r, p, theme_.text);
            return;
        }
        c_.rect(r, axis);
        Rect widest = r;
        bool filled = true;
        float x = r.x, most = 0;
        const auto part = [&](float to, bool fill) {
            if (to - x > most) most = to - x, widest = {x, r.y, to - x, r.h}, filled = fill;
            x = to;
        };
        if (p.hidden_s > all * 1e-6)
            for (const LaneSpan& s : beside(p)) {
                const float x0 = w.x(s.from_s), x1 = w.x(s.to_s);
                if (x1 - x0 < 1) continue;
                part(x0, true);
                c_.rect({x0, r.y, x1 - x0, r.h}, track());
                outline_call({x0, r.y, x1 - x0, r.h}, axis, ground);
                part(x1, false);
            }
        part(r.right(), true);
        if (r.w > 4) c_.rect({r.right() - 1, r.y, 1, r.h}, track());
        write_call(widest, p, filled ? ink_on(axis) : theme_.text);
    }
    // In a picture of one layer calls are few: they have their time next to their name.
    void write_call(Rect r, const LanePiece& p, Color ink) {
        const std::string name = short_name(p.unit), whose = !p_.paired  ? ""
                                                             : p.forward ? " of forward"
                                                                         : " of backward";
        const std::string time = p_.layers > 0 ? " " + time_text(p.end_s - p.start_s) : std::string();
        const TextStyle style = ui_.style(11.5f);
        for (const std::string& words : {name + whose + time, name + whose, name})
            if (c_.text_width(words, style) + 5 <= r.w) return write_name(r, words, ink);
    }
    void outline_call(Rect r, Color axis, Color ground) {
        c_.rect(r, ground);
        if (r.w > 3)
            c_.frame(r.inset(0.65f), axis, 1.3f);
        else
            c_.line({r.center().x, r.y}, {r.center().x, r.bottom()}, axis, 1.3f);
    }

    void draw_names() {
        c_.text_in({names_.x, compute_.y, names_.w, compute_.h}, "compute", name_style(true), Align::right);
        for (std::size_t i = 0; i < rows_.size();) {
            std::size_t end = i;
            bool calls = false;
            for (; end < rows_.size() && rows_[end].lane == rows_[i].lane; ++end)
                calls = calls || rows_[end].kind != LaneRowKind::own;
            const float y0 = rows_[i].place.y, y1 = rows_[end - 1].place.bottom();
            const float h = std::max(y1 - y0, 16.0f);
            const Rect box{names_.x, (y0 + y1 - h) / 2, names_.w, h};
            ui_.label(box, lane_words(rows_[i].lane), name_style(calls), Align::right);
            if (end - i > 1)
                c_.line({names_.right() + 6, y0}, {names_.right() + 6, y1}, theme_.secondary, 1.2f);
            i = end;
        }
    }
    void draw_breaks_between() {
        for (std::size_t i = 0; i + 1 < windows_.window.size(); ++i) {
            const float middle = (windows_.window[i].x1 + windows_.window[i + 1].x0) / 2;
            draw_break(c_, theme_, lanes_, middle, 4);
        }
    }
    // Names the passes above the lanes.
    void draw_phases() {
        const TextStyle style = ui_.style(11.5f, Tone::secondary);
        float from = lanes_.x;
        const auto say = [&](float x, const std::string& words) {
            const float width = c_.text_width(words, style) + 2;
            x = std::min(x, lanes_.right() - width);
            if (x < from) return;
            c_.text_in({x, phases_.y, width, 16}, words, style);
            from = x + width + 12;
        };
        const auto pass_from = [&](bool forward) -> std::optional<float> {
            for (const LaneWindow& w : windows_.window)
                for (const LanePiece& p : p_.pieces)
                    if (p.forward == forward && p.kind == LanePieceKind::compute
                        && w.sees(p.start_s, p.end_s))
                        return w.x(std::max(p.start_s, w.span.from_s));
            return std::nullopt;
        };
        if (p_.paired) {
            say(lanes_.x, "light: the forward of one micro-batch; dark: the backward of another");
            return;
        }
        say(lanes_.x, p_.once ? "the first forward" : "forward");
        const auto turn = pass_from(false);
        const bool again = scene_.plan.training.recompute == Recompute::full;
        if (turn)
            say(*turn, std::string(p_.once ? "the last backward" : "backward")
                           + (!again           ? ""
                              : p_.layers == 0 ? ", each layer computed again first"
                                               : ", computed again first"));
        const LaneWindow& last = windows_.window.back();
        if (windows_.window.size() > 1 && last.span.from_s > p_.forward_s) say(last.x0, "the end");
    }

    // ---- below the lanes ----
    // Returns where a time is on the screen: at its place, or at the nearest end of a window.
    [[nodiscard]] float seen_x(double s) const {
        float x = windows_.window.front().x0;
        for (const LaneWindow& w : windows_.window)
            if (s >= w.span.from_s) x = w.x(s);
        return x;
    }
    void draw_marks(Rect& room) {
        if (p_.marks.empty()) return;
        const float y = lanes_.bottom() + 5;
        const TextStyle what = ui_.style(13, Tone::text, Face::semibold),
                        why = ui_.style(11.5f, Tone::secondary);
        float from = lanes_.x;
        for (const LaneMark& m : p_.marks) {
            const bool seen = std::any_of(windows_.window.begin(), windows_.window.end(),
                                          [&](const LaneWindow& w) { return w.sees(m.from_s, m.to_s); });
            const float x0 = seen_x(m.from_s), x1 = seen_x(m.to_s);
            float width =
                std::max(c_.text_width(m.what, what), looks_.why ? c_.text_width(m.why, why) : 0.0f) + 2;
            width = std::min(width, lanes_.w);
            const bool right = x0 + width > lanes_.right();
            const float x = right ? std::max(lanes_.x, std::min(x1, lanes_.right()) - width) : x0;
            if (!seen || x < from) continue;
            c_.polyline({{x0 + 0.5f, y}, {x0 + 0.5f, y + 5}, {x1 - 0.5f, y + 5}, {x1 - 0.5f, y}}, theme_.text,
                        1);
            const Align align = right ? Align::right : Align::left;
            c_.text_in({x, y + 7, width, 17}, m.what, what, align);
            if (looks_.why) c_.text_in({x, y + 24, width, 15}, m.why, why, align);
            from = x + width + 14;
        }
        room.cut_top(30 + (looks_.why ? 16.0f : 0.0f));
    }

    enum class Sign : std::uint8_t {
        waits,
        hidden,
        own,
        idle,
        slowed,
        queue,
        forward,
        backward,
        axis,
        scale
    };
    struct LegendItem {
        Sign sign;
        std::string words;
        Color color;
        Rect place{};
    };
    void lay_out_legend(Rect room) {
        const Color axis = most_axis_color();
        bool waits = false, hidden = false;
        for (const LanePiece& p : p_.pieces)
            if (p.kind == LanePieceKind::call) {
                waits = waits || p.hidden_s < (p.end_s - p.start_s) * (1 - 1e-6);
                hidden = hidden || p.hidden_s > (p.end_s - p.start_s) * 1e-6;
            }
        legend_.clear();
        const auto add = [&](bool has, Sign sign, std::string words, Color color) {
            if (has) legend_.push_back({sign, std::move(words), color});
        };
        add(waits, Sign::waits, "the step waits", axis);
        add(hidden, Sign::hidden, "hidden behind compute", axis);
        GroupKind own = GroupKind::tp;
        std::string others;
        for (const GroupKind k : all_of<GroupKind>())
            if (own_axis_[k] > 0) {
                others += (others.empty() ? "" : ", ") + axis_label(k);
                if (own_axis_[k] >= own_axis_[own]) own = k;
            }
        add(!others.empty(), Sign::own, "lane busy with another axis (" + others + ")",
            color_of(theme_, own));
        add(waits, Sign::idle, "idle", axis);
        add(hidden && p_.slowed_s > 0, Sign::slowed, "slowed by traffic", axis);
        add(queues_, Sign::queue, "in the queue", axis);
        add(true, Sign::forward, "forward", theme_.forward);
        add(true, Sign::backward, "backward", theme_.backward);
        std::size_t axes = 0;
        for (const GroupKind k : all_of<GroupKind>()) axes += by_axis_[k] > 0 ? 1 : 0;
        for (const GroupKind k : all_of<GroupKind>())
            add(axes > 1 && by_axis_[k] > 0, Sign::axis, axis_label(k), color_of(theme_, k));
        constexpr double kLeastScale_px = 48;  // and 120 at most
        scale_s_ = round_step(kLeastScale_px / windows_.px_per_s);
        add(true, Sign::scale, time_text(scale_s_), theme_.secondary);
        const TextStyle style = ui_.style(11.5f, Tone::secondary);
        float x = 0, y = 0;
        for (LegendItem& item : legend_) {
            const float sign = sign_width(item.sign), w = sign + 8 + c_.text_width(item.words, style) + 2;
            if (x > 0 && x + w > room.w) x = 0, y += kLegendLine;
            item.place = {x, y, w, kLegendLine};
            x += w + 22;
        }
        legend_h_ = y + kLegendLine;
    }
    [[nodiscard]] float sign_width(Sign sign) const {
        return sign == Sign::scale ? static_cast<float>(scale_s_ * windows_.px_per_s) : 20.0f;
    }
    void draw_sign(const LegendItem& item, Rect r) {
        switch (item.sign) {
        case Sign::waits:
        case Sign::axis:
        case Sign::forward:
        case Sign::backward: c_.rect(r, item.color); break;
        case Sign::hidden: outline_call(r, item.color, mix(track(), item.color, 0.12f)); break;
        case Sign::own:
            c_.pattern(r, Pattern::hatched, item.color, mix(track(), item.color, 0.12f));
            c_.frame(r, item.color, 1);
            break;
        case Sign::idle: fill_idle(r); break;
        case Sign::slowed:
            c_.rect(r, theme_.backward);
            c_.rect({r.x, r.y, r.w, 4}, item.color);
            break;
        case Sign::queue:
            c_.line({r.x, r.center().y}, {r.right(), r.center().y}, item.color, 1.2f);
            c_.line({r.x + 0.6f, r.y + 2}, {r.x + 0.6f, r.bottom() - 2}, item.color, 1.2f);
            break;
        case Sign::scale:
            c_.polyline({{r.x, r.y + 3}, {r.x, r.y + 8}, {r.right(), r.y + 8}, {r.right(), r.y + 3}},
                        item.color, 1);
            break;
        }
    }
    void draw_legend(Rect& room) {
        room.cut_top(10);
        const Rect box = room.cut_top(legend_h_);
        room.cut_top(4);
        const TextStyle style = ui_.style(11.5f, Tone::secondary);
        for (const LegendItem& item : legend_) {
            Rect r = item.place;
            r.x += box.x, r.y += box.y;
            draw_sign(item, r.cut_left(sign_width(item.sign)).inset(0, 4));
            r.cut_left(8);
            c_.text_in(r, item.words, style);
        }
    }

    // ---- the mouse ----
    void note(Rect r, const LanePiece& p) {
        if (const float least = 4; r.w < least) r = {r.center().x - least / 2, r.y, least, r.h};
        if (r.contains(ui_.frame().mouse)) under_ = &p, under_place_ = r;
    }
    [[nodiscard]] std::string words_of_piece(const LanePiece& p) const {
        const double all = p.end_s - p.start_s;
        std::string s = p.unit + (p.forward ? ", forward" : ", backward");
        if (p.kind == LanePieceKind::call) s += "\n" + p.what + " on " + axis_label(p.axis);
        if (p.kind == LanePieceKind::own) s += "\nits own calls on " + axis_label(p.axis);
        if (p.lane) s += " over " + lane_words(p.lane);
        s += "\n" + time_text(all) + ", from " + time_text(p.start_s) + " on";
        if (p.kind != LanePieceKind::call) return s;
        s += "\n" + time_text(std::max(all - p.hidden_s, 0.0)) + " waited for, " + time_text(p.hidden_s)
             + " hidden";
        if (p.queued_s > 0) s += "\n" + time_text(p.queued_s) + " in the queue before";
        return s;
    }
    void answer_mouse() {
        const Hit hit = ui_.area(strip_.area, lanes_);
        if (hit.focused) ui_.focus_ring(lanes_, 2);
        if (!hit.hovered || under_ == nullptr) return;
        ui_.tooltip(words_of_piece(*under_), under_place_);
        c_.frame(under_place_, theme_.text, 2);
        if (under_->kind == LanePieceKind::compute) return;
        for (const LanePiece& p : p_.pieces)  // the unit of a call, with it
            if (p.kind == LanePieceKind::compute && p.unit == under_->unit && p.forward == under_->forward)
                for (const LaneWindow& w : windows_.window)
                    if (w.sees(p.start_s, p.end_s))
                        c_.frame({w.x(p.start_s), compute_.y, w.x(p.end_s) - w.x(p.start_s), compute_.h},
                                 theme_.text, 2);
        if (hit.clicked) clicked_ = under_->axis;
    }

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    const Scene& scene_;
    const LanePicture& p_;
    LaneStrip strip_;
    float rest_w_ = 0;  // right of the lanes
    std::vector<LaneSpan> computes_;
    std::vector<LaneRow> rows_;
    EnumArray<GroupKind, double> by_axis_{}, own_axis_{};
    bool queues_ = false, small_ = false;
    LaneWindows windows_;
    LaneLooks looks_ = kLaneLooks[0];
    Rect names_, lanes_, phases_, compute_;
    std::vector<LegendItem> legend_;
    float legend_h_ = 0;
    double scale_s_ = 0;
    const LanePiece* under_ = nullptr;
    Rect under_place_{};
    std::optional<GroupKind> clicked_;
};

}  // namespace

float draw_comm_lanes(Ui& ui, Rect room, Scene& scene, CommLanesState& state, std::uint64_t revision) {
    const int chosen = chosen_stage(scene), stage = chosen >= 0 ? chosen : state.stage;
    const std::optional<LanePicture>& picture = state.picture.get({revision, stage}, [&] {
        return state.one_layer ? layer_picture(scene.plan, scene.evaluation, stage)
                               : lane_picture(scene.plan, scene.evaluation, stage);
    });
    if (!picture || picture->pieces.empty()) {
        ui.canvas().text_in(room,
                            scene.evaluation.step
                                ? "No layer makes a call of its own here: tp, cp and ep are off."
                                : "No step, so nothing on the lanes: the problems say why.",
                            ui.small(), Align::center);
        return room.h;
    }
    // Above stands the layer without its partner, below the pair, on one scale of time.
    LaneStrip strip;
    float used = 0;
    std::optional<GroupKind> clicked;
    if (picture->paired && room.h >= kTwoStrips) {
        const LanePicture& alone = picture->alone.front();
        strip.longest_s = alone.end_s;
        Rect above = room;
        above.h = room.h * 0.4f;
        LaneDrawer drawer(
            ui, scene, alone,
            {.longest_s = alone.end_s, .sentence = false, .legend = false, .area = "comm.single"});
        used = drawer.draw(above);
        clicked = drawer.clicked();
        room.cut_top(used);
        ui.canvas().line({room.x, room.y + 8}, {room.right(), room.y + 8}, ui.theme().hairline, 1);
        room.cut_top(16);
        used += 16;
    }
    LaneDrawer drawer(ui, scene, *picture, strip);
    used += drawer.draw(room);
    if (const auto axis = drawer.clicked() ? drawer.clicked() : clicked) scene.selection.choose(*axis);
    return used;
}

float lanes_card_height(const LanePicture& p) {
    std::array<std::array<bool, 4>, kEnumCount<TrafficLane>> used{};
    for (const LanePiece& piece : p.pieces)
        if (piece.lane)
            used[static_cast<std::size_t>(*piece.lane)][static_cast<std::size_t>(row_kind(piece))] = true;
    float h = 2 * kCardPad + 2 * kCardWords + kPhaseLine + kSmallLanes.compute;
    for (const auto& lane : used)
        for (const bool row : lane) h += row ? kSmallLanes.row + kCardGap : 0.0f;
    return h;
}

void draw_lanes_card(Ui& ui, Rect card, const Scene& scene, const LanePicture& p, std::string_view key) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.rect(card, theme.raised, kCardRadius);
    c.frame(card, theme.secondary, 1, kCardRadius);
    Rect room = card.inset(kCardPad, kCardPad);
    Rect head = room.cut_top(kCardWords);
    const std::string what = p.layers > 0 ? "One of " + plural(p.layers, "layer", "like layers") + ": "
                             : p.once     ? std::string("Once a step: ")
                                          : std::string("One micro-batch: ");
    const std::string waits =
        p.waits_s <= 1e-3 * p.end_s ? std::string("next to nothing waits") : time_text(p.waits_s) + " waits";
    if (!ui.state().for_picture) {
        const TextStyle faint = ui.style(11.5f, Tone::secondary);
        c.text_in(head.cut_right(c.text_width(key, faint) + 2), key, faint, Align::right);
    }
    c.text_in(head, what, ui.style(12.5f, Tone::secondary));
    head.cut_left(c.text_width(what, ui.style(12.5f, Tone::secondary)));
    c.text_in(head, time_text(p.end_s) + ", " + waits, ui.style(12.5f, Tone::text, Face::semibold));
    const Rect words = room.cut_bottom(kCardWords);
    LaneDrawer(ui, scene, p).draw_small(room);
    std::string rest = time_text(p.hidden_s) + " hides";
    if (p.slowed_s > 0) rest += ", and slows compute by " + time_text(p.slowed_s);
    if (p.paired && p.busy_s[TrafficLane::card] > 0)
        rest += "; " + lane_name(scene.plan, p, TrafficLane::card) + " is free "
                + time_text(p.end_s - p.busy_s[TrafficLane::card]);
    ui.label(words, rest, ui.style(11.5f, Tone::secondary));
}

}  // namespace pentamesh::ui
