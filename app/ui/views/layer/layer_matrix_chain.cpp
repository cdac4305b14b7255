// Draws tensor parallelism of three GPUs and more as one chain of stripes, and the panels below the picture
// of two matrices: the same on other GPUs, the same with sequence parallelism.
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/layer/layer_matrices.h"
#include "app/ui/views/table.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

// Says how the stripes of a matrix are drawn.
struct StripeLook {
    bool columns = true;         // cut into columns, else into rows
    bool ranks = true;           // numbers are those of the group's ranks, else from 0
    bool numbers = true;         // a number stands where it has room
    std::string_view area = {};  // a stripe answers a click under this name; empty: none does
    std::string_view words = {};
};

class MatrixChain : public MatrixPainter {
  public:
    explicit MatrixChain(const MatrixScene& of) : MatrixPainter(of) {}

    // Draws the chain of the group in the whole room, and its wire.
    MatrixPlaces draw_group(Rect room) {
        constexpr float kMostHeight = 900;
        const Rect in = Rect{room.x, room.y, room.w, std::min(room.h, kMostHeight)}.inset(kPad + 4, 14);
        lay(in, m_.tp(), sliced_, std::clamp(in.w * 0.16f, 70.0f, 230.0f));
        const float rise = std::max(0.0f, std::min(in.h * 0.5f, b_.y - in.y - 40));  // it needs less height
        for (Rect* r : {&slice_, &x_, &a_, &xa_, &b_, &first_card_, &y_}) r->y -= rise;
        const Rect panel{room.x, room.y, room.w, b_.bottom() + 40 - room.y};
        c_.box(panel, theme_.panel, theme_.hairline, 1, 8);
        draw_chain(m_.tp());
        name_group();
        const Rect last = card(cards_.size() - 1);
        MatrixPlaces places{.first = x_.x, .summands_end = last.right(), .result = y_.x};
        if (sliced_) places.slices_end = slice_.right();
        places.bottom = panel.bottom();
        if (sliced_) {
            draw_bands(slice_);
            name_over(slice_, "by token", slice_.w + 60);
            // Its words end before those under X.
            const TextStyle small = ui_.style(11.5f, Tone::secondary);
            const float room_for =
                2 * (x_.center().x - slice_.center().x - 6) - c_.text_width("whole", small);
            const bool fits = c_.text_width("each its slice", small) <= room_for;
            name_under(slice_, fits ? "each its slice" : "slices", slice_.w + 60);
        }
        if (asked_) {
            const float from = last.right() + 12;
            covered({from, panel.y + 8, panel.right() - 8 - from, panel.h - 16});
            if (sliced_) covered({slice_.right() + 8, x_.y, x_.x - slice_.right() - 16, x_.h});
            return places;
        }
        if (sliced_) {
            const float mid = x_.center().y;
            arrow({slice_.right() + 4, mid}, {x_.x - 4, mid}, base_);
            name_wire({(slice_.right() + x_.x) / 2, mid - 8}, "gather", x_.x - slice_.right());
        }
        draw_fan();
        if (sliced_)
            draw_bands(y_);
        else
            whole(y_);
        name_over(y_, "Y", y_.w + 20);
        const std::string_view right = sliced_ ? "each its slice" : "whole on all";
        const TextStyle style = ui_.style(11.5f, Tone::secondary);
        const float w = c_.text_width(right, style) + 4;
        c_.text_in({std::min(y_.center().x - w / 2, panel.right() - w - 4), y_.bottom() + 3, w, 16}, right,
                   style, Align::center);
        hint_wire({last.right() + 4, panel.y + 8, y_.x - last.right() - 8, panel.h - 16});
        return places;
    }

    // Draws what stands below.
    void draw_panels(Rect room) {
        if (asked_) {
            c_.box(room, theme_.panel, theme_.hairline, 1, 8);
            draw_cover(ui_, room);
            return;
        }
        constexpr float kLeastPair = 900;  // the width of two
        if (room.w >= kLeastPair && m_.other) {
            const Rect left = room.cut_left((room.w - kPad) * 0.49f);
            room.cut_left(kPad);
            draw_other(left);
        }
        draw_other_way(room);
    }

  private:
    Rect slice_, x_, a_, xa_, b_, first_card_, y_;
    float step_x_ = 0, step_y_ = 0, pill_ = 0, gap_ = 0;
    std::vector<MatrixStripe> cards_;

    // Lays the chain of n stripes into a room; `wires` is the width of the way from the summands to Y.
    void lay(Rect room, std::int64_t n, bool sliced, float wires) {
        constexpr float kNames = 20, kTallest = 101;  // a line above and below; B
        cards_ = matrix_stripes(n);
        const float pill = c_.text_width(between(), ui_.style(13)) + 22;
        const float tall = room.h - 2 * kNames, steps = static_cast<float>(cards_.size()) - 1;
        const float units = 46 * 4 + 111 * 2 + (sliced ? 46.0f : 0.0f) + steps * 9;
        const float gaps = 30 * 4 + 8 + (sliced ? 80.0f : 0.0f);
        const float free = room.w - pill - wires - (m_.gated ? 12.0f : 0.0f);
        const float u = std::clamp(std::min(free / (units + gaps), tall / kTallest), 0.2f, 5.0f);
        const float g = std::clamp((free - units * u) / gaps, 0.2f, 2.4f);
        gap_ = 30 * g;
        const float mid = room.y + kNames + tall / 2;
        float x = room.x;
        const auto put = [&](float w, float h, float behind) {
            const Rect r{x, mid - h * u / 2, w * u, h * u};
            x += w * u + behind;
            return r;
        };
        if (sliced) slice_ = put(46, 80, 80 * g);
        x_ = put(46, 80, gap_ + (m_.gated ? 4.0f : 0.0f));
        a_ = put(111, 46, gap_ + (m_.gated ? 8.0f : 0.0f));
        xa_ = put(111, 80, 8 * g);
        pill_ = x + pill / 2, x += pill + gap_;
        b_ = put(46, kTallest, gap_);
        step_x_ = 9 * u;
        step_y_ = std::min(7 * u, 46 * u / std::max(steps, 1.0f));
        const float card_h = std::min(76 * u, kTallest * u - steps * step_y_);
        first_card_ = {x, mid - (card_h + steps * step_y_) / 2, 46 * u, card_h};
        x += 46 * u + steps * step_x_ + wires;
        y_ = put(46, 80, 0);
    }
    [[nodiscard]] Rect card(std::size_t i) const {
        const auto k = static_cast<float>(i);
        return {first_card_.x + k * step_x_, first_card_.y + k * step_y_, first_card_.w, first_card_.h};
    }
    [[nodiscard]] Rect all_cards() const {
        const Rect last = card(cards_.size() - 1);
        return {first_card_.x, first_card_.y, last.right() - first_card_.x, last.bottom() - first_card_.y};
    }

    void draw_stripes(Rect r, std::int64_t n, const StripeLook& look) {
        for (const MatrixStripe& s : matrix_stripes(n)) {
            const Rect part = look.columns ? column_of(r, s) : row_of(r, s);
            if (s.at < 0) {
                draw_gap(part, n);
                continue;
            }
            const float k = look.area.empty() ? 1 : seen(s.at);
            c_.rect(part, shade(s.at).alpha(k));
            if ((look.columns ? part.w : part.h) > 3)
                c_.line(look.columns ? Vec2{part.right(), part.y} : Vec2{part.x, part.bottom()},
                        {part.right(), part.bottom()}, theme_.panel, 1);
            const std::string text = look.ranks ? rank_text(s.at) : thousands(s.at);
            const TextStyle ink =
                ui_.style(std::min(part.w, part.h) < 20 ? 11.5f : 13.0f, Tone::text, Face::semibold)
                    .in(ink_on(mix(theme_.panel, shade(s.at), k)));
            if (look.numbers && part.h >= 13 && c_.text_width(text, ink) + 2 <= part.w)
                c_.text_in(part, text, ink, Align::center);
            if (!look.area.empty()) answers(look.area, part, s.at, look.words);
        }
    }
    // The gap says how many are left out.
    void draw_gap(Rect part, std::int64_t n) {
        elsewhere(part);
        const TextStyle style = ui_.style(11.5f, Tone::secondary);
        const std::string more = "+" + thousands(n - kFirstStripes - 1);
        if (part.h < 13) return;
        c_.text_in(part, c_.text_width(more, style) + 2 <= part.w ? more : "…", style, Align::center);
    }
    // The second of two first matrices stands behind the first, up and to the right.
    void draw_behind(Rect r, std::int64_t n, bool main) {
        const float by = lift(main);
        const Rect back{r.x + by, r.y - by, r.w, r.h};
        for (const MatrixStripe& s : matrix_stripes(n)) {
            if (s.at < 0)
                elsewhere(column_of(back, s));
            else
                c_.rect(column_of(back, s), mix(theme_.panel, shade(s.at), 0.5f * (main ? seen(s.at) : 1)));
        }
        c_.rect({r.x - 1, r.y - 1.5f, r.w + 2.5f, r.h + 2.5f}, theme_.panel);
    }
    [[nodiscard]] float lift(bool main) const { return !m_.gated ? 0.0f : main ? 6.0f : 4.0f; }
    // Bands by token, one of each GPU of the group.
    void draw_bands(Rect r) {
        draw_stripes(r, m_.tp(), {.columns = false});
        c_.frame(r, theme_.faint, 1);
    }
    void draw_card(Rect r, const MatrixStripe& s, bool main) {
        if (s.at >= 0) return summand(r, s.at, main ? seen(s.at) : 1.0f, main ? 2.0f : 1.3f);
        c_.rect(r, theme_.panel);
        elsewhere(r);
    }

    // Draws a chain up to its summands; of the group itself its stripes answer clicks.
    void draw_chain(std::int64_t n) {
        const bool main = n == m_.tp();
        const float mid = x_.center().y;
        const std::string columns = columns_words(), product = product_words(), rows = rows_words();
        whole(x_);
        sign({(x_.right() + a_.x) / 2, mid}, "×");
        if (m_.gated) draw_behind(a_, n, main), draw_behind(xa_, n, main);
        draw_stripes(a_, n, {.ranks = main, .area = main ? "layer.stripe" : "", .words = columns});
        sign({(a_.right() + lift(main) + xa_.x) / 2, mid}, "=");
        draw_stripes(xa_, n,
                     {.ranks = main, .numbers = main, .area = main ? "layer.product" : "", .words = product});
        pill({pill_, mid}, b_.x - xa_.right() - gap_);
        sign({b_.x - gap_ / 2, mid}, "×");
        draw_stripes(b_, n,
                     {.columns = false, .ranks = main, .area = main ? "layer.row" : "", .words = rows});
        sign({(b_.right() + first_card_.x) / 2, mid}, "=");
        for (std::size_t i = 0; i < cards_.size(); ++i) draw_card(card(i), cards_[i], main);
        if (main) hint(x_, input_words()), hint(all_cards(), summand_words());
    }
    void name_group() {
        const float up = lift(true), near = gap_ * 1.5f;
        name_over(x_, "X", x_.w + near);
        name_over({a_.x, a_.y - up, a_.w, a_.h}, first_name(), a_.w);
        name_over({xa_.x, xa_.y - up, xa_.w, xa_.h}, product_name(), xa_.w);
        name_over(b_, "B", b_.w + near);
        name_under(x_, "whole", x_.w + near);
        name_under(a_, "each its columns", a_.w + near);
        name_under(xa_, "complete", xa_.w);
        name_under(b_, "each its rows", b_.w + near);
        name_under(all_cards(), asked_ ? "full size, none right" : number_word(m_.tp()) + " summands",
                   all_cards().w + near);
    }

    // A wire leaves each summand; they meet in the sum.
    void draw_fan() {
        const Rect last = card(cards_.size() - 1);
        const float zone = y_.x - last.right(), mid = y_.center().y;
        const float in = last.right() + zone * 0.18f, ring = std::min(kRing, zone * 0.16f);
        const float width = std::clamp(step_y_ * 0.5f, 1.5f, kWire);
        float top = mid, bottom = mid;
        for (std::size_t i = 0; i < cards_.size(); ++i) {
            if (cards_[i].at < 0) continue;
            const Rect r = card(i);
            const float y = i + 1 == cards_.size() ? r.center().y : r.y + step_y_ / 2;
            const Color color = wire_of(cards_[i].at);
            c_.circle({r.right(), y}, width + 1, color);
            wire({r.right(), y}, {in - kWire, y}, color, width);
            top = std::min(top, y - width / 2), bottom = std::max(bottom, y + width / 2);
        }
        wire({in, top + kWire / 2}, {in, bottom - kWire / 2}, base_);
        const Vec2 centre{last.right() + zone * 0.56f, mid};
        wire({in, mid}, centre, base_);
        arrow(centre, {y_.x - 4, mid}, base_);
        plus(centre, ring);
        name_wire({centre.x, mid - ring - 6}, sliced_ ? "reduce-scatter" : "all-reduce",
                  2 * std::min(centre.x - in, y_.x - centre.x));
    }

    Rect draw_panel(Rect room, std::string_view title, std::string_view words) {
        c_.box(room, theme_.panel, theme_.hairline, 1, 8);
        room = room.inset(kPad, 8);
        ui_.label(room.cut_top(22), title, ui_.style(16, Tone::text, Face::semibold));
        ui_.label(room.cut_top(18), words, ui_.style(13, Tone::secondary));
        room.cut_top(4);
        return room;
    }

    // The same on another number of GPUs.
    void draw_other(Rect room) {
        const TpOther& other = *m_.other;
        const std::string n = number_word(other.tp);
        const std::string tier = other.tier != m_.tier ? " of " + wire_name(other.tier) : "";
        room = draw_panel(room,
                          (other.tp == 4 ? "Four" : "Two") + std::string(" GPUs: ") + n + " columns, " + n
                              + " rows, " + n + " summands",
                          "The same for any tp. " + traffic_text(other.sum_bytes) + " a GPU, "
                              + time_text(other.sum_s) + tier + ": 2 (tp − 1) / tp of the result");
        lay(room, other.tp, false, 36);
        draw_chain(other.tp);
        const Rect last = card(cards_.size() - 1);
        const Vec2 at{(last.right() + y_.x) / 2, y_.center().y};
        wire({at.x - 4, at.y}, {at.x + 4, at.y}, base_, 3);
        wire({at.x, at.y - 4}, {at.x, at.y + 4}, base_, 3);
        whole(y_);
        name_under(x_, "X", x_.w + gap_);
        name_under(a_, first_name(), a_.w);
        name_under(xa_, "each its own", xa_.w + gap_);
        name_under(b_, "B", b_.w + gap_);
        name_under(all_cards(), n + " summands", all_cards().w + gap_);
        name_under(y_, "Y", y_.w + gap_);
    }

    // The same with sequence parallelism, or without it.
    void draw_other_way(Rect room) {
        const TpSum &now = sum(), &s = m_.sum(!sliced_);
        const bool same = std::abs(now.bytes() - s.bytes()) <= 1e-9 * now.bytes();
        if (s.sliced)
            room = draw_panel(room, "With sequence parallelism: the sum comes in slices",
                              "all-reduce = reduce-scatter + all-gather: " + traffic_text(s.sum_bytes) + " + "
                                  + traffic_text(s.gather_bytes) + (same ? ", not a byte more" : ""));
        else
            room = draw_panel(room, "Without sequence parallelism: one sum, whole on all",
                              "all-reduce: " + traffic_text(s.sum_bytes) + " a GPU"
                                  + (same ? ", as many bytes as both together" : ""));
        draw_way(room, s);
    }

    void draw_way(Rect room, const TpSum& s) {
        constexpr float kLead = 18;  // from X to the box, from the box to the summands
        room = room.inset(26, 0);    // names are wider than what they name
        cards_ = matrix_stripes(m_.tp());
        const float steps = static_cast<float>(cards_.size() - 1);
        const float step = std::min(12.0f, 36 / std::max(steps, 1.0f)), rise = steps * step * 0.4f;
        const float box = std::clamp(room.w * 0.21f, 90.0f, 200.0f), ways = s.sliced ? 2.0f : 1.0f;
        constexpr float kLeastWay = 60;  // as its name is wide
        const float left = room.w - ways * kLeastWay - steps * step - box - 2 * kLead;
        const float u = std::clamp(std::min((room.h - 22 - rise) / 80, left / (46 * (2 + ways))), 0.4f, 1.8f),
                    w = 46 * u, h = 80 * u;
        const float mid = room.y + (room.h - 18) / 2;
        const float rest = w * (2 + ways) + steps * step + box + 2 * kLead;
        const float way = std::clamp((room.w - rest) / ways, 30.0f, 200.0f);
        float x = room.x + std::max(0.0f, (room.w - rest - way * ways) / 2);
        const auto put = [&](float wide, float high) {
            const Rect r{x, mid - high / 2, wide, high};
            x += wide;
            return r;
        };
        const auto send = [&](std::string_view what, double bytes) {
            arrow({x + 6, mid}, {x + way - 6, mid}, base_);
            name_wire({x + way / 2, mid - 8}, what, way + 8);
            name({x + way / 2, mid + 9}, traffic_text(bytes), ui_.style(11.5f, Tone::secondary), way);
            x += way;
        };
        const auto lead = [&] {
            c_.line({x, mid}, {x + kLead, mid}, theme_.faint, 1.3f);
            x += kLead;
        };
        if (s.sliced) {
            const Rect slice = put(w, h);
            draw_bands(slice);
            name_under(slice, "norm, by token", w + way * 0.9f);
            send("gather", s.gather_bytes);
        }
        const Rect in = put(w, h);
        whole(in);
        name_under(in, "X", w);
        lead();
        const Rect middle = put(box, 48);
        c_.box(middle, theme_.raised, theme_.faint, 1, 6);
        c_.text_in({middle.x + 4, middle.y + 5, middle.w - 8, 18},
                   first_name() + ", " + std::string(m_.between) + ", B", ui_.style(13), Align::center);
        c_.text_in({middle.x + 4, middle.y + 24, middle.w - 8, 16}, "cut as above",
                   ui_.style(11.5f, Tone::secondary), Align::center);
        lead();
        const float first = x;
        for (std::size_t i = 0; i < cards_.size(); ++i) {
            const auto k = static_cast<float>(i);
            draw_card({x + k * step, mid - h / 2 + k * step * 0.4f - rise / 2, w, h}, cards_[i], false);
        }
        x += w + steps * step;
        name_under({first, mid - h / 2, x - first, h + rise / 2}, number_word(m_.tp()) + " summands",
                   x - first + way);
        send(s.sliced ? "scatter" : "all-reduce", s.sum_bytes);
        const Rect out = put(w, h);
        if (s.sliced)
            draw_bands(out);
        else
            whole(out);
        name_under(out, s.sliced ? "Y, by token" : "Y", w + 40);
    }
};

}  // namespace

MatrixPlaces draw_matrix_chain(const MatrixScene& of, Rect room) {
    return MatrixChain(of).draw_group(room);
}

void draw_matrix_panels(const MatrixScene& of, Rect room) {
    MatrixChain(of).draw_panels(room);
}

}  // namespace pentamesh::ui
