// `blame` says what the ranks that hang or fail have in common.
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/comm.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

#include <filesystem>
#include <system_error>

namespace pentamesh::cli {
namespace {

struct BlameOptions {
    PlanArgument plan;
    std::vector<std::string> ranks;
    std::string hosts;
    Forms forms;
};

Json json_of_group(const Plan& plan, const Evaluation& e, const Blame& b, const SharedGroup& g) {
    Json also = Json::array(), waits = Json::array(), others = Json::array();
    for (const GroupKind kind : g.also) also.push_back(name_of(kind));
    for (const int i : g.operations) {
        const Operation& o = e.comm.operations[static_cast<std::size_t>(i)];
        waits.push_back({{"operation", i},
                         {"axis", name_of(o.group)},
                         {"what", words_of(o.what)},
                         {"collective", name_of(o.collective)},
                         {"phase", name_of(o.phase)},
                         {"per", o.per}});
    }
    for (const std::int64_t r : g.members)
        if (!std::binary_search(b.ranks.begin(), b.ranks.end(), r)) others.push_back(r);
    return {{"axis", name_of(g.kind)},
            {"also", std::move(also)},
            {"group", g.index},
            {"degree", g.members.size()},
            {"slowest_tier", tier_name(plan.cluster, g.tier)},
            {"ranks", g.members},
            {"others", std::move(others)},
            {"waits_in", std::move(waits)}};
}

// Returns the shared coordinates; the others are left out.
Json json_of_shared(const Plan& plan, const Evaluation& e, const Blame& b) {
    Json dense = Json::object(), out = Json::object();
    for (const Axis axis : all_of<Axis>())
        if (b.same_dense[axis]) dense[key_of(axis)] = b.dense[axis];
    out["coordinates"] = {{"dense", std::move(dense)}};
    if (e.mesh.has_experts)
        out["coordinates"]["expert"] = json_of_expert_axes([&](Axis axis) -> std::optional<std::int64_t> {
            if (!b.same_expert[axis]) return std::nullopt;
            return b.expert[axis];
        });
    if (b.stage) out["stage"] = *b.stage;
    if (!b.domains.empty() && b.domains.front() >= 0) out["node"] = b.domains.front();
    if (b.seat) out["gpu_in_node"] = *b.seat;
    if (b.nic) out["nic_in_node"] = *b.nic;
    Json domains = Json::array();
    for (std::size_t t = 0; t < b.domains.size(); ++t)
        if (b.domains[t] >= 0)
            domains.push_back(
                {{"tier", tier_name(plan.cluster, static_cast<int>(t))}, {"domain", b.domains[t]}});
    out["domains"] = std::move(domains);
    if (b.tier >= 0) out["tier"] = tier_name(plan.cluster, b.tier);
    return out;
}

Json json_of_blame(const Plan& plan, const Evaluation& e, const Blame& b, const Hosts& hosts) {
    Json groups = Json::array(), spread = Json::array();
    for (const SharedGroup& g : b.groups) groups.push_back(json_of_group(plan, e, b, g));
    for (const AxisSpread& s : b.spread)
        spread.push_back({{"axis", name_of(s.kind)},
                          {"degree", s.degree},
                          {"groups", s.groups},
                          {"most", s.most},
                          {"most_in", s.most_in}});
    Json out{{"ranks", b.ranks},
             {"shared", json_of_shared(plan, e, b)},
             {"groups", std::move(groups)},
             {"spread", std::move(spread)},
             {"waiting", b.waiting}};
    if (!hosts.names.empty()) {
        Json names = Json::array();
        for (const std::int64_t r : b.ranks)
            if (names.empty() || names.back() != hosts.of(r)) names.push_back(hosts.of(r));
        out["hosts"] = std::move(names);
    }
    return out;
}

Document document_of(const Plan& plan, const Evaluation& e, const Blame& b, const Hosts& hosts) {
    Document d{"Ranks " + ranks_text(b.ranks, 24) + " of " + with_commas(e.mesh.world), {}};
    Section place{"What they share", {}, {}};
    const std::string shared = shared_place_text(plan, e, b);
    place.lines.push_back(shared.empty() ? "Neither a node, nor a stage, nor a coordinate." : shared);
    if (b.tier >= 0) place.lines.push_back("Joined by " + std::string(tier_name(plan.cluster, b.tier)));
    if (!hosts.names.empty()) place.lines.push_back("Hosts: " + hosts_text(hosts, b.ranks, 16));
    d.sections.push_back(std::move(place));
    if (b.groups.empty())
        d.sections.push_back(
            {"Groups that hold them all", {"None: no collective waits for all of them."}, {}});
    else
        d.sections.push_back({"Groups that hold them all", {}, shared_groups_table(plan, b)});
    Table waits = waits_table(plan, e, b);
    if (!waits.rows.empty()) d.sections.push_back({"What they wait in for each other", {}, std::move(waits)});
    d.sections.push_back({"How they lie in the groups of each axis", {}, spread_table(b)});
    const auto others = static_cast<std::int64_t>(b.waiting.size());
    d.sections.push_back(
        {"Who waits",
         {others == 0 ? std::string("Nobody else in those groups.")
                      : sentence(count_text(others, "other GPU"),
                                 " in those groups first: ", ranks_text(b.waiting, 12)),
          sentence("A synchronous step ends for none of the ", e.mesh.world, " GPUs until they are back.")},
         {}});
    return d;
}

int show_blame(const Context& context, const BlameOptions& options) {
    std::error_code ignored;
    if (std::filesystem::is_directory(options.plan.name, ignored))
        throw Error(ErrorKind::usage, options.plan.name, "",
                    "is a folder, no plan; `pentamesh hang` finds the ranks to blame in a folder of dumps");
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    std::string list;
    for (const std::string& r : options.ranks) list += r + " ";
    if (e.mesh.world == 0 || !e.valid) {
        if (context.json) print_json(Json::object(), e);
        return status_of(e);
    }
    const Blame b = blame(plan, e, parse_rank_list(list, e.mesh.world));
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    return print_form(
        context, options.forms, e, [&] { return json_of_blame(plan, e, b, hosts); },
        [&] { return shared_groups_table(plan, b); }, [&] { return document_of(plan, e, b, hosts); });
}

}  // namespace

void add_blame(Options& app, Context& context) {
    auto& options = run_with(app, context, show_blame);
    add_plan_argument(app, options.plan);
    app.add_option("RANK", options.ranks, "ranks and ranges of them: 0-7 12 99").required();
    add_hosts(app, options.hosts);
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
