// Finds the plan that a step shows, and the queries in its texts.
#include "core/base/characters.h"
#include "core/teach/lesson.h"

namespace pentamesh {

LessonPlan plan_of_step(const Lesson& lesson, std::size_t i) {
    LessonPlan out;
    for (std::size_t k = 0; k <= i && k < lesson.steps.size(); ++k) {
        const LessonScene& s = lesson.steps[k].scene;
        if (!s.open.empty()) {
            out.open = s.open;
            out.sets.clear();
        }
        out.sets.insert(out.sets.end(), s.sets.begin(), s.sets.end());
    }
    return out;
}

std::vector<Placeholder> placeholders(std::string_view text) {
    std::vector<Placeholder> out;
    for (std::size_t at = text.find("{{"); at != std::string_view::npos;) {
        const std::size_t end = text.find("}}", at + 2);
        if (end == std::string_view::npos) break;
        out.push_back({at, end + 2, std::string(trimmed(text.substr(at + 2, end - at - 2)))});
        at = text.find("{{", end + 2);
    }
    return out;
}

}  // namespace pentamesh
