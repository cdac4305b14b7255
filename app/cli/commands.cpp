#include "app/cli/commands.h"

#include "app/cli/output.h"
#include "app/platform/platform.h"
#include "app/platform/window.h"
#include "app/ui/shell/files.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/runs/run_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace pentamesh::cli {

const Option& Option::required() const {
    option_->required();
    return *this;
}

const Option& Option::type_name(const std::string& name) const {
    option_->type_name(name);
    return *this;
}

const Option& Option::repeatable() const {
    option_->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return *this;
}

const Option& Option::count(int least, int most) const {
    option_->expected(least, most);
    return *this;
}

const Option& Option::range(int least, int most) const {
    option_->check(CLI::Range(least, most));
    return *this;
}

const Option& Option::one_of(const std::vector<std::string>& names) const {
    const auto refused = [names](const std::string& word) -> std::string {
        if (std::find(names.begin(), names.end(), word) != names.end()) return {};
        const std::vector<std::string_view> known(names.begin(), names.end());
        return "found \"" + shown_text(word) + "\", must be one of " + join(known, ", ")
               + (known.size() > 1 ? "; the closest is \"" + std::string(nearest(word, known)) + "\""
                                   : std::string());
    };
    option_->check(CLI::Validator(refused, "{" + join(names, ",") + "}"));
    return *this;
}

const Option& Option::show_default() const {
    option_->capture_default_str();
    return *this;
}

const Option& Option::excludes(const Option& other) const {
    option_->excludes(other.option_);
    return *this;
}

const Option& Option::excludes(const std::string& name) const {
    option_->excludes(name);
    return *this;
}

template <typename T>
Option Options::add_option(const std::string& names, T& value, const std::string& help) {
    return Option(app_->add_option(names, value, help));
}
template Option Options::add_option(const std::string&, std::string&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Options::add_option(const std::string&, int&, const std::string&);
template Option Options::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Options::add_option(const std::string&, double&, const std::string&);

Option Options::add_flag(const std::string& names, bool& value, const std::string& help) {
    return Option(app_->add_flag(names, value, help));
}

void Options::callback(std::function<void()> called) {
    app_->callback(std::move(called));
}

CommandLine::CommandLine(const std::string& about, const std::string& name, const std::string& version)
    : app_(std::make_unique<CLI::App>(about, name)) {
    app_->set_version_flag("--version", version);
    app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

Options CommandLine::own() {
    return Options(app_.get());
}

Options CommandLine::command(std::string_view name, std::string_view help, std::string_view group,
                             const std::string& footer) {
    CLI::App* command = app_->add_subcommand(std::string(name), std::string(help));
    command->group(std::string(group));
    command->footer(footer);
    return Options(command);
}

void CommandLine::set_footer(const std::string& footer) {
    app_->footer(footer);
}

namespace {

// Names the first option that the command does not have, and the closest that it has. Of other words that are
// too many, what the parser says stays.
std::string unexpected(const std::vector<CommandInfo>& commands, const std::vector<std::string>& words,
                       const std::string& said) {
    const CommandInfo* command = &commands.front();
    for (const std::string& w : words) {
        const auto at = std::find_if(commands.begin() + 1, commands.end(),
                                     [&](const CommandInfo& c) { return c.name == w; });
        if (at == commands.end()) continue;
        command = &*at;
        break;
    }
    std::vector<std::string_view> known;
    for (const OptionInfo& o : command->options)
        if (!o.positional) known.insert(known.end(), o.names.begin(), o.names.end());
    for (const std::string& w : words) {
        const std::string name = w.substr(0, w.find('='));
        if (!name.starts_with("--") || name.size() < 3) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return shown_text(name) + " is no option of " + command->name + "; the closest is "
               + std::string(nearest(name, known));
    }
    return said;
}

}  // namespace

std::optional<int> CommandLine::parse(std::vector<std::string> words) {
    const std::vector<std::string> asked = words;
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    try {
        app_->parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        print(app_->help());
        return 0;
    } catch (const CLI::CallForVersion& e) {
        print(std::string(e.what()) + "\n");
        return 0;
    } catch (const CLI::ParseError& e) {
        std::string wrong = e.what();
        // Only `lesson` has the option: there it is the room's, whose types of state come with it.
        const bool software =
            wrong.find("not expected") != std::string::npos && wrong.find("--software") != std::string::npos;
        if (wrong.find("not expected") != std::string::npos) wrong = unexpected(describe(), asked, wrong);
        say_error("pentamesh: " + wrong
                  + (software ? "\nA plan's software is a field of it: --set software=torchtitan" : "")
                  + "\nRun with --help for more information.");
        return 2;
    }
    return std::nullopt;
}

namespace {

// Cuts "TEXT:{dark,light}" into its values; none where it lists none.
std::vector<std::string> values_in(const std::string& type) {
    const std::size_t open = type.find('{'), close = type.rfind('}');
    if (open == std::string::npos || close == std::string::npos || close < open) return {};
    const auto values = split_words(std::string_view(type).substr(open + 1, close - open - 1), ",|");
    return {values.begin(), values.end()};
}

OptionInfo info_of(const CLI::Option& o) {
    OptionInfo out;
    out.positional = !o.nonpositional();
    if (out.positional) {
        out.names = {o.get_name(true, false)};
    } else {
        for (const std::string& n : o.get_snames()) out.names.push_back("-" + n);
        for (const std::string& n : o.get_lnames()) out.names.push_back("--" + n);
    }
    out.help = o.get_description();
    if (o.get_type_size() != 0) out.type = o.get_type_name();
    out.values = values_in(out.type);
    out.required = o.get_required();
    out.many = o.get_expected_max() > 1 || o.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    return out;
}

CommandInfo info_of(const CLI::App& app) {
    CommandInfo out{app.get_name(), app.get_description(), app.get_group(), app.get_footer(), {}};
    for (const CLI::Option* o : app.get_options()) out.options.push_back(info_of(*o));
    return out;
}

}  // namespace

std::vector<CommandInfo> CommandLine::describe() const {
    const CLI::App& app = *app_;
    std::vector<CommandInfo> out{info_of(app)};
    for (const CLI::App* c : app.get_subcommands({})) out.push_back(info_of(*c));
    return out;
}

namespace {

constexpr std::string_view kFigures = "A plan in figures", kChoice = "Which layout, and why",
                           kFrameworks = "Frameworks and their settings", kRuns = "Runs that were made",
                           kPages = "Pictures, pages, lessons", kProgram = "The program";

constexpr std::size_t kRunCommands = 3;
constexpr std::array kCommands{
    Command{"report", "the whole evaluation of a plan", add_report, kFigures,
            "pentamesh report llama-3.1-405b-16k\n"
            "pentamesh report llama-3-70b-3d --set layout.tp=4 --set layout.dp_shard=16 --json\n"
            "pentamesh report mesh-8 --html -o report.html\n"},
    Command{"memory", "bytes per GPU by category and pipeline stage", add_memory, kFigures,
            "pentamesh memory llama-3-70b-3d\n"
            "pentamesh memory llama-3-70b-3d --csv -o memory.csv\n"},
    Command{"comm", "every collective of one step", add_comm, kFigures,
            "pentamesh comm llama-3-70b-3d\n"
            "pentamesh comm deepseek-v3-2048 --markdown\n"},
    Command{"timeline", "the pipeline schedule in time", add_timeline, kFigures,
            "pentamesh timeline llama-3-70b-3d\n"
            "pentamesh timeline llama-3-70b-3d --costs F=1,I=1,W=1,comm=0\n"
            "pentamesh timeline llama-3-70b-3d --trace trace.json          # Perfetto opens it\n"},
    Command{"groups", "rank groups by axis and the tiers they cross", add_groups, kFigures,
            "pentamesh groups mesh-8\n"
            "pentamesh groups llama-3-70b-3d --axis tp dp_shard --summary\n"},
    Command{"rank", "one GPU: coordinates, groups, what it holds, whom it talks to", add_rank, kFigures,
            "pentamesh rank mesh-8 5\n"
            "pentamesh rank mesh-8 5 --hosts node[01-02]\n"},
    Command{"tensors", "every tensor: shape, placement by axis, bytes per rank", add_tensors, kFigures,
            "pentamesh tensors llama-3-70b-3d\n"},
    Command{"layer", "one layer step by step, forward and backward", add_layer, kFigures,
            "pentamesh layer llama-3-70b-3d\n"
            "pentamesh layer deepseek-v3-2048 --kind moe --notation dtensor\n"},
    Command{"lanes", "one micro-batch of a stage on its lanes: what hides, what waits and why", add_lanes,
            kFigures,
            "pentamesh lanes llama-3-8b-fsdp\n"
            "pentamesh lanes llama-3-70b-3d --stage 2 --json\n"},
    Command{"params", "parameter counts of a model", add_params, kFigures, "pentamesh params llama-3-8b\n"},
    Command{"search", "ranked layouts for a model on a cluster", add_search, kChoice,
            "pentamesh search llama-3-70b-3d --hold tp=8 --vary pp=1..8\n"
            "pentamesh search llama-3-70b-3d --hold \"pp<=8\" --hold \"memory<=70GiB\" --hold \"tp inside "
            "the node\"\n"
            "pentamesh search llama-3-70b-3d --goal memory --within 5%    # least memory near the best time\n"
            "pentamesh search --model llama-3-8b --cluster h100-sxm-ib --gpus 64 --for torchtitan\n",
            search_notes},
    Command{"compare", "plans side by side, and why one is faster", add_compare, kChoice,
            "pentamesh compare llama-3.1-405b-8k llama-3.1-405b-16k\n"
            "pentamesh compare mesh-8 hsdp-64 -o compare.svg\n"},
    Command{
        "move", "from one layout to another: what stays, what moves over which wire, how long at least",
        add_move, kChoice,
        "pentamesh move llama-3-70b-3d --set-b layout.tp=4 --set-b layout.pp=2 --set-b layout.dp_shard=32\n"
        "pentamesh move llama-3.1-405b-8k llama-3.1-405b-16k --state all    # a cluster that grew\n"},
    Command{"sensitivity", "what each choice and constant is worth", add_sensitivity, kChoice,
            "pentamesh sensitivity mesh-8\n"},
    Command{"scale", "how far a plan scales: over GPUs, batch or sequence, and what sets the limit",
            add_scale, kChoice,
            "pentamesh scale llama-3.1-405b-16k\n"
            "pentamesh scale llama-3-70b-3d --weak --from 64 --to 4096\n"},
    Command{"sweep", "many variants of a plan, a row each", add_sweep, kChoice,
            "pentamesh sweep mesh-8 --vary training.micro_batch=1,2,4 --vary layout.zero=0,1,3\n"
            "pentamesh sweep mesh-8 --vary training.sequence_length=4096,8192 --csv -o sweep.csv\n"},
    Command{"import", "a plan out of a framework's settings", add_import, kFrameworks,
            "pentamesh import train.sh -o train.plan.json\n"
            "pentamesh import ds_config.json --model llama-3-8b --gpus 64 --json\n"
            "pentamesh import --tools roll    # what is known of a tool's settings\n"},
    Command{"export", "a framework's settings for a plan", add_export, kFrameworks,
            "pentamesh export llama-3-70b-3d --to megatron\n"
            "pentamesh export mesh-8 --to device-mesh -o mesh.py\n"},
    Command{"check", "a folder of recipes, scripts and plans: a line each, exit 1 where one cannot run",
            add_check, kFrameworks,
            "pentamesh check recipes --why\n"
            "pentamesh check recipes --gpus 64 --junit recipes.xml\n"},
    Command{"blame", "which groups, links, stages and nodes some ranks share, and who waits", add_blame,
            kRuns,
            "pentamesh blame llama-3-70b-3d 12 76 140\n"
            "pentamesh blame llama-3-70b-3d 0-7 --hosts node[01-32]\n"},
    Command{"screenshot", "a picture of a view, without a display", add_screenshot, kPages,
            "pentamesh screenshot mesh-8 -o mesh.png --view mesh\n"
            "pentamesh screenshot llama-3-8b-fsdp -o zero.png --view memory --page sheds\n"
            "pentamesh screenshot llama-3-70b-3d -o step.svg --view step --theme light --size 1200xauto\n"},
    Command{
        "embed", "one file with a view that lives in somebody's page: a lecture, a notebook", add_embed,
        kPages,
        "pentamesh embed mesh-8 --view mesh --static -o mesh.html\n"
        "pentamesh embed llama-3-8b-fsdp --view memory --page sheds --theme light --static -o zero.html\n"},
    Command{"review", "pages for a design review: PDF, HTML, or a folder of pictures", add_review, kPages,
            "pentamesh review llama-3-70b-3d -o review.pdf\n"
            "pentamesh review llama-3.1-405b-8k llama-3.1-405b-16k -o review.html\n"},
    Command{"lesson", "a lesson as text or as a page with pictures; what is wrong with one", add_lesson,
            kPages,
            "pentamesh lesson\n"
            "pentamesh lesson 01-two-walls --html -o page.html\n"},
    Command{"mark", "what pupils handed in: a line each, and how each question was answered", add_mark,
            kPages,
            "pentamesh mark handed-in\n"
            "pentamesh mark handed-in --csv -o marks.csv\n"},
    Command{"presets", "models, GPUs, clusters and plans: those that ship, and your own", add_presets,
            kProgram, "pentamesh presets\n"},
    Command{"schema", "JSON Schema of the plan file", add_schema, kProgram, "pentamesh schema plan\n"},
    Command{"serve", "answers requests, a line of JSON each, until its input ends", add_serve, kProgram,
            "echo '{\"id\": 1, \"command\": \"memory\", \"args\": [\"mesh-8\", \"--json\"]}' | pentamesh "
            "serve\n"},
    Command{"mcp", "the same answers for assistants: a Model Context Protocol server on its input and output",
            add_mcp, kProgram,
            "echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}' | pentamesh mcp\n"},
    Command{"bench", "engine and frame benchmarks", add_bench, kProgram,
            "pentamesh bench --quick\npentamesh bench --json\n"},
    Command{"help", "the help of a command", add_help, kProgram, "pentamesh help search\n"},
    Command{"complete", "completions of a shell, the man page, or the ids of presets", add_complete, "", ""},
    // Those that read files of real runs are the last: a build without PENTAMESH_RUNS has none of them.
    Command{"calibrate", "constants of your cluster out of your own runs", add_calibrate, kRuns,
            "pentamesh calibrate runs.json -o constants.json\n"
            "pentamesh calibrate train.log all_reduce.txt --cluster h100-sxm-ib --save ours\n"},
    Command{"hang", "who hangs, and who waits for whom: a folder of flight-recorder dumps", add_hang, kRuns,
            "pentamesh hang dumps\n"
            "pentamesh hang dumps --plan job.plan.json --json\n"},
    Command{"measured", "where a run's time goes, beside its plan: traces, logs", add_measured, kRuns,
            "pentamesh measured rank0.pt.trace.json.gz --plan job.plan.json\n"
            "pentamesh measured train.log --plan job.plan.json\n"
            "pentamesh measured inspector/node0.log --plan job.plan.json --json\n"},
};

int refuse_help(const Context& /*context*/, const std::vector<std::string>& /*words*/) {
    refuse("help takes one command: pentamesh help search");
}

}  // namespace

// `pentamesh help COMMAND` is answered before commands are looked for.
void add_help(Options& app, Context& context) {
    app.add_option("COMMAND", run_with(app, context, refuse_help), "which command");
}

std::span<const Command> commands() {
    return std::span(kCommands).first(kCommands.size() - (runs::kReadsRuns ? 0 : kRunCommands));
}

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

int open_window(Context& context, const PlanArgument& argument, const std::string& lessons) {
    WindowArgs args;
    args.lessons_folder = own_lessons_folder(lessons);
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
    std::string lessons;  // a folder of one's own

    explicit WholeLine(Context& context, const Command* only = nullptr) {
        Options own = line.own();
        own.add_option("PLAN", window.name, "open the window on a plan file or a plan preset");
        add_plan_options(own, window);
        add_lessons(own, lessons);
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
        if (window) return open_window(context, all.window, all.lessons);
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

// `complete` writes what shells and `man` need to know of the command line, out of the tables that read it.

namespace {

std::string ids_of(const Context& context, PresetKind kind) {
    std::string out;
    for (const Presets::Entry& e : context.presets.list(kind)) out += e.id + "\n";
    return out;
}

int complete(const Context& context, const std::string& what) {
    if (what == "plans") {
        print(ids_of(context, PresetKind::plan));
    } else if (what == "models") {
        print(ids_of(context, PresetKind::model));
    } else if (what == "clusters") {
        print(ids_of(context, PresetKind::cluster));
    } else {
        const std::vector<CommandInfo> all = describe_commands();
        print(what == "bash"   ? bash_completion(all)
              : what == "zsh"  ? zsh_completion(all)
              : what == "fish" ? fish_completion(all)
                               : man_page(all));
    }
    return 0;
}

}  // namespace

Completed completed_as(const OptionInfo& o) {
    const std::string& word = o.positional ? o.names.front() : o.type;
    struct Row {
        std::string_view word;
        Completed as;
    };
    static constexpr std::array<Row, 6> kRows{{{"PLAN", Completed::plans},
                                               {"PLAN_B", Completed::plans},
                                               {"MODEL", Completed::models},
                                               {"CLUSTER", Completed::clusters},
                                               {"FILE", Completed::files},
                                               {"FOLDER", Completed::folders}}};
    if (!o.values.empty()) return Completed::values;
    for (const Row& r : kRows)
        if (word == r.word || word.starts_with(std::string(r.word) + ":")) return r.as;
    return Completed::nothing;
}

std::string_view ids_word(Completed as) {
    switch (as) {
    case Completed::plans: return "plans";
    case Completed::models: return "models";
    case Completed::clusters: return "clusters";
    default: return "";
    }
}

bool takes_files(Completed as) {
    return as == Completed::files || as == Completed::plans || as == Completed::models;
}

void add_complete(Options& app, Context& context) {
    app.add_option("WHAT", run_with(app, context, complete), "what to write")
        .required()
        .one_of({"bash", "zsh", "fish", "man", "plans", "models", "clusters"});
}

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

namespace {

// Returns a text as troff takes it: no line begins with a dot or a quote, dashes and backslashes are plain.
std::string roff(std::string_view text) {
    std::string out;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        begins = c == '\n';
    }
    return out;
}

void add_option(std::string& out, const OptionInfo& o) {
    std::string names;
    for (const std::string& n : o.names) names += (names.empty() ? "\\fB" : ", \\fB") + roff(n) + "\\fR";
    const std::size_t values = o.type.find(":{");
    std::string type = roff(o.type.substr(values == std::string::npos ? 0 : values + 1));
    for (std::size_t at = type.find(','); at != std::string::npos; at = type.find(',', at + 1))
        type.insert(at + 1, "\\:");  // a long list of values may break here
    out += ".TP\n" + names + (o.type.empty() || o.positional ? "" : " \\fI" + type + "\\fR") + "\n"
           + roff(o.help) + (o.many && !o.help.ends_with("repeated") ? " (several)" : "") + "\n";
}

// Splits the footer into paragraphs that keep their lines.
void add_footer(std::string& out, const std::string& footer) {
    if (footer.empty()) return;
    out += ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
}

void add_usage(std::string& out, const CommandInfo& c) {
    out += ".PP\n\\fBpentamesh " + roff(c.name) + "\\fR";
    bool options = false;
    for (const OptionInfo& o : c.options) options = options || !o.positional;
    if (options) out += " [options]";
    for (const OptionInfo& o : c.options) {
        if (!o.positional) continue;
        const std::string name = "\\fI" + roff(o.names.front()) + "\\fR" + (o.many ? " ..." : "");
        out += o.required ? " " + name : " [" + name + "]";
    }
    out += "\n";
}

}  // namespace

std::string man_page(const std::vector<CommandInfo>& all) {
    const CommandInfo& program = all.front();
    std::string out =
        ".\\\" Written by `pentamesh complete man`.\n.TH PENTAMESH 1 \"\" \"pentamesh " PENTAMESH_VERSION
        "\" \"User commands\"\n.ad l\n.SH NAME\npentamesh \\- lays a training run over a cluster, with live "
        "answers\n"
        ".SH SYNOPSIS\n\\fBpentamesh\\fR [\\fIPLAN\\fR]\n.br\n\\fBpentamesh\\fR \\fICOMMAND\\fR [options]\n"
        ".SH DESCRIPTION\n";
    out += roff(program.help) + "\n.SH OPTIONS\n";
    for (const OptionInfo& o : program.options) add_option(out, o);
    std::string group;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const CommandInfo& c = all[i];
        if (c.group.empty()) continue;
        if (c.group != group) out += ".SH \"" + roff(c.group) + "\"\n";
        group = c.group;
        out += ".SS " + c.name + "\n" + roff(c.help) + ".\n";
        add_usage(out, c);
        for (const OptionInfo& o : c.options) add_option(out, o);
        add_footer(out, c.footer);
    }
    out += ".SH \"EXIT STATUS AND HELP\"\n";
    add_footer(out, program.footer);
    return out;
}

}  // namespace pentamesh::cli
