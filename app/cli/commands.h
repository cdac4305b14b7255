// One table holds the sub-commands (commands.cpp), in the order in which --help lists them.
#pragma once

#include "app/cli/options.h"
#include "core/io/presets.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pentamesh::cli {

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
template <typename T>
[[nodiscard]] T& run_with(Options& app, Context& context, int (*act)(const Context&, const T&)) {
    const auto values = std::make_shared<T>();
    app.callback(
        [&context, values, act] { context.run = [&context, values, act] { return act(context, *values); }; });
    return *values;
}

void add_report(Options& app, Context& context);
void add_groups(Options& app, Context& context);
void add_rank(Options& app, Context& context);
void add_tensors(Options& app, Context& context);
void add_memory(Options& app, Context& context);
void add_comm(Options& app, Context& context);
void add_layer(Options& app, Context& context);
void add_timeline(Options& app, Context& context);
void add_params(Options& app, Context& context);
void add_screenshot(Options& app, Context& context);
void add_review(Options& app, Context& context);
void add_search(Options& app, Context& context);
void add_compare(Options& app, Context& context);
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
void add_complete(Options& app, Context& context);
void add_help(Options& app, Context& context);

}  // namespace pentamesh::cli
