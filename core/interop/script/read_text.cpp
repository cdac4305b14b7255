#include "core/interop/script/read_text.h"

#include "core/base/text.h"

#include <utility>

namespace pentamesh::interop {

bool has(std::string_view text, std::string_view what) {
    return text.find(what) != std::string_view::npos;
}

bool has_line(std::string_view text, std::string_view what) {
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
        if (begin == 0 || text[begin - 1] == '\n') return true;
    }
    return false;
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool is_argument_log(std::string_view text) {
    return has(text, "- arguments -") || has(text, "end of arguments");
}

bool is_script(std::string_view text) {
    if (without_blanks(text).starts_with("#!")) return true;
    std::string code;  // without lines that are comments, which may show how a file is used
    for (const std::string_view line : split(text, '\n'))
        if (!without_blanks(line).starts_with("#")) code.append(line).push_back('\n');
    return has(code, " \\\n") || has_line(code, "set -")
           || ((has(code, " --") || has(code, " -m ")) && !has(code, ": "));
}

namespace {

constexpr int kMostBases = 20;  // files that a file starts from, one behind the other

// A section of a file that has _override_ stands in the place of that of the files that it starts from
// (NVIDIA-NeMo/RL, nemo_rl/utils/config.py, merge_with_override).
void drop_replaced(const Node& root, std::vector<Setting>& before) {
    for (const Node::Entry& e : root.entries) {
        const Node* mark = e.value.kind == NodeKind::scalar ? nullptr : e.value.find("_override_");
        if (!mark || flag_of_word(mark->text) != true) continue;
        std::erase_if(before,
                      [&](const Setting& s) { return s.name == e.key || s.name.starts_with(e.key + "."); });
    }
}

// Returns the settings of a file behind those of the files that it starts from; `unread` names one that is
// not there.
std::vector<Setting> with_bases(const Node& root, const TextRequest& r, std::string& unread,
                                const std::string& file = {}, int level = 0) {
    std::vector<Setting> out;
    const std::string folder = file.empty() ? r.folder : file.substr(0, file.rfind('/') + 1);
    std::vector<std::string> files;
    const Node* named = level > kMostBases || r.bases.empty() ? nullptr : root.find(r.bases);
    const auto add = [&](const std::string& name) {
        if (!name.empty() && name != "_self_") files.push_back(name.starts_with("/") ? name : folder + name);
    };
    if (named && named->kind == NodeKind::scalar) add(named->text);
    if (named)
        for (const Node::Entry& e : named->entries) {
            add(e.value.text);
            // Hydra's defaults name a file of a group: "- train: 7b" is train/7b.yaml.
            for (const Node::Entry& group : e.value.entries)
                if (!group.key.empty() && !group.value.text.empty()
                    && group.key.find_first_of(" @/") == std::string::npos)
                    add(group.key + "/" + group.value.text
                        + (is_settings_file(group.value.text) ? "" : ".yaml"));
        }
    for (const std::string& base : files)
        if (const auto text = r.other ? r.other(base) : std::nullopt)
            for (Setting& s : with_bases(read_yaml(*text, base), r, unread, base, level + 1))
                out.push_back(std::move(s));
        else
            unread = base;
    if (!files.empty()) drop_replaced(root, out);
    for (Setting& s : flatten(root)) {
        s.at.file = file;
        out.push_back(std::move(s));
    }
    return out;
}

// Reads MODEL_ARGS of a YAML: flags as keys, true for those without a value.
std::vector<Setting> flags_of_yaml(const Node& root, const TextRequest& r) {
    std::vector<Setting> out;
    const Node* arguments = root.find("MODEL_ARGS");
    if (!arguments) arguments = root.find("ARGS");  // Megatron-LM's examples/moe_recipes, without dashes
    if (!arguments) arguments = &root;
    for (const Setting& s : flatten(*arguments)) {
        // A switch set to false is the same as a missing flag.
        if (s.name.starts_with("--") && (s.value == "false" || s.value == "False") && !s.quoted) continue;
        out.push_back(s);
        if (r.is_switch && r.is_switch(flag_key(s.name)) && s.value == "true") {
            out.back().value.clear();
            out.back().stated = false;
        }
    }
    return out;
}

SettingsText of_yaml(const TextRequest& r) {
    SettingsText out;
    const Node root = read_yaml(r.text, r.path, &out.duplicates);
    out.settings = r.flags ? flags_of_yaml(root, r) : with_bases(root, r, out.unread);
    resolve_references(out.settings, r.given);
    return out;
}

SettingsText of_python(const TextRequest& r) {
    SettingsText out;
    const std::string text = without_partials(r.text);
    PythonSettings made = read_python(text, r.path, r.recipe, r.other, r.known_functions);
    out.settings = std::move(made.settings);
    out.recipes = std::move(made.recipes);
    out.recipe = std::move(made.recipe);
    out.unread = std::move(made.unread);
    resolve_references(out.settings, r.given);
    return out;
}

SettingsText of_script(const TextRequest& r) {
    SettingsText out;
    shell::Given given{r.given, {}, r.other};
    for (const std::string_view word : split_words(r.arguments, " \t\r\n\v\f"))
        given.arguments.emplace_back(word);
    const auto no_switch = [](std::string_view) { return false; };
    Launch launch = read_launch(r.text, r.path, r.is_switch ? r.is_switch : no_switch, given, r.recipe);
    out.settings = launch.flags;
    out.settings.insert(out.settings.end(), launch.words.begin(), launch.words.end());
    if (launch.jobs.size() > 1) out.recipes = launch.jobs, out.recipe = launch.job;
    out.unread = launch.unread;
    out.launch = std::move(launch);
    return out;
}

}  // namespace

SettingsText read_text(TextForm form, const TextRequest& request) {
    SettingsText out;
    switch (form) {
    case TextForm::script: return of_script(request);
    case TextForm::python: return of_python(request);
    case TextForm::yaml: return of_yaml(request);
    case TextForm::toml: out.settings = flatten(read_toml(request.text, request.path)); break;
    case TextForm::argument_log: out.settings = read_argument_log(request.text); break;
    }
    resolve_references(out.settings, request.given);
    return out;
}

}  // namespace pentamesh::interop
