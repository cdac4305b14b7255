// Drives the window headless, frame by frame, as a person would: by the names that widgets register.
#pragma once

#include "app/ui/shell/shell.h"
#include "core/io/presets.h"
#include "render/surface.h"
#include "tests/ui/pressed.h"

#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <thread>

namespace pentamesh::ui {

struct Driver {
    explicit Driver(std::string_view plan_preset, Vec2 size = {1600, 900}, float scale = 1,
                    std::filesystem::path config_folder = {}, std::filesystem::path home = {},
                    std::filesystem::path fence = {}, bool searches = false,
                    const FontFiles& fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"))
        : presets(std::filesystem::path(SOURCE_DIR) / "presets", config_folder), surface(size, scale, fonts),
          shell(presets, presets.plan(plan_preset),
                host(std::move(config_folder), std::move(home), std::move(fence), searches)) {
        watch_presses(shell);
        surface.draw_when_read(true);
        settle();
        shell.ui_state().check_parts = true;
    }
    // Parts that would be kept from frame to frame were drawn all the same: they must not have changed.
    ~Driver() { CHECK(shell.ui_state().stale_parts == 0); }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    Presets presets;
    Offscreen surface;
    std::string clipboard;
    std::vector<std::filesystem::path> pictures;  // pictures that were asked for; none is drawn
    std::vector<PictureOrder> orders;             // all that were asked for: previews and copies too
    std::vector<std::pair<ReviewRequest, std::filesystem::path>> reviews;  // the same
    std::vector<Plan> reviewed;                                            // in the last of them
    std::vector<std::filesystem::path> opened_outside;
    Shell shell;
    SyntheticInput input;
    double time_s = 0;

    std::vector<std::filesystem::path> handouts, results;  // the same
    std::vector<bool> fullscreen;                          // each time that it was asked for
    bool second_screen = false;                            // there is another screen than the window's

    // Stands for a desktop's dialog, where a test plays one; no real one is ever started.
    std::function<std::unique_ptr<FileDialog>(const FileQuestion&)> file_dialog;

    Host host(std::filesystem::path config_folder, std::filesystem::path home, std::filesystem::path fence,
              bool searches) {
        Host h;
        h.searches = searches;
        h.clipboard = [this] { return clipboard; };
        h.set_clipboard = [this](const std::string& text) { clipboard = text; };
        h.save_picture = [this](const PictureOrder& order) {
            if (order.use == PictureOrder::Use::file) pictures.push_back(order.path);
            orders.push_back(order);
        };
        h.save_review = [this](const ReviewRequest& request, const std::vector<Plan>& plans,
                               const std::filesystem::path& file) {
            reviews.emplace_back(request, file);
            reviewed = plans;
        };
        h.open_outside = [this](const std::filesystem::path& file) {
            opened_outside.push_back(file);
            return std::string();
        };
        h.save_results = [this](const std::filesystem::path& file) { results.push_back(file); };
        h.set_fullscreen = [this](bool on) { fullscreen.push_back(on); };
        h.has_second_screen = [this] { return second_screen; };
        h.save_handout = [this](const std::filesystem::path& file) { handouts.push_back(file); };
        h.config_folder = std::move(config_folder);
        h.home = std::move(home);
        h.fence = std::move(fence);
        h.file_dialog = [this](const FileQuestion& q) { return file_dialog ? file_dialog(q) : nullptr; };
        return h;
    }

    void frame() {
        time_s += 1.0 / 60;
        surface.frame(input, time_s, [this](const FrameInfo& info) { shell.frame(info); });
        input.text.clear();
        input.wheel = 0;
    }
    void settle() {
        for (int i = 0; i < 3; ++i) frame();
    }
    // Passes a second and a half in few frames: gliding parts have come to rest, delayed parts are there.
    void rest() {
        for (int i = 0; i < 6; ++i) {
            frame();
            time_s += 0.25;
        }
        settle();
    }
    // Draws frames until background work is done; the clock of the window stands still meanwhile.
    template <typename Done>
    void until(const Done& done) {
        for (int i = 0; i < 6000 && !done(); ++i) {
            frame();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        REQUIRE(done());
        settle();
    }
    void move(Vec2 to) {
        input.mouse = to;
        frame();
        frame();
    }
    // Returns false if nothing of that name is drawn.
    bool click(std::string_view name, std::uint64_t index = 0, int button = 0) {
        const auto r = shell.ui_state().rect_of(name, index);
        if (!r) return false;
        click_at(r->center(), button);
        return true;
    }
    void click_at(Vec2 at, int button = 0) {
        move(at);
        input.down[static_cast<std::size_t>(button)] = true;
        frame();
        input.down[static_cast<std::size_t>(button)] = false;
        frame();
        settle();
        time_s += 1;  // two clicks in a row are no double-click
    }
    void drag(Vec2 from, Vec2 to, int steps = 8) {
        move(from);
        input.down[0] = true;
        frame();
        for (int i = 1; i <= steps; ++i) {
            input.mouse = from + (to - from) * (static_cast<float>(i) / static_cast<float>(steps));
            frame();
        }
        input.down[0] = false;
        frame();
        settle();
        time_s += 1;
    }
    void press(Chord chord) {
        input.ctrl = chord.ctrl;
        input.shift = chord.shift;
        input.alt = chord.alt;
        input.keys_down = {chord.key};
        frame();
        input.keys_down.clear();
        input.ctrl = input.shift = input.alt = false;
        settle();
    }
    void type(std::string_view text) {
        input.text = text;
        frame();
        settle();
    }
    void wheel(Vec2 at, float by) {
        move(at);
        input.wheel = by;
        frame();
        settle();
    }
    // Returns the top of the lesson's buttons: controls below it are not seen.
    [[nodiscard]] float foot_y() {
        const auto r = shell.ui_state().rect_of("lesson.next");
        return r ? r->y : 1e6f;
    }
    [[nodiscard]] bool drawn(std::string_view name, std::uint64_t index = 0) {
        return shell.ui_state().rect_of(name, index).has_value();
    }
    [[nodiscard]] const Plan& plan() const { return shell.document().plan(); }
};

}  // namespace pentamesh::ui
