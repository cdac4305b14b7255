// What lies over the panels: the bar's menus, the command palette, the sheet of keys, dialogs, the line that
// passes by.
#include "app/ui/kit/format.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/timeline/timeline_controls.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, 6> kMenus{"File", "Edit", "View", "Export", "Learn", "Help"};

Rect centred(const FrameInfo& info, float w, float h) {
    w = std::min(w, info.size.x - 32);
    h = std::min(h, info.size.y - 32);
    return {(info.size.x - w) / 2, (info.size.y - h) / 2, w, h};
}

void draw_mark(Canvas& c, Vec2 at, const Theme& theme) {
    // The pentagon: five axes around one mesh.
    std::array<Vec2, 5> corner{};
    for (std::size_t i = 0; i < corner.size(); ++i) {
        const float a = -1.5707963f + static_cast<float>(i) * 1.2566371f;
        corner[i] = Vec2{at.x + 8 * std::cos(a), at.y + 8 * std::sin(a)};
    }
    c.polyline(corner, theme.text, 1.5f, true);
    c.circle(at, 2.5f, theme.axis[0]);
}

}  // namespace

void Shell::draw_menu_bar(Ui& ui, Rect bar) {
    Canvas& c = ui.canvas();
    Rect row = bar.inset(16, 0);
    draw_mark(c, {row.x + 8, row.center().y}, ui.theme());
    row.cut_left(26);
    const TextStyle name{Face::semibold, 14, ui.theme().text, 0};
    const float name_w = c.text_width("Pentamesh", name);
    c.text_in(row.cut_left(name_w + 20), "Pentamesh", name);
    const bool open = !menu_.empty();
    for (const auto menu : kMenus) {
        const bool any =
            std::any_of(commands_.begin(), commands_.end(), [&](const Command& x) { return x.menu == menu; });
        if (!any) continue;
        const TextStyle s = ui.style(13, Tone::secondary);
        const float w = c.text_width(menu, s) + 16;
        const Rect item = row.cut_left(w);
        const Hit hit = ui.area("menu." + std::string(menu), item);
        TextStyle shown = s;
        if (hit.hovered || menu_ == menu) shown.color = ui.theme().text;
        c.text_in(item, menu, shown, Align::center);
        if (hit.focused) ui.focus_ring(item.inset(2, 8), 4);
        // With one menu open, moving over another opens that.
        const bool slides = open && menu_ != menu && item.contains(ui.frame().mouse);
        if (hit.clicked || slides) {
            menu_ = menu;
            menu_anchor_ = {item.x, item.y, item.w, item.h - 6};
            menu_state_ = {};
        }
    }
    const Rect search = row.cut_right(std::min(168.0f, std::max(0.0f, row.w)));
    if (search.w > 90) {
        const Rect box = search.inset(0, 8);
        const Hit hit = ui.area("palette.open", box);
        c.rect(box, ui.theme().raised, 6);
        c.frame(box, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
        Rect text = box.inset(10, 0);
        c.text_in(text.cut_right(40), "Ctrl P", ui.small(), Align::right);
        c.text_in(text, "Search commands", ui.small());
        if (hit.focused) ui.focus_ring(box, 6);
        if (hit.clicked) palette_ = true, palette_state_ = {};
    }
    // The plan's name in the middle of the window, where it has room.
    const Plan& p = document_.plan();
    std::string plan_name = p.name.empty() ? p.model.name : p.name;
    if (document_.modified()) plan_name += " *";
    const TextStyle strong = ui.title();
    const float w = std::min(c.text_width(plan_name, strong), row.w - 24);
    if (row.w - 24 > 60) {
        const float x = std::clamp(bar.w / 2 - w / 2, row.x + 12, row.right() - w - 12);
        const Rect box{x, bar.y, w + 1, bar.h};
        if (c.text_in(box, plan_name, strong) && ui.hovers(box)) ui.tooltip(plan_name);
    }
}

void Shell::draw_layers(Ui& ui, Scene& scene) {
    if (!menu_.empty()) {
        std::vector<MenuItem> items;
        std::vector<const Command*> shown;
        for (const Command& x : commands_) {
            if (x.menu != menu_) continue;
            items.push_back({.label = x.title,
                             .right = x.chord.key == Key::none ? "" : chord_text(x.chord),
                             .enabled = x.can_run(),
                             .checked = x.checked && x.checked(),
                             .separator = x.separator});
            shown.push_back(&x);
        }
        const MenuResult r = draw_menu(ui, "bar", menu_anchor_, items, menu_state_, false, 220);
        if (r.picked >= 0 || r.closed) menu_.clear();
        if (r.picked >= 0) {
            shown[static_cast<std::size_t>(r.picked)]->run();
            dirty_ = true;
        }
    }
    if (palette_) draw_palette(ui);
    draw_glossary(ui, scene, glossary_state_);
    if (keys_) draw_keys(ui);
    if (!dialog_.empty()) draw_dialog(ui);
    if (welcome_) draw_welcome(ui);
    draw_toast(ui);
    draw_presenter_cover(ui);
}

void Shell::draw_palette(Ui& ui) {
    std::vector<MenuItem> items;
    for (const Command& x : commands_)
        items.push_back({.label = (x.menu.empty() ? "" : x.menu + ": ") + x.title,
                         .right = x.chord.key == Key::none ? "" : chord_text(x.chord),
                         .enabled = x.can_run()});
    const float w = std::min(520.0f, ui.frame().size.x - 32);
    const Rect anchor{(ui.frame().size.x - w) / 2, 40, w, 8};
    const MenuResult r = draw_menu(ui, "palette", anchor, items, palette_state_, true, w);
    if (r.picked >= 0 || r.closed) palette_ = false;
    if (r.picked >= 0) {
        commands_[static_cast<std::size_t>(r.picked)].run();
        dirty_ = true;
    }
}

void Shell::draw_keys(Ui& ui) {
    struct Line {
        std::string keys, what;
        bool operator==(const Line&) const = default;
    };
    std::vector<Line> lines;
    for (const Command& x : commands_)
        if (x.chord.key != Key::none) lines.push_back({chord_text(x.chord), x.title});
    for (const auto& [k, w] : std::initializer_list<std::pair<const char*, const char*>>{
             {"Tab, Shift+Tab", "next, previous control"},
             {"Enter, Space", "press it"},
             {"arrows", "step a factor"},
             {"Alt+Left, Alt+Right", "move an axis in the order"},
             {"wheel", "zoom about the cursor; step a factor"},
             {"drag", "pan the mesh or the timeline"},
             {"Home, double-click", "fit everything again"},
             {"Shift+click on − +", "change this factor alone"},
             {"Esc", "clear the selection, leave the full view"}})
        lines.push_back({k, w});
    for (const ViewEntry& view : view_table())
        for (const KeyHelp& help : view.keys) {
            const Line line{std::string(help.keys), std::string(help.what)};
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
        }
    const auto per_column = (lines.size() + 1) / 2;
    const Rect box = centred(ui.frame(), 880, static_cast<float>(per_column) * 22 + 72);
    const bool open = ui.begin_layer("keys", box);
    Rect room = box.inset(24, 20);
    ui.canvas().text_in(room.cut_top(20), "Keys", {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(12);
    const float column = room.w / 2;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const float x = room.x + (i >= per_column ? column : 0),
                    y = room.y + static_cast<float>(i % per_column) * 22;
        ui.canvas().text_in({x, y, 138, 22}, lines[i].keys, ui.style(12, Tone::secondary));
        ui.canvas().text_in({x + 142, y, column - 156, 22}, lines[i].what, ui.style(12));
    }
    ui.end_layer();
    if (!open || pressed({Key::f1})) keys_ = false;
}

void Shell::draw_dialog(Ui& ui) {
    const bool question = dialog_ == "close", about = dialog_ == "about";
    const Rect box = centred(ui.frame(), 480, about ? 190 : 158 + (dialog_error_.empty() ? 0.0f : 40.0f));
    const bool open = ui.begin_layer("dialog", box, true);
    Canvas& c = ui.canvas();
    Rect room = box.inset(24, 20);
    Rect buttons = room.cut_bottom(30);
    const auto head = [&](std::string_view text) {
        c.text_in(room.cut_top(20), text, {Face::semibold, 14, ui.theme().text, 0});
        room.cut_top(8);
    };
    const auto button = [&](std::string_view name, std::string_view label) {
        const Rect r = buttons.cut_right(104);
        buttons.cut_right(8);
        return ui.button(name, r, label);
    };
    bool close = !open;
    if (about) {
        head("Pentamesh " PENTAMESH_VERSION);
        c.paragraph(
            room,
            "Lays a training run over a cluster: who talks to whom, over which wire, what each GPU holds, "
            "when it works, "
            "how long a step takes, and what is wrong with the layout.\nFonts: Inter and JetBrains Mono.",
            ui.style(13, Tone::secondary), 20);
        close = button("dialog.ok", "Close") || close;
    } else if (question) {
        head("Keep the changes to this plan?");
        c.paragraph(room, "The plan was changed and not saved.", ui.style(13, Tone::secondary), 20);
        if (button("dialog.save", "Save")) {
            if (!document_.path().empty())
                save(document_.path());
            else
                ask("save", "plan.plan.json", after_dialog_);
            ui.end_layer();
            return;
        }
        if (button("dialog.discard", "Discard")) {
            if (after_dialog_) after_dialog_();
            close = true;
        }
        if (button("dialog.cancel", "Cancel")) close = true;
    } else {
        const bool saving = dialog_ == "save";
        head(saving                 ? "Save the plan as"
             : dialog_ == "picture" ? "Save a picture as"
                                    : "Open a plan, a config.json or a picture of ours");
        const bool fresh = dialog_text_.empty() || dialog_fresh_;
        dialog_fresh_ = false;
        const bool entered =
            ui.text_field("dialog.path", room.cut_top(30), dialog_text_, "path of a file", fresh);
        if (!dialog_error_.empty()) {
            TextStyle s = ui.small();
            s.color = ui.theme().bad;
            room.cut_top(6);
            c.paragraph(room, dialog_error_, s, 18);
        }
        const bool go = button("dialog.ok", dialog_ == "open" ? "Open" : "Save") || entered;
        if (button("dialog.cancel", "Cancel")) close = true;
        if (go && !dialog_text_.empty()) {
            const std::filesystem::path path(dialog_text_);
            if (saving) {
                save(path);
            } else if (dialog_ == "picture") {
                dialog_.clear();
                if (host_.save_picture)
                    host_.save_picture(full_ ? std::string(view_of(*full_).name) : "dashboard", path);
            } else {
                dialog_.clear();
                open_file(path);
            }
            dirty_ = true;
        }
    }
    ui.end_layer();
    if (close) {
        dialog_.clear();
        after_dialog_ = nullptr;
        dirty_ = true;
    }
}

void Shell::draw_toast(Ui& ui) {
    if (toast_.empty()) return;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const TextStyle s = ui.style(13);
    const float w = std::min(front.text_width(toast_, s), ui.frame().size.x - 96);
    const float h = front.paragraph_height(w + 1, toast_, s, 20);
    const Rect box{(ui.frame().size.x - w - 32) / 2, ui.frame().size.y - 30 - h - 36, w + 32, h + 20};
    front.rect(box, ui.theme().raised, 8);
    front.frame(box, ui.theme().hairline, 1, 8);
    front.paragraph(box.inset(16, 10), toast_, s, 20);
}

// ---- commands -----------------------------------------------------------------------------------------

void Shell::make_commands() {
    auto& list = commands_;
    const auto add = [&](const char* id, const char* title, const char* menu, Chord chord,
                         std::function<void()> run) -> Command& {
        list.push_back({id, title, menu, chord, false, std::move(run), {}, {}});
        return list.back();
    };
    const auto ctrl = [](Key k, bool shift = false) { return Chord{.key = k, .ctrl = true, .shift = shift}; };
    const auto path_or = [this](const char* fallback) {
        return document_.path().empty() ? std::string(fallback) : document_.path().string();
    };

    add("file.new", "New: one GPU", "File", ctrl(Key::n), [this] { open_plan(presets_.plan("single-gpu")); });
    add("file.open", "Open…", "File", ctrl(Key::o),
        [this] { ask("open", "", nullptr), dialog_fresh_ = true; });
    add("file.save", "Save", "File", ctrl(Key::s), [this, path_or] {
        if (document_.path().empty())
            ask("save", path_or("plan.plan.json"), nullptr), dialog_fresh_ = true;
        else
            save(document_.path());
    });
    add("file.save_as", "Save as…", "File", ctrl(Key::s, true),
        [this, path_or] { ask("save", path_or("plan.plan.json"), nullptr), dialog_fresh_ = true; });
    for (const auto& e : presets_.list(PresetKind::plan)) {
        Command& c = add(("preset." + e.id).c_str(), ("Open preset: " + e.name).c_str(), "", {},
                         [this, id = e.id] { open_plan(presets_.plan(id)); });
        c.menu = "";
    }
    for (std::size_t i = 0; i < settings_.recent.size() && i < 6; ++i)
        add(("recent." + std::to_string(i)).c_str(),
            std::filesystem::path(settings_.recent[i]).filename().string().c_str(), "File", {},
            [this, path = settings_.recent[i]] { open_file(path); })
            .separator = i == 0;
    add("file.quit", "Quit", "File", ctrl(Key::q), [this] {
        if (may_close()) quit_ = true;
    }).separator = true;

    add("edit.undo", "Undo", "Edit", ctrl(Key::z), [this] { document_.undo(); }).enabled = [this] {
        return document_.can_undo();
    };
    add("edit.redo", "Redo", "Edit", ctrl(Key::z, true), [this] { document_.redo(); }).enabled = [this] {
        return document_.can_redo();
    };
    Command& copy = add("edit.copy", "Copy the plan", "Edit", ctrl(Key::c), [this] {
        host_.set_clipboard(plan_text());
        say("Copied the plan as JSON");
    });
    copy.separator = true;
    copy.enabled = [this] { return static_cast<bool>(host_.set_clipboard); };
    add("edit.paste", "Paste a plan or config", "Edit", ctrl(Key::v), [this] {
        open_text(host_.clipboard(), "the clipboard");
    }).enabled = [this] { return static_cast<bool>(host_.clipboard); };

    for (const ViewEntry& view : view_table())
        add(("view." + std::string(view.name)).c_str(),
            (std::string(view.title) + " in the whole window").c_str(), "View", view.key,
            [this, id = view.id] { toggle_full(id); })
            .checked = [this, id = view.id] { return full_ == id; };
    add("view.failure", "Lose a node: click one in the mesh", "View", {.key = Key::f, .ctrl = true}, [this] {
        views_.mesh.failure = !views_.mesh.failure;
        views_.mesh.lost_node = -1;
    }).checked = [this] { return views_.mesh.failure; };
    add("view.links", "Links to the selected GPU's peers", "View", ctrl(Key::l), [this] {
        views_.mesh.show_links = !views_.mesh.show_links;
    }).checked = [this] { return views_.mesh.show_links; };
    Command& experts = add("view.experts", "Ranks as the experts have them", "View", {},
                           [this] { selection_.show_mesh(!selection_.expert()); });
    experts.checked = [this] { return selection_.expert() && evaluation_.mesh.has_experts; };
    experts.enabled = [this] { return evaluation_.mesh.has_experts; };
    add("view.map_rows", "Map: FSDP and SP as rows of their own", "View", {}, [this] {
        const bool rows = views_.map.style == MapStyle::own_rows;
        views_.map.style = rows ? MapStyle::modifiers : MapStyle::own_rows;
        views_.map.page = MapPage::axes;
        full_ = ViewId::map;
    }).checked = [this] { return views_.map.style == MapStyle::own_rows; };
    const auto has_timeline = [this] { return views_.timeline.current(evaluation_, evaluated_) != nullptr; };
    add("timeline.play", "Play or pause the timeline", "View", {.key = Key::p}, [this] {
        views_.timeline.playing = !views_.timeline.playing;
    }).enabled = has_timeline;
    add("timeline.step", "Timeline: next start or end", "", {.key = Key::period}, [this] {
        step_cursor(*views_.timeline.current(evaluation_, evaluated_), views_.timeline, 1, selection_.stage);
    }).enabled = has_timeline;
    add("timeline.step_back", "Timeline: last start or end", "", {.key = Key::comma}, [this] {
        step_cursor(*views_.timeline.current(evaluation_, evaluated_), views_.timeline, -1, selection_.stage);
    }).enabled = has_timeline;
    add("timeline.critical_path", "Critical path of the timeline", "View", {}, [this] {
        views_.timeline.critical = !views_.timeline.critical;
    }).checked = [this] { return views_.timeline.critical; };
    add("timeline.two_steps", "Two steps back to back in the timeline", "View", {}, [this] {
        views_.timeline.choice.steps = 3 - views_.timeline.choice.steps;
    }).checked = [this] { return views_.timeline.choice.steps > 1; };
    add("timeline.slow_stage", "Inject a slow stage into the timeline", "View", {}, [this] {
        if (views_.timeline.choice.slow.any())
            views_.timeline.choice.slow = {};
        else
            inject(views_.timeline, std::max(0, selection_.stage), 1);
    }).checked = [this] { return views_.timeline.choice.slow.any(); };
    for (int i = 0; i < kThemeCount; ++i) {
        const auto id = static_cast<ThemeId>(i);
        Command& c =
            add(("theme." + std::string(name_of(id))).c_str(), ("Theme: " + std::string(name_of(id))).c_str(),
                "View", {}, [this, id] { settings_.theme = id; });
        c.checked = [this, id] { return settings_.theme == id; };
        c.separator = i == 0;
    }
    add("view.larger", "Larger", "View", ctrl(Key::equal), [this] {
        settings_.scale = std::min(4.0f, settings_.scale * 1.125f);
    }).separator = true;
    add("view.smaller", "Smaller", "View", ctrl(Key::minus),
        [this] { settings_.scale = std::max(0.5f, settings_.scale / 1.125f); });
    add("view.normal", "Normal size", "View", ctrl(Key::n0), [this] { settings_.scale = 1; });
    add("view.fullscreen", "Full screen", "View", {.key = Key::f11}, [this] {
        fullscreen_ = !fullscreen_;
        host_.set_fullscreen(fullscreen_);
    }).enabled = [this] { return static_cast<bool>(host_.set_fullscreen); };

    add("export.picture", "Picture of this view…", "Export", ctrl(Key::e), [this] {
        ask("picture", full_ ? std::string(view_of(*full_).name) + ".png" : "dashboard.png", nullptr),
            dialog_fresh_ = true;
    }).enabled = [this] { return static_cast<bool>(host_.save_picture); };
    struct Format {
        TableFormat format;
        const char *id, *title;
    };
    static constexpr std::array<Format, 4> kFormats{
        {{TableFormat::csv, "export.csv", "Copy data as CSV"},
         {TableFormat::markdown, "export.markdown", "Copy data as Markdown"},
         {TableFormat::json, "export.json", "Copy data as JSON"},
         {TableFormat::text, "export.text", "Copy data as text"}}};
    for (const Format& f : kFormats)
        add(f.id, f.title, "Export", {}, [this, format = f.format] { copy_table(format); }).enabled = [this] {
            return static_cast<bool>(host_.set_clipboard);
        };

    make_lesson_commands();

    add("help.keys", "Keys", "Help", {.key = Key::f1}, [this] { keys_ = !keys_; });
    add("help.glossary", "Glossary", "Help", ctrl(Key::g), [this] {
        glossary_state_.open = glossary_state_.fresh = true;
        glossary_state_.search.clear();
    });
    add("help.menus", "To the menus", "Help", {.key = Key::f10}, [this] {
        state_.focus = id_of("menu.File");
        state_.focus_visible = true;
    });
    add("help.palette", "Search commands", "Help", ctrl(Key::p), [this] {
        palette_ = true;
        palette_state_ = {};
    });
    add("help.welcome", "Welcome", "Help", {}, [this] { welcome_ = true; });
    add("help.about", "About Pentamesh", "Help", {}, [this] { ask("about", "", nullptr); });
}

}  // namespace pentamesh::ui
