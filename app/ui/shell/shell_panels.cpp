// Where the panels stand: plan, views and lesson or inspector side by side, and what gives way to what in a
// small window.
#include "app/ui/shell/shell.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kMenuBar = 40, kStatus = 30, kSplitter = 6, kOnePaneSwitch = 44;
// Below: a lesson and the plan share a place; below: the view may take the lesson's place too.
constexpr float kWithPlan = 1000, kBesideView = 760;
// Below: one of them at a time, as on a phone.
constexpr float kOnePane = 560;
constexpr float kSwitch = 200;  // of lesson, plan and view

// A line between two panes that the mouse drags. Returns the pixels that it moves in this frame.
float splitter(Ui& ui, std::string_view name, Rect r, bool vertical) {
    const Hit hit = ui.area(name, r, 0, true, false);
    const Color color = hit.hovered || hit.held ? ui.theme().link : ui.theme().hairline;
    const Vec2 c = r.center();
    if (vertical)
        ui.canvas().line({c.x, r.y}, {c.x, r.bottom()}, color);
    else
        ui.canvas().line({r.x, c.y}, {r.right(), c.y}, color);
    if (!hit.held) return 0;
    return vertical ? ui.frame().mouse.x - c.x : ui.frame().mouse.y - c.y;
}

}  // namespace

std::uint64_t Shell::shown_key(ViewId view) const {
    const std::uint64_t key = evaluated_ * 0x9e3779b97f4a7c15ULL;
    const ViewEntry& entry = view_of(view);
    return entry.lit_by != nullptr ? key ^ entry.lit_by(hover_) : key;
}

void Shell::draw_middle(Ui& ui, Rect middle, Scene& scene) {
    if (veil_.covers) {
        draw_cover(ui, middle);
        return;
    }
    if (full_) {
        draw_view(ui, middle, scene, *full_);
        return;
    }
    const float h = middle.h;
    float memory_h = std::clamp(h * settings_.memory, 96.0f, std::max(96.0f, h * 0.5f));
    float timeline_h = std::clamp(h * settings_.timeline, 120.0f, std::max(120.0f, h * 0.6f));
    if (h < 560) {  // a low window keeps the mesh and one pane below it
        memory_h = std::min(memory_h, h * 0.27f);
        timeline_h = std::min(timeline_h, h * 0.3f);
    }
    const Rect timeline = middle.cut_bottom(timeline_h);
    const Rect memory = middle.cut_bottom(memory_h);
    const std::array<Rect, kPaneCount> place{middle, memory, timeline};
    const std::array<ViewId, kPaneCount> shown =
        views_.in_pane;  // a click on a tab counts from the next frame
    for (std::size_t i = 0; i < place.size(); ++i) draw_view(ui, place[i], scene, shown[i]);
    if (const float d =
            splitter(ui, "split.memory", {memory.x, memory.y - kSplitter / 2, memory.w, kSplitter}, false);
        d != 0)
        settings_.memory = std::clamp((memory_h - d) / h, 0.08f, 0.5f);
    if (const float d = splitter(ui, "split.timeline",
                                 {timeline.x, timeline.y - kSplitter / 2, timeline.w, kSplitter}, false);
        d != 0) {
        settings_.timeline = std::clamp((timeline_h - d) / h, 0.08f, 0.6f);
        settings_.memory = std::clamp(settings_.memory, 0.08f, 0.9f - settings_.timeline);
    }
}

bool Shell::one_pane() const {
    return width_ > 0 && width_ < kOnePane && !presenter_.on;
}

// In a narrow window the plan takes the lesson's place, in a smaller one the view may take both.
SidePane Shell::side() const {
    if (one_pane()) return lesson_.open ? side_ : alone_;
    if (!lesson_.open || presenter_.on || width_ >= kWithPlan) return SidePane::lesson;
    return side_ == SidePane::view && width_ >= kBesideView ? SidePane::lesson : side_;
}

void Shell::show_side(SidePane pane) {
    (lesson_.open ? side_ : alone_) = pane;
    seek_marked_ = pane == SidePane::plan;
    dirty_ = true;
}

// Once the plan is drawn, what the step marks in it is brought into view.
void Shell::seek_marked(Rect panel) {
    const LessonStep* step = lesson_.current();
    if (!seek_marked_ || step == nullptr) return;
    dirty_ = true;
    if (!state_.rect_of("plan.model")) return;  // not drawn yet
    seek_marked_ = false;
    for (const std::string& name : step->scene.highlight) {
        const ControlName control = control_of(name);
        const auto r = state_.rect_of(control.name, control.index);
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
             .enabled = [this, below = s.below] { return lesson_.open && !presenter_.on && width_ < below; },
             .checked = [this, pane = s.pane] { return lesson_.open && side() == pane; }});
}

// "lesson | plan | view": what stands beside the view, or instead of it.
void Shell::draw_side_switch(Ui& ui, Rect row) {
    static constexpr std::string_view kPanes[] = {"lesson", "plan", "view"};
    const std::size_t n = width_ < kBesideView ? 3 : 2;
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
    const std::size_t n = lesson_.lesson.steps.size();
    if (row.w > 160) {
        if (ui.button("lesson.next", row.cut_right(56), "Next", 0, lesson_.step + 1 < n))
            lesson_action_ = {Kind::next, 0};
        row.cut_right(8);
        if (ui.button("lesson.back", row.cut_right(56), "Back", 0, lesson_.step > 0))
            lesson_action_ = {Kind::back, 0};
        row.cut_right(12);
    }
    const LessonStep* step = lesson_.current();
    if (step == nullptr || row.w < 40) return;
    const std::string place = std::to_string(lesson_.step + 1) + " of " + std::to_string(n) + "  ";
    row.cut_left(ui.canvas().text(row.min() + Vec2{0, (row.h - 16) / 2}, place, ui.small()));
    if (ui.canvas().text_in(row, step->title, ui.small(Tone::text)) && ui.hovers(row))
        ui.tooltip(step->title);
}

// The lesson, or the plan in its place, under their switch.
std::optional<PlanEdit> Shell::draw_side(Ui& ui, Rect right, Scene& scene) {
    if (width_ < kWithPlan) {
        Rect row = right.cut_top(34);
        row = {row.x + 16, row.y + 8, std::min(row.w - 32, kSwitch), 24};
        draw_side_switch(ui, row);
    }
    if (side() == SidePane::plan) {
        right.cut_top(6);  // what scrolls stays clear of the switch
        seek_marked(right);
        return draw_plan(ui, right, scene);
    }
    draw_lesson(ui, right, scene, 13, false);
    return std::nullopt;
}

void Shell::draw_pane_switch(Ui& ui, Rect row) {
    static constexpr std::array<std::string_view, 3> kInLesson{"lesson", "plan", "view"},
        kElse{"advice", "plan", "view"};
    ui.canvas().rect(row, ui.theme().panel);
    ui.canvas().line({row.x, row.y}, {row.right(), row.y}, ui.theme().hairline);
    const int shown = static_cast<int>(side());
    const int picked = ui.segments("side.tab", row.inset(16, 6), lesson_.open ? kInLesson : kElse, shown);
    if (picked != shown) show_side(static_cast<SidePane>(picked));
}

// What the switch says, from edge to edge.
std::optional<PlanEdit> Shell::draw_one_pane(Ui& ui, Rect room, Scene& scene) {
    std::optional<PlanEdit> edit;
    lesson_.plan_hidden = lesson_.open && side() != SidePane::plan;
    if (side() == SidePane::view) {
        draw_middle(ui, room, scene);
    } else if (side() == SidePane::plan) {
        seek_marked(room);
        if (const auto part = ui.part("part.plan", 0, room, evaluated_, ui.theme().panel))
            edit = draw_plan(ui, room, scene);
    } else if (const auto part = ui.part("part.right", 0, room, evaluated_, ui.theme().panel)) {
        if (lesson_.open)
            draw_lesson(ui, room, scene, 13, false);
        else
            edit = draw_inspector(ui, room, scene, inspector_);
    }
    return edit;
}

// Plan on the left, inspector or lesson on the right, views between, bar and status line around them.
std::optional<PlanEdit> Shell::draw_panels(Ui& ui, Rect room, Scene& scene) {
    const Theme& theme = ui.theme();
    const float width = room.w;
    const Rect bar = room.cut_top(kMenuBar), status = room.cut_bottom(kStatus);
    std::optional<PlanEdit> edit;
    const bool one = one_pane();
    if (one) draw_pane_switch(ui, room.cut_bottom(kOnePaneSwitch));
    const bool alone = !one && side() == SidePane::view;
    const bool show_left = !one && (width >= 760 || !full_) && (!lesson_.open || width >= kWithPlan);
    const bool show_right = !one && (width >= 940 || lesson_.open) && !alone;
    lesson_.plan_hidden = lesson_.open && !show_left && side() != SidePane::plan;
    if (alone) draw_side_strip(ui, room.cut_top(32));
    Rect left, right;
    if (show_left && width >= kOnePane) {
        left = room.cut_left(std::clamp(settings_.left, 240.0f, width * 0.45f));
        if (const auto part = ui.part("part.plan", 0, left, evaluated_, theme.panel)) {
            edit = draw_plan(ui, left, scene);
            if (scene.flags) draw_flag_words(ui, left, *scene.flags);
        }
    }
    if (show_right) {
        const float least = lesson_.open ? std::min(380.0f, width * 0.5f) : 240.0f;
        right = room.cut_right(std::clamp(settings_.right, least, std::max(least, width * 0.4f)));
        if (const auto part = ui.part("part.right", 0, right, evaluated_, theme.panel)) {
            if (auto e =
                    lesson_.open ? draw_side(ui, right, scene) : draw_inspector(ui, right, scene, inspector_))
                edit = std::move(e);
        }
    }
    if (one)
        edit = draw_one_pane(ui, room, scene);
    else
        draw_middle(ui, room, scene);
    // Over the edges of both sides, and so after both.
    const auto edge = [&](std::string_view name, float x) {
        return splitter(ui, name, {x - kSplitter / 2, room.y, kSplitter, room.h}, true);
    };
    if (left.w > 0)
        if (const float d = edge("split.left", left.right()); d != 0)
            settings_.left = std::clamp(left.w + d, 240.0f, 560.0f);
    if (right.w > 0)
        if (const float d = edge("split.right", right.x); d != 0)
            settings_.right = std::clamp(right.w - d, 240.0f, 560.0f);
    if (const auto part = ui.part("part.bar", 0, bar, evaluated_, theme.panel)) {
        ui.canvas().line({0, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, theme.hairline);
        draw_menu_bar(ui, bar);
    }
    if (const auto part = ui.part("part.status", 0, status, evaluated_, theme.panel)) {
        ui.canvas().line({0, status.y}, {status.right(), status.y}, theme.hairline);
        draw_status(ui, status, scene, evaluate_s_, &inspector_, veil_.covers_figures);
    }
    draw_highlights(ui, lesson_);
    return edit;
}

}  // namespace pentamesh::ui
