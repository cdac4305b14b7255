// Commands that are not there yet say so.
#include "app/cli/commands.h"
#include "core/base/error.h"

namespace pentamesh::cli {
namespace {

void add_later(CLI::App& app, Context& context, const char* name) {
    app.allow_extras();
    app.callback([&context, name] {
        context.run = [name]() -> int {
            throw Error(ErrorKind::invalid, "", "", std::string(name) + " is not there yet in this version");
        };
    });
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
    add_later(app, context, "export");
}

}  // namespace pentamesh::cli
