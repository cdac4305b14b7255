#include "app/ui/views/shards/shards_stages.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTileGap = 14, kGapRow = 20;
constexpr float kTile = 190, kLowTile = 92;  // at most so high: up to four stages, more
constexpr float kLeastTile = 18, kLeastForArrows = 54;
constexpr float kLowFigures = 84;  // of a tile that is lower, figures stand in three lines
constexpr float kMoreWords = 48;   // "… 2 more" behind the chunks that are drawn
constexpr std::size_t kMostTiles = 8, kMostPieces = 4, kMostNumberedMicro = 32;
constexpr float kOpRow = 26, kOpGap = 8;

// Returns the words for a count of micro-batches: "4", "5.5".
std::string count_of(double n) {
    return three_digits(n);
}

class StagesPainter {
  public:
    StagesPainter(Ui& ui, Scene& scene, const StagesShown& shown, double now_s)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), shown_(shown), loaf_(shown.loaf),
          t_(scene.evaluation.timeline), played_(loaf_.shown_s > 0),
          now_s_(now_s < 0 ? loaf_.fullest_s : now_s), color_(color_of(ui.theme(), GroupKind::pp)),
          ramp_(shades(ui.theme(), color_)) {
        for (const StageBox& b : loaf_.boxes)
            kept_.push_back(played_ ? kept_at(t_, b.stage, now_s_) : std::vector<KeptSlice>{});
    }

    // Places the tiles, before anything is drawn.
    void place(Rect room);
    void tiles();
    [[nodiscard]] const LoafScale& scale() const { return scale_; }
    void timeline(Rect room, StagesPageState& state, std::uint64_t revision);
    [[nodiscard]] float timeline_height() const { return 24 + 20 + rows_height(kOpRow) + 18 + 6 + 34; }
    [[nodiscard]] int highlighted() const {
        for (const StageBox& b : loaf_.boxes)
            if (is_highlighted(scene_, b.stage)) return b.stage;
        return chosen_stage(scene_);
    }
    [[nodiscard]] std::string sentence() const;

  private:
    struct Tile {
        Rect all, names, box, figures;
    };
    // Returns the slices of a piece that are drawn: its micro-batches, -1 where no timeline says which.
    [[nodiscard]] std::vector<std::int32_t> slices_of(std::size_t box, const StagePiece& piece) const;
    [[nodiscard]] double head_now(std::size_t box) const {
        const StageBox& b = loaf_.boxes[box];
        return played_ ? head_bytes_at(scene_.plan, b, kept_[box]) : b.head_bytes;
    }
    [[nodiscard]] double most_slices(const StageBox& b, const StagePiece& p) const {
        return played_ ? p.most_kept
                       : b.slices / static_cast<double>(std::max<std::size_t>(b.pieces.size(), 1));
    }
    [[nodiscard]] double share_of(const StagePiece& p) const {
        const auto all = static_cast<double>(std::max<std::int64_t>(scene_.plan.model.layers, 1));
        return std::max(static_cast<double>(p.layers()), 0.5) / all;
    }
    [[nodiscard]] static double part_of(const StageBox& b, const StagePiece& p) {
        return b.layers > 0 ? static_cast<double>(p.layers()) / static_cast<double>(b.layers)
                            : 1 / static_cast<double>(b.pieces.size());
    }
    [[nodiscard]] static bool has_head(const StageBox& b, const StagePiece& p) {
        return b.head && p.chunk == chunk_of_head(b);
    }
    [[nodiscard]] LoafScale scale_for_tiles(float width, float height) const;
    void tile(const Tile& t, std::size_t i, const LoafScale& scale);
    void names(Rect room, const StageBox& b);
    void boxes(Rect room, std::size_t i, const LoafScale& scale);
    float piece(Vec2 at, std::size_t i, const StagePiece& p, const LoafScale& scale);
    void slices(const LoafPlace& place, LoafSolid solid, const std::vector<std::int32_t>& micro, float each);
    void figures(Rect room, std::size_t i);
    [[nodiscard]] std::array<std::string, 3> crust_words(const StageBox& b) const;
    [[nodiscard]] std::array<std::string, 2> bread_words(std::size_t i) const;
    // A figure of what a stage sends, and what may stand behind it, the longest first.
    struct Sent {
        std::string figure;
        std::array<std::string, 2> words;
    };
    [[nodiscard]] std::vector<Sent> wire_words(std::size_t i) const;
    void arrows(Rect from, Rect to);
    [[nodiscard]] float rows_height(float row) const {
        const auto n = static_cast<float>(loaf_.boxes.size());
        return n * (row + kOpGap) + (loaf_.left_out > 0 ? kOpGap : 0);
    }
    void ops(Rect row, int device, const PlotScale& x);
    [[nodiscard]] std::string why_words() const;

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    Scene& scene_;
    const StagesShown& shown_;
    const StageLoaf& loaf_;
    const Timeline& t_;
    bool played_;
    double now_s_;
    Color color_;
    std::array<Color, kShadeCount> ramp_;
    std::vector<std::vector<KeptSlice>> kept_;  // by box
    std::vector<Tile> tiles_;
    LoafScale scale_;
};

std::string StagesPainter::sentence() const {
    const Memory& memory = scene_.evaluation.memory;
    const StageMemory& s = memory.stage[static_cast<std::size_t>(memory.peak_stage)];
    std::string out = "Stage " + std::to_string(memory.peak_stage) + " holds most, " + gib(s.total()) + " of "
                      + memory_text(memory.hbm) + ": its own layers, and ";
    // With several chunks a micro-batch that has passed one of them is a part of one.
    if (s.in_flight != std::round(s.in_flight))
        out += "in flight as much as " + count_of(s.in_flight) + " micro-batches leave there.";
    else
        out += count_of(s.in_flight) + (s.in_flight == 1 ? " micro-batch" : " micro-batches") + " in flight.";
    if (!scene_.asked && loaf_.cut.activation_bytes > 0)
        out += " A micro-batch takes " + traffic_text(loaf_.cut.activation_bytes) + " over a cut, and "
               + (loaf_.cut.gradient_bytes == loaf_.cut.activation_bytes
                      ? "as much"
                      : traffic_text(loaf_.cut.gradient_bytes))
               + " back.";
    return out;
}

std::vector<std::int32_t> StagesPainter::slices_of(std::size_t box, const StagePiece& piece) const {
    std::vector<std::int32_t> out;
    for (const KeptSlice& k : kept_[box])
        if (k.chunk == piece.chunk) out.push_back(k.microbatch);
    if (!played_) out.assign(static_cast<std::size_t>(std::lround(most_slices(loaf_.boxes[box], piece))), -1);
    return out;
}

// One scale serves all tiles: each box at its longest has room.
LoafScale StagesPainter::scale_for_tiles(float width, float height) const {
    double longest = 0, row = 0, high = 0;
    std::size_t pieces = 1;
    for (const StageBox& b : loaf_.boxes) {
        double all = 0;
        const std::size_t n = std::min(b.pieces.size(), kMostPieces);
        for (std::size_t k = 0; k < n; ++k) {
            const StagePiece& p = b.pieces[k];
            const double bytes = b.crust() * part_of(b, p) + b.slice_bytes * most_slices(b, p)
                                 + (has_head(b, p) ? b.head_bytes : 0);
            const double length = bytes / share_of(p);
            all += length;
            longest = std::max(longest, length);
            high = std::max(high, share_of(p));
        }
        row = std::max(row, all);
        pieces = std::max(pieces, n);
    }
    LoafScale out{1, 1, 0};
    const auto n = static_cast<float>(pieces);
    if (loaf_.boxes.front().pieces.size() > kMostPieces) width -= kMoreWords;
    if (longest <= 0 || high <= 0) return out;
    const double up = 0.62 * height / (kLoafUp * longest), across = 0.66 * width / (kLoafAcross * row);
    out.per_byte = std::min(up, across);
    const float front =
        std::min(height - kLoafUp * static_cast<float>(longest * out.per_byte), 0.5f * height);
    out.w = std::clamp((width - kLoafAcross * static_cast<float>(row * out.per_byte)) / n - 6, 6.0f,
                       2.4f * front);
    out.h = front / static_cast<float>(high);
    return out;
}

void StagesPainter::place(Rect room) {
    std::size_t n = loaf_.boxes.size();
    const float gap_row = loaf_.left_out > 0 ? kGapRow : 0;
    const float gap = room.h < kLeastForArrows * static_cast<float>(n) ? 5 : kTileGap;
    const float most = n <= 4 ? std::max(kTile, room.w * 0.16f) : std::max(kLowTile, room.w * 0.07f);
    const auto high = [&] {
        const auto places = static_cast<float>(n);
        return std::min(most, (room.h - gap_row - gap * (places - 1)) / places);
    };
    while (n > 1 && high() < kLeastTile) --n;  // a lower room shows the first ones
    const float h = high();
    const float names = std::clamp(room.w * 0.18f, 84.0f, 130.0f);
    const float figures = room.w > 430 ? std::clamp(room.w * 0.40f, 190.0f, 330.0f) : 84.0f;
    float y = room.y;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + 1 == loaf_.boxes.size()) y += gap_row;
        Tile t;
        t.all = {room.x, y, room.w, h};
        Rect inside = t.all.inset(12, h < 30 ? 1.0f : h < kLowTile ? 3.0f : 7.0f);
        t.names = inside.cut_left(std::min(names, inside.w));
        t.figures = inside.cut_right(std::min(figures, inside.w));
        inside.cut_right(std::min(10.0f, inside.w));
        t.box = inside;
        tiles_.push_back(t);
        y += h + gap;
    }
    scale_ = scale_for_tiles(tiles_.front().box.w, tiles_.front().box.h);
}

void StagesPainter::tiles() {
    const std::size_t n = tiles_.size();
    for (std::size_t i = 0; i < n; ++i) tile(tiles_[i], i, scale_);
    for (std::size_t i = 0; i + 1 < n && tiles_.front().all.h >= kLeastForArrows - kTileGap; ++i)
        if (loaf_.left_out == 0 || i + 2 < loaf_.boxes.size()) arrows(tiles_[i].all, tiles_[i + 1].all);
    if (loaf_.left_out == 0 || n < loaf_.boxes.size()) return;
    const Rect last = tiles_.back().all;
    c_.text_in({last.x, last.y - kTileGap / 2 - kGapRow + 2, last.w, kGapRow},
               "… " + plural(loaf_.left_out, "stage", "stages") + " more", ui_.small(), Align::center);
}

// Activations go down, gradients up.
void StagesPainter::arrows(Rect from, Rect to) {
    const float room = held_between(from.h - 56, 8, 40), head = 5;
    const auto arrow = [&](float x, float tail, float tip) {
        const float back = tip > tail ? -head : head;
        c_.line({x, tail}, {x, tip + back}, color_, 2);
        c_.polygon({{x - head * 0.8f, tip + back}, {x + head * 0.8f, tip + back}, {x, tip}}, color_);
    };
    const float upper = from.bottom() - room, lower = to.y + 3;  // above its name
    arrow(from.x + 32, upper, lower);
    arrow(from.x + 50, lower, upper);
}

void StagesPainter::tile(const Tile& t, std::size_t i, const LoafScale& scale) {
    const StageBox& b = loaf_.boxes[i];
    const Hit hit = ui_.area("shards.stage", t.all, static_cast<std::uint64_t>(b.stage), true, false);
    const bool picked = chosen_stage(scene_) == b.stage;
    c_.rect(t.all, picked || hit.hovered ? theme_.raised : theme_.panel, 6);
    c_.frame(t.all, picked ? theme_.text : theme_.hairline, 1, 6);
    if (hit.hovered) {
        scene_.next_hover.rank = b.rank;
        scene_.next_hover.stage = b.stage;
    }
    if (hit.clicked) scene_.selection.pick_rank(picked ? -1 : b.rank);
    names(t.names, b);
    if (t.box.w > 40) boxes(t.box, i, scale);
    figures(t.figures, i);
    if (!hit.hovered) return;
    std::string words = "GPU " + thousands(b.rank) + ", stage " + std::to_string(b.stage);
    words += "\noptimizer " + memory_text(b.optimizer) + "\ngradients " + memory_text(b.gradients)
             + "\nparameters " + memory_text(b.parameters) + "\nactivations at the peak "
             + memory_text(b.bread()) + "\nbuffers " + memory_text(b.buffers);
    ui_.tooltip(words);
}

void StagesPainter::names(Rect room, const StageBox& b) {
    const StagePlace& place = shown_.places[static_cast<std::size_t>(b.stage)];
    const bool low = room.h < 90;
    const std::string gpu = "GPU " + thousands(b.rank);
    const std::array<std::string, 2> names{gpu + ", stage " + std::to_string(b.stage), gpu};
    const TextStyle bold = ui_.style(low ? 13.0f : 14.0f, Tone::text, Face::semibold);
    c_.text_in(room.cut_top(std::min(room.h, 20.0f)),
               low ? std::string(wording(ui_, room.w, names, bold)) : gpu, bold);
    const auto line = [&](const std::string& words) {
        if (room.h >= 15) c_.text_in(room.cut_top(16), words, ui_.small());
    };
    if (low) return line(place.layers);
    line("stage " + std::to_string(b.stage));
    line(place.layers);
    if (place.ends.empty()) return;
    const std::array<std::string, 2> ends{place.ends + " too", place.ends};
    line(std::string(wording(ui_, room.w, ends, ui_.small())));
}

void StagesPainter::boxes(Rect room, std::size_t i, const LoafScale& scale) {
    const StageBox& b = loaf_.boxes[i];
    Vec2 at{room.x, room.bottom()};
    const std::size_t n = std::min(b.pieces.size(), kMostPieces);
    for (std::size_t k = 0; k < n; ++k) at.x += piece(at, i, b.pieces[k], scale) + 6;
    if (n < b.pieces.size())
        c_.text_in({at.x, room.bottom() - 18, std::max(kMoreWords, room.right() - at.x), 16},
                   "… " + std::to_string(b.pieces.size() - n) + " more", ui_.small());
}

// Draws a chunk's box and returns its width.
float StagesPainter::piece(Vec2 at, std::size_t i, const StagePiece& p, const LoafScale& scale) {
    const StageBox& b = loaf_.boxes[i];
    const double share = share_of(p);
    // A place's corner is that of the whole front, of which the box is the upper part.
    const LoafPlace place{{at.x, at.y + scale.h * static_cast<float>(1 - share)}, scale};
    const auto length = [&](double bytes) { return static_cast<float>(bytes / share * scale.per_byte); };
    LoafSolid solid{.bottom = share};
    struct Slab {
        float from, to;
        Color color;
    };
    std::vector<Slab> slabs;
    float z = 0;
    for (const auto& [bytes, color] :
         {std::pair{b.optimizer, theme_.memory[2]}, std::pair{b.gradients, theme_.memory[1]},
          std::pair{b.parameters, theme_.memory[0]}}) {
        const float to = z + length(bytes * part_of(b, p));
        slabs.push_back({z, to, color});
        z = to;
    }
    const std::vector<std::int32_t> micro = slices_of(i, p);
    const float each = length(b.slice_bytes), bread = z;
    const float head_from = bread + each * static_cast<float>(micro.size());
    const float head_to = head_from + (has_head(b, p) ? length(head_now(i)) : 0);
    // From the back to the front.
    if (head_to > head_from + 0.5f) {
        solid.from = head_from, solid.to = head_to;
        draw_solid(c_, theme_, place, solid, mix(theme_.window, theme_.secondary, 0.75f));
        const Vec2 top = place.point(0.5, 0, (head_from + head_to) / 2);
        const TextStyle style =
            ui_.style(11).in(ink_on(mix(mix(theme_.window, theme_.secondary, 0.75f), rgb(0xffffff), 0.25f)));
        const float w = c_.text_width("logits", style);
        if (w + 6 < scale.w && kLoafUp * (head_to - head_from) > 12)
            c_.text_in({top.x - w / 2 - 1, top.y - 8, w + 4, 16}, "logits", style);
    }
    solid.from = bread;
    slices(place, solid, micro, each);
    for (std::size_t k = slabs.size(); k-- > 0;) {
        if (slabs[k].to - slabs[k].from < 0.2f) continue;
        solid.from = slabs[k].from, solid.to = slabs[k].to;
        draw_solid(c_, theme_, place, solid, slabs[k].color);
    }
    const int stripes = p.layers() > 0 ? stripes_of(p.layers()) : 1;
    for (int k = 1; k < stripes && scale.h * static_cast<float>(share) / static_cast<float>(stripes) >= 3;
         ++k) {
        const double y = share * k / stripes;
        c_.line(place.point(0, y, 0), place.point(1, y, 0), mix(theme_.memory[2], theme_.window, 0.75f),
                0.7f);
    }
    return scale.w + kLoafAcross * std::max(head_to, head_from);
}

void StagesPainter::slices(const LoafPlace& place, LoafSolid solid, const std::vector<std::int32_t>& micro,
                           float each) {
    if (micro.empty()) return;
    const float from = solid.from;
    TextStyle style = ui_.style(11, Tone::text, Face::semibold);
    if (micro.size() > kMostNumberedMicro || each < 2) {
        solid.to = from + each * static_cast<float>(micro.size());
        draw_solid(c_, theme_, place, solid, color_);
        const std::string words = std::to_string(micro.size());
        const Vec2 at = place.point(1, (solid.top + solid.bottom) / 2, (solid.from + solid.to) / 2);
        if (kLoafAcross * (solid.to - solid.from) > c_.text_width(words, style) + 2)
            c_.text_in({at.x - 20, at.y - 8, 40, 16}, words,
                       style.in(ink_on(mix(color_, rgb(0x101018), 0.38f))), Align::center);
        return;
    }
    for (std::size_t k = micro.size(); k-- > 0;) {
        const Color shade =
            micro[k] < 0 ? ramp_[k % kShadeCount] : ramp_[static_cast<std::size_t>(micro[k]) % kShadeCount];
        solid.from = from + each * static_cast<float>(k);
        solid.to = solid.from + each;
        draw_solid(c_, theme_, place, solid, shade);
    }
    // Numbers stand over all slices: a nearer one covers none of them. They are smaller where slices are
    // thin.
    const std::int32_t most = *std::ranges::max_element(micro);
    const bool wide = c_.text_width(std::to_string(most), style) + 2 <= kLoafAcross * each;
    if (!wide) style = ui_.style(9, Tone::text, Face::semibold);
    const float front = place.scale.h * static_cast<float>(solid.bottom - solid.top);
    for (std::size_t k = 0; k < micro.size(); ++k) {
        if (micro[k] < 0) continue;
        const Color shade = ramp_[static_cast<std::size_t>(micro[k]) % kShadeCount];
        const std::string words = std::to_string(micro[k]);
        const float w = c_.text_width(words, style);
        if (w + (wide ? 2.0f : 1.0f) > kLoafAcross * each || front < 12) continue;
        const Vec2 at =
            place.point(1, (solid.top + solid.bottom) / 2, from + each * (static_cast<float>(k) + 0.5f));
        c_.text_in({at.x - w / 2 - 2, at.y - 8, w + 4, 16}, words,
                   style.in(ink_on(mix(shade, rgb(0x101018), 0.38f))), Align::center);
    }
}

// Returns "4 of 16 layers, and the table", and the same in fewer words for less room.
std::array<std::string, 3> StagesPainter::crust_words(const StageBox& b) const {
    const std::string own = thousands(b.layers), all = plural(scene_.plan.model.layers, "layer", "layers");
    const bool table = b.copied_table || (b.embedding && scene_.plan.model.tied_embeddings);
    const std::string also = table                   ? "table"
                             : b.embedding && b.head ? "embedding, head"
                             : b.embedding           ? "embedding"
                             : b.head                ? "head"
                                                     : "";
    if (also.empty()) return {own + " of " + all, plural(b.layers, "layer", "layers"), own};
    const std::string_view before = !table && b.embedding && b.head ? ", " : ", and the ";
    return {own + " of " + all + std::string(before) + also,
            plural(b.layers, "layer", "layers") + ", " + also, own + " + " + also};
}

// Returns "4 × 2.32", "1 × 2.32 and the head's logits 5.93"; while fewer are there than at the peak, what
// they are now. The second is shorter.
std::array<std::string, 2> StagesPainter::bread_words(std::size_t i) const {
    const StageBox& b = loaf_.boxes[i];
    const double head = head_now(i);
    const double n = played_ ? static_cast<double>(kept_[i].size()) : b.slices;
    const double now = n * b.slice_bytes + head;
    const std::string slices = (now < b.bread() * (1 - 1e-9) ? "now " + gib(now) + ", " : "") + count_of(n)
                               + " × " + gib(b.slice_bytes);
    if (head <= 0) return {slices, slices};
    return {slices + " and the head’s logits " + gib(head), slices + ", logits " + gib(head)};
}

std::vector<StagesPainter::Sent> StagesPainter::wire_words(std::size_t i) const {
    std::vector<Sent> out;
    if (scene_.asked) return out;
    const StageCut& cut = loaf_.cut;
    const bool last = i + 1 == loaf_.boxes.size();
    const auto gpu = [&](std::size_t k) { return "GPU " + thousands(loaf_.boxes[k].rank); };
    if (i == 0 && cut.activation_bytes > 0)
        out.push_back(
            {traffic_text(cut.activation_bytes),
             {"to " + gpu(1) + " a micro-batch, "
                  + (cut.gradient_bytes == cut.activation_bytes ? "as much back"
                                                                : traffic_text(cut.gradient_bytes) + " back"),
              "to " + gpu(1) + ", and back"}});
    if (last && cut.closes && cut.activation_bytes > 0)
        out.push_back({traffic_text(cut.activation_bytes),
                       {"on to " + gpu(0) + ", for its next chunk", "on to " + gpu(0)}});
    if (last && cut.table_bytes > 0 && loaf_.boxes[i].copied_table)
        out.push_back({traffic_text(cut.table_bytes),
                       {"with " + gpu(0) + " once a step: the table", "with " + gpu(0) + ": the table"}});
    return out;
}

void StagesPainter::figures(Rect room, std::size_t i) {
    const StageBox& b = loaf_.boxes[i];
    const TextStyle bold = ui_.style(12, Tone::text, Face::semibold);
    Rect head = room.cut_top(std::min(room.h, room.h < kLowFigures ? 20.0f : 26.0f));
    write_left(ui_, head, memory_text(b.total()), ui_.style(16, Tone::text, Face::semibold), 8);
    if (room.w < 150) return;
    write_whole(ui_, head, "with buffers " + gib(b.buffers), ui_.small());
    const auto wires = wire_words(i);
    // Writes the longest of the wordings that has room; the last one is cut.
    const auto line = [&](std::string_view name, const std::string& figure,
                          std::span<const std::string> words) {
        if (room.h < 15) return;
        Rect row = room.cut_top(std::min(18.0f, room.h));
        if (!name.empty()) write_left(ui_, row, name, ui_.small(), 5);
        write_left(ui_, row, figure, bold, 7);
        if (row.w < 20) return;
        const std::string_view fits = wording(ui_, row.w, words, ui_.small());
        ui_.label(row, fits.empty() ? std::string_view(words.back()) : fits, ui_.small());
    };
    const std::string crust = scene_.in_lesson ? "crust" : "state",
                      bread = scene_.in_lesson ? "bread" : "activations";
    // All tiles have the same lines: one that sends has one or two more.
    const bool low = room.h < 36 + 18 * 2;
    if (!low) {
        line(crust, gib(b.crust()), crust_words(b));
        line(bread, gib(b.bread()), bread_words(i));
        room.cut_top(std::min(room.h, 3.0f));
    }
    // With one line left a tile says what it holds, as the others do: what crosses a cut stands in the
    // sentence above all.
    const bool one_line = low && room.h < 15 + 18;
    for (const auto& [figure, words] : wires) {
        if (room.h < 15) return;
        if (one_line && i == 0) break;
        const Rect row = room;
        c_.line({row.x, row.y + 9}, {row.x + 12, row.y + 9}, color_, 3);
        room.cut_left(17);
        line("", figure, words);
        room.x = row.x, room.w = row.w;
    }
    if (low && room.h >= 15) {
        Rect row = room.cut_top(std::min(18.0f, room.h));
        write_left(ui_, row, crust + " " + gib(b.crust()) + ", " + bread, ui_.small(), 5);
        write_left(ui_, row, gib(b.bread()), bold, 7);
        const auto words = bread_words(i);
        c_.text_in(row, wording(ui_, row.w, words, ui_.small()), ui_.small());
    }
}

// ---- the timeline ---------------------------------------------------------------------------------------

void StagesPainter::ops(Rect row, int device, const PlotScale& x) {
    c_.pattern(row, kIdlePattern, theme_.bad.alpha(kIdleStrength));
    const auto d = static_cast<std::size_t>(device);
    const int chunks = chunks_of(t_.shape);
    for (std::size_t i = t_.order.begin[d]; i < t_.order.begin[d + 1]; ++i) {
        if (t_.start[i] >= x.high) break;
        const Op& op = t_.order.ops[i];
        const float x0 = x.at(t_.start[i]), x1 = std::min(x.at(t_.end[i]), row.right());
        Rect r{x0, row.y, std::max(0.5f, x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f)), row.h};
        Color fill = shade_of(theme_, op, chunks);
        if (op.kind == OpKind::FB) {
            const Op forward{OpKind::F, op.chunk, 0, op.microbatch, 0};
            c_.rect(r, theme_.backward);
            r.h = row.h / 2;
            fill = shade_of(theme_, forward, chunks);
        }
        c_.rect(r, fill);
        texture(c_, theme_, op.kind, r);
        const std::string number = std::to_string(op.microbatch);
        const TextStyle style = ui_.style(r.w >= 14 ? 11.0f : 9.0f).in(ink_on(fill));
        if (r.h >= 11 && c_.text_width(number, style) + 2 <= r.w) c_.text_in(r, number, style, Align::center);
    }
}

std::string StagesPainter::why_words() const {
    const std::vector<StageMemory>& stages = scene_.evaluation.memory.stage;
    const auto m = scene_.evaluation.microbatches;
    if (loaf_.grows_to_first && m > 1)
        return "The first stage waits longest for its backward, so it keeps most: min("
               + std::to_string(loaf_.stages) + " − stage, " + thousands(m) + ") micro-batches.";
    const auto less = [](const StageMemory& a, const StageMemory& b) { return a.in_flight < b.in_flight; };
    const auto [least, most] = std::minmax_element(stages.begin(), stages.end(), less);
    if (least->in_flight == most->in_flight)
        return "Each stage keeps " + count_of(most->in_flight)
               + (most->in_flight == 1 ? " micro-batch" : " micro-batches") + " at its peak.";
    return "At its peak stage " + std::to_string(most->stage) + " keeps most, " + count_of(most->in_flight)
           + " micro-batches of its layers; stage " + std::to_string(least->stage) + " least, "
           + count_of(least->in_flight) + ".";
}

void StagesPainter::timeline(Rect room, StagesPageState& state, std::uint64_t revision) {
    const bool wide = room.w > 330;
    ui_.section(room.cut_top(20), "IN FLIGHT", wide ? "forward begun, backward not done" : "");
    room.cut_top(4);
    if (!played_) {
        put_paragraph(ui_, room,
                      "This schedule has too many ops to be replayed. The tiles show each stage at its peak: "
                          + why_words(),
                      ui_.small(), 16);
        return;
    }
    const std::string why = why_words();
    const float why_h = c_.paragraph_height(room.w, why, ui_.small(), 16);
    if (room.h > why_h + 100) c_.paragraph(room.cut_bottom(why_h), why, ui_.small(), 16);
    const float names = c_.text_width("stage " + std::to_string(loaf_.stages - 1), ui_.small()) + 10;
    Rect label = room.cut_top(20);
    Rect ruler = room.cut_bottom(18);
    room.cut_bottom(std::min(room.h, 4.0f));
    const auto n = static_cast<float>(loaf_.boxes.size());
    const float gap = loaf_.left_out > 0 ? kOpGap : 0;
    const float pitch = std::min(kOpRow + kOpGap, (room.h - gap) / n),
                h = pitch - std::min(kOpGap, pitch * 0.25f);
    Rect plot{room.x + names, room.y, room.w - names - 14, pitch * n + gap};
    ruler.y = plot.bottom();
    const PlotScale x{.low = 0, .high = loaf_.shown_s, .from = plot.x, .to = plot.right()};
    std::string counts;
    for (std::size_t i = 0; i < loaf_.boxes.size(); ++i) {
        const StageBox& b = loaf_.boxes[i];
        const bool beyond = loaf_.left_out > 0 && i + 1 == loaf_.boxes.size();
        const Rect row{plot.x, plot.y + pitch * static_cast<float>(i) + (beyond ? gap : 0), plot.w, h};
        const bool bright = is_highlighted(scene_, b.stage);
        if (bright) c_.rect({room.x, row.y - 2, room.w, row.h + 4}, theme_.raised, 3);
        c_.text_in({room.x, row.y, names, row.h}, "stage " + std::to_string(b.stage),
                   ui_.small(bright ? Tone::text : Tone::secondary));
        ops(row, b.stage, x);
        if (bright) c_.frame(row.inset(-1), theme_.text, 1);
        counts += (counts.empty() ? "" : beyond ? " … " : ", ") + std::to_string(kept_[i].size());
    }
    for (const double tick : round_ticks(x, std::max(2, static_cast<int>(plot.w / 70)))) {
        const float at = x.at(tick);
        const std::string words = tick == 0 ? "0" : pentamesh::time_text(tick);
        c_.line({at, ruler.y}, {at, ruler.y + 3}, theme_.faint);
        const float w = c_.text_width(words, ui_.style(11));
        const float left = std::clamp(at - w / 2, plot.x - 4, room.right() - w - 1);
        c_.text_in({left, ruler.y + 3, w + 2, 15}, words, ui_.style(11, Tone::secondary));
    }
    if (loaf_.shown_s < t_.makespan)
        c_.line({plot.right() + 4, plot.y}, {plot.right() + 4, plot.bottom() - kOpGap}, theme_.faint, 1,
                Dash::dashed);
    const float at = x.at(std::min(now_s_, loaf_.shown_s));
    c_.line({at, label.bottom() - 2}, {at, plot.bottom()}, theme_.window, 5);
    c_.line({at, label.bottom() - 2}, {at, plot.bottom()}, color_, 2.5f);
    const std::string words =
        "now: " + counts + " in flight" + (chunks_of(t_.shape) > 1 ? ", chunk by chunk" : "");
    const TextStyle style = ui_.style(12, Tone::text, Face::semibold);
    const float w = c_.text_width(words, style) + 2;
    c_.text_in({held_between(at - w / 2, room.x, room.right() - w), label.y, w, 18}, words, style);
    const Rect grip{plot.x, label.y, plot.w, plot.bottom() - label.y};
    const Hit hit = ui_.area("shards.now", grip, 0, !ui_.state().for_picture);
    if (hit.hovered) ui_.tooltip("drag: another moment, and what the tiles hold then");
    if (hit.focused) ui_.focus_ring(grip, 3);
    std::optional<double> to;
    if (hit.held || hit.clicked) to = x.value(ui_.frame().mouse.x);
    if (hit.focused && scene_.keys.pressed({Key::right}, true)) to = next_boundary(t_, now_s_);
    if (hit.focused && scene_.keys.pressed({Key::left}, true)) to = previous_boundary(t_, now_s_);
    if (to) {
        state.now_s = std::clamp(*to, 0.0, loaf_.shown_s);
        state.now_of = revision;
        ui_.state().wants_frame = true;
    }
}

}  // namespace

std::optional<PlanEdit> draw_stages(Ui& ui, Rect room, Scene& scene, const Loaf& whole,
                                    StagesPageState& state, std::uint64_t revision, std::int64_t rank) {
    const Evaluation& e = scene.evaluation;
    state.shown.update({revision, first_rank_of_group(e.mesh, GroupKind::pp, rank)}, [&] {
        return StagesShown{
            stage_loaf_of(scene.plan, e, rank, kMostTiles),
            stage_places(scene.plan, e.mesh, shape_of(scene.plan, e.microbatches), e.comm.stages)};
    });
    if (state.now_of != revision) state.now_s = -1;
    StagesPainter painter(ui, scene, *state.shown, state.now_s);
    put_paragraph(ui, room, painter.sentence(), ui.title(), 18, 8);
    std::optional<PlanEdit> edit;
    if (room.w > 600 && room.h > 150) {
        // If tensor parallelism cuts the width, a GPU's front is a part of the whole's.
        const std::int64_t tp = e.groups[GroupKind::tp].degree;
        Rect left = room.cut_left(std::clamp(room.w * 0.36f, 210.0f, 520.0f));
        room.cut_left(16);
        painter.place(room);
        if (const float h = painter.timeline_height(); left.h > h + 170) {
            Rect below = left.cut_bottom(std::min(h, left.h * 0.5f));
            left.cut_bottom(10);
            painter.timeline(below, state, revision);
        }
        edit = draw_whole(ui, left, scene, whole,
                          {.stages = &*state.shown,
                           .highlighted = painter.highlighted(),
                           .scale = tp > 1 ? nullptr : &painter.scale()});
    } else {
        painter.place(room);
    }
    painter.tiles();
    return edit;
}

}  // namespace pentamesh::ui
