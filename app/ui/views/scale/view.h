// Shows how far the plan scales: the step and its parts over the number of GPUs, the batch, the sequence or a
// factor, what sets the limit, and the plan's other numbers below it.
#pragma once

#include "app/tables/table.h"
#include "app/ui/kit/job.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/theme.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/decide/scale.h"
#include "render/canvas.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh {
struct ScaleRequest;
}

namespace pentamesh::ui {

// Holds the plan over the chosen number, and over the others of it.
struct ScalePicture {
    Scale scale;
    std::vector<Scale> others;
    std::shared_ptr<const Plan> plan{};
    // Another plan over the same number, so that both stand on one scale: plan A, which stays as an outline,
    // or, not outlined, one that takes the plan's place later. Null: none.
    std::shared_ptr<const ScalePicture> beside{};
    bool outlined = false;
    // Returns the other plan over the same, or null.
    [[nodiscard]] const Scale* beside_over(const ScaleRequest& request) const;
    // Returns it where it is an outline.
    [[nodiscard]] const Scale* outline_over(const ScaleRequest& request) const {
        return outlined ? beside_over(request) : nullptr;
    }
};
[[nodiscard]] ScalePicture scale_picture_of(const Plan& plan, const ScaleRequest& request,
                                            const std::atomic<bool>* cancelled = nullptr);
// Says which plan stands next to the shown one.
struct ScaleBeside {
    std::shared_ptr<const Plan> plan;  // null: none
    bool outlined = false;
};
// Returns the picture of a plan with the other one in it. What `known` has of either is not worked out anew.
[[nodiscard]] std::shared_ptr<const ScalePicture>
scale_picture_of(const Plan& plan, const ScaleBeside& beside, const ScaleRequest& request,
                 const std::shared_ptr<const ScalePicture>& known = nullptr,
                 const std::atomic<bool>* cancelled = nullptr);

// Holds where it is drawn, and the sizes of type.
struct ScaleInk {
    Canvas& canvas;
    const Theme& theme;
    float small = 12, strong = 13;
    bool paper = false;    // it may be printed in grey: hatches distinguish parts too
    bool numbered = true;  // what turns has its number: a list says what the numbers are

    [[nodiscard]] TextStyle plain(Color color) const { return {Face::regular, small, color, 0}; }
    [[nodiscard]] TextStyle plain() const { return plain(theme.text); }
    [[nodiscard]] TextStyle second() const { return plain(theme.secondary); }
    [[nodiscard]] TextStyle bold() const { return {Face::semibold, small, theme.text, 0}; }
    [[nodiscard]] TextStyle bold(Color color) const { return {Face::semibold, small, color, 0}; }
    [[nodiscard]] TextStyle head() const { return {Face::semibold, strong, theme.text, 0}; }
    [[nodiscard]] float line() const { return small * 1.4f; }
    [[nodiscard]] float width(std::string_view words, const TextStyle& style) const {
        return canvas.text_width(words, style) + 2;
    }
};

// Lists the crossings that are named, at most five, by where they lie. Refusals have no number.
struct NamedTurn {
    const ScaleCrossing* of = nullptr;
    int number = 0;  // 0: a refusal
};
[[nodiscard]] std::vector<NamedTurn> named_turns(const Scale& scale);
// Says in figures what turns: where it begins, and at this plan.
[[nodiscard]] std::string figures_of(const Scale& scale, const ScaleCrossing& crossing);

// Draws seconds over the number, both logarithmic, on axes that hold the other plan too. Returns the
// place of its axes.
Plot draw_scale_plot(const ScaleInk& ink, Rect room, const Plan& plan, const ScalePicture& picture);
// Lists the crossings in words, as many as have room; returns the height used.
float draw_turns(const ScaleInk& ink, Rect room, const Scale& scale);
// Draws the memory of the fullest GPU over the number, against that of the GPU.
void draw_scale_memory(const ScaleInk& ink, Rect room, const Plan& plan, const ScalePicture& picture);

// Says where the bar of a value stands.
struct ScaleBar {
    Rect place;
    const Scale* of = nullptr;
    const ScalePoint* point = nullptr;
};
// Draws the step over each of the plan's other numbers as bars, for the same tokens.
std::vector<ScaleBar> draw_scale_bars(const ScaleInk& ink, Rect room, const Plan& plan,
                                      const ScalePicture& picture);
// Names the parts that the bars have, in one line.
void draw_scale_legend(const ScaleInk& ink, Rect row, const std::vector<Scale>& others);
[[nodiscard]] inline float scale_bars_height(const ScaleInk& ink) {
    return ink.line() * 14;
}

struct ScaleCurve {
    std::string name, note;
    Color color;
    float width = 2;
    Dash dash = Dash::solid;
    std::vector<double> s;  // seconds at each point; < 0: no curve
    std::string all_of{};   // the name of the curve of which this one shows all, what is hidden too
};
// Lists them as they are drawn, the step last.
[[nodiscard]] std::vector<ScaleCurve> curves_of(const Theme& theme, const Scale& scale);

// Finds places for names where no curve and no other name lies.
class NamePlaces {
  public:
    NamePlaces(Rect area, float gap) : area_(area), gap_(gap) {}
    void add_line(Vec2 a, Vec2 b) { lines_.push_back({a, b}); }
    void add_box(Rect box) { boxes_.push_back(box); }
    // Returns the best box of that size next to the curve, and keeps it free from then on; an empty one where
    // all would lie on something.
    [[nodiscard]] Rect beside(const std::vector<Vec2>& curve, Vec2 size);
    // Returns the same for a box around a point, so far from it at least: over it, else under it, else aside.
    [[nodiscard]] Rect around(Vec2 point, float clear, Vec2 size);
    // Keeps a box free from then on; returns false where it lies on something.
    [[nodiscard]] bool take(Rect box);

  private:
    struct Line {
        Vec2 a, b;
    };
    [[nodiscard]] bool is_free(Rect box) const;

    Rect area_;
    float gap_;
    std::vector<Line> lines_;
    std::vector<Rect> boxes_;
};

// Names what is shown, in saved files and lessons.
inline constexpr std::array<std::string_view, 8> kScalePages{"strong", "weak", "batch", "sequence",
                                                             "tp",     "cp",   "ep",    "pp"};

struct ScaleViewState {
    using Key = std::pair<std::uint64_t, int>;  // the plan's revision, the page
    int page = 0;
    Kept<std::shared_ptr<const ScalePicture>, Key> of;
    std::shared_ptr<const ScalePicture> last;  // is shown while the next one is worked out
    ScaleBeside beside;                        // the plan that stands next to the open one
    std::uint64_t beside_of = 0;               // the revision of the open one
    // Puts a plan next to that of a revision; null: none. What is shown is worked out anew where it is
    // another.
    void put_beside(const Plan* plan, bool outlined, std::uint64_t revision);
};
[[nodiscard]] ScaleRequest scale_request(int page);

// A click on a value is an edit.
[[nodiscard]] std::optional<PlanEdit> draw_scale(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                 ScaleViewState& state, std::uint64_t revision);
// `part` is 0 for the points, 1 for what turns.
[[nodiscard]] Table scale_data(const ScaleViewState& state, int part);

}  // namespace pentamesh::ui
