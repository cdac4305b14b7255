// Makes the figures of a review by themselves, which an HTML report has between its tables.
#pragma once

#include "core/evaluate.h"
#include "core/io/presets.h"
#include "render/surface.h"

#include <cstdint>
#include <functional>
#include <string>

namespace pentamesh::ui {

enum class ReportFigure : std::uint8_t { placement, memory, time, pipeline };

// Returns an <svg> element on light ground, its text as text. It is empty where the plan has no such figure.
[[nodiscard]] std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e,
                                        ReportFigure figure, const FontFiles& fonts);

class ReviewSheet;
// Draws on a page that is as high as what is drawn; returns it as SVG.
[[nodiscard]] std::string figure_svg(const FontFiles& fonts, const std::function<void(ReviewSheet&)>& draw);

}  // namespace pentamesh::ui
