// `search` lists layouts, best first.
#include "core/decide/search.h"
#include "app/cli/output.h"
#include "app/tables/decide_tables.h"
#include "app/tables/table.h"
#include "app/ui/views/search/search_found.h"
#include "core/advice/advice.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/decide/bounds.h"
#include "core/decide/choose.h"
#include "core/decide/decision.h"
#include "core/decide/scale.h"
#include "core/decide/space.h"
#include "core/evaluate.h"
#include "core/io/field_reader.h"
#include "core/io/plan_json.h"
#include "core/mesh/places.h"
#include "core/pipeline/follow.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/rules/software_runs.h"
#include "core/step/step.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace pentamesh::cli {
namespace {

struct SearchMore {
    std::string model, cluster, goal = "tokens";
    std::int64_t gpus = 0;
    std::string software;  // of --for
    std::string headroom, within;
    SpaceRequest space;
    SearchOptions options;
    std::string then = "step";  // of ties
};
using SearchArguments = OnPlan<SearchMore>;

// Returns a plan of --model, --cluster and --gpus, or the one that was named, with --set.
LoadedPlan plan_of(const Context& context, const SearchArguments& a) {
    if (!a.plan.name.empty()) {
        if (!a.model.empty() || !a.cluster.empty() || a.gpus > 0)
            refuse("search takes a PLAN, or --model, --cluster and --gpus; --set changes a plan");
        return load_plan_and_sets(context, a.plan);
    }
    if (a.model.empty() || a.cluster.empty() || a.gpus < 1)
        refuse("search needs a PLAN, or --model, --cluster and --gpus");
    const Json plan{
        {"format", kPlanFormat},
        {"name", ""},
        {"model", context.presets.has(PresetKind::model, a.model)
                      ? Json(a.model)
                      : model_to_json(parse_model(read_input(a.model), a.model, context.presets))},
        {"cluster", {{"preset", a.cluster}, {"gpus", a.gpus}}}};
    LoadedPlan made{plan_from_json(plan, "search", context.presets, a.plan.sets),
                    std::nullopt};  // all GPUs are free
    const std::vector<std::string> set = pointers_of_sets(a.plan.sets);
    made.names_software = std::find(set.begin(), set.end(), "/training/software") != set.end();
    return made;
}

// Reads "5%", "5 %" or "0.05"; nullopt where nothing is asked.
std::optional<double> share_of(const std::string& option, const std::string& text) {
    if (text.empty()) return std::nullopt;
    const Quantity share = parse_quantity(text, Dimension::share);
    const std::string asked = option + " " + shown_text(text) + ": ";
    if (!share.value) refuse(asked + "write a share as 5% or 0.05");
    if (*share.value >= 0 && *share.value < 1) return share.value;
    const bool percent = text.find('%') == std::string::npos && *share.value >= 1 && *share.value < 100;
    throw Error(
        ErrorKind::usage, "", "",
        asked + "it may be from 0 to below 100 %"
            + (percent ? "; that is " + percent_text(*share.value) + ", was " + shown_text(text) + "% meant?"
                       : ""));
}

SearchOptions options_of(const Plan& plan, const SearchArguments& a, const SearchSpace& space) {
    SearchOptions o = a.options;
    const auto goal = parse_name<Goal>(a.goal);
    if (!goal) refuse("--goal " + a.goal + ": the goal may be tokens, memory or cost");
    o.goal = *goal;
    if (o.goal == Goal::cost && plan.cluster.price_per_gpu_hour <= 0)
        throw Error(ErrorKind::usage, "", "/cluster/price_per_gpu_hour",
                    "--goal cost needs the price of a GPU: --set cluster.price_per_gpu_hour=...");
    o.headroom = headroom_of(space, plan.cluster, share_of("--headroom", a.headroom), o.headroom);
    if (!a.within.empty() && o.goal == Goal::memory) o.goal = Goal::tokens;  // keep_within answers by it
    return o;
}

TieOptions ties_of(const SearchArguments& a, std::optional<double> within) {
    const auto then = parse_name<Second>(a.then);
    if (!then) refuse("--then " + shown_text(a.then) + ": it may be step, memory, robust or simple");
    return {.then = *then, .within = within};
}

// --for asks for the layouts of one software, or of all.
void choose_software(const std::string& name, Plan& plan, SpaceRequest& asked) {
    asked.any_software = name == "any";
    if (name.empty() || asked.any_software) return;
    const auto software = parse_name<Software>(name);
    if (!software) {
        std::string names;
        for (const Software s : all_of<Software>()) names += std::string(name_of(s)) + ", ";
        refuse("--for " + shown_text(name) + ": it may be " + names + "any");
    }
    plan.training.software = *software;
}

// Says by whose rules the layouts of a plan are judged that names no software; empty where it names one, or
// --for says it.
std::string taken_words(const Plan& plan, bool names_software, const std::string& asked) {
    if (names_software || !asked.empty()) return {};
    return "the plan names no training.software: the rules and figures of "
           + facts_of(plan.training.software).name
           + " are taken; --for any takes layouts of any software, --for torchtitan those of that one";
}

Json layout_of(const Plan& plan) {
    return plan_to_json(plan)["layout"];
}
// The result names the software too, if it is not the default.
Json training_of(const Plan& plan, const SearchSpace& space) {
    const Json training = plan_to_json(plan)["training"];
    Json out{{"micro_batch", training["micro_batch"]}, {"recompute", training["recompute"]}};
    const std::pair<Varied, const char*> varied[] = {
        {Varied::gradients, "gradients"},    {Varied::optimizer_state, "optimizer_state"},
        {Varied::overlap_tp, "overlap"},     {Varied::overlap_pp, "overlap"},
        {Varied::offload_layers, "offload"}, {Varied::offload_optimizer, "offload"}};
    for (const auto& [field, key] : varied)
        if (space.values_of(field).size() > 1) out[key] = training.value(key, Json::object());
    if (training.contains("software")) out["software"] = training["software"];
    return out;
}

Json json_of_result(const SearchResult& r, const SearchSpace& space) {
    Json out{{"layout", layout_of(r.plan)},
             {"training", training_of(r.plan, space)},
             {"step_s", r.step_s},
             {"tokens_per_s", r.tokens_per_s},
             {"mfu", r.mfu},
             {"mfu_causal", mfu_causal(r.step)},
             {"memory_bytes", whole(r.memory_bytes)},
             {"headroom", r.headroom},
             {"verdict", verdict_of_fit(r.fit)},
             {"bubble_s", r.bubble_s},
             {"exposed_s", r.exposed_s},
             {"cost_per_token", r.cost_per_token > 0 ? Json(r.cost_per_token) : Json(nullptr)},
             {"pareto", r.pareto},
             {"alike", r.alike},
             {"tied", r.tied},
             {"changes", r.changes},
             {"slow_link_s", r.slow_link_s > 0 ? Json(r.slow_link_s) : Json(nullptr)},
             {"slow_stage_s", r.slow_stage_s > 0 ? Json(r.slow_stage_s) : Json(nullptr)}};
    if (!space.software) {
        Json& names = out["run_by"] = Json::array();
        for (const std::string_view name : software_that_runs(r.plan)) names.push_back(std::string(name));
    }
    return out;
}

// Lists what the plan's software does not run of it.
Json json_of_lacks(const Plan& plan, const Lacks& lacks) {
    Json out = Json::array();
    for (const Lack l : all_of<Lack>())
        if (lacks.has(l))
            out.push_back(
                {{"code", name_of(code_of(l))}, {"message", words_of(l, plan, plan.training.software)}});
    return out;
}

// Nothing is said of a plan that was made up of --model, --cluster and --gpus: nobody wrote its layout.
Json json_of_search(const Plan& plan, const SearchReport& r, double seconds, std::optional<double> within,
                    bool made_up) {
    Json space = Json::object(), rejected = Json::array(), results = Json::array();
    for (const Inside& i : r.space.inside)
        space["inside"].push_back({{"axis", name_of(i.group)}, {"tier", tier_name(plan.cluster, i.tier)}});
    if (r.space.most_memory) space["memory_bytes"] = whole(*r.space.most_memory);
    for (const Varied v : all_of<Varied>()) {
        const std::vector<std::string> texts = r.space.values_of(v);
        if (is_held_by_default(v) && texts.size() == 1) continue;
        Json& values = space[std::string(name_of(v))] = Json::array();
        for (const std::string& text : texts) values.push_back(Json::parse(text));
    }
    for (const Rejection& x : r.rejected)
        rejected.push_back(
            {{"code", name_of(x.code)},
             {"count", x.count},
             {"example", {{"layout", layout_of(x.example)}, {"training", training_of(x.example, r.space)}}},
             {"message", x.message}});
    for (const SearchResult& x : r.results) results.push_back(json_of_result(x, r.space));
    const bool timed = r.base.step_s > 0;
    Json out{{"goal", name_of(r.goal)},
             {"for", r.space.software ? name_of(*r.space.software) : "any"},
             {"space", std::move(space)},
             {"counts",
              {{"layouts", r.counts.layouts},
               {"skipped", r.counts.skipped},
               {"evaluated", r.counts.evaluated},
               {"invalid", r.counts.invalid},
               {"too_big", r.counts.too_big},
               {"fit", r.counts.fit},
               {"left_out", r.counts.left_out}}},
             {"rejected", std::move(rejected)},
             {"seconds", seconds},
             {"threads", r.threads},
             {"base",
              {{"step_s", timed ? Json(r.base.step_s) : Json(nullptr)},
               {"tokens_per_s", timed ? Json(r.base.tokens_per_s) : Json(nullptr)},
               {"mfu", timed ? Json(r.base.mfu) : Json(nullptr)},
               {"mfu_causal", timed ? Json(r.base.mfu_causal) : Json(nullptr)},
               {"memory_bytes", timed ? whole(r.base.memory_bytes) : Json(nullptr)},
               {"fit", fits(r.base.fit)},
               {"may_fit", r.base.fit != MemoryFit::no},
               {"verdict", timed ? Json(verdict_of_fit(r.base.fit)) : Json(nullptr)},
               {"lacks", json_of_lacks(plan, r.base.lacks)}}},
             {"ties",
              {{"count", r.ties.count},
               {"all", r.ties.all},
               {"within", r.ties.within},
               {"of_estimate", r.ties.estimate}}},
             {"results", std::move(results)}};
    const std::string verdict = within || made_up ? std::string() : standing_of(evaluate(plan), r).sentence;
    if (made_up) out["base"] = nullptr;
    out["verdict"] = verdict.empty() ? Json(nullptr) : Json(verdict);
    if (within) out["within"] = *within;
    if (!r.nothing_fits.empty()) out["nothing_fits"] = r.nothing_fits;
    return out;
}

// Says what is proposed of the plan where that is not the fastest layout. Who says which layouts are wanted
// knows what they want: then it is empty.
std::string proposed_words(const Plan& plan, const SpaceRequest& asked, const SearchReport& r) {
    if (!asked.hold.empty() || !asked.vary.empty() || asked.any_software || r.goal == Goal::memory) return {};
    const Evaluation e = evaluate(plan);
    std::optional<PlanDecision> decision = decide_by_two_edits(plan, e);
    return decision ? ui::beside_words(plan, with_search(std::move(*decision), e, r)) : std::string();
}

// Says which layouts are asked for, beyond the values of the fields.
std::string asked_words(const Plan& plan, const SearchSpace& s) {
    std::string out;
    for (const Inside& i : s.inside)
        out += (out.empty() ? "Asked for: " : ", ") + std::string(name_of(i.group)) + " inside "
               + std::string(tier_name(plan.cluster, i.tier));
    if (s.most_memory)
        out += (out.empty() ? "Asked for: at most " : ", at most ") + memory_text(*s.most_memory) + " a GPU";
    return out.empty() ? out : out + ".";
}

// Returns words for the fields that have one value in the whole space: they are no columns of the results.
std::string held_words(const SearchReport& r, bool experts) {
    std::string out;
    for (const Varied v : all_of<Varied>()) {
        const std::vector<std::string> values = r.space.values_of(v);
        if (values.size() != 1 || is_held_by_default(v)) continue;
        if (!experts && (v == Varied::ep || v == Varied::etp)) continue;
        const Json value = Json::parse(values[0]);
        out += (out.empty() ? "The same in all: " : ", ") + std::string(name_of(v)) + " "
               + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    return out.empty() ? out : out + ".";
}

// Says in which order tied layouts stand.
std::string_view order_words(Second then) {
    switch (then) {
    case Second::step: return "fastest first";
    case Second::memory: return "least memory first";
    case Second::robust: return "the shorter step with a slow link and a slow stage first";
    case Second::simple: break;
    }
    return "fewest changes of the plan first";
}

// Says what the plan that was searched takes itself.
std::string base_words(const Plan& plan, const SearchReport& r) {
    if (r.base.step_s <= 0) return "The plan itself is impossible: " + first_error(evaluate(plan).problems);
    const std::string outside = outside_words(plan);
    return sentence(
        "The plan itself: ", time_text(r.base.step_s), ", ", whole_text(std::round(r.base.tokens_per_s)),
        " tokens/s, ", memory_text(r.base.memory_bytes), ", ", name_of(r.base.fit),
        r.base.fit == MemoryFit::yes ? "."
                                     : sentence(": a GPU has ", memory_text(plan.cluster.gpu.hbm_bytes), "."),
        outside.empty() ? outside : " " + outside);
}

// Returns the table of the layouts. Nobody wrote a plan that a model and a cluster were made up into, so that
// nothing is a change of it.
Table found_table(const SearchReport& r, bool made_up) {
    Table t = results_table(r);
    const auto column = std::find_if(t.columns.begin(), t.columns.end(),
                                     [](const Table::Column& c) { return c.title == "changes of the plan"; });
    if (!made_up || column == t.columns.end()) return t;
    const auto place = column - t.columns.begin();
    for (Table::Row& row : t.rows) row.erase(row.begin() + place);
    t.columns.erase(column);
    return t;
}

// `within`: the layouts are those of the Pareto line that take so much more time at most.
Document search_document(const Plan& plan, const SearchReport& r, Second then, double seconds,
                         std::optional<double> within, bool made_up, const std::string& proposed) {
    const bool by_time = r.goal != Goal::memory;
    Section found{within ? "Layouts of the Pareto line within " + percent_text(*within)
                               + " of the best time, least memory first"
                  : by_time ? "Layouts, fastest first"
                            : "Layouts, least memory first",
                  {},
                  found_table(r, made_up)};
    if (const std::string verdict = standing_of(evaluate(plan), r).sentence;
        !verdict.empty() && !within && !made_up)
        found.lines.push_back(verdict);
    if (!proposed.empty()) found.lines.push_back(proposed);
    if (const std::string ties = tie_words(r); !ties.empty() && !within) {
        if (then != Second::step)
            found.title = "Layouts, those that are tied first, " + std::string(order_words(then));
        found.lines.push_back(ties);
    }
    const SearchCounts& c = r.counts;
    found.lines.push_back(sentence(c.layouts, " layouts: ", c.skipped, " skipped by a bound, ", c.evaluated,
                                   " evaluated, of which ", c.fit, " fit, ", c.too_big, " are too big and ",
                                   c.invalid, " impossible; ", time_text(seconds), " on ",
                                   count_text(r.threads, "thread"), "."));
    if (c.left_out > 0)
        found.lines.push_back(sentence("For ", facts_of(*r.space.software).name, ": ", c.left_out,
                                       " layouts that it does not run are left out (--for any has them)."));
    if (!made_up) found.lines.push_back(base_words(plan, r));
    if (!r.results.empty() && !made_up)
        if (std::string hsdp = hsdp_words(plan, r.results.front().plan); !hsdp.empty())
            found.lines.push_back("The first is " + std::move(hsdp));
    if (const std::string same = held_words(r, plan.model.moe.has_value()); !same.empty())
        found.lines.push_back(same);
    if (const std::string asked = asked_words(plan, r.space); !asked.empty()) found.lines.push_back(asked);
    if (!r.nothing_fits.empty()) found.lines.push_back(r.nothing_fits);
    Section rejected{"Rejected", {}, rejected_table(r)};
    if (r.rejected.empty()) rejected.lines.emplace_back("None.");
    return {title_of(plan), {std::move(found), std::move(rejected)}};
}

// A search that nobody watches does without the reports of its threads.
SearchReport search_with_progress(const Plan& plan, const SearchSpace& space, const SearchOptions& options) {
    Progress progress;
    if (!progress.shown()) return search(plan, space, options);
    double best = 0;
    const auto show = [&](const std::vector<FoundLayout>& found, const SearchCounts& counts) {
        for (const FoundLayout& f : found) best = best > 0 ? std::min(best, f.step_s) : f.step_s;
        progress.at([&] {
            return sentence("search: ", counts.evaluated, " layouts evaluated, ", counts.fit, " fit",
                            best > 0 ? ", the fastest so far " + time_text(best) : "");
        });
    };
    return search(plan, space, options, nullptr, show);
}

int run_search(const Context& context, const SearchArguments& arguments) {
    LoadedPlan loaded = plan_of(context, arguments);
    Plan& plan = loaded.plan;
    SpaceRequest asked = arguments.space;
    const std::string taken = taken_words(plan, loaded.names_software, arguments.software);
    choose_software(arguments.software, plan, asked);
    const bool by_memory = parse_name<Goal>(arguments.goal) == Goal::memory;
    const std::optional<double> share = share_of("--within", arguments.within);
    const TieOptions ties = ties_of(arguments, by_memory ? std::nullopt : share);
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, asked, error);
    if (error) refuse(error->message);
    const SearchOptions options = options_of(plan, arguments, space);
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    SearchReport r = search_with_progress(plan, space, options);
    const std::optional<double> within = by_memory ? share : std::nullopt;
    if (within)
        keep_within(r, *within);
    else
        find_ties(plan, ties, r);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    r.nothing_fits = what_would_fit(plan, asked, options, r);
    const bool made_up = arguments.plan.name.empty();
    const std::string proposed = within || made_up ? std::string() : proposed_words(plan, asked, r);
    Answer out{json_of_search(plan, r, seconds, within, made_up), found_table(r, made_up),
               search_document(plan, r, ties.then, seconds, within, made_up, proposed)};
    out.json["software_taken"] = taken.empty() ? Json(nullptr) : Json(taken);
    out.json["proposed"] = proposed.empty() ? Json(nullptr) : Json(proposed);
    if (!r.nothing_fits.empty()) out.errors.push_back("pentamesh: " + r.nothing_fits);
    put_followed(loaded.followed, out.json);
    if (!taken.empty()) say_error("pentamesh: " + taken);
    return print_answer(context, arguments.forms, out);
}

// Returns "{megatron,torchtitan,...,any}".
std::string software_list() {
    std::string out;
    for (const Software s : all_of<Software>()) out += std::string(name_of(s)) + ",";
    return "{" + out + "any}";
}

}  // namespace

std::string search_notes() {
    constexpr std::size_t kColumn = 18;
    std::string out = "Fields of --vary and --hold, and the values that are tried by default:\n";
    for (const Varied v : all_of<Varied>()) {
        std::string name = "  " + std::string(name_of(v));
        name.resize(std::max(kColumn, name.size() + 1), ' ');
        const bool all = usual_values(v) == "all" || v == Varied::order;
        out += name + std::string(usual_values(v)) + (all ? ": " + possible_values(v) : "") + "\n";
    }
    return out
           + "Numbers may be lists and ranges (pp=1,2,4..16) or limits (pp<=8, tp>1); memory<=70GiB limits a "
             "GPU;\n"
             "recompute_layers=1..4 tries the first layers of each chunk too, "
             "recompute_modules=mlp,core_attn+mlp "
             "sets of modules;\n"
             "\"tp inside the node\", \"ep inside NVLink\" keep the groups of an axis inside a tier.\n";
}

void add_search(Options& app, Context& context) {
    auto& a = run_with(app, context, run_search);
    app.add_option("PLAN", a.plan.name,
                   "a plan file or preset: its model, cluster, sequence, batch and precision");
    add_plan_options(app, a.plan);
    app.add_option("--model", a.model, "a model preset or a file, instead of a PLAN").type_name("MODEL");
    app.add_option("--cluster", a.cluster, "a cluster preset").type_name("CLUSTER");
    app.add_option("--gpus", a.gpus, "how many of its GPUs");
    app.add_option("--vary", a.space.vary,
                   "the values of a field, as tp=1,2,4 or pp=1..8, or a limit, as \"pp<=8\"; may be repeated")
        .type_name("CONSTRAINT")
        .repeatable();
    app.add_option("--hold", a.space.hold,
                   "keep the plan's value of a field (pp), one value (tp=8), a limit (\"pp<=8\", "
                   "\"memory<=70GiB\") or a place (\"tp inside the node\"); may be repeated")
        .type_name("CONSTRAINT")
        .repeatable();
    app.add_option("--for", a.software, "layouts that this software runs (the plan's), or any")
        .type_name(software_list());
    app.add_option("--goal", a.goal, "what is best: tokens where it is left out")
        .type_name("{tokens,memory,cost}");
    app.add_option(
           "--then", a.then,
           "what decides between layouts that cannot be told apart: step, memory, robust (a slow link, a "
           "slow stage) or simple (fewest changes of the plan)")
        .type_name("{step,memory,robust,simple}")
        .show_default();
    app.add_option(
           "--within", a.within,
           "the share of the best time within which layouts count as equal (the estimate's range); with "
           "--goal memory: the layouts of least memory within it, as 5%")
        .type_name("SHARE");
    app.add_option("--headroom", a.headroom,
                   "share of the memory that stays free: 5% or 0.05 (5%; 0 where memory<= is asked for)")
        .type_name("SHARE");
    app.add_option("--top", a.options.top, "how many layouts to list next to the Pareto line (10)")
        .range(1, 10000);
    app.add_option("--threads", a.options.threads, "threads (one a core)").range(1, 1024);
    add_forms(app, context, a.forms);
}

// `sweep` evaluates many variants of a plan: every combination of some values, or a list of points.

namespace {

constexpr std::size_t kMostPoints = 200000;

struct SweepOptions {
    std::vector<std::string> vary;
    std::string points;
};

// Fields and their values, in the order in which they are set: "layout.tp", 4.
using Point = std::vector<std::pair<std::string, nlohmann::json>>;

struct Swept {
    std::string reason;          // why there are no figures; empty: there are
    std::vector<Edit> followed;  // of what is set (follow.h)
    std::string stays{};         // what stays and may not be meant
    Json lacks = Json::array();  // of the variant's software
    double step_s = 0, tokens_per_s = 0, mfu = 0, memory_bytes = 0;
    MemoryFit fit = MemoryFit::no;
};

// Adds the whole numbers of "1..8". Returns false where the text is no such range.
bool add_range(const std::string& field, std::string_view text, Point& out) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return false;
    const auto from = parse_whole(text.substr(0, dots)), to = parse_whole(text.substr(dots + 2));
    if (!from || !to || *from > *to || *from < 0) return false;
    if (static_cast<std::uint64_t>(*to - *from) >= kMostPoints)
        refuse(sentence("a sweep has at most ", kMostPoints, " points"));
    for (std::int64_t n = *from; n <= *to; ++n) out.emplace_back(field, n);
    return true;
}

// Reads "layout.tp=1,2,4" or "layout.tp=1..8" into the values of one field.
Point values_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || as_utf8(text) != text)
        refuse("--vary " + shown_text(text) + ": write it as layout.tp=1,2,4");
    Point out;
    const std::string field = text.substr(0, equals);
    for (const std::string_view value : split(std::string_view(text).substr(equals + 1), ',')) {
        if (add_range(field, value, out)) continue;
        const auto read = try_parse_json(std::string(value));
        out.emplace_back(field, read ? *read : nlohmann::json(value));
    }
    return out;
}

// Returns every combination; the last field changes fastest.
std::vector<Point> combinations(const std::vector<std::string>& vary) {
    std::vector<Point> points{{}};
    std::set<std::string> named;
    for (const std::string& text : vary) {
        const Point values = values_of(text);
        // The values of the first would be lost.
        if (!named.insert(pointer_of_field(values.front().first)).second)
            refuse("--vary " + shown_text(text)
                   + ": this field is varied twice; write all its values in one, as layout.tp=1,2,4");
        if (points.size() * values.size() > kMostPoints)
            refuse(sentence("a sweep has at most ", kMostPoints, " points"));
        std::vector<Point> longer;
        for (const Point& p : points)
            for (const auto& value : values) {
                longer.push_back(p);
                longer.back().push_back(value);
            }
        points = std::move(longer);
    }
    return points;
}

std::vector<Point> points_in(const std::string& file) {
    const nlohmann::ordered_json list = nlohmann::ordered_json(parse_json(read_input(file), file));
    if (!list.is_array())
        throw Error(ErrorKind::invalid, file, "", "must be a list of objects such as {\"layout.tp\": 4}");
    if (list.size() > kMostPoints) refuse(sentence("a sweep has at most ", kMostPoints, " points"));
    std::vector<Point> out;
    for (const auto& one : list) {
        if (!one.is_object())
            throw Error(ErrorKind::invalid, file, "/" + std::to_string(out.size()),
                        "must be an object such as {\"layout.tp\": 4}");
        Point& point = out.emplace_back();
        for (const auto& item : one.items()) point.emplace_back(item.key(), item.value());
    }
    return out;
}

// Refuses a field that no plan has: a row for each value would only repeat it.
void refuse_unknown_fields(const Context& context, const nlohmann::json& base,
                           const std::vector<Point>& points) {
    std::set<std::string_view> seen;
    for (const Point& p : points)
        for (const auto& [field, value] : p) {
            if (!seen.insert(field).second) continue;
            try {
                nlohmann::json document = base;
                set_in_plan(document, pointer_of_field(field), value, context.presets);
                static_cast<void>(plan_from_json(document, "", context.presets));
            } catch (const Error& e) {
                if (is_unknown_key(e)) refuse(shown_text(field) + ": " + e.message());
            }
        }
}

// Evaluates variants one after another, in memory of its own.
class Sweeper {
  public:
    Sweeper(const Context& context, const Plan& plan, const nlohmann::json& base)
        : context_(context), plan_(plan), base_(base) {}

    Swept operator()(const Point& point) {
        Swept out;
        try {
            nlohmann::json document = base_;
            std::vector<std::string> pointers;
            for (const auto& [field, value] : point) {
                pointers.push_back(pointer_of_field(field));
                set_in_plan(document, pointers.back(), value, context_.presets);
            }
            Followed variant = follow(plan_, plan_from_json(document, "", context_.presets), pointers);
            evaluate(variant.plan, e_);
            out.followed = std::move(variant.edits);
            out.stays = std::move(variant.stays);
            if (e_.valid)
                out.lacks =
                    json_of_lacks(variant.plan, lacks_of(variant.plan, variant.plan.training.software));
        } catch (const Error& e) {
            out.reason = e.what();
            return out;
        }
        if (!e_.valid || !e_.step) {
            out.reason = first_error(e_.problems);
            return out;
        }
        out.step_s = e_.step->time_s, out.tokens_per_s = e_.step->tokens_per_s, out.mfu = e_.step->mfu;
        out.memory_bytes = e_.memory.peak(), out.fit = e_.memory.fit();
        return out;
    }

  private:
    const Context& context_;
    const Plan& plan_;
    const nlohmann::json& base_;
    Evaluation e_;
};

std::vector<Swept> sweep_all(const Context& context, const Plan& plan, const std::vector<Point>& points) {
    const nlohmann::json base(plan_to_json(plan));
    refuse_unknown_fields(context, base, points);
    std::vector<Swept> out(points.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failed;
    Progress progress;
    run_on_threads(cores(), [&] {
        try {
            Sweeper sweep(context, plan, base);
            for (std::size_t i = next++; i < points.size(); i = next++) {
                out[i] = sweep(points[i]);
                if (!progress.shown()) continue;
                const std::lock_guard lock(mutex);
                progress.at([&] { return sentence("sweep: ", i, " of ", points.size()); });
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failed = std::current_exception();
            next = points.size();
        }
    });
    if (failed) std::rethrow_exception(failed);
    return out;
}

Json json_of_sweep(const std::vector<Point>& points, const std::vector<Swept>& rows) {
    Json list = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Json set = Json::object();
        for (const auto& [field, value] : points[i]) set[field] = value;
        const Swept& r = rows[i];
        Json row{{"set", std::move(set)}, {"valid", r.reason.empty()}};
        put_followed(r.followed, row);
        if (r.reason.empty()) {
            row.update({{"step_s", r.step_s},
                        {"tokens_per_s", r.tokens_per_s},
                        {"mfu", r.mfu},
                        {"memory_bytes", whole(r.memory_bytes)}});
            put_fit(row, r.fit);
            row["lacks"] = r.lacks;
        } else {
            row["reason"] = r.reason;
        }
        list.push_back(std::move(row));
    }
    return {{"rows", std::move(list)}};
}

Table sweep_table(const std::vector<Point>& points, const std::vector<Swept>& rows) {
    std::vector<std::string> fields;
    for (const Point& p : points)
        for (const auto& [field, value] : p)
            if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    Table t;
    for (const std::string& f : fields) t.columns.push_back({f, Shown::words, f});
    const bool follows =
        std::any_of(rows.begin(), rows.end(), [](const Swept& r) { return !r.followed.empty(); });
    const bool lacks = std::any_of(rows.begin(), rows.end(), [](const Swept& r) { return !r.lacks.empty(); });
    if (follows) t.columns.push_back({"follows"});
    for (const Table::Column& c : {Table::Column{"step", Shown::seconds, "step_s"},
                                   {"tokens/s", Shown::count, "tokens_per_s"},
                                   {"MFU", Shown::share, "mfu"},
                                   {"fullest GPU", Shown::memory, "memory_bytes"},
                                   {"fits"},
                                   {"reason"}})
        t.columns.push_back(c);
    if (lacks) t.columns.push_back({"the software lacks", Shown::words, "lacks"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Table::Row& row = t.rows.emplace_back();
        for (const std::string& f : fields) {
            std::string text;
            for (const auto& [field, value] : points[i])
                if (field == f) text = value.is_string() ? value.get<std::string>() : value.dump();
            row.emplace_back(text);
        }
        const Swept& r = rows[i];
        if (follows) row.emplace_back(words_of(r.followed));
        const bool there = r.reason.empty();
        for (const double x : {r.step_s, r.tokens_per_s, r.mfu}) row.push_back(there ? Cell(x) : Cell(""));
        row.push_back(there ? whole_cell(r.memory_bytes) : Cell(""));
        row.emplace_back(there ? name_of(r.fit) : "");
        row.emplace_back(r.reason);
        if (lacks)
            row.emplace_back(
                join(r.lacks, "; ", [](const Json& l) { return l["message"].get<std::string>(); }));
    }
    return t;
}

Answer sweep(const Context& context, const Plan& plan, const OnPlan<SweepOptions>& a) {
    if (a.vary.empty() && a.points.empty()) refuse("sweep needs --vary FIELD=V,V or --points FILE");
    if (!a.vary.empty() && !a.points.empty()) refuse("sweep takes --vary or --points, not both");
    const std::vector<Point> points = a.points.empty() ? combinations(a.vary) : points_in(a.points);
    const std::vector<Swept> rows = sweep_all(context, plan, points);
    const auto stays =
        std::find_if(rows.begin(), rows.end(), [](const Swept& r) { return !r.stays.empty(); });
    if (stays != rows.end()) say_error("pentamesh: " + stays->stays);
    const Table table = sweep_table(points, rows);
    return {json_of_sweep(points, rows),
            table,
            {title_of(plan), {{sentence(points.size(), " variants"), {}, table}}}};
}

}  // namespace

void add_sweep(Options& app, Context& context) {
    auto& a = answer_with(app, context, sweep);
    app.add_option("--vary", a.vary, "the values of a field, as layout.tp=1,2,4; repeated: every combination")
        .type_name("FIELD=V,V")
        .repeatable();
    app.add_option(
           "--points", a.points,
           "a file of the variants: a JSON list of objects such as {\"layout.tp\": 4}; - for standard input")
        .type_name("FILE");
    add_forms(app, context, a.forms);
}

// `sensitivity` says how much each choice and constant matters.

namespace {

Json json_of_nudge(const Plan& plan, const std::optional<Nudge>& n) {
    if (!n) return nullptr;
    const std::vector<std::string> set = sets_between(plan, n->plan);
    if (!n->valid()) return {{"value", n->value}, {"set", set}, {"valid", false}, {"message", n->refused}};
    Json out{{"value", n->value},
             {"set", set},
             {"valid", true},
             {"step_s", n->step_s},
             {"same_tokens_s", n->same_tokens_s},
             {"tokens_per_s", n->tokens_per_s},
             {"memory_bytes", whole(n->memory_bytes)}};
    put_fit(out, n->fit);
    return out;
}

Json json_of_sensitivity(const Plan& plan, const Sensitivity& s, std::optional<MemoryFit> fit) {
    Json rows = Json::array();
    for (const SensitivityRow& r : s.rows)
        rows.push_back({{"kind", name_of(r.kind)},
                        {"id", r.id},
                        {"name", r.name},
                        {"value", r.value},
                        {"reach_s", r.reach_s},
                        {"down", json_of_nudge(plan, r.down)},
                        {"up", json_of_nudge(plan, r.up)}});
    Json base{
        {"step_s", s.step_s}, {"tokens_per_s", s.tokens_per_s}, {"memory_bytes", whole(s.memory_bytes)}};
    put_fit(base, fit);
    return {{"base", std::move(base)}, {"rows", std::move(rows)}};
}

Answer sensitivity(const Context& context, const Plan& plan, const OnPlan<>&) {
    const Evaluation e = assess(plan);
    const Sensitivity s = sensitivity_of(plan, context.presets);
    const auto fit = fit_of(e.memory);
    Section rows{"One step down and up; hardware figures and constants by 20 %",
                 {},
                 columns_of(sensitivity_table(s, true), {"name", "from", "to", "delta_s", "share", "step_s",
                                                         "tokens_per_s", "memory_bytes", "fits"})};
    if (s.rows.empty())
        rows.lines.emplace_back("—: the plan has no step.");
    else
        rows.lines.push_back("The plan: " + time_text(s.step_s) + ", "
                             + whole_text(std::round(s.tokens_per_s)) + " tokens/s, "
                             + memory_text(s.memory_bytes) + " on the fullest GPU, which "
                             + std::string(name_of(*fit)) + ". What changes nothing is left out.");
    return with_problems(e, {json_of_sensitivity(plan, s, fit),
                             sensitivity_table(s, false),
                             {title_of(plan), {std::move(rows)}}});
}

}  // namespace

void add_sensitivity(Options& app, Context& context) {
    add_forms(app, context, answer_with(app, context, sensitivity).forms);
}

// `scale` says how far a plan scales: over GPUs, batch, sequence or a factor, and what sets the limit.

namespace {

struct ScaleOptions {
    std::string over = "gpus";
    std::string least, most;
    bool weak = false;
};

Json json_of_point(const Scale& s, const ScalePoint& p) {
    Json out{{"at", p.at}, {"reason", p.possible() ? Json(nullptr) : Json(p.reason)}};
    if (!p.possible()) return out;
    Json axes = Json::object();
    for (const GroupKind k : all_of<GroupKind>())
        if (in_use(s, k))
            axes[key_of(k)] = {{"time_s", p.time_s[k]},
                               {"waits_s", p.waits_s[k]},
                               {"tier", p.tier[k] < 0 ? Json(nullptr) : Json(p.tier[k])}};
    out.update({{"step_s", p.step_s},
                {"compute_s", p.compute_s},
                {"bubble_s", p.bubble_s},
                {"axes", std::move(axes)},
                {"tokens_per_s", p.tokens_per_s},
                {"mfu", p.mfu},
                {"of_best", p.of_best},
                {"memory_bytes", whole(p.memory_bytes)}});
    put_fit(out, p.fit);
    return out;
}

Json json_of_scale(const Plan& plan, const Scale& s) {
    Json points = Json::array(), crossings = Json::array();
    for (const ScalePoint& p : s.points) points.push_back(json_of_point(s, p));
    for (const ScaleCrossing& c : s.crossings) {
        crossings.push_back({{"turn", name_of(c.turn)},
                             {"axis", c.of_axis() ? Json(key_of(c.axis)) : Json(nullptr)},
                             {"at", c.at},
                             {"words", c.words()}});
    }
    const bool gpus = s.request.over == ScaleOver::gpus;
    const ScaleWords words = words_of(plan, s);
    return {{"plan", title_of(plan)},
            {"verdict", words.verdict},
            {"held", words.held},
            {"over", name_of(s.request.over)},
            {"scaling", gpus ? Json(s.request.weak ? "weak" : "strong") : Json(nullptr)},
            {"points", std::move(points)},
            {"crossings", std::move(crossings)}};
}

std::int64_t bound_of(const std::string& option, const std::string& text) {
    if (text.empty()) return 0;
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const std::optional<double> n = parse_double(text);
    if (!n || !(*n >= 1 && *n <= number(kMost)) || *n != std::floor(*n))
        refuse(option + " " + shown_text(text) + ": is a whole number from 1 to " + with_commas(kMost));
    return static_cast<std::int64_t>(*n);
}

Document scale_document(const Plan& plan, const Scale& s) {
    Section turns{"What turns", {}, {}};
    for (const ScaleCrossing& c : s.crossings) turns.lines.push_back(c.words() + ".");
    if (s.crossings.empty()) turns.lines.emplace_back("Nothing, in this range.");
    const std::string how = s.request.over != ScaleOver::gpus
                                ? "Over the " + std::string(name_of(s.request.over))
                            : s.request.weak ? "Over GPUs, the batch grows with them (weak scaling)"
                                             : "Over GPUs, the batch stays (strong scaling)";
    const ScaleWords words = words_of(plan, s);
    return {title_of(plan), {{how, {words.verdict, words.held}, scale_table(s)}, std::move(turns)}};
}

Answer answer_scale(const Context&, const Plan& plan, const OnPlan<ScaleOptions>& a) {
    const std::optional<ScaleOver> over = parse_name<ScaleOver>(a.over);
    if (!over) refuse("--over " + shown_text(a.over) + ": there are gpus, batch, sequence, tp, cp, ep, pp");
    if (a.weak && *over != ScaleOver::gpus)
        refuse("--weak: the batch grows with the GPUs, so it needs --over gpus");
    const ScaleRequest request{*over, a.weak, bound_of("--from", a.least), bound_of("--to", a.most)};
    if (request.least > 0 && request.most > 0 && request.least > request.most)
        refuse("--from " + a.least + " --to " + a.most + ": goes backwards");
    const Scale s = scale_of(plan, request);
    return {json_of_scale(plan, s), scale_table(s), scale_document(plan, s)};
}

}  // namespace

void add_scale(Options& app, Context& context) {
    auto& a = answer_with(app, context, answer_scale);
    app.add_option("--over", a.over, "what grows")
        .type_name("{gpus,batch,sequence,tp,cp,ep,pp}")
        .show_default();
    app.add_flag("--weak", a.weak, "the batch grows with the GPUs");
    app.add_option("--from", a.least, "the least value").type_name("INT");
    app.add_option("--to", a.most, "the largest value").type_name("INT");
    add_forms(app, context, a.forms);
}

}  // namespace pentamesh::cli
