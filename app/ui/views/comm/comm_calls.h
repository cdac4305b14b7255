// Draws every collective of a step as a table: axes, under them calls of one size, under them the calls.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/scene/scene.h"

#include <tuple>
#include <vector>

namespace pentamesh::ui {

enum class CallColumns : std::uint8_t { all, narrow, slender };

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
    std::uint64_t closed_shown = 0;  // the closed headings as they were drawn last
    [[nodiscard]] const CallRows& shown() const { return closed_shown == 0 ? *all : *some; }
};
// A click on a heading opens or closes it, one on a call selects it.
void draw_comm_calls(Ui& ui, Rect room, Scene& scene, CommCallsState& state, std::uint64_t revision);

}  // namespace pentamesh::ui
