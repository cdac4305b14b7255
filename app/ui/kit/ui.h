// The small toolkit that every view uses: areas that know whether they are hovered, pressed or focused;
// buttons, segments, steppers, chips, badges, text fields; layers for popups; tooltips. Immediate: called
// each frame, keeps only what must outlive a frame (UiState).
//
// Every area registers its rectangle under a name ("layout.tp.plus"), which tests, lessons and keyboard focus
// use.
#pragma once

#include "app/ui/kit/theme.h"
#include "render/canvas.h"
#include "render/input.h"
#include "render/kept_layer.h"
#include "render/surface.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

using Id = std::uint64_t;
[[nodiscard]] constexpr Id id_of(std::string_view name, std::uint64_t index = 0) {
    std::uint64_t h = 1469598103934665603ULL ^ (index * 0x9e3779b97f4a7c15ULL);
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return h == 0 ? 1 : h;
}

struct UiState {
    // Told of each area that is drawn, and whether it was used just now: a test keeps account.
    std::function<void(std::string_view name, Id id, bool used)> on_area;
    bool still = false;  // a picture: controls that only serve a hand are left out
    struct Area {
        Id id = 0;
        Rect rect;
        int layer = 0;
        bool focusable = false;
        bool operator==(const Area&) const = default;
    };
    // A part of the window as it was drawn when nothing but the mouse moved, and that elsewhere or over what
    // moves in it (begin_part).
    struct Part {
        Id id = 0;
        Rect rect;
        std::uint64_t key = 0;    // of what it shows
        std::uint64_t layer = 0;  // generation that it is on; 0: not on the layer
        std::uint64_t drawn = 0;  // hash of what it drew, where parts are checked
        bool has_field = false;   // a text field draws by itself
        std::vector<Area> areas;
    };
    std::vector<Part> parts;
    int quiet = 0;             // frames in a row in which nothing happened but that the mouse moved
    bool disturbed = true;     // something else did since the last frame began: nothing is kept
    bool check_parts = false;  // draws what is kept nevertheless, to see whether it is still the same
    int stale_parts = 0;       // how often it was not
    std::vector<Area> areas, last_areas;  // of this frame, of the last one
    Id active = 0;                        // pressed and not yet released
    Vec2 press;                           // where
    Id focus = 0;                         // keyboard
    Id focus_home = 0;                    // where Tab begins while nothing has the keyboard
    bool focus_visible = false;           // the keyboard was used last
    Vec2 mouse, last_mouse;               // of this frame and of the one before
    bool had_keyboard = true;             // the window, in the last frame
    Vec2 size;                            // of the window then
    float scale = 0;
    Vec2 tooltips_rest_at{-1, -1};  // while the mouse stands there, what is under it is not explained
    int top_layer = 0;              // of the last frame: what is below takes no mouse
    int layers_open = 0;            // of this frame, so far
    Id hovered_last = 0;
    double hovered_since = 0;
    bool animating = false;  // something moves: another frame is wanted at once
    bool waiting = false;    // so it is, but what is drawn stays: a tooltip is about to appear
    std::string edit_text;   // of the text field that has the keyboard
    Id edit = 0;
    Id edit_next = 0;  // the field that gets it once its layer is the topmost
    std::string term;  // glossary entry that a click on a dotted term asks for, until it is opened
    Rect term_at;
    // Where a name stood in the last frame; nullopt: it was not drawn.
    [[nodiscard]] std::optional<Rect> rect_of(std::string_view name, std::uint64_t index = 0) const;
};

struct Hit {
    bool hovered = false;  // the mouse is over it and nothing covers it
    bool held = false;     // pressed here and still down
    bool clicked = false;  // released over it, or Enter / Space while it has the keyboard
    bool double_clicked = false;
    bool right_clicked = false;
    bool focused = false;
    bool released = false;  // a press that began here ended, anywhere
    Vec2 drag;              // from the press to now, while held
};

enum class Tone : std::uint8_t { text, secondary, faint };

class Ui {
  public:
    Ui(UiState& state, const FrameInfo& frame, const Theme& theme, Canvas canvas);
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    [[nodiscard]] Canvas& canvas() { return canvas_; }
    [[nodiscard]] const FrameInfo& frame() const { return frame_; }
    [[nodiscard]] const Theme& theme() const { return theme_; }
    [[nodiscard]] UiState& state() { return state_; }

    // ---- text styles of the look ----
    [[nodiscard]] TextStyle style(float size = 13, Tone tone = Tone::text, Face face = Face::regular) const;
    [[nodiscard]] TextStyle title() const { return style(13, Tone::text, Face::semibold); }
    [[nodiscard]] TextStyle small(Tone tone = Tone::secondary) const { return style(12, tone); }
    [[nodiscard]] TextStyle mono(Tone tone = Tone::text) const { return style(11.5f, tone, Face::mono); }
    // Capitals with tracking, 11: the head of a section, an optional remark at the right end.
    void section(Rect row, std::string_view head, std::string_view right = {});

    // ---- interaction ----
    // `index` tells apart what a loop makes under one name.
    Hit area(std::string_view name, Rect r, std::uint64_t index = 0, bool enabled = true,
             bool focusable = true);
    [[nodiscard]] bool hovers(Rect r) const;  // for what is no area: cells, bars
    void focus_ring(Rect r, float radius);
    // Shown beside the mouse once it has rested; call while hovered. The first line is semibold.
    void tooltip(std::string text);

    // ---- controls ----
    bool button(std::string_view name, Rect r, std::string_view label, std::uint64_t index = 0,
                bool enabled = true, bool quiet = false);
    // Returns the segment clicked, or `selected`. `ink` overrides the selected segment's ground.
    int segments(std::string_view name, Rect r, std::span<const std::string_view> labels, int selected,
                 std::optional<Color> ground = std::nullopt, std::uint32_t disabled_mask = 0);
    // - value +; returns -1, 0 or +1. Wheel and arrow keys step too. A click on the value: `edit_requested`.
    struct Step {
        int by = 0;
        bool edit_requested = false;
    };
    Step stepper(std::string_view name, Rect r, std::string_view value, bool can_down, bool can_up, bool on);
    // A raised box with a label, a value and a caret; true when clicked: the caller opens a menu.
    bool dropdown(std::string_view name, Rect r, std::string_view label, std::string_view right = {});
    void badge(Rect r, std::string_view label, Color color, Dash dash);
    void badge_off(Rect r, std::string_view label);
    // One line of text; returns true when Enter was pressed. `focus_now` gives it the keyboard.
    bool text_field(std::string_view name, Rect r, std::string& text, std::string_view hint,
                    bool focus_now = false, bool* changed = nullptr);
    bool link(std::string_view name, Vec2 at, std::string_view label, std::uint64_t index = 0,
              float size = 12);
    void swatch(Vec2 at, Color color, float size = 10);

    // ---- parts that stay ----
    // True: draw the part, then end_part. False: it has been shown as it was drawn before, with its areas.
    // That is so while nothing happens but that the mouse moves outside of it, and `key`, which stands for
    // what it shows of other parts (what is hovered there), stays the same. Over `moving`, where the part
    // leaves room for what is drawn after it, the mouse may move too. What is kept lies behind everything
    // else of the window: draw nothing into the part before it. Not nested.
    bool begin_part(std::string_view name, std::uint64_t index, Rect r, std::uint64_t key, Color ground,
                    Rect moving = {});
    void end_part();

    // ---- layers: menus, dialogs, the palette ----
    // Draws over everything before it; what is below takes no mouse while the layer is open. Returns false,
    // and closes, when the user pressed Escape or (unless `modal`) clicked outside of `r`.
    bool begin_layer(std::string_view name, Rect r, bool modal = false);
    void end_layer();
    [[nodiscard]] int layer() const { return layer_; }

    // The keyboard's Tab order, at the end of the frame.
    void move_focus();

  private:
    UiState& state_;
    const FrameInfo& frame_;
    const Theme& theme_;
    Canvas canvas_;
    std::vector<Canvas> under_;  // canvases of the layers below
    int layer_ = 0;
    Id hovered_now_ = 0;
    std::string tooltip_;
    UiState::Part* part_ = nullptr;     // that is being drawn
    std::size_t part_areas_ = 0;        // where its areas begin
    std::optional<Canvas> part_under_;  // where it is drawn on the layer: the window's
    DrawMark part_mark_;
    bool part_checked_ = false;

    void draw_tooltip();
    [[nodiscard]] Hit hit_of(Id id, Rect r, bool focusable);  // of an area that is enabled
};

}  // namespace pentamesh::ui
