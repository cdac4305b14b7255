// `search` lists layouts, best first.
#include "app/tables/search.h"
#include "app/cli/document.h"
#include "app/cli/json_of.h"
#include "app/cli/plan_argument.h"
#include "core/base/nearest.h"
#include "core/base/quantity.h"
#include "core/base/text.h"
#include "core/decide/lift.h"
#include "core/decide/ties.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/plan/title.h"
#include "core/rules/software_runs.h"
#include "core/step/step.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

namespace pentamesh::cli {
namespace {

struct SearchArguments {
    PlanArgument plan;
    std::string model, cluster, goal = "tokens";
    std::int64_t gpus = 0;
    std::string software;  // of --for
    SpaceRequest space;
    SearchOptions options;
    std::string then = "step", within;  // of ties
    bool csv = false, markdown = false;
};

// Returns a plan of --model, --cluster and --gpus, or the one that was named, with --set.
Plan plan_of(const Context& context, const SearchArguments& a) {
    if (!a.plan.name.empty()) {
        if (!a.model.empty() || !a.cluster.empty() || a.gpus > 0)
            throw Error(ErrorKind::usage, "", "",
                        "search takes a PLAN, or --model, --cluster and --gpus; --set changes a plan");
        return load_plan(context, a.plan);
    }
    if (a.model.empty() || a.cluster.empty() || a.gpus < 1)
        throw Error(ErrorKind::usage, "", "", "search needs a PLAN, or --model, --cluster and --gpus");
    const Json plan{
        {"format", kPlanFormat},
        {"name", ""},
        {"model", context.presets.has(PresetKind::model, a.model)
                      ? Json(a.model)
                      : model_to_json(parse_model(read_input(a.model), a.model, context.presets))},
        {"cluster", {{"preset", a.cluster}, {"gpus", a.gpus}}}};
    return plan_from_json(plan, "search", context.presets, a.plan.sets);
}

SearchOptions options_of(const Plan& plan, const SearchArguments& a) {
    SearchOptions o = a.options;
    const auto goal = parse_name<Goal>(a.goal);
    if (!goal)
        throw Error(ErrorKind::usage, "", "",
                    "--goal " + a.goal + ": the goal may be tokens, memory or cost");
    o.goal = *goal;
    if (o.goal == Goal::cost && plan.cluster.price_per_gpu_hour <= 0)
        throw Error(ErrorKind::usage, "", "/cluster/price_per_gpu_hour",
                    "--goal cost needs the price of a GPU: --set cluster.price_per_gpu_hour=...");
    if (!(o.headroom >= 0 && o.headroom < 1))
        throw Error(ErrorKind::usage, "", "", "--headroom may be a number from 0 to below 1");
    return o;
}

TieOptions ties_of(const SearchArguments& a) {
    const auto then = parse_name<Second>(a.then);
    if (!then)
        throw Error(ErrorKind::usage, "", "",
                    "--then " + shown_text(a.then) + ": it may be step, memory, robust or simple");
    TieOptions out{.then = *then};
    if (a.within.empty()) return out;
    const Quantity share = parse_quantity(a.within, Dimension::share, "");
    if (!share.value || !(*share.value >= 0 && *share.value < 1))
        throw Error(ErrorKind::usage, "", "",
                    "--within " + shown_text(a.within) + ": is a share, 0.05 or 5%");
    out.within = share.value;
    return out;
}

// --for asks for the layouts of one software, or of all.
void choose_software(const std::string& name, Plan& plan, SpaceRequest& asked) {
    asked.any_software = name == "any";
    if (name.empty() || asked.any_software) return;
    const auto software = parse_name<Software>(name);
    if (!software) {
        std::string names;
        for (const Software s : all_of<Software>()) names += std::string(name_of(s)) + ", ";
        throw Error(ErrorKind::usage, "", "", "--for " + shown_text(name) + ": it may be " + names + "any");
    }
    plan.training.software = *software;
}

Json layout_of(const Plan& plan) {
    return plan_to_json(plan)["layout"];
}
// The result names the software too, if it is not the default.
Json training_of(const Plan& plan) {
    const Json training = plan_to_json(plan)["training"];
    Json out{{"micro_batch", training["micro_batch"]}, {"recompute", training["recompute"]}};
    if (training.contains("software")) out["software"] = training["software"];
    return out;
}

Json json_of_result(const SearchResult& r) {
    return {{"layout", layout_of(r.plan)},
            {"training", training_of(r.plan)},
            {"step_s", r.step_s},
            {"tokens_per_s", r.tokens_per_s},
            {"mfu", r.mfu},
            {"mfu_causal", mfu_causal(r.step)},
            {"memory_bytes", whole(r.memory_bytes)},
            {"headroom", r.headroom},
            {"bubble_s", r.bubble_s},
            {"exposed_s", r.exposed_s},
            {"cost_per_token", r.cost_per_token > 0 ? Json(r.cost_per_token) : Json(nullptr)},
            {"pareto", r.pareto},
            {"alike", r.alike},
            {"tied", r.tied},
            {"changes", r.changes},
            {"slow_link_s", r.slow_link_s > 0 ? Json(r.slow_link_s) : Json(nullptr)},
            {"slow_stage_s", r.slow_stage_s > 0 ? Json(r.slow_stage_s) : Json(nullptr)}};
}

Json json_of_search(const Plan& plan, const SearchReport& r, double seconds) {
    Json space = Json::object(), rejected = Json::array(), results = Json::array(), lacks = Json::array();
    for (const Lack l : all_of<Lack>())
        if (r.base.lacks.has(l))
            lacks.push_back(
                {{"code", name_of(code_of(l))}, {"message", words_of(l, plan, plan.training.software)}});
    for (const Varied v : all_of<Varied>()) {
        Json& values = space[std::string(name_of(v))] = Json::array();
        for (const std::string& text : r.space.values_of(v)) values.push_back(Json::parse(text));
    }
    for (const Rejection& x : r.rejected)
        rejected.push_back(
            {{"code", name_of(x.code)},
             {"count", x.count},
             {"example", {{"layout", layout_of(x.example)}, {"training", training_of(x.example)}}},
             {"message", x.message}});
    for (const SearchResult& x : r.results) results.push_back(json_of_result(x));
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
               {"fit", r.base.fit == MemoryFit::yes},
               {"may_fit", r.base.fit != MemoryFit::no},
               {"lacks", std::move(lacks)}}},
             {"ties",
              {{"count", r.ties.count},
               {"all", r.ties.all},
               {"within", r.ties.within},
               {"of_estimate", r.ties.estimate}}},
             {"results", std::move(results)}};
    if (!r.nothing_fits.empty()) out["nothing_fits"] = r.nothing_fits;
    return out;
}

// Returns words for the fields that have one value in the whole space: they are no columns of the results.
std::string held_words(const SearchReport& r, bool experts) {
    std::string out;
    for (const Varied v : all_of<Varied>()) {
        const std::vector<std::string> values = r.space.values_of(v);
        if (values.size() != 1 || (!experts && (v == Varied::ep || v == Varied::etp))) continue;
        const Json value = Json::parse(values[0]);
        out += (out.empty() ? "The same in all: " : ", ") + std::string(name_of(v)) + " "
               + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    return out.empty() ? out : out + ".";
}

// Each field gets one answer: it is not varied twice, nor varied and held.
void refuse_twice(const SpaceRequest& space) {
    std::vector<std::string> named;
    const auto once = [&](const std::string& option, const std::string& text) {
        const std::string name = text.substr(0, text.find('='));
        if (std::find(named.begin(), named.end(), name) != named.end())
            throw Error(ErrorKind::usage, "", "",
                        option + " " + shown_text(text) + ": " + shown_text(name)
                            + " is varied or held already; all its values go into one --vary");
        named.push_back(name);
    };
    for (const std::string& v : space.vary) once("--vary", v);
    for (const std::string& h : space.hold) once("--hold", h);
}

// Says what the plan's software does not run of the plan; empty if it runs all of it.
std::string lacks_words(const Plan& plan, const Lacks& lacks) {
    std::string out;
    for (const Lack l : all_of<Lack>())
        if (lacks.has(l)) out += (out.empty() ? "" : "; ") + words_of(l, plan, plan.training.software);
    return out.empty()
               ? out
               : sentence(" ", facts_of(plan.training.software).name, " does not run all of it: ", out, ".");
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

Document search_document(const Plan& plan, const SearchReport& r, Second then, double seconds) {
    const bool by_time = r.goal != Goal::memory;
    Section found{by_time ? "Layouts, fastest first" : "Layouts, least memory first", {}, results_table(r)};
    if (const std::string ties = tie_words(r); !ties.empty()) {
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
    if (r.base.step_s > 0)
        found.lines.push_back(sentence(
            "The plan itself: ", time_text(r.base.step_s), ", ", whole_text(std::round(r.base.tokens_per_s)),
            " tokens/s, ", memory_text(r.base.memory_bytes), ", ", name_of(r.base.fit),
            r.base.fit == MemoryFit::yes
                ? "."
                : sentence(": a GPU has ", memory_text(plan.cluster.gpu.hbm_bytes), "."),
            lacks_words(plan, r.base.lacks)));
    else
        found.lines.push_back("The plan itself is impossible: " + first_error(evaluate(plan).problems));
    if (const std::string same = held_words(r, plan.model.moe.has_value()); !same.empty())
        found.lines.push_back(same);
    if (!r.nothing_fits.empty()) found.lines.push_back(r.nothing_fits);
    Section rejected{"Rejected", {}, rejected_table(r)};
    if (r.rejected.empty()) rejected.lines.emplace_back("None.");
    return {title_of(plan), {std::move(found), std::move(rejected)}};
}

int run_search(const Context& context, const SearchArguments& arguments) {
    Plan plan = plan_of(context, arguments);
    SpaceRequest asked = arguments.space;
    choose_software(arguments.software, plan, asked);
    const SearchOptions options = options_of(plan, arguments);
    const TieOptions ties = ties_of(arguments);
    std::optional<SpaceError> error;
    refuse_twice(asked);
    const SearchSpace space = search_space(plan, asked, error);
    if (error) throw Error(ErrorKind::usage, "", "", error->message);
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    SearchReport r = search(plan, space, options);
    find_ties(plan, ties, r);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    r.nothing_fits = what_would_fit(plan, asked, options, r);
    if (context.json)
        print(pretty(json_of_search(plan, r, seconds)));
    else if (arguments.csv)
        print(write_table(results_table(r), TableFormat::csv));
    else
        print(arguments.markdown ? to_markdown(search_document(plan, r, ties.then, seconds))
                                 : to_text(search_document(plan, r, ties.then, seconds)));
    if (r.nothing_fits.empty()) return 0;
    std::cerr << "pentamesh: " << r.nothing_fits << "\n";
    return 1;
}

}  // namespace

void add_search(Options& app, Context& context) {
    auto& a = run_with(app, context, run_search);
    app.add_option("PLAN", a.plan.name,
                   "a plan file or preset: its model, cluster, sequence, batch and precision");
    add_sets(app, a.plan.sets);
    app.add_option("--model", a.model, "a model preset or a file, instead of a PLAN");
    app.add_option("--cluster", a.cluster, "a cluster preset");
    app.add_option("--gpus", a.gpus, "how many of its GPUs");
    app.add_option("--vary", a.space.vary, "the values of a field, as tp=1,2,4; may be repeated")
        .type_name("NAME[=V,V]")
        .repeatable();
    app.add_option("--hold", a.space.hold, "keep the plan's value of a field; may be repeated")
        .type_name("NAME")
        .repeatable();
    app.add_option("--for", a.software, "layouts that this software runs (the plan's), or any")
        .type_name("SOFTWARE|any");
    app.add_option("--goal", a.goal, "tokens (default), memory or cost");
    app.add_option(
           "--then", a.then,
           "what decides between layouts that cannot be told apart: step, memory, robust (a slow link, a "
           "slow stage) or simple (fewest changes of the plan)")
        .show_default();
    app.add_option("--within", a.within,
                   "the share of the best time within which they are (the estimate's range)")
        .type_name("SHARE");
    app.add_option("--headroom", a.options.headroom, "share of the memory that stays free (0.05)");
    app.add_option("--top", a.options.top, "how many layouts to list besides the Pareto line (10)")
        .range(1, 10000);
    app.add_option("--threads", a.options.threads, "threads (one a core)").range(1, 1024);
    const Option json = app.add_flag("--json", context.json, "write JSON");
    const Option csv = app.add_flag("--csv", a.csv, "write the results as CSV").excludes(json);
    app.add_flag("--markdown", a.markdown, "write Markdown").excludes(json).excludes(csv);
}

}  // namespace pentamesh::cli
