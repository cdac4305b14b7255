// Writes as rows why B differs, the differences, and the way from A to B.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/scene/difference.h"
#include "app/ui/views/compare/view.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 20, kFigure = 70;

// Returns how many of `rows` have room; where not all have, a line is left to say how many more there are.
std::size_t rows_in(Rect room, std::size_t rows) {
    const auto fit = static_cast<std::size_t>(std::max(0.0f, room.h) / kRow);
    return rows <= fit ? rows : fit > 0 ? fit - 1 : 0;
}

void more_rows(Ui& ui, Rect& room, std::size_t more) {
    if (more > 0 && room.h >= kRow)
        ui.canvas().text_in(room.cut_top(kRow), "… and " + std::to_string(more) + " more", ui.small());
}

Words difference_cell(Ui& ui, float width, double by, bool bold) {
    TextStyle s = ui.style(12, Tone::text, bold ? Face::semibold : Face::regular);
    if (by != 0) s.color = by < 0 ? ui.theme().good : ui.theme().bad;
    return {by == 0 ? "0" : difference_text(by, time_text), px(width), s, Align::right};
}

float value_width(Ui& ui, const std::vector<FieldDifference>& fields, std::size_t plan) {
    float w = 30;
    for (const FieldDifference& f : fields)
        w = std::max(w, ui.canvas().text_width(field_value(f.values[plan]), ui.style(12)) + 2);
    return std::min(w, 150.0f);
}

}  // namespace

// In a row of that width the reasons stand after the name and three figures.
constexpr float kPartName = 132;
float reason_width(float width) {
    return width - kPartName - 3 * kFigure - 14;
}

float why_row(Ui& ui, float width, const std::string& because) {
    if (reason_width(width) < 60 || because.empty()) return kRow;
    return std::max(kRow, ui.canvas().paragraph_height(reason_width(width), because, ui.small(), 16) + 4);
}

WhyRows why_rows(Ui& ui, float width, const PlanComparison& shown, float most) {
    WhyRows out;
    out.row.assign(shown.why.size(), kRow);
    out.height = 20 + kRow * static_cast<float>(shown.why.size() + 1) + 6;
    std::vector<std::size_t> order(shown.why.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(shown.why[a].delta_s[1]) > std::abs(shown.why[b].delta_s[1]);
    });
    for (const std::size_t i : order) {
        const float h = why_row(ui, width, typeset(shown.why[i].because));
        if (out.height + h - kRow > most) continue;
        out.height += h - kRow;
        out.row[i] = h;
    }
    return out;
}

void draw_why(Ui& ui, Rect room, const ComparedPair& pair, const PlanComparison& shown, const WhyRows& rows) {
    Canvas& c = ui.canvas();
    const Rect head = room.cut_top(20);
    constexpr float name = kPartName;
    const bool narrow = room.w < name + 3 * kFigure + 60;
    const Size name_size = narrow ? share() : px(name), rest_size = narrow ? px(0) : share();
    ui.section(columns(head, {name_size, px(3 * kFigure), rest_size})[0], "WHY");
    text_row(ui, head,
             {{{}, name_size},
              {"A", px(kFigure), ui.small(), Align::right},
              {"B", px(kFigure), ui.small(), Align::right},
              {"B − A", px(kFigure), ui.small(), Align::right},
              {{}, rest_size}});
    const auto line = [&](std::string_view part, double a, double b, double by, const std::string& because,
                          float height, bool bold) {
        const Rect all = room.cut_top(height);
        const Rect row{all.x, all.y, all.w, kRow};
        const TextStyle s = ui.style(12, Tone::text, bold ? Face::semibold : Face::regular);
        text_row(ui, row,
                 {{std::string(part), name_size, s},
                  {time_text(a), px(kFigure), ui.style(12, Tone::secondary), Align::right},
                  {time_text(b), px(kFigure), s, Align::right},
                  difference_cell(ui, kFigure, by, bold),
                  {{}, rest_size}});
        Rect rest = columns(row, {name_size, px(3 * kFigure), rest_size})[2];
        rest.cut_left(14);
        if (!narrow && !because.empty() && all.h > kRow)
            c.paragraph({rest.x, rest.y + 2, rest.w, all.h}, because, ui.small(), 16);
        else if (!narrow && !because.empty())
            ui.label(rest, because, ui.small());
        if (narrow && !because.empty() && ui.hovers(row)) ui.tooltip(std::string(part) + "\n" + because);
    };
    for (std::size_t i = 0; i < shown.why.size(); ++i) {
        const PartRow& r = shown.why[i];
        line(r.part, r.values_s[0], r.values_s[1], r.delta_s[1], typeset(r.because), rows.row[i], false);
    }
    if (!pair.ea.step || !pair.eb.step) return;
    c.line({room.x, room.y}, {room.x + name + 3 * kFigure, room.y}, ui.theme().hairline);
    const double a = pair.ea.step->time_s, b = pair.eb.step->time_s;
    line("step", a, b, difference(b, a), "", kRow, true);
}

float fields_height(const PlanComparison& shown) {
    return 24 + kRow * static_cast<float>(std::max<std::size_t>(shown.fields.size(), 1)) + 12;
}

void draw_fields(Ui& ui, Rect& room, const PlanComparison& shown) {
    std::vector<FieldDifference> fields;
    for (const FieldDifference& f : shown.fields)
        if (f.values.size() > 1 && f.values[0] != f.values[1]) fields.push_back(f);
    const Rect head = room.cut_top(20);
    const float wa = value_width(ui, fields, 0), wb = value_width(ui, fields, 1);
    ui.section(columns(head, {share(), px(14 + wa + wb)})[0], "WHAT DIFFERS");
    text_row(ui, head,
             {{{}, share()},
              {"A", px(wa), ui.small(), Align::right},
              space(14),
              {"B", px(wb), ui.small(), Align::right}});
    if (fields.empty()) ui.label(room.cut_top(kRow), "Nothing: B is A. Change the plan.", ui.small());
    const std::size_t shown_rows = rows_in(room, fields.size());
    for (const FieldDifference& f : std::span(fields).first(shown_rows)) {
        text_row(
            ui, room.cut_top(kRow),
            {{field_name(f.pointer), share(), ui.style(12)},
             space(8),
             {field_value(f.values[0]), px(wa), ui.style(12, Tone::secondary), Align::right},
             space(14),
             {field_value(f.values[1]), px(wb), ui.style(12, Tone::text, Face::semibold), Align::right}});
    }
    more_rows(ui, room, fields.size() - shown_rows);
    room.cut_top(12);
}

float path_height(const ComparePath& path) {
    return 24 + kRow * static_cast<float>(std::max<std::size_t>(path.value.size(), 1));
}

void draw_path(Ui& ui, Rect& room, const ComparePath& path, const ComparedPair& pair) {
    const Rect head = room.cut_top(20);
    const float figure = 66;
    ui.section(columns(head, {share(), px(2 * figure)})[0], "FROM A TO B, LARGEST GAIN FIRST");
    text_row(ui, head,
             {{{}, share()},
              {"step", px(figure), ui.small(), Align::right},
              {"change", px(figure), ui.small(), Align::right}});
    if (path.value.empty()) {
        const bool alike = pair.a == pair.b;
        ui.label(room.cut_top(kRow),
                 path.running          ? "working it out …"
                 : !path.error.empty() ? "It could not be worked out: " + path.error
                 : alike               ? "No edit is needed."
                                       : "—",
                 ui.small());
    }
    double before = pair.ea.step ? pair.ea.step->time_s : 0;
    if (room.h < kRow) return;
    const std::size_t shown = rows_in(room, path.value.size());
    for (const PathEdit& e : std::span(path.value).first(shown)) {
        const TextStyle bad = ui.style(12).in(e.fit == MemoryFit::no ? ui.theme().bad : ui.theme().amber);
        const std::string fit =
            e.fit == MemoryFit::yes ? "" : memory_text(e.memory_bytes) + ": " + std::string(name_of(e.fit));
        const float fit_w = fit.empty() ? 0 : ui.canvas().text_width(fit, bad) + 8;
        text_row(ui, room.cut_top(kRow),
                 {{typeset(e.edit), share(), ui.style(12)},
                  space(8),
                  {fit, px(fit_w), bad},
                  {time_text(e.step_s), px(figure), ui.style(12), Align::right},
                  difference_cell(ui, figure, difference(e.step_s, before), false)});
        before = e.step_s;
    }
    more_rows(ui, room, path.value.size() - shown);
}

}  // namespace pentamesh::ui
