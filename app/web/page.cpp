// Runs the program in a page: its frames are the browser's, and between two of them background work gets
// slices.
#include "app/platform/platform.h"
#include "app/platform/window.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/shell/embed.h"
#include "app/ui/shell/picture.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/table.h"
#include "app/web/page_calls.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <emscripten/emscripten.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace pentamesh {

namespace {

namespace fs = std::filesystem;

// Background work gets so much of a frame's sixtieth of a second, and more in a slow frame.
constexpr double kSlices_s = 0.010, kMostSlices_s = 0.050;

std::string taken(char* text) {
    std::string out = text;
    std::free(text);
    return out;
}

// Files that are written in the page's folder are downloaded: each once for each time that it was written.
class Downloads {
  public:
    void look() {
        std::error_code error;
        for (fs::directory_iterator it("/files", error), end; !error && it != end; it.increment(error)) {
            const fs::path& file = it->path();
            if (file.filename().string().find(".new-") != std::string::npos) continue;
            const fs::file_time_type written = fs::last_write_time(file, error);
            const auto [at, fresh] = seen_.try_emplace(file.string(), fs::file_time_type{});
            if (at->second == written) continue;
            at->second = written;
            if (!came_in(file)) page_download(file.c_str());
        }
    }
    // A file that was picked or dropped was not written by the program, so it is not downloaded.
    void take_in(const std::string& path) {
        std::error_code ignored;
        incoming_[path] = fs::last_write_time(path, ignored);
    }

  private:
    [[nodiscard]] bool came_in(const fs::path& file) const {
        std::error_code ignored;
        const auto at = incoming_.find(file.string());
        return at != incoming_.end() && at->second == fs::last_write_time(file, ignored);
    }
    std::map<std::string, fs::file_time_type> seen_, incoming_;
};

struct PageProgram {
    Presets presets;
    ui::EmbedStart start;  // of a bare view
    WindowRun window;
    std::optional<ui::Embed> embed;  // a bare view, which nothing is kept of
    Downloads downloads;
    bool shown = false;
    double turned_s = 0;  // when the last turn began

    PageProgram(WindowArgs args, const std::string& link)
        : presets(args.data_folder / "presets", args.config_folder), start(start_of(link, presets)),
          window(presets, with_plan(std::move(args), start)) {
        if (ui::asks_for_bare(link))
            embed.emplace(window.shell(), presets, start);
        else if (link.size() > 1)
            window.shell().open_link(link);
    }

  private:
    static ui::EmbedStart start_of(const std::string& link, const Presets& presets) {
        return ui::asks_for_bare(link) ? ui::begin_embed(link, presets) : ui::EmbedStart{};
    }
    static WindowArgs with_plan(WindowArgs args, const ui::EmbedStart& start) {
        args.plan = start.plan;
        return args;
    }
};

std::unique_ptr<PageProgram>& the_page() {
    static std::unique_ptr<PageProgram> page;
    return page;
}

void turn() {
    PageProgram& page = *the_page();
    const double now_s = emscripten_get_now() / 1000;
    const double since_s = now_s - std::exchange(page.turned_s, now_s);
    try {
        if (!page.window.turn()) return;
        ui::run_slices(std::clamp(since_s / 2, kSlices_s, kMostSlices_s));
        page.downloads.look();
        if (page.embed)
            for (const std::string& message : page.embed->news()) page_post(message.c_str());
    } catch (const std::exception& e) {
        page.window.shell().say(e.what());
    }
    if (!std::exchange(page.shown, true)) page_ready();
}

// Returns the course that a page carries (`pentamesh lesson --course … --web`); empty where it carries no
// course.
fs::path start_file(const std::string& text, const fs::path& data_folder) {
    const nlohmann::json start = parse_json(text, "the page");
    if (!start.is_object() || !start.contains("course")) return {};
    const fs::path name = fs::path(start.at("course").at("name").get<std::string>()).filename();
    const fs::path file = data_folder / "assets" / "lessons" / "courses" / name;
    write_file(file, start.at("course").at("text").get<std::string>());
    return file;
}

nlohmann::json control_place(const char* name, int index) {
    const auto r = the_page()->window.shell().ui_state().rect_of(name, static_cast<std::uint64_t>(index));
    if (!r) return nullptr;
    return {{"x", r->x}, {"y", r->y}, {"w", r->w}, {"h", r->h}};  // logical pixels
}

nlohmann::json state_of_page() {
    const ui::Shell& shell = the_page()->window.shell();
    ui::Shell& open = the_page()->window.shell();
    const auto full = shell.full_view();
    return {{"title", shell.title()},
            {"message", shell.message()},
            {"revision", shell.document().revision()},
            {"dialog", static_cast<int>(shell.dialog())},
            {"view", full ? std::string(ui::view_of(*full).name) : "dashboard"},
            {"lesson", open.lesson().open ? open.lesson().file.stem().string() : ""},
            {"step", open.lesson().step},
            {"works", shell.works_beside()},
            {"pinned", shell.views().compare.pinned() != nullptr},
            {"scale", shell.scale()},
            {"bare", shell.bare()},
            {"plan", nlohmann::json::parse(write_plan(shell.document().plan()))}};
}

// Returns logical pixels for the page's coordinates.
Vec2 in_window(double x, double y) {
    const double scale = the_page()->window.shell().scale();
    return {static_cast<float>(x / scale), static_cast<float>(y / scale)};
}

// Returns a text that the page frees.
char* given(const nlohmann::json& value) {
    return ::strdup(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace
}  // namespace pentamesh

extern "C" {

EMSCRIPTEN_KEEPALIVE void page_say(const char* text) {
    if (!pentamesh::the_page()) return;
    pentamesh::the_page()->window.shell().say(text);
    pentamesh::the_page()->window.shell().ui_state().wants_frame = true;
}
EMSCRIPTEN_KEEPALIVE void page_took_in(const char* path) {
    if (pentamesh::the_page()) pentamesh::the_page()->downloads.take_in(path);
}
EMSCRIPTEN_KEEPALIVE void page_link(const char* link) {
    if (!pentamesh::the_page() || !pentamesh::ui::is_link(link)) return;
    if (auto& embed = pentamesh::the_page()->embed)
        page_post(embed->open(link).c_str());
    else
        pentamesh::the_page()->window.shell().open_link(link);
    pentamesh::the_page()->window.shell().ui_state().wants_frame = true;
}

// The page around a bare view sent a message, as JSON.
EMSCRIPTEN_KEEPALIVE void page_message(const char* text) {
    if (!pentamesh::the_page() || !pentamesh::the_page()->embed) return;
    page_post(pentamesh::the_page()->embed->take(text).c_str());
    pentamesh::the_page()->window.shell().ui_state().wants_frame = true;
}

// page_scrolls returns 1 if a finger's movement scrolls at that place, in pixels of the page. page_swipe says
// how far down it went.
EMSCRIPTEN_KEEPALIVE int page_scrolls(double x, double y) {
    if (!pentamesh::the_page()) return 0;
    return pentamesh::the_page()->window.shell().ui_state().scrolls_at(pentamesh::in_window(x, y)) ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void page_swipe(double x, double y, double by) {
    if (!pentamesh::the_page()) return;
    pentamesh::ui::UiState& state = pentamesh::the_page()->window.shell().ui_state();
    state.swipe.at = pentamesh::in_window(x, y);
    state.swipe.by += pentamesh::in_window(0, by).y;
    state.wants_frame = true;
}

// A script that drives the page asks here: whether all is drawn, where a control is, what the window shows.
EMSCRIPTEN_KEEPALIVE int page_rests() {
    return pentamesh::the_page() && pentamesh::the_page()->window.rests() ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE char* page_place(const char* name, int index) {
    return pentamesh::given(pentamesh::control_place(name, index));
}
EMSCRIPTEN_KEEPALIVE char* page_state() {
    return pentamesh::given(pentamesh::state_of_page());
}

}  // extern "C"

int main() {
    using namespace pentamesh;
    try {
        WindowArgs args;
        const std::string link = taken(page_hash());
        args.data_folder = "/share/pentamesh";
        if (!ui::asks_for_bare(link)) args.config_folder = config_folder();
        args.page_address = taken(page_address());
        args.speak = [](const std::string& words) { page_speak(words.c_str()); };
        args.opened = start_file(taken(page_start()), args.data_folder);
        args.welcomes = link.size() <= 1;
        the_page() = std::make_unique<PageProgram>(std::move(args), link);
    } catch (const std::exception& e) {
        page_failed(e.what());
        return 1;
    }
    emscripten_set_main_loop(turn, 0, 0);
    return 0;
}
