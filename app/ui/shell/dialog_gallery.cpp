// The plans that ship, as small pictures: the smallest first, those that cannot run last.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/shell/dialogs.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/teach/loaf.h"

#include <algorithm>
#include <tuple>

namespace pentamesh::ui {

namespace {

constexpr float kCardHeight = 114, kCardGap = 10, kLeastCard = 200;

std::vector<GalleryPlan> gallery_of(const Presets& presets) {
    std::vector<GalleryPlan> out;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        if (!entry.broken.empty()) continue;
        GalleryPlan& g = out.emplace_back();
        g.name = entry.name;
        g.plan = presets.plan(entry.id);
        g.evaluation = evaluate(g.plan);
    }
    std::stable_sort(out.begin(), out.end(), [](const GalleryPlan& a, const GalleryPlan& b) {
        return std::tuple(!a.evaluation.valid, a.plan.cluster.gpus)
               < std::tuple(!b.evaluation.valid, b.plan.cluster.gpus);
    });
    return out;
}

std::size_t columns_for(float width) {
    return static_cast<std::size_t>(std::max(1.0f, (width + kCardGap) / (kLeastCard + kCardGap)));
}

std::string figures_of(const GalleryPlan& g) {
    const std::string gpus = plural(g.plan.cluster.gpus, "GPU", "GPUs");
    if (!g.evaluation.valid || !g.evaluation.step) return gpus + " · cannot run";
    return gpus + " · " + memory_text(g.evaluation.memory.peak()) + " · "
           + time_text(g.evaluation.step->time_s);
}

void draw_thumbnail(Ui& ui, Rect room, const GalleryPlan& g, const Presets& presets) {
    if (g.evaluation.mesh.world < 1 || room.h < 10) return;
    Selection plain;
    // Without tensor parallelism the first axis in use is coloured.
    const GroupKind kind = kind_of_loaf(g.evaluation.groups, GroupKind::tp);
    if (kind != GroupKind::tp) plain.choose(kind);
    const Hover none;
    Hover unused;
    const Scene scene{.plan = g.plan,
                      .evaluation = g.evaluation,
                      .presets = presets,
                      .selection = plain,
                      .hover = none,
                      .next_hover = unused};
    const Canvas::Clip clip = ui.canvas().clip(room.inset(-2));
    draw_mesh_in(ui.canvas(), ui.theme(), room, scene, 9);
}

bool draw_card(Ui& ui, Rect card, std::size_t i, const GalleryPlan& g, const Presets& presets) {
    const Hit hit = ui.area("gallery.plan", card, i);
    ui.canvas().rect(card, hit.hovered ? ui.theme().raised : ui.theme().window, 6);
    ui.canvas().frame(card, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
    Rect room = card.inset(10, 7);
    put_paragraph(ui, room, g.name, ui.style(12, Tone::text, Face::semibold), 15);
    ui.label(room.cut_top(16), figures_of(g), ui.small());
    room.cut_top(5);
    draw_thumbnail(ui, room, g, presets);
    if (hit.focused) ui.focus_ring(card, 6);
    return hit.clicked;
}

}  // namespace

float Dialogs::gallery_height(Ui& /*ui*/, float width) const {
    const std::size_t plans = window_.presets.list(PresetKind::plan).size(), columns = columns_for(width);
    const std::size_t rows = (plans + columns - 1) / columns;
    return static_cast<float>(rows) * (kCardHeight + kCardGap);
}

bool Dialogs::draw_gallery(Ui& ui, Rect room, Rect buttons) {
    gallery_.update(0, [&] { return gallery_of(window_.presets); });
    const std::size_t columns = columns_for(room.w);
    const float w = (room.w - kCardGap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    bool done = false;
    {
        ScrollArea area(ui, "gallery", room, dialog_.scroll);
        Rect row{};
        for (std::size_t i = 0; i < gallery_->size(); ++i) {
            if (i % columns == 0) {
                row = area.room.cut_top(kCardHeight);
                area.room.cut_top(kCardGap);
            }
            const Rect card = row.cut_left(w);
            row.cut_left(kCardGap);
            if (!draw_card(ui, card, i, (*gallery_)[i], window_.presets)) continue;
            const GalleryPlan& g = (*gallery_)[i];
            window_.later(g.name,
                          [this, plan = g.plan, name = g.name] { files_.replace_plan({plan}, name); });
            done = true;
        }
    }
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel") || done;
}

}  // namespace pentamesh::ui
