// The sub-commands in one table, in the order in which --help lists them.
#pragma once

#include "core/io/presets.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace pentamesh::cli {

// What a command needs of the program around it.
struct Context {
    std::filesystem::path data_folder;  // holds presets/, and fonts/ in an installed tree
    Presets presets;
    bool json = false;         // --json was given: an error is told in JSON too
    std::function<int()> run;  // set by the command that was named; its exit status
};

struct Command {
    std::string_view name, help;
    // Declares options on its own sub-command. Their values live as long as the context.
    void (*add)(CLI::App& app, Context& context);
};
[[nodiscard]] std::span<const Command> commands();

void add_report(CLI::App& app, Context& context);
void add_groups(CLI::App& app, Context& context);
void add_rank(CLI::App& app, Context& context);
void add_tensors(CLI::App& app, Context& context);
void add_memory(CLI::App& app, Context& context);
void add_comm(CLI::App& app, Context& context);
void add_layer(CLI::App& app, Context& context);
void add_timeline(CLI::App& app, Context& context);
void add_params(CLI::App& app, Context& context);
void add_screenshot(CLI::App& app, Context& context);
void add_review(CLI::App& app, Context& context);
void add_search(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_sensitivity(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_blame(CLI::App& app, Context& context);
void add_presets(CLI::App& app, Context& context);
void add_schema(CLI::App& app, Context& context);
void add_lesson(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);

}  // namespace pentamesh::cli
