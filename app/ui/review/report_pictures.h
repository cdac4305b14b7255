// Makes the figures of a review by themselves, which an HTML report has between its tables.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "render/surface.h"

#include <string>

namespace pentamesh::ui {

enum class ReportFigure : std::uint8_t { placement, memory, time, pipeline };

// Returns an <svg> element on light ground, its text as text. It is empty where the plan has no such figure.
[[nodiscard]] std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e,
                                        ReportFigure figure, const FontFiles& fonts);

}  // namespace pentamesh::ui
