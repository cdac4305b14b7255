#include "app/ui/scene/view_head.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

std::string_view title_of(ViewId view) {
    switch (view) {
    case ViewId::mesh: return "Mesh";
    case ViewId::zoom: return "Zoom";
    case ViewId::shards: return "Shards";
    case ViewId::map: return "Map";
    case ViewId::memory: return "Memory";
    case ViewId::timeline: return "Timeline";
    case ViewId::comm: return "Communication";
    case ViewId::tensors: return "Tensors";
    case ViewId::step: return "Step";
    case ViewId::compare: return "Compare";
    case ViewId::search: return "Search";
    }
    return "";
}

std::string_view picture_name(ViewId view) {
    switch (view) {
    case ViewId::mesh: return "mesh";
    case ViewId::zoom: return "zoom";
    case ViewId::shards: return "shards";
    case ViewId::map: return "map";
    case ViewId::memory: return "memory";
    case ViewId::timeline: return "timeline";
    case ViewId::comm: return "comm";
    case ViewId::tensors: return "tensors";
    case ViewId::step: return "step";
    case ViewId::compare: return "compare";
    case ViewId::search: return "search";
    }
    return "";
}

ViewHead view_head(Ui& ui, Rect& room, ViewId current, std::span<const ViewId> siblings, bool& as_data) {
    ViewHead head;
    Rect row = room.cut_top(24);
    room.cut_top(4);
    Canvas& c = ui.canvas();
    for (const ViewId v : siblings) {
        const bool own = v == current;
        TextStyle s = own ? ui.title() : ui.style(13, Tone::secondary);
        const float w = c.text_width(title_of(v), s);
        const Rect tab = row.cut_left(w + 16);
        const Hit hit =
            ui.area(std::string("view.") + std::string(title_of(v)), {tab.x - 4, tab.y, w + 8, tab.h});
        if (hit.hovered) s.color = ui.theme().text;
        c.text_in({tab.x, tab.y, w + 2, tab.h}, title_of(v), s);
        if (hit.focused) ui.focus_ring({tab.x - 4, tab.y, w + 8, tab.h}, 4);
        if (own && hit.double_clicked) head.full = true;
        if (!own && hit.clicked) head.switch_to = v;
    }
    const std::string_view label = as_data ? "show as picture" : "show as data";
    const float w = c.text_width(label, ui.small()) + 2;
    if (row.w > w + 60) {
        const Rect link = row.cut_right(w);
        row.cut_right(16);
        const Hit hit = ui.area("view.data", link, static_cast<std::uint64_t>(current));
        c.text_in(link, label, ui.small(hit.hovered ? Tone::text : Tone::secondary), Align::right);
        if (hit.focused) ui.focus_ring(link, 3);
        if (hit.clicked) as_data = !as_data;
    }
    head.as_data = as_data;
    head.row = row;
    return head;
}

Rect head_place(Rect& head_row, Rect& room, float width) {
    if (head_row.w < width && room.h > 90) {
        head_row = room.cut_top(24);
        room.cut_top(6);
    }
    const Rect place = head_row.cut_left(std::min(head_row.w, width));
    head_row.cut_left(std::min(head_row.w, 16.0f));
    return place;
}

float segments_width(Ui& ui, std::span<const std::string_view> labels) {
    float w = 0;
    for (const auto label : labels)
        w += ui.canvas().text_width(label, ui.style(12, Tone::text, Face::semibold)) + 20;
    return std::ceil(w);
}

Rect head_words(Rect head_row, Rect& room, float width) {
    if (head_row.w >= width || room.h <= 110) return head_row;
    const Rect row = room.cut_top(20);
    room.cut_top(4);
    return row;
}

void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.style(13, Tone::secondary);
    if (c.text_width(words, style) > head_row.w && room.h > least_height)
        room.cut_top(c.paragraph(room, words, style, 18) + 6);
    else
        ui.label(head_row, words, style);
}

}  // namespace pentamesh::ui
