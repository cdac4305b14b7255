// `review`, `compare`, `screenshot`, `embed`: pages and pictures of plans.
#include "app/ui/review/review.h"
#include "app/cli/output.h"
#include "app/cli/web_page.h"
#include "app/tables/decide_tables.h"
#include "app/ui/shell/decider.h"
#include "app/ui/shell/dialog_picture.h"
#include "app/ui/shell/document.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/compare/view.h"
#include "app/ui/views/table.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/decide/choose.h"
#include "core/decide/compare.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
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
    std::size_t from_stdin = options.plan.name == "-" ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) {
        PlanArgument other = i == 0 ? options.second : PlanArgument{};
        if (options.others.empty()) {  // the same plan with other settings
            other.name = options.plan.name;
            other.sets.insert(other.sets.begin(), options.plan.sets.begin(), options.plan.sets.end());
            other.constants = options.plan.constants;
        } else {
            other.name = options.others[i];
        }
        if (other.name == "-" && ++from_stdin > 1)
            refuse("standard input has one plan, not two: save it to a file");
        try {
            out.push_back(load_plan(context, other));
        } catch (const Error& e) {
            throw_as_set_b(e, i == 0 ? options.second.sets : std::vector<std::string>());
        }
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
    add_sets_of_second(app, options.second.sets, "--set changes only PLAN");
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
                   "assumptions, comparison, scale, tried, risk; all: everything; without it those that "
                   "decide, in brief");
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

// `compare` sets plans side by side and says why one is faster.

namespace {

struct CompareOptions {
    std::vector<std::string> plans;
    PlanArgument of_all;  // without a name: what is changed in each of them
    std::vector<std::string> sets_b;
    Forms forms;
    std::string file, size, theme = "dark";
    bool light = false;
};

Vec2 parse_size(const std::string& text) {
    if (const auto size = ui::picture_size_named(text)) return *size;
    refuse("--size " + shown_text(text) + ": write it as 1600x900 or 1600xauto; a picture is "
           + ui::picture_limits_words());
}

ui::ThemeId parse_theme(const std::string& text) {
    std::string all;
    for (int i = 0; i < ui::kThemeCount; ++i) {
        const auto id = static_cast<ui::ThemeId>(i);
        if (ui::name_of(id) == text) return id;
        all += (i == 0 ? "" : ", ") + std::string(ui::name_of(id));
    }
    refuse("--theme " + shown_text(text) + ": there are " + all);
}

Json json_of_comparison(const PlanComparison& c) {
    Json fields = Json::array(), figures = Json::array(), why = Json::array(), path = Json::array();
    for (const FieldDifference& f : c.fields) {
        Json values = Json::array();
        for (const std::string& v : f.values) values.push_back(Json::parse(v));
        fields.push_back({{"pointer", f.pointer}, {"values", std::move(values)}});
    }
    for (const FigureRow& f : c.figures) {
        Json values = Json::array();
        const bool bytes = f.unit == FigureRow::Unit::bytes;
        for (const auto& v : f.values) values.push_back(!v ? Json(nullptr) : bytes ? whole(*v) : Json(*v));
        const auto better = f.better();
        figures.push_back({{"key", f.key},
                           {"name", f.name},
                           {"unit", bytes ? "bytes" : unit_words(f)},
                           {"values", std::move(values)},
                           {"better", better ? Json(*better) : Json(nullptr)}});
    }
    for (const PartRow& p : c.why)
        why.push_back(
            {{"part", p.part}, {"values_s", p.values_s}, {"delta_s", p.delta_s}, {"because", p.because}});
    for (const PathEdit& e : c.path) {
        Json& out = path.emplace_back(Json{{"edit", e.edit},
                                           {"pointers", e.pointers},
                                           {"step_s", e.step_s},
                                           {"tokens_per_s", e.tokens_per_s},
                                           {"memory_bytes", whole(e.memory_bytes)}});
        put_fit(out, e.fit);
    }
    Json memory = Json::array();  // by plan
    for (const std::optional<MemoryFit> fit : c.fit) put_fit(memory.emplace_back(Json::object()), fit);
    return {{"plans", c.plans},
            {"memory", std::move(memory)},
            {"fields", std::move(fields)},
            {"figures", std::move(figures)},
            {"why", std::move(why)},
            {"path", std::move(path)}};
}

// Says which plan is the fastest, and of two plans why.
std::string headline(const PlanComparison& c, const std::vector<Evaluation>& evaluations) {
    if (evaluations.size() == 2) return ui::why_words(evaluations[0], evaluations[1], c.why);
    for (const FigureRow& f : c.figures)
        if (const auto best = f.better(); f.key == "step.tokens_per_s" && best)
            return plan_letter(*best) + " trains most: " + whole_text(std::round(*f.values[*best]))
                   + " tokens/s.";
    return {};
}

Document comparison_document(const PlanComparison& c, const std::vector<Evaluation>& evaluations,
                             const PlanChoice& choice) {
    Section names{"", {choice.words()}, {}};
    if (const std::string words = headline(c, evaluations); !words.empty()) names.lines.push_back(words);
    for (std::size_t i = 0; i < c.plans.size(); ++i)
        names.lines.push_back(plan_letter(i) + ": " + ui::full_title(c, i)
                              + (c.fit[i] ? "; it " + std::string(name_of(*c.fit[i])) + "." : ""));
    Section fields{"What differs", {}, fields_table(c)};
    if (c.fields.empty()) fields.lines.emplace_back("Nothing.");
    Section why{"Why: the parts of the step", {}, brief_why_table(c)};
    if (c.why.empty()) why.lines.emplace_back("—: not every plan has a step.");
    std::vector<Section> sections{
        std::move(names), std::move(fields), {"The figures", {}, worded_figures_table(c)}, std::move(why)};
    if (c.plans.size() == 2) {
        Section path{"From A to B, the edit that gains most first", {}, path_table(c)};
        if (c.path.empty())
            path.lines.emplace_back(c.fields.empty() ? "No edit is needed." : "—: B has no step.");
        sections.push_back(std::move(path));
    }
    return {"Plans compared", std::move(sections)};
}

// Draws the view Compare: the first plan is A, the second takes the open plan's place as B.
void draw_comparison(const Context& context, const CompareOptions& options, std::vector<Plan> plans) {
    ui::PictureRequest request;
    request.view = "compare";
    request.size.y = 0;  // as high as the plans take
    if (!options.size.empty()) request.size = parse_size(options.size);
    request.theme = options.light ? ui::ThemeId::light : parse_theme(options.theme);
    const Plan b = plans[1];
    plans.erase(plans.begin() + 1);
    request.compared = std::move(plans);
    std::string ending = std::filesystem::path(options.file).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    write_output(options.file,
                 ui::make_picture(context.presets, b, request, ending, find_fonts(context.data_folder)));
}

int compare_plans(const Context& context, const CompareOptions& options) {
    static_cast<void>(parse_theme(options.theme));  // a misspelt one is an error without a picture too
    std::vector<std::string> names = options.plans;
    if (names.size() == 1 && !options.sets_b.empty()) names.push_back(names.front());
    if (names.size() < 2) refuse("compare takes two plans at least, or one and --set-b");
    if (std::count(names.begin(), names.end(), "-") > 1)
        refuse("standard input has one plan, not two: save it to a file");
    std::vector<Plan> plans;
    std::vector<Evaluation> evaluations;
    Json followed = Json::array();  // by plan
    int status = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        PlanArgument one = options.of_all;
        one.name = names[i];
        if (i == 1) one.sets.insert(one.sets.end(), options.sets_b.begin(), options.sets_b.end());
        LoadedPlan loaded;
        try {
            loaded = load_plan_and_sets(context, one);
        } catch (const Error& e) {
            throw_as_set_b(e, i == 1 ? options.sets_b : std::vector<std::string>());
        }
        put_followed(loaded.followed, followed.emplace_back(Json::object()));
        plans.push_back(std::move(loaded.plan));
        evaluations.push_back(assess(plans.back()));
        if (const int of_one = status_of(evaluations.back()); of_one != 0) status = of_one;
    }
    const Forms& forms = options.forms;
    if (is_picture(options.file)) {
        draw_comparison(context, options, plans);
        if (!context.json && !forms.csv && !forms.markdown) return status;
    }
    const PlanComparison c = compare(plans, evaluations);
    std::optional<KeptOutput> kept;
    if (!options.file.empty() && options.file != "-" && !is_picture(options.file)) kept.emplace();
    std::vector<JudgedPlan> judged;
    for (std::size_t i = 0; i < plans.size(); ++i) judged.push_back({&plans[i], &evaluations[i]});
    const PlanChoice choice = choose_among(judged);
    Answer out{json_of_comparison(c), comparison_table(c), comparison_document(c, evaluations, choice)};
    out.json["verdict"] = choice.words();
    out.json["take"] = choice.take ? Json(*choice.take) : Json(nullptr);
    out.json["sure"] = choice.sure;
    out.json["valid"] = status == 0;
    Json fields = Json::array();
    for (Json& f : followed) fields.push_back(f.value("followed", Json::object()));
    if (std::any_of(fields.begin(), fields.end(), [](const Json& f) { return !f.empty(); }))
        out.json["followed"] = std::move(fields);
    static_cast<void>(print_answer(context, forms, out));  // the plans' errors are said before
    if (kept) write_output(options.file, kept->text());
    return status;
}

}  // namespace

void add_compare(Options& app, Context& context) {
    auto& options = run_with(app, context, compare_plans);
    app.add_option("PLAN", options.plans,
                   "plan files or plan presets; the first is the base; one is enough with --set-b")
        .required()
        .count(1, static_cast<int>(kMostCompared));
    add_plan_options(app, options.of_all);
    add_sets_of_second(app, options.sets_b, "--set changes all of them");
    add_form_flags(app, context, options.forms);
    app.add_option(
           "-o,--output", options.file,
           "write to this file, .txt, .md, .csv or .json; a picture of the view Compare: .png, .svg or .pdf")
        .type_name("FILE");
    app.add_option(
        "--size", options.size,
        "of the picture: WIDTHxHEIGHT in logical pixels; WIDTHxauto, as high as the plans take, where it "
        "is left out");
    app.add_option("--theme", options.theme, "the colours")
        .type_name("{dark,light,high-contrast}")
        .show_default();
    app.add_flag("--light", options.light, "the same as --theme light");
}

namespace {

struct ScreenshotOptions {
    PlanArgument plan;
    std::string file, view, page, size = "1600x900", theme = "dark", axis;
    std::string scene, select, color;
    std::vector<std::string> run, edit;
    double scale = 1, text = 1;
    bool outlines = false, no_title = false, no_caption = false;
    std::int64_t rank = -1;
};

GroupKind parse_axis(const std::string& text) {
    for (const GroupKind kind : all_of<GroupKind>())
        if (name_of(kind) == text) return kind;
    refuse("--axis " + shown_text(text) + ": there is no such axis");
}

// Returns the place of the figure in the list of those that the mesh can show.
int parse_figure(const ScreenshotOptions& options, const ui::PictureRequest& request) {
    const std::optional<int> figure = ui::figure_named(options.color);
    std::string all;
    for (const ui::MeshFigure& f : ui::mesh_figures()) all += (all.empty() ? "" : ", ") + std::string(f.name);
    if (!figure) refuse("--color " + shown_text(options.color) + ": there are " + all);
    const ui::FigureOf of = ui::mesh_figures()[static_cast<std::size_t>(*figure)].of;
    const bool of_run = of == ui::FigureOf::run || of == ui::FigureOf::difference;
    if (of_run && (!request.run || request.run->hang))
        refuse("--color " + options.color + " needs the traces of a run: --run FILES");
    return *figure;
}

// Sets the request to what a window would show: the scene of a plan file or a picture, with something
// selected.
void set_scene(const Context& context, const ScreenshotOptions& options, const Plan& plan,
               ui::PictureRequest& request) {
    const Evaluation e = assess(plan);
    ui::Screen screen;
    screen.settings.theme = request.theme;
    if (request.group) screen.selection.choose(*request.group);
    if (request.rank >= 0) screen.selection.pick_rank(request.rank);
    if (!options.scene.empty()) {
        const SavedScene scene = load_plan(context, {options.scene, {}}).scene;
        std::optional<ui::ViewId> full;
        ui::show_saved_scene(scene, e, screen.views, screen.selection, full);
        if (options.view.empty() && full) request.view = ui::view_of(*full).name;
    }
    if (!options.select.empty()) {
        const ui::Selection before = screen.selection;
        screen.selection = ui::selection_named(options.select, e);
        if (screen.selection == ui::Selection{})
            refuse("--select " + shown_text(options.select)
                   + ": the plan has no such thing; write it as \"rank 5\", \"stage 2\", \"operation 0\", "
                     "\"tensor 3\", \"memory activations, stage 2\" or \"step bubble\"");
        screen.selection.choose(before.group);
        screen.selection.all_axes = before.all_axes;
    }
    request.screen = std::move(screen);
}

// Sets what a real run left behind next to the plan; of a hang, the plan of its layout is shown, as in the
// window.
void set_run(const Context& context, const ScreenshotOptions& options, Plan& plan,
             ui::PictureRequest& request) {
    const std::vector<std::filesystem::path> places(options.run.begin(), options.run.end());
    auto run = std::make_shared<ui::RealRun>(ui::read_real_run(places, plan, context.presets));
    if (run->hang)
        plan = run->hang->plan;
    else
        run->measured = std::make_shared<const runs::Measured>(measure(run->files, &plan, context.presets));
    request.run = std::move(run);
}

// Checks the page's name against those of the view.
void set_page(const ScreenshotOptions& options, ui::PictureRequest& request) {
    std::string all;
    for (const LessonView& v : ui::lesson_views()) {
        if (v.name != request.view) continue;
        for (const std::string_view page : v.pages) all += (all.empty() ? "" : ", ") + std::string(page);
    }
    ui::ViewStates unused;
    const auto view = ui::view_named(request.view);
    if (!view || !ui::show_named_page(request.screen ? request.screen->views : unused, *view, options.page))
        refuse("--page " + shown_text(options.page) + ": the view " + request.view
               + (all.empty() ? " has no pages" : " has " + all));
    request.page = options.page;
}

// Reads the options that need no plan.
ui::PictureRequest picture_request(const ScreenshotOptions& options) {
    ui::PictureRequest request;
    if (!options.view.empty()) request.view = options.view;
    request.size = parse_size(options.size);
    request.scale = static_cast<float>(options.scale);
    request.text = static_cast<float>(options.text);
    request.outlines = options.outlines;
    request.title = !options.no_title, request.caption = !options.no_caption;
    request.theme = parse_theme(options.theme);
    request.rank = options.rank;
    if (!options.axis.empty()) request.group = parse_axis(options.axis);
    return request;
}

// Refuses a rank that the plan has not: nothing would be shown as selected.
void refuse_rank_beyond(const Plan& plan, std::int64_t rank) {
    if (rank < -1 || rank >= plan.cluster.gpus)
        refuse(sentence("--rank ", rank, ": the plan has ranks 0 to ", plan.cluster.gpus - 1));
}

int screenshot(const Context& context, const ScreenshotOptions& options) {
    ui::PictureRequest request = picture_request(options);
    Plan plan = load_plan(context, options.plan);
    if (options.run.empty())
        refuse_rank_beyond(plan, options.rank);
    else
        set_run(context, options, plan, request);
    if (!options.scene.empty() || !options.select.empty()) set_scene(context, options, plan, request);
    if (!options.color.empty()) request.mesh_figure = parse_figure(options, request);
    if (!options.page.empty()) set_page(options, request);
    if (!options.edit.empty()) {
        PlanArgument edited = options.plan;
        edited.sets.insert(edited.sets.end(), options.edit.begin(), options.edit.end());
        request.after = load_plan(context, edited);
        // A title that the edit makes untrue is not shown before it either.
        plan.name = request.after->name, plan.notes = request.after->notes;
        request.after_words = join(options.edit, ", ");
    }
    std::string ending = std::filesystem::path(options.file).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    write_file(options.file,
               ui::make_picture(context.presets, plan, request, ending, find_fonts(context.data_folder)));
    return status_of(evaluate(plan, {.timeline = false}));
}

}  // namespace

void add_screenshot(Options& app, Context& context) {
    auto& options = run_with(app, context, screenshot);
    const std::string views = join(ui::picture_views(), ",");
    add_plan_argument(app, options.plan);
    app.add_option("-o,--output", options.file, "the picture: NAME.png, .svg or .pdf")
        .type_name("FILE")
        .required();
    app.add_option("--view", options.view, "what is shown; the scene's or the dashboard where it is left out")
        .type_name("{" + views + "}");
    app.add_option("--page", options.page, "a page of that view, as lessons name it: \"saved\" of memory");
    app.add_option("--size", options.size,
                   "WIDTHxHEIGHT in logical pixels; WIDTHxauto: as high as the content takes")
        .show_default();
    app.add_option("--scale", options.scale, "pixels of a PNG per logical pixel").show_default();
    app.add_option("--text", options.text, "how large type is, as a multiple; a PNG keeps its pixels")
        .show_default();
    app.add_option("--theme", options.theme, "the colours")
        .type_name("{dark,light,high-contrast}")
        .show_default();
    app.add_option("--rank", options.rank, "show this rank as selected");
    app.add_option("--axis", options.axis, "the axis whose groups are highlighted; default: all");
    app.add_option("--color", options.color,
                   "the figure that colours the cells of the mesh: groups, memory, work, idle, waits, "
                   "waits-tp ...; of "
                   "--run: run-work, off-work (measured less planned) ...")
        .type_name("FIGURE");
    app.add_flag("--outlines", options.outlines, "SVG: text as shapes, not as <text>");
    app.add_flag("--no-title", options.no_title, "a view without the plan's title over it");
    app.add_flag("--no-caption", options.no_caption, "without the line of model, cluster and layout");
    app.add_option("--scene", options.scene,
                   "a plan file or a picture of ours: its view, page, selection and cursor")
        .type_name("FILE");
    app.add_option(
           "--run", options.run,
           "dumps, traces or logs of a real run, which stands beside the plan; of a hang, the plan of "
           "its layout is shown")
        .type_name("FILE");
    app.add_option("--select", options.select,
                   "what is selected: \"rank 5\", \"memory activations, stage 2\"");
    app.add_option("--edit", options.edit,
                   "a field as in --set: the dashboard as a PNG that moves while the plan is edited so; may "
                   "be repeated")
        .type_name("POINTER=VALUE");
}

// `embed` writes a view for the page of somebody else: the program with this view opened, and its picture.

namespace {

struct EmbedOptions : ScreenshotOptions {
    bool still = false;
};

// A view of the plan's scene is as good as one that is named; a page has one view, not the whole window.
void set_embedded_view(const EmbedOptions& options, const Plan& plan, ui::PictureRequest& request) {
    request.view = !options.view.empty() ? options.view : plan.scene.view;
    if (request.view.empty() || (options.view.empty() && !ui::view_named(request.view)))
        request.view = ui::view_of(ui::ViewId::mesh).name;
    if (!ui::view_named(request.view))
        refuse("--view " + shown_text(request.view) + ": there are "
               + join(ui::view_names().subspan(1), ", "));  // the first is the dashboard
}

// Shows what the plan was saved with.
void show_scene_of(const Plan& plan, ui::PictureRequest& request) {
    ui::Screen screen;
    screen.settings.theme = request.theme;
    ui::show_saved_scene(plan.scene, assess(plan), screen.views, screen.selection, screen.full);
    if (request.group) screen.selection.choose(*request.group);
    if (request.rank >= 0) screen.selection.pick_rank(request.rank);
    request.screen = std::move(screen);
}

// Returns the link that a page begins with: the plan with its scene, and the view with nothing around it.
std::string link_of(const Context& context, const EmbedOptions& options, const Plan& plan,
                    const ui::PictureRequest& request) {
    ui::Link link;
    link.plan = Json::parse(ui::plan_in_picture(context.presets, plan, request)).dump();
    link.view = ui::view_named(request.view);
    link.page = request.page;
    if (link.page.empty() && ui::view_of(*link.view).name != request.view) link.page = request.view;
    link.bare = true;
    link.theme = request.theme;
    link.text = static_cast<float>(options.text);
    return ui::write_link(link);
}

// Returns the line that shows the file in a page.
std::string frame_line(const std::filesystem::path& file, const ui::PictureRequest& request,
                       const std::string& title) {
    return "<iframe src=\"" + html_text(file.filename().string()) + "\" width=\""
           + whole_text(std::round(request.size.x)) + "\" height=\"" + whole_text(std::round(request.size.y))
           + "\" style=\"border: 0\" title=\"" + html_text(title) + "\"></iframe>\n";
}

int embed(const Context& context, const EmbedOptions& options) {
    const std::filesystem::path file(options.file);
    if (file.extension() != ".html" && file.extension() != ".htm")
        refuse("-o " + shown_text(options.file) + ": a figure is a file NAME.html");
    ui::PictureRequest request = picture_request(options);
    if (request.size.y == 0)
        refuse("--size " + shown_text(options.size) + ": a frame has a height, as 960x540");
    Plan plan = load_plan(context, options.plan);
    refuse_rank_beyond(plan, options.rank);
    set_embedded_view(options, plan, request);
    if (!options.select.empty())
        set_scene(context, options, plan, request);
    else if (options.view.empty() && ui::view_named(plan.scene.view))
        show_scene_of(plan, request);
    if (!options.page.empty()) set_page(options, request);
    std::string page;
    if (!options.still)
        page = read_page(context.data_folder, ", or --static: the picture without the program");
    FigureFile figure;
    figure.title = title_of(plan) + " – " + std::string(ui::view_of(*ui::view_named(request.view)).title);
    figure.svg = ui::make_picture(context.presets, plan, request, "svg", find_fonts(context.data_folder));
    figure.light = request.theme == ui::ThemeId::light;
    if (!options.still) figure.link = link_of(context, options, plan, request);
    write_output(file, options.still ? still_figure(figure) : live_figure(std::move(page), figure));
    print(frame_line(file, request, figure.title));
    return status_of(evaluate(plan, {.timeline = false}));
}

}  // namespace

void add_embed(Options& app, Context& context) {
    auto& options = run_with(app, context, embed);
    options.size = "960x540";
    const std::string views = join(ui::view_names().subspan(1), ",");
    add_plan_argument(app, options.plan);
    app.add_option("-o,--output", options.file, "the figure: NAME.html, one file that needs no other")
        .type_name("FILE")
        .required();
    app.add_option("--view", options.view, "what is shown; the scene's or the mesh where it is left out")
        .type_name("{" + views + "}");
    app.add_option("--page", options.page, "a page of that view, as lessons name it: \"sheds\" of memory");
    app.add_option("--size", options.size,
                   "WIDTHxHEIGHT in logical pixels, of the picture and of the frame: the live view fills any")
        .show_default();
    app.add_option("--text", options.text, "how large type is, as a multiple").show_default();
    app.add_option("--theme", options.theme, "the colours")
        .type_name("{dark,light,high-contrast}")
        .show_default();
    app.add_option("--rank", options.rank, "show this rank as selected");
    app.add_option("--axis", options.axis, "the axis whose groups are highlighted; default: all");
    app.add_option("--select", options.select,
                   "what is selected: \"rank 5\", \"memory activations, stage 2\"");
    app.add_flag("--static", options.still,
                 "the picture, as an SVG in a page of its own: nothing moves, and scripts/web is not needed");
    app.add_flag("--outlines", options.outlines, "text of the picture as shapes, not as <text>");
    app.add_flag("--no-title", options.no_title, "the picture without the plan's title over it");
    app.add_flag("--no-caption", options.no_caption, "without the line of model, cluster and layout");
}

}  // namespace pentamesh::cli
