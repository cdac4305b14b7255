// The toolkit of all views has areas that the mouse and the keyboard reach, buttons, segments, steppers,
// badges, text fields, layers for popups, tooltips. It is immediate mode: called each frame; UiState outlives
// the frame.
//
// Every area registers its rectangle under a name ("layout.tp.plus"). Tests, lessons and the keyboard focus
// use these names. Within a scope "b" the name is "b/layout.tp.plus".
#pragma once

#include "app/ui/kit/theme.h"
#include "render/canvas.h"
#include "render/input.h"
#include "render/surface.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

using Id = std::uint64_t;
inline constexpr Id kNoScope = 1469598103934665603ULL;  // FNV-1a, 64 bits
[[nodiscard]] constexpr Id hash_more(Id h, std::string_view text) {
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return h;
}
// `index` tells apart what a loop makes under one name.
[[nodiscard]] constexpr Id id_of(std::string_view name, std::uint64_t index = 0, Id scope = kNoScope) {
    const Id h = hash_more(scope, name) ^ (index * 0x9e3779b97f4a7c15ULL);
    return h == 0 ? 1 : h;
}

struct UiState {
    // Called for each area that is drawn, and whether it was used just now: a test keeps account.
    std::function<void(std::string_view name, Id id, bool used)> on_area;
    Motion motion;                // from the plan before the last edit to the open one
    bool reduced_motion = false;  // nothing glides: what moves, jumps
    bool for_picture = false;     // draws a picture: without controls that only a hand needs
    float least_type = 0;         // type of a view that would be smaller is left out: it is for paper
    bool picture_grows = false;   // its height follows what it shows: nothing is left out for room
    bool without_bars = false;    // scrolls, but draws no bars: the whole window as a picture
    float hidden = 0;             // logical pixels by which this frame is too low for what scrolls in it
    struct Area {
        Id id = 0;
        Rect rect;
        int layer = 0;
        bool focusable = false;
        bool types = false;    // a letter typed while it has the keyboard goes into it
        bool scrolls = false;  // a finger that moves up or down over it scrolls it
        Id part = 0;           // the part of the window that it lies in; 0: none
        bool operator==(const Area&) const = default;
    };
    // A name on the screen that a card tells of (Ui::names). A subject is the caller's number of it.
    struct Named {
        int subject = -1;
        Rect rect, clear;    // the card covers no part of `clear`
        std::string action;  // says what a click there does
        Id control = 0;      // has the keyboard for it
        int layer = 0;
        bool whole = false;  // all of the card opens where the mouse rests; else its first lines do
    };
    std::vector<Named> named;  // of this frame
    // A part of the window is drawn once and then shown from a texture (Ui::part).
    struct Part {
        Id id = 0;
        Rect rect;
        std::uint64_t key = 0;          // of what it shows
        std::uint64_t layer = 0;        // generation of the texture that has it; 0: none
        std::uint64_t drawn = 0;        // hash of what it drew, where parts are checked
        bool has_field = false;         // it contains a text field, which draws itself
        std::vector<MotionSpan> moves;  // of the figures in it that glide, each span once
        std::vector<Area> areas;
        std::vector<Named> named;
    };
    std::vector<Part> parts;
    int idle_frames = 0;                  // frames in a row in which nothing but the mouse position changed
    bool redraw_all = true;               // something changed since the last frame: every part is drawn anew
    bool check_parts = false;             // for tests: draws parts in each frame and compares
    int stale_parts = 0;                  // parts that a check found to differ
    std::vector<Area> areas, last_areas;  // of this frame, of the last one
    Id active = 0;                        // pressed and not yet released
    Vec2 press;                           // where the press began
    Id focus = 0;                         // has the keyboard
    Id focus_home = 0;                    // where Tab begins while nothing has the keyboard
    bool focus_visible = false;           // the keyboard was used last
    Vec2 mouse, last_mouse;               // of this frame, of the last one
    struct Swipe {
        Vec2 at{-1, -1};  // where the finger came down
        float by = 0;     // distance that it went down since the last frame
    };
    Swipe swipe{};
    bool had_keyboard = true;       // the window had the keyboard in the last frame
    Vec2 size;                      // of the window in the last frame
    float scale = 0;                // in the last frame
    Vec2 tooltips_rest_at{-1, -1};  // no tooltip while the mouse is here
    int top_layer = 0;              // of the last frame; layers below take no mouse
    int layers_open = 0;            // of this frame, so far
    Id hovered_last = 0;
    double hovered_since = 0;
    bool wants_frame = false;      // another frame is wanted at once
    bool tooltip_pending = false;  // a tooltip wants another frame: parts stay as they are
    Id edit = 0;                   // the text field that has the keyboard
    Id edit_next = 0;              // the field that gets the keyboard once its layer is on top
    Id edit_from = 0;              // the value in whose place the text field was opened
    Id dragged = 0;                // the stepper whose value is dragged,
    int drag_steps = 0;            // and by how many steps it went
    std::string term;              // the glossary entry that a click on a dotted term asks for
    Rect term_at;
    bool scroll_has_focus = false;  // keys_scroll of this frame, so far
    bool keys_scroll = false;       // the keyboard focus lies in a scroll area that has more than it shows
    bool page_keys = true;          // Page Up and Page Down scroll; false: they mean something else
    // Returns true if a finger's movement scrolls there.
    [[nodiscard]] bool scrolls_at(Vec2 at) const;
    // Returns the rectangle that a name had in the last frame; nullopt where it was not drawn.
    [[nodiscard]] std::optional<Rect> rect_of(Id id) const;
    [[nodiscard]] std::optional<Rect> rect_of(std::string_view name, std::uint64_t index = 0) const {
        return rect_of(id_of(name, index));
    }
};

struct Hit {
    bool hovered = false;  // the mouse is over it and nothing covers it
    bool held = false;     // pressed here and still down
    bool clicked = false;  // released over it, or Enter / Space while it has the keyboard
    bool double_clicked = false;
    bool right_clicked = false;
    bool focused = false;
    bool released = false;  // a press that began here ended, anywhere
    Vec2 drag{};            // from the press to now, while held
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
    // Draws the head of a section, in capitals with tracking, size 11, with an optional remark at the right
    // end.
    void section(Rect row, std::string_view head, std::string_view right = {});

    // ---- names ----
    // While a Scope lives, names get its prefix: two of the same view have different ids.
    class Scope {
      public:
        Scope(Ui& ui, std::string_view name);
        ~Scope() { ui_.scope_ = outer_; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        Ui& ui_;
        Id outer_;
    };
    [[nodiscard]] Scope scope(std::string_view name) { return {*this, name}; }
    // Returns the id of a name in the current scope.
    [[nodiscard]] Id id(std::string_view name, std::uint64_t index = 0) const {
        return id_of(name, index, scope_);
    }
    // Returns the rectangle that a name had in the last frame; nullopt where it was not drawn.
    [[nodiscard]] std::optional<Rect> rect_of(std::string_view name, std::uint64_t index = 0) const {
        return state_.rect_of(id(name, index));
    }

    // ---- motion after an edit ----
    // Returns what is drawn of a value now: it glides from the value before the edit.
    [[nodiscard]] double glide(std::string_view name, double value, std::uint64_t index = 0) const {
        return moved(id(name, index), value);
    }
    // Returns the value before the edit, for as long as its outline stays.
    [[nodiscard]] std::optional<double> before(std::string_view name, std::uint64_t index = 0) const {
        return state_.motion.before(id(name, index));
    }
    // Returns the end of a scale: it grows at once, and shrinks only after a moment.
    [[nodiscard]] double kept_scale(std::string_view name, double end, std::uint64_t index = 0) const;
    // Draws the outline of what was there before the edit, where the eye can tell it from what is there now.
    void outline(Rect before, Rect now);

    // ---- interaction ----
    Hit area(std::string_view name, Rect r, std::uint64_t index = 0, bool enabled = true,
             bool focusable = true);
    // A value becomes a text field once it is `clicked`: by the mouse, by Enter, or by a letter typed while
    // it has the keyboard. Letters typed before the field is there go into it (typed_value).
    Hit value_area(std::string_view name, Rect r, std::uint64_t index = 0, bool enabled = true);
    [[nodiscard]] bool hovers(Rect r) const;  // for cells, bars and other things that are no area
    // Returns the wheel over `r`, 0 where a widget inside has used it in this frame. After one call it counts
    // as used.
    [[nodiscard]] float take_wheel(Rect r);
    // A scrolling widget calls this in each frame in which it has more than it shows, and takes the movement
    // of a finger that went down over it, in whole steps; the rest stays for the next frame.
    void scrolls(std::string_view name, Rect window);
    [[nodiscard]] float take_swipe(Rect r, float step = 1);
    void focus_ring(Rect r, float radius);
    // Shows a text next to the mouse once it has rested; call while hovered. The first line is semibold. It
    // covers no part of `clear`, by default the row under the mouse, where the window has room next to that.
    void tooltip(std::string text, Rect clear = {});
    // Says that what stands in its `rect` names a subject, and so has a card.
    void names(UiState::Named named);
    // Adds a line under the tooltip's text, or shows it by itself.
    void also_in_tooltip(std::string_view line);
    // Draws one line of text, cut with an ellipsis where it is too long: the tooltip then has the whole text.
    void label(Rect r, std::string_view text, const TextStyle& style, Align align = Align::left);

    // ---- controls ----
    bool button(std::string_view name, Rect r, std::string_view label, std::uint64_t index = 0,
                bool enabled = true, bool subtle = false);
    // Returns the segment clicked, or `selected`. `ink` overrides the selected segment's ground. Where not
    // all labels have room, those next to the selected one are shown, and a mark at an end goes on to the
    // next.
    int segments(std::string_view name, Rect r, std::span<const std::string_view> labels, int selected,
                 std::optional<Color> ground = std::nullopt, std::uint32_t disabled_mask = 0);
    // Draws - value +; returns -1, 0 or +1. Wheel and arrow keys step too. A click on the value sets
    // `edit_requested`.
    struct Step {
        int by = 0;
        bool edit_requested = false;
        bool drags = false;  // the steps of one drag
    };
    // With `types`, the caller then opens a text field, and letters ask for it too.
    // With `scrubs`, dragging the value to the left or right steps as well.
    Step stepper(std::string_view name, Rect r, std::string_view value, bool can_down, bool can_up, bool on,
                 bool types = true, bool scrubs = false);
    // Draws a raised box with a label, a value and a caret; returns true when clicked: the caller opens a
    // menu.
    bool dropdown(std::string_view name, Rect r, std::string_view label, std::string_view right = {});
    void badge(Rect r, std::string_view label, Color color, Dash dash);
    void badge_off(Rect r, std::string_view label);
    // Edits one line of text; returns true when Enter was pressed. `focus_now` gives it the keyboard.
    // `complete` returns the text that Tab makes; where it adds nothing, Tab moves the focus as usual.
    bool text_field(std::string_view name, Rect r, std::string& text, std::string_view hint,
                    bool focus_now = false, bool* changed = nullptr,
                    const std::function<std::string(const std::string&)>* complete = nullptr);
    // Edits lines of text, wrapped; returns true if they changed. The caller keeps `known`
    // (render/text_edit.h).
    bool text_box(std::string_view name, Rect r, std::string& text, std::string& known, std::string_view hint,
                  bool focus_now = false);
    // Puts a text field in place of a value. Enter takes the typed text, and so does leaving the field;
    // Escape does not. `fresh` says that it is drawn for the first time. Afterwards a user of the keyboard is
    // back at the value_area.
    enum class Typing : std::uint8_t { goes_on, taken, dropped };
    Typing typed_value(std::string_view name, Rect r, std::string& text, bool fresh);
    // A label wider than `most` is cut with an ellipsis. Tab passes over it where it is not `focusable`.
    bool link(std::string_view name, Vec2 at, std::string_view label, std::uint64_t index = 0,
              float size = 12, float most = 1e6f, bool focusable = true);
    void swatch(Vec2 at, Color color, float size = 10);

    // ---- after a failure ----
    // Returns the number of clips that are open now; unwind() ends those pushed since, because an exception
    // left them. Layers and parts end by themselves.
    struct Mark {
        int clips = 0;
    };
    [[nodiscard]] Mark mark() const;
    void unwind(const Mark& mark);

    // ---- kept parts ----
    // A part of the window is drawn once and then shown from a texture, with its areas. It is drawn anew when
    // anything happens but a mouse that moves outside of it, or when `key` changes. `key` stands for the
    // state of other parts that the part shows (what is hovered there). The mouse may also move over
    // `moving`, where the part leaves room for things drawn after it. Draw nothing behind a part; parts do
    // not nest.
    // if (const auto part = ui.part("part.plan", 0, r, key, ground)) draw(...);
    class Part {
      public:
        ~Part() {
            if (drawn_) ui_.end_part();
        }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;
        explicit operator bool() const { return drawn_; }  // true: draw it

      private:
        friend class Ui;
        Part(Ui& ui, bool drawn) : ui_(ui), drawn_(drawn) {}
        Ui& ui_;
        bool drawn_;
    };
    [[nodiscard]] Part part(std::string_view name, std::uint64_t index, Rect r, std::uint64_t key,
                            Color ground, Rect moving = {}) {
        return {*this, begin_part(name, index, r, key, ground, moving)};
    }

    // ---- layers: menus, dialogs, the palette ----
    // Draws over everything before it while it lives. Everything below takes no mouse.
    class Layer {
      public:
        Layer(Ui& ui, std::string_view name, Rect r, bool modal);
        ~Layer();
        Layer(const Layer&) = delete;
        Layer& operator=(const Layer&) = delete;
        // Returns false if the user pressed Escape or (unless modal) clicked outside. The caller closes it.
        [[nodiscard]] bool stays() const { return stays_; }

      private:
        Ui& ui_;
        Canvas below_;
        Mark begun_;
        bool stays_ = true;
    };
    [[nodiscard]] Layer open_layer(std::string_view name, Rect r, bool modal = false) {
        return {*this, name, r, modal};
    }
    [[nodiscard]] int layer() const { return layer_; }

    // Gives a control the keyboard. With `types` it is a value_area: what is typed from now on goes into it.
    void give_keyboard(std::string_view name, std::uint64_t index = 0, bool types = false);
    // Moves the focus in the keyboard's Tab order, at the end of the frame; F6 and Ctrl+Tab go from part to
    // part of the window.
    void move_focus();

  private:
    std::pair<int, int> shown_segments(std::string_view name, Rect& r,
                                       std::span<const std::string_view> labels, int selected,
                                       std::uint32_t disabled_mask, int& result);

    UiState& state_;
    const FrameInfo& frame_;
    const Theme& theme_;
    Canvas canvas_;
    Id scope_ = kNoScope;
    int exceptions_ = 0;  // in flight when the frame began
    bool wheel_used_ = false, tab_used_ = false;
    Mark begun_;  // when the frame began
    int layer_ = 0;
    Id hovered_now_ = 0;
    std::string tooltip_;
    Rect tooltip_clear_;
    mutable Rect hovered_row_;          // the lowest thing that was asked for and lies under the mouse: a row
    UiState::Part* part_ = nullptr;     // the part that is being drawn
    std::size_t part_areas_ = 0;        // the place where its areas begin
    std::size_t part_named_ = 0;        // and where its names do
    Mark part_begun_;                   // clips inside it
    std::optional<Canvas> part_under_;  // the canvas below the part: the window's
    DrawMark part_mark_;
    bool part_checked_ = false;

    // Returns what motion shows of a value, and notes that the part that is being drawn moves.
    [[nodiscard]] double moved(Id id, double value, double wait_s = 0, double takes_s = 0) const;
    void move_to_part(bool back);
    bool begin_part(std::string_view name, std::uint64_t index, Rect r, std::uint64_t key, Color ground,
                    Rect moving);
    void end_part();
    // A field of text draws its box before, its frame and the keyboard after. takes_keyboard returns true if
    // the keyboard goes to it now.
    void begin_text(Id id, Rect r);
    [[nodiscard]] bool takes_keyboard(Id id, bool focus_now, bool enabled);
    void end_text(std::string_view name, Id id, Rect r, bool active, bool acted);
    void draw_tooltip();
    [[nodiscard]] Hit hit_of(Id id, Rect r, bool focusable);  // of an area that is enabled
};

}  // namespace pentamesh::ui
