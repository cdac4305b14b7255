#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/sections.h"
#include "core/base/nearest.h"
#include "core/io/plan_json.h"

namespace pentamesh::cli {
namespace {

Model load_model(const Context& context, const std::string& name) {
    const Presets& presets = context.presets;
    if (presets.has(PresetKind::model, name)) return presets.model(name);
    std::error_code ignored;
    if (name != "-" && !std::filesystem::exists(name, ignored)) {
        std::vector<std::string_view> ids;
        for (const Presets::Entry& e : presets.list(PresetKind::model)) ids.push_back(e.id);
        throw Error(ErrorKind::io, name, "",
                    "there is no such file, and no such model preset; the closest preset is \""
                        + std::string(nearest(name, ids)) + "\"");
    }
    return parse_model(read_input(name), name, presets);
}

struct ParamsOptions {
    std::string name;
    Forms forms;
};

int params(const Context& context, const ParamsOptions& options) {
    const std::string& name = options.name;
    const Model model = load_model(context, name);
    const ParameterCounts counts = count_parameters(model);
    if (!counts_all(counts)) throw Error(ErrorKind::invalid, name, "", uncounted_text(model));
    const auto section = [&] { return parameters_section(counts); };
    const bool preset = context.presets.has(PresetKind::model, name);
    print_form(
        context, options.forms, [&] { return json_of_parameters(preset ? name : model.name, counts); },
        [&] { return section().table; },
        [&] {
            return Document{model.name, {section()}};
        });
    return 0;
}

}  // namespace

void add_params(Options& app, Context& context) {
    auto& options = run_with(app, context, params);
    app.add_option("MODEL", options.name,
                   "a model preset's id, a Hugging Face config.json, a plan's model object in a file, or -")
        .required();
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
