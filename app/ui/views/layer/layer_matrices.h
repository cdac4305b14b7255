// Shares what the pictures of two matrices draw with: rows of two GPUs, stripes of more, panels below. What
// is held is filled in a shade of its GPU, what others hold is dashed, what is whole on all is hatched; only
// the wire is bold.
#pragma once

#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/layer/view.h"
#include "core/teach/tp_matrices.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Holds what the pictures are of.
struct MatrixScene {
    Ui& ui;
    Scene& scene;
    LayerViewState& state;
    const TpMatrices& m;
    bool own = true;      // the plan's own group; else a small example
    bool sliced = false;  // with sequence parallelism
};

// Says where the main picture's parts lie, for the words below it: what goes without a wire, and the wire.
struct MatrixPlaces {
    float first = 0, summands_end = 0, result = 0;
    float slices_end = -1;  // where the gather's wire begins; < 0: nothing is gathered
    float bottom = 0;
};

// A stripe is one GPU's part, or the gap that stands for those that are left out.
struct MatrixStripe {
    std::int64_t at = -1;      // of the group; -1: the gap
    float from = 0, size = 1;  // as a share of the whole
};
inline constexpr std::int64_t kMostStripes = 8, kFirstStripes = 3;
// Returns the stripes of n GPUs: all of them, or the first three, a gap and the last.
[[nodiscard]] std::vector<MatrixStripe> matrix_stripes(std::int64_t n);
[[nodiscard]] inline Rect column_of(Rect r, const MatrixStripe& s) {
    return {r.x + r.w * s.from, r.y, r.w * s.size, r.h};
}
[[nodiscard]] inline Rect row_of(Rect r, const MatrixStripe& s) {
    return {r.x, r.y + r.h * s.from, r.w, r.h * s.size};
}

// Draws the parts of which the pictures consist.
class MatrixPainter {
  public:
    explicit MatrixPainter(const MatrixScene& of);

  protected:
    static constexpr float kPad = 16, kWire = 4, kRing = 19;

    [[nodiscard]] const Cluster& cluster() const {
        return own_ ? scene_.plan.cluster : state_.shown->plan.cluster;
    }
    [[nodiscard]] const TpSum& sum() const { return m_.sum(sliced_); }
    [[nodiscard]] std::string wire_name(int tier) const;
    [[nodiscard]] std::string first_name() const { return m_.gated ? "A, A′" : "A"; }
    [[nodiscard]] std::string product_name() const { return m_.gated ? "X A, X A′" : "X A"; }
    [[nodiscard]] std::string between() const { return std::string(m_.between) + (m_.gated ? " ×" : ""); }
    [[nodiscard]] std::string rank_text(std::int64_t at) const;
    [[nodiscard]] std::string size_text(std::int64_t rows, std::int64_t columns) const;
    [[nodiscard]] std::string columns_words() const;
    [[nodiscard]] std::string rows_words() const;
    [[nodiscard]] std::string product_words() const;
    [[nodiscard]] std::string input_words() const;
    [[nodiscard]] std::string summand_words() const;
    [[nodiscard]] std::string wire_words() const;
    [[nodiscard]] std::string calls_words() const;
    [[nodiscard]] std::string wait_words() const;

    [[nodiscard]] Color shade(std::int64_t at) const {
        return shades_[static_cast<std::size_t>(at) % shades_.size()];
    }
    // Returns how strongly a GPU's parts are drawn: another one's way may be highlighted.
    [[nodiscard]] float seen(std::int64_t at) const { return picked_ < 0 || picked_ == at ? 1.0f : 0.22f; }
    [[nodiscard]] Color wire_of(std::int64_t at) const { return base_.alpha(seen(at)); }

    // A click on it highlights the way of its GPU. Only the first matrix' stripes take the keyboard.
    void answers(std::string_view name, Rect r, std::int64_t at, std::string_view words);
    void hint(Rect r, std::string_view words);
    void hint_wire(Rect r);

    void whole(Rect r, float alpha = 1);
    void elsewhere(Rect r);
    void held(Rect r, std::int64_t at) { c_.rect(r, shade(at).alpha(seen(at))); }
    // `strength` is seen() in the main picture.
    void summand(Rect r, std::int64_t at, float strength, float width);
    void covered(Rect r);  // before the answer
    void sign(Vec2 at, std::string_view text);
    // A wire goes straight across or straight up, and fills its corners.
    void wire(Vec2 from, Vec2 to, Color color, float width = kWire);
    void arrow(Vec2 from, Vec2 to, Color color, float width = kWire);
    void plus(Vec2 at, float radius);
    // The box of what lies between the two products; it is framed where `most` has room.
    void pill(Vec2 at, float most);
    // A name that has no room is left out.
    void name(Vec2 at, std::string_view text, const TextStyle& style, float most);
    void name_over(Rect r, std::string_view text, float most);
    void name_under(Rect r, std::string_view text, float most);
    // The name of a wire stands over it.
    void name_wire(Vec2 bottom, std::string_view text, float most);

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    Scene& scene_;
    LayerViewState& state_;
    const TpMatrices& m_;
    const bool own_, sliced_, asked_;
    const Color base_;
    const std::array<Color, kShadeCount> shades_;
    const Color ink_;           // of words in the axis' colour
    std::int64_t picked_ = -1;  // place in the group

  private:
    void pick(std::int64_t at);
};

// Returns "two", "eight", "16".
[[nodiscard]] std::string number_word(std::int64_t n);

// Draws the group as one chain of stripes, and its wire.
MatrixPlaces draw_matrix_chain(const MatrixScene& of, Rect room);
// Draws what stands below: the same on other GPUs, and with sequence parallelism, or without it.
void draw_matrix_panels(const MatrixScene& of, Rect room);

}  // namespace pentamesh::ui
