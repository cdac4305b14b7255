#include "app/ui/views/layer/view.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/problem.h"
#include "core/step/compute.h"
#include "core/teach/loaf.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::ui {
namespace {

constexpr float kSideWidth = 400, kLeastWidth = 900;

void draw_switches(Ui& ui, Rect& head_row, Rect& room, LayerViewState& state, bool has_experts) {
    static constexpr std::string_view kWhose[] = {"this plan", "only one axis"};
    static constexpr std::string_view kParts[] = {"attention", "MLP", "both"};
    static constexpr std::string_view kNotations[] = {"Megatron", "DTensor", "JAX"};
    static constexpr std::string_view kKinds[] = {"MoE layer", "dense layer"};
    static constexpr std::string_view kSteps[] = {"Why one sum", "Step by step"};
    LayerChoice& c = state.choice;
    const auto pick = [&](std::string_view name, std::span<const std::string_view> labels, int at,
                          std::uint32_t off = 0) {
        return ui.segments(name, head_place(head_row, room, segments_width(ui, labels, 0, at)), labels, at,
                           std::nullopt, off);
    };
    c.alone = pick("layer.whose", kWhose, c.alone ? 1 : 0) == 1;
    const std::uint32_t none = has_experts ? 0 : 1U << static_cast<unsigned>(AloneAxis::ep);
    if (c.alone)
        c.axis = static_cast<AloneAxis>(pick("layer.axis", kAloneNames, static_cast<int>(c.axis), none));
    if (c.alone && (c.axis == AloneAxis::tp || c.axis == AloneAxis::tp_sp))
        c.steps = pick("layer.steps", kSteps, c.steps ? 1 : 0) == 1;
    if (shows_matrices(c)) return;
    if (state.shown->has_moe && state.shown->has_dense)
        c.dense = pick("layer.kind", kKinds, c.dense ? 1 : 0) == 1;
    c.part = static_cast<LayerPart>(pick("layer.part", kParts, static_cast<int>(c.part)));
    const auto notation =
        static_cast<Notation>(pick("layer.notation", kNotations, static_cast<int>(c.notation)));
    state.notation_chosen = state.notation_chosen || notation != c.notation;
    c.notation = notation;
}

// Returns the step that shows most: summands are added up, or there is any other communication.
int telling_step(const LayerList& list) {
    const auto said = [&](bool summed) {
        for (const LayerStep& s : list.steps)
            if (is_collective(s.op) && s.block != LayerBlock::weights
                && (!summed || s.op == LayerOp::reduce_scatter || s.op == LayerOp::all_reduce))
                return s.n - 1;
        return -1;
    };
    const int summed = said(true);
    return std::max(summed >= 0 ? summed : said(false), 0);
}

// Returns the step of another list that does the same: the playhead stays there when an axis changes.
int same_step(const LayerList& list, const LayerStep& before) {
    for (const bool by_name : {true, false})
        for (const LayerStep& s : list.steps)
            if (s.phase == before.phase && s.block == before.block && s.op == before.op
                && (!by_name || s.what == before.what))
                return s.n - 1;
    return 0;
}

// Keeps the current step among those that are shown.
void keep_in_sight(LayerViewState& s, bool for_picture) {
    const std::vector<int> all = s.shown->steps();
    if (all.empty()) return;
    const bool telling = for_picture || s.at == LayerViewState::kTelling;
    if (s.at < 0) s.at = telling ? telling_step(s.shown->list) : all.front();
    const auto next = std::lower_bound(all.begin(), all.end(), s.at);
    s.at = next == all.end() ? all.back() : *next;
}

void play_layer(Ui& ui, LayerViewState& s) {
    constexpr double kStep_s = 0.7, kCollective_s = 1.8;
    const double passed_s = ui.frame().time_s - s.played_at;
    s.played_at = ui.frame().time_s;
    if (!s.playing || s.shown->list.steps.empty()) return;
    ui.state().wants_frame = true;
    const bool speaks = is_collective(s.shown->list.steps[static_cast<std::size_t>(s.at)].op);
    s.part += static_cast<float>(std::clamp(passed_s, 0.0, 0.1) / (speaks ? kCollective_s : kStep_s));
    if (s.part < 1) return;
    const int before = s.at;
    step_layer(s, 1);
    s.part = s.at == before ? 1 : 0;
    s.playing = s.at != before;
}

std::string faint_words(const Scene& scene, const LayerViewState& state, const LayerStep& s) {
    if (!is_collective(s.op)) {
        std::string words = s.time_s > 0 ? time_text(s.time_s) : "";
        if (s.flops > 0) words = three_digits(s.flops / 1e9) + " GFLOP, " + words;
        return words;
    }
    const Evaluation& e = state.shown->evaluation_of(scene);
    const Cluster& cluster = state.shown->plan_of(scene).cluster;
    return traffic_text(s.sent_bytes) + " sent by each GPU over "
           + std::string(tier_name(cluster, e.groups[s.group].slowest_tier)) + ", " + time_text(s.time_s)
           + ".";
}

// Says of the whole layer what it takes and what it talks about: the view's answer at any step.
std::string layer_sentence(const ShownLayer& shown, const Scene& scene) {
    constexpr double kSaid = 0.01;  // of the layer
    const LayerTotals& t = shown.list.totals;
    std::string out = "A layer takes " + time_text(t.time_forward_s) + " forward and "
                      + time_text(t.time_backward_s) + " back";
    const double host = shown.evaluation_of(scene).work.times.of(shown.list.type).waiting.total();
    if (host > kSaid * (t.time_forward_s + t.time_backward_s))
        out += ", and waits " + time_text(host) + " for the host's launches";
    struct Talk {
        GroupKind group;
        double forward = 0, back = 0, time_s = 0;
    };
    std::vector<Talk> talks;
    for (const LayerStep& s : shown.list.steps) {
        if (!is_collective(s.op) || s.per_step) continue;
        auto at = std::ranges::find(talks, s.group, &Talk::group);
        if (at == talks.end()) at = talks.insert(at, {s.group});
        (s.phase == LayerPass::forward ? at->forward : at->back) += s.calls;
        at->time_s += s.time_s;
    }
    if (talks.empty()) return out + "; inside of it no GPU needs another one.";
    for (const Talk& talk : talks)
        out += std::string(&talk == &talks.front() ? ": in it " : ", ") + axis_label(talk.group) + " talks "
               + trimmed(talk.forward) + " + " + trimmed(talk.back) + " times, " + time_text(talk.time_s);
    return out + ".";
}

// Says what the step at hand does. It is written in one row, or in two where the room is narrow.
void draw_step_sentence(Ui& ui, Rect& room, const Scene& scene, const LayerViewState& state) {
    const LayerStep& s = state.shown->list.steps[static_cast<std::size_t>(state.at)];
    const std::string bold = sentence_of(s), faint = faint_words(scene, state, s);
    const TextStyle strong = ui.style(13, Tone::text, Face::semibold), plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width(bold, strong);
    if (w > room.w && room.h > 300) {  // in as many lines as it takes
        room.cut_top(ui.canvas().paragraph(room, bold, strong, 20));
        if (!faint.empty()) ui.label(room.cut_top(18), faint, plain);
        return;
    }
    Rect row = room.cut_top(20);
    ui.label(row, bold, strong);
    if (row.w > w + 24 + ui.canvas().text_width(faint, plain))
        row.cut_left(w + 24);
    else if (room.h > 300)
        row = room.cut_top(18);
    else
        return;
    ui.label(row, faint, plain);
}

// If there is no room for both side by side, the ranks or the program are drawn.
void draw_below(Ui& ui, Rect room, Scene& scene, LayerViewState& state) {
    static constexpr std::string_view kBelow[] = {"ranks", "program"}, kPlain[] = {"ranks", "steps"};
    const std::span<const std::string_view> labels = scene.in_lesson ? kPlain : kBelow;
    const Rect row = room.cut_top(24);
    state.program_shown = ui.segments("layer.below", {row.x, row.y, segments_width(ui, labels), row.h},
                                      labels, state.program_shown ? 1 : 0)
                          == 1;
    room.cut_top(8);
    if (state.program_shown)
        draw_side(ui, room, scene, state);
    else
        draw_ranks(ui, room, scene, state);
}

}  // namespace

void step_layer(LayerViewState& state, int by) {
    const std::vector<int> all = state.shown->steps();
    if (all.empty()) return;
    const auto at = std::lower_bound(all.begin(), all.end(), state.at) - all.begin();
    const auto to = std::clamp<std::ptrdiff_t>(at + by, 0, static_cast<std::ptrdiff_t>(all.size()) - 1);
    state.at = all[static_cast<std::size_t>(to)];
    state.part = 1;
}

void play_or_pause(LayerViewState& state) {
    state.playing = !state.playing;
    if (!state.playing) {
        state.part = 1;
        return;
    }
    const int before = state.at;
    step_layer(state, 1);
    if (state.at == before) state.at = 0, step_layer(state, 0);  // from the end: anew
    state.part = 0;
}

void draw_layer(Ui& ui, Rect head_row, Rect room, Scene& scene, LayerViewState& state,
                std::uint64_t revision) {
    const Rect whole{room.x, head_row.y, room.w, room.bottom() - head_row.y};  // with its tabs and switches
    const bool space = takes_space(ui, whole, scene);  // before a switch that was clicked last takes it
    if (!state.notation_chosen) state.choice.notation = notation_of(scene.plan.training.software);
    keep_shown(scene, state.choice, revision, state.shown);
    // A lesson shows one thing; what it does not speak of has no switch there.
    if (!scene.in_lesson && (!ui.state().for_picture || (room.w > 700 && !shows_matrices(state.choice))))
        draw_switches(ui, head_row, room, state, scene.plan.model.moe.has_value());
    const auto other = [](const LayerChoice& a, const LayerChoice& b) {
        return a.alone != b.alone || (a.alone && a.axis != b.axis) || a.dense != b.dense;
    };
    std::optional<LayerStep> before;
    if (other(state.choice, state.shown->choice)) {
        if (state.at >= 0 && static_cast<std::size_t>(state.at) < state.shown->list.steps.size())
            before = state.shown->list.steps[static_cast<std::size_t>(state.at)];
        state.part = 1, state.playing = false;
    }
    keep_shown(scene, state.choice, revision, state.shown);
    const ShownLayer& shown = *state.shown;
    if (before && !shown.list.steps.empty()) state.at = same_step(shown.list, *before);
    if (shows_matrices(state.choice)) {
        state.playing = false, state.part = 1;
        draw_matrices(ui, room, scene, state, revision);
        return;
    }
    if (!shown.why_not.empty() || shown.list.steps.empty()) {
        room.cut_top(8);
        ui.canvas().text_in(room.cut_top(24), "Nothing to show here.",
                            ui.style(16, Tone::text, Face::semibold));
        ui.canvas().paragraph(room.inset(0, 4), shown.why_not, ui.style(13, Tone::secondary), 20);
        return;
    }
    if (state.shown->forward.empty() && state.shown->backward.empty()) {
        ui.label(room.cut_top(20), "This layer has no such part: it is only a mixer or only an MLP.",
                 ui.title());
        return;
    }
    keep_in_sight(state, ui.state().for_picture);
    if (space) play_or_pause(state);
    play_layer(ui, state);
    const TextStyle title = ui.style(15, Tone::text, Face::semibold);
    room.cut_top(ui.canvas().paragraph(room, layer_sentence(shown, scene), title, 20));
    room.cut_top(8);
    const bool wide = room.w >= kLeastWidth;
    if (wide) {
        Rect side = room.cut_right(std::min(kSideWidth, room.w * 0.34f));
        room.cut_right(16);
        ui.canvas().line({side.x - 8, side.y}, {side.x - 8, side.bottom()}, ui.theme().hairline);
        draw_side(ui, side, scene, state);
    }
    if (room.h > kHeadHeight + 70) draw_play_head(ui, room.cut_bottom(kHeadHeight), state);
    if (room.h < 60) return;
    // The boxes come before the ranks where there is no room for both.
    constexpr float kLeastRanks = 90, kRanks = 190;
    const float graph = room.h >= kGraphHeight + kRanks ? room.h - kRanks : room.h;
    room.cut_top(draw_graph(ui, {room.x, room.y, room.w, graph}, state));
    if (room.h < kLeastRanks) {
        ui.state().hidden = std::max(ui.state().hidden, kLeastRanks - room.h);
        return;
    }
    ui.canvas().line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(6);
    draw_step_sentence(ui, room, scene, state);
    room.cut_top(6);
    if (wide || room.h < 200)
        draw_ranks(ui, room, scene, state);
    else
        draw_below(ui, room, scene, state);
}

Table layer_data(const Scene& scene, const LayerViewState& state, int part) {
    ShownLayer shown;
    make_shown(scene, state.choice, shown);
    if (!shown.why_not.empty()) return {{{"why"}}, {{shown.why_not}}};
    if (part == 1) return layer_calls_table(shown.list, shown.evaluation_of(scene).comm);
    return layer_table(shown.list, state.choice.notation, shown.dp);
}

// Draws the side of the picture: the program with the current line, the tensors kept for the backward, the
// communication so far.

namespace {

constexpr float kLine = 18;

// Says in plain words what a line of the program does.
std::string plain_line(const LayerStep& s) {
    const std::string what(words_of(s.what));
    return is_collective(s.op) ? collective_words(s) + ": " + what : what;
}

// `plain`: no notation is used.
void draw_program(Ui& ui, Rect room, LayerViewState& state, bool plain) {
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
        if (!mark.empty() && !plain && !is_collective(s.op)) {
            const TextStyle t = ui.mono().in(color_of(theme, s.out[0].partial[0]));
            const float w = c.text_width(mark, t) + 4;
            if (row.w > w + 100) c.text_in(row.cut_right(w), mark, t, Align::right);
        }
        const std::string line = plain ? plain_line(s) : shown.lines[index];
        const bool cut = c.text_in(row, line, plain ? ui.small(tone) : ui.mono(tone));
        if (hit.hovered) ui.tooltip(std::string(words_of(s.what)) + (cut ? "\n" + line : ""));
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
    if (listed < stash.size()) c.text_in(place(listed), and_more(stash.size() - listed), ui.small());
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
            ui.canvas().text_in(row, and_more(tally.size() - i), ui.small());
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
    const bool recomputed = std::any_of(
        tally.begin(), tally.end(), [](const Tally& t) { return t.group == GroupKind::tp && t.recomputed; });
    std::string apart;
    if (recomputed)
        apart = "Over tp without what is gathered again: " + traffic_text(sent_over_tp_once(shown.list))
                + ", as many bytes as all-reduces send with sequence parallelism off.";
    put_paragraph(ui, room, words, verdict, kLine);
    if (!apart.empty() && lines > 2) c.paragraph(room, apart, ui.small(), kLine);
}

}  // namespace

void draw_side(Ui& ui, Rect room, const Scene& scene, LayerViewState& state) {
    const auto said = static_cast<float>(tally_at(state.shown->list, state.at).size());
    const float lines = room.h > 640 ? 4.0f : 2.0f;
    const float below = 18 + 2 + 20 * std::max(said, 1.0f) + 4 + lines * kLine;
    Rect bottom = room.cut_bottom(std::min(below, room.h * 0.42f));
    room.cut_bottom(12);
    Rect kept = room.cut_bottom(std::min(40 + 7 * kLine, room.h * 0.38f));
    room.cut_bottom(12);
    ui.section(room.cut_top(18), scene.in_lesson ? "STEP BY STEP, ONE GPU" : "PROGRAM, ONE GPU");
    draw_program(ui, room, state, scene.in_lesson);
    draw_kept(ui, kept, state);
    draw_said(ui, bottom, state, lines);
}

namespace {

Strategy strategy_of(AloneAxis axis) {
    switch (axis) {
    case AloneAxis::dp: return Strategy::ddp;
    case AloneAxis::fsdp: return Strategy::fsdp;
    case AloneAxis::tp: return Strategy::tp;
    case AloneAxis::tp_sp: return Strategy::tp_sp;
    case AloneAxis::cp_ring:
    case AloneAxis::cp_allgather:
    case AloneAxis::cp_ulysses: return Strategy::cp;
    case AloneAxis::ep: return Strategy::ep;
    }
    return Strategy::tp;
}

bool in_part(const LayerStep& s, LayerPart part) {
    if (part == LayerPart::both || s.block == LayerBlock::weights) return true;
    return (s.block == LayerBlock::mixer) == (part == LayerPart::attention);
}

// Compares the collectives of activations with the plan's rows: weights and gradients are counted there over
// all layers together.
void compare_with_plan(const Comm& comm, ShownLayer& out) {
    double calls = 0, sent = 0;
    for (const LayerStep& s : out.list.steps)
        if (is_collective(s.op) && s.block != LayerBlock::weights) calls += s.calls, sent += s.sent_bytes;
    out.plan_calls = out.plan_sent_bytes = 0;
    for (const Operation& o : comm.operations) {
        if (!has(o.types, out.list.type)) continue;
        out.plan_calls += o.calls;
        out.plan_sent_bytes += o.calls * sent_bytes(o.collective, o.group_size, o.message_bytes);
    }
    out.tally_equals = std::abs(calls - out.plan_calls) < 1e-6
                       && std::abs(sent - out.plan_sent_bytes) <= 1e-9 * std::max(sent, 1.0);
}

// Returns the rank whose part is highlighted: the chosen one, else the first.
std::int64_t rank_of(const Scene& scene, const LayerChoice& choice) {
    return choice.alone ? 0 : std::max<std::int64_t>(chosen_rank(scene), 0);
}

std::string why_not(const Evaluation& e) {
    const std::string error = first_error(e.problems);
    return error.empty() ? "It cannot be laid out." : error;
}

// Returns the small plan with only one axis.
Plan plan_alone(const Plan& plan, AloneAxis axis, std::int64_t gpus) {
    Plan p = plan_of_strategy(plan, strategy_of(axis), gpus);
    p.layout.cp_comm = axis == AloneAxis::cp_allgather ? CpComm::allgather
                       : axis == AloneAxis::cp_ulysses ? CpComm::ulysses
                                                       : CpComm::ring;
    if (axis == AloneAxis::tp) p.layout.sequence_parallel = false;
    return p;
}

}  // namespace

std::string short_name(const LayerStep& s) {
    const auto names = [](const std::vector<LayerTensor>& list) {
        return join(list, " ", [](const LayerTensor& t) { return t.name; });
    };
    const bool back = s.phase == LayerPass::backward && !s.recomputed;
    switch (s.op) {
    case LayerOp::matmul:
        if (!s.out.empty() && s.out[0].weight) return "dW";
        switch (s.what) {
        case What::down:
        case What::down_of_the_experts:
        case What::down_of_the_shared_experts: return "down";
        case What::output_of_attention:
        case What::output_of_the_scan: return "out";
        case What::gate_and_up:
        case What::gate_and_up_of_the_experts:
        case What::gate_and_up_of_the_shared_experts: return s.out.size() > 1 ? "gate up" : "up";
        default: return names(s.out);
        }
    case LayerOp::norm: return "norm";
    case LayerOp::rotary: return "rotary";
    case LayerOp::attention: return s.work.rate == LayerRate::scan ? "scan" : "attention";
    case LayerOp::activation: return back ? "d act" : "act";
    case LayerOp::router: return "router";
    case LayerOp::permute: return "sort";
    case LayerOp::residual: return "add";
    case LayerOp::dropout: return "dropout";
    case LayerOp::all_gather: return "gather";
    case LayerOp::reduce_scatter: return "scatter";
    case LayerOp::all_reduce: return "reduce";
    case LayerOp::all_to_all: return "exchange";
    case LayerOp::ring_send: return "ring";
    }
    return {};
}

void keep_shown(const Scene& scene, const LayerChoice& choice, std::uint64_t revision, KeptLayer& kept) {
    kept.update({revision, choice, rank_of(scene, choice)},
                [&](ShownLayer& out) { make_shown(scene, choice, out); });
}

void make_shown(const Scene& scene, const LayerChoice& choice, ShownLayer& out) {
    out.choice = choice, out.alone = choice.alone;
    out.why_not.clear();
    out.list = {};
    out.forward.clear(), out.backward.clear(), out.lines.clear(), out.marks.clear();
    if (choice.alone) {
        if (choice.axis == AloneAxis::ep && !scene.plan.model.moe) {
            const std::string& name = scene.plan.model.name;
            out.why_not = (name.empty() ? std::string("This model") : name)
                          + " is dense: each token goes through the whole MLP of its layer, and ep has no "
                            "experts to deal out. Open a plan with experts, such as Mixtral 8x7B "
                            "(mixtral-8x7b-ep), and this page shows one of its layers with only ep.";
            return;
        }
        for (const std::int64_t gpus : {8, 4, 2}) {  // as many as its heads and experts allow
            out.plan = plan_alone(scene.plan, choice.axis, gpus);
            evaluate(out.plan, out.evaluation, {.timeline = false});
            if (out.evaluation.valid) break;
        }
        if (!out.evaluation.valid) {
            out.why_not = why_not(out.evaluation);
            return;
        }
    }
    const Plan& plan = out.plan_of(scene);
    const Evaluation& e = out.evaluation_of(scene);
    if (!e.valid || e.mesh.world <= 0) {
        out.why_not = why_not(e);
        return;
    }
    const LayerTypes types = layer_types(plan.model);
    const LayerCounts counts = count_layers(plan.model, types, 0, plan.model.layers);
    out.has_moe = sum_of(counts, types.moe()) > 0;
    out.has_dense = sum_of(counts, types.all() & ~types.moe()) > 0;
    const bool moe = out.has_moe && !(choice.dense && out.has_dense);
    out.layers = std::llround(sum_of(counts, moe ? types.moe() : types.all() & ~types.moe()));
    const int type = usual_type(plan.model, types, moe);
    out.dp = e.groups[GroupKind::dp].degree > 1;
    out.list = timed_layer(plan, e.mesh, e.groups, type, std::min(rank_of(scene, choice), e.mesh.world - 1),
                           kMostRanks);
    for (std::size_t i = 0; i < out.list.steps.size(); ++i) {
        const LayerStep& s = out.list.steps[i];
        out.lines.push_back(line_of(s, choice.notation, out.dp));
        std::string mark;
        if (!s.out.empty() && !s.out[0].weight)
            for (const GroupKind axis : s.out[0].partial)
                mark += (mark.empty() ? "{sum " : " ") + std::string(name_of(axis));
        out.marks.push_back(mark.empty() ? mark : mark + "}");
        if (in_part(s, choice.part))
            (s.phase == LayerPass::forward ? out.forward : out.backward).push_back(static_cast<int>(i));
    }
    compare_with_plan(e.comm, out);
}

std::vector<KeptTensor> stash_at(const LayerList& list, int at) {
    std::vector<KeptTensor> out;
    for (int i = 0; i <= at && i < static_cast<int>(list.steps.size()); ++i) {
        const LayerStep& s = list.steps[static_cast<std::size_t>(i)];
        out.insert(out.end(), s.kept.begin(), s.kept.end());
        for (const KeptTensor& f : s.freed)
            std::erase_if(out, [&](const KeptTensor& k) { return k.activation == f.activation; });
    }
    return out;
}

std::vector<Tally> tally_at(const LayerList& list, int at) {
    std::vector<Tally> out;
    for (std::size_t i = 0; i < list.steps.size(); ++i) {
        const LayerStep& s = list.steps[i];
        if (!is_collective(s.op)) continue;
        auto t = std::ranges::find_if(out, [&](const Tally& x) {
            return x.group == s.group && x.op == s.op && x.recomputed == s.recomputed;
        });
        if (t == out.end()) t = out.insert(t, {s.group, s.op, s.recomputed, 0, 0, 0, 0});
        t->calls += s.calls, t->sent_bytes += s.sent_bytes;
        if (static_cast<int>(i) <= at) t->calls_so_far += s.calls, t->sent_so_far += s.sent_bytes;
    }
    return out;
}

double sent_over_tp_once(const LayerList& list) {
    double sent = 0;
    for (const LayerStep& s : list.steps)
        if (is_collective(s.op) && s.group == GroupKind::tp && !s.recomputed) sent += s.sent_bytes;
    return sent;
}

}  // namespace pentamesh::ui
