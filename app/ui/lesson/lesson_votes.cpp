#include "app/ui/lesson/lesson_parts.h"

#include "core/base/text.h"
#include "core/teach/lesson_pieces.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kBarWidth = 44;
constexpr int kMostVotes = 9999;

// Reads "21 6 3" or "21, 6, 3"; empty where it is no list of counts.
std::vector<int> parse_votes(std::string_view text) {
    std::vector<int> out;
    for (const std::string_view word : split_words(text, " \t\r,")) {
        std::int64_t n = -1;
        if (!parse_integer(word, n) || n < 0 || n > kMostVotes) return {};
        out.push_back(static_cast<int>(n));
    }
    return out;
}

// Takes the counts of so many options, or says why they do not fit. Those that come after the answer stand
// after the first ones.
void take_votes(StepState& state, std::size_t options) {
    std::vector<int> votes = parse_votes(state.votes_typed);
    if (votes.size() != options) {
        state.votes_refusal = "A count for each of the " + std::to_string(options) + " options, as 21 6 3.";
        return;
    }
    (state.shown() ? state.votes_after : state.votes) = std::move(votes);
    state.votes_typed.clear();
    state.votes_refusal.clear();
    state.counting = false;
}

}  // namespace

float draw_counting(Ui& ui, Rect room, StepState& state, std::size_t options, bool draw) {
    const float top = room.y;
    const Rect link = room.cut_top(22);
    if (draw && ui.link("lesson.count", link.min(), state.counting ? "no votes" : "count the votes"))
        state.counting = !state.counting;
    if (!state.counting) return room.y - top;
    const Rect field = room.cut_top(30);
    room.cut_top(6);
    if (draw
        && ui.text_field("lesson.votes", field, state.votes_typed, "a count for each option: 21 6 3", false))
        take_votes(state, options);
    if (!state.votes_refusal.empty()) {
        const Rect row = room.cut_top(20);
        if (draw) ui.canvas().text_in(row, state.votes_refusal, ui.style(12, Tone::secondary));
    }
    return room.y - top;
}

float votes_width(const StepState& state) {
    if (state.votes.empty() && state.votes_after.empty()) return 0;
    return kBarWidth + (state.votes.empty() || state.votes_after.empty() ? 36.0f : 66.0f);
}

void draw_votes(Ui& ui, Rect row, const StepState& state, std::size_t option) {
    const auto& last = state.votes_after.empty() ? state.votes : state.votes_after;
    if (option >= last.size()) return;
    int most = 1;
    for (const std::vector<int>* votes : {&state.votes, &state.votes_after})
        for (const int n : *votes) most = std::max(most, n);
    const auto width = [&](int n) { return kBarWidth * static_cast<float>(n) / static_cast<float>(most); };
    const Rect bar = row.cut_right(kBarWidth);
    const float y = row.center().y - 5;
    ui.canvas().rect({bar.x, y, width(last[option]), 10}, ui.theme().secondary, 2);
    std::string text = std::to_string(last[option]);
    if (!state.votes_after.empty() && option < state.votes.size()) {
        ui.canvas().frame({bar.x, y, std::max(2.0f, width(state.votes[option])), 10}, ui.theme().text, 1, 2,
                          Dash::dashed);
        text = std::to_string(state.votes[option]) + " → " + text;
    }
    row.cut_right(6);
    ui.canvas().text_in(row, text, ui.style(12, Tone::secondary), Align::right);
}

}  // namespace pentamesh::ui
