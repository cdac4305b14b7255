// Frameworks' own settings in and out of the window, and which framework's flags the plan's fields show.
#include "app/ui/shell/sheets.h"
#include "app/ui/panels/plan_panel.h"
#include "core/base/files.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

// Settings::flags is one of these or a framework's name.
constexpr std::string_view kBySoftware = "software", kNoFlags = "none";

std::string flags_label(std::string_view flags) {
    if (flags == kBySoftware) return "of the plan's software";
    const auto target = interop::target_of(flags);
    return target ? "of " + std::string(target_words(*target)) : "none";
}

}  // namespace

std::optional<interop::Framework> flags_framework(const Settings& settings, Software software) {
    if (settings.flags == kBySoftware) return interop::framework_of(software);
    const auto at =
        std::find(interop::kFrameworkNames.begin(), interop::kFrameworkNames.end(), settings.flags);
    if (at == interop::kFrameworkNames.end()) return std::nullopt;
    return static_cast<interop::Framework>(at - interop::kFrameworkNames.begin());
}

std::optional<PlanEdit> Sheets::draw(Ui& ui, Scene& scene) {
    const std::string hosts = window_.host_names.list;
    draw_blame_panel(ui, scene, blame_, window_.host_names);
    if (hosts != window_.host_names.list) window_.state.redraw_all = true;
    draw_interop(ui, scene);
    draw_calibrate(ui);
    const std::uint64_t revision = window_.document.revision();
    std::optional<PlanEdit> edit = draw_plan_editor(ui, scene, editor_, revision);
    if (auto e = draw_stage_editor(ui, scene, stages_, revision)) edit = std::move(e);
    return edit;
}

void Sheets::begin_new_model() {
    window_.apply(new_model_edit(window_.document.plan()));
    open_fields(EditorSection::size);
}

std::optional<PresetKind> Sheets::take_wanted_preset() {
    return std::exchange(editor_.wants_preset, std::nullopt);
}

void Sheets::close() {
    editor_ = {}, stages_ = {}, blame_ = {}, import_ = {}, export_ = {}, calibrate_ = {};
}

void Sheets::draw_interop(Ui& ui, const Scene& scene) {
    if (auto imported = draw_import_sheet(ui, scene, import_))
        window_.later("Import", [this, in = std::move(*imported)]() mutable {
            if (in.edits)
                window_.edit_plan(std::move(in.plan), in.what);
            else
                window_.replace_plan({std::move(in.plan), {}, false}, in.what);
            if (!in.hosts.empty()) window_.host_names.list = in.hosts;
        });
    switch (draw_export_sheet(ui, scene, export_, window_.document.revision())) {
    case ExportAction::none: break;
    case ExportAction::copy:
        if (!window_.host.set_clipboard) break;
        window_.host.set_clipboard(export_.made.text);
        window_.say("Copied the settings of " + std::string(target_words(export_.target)));
        break;
    case ExportAction::save:
        window_.ask(DialogKind::settings,
                    window_.proposed_file(std::string(interop::name_of(export_.target))
                                          + std::string(ending_of(export_.target))),
                    nullptr);
        break;
    }
}

void Sheets::save_settings_text(const std::filesystem::path& path) {
    write_file(path.string(), export_.made.text);
    window_.say(window_.host.in_page ? "Downloaded " + path.filename().string() : "Saved " + path.string());
}

void Sheets::add_interop_commands(std::vector<Command>& commands) {
    for (std::size_t i = 0; i < interop::kTargetNames.size(); ++i) {
        const auto target = static_cast<interop::Target>(i);
        commands.push_back({.id = "export.to." + std::string(interop::kTargetNames[i]),
                            .title = "As " + std::string(target_words(target)) + "…",
                            .menu = "Export",
                            .separator = i == 0,
                            .run = [this, target] { export_.open_at(target); },
                            .enabled = [this] { return window_.evaluation.valid; }});
    }
}

// One line in the menu goes from choice to choice; the palette has each.
void Sheets::add_flags_commands(std::vector<Command>& commands) {
    std::vector<std::string> choices{std::string(kBySoftware), std::string(kNoFlags)};
    for (const std::string_view name : interop::kFrameworkNames) choices.emplace_back(name);
    commands.push_back(
        {.id = "flags.next",
         .title = "Next framework whose flags are shown on hover",
         .menu = "View",
         .run =
             [this, choices] {
                 const auto at = std::find(choices.begin(), choices.end(), window_.settings.flags);
                 const auto next = at == choices.end() ? 0 : (at - choices.begin() + 1) % std::ssize(choices);
                 window_.settings.flags = choices[static_cast<std::size_t>(next)];
                 window_.say("Flags on hover: " + flags_label(window_.settings.flags));
             },
         .label = [this] { return "Flags on hover: " + flags_label(window_.settings.flags); }});
    for (const std::string& choice : choices)
        commands.push_back({.id = "flags." + choice,
                            .title = "Show on hover the flags: " + flags_label(choice),
                            .run = [this, choice] { window_.settings.flags = choice; },
                            .checked = [this, choice] { return window_.settings.flags == choice; }});
}

}  // namespace pentamesh::ui
