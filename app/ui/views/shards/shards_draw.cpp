#include "app/ui/kit/format.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/view.h"
#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/sharding/placement.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

// More pieces than this look the same on a screen.
constexpr std::int64_t kMostPieces = 256;

bool is_mlps_norm(TensorId id) {
    switch (id) {
    case TensorId::norm_mlp:
    case TensorId::norm_mlp_bias:
    case TensorId::norm_mlp_input:
    case TensorId::norm_after_mlp:
    case TensorId::norm_after_mlp_bias:
    case TensorId::norm_after_mlp_input:
    case TensorId::norm_after_dense_mlp:
    case TensorId::norm_after_dense_mlp_bias:
    case TensorId::norm_after_dense_mlp_input: return true;
    default: return false;
    }
}

bool of_attention(const Placement& p) {
    return p.kind == TensorKind::attention || p.kind == TensorKind::mixer
           || (p.kind == TensorKind::norm && !is_mlps_norm(p.id));
}

bool in_block(const Placement& p, const SheetRequest& r) {
    const bool end = p.place == Place::embedding || p.place == Place::head || p.place == Place::mtp;
    if (r.block == Block::ends) return end;
    if (end || p.place == (r.moe ? Place::dense_layer : Place::moe_layer)) return false;
    if (r.block == Block::layer) return true;
    return of_attention(p) == (r.block == Block::attention);
}

// Matrices come before vectors, attention before the MLP; else as listed. Activations are in the order of the
// pass.
int drawing_order(const Sheet& s) {
    const Placement& p = s.placement;
    if (p.state == TensorState::activations) return 0;
    const int block = p.place == Place::mtp             ? 3
                      : p.kind == TensorKind::head      ? 2
                      : p.kind == TensorKind::embedding ? 0
                      : of_attention(p)                 ? 0
                                                        : 1;
    return block * 2 + (s.lying ? 1 : 0);
}

}  // namespace

void make_sheets(const Plan& plan, const Mesh& mesh, const SheetRequest& request, std::vector<Sheet>& out) {
    out.clear();
    if (mesh.world < 1) return;
    const std::vector<Placement> all = list_placements(plan, mesh, request.state, request.moment);
    const bool activations = request.state == TensorState::activations;
    const std::vector<Placement> computing =
        activations ? list_placements(plan, mesh, request.state, Moment::computing)
                    : std::vector<Placement>();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Placement& p = all[i];
        if (p.layers < 1 || !in_block(p, request)) continue;
        if (p.expert && !mesh.has_experts) continue;
        Sheet s;
        s.placement = p;
        if (activations) {
            const auto same = std::find_if(computing.begin(), computing.end(), [&](const Placement& c) {
                return c.id == p.id && c.place == p.place;
            });
            if (same != computing.end()) s.activation = static_cast<int>(same - computing.begin());
        } else {
            s.tensor = static_cast<int>(i);
        }
        s.lying = !activations && p.shape[2] == 1;
        s.expert = p.expert ? std::clamp<std::int64_t>(request.expert, 0, p.shape[0] - 1) : 0;
        s.cuts = cuts_within_layer(mesh, p);
        pieces_of(plan, mesh, p, request.rank, s.expert, true, kMostPieces, s.coarse);
        pieces_of(plan, mesh, p, request.rank, s.expert, false, kMostPieces, s.fine);
        out.push_back(std::move(s));
    }
    light_sheets(plan, mesh, request.rank, out);
    std::stable_sort(out.begin(), out.end(),
                     [](const Sheet& a, const Sheet& b) { return drawing_order(a) < drawing_order(b); });
}

void light_sheets(const Plan& plan, const Mesh& mesh, std::int64_t rank, std::vector<Sheet>& sheets) {
    for (Sheet& s : sheets) {
        s.part = part_of(plan, mesh, s.placement, rank);
        s.highlighted.clear();
        boxes_of(s.placement, s.part, s.expert, s.highlighted);
    }
}

SheetTotals totals_of(const std::vector<Sheet>& sheets) {
    SheetTotals t;
    for (const Sheet& s : sheets) {
        double numbers = 1;
        for (const std::int64_t n : s.placement.shape) numbers *= static_cast<double>(n);
        t.numbers += numbers;
        t.bytes += s.placement.bytes_whole;
        t.numbers_here += static_cast<double>(s.part.numbers);
        t.bytes_here += s.part.bytes;
    }
    return t;
}

std::string sheet_tooltip(const Sheet& s, std::int64_t rank) {
    const Placement& p = s.placement;
    const auto exact = [](double bytes) {
        return memory_text(bytes) + " (" + thousands(static_cast<std::int64_t>(std::llround(bytes)))
               + " bytes)";
    };
    std::string t = std::string(name_of(p.id)) + "  " + shape_words(p);
    for (const Axis a : {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp})
        if (p.on(a).size > 1) t += "\n" + std::string(axis_name(p, a)) + ": " + spread_words(p.on(a));
    t += "\nrank " + thousands(rank) + ": " + part_words(p, s.part);
    t += "\nhere " + exact(s.part.bytes) + "\nwhole " + exact(p.bytes_whole) + ", "
         + trimmed(p.bytes_per_number) + (p.bytes_per_number == 1 ? " byte a number" : " bytes a number");
    if (p.layers > 1) t += "\nin each of " + thousands(p.layers) + " layers";
    return t;
}

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
        const Color ink = look_.highlighted_color.value_or(theme_.text);
        bool copied = false, cut = false, summed = false;
        for (const Axis a : kDrawn) {
            const AxisPlacement& x = p_.on(a);
            if (x.size <= 1) continue;
            copied = copied || x.spread == Spread::copied;
            cut = cut || x.spread == Spread::cut;
            summed = summed || x.spread == Spread::partial;
        }
        for (const IndexBox& b : sheet_.highlighted) {
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
        const Color base = look_.highlighted_color.value_or(color(axis));
        const auto ramp = shades(theme_, color(axis));
        const std::int64_t own = part_of_rank(axis);
        const std::int64_t parts = std::max<std::int64_t>(p_.on(axis).parts, 1);
        if (parts > 16) c_.rect(body_, dim(base, false));  // bands thinner than a pixel are left out
        for (const Piece& piece : t.piece) {
            const std::int64_t i = piece.at[at(axis)];
            const bool mine = i == own && look_.highlighted && here();
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
        if (!look_.highlighted || !here() || sheet_.highlighted.empty()) return;
        const int cuts = sheet_.cuts.count;
        if (cuts == 0) return;
        const Color finest = color(sheet_.cuts.axis[static_cast<std::size_t>(cuts) - 1]);
        for (const IndexBox& b : sheet_.highlighted) {
            Rect r = rect_of(b);
            if (r.w < 2) r = {r.center().x - 1, r.y, 2, r.h};
            if (r.h < 2) r = {r.x, r.center().y - 1, r.w, 2};
            if (cuts > 1 || sheet_.coarse.piece.empty()) c_.rect(r, look_.highlighted_color.value_or(finest));
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
        if (look.highlighted && !aside && e >= own.begin && e < own.end) {
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

namespace {

constexpr float kSheetLine = 17;  // of a label

std::string not_to_scale(double bytes) {
    return "not to scale, " + memory_text(bytes) + " in all:";
}

bool selected(const Scene& scene, const Sheet& s) {
    if (scene.selection.topic != Selection::Topic::tensor) return false;
    return s.tensor >= 0 ? scene.selection.tensor == s.tensor && scene.selection.activation < 0
                         : scene.selection.activation == s.activation;
}

void one_sheet(Ui& ui, const SheetPlace& place, Rect room, Scene& scene, ShardsViewState& s, std::size_t i,
               const SheetLook& look) {
    Canvas& c = ui.canvas();
    const Sheet& sheet = s.drawn->sheets[i];
    const auto moved = [&](const Rect& r) { return Rect{room.x + r.x, room.y + r.y, r.w, r.h}; };
    const Rect slot = moved(place.slot), body = moved(place.body);
    const Hit hit = ui.area("shards.tensor", slot, i);
    const bool chosen = selected(scene, sheet);
    draw_sheet(c, ui.theme(), body, sheet, look);
    if (place.to_scale && place.label.h > 0) draw_rulers(ui, body, sheet, look);
    if (chosen || hit.hovered)
        c.frame(body.inset(-2), chosen ? ui.theme().text : ui.theme().secondary, chosen ? 2.0f : 1.0f, 2);
    if (hit.focused) ui.focus_ring(slot, 3);
    if (hit.hovered) {
        const Explanation e =
            explain_tensor(scene.plan, scene.evaluation.mesh, sheet.placement, s.drawn->of.rank);
        ui.tooltip(sheet_tooltip(sheet, s.drawn->of.rank) + "\n" + e.formula + "\n= " + e.substituted);
    }
    if (hit.clicked) {
        scene.selection.topic = chosen ? Selection::Topic::none : Selection::Topic::tensor;
        scene.selection.tensor = chosen ? -1 : sheet.tensor;
        scene.selection.activation = chosen ? -1 : sheet.activation;
        scene.selection.tensor_state = s.state;
    }
    if (place.label.h <= 0) return;
    Rect label = moved(place.label);
    Rect line = place.to_scale ? label.cut_top(kSheetLine) : label;
    const std::string_view name = name_of(sheet.placement.id);
    const TextStyle style = ui.small(sheet.part.held ? Tone::text : Tone::secondary);
    c.text_in({line.x, line.y, line.w + 2, line.h - 2}, name, style);
    if (!place.to_scale) return;
    line.cut_left(c.text_width(name, style) + 10);
    const std::string bytes = memory_text(drawn_bytes(sheet)) + (shows_one_expert(sheet) ? " each" : "");
    for (const std::string& words : {bytes, shape_words(sheet.placement)}) {
        const float w = c.text_width(words, ui.small());
        if (w > line.w) break;
        c.text_in({line.x, line.y, line.w + 2, line.h - 2}, words, ui.small());
        line.cut_left(w + 10);
    }
    if (label.h > 0) draw_cutters(ui, {label.x, label.y - 2, label.w, label.h}, sheet);
}

// Says below the tensors what the rank holds in all: a bar of its categories.
void draw_held(Ui& ui, Rect room, const Scene& scene, const ShardsViewState& s) {
    const Memory& m = scene.evaluation.memory;
    const auto pp = static_cast<std::size_t>(Axis::pp);
    const auto stage =
        static_cast<std::size_t>(dense_coordinates(scene.evaluation.mesh, s.drawn->of.rank)[pp]);
    if (stage >= m.stage.size()) return;
    const StageMemory& held = m.stage[stage];
    Canvas& c = ui.canvas();
    Rect bar = room.cut_top(room.h / 2);
    const std::string head =
        "rank " + thousands(s.drawn->of.rank) + " holds " + memory_text(held.total()) + " in all";
    const float head_w = c.text_width(head, ui.small(Tone::text)) + 14;
    c.text_in(bar.cut_left(head_w), head, ui.small(Tone::text));
    room.cut_left(head_w);
    bar = bar.inset(0, (bar.h - 10) / 2);
    for (int i = 0; i < kMemoryCategoryCount; ++i) {
        const auto category = static_cast<MemoryCategory>(i);
        const auto at = static_cast<std::size_t>(i);
        const double bytes = bytes_of(held, category);
        const auto part = static_cast<float>(held.total() > 0 ? bytes / held.total() : 0);
        swatch(ui, {bar.x, bar.y, std::max(0.0f, bar.w * part - 1), bar.h}, at, 1);
        bar.x += bar.w * part;
        const std::string words = std::string(name_of(category)) + " " + memory_text(bytes);
        const TextStyle style =
            ui.small(name_of(category) == name_of(s.state) ? Tone::text : Tone::secondary);
        const float w = c.text_width(words, style);
        if (bytes <= 0 || room.w < w + 15) continue;
        swatch(ui, {room.x, room.center().y - 5, 10, 10}, at, 1);
        c.text_in({room.x + 15, room.y, w + 2, room.h}, words, style);
        room.cut_left(w + 33);
    }
}

const PackedSheets& packed(Ui& ui, Vec2 room, const Scene& scene, ShardsViewState& s) {
    SheetRequest tensors = s.drawn->of;  // their places are the same for every rank
    tensors.rank = 0;
    return s.packed.get({s.drawn.key()->first, tensors, room}, [&] {
        PackedWords words;
        for (const Sheet& x : s.drawn->sheets)
            words.name.push_back(ui.canvas().text_width(name_of(x.placement.id), ui.small()) + 2);
        words.said = ui.canvas().text_width(not_to_scale(88.8 * 1024 * 1024), ui.small()) + 2;
        constexpr auto axes = all_of<Axis>();
        const bool alone = std::all_of(axes.begin(), axes.end(), [&](Axis a) {
            return a == Axis::pp || axis_size(scene.evaluation.mesh, a) <= 1;
        });
        words.second_line = room.y > 320 && !alone;
        PackedSheets out = pack_sheets(s.drawn->sheets, room, words);
        if (out.place.empty()) out = pack_sheets(s.drawn->sheets, room, {});  // without names: on hover
        return out;
    });
}

}  // namespace

std::optional<PlanEdit> draw_sheets(Ui& ui, Rect room, Scene& scene, ShardsViewState& s) {
    constexpr float kHeldHeight = 38, kTallPane = 420;
    std::optional<PlanEdit> edit;
    SheetLook look;
    look.isolate = s.isolate;
    look.dense = dense_coordinates(scene.evaluation.mesh, s.drawn->of.rank);
    look.expert = expert_coordinates(scene.evaluation.mesh, s.drawn->of.rank);
    if (room.h > kTallPane) {
        draw_held(ui, room.cut_bottom(kHeldHeight), scene, s);
        room.cut_bottom(8);
    }
    const auto expert = std::find_if(s.drawn->sheets.begin(), s.drawn->sheets.end(), [](const Sheet& x) {
        return x.placement.expert && x.placement.dims[0] == Dim::experts;
    });
    // In a low pane the map has its own block.
    const bool roomy = room.h > 280 || s.block == Block::mlp || s.isolate == static_cast<int>(Axis::ep);
    if (expert != s.drawn->sheets.end() && room.w > 320 && roomy) {
        const float share = s.block == Block::mlp ? 0.5f : 0.36f;
        Rect map = room.cut_right(std::clamp(room.w * share, 150.0f, 620.0f));
        room.cut_right(20);
        edit = draw_expert_map(ui, map, scene, s, *expert, look);
    }
    const Rect inner{room.x + 2, room.y + 2, room.w - 4, room.h - 4};
    const PackedSheets& all = packed(ui, {inner.w, inner.h}, scene, s);
    if (all.place.empty()) {
        ui.canvas().text_in(room, "Too little room: a digit fills the window with this view.", ui.small(),
                            Align::center);
        return edit;
    }
    for (std::size_t i = 0; i < all.place.size(); ++i) one_sheet(ui, all.place[i], inner, scene, s, i, look);
    if (all.said.h > 0) {
        double small = 0;
        for (std::size_t i = 0; i < all.place.size(); ++i)
            if (!all.place[i].to_scale) small += drawn_bytes(s.drawn->sheets[i]);
        ui.label({inner.x + all.said.x, inner.y + all.said.y, all.said.w, all.said.h - 2},
                 not_to_scale(small), ui.small());
    }
    return edit;
}

namespace {

constexpr std::string_view kPointer = "/training/router_imbalance", kImbalance = "shards.imbalance";
constexpr double kMostLoad = 64, kLoadStep = 0.25;
constexpr float kLoadPixels = 24;  // of a drag that adds one mean load

std::optional<PlanEdit> set_load(const Scene& scene, ExpertLoads& loads, std::int64_t expert, double to,
                                 std::int64_t experts, std::int64_t parts, std::string merge_key = {}) {
    to = std::clamp(to, 0.0, kMostLoad);
    if (loads.load.empty()) loads.load.assign(static_cast<std::size_t>(experts), 1.0);
    double& load = loads.load[static_cast<std::size_t>(expert)];
    if (load == to) return std::nullopt;
    load = to;
    loads.imbalance = imbalance_of(loads.load, parts);
    if (loads.imbalance == scene.plan.training.router_imbalance) return std::nullopt;
    return imbalance_edit(scene, loads.imbalance, std::move(merge_key));
}

// Draws "busiest rank [- 1.25 x +] even".
std::optional<PlanEdit> imbalance_row(Ui& ui, Rect row, const Scene& scene, ExpertLoads& loads) {
    Canvas& c = ui.canvas();
    const double now = scene.plan.training.router_imbalance;
    const std::string shown = trimmed(now) + " ×";
    if (ui.state().for_picture) {
        ui.label(row, now > 1 ? "busiest ep rank " + shown + " the mean" : "as many tokens for each ep rank",
                 ui.small());
        return std::nullopt;
    }
    std::optional<PlanEdit> edit;
    constexpr float kControls = 160;
    for (const std::string_view words : {"busiest ep rank, of the mean", "imbalance"}) {
        const float w = c.text_width(words, ui.small()) + 10;
        if (row.w < w + kControls) continue;
        c.text_in(row.cut_left(w), words, ui.small());
        break;
    }
    const Rect box = row.cut_left(std::min(92.0f, row.w));
    if (ui.hovers(box) && !loads.numbers.types())
        ui.tooltip(
            "load of the busiest expert rank over the mean\nclick to type it; drag an expert up or down "
            "to say who is busy");
    const FieldRange range = range_of(kPointer).value_or(FieldRange{});
    const auto refuse = [&](double value) {
        return range.allows(value) ? "" : "is refused: it must be " + range_text(range) + ".";
    };
    const NumberEdit number = number_box(ui, box,
                                         {.name = kImbalance,
                                          .shown = shown,
                                          .typed = trimmed(now),
                                          .can_down = now > 1,
                                          .can_up = now<range.most, .on = now> 1,
                                          .sign = "×",
                                          .refuse = refuse},
                                         loads.numbers);
    if (number.typed || number.by != 0) {
        loads.load.clear();
        edit = imbalance_edit(scene, number.typed ? *number.typed : stepped_imbalance(now, number.by));
    }
    if (number.typed || loads.numbers.types()) return edit;
    row.cut_left(8);
    const bool uneven = now > 1 || !loads.load.empty();
    if (row.w >= 48 && ui.button("shards.even", row.cut_left(48), "even", 0, uneven)) {
        loads.load.clear();
        if (now > 1) edit = imbalance_edit(scene, 1);
    }
    return edit;
}

std::string expert_tooltip(const ExpertLoads& loads, const AxisPlacement& ep, std::int64_t experts,
                           std::int64_t expert, bool shown) {
    const std::int64_t owner = ep.parts > 1 ? owner_of_expert(experts, ep.size, expert) : 0;
    std::string t = "expert " + thousands(expert);
    if (ep.parts > 1) {
        const auto [first, end] = experts_of(experts, ep.size, owner);
        t += "\non ep rank " + thousands(owner) + " of " + thousands(ep.parts);
        t += end - first == 1 ? std::string(", which has no other expert")
                              : ", with experts " + thousands(first) + " – " + thousands(end - 1);
    } else {
        t += "\non every rank";
    }
    if (!loads.load.empty()) {
        double mean = 0;
        for (const double l : loads.load) mean += l / static_cast<double>(loads.load.size());
        const double own = loads.load[static_cast<std::size_t>(expert)];
        t += "\ngets " + trimmed(mean > 0 ? own / mean : 0) + " × the mean expert's tokens";
    }
    t += shown ? "\nits matrices are drawn" : "\nclick to draw its matrices";
    return t + (ep.parts > 1 ? "\ndrag up or down to give it more or fewer tokens" : "");
}

// Returns "256 experts, 32 to each of 8 ep ranks: 96 % of the bytes".
std::string experts_words(const Sheet& sheet, const std::vector<Sheet>& sheets) {
    const AxisPlacement& ep = sheet.placement.on(Axis::ep);
    std::string out = thousands(sheet.placement.shape[0]) + " experts";
    out += ep.parts > 1 ? ", " + thousands(sheet.placement.local[0]) + " to each of " + thousands(ep.parts)
                              + " ep ranks"
                        : ", all on every rank";
    double all = 0, of_experts = 0;
    for (const Sheet& x : sheets) {
        all += x.placement.bytes_whole;
        if (x.placement.expert) of_experts += x.placement.bytes_whole;
    }
    if (of_experts > 0 && of_experts < all) out += ": " + percent(of_experts / all) + " of the bytes";
    return out;
}

double load_of(const ExpertLoads& loads, std::int64_t expert) {
    return loads.load.empty() ? 1.0 : loads.load[static_cast<std::size_t>(expert)];
}

// Drags the load of the expert that was pressed up or down.
std::optional<PlanEdit> drag_load(Ui& ui, const Hit& hit, std::int64_t under, const Scene& scene,
                                  ExpertLoads& loads, std::int64_t experts, std::int64_t parts) {
    if (!hit.held) loads.dragged = -1;
    if (!hit.held || parts <= 1) return std::nullopt;
    if (loads.dragged < 0 && under >= 0) loads.dragged = under, loads.drag_from = load_of(loads, under);
    if (loads.dragged < 0) return std::nullopt;
    const double by = std::abs(hit.drag.y) < 4 ? 0 : -hit.drag.y / kLoadPixels;
    const double to = std::round((loads.drag_from + by) / kLoadStep) * kLoadStep;
    std::optional<PlanEdit> edit;
    if (by != 0 || load_of(loads, loads.dragged) != loads.drag_from)
        edit = set_load(scene, loads, loads.dragged, to, experts, parts, "expert-load");
    if (by != 0)
        ui.tooltip("expert " + thousands(loads.dragged) + ": load " + trimmed(load_of(loads, loads.dragged))
                   + "\nbusiest rank " + trimmed(loads.imbalance) + " × the mean");
    return edit;
}

}  // namespace

PlanEdit imbalance_edit(const Scene& scene, double to, std::string merge_key) {
    PlanEdit edit{scene.plan, "router imbalance " + trimmed(to), std::move(merge_key)};
    edit.plan.training.router_imbalance = to;
    return edit;
}

double stepped_imbalance(double now, int by) {
    constexpr double kStepsOfOne = 20;
    return std::max(1.0, std::round(now * kStepsOfOne + by) / kStepsOfOne);
}

bool loads_hold(const Scene& scene, const ExpertLoads& loads, std::int64_t experts) {
    return static_cast<std::int64_t>(loads.load.size()) == experts
           && std::abs(scene.plan.training.router_imbalance - loads.imbalance) <= 1e-9;
}

std::optional<PlanEdit> draw_expert_map(Ui& ui, Rect room, const Scene& scene, ShardsViewState& s,
                                        const Sheet& sheet, const SheetLook& look) {
    const AxisPlacement& ep = sheet.placement.on(Axis::ep);
    const std::int64_t experts = sheet.placement.shape[0];
    ExpertLoads& loads = s.loads;
    if (!loads_hold(scene, loads, experts)) loads.load.clear();
    ui.label(room.cut_top(17), experts_words(sheet, s.drawn->sheets), ui.small(Tone::text));
    std::optional<PlanEdit> edit;
    if (ep.parts > 1 && room.h > 110) {
        edit = imbalance_row(ui, room.cut_top(24).inset(0, 1), scene, loads);
        room.cut_top(5);
    }
    number_message(ui, room, kImbalance, loads.numbers);
    if (edit) loads.numbers.forget_refusal();
    const Hit hit = ui.area("shards.experts", room);
    const std::int64_t shown = s.drawn->of.expert;
    const std::int64_t under = draw_experts(ui, room, sheet, look, shown, loads.load);
    if (hit.focused) ui.focus_ring(room, 3);
    const std::int64_t parts = ep.parts > 1 ? ep.size : 1;
    if (auto e = drag_load(ui, hit, under, scene, loads, experts, parts)) edit = std::move(e);
    const bool dragged = std::abs((ui.frame().mouse - ui.state().press).y) >= 4;
    if (hit.hovered && under >= 0 && !hit.held) {
        ui.tooltip(expert_tooltip(loads, ep, experts, under, under == shown));
        if (hit.clicked && !dragged) s.expert = under;
    }
    if (hit.focused && pressed({Key::right}, true)) s.expert = std::min(shown + 1, experts - 1);
    if (hit.focused && pressed({Key::left}, true)) s.expert = std::max<std::int64_t>(shown - 1, 0);
    const int more = hit.focused && parts > 1 ? (pressed({Key::up}, true)     ? 1
                                                 : pressed({Key::down}, true) ? -1
                                                                              : 0)
                                              : 0;
    if (more != 0)
        if (auto e = set_load(scene, loads, shown, load_of(loads, shown) + more * kLoadStep, experts, parts))
            edit = std::move(e);
    return edit;
}

}  // namespace pentamesh::ui
