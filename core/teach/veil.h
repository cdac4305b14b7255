// What must not be read off a page while a question is open? Its answer. What stands in the same place is
// hidden too, or the answer would show itself as the only hidden figure.
#pragma once

#include "core/teach/lesson_answers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct Veil {
    // Where a text stands. The plan's own fields are the scene that a question is about.
    enum class Place : std::uint8_t { view, plan };
    struct Figure {
        double value = 0;      // in `unit`
        double tolerance = 0;  // of the value: what would be judged right
        std::string unit;      // empty: a count
    };
    bool covers = false;               // the picture itself is the answer: it is not shown
    std::string covers_view;           // nor is that view, which is not the step's own
    bool covers_figures = false;       // and so are memory, step and MFU, whatever their values
    std::vector<std::string> phrases;  // hidden wherever they stand as whole words, in any case
    std::vector<std::string> lines;    // a text that has one of these words is hidden whole
    std::vector<std::string> nouns;    // a number beside one of these words is hidden: "4 groups", "tp 8"
    std::vector<std::string> own;      // beside these the answer alone is: a scene states other numbers there
    std::optional<Figure> figure;      // hidden where it stands with its unit, or has three digits
    std::vector<Figure> others;        // so too: what each of several options comes to
    bool everywhere = false;    // the figure, a count, is hidden however short and whatever is beside it
    bool bare_in_view = false;  // texts that are nothing but a number
    bool bare_in_plan = false;
    bool ratios = false;  // and texts that are nothing but "3 of 10"

    [[nodiscard]] bool hides() const;
    // The text with "?" in the place of what is hidden.
    [[nodiscard]] std::string words(std::string_view given, Place place = Place::view) const;
    // The step's own words: the author's sentences stay, the figure alone is hidden.
    [[nodiscard]] std::string figures(std::string_view text) const;
};

// For the question of a step, put to a plan. A step without one hides nothing.
[[nodiscard]] Veil veil_of(const LessonStep& step, const Solution& solution, const Plan& plan,
                           const Evaluation& evaluation);

}  // namespace pentamesh
