#include "app/cli/options.h"

#include <CLI/CLI.hpp>
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

Options CommandLine::command(std::string_view name, std::string_view help) {
    return Options(app_->add_subcommand(std::string(name), std::string(help)));
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    try {
        app_->parse(argc, argv);
    } catch (const CLI::Success& e) {  // --help, --version
        return app_->exit(e);
    } catch (const CLI::ParseError& e) {
        std::cerr << "pentamesh: " << e.what() << "\nRun with --help for more information.\n";
        return 2;
    }
    return std::nullopt;
}

}  // namespace pentamesh::cli
