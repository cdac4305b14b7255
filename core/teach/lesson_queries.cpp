// Answers queries about who talks to whom: the mesh, its groups, their wires, and the map's words about an
// axis.
#include "core/teach/lesson_parts.h"

#include "core/base/text.h"
#include "core/comm/collective_time.h"
#include "core/decide/scale.h"
#include "core/decide/search.h"
#include "core/memory/memory.h"
#include "core/mesh/places.h"
#include "core/pipeline/sequence.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"
#include "core/step/step.h"
#include "core/teach/glossary.h"

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
Answer share_of_link(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    return measure(
        100 * link_share(in.plan.cluster.gpu.efficiency, static_cast<int>(i)), "%",
        sentence("of the bandwidth of ", in.plan.cluster.tiers[i].name, ", in the time of every collective"));
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

// A wire is drawn, named or outlined wherever an axis is, and rated next to the cluster; a count of GPUs
// stands everywhere.
constexpr std::string_view kWires = "views", kEverywhere = "views figures plan";

constexpr Query kMeshQueries[] = {
    {"world", "ranks of the mesh: the product of the dense factors", world, kEverywhere},
    {"gpus", "GPUs of the cluster", gpus, kEverywhere},
    {"degree AXIS", "ranks in one group", degree, "views plan"},
    {"groups AXIS", "how many groups", groups, "mesh map"},
    {"tier_of AXIS", "the slowest tier that a group crosses", tier_of, kWires, false, true},
    {"inside AXIS", "yes where every group stays in the fast domain", inside, kWires},
    {"spilling AXIS", "groups that leave the fast domain", spilling, "mesh map"},
    {"peers AXIS N", "the ranks that rank N talks to on an axis", peers},
    {"group AXIS N", "the same with rank N itself", group},
    {"stage_of N", "the pipeline stage of rank N", stage_of},
    {"node_of N", "the node of rank N", node_of},
    {"collective AXIS", "what its ranks say to each other", collective, "views plan", true},
    {"caption AXIS", "the sentence under the mesh", caption},
    {"tier N", "the cluster's tiers, 0 the fastest", tier_at, "views plan"},
    {"domain N", "GPUs that tier N joins", domain, "views plan"},
    {"bandwidth N", "of tier N, GB/s, one direction", bandwidth, "views plan"},
    {"link share N", "of the bandwidth of tier N, what a ring reaches", share_of_link, "views plan"},
    {"layout name", "what the combination is called", layout_called, "mesh map plan"},
    {"minimum world", "pp · max(tp · cp, ep · etp)", minimum_world, "views figures"},
    {"naive world", "the product with ep taken for a factor", naive_world, kEverywhere},
    {"dimensions", "how many different things the axes of the map cut", dimensions},
    {"map ROW FIELD",
     "what the map says of a row: cuts, says, often, sits, reach, saves, scope, model, drawback", map_says},
    {"axis whose FIELD has WORD", "the axis of which the map says so", axis_whose, "map"},
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

// Answers queries about bytes and seconds: the memory of a GPU, the bytes it sends, the time of a step; and
// about the model, the batch and the plan's errors.

namespace {

using namespace query;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

Answer gib(double bytes, std::string working) {
    Answer a = measure(bytes / kGiB, "GiB", std::move(working));
    a.text = memory_text(bytes);
    return a;
}
Answer percent(double fraction, std::string working) {
    return measure(100 * fraction, "%", std::move(working));
}

const StageMemory* fullest(const QueryInput& in) {
    const Memory& m = in.e.memory;
    return m.stage.empty() ? nullptr : &m.stage[m.peak_stage];
}
Answer no_memory() {
    return none("the layout cannot be laid out: the problems say why");
}
std::string parts_of(const StageMemory& s) {
    std::string text = sentence("stage ", s.stage, ": ");
    for (int c = 0; c < kMemoryCategoryCount; ++c) {
        const auto k = static_cast<MemoryCategory>(c);
        text += sentence(c == 0 ? "" : " + ", name_of(k), " ", memory_text(bytes_of(s, k)));
    }
    return text + sentence(" = ", memory_text(s.total()));
}

Answer memory_fullest(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    return s == nullptr ? no_memory() : gib(s->total(), parts_of(*s));
}
Answer memory_hbm(const QueryInput& in) {
    return gib(in.plan.cluster.gpu.hbm_bytes, "the memory of one GPU");
}
Answer memory_stage(const QueryInput& in) {
    if (static_cast<std::size_t>(in.arg.n) >= in.e.memory.stage.size()) return no_memory();
    const StageMemory& s = in.e.memory.stage[in.arg.n];
    return gib(s.total(), parts_of(s));
}
// Activations and buffers are sums of texts with a unit; the other formulas count bytes.
std::string with_unit(const std::string& formula, MemoryCategory category) {
    const bool has_unit = category == MemoryCategory::activations || category == MemoryCategory::buffers;
    return has_unit ? formula : formula + " bytes";
}
Answer memory_category(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    if (s == nullptr) return no_memory();
    for (int c = 0; c < kMemoryCategoryCount; ++c) {
        const auto k = static_cast<MemoryCategory>(c);
        if (name_of(k) == in.arg.word)
            return gib(
                bytes_of(*s, k),
                with_unit(explain_memory(in.plan, in.e.mesh, in.e.memory, s->stage, k).substituted, k));
    }
    return none("no such part");
}
Answer memory_state(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    if (s == nullptr) return no_memory();
    double bytes = 0;
    std::string parts;
    for (const MemoryCategory k :
         {MemoryCategory::parameters, MemoryCategory::gradients, MemoryCategory::optimizer}) {
        bytes += bytes_of(*s, k);
        parts += sentence(parts.empty() ? "" : " + ", name_of(k), " ", memory_text(bytes_of(*s, k)));
    }
    return gib(bytes, parts);
}
Answer memory_largest(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    if (s == nullptr) return no_memory();
    int best = 0;
    for (int c = 1; c < kMemoryCategoryCount; ++c)
        if (bytes_of(*s, static_cast<MemoryCategory>(c)) > bytes_of(*s, static_cast<MemoryCategory>(best)))
            best = c;
    return words(std::string(name_of(static_cast<MemoryCategory>(best))), parts_of(*s));
}
Answer fits(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    if (s == nullptr) return no_memory();
    const MemoryFit fit = in.e.memory.fit();
    return yes_no(pentamesh::fits(fit),
                  sentence(memory_text(s->total()), " on the fullest GPU, which has ",
                           memory_text(in.e.memory.hbm), may_not_fit(fit) ? "; it may not fit" : ""));
}
Answer fullest_stage(const QueryInput& in) {
    const StageMemory* s = fullest(in);
    return s == nullptr ? no_memory() : count(s->stage, parts_of(*s));
}
Answer in_flight(const QueryInput& in) {
    if (static_cast<std::size_t>(in.arg.n) >= in.e.in_flight.size()) return none("there is no such stage");
    const double x = in.e.in_flight[in.arg.n];
    return measure(x, "",
                   sentence("micro-batches whose activations stage ", in.arg.n,
                            " holds at its fullest moment, of ", in.e.microbatches, " a step"));
}
// Returns the bytes of state for one parameter, on one GPU with nothing cut: they are the same for any
// layout.
double state_bytes(const QueryInput& in) {
    Plan one = in.plan;
    one.layout = {};
    one.layout.zero = 0;
    one.cluster.gpus = 1;
    Memory m;
    compute_memory(one, build_mesh(one), {1.0}, m);
    if (m.stage.empty() || m.stage[0].parameters_held <= 0) return 0;
    const StageMemory& s = m.stage[0];
    return (s.parameters + s.gradients + s.optimizer) / static_cast<double>(s.parameters_held);
}
Answer state_per_parameter(const QueryInput& in) {
    const Training& t = in.plan.training;
    return measure(state_bytes(in), "bytes",
                   sentence("weights ", three_digits(parameter_bytes(in.plan).linear), " + gradients ",
                            three_digits(gradient_bytes(t).linear), " + master weights ",
                            three_digits(master_bytes(t).linear), " + the optimizer's states ",
                            three_digits(optimizer_bytes(t).linear - master_bytes(t).linear)));
}
Answer model_state(const QueryInput& in) {
    const double bytes = state_bytes(in) * static_cast<double>(in.e.parameters.total);
    Answer a = measure(bytes / 1e9, "GB",
                       sentence(with_commas(in.e.parameters.total), " parameters · ",
                                three_digits(state_bytes(in)), " bytes"));
    a.text = bytes_text(bytes);
    return a;
}

// Plain copies send over all of data parallelism, ranks with cp over more: an axis that has no call of its
// own answers for the group that its calls are listed under.
GroupKind sends_over(const QueryInput& in) {
    const GroupKind k = in.arg.group;
    const bool part = k == GroupKind::dp_shard || k == GroupKind::dp_replicate;
    return part && in.e.groups[k].degree > 1 ? group_listed_under(in.e, k) : k;
}
const AxisTraffic& traffic(const QueryInput& in) {
    return in.e.comm.by_axis[sends_over(in)];
}
std::string operations_of(const QueryInput& in) {
    std::string text;
    const GroupKind group = sends_over(in);
    for (const Operation& o : in.e.comm.operations)
        if (o.group == group && !o.on_other_stage)
            text += sentence(text.empty() ? "" : "; ", words_of(o.collective), " of ",
                             bytes_text(o.message_bytes), ", ", whole_text(o.count_per_step), " a step");
    if (text.empty()) return sentence(name_of(in.arg.group), " says nothing of its own");
    return group == in.arg.group ? text : sentence("over ", name_of(group), ": ", text);
}
Answer calls_per_layer(const QueryInput& in) {
    LayerCalls calls;
    std::string what;
    for (const Operation& o : in.e.comm.operations) {
        if (o.group != in.arg.group || o.scope != Scope::layer || o.unit == Unit::boundary
            || o.unit == Unit::step)
            continue;
        calls.add(o);
        what += sentence(what.empty() ? "" : "; ", whole_text(o.calls), " ", words_of(o.collective), " ",
                         name_of(o.phase), " (", words_of(o.what), ")");
    }
    if (what.empty()) return none(sentence(name_of(in.arg.group), " says nothing in a layer"));
    return measure(calls.most(), "", what);
}
Answer calls_per_step(const QueryInput& in) {
    return measure(traffic(in).count, "", operations_of(in));
}
Answer bytes_per_step(const QueryInput& in) {
    Answer a = measure(traffic(in).sent_bytes_per_rank / 1e9, "GB", operations_of(in));
    a.text = bytes_text(traffic(in).sent_bytes_per_rank);
    return a;
}
Answer gradients_summed(const QueryInput& in) {
    const std::string_view who = runs_of(in.plan.training.software).who;
    switch (gradient_reduction_of(in.plan)) {
    case GradientReduction::micro_batch:
        return query::words("once a micro-batch", sentence(who, " sums them after each backward"));
    case GradientReduction::run:
        return query::words("once a run of micro-batches", sentence(who, " sums them after each run"));
    case GradientReduction::by_software:
    case GradientReduction::step: break;
    }
    return query::words("once a step", sentence(who, " adds up a rank's own first"));
}
Answer exposed(const QueryInput& in) {
    if (!in.e.step || in.e.step->time_s <= 0) return none("no step time");
    const double s = in.e.step->exposed_comm_s[in.arg.group];
    return percent(s / in.e.step->time_s,
                   sentence(time_text(s), " of a step of ", time_text(in.e.step->time_s),
                            " is spent waiting for ", name_of(in.arg.group)));
}
Answer sync_microbatch(const QueryInput& in) {
    const auto points = static_cast<std::int64_t>(in.e.comm.sync_points_per_microbatch);
    const std::int64_t layers = std::max<std::int64_t>(1, in.plan.model.layers);
    const std::string waits_for = sync_peers_text(in.e.comm);
    const std::string peers = waits_for.empty() ? "tensor peers" : waits_for;
    if (points % layers != 0)
        return count(points,
                     sentence(layers, " layers, which stop for ", peers, " as often as their kind needs"));
    return count(points, sentence(layers, " layers · ", points / layers, " stops for ", peers,
                                  ": a reduce-scatter and its all-gather are one"));
}
Answer sync_step(const QueryInput& in) {
    return count(static_cast<std::int64_t>(in.e.comm.sync_points_per_microbatch) * in.e.microbatches,
                 sentence(whole_text(in.e.comm.sync_points_per_microbatch), " per micro-batch · ",
                          in.e.microbatches, " micro-batches"));
}

Answer bubble_fraction(const QueryInput& in) {
    if (in.e.timeline.empty()) return none("no timeline");
    return percent(
        in.e.timeline.bubble_fraction(),
        sentence("idle share of the pipeline's makespan, mean over ", in.plan.layout.pp, " stages"));
}
// Returns the schedule's bubble by its closed form: against the step, or against the work.
Answer bubble_of(const QueryInput& in, bool of_step) {
    const std::int64_t p = in.plan.layout.pp, vm = in.e.microbatches * in.plan.layout.virtual_stages;
    if (vm <= 0) return none("the batch does not divide");
    return percent(static_cast<double>(p - 1) / static_cast<double>(of_step ? vm + p - 1 : vm),
                   sentence(of_step ? "(p - 1) / (v m + p - 1), p " : "(p - 1) / (v m), p ", p, ", v m ", vm,
                            of_step ? ": a share of the makespan, first start to last end"
                                    : ": against the work, not the makespan"));
}
Answer step_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    const Step& s = *in.e.step;
    const double waits = exposed_of(s);
    Answer a =
        measure(s.time_s, "s",
                sentence("compute ", time_text(s.compute_s + s.recompute_s), ", bubble ",
                         time_text(schedule_bubble_s(s), Zeros::kept),
                         s.uneven_s > 0 ? ", uneven stages " + time_text(s.uneven_s) : std::string(),
                         ", waiting for peers ", time_text(waits), ", the rest ",
                         time_text(s.slowed_by_traffic_s + s.offload_s + s.optimizer_s + s.straggler_s)));
    a.text = time_text(s.time_s);
    return a;
}
// Words are no number: of options the least is then one that fits.
Answer step_time_that_fits(const QueryInput& in) {
    if (in.e.memory.fits()) return step_time(in);
    return words("does not fit, " + memory_fullest(in).text, memory_fullest(in).working);
}
Answer mfu(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    return percent(in.e.step->mfu,
                   sentence(three_digits(in.e.step->tflops_per_gpu),
                            " TFLOP/s of the model's own work on each GPU, against its peak"));
}
Answer lost(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    return percent(1 - in.e.step->mfu, "what is not the model's own work at the peak rate");
}
Answer tokens_per_second(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    return count(static_cast<std::int64_t>(in.e.step->tokens_per_s),
                 sentence(static_cast<std::int64_t>(in.e.step->tokens_per_step), " tokens in ",
                          time_text(in.e.step->time_s)));
}
Answer bubble_share(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    return percent(schedule_bubble_s(*in.e.step) / in.e.step->time_s,
                   "what the schedule leaves idle on the busiest stage, as a part of the whole step");
}
Answer bubble_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    const double s = schedule_bubble_s(*in.e.step);
    Answer a = measure(s, "s", "what the schedule leaves idle on the busiest stage in a step");
    a.text = time_text(s, Zeros::kept);
    return a;
}
Answer straggler_loss(const QueryInput& in) {
    const double cv = in.plan.training.straggler_cv;
    return percent(cv * expected_maximum(in.e.mesh.world),
                   sentence("cv ", three_digits(100 * cv), " % · E[max of ", in.e.mesh.world,
                            " normal times] = ", three_digits(expected_maximum(in.e.mesh.world))));
}
Answer straggler_bound(const QueryInput& in) {
    const double cv = in.plan.training.straggler_cv;
    return percent(cv * expected_maximum_bound(in.e.mesh.world),
                   sentence("cv ", three_digits(100 * cv), " % · sqrt(2 ln ", in.e.mesh.world, ")"));
}

Answer parameters(const QueryInput& in) {
    return measure(static_cast<double>(in.e.parameters.total) / 1e9, "B", "all tensors of the model");
}
Answer active(const QueryInput& in) {
    return measure(static_cast<double>(in.e.parameters.active) / 1e9, "B", "what one token uses");
}
Answer heads_here(const QueryInput& in) {
    const std::int64_t tp = std::max<std::int64_t>(1, in.plan.layout.tp);
    return measure(static_cast<double>(in.plan.model.heads) / static_cast<double>(tp), "",
                   sentence(in.plan.model.heads, " heads / tp ", tp));
}
Answer experts(const QueryInput& in) {
    if (!in.plan.model.moe) return none("the model has no experts");
    return count(in.plan.model.moe->experts, "routed experts of a layer");
}
Answer experts_here(const QueryInput& in) {
    if (!in.plan.model.moe) return none("the model has no experts");
    const std::int64_t ep = std::max<std::int64_t>(1, in.plan.layout.ep);
    return measure(static_cast<double>(in.plan.model.moe->experts) / static_cast<double>(ep), "",
                   sentence(in.plan.model.moe->experts, " experts / ep ", ep));
}
Answer tokens_here(const QueryInput& in) {
    const std::int64_t cp = std::max<std::int64_t>(1, in.plan.layout.cp);
    return count(in.plan.training.sequence_length / cp,
                 sentence(in.plan.training.sequence_length, " tokens / cp ", cp));
}
Answer samples_here(const QueryInput& in) {
    const std::int64_t dp = in.e.groups[GroupKind::dp].degree;
    return measure(static_cast<double>(in.plan.training.global_batch)
                       / static_cast<double>(std::max<std::int64_t>(1, dp)),
                   "", sentence(in.plan.training.global_batch, " sequences / ", dp, " replicas"));
}
Answer microbatches(const QueryInput& in) {
    if (in.e.microbatches == 0) return none("the batch does not divide");
    const std::int64_t dp = in.e.groups[GroupKind::dp].degree;
    return count(in.e.microbatches, sentence(in.plan.training.global_batch, " sequences / (", dp,
                                             " replicas · micro-batch ", in.plan.training.micro_batch, ")"));
}
Answer valid(const QueryInput& in) {
    return yes_no(in.e.valid, in.e.problems.empty() ? "nothing is wrong" : in.e.problems[0].said());
}
Answer problem(const QueryInput& in) {
    return in.e.problems.empty() ? query::words("nothing is wrong", "")
                                 : query::words(in.e.problems[0].said(), "");
}

// A search counts layouts with its usual headroom only.
Answer best_step_time(const QueryInput& in) {
    SpaceRequest request;
    request.hold = {"micro_batch", "recompute"};
    std::optional<SpaceError> wrong;
    const SearchSpace space = search_space(in.plan, request, wrong);
    if (wrong) return none(wrong->message);
    SearchOptions options;
    options.top = 1;
    const SearchReport found = search(in.plan, space, options);
    if (found.results.empty())
        return none(found.nothing_fits.empty() ? "no layout fits" : found.nothing_fits);
    const SearchResult& best = found.results.front();
    const Layout& l = best.plan.layout;
    std::string by;
    for (const Axis a : l.order)
        if (const std::int64_t f = factor_in_force(best.plan, a); f > 1)
            by += sentence(by.empty() ? "" : ", ", name_of(a), " ", f);
    if (l.pp > 1) by += sentence(", ", name_of(l.schedule));
    if (l.pp > 1 && l.virtual_stages > 1) by += sentence(" with ", l.virtual_stages, " chunks");
    if (l.zero > 0) by += sentence(by.empty() ? "" : ", ", "ZeRO-", std::int64_t{l.zero});
    Answer a = measure(best.step_s, "s",
                       sentence("the fastest of ", found.counts.layouts,
                                " layouts, micro-batch and recomputation as they are"));
    a.text = time_text(best.step_s) + (by.empty() ? "" : " (" + by + ")");
    return a;
}

// Say which places have a figure of messages, of memory and of time.
constexpr std::string_view kCalls = "mesh map comm layer", kBytes = "mesh map comm timeline layer scale",
                           kHeld = "views figures", kTime = "views figures",
                           kBubble = "timeline step compare", kModelFacts = "views plan";

constexpr Query kStepQueries[] = {
    {"memory fullest", "what the fullest GPU holds, GiB", memory_fullest, kHeld},
    {"memory hbm", "what a GPU has, GiB", memory_hbm},
    {"memory stage N", "what a GPU of that stage holds, GiB", memory_stage, kHeld},
    {"memory largest", "the largest part of the fullest GPU", memory_largest, kHeld},
    {"memory state", "parameters, gradients and optimizer of the fullest GPU together, GiB", memory_state,
     kHeld},
    {"memory PART", "parameters, gradients, optimizer, activations or buffers of the fullest GPU, GiB",
     memory_category, kHeld},
    {"fits", "yes where the fullest GPU has room", fits, kHeld},
    {"fullest stage", "which stage that is", fullest_stage},
    {"in_flight N", "micro-batches that stage N holds at most", in_flight, "memory timeline"},
    {"state per parameter", "bytes of weights, gradients and optimizer for one parameter",
     state_per_parameter, "memory shards"},
    {"model state", "the same for all parameters, GB", model_state},
    {"calls AXIS per layer", "of one micro-batch, forward and backward", calls_per_layer, kCalls},
    {"calls AXIS per step", "of one rank", calls_per_step, kCalls},
    {"bytes AXIS per step", "that leave a rank, GB", bytes_per_step, kBytes},
    {"gradients summed", "how often: once a step, or once a micro-batch", gradients_summed, kCalls},
    {"exposed AXIS", "share of the step that waits for it, %", exposed, kTime},
    {"sync per micro-batch", "times the layers wait for tensor or expert peers", sync_microbatch, "comm map"},
    {"sync per step", "the same times the micro-batches", sync_step, "comm map"},
    {"bubble fraction", "of the timeline as replayed, %", bubble_fraction, kBubble},
    {"bubble formula", "(p - 1) / (v m + p - 1), %", [](const QueryInput& in) { return bubble_of(in, true); },
     kBubble},
    {"bubble overhead", "(p - 1) / (v m), %", [](const QueryInput& in) { return bubble_of(in, false); },
     kBubble},
    {"bubble share", "of the whole step, %", bubble_share, kTime},
    {"bubble time", "the same in seconds", bubble_time, kTime},
    {"step time", "seconds", step_time, kTime},
    {"step time that fits", "the same; of a plan that does not fit, that and what it holds",
     step_time_that_fits, kTime},
    {"best step time", "of the fastest layout that a search finds, micro-batch and recomputation as they are",
     best_step_time, kTime},
    {"mfu", "model FLOPs utilisation, %", mfu, kTime},
    {"lost", "100 % less the mfu", lost, kTime},
    {"tokens per second", "of the whole cluster", tokens_per_second, kTime},
    {"straggler loss", "the exact expected share, %", straggler_loss, kTime},
    {"straggler bound", "the textbook bound on it, %", straggler_bound},
    {"parameters", "of the model, in billions", parameters, kModelFacts},
    {"active parameters", "that one token uses, in billions", active, kModelFacts},
    {"layers", "of the model",
     [](const QueryInput& in) { return count(in.plan.model.layers, "the model's layers"); }, kModelFacts},
    {"hidden", "size of the model",
     [](const QueryInput& in) { return count(in.plan.model.hidden, "the model's hidden size"); },
     kModelFacts},
    {"heads", "of attention",
     [](const QueryInput& in) { return count(in.plan.model.heads, "the model's attention heads"); },
     kModelFacts},
    {"heads per gpu", "attention heads that a GPU computes", heads_here, kModelFacts},
    {"kv heads", "of keys and values",
     [](const QueryInput& in) { return count(in.plan.model.kv_heads, "heads of keys and values"); },
     kModelFacts},
    {"experts", "of a layer", experts, kModelFacts},
    {"experts per gpu", "routed experts of a layer that a GPU keeps", experts_here, kModelFacts},
    {"sequence", "tokens of a sequence",
     [](const QueryInput& in) { return count(in.plan.training.sequence_length, "tokens of a sequence"); },
     kModelFacts},
    {"tokens per gpu", "of a sequence, after cp", tokens_here, "views figures"},
    {"batch", "sequences of a step",
     [](const QueryInput& in) { return count(in.plan.training.global_batch, "sequences of a step"); },
     kModelFacts},
    {"samples per replica", "sequences of a step that one replica takes", samples_here, "views plan"},
    {"microbatches", "of one replica and step", microbatches, "views plan"},
    {"valid", "yes where nothing forbids the plan", valid, kEverywhere},
    {"problem", "the first problem, in words", problem, kEverywhere},
};

}  // namespace

std::span<const Query> step_queries() {
    return kStepQueries;
}

// Answers queries about how far a plan scales: what a GPU computes while a byte crosses a wire, how long an
// axis is on its wire against the compute, and on how many GPUs it takes longer.

namespace {

using namespace query;

Answer flops_per_byte(const QueryInput& in) {
    const auto i = static_cast<std::size_t>(in.arg.n);
    if (i >= in.plan.cluster.tiers.size()) return none(sentence("the cluster has no tier ", in.arg.n));
    const double peak = in.plan.cluster.gpu.flops.bf16, wire = in.plan.cluster.tiers[i].bytes_per_s;
    return measure(peak / wire, "",
                   sentence(three_digits(peak / 1e12), " TFLOP/s in bf16 / ", three_digits(wire / 1e9),
                            " GB/s of ", in.plan.cluster.tiers[i].name));
}
Answer step_tokens(const QueryInput& in) {
    const double tokens = tokens_per_step(in.plan.training), world = static_cast<double>(in.e.mesh.world);
    return measure(tokens / world, "",
                   sentence(whole_text(tokens), " tokens of a step / ", in.e.mesh.world, " GPUs"));
}

double compute_of(const Step& s) {
    return s.compute_s + s.recompute_s;
}
Answer compute_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    Answer a = measure(compute_of(*in.e.step), "s", "compute of the average stage in a step");
    a.text = time_text(a.number);
    return a;
}
Answer wire_time(const QueryInput& in) {
    if (!in.e.step) return none("no step time");
    Answer a = measure(in.e.comm.by_axis[in.arg.group].time_s, "s",
                       sentence("all calls of ", name_of(in.arg.group), " in a step, hidden or not"));
    a.text = time_text(a.number);
    return a;
}
Answer wire_share(const QueryInput& in) {
    if (!in.e.step || compute_of(*in.e.step) <= 0) return none("no step time");
    const double wire = in.e.comm.by_axis[in.arg.group].time_s, compute = compute_of(*in.e.step);
    return measure(100 * wire / compute, "%",
                   sentence(name_of(in.arg.group), " is ", time_text(wire), " on its wire, beside ",
                            time_text(compute), " of compute"));
}
Answer binds(const QueryInput& in) {
    const Scale s = scale_of(in.plan);
    const auto it = std::find_if(s.crossings.begin(), s.crossings.end(), [&](const ScaleCrossing& c) {
        return c.turn == ScaleTurn::passes_compute && c.axis == in.arg.group;
    });
    if (it == s.crossings.end())
        return none(sentence(name_of(in.arg.group), " takes longer than compute on no number of GPUs"));
    return measure(it->at, "GPUs", it->words());
}

constexpr Query kScaleQueries[] = {
    {"flops per byte N", "dense bf16 FLOPs that a GPU has time for while a byte crosses tier N",
     flops_per_byte, "step scale"},
    {"step tokens per gpu", "tokens of a step over the GPUs", step_tokens},
    {"compute time", "of the average stage in a step, seconds", compute_time},
    {"time AXIS", "of all its calls in a step, hidden or not, seconds", wire_time, kBytes},
    {"time AXIS over compute", "the same as a share of the compute, %", wire_share, "scale"},
    {"binds AXIS", "GPUs from which it takes longer than the compute, the batch as it is", binds, "scale"},
};

}  // namespace

std::span<const Query> scale_queries() {
    return kScaleQueries;
}

}  // namespace pentamesh
