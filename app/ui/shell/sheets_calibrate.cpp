// Calibration from one's own runs: dropped or added files, the fit in the background, and its use.
#include "app/ui/shell/sheets.h"
#include "core/base/files.h"
#include "core/calibrate/calibrate.h"
#include "core/io/own_presets.h"
#include "core/plan/changes.h"

#include <utility>

namespace pentamesh::ui {

void Sheets::add_runs(const std::filesystem::path& path) {
    calibrate_.add(path.string(), read_file(path));
    window_.dirty = true;
}

void Sheets::draw_calibrate(Ui& ui) {
    if (!calibrate_.open) return;
    read_calibrate_files(calibrate_, window_.document.plan(), window_.presets);
    switch (draw_calibrate_sheet(ui, calibrate_)) {
    case CalibrateAction::none: break;
    case CalibrateAction::add_file:
        window_.later("", [this] { window_.ask(DialogKind::runs, "", nullptr); });
        break;
    case CalibrateAction::save: window_.later("", [this] { use_calibrated(true); }); break;
    case CalibrateAction::use: window_.later("", [this] { use_calibrated(false); }); break;
    }
}

void Sheets::update() {
    const bool wanted = calibrate_.has_work();
    if (!fit_ && wanted) fit_ = std::make_unique<Fit>(window_.host.wake);
    if (!fit_) return;
    const auto work = [this]() -> Fit::Work {
        return [own = calibrate_.own, on = calibrate_.on](const std::atomic<bool>&) {
            return pentamesh::calibrate(own.runs, own.links, on, own.from);
        };
    };
    if (fit_->tend(wanted, calibrate_.version, calibrate_.made, work)) window_.dirty = true;
}

// Keeps the cluster among the user's own, and chooses it for the plan if that has the same GPU. `save` false:
// only the plan gets the constants.
void Sheets::use_calibrated(bool save) {
    window_.dirty = true;
    try {
        const Calibrated& made = calibrate_.made.value;
        if (!save) {
            window_.edit_plan(with_constants_of(window_.document.plan(), made.cluster, window_.presets),
                              "calibrated constants");
            window_.say("The plan's constants are calibrated now; Ctrl+Z takes that back");
            calibrate_ = {};
            return;
        }
        const std::filesystem::path file = save_calibrated(made, calibrate_.name, window_.presets);
        window_.own_presets_changed();
        const std::string id = preset_id_of(calibrate_.name);
        const Cluster kept = window_.presets.cluster(id);
        if (kept.gpu.flops == window_.document.plan().cluster.gpu.flops) {
            window_.edit_plan(with_cluster(window_.document.plan(), kept, id), "the cluster " + kept.name);
            window_.say("Saved and chosen: " + kept.name + ". The list of clusters has it");
        } else {
            window_.say("Saved " + file.string()
                        + ". The list of clusters has it; this plan has another GPU");
        }
        calibrate_ = {};
    } catch (const Error& e) {
        calibrate_.error = e.message();
    }
}

void Sheets::add_calibrate_command(std::vector<Command>& commands) {
    commands.push_back(
        {.id = "calibrate", .title = "Calibrate from measured runs…", .menu = "File", .run = [this] {
             calibrate_ = {};
             calibrate_.open = true;
         }});
}

}  // namespace pentamesh::ui
