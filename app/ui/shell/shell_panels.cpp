// Places the panels: plan, views and lesson or inspector stand side by side; in a small window some give way
// to others.
#include "app/ui/panels/status_line.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/frame.h"
#include "render/reworded.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kMenuBar = 40, kStatus = 30, kSplitter = 6, kOnePaneSwitch = 44;
constexpr float kPresenterFoot = 40, kPresenterFigures = 28;
// Below: a lesson and the plan share a place; below: the view may take the lesson's place too.
constexpr float kWithPlan = 1000, kBesideView = 760;
// Below: one of them at a time, as on a phone.
constexpr float kOnePane = 560;
constexpr float kSwitch = 200;  // of lesson, plan and view

// A line between two panes that the mouse drags. Returns the pixels that it moves in this frame.
float splitter(Ui& ui, std::string_view name, Rect r, bool vertical) {
    const Hit hit = ui.area(name, r, 0, true, false);
    const Color color = hit.hovered || hit.held ? ui.theme().text : ui.theme().hairline;
    const Vec2 c = r.center();
    if (vertical)
        ui.canvas().line({c.x, r.y}, {c.x, r.bottom()}, color);
    else
        ui.canvas().line({r.x, c.y}, {r.right(), c.y}, color);
    if (!hit.held) return 0;
    return vertical ? ui.frame().mouse.x - c.x : ui.frame().mouse.y - c.y;
}

}  // namespace

// The view that fills the window has the keyboard; else the one with the focus, or under the mouse, or that
// had it last.
bool Shell::has_keys(const Ui& ui, Rect room, Pane pane) {
    if (ui.layer() != window_.state.top_layer || window_.state.keys_scroll) return false;
    if (window_.full) return true;
    bool focus = false;
    for (const UiState::Area& a : window_.state.last_areas)
        focus = focus || (a.id == window_.state.focus && room.contains(a.rect.center()));
    if (window_.state.focus_visible ? focus : ui.hovers(room)) keys_pane_ = pane;
    return keys_pane_ == pane;
}

void Shell::draw_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    if (room.w < 120 || room.h < 60) return;  // nothing could be read
    decider_.saw(view);
    scene.keys.here = has_keys(ui, room, view_of(view).pane);
    const std::string_view title = view_of(view).title;
    if (const auto part = ui.part("part.view", static_cast<std::uint64_t>(view), room, shown_key(view),
                                  ui.theme().window, moving_in_view(view, window_.views)))
        window_.draw_guarded(ui, title, room, [&] { draw_kept_view(ui, room, scene, view); });
    if (window_.hidden_answer.covers_view != view_of(view).name)
        window_.draw_guarded(ui, title, room, [&] { draw_view_moving(ui, scene, view, window_.views); });
}

// All of it that stays while the mouse moves elsewhere, or where it changes the view each frame.
void Shell::draw_kept_view(Ui& ui, Rect room, Scene& scene, ViewId view) {
    room = {room.x + 16, room.y + 8, room.w - 32, room.h - 16};
    const ViewHead head = view_head(ui, room, view, window_.views.as_data[static_cast<std::size_t>(view)]);
    if (head.full) window_.toggle_full(view);
    if (head.switch_to) {
        if (window_.full)
            window_.full = *head.switch_to;
        else
            window_.views.in_pane[static_cast<std::size_t>(view_of(view).pane)] = *head.switch_to;
        window_.dirty = true;
    }
    if (window_.hidden_answer.covers_view == view_of(view).name) {
        draw_cover(ui, room);
        return;
    }
    if (auto edit = draw_view_body(ui, head.row, room, scene, view, window_.views, window_.evaluated))
        view_edit_ = std::move(edit);
}

std::uint64_t Shell::shown_key(ViewId view) const {
    const std::uint64_t key = window_.evaluated * 0x9e3779b97f4a7c15ULL;
    const ViewEntry& entry = view_of(view);
    return entry.lit_by != nullptr ? key ^ entry.lit_by(window_.hover, window_.views) : key;
}

void Shell::draw_middle(Ui& ui, Rect middle, Scene& scene) {
    if (window_.hidden_answer.covers) {
        draw_cover(ui, middle);
        return;
    }
    if (window_.full) {
        draw_view(ui, middle, scene, *window_.full);
        return;
    }
    const float h = middle.h;
    float memory_h = std::clamp(h * window_.settings.memory, 96.0f, std::max(96.0f, h * 0.5f));
    float timeline_h = std::clamp(h * window_.settings.timeline, 120.0f, std::max(120.0f, h * 0.6f));
    if (h < 560) {  // a low window keeps the mesh and one pane below it
        memory_h = std::min(memory_h, h * 0.27f);
        timeline_h = std::min(timeline_h, h * 0.3f);
    }
    const Rect timeline = middle.cut_bottom(timeline_h);
    const Rect memory = middle.cut_bottom(memory_h);
    const std::array<Rect, kPaneCount> place{middle, memory, timeline};
    const std::array<ViewId, kPaneCount> shown =
        window_.views.in_pane;  // a click on a tab counts from the next frame
    for (std::size_t i = 0; i < place.size(); ++i) draw_view(ui, place[i], scene, shown[i]);
    if (const float d =
            splitter(ui, "split.memory", {memory.x, memory.y - kSplitter / 2, memory.w, kSplitter}, false);
        d != 0)
        window_.settings.memory = std::clamp((memory_h - d) / h, 0.08f, 0.5f);
    if (const float d = splitter(ui, "split.timeline",
                                 {timeline.x, timeline.y - kSplitter / 2, timeline.w, kSplitter}, false);
        d != 0) {
        window_.settings.timeline = std::clamp((timeline_h - d) / h, 0.08f, 0.6f);
        window_.settings.memory =
            std::clamp(window_.settings.memory, 0.08f, 0.9f - window_.settings.timeline);
    }
}

bool Shell::one_pane() const {
    return window_.width > 0 && window_.width < kOnePane && !desk_.presenter().on;
}

// In a narrow window the plan takes the lesson's place, in a smaller one the view may take both.
SidePane Shell::side() const {
    if (one_pane()) return desk_.lesson().open ? window_.side : window_.alone;
    if (!desk_.lesson().open || desk_.presenter().on || window_.width >= kWithPlan) return SidePane::lesson;
    return window_.side == SidePane::view && window_.width >= kBesideView ? SidePane::lesson : window_.side;
}

// Once the plan is drawn, what the step marks in it is brought into view.
void Shell::seek_marked(Rect panel) {
    const LessonStep* step = desk_.lesson().current();
    if (!window_.seek_marked || step == nullptr) return;
    window_.dirty = true;
    if (!window_.state.rect_of("plan.model")) return;  // not drawn yet
    window_.seek_marked = false;
    for (const std::string& name : marked_controls(*step)) {
        const auto r = rect_of_marked(window_.state, name);
        if (!r) continue;
        if (r->y < panel.y || r->bottom() > panel.bottom())
            panel_.scroll.at += r->center().y - panel.center().y;
        return;
    }
}

void Shell::make_side_commands() {
    struct Side {
        const char *id, *title;
        SidePane pane;
        float below;
    };
    static constexpr std::array<Side, 3> kSides{
        {{"side.lesson", "Show the lesson", SidePane::lesson, kWithPlan},
         {"side.plan", "Show the plan in the lesson's place", SidePane::plan, kWithPlan},
         {"side.view", "Show the view alone", SidePane::view, kBesideView}}};
    for (const Side& s : kSides)
        add({.id = s.id,
             .title = s.title,
             .menu = "Learn",
             .separator = s.pane == SidePane::lesson,
             .run = [this, pane = s.pane] { show_side(pane); },
             .enabled =
                 [this, below = s.below] {
                     return desk_.lesson().open && !desk_.presenter().on && window_.width < below;
                 },
             .checked = [this, pane = s.pane] { return desk_.lesson().open && side() == pane; }});
}

// "lesson | plan | view": the switch chooses what stands next to the view, or in its place.
void Shell::draw_side_switch(Ui& ui, Rect row) {
    static constexpr std::string_view kPanes[] = {"lesson", "plan", "view"};
    const std::size_t n = window_.width < kBesideView ? 3 : 2;
    const int shown = static_cast<int>(side());
    const int picked = ui.segments("side.tab", row, std::span(kPanes).first(n), shown);
    if (picked != shown) show_side(static_cast<SidePane>(picked));
}

// Over a view that takes the whole width: the switch, and the lesson's place and buttons.
void Shell::draw_side_strip(Ui& ui, Rect row) {
    using Kind = LessonAction::Kind;
    ui.canvas().rect(row, ui.theme().panel);
    ui.canvas().line({row.x, row.bottom() - 1}, {row.right(), row.bottom() - 1}, ui.theme().hairline);
    row = row.inset(16, 4);
    draw_side_switch(ui, row.cut_left(std::min(kSwitch, row.w * 0.5f)));
    row.cut_left(16);
    const std::size_t n = desk_.lesson().lesson.steps.size();
    if (row.w > 160) {
        if (ui.button("lesson.next", row.cut_right(56), "Next", 0, desk_.lesson().step + 1 < n))
            desk_.want({Kind::next, 0});
        row.cut_right(8);
        if (ui.button("lesson.back", row.cut_right(56), "Back", 0, desk_.lesson().step > 0))
            desk_.want({Kind::back, 0});
        row.cut_right(12);
    }
    const LessonStep* step = desk_.lesson().current();
    if (step == nullptr || row.w < 40) return;
    const std::string place = std::to_string(desk_.lesson().step + 1) + " of " + std::to_string(n) + "  ";
    row.cut_left(ui.canvas().text(row.min() + Vec2{0, (row.h - 16) / 2}, place, ui.small()));
    if (ui.canvas().text_in(row, step->title, ui.small(Tone::text)) && ui.hovers(row))
        ui.tooltip(step->title);
}

// The lesson, or the plan in its place, under their switch.
std::optional<PlanEdit> Shell::draw_side(Ui& ui, Rect right, Scene& scene) {
    if (window_.width < kWithPlan) {
        Rect row = right.cut_top(34);
        row = {row.x + 16, row.y + 8, std::min(row.w - 32, kSwitch), 24};
        draw_side_switch(ui, row);
    }
    if (side() == SidePane::plan) {
        right.cut_top(6);  // what scrolls stays clear of the switch
        seek_marked(right);
        return draw_plan(ui, right, scene);
    }
    desk_.draw(ui, right, scene, 13, false);
    return std::nullopt;
}

void Shell::draw_pane_switch(Ui& ui, Rect row) {
    static constexpr std::array<std::string_view, 3> kInLesson{"lesson", "plan", "view"},
        kElse{"advice", "plan", "view"};
    ui.canvas().rect(row, ui.theme().panel);
    ui.canvas().line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
    const int shown = static_cast<int>(side());
    const int picked =
        ui.segments("side.tab", row.inset(16, 6), desk_.lesson().open ? kInLesson : kElse, shown);
    if (picked != shown) show_side(static_cast<SidePane>(picked));
}

// Draws the pane that the switch chose, from edge to edge.
std::optional<PlanEdit> Shell::draw_one_pane(Ui& ui, Rect room, Scene& scene) {
    std::optional<PlanEdit> edit;
    desk_.lesson().plan_hidden = desk_.lesson().open && side() != SidePane::plan;
    if (side() == SidePane::view) {
        draw_middle(ui, room, scene);
    } else if (side() == SidePane::plan) {
        seek_marked(room);
        if (const auto part = ui.part("part.plan", 0, room, window_.evaluated, ui.theme().panel))
            edit = draw_plan(ui, room, scene);
    } else if (const auto part = ui.part("part.right", 0, room, window_.evaluated, ui.theme().panel)) {
        if (desk_.lesson().open)
            desk_.draw(ui, room, scene, 13, false);
        else
            edit = draw_inspector(ui, room, scene, inspector_);
    }
    return edit;
}

// The room sees one view, the step's words, and what an edit changed.
std::optional<PlanEdit> Shell::draw_presenter(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    LessonSession& lesson = desk_.lesson();
    std::optional<PlanEdit> edit;
    lesson.plan_hidden = false;  // the presenter can show the side
    desk_.draw_presenter_foot(ui, room.cut_bottom(kPresenterFoot));
    const Rect figures = room.cut_bottom(kPresenterFigures);
    ui.canvas().rect(figures, theme.panel);
    ui.canvas().line({0, figures.y}, {figures.right(), figures.y}, theme.hairline);
    draw_status(ui, figures, scene, -1, nullptr, window_.hidden_answer.covers_figures);
    const bool task = lesson.current() != nullptr && lesson.current()->task;
    if (desk_.presenter().side || task) {  // a task cannot be done without the plan
        Rect side = room.cut_left(std::min(320.0f, room.w * 0.35f));
        ui.canvas().rect(side, theme.panel);
        ui.canvas().line({side.right() - 1, side.y}, {side.right() - 1, side.bottom()}, theme.hairline);
        // The room does not see notes that the presenter reads on another screen.
        if (!desk_.presenter().apart && desk_.presenter().side) desk_.draw_presenter_notes(ui, side);
        seek_marked(side);
        edit = draw_plan(ui, side, scene);
    }
    if (lesson.open) desk_.draw_presented_words(ui, room, scene);
    draw_middle(ui, room, scene);
    draw_highlights(ui, lesson);
    return edit;
}

namespace {

constexpr float kLeastLeft = 248, kLeastRight = 236;  // in a window of 1280 pixels

// A panel's width that nobody dragged follows the window's.
float panel_width(float dragged, float window, float least, float most) {
    return dragged > 0 ? dragged : std::clamp(least * window / 1280, least, most);
}

std::optional<MeasuredMfu> measured_of(Window& window) {
    if (!window.evaluation.step) return std::nullopt;
    return measured_mfu(window.document.plan(), *window.evaluation.step,
                        published_runs(window.views.step, window.presets).runs());
}

// Lets the mouse drag the edges of both sides. They lie over both, and so are drawn after both.
void move_edges(Ui& ui, Rect middle, Rect left, Rect right, Settings& settings) {
    const auto edge = [&](std::string_view name, float x) {
        return splitter(ui, name, {x - kSplitter / 2, middle.y, kSplitter, middle.h}, true);
    };
    if (left.w > 0)
        if (const float d = edge("split.left", left.right()); d != 0)
            settings.left = std::clamp(left.w + d, 240.0f, 560.0f);
    if (right.w > 0)
        if (const float d = edge("split.right", right.x); d != 0)
            settings.right = std::clamp(right.w - d, kLeastRight, 560.0f);
}

}  // namespace

std::optional<PlanEdit> Shell::draw_plan(Ui& ui, Rect room, Scene& scene) {
    const Rewording words = words_hiding(window_.hidden_answer, HiddenAnswer::Place::plan);
    const Reworded hiding(words);
    return draw_plan_panel(ui, room, scene, panel_);
}

// Plan on the left, inspector or lesson on the right, views between, bar and status line around them.
std::optional<PlanEdit> Shell::draw_panels(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    const float width = room.w;
    const Rect bar = room.cut_top(kMenuBar), band = room.cut_top(verdict_band_height(ui.frame().size)),
               status = room.cut_bottom(kStatus);
    std::optional<PlanEdit> edit;
    const bool one = one_pane();
    if (one) draw_pane_switch(ui, room.cut_bottom(kOnePaneSwitch));
    const bool alone = !one && side() == SidePane::view;
    const bool show_left =
        !one && (width >= 760 || !window_.full) && (!desk_.lesson().open || width >= kWithPlan);
    const bool show_right = !one && (width >= 940 || desk_.lesson().open) && !alone;
    desk_.lesson().plan_hidden = desk_.lesson().open && !show_left && side() != SidePane::plan;
    if (alone) draw_side_strip(ui, room.cut_top(32));
    const Rect run = runs_.shown() ? room.cut_top(32) : Rect{};
    Rect left, right;
    if (show_left && width >= kOnePane) {
        const float wide = panel_width(window_.settings.left, width, kLeastLeft, 296);
        left = room.cut_left(std::clamp(wide, 240.0f, width * 0.45f));
        seek_marked(left);
        if (const auto part = ui.part("part.plan", 0, left, window_.evaluated, theme.panel)) {
            edit = draw_plan(ui, left, scene);
            if (scene.flags) draw_flag_words(ui, left, *scene.flags);
        }
    }
    if (show_right) {
        const float least = desk_.lesson().open ? std::min(380.0f, width * 0.5f) : kLeastRight;
        const float wide = panel_width(window_.settings.right, width, kLeastRight, 290);
        right = room.cut_right(std::clamp(wide, least, std::max(least, width * 0.4f)));
        if (const auto part = ui.part("part.right", 0, right, window_.evaluated, theme.panel)) {
            if (auto e = desk_.lesson().open ? draw_side(ui, right, scene)
                                             : draw_inspector(ui, right, scene, inspector_))
                edit = std::move(e);
        }
    }
    if (one)
        edit = draw_one_pane(ui, room, scene);
    else
        draw_middle(ui, room, scene);
    move_edges(ui, room, left, right, window_.settings);
    if (const auto part = ui.part("part.bar", 0, bar, window_.evaluated, theme.panel)) {
        ui.canvas().line({0, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, theme.hairline);
        if (auto e = menus_.draw(ui, bar)) edit = std::move(e);
    }
    if (band.h > 0)
        if (const auto part = ui.part("part.band", 0, band, window_.evaluated, theme.panel))
            draw_verdict_band(ui, band, scene,
                              window_.hidden_answer.covers_figures || window_.hidden_answer.hides(),
                              measured_of(window_));
    if (run.h > 0) runs_.draw(ui, run);
    if (const auto part = ui.part("part.status", 0, status, window_.evaluated, theme.panel)) {
        ui.canvas().line({0, status.y}, {status.right(), status.y}, theme.hairline);
        draw_status(ui, status, scene, window_.evaluate_s, &inspector_, window_.hidden_answer.covers_figures,
                    band.h <= 0);
    }
    draw_highlights(ui, desk_.lesson());
    return edit;
}

}  // namespace pentamesh::ui
