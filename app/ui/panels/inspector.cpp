// Draws the right side: the selected GPU, stage, collective or block; how its number came about; problems and
// advice with their fixes; where the step's time goes.
#include "app/ui/panels/inspector.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/blame_panel.h"
#include "app/ui/panels/block_card.h"
#include "app/ui/panels/explain_selection.h"
#include "app/ui/panels/rank_card.h"
#include "app/ui/scene/difference.h"
#include "core/io/plan_json.h"
#include "core/plan/edit_words.h"
#include "core/rules/first_error.h"
#include "core/sharding/placement_words.h"
#include "core/step/causal_mfu.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {

namespace {

void field(Ui& ui, Rect& room, std::string_view name, const std::string& value) {
    Canvas& c = ui.canvas();
    const float label_w = 92;
    const float h = c.paragraph_height(room.w - label_w, value, ui.style(12), 18);
    const Rect row = room.cut_top(std::max(20.0f, h + 2));
    c.text_in({row.x, row.y, label_w, 18}, name, ui.style(12, Tone::secondary));
    c.paragraph({row.x + label_w, row.y + 1, row.w - label_w, row.h}, value, ui.style(12), 18);
}

void section(Ui& ui, Rect& room, std::string_view head, std::string_view right = {}) {
    ui.section(room.cut_top(18), head, right);
    room.cut_top(6);
}

// ---- the selection ------------------------------------------------------------------------------------

void rank_block(Ui& ui, Rect& room, const Scene& scene) {
    const std::int64_t rank = scene.selection.rank;
    section(ui, room, "GPU", "RANK " + thousands(rank));
    if (const std::string host = host_of(scene, rank); !host.empty()) field(ui, room, "host", host);
    for (const CardLine& line : rank_lines(scene.plan, scene.evaluation, rank))
        field(ui, room, line.name, line.value);
    room.cut_top(12);
}

void stage_block(Ui& ui, Rect& room, const Scene& scene) {
    const auto i = static_cast<std::size_t>(scene.selection.stage);
    if (i >= scene.evaluation.memory.stage.size()) return;
    const StageMemory& s = scene.evaluation.memory.stage[i];
    section(ui, room, "STAGE", std::to_string(s.stage));
    field(ui, room, "layers", thousands(s.layers));
    field(ui, room, "computes with", count_text(static_cast<double>(s.parameters_held)) + " parameters");
    if (s.parameters_kept < s.parameters_held)
        field(ui, room, "keeps", count_text(static_cast<double>(s.parameters_kept)) + " of them");
    field(ui, room, "in flight", significant(s.in_flight) + " micro-batches");
    field(ui, room, "parameters", memory_text(s.parameters));
    field(ui, room, "gradients", memory_text(s.gradients));
    field(ui, room, "optimizer", memory_text(s.optimizer));
    field(ui, room, "activations", memory_text(s.activations));
    field(ui, room, "buffers",
          memory_text(s.buffers) + ", range " + gib(s.buffers_low) + " – " + gib(s.buffers_high));
    field(ui, room, "total", memory_text(s.total()) + " of " + capacity_text(scene.evaluation.memory.hbm));
    room.cut_top(12);
}

void operation_block(Ui& ui, Rect& room, const Scene& scene) {
    const auto& ops = scene.evaluation.comm.operations;
    const auto i = static_cast<std::size_t>(scene.selection.operation);
    if (i >= ops.size()) return;
    const Operation& op = ops[i];
    section(ui, room, "COLLECTIVE", axis_label(op.group));
    field(ui, room, "what", std::string(words_of(op.what)));
    field(ui, room, "kind", std::string(name_of(op.collective)) + " over " + thousands(op.group_size));
    field(ui, room, "when", std::string(name_of(op.phase)) + ", per " + std::string(op.per));
    field(ui, room, "link", tier_label(scene.plan.cluster, op.tier));
    field(ui, room, "buffer", traffic_text(op.message_bytes));
    field(ui, room, "calls",
          thousands(static_cast<std::int64_t>(std::llround(op.count_per_step))) + " a step");
    field(ui, room, "sent", traffic_text(op.sent_bytes_per_rank) + " per GPU and step");
    if (op.time_s > 0) {
        field(ui, room, "time", time_text(op.time_s) + ", " + time_text(op.exposed_s) + " exposed");
        if (!op.hidden_behind.empty()) field(ui, room, "hides behind", std::string(op.hidden_behind));
    }
    room.cut_top(12);
}

void op_block(Ui& ui, Rect& room, const Scene& scene) {
    // With a slow stage injected, the times are those on the screen.
    const bool replayed = scene.shown_timeline != nullptr && scene.shown_timeline->iterations == 1;
    const Timeline& t = replayed ? *scene.shown_timeline : scene.evaluation.timeline;
    const auto i = static_cast<std::size_t>(scene.selection.op);
    if (scene.selection.op < 0 || i >= t.order.ops.size()) return;
    const Op& op = t.order.ops[i];
    section(ui, room, "BLOCK", "STAGE " + std::to_string(scene.selection.stage));
    field(ui, room, "does", std::string(name_of(op.kind)));
    field(ui, room, "micro-batch", std::to_string(op.microbatch));
    if (chunks_of(t.shape) > 1) field(ui, room, "chunk", std::to_string(op.chunk));
    field(ui, room, "starts", time_text(t.start[i]));
    field(ui, room, "takes", time_text(t.end[i] - t.start[i]));
    for (const CardLine& line : block_lines(scene.plan, scene.evaluation, t, i))
        field(ui, room, line.name, line.value);
    room.cut_top(12);
}

void tensor_block(Ui& ui, Rect& room, const Scene& scene) {
    std::optional<Placement> found = selected_tensor(scene, Moment::at_rest);
    if (!found) found = selected_tensor(scene, Moment::computing);
    if (!found) return;
    const Mesh& mesh = scene.evaluation.mesh;
    const Placement& p = *found;
    const std::int64_t rank = std::max<std::int64_t>(scene.selection.rank, 0);
    section(ui, room, "TENSOR", name_of(p.id));
    field(ui, room, "whole",
          shape_words(p) + ", " + memory_text(p.bytes_whole) + " of " + std::string(name_of(p.state)));
    for (const Axis a : {Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp})
        if (p.on(a).size > 1) field(ui, room, axis_name(p, a), spread_words(p.on(a)));
    const Part part = part_of(scene.plan, mesh, p, rank);
    field(ui, room, "rank " + thousands(rank), part_words(p, part));
    field(ui, room, "here", memory_text(part.bytes));
    if (const auto computing = selected_tensor(scene, Moment::computing)) {
        const Part then = part_of(scene.plan, mesh, *computing, rank);
        if (then.bytes != part.bytes)
            field(ui, room, "computing", memory_text(then.bytes) + ": " + part_words(*computing, then));
    }
    if (p.layers > 1) field(ui, room, "in", plural(p.layers, "layer", "layers"));
    room.cut_top(12);
}

void explanation_block(Ui& ui, Rect& room, const Scene& scene) {
    const Explanation e = explain_selection(scene);
    if (e.empty()) return;
    Canvas& c = ui.canvas();
    std::string head = "EXPLAIN: ";
    for (const char ch : e.title) head += static_cast<char>(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
    section(ui, room, head);
    const float w = room.w - 24;
    const auto height = [&](const std::string& s) {
        return s.empty() ? 0 : c.paragraph_height(w, s, ui.mono(), 16);
    };
    const float h = height(e.formula) + height(e.substituted) + height(e.result) + height(e.source) + 20;
    const Rect box = room.cut_top(h);
    c.rect(box, ui.theme().raised, 6);
    c.frame(box, ui.theme().hairline, 1, 6);
    Rect text = box.inset(12, 10);
    for (const auto& [line, tone] : {std::pair{&e.formula, Tone::text},
                                     {&e.substituted, Tone::secondary},
                                     {&e.result, Tone::text},
                                     {&e.source, Tone::secondary}})
        if (!line->empty()) text.cut_top(c.paragraph(text, *line, ui.mono(tone), 16));
    room.cut_top(16);
}

// ---- problems -----------------------------------------------------------------------------------------

void severity_mark(Ui& ui, Vec2 at, Severity s) {
    Canvas& c = ui.canvas();
    if (s == Severity::info) {
        c.circle(at + Vec2{5, 9}, 4.5f, ui.theme().link);
        return;
    }
    const Color color = s == Severity::error ? ui.theme().bad : ui.theme().amber;
    if (s == Severity::error) {
        c.rect({at.x, at.y + 4, 10, 10}, color, 2);
        return;
    }
    const std::array<Vec2, 3> triangle{at + Vec2{5, 4}, at + Vec2{10.5f, 14}, at + Vec2{-0.5f, 14}};
    c.polygon(triangle, color);
}

// Draws a message with its fix below it, with as many of the fix's words as there is room for.
std::optional<PlanEdit> problem_row(Ui& ui, Rect& room, const Scene& scene, std::size_t i) {
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    const Problem& p = scene.evaluation.problems[i];
    severity_mark(ui, room.min(), p.severity);
    Rect text{room.x + 22, room.y, room.w - 22, room.h};
    const float used = c.paragraph(text, p.message, ui.style(12), 18);
    text.cut_top(used);
    room.cut_top(used);
    if (!p.fix.empty()) {
        const std::string words = words_of(p.fix);
        if (c.text_width(words, ui.style(12)) > text.w && ui.hovers({text.x, text.y, text.w, 18}))
            ui.tooltip(words);
        if (ui.link("problem.fix", text.min(), words, i, 12, text.w)) {
            try {
                edit = PlanEdit{apply_edits(scene.plan, p.fix, scene.presets), words, ""};
            } catch (const Error& e) {
                scene.next_hover.message = e.what();
            }
        }
        room.cut_top(18);
    }
    room.cut_top(10);
    return edit;
}

// Errors come first: advice that improves the earlier plan is shown a little later, and moves none of them.
std::optional<PlanEdit> problems_block(Ui& ui, Rect& room, const Scene& scene) {
    std::optional<PlanEdit> edit;
    const auto& problems = scene.evaluation.problems;
    section(ui, room, "PROBLEMS AND ADVICE", std::to_string(problems.size() + scene.better.size()));
    Canvas& c = ui.canvas();
    std::size_t errors = 0;
    while (errors < problems.size() && problems[errors].severity == Severity::error) ++errors;
    for (std::size_t i = 0; i < errors; ++i)
        if (auto e = problem_row(ui, room, scene, i)) edit = std::move(e);
    for (std::size_t i = 0; i < scene.better.size(); ++i) {
        severity_mark(ui, room.min(), Severity::info);
        const Rect text{room.x + 22, room.y, room.w - 22, room.h};
        room.cut_top(c.paragraph(text, scene.better[i].what, ui.style(12), 18));
        if (ui.link("problem.better", {text.x, room.y}, "open that layout", i)) {
            edit = scene.better[i];
            edit->what = "a faster layout";
        }
        room.cut_top(28);
    }
    if (problems.empty() && scene.better.empty()) {
        c.text(room.min(), "Nothing to mend.", ui.small());
        room.cut_top(26);
    }
    for (std::size_t i = errors; i < problems.size(); ++i)
        if (auto e = problem_row(ui, room, scene, i)) edit = std::move(e);
    room.cut_top(6);
    return edit;
}

// ---- where the step goes ------------------------------------------------------------------------------

void step_block(Ui& ui, Rect& room, Scene& scene) {
    if (!scene.evaluation.step) return;
    const Step& s = *scene.evaluation.step;
    if (s.time_s <= 0) return;
    section(ui, room, "WHERE THE STEP GOES", time_text(s.time_s));
    struct Part {
        std::string name;
        double time_s;
        Color color;
        StepPart part = StepPart::compute;
        GroupKind axis = GroupKind::tp;
    };
    std::vector<Part> parts{{"compute", s.compute_s, ui.theme().text, StepPart::compute},
                            {"recompute", s.recompute_s, ui.theme().secondary, StepPart::recompute},
                            {"bubble", schedule_bubble_s(s), ui.theme().faint, StepPart::bubble},
                            {"uneven stages", s.uneven_s, ui.theme().faint, StepPart::uneven}};
    for (int k = 0; k < kGroupKindCount; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        parts.push_back(
            {axis_label(kind), s.exposed_comm_s[k], color_of(ui.theme(), kind), StepPart::exposed, kind});
    }
    parts.push_back(
        {"optimizer", s.optimizer_s, mix(ui.theme().text, ui.theme().secondary, 0.6f), StepPart::optimizer});
    parts.push_back({"straggler", s.straggler_s, ui.theme().bad, StepPart::straggler});
    Canvas& c = ui.canvas();
    const float figure = 54;
    float label = 84;  // as wide as the longest name
    for (const Part& p : parts)
        if (p.time_s > 0) label = std::max(label, c.text_width(p.name, ui.small()) + 8);
    label = std::min(label, room.w * 0.5f);
    const float w = room.w - label - figure;
    double at = 0;
    for (const Part& p : parts) {
        if (p.time_s <= 0) continue;
        const Rect row = room.cut_top(18);
        c.text_in({row.x, row.y, label - 6, row.h}, p.name, ui.small());
        const auto x = static_cast<float>(at / s.time_s) * w,
                   len = static_cast<float>(p.time_s / s.time_s) * w;
        const Rect bar{row.x + label + x, row.y + 4, std::max(1.0f, len), 10};
        c.rect(bar, p.color);
        if (bar.right() + 54 <= row.right())
            c.text_in({bar.right() + 6, row.y, 60, row.h}, percent(p.time_s / s.time_s), ui.small());
        else
            c.text_in({row.right() - 54, row.y, 54, row.h}, percent(p.time_s / s.time_s), ui.small(),
                      Align::right);
        const Hit hit = ui.area("step.part", row,
                                static_cast<std::uint64_t>(p.part) * 64 + static_cast<std::uint64_t>(p.axis));
        if (hit.hovered)
            ui.tooltip(p.name + "\n" + time_text(p.time_s) + " of " + time_text(s.time_s)
                       + "; click to explain");
        if (hit.focused) ui.focus_ring(row, 3);
        if (hit.clicked) {
            scene.selection.topic = Selection::Topic::step;
            scene.selection.step_part = static_cast<int>(p.part);
            if (p.part == StepPart::exposed) scene.selection.choose(p.axis);
        }
        at += p.time_s;
    }
    room.cut_top(12);
}

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
    severity_mark(ui, {r.x, r.center().y - 9}, errors ? Severity::error : Severity::warning);
    c.text_in({r.x + 16, r.y, r.w - 14, r.h}, text, s);
    if (state == nullptr) return;
    const Hit hit = ui.area("status.problems", r);
    if (hit.focused) ui.focus_ring(r.inset(-2, 4), 3);
    if (hit.hovered) ui.tooltip(text + "\nclick to see what mends them");
    if (hit.clicked) state->problems_open = true, state->problems_anchor = r, state->problems_scroll = {};
}

}  // namespace

std::optional<PlanEdit> draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state) {
    ScrollArea area(ui, "inspector", panel, state.scroll, {.pad = {16, 14}});
    Rect& room = area.room;
    const Mesh& mesh = scene.evaluation.mesh;
    using Topic = Selection::Topic;
    const bool valid = scene.evaluation.valid;  // a plan with errors has no figures to show
    switch (valid ? scene.selection.topic : Topic::none) {
    case Topic::rank:
        if (scene.selection.rank >= 0 && scene.selection.rank < mesh.world) rank_block(ui, room, scene);
        break;
    case Topic::memory: stage_block(ui, room, scene); break;
    case Topic::operation: operation_block(ui, room, scene); break;
    case Topic::op: op_block(ui, room, scene); break;
    case Topic::tensor: tensor_block(ui, room, scene); break;
    case Topic::ranks:
        if (!scene.selection.ranks.empty()) draw_blame(ui, room, scene);
        break;
    case Topic::none:
    case Topic::step: break;
    }
    if (valid) explanation_block(ui, room, scene);
    std::optional<PlanEdit> edit = problems_block(ui, room, scene);
    if (valid) step_block(ui, room, scene);
    return edit;
}

std::optional<PlanEdit> draw_problems_layer(Ui& ui, const Scene& scene, InspectorState& state) {
    if (!state.problems_open) return std::nullopt;
    const Vec2 screen = ui.frame().size;
    const float w = std::min(420.0f, screen.x - 16), h = std::min(360.0f, state.problems_anchor.y - 16);
    const Rect box{std::clamp(state.problems_anchor.x, 8.0f, screen.x - 8 - w),
                   state.problems_anchor.y - 4 - h, w, h};
    const auto layer = ui.open_layer("status.problems.list", box);
    state.problems_open = layer.stays();
    ScrollArea area(ui, "problems", box.inset(2, 2), state.problems_scroll, {.pad = {14, 12}});
    std::optional<PlanEdit> edit = problems_block(ui, area.room, scene);
    return edit;
}

namespace {
constexpr float kTimedFrom = 800;  // logical pixels
}

void draw_status(Ui& ui, Rect room, const Scene& scene, double evaluate_s, InspectorState* state,
                 bool covered) {
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
                          bool bad = false) {
        const float w = c.text_width(name, ui.small()) + 6
                        + c.text_width(value, ui.style(12, Tone::text, Face::semibold)) + 6
                        + c.text_width(after, ui.small());
        if (w > row.w - timing_w - 16) return;
        Rect r = row.cut_left(w + 22);
        c.text_in(r, name, ui.small());
        r.cut_left(c.text_width(name, ui.small()) + (name.empty() ? 0 : 6));
        TextStyle s = ui.style(12, Tone::text, Face::semibold);
        if (bad) s.color = ui.theme().bad;
        c.text_in(r, value, s);
        r.cut_left(c.text_width(value, s) + 4);
        c.text_in(r, after, ui.small());
    };
    // Where a plan is pinned, the difference to A follows the figure.
    const auto against = [&](double now, double Step::*figure, bool less_is_better,
                             std::string (*text)(double)) {
        if (scene.pinned == nullptr || !scene.pinned->step) return;
        draw_difference(ui, row, difference(now, (*scene.pinned->step).*figure), less_is_better, text,
                        timing_w + 16);
    };
    if (scene.another_model && e.valid) item("A has", "another model", "");
    item("GPUs", thousands(e.mesh.world), "of " + thousands(scene.plan.cluster.gpus),
         e.mesh.world != scene.plan.cluster.gpus);
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
        row = room.inset(16, 0);
        if (timed) c.text_in(row, timing, timing_style, Align::right);
        return;
    }
    if (!e.memory.stage.empty())
        item("memory", gib(e.memory.peak()), "/ " + memory_text(e.memory.hbm), !e.memory.fits());
    if (!e.memory.stage.empty() && scene.pinned != nullptr && !scene.pinned->memory.stage.empty())
        draw_difference(ui, row, difference(e.memory.peak(), scene.pinned->memory.peak()), true, memory_text,
                        timing_w + 16);
    if (e.step) {
        const Step& s = *e.step;
        item("step", time_text(s.time_s), s.error > 0 ? "± " + percent(s.error) : "");
        against(s.time_s, &Step::time_s, true, time_text);
        item("MFU", percent(s.mfu), "");
        against(s.mfu, &Step::mfu, false, points_text);
        if (shows_causal_mfu(s)) item("MFU (causal)", percent(mfu_causal(s)), "");
        item("", count_text(s.tokens_per_s), "tokens/s");
        against(s.tokens_per_s, &Step::tokens_per_s, false, count_text);
        double exposed = 0;
        for (const double x : s.exposed_comm_s) exposed += x;
        if (s.time_s > 0) item("exposed communication", percent(exposed / s.time_s), "");
    }
    if (timed && c.text_in(row, timing, timing_style, Align::right) && ui.hovers(row)) ui.tooltip(timing);
}

}  // namespace pentamesh::ui
