// Collects what is wrong with a lesson's file, each at its own line, and knows what a lesson may name.
#pragma once

#include "core/plan/plan.h"
#include "core/teach/lesson.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class LessonFaults {
  public:
    LessonFaults(const LessonNames& names, std::vector<LessonError>& out) : names_(names), out_(out) {}

    void error(int line, std::string message);
    // Says that no such thing has that name, which is the closest, and what there is.
    void unknown(int line, std::string_view what, std::string_view word,
                 const std::vector<std::string_view>& known);
    void check_view(int line, std::string_view name);
    void check_page(int line, std::string_view view, std::string_view page);
    // Follows the plan that steps show, so that a field that does not fit is found at its line.
    void open_plan(int line, std::string_view id);
    void set_field(int line, const std::string& set);
    // Checks "POINTER=VALUE" without setting it. `what` is its place: "against", "show".
    void check_field(int line, std::string_view what, const std::string& set);
    void check_query(int line, std::string_view query);
    // Checks each {{query}} of a line; of a text that goes over several lines, what was not found in those.
    void check_text(int line, std::string_view text);
    void check_whole_text(int line, std::string_view text);

  private:
    LessonNames names_;
    std::vector<LessonError>& out_;
    std::optional<Plan> plan_;    // of the step that is read; none: it is not known
    std::set<std::string> seen_;  // queries that were checked line by line

    [[nodiscard]] std::string wrong_field(const std::string& set) const;
};

}  // namespace pentamesh
