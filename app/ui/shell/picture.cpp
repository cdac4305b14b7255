#include "app/ui/shell/picture.h"

#include "app/ui/kit/format.h"
#include "app/ui/shell/saved_scene.h"
#include "app/ui/views/frame.h"
#include "core/base/error.h"
#include "core/explain/plan_line.h"
#include "core/io/own_presets.h"
#include "core/io/plan_json.h"
#include "core/plan/title.h"
#include "render/page.h"
#include "render/png.h"

#include <algorithm>
#include <vector>

namespace pentamesh::ui {

namespace {

// The sheet of a design review shows these, and the problems.
constexpr std::string_view kReview = "review";

void draw_problems(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    ui.section(room.cut_top(18), "PROBLEMS AND ADVICE", std::to_string(scene.evaluation.problems.size()));
    room.cut_top(6);
    if (scene.evaluation.problems.empty()) c.text(room.min(), "Nothing to mend.", ui.small());
    for (const Problem& p : scene.evaluation.problems) {
        const float h = c.paragraph_height(room.w - 18, p.message, ui.style(12), 18);
        if (h > room.h) break;
        const Color mark = p.severity == Severity::error     ? ui.theme().bad
                           : p.severity == Severity::warning ? ui.theme().amber
                                                             : ui.theme().link;
        c.rect({room.x, room.y + 5, 8, 8}, mark, p.severity == Severity::info ? 4.0f : 1.0f);
        c.paragraph({room.x + 18, room.y, room.w - 18, h}, p.message, ui.style(12), 18);
        room.cut_top(h + 8);
    }
}

// What a sheet is drawn from.
struct PictureSheet {
    Scene scene;
    ViewStates views;
    std::uint64_t revision;

    void draw(Ui& ui, Rect room, ViewId view) { draw_titled_view(ui, room, scene, view, views, revision); }
};

void draw_review(Ui& ui, Rect room, PictureSheet& sheet) {
    constexpr float kGap = 24;
    Rect right = room.cut_right(room.w * 0.36f);
    room.cut_right(kGap);
    Rect mesh = room.cut_top(room.h * 0.46f);
    room.cut_top(kGap / 2);
    Rect memory = room.cut_top(room.h * 0.45f);
    room.cut_top(kGap / 2);
    sheet.draw(ui, mesh, ViewId::mesh);
    sheet.draw(ui, memory, ViewId::memory);
    sheet.draw(ui, room, ViewId::timeline);
    const Rect comm = right.cut_top(right.h * 0.56f);
    right.cut_top(kGap / 2);
    sheet.draw(ui, comm, ViewId::comm);
    draw_problems(ui, right, sheet.scene);
}

// `view` nullopt: the review.
void draw_sheet(Ui& ui, PictureSheet& sheet, std::optional<ViewId> view) {
    const Vec2 size = ui.frame().size;
    Canvas& c = ui.canvas();
    c.rect({0, 0, size.x, size.y}, ui.theme().window);
    Rect room = Rect{0, 0, size.x, size.y}.inset(24, 18);
    const Plan& p = sheet.scene.plan;
    c.text_in(room.cut_top(24), title_of(p), {Face::semibold, 16, ui.theme().text, 0});
    const std::string line = assumptions_line(p, sheet.scene.evaluation);
    room.cut_top(c.paragraph(room, line, ui.small(), 18) + 8);
    const Rect status = room.cut_bottom(24);
    if (view)
        sheet.draw(ui, room, *view);
    else
        draw_review(ui, room, sheet);
    draw_status(ui, {status.x - 16, status.y, status.w + 32, status.h}, sheet.scene, -1, nullptr);
}

// The request's own selection in a window as it is at first, or the screen's.
Screen screen_of(const PictureRequest& request, const Shell& shell) {
    if (request.screen) {
        Screen screen = *request.screen;
        stand_still(screen.views);
        return screen;
    }
    Screen screen;
    screen.settings.theme = request.theme;
    screen.selection.choose(request.group);
    if (request.rank >= 0) {
        screen.selection.rank = request.rank;
        screen.selection.topic = Selection::Topic::rank;
    }
    if (request.rank >= 0 && request.rank < shell.evaluation().mesh.world)
        show_rank(screen.views.zoom, shell.document().plan(), shell.evaluation().mesh, request.rank);
    return screen;
}

std::vector<std::string_view> names_of_pictures() {
    std::vector<std::string_view> out;
    for (const std::string_view name : view_names()) {
        out.push_back(name);
        if (out.size() == 1) out.push_back(kReview);
    }
    return out;
}

}  // namespace

std::span<const std::string_view> picture_views() {
    static const std::vector<std::string_view> names = names_of_pictures();
    return names;
}

std::string assumptions_line(const Plan& p, const Evaluation& e) {
    std::string s = p.model.name + ", " + count_text(static_cast<double>(e.parameters.total))
                    + " parameters, on " + thousands(p.cluster.gpus) + " × "
                    + (p.cluster.gpu.name.empty() ? p.cluster.gpu.id : p.cluster.gpu.name) + " (";
    for (const Tier& t : p.cluster.tiers)
        s += (&t == p.cluster.tiers.data() ? "" : ", ") + t.name + " " + bandwidth_text(t.bytes_per_s)
             + (&t == &p.cluster.tiers.back() ? "" : " to " + thousands(t.domain))
             + (t.oversubscription > 1 ? " 1:" + trimmed(t.oversubscription) : "");
    return s + "). " + plan_line(p);
}

std::string make_picture(const Presets& presets, const Plan& plan, const PictureRequest& request,
                         std::string_view ending, const FontFiles& fonts) {
    const auto known = picture_views();
    if (std::find(known.begin(), known.end(), request.view) == known.end()) {
        std::string all;
        for (const auto v : known) all += (all.empty() ? "" : ", ") + std::string(v);
        throw Error(ErrorKind::usage, "", "",
                    "there is no picture of \"" + request.view + "\"; there are: " + all);
    }
    if (ending != "png" && ending != "svg" && ending != "pdf")
        throw Error(ErrorKind::usage, "", "",
                    "a picture is .png, .svg or .pdf, not \"." + std::string(ending) + "\"");
    if (!(request.size.x >= 200 && request.size.y >= 150 && request.size.x <= 20000
          && request.size.y <= 20000))
        throw Error(ErrorKind::usage, "", "", "a picture is 200x150 to 20000x20000");
    if (!(request.scale >= 0.5f && request.scale <= 8))
        throw Error(ErrorKind::usage, "", "", "a scale is 0.5 to 8");
    const bool vector = ending != "png";
    Offscreen surface(request.size, vector ? 1 : request.scale, fonts);
    surface.record_text(request.text_runs != nullptr);
    Shell shell(presets, plan, {});
    const Screen screen = screen_of(request, shell);
    shell.show(screen);
    // It opens as it was left: the view of the picture.
    Plan written = without_own_presets(plan, presets);  // it is opened elsewhere
    written.scene = scene_as_saved(screen.views, screen.selection,
                                   request.view == "dashboard" ? std::nullopt : view_named(request.view));
    const std::string text = write_plan(written);
    UiState state;
    state.for_picture = true;
    Selection selection = shell.screen().selection;
    const Hover none;
    Hover next;
    const std::uint64_t revision = shell.document().revision();
    PictureSheet sheet{
        {plan, shell.evaluation(), presets, selection, none, next, -1, nullptr, &shell.glossary(), {}},
        screen.views,
        revision};
    const auto draw = [&](const FrameInfo& info, Page* page) {
        if (request.view == "dashboard") {
            shell.frame(info, page);
            return;
        }
        Ui ui(state, info, theme_of(screen.settings.theme), frame_canvas(info, page));
        const TimelineViewState& timeline = sheet.views.timeline;
        sheet.scene.time_cursor_s = timeline.cursor_s;
        sheet.scene.shown_timeline = timeline.current(shell.evaluation(), revision);
        draw_sheet(ui, sheet, view_named(request.view));
    };
    // The first frame lays out, the second draws what the first found out.
    for (int i = 0; i < 2; ++i)
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) { draw(info, nullptr); });
    if (request.text_runs != nullptr) *request.text_runs = surface.text_runs();
    if (!vector) return encode_png(surface.read(), {{"Title", title_of(plan)}, {"pentamesh.plan", text}});
    Page page(ending == "svg" ? PageFormat::svg : PageFormat::pdf, request.size, fonts, title_of(plan), text);
    surface.frame({}, 2 / 60.0, [&](const FrameInfo& info) { draw(info, &page); });
    return page.finish();
}

}  // namespace pentamesh::ui
