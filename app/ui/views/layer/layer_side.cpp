// Draws the side of the picture: the program with the current line, the tensors kept for the backward, the
// communication so far.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/layer/view.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {
namespace {

constexpr float kLine = 18;

void draw_program(Ui& ui, Rect room, LayerViewState& state) {
    const ShownLayer& shown = *state.shown;
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    ScrollArea area(ui, "layer.program", room, state.program);
    for (const int number : shown.steps()) {
        const auto index = static_cast<std::size_t>(number);
        const LayerStep& s = shown.list.steps[index];
        Rect row = area.room.cut_top(kLine);
        const bool now = number == state.at;
        if (now && state.program_at != state.at) {
            area.show({row.x, row.y - 2 * kLine, row.w, 5 * kLine});
            state.program_at = state.at;
            ui.state().wants_frame = true;
        }
        if (!area.sees(row)) continue;
        const Hit hit = ui.area("layer.line", row, static_cast<std::uint64_t>(number));
        if (hit.clicked) state.at = number, state.part = 1, state.playing = false;
        if (now)
            c.rect(row, theme.raised, 3);
        else if (hit.hovered)
            c.frame(row, theme.hairline, 1, 3);
        if (hit.focused) ui.focus_ring(row, 3);
        const bool done = number <= state.at;
        const Tone tone = now || done ? Tone::text : Tone::secondary;
        c.text_in(row.cut_left(28), std::to_string(s.n), ui.mono(Tone::secondary), Align::right);
        row.cut_left(10);
        Rect chip = row.cut_right(16);
        if (is_collective(s.op))
            c.rect({chip.center().x - 4, chip.center().y - 4, 8, 8}, color_of_step(theme, s), 2);
        const std::string& mark = shown.marks[index];
        if (!mark.empty() && !is_collective(s.op)) {
            const TextStyle t = ui.mono().in(color_of(theme, s.out[0].partial[0]));
            const float w = c.text_width(mark, t) + 4;
            if (row.w > w + 100) c.text_in(row.cut_right(w), mark, t, Align::right);
        }
        const bool cut = c.text_in(row, shown.lines[index], ui.mono(tone));
        if (hit.hovered) ui.tooltip(std::string(words_of(s.what)) + (cut ? "\n" + shown.lines[index] : ""));
    }
}

void draw_kept(Ui& ui, Rect room, const LayerViewState& state) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const std::vector<KeptTensor> stash = stash_at(state.shown->list, state.at);
    double now = 0;
    // The scale is the largest sum of kept tensors: tensors recomputed in the backward are kept for a while
    // too.
    double all = 1;
    for (const LayerStep& s : state.shown->list.steps) all = std::max(all, s.stash_bytes);
    for (const KeptTensor& k : stash) now += k.bytes;
    ui.section(room.cut_top(18), "KEPT FOR THE BACKWARD", memory_text(now) + ", at most " + memory_text(all));
    Rect bar = room.cut_top(16);
    const double most = std::max(all, now);
    c.frame(bar, theme.hairline);
    float x = bar.x;
    for (std::size_t i = 0; i < stash.size(); ++i) {
        const float w = static_cast<float>(stash[i].bytes / most) * bar.w;
        const Rect part{x, bar.y, std::max(w - 1, 0.5f), bar.h};
        c.rect(part, theme.memory[i % theme.memory.size()]);
        if (ui.hovers(part))
            ui.tooltip(stash[i].name + "\n" + std::string(name_of(stash[i].activation)) + "\n"
                       + memory_text(stash[i].bytes));
        x += w;
    }
    room.cut_top(6);
    const int columns = room.w > 340 ? 2 : 1;
    const auto rows = std::max(1, static_cast<int>(room.h / kLine));
    const auto places = static_cast<std::size_t>(rows * columns);
    const std::size_t listed = stash.size() <= places ? stash.size() : places - 1;
    const float w = room.w / static_cast<float>(columns);
    const auto place = [&](std::size_t i) {
        const int at = static_cast<int>(i), column = at / rows;
        return Rect{room.x + static_cast<float>(column) * w, room.y + static_cast<float>(at % rows) * kLine,
                    w - 16, kLine};
    };
    for (std::size_t i = 0; i < listed; ++i) {
        Rect row = place(i);
        c.rect({row.x, row.center().y - 5, 10, 10}, theme.memory[i % theme.memory.size()], 2);
        row.cut_left(16);
        text_row(ui, row,
                 {{stash[i].name, share(), ui.small(Tone::text)},
                  {memory_text(stash[i].bytes), px(72), ui.small(), Align::right}});
    }
    if (listed < stash.size())
        c.text_in(place(listed), sentence(static_cast<std::int64_t>(stash.size() - listed), " more"),
                  ui.small());
    if (stash.empty()) c.text_in(place(0), "nothing", ui.small());
}

std::string words_of(const Tally& t) {
    LayerStep s;
    s.op = t.op, s.group = t.group;
    return collective_words(s) + (t.recomputed ? ", again" : "");
}

// There are `lines` of words below the list.
void draw_said(Ui& ui, Rect room, const LayerViewState& state, float lines) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const ShownLayer& shown = *state.shown;
    put_head(ui, room, 2, "SAID SO FAR, THIS LAYER AND MICRO-BATCH");
    const std::vector<Tally> tally = tally_at(shown.list, state.at);
    if (tally.empty()) {
        c.text_in(room.cut_top(kLine), "Nothing: a layer of this layout needs nobody else.", ui.small());
        return;
    }
    constexpr float kTally = 20;
    const float below = lines * kLine + 4;  // the verdict
    const auto places = static_cast<std::size_t>(std::max(0.0f, room.h - below) / kTally);
    const std::size_t listed = tally.size() <= places ? tally.size() : std::max<std::size_t>(places, 1) - 1;
    for (std::size_t i = 0; i < tally.size(); ++i) {
        const Tally& t = tally[i];
        Rect row = room.cut_top(kTally);
        if (i == listed) {
            std::string rest;
            for (std::size_t k = i; k < tally.size(); ++k) rest += "\n" + words_of(tally[k]);
            ui.canvas().text_in(row, sentence(static_cast<std::int64_t>(tally.size() - i), " more"),
                                ui.small());
            if (ui.hovers(row)) ui.tooltip("more of this layer" + rest);
            break;
        }
        c.rect({row.x, row.center().y - 4, 8, 8}, color_of(theme, t.group), 2);
        row.cut_left(16);
        c.text_in(row.cut_right(128), traffic_text(t.sent_so_far) + " of " + traffic_text(t.sent_bytes),
                  ui.small(Tone::text), Align::right);
        c.text_in(row.cut_right(60), trimmed(t.calls_so_far) + " of " + trimmed(t.calls), ui.small(),
                  Align::right);
        ui.label(row, words_of(t), ui.small(Tone::text));
    }
    room.cut_top(4);
    const TextStyle verdict = ui.small().in(shown.tally_equals ? theme.good : theme.bad);
    const std::string figures = pentamesh::count_text(std::llround(shown.plan_calls), "call") + ", "
                                + traffic_text(shown.plan_sent_bytes);
    const std::string words = shown.plan_calls <= 0 ? "The plan counts no calls of activations in this layer."
                              : shown.tally_equals
                                  ? "The same as the plan's own list of activations: " + figures + " a layer."
                                  : "The plan's own list says " + figures + " a layer.";
    const bool again = std::any_of(tally.begin(), tally.end(),
                                   [](const Tally& t) { return t.group == GroupKind::tp && t.recomputed; });
    std::string apart;
    if (again)
        apart = "Over tp without what is gathered again: " + traffic_text(sent_over_tp_once(shown.list))
                + ", as many bytes as all-reduces send with sequence parallelism off.";
    put_paragraph(ui, room, words, verdict, kLine);
    if (!apart.empty() && lines > 2) c.paragraph(room, apart, ui.small(), kLine);
}

}  // namespace

void draw_side(Ui& ui, Rect room, const Scene&, LayerViewState& state) {
    const auto said = static_cast<float>(tally_at(state.shown->list, state.at).size());
    const float lines = room.h > 640 ? 4.0f : 2.0f;
    const float below = 18 + 2 + 20 * std::max(said, 1.0f) + 4 + lines * kLine;
    Rect bottom = room.cut_bottom(std::min(below, room.h * 0.42f));
    room.cut_bottom(12);
    Rect kept = room.cut_bottom(std::min(40 + 7 * kLine, room.h * 0.38f));
    room.cut_bottom(12);
    ui.section(room.cut_top(18), "PROGRAM, ONE GPU");
    draw_program(ui, room, state);
    draw_kept(ui, kept, state);
    draw_said(ui, bottom, state, lines);
}

}  // namespace pentamesh::ui
