#include "app/ui/views/shards/view.h"

#include "app/ui/kit/format.h"
#include "core/base/quantity.h"
#include "core/plan/ranges.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr std::string_view kPointer = "/training/router_imbalance";
constexpr double kMostLoad = 64, kLoadStep = 0.25;
constexpr float kLoadPixels = 24;  // of a drag that adds one mean load

std::optional<PlanEdit> set_load(const Scene& scene, ExpertLoads& loads, std::int64_t expert, double to,
                                 std::int64_t experts, std::int64_t parts, std::string merge_key = {}) {
    to = std::clamp(to, 0.0, kMostLoad);
    if (loads.load.empty()) loads.load.assign(static_cast<std::size_t>(experts), 1.0);
    double& load = loads.load[static_cast<std::size_t>(expert)];
    if (load == to) return std::nullopt;
    load = to;
    loads.imbalance = imbalance_of(loads.load, parts);
    if (loads.imbalance == scene.plan.training.router_imbalance) return std::nullopt;
    return imbalance_edit(scene, loads.imbalance, std::move(merge_key));
}

// Draws "busiest rank [- 1.25 x +] even".
std::optional<PlanEdit> imbalance_row(Ui& ui, Rect row, const Scene& scene, ExpertLoads& loads) {
    Canvas& c = ui.canvas();
    const double now = scene.plan.training.router_imbalance;
    const std::string shown = trimmed(now) + " ×";
    if (ui.state().for_picture) {
        ui.label(row, now > 1 ? "busiest ep rank " + shown + " the mean" : "as many tokens for each ep rank",
                 ui.small());
        return std::nullopt;
    }
    std::optional<PlanEdit> edit;
    constexpr float kControls = 160;
    for (const std::string_view words : {"busiest ep rank, of the mean", "imbalance"}) {
        const float w = c.text_width(words, ui.small()) + 10;
        if (row.w < w + kControls) continue;
        c.text_in(row.cut_left(w), words, ui.small());
        break;
    }
    const Rect box = row.cut_left(std::min(92.0f, row.w));
    if (ui.hovers(box) && !loads.typing)
        ui.tooltip(
            "load of the busiest expert rank over the mean\nclick to type it; drag an expert up or down "
            "to say who is busy");
    if (loads.typing) {
        const bool fresh = std::exchange(loads.fresh, false);
        const Ui::Typing typing = ui.typed_value("edit.shards.imbalance", box, loads.text, fresh);
        if (typing == Ui::Typing::goes_on) return std::nullopt;
        loads.typing = false;
        if (typing == Ui::Typing::dropped || loads.text == trimmed(now)) return std::nullopt;
        std::string text = loads.text;
        if (const std::size_t times = text.find("×"); times != std::string::npos) text.resize(times);
        const Quantity typed = parse_quantity(text, Dimension::count);
        const std::optional<FieldRange> range = range_of(kPointer);
        if (typed.value && (!range || range->allows(*typed.value))) {
            loads.load.clear();
            return imbalance_edit(scene, *typed.value);
        }
        loads.refusal = typed.value && range
                            ? "\"" + loads.text + "\" is refused: it must be " + range_text(*range)
                            : typed.refusal;
        return std::nullopt;
    }
    const std::optional<FieldRange> most = range_of(kPointer);
    const Ui::Step step =
        ui.stepper("shards.imbalance", box, shown, now > 1, !most || now<most->most, now> 1);
    if (step.edit_requested) {
        loads.typing = loads.fresh = true;
        loads.text = trimmed(now);
    }
    if (step.by != 0) {
        loads.load.clear();
        edit = imbalance_edit(scene, stepped_imbalance(now, step.by));
    }
    row.cut_left(8);
    const bool uneven = now > 1 || !loads.load.empty();
    if (row.w >= 48 && ui.button("shards.even", row.cut_left(48), "even", 0, uneven)) {
        loads.load.clear();
        if (now > 1) edit = imbalance_edit(scene, 1);
    }
    return edit;
}

std::string expert_tooltip(const ExpertLoads& loads, const AxisPlacement& ep, std::int64_t experts,
                           std::int64_t expert, bool shown) {
    const std::int64_t owner = ep.parts > 1 ? owner_of_expert(experts, ep.size, expert) : 0;
    std::string t = "expert " + thousands(expert);
    if (ep.parts > 1) {
        const auto [first, end] = experts_of(experts, ep.size, owner);
        t += "\non ep rank " + thousands(owner) + " of " + thousands(ep.parts);
        t += end - first == 1 ? std::string(", which has no other expert")
                              : ", with experts " + thousands(first) + " – " + thousands(end - 1);
    } else {
        t += "\non every rank";
    }
    if (!loads.load.empty()) {
        double mean = 0;
        for (const double l : loads.load) mean += l / static_cast<double>(loads.load.size());
        const double own = loads.load[static_cast<std::size_t>(expert)];
        t += "\ngets " + trimmed(mean > 0 ? own / mean : 0) + " × the mean expert's tokens";
    }
    t += shown ? "\nits matrices are drawn" : "\nclick to draw its matrices";
    return t + (ep.parts > 1 ? "\ndrag up or down to give it more or fewer tokens" : "");
}

// Returns "256 experts, 32 to each of 8 ep ranks: 96 % of the bytes".
std::string experts_words(const Sheet& sheet, const std::vector<Sheet>& sheets) {
    const AxisPlacement& ep = sheet.placement.on(Axis::ep);
    std::string out = thousands(sheet.placement.shape[0]) + " experts";
    out += ep.parts > 1 ? ", " + thousands(sheet.placement.local[0]) + " to each of " + thousands(ep.parts)
                              + " ep ranks"
                        : ", all on every rank";
    double all = 0, of_experts = 0;
    for (const Sheet& x : sheets) {
        all += x.placement.bytes_whole;
        if (x.placement.expert) of_experts += x.placement.bytes_whole;
    }
    if (of_experts > 0 && of_experts < all) out += ": " + percent(of_experts / all) + " of the bytes";
    return out;
}

double load_of(const ExpertLoads& loads, std::int64_t expert) {
    return loads.load.empty() ? 1.0 : loads.load[static_cast<std::size_t>(expert)];
}

// Drags the load of the expert that was pressed up or down.
std::optional<PlanEdit> drag_load(Ui& ui, const Hit& hit, std::int64_t under, const Scene& scene,
                                  ExpertLoads& loads, std::int64_t experts, std::int64_t parts) {
    if (!hit.held) loads.dragged = -1;
    if (!hit.held || parts <= 1) return std::nullopt;
    if (loads.dragged < 0 && under >= 0) loads.dragged = under, loads.drag_from = load_of(loads, under);
    if (loads.dragged < 0) return std::nullopt;
    const double by = std::abs(hit.drag.y) < 4 ? 0 : -hit.drag.y / kLoadPixels;
    const double to = std::round((loads.drag_from + by) / kLoadStep) * kLoadStep;
    std::optional<PlanEdit> edit;
    if (by != 0 || load_of(loads, loads.dragged) != loads.drag_from)
        edit = set_load(scene, loads, loads.dragged, to, experts, parts, "expert-load");
    if (by != 0)
        ui.tooltip("expert " + thousands(loads.dragged) + ": load " + trimmed(load_of(loads, loads.dragged))
                   + "\nbusiest rank " + trimmed(loads.imbalance) + " × the mean");
    return edit;
}

}  // namespace

PlanEdit imbalance_edit(const Scene& scene, double to, std::string merge_key) {
    PlanEdit edit{scene.plan, "router imbalance " + trimmed(to), std::move(merge_key)};
    edit.plan.training.router_imbalance = to;
    return edit;
}

double stepped_imbalance(double now, int by) {
    constexpr double kStepsOfOne = 20;
    return std::max(1.0, std::round(now * kStepsOfOne + by) / kStepsOfOne);
}

bool loads_hold(const Scene& scene, const ExpertLoads& loads, std::int64_t experts) {
    return static_cast<std::int64_t>(loads.load.size()) == experts
           && std::abs(scene.plan.training.router_imbalance - loads.imbalance) <= 1e-9;
}

std::optional<PlanEdit> draw_expert_map(Ui& ui, Rect room, const Scene& scene, ShardsViewState& s,
                                        const Sheet& sheet, const SheetLook& look) {
    Canvas& c = ui.canvas();
    const AxisPlacement& ep = sheet.placement.on(Axis::ep);
    const std::int64_t experts = sheet.placement.shape[0];
    ExpertLoads& loads = s.loads;
    if (!loads_hold(scene, loads, experts)) loads.load.clear();
    ui.label(room.cut_top(17), experts_words(sheet, s.drawn->sheets), ui.small(Tone::text));
    std::optional<PlanEdit> edit;
    if (ep.parts > 1 && room.h > 110) {
        edit = imbalance_row(ui, room.cut_top(24).inset(0, 1), scene, loads);
        room.cut_top(5);
    }
    if (!loads.refusal.empty()) {
        room.cut_top(c.paragraph(room, loads.refusal, ui.small().in(ui.theme().bad), 16) + 4);
        if (edit || loads.typing) loads.refusal.clear();
    }
    const Hit hit = ui.area("shards.experts", room);
    const std::int64_t shown = s.drawn->of.expert;
    const std::int64_t under = draw_experts(ui, room, sheet, look, shown, loads.load);
    if (hit.focused) ui.focus_ring(room, 3);
    const std::int64_t parts = ep.parts > 1 ? ep.size : 1;
    if (auto e = drag_load(ui, hit, under, scene, loads, experts, parts)) edit = std::move(e);
    const bool dragged = std::abs((ui.frame().mouse - ui.state().press).y) >= 4;
    if (hit.hovered && under >= 0 && !hit.held) {
        ui.tooltip(expert_tooltip(loads, ep, experts, under, under == shown));
        if (hit.clicked && !dragged) s.expert = under;
    }
    if (hit.focused && pressed({Key::right}, true)) s.expert = std::min(shown + 1, experts - 1);
    if (hit.focused && pressed({Key::left}, true)) s.expert = std::max<std::int64_t>(shown - 1, 0);
    const int more = hit.focused && parts > 1 ? (pressed({Key::up}, true)     ? 1
                                                 : pressed({Key::down}, true) ? -1
                                                                              : 0)
                                              : 0;
    if (more != 0)
        if (auto e = set_load(scene, loads, shown, load_of(loads, shown) + more * kLoadStep, experts, parts))
            edit = std::move(e);
    return edit;
}

}  // namespace pentamesh::ui
