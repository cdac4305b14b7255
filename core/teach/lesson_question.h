// Reads the lines of a question, an "ask" block of a lesson.
#pragma once

#include "core/teach/lesson_faults.h"
#include "core/teach/lesson_pieces.h"

#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

class QuestionReader {
  public:
    // `line` is that of the block's first fence. Without `checked` nothing is looked up.
    QuestionReader(LessonFaults& faults, int line, bool checked) : faults_(faults), checked_(checked) {
        q_.line = query_line_ = line;
    }
    void line(std::string_view line, int number);
    // Checks the whole, once it is read.
    [[nodiscard]] LessonQuestion finish();

  private:
    LessonFaults& faults_;
    bool checked_;
    LessonQuestion q_;
    bool any_kind_ = false, any_tolerance_ = false;
    int query_line_ = 0, given_line_ = 0;
    std::string given_;  // the value of the point that is shown
    std::vector<int> option_lines_;
    std::string* last_ = nullptr;  // what a line without a key goes on with

    void kind(QuestionKind kind, std::string_view query, int number);
    void rule(QuestionRule rule);
    void guess(std::string_view value, int number);
    void curve(std::string_view query, std::string_view over, int number);
    void check_given();
    void text(std::string& into, std::string_view value);
    void show(std::string_view value, int number);
    void mistake(std::string_view value, int number);
    void check_mistake(const LessonQuestion::Mistake& m);
    void check_options();
};

}  // namespace pentamesh
