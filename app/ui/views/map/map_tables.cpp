// Draws the map's reference tables: what each axis works on and needs of the model, what it saves and costs.
// They are the same in any plan; the axes that this one uses stand out.
#include "app/tables/map.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/views/map/map_parts.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace pentamesh::ui {

namespace {

constexpr float kLine = 17, kCellGap = 16, kPadY = 5, kName = 84;

// These are shares of the width.
constexpr std::array<float, kMapScope.size()> kScopeShares{1.0f, 1.3f, 1.1f, 1.2f};
constexpr std::array<float, kMapMaster.size()> kMasterShares{1.1f, 1.2f, 1.3f, 1.3f, 1.2f};

std::string in_capitals(std::string_view text) {
    std::string out(text);
    for (char& ch : out)
        if (ch >= 'a' && ch <= 'z') ch = static_cast<char>(ch - 'a' + 'A');
    return out;
}

bool used(const MapViewState& state, MapRowId id) {
    const auto row = std::find_if(state.figures->rows.begin(), state.figures->rows.end(),
                                  [&](const MapRow& r) { return r.id == id; });
    return row != state.figures->rows.end() && row->verdict != Verdict::off;
}

// Draws at the top of `room` and takes its height off it. `first` is the index of its rows' names.
template <std::size_t N>
void reference_table(Ui& ui, Rect& room, std::string_view title, const std::array<MapWordsColumn, N>& columns,
                     const std::array<float, N>& shares, Scene& scene, MapViewState& state,
                     std::uint64_t first) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), title);
    const float all = std::accumulate(shares.begin(), shares.end(), 0.0f);
    const float spare = std::max(60.0f, room.w - kName - kCellGap * static_cast<float>(N));
    const auto width = [&](std::size_t k) { return spare * shares[k] / all; };
    Rect head = room.cut_top(20);
    head.cut_left(kName);
    for (std::size_t k = 0; k < N; ++k) {
        head.cut_left(kCellGap);
        ui.section(head.cut_left(width(k)), in_capitals(columns[k].title));
    }
    const int selected = selected_row(scene, state);
    for (int i = 0; i < kMapRowCount; ++i) {
        const auto id = static_cast<MapRowId>(i);
        const MapWords& w = words_of(id);
        const bool on = used(state, id);
        const TextStyle style = ui.small(on ? Tone::text : Tone::secondary);
        float h = kLine;
        for (std::size_t k = 0; k < N; ++k)
            h = std::max(h, c.paragraph_height(width(k), w.*columns[k].words, style, kLine));
        Rect row = room.cut_top(h + 2 * kPadY);
        const Hit hit = ui.area("map.reference", row, first + static_cast<std::uint64_t>(i));
        const bool lit = selected >= 0 && state.figures->rows[static_cast<std::size_t>(selected)].id == id;
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        if (lit || hit.hovered)
            c.rect(row.inset(0, 1), lit ? ui.theme().raised : ui.theme().raised.alpha(0.5f), 4);
        if (hit.focused) ui.focus_ring(row.inset(2, 2), 4);
        for (std::size_t k = 0; hit.clicked && k < state.figures->rows.size(); ++k)
            if (state.figures->rows[k].id == id) select_row(scene, state, static_cast<int>(k));
        row = row.inset(0, kPadY);
        Rect name = row.cut_left(kName);
        const Color color = color_of_row(ui.theme(), id, state);
        const bool modifier = id == MapRowId::zero || id == MapRowId::sp || id == MapRowId::etp;
        if (modifier) name.cut_left(12);
        const Vec2 at{name.x + 6, name.y + (kLine - 11) / 2};
        if (modifier)
            c.frame({at.x, at.y, 11, 11}, on ? color : color.alpha(0.6f), 2, 3);
        else
            ui.swatch(at, on ? color : color.alpha(0.45f), 11);
        name.cut_left(24);
        name.h = kLine;
        c.text_in(name, w.key, on ? ui.title() : ui.style(13, Tone::secondary));
        for (std::size_t k = 0; k < N; ++k) {
            row.cut_left(kCellGap);
            c.paragraph(row.cut_left(width(k)), w.*columns[k].words, style, kLine);
        }
    }
}

}  // namespace

void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    ScrollArea area(ui, "map.tables", room, state.scroll);
    room = area.room;
    room.cut_right(10);  // the scroll bar's
    const float top = room.y;
    reference_table(ui, room, "SCOPE: WHERE EACH WORKS, AND WHAT IT MUST KNOW", kMapScope, kScopeShares,
                    scene, state, 0);
    room.cut_top(20);
    reference_table(ui, room, "MASTER TABLE: WHAT EACH CUTS, SAVES AND COSTS", kMapMaster, kMasterShares,
                    scene, state, 100);
    area.room.cut_top(room.y - top);
}

}  // namespace pentamesh::ui
