#include "app/ui/views/mesh/mesh_parts.h"

#include "app/ui/kit/format.h"
#include "core/pipeline/timeline_walk.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

const Factor& pipeline(const Scene& scene) {
    return scene.evaluation.mesh.dense[Axis::pp];
}

// A cell's id is its stage.
void count_stages(const Scene& scene, CellGrid& grid) {
    const Factor& pp = pipeline(scene);
    grid.count = static_cast<std::int32_t>(std::min<std::int64_t>(scene.evaluation.mesh.world, grid.count));
    grid.digits = 1;
    grid.digit[0] = {static_cast<std::int32_t>(pp.stride), static_cast<std::int32_t>(pp.size), 1};
    grid.palette_size = static_cast<int>(pp.size);
    grid.lit_id = -1;
}

bool a_color_each(const Scene& scene) {
    const std::int64_t stages = pipeline(scene).size;
    return scene.evaluation.mesh.world > 0 && stages >= 1
           && stages <= static_cast<std::int64_t>(CellGrid{}.palette.size());
}

Color idle_color(const Theme& theme) {
    return mix(theme.window, theme.hairline, 0.8f);
}

// An FB pair is both: its colour is between the two.
Color busy_color(const Theme& theme, OpKind kind) {
    return kind == OpKind::FB ? mix(theme.forward, theme.backward, 0.5f) : color_of(theme, kind);
}

const Op* op_now(const Scene& scene, int stage) {
    const Timeline& t = *scene.shown_timeline;
    const std::ptrdiff_t i = op_at(t, stage, scene.time_cursor_s);
    return i < 0 ? nullptr : &t.order.ops[i];
}

}  // namespace

bool shows_activity(const Scene& scene) {
    return scene.time_cursor_s >= 0 && scene.shown_timeline != nullptr && a_color_each(scene)
           && scene.shown_timeline->shape.devices == pipeline(scene).size;
}

void color_by_activity(const Theme& theme, const Scene& scene, CellGrid& grid) {
    count_stages(scene, grid);
    grid.ground = theme.window;
    for (int stage = 0; stage < grid.palette_size; ++stage) {
        const Op* op = op_now(scene, stage);
        grid.palette[stage] = op ? busy_color(theme, op->kind) : idle_color(theme);
    }
}

void activity_caption(Ui& ui, Rect row, const Scene& scene) {
    Canvas& c = ui.canvas();
    const std::int64_t stages = pipeline(scene).size, each = scene.evaluation.mesh.world / stages;
    std::array<std::int64_t, 5> doing{};
    std::int64_t idle = stages;
    for (int stage = 0; stage < static_cast<int>(stages); ++stage)
        if (const Op* op = op_now(scene, stage)) {
            ++doing[static_cast<std::size_t>(op->kind)];
            --idle;
        }
    const auto put = [&](const std::string& text, const TextStyle& s) {
        const float w = c.text_width(text, s);
        if (row.w > 24) c.text_in(row, text, s);
        row.cut_left(std::min(row.w, w + 12));
    };
    if (scene.time_cursor_s >= scene.shown_timeline->makespan) {
        put("At " + time_text(scene.time_cursor_s) + " the pipeline is done:", ui.title());
        put("gradients that nothing hid, the optimizer", ui.style(13, Tone::secondary));
        return;
    }
    put("At " + time_text(scene.time_cursor_s) + " " + thousands((stages - idle) * each) + " of "
            + plural(stages * each, "GPU works:", "GPUs work:"),
        ui.title());
    const auto item = [&](std::int64_t n, std::string_view what, Color color) {
        if (n <= 0 || row.w < 40) return;
        const Rect box{row.x, row.center().y - 5, 10, 10};
        c.box(box, color, ui.theme().secondary, 1, 2);
        row.cut_left(15);
        put(thousands(n * each) + " " + std::string(what), ui.style(13, Tone::secondary));
    };
    for (std::size_t k = 0; k < doing.size(); ++k)
        item(doing[k], name_of(static_cast<OpKind>(k)), busy_color(ui.theme(), static_cast<OpKind>(k)));
    item(idle, "idle", idle_color(ui.theme()));
}

std::string activity_text(const Scene& scene, std::int64_t rank) {
    if (!shows_activity(scene)) return "";
    const Factor& pp = pipeline(scene);
    const Op* op = op_now(scene, static_cast<int>(rank / pp.stride % pp.size));
    if (op == nullptr)
        return scene.time_cursor_s < scene.shown_timeline->makespan ? "now: idle"
                                                                    : "now: the pipeline is done";
    const int m = scene.shown_timeline->shape.microbatches;
    std::string s =
        "now: " + std::string(name_of(op->kind)) + " of micro-batch " + std::to_string(op->microbatch % m);
    if (op->kind == OpKind::FB) s += " and " + std::to_string(op->backward_microbatch % m);
    return s;
}

void dim_other_stages(Canvas& canvas, const Theme& theme, const Scene& scene, const CellGrid& grid) {
    const bool hovered = scene.hover.stage >= 0;
    const int stage = hovered ? scene.hover.stage : scene.selection.stage;
    if (stage < 0 || scene.hover.rank >= 0 || !a_color_each(scene) || pipeline(scene).size < 2) return;
    CellGrid dimmed = grid;
    count_stages(scene, dimmed);
    for (int s = 0; s < dimmed.palette_size; ++s)
        dimmed.palette[s] = theme.window.alpha(s == stage ? 0.0f : hovered ? 0.7f : 0.55f);
    canvas.cells(dimmed);
}

}  // namespace pentamesh::ui
