#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "core/advice/advice.h"
#include "core/base/nearest.h"

#include <algorithm>

namespace pentamesh::cli {
namespace {

struct GroupsOptions {
    PlanArgument plan;
    std::vector<std::string> axes;
    bool summary = false;
};

GroupKind kind_named(const std::string& name) {
    std::vector<std::string_view> known;
    for (int i = 0; i < kGroupKindCount; ++i) {
        const auto kind = static_cast<GroupKind>(i);
        if (name_of(kind) == name) return kind;
        known.push_back(name_of(kind));
    }
    throw Error(ErrorKind::usage, "", "",
                "--axis " + shown_text(name) + ": there is no such axis; the closest is \""
                    + std::string(nearest(name, known)) + "\"");
}

// Those asked for, in the order of the kinds; all that the plan has where none was asked for.
std::vector<GroupKind> asked_for(const GroupsOptions& options, const Evaluation& e) {
    std::vector<GroupKind> there = kinds_of(e);
    if (options.axes.empty()) return there;
    std::vector<GroupKind> kinds;
    for (const std::string& name : options.axes) {
        const GroupKind kind = kind_named(name);
        if (std::find(there.begin(), there.end(), kind) == there.end())
            throw Error(ErrorKind::invalid, "", "", "--axis " + name + ": the plan has no expert mesh");
        kinds.push_back(kind);
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return kinds;
}

int groups(const Context& context, const GroupsOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan, {.timeline = false});
    const std::vector<GroupKind> kinds = asked_for(options, e);
    if (context.json) {
        Json out = json_of_groups(plan, e, kinds, !options.summary);
        add_validity(out, e);
        print(pretty(out));
    } else {
        Document document{"", {groups_section(plan, e, kinds)}};
        if (!options.summary)
            for (Section& s : rank_sections(e, kinds)) document.sections.push_back(std::move(s));
        print(to_text(document));
    }
    return status_of(e);
}

}  // namespace

void add_groups(CLI::App& app, Context& context) {
    auto options = std::make_shared<GroupsOptions>();
    add_plan_argument(app, options->plan);
    app.add_option("--axis", options->axes, "these axes alone, as tp, dp_cp or edp")
        ->expected(1, kGroupKindCount)
        ->type_name("AXIS");
    app.add_flag("--summary", options->summary, "without the ranks");
    add_json_flag(app, context);
    app.callback(
        [&context, options] { context.run = [&context, options] { return groups(context, *options); }; });
}

}  // namespace pentamesh::cli
