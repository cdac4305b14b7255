// Compares what every page of every view, every page of a review and many states of the window are made of
// with what they were made of when a person last looked: each rectangle, line and text with its place, colour
// and words. PENTAMESH_REFRESH_MARKS=1 writes the golden marks anew; read their difference before committing
// it (tests/README.md).
#include "tests/ui/marks.h"

#include "app/ui/review/figures.h"
#include "app/ui/review/review.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/edits.h"
#include "render/page.h"
#include "tests/ui/gallery.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <regex>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr const char* kMarkedPlans[] = {"mesh-8", "llama-3-70b-3d", "deepseek-v3-2048"};

const Presets& marked_presets() {
    static const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    return presets;
}

const std::shared_ptr<const TypeFaces>& marked_faces() {
    static const std::shared_ptr<const TypeFaces> faces = load_faces(mark_fonts());
    return faces;
}

// Returns the marks without what a new version, or another file format, changes.
std::vector<DrawnMark> without_version(std::vector<DrawnMark> marks) {
    static const std::regex sum("(sha256 of the plans?)( [0-9a-f]{12},?)+");
    const std::string version = std::string("Pentamesh ") + PENTAMESH_VERSION;
    for (DrawnMark& m : marks) {
        if (m.kind != "text") continue;
        if (const std::size_t at = m.look.find(version); at != std::string::npos)
            m.look.replace(at, version.size(), "Pentamesh (version)");
        if (m.look.find("sha256") != std::string::npos) m.look = std::regex_replace(m.look, sum, "$1 (sum)");
    }
    return marks;
}

std::vector<DrawnMark> marks_of_picture(const Plan& plan, PictureRequest request) {
    std::vector<DrawnMark> marks;
    Page page(std::make_unique<MarkPage>(marked_faces(), marks));
    request.onto = &page;
    (void)make_picture(marked_presets(), plan, request, "svg", mark_fonts());
    return without_version(std::move(marks));
}

PictureRequest request_for(std::string_view view, std::string_view page = {}) {
    PictureRequest r;
    r.view = view;
    r.page = page;
    r.size = {1600, 900};
    r.title = r.caption = false;
    return r;
}

// Checks each page of a review by its number.
void check_review(GoldenMarks& golden, const std::string& name, const std::vector<Plan>& plans,
                  const ReviewRequest& request) {
    std::vector<std::vector<DrawnMark>> marks;
    marks.reserve(1000);  // pages refer to them
    std::vector<std::unique_ptr<Page>> pages;
    draw_review(marked_presets(), plans, request, mark_fonts(), [&](const PageSpec& of) -> Page& {
        REQUIRE(marks.size() < marks.capacity());
        pages.push_back(std::make_unique<Page>(std::make_unique<MarkPage>(of.faces, marks.emplace_back())));
        return *pages.back();
    });
    for (std::size_t i = 0; i < marks.size(); ++i)
        golden.check(name + ", page " + std::to_string(i + 1), without_version(std::move(marks[i])));
}

// A window in which all text is set in the monospaced font.
struct MarkedWindow : Driver {
    explicit MarkedWindow(std::string_view plan, Vec2 size = {1600, 1000})
        : Driver(plan, size, 1, {}, {}, {}, false, mark_fonts()) {}
    // Returns the marks within a part of the window, of all of it where it is empty.
    std::vector<DrawnMark> marks(Rect within = {}) {
        settle();
        std::vector<DrawnMark> out;
        Page page(std::make_unique<MarkPage>(marked_faces(), out));
        time_s += 1.0 / 60;
        surface.frame(input, time_s, [&](const FrameInfo& info) {
            if (within.w > 0) page.impl().push_clip(within);
            shell.frame(info, &page);
        });
        static const std::regex timing("evaluated in [0-9.]+ \\S+");
        for (DrawnMark& m : out)
            if (m.look.find("evaluated in") != std::string::npos)
                m.look = std::regex_replace(m.look, timing, "evaluated in (time)"), m.at[0] = 0;
        return without_version(std::move(out));
    }
    // Returns what the marks have more than those before: a menu, and what it changed around it.
    std::vector<DrawnMark> marks_beyond(const std::vector<DrawnMark>& before) {
        return marks_beyond_those(before, marks());
    }
    [[nodiscard]] Rect left() const { return {0, 0, 300, 1e5f}; }
    [[nodiscard]] Rect right(float width) { return {surface_width() - width, 0, width, 1e5f}; }
    // Returns what lies between the two panels.
    [[nodiscard]] Rect middle() { return {296, 0, surface_width() - 296 - 290, 1e5f}; }
    [[nodiscard]] float surface_width() { return shell.ui_state().size.x; }
};

// Presses a control that must be there.
void must_click(MarkedWindow& d, std::string_view name, std::uint64_t index = 0) {
    CAPTURE(std::string(name));
    REQUIRE(d.click(name, index));
}

// Goes through a lesson to a step, counted from 0.
void go_to_step(MarkedWindow& d, const std::string& lesson, int step) {
    d.shell.open_lesson(lesson_file(lesson));
    d.settle();
    for (int i = 0; i < step; ++i) d.press({Key::page_down});
    REQUIRE(d.shell.lesson().step == static_cast<std::size_t>(step));
}

// Checks each page of a view, of each plan.
void check_view(const LessonView& view) {
    GoldenMarks golden(view.name);
    const std::vector<std::string_view> none{""};
    const std::span<const std::string_view> pages = view.pages.empty() ? none : view.pages;
    for (const char* id : kMarkedPlans)
        for (const std::string_view page : pages) {
            const std::string name = std::string(id) + (page.empty() ? "" : ", ") + std::string(page);
            golden.check(name, marks_of_picture(marked_presets().plan(id), request_for(view.name, page)));
        }
    golden.finish();
}

}  // namespace

TEST_CASE("every page of every view is made of the marks that it was made of") {
    for (const LessonView& view : lesson_views()) {
        const auto id = view_named(view.name);
        if (!id || view_of(*id).name != view.name) continue;  // the dashboard, a page that has a name
        SUBCASE(std::string(view.name).c_str()) {
            check_view(view);
        }
    }
}

TEST_CASE("the dashboard is made of the marks that it was made of, dark and light") {
    GoldenMarks golden("dashboard");
    PictureRequest r = request_for(kDashboardName);
    r.size = {1280, 720};
    for (const char* id : kMarkedPlans) golden.check(id, marks_of_picture(marked_presets().plan(id), r));
    r.theme = ThemeId::light, r.rank = 5;
    golden.check("mesh-8, light, rank 5", marks_of_picture(marked_presets().plan("mesh-8"), r));
    golden.finish();
}

TEST_CASE("every page of a review is made of the marks that it was made of") {
    GoldenMarks golden("review");
    for (const char* id : kMarkedPlans) check_review(golden, id, {marked_presets().plan(id)}, {});
    const Plan plan = marked_presets().plan("llama-3-70b-3d");
    const Plan other = with_factor(plan, Axis::tp, 4, true), third = with_factor(plan, Axis::pp, 8, true);
    ReviewRequest upright;
    upright.paper = PaperKind::a4;
    upright.pages = {ReviewPage::summary, ReviewPage::placement, ReviewPage::memory};
    check_review(golden, "on A4", {plan}, upright);
    ReviewRequest pair;
    pair.pages = {ReviewPage::comparison, ReviewPage::summary};
    check_review(golden, "two plans", {plan, other}, pair);
    check_review(golden, "three plans", {plan, other, third}, pair);
    check_review(golden, "impossible", {marked_presets().plan("broken-pp-zero3")}, {});
    golden.finish();
}

namespace {

struct OnPage {
    std::vector<DrawnMark> inset, inside;  // the corner and the scale; what the view drew
};

// Draws a figure in a room of a page, and returns what its view drew there.
OnPage drawn_on_page(const Paper& paper, Rect room, const std::function<void(ReviewSheet&, Rect)>& draw) {
    std::vector<DrawnMark> all;
    Page page(std::make_unique<MarkPage>(marked_faces(), all));
    ReviewSheet sheet({[&](const std::string&) { return Canvas(nullptr, 1, &page); }, 0}, paper,
                      theme_of(ThemeId::light), "", "", "");
    sheet.begin_bare();
    draw(sheet, room);
    OnPage out;
    bool open = false;
    for (DrawnMark& m : all) {
        if (m.kind == "end") open = false;
        if (open) out.inside.push_back(m);
        if (m.kind == "inset") open = true, out.inset.push_back(m);
    }
    return out;
}

// Draws the same part of a view as the window does, in a room of that size.
std::vector<DrawnMark> drawn_by_view(const Reviewed& of, Vec2 size, const DrawView& draw) {
    std::vector<DrawnMark> out;
    Page page(std::make_unique<MarkPage>(marked_faces(), out));
    UiState state;
    state.for_picture = true;
    state.least_type = 11;  // as on a page
    FrameInfo frame;
    frame.size = size;
    PrintedScene printed(of);
    Ui ui(state, frame, theme_of(ThemeId::light), Canvas(nullptr, 1, &page));
    draw(ui, {0, 0, size.x, size.y}, printed.scene);
    return out;
}

}  // namespace

TEST_CASE("a figure on a page of a review is made of the marks of its view, but for their scale") {
    const Plan plan = marked_presets().plan("llama-3-70b-3d");
    const Evaluation e = evaluate(plan);
    const Reviewed of{plan, e, marked_presets()};
    const Sensitivity changes = sensitivity_of(plan, marked_presets());
    const auto view = [](ViewId id, MemoryPage page = MemoryPage::stages) -> DrawView {
        return [id, page](Ui& ui, Rect room, Scene& scene) {
            ViewStates states;
            states.memory.page = page;
            const Rect head = room.cut_top(18);
            (void)draw_view_body(ui, head, room, scene, id, states, 1);
        };
    };
    struct Figure {
        const char* name;
        std::function<void(ReviewSheet&, Rect)> on_page;
        DrawView by_view;
    };
    const std::vector<Figure> figures{
        {"timeline", [&](ReviewSheet& sheet, Rect room) { draw_pipeline(sheet, room, of); },
         view(ViewId::timeline)},
        {"memory", [&](ReviewSheet& sheet, Rect room) { draw_held(sheet, room, of); }, view(ViewId::memory)},
        {"savings", [&](ReviewSheet& sheet, Rect room) { draw_held(sheet, room, of, MemoryPage::saved); },
         view(ViewId::memory, MemoryPage::saved)},
        {"mesh", [&](ReviewSheet& sheet, Rect room) { draw_mesh_figure(sheet, room, of, GroupKind::pp); },
         [](Ui& ui, Rect room, Scene& scene) {
             scene.selection.choose(GroupKind::pp);
             draw_still_mesh(ui, room, scene);
         }},
        {"traffic", [&](ReviewSheet& sheet, Rect room) { draw_traffic(sheet, room, of); },
         [](Ui& ui, Rect room, Scene& scene) { draw_comm_flow(ui, room, scene, FlowWidth::time); }},
    };
    for (const PaperKind kind : {PaperKind::slide, PaperKind::a4}) {
        const Paper paper = paper_of(kind);
        const float scale = paper.small / 13;  // the window's rows have type of 13 pixels
        const Rect room{paper.margin, paper.margin, paper.size.x - 2 * paper.margin, 560 * scale};
        for (const Figure& f : figures) {
            CAPTURE(f.name);
            const OnPage page = drawn_on_page(paper, room, f.on_page);
            REQUIRE(page.inset.size() == 1);
            CHECK(page.inset[0].at == std::vector<double>{room.x, room.y});
            CHECK(page.inset[0].look == (kind == PaperKind::slide ? "#1.436" : "#0.846"));
            const std::vector<DrawnMark> own = drawn_by_view(of, {room.w / scale, room.h / scale}, f.by_view);
            CHECK(own.size() > 20);
            CHECK(difference_of_marks(own, page.inside) == std::vector<std::string>{});
        }
    }
    // The sensitivity ends at a whole row, and says how many rows are left out.
    const Paper paper = paper_of(PaperKind::slide);
    const OnPage page =
        drawn_on_page(paper, {}, [&](ReviewSheet& sheet, Rect) { draw_sensitivity(sheet, of, changes); });
    const std::vector<std::size_t> rows = tornado_rows(changes);
    std::size_t drawn = 0;
    for (const DrawnMark& m : page.inside)
        drawn += std::any_of(rows.begin(), rows.end(), [&](std::size_t i) {
            return m.kind == "text" && m.look.ends_with(" 12 " + changes.rows[i].name);
        });
    // 640 pixels of the page less a line of words are 428 of the window: 44 of words, 24 for each row.
    CHECK(drawn == std::min<std::size_t>(16, rows.size()));
}

TEST_CASE("Compare is made of the marks that it was made of, with two plans and with four") {
    GoldenMarks golden("compared");
    const Plan plan = marked_presets().plan("llama-3-70b-3d");
    PictureRequest r = request_for("compare");
    r.compared = {with_factor(plan, Axis::tp, 4, true)};
    golden.check("two plans", marks_of_picture(plan, r));
    r.compared.push_back(with_factor(plan, Axis::pp, 8, true));
    r.compared.push_back(marked_presets().plan("deepseek-v3-2048"));
    golden.check("four plans", marks_of_picture(plan, r));
    golden.finish();
}

TEST_CASE("the panels are made of the marks that they were made of, whatever is selected") {
    GoldenMarks golden("panels");
    for (const char* id : kMarkedPlans) {
        MarkedWindow d(id, {1600, 1300});
        const std::string name = id;
        golden.check(name + ", plan", d.marks(d.left()));
        const auto inspect = [&](const std::string& what, Selection selection) {
            d.shell.selection() = std::move(selection);
            golden.check(name + ", " + what, d.marks(d.right(292)));
        };
        Selection s = d.shell.selection();
        inspect("nothing selected", s);
        s.pick_rank(5);
        inspect("rank 5", s);
        s.topic = Selection::Topic::ranks, s.ranks = {1, 3, 5};
        inspect("ranks 1, 3, 5", s);
        s = {};
        s.topic = Selection::Topic::operation, s.operation = 1;
        inspect("call 1", s);
        s = {};
        s.topic = Selection::Topic::memory, s.stage = 0, s.memory_category = 1;
        inspect("memory of stage 0", s);
        s = {};
        s.topic = Selection::Topic::op, s.op = 3;
        inspect("block 3", s);
        s = {};
        s.topic = Selection::Topic::tensor, s.tensor = 2;
        inspect("tensor 2", s);
        s.activation = 1;
        inspect("activation 1", s);
        s = {};
        for (int part = 0; part < 4; ++part) {
            s.topic = Selection::Topic::step, s.step_part = part;
            inspect("part " + std::to_string(part) + " of the step", s);
        }
    }
    for (const char* id : {"broken-pp-zero3", "broken-tp-over-ib"}) {
        MarkedWindow d(id);
        const std::vector<DrawnMark> before = d.marks();
        golden.check(id + std::string(", left"), d.marks(d.left()));
        golden.check(id + std::string(", right"), d.marks(d.right(292)));
        golden.check(id + std::string(", top"), d.marks({0, 0, 1600, 120}));
        if (d.click("status.problems")) golden.check(std::string(id) + ", problems", d.marks_beyond(before));
    }
    golden.finish();
}

TEST_CASE("menus, sheets, cards and dialogs are made of the marks that they were made of") {
    GoldenMarks golden("sheets");
    MarkedWindow d("deepseek-v3-2048", {1600, 1300});
    const std::vector<DrawnMark> before = d.marks();
    const auto opened = [&](const std::string& name) {
        d.until([&] { return !d.shell.works_beside(); });
        golden.check(name, d.marks_beyond(before));
        for (int i = 0; i < 3; ++i) d.press({Key::escape});
        d.move({1590, 2});
        d.rest();
        REQUIRE(d.plan() == marked_presets().plan("deepseek-v3-2048"));
    };
    for (const char* control :
         {"mod.batch", "mod.schedule", "mod.precision", "mod.optimizer", "mod.attention", "mod.overlap",
          "mod.recompute_more", "order.preset", "plan.model", "plan.cluster", "plan.stages"}) {
        must_click(d, control);
        opened(control);
    }
    for (const char* command :
         {"edit.fields", "edit.model", "edit.cluster", "edit.notes", "edit.presets", "help.keys",
          "help.glossary", "help.palette", "help.welcome", "export.to.megatron", "export.to.deepspeed"}) {
        CAPTURE(std::string(command));
        run_id(d, command);
        d.rest();
        opened(command);
    }
    for (const char* axis : {"tp", "pp", "ep", "dp_shard"}) {
        const auto name = d.shell.ui_state().rect_of("layout." + std::string(axis) + ".toggle");
        REQUIRE(name);
        d.move(name->center());
        d.rest();
        golden.check("card of " + std::string(axis), d.marks_beyond(before));
        d.move({1590, 2});
        d.rest();
    }
    MarkedWindow small("mesh-8");
    const std::vector<DrawnMark> window = small.marks();
    run_id(small, "file.review");
    small.until([&] { return !small.shell.works_beside(); });
    golden.check("file.review", small.marks_beyond(window));
    golden.finish();
}

TEST_CASE("an edit and what follows from it are made of the marks that they were made of") {
    GoldenMarks golden("edits");
    MarkedWindow d("llama-3-70b-3d", {1600, 1000});
    const std::vector<DrawnMark> before = d.marks();
    must_click(d, "layout.tp.minus");
    d.move({1590, 2});
    golden.check("tp halved", d.marks_beyond(before));
    golden.finish();
}

TEST_CASE("a lesson's panel, questions, answers and tasks are made of the marks that they were made of") {
    GoldenMarks golden("lessons");
    const auto step = [&](const std::string& lesson, int at) {
        MarkedWindow d("mesh-8");
        go_to_step(d, lesson, at);
        const std::string name = lesson + ", step " + std::to_string(at + 1);
        golden.check(name, d.marks(d.right(382)));
        LessonSession& l = d.shell.lesson();
        if (const auto& q = l.current()->question) {
            if (q->kind == QuestionKind::number) l.state().typed = "64";
            if (q->kind == QuestionKind::curve) l.state().typed = "9, 7, 5, 4, 6, 8";
            if (!l.state().typed.empty()) golden.check(name + ", a guess", d.marks(d.right(382)));
            if (l.state().typed.empty() || !d.click("lesson.check")) must_click(d, "lesson.reveal");
            golden.check(name + ", answered", d.marks(d.right(382)));
        }
        if (l.current()->task) {
            for (int hint = 0; hint < 3; ++hint) must_click(d, "lesson.hint");
            golden.check(name + ", hints", d.marks(d.right(382)));
            must_click(d, "lesson.solve");
            golden.check(name + ", solved", d.marks(d.right(382)));
        }
    };
    for (int at = 0; at < 11; ++at) step("00-five-cuts", at);
    for (int at = 0; at < 4; ++at) step("08-mesh", at);
    step("20-tasks-fit", 4);
    {
        MarkedWindow d("mesh-8");
        go_to_step(d, "00-five-cuts", 1);
        const std::size_t options = d.shell.lesson().current()->question->options.size();
        std::string votes = "3";
        for (std::size_t i = 1; i < options; ++i) votes += " " + std::to_string(3 + 7 * i);
        d.press({Key::v});
        must_click(d, "lesson.votes");
        d.type(votes);
        d.press({Key::enter});
        golden.check("votes of a room", d.marks(d.right(382)));
    }
    MarkedWindow d("mesh-8", {1280, 720});
    go_to_step(d, "01-two-walls", 1);
    d.press({Key::f5});
    const std::vector<DrawnMark> presented = d.marks();
    golden.check("presented", presented);
    d.press({Key::n});
    golden.check("presented, with notes", d.marks(d.left()));
    d.press({Key::escape});
    const std::vector<DrawnMark> before = d.marks();
    run_id(d, "lesson.results");
    golden.check("results", d.marks_beyond(before));
    golden.finish();
}

TEST_CASE("a run is made of the marks that it was made of: a hang on the mesh, a trace beside the estimate") {
    GoldenMarks golden("runs");
    const std::filesystem::path files = std::filesystem::path(SOURCE_DIR) / "tests/golden";
    {
        MarkedWindow d("llama-3-8b-fsdp");
        d.shell.open_file(files / "runs/gpu_error_1st");
        d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
        d.time_s += 60;
        d.shell.show_full(ViewId::mesh);
        const std::vector<DrawnMark> before = d.marks();
        golden.check("a hang", d.marks(d.middle()));
        must_click(d, "run.culprit", 1);
        golden.check("a hang, one to blame selected", d.marks_beyond(before));
    }
    MarkedWindow d("llama-3-8b-fsdp");
    const std::filesystem::path folder = files / "measured/run2602-00";
    d.shell.open_plan(parse_plan(read_file(folder / "plan.json"), "plan.json", d.presets));
    d.settle();
    d.shell.open_file(folder / "rank42.pt.trace.json.gz");
    d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    d.time_s += 60;
    for (const ViewId view : {ViewId::timeline, ViewId::comm, ViewId::step}) {
        d.shell.show_full(view);
        d.settle();
        if (view == ViewId::comm) must_click(d, "comm.part", CommViewState::kParts - 1);
        if (view == ViewId::step) must_click(d, "step.part_below", StepViewState::kMeasured - 1);
        golden.check("a trace, " + std::string(view_of(view).name), d.marks(d.middle()));
    }
    golden.finish();
}

TEST_CASE("every widget of the kit is made of the marks that it was made of, in every state") {
    GoldenMarks golden("gallery");
    golden.check("dark", draw_gallery(ThemeId::dark).marks);
    golden.check("light", draw_gallery(ThemeId::light).marks);
    golden.finish();
}

TEST_CASE("a swapped colour, a reversed length, a slanted line and another word are marks that differ") {
    const auto drawn = [](Color first, float length, float slant, std::string_view words) {
        std::vector<DrawnMark> marks;
        Page page(std::make_unique<MarkPage>(marked_faces(), marks));
        Canvas c(nullptr, 1, &page);
        for (int i = 0; i < 6; ++i) c.rect({10 + 12.25f * static_cast<float>(i), 20, 8, 30}, first);
        c.rect({10, 60, length, 8}, rgb(0x2040c0));
        c.line({10, 80}, {200, 80 + slant}, rgb(0xff0000), 1, Dash::dashed);
        c.text({10.4f, 90.4f}, words, {Face::semibold, 13, rgb(0xe0e0e0), 0});
        {
            const Canvas::Clip clip = c.clip({0, 100, 50, 20});
            c.rect({40, 90, 100, 100}, rgb(0x808080));
            c.text({60, 105}, "beyond the clip", {Face::regular, 12, rgb(0xe0e0e0), 0});
        }
        return marks;
    };
    const std::vector<DrawnMark> right = drawn(rgb(0x00a000), 64, 0, "3.2 GiB");
    const std::vector<std::string> lines = lines_of_marks(right);
    CHECK(lines
          == std::vector<std::string>{"rect x6 10 20 8 30 by 12.25 0 0 0 #00a000", "rect 10 60 64 8 #2040c0",
                                      "line 10 80 200 80 #ff0000 dashed", "text 10 90 #e0e0e0 13b 3.2 GiB",
                                      "rect 40 100 10 20 #808080"});
    CHECK(difference_of_marks(marks_of_lines(lines), right).empty());
    const auto differs = [&](const std::vector<DrawnMark>& wrong) {
        return difference_of_marks(marks_of_lines(lines), wrong);
    };
    using Lines = std::vector<std::string>;
    CHECK(differs(drawn(rgb(0x00a000), 62, 0, "3.2 GiB"))
          == Lines{"- rect 10 60 64 8 #2040c0", "+ rect 10 60 62 8 #2040c0"});
    CHECK(differs(drawn(rgb(0x00a000), 64, 3, "3.2 GiB"))
          == Lines{"- line 10 80 200 80 #ff0000 dashed", "+ line 10 80 200 83 #ff0000 dashed"});
    CHECK(differs(drawn(rgb(0x00a000), 64, 0, "3.2 GB"))
          == Lines{"- text 10 90 #e0e0e0 13b 3.2 GiB", "+ text 10.4 90.4 #e0e0e0 13b 3.2 GB"});
    CHECK(differs(drawn(rgb(0xa00000), 64, 0, "3.2 GiB")).size() == 12);
    CHECK(differs(drawn(rgb(0x00a000), 64.2f, 0.2f, "3.2 GiB")).empty());
    std::vector<DrawnMark> swapped = right;
    std::swap(swapped[6], swapped[7]);  // what is drawn later covers what was drawn before
    CHECK(differs(swapped).size() == 2);
    CHECK_THROWS_AS((void)marks_of_lines({"rect 10 20 8 30"}), std::runtime_error);
    CHECK_THROWS_AS((void)marks_of_lines({"rect x3 10 20 by 1 #00a000"}), std::runtime_error);
}
