// A plan, a view and a place in a lesson as the end of an address: #plan=…&view=…&lesson=03&step=2. With
// "&bare" a page shows that view and nothing else (embed.h). What a link holds is data of a stranger: it is
// read as any file is.
#pragma once

#include "app/ui/shell/shell.h"
#include "app/ui/views/table.h"
#include "core/sharding/move.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// Longer ones are cut by some mail programs and chats.
inline constexpr std::size_t kLongestLink = 2000;

struct Link {
    std::string plan;                // its text; empty: none
    std::optional<ViewId> view;      // in the whole window
    std::string page;                // the name of a page of it, as lessons name it; empty: none is said
    std::string lesson;              // the id of one that ships, or how it begins; empty: none
    std::size_t step = 0;            // of the lesson, from 1; 0: not said
    bool bare = false;               // the view without the window; only where a page begins with this link
    std::optional<ThemeId> theme{};  // of a bare view; a window keeps its own
    float text = 1;                  // how large its type is, as a multiple
};
// Return the names of a view and of a page, as links and messages say them. A page stands with "-" for a
// blank. Throw an error (invalid), with the closest name, for a name of nothing.
[[nodiscard]] ViewId linked_view(std::string_view name);
[[nodiscard]] std::string linked_page(std::string_view view, std::string_view name);

// Returns what follows the base address, with its "#".
[[nodiscard]] std::string write_link(const Link& link);
// Returns true if a text is an address with such an end, or only the end.
[[nodiscard]] bool is_link(std::string_view text);
// Throws an error (invalid) that says what is wrong with the text.
[[nodiscard]] Link read_link(std::string_view text);

// Pictures: a view laid out for a size, with a title, the assumptions line and what the marks mean, or the
// whole window.

// Returns the names of the views that a picture can show.
[[nodiscard]] std::span<const std::string_view> picture_views();

struct PictureRequest {
    std::string view{kDashboardName};
    std::string page{};    // of that view, by its name (pages.h); empty: its first
    Vec2 size{1600, 900};  // height 0: at least 9/16 of the width, and as much more as the content takes
    float scale = 1;
    float text = 1;         // how large type is, as a multiple; a PNG keeps its pixels
    bool outlines = false;  // SVG: text as shapes
    bool title = true;      // the plan's, over a view; the whole window has its own
    bool caption = true;    // one line of GPUs, factors and batch; the whole plan is inside the file
    ThemeId theme = ThemeId::dark;
    std::int64_t rank = -1;                     // shown as selected
    std::vector<TextRun>* text_runs = nullptr;  // where the text that can be read in it goes
    std::optional<GroupKind> group{};           // the highlighted axis; none: all
    std::vector<Plan> compared{};          // of a picture of Compare: A, then C, D ...; the plan itself is B
    MoveOptions moves{};                   // of Compare's page move
    bool outlined = false;                 // the first of these stays as an outline, on the scales of both
    std::optional<Plan> reaches{};         // scales reach as far as this plan's, which is not drawn
    HiddenAnswer hidden_answer{};          // of a question next to the picture; a screen has its own
    std::optional<LessonTask> task{};      // next to the picture: advice keeps to what it allows
    bool in_lesson = false;                // it says bread and crust, as the window does in a lesson
    bool uncolored = false;                // the mesh without the colours of groups
    int mesh_figure = 0;                   // that the mesh shows: a place in mesh_figures()
    Page* onto = nullptr;                  // drawn on what it has open, and no bytes are given back
    bool* fits = nullptr;                  // gets whether it has room for all; without room nothing is drawn
    std::shared_ptr<const RealRun> run{};  // of the plan; a screen has its own
    std::optional<Plan> after{};   // of the whole window as PNG: it moves while this takes the plan's place
    std::string after_words{};     // what the edit is called
    std::optional<Screen> screen;  // drawn as it stands there: its selection, theme and the views' own states
};
// Returns the bytes of a PNG, SVG or PDF file, by the ending, with the plan inside. Throws an error for a
// request without a picture (usage) or without EGL (io). A plan that cannot be drawn shows its problems.
[[nodiscard]] std::string make_picture(const Presets& presets, const Plan& plan,
                                       const PictureRequest& request, std::string_view ending,
                                       const FontFiles& fonts);

// Returns the text of the plan that stands inside such a picture, with the view, the page and the selection
// of the request: it opens as the picture shows it.
[[nodiscard]] std::string plan_in_picture(const Presets& presets, const Plan& plan,
                                          const PictureRequest& request);

}  // namespace pentamesh::ui
