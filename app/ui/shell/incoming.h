// Says what a text is that was opened, dropped, pasted or named on the command line: one answer for all.
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
    std::vector<Plan> others{};  // of a review: the plans that the first is compared with
    std::string
        text{};  // settings (of a framework, a table of nccl-tests): what stands in it is asked in a sheet
};

// Returns what a text is, by its content only. Errors name `name`. Throws an error (invalid) if it is
// something else, which says what it seemed to be and what is wrong with it.
[[nodiscard]] Incoming read_incoming(const std::string& text, const std::string& name,
                                     const Presets& presets);

// Returns the endings of the files that can hold such a text, or a lesson: ".json", ".png" and so on.
[[nodiscard]] std::vector<std::string> incoming_endings();

// Returns the plan text of a picture or a page that Pentamesh wrote, and any other text as it is. Throws an
// error where a picture or page has none.
[[nodiscard]] std::string plan_text_inside(const std::string& text, const std::string& name);

// Returns true if a text is a Hugging Face config by itself, not one inside a plan. Never throws.
[[nodiscard]] bool is_model_text(const std::string& text);

// Returns `plan` with another model. Title and notes described the old one: they go.
[[nodiscard]] Plan with_model_of(const Plan& plan, const Model& model);

}  // namespace pentamesh::ui
