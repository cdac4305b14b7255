// Links: what is open as an address to hand on, and such an address opened.
#include "app/ui/shell/files.h"
#include "app/ui/shell/link.h"
#include "core/base/error.h"
#include "core/io/own_presets.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::ui {

namespace {

// Without a base of one's own, and outside of a page: the file that scripts/web builds.
constexpr const char* kPage = "pentamesh.html";

bool is_address(std::string_view text) {
    return text.size() < kLongestLink && text.find_first_of(" \n\t#<>\"") == std::string_view::npos
           && (text.starts_with("https://") || text.starts_with("http://") || text.starts_with("file://"));
}

}  // namespace

void Files::open_link(const std::string& text) {
    window_.guarded("", [&] {
        const Link link = read_link(text);
        const auto at =
            std::find_if(desk_.lessons().begin(), desk_.lessons().end(), [&](const LessonEntry& e) {
                return e.id == link.lesson || e.id.starts_with(link.lesson + "-");
            });
        if (!link.lesson.empty() && at == desk_.lessons().end())
            throw Error(ErrorKind::invalid, "the link", "", "there is no lesson " + link.lesson);
        if (!link.plan.empty()) take(read_incoming(link.plan, "the link", window_.presets), {}, "the link");
        if (!link.lesson.empty()) {
            desk_.open(at->file);
            const std::size_t steps = desk_.lesson().lesson.steps.size();
            if (link.step > 0 && steps > 0) go_to_step(desk_.lesson(), std::min(link.step, steps) - 1);
        }
        if (link.view) window_.show_full(*link.view);
    });
}

void Files::add_link_commands(std::vector<Command>& commands) {
    const auto copy = [this] {
        Link link;
        const bool ships = desk_.lesson().open
                           && std::any_of(desk_.lessons().begin(), desk_.lessons().end(),
                                          [&](const auto& e) { return e.file == desk_.lesson().file; });
        if (ships) {
            link.lesson = desk_.lesson().file.stem().string();
            link.step = desk_.lesson().step + 1;
        } else {
            link.plan = nlohmann::ordered_json::parse(plan_text()).dump();
            link.view = window_.full;
        }
        const std::string& own = window_.settings.link_base;
        const std::string& here = window_.host.page_address;
        const std::string base = !own.empty() ? own : !here.empty() ? here : kPage;
        const std::string text = base + write_link(link);
        window_.host.set_clipboard(text);
        if (text.size() > kLongestLink)
            window_.say("Copied a link of " + std::to_string(text.size())
                        + " characters, longer than some programs take: Save as… makes a file to hand on");
        else
            window_.say(base == kPage
                            ? "Copied the link. It begins with pentamesh.html; the menu Edit changes that"
                            : "Copied the link");
    };
    commands.push_back(
        {.id = "edit.copy_link", .title = "Copy link", .menu = "Edit", .run = copy, .enabled = [this] {
             return static_cast<bool>(window_.host.set_clipboard);
         }});
    commands.push_back(
        {.id = "edit.link_base",
         .title = "Links begin with the copied address",
         .menu = "Edit",
         .run =
             [this] {
                 std::string text = window_.host.clipboard();
                 text = text.substr(0, text.find('#'));
                 if (!is_address(text)) {
                     window_.say(
                         "Copy the page's address first (https://…/pentamesh.html); links will begin with "
                         "it");
                     return;
                 }
                 window_.settings.link_base = text;
                 window_.say("Links begin with " + text);
             },
         .enabled = [this] { return static_cast<bool>(window_.host.clipboard); }});
}

}  // namespace pentamesh::ui
