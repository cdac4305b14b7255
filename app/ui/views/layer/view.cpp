#include "app/ui/views/layer/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/view_head.h"
#include "core/mesh/places.h"

#include <algorithm>

namespace pentamesh::ui {
namespace {

constexpr float kSideWidth = 400, kLeastWidth = 900;

void draw_switches(Ui& ui, Rect& head_row, Rect& room, LayerViewState& state, bool has_experts) {
    static constexpr std::string_view kWhose[] = {"this plan", "one axis alone"};
    static constexpr std::string_view kParts[] = {"attention", "MLP", "both"};
    static constexpr std::string_view kNotations[] = {"Megatron", "DTensor", "JAX"};
    static constexpr std::string_view kKinds[] = {"MoE layer", "dense layer"};
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
    if (state.shown->has_moe && state.shown->has_dense)
        c.dense = pick("layer.kind", kKinds, c.dense ? 1 : 0) == 1;
    c.part = static_cast<LayerPart>(pick("layer.part", kParts, static_cast<int>(c.part)));
    c.notation = static_cast<Notation>(pick("layer.notation", kNotations, static_cast<int>(c.notation)));
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

// Writes in one row, or in two where the room is narrow.
void draw_sentence_row(Ui& ui, Rect& room, const Scene& scene, const LayerViewState& state) {
    const LayerStep& s = state.shown->list.steps[static_cast<std::size_t>(state.at)];
    const std::string bold = sentence_of(s), faint = faint_words(scene, state, s);
    const TextStyle plain = ui.style(13, Tone::secondary);
    const float w = ui.canvas().text_width(bold, ui.title());
    if (w > room.w && room.h > 300) {  // in as many lines as it takes
        room.cut_top(ui.canvas().paragraph(room, bold, ui.title(), 20));
        if (!faint.empty()) ui.label(room.cut_top(18), faint, plain);
        return;
    }
    Rect row = room.cut_top(20);
    ui.label(row, bold, ui.title());
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
    static constexpr std::string_view kBelow[] = {"ranks", "program"};
    const Rect row = room.cut_top(24);
    state.program_shown = ui.segments("layer.below", {row.x, row.y, segments_width(ui, kBelow), row.h},
                                      kBelow, state.program_shown ? 1 : 0)
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
    keep_shown(scene, state.choice, revision, state.shown);
    if (!ui.state().for_picture || room.w > 700)
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
    if (!shown.why_not.empty() || shown.list.steps.empty()) {
        ui.canvas().paragraph(room.inset(0, 12), shown.why_not, ui.style(13, Tone::secondary), 20);
        return;
    }
    if (state.shown->forward.empty() && state.shown->backward.empty()) {
        ui.label(room.cut_top(20), "This layer has no such part: it is a mixer or an MLP alone.", ui.title());
        return;
    }
    keep_in_sight(state, ui.state().for_picture);
    if (space) play_or_pause(state);
    play_layer(ui, state);
    draw_sentence_row(ui, room, scene, state);
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
    draw_graph(ui, room.cut_top(std::min(kGraphHeight, room.h)), state);
    constexpr float kLeastRanks = 90;
    if (room.h < kLeastRanks) {
        ui.state().hidden = std::max(ui.state().hidden, kLeastRanks - room.h);
        return;
    }
    ui.canvas().line({room.x, room.y}, {room.right(), room.y}, ui.theme().hairline);
    room.cut_top(12);
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

}  // namespace pentamesh::ui
