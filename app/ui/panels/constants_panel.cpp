#include "app/ui/panels/constants_panel.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "core/base/quantity.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kConstantRow = 26, kColumn = 330;

double stepped(const Constant& c, int by) {
    if (c.unit == Constant::Unit::ratio) return std::round(c.value) + by;
    constexpr double kFactor = 1.05, kFromNothing = 1e-6;
    if (c.value <= 0) return by > 0 ? kFromNothing : 0;
    return by > 0 ? c.value * kFactor : c.value / kFactor;
}

PlanEdit edit_of(const Scene& scene, const Constant& c, double value) {
    return {with_constant(scene.plan, scene.presets, c.id, value),
            c.name + " " + constant_text(c.unit, std::clamp(value, c.least, c.most)), ""};
}

std::string about(const Constant& c) {
    std::string s = c.name + "\n" + std::string(c.meaning);
    s += "\nShipped: " + constant_text(c.unit, c.shipped) + (c.changed() ? ", changed here" : "");
    return s + "\nSource: " + (c.source.empty() ? "the plan itself" : c.source);
}

Dimension dimension_of(Constant::Unit unit) {
    switch (unit) {
    case Constant::Unit::share: return Dimension::share;
    case Constant::Unit::seconds: return Dimension::seconds;
    case Constant::Unit::bytes: return Dimension::bytes;
    case Constant::Unit::bytes_per_s: return Dimension::bytes_per_s;
    case Constant::Unit::flops_per_s: return Dimension::flops_per_s;
    case Constant::Unit::ratio: return Dimension::ratio;
    case Constant::Unit::flag: return Dimension::count;
    }
    return Dimension::count;
}

// A number without a unit takes the unit that the field shows. A value that is out of range or of another
// unit is refused.
std::optional<PlanEdit> typed_value(const Scene& scene, const Constant& c, ConstantsState& state) {
    const std::string shown = constant_text(c.unit, c.value);
    const Quantity typed = parse_quantity(state.edit_text, dimension_of(c.unit), unit_of(shown));
    if (typed.value && *typed.value >= c.least && *typed.value <= c.most)
        return edit_of(scene, c, *typed.value);
    state.refused = c.id;
    state.refusal = typed.value ? "\"" + state.edit_text + "\" is " + constant_text(c.unit, *typed.value)
                                      + ": must be from " + constant_text(c.unit, c.least) + " to "
                                      + constant_text(c.unit, c.most)
                                : typed.refusal;
    return std::nullopt;
}

std::optional<PlanEdit> value_box(Ui& ui, Rect box, const Scene& scene, const Constant& c,
                                  ConstantsState& state) {
    const std::string name = "constants." + c.id;
    if (c.unit == Constant::Unit::flag) {
        static constexpr std::string_view kSwitch[] = {"off", "on"};
        const int on = ui.segments(name, box, kSwitch, c.value != 0 ? 1 : 0);
        if ((c.value != 0) != (on == 1)) return edit_of(scene, c, on);
        return std::nullopt;
    }
    if (state.editing == c.id) {
        const bool fresh = std::exchange(state.edit_fresh, false);
        const Ui::Typing typing = ui.typed_value("edit." + name, box, state.edit_text, fresh);
        if (typing == Ui::Typing::goes_on) return std::nullopt;
        state.editing.clear();
        // The earlier text is rounded: it is no other value.
        if (typing == Ui::Typing::dropped || state.edit_text == constant_text(c.unit, c.value))
            return std::nullopt;
        return typed_value(scene, c, state);
    }
    const Ui::Step step =
        ui.stepper(name, box, constant_text(c.unit, c.value), c.value > c.least, c.value < c.most, true);
    if (step.edit_requested) {
        state.editing = c.id;
        state.edit_text = constant_text(c.unit, c.value);
        state.edit_fresh = true;
        state.refused.clear();
    }
    if (step.by != 0) return edit_of(scene, c, stepped(c, step.by));
    return std::nullopt;
}

std::optional<PlanEdit> draw_row(Ui& ui, Rect row, const Scene& scene, const Constant& c, std::size_t index,
                                 ConstantsState& state) {
    Canvas& canvas = ui.canvas();
    const Rect box = Rect(row).cut_right(128).inset(0, 2);
    row.cut_right(136);
    std::optional<PlanEdit> edit;
    if (c.changed()) {  // the shipped value, and the way back to it
        const std::string back = "back to " + constant_text(c.unit, c.shipped);
        const float w = canvas.text_width(back, ui.small()) + 2;
        if (w + 90 < row.w) {
            const Rect at = row.cut_right(w);
            if (ui.link("constants.reset", {at.x, at.center().y - 9}, back, index))
                edit = edit_of(scene, c, c.shipped);
            row.cut_right(8);
        }
    }
    TextStyle s = ui.style(12, c.changed() ? Tone::text : Tone::secondary,
                           c.changed() ? Face::semibold : Face::regular);
    canvas.text_in(row, c.changed() ? c.name + " *" : c.name, s);
    const Hit hit = ui.area("constants.name", row, index, true, false);
    if (hit.hovered) ui.tooltip(about(c));
    if (auto e = value_box(ui, box, scene, c, state)) edit = std::move(e);
    return edit;
}

struct Line {
    enum class Kind : std::uint8_t { constant, head, message, gap };
    Kind kind = Kind::constant;
    std::size_t constant = 0;  // the constant; of a head the one after it, of a message the one before it
};

// Places sections' heads and their constants in `columns` columns of `each` lines. A head never ends a
// column: it stands over its own constants, as a constant over the message about it.
std::vector<Line> lay_lines(const ConstantsState& state, std::size_t columns, std::size_t& each) {
    const auto& list = *state.list;
    std::vector<Line> lines;
    const auto lay = [&] {
        lines.clear();
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i == 0 || list[i].section != list[i - 1].section) {
                if (lines.size() % each == each - 1) lines.push_back({Line::Kind::gap, i});
                lines.push_back({Line::Kind::head, i});
            }
            if (state.refused == list[i].id && lines.size() % each == each - 1)
                lines.push_back({Line::Kind::gap, i});
            lines.push_back({Line::Kind::constant, i});
            if (state.refused == list[i].id) lines.push_back({Line::Kind::message, i});
        }
    };
    each = std::max<std::size_t>(2, list.size() / columns);
    for (lay(); lines.size() > each * columns; lay()) ++each;
    return lines;
}

}  // namespace

std::string constant_text(Constant::Unit unit, double value) {
    switch (unit) {
    case Constant::Unit::share: return percent(value);
    case Constant::Unit::seconds: return time_text(value);
    case Constant::Unit::bytes: return memory_text(value);
    case Constant::Unit::bytes_per_s: return bandwidth_text(value);
    case Constant::Unit::flops_per_s:
        return value >= 1e15 ? significant(value / 1e15) + " PFLOP/s"
                             : significant(value / 1e12) + " TFLOP/s";
    case Constant::Unit::ratio: return "1 : " + trimmed(value);
    case Constant::Unit::flag: return value != 0 ? "on" : "off";
    }
    return {};
}

std::optional<PlanEdit> draw_constants(Ui& ui, Rect room, const Scene& scene, ConstantsState& state,
                                       std::uint64_t revision) {
    state.list.update(revision, [&] { return list_constants(scene.plan, scene.presets); });
    const auto columns = static_cast<std::size_t>(std::clamp(room.w / kColumn, 1.0f, 4.0f));
    std::size_t each = 0;
    const std::vector<Line> rows = lay_lines(state, columns, each);
    const float gap = 32,
                width = (room.w - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    ScrollArea area(ui, "constants", room, state.scroll,
                    {.wheel = state.editing.empty() && !ui.frame().ctrl});
    const float top = area.room.y;
    area.room.cut_top(static_cast<float>(each) * kConstantRow);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t column = i / each, line = i % each;
        if (rows[i].kind == Line::Kind::gap) continue;
        const Rect row{room.x + static_cast<float>(column) * (width + gap),
                       top + static_cast<float>(line) * kConstantRow, width - 6, kConstantRow};
        if (row.y < room.y - 4 || row.bottom() > room.bottom() + 4) continue;  // reached by scrolling
        const std::size_t first = rows[i].constant;
        if (rows[i].kind == Line::Kind::message) {
            TextStyle bad = ui.small();
            bad.color = ui.theme().bad;
            if (c.text_in(row, state.refusal, bad) && ui.hovers(row)) ui.tooltip(state.refusal);
        } else if (rows[i].kind == Line::Kind::head) {
            const Constant& k = (*state.list)[first];
            Rect head = row;
            write_left(ui, head, heading_of(k.section, scene.plan.cluster), ui.title(), 12);
            if (!k.source.empty()) {
                c.text_in(head, k.source, ui.small());
                if (ui.area("constants.source", head, first, true, false).hovered)
                    ui.tooltip("Source\n" + k.source);
            }
        } else {
            if (auto e = draw_row(ui, row, scene, (*state.list)[first], first, state)) edit = std::move(e);
        }
    }
    if (edit) state.refused.clear();
    return edit;
}

}  // namespace pentamesh::ui
