#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/views/zoom/view.h"
#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace pentamesh::ui {
namespace {

constexpr float kMatrixGap = 5, kBlockGap = 10;  // logical pixels, between matrices and between blocks
constexpr double kTooSmall = 0.008;              // of the layer's bytes: a smaller matrix is named, not drawn
constexpr double kThin = 0.12;                   // of its block's bytes: such neighbours share a column

bool is_dealt(const Placement& p) {
    return p.dims[0] == Dim::experts && p.shape[0] > 1;
}

struct Weighed {
    int tensor = -1;
    double bytes = 0;
};

// Matrices that stand above each other, and the cells that stand next to each other in a row.
struct MatrixCell {
    std::vector<Weighed> stack;
    double bytes = 0;
};
struct MatrixRow {
    std::vector<MatrixCell> cells;
    double bytes = 0;
    bool begins_block = false;
};

std::vector<MatrixCell> cells_of(std::span<const Weighed> block) {
    double all = 0;
    for (const Weighed& w : block) all += w.bytes;
    std::vector<MatrixCell> cells;
    bool last_thin = false;
    for (const Weighed& w : block) {
        const bool thin = w.bytes < kThin * all;
        if (!thin || !last_thin) cells.emplace_back();
        cells.back().stack.push_back(w);
        cells.back().bytes += w.bytes;
        last_thin = thin;
    }
    return cells;
}

// Puts the cells of a block into rows, in their order, so that the longest is as little long as possible.
void put_rows(std::vector<MatrixCell> cells, double w, double h, std::vector<MatrixRow>& rows) {
    double all = 0;
    for (const MatrixCell& c : cells) all += c.bytes;
    const auto n = static_cast<unsigned>(std::min<std::size_t>(cells.size(), 12));
    const auto begins_row = [&](unsigned cuts, std::size_t k) {
        return k == 0 || (k <= n && (cuts >> (k - 1) & 1U));
    };
    const auto row_bytes = [&](unsigned cuts, std::size_t k) {
        double bytes = cells[k].bytes;
        for (std::size_t i = k + 1; i < cells.size() && !begins_row(cuts, i); ++i) bytes += cells[i].bytes;
        return bytes;
    };
    double best = 1e300;
    unsigned chosen = 0;
    for (unsigned cuts = 0; cuts < 1U << (n - 1); ++cuts) {
        double cost = 0, row = 0;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (begins_row(cuts, k)) row = row_bytes(cuts, k);
            const double cell_h = h * row / all, cell_w = w * cells[k].bytes / row;
            cost += std::abs(std::log(cell_w / cell_h)) * cells[k].bytes;
        }
        if (cost < best) best = cost, chosen = cuts;
    }
    for (std::size_t k = 0; k < cells.size(); ++k) {
        if (begins_row(chosen, k)) rows.push_back({{}, 0, k == 0});
        rows.back().bytes += cells[k].bytes;
        rows.back().cells.push_back(std::move(cells[k]));
    }
}

Rect on_pixels(double x0, double y0, double x1, double y1, float scale) {
    const auto snap = [&](double at) { return static_cast<float>(std::round(at * scale)) / scale; };
    return {snap(x0), snap(y0), snap(x1) - snap(x0), snap(y1) - snap(y0)};
}

// Gives rows and cells their places: equal areas have equal bytes, gaps not counted.
void place_rows(std::span<const MatrixRow> rows, Rect room, float scale, std::vector<MatrixBox>& out) {
    double heights = room.h, weights = 0;
    const auto width = [&](const MatrixRow& r) {
        return std::max(1.0, room.w - kMatrixGap * static_cast<double>(r.cells.size() - 1));
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0) heights -= rows[i].begins_block ? kBlockGap : kMatrixGap;
        weights += rows[i].bytes / width(rows[i]);
    }
    double y = room.y;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const MatrixRow& row = rows[i];
        if (i > 0) y += row.begins_block ? kBlockGap : kMatrixGap;
        const double h = std::max(1.0, heights) * row.bytes / width(row) / weights;
        double x = room.x;
        for (const MatrixCell& cell : row.cells) {
            const double w = width(row) * cell.bytes / row.bytes;
            double top = y;
            for (const Weighed& m : cell.stack) {
                const double part = h * m.bytes / cell.bytes;
                const double gap = &m == &cell.stack.back() ? 0 : std::min(2.0, part / 4);
                out.push_back({m.tensor, on_pixels(x, top, x + w, top + part - gap, scale)});
                top += part;
            }
            x += w + kMatrixGap;
        }
        y += h;
    }
}

}  // namespace

std::string matrix_name(const Placement& p) {
    const std::string name(short_name_of(p.id));
    return module_of(p.id) == TensorModule::shared_expert ? "shared " + name : name;
}

void lay_matrices(const Nest& nest, std::span<const int> tensors, std::int64_t rank, Rect room, float scale,
                  ZoomColumn& column) {
    std::vector<Weighed> all;
    double bytes = 0;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
        const Part part = part_of(nest.plan, nest.mesh, p, rank);
        const double experts = is_dealt(p) ? static_cast<double>(part.box[0].size()) : 1.0;
        all.push_back({i, experts * static_cast<double>(p.shape[1]) * static_cast<double>(p.shape[2])
                              * p.bytes_per_number});
        bytes += all.back().bytes;
    }
    std::erase_if(all, [&](const Weighed& w) {
        if (w.bytes >= kTooSmall * bytes) return false;
        column.too_small.push_back(w.tensor);
        return true;
    });
    constexpr float kNote = 18;
    if (!column.too_small.empty()) room.cut_bottom(kNote);
    std::vector<MatrixRow> rows;
    for (std::size_t k = 0; k < all.size();) {
        std::size_t end = k + 1;
        while (end < all.size() && nest.tensors[all[end].tensor].kind == nest.tensors[all[k].tensor].kind)
            ++end;
        const std::span<const Weighed> block(all.data() + k, end - k);
        double own = 0;
        for (const Weighed& w : block) own += w.bytes;
        put_rows(cells_of(block), room.w, room.h * own / bytes, rows);
        k = end;
    }
    if (room.w > 8 && room.h > 8) place_rows(rows, room, scale, column.matrices);
}

namespace {

GroupKind group_of_cut(const Placement& p) {
    return p.expert ? GroupKind::etp : GroupKind::tp;
}

// Describes what a GPU has of one matrix, as it is drawn.
struct DrawnCut {
    const Nest& nest;
    const Placement& p;  // while the layer runs
    const NestPiece& piece;
    std::int64_t index = 0;  // among the parts that tp makes
    bool numbered = false;   // the parts have their numbers
};

// Returns which of the flat parts between steps a GPU has, as shares of what it has while the layer runs.
std::pair<double, double> kept_share(const NestPiece& piece) {
    const double all = static_cast<double>(piece.part.numbers);
    return {static_cast<double>(piece.kept.flat.begin) / all, static_cast<double>(piece.kept.flat.end) / all};
}

bool is_sharded(const NestPiece& piece) {
    return piece.kept.numbers < piece.part.numbers;
}

// Draws what the GPU has while the layer runs, and in it what it keeps between steps.
void draw_held(Ui& ui, Rect r, const DrawnCut& cut, Color color) {
    Canvas& c = ui.canvas();
    if (!is_sharded(cut.piece)) return c.rect(r, color);
    const Theme& t = ui.theme();
    const Color shard = color_of(t, GroupKind::dp_shard);
    const auto [from, to] = kept_share(cut.piece);
    const auto parts = std::llround(1 / std::max(1e-9, to - from));
    const ExactGrid g = exact_grid(r, c.scale(), parts, {2, 2, 1, BoxShape::Rows::one_column});
    if (g.boxes > 0 && g.each == 1) {
        for (std::int64_t i = 0; i < g.boxes; ++i)
            c.rect(g.box(i),
                   i == std::llround(from * static_cast<double>(parts)) ? shard : mix(t.window, color, 0.4f));
        return;
    }
    // There is no room for all parts: only the kept one is drawn, where it lies.
    c.rect(r, mix(t.window, color, 0.4f));
    const float least = 1 / c.scale();
    const auto h = static_cast<float>(r.h * (to - from));
    c.rect({r.x, r.y + static_cast<float>(r.h * from), r.w, std::max(least, h)}, shard);
}

// Draws one matrix: each part that tp makes is a box, and the GPU's own is filled.
void draw_cut(Ui& ui, Rect r, const DrawnCut& cut) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const AxisPlacement& tp = cut.p.on(Axis::tp);
    const Color axis = color_of(t, group_of_cut(cut.p));
    if (tp.size <= 1) {
        draw_held(ui, r, cut, mix(t.window, t.secondary, 0.32f));
        return c.frame(r, t.secondary, 1);
    }
    if (tp.spread != Spread::cut) {  // the same on each of tp's ranks
        c.pattern(r, Pattern::hatched, axis, mix(t.window, axis, 0.12f));
        return c.frame(r, axis, 1);
    }
    const bool rows = tp.dim == Dim::rows;
    const Color dim = mix(t.window, axis, 0.16f);
    const ExactGrid g = exact_grid(r, c.scale(), tp.parts,
                                   {2, 2, 1, rows ? BoxShape::Rows::one_column : BoxShape::Rows::one_row});
    if (g.boxes == 0 || g.each > 1) {  // no room for all parts: only the GPU's is drawn, where it lies
        c.rect(r, dim);
        const float at = static_cast<float>(cut.index) / static_cast<float>(tp.parts),
                    share = 1 / static_cast<float>(tp.parts), least = 1 / c.scale();
        c.rect(rows ? Rect{r.x, r.y + r.h * at, r.w, std::max(least, r.h * share)}
                    : Rect{r.x + r.w * at, r.y, std::max(least, r.w * share), r.h},
               axis);
        return c.frame(r, mix(t.window, axis, 0.6f), 1);
    }
    for (std::int64_t i = 0; i < g.boxes; ++i) {
        const Rect box = g.box(i);
        if (i == cut.index)
            draw_held(ui, box, cut, axis);
        else
            c.rect(box, dim);
        if (!cut.numbered || box.h < 14) continue;
        TextStyle style = ui.style(12, Tone::secondary);
        if (i == cut.index)
            style =
                ui.style(12, Tone::text, Face::semibold).in(is_sharded(cut.piece) ? t.text : ink_on(axis));
        const Rect words{box.x, rows ? box.y : box.y + 5, box.w, rows ? box.h : 18};
        write_whole(ui, words, thousands(i), style, Align::center);
    }
}

DrawnCut cut_of(const Nest& nest, int tensor, std::int64_t rank, const NestPiece& piece) {
    const Placement& p = nest.tensors[tensor];
    const Coordinates at =
        p.expert ? expert_coordinates(nest.mesh, rank) : dense_coordinates(nest.mesh, rank);
    return {nest, p, piece, part_index(p.on(Axis::tp), at[Axis::tp])};
}

// Draws every expert of the layer as a box; those of this GPU are filled.
void draw_experts(Ui& ui, Rect room, const Placement& p, const Part& part) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const Color axis = color_of(t, GroupKind::ep);
    const ExactGrid g = exact_grid(room, c.scale(), p.shape[0], {4, 4, 1.3});
    const bool numbered = g.each == 1 && g.box(0).h >= 13
                          && c.text_width(thousands(p.shape[0] - 1), ui.style(11)) <= g.box(0).w;
    for (std::int64_t i = 0; i < g.boxes; ++i) {
        const Range of{i * g.each, std::min((i + 1) * g.each, p.shape[0])};
        const bool held = of.begin < part.box[0].end && of.end > part.box[0].begin;
        const Rect box = g.box(i);
        c.rect(box, held ? axis : mix(t.window, axis, 0.22f), std::min(box.w, box.h) > 16 ? 2.0f : 0.0f);
        if (!numbered) continue;
        TextStyle style = ui.style(11, Tone::secondary);
        if (held) style.color = ink_on(axis);
        write_whole(ui, box, thousands(i), style, Align::center);
    }
}

// Returns the largest rectangle of that shape at the top left of the room; very long ones are shortened so
// that both sides show.
Rect shaped(Rect room, double aspect) {
    aspect = std::clamp(aspect, 0.35, 3.0);
    float w = room.w, h = static_cast<float>(w / aspect);
    if (h > room.h) h = room.h, w = static_cast<float>(h * aspect);
    return {room.x, room.y, w, h};
}

}  // namespace

void draw_matrices(Ui& ui, const Nest& nest, std::int64_t rank, std::span<const MatrixBox> boxes) {
    Canvas& c = ui.canvas();
    for (const MatrixBox& m : boxes) {
        const NestPiece piece = piece_of(nest, m.tensor, rank);
        const DrawnCut cut = cut_of(nest, m.tensor, rank, piece);
        if (is_dealt(cut.p)) {  // the experts of this GPU stand next to each other
            const std::int64_t held = piece.part.box[0].size();
            const ExactGrid g = exact_grid(m.r, c.scale(), held, {6, 6, 1});
            for (std::int64_t i = 0; i < g.boxes; ++i)
                if (cut.p.on(Axis::tp).size > 1)
                    draw_cut(ui, g.box(i), cut);
                else
                    draw_held(ui, g.box(i), cut, color_of(ui.theme(), GroupKind::ep));
        } else {
            draw_cut(ui, m.r, cut);
        }
        const std::string name = matrix_name(cut.p);
        const TextStyle style = ui.style(12, Tone::text);
        const float w = c.text_width(name, style) + 8;
        if (w > m.r.w || m.r.h < 18) continue;
        const Vec2 at = m.r.center();
        write_plate(ui, {at.x - w / 2, at.y - 8, w, 16}, name, style, ui.theme().window.alpha(0.78f));
    }
}

void draw_tensor(Ui& ui, Rect room, const Nest& nest, int tensor, std::int64_t rank,
                 std::span<const std::string> words) {
    Canvas& c = ui.canvas();
    const Placement& p = nest.tensors[tensor];
    const NestPiece piece = piece_of(nest, tensor, rank);
    DrawnCut cut = cut_of(nest, tensor, rank, piece);
    cut.numbered = true;
    constexpr float kLine = 17, kBeside = 260;
    const bool beside = room.w > 2.2f * kBeside && room.w > room.h;
    const TextStyle plain = ui.style(12.5f, Tone::secondary), bold = ui.style(14, Tone::text, Face::semibold);
    const auto style = [&](std::size_t i) { return i == 0 ? bold : plain; };
    Rect text = room;
    float high = 8;
    for (std::size_t i = 0; i < words.size(); ++i)
        high += c.paragraph_height(beside ? kBeside : room.w, words[i], style(i), kLine) + 5;
    if (beside) {
        text = room.cut_right(kBeside);
        room.cut_right(20);
    } else {
        text.h = high;
        room.cut_bottom(std::min(high, room.h * 0.7f));
    }
    if (is_dealt(p)) {
        draw_experts(ui, room.cut_top(room.h * 0.45f), p, piece.part);
        room.cut_top(10);
    }
    const Rect whole = shaped(room, static_cast<double>(p.shape[2]) / static_cast<double>(p.shape[1]));
    if (whole.h >= 4)
        draw_cut(ui, on_pixels(whole.x, whole.y, whole.right(), whole.bottom(), c.scale()), cut);
    if (!beside) text.y = whole.bottom() + 10;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const float h = c.paragraph_height(text.w, words[i], style(i), kLine);
        if (h > text.h) break;
        c.paragraph(text.cut_top(h), words[i], style(i), kLine);
        text.cut_top(5);
    }
}

namespace {

std::string parts_words(std::int64_t parts) {
    return parts > 1 ? "1 part in " + thousands(parts) + " of " : "";
}

// Says over the columns what the GPU keeps of every matrix, where one number says it; else of this tensor.
std::string sentence_of(const Nest& nest, const NestChildren& layers, std::int64_t rank, std::size_t item,
                        int tensor) {
    std::int64_t count = 0, having = 0;
    std::vector<int> tensors;
    for (const NestItem& i : layers.items) {
        if (i.layer < 0) continue;
        ++count;
        if (std::ranges::find(i.tensors, tensor) != i.tensors.end()) ++having;
        for (const int t : i.tensors)
            if (std::ranges::find(tensors, t) == tensors.end()) tensors.push_back(t);
    }
    const std::string begin = "Rank " + thousands(rank) + " keeps ", end = ": " + product_text(nest) + ".";
    const auto layers_text = [&](std::int64_t n) { return plural(n, "layer", "layers"); };
    const std::int64_t first = tensors.empty() ? 0 : piece_of(nest, tensors.front(), rank).parts;
    const bool same =
        !tensors.empty() && nest.fold == Fold::dense
        && std::ranges::all_of(tensors, [&](int t) { return piece_of(nest, t, rank).parts == first; });
    if (same && first > 1) return begin + parts_words(first) + "every matrix of " + layers_text(count) + end;
    if (same) return begin + "every matrix of " + layers_text(count) + " whole" + end;
    const Placement& p = nest.tensors[tensor];
    const NestPiece piece = piece_of(nest, tensor, rank);
    std::string what(name_of(p.id));
    std::int64_t parts = piece.parts;
    if (is_dealt(p)) {
        const std::int64_t held = piece.part.box[0].size();
        what = thousands(held) + " of " + thousands(p.shape[0]) + " experts";
        if (p.on(Axis::ep).spread == Spread::cut) parts /= p.on(Axis::ep).parts;
    }
    if (layers.items[item].layer >= 0) what += " in each of " + layers_text(having);
    return begin + parts_words(parts) + what + (parts == 1 && !is_dealt(p) ? ", whole" : "") + end;
}

// Returns " (0, 4)" of the ranks that keep the same part, where one axis has them all and they are few.
std::string ranks_of(const Scene& scene, GroupKind kind, const NestPiece& piece, std::int64_t rank) {
    constexpr std::int64_t kFew = 4;
    if (piece.copies > kFew || scene.evaluation.groups[kind].degree != piece.copies) return {};
    const std::vector<std::int64_t> ranks = group_members(scene.evaluation.mesh, kind, rank);
    return " (" + join(ranks, ", ", [](std::int64_t r) { return thousands(r); }) + ")";
}

// Says who keeps the same part: "The same on 128 GPUs: all of dp_shard (ZeRO-2)".
std::string holders_of(const Scene& scene, const Nest& nest, int tensor, const NestPiece& piece,
                       std::int64_t rank) {
    const Placement& kept = nest.kept[tensor];
    if (piece.copies <= 1) return "No other GPU keeps it.";
    std::string whole, part, ranks;
    bool data = false;
    for (const Axis axis : {Axis::dp_replicate, Axis::dp_shard, Axis::cp, Axis::ep, Axis::tp}) {
        const AxisPlacement& on = kept.on(axis);
        if (on.copies() <= 1) continue;
        const bool of_data = axis == Axis::dp_replicate || axis == Axis::dp_shard;
        data = data || of_data;
        const std::string name(axis_name(kept, axis));
        if (on.copies() < on.size)
            part = thousands(on.copies()) + " of " + name;
        else if (!whole.ends_with(name))
            whole += (whole.empty() ? "all of " : " × ") + name;
        if (!kept.expert && ranks.empty()) ranks = ranks_of(scene, group_of(axis), piece, rank);
    }
    std::string axes = whole + (whole.empty() || part.empty() ? "" : " × ") + part;
    if (parameter_copies_of(nest.plan, nest.mesh).stage_across)
        axes += axes.empty() ? "the stage that mirrors it (DualPipe)"
                             : " here, and as many on the stage that mirrors it (DualPipe)";
    const std::string zero = data ? " (ZeRO-" + std::to_string(scene.plan.layout.zero) + ")" : "";
    return "The same on " + thousands(piece.copies) + " GPUs" + ranks + ": " + axes + zero;
}

// Says what the cut means while the layer runs.
std::string cut_words(const Scene& scene, const Placement& p) {
    const AxisPlacement& tp = p.on(Axis::tp);
    const std::string axis(axis_name(p, Axis::tp));
    if (tp.size <= 1)
        return is_dealt(p) ? "each expert is whole on its GPU" : "no axis cuts it while the layer runs";
    if (tp.spread != Spread::cut) return "the same on all " + thousands(tp.size) + " of " + axis;
    const bool embeds = p.place == Place::embedding;
    if (tp.dim == Dim::rows && !embeds)
        return "rows are cut: each rank has its own outputs, nothing is added";
    const bool scatters = scene.plan.layout.sequence_parallel;
    return std::string(embeds ? "rows are cut" : "columns are cut") + ": sums are added by one "
           + (scatters ? "reduce-scatter" : "all-reduce");
}

}  // namespace

ZoomFacts zoom_facts(const Scene& scene, const Nest& nest, const NestChildren& layers, std::int64_t rank,
                     std::size_t item, int tensor) {
    ZoomFacts f;
    f.piece = piece_of(nest, tensor, rank);
    f.sentence = sentence_of(nest, layers, rank, item, tensor);
    const Placement& p = nest.tensors[tensor];
    const std::string dtype(name_of(scene.plan.training.parameters));
    if (is_sharded(f.piece)) {
        f.tensor.push_back(memory_text(f.piece.kept.bytes) + " in " + dtype + " kept, 1 part in "
                           + thousands(f.piece.parts) + " of the whole");
        f.tensor.push_back("while the layer runs: " + memory_text(f.piece.part.bytes));
    } else {
        f.tensor.push_back(memory_text(f.piece.part.bytes) + " in " + dtype);
    }
    f.tensor.push_back(cut_words(scene, p));
    f.tensor.push_back(holders_of(scene, nest, tensor, f.piece, rank));
    return f;
}

}  // namespace pentamesh::ui
