// Shows the lanes of the selected block in a card over the timeline.
#include "app/ui/kit/format.h"
#include "app/ui/views/comm/view.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"

#include <algorithm>
#include <optional>

namespace pentamesh::ui {
namespace {

constexpr float kLeastCard = 380, kMostCard = 600, kCardBeam = 22;

// Returns the place of a block; nullopt where no window shows it.
std::optional<Rect> place_of(const Timeline& t, std::size_t op, const RowPlace& rows,
                             std::span<const TimeScale> windows) {
    for (const TimeScale& w : windows) {
        if (t.end[op] <= w.from_s || t.start[op] >= w.to_s) continue;
        const Rect row = rows.row(device_of_op(t, op));
        if (row.y < rows.plot.y - 1 || row.bottom() > rows.plot.bottom() + 1) return std::nullopt;
        const float x0 = std::max(w.x(t.start[op]), w.plot.x), x1 = std::min(w.x(t.end[op]), w.plot.right());
        return Rect{x0, row.y, std::max(x1 - x0, 1.0f), row.h};
    }
    return std::nullopt;
}

// Returns a layer's calls where its layers have some, else the gathers and reductions of a micro-batch.
std::optional<LanePicture> picture_of(const Scene& scene, int stage) {
    const auto sends = [](const std::optional<LanePicture>& p) { return p && p->waits_s + p->hidden_s > 0; };
    if (auto layer = layer_picture(scene.plan, scene.evaluation, stage); sends(layer)) return layer;
    if (auto all = lane_picture(scene.plan, scene.evaluation, stage); sends(all)) return all;
    return std::nullopt;
}

}  // namespace

bool take_card(Ui& ui, const Scene& scene, const TimelineViewState& state) {
    if (state.card.empty()) return false;
    const Hit hit = ui.area("timeline.lanes", state.card);
    if (hit.focused) ui.focus_ring(state.card, 2);
    return hit.clicked || scene.keys.pressed({Key::enter});
}

void draw_block_card(Ui& ui, Rect room, const RowPlace& rows, std::span<const TimeScale> windows,
                     const Scene& scene, TimelineViewState& state) {
    state.card = {};
    const Timeline& t = state.shown->timeline(scene.evaluation);
    const std::ptrdiff_t selected = scene.selection.op;
    if (selected < 0 || t.iterations > 1 || static_cast<std::size_t>(selected) >= t.order.ops.size()) return;
    const auto op = static_cast<std::size_t>(selected);
    const std::optional<Rect> block = place_of(t, op, rows, windows);
    if (!block || room.w < kLeastCard) return;
    const int stage = device_of_op(t, op);
    const auto& picture =
        state.lanes.get({state.shown->version, stage}, [&] { return picture_of(scene, stage); });
    if (!picture) return;
    const float w = std::clamp(room.w * 0.45f, kLeastCard, kMostCard), h = lanes_card_height(*picture);
    if (h + kCardBeam + block->h > room.h) return;
    const bool below = block->bottom() + kCardBeam + h <= room.bottom();
    const float y = below ? block->bottom() + kCardBeam : block->y - kCardBeam - h;
    if (y < room.y) return;
    const Rect card{std::clamp(block->center().x - w / 2, room.x, room.right() - w), y, w, h};
    state.card = card;
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const float edge = below ? card.y : card.bottom(), from = below ? block->bottom() : block->y;
    const Color beam = theme.text.alpha(0.22f);
    c.polygon({{card.x + 4, edge}, {block->x, from}, {block->right(), from}, {card.right() - 4, edge}}, beam);
    c.frame(*block, theme.text, 2);
    draw_lanes_card(ui, card, scene, *picture, "Enter: all lanes");
}

}  // namespace pentamesh::ui
