// One's own runs: files that are dropped or added, the fit beside the window, and what becomes of it.
#include "app/ui/shell/shell.h"
#include "core/base/files.h"
#include "core/calibrate/calibrate.h"
#include "core/io/own_presets.h"
#include "core/plan/changes.h"

#include <utility>

namespace pentamesh::ui {

void Shell::add_runs(const std::filesystem::path& path) {
    calibrate_.add(path.string(), read_file(path));
    dirty_ = true;
}

void Shell::draw_calibrate(Ui& ui) {
    if (!calibrate_.open) return;
    read_calibrate_files(calibrate_, document_.plan(), presets_);
    switch (draw_calibrate_sheet(ui, calibrate_)) {
    case CalibrateAction::none: break;
    case CalibrateAction::add_file: later("", [this] { ask(DialogKind::runs, "", nullptr); }); break;
    case CalibrateAction::save: later("", [this] { use_calibrated(true); }); break;
    case CalibrateAction::use: later("", [this] { use_calibrated(false); }); break;
    }
}

void Shell::tend_calibrate() {
    const bool wanted = calibrate_.has_work();
    if (!beside_.fit && wanted) beside_.fit = std::make_unique<BesideWork::Fit>(host_.wake);
    if (!beside_.fit) return;
    const auto work = [this]() -> BesideWork::Fit::Work {
        return [own = calibrate_.own, on = calibrate_.on](const std::atomic<bool>&) {
            return pentamesh::calibrate(own.runs, own.links, on, own.from);
        };
    };
    if (beside_.fit->tend(wanted, calibrate_.version, calibrate_.made, work)) dirty_ = true;
}

// Kept among the user's own clusters, and chosen for the plan where that has the same GPU; or the constants
// go into the plan alone.
void Shell::use_calibrated(bool save) {
    dirty_ = true;
    try {
        const Calibrated& made = calibrate_.made.value;
        if (!save) {
            edit_plan(with_constants_of(document_.plan(), made.cluster, presets_), "calibrated constants");
            say("The plan's constants are calibrated now; Ctrl+Z takes that back");
            calibrate_ = {};
            return;
        }
        const std::filesystem::path file = save_calibrated(made, calibrate_.name, presets_);
        own_presets_changed();
        const std::string id = preset_id_of(calibrate_.name);
        const Cluster kept = presets_.cluster(id);
        if (kept.gpu.flops == document_.plan().cluster.gpu.flops) {
            edit_plan(with_cluster(document_.plan(), kept, id), "the cluster " + kept.name);
            say("Saved and chosen: " + kept.name + ". The list of clusters has it");
        } else {
            say("Saved " + file.string() + ". The list of clusters has it; this plan has another GPU");
        }
        calibrate_ = {};
    } catch (const Error& e) {
        calibrate_.error = e.message();
    }
}

void Shell::make_calibrate_commands() {
    add({.id = "calibrate", .title = "Calibrate from measured runs…", .menu = "File", .run = [this] {
             calibrate_ = {};
             calibrate_.open = true;
         }});
}

}  // namespace pentamesh::ui
