#include "app/ui/kit/spoken.h"

#include "core/base/text.h"

#include <algorithm>
#include <vector>

namespace pentamesh::ui {

std::string focused_words(const UiState& state, std::span<const TextRun> drawn) {
    constexpr float kMostLabel = 240;  // from the label of a control to the control
    if (!state.focus_visible || state.focus == 0) return {};
    const std::optional<Rect> area = state.rect_of(state.focus);
    if (!area) return {};
    std::vector<const TextRun*> found;
    for (const TextRun& run : drawn) {
        const bool inside = run.at.y > area->y - 4 && run.at.y < area->bottom();
        if (inside && run.at.x >= area->x - kMostLabel && run.at.x < area->right()) found.push_back(&run);
    }
    std::stable_sort(found.begin(), found.end(), [](const TextRun* a, const TextRun* b) {
        return a->at.y + 6 < b->at.y || (std::abs(a->at.y - b->at.y) <= 6 && a->at.x < b->at.x);
    });
    return join(found, ", ", [](const TextRun* run) -> const std::string& { return run->text; });
}

}  // namespace pentamesh::ui
