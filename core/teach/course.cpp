#include "core/teach/course.h"

#include "core/base/characters.h"
#include "core/base/nearest.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr std::size_t kMostParts = 60, kMostListed = 200;

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return trimmed(line);
}

// Holds "key: value"; the key is empty where the line has another form.
struct CourseLine {
    std::string_view key, value;
};
CourseLine course_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

// Reads "1, 3-5" as it is written, from 1.
std::optional<std::vector<std::size_t>> steps_named(std::string_view text) {
    std::vector<std::size_t> out;
    for (const std::string_view one : split_lines(text, ',')) {
        const std::size_t dash = one.find('-');
        const std::int64_t first = parse_whole(trimmed(one.substr(0, dash))).value_or(0);
        const std::int64_t last =
            dash == std::string_view::npos ? first : parse_whole(trimmed(one.substr(dash + 1))).value_or(0);
        if (first < 1 || last < first || last > std::int64_t{kMostListed} || out.size() > kMostListed)
            return std::nullopt;
        for (std::int64_t i = first; i <= last; ++i) out.push_back(static_cast<std::size_t>(i - 1));
    }
    return out.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

bool is_course(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (take_line(text) != "---") return false;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line == "---") return false;
        if (const CourseLine kv = course_line(line); kv.key == "course") return kv.value == "yes";
    }
    return false;
}

ParsedCourse parse_course(std::string_view text) {
    ParsedCourse out;
    const auto wrong = [&](int line, std::string message) {
        out.errors.push_back({line, std::move(message)});
    };
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    int number = 0;
    bool head = false;
    while (!text.empty() && out.errors.size() < 50) {
        const std::string_view line = take_line(text);
        ++number;
        if (line == "---") {
            head = number == 1;
            continue;
        }
        if (line.empty()) continue;
        if (line.starts_with("## ")) {
            if (out.course.parts.size() >= kMostParts) {
                wrong(number, "more than " + std::to_string(kMostParts) + " lessons");
                break;
            }
            out.course.parts.push_back({std::string(trimmed(line.substr(3))), {}, {}, 0, number});
            continue;
        }
        const CourseLine kv = course_line(line);
        const std::int64_t minutes = parse_whole(kv.value).value_or(0);
        CoursePart* part = out.course.parts.empty() ? nullptr : &out.course.parts.back();
        if (head && part == nullptr && kv.key == "title")
            out.course.title = kv.value;
        else if (head && part == nullptr && kv.key == "summary")
            out.course.summary = kv.value;
        else if (head && part == nullptr && kv.key == "course")
            continue;
        else if (part != nullptr && kv.key == "title")
            part->title = kv.value;
        else if (part != nullptr && kv.key == "steps") {
            if (auto steps = steps_named(kv.value))
                part->steps = std::move(*steps);
            else
                wrong(number, "steps are numbers from 1, such as 1, 3-5");
        } else if (part != nullptr && kv.key == "minutes" && minutes > 0 && minutes < 600)
            part->minutes = static_cast<int>(minutes);
        else
            wrong(number, part == nullptr ? "the head of a course has title, summary and \"course: yes\""
                                          : "a line \"## LESSON\" is followed by \"steps: 1, 3-5\", "
                                            "\"minutes: N\" and \"title: WORDS\"");
    }
    if (out.course.title.empty()) wrong(0, "the course has no title");
    if (out.course.parts.empty()) wrong(0, "a course names at least one lesson: a line \"## 01-two-walls\"");
    return out;
}

ParsedLesson lesson_of_course(const ParsedCourse& from, const LessonSource& lessons,
                              const LessonNames& names) {
    ParsedLesson out;
    out.errors = from.errors;
    out.lesson.title = from.course.title;
    out.lesson.summary = from.course.summary;
    for (const CoursePart& part : from.course.parts) {
        const std::optional<std::string> text = lessons(part.lesson);
        if (!text) {
            out.errors.push_back({part.line, "there is no lesson \"" + shown_text(part.lesson) + "\""});
            continue;
        }
        const ParsedLesson read = parse_lesson(*text, names);
        for (const LessonError& e : read.errors)
            out.errors.push_back(
                {part.line, part.lesson + ".md, line " + std::to_string(e.line) + ": " + e.message});
        std::vector<std::size_t> steps = part.steps;
        for (std::size_t i = 0; part.steps.empty() && i < read.lesson.steps.size(); ++i) steps.push_back(i);
        bool first = true;
        for (const std::size_t i : steps) {
            if (i >= read.lesson.steps.size()) {
                out.errors.push_back({part.line, part.lesson + " has no step " + std::to_string(i + 1)});
                continue;
            }
            LessonStep step = read.lesson.steps[i];
            const LessonPlan plan = plan_of_step(read.lesson, i);
            step.scene.open = plan.open;
            step.scene.sets = plan.sets;
            if (first) step.part = part.title.empty() ? read.lesson.title : part.title;
            first = false;
            out.lesson.steps.push_back(std::move(step));
        }
        out.lesson.minutes += part.minutes > 0 ? part.minutes : read.lesson.minutes;
    }
    return out;
}

int minutes_of(const Course& course, const LessonSource& lessons) {
    int sum = 0;
    for (const CoursePart& part : course.parts) {
        const std::optional<std::string> text = part.minutes > 0 ? std::nullopt : lessons(part.lesson);
        sum += text ? skim_lesson(*text).minutes : part.minutes;
    }
    return sum;
}

}  // namespace pentamesh
