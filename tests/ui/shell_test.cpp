#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "render/png.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

using test::fresh_folder;

std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

}  // namespace

TEST_CASE("pressing minus on tp halves it, gives the GPUs to data parallelism and evaluates before the next "
          "frame") {
    Driver d("llama-3.1-405b-16k");
    REQUIRE(d.plan().layout.tp == 8);
    const auto dp = d.plan().layout.dp_shard;
    REQUIRE(d.click("layout.tp.minus"));
    CHECK(d.plan().layout.tp == 4);
    CHECK(d.plan().layout.dp_shard == 2 * dp);
    CHECK(d.shell.evaluation().mesh.world == 16384);
    CHECK(d.shell.evaluation().groups[GroupKind::tp].degree == 4);
    // Twice the replicas do not divide the batch: such a plan has no figures.
    CHECK_FALSE(d.shell.evaluation().valid);
    CHECK(d.shell.evaluation().memory.stage.empty());
}

TEST_CASE("undo and redo take back and repeat every edit") {
    Driver d("llama-3.1-405b-16k");
    const Plan first = d.plan();
    d.click("layout.tp.minus");
    d.click("mod.zero", 3);
    const Plan last = d.plan();
    CHECK(last.layout.zero == 3);
    d.press({.key = Key::z, .ctrl = true});
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == first);
    CHECK_FALSE(d.shell.document().modified());
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    CHECK(d.plan() == last);
}

TEST_CASE("dragging an order chip to another place changes the mesh's order as one step of undo") {
    Driver d("mesh-8");
    const auto order = d.plan().layout.order;
    const auto from = d.shell.ui_state().rect_of("order.tp"),
               to = d.shell.ui_state().rect_of("order.dp_shard");
    REQUIRE(from);
    REQUIRE(to);
    d.drag(from->center(), to->center());
    CHECK(d.plan().layout.order != order);
    CHECK(d.plan().layout.order[0] != Axis::tp);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().layout.order == order);
}

TEST_CASE("a factor can be typed, and what is no number changes nothing") {
    Driver d("zoom-1024");
    REQUIRE(d.click("layout.tp"));
    REQUIRE(d.drawn("edit.tp"));
    d.type("4");
    d.press({Key::enter});
    CHECK(d.plan().layout.tp == 4);
    d.click("layout.tp");
    d.type("many");
    d.press({Key::enter});
    CHECK(d.plan().layout.tp == 4);
}

TEST_CASE(
    "the title is typed where it stands: Enter takes it as one step, Escape does not, none is made anew") {
    Driver d("zoom-1024");
    const std::string before = d.plan().name;
    const auto type_title = [&](std::string_view text, Chord end) {
        REQUIRE(d.click("title"));
        REQUIRE(d.drawn("edit.title"));
        d.press({.key = Key::a, .ctrl = true});
        if (text.empty()) d.press({Key::del});
        d.type(text);
        d.press(end);
        CHECK_FALSE(d.drawn("edit.title"));
    };
    type_title("Ours", {Key::escape});
    CHECK(d.plan().name == before);
    type_title("Ours, by hand", {Key::enter});
    CHECK(d.plan().name == "Ours, by hand");
    CHECK(d.shell.title().starts_with("Ours, by hand *"));
    type_title("", {Key::enter});
    CHECK(d.plan().name.empty());
    CHECK(d.shell.title().starts_with(title_of(d.plan())));
    d.press({.key = Key::z, .ctrl = true});
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().name == before);
}

TEST_CASE("clicking a cell selects its rank, and Escape clears it") {
    Driver d("mesh-8");
    const auto cells = d.shell.ui_state().rect_of("mesh.cells");
    REQUIRE(cells);
    d.click_at({cells->center().x - 100, cells->center().y - 30});
    CHECK(d.shell.selection().rank >= 0);
    CHECK(d.shell.selection().topic == Selection::Topic::rank);
    d.press({Key::escape});
    CHECK(d.shell.selection().rank == -1);
}

TEST_CASE("a typed rank is found in a cluster of 16,384") {
    Driver d("llama-3.1-405b-16k");
    CHECK_FALSE(d.drawn("mesh.goto"));
    REQUIRE(d.click("mesh.more"));
    d.press({Key::down}), d.press({Key::down});
    d.press({Key::enter});
    REQUIRE(d.drawn("mesh.goto"));
    d.type("4099");
    d.press({Key::enter});
    CHECK(d.shell.selection().rank == 4099);
    CHECK_FALSE(d.drawn("mesh.goto"));
    run_command(d, "go to ranks");
    REQUIRE(d.drawn("mesh.goto"));
    d.type("7");
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("mesh.goto"));
    CHECK(d.shell.selection().rank == 4099);
}

TEST_CASE("a digit fills the window with a view and takes it back") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.drawn("memory.stage"));
    REQUIRE(d.drawn("mesh.cells"));
    d.press({Key::n4});
    CHECK(d.drawn("memory.stage"));
    CHECK_FALSE(d.drawn("mesh.cells"));
    d.press({Key::n4});
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("the palette finds a command by a few letters and runs it") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.type("theme light");
    d.press({Key::enter});
    CHECK(d.shell.settings().theme == ThemeId::light);
}

TEST_CASE("every command has a title, an id of its own and a chord of its own") {
    Driver d("mesh-8");
    const auto& list = d.shell.commands();
    CHECK(list.size() > 30);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CHECK(list[i].title.find_first_not_of(' ') == 0);
        for (std::size_t j = i + 1; j < list.size(); ++j) {
            CAPTURE(list[i].id);
            CAPTURE(list[j].id);
            CHECK(list[i].id != list[j].id);
            if (list[i].chord.key != Key::none) CHECK_FALSE(list[i].chord == list[j].chord);
        }
    }
}

TEST_CASE("saving writes the canonical plan and a save that fails keeps the file that was there") {
    const auto folder = fresh_folder("save");
    Driver d("mesh-8");
    d.click("mod.zero", 2);
    d.press({.key = Key::s, .ctrl = true});
    REQUIRE(d.drawn("dialog.path"));
    d.press({.key = Key::a, .ctrl = true});
    d.type((folder / "a.plan.json").string());
    d.press({Key::enter});
    REQUIRE(std::filesystem::exists(folder / "a.plan.json"));
    Plan written = parse_plan(contents(folder / "a.plan.json"), "a.plan.json", d.presets);
    CHECK(contents(folder / "a.plan.json") == write_plan(written));
    written.scene = d.plan().scene;
    CHECK(written == d.plan());
    CHECK_FALSE(d.shell.document().modified());
    const std::string saved = contents(folder / "a.plan.json");
    d.click("mod.zero", 1);
    d.press({.key = Key::s, .ctrl = true, .shift = true});
    d.press({.key = Key::a, .ctrl = true});
    d.type((folder / "no-such-folder" / "b.plan.json").string());
    d.press({Key::enter});
    CHECK(d.shell.document().modified());
    CHECK(d.shell.dialog() == DialogKind::save);  // it stays, and says why
    CHECK(d.shell.dialog_error().find("no-such-folder") != std::string::npos);
    CHECK(contents(folder / "a.plan.json") == saved);
    std::filesystem::remove_all(folder);
}

TEST_CASE("a file that is no plan leaves the open plan as it was and says what is wrong with it") {
    const auto folder = fresh_folder("broken");
    std::ofstream(folder / "broken.plan.json")
        << "{\"format\": \"pentamesh.plan/1\", \"model\": \"llama-3-8\"}";
    Driver d("mesh-8");
    const Plan before = d.plan();
    d.shell.open_file(folder / "broken.plan.json");
    d.settle();
    CHECK(d.plan() == before);
    CAPTURE(d.shell.message());
    CHECK(d.shell.message().find("/cluster") != std::string::npos);
    d.shell.open_file(folder);
    CHECK(d.plan() == before);
    d.shell.open_file(folder / "gone.plan.json");
    CHECK(d.plan() == before);
    std::filesystem::remove_all(folder);
}

TEST_CASE("the plan is copied as JSON and pasted back") {
    Driver d("mesh-8");
    d.press({.key = Key::c, .ctrl = true});
    REQUIRE(d.clipboard.find("pentamesh.plan/1") != std::string::npos);
    const Plan first = d.plan();
    d.click("mod.zero", 2);
    d.press({.key = Key::v, .ctrl = true});
    CHECK(d.plan().layout == first.layout);
    d.clipboard = "not a plan";
    d.press({.key = Key::v, .ctrl = true});
    CHECK(d.plan().layout == first.layout);
}

TEST_CASE("settings come back, and a broken settings file is set aside") {
    const auto folder = fresh_folder("settings");
    {
        Driver d("mesh-8", {1280, 720}, 1, folder);
        d.shell.settings().theme = ThemeId::high_contrast;
        d.settle();
    }
    {
        Driver d("mesh-8", {1280, 720}, 1, folder);
        CHECK(d.shell.settings().theme == ThemeId::high_contrast);
    }
    std::ofstream(folder / "settings.json") << "{{{";
    Driver d("mesh-8", {1280, 720}, 1, folder);
    CHECK(d.shell.settings().theme == ThemeId::dark);
    CHECK(std::filesystem::exists(folder / "settings.broken.json"));
    std::filesystem::remove_all(folder);
}

TEST_CASE("closing with unsaved changes asks first") {
    Driver d("mesh-8");
    CHECK(d.shell.may_close());
    d.click("mod.zero", 2);
    CHECK_FALSE(d.shell.may_close());
    d.settle();
    REQUIRE(d.click("dialog.cancel"));
    CHECK_FALSE(d.shell.quit());
    CHECK_FALSE(d.shell.may_close());
    d.settle();
    d.click("dialog.discard");
    CHECK(d.shell.quit());
}

TEST_CASE("a fix mends its problem with one click") {
    Driver d("broken-tp-over-ib");
    REQUIRE_FALSE(d.shell.evaluation().problems.empty());
    std::size_t with_fix = 0;
    const auto& problems = d.shell.evaluation().problems;
    while (with_fix < problems.size() && problems[with_fix].fix.empty()) ++with_fix;
    REQUIRE(with_fix < problems.size());
    const ProblemCode code = problems[with_fix].code;
    d.press({Key::escape});
    REQUIRE(d.click("problem.fix", with_fix));
    for (const auto& p : d.shell.evaluation().problems) CHECK(p.code != code);
}

// The sanitizers find any other fault.
TEST_CASE("odd windows, scales and clusters are drawn, each in its size") {
    for (const char* plan : {"single-gpu", "mesh-8", "llama-3.1-405b-131k", "deepseek-v3-2048", "moe-nvl72",
                             "broken-pp-zero3"}) {
        CAPTURE(std::string(plan));
        Driver d(plan, {640, 480});
        for (const auto& [size, scale] : std::initializer_list<std::pair<Vec2, float>>{
                 {{640, 480}, 1}, {{1280, 720}, 1}, {{1, 1}, 1}, {{320, 2000}, 1}, {{640, 360}, 3}}) {
            d.surface.resize(size, scale);
            d.settle();
            const Image drawn = d.surface.read();
            CHECK(static_cast<float>(drawn.width) == size.x * scale);
            CHECK(static_cast<float>(drawn.height) == size.y * scale);
            const auto [least, most] = std::minmax_element(drawn.pixels.begin(), drawn.pixels.end() - 1);
            if (size.x > 1) CHECK(*least + 100 < *most);
        }
    }
}

TEST_CASE("tab walks the controls and space presses the one that is reached") {
    Driver d("mesh-8");
    const Id zero = id_of("mod.zero", 2);
    for (int i = 0; i < 80 && d.shell.ui_state().focus != zero; ++i) d.press({Key::tab});
    REQUIRE(d.shell.ui_state().focus == zero);
    d.press({Key::space});
    CHECK(d.plan().layout.zero == 2);
}

TEST_CASE("an idle window asks for no frame") {
    Driver d("llama-3.1-405b-16k");
    for (int i = 0; i < 20; ++i) d.frame();
    CHECK_FALSE(d.shell.wants_frame());
    CHECK(d.shell.idle_s() > 1e6);
}

TEST_CASE("F10 goes to the menus: Right and Left go along them, Down opens one, Right opens the next") {
    Driver d("llama-3-70b-3d");
    d.press({.key = Key::f10});
    CHECK(d.shell.ui_state().focus == id_of("menu.File"));
    d.press({.key = Key::right});
    CHECK(d.shell.ui_state().focus == id_of("menu.Edit"));
    d.press({.key = Key::left});
    CHECK(d.shell.ui_state().focus == id_of("menu.File"));
    CHECK_FALSE(d.drawn("bar"));
    d.press({.key = Key::down});
    CHECK(d.drawn("bar"));
    const auto file = d.shell.ui_state().rect_of("bar");
    d.press({.key = Key::right});
    REQUIRE(d.drawn("bar"));
    CHECK(d.shell.ui_state().focus == id_of("menu.Edit"));
    CHECK(d.shell.ui_state().rect_of("bar")->x > file->x);
    d.press({.key = Key::escape});
    CHECK_FALSE(d.drawn("bar"));
}

TEST_CASE("Enter on a menu's name opens it and chooses nothing in it") {
    Driver d("mesh-8");
    const Plan before = d.plan();
    for (int i = 0; i < 200 && d.shell.ui_state().focus != id_of("menu.File"); ++i)
        d.press({.key = Key::tab, .shift = true});
    REQUIRE(d.shell.ui_state().focus == id_of("menu.File"));
    d.press({Key::enter});
    CHECK(d.plan() == before);
    CHECK(d.drawn("bar"));
}

TEST_CASE("a narrow view keeps its switches and colours, and its tables are reached sideways") {
    Driver d("llama-3.1-405b-16k", {640, 360}, 2);
    d.shell.open_lesson(std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "08-mesh.md");
    d.settle();
    d.shell.show_full(ViewId::memory);
    d.settle();
    for (std::uint64_t part = 0; part < 5; ++part) {
        REQUIRE(d.drawn("memory.legend", part));
        CHECK(d.shell.ui_state().rect_of("memory.legend", part)->right() <= 320);
    }
    d.shell.show_full(ViewId::step);
    d.settle();
    const auto tab = d.shell.ui_state().rect_of("view.step"),
               time = d.shell.ui_state().rect_of("step.view", 0);
    REQUIRE(tab);
    REQUIRE(time);
    CHECK(time->y >= tab->bottom());  // a row of its own
    d.press({.key = Key::n3, .shift = true});
    d.settle();
    const auto bar = d.shell.ui_state().rect_of("tensors.table.across");
    REQUIRE(bar);
    const std::string before = encode_png(d.surface.read(), {});
    d.drag({bar->x + 4, bar->center().y}, {bar->right() - 4, bar->center().y});
    CHECK(encode_png(d.surface.read(), {}) != before);
    d.surface.resize({1600, 900}, 1);
    d.settle();
    CHECK_FALSE(d.drawn("tensors.table.across"));
}

TEST_CASE("the palette has the keyboard in the second frame that it is drawn in") {
    Driver d("mesh-8");
    d.input.ctrl = true;
    d.input.keys_down = {Key::p};
    d.frame();
    d.input.ctrl = false;
    d.input.keys_down.clear();
    d.frame();
    d.frame();
    CHECK(d.shell.ui_state().edit != 0);
}

TEST_CASE("what is typed into the palette decides, not where the mouse lies; lessons keep their order") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.move({800, 400});  // over some row of the long list
    d.type("lesson 1");
    d.press({Key::enter});
    d.settle();
    REQUIRE(d.shell.lesson().open);
    CHECK(d.shell.lesson().file.filename() == "01-two-walls.md");
}
