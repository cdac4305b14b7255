// Draws the right side: the selected GPU, stage, collective or block; how its number came about; problems and
// advice with their fixes; where the step's time goes.
#include "app/ui/panels/inspector.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "core/base/files.h"
#include "core/comm/comm.h"
#include "core/explain/traffic.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/memory/memory.h"
#include "core/mesh/places.h"
#include "core/pipeline/timeline.h"
#include "core/plan/edits.h"
#include "core/plan/problem.h"
#include "core/plan/stand_in.h"
#include "core/sharding/placement.h"
#include "core/sharding/sharding.h"

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

// ---- the selection ------------------------------------------------------------------------------------

void rank_block(Ui& ui, Rect& room, const Scene& scene) {
    const std::int64_t rank = scene.selection.rank;
    put_head(ui, room, 6, "GPU", "RANK " + thousands(rank));
    if (const std::string host = host_of(scene, rank); !host.empty()) field(ui, room, "host", host);
    for (const CardLine& line : rank_lines(scene.plan, scene.evaluation, rank))
        field(ui, room, line.name, line.value);
    room.cut_top(12);
}

void stage_block(Ui& ui, Rect& room, const Scene& scene) {
    const auto i = static_cast<std::size_t>(scene.selection.stage);
    if (i >= scene.evaluation.memory.stage.size()) return;
    const StageMemory& s = scene.evaluation.memory.stage[i];
    put_head(ui, room, 6, "STAGE", std::to_string(s.stage));
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
    put_head(ui, room, 6, "COLLECTIVE", axis_label(op.group));
    field(ui, room, "what", std::string(words_of(op.what)));
    field(ui, room, "kind", std::string(words_of(op.collective)) + " over " + thousands(op.group_size));
    field(ui, room, "when", std::string(name_of(op.phase)) + ", per " + std::string(op.per));
    field(ui, room, "link", tier_label(scene.plan.cluster, op.tier));
    field(ui, room, "buffer", traffic_text(op.message_bytes));
    field(ui, room, "calls",
          thousands(static_cast<std::int64_t>(std::llround(op.count_per_step))) + " a step");
    field(ui, room, "sent", traffic_text(op.sent_bytes_per_rank) + " per GPU and step");
    if (op.time_s > 0) {
        field(ui, room, "time", time_text(op.time_s) + ", " + time_text(op.exposed_s) + " exposed");
        if (op.hidden_behind != HiddenBehind::none)
            field(ui, room, "hides behind", std::string(name_of(op.hidden_behind)));
    }
    room.cut_top(12);
}

// Returns true if the block is wanted on its lanes.
bool op_block(Ui& ui, Rect& room, const Scene& scene) {
    // With a slow stage injected, the times are those on the screen.
    const bool replayed = scene.shown_timeline != nullptr && scene.shown_timeline->iterations == 1;
    const Timeline& t = replayed ? *scene.shown_timeline : scene.evaluation.timeline;
    const auto i = static_cast<std::size_t>(scene.selection.op);
    if (scene.selection.op < 0 || i >= t.order.ops.size()) return false;
    const Op& op = t.order.ops[i];
    put_head(ui, room, 6, "BLOCK", "STAGE " + std::to_string(scene.selection.stage));
    field(ui, room, "does", std::string(name_of(op.kind)));
    field(ui, room, "micro-batch", std::to_string(op.microbatch));
    if (chunks_of(t.shape) > 1) field(ui, room, "chunk", std::to_string(op.chunk));
    field(ui, room, "starts", time_text(t.start[i]));
    field(ui, room, "takes", time_text(t.end[i] - t.start[i]));
    for (const CardLine& line : block_lines(scene.plan, scene.evaluation, t, i))
        field(ui, room, line.name, line.value);
    room.cut_top(6);
    const Rect row = room.cut_top(20);
    const bool lanes = ui.link("inspector.lanes", row.min(), "layer by layer, on the lanes");
    room.cut_top(12);
    return lanes;
}

void tensor_block(Ui& ui, Rect& room, const Scene& scene) {
    std::optional<Placement> found = selected_tensor(scene, Moment::at_rest);
    if (!found) found = selected_tensor(scene, Moment::computing);
    if (!found) return;
    const Mesh& mesh = scene.evaluation.mesh;
    const Placement& p = *found;
    const std::int64_t rank = std::max<std::int64_t>(scene.selection.rank, 0);
    put_head(ui, room, 6, "TENSOR", name_of(p.id));
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
    put_head(ui, room, 6, "EXPLAIN: " + in_capitals(e.title));
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
        if (!line->empty()) put_paragraph(ui, text, *line, ui.mono(tone), 16);
    room.cut_top(16);
}

// ---- problems -----------------------------------------------------------------------------------------

// A reason in at most two lines, the second one cut with an ellipsis; `whole`: all of it. Returns its height.
float reason(Ui& ui, Rect room, const std::string& text, bool whole) {
    Canvas& c = ui.canvas();
    constexpr float kLine = 17;
    const TextStyle style = ui.style(12, Tone::secondary);
    const std::vector<std::string_view> lines = c.wrapped(room.w, text, style);
    if (whole || lines.size() <= 2) return c.paragraph(room, text, style, kLine);
    c.text_in({room.x, room.y, room.w, kLine}, lines[0], style);
    const auto from = static_cast<std::size_t>(lines[1].data() - text.data());
    c.text_in({room.x, room.y + kLine, room.w, kLine}, std::string_view(text).substr(from), style);
    return 2 * kLine;
}

// These come before any layout that a search found: the plan cannot run as it is.
bool stops_the_plan(const Problem& p) {
    return p.severity == Severity::error || p.code == ProblemCode::memory_does_not_fit;
}

// The reasons of so many problems are shown at once, those of the others on hover and click.
constexpr std::size_t kWithReason = 2;

// One bold line, the reason below it, and what mends it. A click on the line shows the whole reason.
std::optional<PlanEdit> problem_row(Ui& ui, Rect& room, const Scene& scene, InspectorState& state,
                                    std::size_t i) {
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    const Problem& p = scene.evaluation.problems[i];
    draw_severity(ui, room.min(), stops_the_plan(p) ? Severity::error : p.severity);
    room.x += 22, room.w -= 22;
    const Rect head = room.cut_top(18);
    const Hit hit = ui.area("problem.row", head, i);
    c.text_in(head, title_of(p.code), ui.style(13, Tone::text, Face::semibold));
    if (hit.hovered) ui.tooltip(p.said());
    if (hit.focused) ui.focus_ring(head.inset(-3, 0), 3);
    if (hit.clicked) state.open = state.open == p.code ? std::nullopt : std::optional(p.code);
    room.cut_top(1);
    const bool open = state.open == p.code;
    if (open || stops_the_plan(p) || i < kWithReason)
        room.cut_top(reason(ui, room, p.said(), p.severity == Severity::error || open));
    if (!p.fix.empty()) {
        const std::string words = words_of(p.fix);
        if (c.text_width(words, ui.style(12)) > room.w && ui.hovers({room.x, room.y, room.w, 18}))
            ui.tooltip(words);
        if (ui.link("problem.fix", room.min(), words, i, 12, room.w)) {
            try {
                edit = PlanEdit{apply_edits(scene.plan, p.fix, scene.presets), words, ""};
            } catch (const Error& e) {
                scene.next_hover.message = e.what();
            }
        }
        room.cut_top(18);
    }
    room.x -= 22, room.w += 22;
    room.cut_top(10);
    return edit;
}

// A layout that a search found: what it gains in bold, the changes, and why.
std::optional<PlanEdit> better_row(Ui& ui, Rect& room, const BetterLayout& better, std::size_t i) {
    std::optional<PlanEdit> edit;
    Canvas& c = ui.canvas();
    const Color good = ui.theme().good;
    c.line(room.min() + Vec2{0, 12}, room.min() + Vec2{5, 6}, good, 2);
    c.line(room.min() + Vec2{5, 6}, room.min() + Vec2{10, 12}, good, 2);
    room.x += 22, room.w -= 22;
    c.text_in(room.cut_top(18), better.gain, ui.style(13, Tone::text, Face::semibold));
    room.cut_top(1);
    put_paragraph(ui, room, better.changes, ui.style(12), 17);
    put_paragraph(ui, room, better.reason, ui.style(12, Tone::secondary), 17);
    if (ui.link("problem.better", room.min(), "open that layout", i)) edit = better.edit;
    room.x -= 22, room.w += 22;
    room.cut_top(28);
    return edit;
}

// Problems that stop the plan come first: advice that improves the earlier plan is shown a little later, and
// moves none of it.
std::optional<PlanEdit> problems_block(Ui& ui, Rect& room, const Scene& scene, InspectorState& state) {
    std::optional<PlanEdit> edit;
    const auto& problems = scene.evaluation.problems;
    put_head(ui, room, 6, scene.evaluation.valid ? "WHAT WOULD HELP" : "WHAT IS WRONG",
             std::to_string(problems.size() + scene.better.size()));
    Canvas& c = ui.canvas();
    const auto put_problems = [&](bool stopping) {
        for (std::size_t i = 0; i < problems.size(); ++i)
            if (stops_the_plan(problems[i]) == stopping)
                if (auto e = problem_row(ui, room, scene, state, i)) edit = std::move(e);
    };
    put_problems(true);
    for (std::size_t i = 0; i < scene.better.size(); ++i)
        if (auto e = better_row(ui, room, scene.better[i], i)) edit = std::move(e);
    if (problems.empty() && scene.better.empty()) {
        c.text(room.min(), "No problem is known.", ui.small());
        room.cut_top(26);
    }
    put_problems(false);
    room.cut_top(6);
    return edit;
}

// ---- where the step goes ------------------------------------------------------------------------------

constexpr double kLargePart = 0.05;  // of the step: its row is bold
constexpr double kSmallPart = 0.01;  // parts less than this share a row
constexpr float kWithTimes = 232;    // a row less wide has percentages only

std::string name_of_slice(const StepSlice& slice) {
    return slice.part == StepPart::exposed ? axis_label(slice.group) : std::string(name_of(slice.part));
}

// Places times of the step along the bar.
struct StepBar {
    Rect all;
    double end_s;

    [[nodiscard]] float at_x(double t) const { return all.x + static_cast<float>(t / end_s) * all.w; }
    [[nodiscard]] Rect strip_of(const StepSlice& slice, float y, float h) const {
        return {at_x(slice.from_s), y, std::max(1.0f, at_x(slice.time_s) - all.x), h};
    }
};

// Draws the whole step in one bar: what a perfect GPU would need, and what there is to win back.
void step_bar(Ui& ui, Rect& room, const StepBar& bar, const std::vector<StepSlice>& slices,
              const std::vector<DrawnSlice>& drawn, const Step& s) {
    Canvas& c = ui.canvas();
    const Rect all = bar.all;
    for (std::size_t i = 0; i < slices.size(); ++i)
        fill_part(c, ui.theme(), bar.strip_of(drawn[i].now, all.y, all.h), slices[i]);
    if (const auto was = ui.before("inspector.end")) {
        const Canvas::Clip clip = c.clip(all.inset(-2, -3));
        ui.outline({all.x, all.y - 2, bar.at_x(*was) - all.x, all.h + 4},
                   {all.x, all.y - 2, bar.at_x(s.time_s) - all.x, all.h + 4});
    }
    room.cut_top(3);
    const Rect braces = room.cut_top(18);
    const float useful = bar.at_x(s.ideal_s), end = bar.at_x(s.time_s);
    c.line({all.x, braces.y + 1}, {useful - 1, braces.y + 1}, ui.theme().secondary);
    c.line({useful + 1, braces.y + 1}, {end, braces.y + 1}, ui.theme().secondary);
    const Rect line{braces.x, braces.y + 3, braces.w, 15};
    const TextStyle strong = ui.style(11), weak = ui.style(11, Tone::secondary);
    const std::string needed = "useful: " + time_text(s.ideal_s), left = time_text(s.time_s - s.ideal_s);
    constexpr float kApart = 8;
    const bool has_room =
        c.text_width(needed + left + " to win back", strong) + kApart <= line.w;  // else the brace says it
    c.text_in(line, needed, strong);
    c.text_in(line, left + (has_room ? " to win back" : " left"), weak, Align::right);
    room.cut_top(6);
}

void step_row(Ui& ui, Rect row, const StepBar& bar, const StepSlice& slice, const DrawnSlice& drawn,
              double step_s, Selection& selection) {
    Canvas& c = ui.canvas();
    const double part = slice.time_s / step_s;
    const bool large = part >= kLargePart;
    const std::string name = name_of_slice(slice);
    const Hit hit = ui.area("step.part", row, index_of(slice));
    const TextStyle figure =
        ui.style(12, large ? Tone::text : Tone::secondary, large ? Face::semibold : Face::regular);
    // A narrow row has no room for both figures next to a whole name; a small part is read by its share. The
    // tooltip has the time.
    const bool timed = large && row.w >= kWithTimes;
    text_row(ui, {row.x, row.y, row.w, 18},
             {{name, share(), figure},
              {percent(part), px(52), figure, Align::right},
              {timed ? time_text(slice.time_s) : std::string(), px(row.w >= kWithTimes ? 58.0f : 0.0f),
               ui.style(12, Tone::secondary), Align::right}});
    c.rect(bar.strip_of(drawn.now, row.y + 19, 4), color_of_part(ui.theme(), slice));
    if (drawn.before) {
        const Canvas::Clip clip = c.clip({bar.all.x - 2, row.y, bar.all.w + 4, row.h});
        ui.outline(bar.strip_of(*drawn.before, row.y + 18, 6), bar.strip_of(slice, row.y + 18, 6));
    }
    if (hit.hovered)
        ui.tooltip(name + "\n" + time_text(slice.time_s) + " of " + time_text(step_s) + "; click to explain");
    if (hit.focused) ui.focus_ring(row, 3);
    if (!hit.clicked) return;
    selection.topic = Selection::Topic::step;
    selection.step_part = static_cast<int>(slice.part);
    if (slice.part == StepPart::exposed) selection.choose(slice.group);
}

// Parts of less than one hundredth in one row: how many, and how much together; the tooltip has each.
void small_parts_row(Ui& ui, Rect row, const StepBar& bar, const std::vector<StepSlice>& slices,
                     const std::vector<std::size_t>& small, double step_s) {
    double all_s = 0;
    std::string each;
    for (const std::size_t i : small) {
        all_s += slices[i].time_s;
        each += "\n" + name_of_slice(slices[i]) + ": " + time_text(slices[i].time_s) + ", "
                + percent(slices[i].time_s / step_s);
        ui.canvas().rect(bar.strip_of(slices[i], row.y + 19, 4), color_of_part(ui.theme(), slices[i]));
    }
    const std::string name = thousands(std::ssize(small)) + " parts under 1 %";
    const TextStyle quiet = ui.style(12, Tone::secondary);
    text_row(ui, {row.x, row.y, row.w, 18},
             {{name, share(), quiet},
              {percent(all_s / step_s), px(52), quiet, Align::right},
              space(row.w >= kWithTimes ? 58.0f : 0.0f)});
    if (ui.area("step.small", row).hovered) ui.tooltip(name + each);
}

void step_block(Ui& ui, Rect& room, Scene& scene) {
    if (!scene.evaluation.step || scene.evaluation.step->time_s <= 0) return;
    const Step& s = *scene.evaluation.step;
    const double step_s = scene.injected ? scene.injected->step_s : s.time_s;
    put_head(ui, room, 6, "WHERE THE STEP GOES", time_text(step_s));
    const std::vector<StepSlice> slices = waterfall(s);
    const StepBar bar{room.cut_top(14), ui.kept_scale("inspector.end", s.time_s)};
    std::vector<DrawnSlice> drawn;
    for (const StepSlice& slice : slices) drawn.push_back(drawn_slice(ui, "inspector.slice", slice));
    step_bar(ui, room, bar, slices, drawn, s);
    std::vector<std::size_t> small;
    for (std::size_t i = 0; i < slices.size(); ++i)
        if (slices[i].time_s < kSmallPart * s.time_s) small.push_back(i);
    if (small.size() == 1) small.clear();
    for (std::size_t i = 0; i < slices.size(); ++i)
        if (std::ranges::find(small, i) == small.end())
            step_row(ui, room.cut_top(25), bar, slices[i], drawn[i], s.time_s, scene.selection);
    if (!small.empty()) small_parts_row(ui, room.cut_top(25), bar, slices, small, s.time_s);
    if (scene.injected)
        field(ui, room, scene.injected->words, "+ " + time_text(std::max(0.0, step_s - s.time_s)));
    if (const std::string run = nearest_run_words(scene.plan, s); !run.empty()) {
        room.cut_top(2);
        put_paragraph(ui, room, "Nearest measured run: " + run + ".", ui.style(11, Tone::secondary), 15);
    }
    room.cut_top(14);
    const std::vector<TrainingRow> training = training_rows(scene.plan, s);
    if (training.empty()) return;
    put_head(ui, room, 6, "WHAT THE TRAINING TAKES",
             count_text(scene.plan.training.tokens_total) + " tokens");
    for (const TrainingRow& row : training) field(ui, room, row.name, row.value + " " + row.unit);
    room.cut_top(14);
}

}  // namespace

Effects draw_inspector(Ui& ui, Rect panel, Scene& scene, InspectorState& state) {
    ScrollArea area(ui, "inspector", panel, state.scroll, {.pad = {16, 14}});
    Rect& room = area.room;
    const Mesh& mesh = scene.evaluation.mesh;
    using Topic = Selection::Topic;
    const bool valid = scene.evaluation.valid;  // a plan with errors has no figures to show
    Effects out;
    if (valid) step_block(ui, room, scene);
    const bool blames = scene.selection.topic == Topic::ranks && has_groups(scene);
    switch (valid || blames ? scene.selection.topic : Topic::none) {
    case Topic::rank:
        if (scene.selection.rank >= 0 && scene.selection.rank < mesh.world) rank_block(ui, room, scene);
        break;
    case Topic::memory: stage_block(ui, room, scene); break;
    case Topic::operation: operation_block(ui, room, scene); break;
    case Topic::op:
        if (op_block(ui, room, scene)) out.opens = Effects::Opens::lanes;
        break;
    case Topic::tensor: tensor_block(ui, room, scene); break;
    case Topic::ranks:
        if (!scene.selection.ranks.empty()) draw_blame(ui, room, scene);
        break;
    case Topic::none:
    case Topic::step: break;
    }
    if (valid) explanation_block(ui, room, scene);
    if (is_stand_in(scene.plan)) {
        put_head(ui, room, 6, "THE RUN'S PLAN");
        put_paragraph(ui, room, "It is not known: no figure of a plan is shown.", ui.small(), 18, 4);
        return out;
    }
    out.add(problems_block(ui, room, scene, state));
    return out;
}

std::optional<PlanEdit> draw_problems_layer(Ui& ui, const Scene& scene, InspectorState& state) {
    if (!state.problems_open) return std::nullopt;
    const Vec2 screen = ui.frame().size;
    const float w = std::min(420.0f, screen.x - 16), h = std::min(360.0f, state.problems_anchor.y - 16);
    const Rect box{held_between(state.problems_anchor.x, 8.0f, screen.x - 8 - w),
                   state.problems_anchor.y - 4 - h, w, h};
    const auto layer = ui.open_layer("status.problems.list", box);
    state.problems_open = layer.stays();
    ScrollArea area(ui, "problems", box.inset(2, 2), state.problems_scroll, {.pad = {14, 12}});
    return problems_block(ui, area.room, scene, state);
}

namespace {

constexpr std::int64_t kListed = 6;  // more are folded

// Joins a factor with the one below where it goes on where that ends.
GroupFactors joined(const GroupFactors& f) {
    GroupFactors out;
    for (const Factor& x : f.span()) {
        const auto n = static_cast<std::size_t>(out.count);
        if (n > 0 && out.factor[n - 1].size * out.factor[n - 1].stride == x.stride)
            out.factor[n - 1].size *= x.size;
        else
            out.factor[n] = x, ++out.count;
    }
    return out;
}

// Returns "0 … 7", "3, 11 … every 8th rank", "1, 4, 5", "a group of 64 from rank 2".
std::string members_text(const GroupFactors& factors, std::int64_t rank) {
    const GroupFactors f = joined(factors);
    const std::int64_t degree = degree_of(f);
    std::int64_t first = rank;
    for (const Factor& x : f.span()) first -= rank / x.stride % x.size * x.stride;
    const Factor low = f.factor[0];
    if (f.count == 1 && low.stride == 1 && degree > 2)
        return thousands(first) + " … " + thousands(first + degree - 1);
    if (degree <= kListed) {
        std::string text;
        for (const std::int64_t r : ranks_over(f, rank))
            if (r != rank) text += (text.empty() ? "" : ", ") + thousands(r);
        return text;
    }
    if (f.count == 1)
        return thousands(first) + ", " + thousands(first + low.stride) + " … every " + ordinal(low.stride)
               + " rank";
    return "a group of " + thousands(degree) + " from rank " + thousands(first);
}

// Returns "3 of 8, with 0 … 7": counted from 0, in the order of the ranks.
std::string place_in(const GroupFactors& f, std::int64_t rank) {
    std::int64_t at = 0, below = 1;
    for (const Factor& x : f.span()) {
        at += rank / x.stride % x.size * below;
        below *= x.size;
    }
    return thousands(at) + " of " + thousands(below) + ", with " + members_text(f, rank);
}

// `across` is the stage that holds the same layers, -1 where no stage does.
std::string copies_text(const GroupFactors& f, std::int64_t rank, std::int64_t across) {
    const std::int64_t n = degree_of(f);
    std::string text = n > 1 ? plural(n - 1, "other GPU", "other GPUs") + ": " + members_text(f, rank) : "";
    if (across >= 0)
        text += (n > 1 ? "; and " : "") + plural(n, "GPU", "GPUs") + " of stage " + thousands(across);
    return text.empty() ? "no other GPU" : text;
}

bool runs_experts(const Evaluation& e, std::int64_t stage) {
    const Stages& s = e.comm.stages;
    if (s.empty() || stage >= s.devices) return false;
    for (int c = 0; c < s.chunks; ++c)
        if (s.chunk(static_cast<int>(stage), c).moe > 0) return true;
    return false;
}

}  // namespace

std::vector<CardLine> rank_lines(const Plan& plan, const Evaluation& evaluation, std::int64_t rank) {
    const Mesh& mesh = evaluation.mesh;
    std::vector<CardLine> lines{{"place", place_of(plan.cluster, rank)}};
    const std::int64_t stage = dense_coordinates(mesh, rank)[Axis::pp], stages = mesh.dense[Axis::pp].size;
    for (const Axis axis : {Axis::tp, Axis::cp, Axis::dp_shard, Axis::dp_replicate, Axis::pp}) {
        const GroupKind kind = group_of(axis);
        if (mesh.dense[axis].size <= 1) continue;
        lines.push_back({name_of(kind), axis == Axis::pp
                                            ? "stage " + thousands(stage) + " of " + thousands(stages)
                                            : place_in(group_factors(mesh, kind), rank)});
    }
    if (const GroupFactors f = group_factors(mesh, GroupKind::gtp_remat); f.count > 0)
        lines.push_back({name_of(GroupKind::gtp_remat), place_in(f, rank)});
    if (mesh.has_experts)
        for (const GroupKind kind :
             {GroupKind::ep, GroupKind::etp, GroupKind::edp, GroupKind::edp_shard, GroupKind::edp_replicate})
            if (const GroupFactors f = group_factors(mesh, kind); f.count > 0)
                lines.push_back({name_of(kind), place_in(f, rank)});
    const auto& memory = evaluation.memory.stage;
    if (static_cast<std::size_t>(stage) < memory.size()) {
        const StageMemory& s = memory[static_cast<std::size_t>(stage)];
        lines.push_back({"computes with", count_text(static_cast<double>(s.parameters_held)) + " parameters, "
                                              + plural(s.layers, "layer", "layers")});
        const bool part = s.parameters_kept < s.parameters_held;
        lines.push_back({"keeps", (part ? count_text(static_cast<double>(s.parameters_kept)) + " of them, "
                                        : std::string())
                                      + memory_text(s.total())});
    }
    const ParameterCopies copies = parameter_copies_of(plan, mesh);
    const std::int64_t across = copies.stage_across ? stages - 1 - stage : -1;
    const std::string dense = copies_text(copies.dense, rank, across);
    lines.push_back({"same weights", dense});
    if (mesh.has_experts && runs_experts(evaluation, stage)) {
        const std::string experts = copies_text(copies.experts, rank, across);
        if (experts != dense) lines.push_back({"same experts", experts});
    }
    return lines;
}

namespace {

// Returns "0 … 15", "0 … 7, 64 … 71 …: 16 runs of 8".
std::string stage_ranks_text(const Mesh& mesh, int stage) {
    const Factor& pp = mesh.dense[static_cast<std::size_t>(Axis::pp)];
    const std::int64_t run = pp.stride, all = pp.stride * std::max<std::int64_t>(1, pp.size);
    const std::int64_t runs = std::max<std::int64_t>(1, mesh.world / std::max<std::int64_t>(1, all));
    const std::int64_t first = stage * run;
    const auto one = [&](std::int64_t from) {
        return run == 1 ? thousands(from) : thousands(from) + " … " + thousands(from + run - 1);
    };
    if (pp.size <= 1) return "0 … " + thousands(mesh.world - 1);
    if (runs == 1) return one(first);
    std::string text = one(first) + ", " + one(first + all);
    if (runs > 2) text += " …: " + thousands(runs) + (run == 1 ? " GPUs" : " runs of " + thousands(run));
    return text;
}

double held_then(const Timeline& t, int device, double time) {
    double held = 0;
    for (const InFlightStep& s : in_flight(t, device)) {
        if (s.time > time) break;
        held = s.held;
    }
    return held;
}

// The stage's GPU holds this at its peak; only the layers' activations come and go with micro-batches.
std::string memory_then(const StageMemory& m, double held) {
    const double share = m.in_flight > 0 ? std::min(1.0, held / m.in_flight) : 1;
    return memory_text(m.total() - m.layer_activations * (1 - share)) + ", with activations of "
           + significant(held) + (held == 1 ? " micro-batch" : " micro-batches");
}

std::string message(const Evaluation& e, Phase phase, int to) {
    for (const Operation& o : e.comm.operations)
        if (o.group == GroupKind::pp && o.unit == Unit::boundary && o.phase == phase)
            return traffic_text(o.message_bytes)
                   + (phase == Phase::forward ? " of activations" : " of gradients") + " to stage "
                   + std::to_string(to) + (o.call_s > 0 ? ", " + time_text(o.call_s) : "");
    return "to stage " + std::to_string(to);
}

}  // namespace

std::vector<CardLine> block_lines(const Plan&, const Evaluation& e, const Timeline& t, std::size_t i) {
    std::vector<CardLine> out;
    if (i >= t.order.ops.size()) return out;
    const int device = device_of_op(t, i);
    const Op& op = t.order.ops[i];
    out.push_back({"on ranks", stage_ranks_text(e.mesh, device)});
    const auto stage = static_cast<std::size_t>(device);
    if (stage < e.memory.stage.size())
        out.push_back({"holds then", memory_then(e.memory.stage[stage],
                                                 held_then(t, device, (t.start[i] + t.end[i]) / 2))});
    const SentTo to = sent_to(t, device, op);
    if (to.forward >= 0) out.push_back({"sends on", message(e, Phase::forward, to.forward)});
    if (to.backward >= 0) out.push_back({"sends back", message(e, Phase::backward, to.backward)});
    if (to.forward < 0 && to.backward < 0) out.push_back({"sends", "nothing to another stage"});
    return out;
}

namespace {

Explanation explain_axis(const Scene& scene) {
    const Operation* most = nullptr;
    for (const Operation& op : scene.evaluation.comm.operations)
        if (op.group == scene.selection.group
            && (most == nullptr || op.sent_bytes_per_rank > most->sent_bytes_per_rank))
            most = &op;
    return most == nullptr ? Explanation{} : explain_operation(scene.plan, scene.evaluation, *most);
}

}  // namespace

Explanation explain_selection(const Scene& scene) {
    const Selection& sel = scene.selection;
    const Evaluation& e = scene.evaluation;
    switch (sel.topic) {
    case Selection::Topic::memory:
        if (sel.stage >= 0 && sel.stage < static_cast<int>(e.memory.stage.size())) {
            const int category = sel.memory_category >= 0 ? sel.memory_category
                                                          : static_cast<int>(MemoryCategory::activations);
            return explain_memory(scene.plan, e.mesh, e.memory, sel.stage,
                                  static_cast<MemoryCategory>(category));
        }
        return {};
    case Selection::Topic::operation:
        if (sel.operation >= 0 && sel.operation < static_cast<int>(e.comm.operations.size()))
            return explain_operation(scene.plan, e, e.comm.operations[sel.operation]);
        return {};
    case Selection::Topic::step:
        if (e.step) return explain_step(scene.plan, e, static_cast<StepPart>(sel.step_part), sel.group);
        return {};
    case Selection::Topic::rank: return explain_axis(scene);
    case Selection::Topic::tensor:
        for (const Moment moment : {Moment::at_rest, Moment::computing})
            if (const auto p = selected_tensor(scene, moment))
                return explain_tensor(scene.plan, e.mesh, *p, std::max<std::int64_t>(sel.rank, 0));
        return {};
    case Selection::Topic::none:
    case Selection::Topic::ranks:
    case Selection::Topic::op: break;
    }
    return {};
}

std::optional<Placement> selected_tensor(const Scene& scene, Moment moment) {
    const Selection& sel = scene.selection;
    const Mesh& mesh = scene.evaluation.mesh;
    if (mesh.world < 1 || sel.rank >= mesh.world) return std::nullopt;
    const bool activation = sel.activation >= 0;
    const auto index = static_cast<std::size_t>(activation ? sel.activation : std::max(sel.tensor, 0));
    if (!activation && sel.tensor < 0) return std::nullopt;
    const TensorState state = activation                                     ? TensorState::activations
                              : sel.tensor_state != TensorState::activations ? sel.tensor_state
                                                                             : TensorState::parameters;
    const auto all = list_placements(scene.plan, mesh, state, activation ? Moment::computing : moment);
    if (index >= all.size()) return std::nullopt;
    if (!activation || moment == Moment::computing) return all[index];
    for (const Placement& p : list_placements(scene.plan, mesh, state, moment))
        if (p.id == all[index].id && p.place == all[index].place) return p;
    return std::nullopt;  // a partial sum: not kept
}

namespace {

constexpr std::size_t kPartsShown = 12;  // of a list of ranks
constexpr std::size_t kCallsShown = 6;   // of a group; the table has them all

void blame_row(Ui& ui, Rect& room, std::string_view name, const std::string& value,
               const Color* mark = nullptr) {
    Canvas& c = ui.canvas();
    constexpr float kLabel = 92;
    const float h = c.paragraph_height(room.w - kLabel, value, ui.style(12), 18);
    const Rect row = room.cut_top(std::max(20.0f, h + 2));
    if (mark != nullptr) ui.swatch({row.x, row.y + 4}, *mark, 9);
    const float in = mark != nullptr ? 15.0f : 0.0f;
    c.text_in({row.x + in, row.y, kLabel - in, 18}, name, ui.style(12, Tone::secondary));
    c.paragraph({row.x + kLabel, row.y + 1, row.w - kLabel, row.h}, value, ui.style(12), 18);
}

// Returns "all-gather of parameters, reduce-scatter of gradients and 3 more".
std::string calls_text(const Evaluation& e, const SharedGroup& g) {
    std::string text;
    std::size_t named = 0;
    std::vector<std::string> seen;
    for (const int i : g.operations) {
        const Operation& o = e.comm.operations[static_cast<std::size_t>(i)];
        std::string words = std::string(words_of(o.collective)) + " of " + std::string(words_of(o.what));
        if (std::find(seen.begin(), seen.end(), words) != seen.end()) continue;
        seen.push_back(words);
        if (named == kCallsShown) continue;
        ++named;
        text += (text.empty() ? "" : "; ") + words;
    }
    if (seen.size() > named) text += "; and " + std::to_string(seen.size() - named) + " more";
    return text;
}

void warn(Ui& ui, Rect& room, const std::string& what) {
    TextStyle s = ui.small();
    s.color = ui.theme().bad;
    const float h = ui.canvas().paragraph_height(room.w, what, s, 18);
    ui.canvas().paragraph(room.cut_top(h + 4), what, s, 18);
}

}  // namespace

bool has_groups(const Scene& scene) {
    if (scene.evaluation.mesh.world < 1) return false;
    return scene.evaluation.valid
           || (is_stand_in(scene.plan) && scene.run != nullptr && scene.run->hang != nullptr);
}

void draw_blame(Ui& ui, Rect& room, const Scene& scene) {
    const Plan& plan = scene.plan;
    const Evaluation& e = scene.evaluation;
    const bool known = !is_stand_in(plan);
    Blame b = blame(plan, e, scene.selection.ranks);
    if (!known)
        b.domains.clear(), b.seat.reset(), b.nic.reset(), b.tier = -1;  // nobody said where a node ends
    const auto n = static_cast<std::int64_t>(b.ranks.size());
    ui.section(room.cut_top(18), "WHAT THEY SHARE", n == 1 ? "1 RANK" : thousands(n) + " RANKS");
    room.cut_top(6);
    blame_row(ui, room, "ranks", ranks_text(b.ranks, kPartsShown));
    if (scene.hosts != nullptr && !scene.hosts->names.empty())
        blame_row(ui, room, "hosts", hosts_text(*scene.hosts, b.ranks, kPartsShown));
    const std::string place = shared_place_text(plan, e, b);
    blame_row(ui, room, "all in", place.empty() ? "no common node, stage or coordinate" : place);
    if (b.tier >= 0) blame_row(ui, room, "joined by", tier_label(plan.cluster, b.tier));
    if (b.groups.empty()) {
        blame_row(ui, room, "groups", "none holds them all: no collective waits for all of them");
        for (const AxisSpread& s : b.spread) {
            const Color color = color_of(ui.theme(), s.kind);
            blame_row(ui, room, axis_label(s.kind),
                      "in " + plural(s.groups, "group", "groups") + ", at most " + thousands(s.most)
                          + " in one",
                      &color);
        }
    }
    for (const SharedGroup& g : b.groups) {
        const Color color = color_of(ui.theme(), g.kind);
        const auto degree = static_cast<std::int64_t>(g.members.size());
        std::string head = "group " + thousands(g.index) + " of " + thousands(degree) + " GPUs"
                           + (known ? " over " + tier_label(plan.cluster, g.tier) : "");
        for (const GroupKind also : g.also) head += ", also " + axis_label(also);
        if (!known)
            head +=
                degree == n ? ". Nobody else is in it." : ". " + thousands(degree - n) + " more are in it.";
        else if (g.operations.empty())
            head += ". This plan's collectives do not use it.";
        else
            head += (degree == n ? ". Nobody else is in it."
                                 : ". " + plural(degree - n, "other waits", "others wait") + ".")
                    + "\nWaits in: " + calls_text(e, g);
        blame_row(ui, room, axis_label(g.kind), head, &color);
    }
    if (!b.waiting.empty())
        blame_row(ui, room, "wait first",
                  plural(static_cast<std::int64_t>(b.waiting.size()), "GPU", "GPUs") + ": "
                      + ranks_text(b.waiting, kPartsShown));
    if (!known) blame_row(ui, room, "not known", "nodes, wires and calls: " + not_known_words(plan));
    room.cut_top(12);
}

std::string select_ranks(Scene& scene, const std::string& list) {
    try {
        scene.selection.ranks = parse_rank_list(list, scene.evaluation.mesh.world);
    } catch (const Error& e) {
        return e.what();
    }
    scene.selection.topic = Selection::Topic::ranks;
    return {};
}

void draw_blame_panel(Ui& ui, Scene& scene, BlamePanelState& state, HostNames& hosts) {
    if (!state.open) return;
    const Vec2 screen = ui.frame().size;
    const float w = std::min(460.0f, screen.x - 32), h = std::min(440.0f, screen.y - 96);
    const Rect box{screen.x - w - 16, 56, w, h};
    const auto layer = ui.open_layer("blame", box);
    bool open = layer.stays();
    Rect room = box.inset(20, 16);
    ui.canvas().text_in(room.cut_top(20), "What do these ranks share?", ui.title());
    room.cut_top(8);
    Rect field = room.cut_top(30);
    const bool ok = ui.button("blame.close", field.cut_right(76), "Done");
    field.cut_right(8);
    bool changed = false;
    const bool entered = ui.text_field("blame.ranks", field, state.text,
                                       "ranks that hang or fail: 0-7, 12, 99", state.fresh, &changed);
    state.fresh = false;
    const bool valid = has_groups(scene);
    if (changed || entered) {
        state.error = !valid ? "The plan has errors: there are no groups." : select_ranks(scene, state.text);
        if (!state.error.empty()) scene.selection = scene.selection.cleared();
    }
    room.cut_top(8);
    bool named = false;
    ui.text_field("blame.hosts", room.cut_top(30), hosts.list, "hosts by name: gpu[001-064]", false, &named);
    if (!hosts.error().empty()) warn(ui, room, hosts.error());
    room.cut_top(10);
    if (!state.error.empty() && !state.text.empty()) {
        warn(ui, room, state.error);
    } else if (valid && scene.selection.topic == Selection::Topic::ranks) {
        ScrollArea area(ui, "blame.answer", room, state.scroll);
        area.room.w -= 10;
        draw_blame(ui, area.room, scene);
    } else {
        ui.canvas().paragraph(
            room,
            "The groups, the node, the stage and the links that all of them are in, what they "
            "wait in for each other, and who waits next.",
            ui.small(), 18);
    }
    if (ok || (entered && state.error.empty())) open = false;
    state.open = open;
}

}  // namespace pentamesh::ui
