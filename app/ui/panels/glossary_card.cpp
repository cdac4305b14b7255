#include "app/ui/kit/data_table.h"
#include "app/ui/panels/inspector.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kTextRow = 18, kMarkWidth = 16;

// Returns the line with tabs as four blanks: a tab has no width of its own.
std::string shown_line(std::string_view line) {
    std::string out;
    for (const char c : line)
        if (c == '\t')
            out += "    ";
        else if (c != '\r')
            out += c;
    return out;
}

void draw_line_marks(Ui& ui, Rect box, std::uint8_t marks) {
    for (const LineMark mark : all_of<LineMark>()) {
        if (((marks >> static_cast<unsigned>(mark)) & 1) == 0) continue;
        TextStyle s = ui.mono();
        s.color = color_of(ui.theme(), mark);
        ui.canvas().text_in(box.cut_left(kMarkWidth), sign_of(mark), s, Align::center);
    }
}

}  // namespace

std::string_view sign_of(LineMark mark) {
    static constexpr EnumArray<LineMark, std::string_view> kSigns{"→", "·", "!", "?"};
    return kSigns[mark];
}

Color color_of(const Theme& theme, LineMark mark) {
    return mark == LineMark::mapped ? theme.good : mark == LineMark::ignored ? theme.secondary : theme.amber;
}

std::string_view words_of(LineMark mark) {
    static constexpr EnumArray<LineMark, std::string_view> kWords{"mapped", "ignored", "cannot hold",
                                                                  "not known"};
    return kWords[mark];
}

void MarkedText::set_text(std::string_view text) {
    lines = split_lines(text);
    marks.clear();
}

void MarkedText::mark(int line, LineMark mark) {
    if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return;
    marks.resize(lines.size());
    marks[static_cast<std::size_t>(line) - 1] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(mark));
}

void draw_marked_text(Ui& ui, std::string_view name, Rect room, const MarkedText& text,
                      MarkedTextState& state) {
    Canvas& c = ui.canvas();
    c.rect(room, ui.theme().panel, 6);
    c.frame(room, ui.theme().hairline, 1, 6);
    state.hovered = 0;
    ScrollArea area(ui, name, room.inset(1, 1), state.scroll, {.wheel_step = 3 * kTextRow, .pad = {8, 6}});
    const bool marked = !text.marks.empty();
    const float numbers =
        c.text_width(std::to_string(std::max<std::size_t>(text.lines.size(), 10)), ui.mono()) + 10;
    const auto n = text.lines.size();
    const Rect all = area.room.cut_top(static_cast<float>(n) * kTextRow);
    const auto row_of = [&](std::size_t i) {
        return Rect{all.x, all.y + static_cast<float>(i) * kTextRow, all.w - 8, kTextRow};
    };
    if (state.show > 0 && static_cast<std::size_t>(state.show) <= n)
        area.show(row_of(static_cast<std::size_t>(state.show) - 1));
    state.show = 0;
    // Only the visible rows are drawn: a log has many thousands.
    const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor((room.y - all.y) / kTextRow)));
    const auto last =
        std::min(n, static_cast<std::size_t>(std::max(0.0f, std::ceil((room.bottom() - all.y) / kTextRow))));
    for (std::size_t i = first; i < last; ++i) {
        Rect row = row_of(i);
        const bool hovered = ui.hovers(row) && room.contains(ui.frame().mouse);
        if (hovered) state.hovered = static_cast<int>(i) + 1;
        if (hovered || state.highlighted == static_cast<int>(i) + 1)
            c.rect({row.x - 4, row.y, row.w + 8, row.h}, ui.theme().raised, 3);
        c.text_in(row.cut_left(numbers), std::to_string(i + 1), ui.mono(Tone::faint));
        if (marked) draw_line_marks(ui, row.cut_left(kMarkWidth * kEnumCount<LineMark> + 2), text.marks[i]);
        const bool plain = marked && text.marks[i] == 0;
        ui.label(row, shown_line(text.lines[i]), ui.mono(plain ? Tone::secondary : Tone::text));
    }
}

namespace {

std::optional<GroupKind> kind_of(std::string_view axis) {
    if (axis == "dp") return GroupKind::dp_shard;
    if (axis == "tp") return GroupKind::tp;
    if (axis == "pp") return GroupKind::pp;
    if (axis == "cp") return GroupKind::cp;
    if (axis == "ep") return GroupKind::ep;
    return std::nullopt;
}

Color color_of_entry(const Theme& theme, const GlossaryEntry& entry) {
    if (entry.axis == "dp") return color_of(theme, GroupKind::dp_replicate);
    const auto kind = kind_of(entry.axis);
    return kind ? color_of(theme, *kind) : theme.hairline;
}

std::vector<const GlossaryEntry*> found(const Glossary& glossary, std::string_view typed) {
    std::vector<std::pair<int, const GlossaryEntry*>> scored;
    for (const GlossaryEntry& e : glossary.entries)
        if (const int score = glossary_match(e, typed); score >= 0) scored.emplace_back(score, &e);
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const GlossaryEntry*> out;
    out.reserve(scored.size());
    for (const auto& [score, e] : scored) out.push_back(e);
    return out;
}

void draw_card(Ui& ui, const Scene& scene, GlossaryState& state) {
    const GlossaryEntry* e = scene.glossary->find(state.card);
    if (e == nullptr) {
        state.card.clear();
        return;
    }
    const Vec2 screen = ui.frame().size;
    const float w = std::min(380.0f, screen.x - 24);
    const float h = glossary_text(ui, {0, 0, w - 32, 0}, scene, *e, true) + 28 + 30;
    Rect box{state.card_at.x, state.card_at.bottom() + 6, w, std::min(h, screen.y - 16)};
    if (box.bottom() > screen.y - 8) box.y = std::max(8.0f, state.card_at.y - box.h - 6);
    box.x = held_between(box.x, 8.0f, screen.x - 8 - box.w);
    const auto layer = ui.open_layer("glossary.card", box);
    const bool open = layer.stays();
    Rect room = box.inset(16, 14);
    const Rect foot = room.cut_bottom(22);
    glossary_text(ui, room, scene, *e, false);
    if (ui.link("glossary.more", {foot.x, foot.y + 4}, "all terms")) {
        state.open = state.fresh = true;
        state.picked = e->id;
        state.search.clear();
        state.card.clear();
    }
    if (!open) state.card.clear();
}

// Draws the list of the terms found; keeps the picked one in sight.
void draw_list(Ui& ui, Rect room, const std::vector<const GlossaryEntry*>& shown, GlossaryState& state) {
    constexpr float kRow = 24;
    Canvas& c = ui.canvas();
    auto at = std::find_if(shown.begin(), shown.end(),
                           [&](const GlossaryEntry* e) { return e->id == state.picked; });
    const auto n = static_cast<std::ptrdiff_t>(shown.size());
    std::ptrdiff_t i = at == shown.end() ? 0 : at - shown.begin();
    const std::ptrdiff_t before = i;
    if (pressed({Key::down}, true)) i = std::min(n - 1, i + 1);
    if (pressed({Key::up}, true)) i = std::max<std::ptrdiff_t>(0, i - 1);
    if (pressed({Key::page_down}, true)) i = std::min(n - 1, i + 10);
    if (pressed({Key::page_up}, true)) i = std::max<std::ptrdiff_t>(0, i - 10);
    const bool jumped = at == shown.end() || i != before || state.fresh;
    state.picked = shown[i]->id;
    ScrollArea area(ui, "glossary.list", room, state.scroll, {.wheel_step = 2 * kRow, .keys = false});
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        Rect row = area.room.cut_top(kRow);
        if (k == i && jumped) area.show(row);
        if (!area.sees(row)) continue;
        const GlossaryEntry& e = *shown[k];
        const Hit hit = ui.area("glossary.entry." + e.id, row, 0, true, false);
        row_ground(ui, row, hit, k == i);
        row = row.inset(8, 0);
        if (!e.axis.empty()) c.rect({row.x, row.center().y - 4, 8, 8}, color_of_entry(ui.theme(), e), 2);
        row.cut_left(16);
        c.text_in(row, e.term, ui.style(13, k == i ? Tone::text : Tone::secondary));
        if (hit.clicked) state.picked = e.id;
    }
}

void draw_sheet(Ui& ui, Scene& scene, GlossaryState& state) {
    const Rect box = dialog_box(ui, {760, 520}, 24);
    const auto layer = ui.open_layer("glossary", box, true);
    const bool open = layer.stays();
    Rect room = box.inset(20, 16);
    Rect head = room.cut_top(28);
    ui.canvas().text_in(head.cut_left(86), "Glossary", {Face::semibold, 14, ui.theme().text, 0});
    const Rect close = head.cut_right(72);
    head.cut_right(8);
    bool changed = false;
    ui.text_field("glossary.search", head, state.search, "type a term", state.fresh, &changed);
    if (changed) state.picked.clear(), state.scroll = {};
    room.cut_top(12);
    const auto shown = found(*scene.glossary, state.search);
    const Rect list = room.cut_left(std::min(250.0f, room.w * 0.42f));
    room.cut_left(20);
    bool leave = !open;
    if (shown.empty()) {
        ui.canvas().text_in({list.x, list.y, list.w, 24}, "nothing is called that", ui.small());
    } else {
        draw_list(ui, list, shown, state);
        if (const GlossaryEntry* e = scene.glossary->find(state.picked)) {
            const float used = glossary_text(ui, room, scene, *e, false);
            const auto kind = kind_of(e->axis);
            if (kind
                && ui.link("glossary.axis", {room.x, room.y + used + 8}, "select this axis in every view")) {
                scene.selection.choose(*kind);
                leave = true;
            }
        }
    }
    state.fresh = false;
    if (ui.button("glossary.close", close, "Close")) leave = true;
    if (leave) state.open = false;
}

}  // namespace

bool term(Ui& ui, Rect r, std::string_view id, std::string_view text, const TextStyle& style,
          std::uint64_t key) {
    Canvas& c = ui.canvas();
    r.w = std::min(r.w, c.text_width(text, style) + 1);
    const Hit hit = ui.area("term." + std::string(id), r, key);
    TextStyle s = style;
    if (hit.hovered) s.color = ui.theme().text;
    const bool cut = c.text_in(r, text, s);
    const float y = std::round(r.center().y + style.size * 0.62f);
    c.line({r.x, y}, {r.right(), y}, hit.hovered ? ui.theme().text : ui.theme().secondary, 1, Dash::dotted);
    if (hit.focused) ui.focus_ring(r, 3);
    if (hit.clicked) {
        ui.state().term = id;
        ui.state().term_at = r;
        ui.state().wants_frame = true;
    }
    return cut;
}

float glossary_text(Ui& ui, Rect room, const Scene& scene, const GlossaryEntry& e, bool measure) {
    Canvas& c = ui.canvas();
    float y = room.y;
    const auto paragraph = [&](std::string_view text, const TextStyle& s, float line, float gap) {
        const float h = c.paragraph_height(room.w, text, s, line);
        if (!measure) c.paragraph({room.x, y, room.w, h + 1}, text, s, line);
        y += h + gap;
    };
    if (!measure) {
        float x = room.x;
        if (!e.axis.empty()) {
            ui.swatch({room.x, y + 5}, color_of_entry(ui.theme(), e));
            x += 18;
        }
        c.text_in({x, y, room.right() - x, 20}, e.term, {Face::semibold, 14, ui.theme().text, 0});
    }
    y += 24;
    std::string also;
    for (const std::string& a : e.also) also += (also.empty() ? "also " : ", ") + a;
    if (!also.empty()) paragraph(also, ui.small(), 17, 4);
    paragraph(e.text, ui.style(13), 20, 10);
    const std::string here = in_this_plan(e.id, scene.plan, scene.evaluation);
    if (!here.empty()) {
        if (!measure) ui.section({room.x, y, room.w, 16}, "IN THIS PLAN");
        y += 20;
        paragraph(here, ui.style(13, Tone::text, Face::semibold), 19, 6);
    }
    return y - room.y;
}

void draw_glossary(Ui& ui, Scene& scene, GlossaryState& state) {
    if (!ui.state().term.empty()) {
        state.card = std::move(ui.state().term);
        state.card_at = ui.state().term_at;
        ui.state().term.clear();
    }
    if (scene.glossary == nullptr || scene.glossary->entries.empty()) {
        state.open = false;
        state.card.clear();
        return;
    }
    if (!state.card.empty()) draw_card(ui, scene, state);
    if (state.open) draw_sheet(ui, scene, state);
}

}  // namespace pentamesh::ui
