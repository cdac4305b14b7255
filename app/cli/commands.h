// Commands declare the options of a command line with these. commands.cpp is the one file that reads CLI11,
// whose header takes longer to compile than a command.
#pragma once

#include "core/io/presets.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pentamesh::cli {

// An Option was declared. Each function returns the option itself, so that calls are chained.
class Option {
  public:
    explicit Option(CLI::Option* option) : option_(option) {}
    const Option& required() const;
    // Sets the word that --help shows for the value. FILE, FOLDER, PLAN, MODEL and CLUSTER, and lists such as
    // {dark,light}, are completed by shells.
    const Option& type_name(const std::string& name) const;
    // The value may be given by repeating the option; each time one value follows it.
    const Option& repeatable() const;
    const Option& count(int least, int most) const;
    const Option& range(int least, int most) const;
    const Option& one_of(const std::vector<std::string>& names) const;
    // --help shows the value that `value` has now.
    const Option& show_default() const;
    // It is a usage error to give both options.
    const Option& excludes(const Option& other) const;
    const Option& excludes(const std::string& name) const;

  private:
    CLI::Option* option_;
};

// Holds the options of one command. Values are written into `value` when the command line is read, so it must
// outlive that.
class Options {
  public:
    explicit Options(CLI::App* app) : app_(app) {}
    // `names` is a positional's name in capitals, or "-o,--output". The value is a text, texts, a whole
    // number or a number.
    template <typename T>
    Option add_option(const std::string& names, T& value, const std::string& help);
    Option add_flag(const std::string& names, bool& value, const std::string& help);
    // `called` runs when the command line names this command.
    void callback(std::function<void()> called);

  private:
    CLI::App* app_;
};

// Describes an option or a positional, for what is made of all of them: completions and the man page.
struct OptionInfo {
    std::vector<std::string> names;   // "-o", "--output"; one in capitals: a positional
    std::string help, type;           // the word for the value; empty: a flag
    std::vector<std::string> values;  // that the value may have, where they are few
    bool positional = false, required = false, many = false;
};
struct CommandInfo {
    std::string name, help, group, footer;  // without a group: it is in no list
    std::vector<OptionInfo> options;
};

// Reads a whole command line: options of its own, and commands.
class CommandLine {
  public:
    CommandLine(const std::string& about, const std::string& name, const std::string& version);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;
    [[nodiscard]] Options own();
    // Commands without a group are not listed. --help ends with the footer.
    [[nodiscard]] Options command(std::string_view name, std::string_view help, std::string_view group,
                                  const std::string& footer);
    void set_footer(const std::string& footer);
    // Returns the exit status where nothing is left to do: --help and --version were answered, or a usage
    // error was written to standard error.
    [[nodiscard]] std::optional<int> parse(std::vector<std::string> words);
    // Returns the program itself first, then each command.
    [[nodiscard]] std::vector<CommandInfo> describe() const;

  private:
    std::unique_ptr<CLI::App> app_;
};

// One table holds the sub-commands (commands.cpp), in the order in which --help lists them.

// A command needs this of the program around it.
struct Context {
    std::filesystem::path data_folder;  // holds presets/, and fonts/ in an installed tree
    Presets presets;
    bool json = false;         // --json was given: an error is written in JSON too
    std::string output{};      // the file of -o; empty: standard output
    std::function<int()> run;  // set by the command that was named; its exit status
};

struct Command {
    std::string_view name, help;
    // Declares options on its own sub-command. Their values live as long as the context.
    void (*add)(Options& app, Context& context);
    std::string_view group;            // the heading that it is listed under; empty: it is not listed
    std::string_view examples;         // a line each
    std::string (*notes)() = nullptr;  // more of its --help, before the examples
};
// Lists the fields that a search varies, and their values.
[[nodiscard]] std::string search_notes();
[[nodiscard]] std::span<const Command> commands();

// Says which function runs a command. Returns the values of its options, which the caller declares.
template <typename T, typename Act>
[[nodiscard]] T& run_with(Options& app, Context& context, Act act) {
    const auto values = std::make_shared<T>();
    app.callback(
        [&context, values, act] { context.run = [&context, values, act] { return act(context, *values); }; });
    return *values;
}
template <typename T>
[[nodiscard]] T& run_with(Options& app, Context& context, int (*act)(const Context&, const T&)) {
    return run_with<T, int (*)(const Context&, const T&)>(app, context, act);
}

void add_report(Options& app, Context& context);
void add_groups(Options& app, Context& context);
void add_rank(Options& app, Context& context);
void add_tensors(Options& app, Context& context);
void add_memory(Options& app, Context& context);
void add_comm(Options& app, Context& context);
void add_layer(Options& app, Context& context);
void add_lanes(Options& app, Context& context);
void add_timeline(Options& app, Context& context);
void add_params(Options& app, Context& context);
void add_screenshot(Options& app, Context& context);
void add_embed(Options& app, Context& context);
void add_review(Options& app, Context& context);
void add_search(Options& app, Context& context);
void add_compare(Options& app, Context& context);
void add_move(Options& app, Context& context);
void add_sensitivity(Options& app, Context& context);
void add_export(Options& app, Context& context);
void add_import(Options& app, Context& context);
void add_check(Options& app, Context& context);
void add_calibrate(Options& app, Context& context);
void add_blame(Options& app, Context& context);
void add_hang(Options& app, Context& context);
void add_measured(Options& app, Context& context);
void add_scale(Options& app, Context& context);
void add_presets(Options& app, Context& context);
void add_schema(Options& app, Context& context);
void add_lesson(Options& app, Context& context);
void add_mark(Options& app, Context& context);
void add_bench(Options& app, Context& context);
void add_sweep(Options& app, Context& context);
void add_serve(Options& app, Context& context);
void add_mcp(Options& app, Context& context);
void add_complete(Options& app, Context& context);
void add_help(Options& app, Context& context);

// `import --tools` runs this (tools.cpp).
struct ToolsAsked {
    std::string name;  // of one tool, whose settings are listed; empty: all tools
    bool markdown = false;
    std::string out;  // a file; empty: standard output
};
[[nodiscard]] int list_tools(const Context& context, const ToolsAsked& asked);

// The whole program runs here: it finds the command, runs it, turns every error into a message and an exit
// status.

int run(int argc, char** argv);

// Runs one command line and returns its exit status; it does not throw. `window`: no command opens the
// window.
[[nodiscard]] int run_words(Context& context, std::vector<std::string> words, bool window);

// Describes the program, then each of its commands.
[[nodiscard]] std::vector<CommandInfo> describe_commands();

// Writes completions for shells and a man page, out of the description of all commands. The first of `all` is
// the program itself.

[[nodiscard]] std::string bash_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string fish_completion(const std::vector<CommandInfo>& all);
[[nodiscard]] std::string man_page(const std::vector<CommandInfo>& all);

// Says what a value is completed by. Ids of presets are asked of the program while one types.
enum class Completed { nothing, values, files, folders, plans, models, clusters };
[[nodiscard]] Completed completed_as(const OptionInfo& o);
// Returns the word after `pentamesh complete` that lists the ids; empty where there are none.
[[nodiscard]] std::string_view ids_word(Completed as);
[[nodiscard]] bool takes_files(Completed as);

}  // namespace pentamesh::cli
