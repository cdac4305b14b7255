// Makes reviews of plans that ship, and reads what stands on their pages.
#pragma once

#include "app/ui/review/review.h"
#include "tests/ui/driver.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace pentamesh::ui {

inline const Presets& shipped() {
    static const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    return presets;
}
inline FontFiles review_fonts() {
    return find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
}

inline std::vector<Plan> plans_of(std::initializer_list<const char*> names) {
    std::vector<Plan> out;
    for (const char* n : names) out.push_back(shipped().plan(n));
    return out;
}

// Returns all text of a review, without drawing it; a page's foot ends with its number.
inline std::vector<TextRun> text_of(const std::vector<Plan>& plans, ReviewRequest request = {}) {
    std::vector<TextRun> runs;
    request.text_runs = &runs;
    (void)make_review(shipped(), plans, request, ReviewForm::html, review_fonts());
    return runs;
}

inline std::string joined(const std::vector<TextRun>& runs) {
    std::string all;
    for (const TextRun& r : runs) all += r.text + "\n";
    return all;
}

// Returns the text on one line.
inline std::string flat(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace pentamesh::ui
