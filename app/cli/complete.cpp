// `complete` writes what shells and `man` need to know of the command line, out of the tables that read it.
#include "app/cli/complete.h"
#include "app/cli/run.h"
#include "app/cli/streams.h"
#include "core/base/error.h"

#include <array>

namespace pentamesh::cli {
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

}  // namespace pentamesh::cli
