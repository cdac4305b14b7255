// Answers queries about who talks to whom: the mesh, its groups, their wires, and the map's words about an
// axis.
#include "core/teach/lesson_queries.h"

#include "core/base/characters.h"
#include "core/base/text.h"
#include "core/mesh/layout_name.h"
#include "core/mesh/places.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/teach/captions.h"
#include "core/teach/lesson.h"
#include "core/teach/lesson_query_parts.h"

#include <algorithm>

namespace pentamesh {
namespace {

using namespace query;

Answer world(const QueryInput& in) {
    std::string product;
    for (const Axis a : in.plan.layout.order) {
        if (a == Axis::ep) continue;
        const std::int64_t f = in.e.mesh.dense[a].size;
        if (f > 1) product += (product.empty() ? "" : " · ") + sentence(name_of(a), " ", f);
    }
    return count(in.e.mesh.world,
                 sentence(product.empty() ? "1" : product, " = ", in.e.mesh.world,
                          ". Expert parallelism is no factor of it: it re-folds these ranks"));
}
Answer gpus(const QueryInput& in) {
    return count(in.plan.cluster.gpus, "the cluster's GPUs");
}
Answer degree(const QueryInput& in) {
    const GroupSummary& s = summary(in);
    return count(s.degree, s.degree == 1 ? sentence(name_of(s.kind), " is 1: it cuts nothing")
                                         : sentence(name_of(s.kind), " splits over ", s.degree, " ranks"));
}
Answer groups(const QueryInput& in) {
    const GroupSummary& s = summary(in);
    if (s.groups == 0) return none("this plan has no such mesh");
    return count(s.groups, sentence(in.e.mesh.world, " ranks / ", s.degree, " in a group = ", s.groups));
}
Answer tier_of(const QueryInput& in) {
    const GroupSummary& s = summary(in);
    if (s.degree <= 1) return none(sentence("a group of ", name_of(s.kind), " is one GPU: it sends nothing"));
    return words(std::string(tier_name(in.plan.cluster, s.slowest_tier)),
                 caption_of(in.plan, in.e, s.kind).text());
}
Answer inside(const QueryInput& in) {
    const GroupSummary& s = summary(in);
    if (s.degree <= 1) return none(sentence(name_of(s.kind), " is 1"));
    return yes_no(s.by_tier[0] == s.groups, caption_of(in.plan, in.e, s.kind).text());
}
Answer spilling(const QueryInput& in) {
    const GroupSummary& s = summary(in);
    if (s.degree <= 1) return none(sentence(name_of(s.kind), " is 1"));
    return count(s.groups - s.by_tier[0], caption_of(in.plan, in.e, s.kind).text());
}
Answer members(const QueryInput& in, bool with_self) {
    if (in.arg.n >= in.e.mesh.world) return none(sentence("there is no rank ", in.arg.n));
    if (summary(in).groups == 0) return none("this plan has no such mesh");
    if (summary(in).degree > 4096) return none("more ranks than anybody would list");
    Answer a;
    a.kind = Answer::Kind::ranks;
    for (const std::int64_t r : group_members(in.e.mesh, in.arg.group, in.arg.n))
        if (with_self || r != in.arg.n) a.ranks.push_back(r);
    for (std::size_t i = 0; i < a.ranks.size() && i < 16; ++i)
        a.text += (i == 0 ? "" : ", ") + with_commas(a.ranks[i]);
    if (a.ranks.size() > 16) a.text += sentence(" ... ", a.ranks.back());
    if (a.ranks.empty()) a.text = "nobody";
    std::string factors;
    const GroupFactors own = group_factors(in.e.mesh, in.arg.group);
    for (const Factor& f : own.span())
        factors += (factors.empty() ? "" : ", and ") + sentence(f.size, " ranks, ", f.stride, " apart");
    a.working = sentence("a group of ", name_of(in.arg.group), " is ", factors.empty() ? "one rank" : factors,
                         ": every axis further out in the order stands further apart");
    return a;
}
Answer peers(const QueryInput& in) {
    return members(in, false);
}
Answer group(const QueryInput& in) {
    return members(in, true);
}
Answer stage_of(const QueryInput& in) {
    if (in.arg.n >= in.e.mesh.world) return none(sentence("there is no rank ", in.arg.n));
    const RankExplanation r = explain_rank(in.plan, in.e.mesh, in.arg.n);
    return count(r.stage, r.text);
}
Answer node_of(const QueryInput& in) {
    if (in.arg.n >= in.e.mesh.world) return none(sentence("there is no rank ", in.arg.n));
    const RankExplanation r = explain_rank(in.plan, in.e.mesh, in.arg.n);
    return count(r.node, r.text);
}
Answer collective(const QueryInput& in) {
    const AxisCaption c = caption_of(in.plan, in.e, in.arg.group);
    const std::string text = join(c.collectives, " + ", [](const Collective x) { return words_of(x); });
    return text.empty() ? none(c.text()) : words(text, c.text());
}
Answer caption(const QueryInput& in) {
    const AxisCaption c = caption_of(in.plan, in.e, in.arg.group);
    return words(c.text(), c.text());
}
Answer tier_at(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    return words(in.plan.cluster.tiers[i].name, "the cluster's tiers, fastest first");
}
Answer domain(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    const std::int64_t gpus = domain_of(in.plan.cluster, i);
    return count(gpus, sentence(in.plan.cluster.tiers[i].name, " joins ", gpus, " GPUs"));
}
Answer bandwidth(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    const Tier& t = in.plan.cluster.tiers[i];
    return measure(t.bytes_per_s / 1e9, "GB/s", sentence(t.name, ", one direction, of each GPU"));
}
Answer layout_called(const QueryInput& in) {
    const LayoutName n = layout_name(in.plan, in.e.mesh);
    return words(n.name, n.reason);
}
Answer minimum_world(const QueryInput& in) {
    const Layout& l = in.plan.layout;
    const std::int64_t etp = l.ep > 1 ? l.etp.value_or(l.tp) : 1;
    const std::int64_t dense = l.tp * l.cp, expert = l.ep * etp;
    return count(l.pp * std::max(dense, expert),
                 sentence("pp · max(tp · cp, ep · etp) = ", l.pp, " · max(", dense, ", ", expert, ")"));
}
Answer naive_world(const QueryInput& in) {
    const Layout& l = in.plan.layout;
    const std::int64_t dp = std::max<std::int64_t>(1, data_parallel(in.plan));
    return count(l.tp * l.cp * l.pp * l.ep * dp,
                 sentence("tp ", l.tp, " · cp ", l.cp, " · pp ", l.pp, " · ep ", l.ep, " · dp ", dp,
                          ", as if ep were a factor of the world"));
}
Answer dimensions(const QueryInput& in) {
    std::int64_t n = 0;
    std::string which;
    for (const MapRow& r : map_rows(in.plan, in.e, MapStyle::modifiers)) {
        if (r.modifier) continue;
        which += sentence(which.empty() ? "" : "; ", words_of(r.id).key, ": ", words_of(r.id).cuts);
        ++n;
    }
    return count(n, which);
}
Answer map_says(const QueryInput& in) {
    const MapWords& w = words_of(in.arg.row);
    const std::string_view text = map_field(w, in.arg.word);
    return words(std::string(text), sentence(w.key, ": ", text));
}
Answer axis_whose(const QueryInput& in) {
    static constexpr MapRowId kAxes[] = {MapRowId::dp, MapRowId::tp, MapRowId::pp, MapRowId::cp,
                                         MapRowId::ep};
    const std::size_t space = in.arg.word.find(' ');
    const std::string field = in.arg.word.substr(0, space), word = in.arg.word.substr(space + 1);
    for (const MapRowId id : kAxes) {
        const std::string_view text = map_field(words_of(id), field);
        if (text.find(word) != std::string_view::npos)
            return query::words(std::string(words_of(id).key), sentence(words_of(id).name, ": ", text));
    }
    return none("no axis of the map");
}

constexpr Query kMeshQueries[] = {
    {"world",
     "ranks of the mesh: the product of the dense factors",
     world,
     {.everywhere = true, .covered = {"mesh", "zoom"}}},
    {"gpus", "GPUs of the cluster", gpus},
    {"degree AXIS", "ranks in one group", degree, {.in_view = true, .more = hide_degree}},
    {"groups AXIS", "how many groups", groups, {.nouns = {"group", "groups"}}},
    {"tier_of AXIS", "the slowest tier that a group crosses", tier_of, {.more = hide_wires}},
    {"inside AXIS", "yes where every group stays in the fast domain", inside, {.more = hide_wires}},
    {"spilling AXIS",
     "groups that leave the fast domain",
     spilling,
     {.nouns = {"group", "groups", "of them"}, .lines = {"across", "leave", "inside"}}},
    {"peers AXIS N", "the ranks that rank N talks to on an axis", peers},
    {"group AXIS N", "the same with rank N itself", group},
    {"stage_of N", "the pipeline stage of rank N", stage_of, {.nouns = {"stage", "stages"}}},
    {"node_of N", "the node of rank N", node_of},
    {"collective AXIS",
     "what its ranks say to each other",
     collective,
     {.lines = {"summand", "adds", "sum", "has all of it"}, .more = hide_talk}},
    {"caption AXIS", "the sentence under the mesh", caption},
    {"tier N", "the cluster's tiers, 0 the fastest", tier_at},
    {"domain N", "GPUs that tier N joins", domain},
    {"bandwidth N", "of tier N, GB/s, one direction", bandwidth},
    {"layout name", "what the combination is called", layout_called, {.more = hide_answer}},
    {"minimum world",
     "pp · max(tp · cp, ep · etp)",
     minimum_world,
     {.nouns = {"GPU", "GPUs", "rank", "ranks", "world"}}},
    {"naive world", "the product with ep taken for a factor", naive_world},
    {"dimensions", "how many different things the axes of the map cut", dimensions},
    {"map ROW FIELD",
     "what the map says of a row: cuts, says, often, sits, reach, saves, scope, model, drawback", map_says},
    {"axis whose FIELD has WORD",
     "the axis of which the map says so",
     axis_whose,
     {.covered = {"map"}, .more = hide_column}},
};

}  // namespace

std::string_view map_field(const MapWords& w, std::string_view field) {
    if (field == "cuts") return w.cuts;
    if (field == "says") return w.says;
    if (field == "often") return w.often;
    if (field == "sits") return w.sits;
    if (field == "reach") return w.reach;
    if (field == "saves") return w.saves;
    if (field == "scope") return w.scope;
    if (field == "model") return w.model;
    if (field == "drawback") return w.drawback;
    return {};
}

const std::vector<Query>& query_table() {
    static const std::vector<Query> table = [] {
        std::vector<Query> all(std::begin(kMeshQueries), std::end(kMeshQueries));
        for (const auto more : {step_queries(), scale_queries()})
            all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return table;
}

LessonPlan plan_of_step(const Lesson& lesson, std::size_t i) {
    LessonPlan out;
    for (std::size_t k = 0; k <= i && k < lesson.steps.size(); ++k) {
        const LessonScene& s = lesson.steps[k].scene;
        if (!s.open.empty()) {
            out.open = s.open;
            out.sets.clear();
        }
        out.sets.insert(out.sets.end(), s.sets.begin(), s.sets.end());
    }
    return out;
}

std::vector<Placeholder> placeholders(std::string_view text) {
    std::vector<Placeholder> out;
    for (std::size_t at = text.find("{{"); at != std::string_view::npos;) {
        const std::size_t end = text.find("}}", at + 2);
        if (end == std::string_view::npos) break;
        out.push_back({at, end + 2, std::string(trimmed(text.substr(at + 2, end - at - 2)))});
        at = text.find("{{", end + 2);
    }
    return out;
}

}  // namespace pentamesh
