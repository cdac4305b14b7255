// Plans come and go: no change is lost, nothing is written over.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

const std::string kSource = SOURCE_DIR;
constexpr Chord kUndo{.key = Key::z, .ctrl = true}, kRedo{.key = Key::z, .ctrl = true, .shift = true};
constexpr Chord kSave{.key = Key::s, .ctrl = true}, kNew{.key = Key::n, .ctrl = true};

using test::fresh_folder;

std::string hf_config() {
    return read_file(kSource + "/tests/golden/hf_configs/deepseek-v3.json");
}

void enter_path(Driver& d, const fs::path& path) {
    REQUIRE(d.drawn("dialog.path"));
    d.press({.key = Key::a, .ctrl = true});
    d.type(path.string());
    d.press({Key::enter});
}

const Command& command(Driver& d, std::string_view id) {
    for (const Command& c : d.shell.commands())
        if (c.id == id) return c;
    FAIL("no command " << id);
    return d.shell.commands().front();
}

// Holds an open plan file with a change, and the actions that open another plan.
struct Changed {
    fs::path folder = fresh_folder("document");
    fs::path file = folder / "a.plan.json";
    std::string on_disk;
    Plan edited;
    explicit Changed(Driver& d) {
        write_file(file, write_plan(d.presets.plan("mesh-8")));
        on_disk = read_file(file);
        d.shell.open_file(file);
        d.settle();
        d.click("mod.zero", 2);
        edited = d.plan();
        REQUIRE(d.shell.document().modified());
    }
    ~Changed() { fs::remove_all(folder); }
    Changed(const Changed&) = delete;
    Changed& operator=(const Changed&) = delete;
};

}  // namespace

TEST_CASE("whatever brings another plan, Ctrl+Z brings the old one back with its path, its changes and its "
          "history") {
    const std::vector<std::pair<const char*, std::function<void(Driver&, const fs::path&)>>> kWays{
        {"Ctrl+N", [](Driver& d, const fs::path&) { d.press(kNew); }},
        {"a preset",
         [](Driver& d, const fs::path&) {
             d.press({.key = Key::p, .ctrl = true});
             d.type("Open preset Llama 3");
             d.press({Key::enter});
         }},
        {"a drop",
         [](Driver& d, const fs::path& folder) {
             write_file(folder / "b.plan.json", write_plan(d.presets.plan("zoom-1024")));
             d.shell.open_file(folder / "b.plan.json");
         }},
        {"Ctrl+O",
         [](Driver& d, const fs::path& folder) {
             write_file(folder / "b.plan.json", write_plan(d.presets.plan("zoom-1024")));
             d.press({.key = Key::o, .ctrl = true});
             enter_path(d, folder / "b.plan.json");
         }},
        {"a paste",
         [](Driver& d, const fs::path&) {
             d.clipboard = write_plan(d.presets.plan("zoom-1024"));
             d.press({.key = Key::v, .ctrl = true});
         }},
        {"a pasted config",
         [](Driver& d, const fs::path&) {
             d.clipboard = hf_config();
             d.press({.key = Key::v, .ctrl = true});
         }},
        {"a dropped config",
         [](Driver& d, const fs::path& folder) {
             write_file(folder / "config.json", hf_config());
             d.shell.open_file(folder / "config.json");
         }},
    };
    for (const auto& way : kWays) {
        CAPTURE(way.first);
        Driver d("single-gpu");
        const Changed changed(d);
        way.second(d, changed.folder);
        d.settle();
        CAPTURE(d.shell.message());
        REQUIRE_FALSE(d.plan() == changed.edited);
        const Plan brought = d.plan();
        const fs::path brought_path = d.shell.document().path();
        CHECK(brought_path != changed.file);
        CHECK(d.shell.message().find("Ctrl+Z brings") != std::string::npos);
        d.press(kUndo);
        CHECK(d.plan() == changed.edited);
        CHECK(d.shell.document().path() == changed.file);
        CHECK(d.shell.document().modified());
        d.press(kRedo);
        CHECK(d.plan() == brought);
        CHECK(d.shell.document().path() == brought_path);
        d.press(kUndo);
        d.press(kUndo);
        CHECK(d.plan() == d.presets.plan("mesh-8"));
        CHECK_FALSE(d.shell.document().modified());
    }
}

TEST_CASE("Ctrl+S asks for a name after a picture, a config or a paste, and the file that was open stays") {
    const fs::path folder = fresh_folder("incoming");
    const std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>";
    for (const bool paste : {true, false}) {
        Driver d("single-gpu");
        const Changed changed(d);
        if (paste) {
            d.clipboard = hf_config();
            d.press({.key = Key::v, .ctrl = true});
        } else {
            d.clipboard = write_plan(d.presets.plan("zoom-1024"));
            d.press({.key = Key::v, .ctrl = true});
        }
        CHECK(d.shell.document().modified());
        CHECK(d.shell.document().path().empty());
        d.press(kSave);
        CHECK(d.shell.dialog() == DialogKind::save);
        CHECK(read_file(changed.file) == changed.on_disk);
        // The old file is written over only when that is asked for twice.
        enter_path(d, changed.file);
        CHECK(read_file(changed.file) == changed.on_disk);
        CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
        d.press({Key::escape});
        CHECK(read_file(changed.file) == changed.on_disk);
    }
    fs::remove_all(folder);
}

TEST_CASE("a plan file with a whole Hugging Face config in it is a plan file with its path") {
    const fs::path folder = fresh_folder("inline");
    Driver d("single-gpu");
    std::string plan = write_plan(d.presets.plan("single-gpu"));
    const std::string model = plan.substr(plan.find("\"model\":"),
                                          plan.find('\n', plan.find("\"model\":")) - plan.find("\"model\":"));
    plan.replace(plan.find(model), model.size(), "\"model\": " + hf_config() + ",");
    write_file(folder / "own.plan.json", plan);
    d.shell.open_file(folder / "own.plan.json");
    d.settle();
    CAPTURE(d.shell.message());
    CHECK(d.plan().model.moe);
    CHECK(d.shell.document().path() == folder / "own.plan.json");
    CHECK_FALSE(d.shell.document().modified());
    fs::remove_all(folder);
}

TEST_CASE("after a config.json title and model's name are the new model's, and the notes stay") {
    Driver d("llama-3.1-405b-16k");
    REQUIRE_FALSE(d.plan().notes.empty());
    const std::string before = d.plan().name, notes = d.plan().notes;
    d.clipboard = hf_config();
    d.press({.key = Key::v, .ctrl = true});
    CHECK(d.plan().name.find("405B") == std::string::npos);
    CHECK(d.plan().name.empty());
    CHECK(d.plan().model.name != "the clipboard");
    CHECK(d.shell.title().find(d.plan().model.name) != std::string::npos);
    CHECK(d.plan().notes == notes);
    CHECK(d.shell.message().find("Ctrl+Z brings " + before) != std::string::npos);
    CHECK(d.plan().cluster.gpus == 16384);
    d.press(kUndo);
    CHECK(d.plan().name == before);
}

TEST_CASE("saving is known to every state of the plan, before and after it") {
    Driver d("single-gpu");
    const Changed changed(d);
    d.press(kSave);
    CHECK_FALSE(d.shell.document().modified());
    d.press(kUndo);
    CHECK(d.shell.document().modified());  // the file holds the other state
    d.press(kRedo);
    CHECK_FALSE(d.shell.document().modified());
}

TEST_CASE("a save that fails is said inside a dialog that asks for another name") {
    Driver d("single-gpu");
    const Changed changed(d);
    fs::remove_all(changed.folder);
    d.press(kSave);
    CHECK(d.shell.dialog() == DialogKind::save);
    CHECK(d.shell.dialog_error().find("a.plan.json") != std::string::npos);
    CHECK(d.shell.document().modified());
    fs::create_directories(changed.folder);
    enter_path(d, changed.folder / "b");
    CHECK(d.shell.dialog() == DialogKind::none);
    const std::string written = read_file(changed.folder / "b.plan.json");
    Plan saved = parse_plan(written, "b.plan.json", d.presets);
    CHECK(written == write_plan(saved));
    saved.scene = changed.edited.scene;
    CHECK(saved == changed.edited);
    CHECK(d.shell.message().find((changed.folder / "b.plan.json").string()) != std::string::npos);
}

TEST_CASE("opening what cannot be opened keeps the dialog, its text and the plan") {
    Driver d("mesh-8");
    const Plan before = d.plan();
    d.press({.key = Key::o, .ctrl = true});
    enter_path(d, "/no/such/file.plan.json");
    CHECK(d.shell.dialog() == DialogKind::open);
    CHECK(d.shell.dialog_error().find("/no/such/file.plan.json") != std::string::npos);
    d.type("x");  // it goes to the field, not to a shortcut
    CHECK(d.shell.dialog() == DialogKind::open);
    CHECK(d.plan() == before);
}

TEST_CASE("a name is proposed from the plan's, and ~ and the ending are understood") {
    const fs::path home = fresh_folder("home");
    Driver d("mesh-8", {1600, 900}, 1, {}, home);
    d.press(kSave);
    CHECK(d.shell.dialog_text() == (home / "two-nodes-of-four.plan.json").string());
    enter_path(d, "~/mine");
    CHECK(fs::exists(home / "mine.plan.json"));
    CHECK(d.shell.document().path() == home / "mine.plan.json");
    fs::remove_all(home);
}

TEST_CASE("a file is among the recent ones at once, once, however it was named") {
    const fs::path folder = fresh_folder("recent");
    Driver d("mesh-8");
    for (const char* name : {"a.plan.json", "b.plan.json"})
        write_file(folder / name, write_plan(d.presets.plan("mesh-8")));
    d.shell.open_file(folder / "a.plan.json");
    d.shell.open_file(folder / "b.plan.json");
    d.shell.open_file(fs::relative(folder) / "a.plan.json");
    d.shell.open_file(folder / "." / "a.plan.json");
    d.settle();
    const auto& recent = std::as_const(d.shell).settings().recent;
    REQUIRE(recent.size() == 2);
    CHECK(recent[0] == fs::canonical(folder / "a.plan.json").string());
    CHECK(command(d, "recent.0").text() == "a.plan.json");
    CHECK(command(d, "recent.1").text() == "b.plan.json");
    CHECK(command(d, "recent.2").text().empty());
    d.shell.run(command(d, "recent.1"));
    d.settle();
    CHECK(d.shell.document().path().filename() == "b.plan.json");
    fs::remove_all(folder);
}

TEST_CASE("an edit made in the frame in which another plan is opened is the old plan's") {
    Driver d("mesh-8");
    const auto minus = d.shell.ui_state().rect_of("layout.tp.minus");
    REQUIRE(minus);
    d.move(minus->center());
    d.input.down[0] = true;
    d.frame();
    d.input.down[0] = false;
    d.shell.run(command(d, "file.new"));
    d.frame();
    d.settle();
    CHECK(d.plan() == d.presets.plan("single-gpu"));
    d.press(kUndo);
    CHECK(d.plan().layout.tp == d.presets.plan("mesh-8").layout.tp / 2);
    d.press(kUndo);
    CHECK(d.plan() == d.presets.plan("mesh-8"));
}

TEST_CASE("a plan that was dropped is drawn with its own evaluation in the next frame") {
    Driver d("single-gpu");
    d.shell.open_plan(d.presets.plan("llama-3.1-405b-16k"));
    d.frame();
    CHECK(d.shell.evaluation().mesh.world == 16384);
}

TEST_CASE(
    "live edits in a lesson come back with Ctrl+Z after Next and Back, and the own plan after leaving") {
    Driver d("mesh-8");
    d.click("mod.zero", 2);
    const Plan own = d.plan();
    d.shell.open_lesson(kSource + "/assets/lessons/03-tensor-parallel.md");
    d.settle();
    const Plan scene = d.plan();
    d.click("layout.tp.minus");
    const Plan edited = d.plan();
    REQUIRE_FALSE(edited == scene);
    d.press({Key::page_down});
    d.press({Key::page_up});
    REQUIRE(d.plan() == scene);
    for (int i = 0; i < 4 && !(d.plan() == edited); ++i) d.press(kUndo);
    CHECK(d.plan() == edited);
    d.click("lesson.leave");
    CHECK(d.plan() == own);
    CHECK(d.shell.document().modified());
    d.press({.key = Key::z, .ctrl = true, .shift = true});
    CHECK(d.plan() == edited);  // the plan of the lesson is not lost either
    d.press(kUndo);
    CHECK(d.plan() == own);
    d.press(kUndo);
    CHECK(d.plan() == d.presets.plan("mesh-8"));
}

TEST_CASE("the history keeps some MiB of plans, not a thousand of any size") {
    Document document{Plan{}};
    Plan plan;
    plan.notes.assign(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 200; ++i) {
        plan.name = std::to_string(i);
        document.edit(plan, "edit");
    }
    CHECK(document.history_bytes() <= std::size_t{64} << 20);
    int steps = 0;
    while (document.undo()) ++steps;
    CHECK(steps > 50);
    CHECK(steps < 64);
    Document small{Plan{}};
    for (int i = 0; i < 1500; ++i) {
        Plan p;
        p.name = std::to_string(i);
        small.edit(p, "edit");
    }
    for (steps = 0; small.undo();) ++steps;
    CHECK(steps == 1000);
}

TEST_CASE("a preset whose file breaks or goes away is said, and the window and its plan stay") {
    const fs::path folder = fresh_folder("presets");
    fs::copy(kSource + "/presets", folder / "presets", fs::copy_options::recursive);
    fs::copy(kSource + "/assets", folder / "assets", fs::copy_options::recursive);
    write_file(folder / "presets" / "plans" / "broken.plan.json", "{ no plan");
    write_file(folder / "presets" / "models" / "broken.json", "[");
    const Presets presets(folder / "presets");
    Offscreen surface({1280, 720}, 1, find_fonts(kSource + "/assets"));
    Shell shell(presets, presets.plan("mesh-8"), {});
    SyntheticInput input;
    double time_s = 0;
    const auto frames = [&](int n) {
        for (int i = 0; i < n; ++i)
            surface.frame(input, time_s += 1.0 / 60, [&](const FrameInfo& info) { shell.frame(info); });
    };
    frames(3);
    const Plan before = shell.document().plan();
    const auto run = [&](std::string_view id) {
        for (const Command& c : shell.commands())
            if (c.id == id) {
                shell.run(c);
                frames(3);
                return c.title;
            }
        return std::string();
    };
    CHECK(run("preset.broken").find("(broken)") != std::string::npos);
    CHECK(shell.message().find("broken.plan.json") != std::string::npos);
    CHECK(shell.document().plan() == before);
    fs::remove(folder / "presets" / "plans" / "zoom-1024.plan.json");
    CHECK(run("preset.zoom-1024").find("16 replicas × 8 stages × 8 tensor ranks") != std::string::npos);
    CHECK(shell.message().find("zoom-1024.plan.json") != std::string::npos);
    CHECK(shell.document().plan() == before);
    // The command is chosen from a menu, in the middle of a frame.
    const auto click = [&](std::string_view name, std::uint64_t index = 0) {
        const auto r = shell.ui_state().rect_of(name, index);
        REQUIRE(r);
        input.mouse = r->center();
        frames(2);
        input.down[0] = true;
        frames(1);
        input.down[0] = false;
        frames(3);
        time_s += 1;
    };
    click("plan.model");
    input.text = "broken";
    frames(1);
    input.text.clear();
    frames(2);
    input.keys_down = {Key::enter};
    frames(1);
    input.keys_down.clear();
    frames(3);
    CHECK(shell.message().find("broken.json") != std::string::npos);
    CHECK(shell.document().plan() == before);
    CHECK(shell.ui_state().top_layer == 0);
    click("layout.tp.minus");
    CHECK_FALSE(shell.document().plan() == before);
    fs::remove_all(folder);
}

TEST_CASE("what a failure left open in the toolkit is ended: layers, parts and clips") {
    Offscreen surface({400, 300}, 1, find_fonts(kSource + "/assets"));
    UiState state;
    for (int i = 0; i < 4; ++i)
        surface.frame({}, i / 60.0, [&](const FrameInfo& info) {
            Ui ui(state, info, theme_of(ThemeId::dark), frame_canvas(info));
            const Ui::Mark begun = ui.mark();
            try {
                ui.canvas().push_clip({0, 0, 10, 10});
                if (const auto part = ui.part("part", 0, {0, 0, 200, 200}, 1, rgb(0))) {
                    ui.canvas().push_clip({0, 0, 10, 10});
                    const auto layer = ui.open_layer("layer", {10, 10, 100, 100});
                    ui.canvas().push_clip({20, 20, 10, 10});
                }
                throw Error(ErrorKind::io, "", "", "a file went away");
            } catch (const Error&) {
                ui.unwind(begun);
            }
            const Ui::Mark after = ui.mark();
            CHECK(ui.layer() == 0);
            CHECK(after.clips == begun.clips);
            ui.canvas().push_clip({0, 0, 10, 10});  // the end of the frame ends this one
        });
}
