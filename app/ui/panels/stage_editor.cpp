#include "app/ui/panels/plan_panel.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "core/base/text.h"
#include "core/plan/edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace pentamesh::ui {

namespace {

using Layers = std::vector<std::int64_t>;
constexpr float kRowHeight = 28;
constexpr Size kName = em(10.5f), kCount = em(7), kFigure = em(7);
constexpr double kQuickBalance = 4e6;  // chunks × layers²: no wait for a person

StageFigures figures_of(const Scene& scene) {
    StageFigures f;
    layers_of_chunks(scene.plan, f.now);
    const Plan plain = with_stage_layers(scene.plan, {});
    layers_of_chunks(plain, f.even);
    // A list that does not add up is an error: the figures are then those of the even split.
    Evaluation own;
    const bool valid = scene.evaluation.valid;
    if (!valid) evaluate(plain, own, {.timeline = false, .messages = false});
    const Evaluation& e = valid ? scene.evaluation : own;
    const ScheduleShape shape = shape_of(scene.plan, std::max<std::int64_t>(e.microbatches, 1));
    f.load = stage_load(plain, shape, e.work);
    f.device.assign(f.now.size(), 0);
    f.chunk.assign(f.now.size(), 0);
    for (int d = shape.devices; d-- > 0;)
        for (int c = chunks_of(shape); c-- > 0;)
            if (const auto at = static_cast<std::size_t>(stage_of(shape, d, c)); at < f.now.size())
                f.device[at] = d, f.chunk[at] = c;
    // With two copies of the model each stage stands twice: it is named by the first of its devices.
    if (traits_of(shape.schedule).placement == StagePlacement::two_copies)
        for (std::size_t s = 0; s < f.device.size(); ++s) f.device[s] = static_cast<int>(s), f.chunk[s] = 0;
    const auto n = static_cast<double>(f.now.size()), layers = static_cast<double>(f.load.layer.size());
    if (!f.load.chunk.empty() && n * layers * layers <= kQuickBalance) {
        const std::vector<double> busy = device_seconds(f.load, balance(f.load));
        f.balanced_s = *std::max_element(busy.begin(), busy.end());
    }
    return f;
}

std::int64_t sum_of_layers(const Layers& layers) {
    return std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
}

// ---- a change -------------------------------------------------------------------------------------------

// The draft is a plan's once it adds up.
std::optional<PlanEdit> take_draft(const Scene& scene, const StageEditorState& state, const StageFigures& f,
                                   std::string what, std::string merge_key) {
    if (state.draft == f.now && scene.evaluation.valid) return std::nullopt;
    if (sum_of_layers(state.draft) != scene.plan.model.layers) return std::nullopt;
    Plan plan = with_stage_layers(scene.plan, state.draft == f.even ? Layers{} : state.draft);
    if (plan == scene.plan) return std::nullopt;
    return PlanEdit{std::move(plan), std::move(what), std::move(merge_key)};
}

std::optional<PlanEdit> set_chunk(const Scene& scene, StageEditorState& state, const StageFigures& f,
                                  const Layers& from, std::size_t chunk, std::int64_t layers,
                                  std::string merge_key = {}) {
    layers = std::clamp<std::int64_t>(layers, 0, scene.plan.model.layers);
    const bool adds_up = sum_of_layers(from) == scene.plan.model.layers;
    if (state.neighbour_gives && adds_up) {
        state.draft = with_chunk(from, chunk, layers);
    } else {
        state.draft = from;
        state.draft[chunk] = layers;
    }
    state.numbers.forget_refusal();
    return take_draft(scene, state, f,
                      "chunk " + std::to_string(chunk) + ": " + plural(layers, "layer", "layers"),
                      std::move(merge_key));
}

// ---- rows -----------------------------------------------------------------------------------------------

// Returns the row's pieces: name, count, bar, time of several chunks, time, memory.
std::array<Rect, 6> pieces_of(Rect row, bool several, bool timed) {
    const auto [name, count, gap, bar, gap_too, own, time, memory] =
        columns(row, {kName, kCount, px(12), share(), px(12), several && timed ? kFigure : px(0),
                      timed ? kFigure : px(0), kFigure});
    return {name, count, bar, own, time, memory};
}

struct Row {
    std::size_t chunk = 0;
    std::int64_t begin = 0;  // its first layer
    double px_per_s = 0;     // of the bars
    double layer_s = 0;      // of a layer on average
    bool several = false;    // chunks a GPU
    bool numbered = false;   // the chunks have numbers; the copies of a stage have none
};

// Draws the layers as wide as their time, then the rest of the stage: embedding, head, prediction layers.
void draw_bar_of(Ui& ui, Rect bar, const StageFigures& f, const Row& row, std::int64_t layers,
                 bool highlighted) {
    Canvas& c = ui.canvas();
    const Color color = ui.theme().axis[static_cast<std::size_t>(Axis::pp)];
    float x = bar.x;
    const bool timed = !f.load.chunk.empty();
    for (std::int64_t i = 0; i < layers; ++i) {
        const double own = timed ? chunk_seconds(f.load, row.chunk, row.begin + i, row.begin + i + 1)
                                       - f.load.chunk[row.chunk]
                                 : row.layer_s;
        const float w = static_cast<float>(own * row.px_per_s);
        const Rect cell{x, bar.y, std::min(w, bar.right() - x), bar.h};
        if (cell.w <= 0) break;
        c.rect(w > 4 ? Rect{cell.x, cell.y, std::max(1.0f, cell.w - 1), cell.h} : cell,
               color.alpha(highlighted ? 1.0f : 0.8f));
        x += w;
    }
    if (!timed || f.load.chunk[row.chunk] <= 0 || x >= bar.right()) return;
    const float w = std::max(2.0f, static_cast<float>(f.load.chunk[row.chunk] * row.px_per_s));
    const Rect rest{x, bar.y, std::min(w, bar.right() - x), bar.h};
    c.pattern(rest, Pattern::hatched, ui.theme().secondary);
    c.frame(rest, ui.theme().secondary, 1);
}

std::string beside_layers(const Plan& plan, const StageFigures& f, std::size_t chunk) {
    const std::size_t last = f.now.size() - 1;
    std::string s;
    const auto add = [&](std::string_view what) { s += (s.empty() ? "" : ", ") + std::string(what); };
    if (chunk == 0) add("embedding");
    if (plan.model.mtp_layers > 0
        && static_cast<std::int64_t>(chunk)
               == mtp_chunk_of(plan.layout, static_cast<std::int64_t>(f.now.size())))
        add(plural(plan.model.mtp_layers, "prediction layer", "prediction layers"));
    if (chunk == last) add("head and loss");
    return s;
}

std::string tooltip_of(const Scene& scene, const StageFigures& f, const Row& row, std::int64_t layers) {
    std::string s = layers == 0
                        ? "no layer"
                        : "layers " + thousands(row.begin) + " – " + thousands(row.begin + layers - 1);
    if (const std::string more = beside_layers(scene.plan, f, row.chunk); !more.empty()) s += "\n" + more;
    return s + "\ndrag to move the border to the next";
}

// Shows the number: stepped, or typed in its place.
std::optional<std::int64_t> count_of_row(Ui& ui, Rect box, StageEditorState& state, std::size_t chunk,
                                         std::int64_t most) {
    const std::int64_t now = state.draft[chunk];
    const std::string key = std::to_string(chunk);
    const FieldRange range{.least = 0, .most = static_cast<double>(most), .whole = true};
    const NumberEdit edit =
        number_box(ui, box,
                   {.name = "stages.count",
                    .key = key,
                    .field = "edit.stage",
                    .shown = thousands(now),
                    .typed = std::to_string(now),
                    .can_down = now > 0,
                    .can_up = now < most,
                    .refuse =
                        [&](double value) {
                            return range.allows(value) ? ""
                                                       : "is refused: it must be a whole number from 0 to "
                                                             + thousands(most) + ".";
                        }},
                   state.numbers);
    if (edit.typed) return static_cast<std::int64_t>(*edit.typed);
    return edit.by == 0 ? std::nullopt : std::optional(now + edit.by);
}

std::optional<PlanEdit> draw_row(Ui& ui, Rect r, const Scene& scene, StageEditorState& state,
                                 const StageFigures& f, const Row& row, const std::vector<double>& busy) {
    Canvas& c = ui.canvas();
    const auto scope = ui.scope("stages." + std::to_string(row.chunk));
    const int stage = f.device[row.chunk];
    const std::int64_t layers = state.draft[row.chunk];
    std::string name = "stage " + std::to_string(stage);
    if (row.numbered) name += ", chunk " + std::to_string(f.chunk[row.chunk]);
    const bool highlighted = is_highlighted(scene, stage);
    const auto [name_at, count_at, bar_at, own_at, time_at, memory_at] =
        pieces_of(r, row.several, !busy.empty());
    c.text_in(name_at, name, ui.style(13, highlighted ? Tone::text : Tone::secondary));
    std::optional<PlanEdit> edit;
    if (const auto to = count_of_row(ui, count_at.inset(0, 2), state, row.chunk, scene.plan.model.layers))
        edit = set_chunk(scene, state, f, state.draft, row.chunk, *to);
    const StageMemory* memory = nullptr;
    const auto& stages = scene.evaluation.memory.stage;
    if (state.draft == f.now && static_cast<std::size_t>(stage) < stages.size()) memory = &stages[stage];
    c.text_in(memory_at, memory ? memory_text(memory->total()) : "—", ui.style(13), Align::right);
    if (!busy.empty()) {
        const double own = chunk_seconds(f.load, row.chunk, row.begin, row.begin + layers);
        c.text_in(time_at, time_text(busy[f.load.device[row.chunk]]), ui.style(13), Align::right);
        if (row.several) c.text_in(own_at, time_text(own), ui.small(), Align::right);
    }
    const Rect bar = bar_at.inset(0, 6);
    const Hit hit = ui.area("stages.bar", bar.inset(0, -4));
    c.rect(bar, ui.theme().raised, 2);
    draw_bar_of(ui, bar, f, row, layers, highlighted || hit.hovered);
    if (hit.focused) ui.focus_ring(bar, 3);
    if (hit.hovered && !hit.held) ui.tooltip(tooltip_of(scene, f, row, layers), bar);
    if (hit.hovered) scene.next_hover.stage = stage;
    const int by = hit.focused ? (pressed({Key::right}, true) ? 1 : pressed({Key::left}, true) ? -1 : 0) : 0;
    if (by != 0) edit = set_chunk(scene, state, f, state.draft, row.chunk, layers + by);
    const double step = row.layer_s * row.px_per_s;
    if (hit.held && step > 0) {
        if (state.dragged != static_cast<int>(row.chunk)) {
            state.dragged = static_cast<int>(row.chunk);
            state.drag_of = state.draft;
        }
        const auto moved = static_cast<std::int64_t>(std::lround(static_cast<double>(hit.drag.x) / step));
        const std::int64_t to = state.drag_of[row.chunk] + moved;
        if (to != layers && !edit)
            edit = set_chunk(scene, state, f, state.drag_of, row.chunk, to, "stage-layers");
    } else if (state.dragged == static_cast<int>(row.chunk)) {
        state.dragged = -1;
    }
    return edit;
}

// ---- above the rows -------------------------------------------------------------------------------------

std::optional<PlanEdit> draw_buttons(Ui& ui, Rect row, const Scene& scene, StageEditorState& state,
                                     const StageFigures& f) {
    static constexpr std::array<std::string_view, 2> kModes{"neighbour gives", "only one"};
    const Rect mode = row.cut_right(std::min(210.0f, row.w * 0.5f));
    state.neighbour_gives =
        ui.segments("stages.mode", mode.inset(0, 2), kModes, state.neighbour_gives ? 0 : 1) == 0;
    const bool any = !f.load.chunk.empty();
    if (ui.button("stages.balance", row.cut_left(84).inset(0, 2), "Balance", 0, any)) {
        state.draft = balance(f.load);
        state.numbers.forget_refusal();
        return take_draft(scene, state, f, "balanced stages", "");
    }
    row.cut_left(8);
    if (ui.button("stages.even", row.cut_left(64).inset(0, 2), "Even")) {
        state.draft = f.even;
        state.numbers.forget_refusal();
        return take_draft(scene, state, f, "even stages", "");
    }
    return std::nullopt;
}

// Says that the layers do not add up; else how long the busiest stage is, and how long it would be.
std::string status_of(const Scene& scene, const StageEditorState& state, const StageFigures& f,
                      const std::vector<double>& busy, bool& bad) {
    const std::int64_t sum = sum_of_layers(state.draft), layers = scene.plan.model.layers;
    const TypedNumbers& typed = state.numbers;
    bad = sum != layers || !typed.refused.empty();
    if (!typed.refused.empty()) return "Chunk " + typed.refused + ": " + typed.refusal;
    if (sum < layers)
        return plural(layers - sum, "layer is", "layers are")
               + " left over: the plan stays as it is until each has a stage.";
    if (sum > layers)
        return plural(sum - layers, "layer", "layers") + " too many: the model has " + thousands(layers)
               + ". The plan stays as it is.";
    if (busy.empty()) return "No times: the plan has errors.";
    const auto most = std::max_element(busy.begin(), busy.end());
    const auto at =
        std::find(f.load.device.begin(), f.load.device.end(), static_cast<int>(most - busy.begin()));
    const double average = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
    std::string s = "Busiest: stage " + std::to_string(f.device[at - f.load.device.begin()]) + ", "
                    + time_text(*most) + " a micro-batch, average " + time_text(average) + ".";
    if (f.balanced_s > 0)
        s += *most <= f.balanced_s * (1 + 1e-9) ? " Balance finds no shorter one."
                                                : " Balanced: " + time_text(f.balanced_s) + ".";
    return s;
}

void draw_heads(Ui& ui, Rect r, bool several, bool timed) {
    Canvas& c = ui.canvas();
    const auto [name, count, bar, own, time, memory] = pieces_of(r, several, timed);
    c.text_in(name, "in model order", ui.small());
    c.text_in(count, "layers", ui.small(), Align::center);
    c.text_in(memory, "memory", ui.small(), Align::right);
    if (!timed) return;
    c.text_in(bar, "hatched: embedding, head", ui.small());
    c.text_in(time, several ? "whole GPU" : "time", ui.small(), Align::right);
    if (several) c.text_in(own, "time", ui.small(), Align::right);
}

std::optional<PlanEdit> draw_rows(Ui& ui, Rect room, const Scene& scene, StageEditorState& state,
                                  const StageFigures& f, const std::vector<double>& busy) {
    const std::size_t n = f.now.size();
    Row row;
    row.numbered = *std::max_element(f.chunk.begin(), f.chunk.end()) > 0;
    row.several = row.numbered || (!busy.empty() && busy.size() < n);
    const auto count = static_cast<double>(std::max<std::size_t>(f.load.layer.size(), 1));
    row.layer_s = f.load.layer.empty()
                      ? 1
                      : (std::accumulate(f.load.layer.begin(), f.load.layer.end(), 0.0)
                         + std::accumulate(f.load.recomputed.begin(), f.load.recomputed.end(), 0.0))
                            / count;
    Rect heads = room.cut_top(20);
    heads.cut_right(8);
    draw_heads(ui, heads, row.several, !busy.empty());
    const float bars = std::max(20.0f, pieces_of(heads, row.several, !busy.empty())[2].w);
    double longest = 0;
    for (std::size_t c = 0; c < n; ++c)
        longest = std::max(longest, static_cast<double>(state.draft[c]) * row.layer_s
                                        + (f.load.chunk.empty() ? 0 : f.load.chunk[c]));
    // The scale has room for a quarter more than the longest, so that it can grow; it is kept while a bar is
    // dragged.
    if (state.dragged < 0)
        state.scale = static_cast<double>(bars) / (1.25 * std::max(longest, row.layer_s * 2));
    row.px_per_s = state.scale;
    ScrollArea area(ui, "stages.rows", room, state.scroll,
                    {.keys = !state.numbers.types(), .wheel = state.dragged < 0});
    area.room.cut_right(8);
    std::optional<PlanEdit> edit;
    const Layers before = state.draft;
    row.begin = 0;
    for (std::size_t c = 0; c < n; row.begin += before[c++]) {
        row.chunk = c;
        const Rect r = area.room.cut_top(kRowHeight);
        if (!area.sees(r) || edit) continue;
        edit = draw_row(ui, r, scene, state, f, row, busy);
    }
    return edit;
}

}  // namespace

std::optional<PlanEdit> draw_stage_editor(Ui& ui, const Scene& scene, StageEditorState& state,
                                          std::uint64_t revision) {
    if (!state.open) return std::nullopt;
    const StageFigures& f = state.figures.get(revision, [&] { return figures_of(scene); });
    if (state.draft_of != revision || state.draft.size() != f.now.size())
        state.draft = f.now, state.draft_of = revision;
    const float high = 162 + static_cast<float>(std::min<std::size_t>(f.now.size(), 64)) * kRowHeight;
    const Rect sheet = dialog_box(ui, {820, high}, 24);
    const auto layer = ui.open_layer("stages", sheet, true);
    if (!layer.stays() && !state.numbers.types() && !state.fresh) state.open = false;
    state.fresh = false;
    Canvas& c = ui.canvas();
    Rect room = sheet.inset(20, 16);
    Rect head = room.cut_top(28);
    if (ui.button("stages.close", head.cut_right(72), "Close")) state.open = false;
    c.text_in(head, "Layers of each stage", {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    if (f.now.size() < 2) {
        c.paragraph(room, "One stage holds every layer: pp is 1. Raise pp first.",
                    ui.style(13, Tone::secondary), 20);
        return std::nullopt;
    }
    std::optional<PlanEdit> edit = draw_buttons(ui, room.cut_top(28), scene, state, f);
    room.cut_top(8);
    const std::vector<double> busy =
        f.load.chunk.empty() || sum_of_layers(state.draft) > static_cast<std::int64_t>(f.load.layer.size())
            ? std::vector<double>{}
            : device_seconds(f.load, state.draft);
    bool bad = false;
    TextStyle style = ui.style(13, Tone::secondary);
    const std::string status = status_of(scene, state, f, busy, bad);
    if (bad) style.color = ui.theme().bad;
    ui.label(room.cut_top(22), status, style);
    room.cut_top(8);
    if (auto e = draw_rows(ui, room, scene, state, f, busy)) edit = std::move(e);
    return edit;
}

}  // namespace pentamesh::ui
