// Shows one's own runs in the window: the files, the constants that they give for the cluster, the runs whose
// estimate got better.
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/scroll.h"
#include "app/ui/scene/scene.h"
#include "core/calibrate/own_runs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh::ui {

struct CalibrateFile {
    std::string path, text;
    std::string said{};  // "7 runs", or why it cannot be read
    bool wrong = false;
    bool by_open_plan = false;  // a log that does not say its settings
};

struct CalibrateSheetState {
    bool open = false;
    std::vector<CalibrateFile> files{};
    bool stale = false;         // the files are to be read again
    std::uint64_t version = 0;  // of the files
    OwnFiles own{};
    Cluster on{};                                 // the cluster that is calibrated
    WorkedOut<Calibrated, std::uint64_t> made{};  // for `version`
    std::string name{};                           // to be saved under
    std::string error{};                          // why it could not be saved or used
    ScrollState files_scroll{};
    TableState runs{}, constants{};

    void add(std::string path, std::string text);
    [[nodiscard]] bool has_work() const { return open && (!own.runs.empty() || !own.links.empty()); }
    [[nodiscard]] bool done() const { return has_work() && made.is_of(version) && made.error.empty(); }
};

// Reads the files again where they changed. Logs without settings belong to the open plan; all are on its
// cluster where no run names another.
void read_calibrate_files(CalibrateSheetState& state, const Plan& plan, const Presets& presets);

enum class CalibrateAction : std::uint8_t { none, add_file, save, use };
[[nodiscard]] CalibrateAction draw_calibrate_sheet(Ui& ui, CalibrateSheetState& state);

}  // namespace pentamesh::ui
