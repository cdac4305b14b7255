#include "app/ui/shell/settings.h"

#include "core/base/error.h"
#include "core/base/files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::ui {

namespace {
constexpr std::size_t kMostRecent = 12;
std::filesystem::path file_in(const std::filesystem::path& folder) {
    return folder / "settings.json";
}
}  // namespace

Settings load_settings(const std::filesystem::path& folder, std::string& warning) {
    Settings s;
    std::error_code ignored;
    if (!std::filesystem::exists(file_in(folder), ignored)) return s;
    try {
        const auto json = nlohmann::json::parse(read_file(file_in(folder).string()));
        for (int i = 0; i < kThemeCount; ++i)
            if (json.value("theme", "") == name_of(static_cast<ThemeId>(i)))
                s.theme = static_cast<ThemeId>(i);
        const auto number = [&](const char* key, float& into, float low, float high) {
            if (json.contains(key) && json[key].is_number())
                into = std::clamp(json[key].get<float>(), low, high);
        };
        number("scale", s.scale, 0.5f, 4);
        number("present", s.present, 0.5f, 4);
        const auto width = [&](const char* key, float& into) {
            number(key, into, 0, 600);
            if (into > 0) into = std::max(into, 200.0f);
        };
        width("left", s.left);
        width("right", s.right);
        number("memory", s.memory, 0.08f, 0.6f);
        number("timeline", s.timeline, 0.08f, 0.7f);
        const auto flag = [&](const char* key, bool& into) {
            if (json.contains(key) && json[key].is_boolean()) into = json[key];
        };
        flag("welcomed", s.welcomed);
        flag("zoom_flown", s.zoom_flown);
        if (json.contains("hints") && json["hints"].is_number_integer())
            s.hints = std::clamp(json["hints"].get<int>(), 0, 99);
        flag("reduced_motion", s.reduced_motion);
        if (json.contains("flags") && json["flags"].is_string()) s.flags = json["flags"];
        const auto titles = [&](const char* key, std::vector<std::string>& into) {
            if (!json.contains(key) || !json[key].is_array()) return;
            for (const auto& id : json[key])
                if (id.is_string() && into.size() < 1000
                    && std::find(into.begin(), into.end(), id.get<std::string>()) == into.end())
                    into.push_back(id);
        };
        titles("tasks_done", s.tasks_done);
        titles("tasks_helped", s.tasks_helped);
        if (json.contains("lessons")) s.lessons = progress_from_json(json["lessons"]);
        if (json.contains("learner") && json["learner"].is_string()) s.learner = json["learner"];
        if (json.contains("link_base") && json["link_base"].is_string()) s.link_base = json["link_base"];
        if (json.contains("recent") && json["recent"].is_array())
            for (const auto& r : json["recent"])
                if (r.is_string() && s.recent.size() < kMostRecent
                    && std::find(s.recent.begin(), s.recent.end(), r.get<std::string>()) == s.recent.end()
                    && std::filesystem::path(r.get<std::string>()).is_absolute())
                    s.recent.push_back(r.get<std::string>());
    } catch (const std::exception& e) {
        warning = "settings could not be read and were set aside: " + std::string(e.what());
        std::filesystem::rename(file_in(folder), folder / "settings.broken.json", ignored);
        return {};
    }
    return s;
}

void save_settings(const std::filesystem::path& folder, const Settings& s) {
    const nlohmann::ordered_json json{{"theme", name_of(s.theme)},
                                      {"scale", s.scale},
                                      {"left", s.left},
                                      {"right", s.right},
                                      {"memory", s.memory},
                                      {"timeline", s.timeline},
                                      {"recent", s.recent},
                                      {"welcomed", s.welcomed},
                                      {"zoom_flown", s.zoom_flown},
                                      {"hints", s.hints},
                                      {"reduced_motion", s.reduced_motion},
                                      {"present", s.present},
                                      {"flags", s.flags},
                                      {"link_base", s.link_base},
                                      {"tasks_done", s.tasks_done},
                                      {"tasks_helped", s.tasks_helped},
                                      {"lessons", progress_to_json(s.lessons)},
                                      {"learner", s.learner}};
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    write_file(file_in(folder).string(),
               json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void add_recent(Settings& settings, const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    if (error || !whole.is_absolute()) whole = std::filesystem::absolute(path, error).lexically_normal();
    const std::string text = whole.string();
    std::erase(settings.recent, text);
    settings.recent.insert(settings.recent.begin(), text);
    if (settings.recent.size() > kMostRecent) settings.recent.resize(kMostRecent);
}

}  // namespace pentamesh::ui
