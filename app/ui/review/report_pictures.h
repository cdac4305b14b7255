// The figures of a review by themselves: what an HTML report has between its tables.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "render/surface.h"

#include <string>

namespace pentamesh::ui {

enum class ReportFigure : std::uint8_t { placement, memory, time, pipeline };

// An <svg> element on light ground, its text as text. Empty where the plan has nothing of the kind.
[[nodiscard]] std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e,
                                        ReportFigure figure, const FontFiles& fonts);

}  // namespace pentamesh::ui
