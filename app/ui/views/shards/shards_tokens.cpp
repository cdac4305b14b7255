// Draws one sample cut into slices: who holds which tokens, and whose keys each GPU asks under the causal
// mask.
#include "app/ui/views/shards/shards_tokens.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/view.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostGpus = 8, kFirstOfMany = 3;
constexpr std::size_t kMostCells = 16;
constexpr float kPanelsApart = 12, kRowLabel = 62, kLeftOut = 30;
constexpr float kLeastCell = 15, kBoxHead = 20, kBoxFoot = 12, kLeastRow = 11, kMostRow = 50;

// A key of a GPU: its own, brought, on its way in the hop that is played, or not there yet.
enum class KeyPlace : std::uint8_t { own, brought, coming, later };

// Goes a round on or back; after the last all keys have come, and it begins anew.
void step_round(TokensPageState& state, const TokenCut& cut, int by) {
    const std::int64_t n = cut.rounds(), now = state.round < 0 ? n - 1 : state.round;
    const std::int64_t next = (now + by + n) % n;
    state.round = next == n - 1 ? -1 : next;
}

class TokensPicture {
  public:
    TokensPicture(Ui& ui, const Scene& scene, TokensPageState& state, const TokenSlices& slices)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), state_(state), s_(slices),
          cut_(slices.cut), axis_(color_of(ui.theme(), GroupKind::cp)), ramp_(shades(ui.theme(), axis_)) {
        state.rank = state.rank < cut_.ranks ? state.rank : -1;
        state.round = state.round + 1 < cut_.rounds() ? state.round : -1;
        round_ = state.round < 0 ? cut_.rounds() - 1 : state.round;
        for (std::int64_t r = 0; r < cut_.ranks; ++r)
            if (cut_.ranks <= kMostGpus || r < kFirstOfMany || r + 1 == cut_.ranks) ranks_.push_back(r);
    }

    // Returns the way that was clicked.
    std::optional<CpComm> draw(Rect room) {
        const TokenWords words = words_of(s_);
        put_paragraph(ui_, room, words.bold, ui_.style(16, Tone::text, Face::semibold), 22, 1);
        const TextStyle plain = ui_.style(13, Tone::secondary);
        if (c_.paragraph_height(room.w, words.plain, plain, 18) < room.h * 0.13f)
            put_paragraph(ui_, room, words.plain, plain, 18, room.h > 420 ? 8 : 4);
        else if (ui_.hovers({room.x, room.y - 24, room.w, 24}))
            ui_.tooltip(words.bold + "\n" + words.plain);
        std::optional<CpComm> clicked;
        const float full = token_lanes_height(s_, true), compact = token_lanes_height(s_, false);
        if (!s_.ways.empty() && room.h > compact + 210) {
            const bool roomy = room.h > full + (box_rows().size() > 4 ? 400.0f : 300.0f);
            const Rect lanes = room.cut_bottom(roomy ? full : compact);
            room.cut_bottom(kPanelsApart);
            clicked = draw_token_lanes(ui_, lanes, scene_, s_, roomy);
        }
        if (room.w >= 900) {
            const std::array boxes = columns(room, {share(0.46f), share(0.28f), share(0.26f)}, kPanelsApart);
            draw_tokens(boxes[0]);
            draw_square(boxes[1]);
            draw_token_memory(ui_, boxes[2], scene_, s_);
        } else if (room.w >= 470) {  // a wall of a presented room as well
            const std::array boxes = columns(room, {share(0.68f), share(0.32f)}, kPanelsApart);
            draw_tokens(boxes[0]);
            draw_token_memory(ui_, boxes[1], scene_, s_);
        } else {
            draw_tokens(room);
        }
        return clicked;
    }

  private:
    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    const Scene& scene_;
    TokensPageState& state_;
    const TokenSlices& s_;
    const TokenCut& cut_;
    Color axis_;
    std::array<Color, kShadeCount> ramp_;
    std::int64_t round_ = 0;           // the last that has come
    std::vector<std::int64_t> ranks_;  // those that have a box

    [[nodiscard]] Color shade(std::int64_t rank) const {
        return ramp_[static_cast<std::size_t>(rank) % kShadeCount];
    }
    [[nodiscard]] bool exchanges_heads() const { return cut_.inner > 1; }
    [[nodiscard]] bool picked(std::int64_t rank) const { return state_.rank == rank; }
    [[nodiscard]] bool faded(std::int64_t rank) const { return state_.rank >= 0 && !picked(rank); }

    // ---- tokens, and the GPUs that hold them ----

    // Rows of a GPU's box below its queries: how many ranks before it the sender stands; -1: a gap.
    [[nodiscard]] std::vector<std::int64_t> key_rows() const {
        std::vector<std::int64_t> rows;
        for (std::int64_t k = 0; k < cut_.ranks; ++k)
            if (cut_.ranks <= kMostGpus || k < kFirstOfMany || k + 1 == cut_.ranks) rows.push_back(k);
        if (cut_.ranks > kMostGpus) rows.insert(rows.end() - 1, -1);
        return rows;
    }
    [[nodiscard]] std::string row_words(std::int64_t behind) const {
        if (behind == 0) return cut_.ranks > 1 ? "own keys" : "keys";
        if (cut_.comm == CpComm::ring) return "hop " + thousands(behind);
        return behind == 1 ? "gathered" : "";
    }
    [[nodiscard]] std::string tokens_title() const {
        if (cut_.ranks <= 1) return "One sample, one GPU";
        const auto n = static_cast<std::int64_t>(cut_.slices.size());
        return plural(n, "slice", "slices") + " on " + thousands(cut_.ranks) + " GPUs"
               + (cut_.comm == CpComm::ring        ? ", a ring"
                  : cut_.comm == CpComm::allgather ? ", gathered"
                                                   : ", heads exchanged");
    }
    [[nodiscard]] std::string tokens_sub() const {
        if (cut_.ranks <= 1) return "queries and keys of all tokens";
        if (state_.round >= 0)
            return state_.round == 0
                       ? "before the first hop: a GPU has its own keys"
                       : "round " + thousands(state_.round) + " of " + thousands(cut_.rounds() - 1);
        if (exchanges_heads()) return "each gives away heads and gets tokens";
        return cut_.comm == CpComm::ring ? "a hop brings one GPU's keys; dashed: not asked"
                                         : "all come at once; dashed: not asked";
    }

    // Returns the columns of the boxes in a strip, one for each of ranks_.
    [[nodiscard]] std::vector<Rect> box_columns(Rect strip) const {
        const bool gap = cut_.ranks > kMostGpus;
        const auto n = static_cast<float>(ranks_.size());
        const float between = n > 4 ? 6.0f : 10.0f;
        const float w = std::min((strip.w - between * (n - 1) - (gap ? kLeftOut : 0)) / n, 240.0f);
        const float all = w * n + between * (n - 1) + (gap ? kLeftOut : 0);
        std::vector<Rect> out;
        float x = strip.x + (strip.w - all) / 2;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            if (gap && i + 1 == ranks_.size()) x += kLeftOut;
            out.push_back({x, strip.y, w, strip.h});
            x += w + between;
        }
        return out;
    }

    void draw_tokens(Rect box) {
        Rect in = token_panel(ui_, box, tokens_title(), tokens_sub());
        draw_steps(box);
        const float label = in.w > 330 ? kRowLabel : 0;
        const std::string words = foot_words();
        const float foot =
            in.h > 235 ? std::min(c_.paragraph_height(in.w, words, ui_.small(), 17), 51.0f) : 0;
        Rect text = in.cut_bottom(foot);
        if (foot > 0) c_.paragraph(text, words, ui_.small(), 17), in.cut_bottom(4);
        const Rect labels = in.cut_left(label);
        Rect bar = in.cut_top(22);
        if (label > 0) c_.text_in({labels.x, bar.y, label - 8, bar.h}, "tokens", ui_.small(), Align::right);
        const bool roomy = in.h > 190;
        const Rect ends = in.cut_top(roomy ? 15.0f : 0.0f);
        const Rect beams = in.cut_top(std::clamp(in.h * 0.14f, 12.0f, 80.0f));
        const float wire = cut_.ranks > 1 ? 28.0f : 0.0f;
        in.h -= wire;
        const float tall = box_height(in.h);
        in.h = tall;
        const Rect wires{in.x, in.bottom(), in.w, wire};
        const std::vector<Rect> boxes = box_columns(in);
        draw_beams(bar, {beams.x, bar.bottom(), beams.w, beams.bottom() - bar.bottom()}, boxes);
        draw_token_bar(bar);
        if (roomy) {
            c_.text_in({ends.x + 2, ends.y, 80, ends.h}, "0", ui_.style(11, Tone::secondary));
            c_.text_in({ends.right() - 90, ends.y, 88, ends.h}, thousands(cut_.tokens - 1),
                       ui_.style(11, Tone::secondary), Align::right);
        }
        draw_boxes(boxes, labels);
        if (wire > 0) draw_wire(wires, boxes);
    }

    // Draws the buttons that go a round back and on.
    void draw_steps(Rect box) {
        constexpr float kButton = 24;
        if (cut_.rounds() < 2 || ui_.state().for_picture || box.w < 360) return;
        Rect at{box.right() - 12 - 2 * kButton - 4, box.y + 8, kButton, 22};
        if (ui_.button("shards.hop", at, "‹", 0, true, true)) step_round(state_, cut_, -1);
        at.x += kButton + 4;
        if (ui_.button("shards.hop", at, "›", 1, true, true)) step_round(state_, cut_, 1);
    }

    [[nodiscard]] Rect slice_at(Rect bar, std::size_t i) const {
        const Range t = cut_.slices[i].tokens;
        const auto x = [&](std::int64_t v) {
            return bar.x
                   + bar.w * static_cast<float>(static_cast<double>(v) / static_cast<double>(cut_.tokens));
        };
        return {x(t.begin), bar.y, x(t.end) - x(t.begin), bar.h};
    }
    [[nodiscard]] bool has_box(std::int64_t rank) const {
        return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
    }

    void draw_token_bar(Rect bar) {
        const auto count = static_cast<std::int64_t>(cut_.slices.size());
        const TextStyle bold = ui_.style(12, Tone::text, Face::semibold);
        const bool numbered =
            c_.text_width(thousands(count - 1), bold) + 3 < bar.w / static_cast<float>(count);
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            const std::int64_t rank = cut_.slices[i].rank;
            Rect r = slice_at(bar, i);
            if (r.w > 4) r = {r.x + 0.5f, r.y, r.w - 1, r.h};
            Color fill = has_box(rank) ? shade(rank) : mix(theme_.panel, axis_, 0.3f);
            if (faded(rank)) fill = mix(theme_.panel, fill, 0.45f);
            c_.rect(r, fill, r.w > 8 ? 2.0f : 0.0f);
            if (cut_.ranks <= 1)
                c_.text_in(r, "all of them", bold.in(ink_on(fill)), Align::center);
            else if (numbered)
                c_.text_in(r, thousands(static_cast<std::int64_t>(i)), bold.in(ink_on(fill)), Align::center);
        }
        if (ui_.hovers(bar))
            for (std::size_t i = 0; i < cut_.slices.size(); ++i)
                if (slice_at(bar, i).contains(ui_.frame().mouse))
                    ui_.tooltip("slice " + thousands(static_cast<std::int64_t>(i)) + "\ntokens "
                                + range_words(cut_.slices[i].tokens) + "\non GPU "
                                + thousands(cut_.slices[i].rank));
    }

    static std::string range_words(Range r) { return thousands(r.begin) + " – " + thousands(r.end - 1); }

    // Draws a beam from each slice to its part of the GPU's box.
    void draw_beams(Rect bar, Rect room, const std::vector<Rect>& boxes) {
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            const std::vector<std::size_t> own = cut_.slices_of(ranks_[k]);
            const float w = boxes[k].w / static_cast<float>(std::max<std::size_t>(own.size(), 1));
            for (std::size_t j = 0; j < own.size(); ++j) {
                const Rect from = slice_at(bar, own[j]);
                const float to = boxes[k].x + w * static_cast<float>(j);
                const float strength = picked(ranks_[k]) ? 0.5f : faded(ranks_[k]) ? 0.06f : 0.2f;
                c_.polygon({Vec2{from.x, room.y}, Vec2{from.right(), room.y}, Vec2{to + w, room.bottom()},
                            Vec2{to, room.bottom()}},
                           shade(ranks_[k]).alpha(strength));
            }
        }
    }

    [[nodiscard]] std::vector<std::int64_t> box_rows() const {
        return exchanges_heads() ? std::vector<std::int64_t>{0} : key_rows();
    }
    // Returns the height of the boxes in such a room: no row of theirs is higher than need be.
    [[nodiscard]] float box_height(float room) const {
        return std::min(room, kBoxHead + kBoxFoot + kMostRow * static_cast<float>(box_rows().size() + 1));
    }
    void draw_boxes(const std::vector<Rect>& boxes, Rect labels) {
        const std::vector<std::int64_t> rows = box_rows();
        const float head = kBoxHead;
        const float row = (boxes.front().h - head - kBoxFoot) / static_cast<float>(rows.size() + 1);
        const bool shows_rows = row >= kLeastRow;
        for (std::size_t k = 0; k < boxes.size(); ++k)
            draw_gpu(boxes[k], ranks_[k], rows, shows_rows ? row : 0, head);
        if (labels.w <= 0 || !shows_rows) return;
        float y = boxes.front().y + head;
        const auto label = [&](std::string_view words) {
            c_.text_in({labels.x, y, labels.w - 8, row}, words, ui_.small(), Align::right);
            y += row;
        };
        label("queries");
        y += 6;
        for (const std::int64_t r : rows) label(exchanges_heads() ? "keys" : r < 0 ? "…" : row_words(r));
    }

    void draw_gpu(Rect box, std::int64_t rank, const std::vector<std::int64_t>& rows, float row, float head) {
        const Hit hit = ui_.area("shards.token_gpu", box, static_cast<std::uint64_t>(rank), cut_.ranks > 1);
        c_.box(box, hit.hovered ? theme_.raised : mix(theme_.panel, theme_.raised, 0.5f),
               picked(rank) ? theme_.text : theme_.hairline, picked(rank) ? 1.5f : 1.0f, 4);
        if (hit.focused) ui_.focus_ring(box, 4);
        if (hit.clicked) state_.rank = picked(rank) ? -1 : rank;
        if (hit.hovered) ui_.tooltip(gpu_words(rank));
        Rect in = box.inset(box.w > 70 ? 8.0f : 4.0f, 0);
        const std::array names{"GPU " + thousands(rank), thousands(rank)};
        const TextStyle bold = ui_.style(12.0f, Tone::text, Face::semibold);
        c_.text_in(in.cut_top(head), wording(ui_, in.w, names, bold), bold, Align::center);
        if (row <= 0) return;
        const float pad = row > 18 ? 2.5f : 1.5f;
        draw_queries(in.cut_top(row).inset(0, pad), rank);
        in.cut_top(6);
        for (const std::int64_t behind : rows) {
            const Rect cell = in.cut_top(row).inset(0, pad);
            if (behind < 0)
                c_.text_in(cell, "…", ui_.small(), Align::center);
            else if (exchanges_heads())
                draw_heads(cell, rank);
            else
                draw_keys(cell, rank, (rank - behind + cut_.ranks) % cut_.ranks);
        }
    }

    // Returns the room of a piece of so many in a cell.
    static Rect piece_of(Rect cell, std::size_t i, std::size_t n) {
        const float gap = cell.w / static_cast<float>(n) > 8 ? 2.0f : 0.0f;
        const float w = (cell.w - gap * static_cast<float>(n - 1)) / static_cast<float>(n);
        return {cell.x + (w + gap) * static_cast<float>(i), cell.y, w, cell.h};
    }
    // `word` may be empty.
    void write_slice(Rect r, std::string_view word, std::size_t slice, const TextStyle& style) {
        if (r.h < 11.5f) return;
        if (cut_.ranks <= 1) return static_cast<void>(c_.text_in(r, "all tokens", style, Align::center));
        const std::string number = thousands(static_cast<std::int64_t>(slice));
        const std::array words{word.empty() ? number : std::string(word) + " " + number, number};
        c_.text_in(r, wording(ui_, r.w - 4, words, style), style, Align::center);
    }

    void draw_queries(Rect cell, std::int64_t rank) {
        std::vector<std::size_t> own;
        for (std::size_t q = 0; q < cut_.slices.size(); ++q)
            if (cut_.computes(rank, q)) own.push_back(q);
        if (own.size() > 2 * kMostCells) own.clear();
        if (own.empty()) {  // too many to be seen apart
            c_.rect(cell, axis_, 3);
            return;
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            const Color fill = shade(cut_.slices[own[i]].rank);
            const Rect r = piece_of(cell, i, own.size());
            c_.rect(r, fill, r.w > 8 ? 3.0f : 0.0f);
            write_slice(r, "slice", own[i], ui_.style(11).in(ink_on(fill)));
        }
    }
    // With heads exchanged a GPU has keys of the same tokens as queries, for a part of the heads.
    void draw_heads(Rect cell, std::int64_t rank) { draw_queries(cell, rank); }

    void draw_keys(Rect cell, std::int64_t rank, std::int64_t sender) {
        const std::int64_t round = cut_.round_of(rank, sender);
        const KeyPlace place = sender == rank                         ? KeyPlace::own
                               : round > round_                       ? KeyPlace::later
                               : state_.round >= 0 && round == round_ ? KeyPlace::coming
                                                                      : KeyPlace::brought;
        const std::vector<std::size_t> own = cut_.slices_of(sender);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const Rect r = piece_of(cell, i, own.size());
            const Color color = shade(sender);
            if (place == KeyPlace::later) {
                c_.frame(r, theme_.hairline, 1, 3);
                continue;
            }
            if (!cut_.asks(rank, own[i])) {
                c_.frame(r, theme_.faint, 1, 3, Dash::dashed);
                write_slice(r, "", own[i], ui_.style(11, Tone::secondary));
                continue;
            }
            const bool solid = place == KeyPlace::own;
            const Color ground = solid ? color : mix(theme_.panel, color, 0.3f);
            c_.rect(r, ground, 3);
            if (!solid)
                c_.frame(r, place == KeyPlace::coming ? theme_.text : color,
                         place == KeyPlace::coming ? 2.0f : 1.3f, 3);
            write_slice(r, "keys", own[i], ui_.style(11).in(ink_on(ground)));
        }
    }

    [[nodiscard]] std::string gpu_words(std::int64_t rank) const {
        std::string out = "GPU " + thousands(rank) + (cut_.ranks > 1 ? " of a group of cp" : "");
        std::string held, unasked;
        for (const std::size_t i : cut_.slices_of(rank))
            held += (held.empty() ? "\nholds tokens " : " and ") + range_words(cut_.slices[i].tokens);
        out += held + "\ncomputes " + percent(cut_.share_of(rank)) + " of attention";
        if (exchanges_heads()) return out + "\nfor " + heads_words();
        std::int64_t count = 0;
        for (std::size_t i = 0; i < cut_.slices.size(); ++i)
            if (!cut_.asks(rank, i)) ++count, unasked = thousands(static_cast<std::int64_t>(i));
        if (count > 0)
            out += "\nasks no key of " + (count == 1 ? "slice " + unasked : plural(count, "slice", "slices"));
        return out + (picked(rank) ? "\nclick to show all" : "\nclick for its rows of the square");
    }
    [[nodiscard]] std::string heads_words() const {
        const std::int64_t own = s_.heads / cut_.inner;
        return s_.heads % cut_.inner == 0 ? plural(own, "head of ", "heads of ") + thousands(s_.heads)
                                          : "a part of " + plural(s_.heads, "head", "heads");
    }

    [[nodiscard]] std::string foot_words() const {
        const KeysWay* way = s_.own_way();
        if (cut_.ranks <= 1) return "Nothing comes over a wire: all keys and values are here.";
        if (way == nullptr) return {};
        if (const WayCall* hop = way->hop(); hop != nullptr && cut_.comm == CpComm::ring)
            return "A hop carries one GPU's keys and values, " + traffic_text(hop->message_bytes)
                   + ", to the next GPU in " + time_text(hop->call_s) + ".";
        if (cut_.comm == CpComm::allgather)
            return "One all-gather brings all keys, one all values: " + traffic_text(way->sent_bytes)
                   + " leave each GPU in " + time_text(way->wire_s) + ".";
        return "An all-to-all gives each GPU all tokens of its group for " + heads_words()
               + ", another takes the output back: " + traffic_text(way->sent_bytes) + " leave each GPU.";
    }

    void arrow(Vec2 at, bool left) {
        const float d = left ? -6.0f : 6.0f;
        c_.polygon(
            {Vec2{at.x + d, at.y}, Vec2{at.x - d * 0.4f, at.y - 4.5f}, Vec2{at.x - d * 0.4f, at.y + 4.5f}},
            axis_);
    }
    // Draws the ring below the boxes, or the line over which all talk at once.
    void draw_wire(Rect room, const std::vector<Rect>& boxes) {
        const float y = room.y + 12, back = y + 13;
        const float from = boxes.front().x - 6, to = boxes.back().right() + 6;
        const bool ring = cut_.comm == CpComm::ring;
        const float width = state_.round > 0 ? 3.0f : 2.0f;
        c_.line({ring ? from : boxes.front().center().x, y}, {ring ? to : boxes.back().center().x, y}, axis_,
                width);
        for (const Rect& b : boxes) {
            const float x = b.center().x;
            c_.line({x, y - 14}, {x, y}, axis_, width);
            c_.circle({x, y - 12}, 3.5f, axis_);
        }
        if (cut_.ranks > kMostGpus) {
            const float x = (boxes[boxes.size() - 2].right() + boxes.back().x) / 2;
            c_.rect({x - 9, y - 4, 18, 8}, theme_.panel);
            c_.text_in({x - 12, y - 8, 24, 14}, "…", ui_.small(Tone::text), Align::center);
        }
        for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
            const float x = (boxes[i].right() + boxes[i + 1].x) / 2;
            if (cut_.ranks > kMostGpus && i + 2 == boxes.size()) continue;
            if (ring) arrow({x + 2, y}, false);
        }
        if (!ring) return;
        c_.polyline({Vec2{to, y}, Vec2{to, back}, Vec2{from, back}, Vec2{from, y}}, axis_, width);
        arrow({(from + to) / 2, back}, true);
    }

    // ---- the square of queries and keys ----

    [[nodiscard]] std::string_view square_sub(Rect box) const {
        if (cut_.ranks <= 1) return "a row asks, a column is asked";
        const float cell = std::min(box.w - 80, box.h - 120) / static_cast<float>(cut_.slices.size());
        return cut_.comm == CpComm::ring && cell >= kLeastCell && cut_.slices.size() <= kMostCells
                   ? "a number: the hop that brings the keys"
                   : "rows compute, columns are asked";
    }
    void draw_square(Rect box) {
        Rect in =
            token_panel(ui_, box, cut_.ranks <= 1 ? "Attention's square" : "Attention's square, cut in rows",
                        square_sub(box));
        const std::string words = balance_words(cut_);
        const float foot = std::min(c_.paragraph_height(in.w, words, ui_.small(), 17), 68.0f);
        if (in.h > foot + 150) {
            c_.paragraph(in.cut_bottom(foot), words, ui_.small(), 17);
            in.cut_bottom(6);
        }
        const auto slices = static_cast<float>(cut_.slices.size());
        const bool named = cut_.ranks > 1 && std::min(in.w - 44, in.h - 32) >= kLeastCell * slices;
        Rect head = in.cut_top(named ? 32.0f : 18.0f);
        const float left = named ? 40.0f : 20.0f;
        const float side = std::min(in.w - left - 4, in.h);
        if (side < 60) return;
        const Rect square{in.x + left + std::max((in.w - left - side) / 2 - 8, 0.0f), in.y, side, side};
        c_.text_in({square.x, head.y, side, 16}, named ? "keys of slice" : "keys", ui_.small(),
                   Align::center);
        if (named) name_slices(square);
        for (std::size_t q = 0; q < cut_.slices.size(); ++q) draw_row(square, q);
        draw_grid(square);
        if (ui_.hovers(square)) square_tooltip(square);
    }

    void name_slices(Rect square) {
        for (std::size_t i = 0; i < cut_.slices.size(); ++i) {
            const Rect column = slice_at(square, i), row = row_at(square, i);
            const TextStyle style = ui_.style(11, faded(cut_.slices[i].rank) ? Tone::faint : Tone::secondary);
            const std::string number = thousands(static_cast<std::int64_t>(i));
            write_whole(ui_, {column.x, square.y - 17, column.w, 16}, number, style, Align::center);
            if (row.h >= 11) c_.text_in({square.x - 24, row.y, 19, row.h}, number, style, Align::right);
        }
    }
    [[nodiscard]] Rect row_at(Rect square, std::size_t q) const {
        const Rect lying = slice_at({square.y, 0, square.h, 1}, q);
        return {square.x, lying.x, square.w, lying.w};
    }
    [[nodiscard]] Color row_color(std::size_t q) const {
        if (cut_.comm == CpComm::ulysses) return mix(theme_.panel, axis_, state_.rank >= 0 ? 0.9f : 0.65f);
        const std::int64_t rank = cut_.slices[q].rank;
        const Color own = has_box(rank) || picked(rank) ? shade(rank) : mix(theme_.panel, axis_, 0.45f);
        const bool off = state_.rank >= 0 && !cut_.computes(state_.rank, q);
        return off ? mix(theme_.panel, own, 0.22f) : own;
    }

    // Fills the part of a row that the mask asks: a band below the diagonal, as wide as the window.
    void fill_row(Rect square, std::size_t q, Color color) {
        const Range t = cut_.slices[q].tokens;
        const double tokens = static_cast<double>(cut_.tokens);
        const auto at = [&](double key, double query) {
            return Vec2{square.x + square.w * static_cast<float>(key / tokens),
                        square.y + square.h * static_cast<float>(query / tokens)};
        };
        const auto begin = static_cast<double>(t.begin), end = static_cast<double>(t.end);
        const double w = cut_.window > 0 ? static_cast<double>(cut_.window) : tokens;
        std::vector<Vec2> band{at(begin, begin), at(end, end), at(std::max(end - w, 0.0), end)};
        if (begin < w && w < end) band.push_back(at(0, w));
        if (begin > 0) band.push_back(at(std::max(begin - w, 0.0), begin));
        c_.polygon(band, color);
    }

    void draw_row(Rect square, std::size_t q) {
        const Color color = row_color(q);
        const std::int64_t rank = cut_.slices[q].rank;
        if (state_.round < 0) {
            fill_row(square, q, color);
        } else {  // keys that have not come are pale
            fill_row(square, q, mix(theme_.panel, color, 0.2f));
            for (std::size_t k = 0; k < cut_.slices.size(); ++k) {
                if (cut_.round_of(rank, cut_.slices[k].rank) > round_) continue;
                const Rect row = row_at(square, q), column = slice_at(square, k);
                const Canvas::Clip clip = c_.clip({column.x, row.y, column.w, row.h});
                fill_row(square, q, color);
            }
        }
        if (cut_.slices.size() > kMostCells || cut_.ranks <= 1) return;
        for (std::size_t k = 0; k <= q; ++k) {
            const Rect row = row_at(square, q), column = slice_at(square, k);
            if (pairs_asked(cut_.slices[q].tokens, cut_.slices[k].tokens, cut_.window) <= 0) continue;
            const std::int64_t round = cut_.round_of(rank, cut_.slices[k].rank);
            if (exchanges_heads() || round > round_) continue;
            Rect cell{column.x, row.y, column.w, row.h};
            if (k == q) cell = {cell.x, cell.y + cell.h * 0.4f, cell.w * 0.72f, cell.h * 0.6f};
            const TextStyle ink = ui_.style(11).in(ink_on(color));
            const std::string number = thousands(round);
            const bool ring = cut_.comm == CpComm::ring;
            const std::array hops{ring ? "hop " + number : "from " + thousands(cut_.slices[k].rank),
                                  ring ? number : ""};
            const std::array own{std::string("own"), std::string()};
            if (cell.h >= 13)
                c_.text_in(cell, wording(ui_, cell.w - 2, round == 0 ? own : hops, ink), ink, Align::center);
        }
    }

    void draw_grid(Rect square) {
        c_.frame(square, theme_.faint, 1, 0, Dash::dotted);
        const std::size_t n = std::min(cut_.slices.size(), kMostCells);
        for (std::size_t i = 1; i < n; ++i) {
            const float at = square.w * static_cast<float>(i) / static_cast<float>(n);
            c_.line({square.x + at, square.y}, {square.x + at, square.bottom()}, theme_.faint, 1,
                    Dash::dotted);
            c_.line({square.x, square.y + at}, {square.right(), square.y + at}, theme_.faint, 1,
                    Dash::dotted);
        }
    }

    void square_tooltip(Rect square) {
        const Vec2 m = ui_.frame().mouse;
        for (std::size_t q = 0; q < cut_.slices.size(); ++q)
            for (std::size_t k = 0; k < cut_.slices.size(); ++k) {
                const Rect row = row_at(square, q), column = slice_at(square, k);
                if (!Rect{column.x, row.y, column.w, row.h}.contains(m)) continue;
                const double asked = pairs_asked(cut_.slices[q].tokens, cut_.slices[k].tokens, cut_.window);
                const double all = static_cast<double>(cut_.slices[q].tokens.size())
                                   * static_cast<double>(cut_.slices[k].tokens.size());
                ui_.tooltip("queries of tokens " + range_words(cut_.slices[q].tokens) + "\nkeys of tokens "
                            + range_words(cut_.slices[k].tokens) + "\n"
                            + (asked <= 0 ? "the mask asks none of them"
                                          : "the mask asks " + percent(asked / all) + " of the pairs"));
                return;
            }
    }
};

const TokenSlices& shown(const Scene& scene, TokensPageState& state, bool eight, std::uint64_t revision) {
    // An open question may ask for what a GPU holds with the cut.
    const bool cut = !scene.in_lesson && !scene.asked;
    return state.shown.get({revision, cut, eight},
                           [&] { return token_slices(scene.plan, scene.evaluation, cut, eight ? 8 : 4); });
}

}  // namespace

std::optional<PlanEdit> draw_tokens(Ui& ui, Rect room, Scene& scene, TokensPageState& state, bool eight,
                                    std::uint64_t revision) {
    const TokenSlices& s = shown(scene, state, eight, revision);
    if (!s.why_not.empty()) {
        ui.canvas().paragraph(room, s.why_not, ui.style(13, Tone::secondary), 18);
        return std::nullopt;
    }
    if (s.cut.rounds() > 1 && scene.keys.pressed({Key::right}, true)) step_round(state, s.cut, 1);
    if (s.cut.rounds() > 1 && scene.keys.pressed({Key::left}, true)) step_round(state, s.cut, -1);
    const std::optional<CpComm> way = TokensPicture(ui, scene, state, s).draw(room);
    if (!way) return std::nullopt;
    PlanEdit edit{scene.plan, "cp by " + std::string(name_of(*way)), ""};
    edit.plan.layout.cp_comm = *way;
    edit.plan.layout.cp_inner.reset();
    return edit;
}

Table tokens_data(const Scene& scene, bool eight) {
    const TokenSlices s =
        token_slices(scene.plan, scene.evaluation, !scene.in_lesson && !scene.asked, eight ? 8 : 4);
    Table table;
    table.columns = {{"GPU of cp", Shown::count},
                     {"slices"},
                     {"tokens"},
                     {"share of attention", Shown::share},
                     {"slices that it asks nothing of", Shown::count}};
    if (!s.why_not.empty()) {
        table.columns = {{"no slices, because"}};
        table.rows = {{s.why_not}};
        return table;
    }
    for (std::int64_t r = 0; r < s.cut.ranks; ++r) {
        std::string slices, tokens;
        for (const std::size_t i : s.cut.slices_of(r)) {
            const Range t = s.cut.slices[i].tokens;
            slices += (slices.empty() ? "" : ", ") + thousands(static_cast<std::int64_t>(i));
            tokens += (tokens.empty() ? "" : ", ") + thousands(t.begin) + " – " + thousands(t.end - 1);
        }
        std::int64_t unasked = 0;
        for (std::size_t i = 0; i < s.cut.slices.size(); ++i) unasked += s.cut.asks(r, i) ? 0 : 1;
        table.rows.push_back({r, slices, tokens, s.cut.share_of(r), unasked});
    }
    return table;
}

}  // namespace pentamesh::ui
