// Draws the steps as boxes: forward from left to right, backward below and back; and the play head.
#include "app/ui/kit/format.h"
#include "app/ui/kit/player.h"
#include "app/ui/views/layer/view.h"

#include <algorithm>
#include <array>

namespace pentamesh::ui {

Color color_of_step(const Theme& theme, const LayerStep& s) {
    if (is_collective(s.op)) return color_of(theme, s.group);
    if (s.op == LayerOp::matmul || s.op == LayerOp::attention || s.op == LayerOp::router) {
        if (s.phase == LayerPass::forward || s.recomputed) return theme.forward;
        return !s.out.empty() && s.out[0].weight ? theme.weight_grad : theme.backward;
    }
    return theme.raised;
}

std::string collective_words(const LayerStep& s) {
    return std::string(s.op == LayerOp::ring_send ? "ring" : words_of(collective_of(s.op))) + " over "
           + std::string(name_of(s.group));
}

namespace {

constexpr float kBox = 34, kGap = 6;
constexpr float kLeastPitch = 30, kWordsPitch = 58;  // of a box with a brief name, with a whole one

std::string step_tooltip(const LayerStep& s, const std::string& line) {
    std::string t = std::string(words_of(s.what)) + "\n" + line;
    if (is_collective(s.op))
        t += "\n" + collective_words(s) + ", " + plural(s.group_size, "rank", "ranks") + ", "
             + traffic_text(s.sent_bytes) + " sent by each";
    if (s.flops > 0) t += "\n" + three_digits(s.flops / 1e9) + " GFLOP";
    if (s.bytes_moved > 0) t += "\n" + traffic_text(s.bytes_moved) + " moved in memory";
    t += "\n" + time_text(s.time_s);
    if (s.recomputed) t += "\nagain: the forward did not keep it";
    if (s.per_step) t += s.per_run ? "\nonce after each run of micro-batches" : "\nonce in a training step";
    for (const KeptTensor& k : s.kept) t += "\nkeeps " + k.name + ", " + memory_text(k.bytes);
    for (const KeptTensor& k : s.freed) t += "\nlets go of " + k.name;
    return t;
}

// Returns a short name for a box where the whole name has no room.
std::string_view brief_name(const LayerStep& s) {
    switch (s.op) {
    case LayerOp::matmul:
        if (s.phase == LayerPass::forward || s.recomputed) return "×";
        return !s.out.empty() && s.out[0].weight ? "dW" : "dx";
    case LayerOp::norm: return "n";
    case LayerOp::rotary: return "rot";
    case LayerOp::attention: return "att";
    case LayerOp::activation: return "act";
    case LayerOp::router: return "r";
    case LayerOp::permute: return "srt";
    case LayerOp::residual: return "+";
    case LayerOp::dropout: return "dr";
    case LayerOp::all_gather: return "AG";
    case LayerOp::reduce_scatter: return "RS";
    case LayerOp::all_reduce: return "AR";
    case LayerOp::all_to_all: return "A2A";
    case LayerOp::ring_send: return "ring";
    }
    return {};
}

void draw_box(Ui& ui, Rect box, const LayerStep& s, int index, const std::string& line, LayerViewState& state,
              bool whole_names) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Hit hit = ui.area("layer.step", box, static_cast<std::uint64_t>(index));
    if (hit.hovered) ui.tooltip(step_tooltip(s, line));
    if (hit.clicked) state.at = index, state.part = 1, state.playing = false;
    const bool now = index == state.at, done = index <= state.at;
    const Color full = color_of_step(theme, s);
    const Color ground = done ? full : mix(theme.window, full, theme.id == ThemeId::light ? 0.45f : 0.35f);
    c.rect(box, ground, 4);
    if (s.recomputed) c.pattern(box.inset(1), Pattern::hatched, mix(ground, ink_on(ground), 0.22f));
    if (now || hit.hovered) c.frame(box, theme.text, now ? 2 : 1, 4);
    if (full == theme.raised && !now) c.frame(box, theme.hairline, 1, 4);
    if (hit.focused) ui.focus_ring(box, 4);
    const std::string label = short_name(s);
    const TextStyle style = [&] {
        const TextStyle t = ui.style(11, Tone::text, now ? Face::semibold : Face::regular)
                                .in(full == theme.raised ? (done ? theme.text : theme.secondary)
                                    : done               ? ink_on(ground)
                                                         : mix(ground, ink_on(ground), 0.8f));
        return t;
    }();
    const std::string_view brief = brief_name(s);
    if (whole_names && c.text_width(label, style) <= box.w - 2)
        c.text_in(box, label, style, Align::center);
    else if (c.text_width(brief, style) <= box.w - 1)
        c.text_in(box, brief, style, Align::center);
    if (!now) return;
    const float x = box.center().x, y = box.bottom() + 3;
    c.polygon({{x, y}, {x - 5, y + 7}, {x + 5, y + 7}}, theme.text);
}

// Places the boxes of a pass; where not all have room, it has those about the current step.
struct StepRow {
    Rect room;
    std::size_t steps = 0;
    float pitch = 0, gone = 0;  // `gone`: what lies left of the room
};
StepRow step_row(Rect room, const std::vector<int>& steps, bool reversed, int at) {
    StepRow out{room, steps.size(), 0, 0};
    if (steps.empty()) return out;
    const auto n = static_cast<float>(steps.size());
    out.pitch = std::clamp(room.w / n, kLeastPitch, std::max(76.0f, room.w / 24));
    const auto before = static_cast<float>(std::ranges::lower_bound(steps, at) - steps.begin());
    const float here = (reversed ? n - before : before) * out.pitch;
    out.gone = std::clamp(here - room.w / 2, 0.0f, std::max(0.0f, n * out.pitch - room.w));
    return out;
}

// Shades at the ends say that there is more.
void draw_ends(Ui& ui, const StepRow& row) {
    const float more = static_cast<float>(row.steps) * row.pitch - row.gone - row.room.w;
    const Color shade = ui.theme().window.alpha(0.75f);
    if (row.gone > 1) ui.canvas().rect({row.room.x, row.room.y, 14, row.room.h}, shade);
    if (more > 1) ui.canvas().rect({row.room.right() - 14, row.room.y, 14, row.room.h}, shade);
}

void draw_row(Ui& ui, const StepRow& row, const std::vector<int>& steps, bool reversed, bool whole_names,
              LayerViewState& state) {
    if (steps.empty()) return;
    Canvas& c = ui.canvas();
    const float gap = row.pitch > 34 ? kGap : 3.0f;
    const float y = row.room.center().y;
    c.line({row.room.x, y},
           {std::min(row.room.right(), row.room.x + row.pitch * static_cast<float>(row.steps) - gap), y},
           ui.theme().hairline);
    const Canvas::Clip clip = c.clip({row.room.x - 2, row.room.y - 2, row.room.w + 4, row.room.h + 14});
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto at = static_cast<float>(reversed ? steps.size() - 1 - i : i);
        const Rect box{row.room.x + at * row.pitch - row.gone, row.room.y, row.pitch - gap, row.room.h};
        if (box.right() < row.room.x + 4 || box.x > row.room.right() - 4) continue;
        const auto index = static_cast<std::size_t>(steps[i]);
        draw_box(ui, box, state.shown->list.steps[index], steps[i], state.shown->lines[index], state,
                 whole_names);
    }
    draw_ends(ui, row);
}

// Heads the section of a pass: its time, and calls made once a step instead of for each micro-batch.
std::string pass_words(double time_s, const LayerList& list, bool forward) {
    double once_s = 0;
    for (const LayerStep& s : list.steps)
        if (s.per_step && (s.phase == LayerPass::forward) == forward) once_s += s.time_s;
    return time_text(time_s)
           + (once_s > 0 ? " a micro-batch, and " + time_text(once_s) + " once a step" : "");
}

}  // namespace

void draw_graph(Ui& ui, Rect room, LayerViewState& state) {
    const LayerTotals& t = state.shown->list.totals;
    ui.section(room.cut_top(18), "FORWARD", pass_words(t.time_forward_s, state.shown->list, true));
    const ShownLayer& shown = *state.shown;
    const StepRow forward = step_row(room.cut_top(std::min(kBox, room.h)), shown.forward, false, state.at);
    const StepRow probe = step_row(room, shown.backward, true, state.at);
    // Both passes use the same words.
    const auto narrow = [](const StepRow& r) { return r.steps > 0 && r.pitch < kWordsPitch; };
    const bool whole_names = !narrow(forward) && !narrow(probe);
    draw_row(ui, forward, shown.forward, false, whole_names, state);
    room.cut_top(12);
    if (room.h < 18 + 12) return;
    ui.section(room.cut_top(18), "BACKWARD, FROM RIGHT TO LEFT",
               pass_words(t.time_backward_s, state.shown->list, false));
    draw_row(ui, step_row(room.cut_top(std::min(kBox, room.h - 10)), shown.backward, true, state.at),
             shown.backward, true, whole_names, state);
}

void draw_play_head(Ui& ui, Rect room, LayerViewState& state) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const std::vector<int> all = state.shown->steps();
    const auto n = static_cast<float>(all.size());
    Rect track = room.cut_top(20);
    const Hit hit = ui.area("layer.scrub", track, 0, true, false);
    const auto at = static_cast<float>(std::lower_bound(all.begin(), all.end(), state.at) - all.begin());
    if (hit.held) {
        const float share = std::clamp((ui.frame().mouse.x - track.x) / track.w, 0.0f, 0.9999f);
        state.at = all[static_cast<std::size_t>(share * n)];
        state.part = 1;
        state.playing = false;
    }
    const LayerStep& s = state.shown->list.steps[static_cast<std::size_t>(state.at)];
    const float y = track.center().y, x = track.x + track.w * (at + state.part) / n;
    const Color ink = is_collective(s.op) ? color_of_step(theme, s) : theme.forward;
    c.rect({track.x, y - 1.5f, track.w, 3}, theme.hairline, 1.5f);
    c.rect({track.x, y - 1.5f, x - track.x, 3}, ink, 1.5f);
    const auto turn = static_cast<float>(state.shown->forward.size());
    const float middle = track.x + track.w * turn / n;
    c.line({middle, y - 5}, {middle, y + 5}, theme.secondary);
    c.circle({x, y}, 6, theme.text);
    if (hit.hovered) ui.tooltip("drag the head\nleft of the mark the forward, right of it the backward");
    Rect row = room.cut_top(24);
    const bool player = !ui.state().for_picture;
    if (player) {
        const PlayerClick clicked = player_buttons(ui, row, "layer", state.playing,
                                                   {"back one step  (,)", "Space", "on one step  (.)"});
        if (clicked == PlayerClick::play) play_or_pause(state);
        if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
            step_layer(state, clicked == PlayerClick::back ? -1 : 1);
        row.cut_left(12);
    }
    const std::string words = std::to_string(static_cast<int>(at) + 1) + " of " + std::to_string(all.size())
                              + ": " + (is_collective(s.op) ? collective_words(s) + ", " : "")
                              + std::string(words_of(s.what));
    const float keys = player && row.w > 520 ? 220.0f : 0;
    const Rect right = row.cut_right(keys);
    ui.label(row, words, ui.style(13));
    if (keys > 0)
        c.text_in(right, "Space plays, . and , step, drag the head", ui.style(11, Tone::secondary),
                  Align::right);
}

}  // namespace pentamesh::ui
