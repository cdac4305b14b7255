// A lesson on paper: its words with the answers of the plans that its steps open, pictures of the scenes, the
// questions, and at the end their answers.
#pragma once

#include "core/io/presets.h"
#include "core/teach/lesson.h"
#include "render/surface.h"

#include <string>

namespace pentamesh::ui {

// Returns plain text, the answers below their questions. `base`: the plan of steps that open none. Throws
// an error where a step's plan cannot be made.
[[nodiscard]] std::string lesson_text(const Lesson& lesson, const Plan& base, const Presets& presets);
// Returns one self-contained HTML page. Throws an error of kind io where there is no EGL to draw with.
[[nodiscard]] std::string lesson_page(const Lesson& lesson, const Plan& base, const Presets& presets,
                                      const FontFiles& fonts);
// Returns the same as slides: words and question, then the picture; at the end the answers. Throws an error
// of kind io where there is no EGL, or this build writes no PDF.
[[nodiscard]] std::string lesson_pdf(const Lesson& lesson, const Plan& base, const Presets& presets,
                                     const FontFiles& fonts);

}  // namespace pentamesh::ui
