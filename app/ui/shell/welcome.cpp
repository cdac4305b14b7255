// The first run: where to begin.
#include "app/ui/shell/shell.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kRecentFiles = 3;
constexpr Vec2 kBox{740, 446};
constexpr float kRecentRow = 26, kLoaves = 150, kDoors = 130;

// Names what can be chosen, except a file that was open before.
enum class Way : std::uint8_t { none, course, know_ddp, preset, open, tour, tasks, later, model };

// Four ways in, side by side.
Way draw_doors(Ui& ui, Rect doors) {
    struct Door {
        std::string_view name, title, text;
        Way way;
    };
    static constexpr std::array<Door, 4> kWays{
        {{"welcome.course", "The map in 40 minutes", "Pictures that ask first, then layouts of your own.",
          Way::course},
         {"welcome.ddp", "I know DDP", "From one sum of gradients a step to four more axes.", Way::know_ddp},
         {"welcome.preset", "Open a run", "From one GPU to Llama 3 405B on 16,384 and DeepSeek-V3.",
          Way::preset},
         {"welcome.open", "Open mine", "A plan, a config.json, a launch script. Or drop it on the window.",
          Way::open}}};
    Canvas& c = ui.canvas();
    const float w = (doors.w - 36) / 4;
    Way picked = Way::none;
    for (const Door& door : kWays) {
        const Rect r = doors.cut_left(w);
        doors.cut_left(12);
        const Hit hit = ui.area(door.name, r);
        c.rect(r, ui.theme().raised, 6);
        const bool first = door.way == Way::course;
        c.frame(r, hit.hovered || first ? ui.theme().text : ui.theme().hairline, first ? 1.5f : 1, 6);
        Rect text = r.inset(12, 10);
        put_paragraph(ui, text, door.title, ui.title(), 18, 4);
        put_paragraph(ui, text, door.text, ui.small(), 17);
        if (hit.focused) ui.focus_ring(r, 6);
        if (hit.clicked) picked = door.way;
    }
    return picked;
}

// Draws the step of a small model cut once, then once more: three pictures at one scale.
void draw_loaves(Ui& ui, Rect room, const OpeningLoaves& loaves) {
    Canvas& c = ui.canvas();
    const Rect captions = room.cut_bottom(22);
    const LoafSlice& whole = loaves.layers.whole;
    if (whole.blocks.empty() || room.h < 60) return;
    const LoafScale scale = scale_for({&whole, 1}, 104, room.h);
    float x = room.x;
    const auto group = [&](std::span<const LoafSlice> slices, Color bread, std::string_view caption) {
        const auto ramp = shades(ui.theme(), bread);
        const float from = x;
        for (std::size_t i = 0; i < slices.size(); ++i) {
            LoafLook look;
            look.layers = loaves.layers.layers;
            look.bread = slices.size() == 1 ? bread : ramp[i % 2];
            look.samples = slices.size() == 1 ? loaves.layers.samples : 1;
            const float left = static_cast<float>(left_of(slices[i])) * scale.w;
            draw_slice(c, ui.theme(), {{x - left, room.bottom()}, scale}, slices[i], look);
            x += width_of(scale, slices[i]) + 8;
        }
        c.text_in({from - 20, captions.y, x - from + 32, captions.h}, caption, ui.small(), Align::center);
    };
    const auto arrow = [&] {
        const float y = room.bottom() - 30, from = x + 6;
        c.line({from, y}, {from + 22, y}, ui.theme().secondary, 1.5f);
        const std::array<Vec2, 3> head{Vec2{from + 22, y - 4}, Vec2{from + 28, y}, Vec2{from + 22, y + 4}};
        c.polygon(head, ui.theme().secondary);
        x += 48;
    };
    const auto axis = [&](Axis a) { return ui.theme().axis[static_cast<std::size_t>(a)]; };
    group({&whole, 1}, ui.theme().memory[3], "one GPU: too much");
    arrow();
    group(loaves.samples.slices, axis(Axis::dp_replicate), "cut the samples");
    arrow();
    group(loaves.layers.slices, axis(Axis::tp), "and each layer");
}

OpeningLoaves opening_loaves(const Presets& presets) {
    const auto loaf = [&](std::vector<std::string> layout) {
        std::vector<std::string> sets{"model=llama-3.2-1b", "cluster.fast_domain=2", "layout.zero=0",
                                      "layout.dp_shard=1", "training.global_batch=4"};
        sets.insert(sets.end(), layout.begin(), layout.end());
        const Plan plan = with_sets(presets.plan(kFirstPlan), sets, presets);
        const Evaluation e = evaluate(plan, {.timeline = false});
        return e.valid ? loaf_of(plan, e, GroupKind::tp, 0, 4) : Loaf{};
    };
    OpeningLoaves out;
    out.samples = loaf({"cluster.gpus=2", "layout.tp=1", "layout.dp_replicate=2", "training.micro_batch=2"});
    out.layers = loaf({"cluster.gpus=4", "layout.tp=2", "layout.dp_replicate=2", "training.micro_batch=2"});
    return out;
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
    const float w = std::min(kBox.x, size.x - 32),
                h = std::min(kBox.y + (recent.empty() ? 0 : kRecentRow), size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("welcome", box, true);
    const bool open = layer.stays();
    Canvas& c = ui.canvas();
    Rect room = box.inset(28, 22);
    c.text_in(room.cut_top(28), "One training step, many GPUs. Where do you cut?",
              ui.style(20, Tone::text, Face::semibold));
    put_paragraph(ui, room,
                  "Change a factor and see who talks to whom, what each GPU holds, how long a step takes.",
                  ui.style(13, Tone::secondary), 20, 10);
    Rect row = room.cut_bottom(24);
    room.cut_bottom(8);
    std::optional<std::size_t> reopened;
    if (!recent.empty()) reopened = draw_recent(ui, room.cut_bottom(kRecentRow), recent);
    Way picked = draw_doors(ui, room.cut_bottom(std::min(kDoors, room.h)));
    room.cut_bottom(12);
    opening_.update(0, [&] { return opening_loaves(window_.presets); });
    draw_loaves(ui, room.cut_bottom(std::min(kLoaves, room.h)), *opening_);
    const auto link = [&](std::string_view name, std::string_view words, Way way) {
        if (ui.link(name, {row.x, row.y + 3}, words)) picked = way;
        row.cut_left(c.text_width(words, ui.style(12)) + 24);
    };
    link("welcome.skip", "Look around", Way::later);
    link("welcome.tour", "Two-minute tour", Way::tour);
    link("welcome.tasks", "Tasks", Way::tasks);
    link("welcome.model", "Type in my model", Way::model);
    c.text_in(row, "behind: " + title_of(window_.document.plan()), ui.small(), Align::right);
    if (!open) picked = Way::later;
    if (reopened)
        window_.later("", [this, file = std::filesystem::path(window_.settings.recent[*reopened])] {
            files_.open_recent(file);
        });
    if (picked == Way::none && !reopened) return;
    welcome_ = false;
    window_.settings.welcomed = true;
    window_.dirty = true;
    const auto begin = [&](const std::vector<LessonEntry>& list, std::string_view id) {
        for (const LessonEntry& e : list)
            if (e.id.starts_with(id))
                return window_.later(e.title, [this, file = e.file] { desk_.open(file); });
    };
    switch (picked) {
    case Way::course: begin(desk_.courses(), "40-"); break;
    case Way::know_ddp: begin(desk_.courses(), "know-ddp"); break;
    case Way::preset: window_.ask(DialogKind::gallery, "", nullptr); break;
    case Way::open:
        window_.ask(DialogKind::open, "", [this] {
            if (!files_.names_software()) window_.ask(DialogKind::run_by);
        });
        break;
    case Way::tour: begin(desk_.lessons(), "tour"); break;
    case Way::tasks: begin(desk_.lessons(), "20-"); break;
    case Way::model: window_.later("New model", [this] { sheets_.begin_new_model(); }); break;
    case Way::later:
        looking_ = {window_.document.file(), window_.edits, window_.full, window_.views.in_pane};
        break;
    case Way::none: break;
    }
}

}  // namespace pentamesh::ui
