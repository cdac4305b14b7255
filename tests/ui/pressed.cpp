#include "tests/ui/pressed.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

namespace pentamesh::ui {
namespace {

struct Registry {
    std::map<Id, std::string> areas;
    std::set<std::string, std::less<>> seen, pressed, commands, ran;
};
Registry& registry() {
    static Registry all;
    return all;
}

// A press on these has no effect; `why` says why each is an area nevertheless.
struct Excused {
    std::string_view name, why;
};
constexpr std::array<Excused, 11> kExcused{{
    {"Step", "a row of the step's data is read"},
    {"comm.ring", "explains the ring on hover"},
    {"constants.name", "explains the constant on hover"},
    {"constants.source", "shows the source on hover"},
    {"layer.wire", "explains the sum on hover"},
    {"step.run", "a published run is read"},
    {"step.near", "explains the distances on hover"},
    {"step.small", "names the small parts on hover"},
    {"step.software_figure", "a figure of the software is read"},
    {"tensors.table", "a tensor is read"},
    {"view.fullscreen", "is the platform's"},
}};

// Returns one name for names that are made of data: "layout.tp.plus" and "layout.cp.plus" are
// "layout.*.plus".
std::string kind_of(std::string_view name) {
    static constexpr std::array<std::string_view, 14> kFamilies{
        "constants.",  "glossary.entry.", "layout.",  "map.name.", "term.",  // widgets
        "order.",      "lesson.0",        "lesson.1", "preset.",   "theme.",
        "mesh.color.", "mesh.second.",    "page.",    "word."};
    static constexpr std::array<std::string_view, 4> kParts{".minus", ".plus", ".toggle", ".badge"};
    if (name.ends_with(".across")) return "*.across";
    // The marks of a switch that shows a part of its labels.
    if (name.ends_with(".earlier")) return "*.earlier";
    if (name.ends_with(".later")) return "*.later";
    for (const std::string_view family : kFamilies) {
        if (!name.starts_with(family) || name == "order.preset" || name == "constants.name"
            || name == "constants.source" || name == "constants.reset")
            continue;
        const auto part =
            std::find_if(kParts.begin(), kParts.end(), [&](std::string_view p) { return name.ends_with(p); });
        return std::string(family) + "*" + (part == kParts.end() ? "" : std::string(*part));
    }
    return std::string(name);
}

int print_missing(const char* what, const std::set<std::string, std::less<>>& seen,
                  const std::set<std::string, std::less<>>& used) {
    int missing = 0;
    for (const std::string& name : seen) {
        const bool excused =
            std::any_of(kExcused.begin(), kExcused.end(), [&](const Excused& e) { return e.name == name; });
        if (used.contains(name) || excused) continue;
        std::printf("never %s: %s\n", what, name.c_str());
        ++missing;
    }
    return missing;
}

}  // namespace

void watch_presses(Shell& shell) {
    shell.ui_state().on_area = [](std::string_view name, Id id, bool pressed) {
        Registry& r = registry();
        if (r.areas.find(id) == r.areas.end()) {
            r.areas.emplace(id, std::string(name));
            r.seen.insert(kind_of(name));
        }
        if (pressed) r.pressed.insert(kind_of(name));
    };
    // The table is the shell's own and not constant: each command tells that it was run.
    for (Command& c : const_cast<std::vector<Command>&>(shell.commands())) {
        registry().commands.insert(kind_of(c.id));
        c.run = [id = c.id, run = std::move(c.run)] {
            registry().ran.insert(kind_of(id));
            run();
        };
    }
}

std::string name_of_area(Id id) {
    const auto at = registry().areas.find(id);
    return at == registry().areas.end() ? "an unnamed area" : at->second;
}

void write_presses(const std::filesystem::path& file) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file);
    const Registry& r = registry();
    for (const std::string& name : r.seen) out << "seen " << name << '\n';
    for (const std::string& name : r.pressed) out << "pressed " << name << '\n';
    for (const std::string& name : r.commands) out << "command " << name << '\n';
    for (const std::string& name : r.ran) out << "ran " << name << '\n';
}

bool all_were_pressed(const std::filesystem::path& folder, std::span<const char* const> names) {
    Registry r;
    for (const char* name : names) {
        std::ifstream in(folder / (std::string(name) + ".txt"));
        if (!in) std::printf("%s left no account of what it used\n", name);
        if (!in) return false;
        for (std::string what, used; in >> what && std::getline(in >> std::ws, used);)
            (what == "seen"      ? r.seen
             : what == "pressed" ? r.pressed
             : what == "command" ? r.commands
                                 : r.ran)
                .insert(used);
    }
    std::printf("%zu widgets, %zu pressed; %zu commands, %zu run\n", r.seen.size(), r.pressed.size(),
                r.commands.size(), r.ran.size());
    if (r.seen.empty() || r.commands.empty()) return false;
    return print_missing("pressed", r.seen, r.pressed) + print_missing("run", r.commands, r.ran) == 0;
}

}  // namespace pentamesh::ui
