// Shows which layout is best: every layout that fits as a dot of memory against tokens/s, the best as a
// table, and why the others are not there.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/search/search_found.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

struct SearchDots {
    static constexpr int kMost = 8000;
    struct Dot {
        Vec2 at;  // of its fastest layout
        int layouts = 0;
        std::size_t point = 0;  // index of that one
    };
    std::vector<Dot> dots;  // at most kMost
    int most_layouts = 0;   // of a dot
    Plot plot;
};
// The dots follow from these: the version of the found layouts, the place, the ends of the axes.
struct SearchDotsOf {
    std::uint64_t version = 0;
    Rect area;
    double memory_to = 0, tokens_from = 0, tokens_to = 0;
    bool operator==(const SearchDotsOf&) const = default;
};
using KeptDots = Kept<SearchDots, SearchDotsOf>;

// Holds the ends of the axes: all found layouts, the open plan and the GPU's memory lie within.
struct SearchAxes {
    double memory_to = 0;  // bytes, from 0
    double tokens_from = 0, tokens_to = 1;
};
[[nodiscard]] SearchAxes axes_of(const SearchFound& found, const Plan& plan, const Evaluation& e);
// `tokens` are those of a step.
void make_dots(const SearchFound& found, double tokens, const Plot& plot, SearchDots& out);

// Draws the plot; dots are coloured by their degree of `colored_by`, which the user switches between tp and
// pp. Returns the layout under the mouse.
[[nodiscard]] std::optional<LayoutChoice> draw_search_plot(Ui& ui, Rect room, const Scene& scene,
                                                           const SearchFound& found, KeptDots& kept,
                                                           Axis& colored_by, bool& clicked);
// Draws a ring around the dot of a row, in the plot as it was drawn last.
void mark_in_plot(Ui& ui, const Scene& scene, const KeptDots& dots, const SearchRow& row);

struct SearchViewState {
    SearchRequest request;
    std::optional<Varied> ranging;              // the field whose range is being set
    bool lists_software = false;                // to choose for which one the search is
    std::optional<Software> wanted_software{};  // was chosen in this frame: the plan names it then
    bool chosen = false;                        // the held fields were chosen here; else they follow the plan
    bool stopped = false;                       // by hand
    bool again = false;                         // a stopped search is wanted from the start
    bool all_rows = false;
    std::string beside;          // what is proposed of the plan, where that is not the fastest layout
    Second then = Second::step;  // decides between layouts that cannot be distinguished
    ScrollState scroll, list_scroll;
    std::shared_ptr<SearchFound> found;  // null: not shown yet
    // The key is the found layouts, and their version.
    Kept<std::vector<SearchRow>, std::pair<std::shared_ptr<SearchFound>, std::uint64_t>> rows;
    Kept<std::string, std::pair<std::shared_ptr<SearchFound>, std::uint64_t>> hsdp;  // words of the first row
    KeptDots dots;
    Axis colored_by = Axis::tp;  // or pp: the degree that the dots show
    Kept<std::shared_ptr<const Evaluation>, Plan>
        hovered;  // by the open plan with the layout under the mouse
};

// A click on a dot or a row is an edit; with Shift it joins `compare`.
[[nodiscard]] std::optional<PlanEdit> draw_search(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  SearchViewState& state, CompareViewState& compare);
// `part` is 0 for the results and the open plan, 1 for the rejected ones.
[[nodiscard]] Table search_data(const Scene& scene, const SearchViewState& state, int part);

void draw_search_head(Ui& ui, Rect& head_row, Rect& room, const Scene& scene, SearchViewState& state);
// Cuts its rows off `room`.
void draw_search_chips(Ui& ui, Rect& room, const Scene& scene, SearchViewState& state);
// Says how far the search is, and what it found.
struct SearchWords {
    std::string bold, plain;
};
[[nodiscard]] SearchWords search_words(const Scene& scene, const SearchViewState& state);

// Says what the user did to a row, or to an example, whose plan is `example`.
struct SearchPick {
    std::optional<LayoutChoice> hovered, clicked;
    std::optional<SearchRow> row;   // the row that is hovered, or has the focus
    Vec2 at;                        // the place of the mouse or of that row
    const Plan* example = nullptr;  // of what was rejected: to be looked at
};

// Says which rows are listed: so many at once, or all, and what orders the tied ones. The user changes it.
struct ListChoice {
    std::size_t most;
    bool& all_rows;
    Second& then;
};
// Cuts its height off `room`. The link below shows the rest.
void draw_results(Ui& ui, Rect& room, const Scene& scene, const SearchFound& found,
                  const std::vector<SearchRow>& rows, const ListChoice& choice, SearchPick& pick);
// Rows end at `bottom`, the last one then says how many more there are.
void draw_rejected(Ui& ui, Rect& room, const SearchFound& found, SearchPick& pick, float bottom);
[[nodiscard]] float results_height(std::size_t rows);
[[nodiscard]] float rejected_height(const SearchFound& found);

// Runs the search of the view in the background of the window. The window hands over a plan and looks in once
// a frame.

class SearchRunner {
  public:
    // `wake` is called on another thread when there is something new; it may be empty.
    explicit SearchRunner(std::function<void()> wake);

    // Runs once a frame. Starts a search of `plan` where the view is shown and has no search of it. Stops it
    // where the view is hidden or the plan became another job. Takes the found layouts; returns true if there
    // is something new. With `quiet`, it is not shown, and leaves half of the cores free.
    bool update(bool looked_at, const Plan& plan, std::uint64_t revision, SearchViewState& state,
                bool quiet = false);

  private:
    struct Batch {
        std::vector<FoundLayout> found;
        SearchCounts counts;
        double seconds = 0;
        std::optional<SearchReport> report;
    };
    struct Work;
    void start(const Plan& plan, SearchViewState& state, int threads);
    void stop(SearchViewState& state);
    bool take(SearchFound& found);

    std::uint64_t seen_revision_ = 0;
    SearchRequest seen_request_;
    Job<Batch> job_;
};

// Does the same to its end, only on this thread: for a picture, which is always the same.
void search_to_the_end(const Plan& plan, SearchViewState& state);

}  // namespace pentamesh::ui
