// `review` writes one plan, or several, as pages for a design review.
#include "app/ui/review/review.h"

#include "app/cli/plan_argument.h"
#include "app/cli/streams.h"
#include "core/base/date.h"
#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/base/nearest.h"
#include "core/decide/compare.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pentamesh::cli {
namespace {

struct ReviewOptions {
    PlanArgument plan, second;
    std::vector<std::string> others;  // PLAN_B, PLAN_C ...
    std::string decision, owner;
    std::vector<std::string> run;  // files of it
    std::string file, paper = "16:9", theme = "light", pages;
    ui::ReviewRequest request;
};

ui::ReviewRequest request_of(const ReviewOptions& options) {
    ui::ReviewRequest r = options.request;
    for (std::string* words : {&r.title, &r.author, &r.date}) *words = as_utf8(*words);
    const auto paper = ui::paper_named(options.paper);
    if (!paper) refuse("--paper " + shown_text(options.paper) + ": there are 16:9, a4, letter");
    r.paper = *paper;
    if (options.theme != "light" && options.theme != "dark")
        refuse("--theme " + shown_text(options.theme) + ": there are light, dark");
    r.theme = options.theme == "dark" ? ui::ThemeId::dark : ui::ThemeId::light;
    r.pages = ui::review_pages_named(options.pages);
    return r;
}

// Returns the plans that PLAN is compared with. --set-b changes the first of them, or a copy of PLAN.
std::vector<Plan> other_plans(const Context& context, const ReviewOptions& options) {
    std::vector<Plan> out;
    if (options.others.size() + 1 > kMostCompared)
        refuse("a review compares at most " + std::to_string(kMostCompared) + " plans; found "
               + std::to_string(options.others.size() + 1));
    const std::size_t n = std::max<std::size_t>(options.others.size(), options.second.sets.empty() ? 0 : 1);
    std::size_t inputs = options.plan.name == "-" ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) {
        PlanArgument other = i == 0 ? options.second : PlanArgument{};
        if (options.others.empty()) {  // the same plan with other settings
            other.name = options.plan.name;
            other.sets.insert(other.sets.begin(), options.plan.sets.begin(), options.plan.sets.end());
            other.constants = options.plan.constants;
        } else {
            other.name = options.others[i];
        }
        if (other.name == "-" && ++inputs > 1)
            refuse("standard input has one plan, not two: save it to a file");
        out.push_back(load_plan(context, other));
    }
    return out;
}

// Returns the words of the plan under review, with those of the command line in their place.
AuthorWords words_of(const Plan& plan, const ReviewOptions& options) {
    AuthorWords out = plan.review;
    if (!options.decision.empty()) out.decision = as_utf8(options.decision);
    if (!options.owner.empty()) out.owner = as_utf8(options.owner);
    return out;
}

int review(const Context& context, const ReviewOptions& options) {
    ui::ReviewRequest request = request_of(options);
    std::vector<Plan> plans{load_plan(context, options.plan)};
    request.words = words_of(plans.front(), options);
    if (!options.run.empty())
        request.run =
            std::make_shared<runs::Measured>(measure_files(context.presets, options.run, &plans.front()));
    for (Plan& other : other_plans(context, options)) plans.push_back(std::move(other));
    const ui::ReviewForm form = ui::review_form_of(options.file);
    const std::filesystem::path file(options.file);
    refuse_input(file);
    request.files_folder = ui::files_folder_of(file);
    if (request.date.empty()) request.date = today_in_words();
    const auto files =
        ui::make_review(context.presets, plans, request, form, find_fonts(context.data_folder));
    ui::write_review(file, files, form);
    int status = 0;
    for (const Plan& p : plans)
        if (const int one = status_of(evaluate(p, {.timeline = false})); one != 0) status = one;
    return status;
}

}  // namespace

void add_review(Options& app, Context& context) {
    auto& options = run_with(app, context, review);
    add_plan_argument(app, options.plan);
    app.add_option("PLAN_B", options.others,
                   "other plans, up to 7; with one of them the review compares two, with more it has a table "
                   "of candidates, of which PLAN is the one under review");
    app.add_option(
           "--set-b", options.second.sets,
           "change a field of the second plan, as layout.tp=4; without PLAN_B: of a copy of PLAN. --set "
           "changes PLAN alone")
        .type_name("POINTER=VALUE")
        .repeatable();
    app.add_option(
           "-o,--output", options.file,
           "NAME.pdf, NAME.html, NAME.md with pictures in NAME_files beside it, or a folder for an SVG "
           "and a PNG file a page")
        .type_name("FILE")
        .required();
    app.add_option("--paper", options.paper, "the size of a page")
        .type_name("{16:9,a4,letter}")
        .show_default();
    app.add_option("--theme", options.theme, "the colours").type_name("{light,dark}").show_default();
    app.add_option("--pages", options.pages,
                   "as 1,3-5 or summary,memory: summary, placement, memory, time, communication, "
                   "assumptions, comparison, scale");
    app.add_option("--title", options.request.title, "in the place of the plan's own title");
    app.add_option("--author", options.request.author, "stands on the first page");
    app.add_option("--decision", options.decision,
                   "what is decided, in the place of the program's own sentence");
    app.add_option("--owner", options.owner, "stands where the first page asks for the owner");
    app.add_option("--run", options.run,
                   "a file of a run of PLAN, as `measured` reads it: what it took stands beside the "
                   "estimate; may be repeated")
        .type_name("FILE")
        .repeatable();
    app.add_option("--date", options.request.date,
                   "stands on every page, as it is written here; without it, today");
    app.add_flag("--one-a-page", options.request.one_a_page,
                 "each figure and each table on a page of its own, for a talk");
    app.add_flag("--outlines", options.request.outlines, "SVG: text as shapes, not as <text>");
}

}  // namespace pentamesh::cli
