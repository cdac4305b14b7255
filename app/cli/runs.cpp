// `hang` says who is to blame for a run that stands still, out of the dumps of its flight recorders.
#include "app/cli/output.h"
#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "core/runs/calibrate.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>

namespace pentamesh::cli {
namespace {

using runs::RunAxis;

struct HangArguments {
    std::string folder, hosts;
    PlanArgument plan;
};

// Holds what a run is shown with.
struct ShownHang {
    const runs::HangRun& of;
    const Hosts& hosts;
    const runs::DumpFolder& run = of.run;
    const runs::Hang& hang = of.hang;
};

Json json_of_call(const ShownHang& s, const runs::RunCall& call, bool members) {
    if (call.group < 0)
        return {{"axes", Json::array()}, {"group_name", nullptr}, {"group", Json::array()},
                {"sequence", nullptr},   {"collective", nullptr}, {"tier", nullptr},
                {"one_host", nullptr}};
    Json out{{"axes", s.hang.layout.axes_of(*s.run.names, call.group)},
             {"group_name", as_utf8(s.run.names->description(call.group))}};
    if (members) out["group"] = s.run.names->ranks(call.group);
    out["sequence"] = call.sequence;
    out["collective"] = as_utf8(s.run.names->text(call.collective));
    const Cluster& cluster = s.of.plan.cluster;
    out["tier"] = is_known(cluster) ? Json(tier_name(cluster, s.of.tier_of(call, cluster))) : Json(nullptr);
    const std::optional<bool> one = on_one_host(s.of, call, s.hosts);
    out["one_host"] = one ? Json(*one) : Json(nullptr);
    return out;
}

Json json_of_culprit(const ShownHang& s, const runs::Culprit& c) {
    Json out{{"rank", c.rank}, {"kind", name_of(c.kind)}, {"sure", c.sure}};
    out.update(json_of_call(s, c.call, true));
    Json coordinates = Json::object();
    for (const RunAxis a : s.hang.layout.order)
        coordinates[std::string(s.hang.layout.name_of(a))] = s.hang.layout.coordinate(a, c.rank);
    out["coordinates"] = std::move(coordinates);
    out["host"] = s.hosts.names.empty() ? Json(nullptr) : Json(s.hosts.of(c.rank));
    out["why"] = as_utf8(c.why);
    return out;
}

Json json_of_layout(const runs::RunLayout& l, const runs::RunNames& names, const Json& agrees) {
    Json degrees = Json::object(), unexplained = Json::array();
    const auto add = [&](RunAxis a) { degrees[std::string(l.name_of(a))] = l.factors[a].size; };
    for (const RunAxis a : {RunAxis::tp, RunAxis::cp, RunAxis::pp, RunAxis::shard}) add(a);
    if (l.device_mesh) add(RunAxis::replicate);
    if (l.factors[RunAxis::gtp].size > 1) add(RunAxis::gtp);
    if (l.has_experts)
        for (const RunAxis a : {RunAxis::ep, RunAxis::etp, RunAxis::edp}) add(a);
    for (const int g : l.unexplained)
        unexplained.push_back({{"desc", as_utf8(names.description(g))}, {"ranks", names.ranks(g)}});
    const auto list = [&](const std::vector<RunAxis>& order) {
        Json out = Json::array();
        for (const RunAxis a : order) out.push_back(l.name_of(a));
        return out;
    };
    return {{"degrees", std::move(degrees)},
            {"order", list(l.order)},
            {"expert_order", l.has_experts ? list(l.expert_order) : Json(nullptr)},
            {"from", l.from == runs::LayoutFrom::names ? "names" : "calls"},
            {"certain", l.certain},
            {"unexplained", std::move(unexplained)},
            {"agrees_with_plan", agrees}};
}

Json json_of_hang(const ShownHang& s, const Json& agrees) {
    const runs::Hang& h = s.hang;
    Json unreadable = Json::array(), culprits = Json::array(), waiting = Json::array(), stuck = Json::array(),
         problems = Json::array(), warnings = Json::array();
    for (const runs::PassedOverFile& f : s.run.unreadable)
        unreadable.push_back({{"file", as_utf8(f.file)}, {"why", as_utf8(f.why)}});
    for (const runs::Culprit& c : h.culprits) culprits.push_back(json_of_culprit(s, c));
    for (const runs::WaitingRank& w : h.waiting) {
        Json row{{"rank", w.rank}, {"for", w.whom}};
        row.update(json_of_call(s, w.call, false));
        waiting.push_back(std::move(row));
    }
    for (const runs::RunCall& c : h.groups_stuck) stuck.push_back(json_of_call(s, c, true));
    for (const std::string& d : s.of.differences)
        problems.push_back({{"severity", "warning"}, {"code", "layout-differs"}, {"message", d}});
    for (const std::string& w : h.warnings) warnings.push_back(as_utf8(w));
    return {{"verdict", name_of(h.verdict)},
            {"world_size", h.layout.world},
            {"dumps", s.run.dumps.size()},
            {"missing", h.missing},
            {"unreadable", std::move(unreadable)},
            {"versions", s.run.versions},
            {"layout", json_of_layout(h.layout, *s.run.names, agrees)},
            {"culprits", std::move(culprits)},
            {"waiting", std::move(waiting)},
            {"held_up", h.held_up},
            {"groups_stuck", std::move(stuck)},
            {"order_cycle", h.order_cycle},
            {"plan", is_stand_in(s.of.plan) ? Json(nullptr) : Json::parse(write_plan(s.of.plan))},
            {"problems", std::move(problems)},
            {"warnings", std::move(warnings)}};
}

// Adds who waits, a line for each call.
void add_waiting(const ShownHang& s, std::string& out) {
    const std::vector<runs::WaitingCall> calls = waiting_by_call(s.hang);
    if (!calls.empty()) out += "\nWaiting\n";
    constexpr std::size_t kMostCalls = 64;
    for (std::size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i)
        out += "  " + waiting_words(s.of, calls[i], s.hosts) + "\n";
    if (calls.size() > kMostCalls)
        out += "  … " + count_text(static_cast<std::int64_t>(calls.size() - kMostCalls), "call") + " more\n";
    if (!s.hang.held_up.empty())
        out += "  " + ranks_text(s.hang.held_up, 12) + (s.hang.held_up.size() == 1 ? " is" : " are")
               + " held up behind them\n";
}

std::string text_of(const ShownHang& s) {
    const runs::Hang& h = s.hang;
    std::string out = verdict_words(h) + "\n";
    for (const runs::Culprit& c : h.culprits) out += culprit_words(s.of, c, s.hosts) + "\n";
    for (const runs::RunCall& c : h.groups_stuck) {
        const std::string wire = wire_words(s.of, c, s.hosts);
        out += "stuck: " + call_words(h, *s.run.names, c) + (wire.empty() ? "" : ", " + wire) + "\n";
    }
    if (const std::string next = next_words(h); !next.empty()) out += "\n" + next + "\n";
    add_waiting(s, out);
    out += "\nLayout: " + layout_words(h.layout) + " (the innermost first; "
           + (h.layout.from == runs::LayoutFrom::names ? "by the groups' names" : "by the calls")
           + (h.layout.certain ? "" : ", not certain") + ")\n";
    if (is_stand_in(s.of.plan))
        out += std::string("Model and cluster: not known; --plan names them, and the wires")
               + (s.hosts.names.empty() ? ", --hosts the nodes" : "") + ".\n";
    for (const std::string& d : s.of.differences) out += d + "\n";
    for (const std::string& w : h.warnings) out += "warning: " + w + "\n";
    constexpr std::size_t kMostFiles = 16;
    for (std::size_t i = 0; i < std::min(s.run.unreadable.size(), kMostFiles); ++i)
        out += "not read: " + s.run.unreadable[i].file + ": " + s.run.unreadable[i].why + "\n";
    if (s.run.unreadable.size() > kMostFiles)
        out += "… " + std::to_string(s.run.unreadable.size() - kMostFiles) + " more files were not read\n";
    return as_utf8(out);
}

int show_hang(const Context& context, const HangArguments& a) {
    std::optional<Plan> own;
    if (!a.plan.name.empty()) own = load_plan(context, a.plan);
    const runs::HangRun run = runs::read_hang(a.folder, own ? &*own : nullptr, context.presets);
    Hosts hosts;
    if (!a.hosts.empty()) hosts = load_hosts(a.hosts, run.plan, build_mesh(run.plan));
    const ShownHang shown{run, hosts};
    if (context.json)
        print_json(pretty(json_of_hang(shown, own ? Json(run.differences.empty()) : Json(nullptr))));
    else
        print(text_of(shown));
    return 0;
}

}  // namespace

void add_hang(Options& app, Context& context) {
    auto& options = run_with(app, context, show_hang);
    app.add_option(
           "FOLDER", options.folder,
           "a folder of dumps of PyTorch's flight recorder, a file a rank, or what their names begin with")
        .required();
    app.add_option("--plan", options.plan.name,
                   "the plan of the run: its tiers name the wires, its layout is compared")
        .type_name("PLAN");
    add_plan_options(app, options.plan);
    add_hosts(app, options.hosts);
    add_json_flag(app, context);
    add_output_file(app, context);
}

// `measured` compares what was measured of a run with what its plan predicts.

namespace {

struct MeasuredArguments {
    std::vector<std::string> files;
    std::string hosts;
    PlanArgument plan;
    Forms forms;
};

Json known(const std::optional<double>& x) {
    return x ? Json(*x) : Json(nullptr);
}

Json json_of_part(const runs::Measured& m, const runs::PartRow& r) {
    const bool fits = !r.fitting.constant.empty();
    const double off = m.predicted_s && m.measured_s ? *m.measured_s - *m.predicted_s : 0;
    return {{"part", name_of(r.part)},
            {"predicted_s", known(r.predicted_s)},
            {"measured_s", r.time.measured_s},
            {"total_s", r.time.total_s},
            {"difference_s", r.predicted_s ? Json(r.difference_s()) : Json(nullptr)},
            {"share", r.predicted_s && off != 0 ? Json(r.difference_s() / off) : Json(nullptr)},
            {"constant", fits ? Json(r.fitting.constant) : Json(nullptr)},
            {"is", fits ? Json(r.fitting.is) : Json(nullptr)},
            {"would_be", fits ? Json(r.fitting.would_be) : Json(nullptr)},
            {"step_would_be_s", fits ? Json(r.fitting.step_s) : Json(nullptr)},
            {"why", r.fitting.why}};
}

Json json_of_rank(const runs::RankRow& r) {
    Json parts = Json::object();
    for (const runs::RunPart p : all_of<runs::RunPart>())
        if (r.part[p]) parts[std::string(name_of(p))] = *r.part[p];
    return {{"rank", r.rank},
            {"place", r.place.empty() ? Json(nullptr) : Json(as_utf8(r.place))},
            {"step_s", r.step_s},
            {"own_s", r.own_s},
            {"parts", std::move(parts)}};
}

Json json_of_slow(const runs::Measured& m, const runs::SlowRank& s) {
    return {{"rank", m.ranks[s.row].rank}, {"part", name_of(s.part)}, {"part_s", s.part_s},
            {"peers_s", s.peers_s},        {"more_s", s.more_s()},    {"peers", s.peers}};
}

Json json_of_collective(const runs::CollectiveRow& r) {
    return {{"axis", r.axis},
            {"group_name", as_utf8(r.group_name)},
            {"ranks", r.ranks},
            {"collective", as_utf8(r.collective)},
            {"bytes", r.bytes},
            {"calls", r.calls},
            {"median_s", r.median_s},
            {"transfer_s", known(r.transfer_s)},
            {"predicted_s", known(r.predicted_s)},
            {"last_to_arrive",
             r.last_rank < 0 ? Json(nullptr) : Json{{"rank", r.last_rank}, {"share", r.last_share}}}};
}

Json json_of_measured(const runs::Measured& m) {
    Json files = Json::array(), parts = Json::array(), collectives = Json::array(), links = Json::array(),
         problems = Json::array(), warnings = Json::array(), ranks = Json::array(), slow = Json::array();
    for (const runs::RankRow& r : m.ranks) ranks.push_back(json_of_rank(r));
    for (const runs::SlowRank& s : m.slow) slow.push_back(json_of_slow(m, s));
    for (const runs::RunFile& f : m.files)
        files.push_back({{"file", as_utf8(f.file)},
                         {"kind", name_of(f.kind)},
                         {"rank", f.rank < 0 ? Json(nullptr) : Json(f.rank)},
                         {"steps", f.steps}});
    for (const runs::PartRow& r : m.parts) parts.push_back(json_of_part(m, r));
    for (const runs::CollectiveRow& r : m.collectives) collectives.push_back(json_of_collective(r));
    for (const runs::Fitting& f : m.links)
        if (!f.constant.empty())
            links.push_back({{"constant", f.constant},
                             {"is", f.is},
                             {"would_be", f.would_be},
                             {"step_would_be_s", f.step_s},
                             {"why", f.why}});
    for (const runs::RunProblem& p : m.problems)
        problems.push_back({{"severity", p.code == "run-differs" ? "warning" : "error"},
                            {"code", p.code},
                            {"message", as_utf8(p.message)}});
    for (const std::string& w : m.warnings) warnings.push_back(as_utf8(w));
    return {{"files", std::move(files)},
            {"step",
             {{"predicted_s", known(m.predicted_s)},
              {"measured_s", known(m.measured_s)},
              {"ideal_s", known(m.ideal_s)},
              {"possible", m.possible}}},
            {"memory",
             {{"measured_peak", m.peak_bytes > 0 ? whole(m.peak_bytes) : Json(nullptr)},
              {"predicted_peak", m.predicted_peak > 0 ? whole(m.predicted_peak) : Json(nullptr)}}},
            {"summary", as_utf8(m.summary)},
            {"parts", std::move(parts)},
            {"ranks", std::move(ranks)},
            {"slow", std::move(slow)},
            {"collectives", std::move(collectives)},
            {"links", std::move(links)},
            {"problems", std::move(problems)},
            {"warnings", std::move(warnings)}};
}

Document document_of(const runs::Measured& m) {
    Section step{"Step", {}, {}};
    if (!m.summary.empty()) step.lines.push_back(m.summary);
    if (m.peak_bytes > 0)
        step.lines.push_back("At most " + memory_text(m.peak_bytes) + " were allocated on a GPU"
                             + (m.predicted_peak > 0
                                    ? "; the plan's fullest one holds " + memory_text(m.predicted_peak)
                                          + ", with what no allocator counts."
                                    : "."));
    for (const runs::RunProblem& p : m.problems) step.lines.push_back(as_utf8(p.message));
    for (const std::string& w : m.warnings) step.lines.push_back(as_utf8(w));
    if (!m.parts.empty()) step.table = measured_parts_table(m);
    Document out{"Measured", {}};
    out.sections.push_back(std::move(step));
    if (!m.ranks.empty())
        out.sections.push_back(
            {"Ranks", {"Own work: all of the step that is no communication."}, measured_ranks_table(m)});
    if (!m.collectives.empty()) {
        Section calls{"Collectives", link_words(m), measured_collectives_table(m)};
        out.sections.push_back(std::move(calls));
    }
    return out;
}

int show_measured(const Context& context, const MeasuredArguments& a) {
    std::optional<Plan> plan;
    if (!a.plan.name.empty()) plan = load_plan(context, a.plan);
    const runs::Measured m = measure_files(context.presets, a.files, plan ? &*plan : nullptr, a.hosts);
    Answer out{json_of_measured(m),
               !m.ranks.empty()   ? measured_ranks_table(m)
               : !m.parts.empty() ? measured_parts_table(m)
                                  : measured_collectives_table(m),
               document_of(m)};
    for (const runs::RunProblem& p : m.problems)
        if (p.code == "impossible-run") out.errors.push_back("pentamesh: " + p.message);
    static_cast<void>(print_answer(context, a.forms, out));
    return m.possible ? 0 : 1;
}

}  // namespace

void add_measured(Options& app, Context& context) {
    auto& a = run_with(app, context, show_measured);
    app.add_option("FILE", a.files,
                   "traces of PyTorch, logs of Megatron, torchtitan or DeepSpeed, files of the NCCL "
                   "Inspector, plain or gzip: "
                   "of one run, or a folder of its traces; - for standard input")
        .required();
    app.add_option("--plan", a.plan.name, "the plan of the run, whose prediction stands beside it")
        .type_name("PLAN");
    add_plan_options(app, a.plan);
    add_hosts(app, a.hosts);
    add_forms(app, context, a.forms);
}

// `calibrate` fits the constants of one's own cluster to one's own runs.

namespace {

struct CalibrateOptions {
    std::vector<std::string> files;
    PlanArgument plan;
    std::string cluster, out, save;
    bool force = false;
    Forms forms;
};

// A trace may be long: its begin says what it is.
std::string begin_of(const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return "";  // what a pipe says is read once
    std::string begin(std::size_t{1} << 18U, ' ');
    std::ifstream in(file, std::ios::binary);
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(in.gcount()));
    return begin;
}

OwnFiles read_files(const Context& context, const CalibrateOptions& options) {
    OwnFiles own;
    std::optional<Plan> plan;
    if (!options.plan.name.empty()) plan = load_plan(context, options.plan);
    std::optional<Mesh> mesh;
    if (plan) mesh = build_mesh(*plan);
    std::vector<runs::RunFile> run_files;
    for (const std::string& file : options.files) {
        if (file == "-" || !runs::run_file_kind(begin_of(file))) {
            add_own_file(own, read_input(file), file, plan ? &*plan : nullptr, options.cluster,
                         context.presets);
            continue;
        }
        if (!plan)
            throw Error(ErrorKind::usage, file, "",
                        "a trace does not say its settings: name the run's plan with --plan");
        run_files.push_back(runs::read_run_file(file, runs::parts_by(&*mesh)));
    }
    if (plan) add_run_files(own, std::move(run_files), *plan, context.presets);
    return own;
}

Cluster cluster_to_calibrate(const Context& context, const CalibrateOptions& options, const OwnFiles& own) {
    if (!options.cluster.empty()) return context.presets.cluster(options.cluster);
    if (const Cluster* of_runs = cluster_of_runs(own)) return *of_runs;
    if (!options.plan.name.empty()) return load_plan(context, options.plan).cluster;
    refuse("tables of nccl-tests without a run need --cluster or --plan");
}

Json json_of_calibrated(const Calibrated& made, const std::string& constants) {
    Json runs = Json::array(), list = Json::array();
    for (const CalibratedRun& r : made.runs)
        runs.push_back({{"run", r.id},
                        {"measured_s", r.measured_s},
                        {"before_s", r.before_s},
                        {"after_s", r.after_s},
                        {"left_out_s", r.left_out_s},
                        {"better", r.better()}});
    for (const CalibratedConstant& c : made.constants)
        list.push_back({{"id", c.id},
                        {"before", c.before},
                        {"after", c.after},
                        {"least", c.least},
                        {"most", c.most},
                        {"measured", c.measured}});
    return {{"runs", std::move(runs)},
            {"constants", std::move(list)},
            {"links", made.links},
            {"error", {{"before", made.before}, {"after", made.after}, {"left_out", made.left_out}}},
            {"cluster", Json::parse(constants)}};
}

Document document_of(const Calibrated& made) {
    Section runs{"Runs", calibrated_lines(made), calibrated_runs_table(made)};
    Section constants{"Constants", made.links, calibrated_constants_table(made)};
    Document out{"Constants of " + made.cluster.name, {}};
    if (!made.runs.empty()) out.sections.push_back(std::move(runs));
    out.sections.push_back(std::move(constants));
    return out;
}

int calibrate_files(const Context& context, const CalibrateOptions& options) {
    const OwnFiles own = read_files(context, options);
    Calibrated made =
        calibrate(own.runs, own.links, cluster_to_calibrate(context, options, own), own.from, own.parts);
    const std::string worse = made.worse_words();
    const bool writes = worse.empty() || options.force;
    if (!worse.empty() && options.force && made.cluster.calibration)
        made.cluster.calibration->from += " (written by --force: " + worse + ")";
    const std::string constants = write_constants(made, options.save, context.presets);
    if (writes && !options.out.empty()) write_output(options.out, constants);
    std::string kept;
    if (writes && !options.save.empty()) kept = save_calibrated(made, options.save, context.presets).string();
    Answer out{json_of_calibrated(made, constants), calibrated_constants_table(made), document_of(made)};
    if (!writes)
        out.errors.push_back("pentamesh: " + worse + ". Nothing is written; --force writes it all the same.");
    if (const int status = print_answer(context, options.forms, out); status != 0) return status;
    if (context.json || options.forms.csv) return 0;
    if (!options.out.empty()) print("\nWritten to " + options.out + ": --constants takes it.\n");
    if (!kept.empty()) print("\nKept as a cluster of your own: " + kept + "\n");
    return 0;
}

}  // namespace

void add_calibrate(Options& app, Context& context) {
    auto& o = run_with(app, context, calibrate_files);
    app.add_option(
           "FILE", o.files,
           "a table of plans and what was measured (JSON), a table of nccl-tests, and what `measured` reads: "
           "logs, traces, files of the NCCL Inspector; - for standard input")
        .required();
    app.add_option("--plan", o.plan.name,
                   "the plan of traces, and of logs that do not say their own settings")
        .type_name("PLAN");
    add_plan_options(app, o.plan);
    app.add_option("--cluster", o.cluster,
                   "a cluster preset's id: what is calibrated; the first run's where it is left out")
        .type_name("CLUSTER");
    app.add_option("-o,--output", o.out, "write the constants to a file, which --constants takes")
        .type_name("FILE");
    app.add_option("--save", o.save, "keep it under this name among your own clusters").type_name("NAME");
    app.add_flag("--force", o.force, "write a fit, too, that is no better than none");
    add_form_flags(app, context, o.forms);
}

// `blame` says what the ranks that hang or fail have in common.

namespace {

struct BlameOptions {
    std::vector<std::string> ranks;
    std::string hosts;
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

int show_blame(const Context& context, const OnPlan<BlameOptions>& options) {
    std::error_code ignored;
    if (std::filesystem::is_directory(options.plan.name, ignored))
        throw Error(ErrorKind::usage, options.plan.name, "",
                    "is a folder, no plan; `pentamesh hang` finds the ranks to blame in a folder of dumps");
    const LoadedPlan loaded = load_plan_and_sets(context, options.plan);
    const Plan& plan = loaded.plan;
    const Evaluation e = assess(plan);
    std::string list;
    for (const std::string& r : options.ranks) list += r + " ";
    if (e.mesh.world == 0 || !e.valid)
        return print_answer(context, options.forms, with_problems(e, {Json::object(), {}, {}}));
    const Blame b = blame(plan, e, parse_rank_list(list, e.mesh.world));
    const Hosts hosts = load_hosts(options.hosts, plan, e.mesh);
    Answer out = with_problems(
        e, {json_of_blame(plan, e, b, hosts), shared_groups_table(plan, b), document_of(plan, e, b, hosts)});
    put_followed(loaded.followed, out.json);
    return print_answer(context, options.forms, out);
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
