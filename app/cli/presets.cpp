// `presets` and `schema` list the presets that ship and the user's own, and the fields that a plan may have.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "core/io/plan_json.h"

#include <array>
#include <utility>

namespace pentamesh::cli {
namespace {

constexpr std::array<std::pair<const char*, PresetKind>, 4> kLists{{{"models", PresetKind::model},
                                                                    {"gpus", PresetKind::gpu},
                                                                    {"clusters", PresetKind::cluster},
                                                                    {"plans", PresetKind::plan}}};

int presets(const Context& context, const Forms& forms) {
    Json out = Json::object();
    Document document;
    for (const auto& [title, kind] : kLists) {
        Section section{title, {}, {{{"id"}, {"name"}}, {}}};
        Json list = Json::array();
        for (const Presets::Entry& e : context.presets.list(kind)) {
            list.push_back(
                {{"id", e.id}, {"name", e.name}, {kind == PresetKind::plan ? "notes" : "source", e.source}});
            if (!e.efficiency_source.empty()) list.back()["efficiency_source"] = e.efficiency_source;
            if (!e.broken.empty()) list.back()["broken"] = e.broken;
            if (e.own) {
                list.back()["own"] = true;
                list.back()["file"] = e.file.string();
            }
            section.table.rows.push_back(
                {e.id, (e.own ? "your own: " : "") + (e.broken.empty() ? e.name : "broken: " + e.broken)});
        }
        out[title] = std::move(list);
        document.sections.push_back(std::move(section));
    }
    const auto json = [&] { return out; };
    print_form(context, forms, json, json, [&] { return document; });
    return 0;
}

int schema(const Context& /*context*/, const std::string& /*what*/) {
    print(plan_schema());
    return 0;
}

}  // namespace

void add_presets(Options& app, Context& context) {
    add_forms(app, context, run_with(app, context, presets));
}

void add_schema(Options& app, Context& context) {
    app.add_option("WHAT", run_with(app, context, schema), "plan").required().one_of({"plan"});
}

}  // namespace pentamesh::cli
