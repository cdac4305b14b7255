#include "app/ui/panels/constants_panel.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 26, kColumn = 330;

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
        const bool fresh = state.edit_fresh;
        state.edit_fresh = false;
        const bool entered = ui.text_field("edit." + name, box, state.edit_text, "", fresh);
        const bool left = !fresh && ui.state().edit == 0 && !entered;
        if (entered || left || pressed({Key::escape})) state.editing.clear();
        if (!entered) return std::nullopt;
        const std::optional<double> typed = parse_quantity(state.edit_text);
        if (typed) return edit_of(scene, c, *typed);
        return std::nullopt;
    }
    const Ui::Step step =
        ui.stepper(name, box, constant_text(c.unit, c.value), c.value > c.least, c.value < c.most, true);
    if (step.edit_requested) {
        state.editing = c.id;
        state.edit_text = constant_text(c.unit, c.value);
        state.edit_fresh = true;
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

// A GPU's file says first where its figures come from, then where its efficiency does.
std::string source_of(const Constant& c) {
    constexpr std::string_view kFitted = "Efficiency: ";
    const auto at = c.source.find(kFitted);
    if (at == std::string::npos) return c.source;
    return c.section == "efficiency" ? c.source.substr(at + kFitted.size()) : c.source.substr(0, at);
}

std::string head_of(const Scene& scene, const Constant& c) {
    if (c.section == "GPU") return scene.plan.cluster.gpu.name;
    if (c.section == "efficiency") return "Efficiency, fitted";
    return "Fabric";
}

}  // namespace

std::string constant_text(Constant::Unit unit, double value) {
    switch (unit) {
    case Constant::Unit::share: return percent(value);
    case Constant::Unit::seconds: return time_text(value);
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
    if (state.list_of != revision) {
        state.list = list_constants(scene.plan, scene.presets);
        state.list_of = revision;
    }
    // Rows with their sections' heads, in as many columns as fit.
    std::vector<int> rows;  // index of a constant; -1 - index: the head before it
    for (std::size_t i = 0; i < state.list.size(); ++i) {
        if (i == 0 || state.list[i].section != state.list[i - 1].section)
            rows.push_back(-1 - static_cast<int>(i));
        rows.push_back(static_cast<int>(i));
    }
    const auto columns = static_cast<std::size_t>(std::clamp(room.w / kColumn, 1.0f, 4.0f));
    const std::size_t each = (rows.size() + columns - 1) / columns;
    const float gap = 32,
                width = (room.w - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    ScrollArea area(ui, "constants", room, state.scroll,
                    {.wheel = state.editing.empty() && !ui.frame().ctrl});
    const float top = area.room.y;
    area.room.cut_top(static_cast<float>(each) * kRow);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t column = i / each, line = i % each;
        const Rect row{room.x + static_cast<float>(column) * (width + gap),
                       top + static_cast<float>(line) * kRow, width - 6, kRow};
        if (row.y < room.y - 4 || row.bottom() > room.bottom() + 4) continue;  // reached by scrolling
        if (rows[i] < 0) {
            const auto first = static_cast<std::size_t>(-1 - rows[i]);
            const Constant& k = state.list[first];
            Rect head = row;
            const std::string title = head_of(scene, k);
            c.text_in(head.cut_left(c.text_width(title, ui.title()) + 12), title, ui.title());
            if (!k.source.empty()) {
                c.text_in(head, source_of(k), ui.small());
                if (ui.area("constants.source", head, first, true, false).hovered)
                    ui.tooltip("Source\n" + k.source);
            }
        } else {
            const auto k = static_cast<std::size_t>(rows[i]);
            if (auto e = draw_row(ui, row, scene, state.list[k], k, state)) edit = std::move(e);
        }
    }
    return edit;
}

}  // namespace pentamesh::ui
