// Makes the title of a plan: its own, or one made of its fields. A title that names a changed value is
// dropped, so that no wrong one stays over another plan.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace pentamesh {

// Returns "Llama 3 70B"; "Llama 3 70B, edited" where fields of the preset were changed and no name was given.
[[nodiscard]] std::string model_name_of(const Plan& plan);
// Returns the plan's own title; without one "Qwen3 32B, 512 H200, tp 4 pp 2".
[[nodiscard]] std::string title_of(const Plan& plan);
// Returns "H200" for "NVIDIA H200 141GB SXM": the first word with a digit, else the whole name.
[[nodiscard]] std::string short_name(const Gpu& gpu);

// Returns `after` as it came from `before` by an edit, without a title that no longer holds: another model is
// another job; a title that names the GPU, a number of GPUs, a factor, ZeRO or the context goes when that
// changed. A title that the edit itself set stays, and so do notes.
[[nodiscard]] Plan with_true_title(const Plan& before, Plan after);
// Returns "The title "Two nodes" no longer holds and is gone" where an edit took it; else an empty text.
[[nodiscard]] std::string lost_title_text(const Plan& before, const Plan& after);

}  // namespace pentamesh
