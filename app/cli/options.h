// Commands declare the options of a command line with these. options.cpp is the one file that reads CLI11,
// whose header takes longer to compile than a command.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

}  // namespace pentamesh::cli
