// Holds what a real run left behind, as it stands next to the open plan.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/theme.h"
#include "app/ui/scene/scene.h"
#include "core/runs/hang_run.h"
#include "core/runs/measured.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

// Parts have the colours that they have in the predicted step; what no axis has is grey.
[[nodiscard]] Color color_of(const Theme& theme, runs::RunPart part);

// Returns a table as people read it: "3.51 s", at the right end of its column.
[[nodiscard]] Table as_read(Table table);

struct RealRun {
    std::string name;                           // of its files: "dumps", "train.log and 2 files"
    std::shared_ptr<const runs::HangRun> hang;  // null: there are no dumps
    std::vector<runs::RunFile> files;           // traces, logs, timelines
    std::filesystem::path settings{};           // the log that says its settings too; empty: none
    // Compares the files with the plan of this revision; null while that is worked out.
    std::shared_ptr<const runs::Measured> measured;
    std::uint64_t measured_of = 0;

    // Returns one line: the verdict, or where the difference sits.
    [[nodiscard]] std::string words() const;
};

// Returns the part of the measured step to which a part of the predicted one belongs; nullopt where the run
// is not divided. `group` is the axis of what is exposed.
[[nodiscard]] std::optional<runs::RunPart> run_part_of(const RealRun& run, StepPart part, GroupKind group);
// The part of a real run that is selected: chosen in its own rows, or by the predicted step.
[[nodiscard]] std::optional<runs::RunPart> selected_part(const Scene& scene);
// Selects in all views what a part of a real run is of the predicted step; nothing for one that no plan has.
void select_part(Scene& scene, runs::RunPart part);

}  // namespace pentamesh::ui
