#include "app/cli/plan_argument.h"
#include "app/ui/shell/picture.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <charconv>

namespace pentamesh::cli {
namespace {

struct ScreenshotOptions {
    PlanArgument plan;
    std::string file, view = "dashboard", size = "1600x900", theme = "dark", axis = "tp";
    float scale = 1;
    std::int64_t rank = -1;
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorKind::usage, "", "", what);
}

Vec2 parse_size(const std::string& text) {
    int width = 0, height = 0;
    const char* end = text.data() + text.size();
    const auto w = std::from_chars(text.data(), end, width);
    const bool crossed = w.ec == std::errc() && w.ptr != end && *w.ptr == 'x';
    const auto h = crossed ? std::from_chars(w.ptr + 1, end, height) : w;
    if (!crossed || h.ec != std::errc() || h.ptr != end) refuse("--size " + text + ": write it as 1600x900");
    return {static_cast<float>(width), static_cast<float>(height)};
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
    for (int i = 0; i < kGroupKindCount; ++i)
        if (name_of(static_cast<GroupKind>(i)) == text) return static_cast<GroupKind>(i);
    refuse("--axis " + shown_text(text) + ": there is no such axis");
}

int screenshot(const Context& context, const ScreenshotOptions& options) {
    ui::PictureRequest request;
    request.view = options.view;
    request.size = parse_size(options.size);
    request.scale = options.scale;
    request.theme = parse_theme(options.theme);
    request.rank = options.rank;
    request.group = parse_axis(options.axis);
    const Plan plan = load_plan(context, options.plan);
    std::string ending = std::filesystem::path(options.file).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    write_file(options.file,
               ui::make_picture(context.presets, plan, request, ending, find_fonts(context.data_folder)));
    return status_of(assess(plan, {.timeline = false}));
}

}  // namespace

void add_screenshot(CLI::App& app, Context& context) {
    auto options = std::make_shared<ScreenshotOptions>();
    std::string views;
    for (const std::string_view v : ui::picture_views())
        views += (views.empty() ? "" : ", ") + std::string(v);
    add_plan_argument(app, options->plan);
    app.add_option("-o,--output", options->file, "the picture: NAME.png, .svg or .pdf")->required();
    app.add_option("--view", options->view, views);
    app.add_option("--size", options->size, "WIDTHxHEIGHT in logical pixels")->capture_default_str();
    app.add_option("--scale", options->scale, "pixels of a PNG per logical pixel")->capture_default_str();
    app.add_option("--theme", options->theme, "dark, light or high-contrast")->capture_default_str();
    app.add_option("--rank", options->rank, "show this rank as selected");
    app.add_option("--axis", options->axis, "the axis whose groups are coloured")->capture_default_str();
    app.callback(
        [&context, options] { context.run = [&context, options] { return screenshot(context, *options); }; });
}

}  // namespace pentamesh::cli
