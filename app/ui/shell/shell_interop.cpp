// Frameworks' own settings in and out of the window, and which framework's flags the plan's fields show.
#include "app/ui/shell/shell.h"
#include "core/base/files.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

// Settings::flags beside the names of the frameworks.
constexpr std::string_view kBySoftware = "software", kNoFlags = "none";

std::string flags_label(std::string_view flags) {
    if (flags == kBySoftware) return "of the plan's software";
    const auto target = interop::target_of(flags);
    return target ? "of " + std::string(target_words(*target)) : "none";
}

}  // namespace

std::optional<interop::Framework> Shell::flags_framework() const {
    if (settings_.flags == kBySoftware) return interop::framework_of(document_.plan().training.software);
    const auto at =
        std::find(interop::kFrameworkNames.begin(), interop::kFrameworkNames.end(), settings_.flags);
    if (at == interop::kFrameworkNames.end()) return std::nullopt;
    return static_cast<interop::Framework>(at - interop::kFrameworkNames.begin());
}

void Shell::draw_interop(Ui& ui, const Scene& scene) {
    if (auto imported = draw_import_sheet(ui, scene, import_))
        later("Import", [this, in = std::move(*imported)]() mutable {
            if (in.edits)
                edit_plan(std::move(in.plan), in.what);
            else
                replace_plan({std::move(in.plan), {}, false}, in.what);
            if (!in.hosts.empty()) host_names_.list = in.hosts;
        });
    switch (draw_export_sheet(ui, scene, export_, document_.revision())) {
    case ExportAction::none: break;
    case ExportAction::copy:
        if (!host_.set_clipboard) break;
        host_.set_clipboard(export_.made.text);
        say("Copied the settings of " + std::string(target_words(export_.target)));
        break;
    case ExportAction::save:
        ask(DialogKind::settings,
            proposed_file(std::string(interop::name_of(export_.target))
                          + std::string(ending_of(export_.target))),
            nullptr);
        break;
    }
}

void Shell::save_settings_text(const std::filesystem::path& path) {
    write_file(path.string(), export_.made.text);
    say(host_.in_page ? "Downloaded " + path.filename().string() : "Saved " + path.string());
}

void Shell::make_interop_commands() {
    for (std::size_t i = 0; i < interop::kTargetNames.size(); ++i) {
        const auto target = static_cast<interop::Target>(i);
        add({.id = "export.to." + std::string(interop::kTargetNames[i]),
             .title = "As " + std::string(target_words(target)) + "…",
             .menu = "Export",
             .separator = i == 0,
             .run = [this, target] { export_.open_at(target); },
             .enabled = [this] { return evaluation_.valid; }});
    }
}

// One line in the menu goes from choice to choice; the palette has each.
void Shell::make_flags_commands() {
    std::vector<std::string> choices{std::string(kBySoftware), std::string(kNoFlags)};
    for (const std::string_view name : interop::kFrameworkNames) choices.emplace_back(name);
    add({.id = "flags.next",
         .title = "Next framework whose flags are shown on hover",
         .menu = "View",
         .run =
             [this, choices] {
                 const auto at = std::find(choices.begin(), choices.end(), settings_.flags);
                 const auto next = at == choices.end() ? 0 : (at - choices.begin() + 1) % std::ssize(choices);
                 settings_.flags = choices[static_cast<std::size_t>(next)];
                 say("Flags on hover: " + flags_label(settings_.flags));
             },
         .label = [this] { return "Flags on hover: " + flags_label(settings_.flags); }});
    for (const std::string& choice : choices)
        add({.id = "flags." + choice,
             .title = "Show on hover the flags: " + flags_label(choice),
             .run = [this, choice] { settings_.flags = choice; },
             .checked = [this, choice] { return settings_.flags == choice; }});
}

}  // namespace pentamesh::ui
