// Says which texts must not be read on a page while a question is open: its answer. Other texts in the same
// place are hidden too, or the answer would show itself as the only hidden figure.
#pragma once

#include "core/teach/lesson_answers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

struct HiddenAnswer {
    // Says where a text is. The plan's own fields are the scene that a question is about.
    enum class Place : std::uint8_t { view, plan };
    struct Figure {
        double value = 0;      // in `unit`
        double tolerance = 0;  // of the value: what would be judged right
        std::string unit;      // empty: a count
    };
    bool covers = false;               // the picture itself is the answer: it is not shown
    std::string covers_view;           // nor is that view, which is not the step's own
    bool covers_figures = false;       // memory, step and MFU are hidden too, with any values
    std::vector<std::string> phrases;  // hidden wherever they stand as whole words, in any case
    std::vector<std::string> lines;    // a text that has one of these words is hidden whole
    std::vector<std::string> nouns;    // a number next to one of these words is hidden: "4 groups", "tp 8"
    std::vector<std::string> own;      // next to these only the answer is hidden: a scene states other
                                       // numbers there
    std::optional<Figure> figure;      // hidden where it stands with its unit, or has three digits
    std::vector<Figure> others;        // values of several options: each is hidden in the same way
    std::vector<std::string> scenery;  // of these no number is hidden: the GPU's name and its memory
    bool everywhere = false;           // the figure, a count, is hidden however short and next to any word
    bool bare_in_view = false;         // texts that are nothing but a number
    std::vector<std::int64_t> stated;  // these stay: the scene states them, and none is the answer
    bool bare_in_plan = false;
    bool ratios = false;  // texts that are nothing but "3 of 10" are hidden

    [[nodiscard]] bool hides() const;
    // Returns the text with "?" in the place of each hidden part.
    [[nodiscard]] std::string words(std::string_view given, Place place = Place::view) const;
    // Returns the step's own words: the author's sentences stay, only the figure is hidden.
    [[nodiscard]] std::string figures(std::string_view text) const;
};

// Returns what to hide for the question of a step, put to a plan. A step without one hides nothing.
[[nodiscard]] HiddenAnswer hidden_answer_of(const LessonStep& step, const Solution& solution,
                                            const Plan& plan, const Evaluation& evaluation);

}  // namespace pentamesh
