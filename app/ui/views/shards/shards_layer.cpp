#include "app/ui/views/shards/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/sharding/placement_words.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

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
    constexpr float kHeldHeight = 38, kTall = 420;
    std::optional<PlanEdit> edit;
    SheetLook look;
    look.isolate = s.isolate;
    look.dense = dense_coordinates(scene.evaluation.mesh, s.drawn->of.rank);
    look.expert = expert_coordinates(scene.evaluation.mesh, s.drawn->of.rank);
    if (room.h > kTall) {
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

}  // namespace pentamesh::ui
