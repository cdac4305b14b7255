#include "app/cli/run.h"

#include "app/cli/commands.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/platform/platform.h"
#include "app/platform/window.h"
#include "app/ui/shell/incoming.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <array>
#include <iostream>
#include <new>
#include <optional>
#include <utility>

namespace pentamesh::cli {
namespace {

constexpr std::array kCommands{
    Command{"report", "the whole evaluation of a plan", add_report},
    Command{"groups", "rank groups by axis and the tiers they cross", add_groups},
    Command{"rank", "one GPU: coordinates, groups, what it holds, whom it talks to", add_rank},
    Command{"tensors", "every tensor: shape, placement by axis, bytes per rank", add_tensors},
    Command{"memory", "bytes per GPU by category and pipeline stage", add_memory},
    Command{"comm", "every collective of one step", add_comm},
    Command{"layer", "one layer step by step, forward and backward", add_layer},
    Command{"timeline", "the pipeline schedule in time", add_timeline},
    Command{"params", "parameter counts of a model", add_params},
    Command{"screenshot", "a picture of a view, without a display", add_screenshot},
    Command{"review", "pages for a design review: PDF, HTML, or a folder of pictures", add_review},
    Command{"search", "ranked layouts for a model on a cluster", add_search},
    Command{"compare", "plans side by side", add_compare},
    Command{"sensitivity", "what each choice and constant is worth", add_sensitivity},
    Command{"scale", "how far a plan scales: over GPUs, batch or sequence, and what sets the limit",
            add_scale},
    Command{"export", "a framework's settings for a plan", add_export},
    Command{"import", "a plan out of a framework's settings", add_import},
    Command{"check", "a folder of recipes, scripts and plans: a line each, exit 1 where one cannot run",
            add_check},
    Command{"calibrate", "constants of your cluster out of your own runs", add_calibrate},
    Command{"blame", "which groups, links, stages and nodes some ranks share, and who waits", add_blame},
    Command{"hang", "who hangs, and who waits for whom: a folder of flight-recorder dumps", add_hang},
    Command{"presets", "models, GPUs, clusters and plans: those that ship, and your own", add_presets},
    Command{"schema", "JSON Schema of the plan file", add_schema},
    Command{"lesson", "a lesson as text or as a page with pictures; what is wrong with one", add_lesson},
    Command{"bench", "engine and frame benchmarks", add_bench},
};

// Refuses a word that is neither a command nor a plan: most likely a command misspelt.
[[noreturn]] void refuse_word(const std::string& word) {
    std::vector<std::string_view> known;
    for (const Command& c : kCommands) known.push_back(c.name);
    throw Error(ErrorKind::usage, "", "",
                "\"" + shown_text(word)
                    + "\" is no command, plan file or plan preset; the closest command is \""
                    + std::string(nearest(word, known)) + "\" (pentamesh --help lists them)");
}

// Returns nothing where the file is broken.
std::optional<ui::IncomingKind> kind_of(const Context& context, const PlanArgument& argument,
                                        const std::filesystem::path& file) {
    if (file.empty() || !argument.sets.empty()) return ui::IncomingKind::plan;
    const std::string text = read_file(file);
    try {
        return ui::read_incoming(text, argument.name, context.presets).kind;
    } catch (const Error& e) {
        std::cerr << "pentamesh: " << e.what() << "\n";
        return std::nullopt;
    }
}

int open_window(Context& context, const PlanArgument& argument) {
    WindowArgs args;
    args.data_folder = context.data_folder;
    args.config_folder = config_folder();
    args.home = home_folder();
    if (argument.name.ends_with(".md")) {
        if (!argument.sets.empty()) throw Error(ErrorKind::usage, "", "", "--set needs a PLAN, not a lesson");
        static_cast<void>(
            read_file(argument.name));  // says what is wrong with it while the terminal is looked at
        args.opened = argument.name;
    } else if (!argument.name.empty()) {
        std::error_code ignored;
        const bool word = argument.name.find_first_of("/\\.") == std::string::npos && argument.name != "-";
        if (word && !context.presets.has(PresetKind::plan, argument.name)
            && !std::filesystem::exists(argument.name, ignored))
            refuse_word(argument.name);
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
        throw Error(ErrorKind::usage, "", "", "--set needs a PLAN");
    }
    run_window(context.presets, args);
    return 0;
}

int tell(const Error& e, const Context& context) {
    std::cerr << "pentamesh: " << e.what() << "\n";
    if (context.json && e.kind() == ErrorKind::invalid) {
        try {
            print(pretty(json_of_error(e)));
        } catch (const Error& again) {
            std::cerr << "pentamesh: " << again.what() << "\n";
        }
    }
    return e.exit_status();
}

}  // namespace

std::span<const Command> commands() {
    return kCommands;
}

int run(int argc, char** argv) {
    survive_failed_writes();
    const std::filesystem::path presets =
        find_data_folder(executable_path(argc > 0 ? argv[0] : nullptr), "presets");
    Context context{presets.parent_path(), Presets(presets, config_folder()), false, {}};
    CommandLine line(
        "Live answers about laying a training run over a cluster. Without a command: the window opens.",
        "pentamesh", "pentamesh " PENTAMESH_VERSION);
    PlanArgument window;
    Options own = line.own();
    own.add_option("PLAN", window.name, "open the window on a plan file or a plan preset");
    add_sets(own, window.sets);
    for (const Command& c : kCommands) {
        Options options = line.command(c.name, c.help);
        c.add(options, context);
    }
    try {
        if (const std::optional<int> status = line.parse(argc, argv)) return *status;
        return context.run ? context.run() : open_window(context, window);
    } catch (const Error& e) {
        return tell(e, context);
    } catch (const std::bad_alloc&) {
        std::cerr << "pentamesh: there is not enough memory for this\n";
        return 1;
    } catch (const std::exception& e) {
        std::cerr << "pentamesh: " << e.what() << "\n";
        return 1;
    }
}

}  // namespace pentamesh::cli
