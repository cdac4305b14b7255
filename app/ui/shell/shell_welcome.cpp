// The first run: where to begin.
#include "app/ui/shell/shell.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kRecentFiles = 3;

// Names what can be chosen, except a file that was open before.
enum class Way : std::uint8_t { none, preset, workshop, open, tour, later, model };

// Three ways in, side by side.
Way draw_doors(Ui& ui, Rect doors, std::ptrdiff_t lessons) {
    struct Door {
        const char *name, *title;
        std::string text;
        Way way;
    };
    const std::array<Door, 3> ways{
        {{"welcome.preset", "Explore a preset",
          "Llama 3 405B on 16,384 GPUs, DeepSeek-V3, or one GPU: change what you like.", Way::preset},
         {"welcome.lesson", "Start the workshop",
          (lessons > 0 ? std::to_string(lessons) + " lessons" : "Lessons")
              + " that ask before they show. Courses and tasks: the menu Learn.",
          Way::workshop},
         {"welcome.open", "Open my own",
          "A plan file or a Hugging Face config.json. Dropping one on the window does the same.",
          Way::open}}};
    Canvas& c = ui.canvas();
    const float w = (doors.w - 24) / 3;
    Way picked = Way::none;
    for (const Door& door : ways) {
        const Rect r = doors.cut_left(w);
        doors.cut_left(12);
        const Hit hit = ui.area(door.name, r);
        c.rect(r, ui.theme().raised, 6);
        c.frame(r, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
        Rect text = r.inset(12, 10);
        c.text_in(text.cut_top(22), door.title, ui.title());
        {
            const Canvas::Clip clip = c.clip(r);
            c.paragraph(text, door.text, ui.small(), 18);
        }
        if (hit.focused) ui.focus_ring(r, 6);
        if (hit.clicked) picked = door.way;
    }
    return picked;
}

// Draws the files that were open last. Returns the index of the one that was clicked.
std::optional<std::size_t> draw_recent(Ui& ui, Rect line, const std::vector<std::string>& labels) {
    Canvas& c = ui.canvas();
    std::optional<std::size_t> picked;
    line.cut_left(c.text(line.min(), "Recent:", ui.small()) + 10);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const float w = c.text_width(labels[i], ui.style(12)) + 18;
        if (w > line.w) break;  // the menu File has them all
        if (ui.link("welcome.recent", line.min(), labels[i], i)) picked = i;
        line.cut_left(w);
    }
    return picked;
}

}  // namespace

void Shell::draw_welcome(Ui& ui) {
    const Vec2 size = ui.frame().size;
    std::vector<std::string> recent;
    for (std::size_t i = 0; i < std::min(kRecentFiles, window_.settings.recent.size()); ++i)
        recent.push_back(files_.recent_label(i));
    const float w = std::min(680.0f, size.x - 32),
                h = std::min(recent.empty() ? 312.0f : 336.0f, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("welcome", box, true);
    const bool open = layer.stays();
    Canvas& c = ui.canvas();
    Rect room = box.inset(24, 20);
    c.text_in(room.cut_top(26), "Welcome to Pentamesh", {Face::semibold, 16, ui.theme().text, 0});
    room.cut_top(4);
    room.cut_top(c.paragraph(
        room,
        "See how a training run lies over a cluster: who talks to whom, what each GPU holds, how long a "
        "step takes.",
        ui.style(13, Tone::secondary), 20));
    room.cut_top(14);
    const auto lessons = std::count_if(desk_.lessons().begin(), desk_.lessons().end(),
                                       [](const LessonEntry& e) { return !e.only_tasks && e.id != "tour"; });
    Way picked = draw_doors(ui, room.cut_top(std::min(120.0f, room.h - 44)), lessons);
    room.cut_top(14);
    std::optional<std::size_t> reopened;
    if (!recent.empty()) reopened = draw_recent(ui, room.cut_top(34), recent);
    Rect row = room.cut_top(30);
    if (ui.button("welcome.tour", row.cut_left(150), "Two-minute tour")) picked = Way::tour;
    row.cut_left(8);
    if (ui.button("welcome.model", row.cut_left(150), "Type in my model")) picked = Way::model;
    if (ui.button("welcome.skip", row.cut_right(90), "Not now", 0, true, true) || !open) picked = Way::later;
    if (reopened)
        window_.later("", [this, file = std::filesystem::path(window_.settings.recent[*reopened])] {
            files_.open_recent(file);
        });
    if (picked == Way::none && !reopened) return;
    welcome_ = false;
    window_.settings.welcomed = true;
    window_.dirty = true;
    const auto lesson = [&](std::string_view id) {
        for (const LessonEntry& e : desk_.lessons())
            if (e.id.starts_with(id))
                return window_.later(e.title, [this, file = e.file] { desk_.open(file); });
    };
    switch (picked) {
    case Way::preset: menus_.search("Open preset"); break;
    case Way::workshop: lesson("01-"); break;
    case Way::open: window_.ask(DialogKind::open, "", nullptr); break;
    case Way::tour: lesson("tour"); break;
    case Way::model: window_.later("New model", [this] { sheets_.begin_new_model(); }); break;
    case Way::none:
    case Way::later: break;
    }
}

}  // namespace pentamesh::ui
