// A browser does what a desktop does for the window: its file dialog, its clipboard, downloads.
#include "app/platform/desktop.h"
#include "app/web/page_calls.h"
#include "core/base/text.h"

#include <emscripten/emscripten.h>
#include <map>
#include <string>

namespace pentamesh {

namespace {

// Holds questions that wait for an answer, by number.
std::map<std::int32_t, std::optional<std::string>>& questions() {
    static std::map<std::int32_t, std::optional<std::string>> waiting;
    return waiting;
}

// Opens the browser's dialog for a file to read.
class PickDialog final : public ui::FileDialog {
  public:
    explicit PickDialog(const ui::FileQuestion& question) : number_(next_number()) {
        questions()[number_] = std::nullopt;
        const std::string endings = join(question.endings, ",");
        page_pick_file(endings.c_str(), number_);
    }
    ~PickDialog() override { questions().erase(number_); }
    [[nodiscard]] std::optional<ui::FileAnswer> poll() override {
        const std::optional<std::string>& path = questions()[number_];
        if (!path) return std::nullopt;
        if (path->empty()) return ui::FileAnswer{};
        return ui::FileAnswer{ui::FileAnswer::Kind::picked, *path, {}};
    }

  private:
    static std::int32_t next_number() {
        static std::int32_t number = 0;
        return ++number;
    }
    std::int32_t number_;
};

// A file to write is downloaded under the name that was proposed: the browser asks where, if its user wants.
class SaveDialog final : public ui::FileDialog {
  public:
    explicit SaveDialog(const ui::FileQuestion& question) : name_(question.start.filename()) {}
    [[nodiscard]] std::optional<ui::FileAnswer> poll() override {
        return ui::FileAnswer{ui::FileAnswer::Kind::picked, "/files" / name_, {}};
    }

  private:
    std::filesystem::path name_;
};

}  // namespace

Desktop desktop_of_user() {
    return {};
}
std::vector<std::string> dialog_command(const ui::FileQuestion&, const Desktop&) {
    return {};
}
std::unique_ptr<ui::FileDialog> open_native_dialog(const ui::FileQuestion& question, const Desktop&) {
    if (question.saves) return std::make_unique<SaveDialog>(question);
    return std::make_unique<PickDialog>(question);
}

DesktopPrograms programs_of_user() {
    return {};
}
std::vector<std::string> clipboard_command(const DesktopPrograms&) {
    return {};
}
std::string put_on_clipboard(const std::string& png, const DesktopPrograms&) {
    return page_copy_picture(png.data(), static_cast<std::int32_t>(png.size())) != 0
               ? ""
               : "This browser takes no pictures. Write it to a file instead";
}
std::vector<std::string> opening_command(const std::filesystem::path&, const DesktopPrograms&) {
    return {};
}
std::string open_outside(const std::filesystem::path&, const DesktopPrograms&) {
    return "A page opens no other programs: the file lies among the browser's downloads";
}

}  // namespace pentamesh

extern "C" EMSCRIPTEN_KEEPALIVE void page_picked(std::int32_t ask, const char* path) {
    auto& waiting = pentamesh::questions();
    const auto at = waiting.find(ask);
    if (at != waiting.end()) at->second = path;
}
