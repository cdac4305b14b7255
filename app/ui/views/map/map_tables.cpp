// The map's reference tables: what each axis works on and asks of the model, what it saves and costs. The
// same in any plan; what this one uses stands out.
#include "app/ui/kit/scroll.h"
#include "app/ui/views/map/map_parts.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

namespace {

constexpr float kLine = 17, kCellGap = 16, kPadY = 5, kName = 84;

struct TableColumn {
    std::string_view head;
    std::string_view MapWords::*words;
    float share;  // of the width
};
constexpr std::array<TableColumn, 4> kScope{{{"WORKS ON", &MapWords::scope, 1.0f},
                                             {"SAYS", &MapWords::says, 1.3f},
                                             {"HOW OFTEN", &MapWords::often, 1.1f},
                                             {"MUST KNOW OF THE MODEL", &MapWords::model, 1.2f}}};
constexpr std::array<TableColumn, 5> kMaster{{{"CUTS", &MapWords::cuts, 1.1f},
                                              {"SAVES", &MapWords::saves, 1.2f},
                                              {"SITS", &MapWords::sits, 1.3f},
                                              {"AGAINST IT", &MapWords::drawback, 1.3f},
                                              {"REACH FOR IT WHEN", &MapWords::reach, 1.2f}}};

bool used(const MapViewState& state, MapRowId id) {
    const auto row =
        std::find_if(state.rows.begin(), state.rows.end(), [&](const MapRow& r) { return r.id == id; });
    return row != state.rows.end() && row->verdict != Verdict::off;
}

// Draws at the top of `room` and takes its height off it. `first`: index of its rows' names.
template <std::size_t N>
void reference_table(Ui& ui, Rect& room, std::string_view title, const std::array<TableColumn, N>& columns,
                     Scene& scene, MapViewState& state, std::uint64_t first) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(20), title);
    float shares = 0;
    for (const TableColumn& k : columns) shares += k.share;
    const float spare = std::max(60.0f, room.w - kName - kCellGap * static_cast<float>(N));
    const auto width = [&](const TableColumn& k) { return spare * k.share / shares; };
    Rect head = room.cut_top(20);
    head.cut_left(kName);
    for (const TableColumn& k : columns) {
        head.cut_left(kCellGap);
        ui.section(head.cut_left(width(k)), k.head);
    }
    const int selected = selected_row(scene, state);
    for (int i = 0; i < kMapRowCount; ++i) {
        const auto id = static_cast<MapRowId>(i);
        const MapWords& w = words_of(id);
        const bool on = used(state, id);
        const TextStyle style = ui.small(on ? Tone::text : Tone::secondary);
        float h = kLine;
        for (const TableColumn& k : columns)
            h = std::max(h, c.paragraph_height(width(k), w.*k.words, style, kLine));
        Rect row = room.cut_top(h + 2 * kPadY);
        const Hit hit = ui.area("map.reference", row, first + static_cast<std::uint64_t>(i));
        const bool lit = selected >= 0 && state.rows[static_cast<std::size_t>(selected)].id == id;
        c.line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
        if (lit || hit.hovered)
            c.rect(row.inset(0, 1), lit ? ui.theme().raised : ui.theme().raised.alpha(0.5f), 4);
        if (hit.focused) ui.focus_ring(row.inset(2, 2), 4);
        for (std::size_t k = 0; hit.clicked && k < state.rows.size(); ++k)
            if (state.rows[k].id == id) select_row(scene, state, static_cast<int>(k));
        row = row.inset(0, kPadY);
        Rect name = row.cut_left(kName);
        const Color color = color_of_row(ui.theme(), id);
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
        for (const TableColumn& k : columns) {
            row.cut_left(kCellGap);
            c.paragraph(row.cut_left(width(k)), w.*k.words, style, kLine);
        }
    }
}

}  // namespace

void draw_map_tables(Ui& ui, Rect room, Scene& scene, MapViewState& state) {
    ScrollArea area(ui, "map.tables", room, state.scroll);
    room = area.room;
    room.cut_right(10);  // the scroll bar's
    const float top = room.y;
    reference_table(ui, room, "SCOPE: WHERE EACH WORKS, AND WHAT IT MUST KNOW", kScope, scene, state, 0);
    room.cut_top(20);
    reference_table(ui, room, "MASTER TABLE: WHAT EACH CUTS, SAVES AND COSTS", kMaster, scene, state, 100);
    area.room.cut_top(room.y - top);
}

Table map_reference_data() {
    Table t;
    t.columns.push_back({"axis"});
    const auto heads = [&](const auto& columns) {
        for (const TableColumn& k : columns) {
            std::string head(k.head);
            std::transform(head.begin(), head.end(), head.begin(), [](char ch) {
                return ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
            });
            t.columns.push_back({head});
        }
    };
    heads(kScope);
    heads(kMaster);
    for (int i = 0; i < kMapRowCount; ++i) {
        const MapWords& w = words_of(static_cast<MapRowId>(i));
        std::vector<std::string> row{std::string(w.key)};
        for (const TableColumn& k : kScope) row.emplace_back(w.*k.words);
        for (const TableColumn& k : kMaster) row.emplace_back(w.*k.words);
        t.rows.push_back(std::move(row));
    }
    return t;
}

}  // namespace pentamesh::ui
