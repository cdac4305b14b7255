// The view Communication shows where the sending of a step goes, who sends to whom, one call step by step,
// and every collective of a step as a table.
#include "app/ui/views/comm/view.h"

#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/comm/comm_sequence.h"
#include "core/explain/sequence_parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr float kTall = 400, kMiddle = 620, kFlow = 330, kLeastCalls = 90, kWithSequence = 240;

// The heat map's table has at most so many blocks: its rows are the pairs that talk.
constexpr int kMostTableBlocks = 64;

// Returns "1.70 s of sending a step, 1.34 s of it the step waits for: tp 823 ms, dp_shard 480 ms".
std::string headline(const Scene& scene) {
    const Comm& comm = scene.evaluation.comm;
    double time = 0, exposed = 0;
    std::vector<std::pair<double, std::string>> waits;
    for (const GroupKind kind : all_of<GroupKind>()) {
        const AxisTraffic& t = comm.by_axis[kind];
        time += t.time_s;
        exposed += t.exposed_s;
        if (t.exposed_s > 0) waits.emplace_back(t.exposed_s, axis_label(kind));
    }
    std::stable_sort(waits.begin(), waits.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string s = time_text(time) + " of sending a step, ";
    if (exposed <= 0) return s + "all of it hidden behind compute";
    s += (exposed < time ? time_text(exposed) + " of it the step waits for" : "the step waits for all of it");
    if (scene.pinned != nullptr) {
        double was = 0;
        for (const AxisTraffic& t : scene.pinned->comm.by_axis) was += t.exposed_s;
        if (const std::string by = difference_text(difference(exposed, was), time_text); !by.empty())
            s += " (" + by + " to A)";
    }
    for (std::size_t i = 0; i < waits.size(); ++i)
        s += (i == 0 ? ": " : ", ") + waits[i].second + " " + time_text(waits[i].first);
    return s;
}

// Says on which GPU the calls are counted, and how often its layers wait.
std::string remark(const Scene& scene) {
    const Comm& comm = scene.evaluation.comm;
    double sent = 0;
    for (const AxisTraffic& t : comm.by_axis) sent += t.sent_bytes_per_rank;
    std::string s = traffic_text(sent) + " leave " + rows_device_text(comm) + " a step";
    if (comm.sync_points_per_microbatch > 0)
        s += "; in each micro-batch the layers wait "
             + plural(std::llround(comm.sync_points_per_microbatch), "time", "times") + " for "
             + sync_peers_text(comm)
             + (scene.plan.layout.sequence_parallel && scene.plan.layout.tp > 1
                    ? ", a reduce-scatter and its all-gather counted as one"
                    : "");
    if (const std::string who = chosen_name(scene); !who.empty() && comm.stages.devices > 1)
        s += "; faint: calls that " + who + " does not make";
    return s;
}

}  // namespace

bool has_run(const Scene& scene) {
    return scene.run != nullptr && !scene.run->files.empty();
}

void draw_measured_calls(Ui& ui, Rect room, const Scene& scene, CommViewState& state) {
    if (!scene.run->measured || scene.run->measured->collectives.empty()) {
        ui.canvas().paragraph(room,
                              scene.run->measured
                                  ? "The run's files have no calls: traces and files of the NCCL "
                                    "Inspector have."
                                  : scene.run->words(),
                              ui.style(13, Tone::secondary), 20);
        return;
    }
    const runs::Measured& m = *scene.run->measured;
    std::string words = join(link_words(m), " ");
    const bool waits = std::any_of(m.collectives.begin(), m.collectives.end(),
                                   [](const runs::CollectiveRow& r) { return !r.transfer_s; });
    if (waits)
        words += (words.empty() ? "" : " ")
                 + std::string("Where no transfer stands the time holds the wait for the last rank: the wire "
                               "may be faster than that.");
    put_paragraph(ui, room, words, ui.small(), 17, 6);
    draw_table(ui, "comm.measured", room,
               columns_of(as_read(measured_collectives_table(m)),
                          {"axis", "ranks", "collective", "bytes", "calls", "median_s", "transfer_s",
                           "predicted_s", "measured_gb_per_s", "assumed_gb_per_s", "last_to_arrive"}),
               state.measured);
}

namespace {

void draw_picture(Ui& ui, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision) {
    switch (state.part) {
    case CommViewState::kHeat: draw_heat(ui, room, scene, state.heat, revision); break;
    case CommViewState::kRing: draw_ring(ui, room, scene, state.ring, revision); break;
    case CommViewState::kMeasured:
        if (has_run(scene)) draw_measured_calls(ui, room, scene, state);
        break;
    case CommViewState::kLanes: draw_comm_lanes(ui, room, scene, state.lanes, revision); break;
    case CommViewState::kOneLayer: draw_comm_lanes(ui, room, scene, state.layer, revision); break;
    default: draw_comm_flow(ui, room, scene, state.width); break;
    }
}

// Draws the switch of the pictures, and that of the bands' width where they are shown.
void draw_switches(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, CommViewState& state) {
    constexpr std::size_t kParts = CommViewState::kParts;
    static constexpr std::array<std::string_view, kParts> kAllParts{"where it goes", "lanes",    "one layer",
                                                                    "who to whom",   "one call", "measured"};
    static constexpr std::array<int, kParts> kShownOrder{CommViewState::kCalls,    CommViewState::kLanes,
                                                         CommViewState::kOneLayer, CommViewState::kHeat,
                                                         CommViewState::kRing,     CommViewState::kMeasured};
    const bool measured = has_run(scene);
    const auto labels = std::span(kAllParts).first(measured ? kParts : kParts - 1);
    if (!measured && state.part == CommViewState::kMeasured) state.part = CommViewState::kCalls;
    const auto at =
        static_cast<int>(std::find(kShownOrder.begin(), kShownOrder.end(), state.part) - kShownOrder.begin());
    static constexpr std::string_view kWidths[] = {"time", "bytes"};
    const float parts = segments_width(ui, labels, 0, at),
                widths = segments_width(ui, kWidths, 0, static_cast<int>(state.width));
    const bool both = state.part == CommViewState::kCalls && head_row.w > parts + widths + 60;
    Rect place = head_place(head_row, room, parts + (both ? widths + 12 : 0.0f));
    if (both) {
        choose(ui, "comm.width", place.cut_right(widths), kWidths, state.width);
        place.cut_right(12);
    }
    state.part = kShownOrder[static_cast<std::size_t>(ui.segments("comm.part", place, labels, at))];
}

}  // namespace

void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision) {
    if (scene.evaluation.comm.operations.empty()) {
        ui.canvas().text_in(room,
                            scene.evaluation.valid ? "Nobody sends: every axis is off."
                                                   : "No calls: the plan has errors.",
                            ui.small(), Align::center);
        return;
    }
    const bool tall = room.h >= kTall && room.w >= kMiddle;
    draw_switches(ui, head_row, room, scene, state);
    head_sentence(ui, head_row, room, headline(scene), 120);
    if (tall) {
        const auto sequence = sequence_parallel_bytes(scene.plan, scene.evaluation);
        const std::string said = remark(scene);
        if (ui.canvas().text_width(said, ui.small()) <= room.w)
            ui.canvas().text_in(room.cut_top(18), said, ui.small());
        else
            put_paragraph(ui, room, said, ui.small(), 17, 1);
        room.cut_top(10);
        if (state.part == CommViewState::kLanes || state.part == CommViewState::kOneLayer) {
            CommLanesState& lanes = state.part == CommViewState::kLanes ? state.lanes : state.layer;
            const Rect most{room.x, room.y, room.w, std::max(room.h * 0.62f, std::min(room.h, 360.0f))};
            room.cut_top(draw_comm_lanes(ui, most, scene, lanes, revision) + 14);
            if (sequence && lanes.one_layer) draw_sequence_parallel(ui, room, *sequence);
            if (room.h >= kLeastCalls) draw_comm_calls(ui, room, scene, state.calls, revision);
            return;
        }
        const Rect picture = room.cut_top(state.part == CommViewState::kCalls ? std::min(kFlow, room.h * 0.5f)
                                                                              : room.h * 0.56f);
        room.cut_top(14);
        draw_picture(ui, picture, scene, state, revision);
        if (sequence && state.part == CommViewState::kCalls && room.h >= kWithSequence)
            draw_sequence_parallel_line(ui, room, *sequence);
        draw_comm_calls(ui, room, scene, state.calls, revision);
        return;
    }
    if (state.part != CommViewState::kCalls) {
        draw_picture(ui, room, scene, state, revision);
        return;
    }
    if (room.w >= 900) {
        const Rect left = room.cut_left(room.w * 0.46f);
        room.cut_left(16);
        draw_comm_flow(ui, left, scene, state.width);
    } else {
        // Bands can be thin; a row of the table that is cut cannot be read.
        constexpr float kLow = 250;
        draw_comm_flow(ui, room.cut_top(room.h * (room.h < kLow ? 0.42f : 0.5f)), scene, state.width);
        room.cut_top(8);
    }
    draw_comm_calls(ui, room, scene, state.calls, revision);
}

Table comm_data(const Scene& scene, int part) {
    const Plan& plan = scene.plan;
    const Evaluation& e = scene.evaluation;
    if (part == CommViewState::kLanesTable || part == CommViewState::kLayerTable) {
        const auto picture =
            part == CommViewState::kLanesTable ? lane_picture(plan, e) : layer_picture(plan, e);
        return picture ? lanes_table(plan, *picture) : Table{};
    }
    if (part == CommViewState::kMeasuredTable)
        return has_run(scene) && scene.run->measured ? measured_collectives_table(*scene.run->measured)
                                                     : Table{};
    if (part == CommViewState::kHeat)
        return traffic_table(traffic_matrix(plan, e, scene.selection.group, kMostTableBlocks));
    if (part == CommViewState::kRing) return phases_table(plan, e, std::max(scene.selection.operation, 0));
    return comm_table(plan, e);
}

}  // namespace pentamesh::ui
