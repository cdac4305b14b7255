#include "app/platform/window.h"

#include "app/platform/desktop.h"
#include "app/ui/kit/format.h"
#include "app/ui/shell/lesson_sheet.h"
#include "app/ui/shell/picture.h"
#include "app/ui/shell/shell.h"
#include "core/base/files.h"
#include "core/base/threads.h"
#include "core/teach/translation.h"
#include "render/png.h"
#include "render/surface.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace pentamesh {
namespace {

constexpr int kSettle = 4;  // a text field has the keyboard three frames after it asked for it

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string ending_of(const std::filesystem::path& file) {
    std::string e = file.extension().string();
    return e.empty() ? "png" : e.substr(1);
}

struct Wanted {
    std::filesystem::path file{};
    std::optional<ui::PictureOrder> picture{};
    std::optional<ui::ReviewRequest> review{};
    std::vector<Plan> reviewed{};
    bool handout = false;  // of the lesson that is open
    bool results = false;  // of the tasks
};

std::string picture_of(const Presets& presets, const ui::PictureOrder& order, const std::string& ending,
                       float scale, const FontFiles& fonts, const ui::Shell& shell) {
    ui::PictureRequest request;
    request.view = order.view;
    request.size = order.choice.size;
    request.scale = scale;
    request.text = order.choice.text;
    request.title = order.choice.title, request.caption = order.choice.caption;
    request.screen = shell.screen();
    if (order.choice.theme) request.screen->settings.theme = *order.choice.theme;
    return ui::make_picture(presets, shell.document().plan(), request, ending, fonts);
}

void show_preview(const Presets& presets, const ui::PictureOrder& order, const FontFiles& fonts,
                  ui::Shell& shell) {
    constexpr float kWide = 1000, kLeast = 0.5f, kMost = 2;  // pixels
    const float scale = std::clamp(kWide / order.choice.size.x, kLeast, kMost);
    try {
        shell.show_preview(decode_png(picture_of(presets, order, "png", scale, fonts, shell)));
    } catch (const Error& e) {
        shell.show_preview({}, e.what());
    }
}

void copy_picture(const Presets& presets, const ui::PictureOrder& order, const FontFiles& fonts,
                  ui::Shell& shell) {
    try {
        const std::string png = picture_of(presets, order, "png", order.choice.scale, fonts, shell);
        const std::string failed = put_on_clipboard(png, programs_of_user());
        shell.say(failed.empty() ? "Copied the picture" : failed);
    } catch (const Error& e) {
        shell.say(e.what());
    }
}

// Writes the file and says where, or asks again with the reason.
void write_wanted(const Presets& presets, const Wanted& wanted, const FontFiles& fonts, ui::Shell& shell) {
    using Use = ui::PictureOrder::Use;
    if (wanted.picture && wanted.picture->use == Use::preview)
        return show_preview(presets, *wanted.picture, fonts, shell);
    if (wanted.picture && wanted.picture->use == Use::clipboard)
        return copy_picture(presets, *wanted.picture, fonts, shell);
    try {
        if (wanted.handout) {
            const Lesson& lesson = shell.lesson().lesson;
            const bool pdf = ending_of(wanted.file) == "pdf";
            const std::string language = language_of(try_read_file(shell.lesson().file).value_or(""));
            write_file(wanted.file,
                       pdf ? ui::lesson_pdf(lesson, shell.lesson_base(), presets, fonts, language)
                           : ui::lesson_page(lesson, shell.lesson_base(), presets, fonts));
        } else if (wanted.results) {
            write_file(wanted.file,
                       ui::make_results_picture(
                           shell.results(), ui::results_of_whom(std::as_const(shell).settings().learner),
                           std::as_const(shell).settings().theme, ending_of(wanted.file), fonts));
        } else if (wanted.review) {
            const auto form = ui::review_form_of(wanted.file.string());
            ui::ReviewRequest request = *wanted.review;
            request.files_folder = ui::files_folder_of(wanted.file);
            if (request.date.empty()) request.date = today_in_words();
            ui::write_review(wanted.file, ui::make_review(presets, wanted.reviewed, request, form, fonts),
                             form);
        } else if (wanted.picture) {
            write_file(wanted.file, picture_of(presets, *wanted.picture, ending_of(wanted.file),
                                               wanted.picture->choice.scale, fonts, shell));
        }
        shell.wrote(wanted.file);
    } catch (const Error& e) {
        const auto kind = wanted.handout   ? ui::DialogKind::handout
                          : wanted.results ? ui::DialogKind::results
                          : wanted.review  ? ui::DialogKind::review_file
                                           : ui::DialogKind::picture_file;
        shell.write_failed(kind, wanted.file, e.what());
    }
}

// Opens, draws and closes the second window as it is wanted. Returns true if it was used.
bool run_second(std::unique_ptr<SecondWindow>& second, const Window& window, const FontFiles& fonts,
                ui::Shell& shell) {
    if (!shell.wants_second_window()) {
        second.reset();
        return false;
    }
    try {
        if (!second) second = std::make_unique<SecondWindow>(window, "Notes – Pentamesh", fonts);
        if (!window.has_second_screen()) throw Error(ErrorKind::io, "", "", "the second screen is gone");
        const WindowEvents events =
            second->frame(std::as_const(shell).settings().scale,
                          [&](const FrameInfo& info) { shell.presenter_frame(info); });
        if (!events.close_requested) return events.had_input;
        shell.second_window_closed("");
    } catch (const Error& e) {
        shell.second_window_closed(e.message());
    }
    second.reset();
    return true;
}

}  // namespace

struct WindowRun::Impl {
    const Presets& presets;
    FontFiles fonts;
    Window window;
    std::optional<Wanted> wanted;  // while a frame is being built: it is drawn after that frame
    std::optional<ui::Shell> shell;
    std::unique_ptr<SecondWindow> second;  // the presenter has notes on it
    std::string title;
    std::function<void(const std::string&)> speak;
    std::string spoken, message;  // what was said last
    bool hears = false;           // the texts of frames are recorded
    double drawn_s = 0;           // when the last frame began
    int settle = kSettle;  // frames after the last event until everything that it set off is on the screen

    Impl(const Presets& p, const WindowArgs& args)
        : presets(p), fonts(find_fonts(args.data_folder)), window("Pentamesh", {1440, 900}, fonts),
          speak(args.speak) {}

    // Says what the keyboard reaches or changes there, and each message once.
    void say_aloud() {
        if (!speak) return;
        ui::UiState& state = shell->ui_state();
        if (std::exchange(hears, state.focus_visible) != state.focus_visible) {
            window.record_text(state.focus_visible);
            state.redraw_all = state.wants_frame = true;
        }
        const std::string words = ui::focused_words(state, window.text_runs());
        if (!words.empty() && words != spoken) speak(spoken = words);
        if (shell->message() == message) return;
        message = shell->message();
        if (!message.empty()) speak(message);
    }

    [[nodiscard]] ui::Host host_of(const WindowArgs& args) {
        ui::Host host;
        host.clipboard = [this] { return window.clipboard(); };
        host.set_clipboard = [this](const std::string& text) { window.set_clipboard(text); };
        host.set_fullscreen = [this](bool on) { window.set_fullscreen(on); };
        host.has_second_screen = [this] { return window.has_second_screen(); };
        host.now_s = now_s;
        host.wake = [this] { window.wake(); };
        host.file_dialog = [](const ui::FileQuestion& question) {
            return open_native_dialog(question, desktop_of_user());
        };
        host.config_folder = args.config_folder;
        host.lessons_folder = args.lessons_folder;
        host.home = args.home;
        host.page_address = args.page_address;
        host.in_page = !args.page_address.empty();
        host.searches = true;
        host.flies = true;
        host.first_run = args.welcomes && !args.plan && args.opened.empty();
        host.plan_chosen = args.plan.has_value();
        host.open_outside = [](const std::filesystem::path& file) {
            return open_outside(file, programs_of_user());
        };
        host.save_picture = [this](const ui::PictureOrder& order) { wanted = Wanted{order.path, order}; };
        host.save_review = [this](const ui::ReviewRequest& request, const std::vector<Plan>& plans,
                                  const std::filesystem::path& file) {
            wanted = Wanted{file, {}, request, plans};
        };
        host.save_handout = [this](const std::filesystem::path& file) {
            wanted = Wanted{file, {}, {}, {}, true};
        };
        host.save_results = [this](const std::filesystem::path& file) {
            wanted = Wanted{file, {}, {}, {}, false, true};
        };
        return host;
    }
};

WindowRun::WindowRun(const Presets& presets, const WindowArgs& args)
    : impl_(std::make_unique<Impl>(presets, args)) {
    ui::Shell& shell = impl_->shell.emplace(presets, args.plan ? *args.plan : presets.plan(ui::kFirstPlan),
                                            impl_->host_of(args));
    if (!args.plan_file.empty() || !args.saved) shell.opened_from(args.plan_file, args.saved);
    if (args.edited) shell.edit_plan(*args.edited, "--set");
    if (!args.opened.empty()) shell.open_file(args.opened);
    if (!args.plan && args.opened.empty()) shell.reopen();
    shell.offer_recovery();
}
WindowRun::~WindowRun() = default;

ui::Shell& WindowRun::shell() {
    return *impl_->shell;
}

bool WindowRun::turn() {
    Impl& w = *impl_;
    ui::Shell& shell = *w.shell;
    if (shell.quit()) return false;
    const double wait = w.settle > 0 ? 0 : shell.idle_s();
    const bool came = w.window.wait(wait) || (w.second && w.second->has_input());
    if (w.settle == 0 && !came && !shell.due()) return true;  // nothing moved: nothing is drawn
    // A page never waits: work that is due later is left to a later turn.
    if (!kHasThreads && w.settle == 0 && !came && now_s() - w.drawn_s < wait) return true;
    w.drawn_s = now_s();
    w.settle = w.settle > 0 ? w.settle - 1 : came || wait == 0 ? kSettle : 0;
    const WindowEvents events =
        w.window.frame(shell.scale(), [&](const FrameInfo& info) { shell.frame(info); });
    w.say_aloud();
    if (run_second(w.second, w.window, w.fonts, shell)) w.settle = kSettle;
    // Input that arrives while the last event's frames are still drawn needs frames of its own.
    if (events.had_input) w.settle = kSettle;
    for (const auto& file : events.dropped) {
        shell.open_file(file);
        w.settle = kSettle;
    }
    if (events.close_requested) {
        w.window.cancel_close();
        if (shell.may_close()) return false;
        w.settle = kSettle;
    }
    if (shell.title() != w.title) w.window.set_title(w.title = shell.title());
    if (w.wanted) {
        write_wanted(w.presets, *std::exchange(w.wanted, std::nullopt), w.fonts, shell);
        w.settle = kSettle;
    }
    return true;
}

bool WindowRun::rests() const {
    return impl_->settle == 0 && !impl_->shell->wants_frame() && !impl_->shell->works_beside();
}

void WindowRun::closed() {
    impl_->shell->closed();
}

void run_window(const Presets& presets, const WindowArgs& args) {
    WindowRun window(presets, args);
    while (window.turn()) {
    }
    window.closed();
}

}  // namespace pentamesh
