// A course says which steps of which lessons fill an hour or a morning. It is read into one lesson, so that
// everything a lesson can do (window, presenter, handout) it can do.
#pragma once

#include "core/teach/lesson.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct CoursePart {
    std::string lesson;              // its id: the file's name without .md
    std::string title;               // over its steps; empty: the lesson's own
    std::vector<std::size_t> steps;  // from 0, in their order; empty: all
    int minutes = 0;                 // 0: the lesson's own
    int line = 0;
};
struct Course {
    std::string title, summary;
    std::vector<CoursePart> parts;
};
struct ParsedCourse {
    Course course;
    std::vector<LessonError> errors;
};

// Returns true if a text's head says that it is a course: "course: yes".
[[nodiscard]] bool is_course(std::string_view text);
// Reads as much as it can and never throws.
[[nodiscard]] ParsedCourse parse_course(std::string_view text);

// Such a function returns the text of a lesson by its id; nullopt where it does not exist.
using LessonSource = std::function<std::optional<std::string>(const std::string& id)>;
// Returns the course's steps one after another, each with the whole plan that it shows in its own lesson.
// Minutes are the sum of the parts. Mistakes of a lesson are named with its id.
[[nodiscard]] ParsedLesson lesson_of_course(const ParsedCourse& from, const LessonSource& lessons,
                                            const LessonNames& names);
// Returns the minutes of the course as lesson_of_course sums them, 0 for a lesson that does not exist.
[[nodiscard]] int minutes_of(const Course& course, const LessonSource& lessons);

}  // namespace pentamesh
