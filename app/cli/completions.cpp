#include "app/cli/complete.h"

#include "core/base/text.h"

namespace pentamesh::cli {
namespace {

std::string escaped(std::string_view text, std::string_view which, std::string_view by) {
    std::string out;
    for (const char c : text) {
        if (which.find(c) != std::string_view::npos) out += by;
        out += c;
    }
    return out;
}

// Returns a text between single quotes of a shell.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text)
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    return out + "'";
}

std::vector<std::string> option_names(const CommandInfo& command) {
    std::vector<std::string> out;
    for (const OptionInfo& o : command.options)
        if (!o.positional) out.insert(out.end(), o.names.begin(), o.names.end());
    return out;
}

// Returns what the positionals of a command are completed by: that of the first.
Completed positional_of(const CommandInfo& command) {
    for (const OptionInfo& o : command.options)
        if (o.positional && o.names.front() != "WHAT") return completed_as(o);
    return Completed::nothing;
}
std::vector<std::string> positional_values(const CommandInfo& command) {
    for (const OptionInfo& o : command.options)
        if (o.positional && !o.values.empty()) return o.values;
    return {};
}

std::vector<std::string> listed_names(const std::vector<CommandInfo>& all) {
    std::vector<std::string> out;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].group.empty()) out.push_back(all[i].name);
    return out;
}

// Returns the words of bash that complete one value.
std::string bash_words(Completed as, const std::vector<std::string>& values) {
    switch (as) {
    case Completed::values: return "_pentamesh_reply -W " + in_quotes(join(values, " "));
    case Completed::files: return "_pentamesh_reply -f";
    case Completed::folders: return "_pentamesh_reply -d";
    case Completed::plans:
    case Completed::models:
    case Completed::clusters: return "_pentamesh_ids " + std::string(ids_word(as));
    case Completed::nothing: break;
    }
    return "COMPREPLY=()";
}

void add_bash_command(std::string& values, std::string& rest, const CommandInfo& c) {
    for (const OptionInfo& o : c.options) {
        if (o.positional || o.type.empty()) continue;
        const std::string cases =
            join(o.names, "|", [&](const std::string& n) { return in_quotes(c.name + " " + n); });
        values += "        " + cases + ") " + bash_words(completed_as(o), o.values) + "; return ;;\n";
    }
    const std::vector<std::string> own = positional_values(c);
    rest += "        " + c.name + ") options=" + in_quotes(join(option_names(c), " "))
            + "\n            [[ $cur == -* ]] || { "
            + bash_words(own.empty() ? positional_of(c) : Completed::values, own) + "; return; } ;;\n";
}

constexpr std::string_view kBashHead =
    R"sh(# Completions of pentamesh for bash, written by `pentamesh complete bash`.
_pentamesh_reply() {
    mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}
_pentamesh_ids() {
    mapfile -t COMPREPLY < <(compgen -W "$(pentamesh complete "$1" 2>/dev/null)" -- "$cur"; compgen -f -- "$cur")
}
_pentamesh() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' options i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
)sh";

std::string zsh_value(const OptionInfo& o) {
    const Completed as = completed_as(o);
    const std::string word = o.positional ? o.names.front() : as == Completed::values ? "value" : o.type;
    std::string out = ":" + escaped(word, ":\\", "\\") + ":";
    if (as == Completed::values) return out + "(" + escaped(join(o.values, " "), ":", "\\") + ")";
    if (as == Completed::folders) return out + "_files -/";
    if (as == Completed::files) return out + "_files";
    if (as != Completed::nothing) return out + "_pentamesh_" + std::string(ids_word(as));
    return out + " ";
}

std::string zsh_spec(const OptionInfo& o) {
    if (o.positional) return in_quotes((o.many ? "*" : o.required ? "" : ":") + zsh_value(o));
    const std::string help =
        "[" + escaped(o.help, "[]:\\", "\\") + "]" + (o.type.empty() ? "" : zsh_value(o));
    std::string out;
    for (const std::string& n : o.names) {
        const std::string others = o.many ? "*" : "(" + join(o.names, " ") + ")";
        out += (out.empty() ? "" : " ") + in_quotes(others + n + help);
    }
    return out;
}

std::string fish_rest(const OptionInfo& o) {
    const Completed as = completed_as(o);
    const bool files = takes_files(as) || as == Completed::folders;
    std::string out = o.positional || o.type.empty() ? "" : files ? " -r" : " -x";
    if (files) out += " -F";
    if (as == Completed::values) out += " -a " + in_quotes(join(o.values, " "));
    if (const auto ids = ids_word(as); !ids.empty())
        out += " -a '(pentamesh complete " + std::string(ids) + ")'";
    return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandInfo>& all) {
    std::string values, rest;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].group.empty()) add_bash_command(values, rest, all[i]);
    const std::vector<std::string> names = listed_names(all);
    return std::string(kBashHead) + "            " + join(names, "|")
           + ") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n"
             "    case \"$command $before\" in\n        'help help') _pentamesh_reply -W "
           + in_quotes(join(names, " ")) + "; return ;;\n" + values
           + "    esac\n    case $command in\n        '') options="
           + in_quotes(join(option_names(all.front()), " "))
           + "\n            if [[ $cur != -* ]]; then\n                _pentamesh_ids plans\n"
             "                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "
           + in_quotes(join(names, " ")) + " -- \"$cur\")\n                return\n            fi ;;\n" + rest
           + "    esac\n    _pentamesh_reply -W \"$options\"\n}\ncomplete -o filenames -F _pentamesh "
             "pentamesh\n";
}

std::string zsh_completion(const std::vector<CommandInfo>& all) {
    std::string out =
        "#compdef pentamesh\n# Completions of pentamesh for zsh, written by `pentamesh complete zsh`.\n";
    for (const Completed as : {Completed::plans, Completed::models, Completed::clusters}) {
        const std::string ids(ids_word(as));
        out += "_pentamesh_" + ids + "() {\n    local -a ids\n    ids=(${(f)\"$(pentamesh complete " + ids
               + " 2>/dev/null)\"})\n    compadd -a ids\n" + (takes_files(as) ? "    _files\n" : "") + "}\n";
    }
    out += "_pentamesh_commands() {\n    local -a commands\n    commands=(\n";
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].group.empty())
            out += "        " + in_quotes(all[i].name + ":" + escaped(all[i].help, ":\\", "\\")) + "\n";
    out += "    )\n    _describe command commands\n}\n_pentamesh() {\n    if (( CURRENT == 2 )); then\n"
           "        _pentamesh_commands\n        _pentamesh_plans\n        _arguments";
    for (const OptionInfo& o : all.front().options)
        if (!o.positional) out += " \\\n            " + zsh_spec(o);
    out += "\n        return\n    fi\n    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
           "    case $command in\n";
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].group.empty()) continue;
        out += "        " + all[i].name + ")\n            _arguments";
        for (const OptionInfo& o : all[i].options)
            out += " \\\n                "
                   + (all[i].name == "help" && o.positional ? std::string("':command:_pentamesh_commands'")
                                                            : zsh_spec(o));
        out += " ;;\n";
    }
    return out + "    esac\n}\n_pentamesh \"$@\"\n";
}

std::string fish_completion(const std::vector<CommandInfo>& all) {
    std::string out = "# Completions of pentamesh for fish, written by `pentamesh complete fish`.\n";
    const std::string names = join(listed_names(all), " ");
    const auto add = [&](const CommandInfo& c, const std::string& when) {
        for (const OptionInfo& o : c.options) {
            out += "complete -c pentamesh -n " + when;
            if (!o.positional)
                for (const std::string& n : o.names)
                    out += n.starts_with("--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
            out += (c.name == "help" && o.positional ? " -x -a " + in_quotes(names) : fish_rest(o)) + " -d "
                   + in_quotes(o.help) + "\n";
        }
    };
    out += "complete -c pentamesh -f\n";
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].group.empty())
            out += "complete -c pentamesh -n __fish_use_subcommand -a " + all[i].name + " -d "
                   + in_quotes(all[i].help) + "\n";
    add(all.front(), "__fish_use_subcommand");
    for (std::size_t i = 1; i < all.size(); ++i)
        if (!all[i].group.empty()) add(all[i], in_quotes("__fish_seen_subcommand_from " + all[i].name));
    return out;
}

}  // namespace pentamesh::cli
