// A file or a picture opens as it was left.
#include "app/ui/shell/document.h"
#include "app/ui/shell/picture.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/png.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

namespace fs = std::filesystem;

constexpr Chord kSaveFile{.key = Key::s, .ctrl = true};

fs::path scene_folder(const char* name) {
    const fs::path folder = fs::temp_directory_path() / "pentamesh-scene" / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
}

// Shows memory of stage 2 in the whole window, coloured by pp, the cursor at a second.
void arrange(Driver& d) {
    d.press({Key::n4});
    REQUIRE(d.click("memory.stage", 2));
    d.shell.selection().choose(GroupKind::pp);
}

}  // namespace

TEST_CASE(
    "a plan's file opens with the view, the axis, the selection and the cursor that it was saved with") {
    const fs::path file = scene_folder("file") / "a.plan.json";
    {
        Driver d("llama-3-70b-3d");
        write_file(file, write_plan(d.plan()));
        d.shell.open_file(file);
        d.settle();
        d.press({Key::period});  // the timeline's cursor
        d.press({Key::period});
        REQUIRE(d.shell.views().timeline.cursor_s > 0);
        arrange(d);
        CHECK_FALSE(d.shell.document().modified());  // moving about changes no plan
        d.press(kSaveFile);
        CHECK_FALSE(d.shell.document().modified());
        const SavedScene scene = parse_plan(read_file(file), "a", d.presets).scene;
        CHECK(scene.view == "memory");
        CHECK(scene.axis == "pp");
        CHECK(scene.selection.starts_with("memory "));
        CHECK(scene.selection.find("stage 2") != std::string::npos);
        CHECK(scene.cursor == near(d.shell.views().timeline.cursor_s));
    }
    Driver other("mesh-8");
    other.shell.open_file(file);
    other.settle();
    CHECK(other.shell.full_view() == ViewId::memory);
    CHECK(std::as_const(other.shell).screen().selection.group == GroupKind::pp);
    CHECK(other.shell.selection().stage == 2);
    CHECK(other.shell.selection().topic == Selection::Topic::memory);
    const double saved_s = parse_plan(read_file(file), "a", other.presets).scene.cursor;
    CHECK(other.shell.views().timeline.cursor_s == near(saved_s));
    CHECK_FALSE(other.shell.document().modified());
    CHECK(other.shell.may_close());
    // The window looks elsewhere: nothing is to be saved.
    other.press({Key::n2});
    other.press({Key::escape});
    CHECK_FALSE(other.shell.document().modified());
    CHECK(other.shell.may_close());
}

TEST_CASE("the dashboard comes back with the views that stood in its panes") {
    const fs::path file = scene_folder("panes") / "a.plan.json";
    Driver d("llama-3-70b-3d");
    d.shell.opened_from(file);
    REQUIRE(d.click("mesh.which", 2));
    REQUIRE(d.shell.views().mesh.zooms);
    REQUIRE(d.click("view.comm"));
    d.press(kSaveFile);
    Driver other("mesh-8");
    other.press({Key::n1});
    other.shell.open_file(file);
    other.settle();
    CHECK_FALSE(other.shell.full_view());
    CHECK(other.shell.views().in_pane == std::array{ViewId::mesh, ViewId::memory, ViewId::comm});
    CHECK(other.shell.views().mesh.zooms);
}

TEST_CASE("files and links that were written when Zoom and Tensors were views open their pages") {
    Driver d("llama-3-70b-3d");
    const auto opened = [&](std::string view, std::int64_t page) {
        ViewStates views;
        Selection selection;
        std::optional<ViewId> full;
        SavedScene scene;
        scene.view = std::move(view);
        scene.page = page;
        show_saved_scene(scene, d.shell.evaluation(), views, selection, full);
        return std::tuple(full, views.in_pane, views.mesh.zooms, views.shards.shows);
    };
    using Shows = ShardsViewState::Shows;
    const std::array panes = ViewStates{}.in_pane;
    CHECK(opened("zoom", 0) == std::tuple(std::optional(ViewId::mesh), panes, true, Shows::loaf));
    CHECK(opened("tensors", 0) == std::tuple(std::optional(ViewId::shards), panes, false, Shows::list));
    // Zoom stood second in the upper pane, Tensors third in the lower one.
    CHECK(opened("dashboard", 1) == std::tuple(std::optional<ViewId>(), panes, true, Shows::loaf));
    CHECK(opened("dashboard", 2 * 81)
          == std::tuple(std::optional<ViewId>(), std::array{ViewId::shards, ViewId::memory, ViewId::timeline},
                        false, Shows::list));
    for (const std::string_view name : {"zoom", "tensors"}) {
        const Link link = read_link("#view=" + std::string(name));
        CHECK(link.view == view_named(name));
        CHECK(write_link(link) == "#view=" + std::string(name));
        d.shell.open_text("#view=" + std::string(name), "a link");
        d.settle();
        CHECK(d.shell.full_view() == view_named(name));
        CHECK(is_shown(d.shell.views(), *std::ranges::find(named_pages(), name, &NamedPage::name)));
    }
}

TEST_CASE("a picture dropped on the window shows what it shows") {
    const Presets presets(fs::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(fs::path(SOURCE_DIR) / "assets");
    PictureRequest request;
    request.view = "shards";
    request.group = GroupKind::pp;
    request.rank = 5;
    request.size = {800, 500};
    const fs::path file = scene_folder("picture") / "p.png";
    write_file(file, make_picture(presets, presets.plan("mesh-8"), request, "png", fonts));
    Driver d("single-gpu");
    d.shell.open_file(file);
    d.settle();
    CHECK(d.shell.full_view() == ViewId::shards);
    CHECK(d.shell.selection().rank == 5);
    CHECK(d.shell.selection().topic == Selection::Topic::rank);
    CHECK_FALSE(d.shell.document().modified());
}

TEST_CASE("every selection comes back from its words") {
    const Presets presets(fs::path(SOURCE_DIR) / "presets");
    const Evaluation e = evaluate(presets.plan("mixtral-8x7b-ep"));
    std::vector<Selection> all(8);
    all[1].pick_rank(3);
    all[2].stage = 0;
    all[3].operation = 2, all[3].topic = Selection::Topic::operation, all[3].rank = 7;
    all[4].op = 1, all[4].topic = Selection::Topic::op;
    all[5].tensor = 4, all[5].tensor_state = TensorState::gradients, all[5].topic = Selection::Topic::tensor;
    all[6].memory_category = 2, all[6].stage = 0, all[6].topic = Selection::Topic::memory;
    all[7].step_part = static_cast<int>(StepPart::bubble), all[7].topic = Selection::Topic::step;
    for (const Selection& s : all) {
        CAPTURE(selection_words(s));
        CHECK(selection_named(selection_words(s), e) == s);
    }
    // These selections were written by hand, or belong to another plan.
    CHECK(selection_named("rank 99999999", e) == Selection{});
    CHECK(selection_named("rank, stage x, memory , , of", e).rank == -1);
}

TEST_CASE("with reduced motion the zoom jumps, the timeline and a call play in steps, and it is remembered") {
    const fs::path folder = scene_folder("motion");
    {
        Driver d("llama-3-70b-3d", {1600, 900}, 1, folder);
        run_command(d, "reduced motion");
        CHECK(checked(d, "view.reduced_motion"));
        d.press({.key = Key::n2, .shift = true});
        REQUIRE(d.click("zoom.canvas"));
        d.press({Key::right});
        const auto widest = [&] {
            float w = 0;
            for (const ZoomColumn& c : d.shell.views().zoom.columns) w = std::max(w, c.place.w);
            return w;
        };
        const float before = widest();
        d.input.keys_down = {Key::enter};
        d.frame();
        d.input.keys_down.clear();
        d.frame();
        CHECK(d.shell.views().zoom.begun_s < 0);
        CHECK(widest() > 2 * before);
        d.press({Key::n5});
        run_command(d, "play or pause");
        std::vector<double> cursors;
        for (int i = 0; i < 120; ++i) {  // two seconds
            d.frame();
            const double at = d.shell.views().timeline.cursor_s;
            if (cursors.empty() || cursors.back() != at) cursors.push_back(at);
        }
        CHECK(cursors.size() >= 2);
        CHECK(cursors.size() <= 4);
    }
    Driver later("mesh-8", {1600, 900}, 1, folder);
    CHECK(later.shell.settings().reduced_motion);
}

TEST_CASE("the window grows with Ctrl and plus, as that key is printed and with Shift") {
    Driver d("mesh-8");
    d.press({.key = Key::equal, .ctrl = true, .shift = true});
    CHECK(d.shell.settings().scale > 1);
    CHECK(chord_text({.key = Key::equal, .ctrl = true}) == "Ctrl++");
    REQUIRE(d.click("menu.View"));
    CHECK(says(d, "Ctrl++"));
}

TEST_CASE("a plan whose step waits most for an axis of the experts opens on their mesh") {
    Driver d("deepseek-v3-2048");
    const auto& waits = d.shell.evaluation().step->exposed_comm_s;
    for (const GroupKind kind : all_of<GroupKind>()) CHECK(waits[GroupKind::ep] >= waits[kind]);
    CHECK(d.shell.selection().expert());
    CHECK(d.shell.selection().all_axes);
    d.shell.open_plan(d.presets.plan("llama-3.1-405b-16k"));
    d.settle();
    CHECK_FALSE(d.shell.selection().expert());
}
