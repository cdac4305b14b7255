#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "app/tables/comm.h"
#include "core/advice/advice.h"
#include "core/base/text.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"

#include <charconv>
#include <limits>
#include <system_error>

namespace pentamesh::cli {
namespace {

Json json_of(const Range& r) {
    return Json::array({r.begin, r.end});
}

Json json_of(const std::vector<Range>& ranges) {
    Json out = Json::array();
    for (const Range& r : ranges) out.push_back(json_of(r));
    return out;
}

Json json_of(const Coordinates& c) {
    Json out = Json::object();
    for (const Axis a : all_of<Axis>()) out[key_of(a)] = c[a];
    return out;
}

// Returns the slowest tier that this rank's own group crosses: its first and last member are farthest apart.
int slowest_tier(const Plan& plan, const std::vector<std::int64_t>& members) {
    return members.size() > 1 ? tier_between(plan.cluster, members.front(), members.back()) : 0;
}

Json json_of_coordinates(const Evaluation& e, std::int64_t rank) {
    Json dense = json_of(dense_coordinates(e.mesh, rank));
    dense.erase("ep");
    Json out{{"dense", std::move(dense)}};
    if (!e.mesh.has_experts) return out;
    const Coordinates c = expert_coordinates(e.mesh, rank);
    out["expert"] = json_of_expert_axes([&](Axis a) { return std::optional<std::int64_t>(c[a]); });
    return out;
}

Json json_of_rank_groups(const Plan& plan, const Evaluation& e, std::int64_t rank) {
    Json groups = Json::array();
    for (const GroupKind kind : kinds_of(e)) {
        const std::vector<std::int64_t> members = group_members(e.mesh, kind, rank);
        groups.push_back({{"axis", name_of(kind)},
                          {"group", group_index(e.mesh, kind, rank)},
                          {"degree", members.size()},
                          {"slowest_tier", std::string(tier_name(plan.cluster, slowest_tier(plan, members)))},
                          {"ranks", members}});
    }
    return groups;
}

Json json_of_contents(const Plan& plan, const Evaluation& e, const RankContents& c) {
    Json chunks = Json::array();
    for (const RankChunk& chunk : c.chunks)
        chunks.push_back({{"virtual_stage", chunk.virtual_stage}, {"layers", json_of(chunk.layers)}});
    Json out{{"stage", c.stage},
             {"chunks", std::move(chunks)},
             {"embedding", c.embedding},
             {"head", c.head},
             {"mtp_layers", c.mtp_layers},
             {"heads", json_of(c.heads)},
             {"kv_heads", json_of(c.kv_heads)},
             {"ffn", json_of(c.ffn)},
             {"vocabulary", json_of(c.vocabulary)},
             {"sequence", json_of(c.sequence)},
             {"sequence_between_regions", json_of(c.sequence_between)}};
    if (plan.model.moe) {
        out["experts"] = json_of(c.experts);
        out["expert_ffn"] = json_of(c.expert_ffn);
    }
    const auto stage = static_cast<std::size_t>(c.stage);
    if (stage < e.memory.stage.size()) out["memory"] = json_of_memory(plan, e)["stages"][stage];
    return out;
}

Section coordinates_section(const Plan& plan, const Evaluation& e, std::int64_t rank) {
    Section s{"Its groups",
              {},
              {{{"axis"},
                {"coordinate in the group", Shown::count},
                {"ranks", Shown::count},
                {"slowest tier"},
                {"talks to"}},
               {}}};
    for (const GroupKind kind : kinds_of(e)) {
        const std::vector<std::int64_t> members = group_members(e.mesh, kind, rank);
        if (members.size() < 2) continue;
        std::string others;
        std::size_t own = 0, shown = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i] == rank)
                own = i;
            else if (++shown <= 8)
                others += (others.empty() ? "" : " ") + std::to_string(members[i]);
        }
        if (shown > 8) others += " ...";
        s.table.rows.push_back({std::string(name_of(kind)), std::to_string(own),
                                std::to_string(members.size()),
                                std::string(tier_name(plan.cluster, slowest_tier(plan, members))), others});
    }
    if (s.table.rows.empty()) s.lines.emplace_back("It talks to nobody.");
    return s;
}

Section contents_section(const Plan& plan, const Evaluation& e, const RankContents& c) {
    Section s{"What it holds", {}, {{{"what"}, {"which"}}, {}}};
    const auto row = [&](const char* what, const Range& r) {
        if (r.size() > 0)
            s.table.rows.push_back({what, with_commas(r.begin) + " to " + with_commas(r.end - 1)});
    };
    s.table.rows.push_back({"pipeline stage", std::to_string(c.stage)});
    for (const RankChunk& chunk : c.chunks) row("layers", chunk.layers);
    if (c.embedding) s.table.rows.push_back({"embedding", "yes"});
    if (c.head) s.table.rows.push_back({"head", "yes"});
    row("attention heads", c.heads);
    row("kv heads", c.kv_heads);
    row("MLP columns", c.ffn);
    row("vocabulary", c.vocabulary);
    if (plan.model.moe) {
        row("experts", c.experts);
        row("expert columns", c.expert_ffn);
    }
    for (const Range& r : c.sequence) row("tokens of a sequence", r);
    const auto stage = static_cast<std::size_t>(c.stage);
    if (stage < e.memory.stage.size())
        s.table.rows.push_back(
            {"memory", memory_text(e.memory.stage[stage].total()) + " of " + memory_text(e.memory.hbm)});
    return s;
}

struct RankOptions {
    PlanArgument plan;
    std::string rank;
    std::string hosts;
    Forms forms;
};

// Reads a number; one too large for any rank becomes the largest number.
std::int64_t number_of(const std::string& text) {
    std::int64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, n);
    if (text.empty() || at != end || error == std::errc::invalid_argument)
        refuse("RANK is \"" + text + "\", which is no whole number");
    return error == std::errc() ? n : std::numeric_limits<std::int64_t>::max();
}

int show_rank(const Context& context, const RankOptions& options) {
    const Plan plan = load_plan(context, options.plan);
    const Evaluation e = assess(plan);
    const std::int64_t rank = number_of(options.rank);
    if (e.mesh.world == 0 || !e.valid) {
        if (context.json) print_json({{"rank", rank}}, e);
        return status_of(e);
    }
    if (rank < 0 || rank >= e.mesh.world)
        throw Error(ErrorKind::invalid, "", "",
                    "there is no rank " + options.rank + ": the plan has ranks 0 to "
                        + std::to_string(e.mesh.world - 1));
    const RankContents contents = contents_of(plan, e.mesh, rank);
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    const auto json = [&] {
        Json out{{"rank", rank},
                 {"node", plan.cluster.tiers.empty() ? 0 : rank / domain_of(plan.cluster, 0)},
                 {"coordinates", json_of_coordinates(e, rank)},
                 {"groups", json_of_rank_groups(plan, e, rank)},
                 {"holds", json_of_contents(plan, e, contents)}};
        if (!hosts.names.empty()) out["host"] = hosts.of(rank);
        return out;
    };
    const auto document = [&] {
        return Document{"Rank " + with_commas(rank) + " of " + with_commas(e.mesh.world)
                            + (hosts.names.empty() ? "" : " on " + hosts.of(rank)),
                        {coordinates_section(plan, e, rank), contents_section(plan, e, contents)}};
    };
    return print_form(context, options.forms, e, json, json, document);
}

}  // namespace

void add_rank(Options& app, Context& context) {
    auto& options = run_with(app, context, show_rank);
    add_plan_argument(app, options.plan);
    app.add_option("RANK", options.rank, "which GPU, from 0").required();
    add_hosts(app, options.hosts);
    add_forms(app, context, options.forms);
}

}  // namespace pentamesh::cli
