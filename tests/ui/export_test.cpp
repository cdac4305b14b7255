// Tests all that leaves the window: a picture as requested, its preview and its copy; the review of two
// plans; the table; and the message about a written file.
#include "app/platform/desktop.h"
#include "app/ui/shell/picture.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <filesystem>

namespace pentamesh::ui {

namespace {

namespace fs = std::filesystem;

void stand_in(const test::Folder& folder, const std::string& name, const std::string& text) {
    folder.put(name, "#!/bin/sh\n" + text);
    fs::permissions(folder.path / name, fs::perms::owner_all);
}

const PictureOrder* last_order(const Driver& d, PictureOrder::Use use) {
    const auto at =
        std::find_if(d.orders.rbegin(), d.orders.rend(), [&](const PictureOrder& o) { return o.use == use; });
    return at == d.orders.rend() ? nullptr : &*at;
}

void wait_for_preview(Driver& d) {
    for (int i = 0; i < 20; ++i) d.frame();
}

}  // namespace

TEST_CASE("a picture's size is written as two sides, the height may be left open") {
    CHECK(picture_size_named("1600x900") == Vec2{1600, 900});
    CHECK(picture_size_named("1600xauto") == Vec2{1600, 0});
    for (const char* wrong : {"", "1600", "1600x", "x900", "199x900", "1600x149", "20001x900", "1600x900px",
                              "1600X900", "-5x900", "99999999999x900"}) {
        CAPTURE(wrong);
        CHECK_FALSE(picture_size_named(wrong));
    }
    CHECK(picture_size_words({1600, 0}) == "1600xauto");
}

TEST_CASE("the picture dialog's choices are what is ordered, and the preview follows them") {
    const test::Folder folder;
    Driver d("llama-3-70b-3d", {1600, 900}, 1, {}, folder.path);
    d.press({Key::n4});  // memory, in the whole window
    d.press({.key = Key::e, .ctrl = true});
    REQUIRE(d.shell.dialog() == DialogKind::picture);
    wait_for_preview(d);
    const PictureOrder* preview = last_order(d, PictureOrder::Use::preview);
    REQUIRE(preview != nullptr);
    CHECK(preview->view == "memory");
    const std::size_t drawn = d.orders.size();
    wait_for_preview(d);
    CHECK(d.orders.size() == drawn);  // nothing changed: it is not drawn again
    REQUIRE(d.click("picture.size", 1));
    REQUIRE(d.click("picture.theme", 2));
    REQUIRE(d.click("picture.title", 1));
    REQUIRE(d.click("picture.caption", 1));
    REQUIRE(d.click("picture.scale", 2));
    REQUIRE(d.click("picture.type", 2));
    REQUIRE(d.click("picture.file", 2));
    wait_for_preview(d);
    CHECK(d.orders.size() > drawn);
    PictureChoice wanted;
    wanted.size = {1600, 1200};
    wanted.scale = 3;
    wanted.text = 1.5f;
    wanted.theme = ThemeId::light;
    wanted.title = wanted.caption = false;
    wanted.file = PictureFile::pdf;
    CHECK(last_order(d, PictureOrder::Use::preview)->choice == wanted);
    d.shell.show_preview({2, 2, std::vector<std::uint8_t>(16, 255)});
    d.settle();
    CHECK_FALSE(says(d, "Drawing the preview"));
    REQUIRE(d.click("picture.to_file"));
    REQUIRE(d.shell.dialog() == DialogKind::picture_file);
    CHECK(d.shell.dialog_text() == folder.file("memory.pdf"));
    REQUIRE(d.click("dialog.ok"));
    REQUIRE(d.pictures.size() == 1);
    CHECK(d.pictures[0] == folder.file("memory.pdf"));
    CHECK(last_order(d, PictureOrder::Use::file)->choice == wanted);
}

TEST_CASE("a picture's own size is checked as it is typed") {
    Driver d("mesh-8");
    d.press({.key = Key::e, .ctrl = true});
    REQUIRE(d.click("picture.size", 3));
    REQUIRE(d.click("picture.own"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("12x900");
    CHECK(says(d, "200x150 to 20000x20000"));
    REQUIRE(d.click("picture.to_file"));
    CHECK(d.shell.dialog() == DialogKind::picture);  // no such picture is ordered
    REQUIRE(d.click("picture.own"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("1000xauto");
    REQUIRE(d.click("picture.copy"));
    REQUIRE(last_order(d, PictureOrder::Use::clipboard) != nullptr);
    CHECK(last_order(d, PictureOrder::Use::clipboard)->choice.size == Vec2{1000, 0});
    d.press({Key::escape});
    CHECK(d.shell.dialog() == DialogKind::none);
    const std::size_t before = d.orders.size();
    run_command(d, "copy the picture of this view");
    REQUIRE(d.orders.size() == before + 1);
    CHECK(d.orders.back().use == PictureOrder::Use::clipboard);
}

TEST_CASE("a picture without title and caption has neither, and one with both has both") {
    const Presets presets(fs::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mesh-8");
    for (const bool with : {true, false}) {
        PictureRequest r;
        r.view = "memory";
        r.title = r.caption = with;
        std::vector<TextRun> runs;
        r.text_runs = &runs;
        (void)make_picture(presets, plan, r, "png", find_fonts(fs::path(SOURCE_DIR) / "assets"));
        const auto has = [&](const std::string& words) {
            return std::any_of(runs.begin(), runs.end(),
                               [&](const TextRun& t) { return t.text.find(words) != std::string::npos; });
        };
        CHECK(has("Two nodes") == with);
        CHECK(has("tp 2, dp_shard 2") == with);
    }
}

TEST_CASE("what was written is said with its whole path, which can be opened and copied") {
    const test::Folder folder;
    Driver d("mesh-8", {1600, 900}, 1, {}, folder.path);
    const std::string file = folder.file("a.png");
    d.shell.wrote(file);
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::written);
    CHECK(says(d, "a.png"));
    REQUIRE(d.click("written.copy"));
    CHECK(d.clipboard == file);
    CHECK(d.shell.dialog() == DialogKind::none);
    d.shell.wrote(file);
    d.settle();
    REQUIRE(d.click("written.open"));
    REQUIRE(d.opened_outside.size() == 1);
    CHECK(d.opened_outside[0] == file);
    d.shell.wrote(file);
    d.settle();
    d.press({Key::enter});
    CHECK(d.shell.dialog() == DialogKind::none);
}

TEST_CASE("Export > This table writes the view's table in the form of the file's ending") {
    const test::Folder folder;
    Driver d("llama-3-70b-3d", {1600, 900}, 1, {}, folder.path);
    d.press({Key::n4});
    const auto write_as = [&](const std::string& name) {
        run_command(d, "this table");
        d.settle();
        REQUIRE(d.shell.dialog() == DialogKind::table);
        d.press({.key = Key::a, .ctrl = true});
        d.type(folder.file(name));
        d.press({Key::enter});
        d.settle();
        CHECK(d.shell.dialog() == DialogKind::written);
        d.press({Key::escape});
    };
    write_as("t");
    const std::string csv = read_file(folder.file("t.csv"));
    run_command(d, "copy data as csv");
    CHECK(csv == d.clipboard);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);  // a head and four stages
    using Named = std::pair<std::string, std::string>;
    for (const Named& form : {Named{"t.md", "|"}, Named{"t.json", "["}, Named{"t.html", "<!doctype html>"},
                              Named{"t.txt", "stage"}}) {
        CAPTURE(form.first);
        write_as(form.first);
        const std::string text = read_file(folder.file(form.first));
        CHECK(text.substr(text.find_first_not_of(' ')).starts_with(form.second));
    }
}

TEST_CASE("a review from the window has the pinned plan as A, or that of a file, and shows its pages first") {
    const test::Folder folder;
    Driver d("llama-3-70b-3d", {1600, 900}, 1, {}, folder.path);
    const Plan a = d.plan();
    d.press({.key = Key::d, .ctrl = true});
    REQUIRE(d.click("layout.tp.minus"));
    REQUIRE_FALSE(d.plan() == a);
    run_command(d, "export review");
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review);
    d.until([&] { return d.drawn("review.on"); });
    CHECK(says(d, "page 1 of "));
    REQUIRE(d.click("review.on"));
    CHECK(says(d, "page 2 of "));
    REQUIRE(d.click("review.back"));
    CHECK(says(d, "page 1 of "));
    REQUIRE(d.click("review.pages"));
    d.type("7");
    d.settle();
    CHECK(says(d, "time of a step, from A to B"));
    REQUIRE(d.click("review.on"));
    CHECK(says(d, "A: " + title_of(a)));
    REQUIRE(d.click("review.file"));
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review_file);
    REQUIRE(d.click("dialog.ok"));
    d.settle();
    REQUIRE(d.reviewed.size() == 2);
    CHECK(d.reviewed[0] == d.plan());
    CHECK(d.reviewed[1] == a);
    CHECK(d.reviews.back().first.second_is_a);
    // The plan of a file takes its place.
    const Plan other = d.presets.plan("hsdp-64");
    folder.put("other.plan.json", write_plan(other));
    folder.put("none.json", "{}");
    run_command(d, "export review");
    d.settle();
    const auto choose = [&](const std::string& name) {
        REQUIRE(d.click("review.with", 2));
        d.settle();
        REQUIRE(d.shell.dialog() == DialogKind::review_second);
        d.press({.key = Key::a, .ctrl = true});
        d.type(folder.file(name));
        d.press({Key::enter});
        d.settle();
    };
    choose("none.json");
    CHECK(d.shell.dialog_error().find("none.json") != std::string::npos);
    d.press({.key = Key::a, .ctrl = true});
    d.type(folder.file("other.plan.json"));
    d.press({Key::enter});
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review);
    REQUIRE(d.click("review.file"));
    d.settle();
    REQUIRE(d.click("dialog.ok"));
    d.settle();
    REQUIRE(d.reviewed.size() == 2);
    CHECK(d.reviewed[1] == other);
    run_command(d, "export review");
    d.settle();
    REQUIRE(d.click("review.with", 0));
    REQUIRE(d.click("review.pages"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("1");
    REQUIRE(d.click("review.file"));
    d.settle();
    REQUIRE(d.click("dialog.ok"));
    d.settle();
    CHECK(d.reviewed.size() == 1);
}

TEST_CASE("a picture is copied by wl-copy or xclip, which is told that it is a PNG; else it is said what is "
          "missing") {
    const test::Folder programs;
    const std::string taken = programs.file("taken");
    DesktopPrograms desktop{programs.path.string(), true, true};
    CHECK(put_on_clipboard("x", desktop).find("wl-clipboard") != std::string::npos);
    desktop.wayland = false;
    CHECK(put_on_clipboard("x", desktop).find("xclip") != std::string::npos);
    desktop.x11 = false;
    CHECK(put_on_clipboard("x", desktop).find("file instead") != std::string::npos);
    desktop.x11 = desktop.wayland = true;
    stand_in(programs, "xclip", "echo \"$@\" > " + taken + "; exec /bin/cat >> " + taken);
    CHECK(clipboard_command(desktop).front() == programs.file("xclip"));
    const std::string png = std::string("\x89PNG\r\n", 6) + std::string(300000, 'p');
    CHECK(put_on_clipboard(png, desktop).empty());
    CHECK(read_file(taken) == "-selection clipboard -t image/png -i\n" + png);
    stand_in(programs, "wl-copy", "exit 3");
    CHECK(clipboard_command(desktop).front() == programs.file("wl-copy"));
    CHECK(put_on_clipboard("x", desktop).find("status 3") != std::string::npos);
    CHECK(open_outside("/tmp/x.png", desktop).find("xdg-open") != std::string::npos);
    stand_in(programs, "xdg-open", "echo \"$1\" > " + taken);
    CHECK(open_outside("/tmp/a b.png", desktop).empty());
    CHECK(read_file(taken) == "/tmp/a b.png\n");
}

}  // namespace pentamesh::ui
