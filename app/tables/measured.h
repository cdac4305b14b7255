// Lists what was measured of a run: parts of the step, collectives, workers.
#pragma once

#include "app/tables/table.h"
#include "core/runs/measured.h"

namespace pentamesh {

[[nodiscard]] Table measured_parts_table(const runs::Measured& m);
[[nodiscard]] Table measured_collectives_table(const runs::Measured& m);
// A row for each stage, data-parallel rank, kind of operation and each of the slowest workers.
[[nodiscard]] Table slowdown_table(const runs::WhatIf& w);

}  // namespace pentamesh
