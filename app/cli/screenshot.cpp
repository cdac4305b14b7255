#include "app/cli/plan_argument.h"
#include "app/ui/shell/picture.h"
#include "app/ui/shell/picture_choice.h"
#include "app/ui/shell/run_reading.h"
#include "app/ui/shell/saved_scene.h"
#include "app/ui/views/pages.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/text.h"

#include <memory>
#include <optional>
#include <utility>

namespace pentamesh::cli {
namespace {

struct ScreenshotOptions {
    PlanArgument plan;
    std::string file, view, page, size = "1600x900", theme = "dark", axis;
    std::string scene, select;
    std::vector<std::string> run;
    double scale = 1, text = 1;
    bool outlines = false, no_title = false, no_caption = false;
    std::int64_t rank = -1;
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

GroupKind parse_axis(const std::string& text) {
    for (const GroupKind kind : all_of<GroupKind>())
        if (name_of(kind) == text) return kind;
    refuse("--axis " + shown_text(text) + ": there is no such axis");
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

int screenshot(const Context& context, const ScreenshotOptions& options) {
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
    Plan plan = load_plan(context, options.plan);
    if (!options.run.empty()) set_run(context, options, plan, request);
    if (!options.scene.empty() || !options.select.empty()) set_scene(context, options, plan, request);
    if (!options.page.empty()) set_page(options, request);
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
    app.add_option("--axis", options.axis, "the axis whose groups are lit; default: all");
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
}

}  // namespace pentamesh::cli
