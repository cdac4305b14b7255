// Tests questions for files: a path that is typed in the window, a desktop's dialog in its place, recent
// files.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

#include <chrono>
#include <unistd.h>

using namespace pentamesh;
using namespace pentamesh::ui;
namespace fs = std::filesystem;

namespace {

// Returns the plan of a file, without how it opens.
std::string saved_plan(const std::filesystem::path& path, Driver& d) {
    Plan plan = parse_plan(read_file(path), path.string(), d.presets);
    plan.scene = {};
    return write_plan(plan);
}

constexpr Chord kOpen{.key = Key::o, .ctrl = true}, kSaveAs{.key = Key::s, .ctrl = true, .shift = true};

void put_plan(Driver& d, const test::Folder& folder, const std::string& name,
              const char* preset = "zoom-1024") {
    folder.put(name, write_plan(d.presets.plan(preset)));
}

std::vector<std::string> names_of(const FolderList& list) {
    std::vector<std::string> out;
    for (const FolderName& n : list.names) out.push_back(n.name);
    return out;
}

// Returns the row of a file among the names of its folder.
std::uint64_t row_of(const fs::path& folder, const std::vector<std::string>& endings,
                     const std::string& name) {
    const std::vector<std::string> names = names_of(list_folder(folder, endings));
    const auto at = std::find(names.begin(), names.end(), name);
    REQUIRE(at != names.end());
    return static_cast<std::uint64_t>(at - names.begin());
}

// Clicks twice, and waits long enough that the next click begins anew.
void open_entry(Driver& d, std::string_view name, std::uint64_t index) {
    double_click(d, name, index);
    d.time_s += 1;
}

// Makes a home with a folder, plans in both, and files that do not serve.
struct House {
    test::Folder home;
    fs::path jobs = home.path / "jobs";
    explicit House(Driver& d) {
        put_plan(d, home, "jobs/alpha.plan.json");
        put_plan(d, home, "jobs/alpine.plan.json", "mesh-8");
        home.put("jobs/notes.odt", "no plan");
        home.put("jobs/.hidden.json", "{}");
        home.put("Empty/x.odt", "");
        home.put("b.json", "{}");
    }
};

// A test answers this desktop's dialog.
struct Played : FileDialog {
    std::optional<FileAnswer>& answer;
    int& open;
    Played(std::optional<FileAnswer>& a, int& o) : answer(a), open(o) { ++open; }
    ~Played() override { --open; }
    std::optional<FileAnswer> poll() override { return answer; }
};

}  // namespace

TEST_CASE("a folder is listed folders first, with what serves and without what is hidden") {
    const test::Folder folder;
    for (const char* name : {"b.json", "A.json", "c.txt", ".d.json", "Sub/x", "alpha/x"})
        folder.put(name, "12345");
    using Names = std::vector<std::string>;
    CHECK(names_of(list_folder(folder.path, {".json"})) == Names{"..", "alpha", "Sub", "A.json", "b.json"});
    CHECK(names_of(list_folder(folder.path, {}, true))
          == Names{"..", "alpha", "Sub", ".d.json", "A.json", "b.json", "c.txt"});
    CHECK(names_of(list_folder("/", {})).front() != "..");
    CHECK(list_folder(folder.path / "nowhere", {}).error.find("nowhere") != std::string::npos);
    if (geteuid() != 0) {
        fs::permissions(folder.path / "Sub", fs::perms::none);
        CHECK(list_folder(folder.path / "Sub", {}).error.find("ermission") != std::string::npos);
        fs::permissions(folder.path / "Sub", fs::perms::owner_all);
    }
}

TEST_CASE("Tab completes a typed path as far as the names agree") {
    const test::Folder folder;
    for (const char* name : {"alpha.json", "alpine.json", "Beta/x", "größe1.json", "größ\u00e92.json"})
        folder.put(name, "");
    const FolderList list = list_folder(folder.path, {});
    CHECK(completed("/a/al", list) == "/a/alp");
    CHECK(completed("/a/alph", list) == "/a/alpha.json");
    CHECK(completed("be", list) == "Beta/");
    CHECK(completed("/a/gr", list) == "/a/größ");
    CHECK(completed("/a/zz", list) == "/a/zz");
    CHECK(completed("/a/alp", list) == "/a/alp");
    CHECK(completed("/a/", list) == "/a/");
    CHECK(completed("/a/..", list) == "/a/../");
    CHECK(first_match(list, "ALP") >= 0);
    CHECK(first_match(list, "") == -1);
    const fs::path home = "/home/her";
    CHECK(typed_in("~/x.json", "/a", home) == home / "x.json");
    CHECK(typed_in("x.json", "/a", home) == "/a/x.json");
    CHECK(typed_in("../x.json", "/a/b", home) == "/a/x.json");
    CHECK(typed_in("~x", "/a", home) == "/a/~x");
    CHECK(folder_of_typed("~", "/a", home) == home);
    CHECK(folder_of_typed("/b/", "/a", home) == "/b");
    CHECK(folder_of_typed("/b/c", "/a", home) == "/b");
    CHECK(lies_in("/a/b/c", "/a/b"));
    CHECK(lies_in("/a/b", ""));
    CHECK_FALSE(lies_in("/a/b/../c", "/a/b"));
    CHECK_FALSE(lies_in("/a/bc", "/a/b"));
}

TEST_CASE("a file is found by mouse, into a folder and out; hidden names come with a dot") {
    Driver d("mesh-8");
    const House house(d);
    d.shell.open_file(house.jobs / "alpha.plan.json");
    d.settle();
    d.press(kOpen);
    REQUIRE(d.drawn("dialog.path"));
    const std::vector<std::string> serves = incoming_endings();
    CHECK(says(d, "alpine.plan.json"));
    CHECK_FALSE(says(d, "notes.odt"));
    CHECK_FALSE(says(d, ".hidden.json"));
    d.type(".");
    CHECK(says(d, ".hidden.json"));
    d.press({Key::backspace});
    CHECK_FALSE(says(d, ".hidden.json"));
    open_entry(d, "dialog.file", row_of(house.jobs, serves, ".."));
    CHECK(says(d, "Empty/"));
    CHECK(d.shell.dialog_text() == house.home.path.string() + "/");
    open_entry(d, "dialog.file", row_of(house.home.path, serves, "jobs"));
    CHECK(d.shell.dialog_text() == house.jobs.string() + "/");
    CHECK(d.shell.dialog() == DialogKind::open);
    REQUIRE(d.click("dialog.file", row_of(house.jobs, serves, "alpine.plan.json")));
    CHECK(d.shell.dialog_text() == (house.jobs / "alpine.plan.json").string());
    CHECK(d.shell.dialog() == DialogKind::open);
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan() == d.presets.plan("mesh-8"));
    d.press(kOpen);
    open_entry(d, "dialog.file", row_of(house.jobs, serves, "alpha.plan.json"));
    CHECK(d.plan() == d.presets.plan("zoom-1024"));
    // A file that does not serve is not listed, but its path is taken, and refused with the reason.
    d.press(kOpen);
    d.type("notes.odt");
    d.press({Key::enter});
    CHECK(d.shell.dialog_error().find("notes.odt") != std::string::npos);
}

TEST_CASE("a file is found by keyboard: typed in part, completed, chosen by arrows, from home") {
    Driver other("mesh-8");
    const House house(other);
    Driver d("mesh-8", {1600, 900}, 1, {}, house.home.path);
    d.press(kOpen);
    d.type("~/jo");
    d.press({Key::tab});
    CHECK(d.shell.dialog_text() == "~/jobs/");
    d.type("al");
    d.press({Key::tab});
    CHECK(d.shell.dialog_text() == "~/jobs/alp");
    d.type("h");
    d.press({Key::tab});
    CHECK(d.shell.dialog_text() == "~/jobs/alpha.plan.json");
    d.press({Key::enter});
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan() == d.presets.plan("zoom-1024"));
    d.press(kOpen);
    d.press({Key::down});  // ..
    d.press({Key::enter});
    CHECK(d.shell.dialog_text() == house.home.path.string() + "/");
    d.press({Key::down});  // ..
    d.press({Key::down});  // Empty
    d.press({Key::down});  // jobs
    d.press({Key::enter});
    CHECK(d.shell.dialog_text() == house.jobs.string() + "/");
    d.press({Key::up});  // from the end: alpine, alpha
    d.press({Key::up});
    d.press({Key::down});
    d.press({Key::enter});
    CHECK(d.plan() == d.presets.plan("mesh-8"));
    CHECK(d.shell.document().path() == house.jobs / "alpine.plan.json");
    // A bare name lies in the folder that is shown; a folder's name goes into it.
    d.press(kOpen);
    d.type("../Empty");
    d.press({Key::enter});
    CHECK(d.shell.dialog() == DialogKind::open);
    CHECK(says(d, "nothing that serves is here"));
}

TEST_CASE(
    "saving into another folder keeps the name, adds the ending and asks before it writes over a file") {
    Driver other("mesh-8");
    const House house(other);
    Driver d("mesh-8", {1600, 900}, 1, {}, house.home.path);
    d.press(kSaveAs);
    CHECK(d.shell.dialog_text() == (house.home.path / "two-nodes-of-four.plan.json").string());
    open_entry(d, "dialog.file", row_of(house.home.path, {".json"}, "jobs"));
    CHECK(d.shell.dialog_text() == (house.jobs / "two-nodes-of-four.plan.json").string());
    open_entry(d, "dialog.file", row_of(house.jobs, {".json"}, ".."));
    CHECK(d.shell.dialog_text() == (house.home.path / "two-nodes-of-four.plan.json").string());
    d.press({.key = Key::a, .ctrl = true});
    d.type("jobs/alpha");
    d.press({Key::enter});
    CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
    CHECK(says(d, "Replace"));
    CHECK(read_file(house.jobs / "alpha.plan.json") == write_plan(d.presets.plan("zoom-1024")));
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(saved_plan(house.jobs / "alpha.plan.json", d) == write_plan(d.presets.plan("mesh-8")));
    // Another name after the question makes it ask again.
    d.press(kSaveAs);
    d.press({.key = Key::a, .ctrl = true});
    d.type((house.jobs / "alpine.plan.json").string());
    d.press({Key::enter});
    CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
    d.type("x");
    CHECK(d.shell.dialog_error().empty());
    CHECK_FALSE(says(d, "Replace"));
    REQUIRE(d.click("dialog.cancel"));
}

TEST_CASE("a long folder scrolls by its thumb and by arrows, and what cannot be read says why") {
    const test::Folder home;
    for (int i = 0; i < 80; ++i) home.put("plan" + std::to_string(100 + i) + ".json", "{}");
    for (int i = 0; i < 80; ++i) fs::create_directories(home.path / ("sub" + std::to_string(i)));
    Driver d("mesh-8", {1280, 720}, 1, {}, home.path);
    d.press(kOpen);
    REQUIRE(d.drawn("dialog.files.thumb"));
    CHECK_FALSE(d.drawn("dialog.file", 160));
    const auto thumb = d.shell.ui_state().rect_of("dialog.files.thumb");
    d.drag({thumb->center().x, thumb->y + 4}, {thumb->center().x, thumb->bottom()});
    CHECK(d.drawn("dialog.file", 160));
    d.press(kOpen);
    d.press({Key::escape});
    d.press(kOpen);
    d.press({Key::up});
    CHECK(d.drawn("dialog.file", 160));
    d.press({Key::escape});
    CHECK(d.shell.dialog() == DialogKind::none);
    if (geteuid() == 0) return;
    fs::permissions(home.path / "sub0", fs::perms::none);
    d.press(kOpen);
    d.type((home.path / "sub0/").string());
    CHECK(says(d, "ermission"));
    fs::permissions(home.path / "sub0", fs::perms::owner_all);
}

TEST_CASE("many recent files scroll beside the names; one that is gone says so") {
    const test::Folder home, config;
    Driver d("mesh-8", {1280, 360}, 1, config.path, home.path);
    for (int i = 0; i < 9; ++i) {
        const std::string name = "p" + std::to_string(i) + ".plan.json";
        put_plan(d, home, name, "mesh-8");
        d.shell.open_file(home.path / name);
    }
    fs::remove(home.path / "p7.plan.json");
    d.settle();
    d.press(kOpen);
    CHECK(says(d, "p7.plan.json (gone)"));
    REQUIRE(d.click("dialog.place", 1));
    CHECK(d.shell.dialog_error().find("p7.plan.json") != std::string::npos);
    const auto thumb = d.shell.ui_state().rect_of("dialog.places.thumb");
    REQUIRE(thumb);
    d.drag(thumb->center(), thumb->center() + Vec2{0, 60});
    d.press({Key::escape});
    d.press(kOpen);
    REQUIRE(d.click("dialog.place", 2));
    CHECK(d.shell.document().path().filename() == "p6.plan.json");
    // A dialog that saves goes to a recent file's folder.
    put_plan(d, home, "sub/p9.plan.json", "mesh-8");
    d.shell.open_file(home.path / "sub/p9.plan.json");
    d.shell.open_file(home.path / "p5.plan.json");
    d.settle();
    d.press(kSaveAs);
    REQUIRE(d.click("dialog.place", 1));
    CHECK(d.shell.dialog_text() == (home.path / "sub" / "p5.plan.json").string());
}

TEST_CASE("recent files are told apart in the menu, a missing one is dropped from there, all missing ones by "
          "a command") {
    const test::Folder folder, config;
    Driver d("mesh-8", {1280, 720}, 1, config.path);
    for (const char* name : {"x/a.plan.json", "y/a.plan.json", "c.plan.json", "d.plan.json", "e.plan.json"}) {
        put_plan(d, folder, name, "mesh-8");
        d.shell.open_file(folder.path / name);
    }
    d.settle();
    const auto label = [&](int i) {
        for (const Command& c : d.shell.commands())
            if (c.id == "recent." + std::to_string(i)) return c.text();
        return std::string();
    };
    CHECK(label(0) == "e.plan.json");
    CHECK(label(3) == "a.plan.json, in y");
    CHECK(label(4) == "a.plan.json, in x");
    for (const char* name : {"e.plan.json", "d.plan.json", "c.plan.json"}) fs::remove(folder.path / name);
    CHECK(label(0) == "e.plan.json (gone)");
    for (const bool drops : {false, true}) {
        run_command(d, "e.plan.json (gone)");
        REQUIRE(d.shell.dialog() == DialogKind::missing);
        CHECK(d.shell.dialog_text().find("moved or deleted") != std::string::npos);
        REQUIRE(d.click(drops ? "dialog.drop" : "dialog.cancel"));
        CHECK(d.shell.dialog() == DialogKind::none);
        CHECK(std::as_const(d.shell).settings().recent.size() == (drops ? 4 : 5));
    }
    run_command(d, "Drop the files that are gone");
    CHECK(std::as_const(d.shell).settings().recent.size() == 2);
    CHECK(d.shell.message().find("2 files") != std::string::npos);
    // A file that was dropped from the list stays so.
    d.settle();
    Driver next("mesh-8", {1280, 720}, 1, config.path);
    CHECK(std::as_const(next.shell).settings().recent.size() == 2);
    run_command(next, "Welcome");
    REQUIRE(next.click("welcome.recent", 1));
    CHECK(next.shell.document().path() == folder.path / "x/a.plan.json");
}

TEST_CASE("a desktop's dialog is asked first while the window draws on; what it gives is opened or saved") {
    const test::Folder folder;
    Driver d("mesh-8");
    std::optional<FileAnswer> answer;
    int open = 0;
    FileQuestion asked;
    d.file_dialog = [&](const FileQuestion& q) {
        asked = q;
        return std::make_unique<Played>(answer, open);
    };
    put_plan(d, folder, "a.plan.json");
    d.press(kOpen);
    CHECK(open == 1);
    CHECK_FALSE(asked.saves);
    CHECK(asked.endings == incoming_endings());
    CHECK_FALSE(d.drawn("dialog.path"));
    CHECK(d.drawn("dialog.here"));
    CHECK(d.shell.idle_s() <= 0.1 + 1e-6);
    d.settle();
    answer = FileAnswer{FileAnswer::Kind::picked, folder.path / "a.plan.json", {}};
    d.settle();
    CHECK(open == 0);
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan() == d.presets.plan("zoom-1024"));

    answer.reset();
    d.press(kSaveAs);
    CHECK(asked.saves);
    CHECK(asked.start == folder.path / "a.plan.json");
    answer = FileAnswer{FileAnswer::Kind::picked, folder.path / "b", {}};
    d.settle();
    CHECK(fs::exists(folder.path / "b.plan.json"));
    // The dialog asked about "a"; it did not know "a.plan.json", which is meant.
    d.click("mod.zero", 2);
    answer = FileAnswer{FileAnswer::Kind::picked, folder.path / "a", {}};
    d.press(kSaveAs);
    d.settle();
    CHECK(d.drawn("dialog.path"));
    CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
    CHECK(d.shell.document().modified());
    d.press({Key::escape});
    // A file about which the dialog itself asked is written.
    answer = FileAnswer{FileAnswer::Kind::picked, folder.path / "a.plan.json", {}};
    d.press(kSaveAs);
    d.settle();
    CHECK(saved_plan(folder.path / "a.plan.json", d) == write_plan(d.plan()));
}

TEST_CASE("a desktop's dialog is cancelled from either side, left for the window's own, and replaced where "
          "it fails") {
    Driver d("mesh-8");
    std::optional<FileAnswer> answer;
    int open = 0;
    d.file_dialog = [&](const FileQuestion&) { return std::make_unique<Played>(answer, open); };
    const Plan before = d.plan();
    d.press(kOpen);
    REQUIRE(d.click("dialog.cancel"));
    CHECK(open == 0);
    CHECK(d.shell.dialog() == DialogKind::none);
    d.press(kOpen);
    REQUIRE(d.click("dialog.here"));
    CHECK(open == 0);
    CHECK(d.drawn("dialog.path"));
    d.press({Key::escape});
    answer = FileAnswer{};
    d.press(kOpen);
    d.settle();
    CHECK(d.shell.dialog() == DialogKind::none);
    answer = FileAnswer{FileAnswer::Kind::failed, {}, "no display"};
    d.press(kOpen);
    d.settle();
    CHECK(d.drawn("dialog.path"));
    CHECK(says(d, "no display"));
    d.press({Key::escape});
    answer = FileAnswer{FileAnswer::Kind::picked, "/no/such/plan.json", {}};
    d.press(kOpen);
    d.settle();
    CHECK(d.drawn("dialog.path"));
    CHECK(d.shell.dialog_error().find("/no/such/plan.json") != std::string::npos);
    CHECK(d.plan() == before);
    CHECK(open == 0);
}

TEST_CASE("a recent file is gone when it is not there, whatever it is called") {
    const test::Folder folder, config;
    Driver d("mesh-8", {1280, 720}, 1, config.path);
    const fs::path file = folder.path / "plan (gone)";
    put_plan(d, folder, "plan (gone)", "mesh-8");
    d.shell.open_file(file);
    d.settle();
    const auto offers_to_drop = [&] {
        for (const Command& c : d.shell.commands())
            if (c.id == "recent.drop") return !c.text().empty();
        return false;
    };
    CHECK_FALSE(offers_to_drop());
    fs::remove(file);
    CHECK(offers_to_drop());
}

TEST_CASE("the age of a file is said in its largest unit") {
    using std::chrono::hours;
    using std::chrono::minutes;
    using std::chrono::seconds;
    const auto now = fs::file_time_type::clock::now();
    for (const seconds ago : {seconds(0), seconds(30), seconds(-3600)})
        CHECK(age_text(now - ago) == "less than a minute ago");
    // Some seconds may pass before they are asked.
    CHECK(age_text(now - seconds(65)) == "1 minute ago");
    CHECK(age_text(now - minutes(90)) == "90 minutes ago");
    CHECK(age_text(now - hours(3)) == "3 hours ago");
    CHECK(age_text(now - hours(50)) == "2 days ago");
}
