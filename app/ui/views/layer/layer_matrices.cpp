// Draws tensor parallelism as two matrices: the first cut into columns, the second into rows, then the sum.
// Two GPUs have a row each; more are stripes of one chain (layer_matrix_chain.cpp).
#include "app/ui/views/layer/layer_matrices.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "core/base/text.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

std::string number_word(std::int64_t n) {
    constexpr std::array<std::string_view, 9> kWords{"no",   "one", "two",   "three", "four",
                                                     "five", "six", "seven", "eight"};
    return n >= 0 && n < static_cast<std::int64_t>(kWords.size())
               ? std::string(kWords[static_cast<std::size_t>(n)])
               : thousands(n);
}

std::vector<MatrixStripe> matrix_stripes(std::int64_t n) {
    std::vector<MatrixStripe> out;
    if (n <= kMostStripes) {
        for (std::int64_t i = 0; i < n; ++i)
            out.push_back({i, static_cast<float>(i) / static_cast<float>(n), 1 / static_cast<float>(n)});
        return out;
    }
    constexpr float kGap = 1.5f, kAll = kFirstStripes + 1 + kGap;
    for (std::int64_t i = 0; i < kFirstStripes; ++i)
        out.push_back({i, static_cast<float>(i) / kAll, 1 / kAll});
    out.push_back({-1, kFirstStripes / kAll, kGap / kAll});
    out.push_back({n - 1, (kFirstStripes + kGap) / kAll, 1 / kAll});
    return out;
}

// ---- the parts ----

MatrixPainter::MatrixPainter(const MatrixScene& of)
    : ui_(of.ui), c_(of.ui.canvas()), theme_(of.ui.theme()), scene_(of.scene), state_(of.state), m_(of.m),
      own_(of.own), sliced_(of.sliced), asked_(of.scene.asked), base_(color_of(theme_, GroupKind::tp)),
      shades_(shades(theme_, base_)),
      ink_(theme_.id == ThemeId::light ? mix(base_, theme_.text, 0.35f) : base_) {
    if (!own_) {
        picked_ = state_.path;
    } else if (scene_.selection.rank >= 0) {
        const auto at = std::find(m_.ranks.begin(), m_.ranks.end(), scene_.selection.rank);
        picked_ = at == m_.ranks.end() ? -1 : at - m_.ranks.begin();
    }
}

std::string MatrixPainter::wire_name(int tier) const {
    return std::string(tier_name(cluster(), tier));
}
std::string MatrixPainter::rank_text(std::int64_t at) const {
    return thousands(own_ ? m_.ranks[static_cast<std::size_t>(at)] : at);
}
std::string MatrixPainter::size_text(std::int64_t rows, std::int64_t columns) const {
    return thousands(rows) + " × " + thousands(columns);
}

std::string MatrixPainter::columns_words() const {
    return first_name() + ": 1 / " + thousands(m_.tp()) + " of the " + thousands(m_.columns) + " columns"
           + (m_.gated ? " of each" : "");
}
std::string MatrixPainter::rows_words() const {
    return "B: 1 / " + thousands(m_.tp()) + " of the " + thousands(m_.rows) + " rows";
}
std::string MatrixPainter::product_words() const {
    return product_name() + ": its columns for all " + thousands(m_.tokens) + " tokens, complete";
}
std::string MatrixPainter::input_words() const {
    return "X, the input\n" + size_text(m_.tokens, m_.hidden) + " numbers, whole on every GPU";
}
std::string MatrixPainter::summand_words() const {
    return std::string(asked_ ? "A number for every place of Y, and none is right" : "A summand of Y") + "\n"
           + size_text(m_.tokens, m_.hidden) + " numbers on each GPU";
}

std::string MatrixPainter::wire_words() const {
    const TpSum& s = sum();
    std::string out = sliced_ ? "all-gather before A, reduce-scatter behind B\n" : "all-reduce\n";
    out += "each GPU sends " + traffic_text(s.bytes());
    if (sliced_) out += ": " + traffic_text(s.gather_bytes) + " and " + traffic_text(s.sum_bytes);
    return out + "\n" + time_text(s.time_s()) + " over " + wire_name(m_.tier) + wait_words() + "\n"
           + calls_words();
}

std::string MatrixPainter::calls_words() const {
    const TpSum& s = sum();
    std::string out = trimmed(s.calls) + " calls over tp in each layer and micro-batch, forward and back";
    const std::string software(m_.software);
    if (s.gathered_again > 0)
        out += "\n" + trimmed(s.gathered_again)
               + " more: inputs are gathered twice, for the gradients of weights"
               + (m_.is_megatron ? "; " + software + " does so"
                                 : "\nMegatron's rule; of " + software + " it is assumed");
    else if (sliced_ && m_.keeps_inputs)
        out += "\n" + software + " keeps gathered inputs: none is gathered twice";
    if (s.repeated > 0) out += "\n" + trimmed(s.repeated) + " more: recomputation repeats them";
    return out;
}

// Says how much of the plan's own calls is waited for, where that is known.
std::string MatrixPainter::wait_words() const {
    const bool own_way = own_ && sliced_ == m_.own_sliced && m_.waited >= 0;
    if (own_way && m_.waited < 0.99) return "; " + percent(m_.waited) + " is waited for";
    if (!own_way && scene_.plan.training.overlap.tp) return "";
    return sliced_ ? "; all wait for both" : "; all wait for it";
}

void MatrixPainter::pick(std::int64_t at) {
    const bool same = picked_ == at;
    if (own_)
        scene_.selection.pick_rank(same ? -1 : m_.ranks[static_cast<std::size_t>(at)]);
    else
        state_.path = same ? -1 : at;
}

void MatrixPainter::answers(std::string_view name, Rect r, std::int64_t at, std::string_view words) {
    const Hit hit = ui_.area(name, r, static_cast<std::uint64_t>(at), true, name == "layer.stripe");
    if (hit.hovered) {
        c_.frame(r, theme_.text, 1.5f);
        ui_.tooltip("GPU " + rank_text(at) + "\n" + std::string(words)
                    + (picked_ == at ? "\nclick: all GPUs" : "\nclick: its way up to the sum"));
    }
    if (hit.focused) ui_.focus_ring(r, 2);
    if (hit.clicked) pick(at);
}
void MatrixPainter::hint(Rect r, std::string_view words) {
    if (ui_.hovers(r)) ui_.tooltip(std::string(words));
}
void MatrixPainter::hint_wire(Rect r) {
    const Hit hit = ui_.area("layer.wire", r, 0, true, false);
    if (hit.hovered) ui_.tooltip(wire_words());
}

void MatrixPainter::whole(Rect r, float alpha) {
    c_.pattern(r, Pattern::hatched, theme_.secondary.alpha(alpha));
    c_.frame(r, theme_.text.alpha(alpha), 1);
}
void MatrixPainter::elsewhere(Rect r) {
    c_.frame(r, theme_.faint, 1, 0, Dash::dashed);
}
void MatrixPainter::summand(Rect r, std::int64_t at, float strength, float width) {
    c_.rect(r, theme_.panel);
    c_.rect(r, shade(at).alpha(0.28f * strength));
    c_.frame(r, shade(at).alpha(strength), width);
}
void MatrixPainter::covered(Rect r) {
    c_.rect(r, theme_.raised.alpha(0.55f), 4);
    c_.pattern(r, Pattern::sparse, theme_.hairline);
    c_.frame(r, theme_.hairline, 1, 4, Dash::dashed);
    c_.text_in(r, "?", ui_.style(28, Tone::secondary), Align::center);
}
void MatrixPainter::sign(Vec2 at, std::string_view text) {
    c_.text_in({at.x - 14, at.y - 10, 28, 20}, text, ui_.style(13, Tone::secondary, Face::semibold),
               Align::center);
}
void MatrixPainter::wire(Vec2 from, Vec2 to, Color color, float width) {
    const float x = std::min(from.x, to.x), y = std::min(from.y, to.y), half = width / 2;
    c_.rect({x - half, y - half, std::abs(to.x - from.x) + width, std::abs(to.y - from.y) + width}, color);
}
void MatrixPainter::arrow(Vec2 from, Vec2 to, Color color, float width) {
    const float head = width * 2.6f;
    wire(from, {to.x - head * 0.8f, to.y}, color, width);
    c_.polygon({{to.x - head, to.y - head * 0.62f}, {to.x, to.y}, {to.x - head, to.y + head * 0.62f}}, color);
}
void MatrixPainter::plus(Vec2 at, float radius) {
    const float arm = radius * 0.36f;
    c_.circle(at, radius + kWire / 2, base_);
    c_.circle(at, radius - kWire / 2, theme_.panel);
    wire({at.x - arm, at.y}, {at.x + arm, at.y}, base_, 3);
    wire({at.x, at.y - arm}, {at.x, at.y + arm}, base_, 3);
}

void MatrixPainter::pill(Vec2 at, float most) {
    const std::string text = between();
    TextStyle style = ui_.style(13);
    if (c_.text_width(text, style) + 18 > most) style.size = 11.5f;
    const float w = c_.text_width(text, style);
    const Rect r{at.x - w / 2 - 9, at.y - 12, w + 18, 24};
    if (r.w <= most) c_.box(r, theme_.raised, theme_.faint, 1, 12);
    c_.text_in({at.x - w / 2 - 2, r.y, w + 6, r.h}, text, style, Align::center);
    const std::string what(m_.between);
    hint(r, m_.pair == TpPair::attention ? "Attention, head by head\nEach GPU has whole heads."
            : m_.gated                   ? what + " of one product, times the other, number by number"
                             + "\nNo number needs one of another column."
                       : what + ", number by number\nNo number needs one of another column.");
}

void MatrixPainter::name(Vec2 at, std::string_view text, const TextStyle& style, float most) {
    const float w = c_.text_width(text, style);
    if (w > most) return;
    c_.text_in({at.x - w / 2 - 2, at.y, w + 6, 16}, text, style, Align::center);
}
void MatrixPainter::name_over(Rect r, std::string_view text, float most) {
    name({r.center().x, r.y - 18}, text, ui_.title(), most);
}
void MatrixPainter::name_under(Rect r, std::string_view text, float most) {
    name({r.center().x, r.bottom() + 3}, text, ui_.style(11.5f, Tone::secondary), most);
}
void MatrixPainter::name_wire(Vec2 bottom, std::string_view text, float most) {
    // Without room for "reduce-scatter" the second word stands.
    if (c_.text_width(text, ui_.title()) > most) text = text.substr(text.find('-') + 1);
    name({bottom.x, bottom.y - 17}, text, ui_.title().in(ink_), most);
}

namespace {

// ---- two GPUs have a row each ----

constexpr float kRowGap = 8, kUnitRow = 168, kLowestRow = 92;

class MatrixRows : public MatrixPainter {
  public:
    explicit MatrixRows(const MatrixScene& of) : MatrixPainter(of) {}

    MatrixPlaces draw(Rect room) {
        const float row = std::min((room.h - kRowGap) / 2, kUnitRow * 3);
        lay(room, row);
        std::array<Rect, 2> rows;
        for (Rect& r : rows) {
            r = room.cut_top(row);
            room.cut_top(kRowGap);
            c_.box(r, theme_.panel, theme_.hairline, 1, 8);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            mid_[i] = rows[i].center().y + (label_ > 0 ? 4 : kRowHead / 2);
            draw_row(rows[i], static_cast<std::int64_t>(i));
        }
        MatrixPlaces places{.first = x_, .summands_end = s_ + x_w_, .result = y_};
        if (sliced_) places.slices_end = slice_ + x_w_;
        places.bottom = rows[1].bottom();
        const Rect wires{places.summands_end, rows[0].y + 8, y_ - places.summands_end,
                         rows[1].bottom() - rows[0].y - 16};
        if (asked_) {
            covered({wires.x + 20, wires.y, rows[0].right() - 28 - wires.x, wires.h});
            if (sliced_) covered({slice_ + x_w_ + 10, wires.y, x_ - slice_ - x_w_ - 20, wires.h});
            return places;
        }
        if (sliced_) draw_gather();
        draw_sum(wires);
        hint_wire(wires.inset(4, 0));
        return places;
    }

  private:
    // The left ends of the columns; u_ is the scale of the matrices across, v_ the one upright: a narrow room
    // has taller ones.
    static constexpr float kRowHead = 18, kLabel = 62, kTallest = 2.4f, kWidest = 1.8f, kLowRow = 130;
    static constexpr float kDot = 5;        // where the wire of a summand begins
    static constexpr float kLarger = 1.2f;  // the matrices' area, where their row's name moves above them
    float label_ = kLabel;                  // left of the matrices; 0: the row's name stands above them
    float u_ = 1, v_ = 1, slice_ = 0, x_ = 0, a_ = 0, xa_ = 0, pill_ = 0, b_ = 0, s_ = 0, y_ = 0;
    float gap_ = 0, x_w_ = 0, a_w_ = 0;  // between matrices; widths
    std::array<float, 2> mid_{};         // of the rows

    void lay(Rect room, float row) {
        constexpr float kMatrices = 564, kGaps = 212, kWires = 200, kGather = 110;
        constexpr float kLeastWires = 128;  // the sum's name has room
        const float pill = c_.text_width(between(), ui_.style(13)) + 22;
        const float matrices = kMatrices + (sliced_ ? 66.0f : 0.0f),
                    all_gaps = kGaps + (sliced_ ? kGather : 0.0f);
        // A low row has names only over its matrices, which are wider then.
        const bool low = row < kLowRow;
        const float names = !low ? 52.0f : m_.gated ? 42.0f : 34.0f;
        float gaps = 0, free = 0;
        bool narrow = false;
        const auto fit = [&](float label, float head) {
            label_ = label;
            gaps = all_gaps + kWires;
            free = room.w - label - 2 * kPad - pill - (m_.gated ? 10.0f : 0.0f);
            narrow = free / (matrices + gaps) * kWires < kLeastWires;
            if (narrow) gaps -= kWires, free -= kLeastWires;
            const float upright = std::max((row - names - head) / 118, 0.1f);
            const float most = low ? kWidest * upright : upright;
            u_ = std::clamp(std::min(free / (matrices + gaps), most), 0.2f, 4.0f);
            v_ = low ? upright : std::clamp(upright, u_, kTallest * u_);
            return u_ * v_;
        };
        const float beside_it = fit(kLabel, 0), below_it = fit(0, kRowHead);
        if (low || below_it < kLarger * beside_it) fit(kLabel, 0);
        const float g = std::clamp((free - matrices * u_) / gaps, 0.2f, 3.0f);
        const float wires = narrow ? kLeastWires : kWires * g;
        gap_ = 38 * g, x_w_ = 66 * u_, a_w_ = 150 * u_;
        float x = room.x + kPad + label_;
        if (sliced_) slice_ = x, x += x_w_ + kGather * g;
        x_ = x, x += x_w_ + gap_ + (m_.gated ? 4.0f : 0.0f);
        a_ = x, x += a_w_ + gap_ + (m_.gated ? 6.0f : 0.0f);
        xa_ = x, x += a_w_ + 18 * g;
        pill_ = x + pill / 2, x += pill + gap_;
        b_ = x, x += x_w_ + gap_;
        s_ = x, x += x_w_ + wires;
        y_ = x;
    }

    void draw_row(Rect row, std::int64_t at) {
        const float mid = mid_[static_cast<std::size_t>(at)], tall = 110 * v_;
        const auto centred = [&](float x, float w, float h) { return Rect{x, mid - h / 2, w, h}; };
        const std::vector<MatrixStripe> stripes = matrix_stripes(2);
        const MatrixStripe &own = stripes[static_cast<std::size_t>(at)],
                           &far = stripes[static_cast<std::size_t>(1 - at)];
        const bool small = (row.h - 118 * v_) / 2 >= 22;
        const float lift = m_.gated ? 6.0f : 0.0f;
        const auto over = [](Rect r, float by) { return Rect{r.x, r.y - by, r.w, r.h}; };
        c_.text_in({row.x + kPad, row.y + 9, 70, 18}, "GPU " + rank_text(at), ui_.title());
        const Rect x = centred(x_, x_w_, tall), a = centred(a_, a_w_, 66 * v_), xa = centred(xa_, a_w_, tall),
                   b = centred(b_, x_w_, 118 * v_), s = centred(s_, x_w_, tall), y = centred(y_, x_w_, tall);
        if (sliced_) {
            const Rect slice = centred(slice_, x_w_, tall);
            draw_slices(slice, at);
            name_over(slice, "by token", x_w_ + 30);
            if (small) name_under(slice, "its slice", x_w_ + 24);
        }
        whole(x, seen(at));
        hint(x, input_words());
        name_over(x, "X", x.w + gap_);
        if (small) name_under(x, "whole", x.w + gap_);
        sign({(x.right() + a.x) / 2, mid}, "×");
        cut(a, own, far, at, "layer.stripe", columns_words());
        name_over(over(a, lift), first_name(), a.w);
        if (small) name_under(a, "its columns", a.w + gap_);
        sign({(a.right() + lift + xa.x) / 2, mid}, "=");
        cut(xa, own, far, at, "layer.product", product_words());
        name_over(over(xa, lift), product_name(), xa.w);
        if (small) name_under(xa, "its columns, complete", xa.w + gap_);
        pill({pill_, mid}, b.x - xa.right() - gap_);
        sign({b.x - gap_ / 2, mid}, "×");
        elsewhere(row_of(b, far));
        held(row_of(b, own), at);
        answers("layer.row", row_of(b, own), at, rows_words());
        name_over(b, "B", b.w + gap_);
        if (small) name_under(b, "its rows", b.w + gap_);
        sign({(b.right() + s.x) / 2, mid}, "=");
        summand(s, at, seen(at), 2);
        write_summand(s, at);
        hint(s, summand_words());
        name_over(s, asked_ ? "not right" : "a summand", s.w + gap_ * 2);
        if (small) {
            // The words under B keep their place; a shorter wording has room next to them.
            const TextStyle type = ui_.style(11.5f, Tone::secondary);
            const float under_b = c_.text_width("its rows", type);
            const float clear = 2 * (s.center().x - b.center().x - under_b / 2 - 8);
            const float room = std::min(s.w + gap_ * 2.4f, clear);
            const std::string_view longer = "full size, wrong value", shorter = "wrong value";
            name_under(s, c_.text_width(longer, type) <= room ? longer : shorter, room);
        }
        if (!asked_) draw_result(y, at, small);
    }

    // Writes a summand's letter: in a narrow one above the dot that its wire begins with.
    void write_summand(Rect s, std::int64_t at) {
        constexpr float kClear = kDot + 2;
        const TextStyle style = ui_.style(21, Tone::text, Face::semibold);
        const std::string letter(1, static_cast<char>('a' + at));
        if (s.w / 2 - c_.text_width(letter, style) / 2 < kClear && s.h / 2 - kClear >= style.size)
            s.h = s.h / 2 - kClear;
        c_.text_in(s, letter, style, Align::center);
    }

    // Draws a matrix that is cut into columns; where there are two, the second stands behind, up and right.
    void cut(Rect r, const MatrixStripe& own, const MatrixStripe& far, std::int64_t at, std::string_view area,
             std::string_view words) {
        if (m_.gated) {
            const Rect back{r.x + 6, r.y - 6, r.w, r.h};
            elsewhere(column_of(back, far));
            c_.rect(column_of(back, own), mix(theme_.panel, shade(at), 0.55f * seen(at)));
            c_.rect(r, theme_.panel);
            const Rect part = column_of(r, own);
            c_.line({part.x, part.y - 1}, {part.right() + 1, part.y - 1}, theme_.panel, 2);
            c_.line({part.right() + 1, part.y - 1}, {part.right() + 1, part.bottom()}, theme_.panel, 2);
        }
        elsewhere(column_of(r, far));
        held(column_of(r, own), at);
        answers(area, column_of(r, own), at, words);
    }

    void draw_result(Rect y, std::int64_t at, bool small) {
        name_over(y, "Y", y.w);
        if (sliced_) {
            draw_slices(y, at);
            if (small) name_under(y, "its slice, right", y.w + 50);
            return;
        }
        whole(y, seen(at));
        const TextStyle strong = ui_.title();
        const float w = c_.text_width("a + b", strong) + 8;
        if (w <= y.w) {
            c_.rect({y.center().x - w / 2, y.center().y - 9, w, 18}, theme_.panel);
            c_.text_in(y, "a + b", strong, Align::center);
        }
        if (small) name_under(y, "whole, right", y.w + 40);
    }

    // Slices by token: this GPU's is filled.
    void draw_slices(Rect r, std::int64_t at) {
        for (const MatrixStripe& s : matrix_stripes(2))
            if (s.at == at)
                held(row_of(r, s), at);
            else
                elsewhere(row_of(r, s));
    }

    void draw_sum(Rect wires) {
        const float in = wires.x + wires.w * 0.2f, out = wires.x + wires.w * 0.8f;
        const float y = (mid_[0] + mid_[1]) / 2;
        for (std::size_t i = 0; i < 2; ++i) {
            const Color color = wire_of(static_cast<std::int64_t>(i));
            const float down = i == 0 ? kWire : -kWire;  // a faint wire does not lie on itself
            c_.circle({wires.x, mid_[i]}, kDot, color);
            wire({wires.x + 7, mid_[i]}, {in, mid_[i]}, color);
            wire({in, mid_[i] + down}, {in, y - down}, color);
            wire({out, y}, {out, mid_[i]}, base_);
            arrow({out, mid_[i]}, {wires.right() - 4, mid_[i]}, base_);
        }
        const float ring = std::min(kRing, wires.w * 0.14f);
        wire({in, y}, {out, y}, base_);
        plus({(in + out) / 2, y}, ring);
        name_wire({(in + out) / 2, y - ring - 8}, sliced_ ? "reduce-scatter" : "all-reduce",
                  (out - in) - 2 * kWire);
    }

    // Each slice goes to both GPUs.
    void draw_gather() {
        const float from = slice_ + x_w_, bus = from + (x_ - from) * 0.45f, off = 27.5f * v_;
        std::array<float, 2> y{mid_[0] - off, mid_[1] + off};  // the middle of each slice
        for (std::size_t i = 0; i < 2; ++i) {
            const Color color = wire_of(static_cast<std::int64_t>(i));
            c_.circle({from, y[i]}, 5, color);
            wire({from + 7, y[i]}, {bus - kWire, y[i]}, color);
            arrow({bus, mid_[i]}, {x_ - 4, mid_[i]}, base_);
        }
        wire({bus, y[0]}, {bus, y[1]}, base_);
        const TextStyle style = ui_.title().in(ink_);
        const float w = c_.text_width("gather", style) + 8;
        if (w > x_ - from) return;
        const Rect at{bus - w / 2, (mid_[0] + mid_[1]) / 2 - 10, w, 20};
        c_.rect(at, theme_.panel);
        c_.text_in(at, "gather", style, Align::center);
    }
};

// ---- words over the picture, and below it ----

class MatrixWords : public MatrixPainter {
  public:
    explicit MatrixWords(const MatrixScene& of) : MatrixPainter(of) {}

    void draw_title(Rect& room) {
        const bool large = room.h > 420;
        // The title of an open question does not say its answer.
        const std::string_view title =
            asked_ ? "Tensor parallelism cuts two matrices" : "Why does tensor parallelism need one sum?";
        const TextStyle style = ui_.style(large ? 21.0f : 16.0f, Tone::text, Face::semibold);
        ui_.label(room.cut_top(large ? 30.0f : 22.0f), title, style);
        const TextStyle plain = ui_.style(13, Tone::secondary);
        // A low room has the sentence up to its colon, or only the first one, before any word is cut.
        const std::string all = sentence();
        const std::size_t colon = all.find("rows: ") + 4, first = all.find(" GPUs. ") + 6;
        for (const std::string& words : {all, all.substr(0, colon) + ".", all.substr(0, first)}) {
            if (c_.paragraph_height(room.w, words, plain, 18) > room.h * 0.16f) continue;
            room.cut_top(c_.paragraph(room, words, plain, 18) + 8);
            return;
        }
        ui_.label(room.cut_top(20), all, plain);
    }

    void draw_below(Rect room, const MatrixPlaces& at) {
        const float y = room.y + 9, from = at.summands_end + 8;
        bracket(at.first, at.summands_end, y, theme_.faint);
        bracket(from, at.result - 8, y, base_);
        if (at.slices_end >= 0) bracket(at.slices_end + 8, at.first - 8, y, base_);
        const TpSum& s = sum();
        const TextStyle strong = ui_.title(), plain = ui_.style(13, Tone::secondary);
        const std::string bytes =
            (sliced_ ? "Two wires: " : "The only wire: ") + traffic_text(s.bytes()) + " a GPU,";
        std::string time = time_text(s.time_s()) + " of " + wire_name(m_.tier);
        // Words that are wider than the wire's place begin before it.
        const float wide = std::max(c_.text_width(bytes, strong), c_.text_width(time + wait_words(), plain));
        const float x = std::min(from, std::max(room.right() - wide - 4, at.first + 150));
        Rect right{x, y + 4, room.right() - x, 36};
        if (c_.text_width(time + wait_words(), plain) <= right.w) time += wait_words();
        ui_.label(right.cut_top(18), bytes, strong);
        ui_.label(right.cut_top(18), time, plain);
        draw_without_wire({at.first, y + 4, std::min(at.summands_end, x - 12) - at.first, 36});
    }

  private:
    [[nodiscard]] std::string sentence() const {
        const std::string n = number_word(m_.tp());
        std::string out = own_ ? "" : "tp is 1 in this plan; with it: ";
        out += own_ ? "The " : "the ";
        out += m_.pair == TpPair::mlp              ? "MLP of "
               : m_.pair == TpPair::shared_experts ? "shared experts of "
                                                   : "attention of ";
        out += scene_.plan.model.name + ", " + thousands(m_.tokens) + " tokens, on " + n + " GPUs. ";
        out += m_.gated ? "A and A′ are cut into columns, B into rows: "
                        : "A is cut into columns, B into rows: ";
        out += asked_ ? "each GPU works on by itself."
                      : "each GPU works on by itself, until " + n
                            + " results that are not yet right must be added.";
        if (m_.kv_copies > 1)
            out += " Keys and values of one head stand on " + number_word(m_.kv_copies) + " GPUs.";
        return out;
    }

    void bracket(float from, float to, float y, Color color) {
        if (to > from) c_.polyline({{from, y - 6}, {from, y}, {to, y}, {to, y - 6}}, color, 1.5f);
    }

    void draw_without_wire(Rect room) {
        const TextStyle plain = ui_.style(13, Tone::secondary), strong = ui_.title();
        const std::string_view bold = "No wire.";
        const std::string what(m_.between);
        const std::string middle = m_.pair == TpPair::attention ? "attention looks at whole heads"
                                   : m_.gated                   ? what + " and × look at single numbers"
                                                                : what + " looks at single numbers";
        const std::array<std::string, 3> says{
            "A column of A makes a column of X A; " + middle + "; a row of B needs just that column.",
            "A column of A makes a column of X A, and a row of B needs just that.",
            "Each GPU has all that it needs."};
        const float w = c_.text_width(bold, strong) + 5;
        for (const std::string& s : says) {
            const float all = w + c_.text_width(s, plain);
            if (all > room.w) continue;
            const float x = room.x + (room.w - all) / 2;
            c_.text_in({x, room.y, w + 2, 20}, bold, strong);
            c_.text_in({x + w, room.y, all - w + 4, 20}, s, plain);
            return;
        }
        ui_.label({room.x, room.y, room.w, 20}, bold, strong);
    }
};

constexpr float kWordsHeight = 46, kLowerGap = 12, kLeastLower = 168, kMostLower = 300;
constexpr float kPairWidth = 900, kTallRow = 250;

void draw_all(const MatrixScene& of, Rect room) {
    MatrixWords words(of);
    words.draw_title(room);
    const bool below = room.h >= 2 * kLowestRow + kRowGap + kWordsHeight;
    // Before the answer there are no words below; their room stays free, so that nothing moves after it.
    float main = room.h - (below ? kWordsHeight : 0), panels = 0;
    constexpr float kLeastMain = 2 * 116 + kRowGap;
    if (below && main >= kLeastMain + kLowerGap + kLeastLower) {
        // A narrow room has one picture that fills it.
        panels = room.w < kPairWidth && main < 2 * kTallRow + kRowGap + kLowerGap + kLeastLower
                     ? 0
                     : std::clamp(main - kLowerGap - 2 * kUnitRow - kRowGap, kLeastLower,
                                  std::max(kMostLower, main * 0.35f));
        if (panels > 0) main -= panels + kLowerGap;
    }
    const Rect top{room.x, room.y, room.w, main};
    const MatrixPlaces places = of.m.tp() == 2 ? MatrixRows(of).draw(top) : draw_matrix_chain(of, top);
    room.cut_top(places.bottom - room.y);
    if (below && !of.scene.asked) words.draw_below(room.cut_top(kWordsHeight), places);
    if (panels <= 0) return;
    room.cut_top(kLowerGap);
    const float words_too = of.scene.asked ? kWordsHeight : 0;  // they are covered with the panels
    draw_matrix_panels(of, room.cut_top(std::min(room.h, std::max(kMostLower, room.h * 0.7f) + words_too)));
}

}  // namespace

void draw_matrices(Ui& ui, Rect room, Scene& scene, LayerViewState& state, std::uint64_t revision) {
    const ShownLayer& shown = *state.shown;
    const Evaluation& e = scene.evaluation;
    const bool own = e.valid && e.groups[GroupKind::tp].degree > 1;
    const TextStyle plain = ui.style(13, Tone::secondary);
    if (!own && !shown.why_not.empty()) {
        ui.canvas().paragraph(room.inset(0, 12), shown.why_not, plain, 20);
        return;
    }
    const TpMatricesOf key{revision, state.choice.axis,
                           own ? std::max<std::int64_t>(chosen_rank(scene), 0) : 0};
    const TpMatrices& m = state.matrices.get(key, [&] {
        return own ? tp_matrices(scene.plan, e, key.rank) : tp_matrices(shown.plan, shown.evaluation, 0);
    });
    if (!m.why_not.empty()) {
        ui.canvas().paragraph(room.inset(0, 12), m.why_not, plain, 20);
        return;
    }
    const bool sliced = state.choice.axis == AloneAxis::tp_sp || (own && m.own_sliced);
    draw_all({ui, scene, state, m, own, sliced}, room);
}

}  // namespace pentamesh::ui
