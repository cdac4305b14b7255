#include "core/interop/outer_script.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/guess.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pentamesh::interop {
namespace {

shell::Given given_by(const ImportRequest& r) {
    shell::Given given;
    for (const std::string& v : r.variables)
        if (const std::size_t equals = v.find('='); equals != std::string::npos)
            given.values[v.substr(0, equals)] = v.substr(equals + 1);
    for (const std::string_view word : split_words(r.arguments, " \t\r\n\v\f"))
        given.arguments.emplace_back(word);
    given.file = r.other;
    return given;
}

// Returns the files of settings that stand among the words of a command, in their order.
std::vector<std::string> files_named(const Launch& launch) {
    std::vector<std::string> out;
    for (const std::vector<Setting>* list : {&launch.loose, &launch.flags, &launch.words})
        for (const Setting& s : *list) {
            if (has(s.name, "logger")) continue;  // the program writes it
            std::string name = list == &launch.loose ? s.name : s.value;
            if (name.starts_with("@")) name.erase(0, 1);
            for (const std::string_view word : split_words(name))
                if (is_settings_file(word)) out.emplace_back(word);
        }
    return out;
}

// Returns the tool whose own flag names the file; empty: none does. torchtitan before its configurations in
// Python (v0.2.0, config/manager.py) has `--job.config_file`.
std::string_view tool_of_flag(const Launch& launch, const std::string& file) {
    const bool torchtitan = std::any_of(launch.flags.begin(), launch.flags.end(), [&](const Setting& s) {
        return flag_key(s.name) == "job.config_file" && s.value == file;
    });
    return torchtitan ? "torchtitan" : "";
}

// Returns where Hydra may look for the file that a command names without its ending, --config-name under
// --config-path, and for what `training=gpt3/175b` of NeMo's launcher names (launcher_scripts/conf).
std::vector<std::string> files_of_hydra(const Launch& launch) {
    std::string name, folder;
    for (const Setting& s : launch.flags) {
        const std::string key = flag_key(s.name);
        if (key == "config_name" && s.unknown.empty()) name = s.value;
        if ((key == "config_path" || key == "config_dir") && s.unknown.empty()) folder = s.value + "/";
    }
    std::vector<std::string> out;
    if (!name.empty()) {
        if (!is_settings_file(name)) name += ".yaml";
        for (const std::string& in : {folder, std::string("conf/"), std::string()})
            if (std::find(out.begin(), out.end(), in + name) == out.end()) out.push_back(in + name);
    }
    const auto called = [](std::string_view key) {
        return [key](const Setting& s) { return s.name == key; };
    };
    const auto training = std::find_if(launch.words.begin(), launch.words.end(), called("training"));
    if (launch.program == "main.py" && training != launch.words.end() && training->unknown.empty()
        && std::any_of(launch.words.begin(), launch.words.end(), called("stages")))
        for (const char* in : {"launcher_scripts/conf/training/", "conf/training/"})
            out.push_back(in + training->value + ".yaml");
    return out;
}

// Returns the file that a program reads where its command names none (words.json, "program_files"); empty:
// it has none, or the command names one that the text does not set.
std::string file_of_program(const Launch& launch, std::string& missing) {
    for (const Setting& s : launch.flags)
        if (s.name == "--config") {
            if (!s.unknown.empty() && missing.empty()) missing = s.value;
            return {};
        }
    for (const auto& row : words("program_files"))
        if (word_of(row["program"]) == launch.program) return std::string(word_of(row["file"]));
    return {};
}

// Returns true for a tool's own file of defaults, which its table knows: the script's words change it.
bool is_file_of_defaults(const std::vector<const Tool*>& own, const std::string& name,
                         const Presets& presets) {
    if (own.empty() || !own.front()->dialect) return false;
    const auto data =
        Dialect(own.front()->name, presets).data().value("default_files", nlohmann::json::array());
    return std::find(data.begin(), data.end(), name.substr(name.rfind('/') + 1)) != data.end();
}

bool holds(const std::vector<const Tool*>& tools, std::string_view name) {
    return std::any_of(tools.begin(), tools.end(), [&](const Tool* t) { return t->name == name; });
}

[[noreturn]] void fail_missing(const ImportRequest& r, const FrontEnd& front) {
    throw Error(ErrorKind::invalid, r.path, "",
                front.known
                    ? front.command + " takes its settings from " + front.file
                          + ", which is not there: import that file itself, or the command with it beside"
                    : front.command + " takes its settings from " + front.file
                          + ", which the text does not set (--var or --args on the command line)");
}

}  // namespace

std::optional<OuterScript> file_of_script(ImportRequest& r, const Presets& presets, std::string& missing) {
    if (!r.tool.empty()) return std::nullopt;
    // A program that is known by its name may take a file of its own tool: `-m axolotl.cli.train full.yaml`.
    // A launcher's words are of the job around it; its own file is read_beside's.
    std::vector<const Tool*> own = guess_tools(r.text);
    const auto names_program = [&](const auto& row) { return has(r.text, word_of(row["program"])); };
    const auto& programs = words("program_files");
    const bool script =
        is_script(r.text) || (own.empty() && std::any_of(programs.begin(), programs.end(), names_program));
    if (!script && !own.empty()) return std::nullopt;
    const shell::Given given = given_by(r);
    const std::optional<FrontEnd> front = front_end_in(r.text, r.path, given);
    if (!script && !front) return std::nullopt;
    if (front && (!front->known || !r.other || !r.other(front->file))) fail_missing(r, *front);
    const bool launcher = std::erase_if(own, [](const Tool* t) { return t->or_another; }) > 0;
    // NeMo-Aligner's programs are known by their names, and Hydra reads a file for them.
    const bool by_hydra = holds(own, "nemo-aligner");
    if (!front && !by_hydra && (own.size() > 1 || (own.size() == 1 && own.front()->reader != Reader::fields)))
        return std::nullopt;
    OuterScript out;
    try {
        out.launch = read_launch(
            r.text, r.path, [](std::string_view) { return false; }, given);
    } catch (const Error&) {
        return std::nullopt;  // it starts no job
    }
    std::vector<std::string> hydra, names;
    if (!front) hydra = files_of_hydra(out.launch);
    if (front)
        names = {front->file};
    else if (!by_hydra)
        names = files_named(out.launch);
    names.insert(names.begin(), hydra.begin(), hydra.end());
    for (const Setting& s : out.launch.flags)
        if (flag_key(s.name) == "config_name" && !s.unknown.empty() && missing.empty()) missing = s.value;
    if (names.empty()) {
        const std::string usual = file_of_program(out.launch, missing);
        // Another tool may have a program of this name.
        if (!usual.empty() && ((r.other && r.other(usual)) || has(r.text, "policy."))) names = {usual};
    }
    for (const std::string& name : names) {
        if (is_file_of_defaults(own, name, presets)) continue;
        const auto text = r.other ? r.other(name) : std::nullopt;
        if (!text) {
            if (missing.empty()) missing = name;
            continue;
        }
        const std::string_view whose = tool_of_flag(out.launch, name);
        std::vector<const Tool*> of_file = guess_tools(*text);
        if (of_file.empty()) {
            ImportRequest file = r;
            file.text = *text;
            file.folder = name.substr(0, name.rfind('/') + 1);
            if (const Tool* tool = tool_of_bases(file, presets)) of_file = {tool};
        }
        const bool of_launcher = std::any_of(of_file.begin(), of_file.end(), [](const Tool* t) {
            return t->or_another || t->name == "deepspeed";
        });
        const bool is_hydra = std::find(hydra.begin(), hydra.end(), name) != hydra.end();
        if (!front && whose.empty() && !(is_hydra && by_hydra)
            && (of_file.empty() || (launcher && of_launcher && !is_hydra)
                || (!own.empty() && !holds(of_file, own.front()->name))))
            continue;
        // A command's own file may say too little to be known by its words.
        if (front && (front->sure || (!holds(of_file, front->tool) && of_file.size() != 1)))
            r.tool = front->tool;
        else if (!whose.empty())
            r.tool = whose;
        else if (!own.empty() && !front)
            r.tool = own.front()->name;
        r.text = *text;
        r.path = name;
        r.folder = name.substr(0, name.rfind('/') + 1);
        out.file = name;
        const auto names_it = [&](const Setting& s) {
            return s.name.find(name) != std::string::npos || s.value.find(name) != std::string::npos;
        };
        for (std::vector<Setting>* list : {&out.launch.loose, &out.launch.flags, &out.launch.words})
            std::erase_if(*list, names_it);
        return out;
    }
    return std::nullopt;
}

void put_around(OuterScript& outer, SettingsText& text) {
    for (Setting& s : text.settings)
        if (s.at.file.empty()) s.at.file = outer.file;
    for (const std::vector<Setting>* list : {&outer.launch.flags, &outer.launch.words})
        text.settings.insert(text.settings.end(), list->begin(), list->end());
    if (!text.launch) text.launch = std::move(outer.launch);
}

}  // namespace pentamesh::interop
