// Draws one projection with its cut: the part of this GPU, the parts of its peers.
#include "app/ui/views/zoom/view.h"
#include "core/plan/names.h"
#include "core/sharding/nesting.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

GroupKind group_of_cut(const Placement& p, Axis a) {
    if (a == Axis::ep) return GroupKind::ep;
    return p.expert ? GroupKind::etp : GroupKind::tp;
}

// Draws the whole matrix in `r`, and in it the part that the rank holds.
void matrix(Ui& ui, Rect r, const Placement& p, const Part& part) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const AxisPlacement& tp = p.on(Axis::tp);
    const Color axis = color_of(t, group_of_cut(p, Axis::tp));
    if (tp.size > 1 && tp.spread != Spread::cut) {  // the same on each of tp's ranks
        c.pattern(r, Pattern::hatched, axis, mix(t.window, axis, 0.12f));
        c.frame(r, axis, 1);
        return;
    }
    if (tp.size <= 1) {  // whole, here
        c.rect(r, mix(t.window, t.secondary, 0.45f));
        c.frame(r, t.secondary, 1);
        return;
    }
    c.rect(r, mix(t.window, axis, 0.16f));
    const bool rows = tp.dim == Dim::rows;
    const std::size_t dim = rows ? 1 : 2;
    const auto whole = static_cast<double>(p.shape[dim]);
    const auto at = [&](std::int64_t i) { return static_cast<float>(static_cast<double>(i) / whole); };
    const float a = at(part.box[dim].begin), b = at(part.box[dim].end);
    const Rect held = rows ? Rect{r.x, r.y + r.h * a, r.w, std::max(1.0f, r.h * (b - a))}
                           : Rect{r.x + r.w * a, r.y, std::max(1.0f, r.w * (b - a)), r.h};
    c.rect(held, axis);
    const float pitch = (rows ? r.h : r.w) / static_cast<float>(tp.parts);
    if (pitch >= 4)
        for (std::int64_t i = 1; i < tp.parts; ++i) {
            const float d = pitch * static_cast<float>(i);
            if (rows)
                c.line({r.x, r.y + d}, {r.right(), r.y + d}, t.window, 1);
            else
                c.line({r.x + d, r.y}, {r.x + d, r.bottom()}, t.window, 1);
        }
    c.frame(r, axis, 1);
    const TextStyle s = ui.style(11).in(ink_on(axis));
    const std::string text = short_range(part.box[dim]);
    if (held.h >= 15 && c.text_width(text, s) < held.w - 4) c.text_in(held, text, s, Align::center);
}

// Draws every expert of the layer as a cell; those of this rank are solid.
void experts(Ui& ui, Rect r, const Placement& p, const Part& part) {
    Canvas& c = ui.canvas();
    const Theme& t = ui.theme();
    const Color axis = color_of(t, GroupKind::ep);
    const NestGrid g = nest_grid(r.w, r.h, p.shape[0]);
    const float w = r.w / static_cast<float>(g.cols), h = r.h / static_cast<float>(g.rows);
    const float gap = std::min(w, h) > 8 ? 2.0f : std::min(w, h) > 3 ? 1.0f : 0.0f;
    for (std::int64_t i = 0; i < p.shape[0]; ++i) {
        const std::int64_t row = i / g.cols, column = i % g.cols;
        const Rect cell{r.x + w * static_cast<float>(column), r.y + h * static_cast<float>(row), w - gap,
                        h - gap};
        const bool held = i >= part.box[0].begin && i < part.box[0].end;
        c.rect(cell, held ? axis : mix(t.window, axis, 0.16f), gap > 1 ? 2.0f : 0.0f);
        if (w < 26 || h < 15) continue;
        TextStyle s = ui.style(11, Tone::secondary);
        if (held) s.color = ink_on(axis);
        c.text_in(cell, std::to_string(i), s, Align::center);
    }
}

// Returns the largest rectangle of that shape in the room; very long ones are shortened so that both sides
// show.
Rect shaped(Rect room, double aspect) {
    aspect = std::clamp(aspect, 0.35, 3.0);
    float w = room.w, h = static_cast<float>(w / aspect);
    if (h > room.h) h = room.h, w = static_cast<float>(h * aspect);
    return {room.x + (room.w - w) / 2, room.y + (room.h - h) / 2, w, h};
}

}  // namespace

void draw_tensor(Ui& ui, Rect room, const Nest& nest, std::span<const int> tensors, std::int64_t rank,
                 std::string_view label) {
    Canvas& c = ui.canvas();
    const bool named = room.h > 44 && room.w > 40;
    Rect inner = room.inset(std::min(12.0f, room.w * 0.06f), std::min(10.0f, room.h * 0.08f));
    if (named) {
        const bool large = room.h > 200 && room.w > 160;
        const Rect line = inner.cut_top(large ? 26.0f : 17.0f);
        c.text_in(line, label, ui.style(large ? 14.0f : 11.0f, Tone::text, Face::semibold));
    }
    const std::vector<std::string> sentences = cut_sentences(nest, tensors, rank);
    // Words are under the picture, if there is room for both.
    const float words = static_cast<float>(sentences.size()) * 18 + 6;
    if (room.h > 180 + words && room.w > 320) {
        Rect text = inner.cut_bottom(words);
        text.cut_top(6);
        for (const std::string& s : sentences)
            c.text_in(text.cut_top(18), s, ui.small(Tone::text), Align::center);
    }
    double rows = 0;
    for (const int i : tensors) rows += static_cast<double>(nest.tensors[i].shape[1]);
    if (tensors.empty() || inner.w < 4 || inner.h < 4) return;
    const Placement& first = nest.tensors[tensors[0]];
    if (first.dims[0] == Dim::experts && first.shape[0] > 1) {
        experts(ui, inner, first, part_of(nest.plan, nest.mesh, first, rank));
        return;
    }
    const Rect whole = shaped(inner, static_cast<double>(first.shape[2]) / rows);
    float y = whole.y;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
        const auto h = whole.h * static_cast<float>(static_cast<double>(p.shape[1]) / rows);
        const Rect section{whole.x, y, whole.w,
                           std::max(1.0f, h - (tensors.size() > 1 && h > 6 ? 2.0f : 0.0f))};
        matrix(ui, section, p, part_of(nest.plan, nest.mesh, p, rank));
        if (tensors.size() > 1 && h >= 14 && whole.x - inner.x > 18)
            c.text_in({whole.x - 22, section.y, 16, std::min(section.h, 18.0f)}, short_name_of(p.id),
                      ui.small(), Align::right);
        y += h;
    }
}

}  // namespace pentamesh::ui
