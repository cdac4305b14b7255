#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/cli/sections.h"
#include "app/tables/comm.h"
#include "core/advice/advice.h"
#include "core/base/nearest.h"
#include "core/mesh/mesh_factors.h"

#include <algorithm>
#include <limits>

namespace pentamesh::cli {
namespace {

struct GroupsOptions {
    PlanArgument plan;
    std::vector<std::string> axes;
    std::string hosts;
    bool summary = false;
    Forms forms;
};

GroupKind kind_named(const std::string& name) {
    std::vector<std::string_view> known;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (name_of(kind) == name) return kind;
        known.push_back(name_of(kind));
    }
    refuse("--axis " + shown_text(name) + ": there is no such axis; the closest is \""
           + std::string(nearest(name, known)) + "\"");
}

// Returns the kinds asked for, in the order of the kinds; all that the plan has where no kind was asked for.
std::vector<GroupKind> asked_for(const GroupsOptions& options, const Evaluation& e) {
    std::vector<GroupKind> there = kinds_of(e);
    if (options.axes.empty()) return there;
    std::vector<GroupKind> kinds;
    for (const std::string& name : options.axes) {
        const GroupKind kind = kind_named(name);
        if (std::find(there.begin(), there.end(), kind) == there.end())
            throw Error(ErrorKind::invalid, "", "",
                        "--axis " + name
                            + (is_expert(kind) ? ": the plan has no expert mesh"
                                               : ": the plan has no weight_shards beyond tp"));
        kinds.push_back(kind);
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return kinds;
}

// Writes text in pieces, so that a long text is never held whole.
class Stream {
  public:
    // Returns false if the reader has closed.
    bool add(std::string_view text) {
        held_ += text;
        return held_.size() < kPiece || flush();
    }
    bool flush() {
        wanted_ = wanted_ && print_json(held_);
        held_.clear();
        return wanted_;
    }

  private:
    static constexpr std::size_t kPiece = std::size_t{64} << 10;
    std::string held_;
    bool wanted_ = true;
};

// Writes the list of an axis' groups as pretty() writes it at that depth. Returns false if the reader has
// closed.
bool write_groups(Stream& out, const Mesh& mesh, GroupKind kind) {
    const Split split = split_factors(mesh, kind);
    std::string number;
    bool wanted = out.add("["), first_group = true;
    for_each_sum(split.rest.span(), [&](std::int64_t first) {
        if (!wanted) return;
        wanted = out.add(first_group ? "\n        [" : ",\n        [");
        first_group = false;
        bool first_rank = true;
        for_each_sum(split.group.span(), [&](std::int64_t offset) {
            if (!wanted) return;
            number = first_rank ? "" : ", ";
            first_rank = false;
            wanted = out.add(number += std::to_string(first + offset));
        });
        wanted = wanted && out.add("]");
    });
    return wanted && out.add("\n      ]");
}

// A million ranks are a hundred megabytes of text: the lists are written where the rest has a null for each.
void print_with_ranks(Json out, const Mesh& mesh, std::span<const GroupKind> kinds) {
    for (Json& axis : out["axes"]) axis["ranks"] = nullptr;
    const std::string text = pretty(out);
    constexpr std::string_view kMark =
        "\"ranks\": null";  // no string holds it: quotes in strings are escaped
    Stream stream;
    std::size_t from = 0;
    for (std::size_t i = 0; i < out["axes"].size(); ++i) {
        const std::size_t at = text.find(kMark, from) + kMark.size() - 4;
        if (!stream.add(std::string_view(text).substr(from, at - from))) return;
        if (!write_groups(stream, mesh, kinds[i])) return;
        from = at + 4;
    }
    stream.add(std::string_view(text).substr(from));
    stream.flush();
}

int groups(const Context& context, const GroupsOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    const std::vector<GroupKind> kinds = asked_for(options, e);
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    if (context.json) {
        Json out = json_of_groups(plan, e, kinds);
        if (!hosts.names.empty()) {
            out["hosts"] = hosts.names;
            out["gpus_per_host"] = hosts.gpus_each;
        }
        if (!e.valid) void_figures(out);
        add_validity(out, e);
        if (options.summary)
            print_json(pretty(out));
        else
            print_with_ranks(std::move(out), e.mesh, kinds);
    } else if (options.forms.csv) {
        print_csv(groups_section(plan, e, kinds).table);
    } else {
        Document document{"", {groups_section(plan, e, kinds)}};
        constexpr auto kAll = std::numeric_limits<std::size_t>::max();
        if (!options.summary && e.valid)
            document.sections.push_back({"Ranks of each group", {}, ranks_table(e, kinds, kAll, hosts)});
        print_document(options.forms, document);
    }
    return status_of(e);
}

}  // namespace

void add_groups(Options& app, Context& context) {
    auto& options = run_with(app, context, groups);
    add_plan_argument(app, options.plan);
    app.add_option("--axis", options.axes, "these axes alone, as tp, dp_cp or edp")
        .count(1, kGroupKindCount)
        .type_name("AXIS");
    add_hosts(app, options.hosts);
    app.add_flag("--summary", options.summary, "without the ranks");
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
