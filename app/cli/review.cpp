// `review` writes one plan, or two, as pages for a design review.
#include "app/ui/review/review.h"

#include "app/cli/plan_argument.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <iostream>

namespace pentamesh::cli {
namespace {

struct ReviewOptions {
    PlanArgument plan, second;
    std::string file, paper = "16:9", theme = "light", pages;
    ui::ReviewRequest request;
};

ui::ReviewRequest request_of(const ReviewOptions& options) {
    ui::ReviewRequest r = options.request;
    const auto paper = ui::paper_named(options.paper);
    if (!paper)
        throw Error(ErrorKind::usage, "", "",
                    "--paper " + shown_text(options.paper) + ": there are 16:9, a4, letter");
    r.paper = *paper;
    if (options.theme != "light" && options.theme != "dark")
        throw Error(ErrorKind::usage, "", "",
                    "--theme " + shown_text(options.theme) + ": there are light, dark");
    r.theme = options.theme == "dark" ? ui::ThemeId::dark : ui::ThemeId::light;
    r.pages = ui::review_pages_named(options.pages);
    return r;
}

int review(const Context& context, const ReviewOptions& options) {
    const ui::ReviewRequest request = request_of(options);
    std::vector<Plan> plans{load_plan(context, options.plan)};
    if (!options.second.name.empty() || !options.second.sets.empty()) {
        PlanArgument second = options.second;
        if (second.name.empty()) {  // the same plan with other settings
            second.name = options.plan.name;
            second.sets.insert(second.sets.begin(), options.plan.sets.begin(), options.plan.sets.end());
        }
        if (options.second.name.empty()) second.constants = options.plan.constants;
        if (second.name == "-" && options.plan.name == "-")
            throw Error(ErrorKind::usage, "", "", "standard input has one plan, not two: save it to a file");
        plans.push_back(load_plan(context, second));
    }
    const ui::ReviewForm form = ui::review_form_of(options.file);
    const auto files =
        ui::make_review(context.presets, plans, request, form, find_fonts(context.data_folder));
    if (form == ui::ReviewForm::folder) {
        std::error_code error;
        std::filesystem::create_directories(options.file, error);
        if (error) throw Error(ErrorKind::io, options.file, "", "cannot be made: " + error.message());
        for (const ui::ReviewFile& f : files)
            write_file(std::filesystem::path(options.file) / f.name, f.bytes);
    } else {
        write_file(options.file, files.front().bytes);
    }
    int status = 0;
    for (const Plan& p : plans)
        if (const int one = status_of(evaluate(p, {.timeline = false})); one != 0) status = one;
    return status;
}

}  // namespace

void add_review(Options& app, Context& context) {
    auto& options = run_with(app, context, review);
    add_plan_argument(app, options.plan);
    app.add_option("PLAN_B", options.second.name, "another plan, which the first is compared with");
    app.add_option(
           "--set-b", options.second.sets,
           "change a field of the second plan, as layout.tp=4; without PLAN_B: of a copy of PLAN. --set "
           "changes PLAN alone")
        .type_name("POINTER=VALUE")
        .repeatable();
    app.add_option("-o,--output", options.file,
                   "NAME.pdf, NAME.html, or a folder for an SVG and a PNG file a page")
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
    app.add_option("--decision", options.request.decision,
                   "what is decided, in the place of the program's own sentence");
    app.add_option("--owner", options.request.owner, "stands where the first page asks for the owner");
    app.add_option("--date", options.request.date, "stands on the first page, as it is written here");
    app.add_flag("--one-a-page", options.request.one_a_page,
                 "each figure and each table on a page of its own, for a talk");
    app.add_flag("--outlines", options.request.outlines, "SVG: text as shapes, not as <text>");
}

}  // namespace pentamesh::cli
