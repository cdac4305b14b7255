#include "app/platform/window.h"

#include "app/platform/native_dialog.h"
#include "app/ui/shell/picture.h"
#include "app/ui/shell/shell.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "render/surface.h"

#include <chrono>
#include <utility>

namespace pentamesh {

namespace {

constexpr int kSettle = 4;  // a text field has the keyboard three frames after it asked for it
constexpr const char* kDefaultPlan = "llama-3.1-405b-16k";

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string ending_of(const std::filesystem::path& file) {
    std::string e = file.extension().string();
    return e.empty() ? "png" : e.substr(1);
}

}  // namespace

void run_window(const Presets& presets, const WindowArgs& args) {
    const FontFiles fonts = find_fonts(args.data_folder);
    Window window("Pentamesh", {1440, 900}, fonts);
    ui::Host host;
    host.clipboard = [&] { return window.clipboard(); };
    host.set_clipboard = [&](const std::string& text) { window.set_clipboard(text); };
    host.set_fullscreen = [&](bool on) { window.set_fullscreen(on); };
    host.now_s = now_s;
    host.file_dialog = [](const ui::FileQuestion& question) {
        return open_native_dialog(question, desktop_of_user());
    };
    host.config_folder = args.config_folder;
    host.home = args.home;
    host.first_run = !args.plan && args.opened.empty();
    // A picture is wanted while a frame is being built: it is drawn after that frame.
    struct Wanted {
        std::string view;
        std::filesystem::path file;
    };
    std::optional<Wanted> picture;
    host.save_picture = [&](const std::string& view, const std::filesystem::path& file) {
        picture = Wanted{view, file};
    };

    ui::Shell shell(presets, args.plan ? *args.plan : presets.plan(kDefaultPlan), host);
    if (!args.plan_file.empty() || !args.saved) shell.opened_from(args.plan_file, args.saved);
    if (args.edited) shell.edit_plan(*args.edited, "--set");
    if (!args.opened.empty()) shell.open_file(args.opened);
    shell.offer_recovery();

    std::string title;
    int settle = kSettle;  // frames after the last event until everything that it set off is on the screen
    while (!shell.quit()) {
        const double wait = settle > 0 ? 0 : shell.idle_s();
        settle = settle > 0 && wait == 0 ? settle - 1 : kSettle;
        const WindowEvents events = window.frame(wait, std::as_const(shell).settings().scale,
                                                 [&](const FrameInfo& info) { shell.frame(info); });
        // What arrives while the last event's frames are still drawn has frames of its own to come.
        if (events.had_input) settle = kSettle;
        for (const auto& file : events.dropped) {
            shell.open_file(file);
            settle = kSettle;
        }
        if (events.close_requested) {
            window.cancel_close();
            if (shell.may_close()) break;
            settle = kSettle;
        }
        if (shell.title() != title) window.set_title(title = shell.title());
        if (picture) {
            const Wanted wanted = *std::exchange(picture, std::nullopt);
            try {
                ui::PictureRequest request;
                request.view = wanted.view;
                request.scale = 2;
                request.screen = shell.screen();
                write_file(wanted.file, ui::make_picture(presets, shell.document().plan(), request,
                                                         ending_of(wanted.file), fonts));
                shell.say("Wrote " + wanted.file.string());
            } catch (const Error& e) {
                shell.picture_failed(wanted.file, e.what());
            }
            settle = kSettle;
        }
    }
    shell.closed();
}

}  // namespace pentamesh
