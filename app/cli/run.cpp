#include "app/cli/run.h"

#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/cli/streams.h"
#include "app/platform/platform.h"
#include "app/platform/window.h"
#include "app/ui/shell/incoming.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace pentamesh::cli {
namespace {

constexpr std::string_view kExitStatus = "Exit status:\n"
                                         "  0  done\n"
                                         "  1  the plan is invalid, or does not do what was asked\n"
                                         "  2  the command line is wrong\n"
                                         "  3  a file could not be read or written\n\n"
                                         "`pentamesh help COMMAND` shows a command's options and examples.";

const Command* command_called(std::string_view name) {
    for (const Command& c : commands())
        if (c.name == name) return &c;
    return nullptr;
}

// Refuses a word that is neither a command nor a plan: most likely a command misspelt.
[[noreturn]] void refuse_word(const std::string& word) {
    std::vector<std::string_view> known;
    for (const Command& c : commands())
        if (!c.group.empty()) known.push_back(c.name);
    const std::string closest(nearest(word, known));
    const bool near = edit_distance(word, closest) <= std::max<std::size_t>(1, word.size() / 2);
    refuse("\"" + shown_text(word) + "\" is no command, plan file or plan preset"
           + (near ? "; the closest command is \"" + closest + "\"" : "")
           + " (pentamesh --help lists commands)");
}

// Returns nothing where the file is broken.
std::optional<ui::IncomingKind> kind_of(const Context& context, const PlanArgument& argument,
                                        const std::filesystem::path& file) {
    if (file.empty() || !argument.sets.empty()) return ui::IncomingKind::plan;
    const std::string text = read_file(file);
    try {
        return ui::read_incoming(text, argument.name, context.presets).kind;
    } catch (const Error& e) {
        say_error(std::string("pentamesh: ") + e.what());
        return std::nullopt;
    }
}

int open_window(Context& context, const PlanArgument& argument) {
    WindowArgs args;
    args.data_folder = context.data_folder;
    args.config_folder = config_folder();
    args.home = home_folder();
    if (argument.name.ends_with(".md")) {
        if (!argument.sets.empty()) refuse("--set needs a PLAN, not a lesson");
        static_cast<void>(
            read_file(argument.name));  // says what is wrong with it while the terminal is looked at
        args.opened = argument.name;
    } else if (!argument.name.empty()) {
        const std::filesystem::path file = file_of(context, argument);
        const std::optional<ui::IncomingKind> kind = kind_of(context, argument, file);
        if (kind != ui::IncomingKind::plan && kind != ui::IncomingKind::plan_inside) {
            args.opened = file;  // the window says of a broken file what is wrong with it
        } else {
            LoadedPlan loaded = load_plan_and_sets(context, argument);
            args.saved = argument.sets.empty() || loaded.before.has_value();
            if (loaded.before) args.edited = std::exchange(loaded.plan, std::move(*loaded.before));
            args.plan = std::move(loaded.plan);
            if (kind == ui::IncomingKind::plan) args.plan_file = file;  // a picture is not written over
        }
    } else if (!argument.sets.empty()) {
        refuse("--set needs a PLAN");
    }
    run_window(context.presets, args);
    return 0;
}

int tell(const Error& e, const Context& context) {
    say_error(std::string("pentamesh: ") + e.what());
    if (context.json && e.kind() == ErrorKind::invalid) {
        try {
            print_json(pretty(json_of_error(e)));
        } catch (const Error& again) {
            say_error(std::string("pentamesh: ") + again.what());
        }
    }
    return e.exit_status();
}

// Returns how many words before the command set a field: "--set layout.tp=4".
std::size_t leading_sets(const std::vector<std::string>& words) {
    std::size_t n = 0;
    while (n < words.size() && (words[n] == "--set" || words[n].starts_with("--set=")))
        n += words[n] == "--set" ? 2 : 1;
    return std::min(n, words.size());
}

bool is_plan_name(const Context& context, const std::string& word) {
    std::error_code ignored;
    return word.empty() || word.find_first_of("/\\.-{") == 0
           || word.find_first_of("/\\.") != std::string::npos || context.presets.has(PresetKind::plan, word)
           || std::filesystem::exists(word, ignored);
}

// Puts --set behind the command that it stands before, and turns `help COMMAND` into `COMMAND --help`. A
// first word that is no command and no plan is refused.
std::vector<std::string> arranged(const Context& context, std::vector<std::string> words) {
    const std::size_t at = leading_sets(words);
    if (at == words.size()) return words;
    const std::string first = words[at];
    if (first == "help" && words.size() <= at + 2 && words.back() != "--help") {
        if (words.size() == at + 1) return {"--help"};
        if (!command_called(words.back())) refuse_word(words.back());
        return {words.back(), "--help"};
    }
    if (command_called(first)) {
        const auto begin = words.begin();
        std::rotate(begin, begin + static_cast<std::ptrdiff_t>(at),
                    begin + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (!is_plan_name(context, first)) {
        refuse_word(first);
    }
    return words;
}

std::string footer_of(const Command& c) {
    std::string out = c.notes ? c.notes() + "\n" : "";
    if (!c.examples.empty()) out += "Examples:\n";
    for (const std::string_view line : split_lines(c.examples)) out += "  " + std::string(line) + "\n";
    while (out.ends_with('\n')) out.pop_back();
    return out;
}

// Holds the command line with all commands, or with the one that is named, and the values of the window's own
// options.
struct WholeLine {
    CommandLine line{
        "Live answers about laying a training run over a cluster. Without a command: the window opens.",
        "pentamesh", "pentamesh " PENTAMESH_VERSION};
    PlanArgument window;

    explicit WholeLine(Context& context, const Command* only = nullptr) {
        Options own = line.own();
        own.add_option("PLAN", window.name, "open the window on a plan file or a plan preset");
        add_sets(own, window.sets);
        for (const Command& c : commands()) {
            if (only && only->name != c.name) continue;
            Options options = line.command(c.name, c.help, c.group, footer_of(c));
            c.add(options, context);
        }
        line.set_footer(std::string(kExitStatus));
    }
};

int run_line(Context& context, std::vector<std::string> words, bool window) {
    words = arranged(context, std::move(words));
    WholeLine all(context, words.empty() ? nullptr : command_called(words.front()));
    if (const std::optional<int> status = all.line.parse(std::move(words))) return *status;
    if (!context.run) {
        if (window) return open_window(context, all.window);
        refuse("a command is missing");
    }
    const auto act = std::exchange(context.run, {});  // `serve` runs others meanwhile
    const std::string file = context.output;
    if (file.empty() || file == "-") return act();
    KeptOutput kept;
    const int status = act();
    if (!kept.text().empty()) write_output(file, kept.text());
    return status;
}

}  // namespace

std::vector<CommandInfo> describe_commands() {
    Context none{{}, Presets(std::filesystem::path()), false, {}, {}};
    return WholeLine(none).line.describe();
}

int run_words(Context& context, std::vector<std::string> words, bool window) {
    context.json = false;
    context.output.clear();
    context.run = {};
    forget_inputs();
    try {
        return run_line(context, std::move(words), window);
    } catch (const Error& e) {
        return tell(e, context);
    } catch (const std::bad_alloc&) {
        say_error("pentamesh: there is not enough memory for this");
    } catch (const std::exception& e) {
        say_error(std::string("pentamesh: ") + e.what());
    }
    return 1;
}

int run(int argc, char** argv) {
    survive_failed_writes();
    const std::filesystem::path presets =
        find_data_folder(executable_path(argc > 0 ? argv[0] : nullptr), "presets");
    if (std::error_code error; !std::filesystem::is_directory(presets, error))
        say_error(
            "pentamesh: the presets are not in " + presets.string()
            + ": the program lies in the folder bin of a tree that has them (cmake --install), or where it "
              "was built");
    Context context{presets.parent_path(), Presets(presets, config_folder()), false, {}, {}};
    return run_words(context, {argv + std::min(argc, 1), argv + argc}, true);
}

}  // namespace pentamesh::cli
