// Draws the memory of GPUs while the step goes on: of a stage its micro-batches in flight, of a pipeline of
// one stage bytes from layer to layer.
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/memory/view.h"
#include "app/ui/views/timeline/timeline_parts.h"
#include "app/ui/views/timeline/view.h"
#include "core/pipeline/timeline.h"
#include "core/step/memory_curve.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace pentamesh::ui {
namespace {

auto step_after(const std::vector<InFlightStep>& steps, double time) {
    return std::ranges::upper_bound(steps, time, {}, &InFlightStep::time);
}

double held_at(const std::vector<InFlightStep>& steps, double time) {
    const auto after = step_after(steps, time);
    return after == steps.begin() ? 0 : (after - 1)->held;
}

}  // namespace

void draw_memory_curve(Ui& ui, Rect room, const Timeline& t, int device, const TimeScale& scale,
                       TimelineViewState& state, bool labelled) {
    Canvas& c = ui.canvas();
    const std::vector<InFlightStep>& steps =
        state.curve.get({state.shown->version, device}, [&] { return in_flight(t, device); });
    const double most = std::max(1e-9, t.device[device].peak_in_flight);
    Rect plot = room;
    const Rect head = plot.cut_top(18);
    const auto height = [&](double held) { return static_cast<float>(held / most) * (plot.h - 2); };
    {
        const Canvas::Clip clip = c.clip(plot);
        // Steps within a pixel are one, the highest of them; those left of the view are skipped.
        auto at = step_after(steps, scale.from_s);
        double held = at == steps.begin() ? 0 : (at - 1)->held, highest = held;
        float from = plot.x;
        for (; at != steps.end() && at->time <= scale.to_s; ++at) {
            const float x = scale.x(at->time);
            if (x - from >= 1) {
                c.rect({from, plot.bottom() - height(highest), x - from, height(highest)},
                       ui.theme().memory[3]);
                from = x;
                highest = at->held;
            }
            held = at->held;
            highest = std::max(highest, held);
        }
        if (held > 0 && from < plot.right())
            c.rect({from, plot.bottom() - height(held), plot.right() - from, height(held)},
                   ui.theme().memory[3]);
    }
    c.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, ui.theme().hairline);
    std::string label = "activations held by "
                        + (t.shape.devices > 1 ? "stage " + std::to_string(device) : std::string("each GPU"))
                        + ": at most " + significant(most) + " micro-batches";
    if (state.cursor_s >= 0) {
        const double now = held_at(steps, state.cursor_s);
        label += ", " + significant(now) + " at the cursor";
        if (state.cursor_s >= scale.from_s && state.cursor_s <= scale.to_s)
            c.circle({scale.x(state.cursor_s), plot.bottom() - height(now)}, 3.5f, ui.theme().text);
    }
    if (labelled) c.text({head.x, head.y + 1}, label, ui.style(11, Tone::secondary));
}

namespace {

using Moment = MemoryCurve::Moment;

constexpr float kHead = 20;  // above the plot: what the curve is, and its highest moment

// Calls use(from, to, moment) for each moment of the ops in the visible range, in seconds and in order of
// time.
template <typename F>
void each_moment(const Timeline& t, const MemoryCurve& curve, double from_s, double to_s, F&& use) {
    for (std::size_t i = t.order.begin[0]; i < t.order.begin[1]; ++i) {
        if (t.end[i] < from_s || t.start[i] > to_s) continue;
        const std::vector<Moment>& moments =
            t.order.ops[i].kind == OpKind::F ? curve.forward : curve.backward;
        const double takes = t.end[i] - t.start[i];
        for (std::size_t k = 0; k < moments.size(); ++k) {
            const double end = k + 1 < moments.size() ? moments[k + 1].at : 1;
            use(t.start[i] + moments[k].at * takes, t.start[i] + end * takes, moments[k]);
        }
    }
}

// Returns what is held on top of the flat part at that time; nothing behind the last op.
Moment moment_at(const Timeline& t, const MemoryCurve& curve, double time_s) {
    Moment out;
    each_moment(t, curve, time_s, time_s, [&](double from, double, const Moment& m) {
        if (from <= time_s) out = m;
    });
    return out;
}

// This is a category that stays the same through the step.
struct Band {
    MemoryCategory category;
    double bytes;
};
std::array<Band, 4> flat_bands(const StageMemory& stage, const MemoryCurve& curve) {
    return {{{MemoryCategory::parameters, stage.parameters},
             {MemoryCategory::gradients, stage.gradients},
             {MemoryCategory::optimizer, stage.optimizer},
             {MemoryCategory::buffers, curve.buffers}}};
}
std::string words_of(MemoryCategory category, double bytes) {
    return std::string(name_of(category)) + " " + memory_text(bytes);
}

// Draws categories that stay the same as bands over the whole step, with their figures where they are high
// enough. Returns where the next one begins.
float draw_flat(Ui& ui, Rect plot, const StageMemory& stage, const MemoryCurve& curve, float per_byte) {
    Canvas& c = ui.canvas();
    float y = plot.bottom();
    for (const Band& b : flat_bands(stage, curve)) {
        const float h = static_cast<float>(b.bytes) * per_byte;
        y -= h;
        fill_memory(c, ui.theme(), {plot.x, y, plot.w, h}, b.category);
        if (h < 16) continue;
        const std::string words = words_of(b.category, b.bytes);
        const Rect at{plot.x + 8, y + h / 2 - 8, std::min(plot.w - 16, c.text_width(words, ui.style(12)) + 8),
                      16};
        if (b.category == MemoryCategory::buffers)  // hatching is no ground for type
            write_plate(ui, at, words, ui.style(12), ui.theme().window);
        else
            c.text_in(at, words,
                      ui.style(12).in(ink_on(ui.theme().memory[static_cast<std::size_t>(b.category)])));
    }
    return y;
}

// Draws activations and what is made again, moments within a pixel as the highest of them. Returns where the
// highest of all stands.
Vec2 draw_moments(Ui& ui, Rect plot, const Timeline& t, const MemoryCurve& curve, const TimeScale& scale,
                  float foot, float per_byte) {
    Canvas& c = ui.canvas();
    Moment highest, top;
    float from = plot.x, top_x = plot.x;
    const auto put = [&](float to) {
        const float kept = static_cast<float>(highest.activations) * per_byte,
                    again = static_cast<float>(highest.made_again) * per_byte;
        c.rect({from, foot - kept, to - from, kept}, ui.theme().memory[3]);
        if (again > 0.5f) c.rect({from, foot - kept - again, to - from, again}, recompute_color(ui.theme()));
        from = to;
    };
    each_moment(t, curve, scale.from_s, scale.to_s, [&](double begin, double end, const Moment& m) {
        if (const float x = std::max(plot.x, scale.x(begin)); x - from >= 1) put(x), highest = {};
        if (m.all() > highest.all()) highest = m;
        if (m.all() > top.all() && begin >= scale.from_s && begin <= scale.to_s)
            top = m, top_x = scale.x(begin);
        if (end >= scale.to_s) put(plot.right()), highest = {};
    });
    if (highest.all() > 0) put(std::min(plot.right(), scale.x(t.makespan)));
    return {top_x, foot - static_cast<float>(top.all()) * per_byte};
}

std::string words_at(const StageMemory& stage, const MemoryCurve& curve, const Moment& m) {
    std::string text = "held: " + memory_text(curve.flat() + m.all());
    for (const Band& b : flat_bands(stage, curve)) text += "\n" + words_of(b.category, b.bytes);
    text += "\n" + words_of(MemoryCategory::activations, m.activations);
    if (m.made_again > 0) text += "\nmade again " + memory_text(m.made_again);
    return text;
}

}  // namespace

void draw_memory_through(Ui& ui, Rect room, Rect names, const Scene& scene, const Timeline& t,
                         const TimeScale& scale, TimelineViewState& state) {
    const Memory& memory = scene.evaluation.memory;
    const MemoryCurve& curve = *state.memory;
    const StageMemory& stage = memory.stage.front();
    Canvas& c = ui.canvas();
    Rect plot = room;
    Rect head = plot.cut_top(kHead);
    // The wall stands beyond the picture if the GPU has far more: the shape is to be seen.
    const bool beyond = memory.hbm > 2 * stage.total();
    const double most = beyond ? 1.15 * stage.total() : std::max(memory.hbm, stage.total());
    const float per_byte = (plot.h - 2) / static_cast<float>(std::max(most, 1.0));
    Vec2 top;
    {
        const Canvas::Clip clip = c.clip(plot);
        const float foot = draw_flat(ui, plot, stage, curve, per_byte);
        top = draw_moments(ui, plot, t, curve, scale, foot, per_byte);
    }
    if (const float wall = plot.bottom() - static_cast<float>(memory.hbm) * per_byte; !beyond) {
        c.line({plot.x, wall}, {plot.right(), wall}, ui.theme().bad, 1, Dash::dashed);
        ui.label({names.x, wall - 8, names.w - 6, 16}, memory_text(memory.hbm),
                 ui.style(11).in(ui.theme().bad));
    }
    c.circle(top, 3.5f, ui.theme().text);
    const TextStyle plain = ui.style(12, Tone::secondary);
    std::string label = "each GPU holds at most " + memory_text(stage.total()) + " of "
                        + memory_text(memory.hbm) + ", where a forward ends";
    const std::string more =
        "; activations, " + memory_text(stage.activations) + " there, rise and fall with each micro-batch";
    if (c.text_width(label + more, plain) <= head.w) label += more;
    if (state.cursor_s >= 0)
        label = "at the cursor each GPU holds "
                + memory_text(curve.flat() + moment_at(t, curve, state.cursor_s).all()) + " of at most "
                + memory_text(stage.total());
    ui.label({head.x, head.y + 1, head.w, 16}, label, plain);
    if (ui.hovers(plot))
        ui.tooltip(words_at(stage, curve, moment_at(t, curve, scale.time(ui.frame().mouse.x))));
}

}  // namespace pentamesh::ui
