#include "app/ui/panels/status_line.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/panels/signs.h"
#include "app/ui/scene/difference.h"
#include "core/plan/problem.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTimedFrom = 800, kWordsFrom = 1100;  // logical pixels
// Says what mouse and keys do, for those who have not read the manual.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kHints{
    {{"click", "a cell for its groups"},
     {"1 … 9", "a view in the whole window"},
     {"wheel", "over a factor steps it"},
     {"Ctrl D", "pins this plan as A"},
     {"Ctrl P", "every command"},
     {"Space", "held: the plan before"}}};

// Writes "2 problems": errors and warnings, in words, at every window size.
void problem_count(Ui& ui, Rect& row, const std::vector<Problem>& problems, InspectorState* state) {
    std::int64_t n = 0;
    bool errors = false;
    for (const Problem& p : problems) {
        n += p.severity == Severity::info ? 0 : 1;
        errors = errors || p.severity == Severity::error;
    }
    if (n == 0) return;
    const std::string text = plural(n, "problem", "problems");
    TextStyle s = ui.style(12, Tone::text, Face::semibold);
    if (errors) s.color = ui.theme().bad;
    Canvas& c = ui.canvas();
    const Rect r = row.cut_left(c.text_width(text, s) + 18);
    row.cut_left(20);
    draw_severity(ui, {r.x, r.center().y - 9}, errors ? Severity::error : Severity::warning);
    c.text_in({r.x + 16, r.y, r.w - 14, r.h}, text, s);
    if (state == nullptr) return;
    const Hit hit = ui.area("status.problems", r);
    if (hit.focused) ui.focus_ring(r.inset(-2, 4), 3);
    if (hit.hovered) ui.tooltip(text + "\nclick to see what mends them");
    if (hit.clicked) state->problems_open = true, state->problems_anchor = r, state->problems_scroll = {};
}

}  // namespace

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered, bool figures) {
    Canvas& c = ui.canvas();
    const Evaluation& e = scene.evaluation;
    Rect row = room.inset(16, 0);
    const std::string timing = !scene.changed.empty() ? std::string(scene.changed)
                               : evaluate_s >= 0      ? "evaluated in " + time_text(evaluate_s)
                                                      : "Pentamesh " PENTAMESH_VERSION;
    const TextStyle timing_style = scene.changed.empty() ? ui.small() : ui.style(12);
    // In little room, the plan's figures come first.
    const bool timed = !scene.changed.empty() || room.w >= kTimedFrom;
    const float timing_w = timed ? std::min(c.text_width(timing, timing_style) + 1, row.w * 0.6f) : 0;
    const auto item = [&](std::string_view name, const std::string& value, std::string_view after,
                          std::optional<Color> color = std::nullopt) {
        const float w = c.text_width(name, ui.small()) + 6
                        + c.text_width(value, ui.style(12, Tone::text, Face::semibold)) + 6
                        + c.text_width(after, ui.small());
        if (w > row.w - timing_w - 16) return;
        Rect r = row.cut_left(w + 22);
        write_left(ui, r, name, ui.small(), name.empty() ? 0 : 6);
        TextStyle s = ui.style(12, Tone::text, Face::semibold);
        if (color) s.color = *color;
        write_left(ui, r, value, s, 4);
        c.text_in(r, after, ui.small());
    };
    // If a plan is pinned, the difference to A follows the figure.
    const auto against = [&](double now, double Step::*figure, bool less_is_better,
                             std::string (*text)(double)) {
        if (scene.pinned == nullptr || !scene.pinned->step) return;
        draw_difference(ui, row, difference(now, (*scene.pinned->step).*figure), less_is_better, text,
                        timing_w + 16);
    };
    const auto draw_timing = [&] {
        const Rect whole = room.inset(16, 0);
        if (timed && c.text_in(whole, timing, timing_style, Align::right) && ui.hovers(whole))
            ui.tooltip(timing);
    };
    if (!figures) {
        if (!covered) problem_count(ui, row, e.problems, state);
        if (scene.another_model && e.valid) item("A has", "another model", "");
        for (const auto& [keys, act] : kHints) item("", std::string(keys), act);
        return draw_timing();
    }
    if (scene.another_model && e.valid) item("A has", "another model", "");
    item("GPUs", thousands(e.mesh.world), "of " + thousands(scene.plan.cluster.gpus),
         e.mesh.world != scene.plan.cluster.gpus ? std::optional(ui.theme().bad) : std::nullopt);
    if (covered) {  // the question is if it fits, or is possible
        for (const std::string_view name : {"memory", "step", "MFU"}) item(name, "?", "");
        return;
    }
    problem_count(ui, row, e.problems, state);
    if (!e.valid) {
        for (const std::string_view name : {"memory", "step", "MFU"}) item(name, "—", "");
        row.cut_right(timing_w + 16);
        const std::string why = first_error(e.problems);
        if (row.w > 40 && c.text_in(row, why, ui.small()) && ui.hovers(row)) ui.tooltip(why);
        return draw_timing();
    }
    if (!e.memory.stage.empty()) {
        const MemoryFit fit = e.memory.fit();
        const std::string of = "/ " + memory_text(e.memory.hbm);
        if (fit == MemoryFit::yes)
            item("memory", gib(e.memory.peak()), of);
        else
            item("memory", gib(e.memory.peak()),
                 room.w < kWordsFrom ? of : of + ", which " + std::string(name_of(fit)),
                 fit == MemoryFit::no ? ui.theme().bad : ui.theme().amber);
    }
    if (!e.memory.stage.empty() && scene.pinned != nullptr && !scene.pinned->memory.stage.empty())
        draw_difference(ui, row, difference(e.memory.peak(), scene.pinned->memory.peak()), true, memory_text,
                        timing_w + 16);
    if (e.step) {
        const Step& s = *e.step;
        item("step", time_text(s.time_s), s.error > 0 ? "± " + percent(s.error) : "");
        against(s.time_s, &Step::time_s, true, time_text);
        item("MFU", percent(s.mfu), shows_causal_mfu(s) ? "(causal " + percent(mfu_causal(s)) + ")" : "");
        against(s.mfu, &Step::mfu, false, points_text);
        item("", count_text(s.tokens_per_s), "tokens/s");
        against(s.tokens_per_s, &Step::tokens_per_s, false, count_text);
        if (s.time_s > 0) item("exposed communication", percent(exposed_of(s) / s.time_s), "");
    }
    draw_timing();
}

}  // namespace pentamesh::ui
