// Reads texts of settings, for tests of importers.
#pragma once

#include "core/interop/import.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::test {

inline interop::Import import_text(const std::string& text, std::int64_t gpus = 0,
                                   const std::string& arguments = "", const std::string& recipe = "") {
    interop::ImportRequest r;
    r.text = text;
    r.path = "test";
    r.gpus = gpus;
    r.arguments = arguments;
    r.recipe = recipe;
    return interop::import_settings(r, presets());
}

inline interop::Import import_recipe(const std::string& text, const std::string& recipe,
                                     std::int64_t gpus = 0) {
    return import_text(text, gpus, "", recipe);
}

// Texts of files by the names that they are asked for.
using Files = std::map<std::string, std::string>;

// Returns what finds them for an import.
inline interop::OtherFile found_in(const Files& files) {
    return [files](const std::string& name) -> std::optional<std::string> {
        const auto found = files.find(name);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    };
}

inline interop::Import import_beside(const std::string& text, const Files& files, std::int64_t gpus = 0,
                                     const std::vector<std::string>& variables = {}) {
    interop::ImportRequest r;
    r.text = text;
    r.path = "test";
    r.gpus = gpus;
    r.variables = variables;
    r.other = found_in(files);
    return interop::import_settings(r, presets());
}

// Returns the problem of that code, or null.
inline const interop::ImportProblem* problem_called(const interop::Import& made, std::string_view code) {
    const auto it = std::find_if(made.problems.begin(), made.problems.end(),
                                 [&](const interop::ImportProblem& p) { return p.code == code; });
    return it == made.problems.end() ? nullptr : &*it;
}

// Returns the row of that setting, or null.
inline const interop::Listed* listed(const std::vector<interop::Listed>& rows, std::string_view setting) {
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const interop::Listed& l) { return l.setting == setting; });
    return it == rows.end() ? nullptr : &*it;
}

inline bool stands_in(const std::vector<interop::Listed>& rows, std::string_view setting) {
    return listed(rows, setting) != nullptr;
}

// Checks what a micro-batch and a step's batch are in sequences, and whether a sample is a pair.
inline void check_batch(const interop::Import& made, std::int64_t micro, std::int64_t global,
                        std::optional<bool> pairs = std::nullopt) {
    REQUIRE(made.plan);
    CHECK(made.plan->training.micro_batch == micro);
    CHECK(made.plan->training.global_batch == global);
    if (pairs) CHECK((problem_called(made, "pairs") != nullptr) == *pairs);
}

}  // namespace pentamesh::test
