// Draws the map's reference tables: what each axis works on and needs of the model, what it saves and costs.
// They are the same in any plan; the axes that this one uses stand out.
#include "app/tables/map.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/views/map/view.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

namespace {

constexpr float kLine = 17, kCellGap = 16, kPadY = 5, kName = 84;

// The first column is the axis.
constexpr std::array kScopeSizes{px(kName), share(1.0f), share(1.3f), share(1.1f), share(1.2f)};
constexpr std::array kMasterSizes{px(kName), share(1.1f), share(1.2f), share(1.3f), share(1.3f), share(1.2f)};

// Draws at the top of `room` and takes its height off it. `first` is the index of its rows' names.
template <std::size_t N>
void reference_table(Ui& ui, Rect& room, std::string_view title, const std::array<MapWordsColumn, N>& words,
                     const std::array<Size, N + 1>& sizes, Scene& scene, MapViewState& state,
                     std::uint64_t first) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), title);
    const std::array<Rect, N + 1> head = columns(room.cut_top(20), sizes, kCellGap);
    for (std::size_t k = 0; k < N; ++k) ui.section(head[k + 1], in_capitals(words[k].title));
    for (int i = 0; i < kMapRowCount; ++i) {
        const auto id = static_cast<MapRowId>(i);
        const MapWords& w = words_of(id);
        const MapRow* const in_plan = find_row(state, id);
        const bool on = in_plan != nullptr && in_plan->verdict != Verdict::off;
        const TextStyle style = ui.small(on ? Tone::text : Tone::secondary);
        float h = kLine;
        for (std::size_t k = 0; k < N; ++k)
            h = std::max(h, c.paragraph_height(head[k + 1].w, w.*words[k].words, style, kLine));
        const Rect row = room.cut_top(h + 2 * kPadY);
        const Hit hit = ui.area("map.reference", row, first + static_cast<std::uint64_t>(i));
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        row_ground(ui, row.inset(0, 1), hit, is_selected(scene, state, id));
        if (hit.clicked) select_row(scene, state, id);
        const std::array<Rect, N + 1> cells = columns(row.inset(0, kPadY), sizes, kCellGap);
        Rect name = cells[0];
        const bool modifier = id == MapRowId::zero || id == MapRowId::sp || id == MapRowId::etp;
        if (modifier) name.cut_left(12);
        row_mark(ui, {name.x + 6, name.y + (kLine - 11) / 2}, 11, modifier, on,
                 color_of_row(ui.theme(), id, state));
        name.cut_left(24);
        name.h = kLine;
        c.text_in(name, w.key, on ? ui.title() : ui.style(13, Tone::secondary));
        for (std::size_t k = 0; k < N; ++k) c.paragraph(cells[k + 1], w.*words[k].words, style, kLine);
    }
}

}  // namespace

void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    ScrollArea area(ui, "map.tables", room, state.scroll);
    room = area.room;
    room.cut_right(10);  // the scroll bar's
    const float top = room.y;
    reference_table(ui, room, "SCOPE: WHERE EACH WORKS, AND WHAT IT MUST KNOW", kMapScope, kScopeSizes, scene,
                    state, 0);
    room.cut_top(20);
    reference_table(ui, room, "MASTER TABLE: WHAT EACH CUTS, SAVES AND COSTS", kMapMaster, kMasterSizes,
                    scene, state, 100);
    area.room.cut_top(room.y - top);
}

}  // namespace pentamesh::ui
