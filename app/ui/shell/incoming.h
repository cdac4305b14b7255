// What a text is that was opened, dropped, pasted or named on the command line: one answer for all of them.
#pragma once

#include "core/io/presets.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

enum class IncomingKind : std::uint8_t { plan, plan_inside, model, lesson, settings };

struct Incoming {
    IncomingKind kind = IncomingKind::plan;
    Plan plan;                   // plan, plan_inside (a picture's or a page's)
    Model model;                 // model (a Hugging Face config)
    std::vector<Plan> others{};  // that a review has inside besides: what the plan is compared with
    std::string
        text{};  // settings (of a framework, a table of nccl-tests): what stands in it is asked in a sheet
};

// What a text is, by its content alone. `name` is named in errors. Error (invalid) where it is none of these,
// saying what it seemed to be and what is wrong with it.
[[nodiscard]] Incoming read_incoming(const std::string& text, const std::string& name,
                                     const Presets& presets);

// Endings of the files that read_incoming and a lesson are looked for in: ".json", ".png" and so on.
[[nodiscard]] std::vector<std::string> incoming_endings();

// The plan text of a picture or a page that Pentamesh wrote; any other text as it is. Error where a picture
// or page has none.
[[nodiscard]] std::string plan_text_inside(const std::string& text, const std::string& name);

// Whether a text is a Hugging Face config by itself, not one inside a plan. Never throws.
[[nodiscard]] bool is_model_text(const std::string& text);

// `plan` with another model. Title and notes described the old one: they go.
[[nodiscard]] Plan with_model_of(const Plan& plan, const Model& model);

}  // namespace pentamesh::ui
