// One view in a frame of somebody's page (docs/web.md): a link with "&bare" begins it, messages of the page
// around it change its plan and view, and it answers with what was clicked. A message is data of a stranger:
// it is read as a file is, and nothing in it reaches a file, the network or another page.
#pragma once

#include "app/ui/shell/picture.h"
#include "app/ui/shell/shell.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

// A longer message is refused before it is read: it could hold no plan.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 20;

// The page around a view asks one of: {"pentamesh": "plan", "plan": ID, TEXT or OBJECT},
// {"pentamesh": "set", "set": ["layout.tp=4", ...] or {"layout.tp": 4, ...}},
// {"pentamesh": "view", "view": NAME, "page": NAME}, {"pentamesh": "step", "lesson": ID, "step": N}.
struct EmbedMessage {
    enum class Kind : std::uint8_t { plan, set, view, step };
    Kind kind = Kind::plan;
    std::string plan;               // the id of a plan that ships, or a plan's text
    std::vector<std::string> sets;  // "layout.tp=4", in their order
    std::string view, page;         // page: empty where none is named
    std::string lesson;             // the id of one that ships, or how it begins
    std::size_t step = 1;           // of it, from 1
};
// Throws Error (invalid) that says what is wrong with it. Names of views and pages are those of this program;
// plans, fields and lessons are looked up when it is done.
[[nodiscard]] EmbedMessage read_embed_message(std::string_view json);

// Returns true for the end of an address that asks for a bare view, also where the rest of it is damaged.
[[nodiscard]] bool asks_for_bare(std::string_view link);

// Says what such a link begins with. Never throws: `error` says what is wrong with the link, and the first
// plan is shown.
struct EmbedStart {
    std::optional<Plan> plan;  // nothing: the first plan
    Link link;
    std::string error;
};
[[nodiscard]] EmbedStart begin_embed(std::string_view link, const Presets& presets);

// The shell outlives it. Every text that it returns is a JSON object with the key "pentamesh".
class Embed {
  public:
    Embed(Shell& shell, const Presets& presets, const EmbedStart& start);
    // Does what a message asks, and returns {"pentamesh": "done"} or {"pentamesh": "error", "message": ...},
    // with the "id" of the message, if it has one. Never throws.
    [[nodiscard]] std::string take(std::string_view message);
    // Shows what another link says, as `take` does.
    [[nodiscard]] std::string open(std::string_view link);
    // Returns what the page has not heard yet: at first "ready", with an "error" of the link; then "plan" and
    // "selected" whenever these have changed. To be called after a frame.
    [[nodiscard]] std::vector<std::string> news();

  private:
    Shell& shell_;
    const Presets& presets_;
    std::string error_;  // of the link that it began with
    bool ready_ = false;
    std::uint64_t heard_revision_ = 0;
    std::optional<Selection> heard_selection_;

    void act(const EmbedMessage& message);
    void open_plan(Plan plan);
    void show(std::string_view view, std::string_view page);
    void show_step(const std::string& id, std::size_t step);
};

}  // namespace pentamesh::ui
