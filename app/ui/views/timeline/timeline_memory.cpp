#include "app/ui/views/timeline/timeline_parts.h"

#include "app/ui/kit/format.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

double held_at(const std::vector<InFlightStep>& steps, double time) {
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](double t, const InFlightStep& s) { return t < s.time; });
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
        const auto before = [](double time, const InFlightStep& s) { return time < s.time; };
        auto at = std::upper_bound(steps.begin(), steps.end(), scale.from_s, before);
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

}  // namespace pentamesh::ui
