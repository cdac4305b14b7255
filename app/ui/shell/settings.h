// The window keeps its settings between runs, in the platform's config folder. A broken file is set aside and
// is never fatal.
#pragma once

#include "app/ui/kit/theme.h"
#include "core/teach/hand_in.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

inline constexpr std::size_t kRecentListed = 6;  // in the File menu
inline constexpr float kPresentScale = 1.25f;    // a lecture room's last row

struct Settings {
    ThemeId theme = ThemeId::dark;
    float scale = 1;                         // times the monitor's
    float present = kPresentScale;           // times that, while presenting
    float left = 0, right = 0;               // widths of the panels; 0: they follow the window's
    float memory = 0.24f, timeline = 0.25f;  // shares of the middle's height
    std::vector<std::string> recent;         // absolute paths, each once, newest first
    std::vector<std::string> tasks_done;     // titles, each once
    std::vector<std::string> tasks_helped;   // those of them that hints or the solution helped with
    std::vector<LessonProgress> lessons;     // that were begun, each title once
    std::string learner;                     // whose results the page of tasks shows
    std::string flags = "software";          // a framework's name, "software": the plan's own, "none"
    std::string link_base;                   // what links begin with; empty: the page's own address
    bool welcomed = false;                   // the welcome was seen
    int hints = 0;                           // that were seen, of those after the welcome
    bool zoom_flown = false;                 // the zoom flew by itself
    bool reduced_motion = false;             // nothing glides
    bool operator==(const Settings&) const = default;
};

// Returns defaults where the file is missing; `warning` says what was wrong with one that could not be read.
[[nodiscard]] Settings load_settings(const std::filesystem::path& folder, std::string& warning);
// Throws an error of kind io.
void save_settings(const std::filesystem::path& folder, const Settings& settings);
void add_recent(Settings& settings, const std::filesystem::path& path);

}  // namespace pentamesh::ui
