// The view Communication shows what the GPUs say to each other.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/explain/lane_picture.h"
#include "core/explain/traffic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// The widest form says in a column of its own why a call waits, the narrow one in its second line.
enum class CallColumns : std::uint8_t { all_and_why, all, narrow, slender };
[[nodiscard]] inline bool has_bars(CallColumns c) {
    return c <= CallColumns::all;
}

// A row of the table: a heading, or one call.
struct CallRow {
    GroupKind group = GroupKind::tp;
    int operation = -1;    // place in comm.operations; -1: a heading
    int heading = -1;      // bit of CommCallsState::closed that a heading switches; -1: a call
    bool outside = false;  // of other stages: in no sum
    double time_s = 0, exposed_s = 0;
};
struct CallRows {
    std::vector<CallRow> row;
    Table table;  // the same rows in words
    std::vector<RowTone> tone;
    double longest_s = 0;
};

struct CommCallsState {
    TableState table;
    std::uint64_t closed = 0;  // headings whose rows are hidden, a bit each
    bool touched = false;      // somebody opened or closed one
    // By revision, columns, what is closed, stage: with every heading open, and as it is shown.
    using KeptRows = Kept<CallRows, std::tuple<std::uint64_t, CallColumns, std::uint64_t, int>>;
    KeptRows all, some;
    // These headings are closed until the first click: by revision, columns, stage, and the rows that fit.
    Kept<std::uint64_t, std::tuple<std::uint64_t, CallColumns, int, std::size_t>> fitting;
    std::uint64_t closed_shown = 0;  // the closed headings as they were drawn last
    [[nodiscard]] const CallRows& shown() const { return closed_shown == 0 ? *all : *some; }
};
// A click on a heading opens or closes it, one on a call selects it.
void draw_comm_calls(Ui& ui, Rect room, Scene& scene, CommCallsState& state, std::uint64_t revision);

enum class FlowWidth : std::uint8_t { time, bytes };
// Draws bands from each axis over its links to "the step waits" and "hidden behind compute". A band is as
// wide as its time, or its bytes. A click on an axis selects it.
void draw_comm_flow(Ui& ui, Rect room, Scene& scene, FlowWidth width);

// ---- comm_flow.cpp ----
struct Ribbon {
    Rect from, to;  // joined: the right edge of `from`, the left one of `to`
};
void fill_ribbon(Canvas& canvas, const Ribbon& r, Color color);
// Draws lines that rise to the right, and the ribbon's edges.
void hatch_ribbon(Canvas& canvas, const Ribbon& r, Color color);

struct HeatMap {
    GroupKind group = GroupKind::tp;
    TrafficMatrix matrix;
    struct Run {  // cells of a row with the same bytes
        int row = 0, first = 0, count = 0;
        double bytes = 0;
    };
    std::vector<Run> runs;
};

struct CommHeatState {
    Kept<HeatMap, std::pair<std::uint64_t, GroupKind>> map;  // by revision and axis
};
void draw_heat(Ui& ui, Rect room, Scene& scene, CommHeatState& state, std::uint64_t revision);

// Returns the selection's axis where its collectives are listed under that name, else the one that sends
// most.
[[nodiscard]] GroupKind shown_group(const Scene& scene);
// Draws a row of segments, one per axis that communicates; a click selects the axis.
void axis_switch(Ui& ui, std::string_view name, Rect row, Scene& scene);

struct CommRingState {
    Playback played{.at = 0};  // the moment: steps done, with the part of the running one
    Kept<std::vector<CollectivePhase>, std::pair<std::uint64_t, int>> phases;  // by revision and operation
};
void draw_ring(Ui& ui, Rect room, Scene& scene, CommRingState& state, std::uint64_t revision);

struct CommLanesState {
    bool one_layer = false;  // part by part, with its own calls; else all of a micro-batch, layer by layer
    int stage = -1;          // unless one is selected; -1: the one that works longest
    Kept<std::optional<LanePicture>, std::pair<std::uint64_t, int>> picture;  // by revision and stage
};
// Draws what computes and what is on which wire, and what the step waits for. Returns the height that it
// uses. A click on a call selects its axis.
float draw_comm_lanes(Ui& ui, Rect room, Scene& scene, CommLanesState& state, std::uint64_t revision);

// Draws the small form: a card with a title, the lanes and one line of words; lanes_card_height says how high
// it is.
[[nodiscard]] float lanes_card_height(const LanePicture& picture);
// `key` says what leads on.
void draw_lanes_card(Ui& ui, Rect card, const Scene& scene, const LanePicture& picture, std::string_view key);

struct CommViewState {
    // The picture above the calls: where the time goes, who sends to whom, one call, what a real run
    // measured, one micro-batch on its lanes, one of its layers. A file keeps their numbers.
    enum Part { kCalls, kHeat, kRing, kMeasured, kLanes, kOneLayer };
    static constexpr int kParts = kOneLayer + 1;
    // The tables' order is another: those of a run are the last.
    static constexpr int kLanesTable = 3, kLayerTable = 4, kMeasuredTable = 5;
    int part = kCalls;
    FlowWidth width = FlowWidth::time;
    CommCallsState calls;
    CommHeatState heat;
    CommRingState ring;
    CommLanesState lanes, layer{.one_layer = true, .stage = -1, .picture = {}};
    TableState measured;  // of a real run
};
// Returns true if a run is open that has more than dumps.
[[nodiscard]] bool has_run(const Scene& scene);
// Draws the run's calls, with those of the plan where that is known.
void draw_measured_calls(Ui& ui, Rect room, const Scene& scene, CommViewState& state);
void draw_comm(Ui& ui, Rect head_row, Rect room, Scene& scene, CommViewState& state, std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table comm_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
