#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/compare/view.h"
#include "core/mesh/places.h"
#include "core/sharding/copies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostPieces = 64, kMostWired = 16;
constexpr float kNodePad = 16, kNodeGap = 26, kMostCardGap = 20;

// Which piece of a weight a rank has: its place among the pieces, across by the innermost axis that cuts it.
struct Piece {
    std::int64_t across = 0, down = 0, of_across = 1, of_down = 1;
    bool copied = false;  // another rank before it has the same

    // Returns its share of the weight, as a part of a square.
    [[nodiscard]] std::array<double, 4> share() const {
        const auto w = static_cast<double>(of_across), h = static_cast<double>(of_down);
        return {static_cast<double>(across) / w, static_cast<double>(down) / h, 1 / w, 1 / h};
    }
};

// A piece as it is drawn: after an edit it comes from where it lay, or takes another share of the weight.
struct DrawnPiece {
    std::array<double, 4> share{};
    std::optional<std::array<double, 4>> was;  // the rank's share before; nullopt: the same
    std::int64_t from = -1;                    // the rank that had the piece before; -1: the same
    float left = 0;                            // of the way from there
};

bool copied_along(const GroupFactors& over, const MeshAxis& axis) {
    return std::ranges::any_of(over.span(), [&](const Factor& f) {
        return axis.stride() >= f.stride && axis.stride() < f.stride * f.size;
    });
}

Piece piece_of(const MeshAxes& axes, const GroupFactors& over, std::int64_t rank) {
    Piece p;
    bool first = true;
    for (const MeshAxis& a : axes.span()) {
        const std::int64_t at = a.place_of(rank);
        if (copied_along(over, a)) {
            p.copied = p.copied || at > 0;
        } else if (first) {
            p.across = at, p.of_across = a.degree, first = false;
        } else {
            p.down += at * p.of_down, p.of_down *= a.degree;
        }
    }
    return p;
}

// Returns which weights a rank keeps the same of as others.
const GroupFactors& copied_in(const ParameterCopies& over, bool experts) {
    return experts ? over.experts : over.dense;
}

// Finds where pieces lay before the last edit, or in A. Those of equal factors are known by their
// coordinates; where factors changed, a rank keeps its place and its share changes.
class PiecesBefore {
  public:
    PiecesBefore(Ui& ui, const RibbonSide& side) : ui_(ui), side_(side), now_(side.evaluation.mesh) {
        for (const Factor& f : side.factors(now_))
            sizes_ = sizes_ * 8191 + static_cast<std::uint64_t>(f.size);
        if (side.before != nullptr) {
            const KeptPlan& a = *side.before;
            axes_ = axes_of(ui.theme(), *a.plan, *a.evaluation, side.experts);
            over_ = parameter_copies_of(*a.plan, a.evaluation->mesh);
        }
        if (!side.open) return;
        constexpr std::uint64_t kWhole = (std::uint64_t{1} << 52) - 1;  // a double holds it
        (void)ui.glide("fold.sizes", static_cast<double>(sizes_ & kWhole), side.experts ? 1 : 0);
        resized_ = ui.before("fold.sizes", side.experts ? 1 : 0).has_value();
    }
    [[nodiscard]] DrawnPiece of(std::int64_t rank, const Piece& piece) const {
        DrawnPiece out{piece.share(), {}, -1, 0};
        if (side_.open) glide(out, rank);
        if (side_.before == nullptr) return out;
        const Mesh& a = side_.before->evaluation->mesh;
        out.from = rank_in(a, rank);
        if (out.from >= 0) return out.from == rank ? out.from = -1, out : out;
        const auto was = piece_of(axes_, copied_in(over_, side_.experts), rank).share();
        if (was != piece.share()) out.was = was;
        return out;
    }

  private:
    Ui& ui_;
    const RibbonSide& side_;
    const Mesh& now_;
    MeshAxes axes_;         // A's
    ParameterCopies over_;  // A's
    std::uint64_t sizes_ = 0;
    bool resized_ = false;  // the last edit changed a factor

    [[nodiscard]] Coordinates coordinates(std::int64_t rank) const {
        return side_.experts ? expert_coordinates(now_, rank) : dense_coordinates(now_, rank);
    }
    // Returns the rank with the same coordinates in A's mesh; -1 where the factors differ.
    [[nodiscard]] std::int64_t rank_in(const Mesh& a, std::int64_t rank) const {
        const Coordinates at = coordinates(rank);
        std::int64_t out = 0;
        for (const Axis axis : all_of<Axis>()) {
            const Factor& from = side_.factors(a)[axis];
            if (side_.factors(now_)[axis].size != from.size) return -1;
            out += at[axis] * from.stride;
        }
        return out;
    }
    void glide(DrawnPiece& out, std::int64_t rank) const {
        const Coordinates at = coordinates(rank);
        std::uint64_t piece = sizes_ * 2 + (side_.experts ? 1 : 0);
        for (const Axis axis : all_of<Axis>()) piece = piece * 8191 + static_cast<std::uint64_t>(at[axis]);
        const auto here = static_cast<double>(rank), now = ui_.glide("fold.rank", here, piece);
        if (const auto was = ui_.before("fold.rank", piece); was && *was != here) {
            out.from = static_cast<std::int64_t>(*was);
            out.left = static_cast<float>(std::clamp((now - here) / (*was - here), 0.0, 1.0));
        }
        std::array<double, 4> was = out.share, shown{};
        for (std::size_t i = 0; i < was.size(); ++i) {
            const std::uint64_t index = static_cast<std::uint64_t>(rank) * 8 + (side_.experts ? 4 : 0) + i;
            shown[i] = ui_.glide("fold.share", out.share[i], index);
            was[i] = ui_.before("fold.share", index).value_or(was[i]);
        }
        if (!resized_) return;  // the piece came from another rank as it is
        if (was != out.share) out.was = was;
        out.share = shown;
    }
};

// Places the cards of the ranks: nodes in rows, cards in rows within a node.
struct CardPlaces {
    Rect room{};
    std::int64_t domain = 1, world = 1, cols = 1, rows = 1, node_cols = 1, node_rows = 1;
    Vec2 node{}, card{}, gap{};  // gap: between cards

    [[nodiscard]] Rect node_rect(std::int64_t n) const {
        const std::int64_t line = n / node_cols;
        return {room.x + static_cast<float>(n % node_cols) * (node.x + kNodeGap),
                room.y + static_cast<float>(line) * (node.y + kNodeGap), node.x, node.y};
    }
    [[nodiscard]] Rect card_rect(std::int64_t rank) const {
        const Rect n = node_rect(rank / domain);
        const std::int64_t i = rank % domain, line = i / cols;
        return {n.x + kNodePad + static_cast<float>(i % cols) * (card.x + gap.x),
                n.y + kNodePad + static_cast<float>(line) * (card.y + gap.y), card.x, card.y};
    }
};

CardPlaces ribbon_places(Rect room, const Cluster& cluster, std::int64_t world, std::int64_t inner) {
    CardPlaces p{.room = room, .domain = std::min(domain_of(cluster, 0), world), .world = world};
    const std::int64_t nodes = (world + p.domain - 1) / p.domain;
    // A line of the innermost groups, or the divisor next to the root.
    const auto near_root =
        static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(p.domain)) - 1e-9));
    p.cols = p.domain % inner == 0 && inner >= near_root && inner <= 2 * near_root ? inner : near_root;
    while (p.domain % p.cols != 0) ++p.cols;
    p.rows = p.domain / p.cols;
    p.node_cols = nodes <= 4 ? nodes : nodes <= 8 ? (nodes + 1) / 2 : (nodes + 3) / 4;
    p.node_rows = (nodes + p.node_cols - 1) / p.node_cols;
    const auto each = [](float all, std::int64_t n, float gap) {
        return (all + gap) / static_cast<float>(n) - gap;
    };
    p.node = {each(room.w, p.node_cols, kNodeGap), each(room.h, p.node_rows, kNodeGap)};
    const auto gap = [](float all, std::int64_t n) {
        return std::min(kMostCardGap, all * 0.25f / static_cast<float>(n));
    };
    const Vec2 inside{p.node.x - 2 * kNodePad, p.node.y - 2 * kNodePad};
    p.gap = {gap(inside.x, p.cols), gap(inside.y, p.rows)};
    p.card = {each(inside.x, p.cols, p.gap.x), each(inside.y, p.rows, p.gap.y)};
    return p;
}

std::int64_t chosen_of(const Scene& scene, const Mesh& mesh) {
    return std::clamp<std::int64_t>(scene.selection.rank, 0, mesh.world - 1);
}

// Draws the members of one group of each axis in a row, the wire of each hop between them.
void draw_groups(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes) {
    constexpr float kChipGap = 22, kMostRow = 56;
    Canvas& c = ui.canvas();
    const Mesh& mesh = side.evaluation.mesh;
    const float high = std::min(kMostRow, room.h / static_cast<float>(axes.count));
    const float chip = c.text_width(thousands(mesh.world - 1), ui.small()) + 14;
    for (const MeshAxis& a : axes.span()) {
        Rect row = room.cut_top(high);
        const std::int64_t first = a.first_of(chosen_of(scene, mesh));
        ui.label(row.cut_left(110), axis_label(a.kind) + " " + thousands(a.degree),
                 ui.style(12, Tone::text, Face::semibold));
        const auto fit = static_cast<std::int64_t>((row.w + kChipGap) / (chip + kChipGap));
        const std::int64_t shown = std::min(a.degree, fit);
        Rect at{row.x, row.center().y - 11, chip, 22};
        std::int64_t before = -1;
        for (std::int64_t i = 0; i < shown; ++i, at.x += chip + kChipGap) {
            const bool gap = shown < a.degree && i + 2 == shown;
            const std::int64_t rank = a.member(first, shown < a.degree && i + 1 == shown ? a.degree - 1 : i);
            if (gap) {
                c.text_in(at, "…", ui.small(), Align::center);
                before = -1;
                continue;
            }
            if (before >= 0) {
                const int tier = tier_between(side.plan.cluster, before, rank);
                c.line({at.x - kChipGap, at.center().y}, {at.x, at.center().y}, a.color, 3,
                       mark_of_tier(ui.theme(), side.plan.cluster, tier).dash);
            }
            c.frame(at, a.color, 1.2f, 4);
            c.text_in(at, thousands(rank), ui.small(Tone::text), Align::center);
            before = rank;
        }
    }
}

// Draws the wire between two ranks: straight within a node, around the cards to another node of the row.
void draw_wire(Canvas& c, const CardPlaces& p, Dash dash, double bytes, std::int64_t a, std::int64_t b,
               Color color) {
    const Rect from = p.card_rect(a), to = p.card_rect(b);
    const float w = std::min(wire_width(bytes), std::max(1.4f, std::min(p.card.x, p.card.y) / 3));
    const std::int64_t na = a / p.domain, nb = b / p.domain;
    if (na == nb || na / p.node_cols != nb / p.node_cols) {
        c.line(from.center(), to.center(), color, w, dash);
        return;
    }
    const std::int64_t at = a % p.domain;
    const bool above = at / p.cols < (p.rows + 1) / 2;
    const float off = 3 + (kNodePad - 6) * static_cast<float>(at % p.cols + 1) / static_cast<float>(p.cols);
    const Rect node = p.node_rect(na);
    const float y = above ? node.y + kNodePad - off : node.bottom() - kNodePad + off;
    const Vec2 start{from.center().x, from.center().y}, end{to.center().x, to.center().y};
    c.polyline({start, {start.x, y}, {end.x, y}, end}, color, std::min(w, 3.0f), false, dash);
}

void draw_wires_of(Ui& ui, const CardPlaces& p, const Scene& scene, const RibbonSide& side,
                   const MeshAxes& axes) {
    const std::int64_t world = side.evaluation.mesh.world, chosen = chosen_of(scene, side.evaluation.mesh);
    for (std::size_t k = axes.count; k-- > 0;) {
        const MeshAxis& a = axes.axis[k];
        double bytes = cost_of(side.evaluation, a).bytes;
        if (side.open) bytes = ui.glide("fold.bytes", bytes, static_cast<std::uint64_t>(a.kind));
        const bool quiet = !scene.selection.all_axes && a.kind != scene.selection.group;
        const Color color = quiet ? mix(ui.theme().panel, a.color, 0.35f) : a.color;
        for (std::int64_t first = 0; first < world; ++first) {
            if (a.first_of(first) != first) continue;
            if (world > kMostWired && first != a.first_of(chosen)) continue;
            for (std::int64_t i = 0; i + 1 < a.degree; ++i) {
                const std::int64_t from = a.member(first, i), to = a.member(first, i + 1);
                const int tier = tier_between(side.plan.cluster, from, to);
                draw_wire(ui.canvas(), p, mark_of_tier(ui.theme(), side.plan.cluster, tier).dash, bytes, from,
                          to, color);
            }
        }
    }
}

Rect part_of(Rect box, const std::array<double, 4>& share) {
    const auto of = [&](std::size_t i, float size) { return static_cast<float>(share[i]) * size; };
    return {box.x + of(0, box.w), box.y + of(1, box.h), std::max(of(2, box.w), 1.5f),
            std::max(of(3, box.h), 1.5f)};
}

void draw_mark(Ui& ui, Rect box, const Piece& piece, const DrawnPiece& drawn, Color color) {
    Canvas& c = ui.canvas();
    const Rect part = part_of(box, drawn.share);
    // Neighbouring pieces differ in shade.
    const Color shade = mix(ui.theme().panel, color, piece.across % 2 == 0 ? 1.0f : 0.62f);
    if (piece.copied)
        c.pattern(part, Pattern::hatched, shade);
    else
        c.rect(part, shade);
    if (drawn.was) c.frame(part_of(box, *drawn.was), ui.theme().text, 1.3f, 0, Dash::dashed);
}

// Draws a rank's card; returns the box of its piece, without width where it has no room.
Rect draw_ribbon_card(Ui& ui, Rect card, const RibbonSide& side, std::int64_t rank, const Piece& piece,
                      const DrawnPiece& drawn) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    c.box(card, theme.raised, theme.secondary, 1, 4);
    const bool moved = drawn.from >= 0;
    if (moved) c.frame(card.inset(-4), theme.text, 1, 6, Dash::dotted);
    const TextStyle number = ui.style(card.h >= 40 ? 13 : 11, Tone::text, Face::semibold);
    const std::string name = thousands(rank), was = "was " + thousands(drawn.from);
    const float was_w = moved ? c.text_width(was, ui.small()) : 0;
    const bool said = moved && card.h >= 34 && card.w >= was_w + 28;  // under the rank, left of the piece
    const float words = std::max(c.text_width(name, number), said ? was_w : 0.0f);
    constexpr float kMostMark = 140;
    const float size = std::min({card.h - 8, card.w - 8, kMostMark});
    const bool named = said || (card.h >= 15 && card.w >= words + size * 0.5f + 12);
    if (named) c.text_in({card.x + 6, card.y + 2, words + 4, 18}, name, number);
    if (said) c.text_in({card.x + 6, card.bottom() - 18, was_w + 2, 16}, was, ui.small(Tone::text));
    const float side_of = named ? std::min(size, card.w - words - 16) : size;
    const Rect box{card.right() - side_of - 4, card.y + 4, side_of >= 4 ? side_of : 0, side_of};
    if (box.w > 0) c.frame(box, theme.faint, 1);
    if (!ui.hovers(card)) return box;
    std::string tip = "rank " + name + "\n" + place_of(side.plan.cluster, rank) + "\nhas piece "
                      + thousands(piece.down * piece.of_across + piece.across + 1) + " of "
                      + thousands(piece.of_across * piece.of_down) + (piece.copied ? ", a copy" : "");
    if (moved) tip += "; it lay on rank " + thousands(drawn.from);
    ui.tooltip(tip);
    return box;
}

Rect between(Rect a, Rect b, float share) {
    const auto mean = [&](float x, float y) { return x + (y - x) * share; };
    return {mean(a.x, b.x), mean(a.y, b.y), mean(a.w, b.w), mean(a.h, b.h)};
}

// Draws the cards, then over them the pieces, which may be on their way.
void draw_cards_and_pieces(Ui& ui, const CardPlaces& p, const RibbonSide& side, const MeshAxes& axes,
                           const GroupFactors& copied, Color color) {
    const PiecesBefore before(ui, side);
    std::vector<Piece> pieces;
    std::vector<DrawnPiece> drawn;
    std::vector<Rect> boxes;
    for (std::int64_t r = 0; r < side.evaluation.mesh.world; ++r) {
        pieces.push_back(piece_of(axes, copied, r));
        drawn.push_back(before.of(r, pieces.back()));
        boxes.push_back(draw_ribbon_card(ui, p.card_rect(r), side, r, pieces.back(), drawn.back()));
    }
    for (std::size_t r = 0; r < pieces.size(); ++r) {
        const auto from = static_cast<std::size_t>(std::max<std::int64_t>(drawn[r].from, 0));
        const Rect box = between(boxes[r], from < boxes.size() ? boxes[from] : boxes[r], drawn[r].left);
        if (box.w > 0) draw_mark(ui, box, pieces[r], drawn[r], color);
    }
}

}  // namespace

float wire_width(double bytes) {
    return std::max(1.4f, static_cast<float>(bytes / 16e9));
}

void draw_pieces(Ui& ui, Rect room, const Scene& scene, const RibbonSide& side, const MeshAxes& axes) {
    const Mesh& mesh = side.evaluation.mesh;
    const ParameterCopies over = parameter_copies_of(side.plan, mesh);
    Rect head = room.cut_top(20);
    const std::string what = side.experts ? "where the experts lie" : "where the pieces of a weight lie";
    if (mesh.world > kMostPieces) {
        ui.label(head, in_capitals("a group of each axis, of rank " + thousands(chosen_of(scene, mesh))),
                 ui.small());
        draw_groups(ui, room, scene, side, axes);
        return;
    }
    if (over.stage_across) {
        ui.label(head, "Each stage holds the layers of two places of the pipeline.", ui.small());
        return;
    }
    write_left(ui, head, in_capitals(what), ui.small(), 10);
    std::string words = "hatched: a copy";
    if (mesh.world > kMostWired) words += "; wires of rank " + thousands(chosen_of(scene, mesh));
    if (side.before != nullptr) words = "dotted: moved; " + words;
    if (ui.canvas().text_width(words, ui.small()) > head.w) head = room.cut_top(18);  // a line of its own
    ui.canvas().text_in(head, words, ui.small(), Align::right);
    const CardPlaces p = ribbon_places(room, side.plan.cluster, mesh.world, axes.axis[0].degree);
    if (p.card.x < 6 || p.card.y < 6) return;
    const std::int64_t nodes = (mesh.world + p.domain - 1) / p.domain;
    for (std::int64_t n = 0; n < nodes; ++n) {
        ui.canvas().box(p.node_rect(n), ui.theme().window, ui.theme().hairline, 1, 6);
    }
    draw_wires_of(ui, p, scene, side, axes);
    const GroupFactors& copied = copied_in(over, side.experts);
    Color color = ui.theme().text;
    for (std::size_t i = axes.count; i-- > 0;)
        if (!copied_along(copied, axes.axis[i])) color = axes.axis[i].color;
    draw_cards_and_pieces(ui, p, side, axes, copied, color);
}

}  // namespace pentamesh::ui
