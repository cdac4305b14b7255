#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/sharding/copies.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

namespace {

// Places a rank's part of a dense weight: columns cut by tp, rows by the axes that cut parameters.
struct Part {
    std::int64_t columns = 1, column = 0, rows = 1, row = 0;
    bool copied = false;  // another rank with a lower number keeps the same
};

Part part_of(const Scene& scene, std::int64_t rank) {
    const Mesh& mesh = scene.evaluation.mesh;
    const auto at = [&](const Factor& f) { return rank / f.stride % f.size; };
    Part p;
    p.columns = mesh.dense[Axis::tp].size, p.column = at(mesh.dense[Axis::tp]);
    const ParameterCopies copies = parameter_copies_of(scene.plan, mesh);
    for (const Factor& f : copies.dense.span()) p.copied = p.copied || at(f) > 0;
    const GroupFactors cut =
        group_factors(mesh, scene.plan.layout.zero < 3 ? GroupKind::gtp_remat : GroupKind::fsdp);
    for (const Factor& f : cut.span()) {
        p.row += p.rows * at(f);
        p.rows *= f.size;
    }
    return p;
}

std::string words_of(const Part& p) {
    const std::int64_t parts = p.columns * p.rows;
    const std::string held = parts == 1   ? "the whole"
                             : parts == 2 ? "a half"
                             : parts == 4 ? "a quarter"
                             : parts == 8 ? "an eighth"
                                          : "1 of " + thousands(parts);
    return p.copied ? "same, copied" : held;
}

// Draws a weight as a square, cut as it is, with the held part filled, or hatched where it is a copy.
void draw_part(Ui& ui, Rect square, const Part& p, Color ink, Color ground) {
    Canvas& c = ui.canvas();
    constexpr float kMostRulers = 16;  // lines closer than 4 pixels would be a grey
    const float w = square.w / static_cast<float>(p.columns), h = square.h / static_cast<float>(p.rows);
    Rect held{square.x + w * static_cast<float>(p.column), square.y + h * static_cast<float>(p.row),
              std::max(w, 1.5f), std::max(h, 1.5f)};
    c.rect(square, ground);
    if (p.copied)
        c.pattern(held, Pattern::hatched, ink);
    else
        c.rect(held, ink);
    for (std::int64_t i = 1; i < p.columns && static_cast<float>(p.columns) <= kMostRulers; ++i) {
        const float x = square.x + w * static_cast<float>(i);
        c.line({x, square.y}, {x, square.bottom()}, color_of(ui.theme(), GroupKind::tp), 1.5f);
    }
    for (std::int64_t i = 1; i < p.rows && static_cast<float>(p.rows) <= kMostRulers; ++i) {
        const float y = square.y + h * static_cast<float>(i);
        c.line({square.x, y}, {square.right(), y}, color_of(ui.theme(), GroupKind::dp_shard), 1.5f);
    }
    c.frame(square, ui.theme().secondary, 1);
}

// Draws how full the GPU's memory is, by category.
void draw_memory(Ui& ui, Rect strip, const Scene& scene, std::int64_t rank) {
    const Memory& memory = scene.evaluation.memory;
    const auto stage = static_cast<std::size_t>(std::max(0, stage_of_rank(scene.evaluation.mesh, rank)));
    if (stage >= memory.stage.size() || memory.hbm <= 0) return;
    Canvas& c = ui.canvas();
    c.rect(strip, ui.theme().hairline, 1);
    float x = strip.x;
    for (int k = 0; k < kMemoryCategoryCount; ++k) {
        const double bytes = bytes_of(memory.stage[stage], static_cast<MemoryCategory>(k));
        const float w = std::min(strip.right() - x, strip.w * static_cast<float>(bytes / memory.hbm));
        c.rect({x, strip.y, w, strip.h}, k < std::ssize(ui.theme().memory)
                                             ? ui.theme().memory[static_cast<std::size_t>(k)]
                                             : ui.theme().secondary);
        x += w;
    }
    if (memory.stage[stage].total() > memory.hbm) c.frame(strip.inset(-1), ui.theme().bad, 1);
}

void draw_card(Ui& ui, Rect cell, const MeshPlace& m, const Scene& scene, std::int64_t rank, Color ground,
               bool plain) {
    Canvas& c = ui.canvas();
    const TextStyle big = ui.style(20, Tone::text, Face::semibold).in(ink_on(ground)),
                    small = ui.style(11).in(big.color);
    Rect in = cell.inset(10, 8);
    const float number = c.text({in.x, in.y - 3}, std::to_string(rank), big);
    if (plain) return;
    Rect strip = in.cut_bottom(7);
    draw_memory(ui, strip, scene, rank);
    in.cut_bottom(6);
    Rect words{in.x, in.y + 25, in.w, 14};
    float widest = number;
    for (const MeshAxis& axis : m.axes.span()) {
        if (words.bottom() > in.bottom() + 1) break;
        const std::string text = axis_label(axis.kind) + " " + std::to_string(axis.place_of(rank));
        widest = std::max(widest, c.text_width(text, small));
        c.text_in(words, text, small);
        words.y += 14;
    }
    if (scene.selection.expert()) return;
    const float caption = in.h >= 66 ? 15.0f : 0.0f;
    const float side = std::min({std::max(62.0f, cell.h * 0.45f), in.h - caption, in.w - widest - 12});
    if (side < 24) return;
    const Part p = part_of(scene, rank);
    const Rect square{in.right() - side, in.y, side, side};
    draw_part(ui, square, p, big.color, mix(ground, big.color, 0.06f));
    if (caption > 0) {
        const std::string text = words_of(p);
        const float w = c.text_width(text, small);
        if (w <= in.w - widest - 4 || words.y <= in.bottom() - 12)
            c.text_in({in.right() - std::min(w, in.w), square.bottom() + 2, w + 1, 14}, text, small);
    }
}

void draw_small_card(Ui& ui, Rect cell, const Scene& scene, std::int64_t rank, Color ground, bool plain) {
    const TextStyle style = ui.style(13).in(ink_on(ground));
    Rect in = cell.inset(4, 4);
    if (!plain && cell.h >= 28) {
        draw_memory(ui, in.cut_bottom(5), scene, rank);
        in.cut_bottom(2);
    }
    ui.canvas().text_in(in, std::to_string(rank), style, Align::center);
}

// Returns the largest size at which the longest number fits a cell; 0 where none does.
float number_size(Ui& ui, const CellGrid& grid) {
    const std::string longest(std::to_string(std::max<std::int64_t>(0, grid.count - 1)).size(), '0');
    for (const float size : {13.0f, 11.0f, 9.0f})
        if (ui.canvas().text_width(longest, ui.style(size)) + (size > 11 ? 12.0f : 3.0f) <= grid.cell.x
            && grid.cell.y >= size + 2)
            return size;
    return 0;
}

}  // namespace

void draw_cards(Ui& ui, const MeshPlace& m, const Scene& scene, const CellGrid& colored, Cards which) {
    const bool plain = which == Cards::ranks;
    const Vec2 cell = m.grid.cell;
    const float size = number_size(ui, m.grid);
    if (size <= 0 || m.merged()) return;
    const bool few = scene.evaluation.mesh.world <= kMostCards;
    const bool card = few && cell.x >= kCard.x && cell.y >= kCard.y;
    const bool small = few && cell.x >= kSmallCard.x && cell.y >= kSmallCard.y;
    const LitGroups lit = lit_groups(ui.theme(), scene);
    for_each_seen_node(m.layout, m.grid, m.zoom, m.area, [&](std::int64_t node) {
        const std::int64_t end = std::min<std::int64_t>((node + 1) * m.layout.node.size, colored.count);
        for (std::int64_t r = node * m.layout.node.size; r < end; ++r) {
            const Rect box = m.cell(r);
            if (box.bottom() < m.area.y || box.y > m.area.bottom() || box.right() < m.area.x
                || box.x > m.area.right())
                continue;
            Color ground =
                colored.palette[static_cast<std::size_t>(cell_id(colored, r) % colored.palette_size)];
            if (which == Cards::lit) ground = lit.color_of(r);
            if (which == Cards::lit && ground == lit.quiet) continue;
            if (card)
                draw_card(ui, box, m, scene, r, ground, plain);
            else if (small)
                draw_small_card(ui, box, scene, r, ground, plain);
            else
                ui.canvas().text_in(box, std::to_string(r), ui.style(size).in(ink_on(ground)), Align::center);
        }
    });
}

}  // namespace pentamesh::ui
