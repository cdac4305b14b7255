#include "app/cli/options.h"

#include "app/cli/streams.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>

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
    option_->check(CLI::IsMember(names));
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

std::optional<int> CommandLine::parse(std::vector<std::string> words) {
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
        say_error(std::string("pentamesh: ") + e.what() + "\nRun with --help for more information.");
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

}  // namespace pentamesh::cli
