// Lists what ranks do in a run that hangs: who is to blame, stuck, waits, is held up.
#pragma once

#include "app/tables/table.h"
#include "core/runs/hang_run.h"

namespace pentamesh {

[[nodiscard]] Table hang_table(const runs::HangRun& run);

}  // namespace pentamesh
