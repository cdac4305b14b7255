#include "app/ui/panels/status_line.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/kit/version.h"
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

// Writes figures from the left, those that fit next to `right` pixels of words at the end.
struct FigureRow {
    Ui& ui;
    Rect row;
    float right = 0;

    void item(std::string_view name, const std::string& value, std::string_view after,
              std::optional<Color> color = std::nullopt) {
        Canvas& c = ui.canvas();
        TextStyle strong = ui.style(12, Tone::text, Face::semibold);
        const float w = c.text_width(name, ui.small()) + 6 + c.text_width(value, strong) + 6
                        + c.text_width(after, ui.small());
        if (w > row.w - right - 16) return;
        Rect r = row.cut_left(w + 22);
        write_left(ui, r, name, ui.small(), name.empty() ? 0 : 6);
        if (color) strong.color = *color;
        write_left(ui, r, value, strong, 4);
        c.text_in(r, after, ui.small());
    }
    // Writes the difference to the plan that is pinned as A.
    void against(double by, bool less_is_better, std::string (*text)(double)) {
        draw_difference(ui, row, by, less_is_better, text, right + 16);
    }
};

void memory_figures(FigureRow& out, const Scene& scene, bool in_words) {
    const Memory& m = scene.evaluation.memory;
    if (m.stage.empty()) return;
    const MemoryFit fit = m.fit();
    std::string of = "/ " + memory_text(m.hbm);
    if (fit != MemoryFit::yes && in_words) of += ", which " + std::string(name_of(fit));
    out.item("memory", gib(m.peak()), of,
             fit == MemoryFit::yes  ? std::nullopt
             : fit == MemoryFit::no ? std::optional(out.ui.theme().bad)
                                    : std::optional(out.ui.theme().amber));
    if (scene.pinned != nullptr && !scene.pinned->memory.stage.empty())
        out.against(difference(m.peak(), scene.pinned->memory.peak()), true, memory_text);
}

void step_figures(FigureRow& out, const Scene& scene) {
    if (!scene.evaluation.step) return;
    const Step& s = *scene.evaluation.step;
    const auto against = [&](double Step::*figure, bool less_is_better, std::string (*text)(double)) {
        if (scene.pinned != nullptr && scene.pinned->step)
            out.against(difference(s.*figure, (*scene.pinned->step).*figure), less_is_better, text);
    };
    out.item("step", time_text(s.time_s), s.error > 0 ? "± " + percent(s.error) : "");
    against(&Step::time_s, true, time_text);
    out.item("MFU", percent(s.mfu), shows_causal_mfu(s) ? "(causal " + percent(mfu_causal(s)) + ")" : "");
    against(&Step::mfu, false, points_text);
    out.item("", count_text(s.tokens_per_s), "tokens/s");
    against(&Step::tokens_per_s, false, count_text);
    if (s.time_s > 0) out.item("exposed communication", percent(exposed_of(s) / s.time_s), "");
}

}  // namespace

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered, bool figures) {
    Canvas& c = ui.canvas();
    const Evaluation& e = scene.evaluation;
    const std::string timing = !scene.changed.empty() ? std::string(scene.changed)
                               : evaluate_s >= 0      ? "evaluated in " + time_text(evaluate_s)
                                                      : std::string(name_and_version());
    const TextStyle timing_style = scene.changed.empty() ? ui.small() : ui.style(12);
    // In little room, the plan's figures come first.
    const bool timed = !scene.changed.empty() || room.w >= kTimedFrom;
    const Rect whole = room.inset(16, 0);
    FigureRow out{ui, whole, timed ? std::min(c.text_width(timing, timing_style) + 1, whole.w * 0.6f) : 0};
    const auto draw_timing = [&] {
        if (timed && c.text_in(whole, timing, timing_style, Align::right) && ui.hovers(whole))
            ui.tooltip(timing);
    };
    if (!figures) {
        if (!covered) problem_count(ui, out.row, e.problems, state);
        if (scene.another_model && e.valid) out.item("A has", "another model", "");
        for (const auto& [keys, act] : kHints) out.item("", std::string(keys), act);
        return draw_timing();
    }
    if (scene.another_model && e.valid) out.item("A has", "another model", "");
    out.item("GPUs", thousands(e.mesh.world), "of " + thousands(scene.plan.cluster.gpus),
             e.mesh.world != scene.plan.cluster.gpus ? std::optional(ui.theme().bad) : std::nullopt);
    if (!covered) problem_count(ui, out.row, e.problems, state);
    if (covered || !e.valid) {  // the question is if it fits, or is possible; or nothing was computed
        for (const std::string_view name : {"memory", "step", "MFU"}) out.item(name, covered ? "?" : "—", "");
        if (covered) return;
        out.row.cut_right(out.right + 16);
        const std::string why = first_error(e.problems);
        if (out.row.w > 40 && c.text_in(out.row, why, ui.small()) && ui.hovers(out.row)) ui.tooltip(why);
        return draw_timing();
    }
    memory_figures(out, scene, room.w >= kWordsFrom);
    step_figures(out, scene);
    draw_timing();
}

}  // namespace pentamesh::ui
