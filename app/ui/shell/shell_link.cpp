// Links: what is open as an address to hand on, and such an address opened.
#include "app/ui/shell/link.h"
#include "app/ui/shell/shell.h"
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

void Shell::open_link(const std::string& text) {
    guarded("", [&] {
        const Link link = read_link(text);
        const auto at = std::find_if(lessons_.begin(), lessons_.end(), [&](const LessonEntry& e) {
            return e.id == link.lesson || e.id.starts_with(link.lesson + "-");
        });
        if (!link.lesson.empty() && at == lessons_.end())
            throw Error(ErrorKind::invalid, "the link", "", "there is no lesson " + link.lesson);
        if (!link.plan.empty()) take(read_incoming(link.plan, "the link", presets_), {}, "the link");
        if (!link.lesson.empty()) {
            open_lesson(at->file);
            const std::size_t steps = lesson_.lesson.steps.size();
            if (link.step > 0 && steps > 0) go_to_step(lesson_, std::min(link.step, steps) - 1);
        }
        if (link.view) show_full(link.view);
    });
}

void Shell::make_link_commands() {
    const auto copy = [this] {
        Link link;
        const bool ships = lesson_.open && std::any_of(lessons_.begin(), lessons_.end(), [&](const auto& e) {
                               return e.file == lesson_.file;
                           });
        if (ships) {
            link.lesson = lesson_.file.stem().string();
            link.step = lesson_.step + 1;
        } else {
            link.plan = nlohmann::ordered_json::parse(plan_text()).dump();
            link.view = full_;
        }
        const std::string& own = settings_.link_base;
        const std::string& here = host_.page_address;
        const std::string base = !own.empty() ? own : !here.empty() ? here : kPage;
        const std::string text = base + write_link(link);
        host_.set_clipboard(text);
        if (text.size() > kLongestLink)
            say("Copied a link of " + std::to_string(text.size())
                + " characters, longer than some programs take: Save as… makes a file to hand on");
        else
            say(base == kPage ? "Copied the link. It begins with pentamesh.html; the menu Edit changes that"
                              : "Copied the link");
    };
    add({.id = "edit.copy_link", .title = "Copy link", .menu = "Edit", .run = copy, .enabled = [this] {
             return static_cast<bool>(host_.set_clipboard);
         }});
    add({.id = "edit.link_base",
         .title = "Links begin with the copied address",
         .menu = "Edit",
         .run =
             [this] {
                 std::string text = host_.clipboard();
                 text = text.substr(0, text.find('#'));
                 if (!is_address(text)) {
                     say("Copy the page's address first (https://…/pentamesh.html); links will begin with "
                         "it");
                     return;
                 }
                 settings_.link_base = text;
                 say("Links begin with " + text);
             },
         .enabled = [this] { return static_cast<bool>(host_.clipboard); }});
}

}  // namespace pentamesh::ui
