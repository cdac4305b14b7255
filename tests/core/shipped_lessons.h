// Reads lessons that ship without the window: its views are known here, their pages are not.
#pragma once

#include "core/base/files.h"
#include "core/teach/lesson.h"
#include "tests/core/shipped.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::test {

inline constexpr LessonView kLessonViews[] = {{"dashboard"}, {"mesh"},     {"zoom"},  {"shards"},  {"map"},
                                              {"memory"},    {"timeline"}, {"comm"},  {"tensors"}, {"step"},
                                              {"compare"},   {"search"},   {"layer"}, {"scale"}};

// The window's tests walk each page of a step; here a named page is no mistake.
inline ParsedLesson parse_shipped(const std::filesystem::path& file) {
    ParsedLesson out = parse_lesson(read_file(file.string()), {kLessonViews, &presets()});
    std::erase_if(out.errors, [](const LessonError& e) {
        return e.message.find("has one page, without a name") != std::string::npos;
    });
    return out;
}

}  // namespace pentamesh::test
