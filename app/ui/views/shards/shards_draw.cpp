#include "app/ui/views/shards/shards_sheets.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostExperts = 4096;
constexpr float kFinest = 2.5f;  // lines closer than this are not drawn one by one
constexpr std::array kDrawn{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};

std::size_t at(Axis a) {
    return static_cast<std::size_t>(a);
}

class SheetPainter {
  public:
    SheetPainter(Canvas& c, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look)
        : c_(c), theme_(theme), body_(body), sheet_(sheet), p_(sheet.placement), look_(look) {}

    void run() {
        const Canvas::Clip clip = c_.clip(body_.inset(-3));
        if (look_.only_own)
            own_only();
        else if (look_.isolate >= 0)
            isolated(static_cast<Axis>(look_.isolate));
        else
            together();
    }

  private:
    [[nodiscard]] Color color(Axis a) const { return color_of(theme_, p_, a); }
    [[nodiscard]] std::int64_t part_of_rank(Axis a) const {
        return part_index(p_.on(a), (p_.expert ? look_.expert : look_.dense)[at(a)]);
    }
    [[nodiscard]] Rect rect_of(const IndexBox& b) const {
        const auto rows = static_cast<double>(std::max<std::int64_t>(p_.shape[1], 1));
        const auto cols = static_cast<double>(std::max<std::int64_t>(p_.shape[2], 1));
        const auto part = [](std::int64_t i, double n, float length) {
            return static_cast<float>(static_cast<double>(i) / n * length);
        };
        const float x0 = part(b.columns.begin, cols, sheet_.lying ? body_.h : body_.w);
        const float x1 = part(b.columns.end, cols, sheet_.lying ? body_.h : body_.w);
        const float y0 = part(b.rows.begin, rows, sheet_.lying ? body_.w : body_.h);
        const float y1 = part(b.rows.end, rows, sheet_.lying ? body_.w : body_.h);
        if (sheet_.lying) return {body_.x + y0, body_.y + x0, y1 - y0, x1 - x0};
        return {body_.x + x0, body_.y + y0, x1 - x0, y1 - y0};
    }
    [[nodiscard]] Color dim(Color base, bool odd) const { return pale(theme_, base, odd); }

    // Draws all axes: bands of the coarsest cut, the rank's band bright, the finer cuts as lines, its part
    // outlined.
    void together() {
        if (sheet_.cuts.count == 0)
            whole();
        else if (sheet_.coarse.piece.empty())
            c_.rect(body_, dim(color(sheet_.cuts.axis[0]), false));  // finer than can be drawn
        else
            bands(sheet_.coarse, sheet_.cuts.axis[0], false);
        lines(sheet_.fine.piece.empty() ? sheet_.coarse : sheet_.fine, -1);
        partial();
        own_part();
    }

    // Draws the part of one GPU: solid where it is its share of a cut, hatched where others have the same.
    void own_only() {
        c_.rect(body_, mix(theme_.window, theme_.secondary, 0.16f));
        if (!here()) return;
        const Color ink = look_.lit_color.value_or(theme_.text);
        bool copied = false, cut = false, summed = false;
        for (const Axis a : kDrawn) {
            const AxisPlacement& x = p_.on(a);
            if (x.size <= 1) continue;
            copied = copied || x.spread == Spread::copied;
            cut = cut || x.spread == Spread::cut;
            summed = summed || x.spread == Spread::partial;
        }
        for (const IndexBox& b : sheet_.lit) {
            Rect r = rect_of(b);
            r.w = std::max(r.w, 1.5f);
            r.h = std::max(r.h, 1.5f);
            if (cut || !copied)
                c_.rect(r, ink);
            else
                c_.pattern(r, Pattern::hatched, ink, mix(theme_.window, ink, 0.12f));
            if (summed) c_.pattern(r, Pattern::dotted, theme_.text);
        }
    }

    // Draws one axis: its holders in their shades, even where other axes cut.
    void isolated(Axis axis) {
        const AxisPlacement& x = p_.on(axis);
        if (x.size <= 1) {
            c_.rect(body_, dim(theme_.secondary, true));
            return;
        }
        if (x.spread == Spread::cut) {
            const TensorPieces& t = sheet_.coarse.by[at(axis)] ? sheet_.coarse : sheet_.fine;
            if (t.by[at(axis)] && !t.piece.empty()) {
                bands(t, axis, true);
                lines(t, static_cast<int>(axis));
            } else if (cuts_inside(axis)) {  // finer than can be drawn
                c_.rect(body_, dim(color(axis), false));
                own_part();
            } else {  // layers, the batch, experts: a layer's tensor is whole
                c_.rect(body_, mix(theme_.window, color(axis), 0.7f));
            }
            return;
        }
        const bool copied = x.spread == Spread::copied;
        c_.pattern(body_, copied ? Pattern::hatched : Pattern::dotted, color(axis),
                   mix(theme_.window, color(axis), 0.12f));
    }

    [[nodiscard]] bool cuts_inside(Axis axis) const {
        const auto* end = sheet_.cuts.axis.data() + sheet_.cuts.count;
        return std::find(sheet_.cuts.axis.data(), end, axis) != end;
    }

    // No axis cuts it inside the layer: it is hatched in the colour of the axis that has copies.
    void whole() {
        for (const Axis a : kDrawn) {
            const AxisPlacement& x = p_.on(a);
            if (x.size <= 1 || x.spread == Spread::cut) continue;
            if (x.spread == Spread::copied)
                c_.pattern(body_, Pattern::hatched, color(a).alpha(here() ? 1.0f : 0.55f),
                           mix(theme_.window, color(a), 0.1f));
            else
                c_.rect(body_, dim(color(a), false));
            return;
        }
        for (const Axis a : kDrawn)
            if (p_.on(a).size > 1) {  // only layers or the batch are cut: whole here, solid
                c_.rect(body_, here() ? mix(theme_.window, color(a), 0.65f) : dim(color(a), true));
                return;
            }
        c_.rect(body_, mix(theme_.window, theme_.secondary, 0.55f));
    }

    [[nodiscard]] bool here() const { return sheet_.part.held; }

    void bands(const TensorPieces& t, Axis axis, bool shaded) {
        const Color base = look_.lit_color.value_or(color(axis));
        const auto ramp = shades(theme_, color(axis));
        const std::int64_t own = part_of_rank(axis);
        const std::int64_t parts = std::max<std::int64_t>(p_.on(axis).parts, 1);
        if (parts > 16) c_.rect(body_, dim(base, false));  // bands thinner than a pixel are left out
        for (const Piece& piece : t.piece) {
            const std::int64_t i = piece.at[at(axis)];
            const bool mine = i == own && look_.lit && here();
            const Color fill = shaded ? ramp[i % kShadeCount].alpha(mine ? 1.0f : 0.75f)
                               : mine ? base
                                      : dim(base, i % 2 == 1);
            for (int b = piece.first; b < piece.end; ++b) {
                Rect r = rect_of(t.box[b]);
                if (!mine && std::min(r.w, r.h) < 0.5f) continue;
                c_.rect(r, fill);
                if (shaded && mine) c_.frame(r, theme_.text, 1);
            }
        }
    }

    // Draws cut lines in the colours of their axes; those too close together are left out.
    void lines(const TensorPieces& t, int only) {
        std::array<std::array<int, 2>, kAxisCount> count{};
        const CutLine* last = nullptr;
        for (const CutLine& l : t.line) {  // sorted by direction, axis, place
            const bool again = last != nullptr && last->horizontal == l.horizontal && last->axis == l.axis
                               && last->at == l.at;
            if (!again) ++count[at(l.axis)][l.horizontal ? 1 : 0];
            last = &l;
        }
        for (const CutLine& l : t.line) {
            if (only >= 0 && static_cast<int>(l.axis) != only) continue;
            const bool across = l.horizontal != sheet_.lying;
            const float spacing = (across ? body_.h : body_.w)
                                  / static_cast<float>(count[at(l.axis)][l.horizontal ? 1 : 0] + 1);
            if (spacing < kFinest) continue;
            const IndexBox b = l.horizontal ? IndexBox{{l.at, l.at}, {l.from, l.to}}
                                            : IndexBox{{l.from, l.to}, {l.at, l.at}};
            const Rect r = rect_of(b);
            const float strong = std::clamp((spacing - 1) / 8, 0.25f, 1.0f);
            // On its own bright band a line in the same colour would vanish: the ground shows through.
            const Color ink = only >= 0 ? theme_.window : mix(color(l.axis), theme_.window, 0.15f);
            c_.line({r.x, r.y}, {r.right(), r.bottom()}, ink.alpha(strong));
        }
    }

    void partial() {
        for (const Axis a : kDrawn)
            if (p_.on(a).spread == Spread::partial && p_.on(a).size > 1) {
                c_.pattern(body_, Pattern::dotted, mix(color(a), theme_.text, 0.25f));
                return;
            }
    }

    // Draws the rank's part: in the colour of the finest cut, outlined, wide enough to be seen.
    void own_part() {
        if (!look_.lit || !here() || sheet_.lit.empty()) return;
        const int cuts = sheet_.cuts.count;
        if (cuts == 0) return;
        const Color finest = color(sheet_.cuts.axis[static_cast<std::size_t>(cuts) - 1]);
        for (const IndexBox& b : sheet_.lit) {
            Rect r = rect_of(b);
            if (r.w < 2) r = {r.center().x - 1, r.y, 2, r.h};
            if (r.h < 2) r = {r.x, r.center().y - 1, r.w, 2};
            if (cuts > 1 || sheet_.coarse.piece.empty()) c_.rect(r, look_.lit_color.value_or(finest));
            c_.frame(r.inset(-0.5f), theme_.text, 1.25f);
        }
    }
    Canvas& c_;
    const Theme& theme_;
    Rect body_;
    const Sheet& sheet_;
    const Placement& p_;
    const SheetLook& look_;
};

}  // namespace

Color color_of(const Theme& theme, const Placement& p, Axis axis) {
    return p.expert && axis == Axis::tp ? theme.etp : theme.axis[at(axis)];
}

void fill_spread(Canvas& c, const Theme& theme, Rect box, Spread spread, Color color) {
    if (spread == Spread::cut)
        c.rect(box, color, 1);
    else
        c.pattern(box, spread == Spread::copied ? Pattern::hatched : Pattern::dotted, color,
                  mix(theme.window, color, 0.15f));
}

Color pale(const Theme& theme, Color base, bool odd) {
    const bool light = theme.id == ThemeId::light;
    return mix(theme.window, base, odd ? (light ? 0.22f : 0.24f) : (light ? 0.36f : 0.38f));
}

void draw_sheet(Canvas& canvas, const Theme& theme, Rect body, const Sheet& sheet, const SheetLook& look) {
    SheetPainter(canvas, theme, body, sheet, look).run();
}

float draw_marks(Canvas& c, const Theme& theme, Vec2 at_, const Placement& p, bool draw) {
    constexpr float kSize = 9, kStep = 12;
    float x = 0;
    for (const Axis a : kDrawn) {
        const AxisPlacement& on = p.on(a);
        if (on.size <= 1) continue;
        const Rect r{at_.x + x, at_.y, kSize, kSize};
        const Color color = color_of(theme, p, a);
        if (draw) fill_spread(c, theme, r, on.spread, color);
        if (draw && on.spread != Spread::cut) c.frame(r, color.alpha(0.7f), 1);
        x += kStep;
    }
    return x;
}

namespace {

// Returns the number of columns that leaves most room for a number in a cell; `together` experts are in one
// row.
std::int64_t columns_of_experts(Rect room, std::int64_t experts, std::int64_t together) {
    std::int64_t columns = together;
    float best = 0;
    for (std::int64_t n = together; n <= experts && n <= 256; n += together) {
        const std::int64_t lines = (experts + n - 1) / n;
        const float w = room.w / static_cast<float>(n), h = room.h / static_cast<float>(lines);
        const float fit = std::min(w, h * 1.5f);
        if (fit > best) best = fit, columns = n;
    }
    return columns;
}

// Holds how the cell of an expert looks.
struct ExpertCell {
    bool dealt = false, apart = false;  // over ep; that axis is shown by itself
    double share = 0;                   // that the selected rank has
    Color base{}, shade{}, rest{};      // of the axis; of its owner; of experts that are elsewhere
    double load = -1;                   // of the largest; < 0: loads are not shown
    bool chosen = false;
};

void draw_expert(Ui& ui, Rect box, bool numbered, std::int64_t expert, const ExpertCell& cell) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const bool mine = cell.share > 0;
    if (!cell.dealt) {
        c.pattern(box, Pattern::hatched, cell.base, mix(theme.window, cell.base, 0.12f));
    } else if (mine && cell.share < 1) {
        c.rect(box, cell.rest);
        c.rect({box.x, box.y, box.w, static_cast<float>(cell.share) * box.h}, cell.shade);
    } else {
        c.rect(box, cell.apart || mine ? cell.shade : cell.rest);
    }
    if (mine && cell.dealt) c.frame(box, theme.text, 1.25f);
    Rect text = box;  // room left by a bar
    if (cell.load >= 0) {
        const Rect track = text.cut_bottom(std::clamp(box.h * 0.2f, 2.0f, 5.0f));
        c.rect(track, theme.window);
        c.rect({track.x, track.y, static_cast<float>(cell.load) * track.w, track.h}, theme.text);
    }
    if (cell.chosen) c.frame(box.inset(-1), theme.text, 2.5f);
    if (!numbered || text.h < 11.5f) return;
    TextStyle s = ui.style(11);
    const Color fill = cell.apart || cell.share >= 0.5 ? cell.shade : cell.rest;
    s.color = ink_on(cell.dealt ? fill : theme.window);
    c.text_in(text, std::to_string(expert), s, Align::center);
}

}  // namespace

std::int64_t draw_experts(Ui& ui, Rect room, const Sheet& sheet, const SheetLook& look, std::int64_t shown,
                          const std::vector<double>& loads) {
    const double most = loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
    const Placement& p = sheet.placement;
    const std::int64_t experts = p.shape[0];
    const AxisPlacement& ep = p.on(Axis::ep);
    const bool dealt = ep.spread == Spread::cut && ep.parts > 1;
    if (experts < 1 || room.w < 24 || room.h < 16) return -1;
    if (experts > kMostExperts) {
        ui.canvas().text_in(room, "more experts than can be told apart", ui.small(), Align::center);
        return -1;
    }
    const std::int64_t together = dealt && p.local[0] <= 32 ? p.local[0] : 1;  // a rank's are in one row
    const std::int64_t columns = columns_of_experts(room, experts, together);
    const std::int64_t rows = (experts + columns - 1) / columns;
    const float w = std::min(room.w / static_cast<float>(columns), 44.0f),
                h = std::min(room.h / static_cast<float>(rows), 30.0f);
    const Theme& theme = ui.theme();
    const bool apart = look.isolate == static_cast<int>(Axis::ep), aside = look.isolate >= 0 && !apart;
    const Color base = dealt && !aside ? theme.axis[at(Axis::ep)] : theme.secondary;
    const auto ramp = shades(theme, base);
    const Range own = sheet.part.held ? sheet.part.box[0] : Range{};
    std::int64_t under = -1;
    std::vector<IndexBox> boxes;
    for (std::int64_t e = 0; e < experts; ++e) {
        const std::int64_t row = e / columns, column = e % columns;
        const Rect cell{room.x + static_cast<float>(column) * w, room.y + static_cast<float>(row) * h, w, h};
        const std::int64_t owner = dealt ? owner_of_expert(experts, ep.size, e) : 0;
        ExpertCell drawn{.dealt = dealt,
                         .apart = apart,
                         .base = base,
                         .shade = apart ? ramp[owner % kShadeCount] : base,
                         .rest = mix(theme.window, base, owner % 2 == 1 ? 0.26f : 0.42f),
                         .chosen = e == shown};
        // A flat cut may leave the rank some of its experts, or a part of one.
        if (look.lit && !aside && e >= own.begin && e < own.end) {
            boxes.clear();
            boxes_of(p, sheet.part, e, boxes);
            drawn.share = share_of(p, boxes);
        }
        if (most > 0 && static_cast<std::size_t>(e) < loads.size()) drawn.load = loads[e] / most;
        draw_expert(ui, w > 6 && h > 6 ? cell.inset(0.75f) : cell, w >= 22, e, drawn);
        if (cell.contains(ui.frame().mouse)) under = e;
    }
    return under;
}

}  // namespace pentamesh::ui
