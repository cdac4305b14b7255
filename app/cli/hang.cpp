// `hang` says who is to blame for a run that stands still, out of the dumps of its flight recorders.
#include "app/cli/json_of.h"
#include "app/cli/output.h"
#include "app/cli/plan_argument.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/io/plan_json.h"
#include "core/runs/hang_run.h"
#include "core/runs/hang_words.h"

#include <algorithm>
#include <optional>

namespace pentamesh::cli {
namespace {

using runs::RunAxis;

struct HangArguments {
    std::string folder, plan, hosts;
    std::vector<std::string> sets;
};

// Holds what a run is shown with.
struct Shown {
    const runs::HangRun& of;
    const Hosts& hosts;
    const runs::DumpFolder& run = of.run;
    const runs::Hang& hang = of.hang;
};

Json json_of_call(const Shown& s, const runs::RunCall& call, bool members) {
    if (call.group < 0)
        return {{"axes", Json::array()}, {"group_name", nullptr}, {"group", Json::array()},
                {"sequence", nullptr},   {"collective", nullptr}, {"tier", nullptr}};
    Json out{{"axes", s.hang.layout.axes_of(*s.run.names, call.group)},
             {"group_name", as_utf8(s.run.names->description(call.group))}};
    if (members) out["group"] = s.run.names->ranks(call.group);
    out["sequence"] = call.sequence;
    out["collective"] = as_utf8(s.run.names->text(call.collective));
    out["tier"] = s.of.tier_name_of(call);
    return out;
}

Json json_of_culprit(const Shown& s, const runs::Culprit& c) {
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

Json json_of_hang(const Shown& s, const Json& agrees) {
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
            {"plan", Json::parse(write_plan(s.of.plan))},
            {"problems", std::move(problems)},
            {"warnings", std::move(warnings)}};
}

// Adds who waits, a line for each call.
void add_waiting(const Shown& s, std::string& out) {
    const std::vector<runs::WaitingCall> calls = waiting_by_call(s.hang);
    if (!calls.empty()) out += "\nWaiting\n";
    constexpr std::size_t kMostCalls = 64;
    for (std::size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i)
        out += "  " + waiting_words(s.of, calls[i]) + "\n";
    if (calls.size() > kMostCalls)
        out += "  … " + count_text(static_cast<std::int64_t>(calls.size() - kMostCalls), "call") + " more\n";
    if (!s.hang.held_up.empty())
        out += "  " + ranks_text(s.hang.held_up, 12) + (s.hang.held_up.size() == 1 ? " is" : " are")
               + " held up behind them\n";
}

std::string text_of(const Shown& s) {
    const runs::Hang& h = s.hang;
    std::string out = verdict_words(h) + "\n";
    for (const runs::Culprit& c : h.culprits) out += culprit_words(s.of, c, s.hosts) + "\n";
    for (const runs::RunCall& c : h.groups_stuck)
        out +=
            "stuck: " + call_words(h, *s.run.names, c) + ", over " + std::string(s.of.tier_name_of(c)) + "\n";
    if (const std::string next = next_words(h); !next.empty()) out += "\n" + next + "\n";
    add_waiting(s, out);
    out += "\nLayout: " + layout_words(h.layout) + " (the innermost first; "
           + (h.layout.from == runs::LayoutFrom::names ? "by the groups' names" : "by the calls")
           + (h.layout.certain ? "" : ", not certain") + ")\n";
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
    if (!a.plan.empty()) own = load_plan(context, {a.plan, a.sets});
    const runs::HangRun run = runs::read_hang(a.folder, own ? &*own : nullptr, context.presets);
    Hosts hosts;
    if (!a.hosts.empty()) hosts = load_hosts(a.hosts, run.plan, build_mesh(run.plan));
    const Shown shown{run, hosts};
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
    app.add_option("--plan", options.plan,
                   "the plan of the run: its tiers name the wires, its layout is compared")
        .type_name("PLAN");
    add_sets(app, options.sets);
    add_hosts(app, options.hosts);
    add_json_flag(app, context);
    add_output_file(app, context);
}

}  // namespace pentamesh::cli
