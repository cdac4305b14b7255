// Tests lessons of one's own: next to the shipped ones in another language, else in their place.
#include "app/ui/lesson/lesson_session.h"
#include "tests/folder.h"
#include "tests/ui/driver.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

std::string lesson_text(const std::string& title, const std::string& head = "") {
    return "---\ntitle: " + title + "\nminutes: 5\n" + head
           + "---\n\n## Eins\nopen: mesh-8\nview: mesh\n\nWorte.\n";
}

const LessonEntry* entry_of(const std::vector<LessonEntry>& all, std::string_view title) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const LessonEntry& e) { return e.title == title; });
    return at == all.end() ? nullptr : &*at;
}

const Command* command_called(const Shell& shell, std::string_view id) {
    for (const Command& c : shell.commands())
        if (c.id == id) return &c;
    return nullptr;
}

}  // namespace

TEST_CASE("a translation stands behind its lesson, any other own lesson in the place of the shipped one") {
    const test::Folder folder;
    folder.put("03-tensor-parallel.md", lesson_text("Tensorparallel", "language: de\n"));
    folder.put("04-pipeline.md", lesson_text("Fließband", "language: de\n"));
    folder.put("02-data-parallel.md", lesson_text("In my own words"));
    folder.put("50-ours.md", lesson_text("Our cluster"));
    folder.put("courses/40-minutes.md",
               "---\ncourse: yes\ntitle: Vierzig Minuten\nlanguage: de\n---\n\n## 03-tensor-parallel\n");
    folder.put("glossary.json", "{}");
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const LessonFolders folders = lesson_folders(presets, folder.path);
    const auto shipped = list_lessons(folders.shipped), all = list_lessons(folders);
    CHECK(all.size() == shipped.size() + 3);
    CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; }));
    const LessonEntry* german = entry_of(all, "Tensorparallel");
    REQUIRE(german != nullptr);
    CHECK(german->own);
    CHECK(german->language == "de");
    CHECK((german - 1)->id == german->id);
    CHECK_FALSE((german - 1)->own);
    REQUIRE(entry_of(all, "In my own words") != nullptr);
    CHECK(std::count_if(all.begin(), all.end(), [](const auto& e) { return e.id == "02-data-parallel"; })
          == 1);
    CHECK(entry_of(all, "Our cluster") != nullptr);
    const auto courses = list_courses(folders);
    CHECK(courses.size() == list_lessons(folders.shipped / "courses").size() + 1);
    REQUIRE(entry_of(courses, "Vierzig Minuten") != nullptr);
    CHECK(read_lesson(entry_of(courses, "Vierzig Minuten")->file, &presets).errors.empty());

    // The next lesson is in the same language, as long as there is one.
    const LessonEntry* next = lesson_after(all, courses, german->file);
    REQUIRE(next != nullptr);
    CHECK(next->title == "Fließband");
    next = lesson_after(all, courses, next->file);
    REQUIRE(next != nullptr);
    CHECK(next->id == "05-context");
    next = lesson_after(all, courses, (german - 1)->file);
    REQUIRE(next != nullptr);
    CHECK(next->id == "04-pipeline");
    CHECK_FALSE(next->own);
    for (const LessonEntry& e : shipped) {
        CAPTURE(e.id);
        const LessonEntry* before = lesson_after(shipped, {}, e.file);
        if (before != nullptr) CHECK(before->id > (e.id == "tour" ? "" : e.id));
    }
    // A course names the lesson that follows it.
    const auto shipped_courses = list_courses(LessonFolders{folders.shipped, {}});
    for (const LessonEntry& e : shipped_courses) {
        CAPTURE(e.id);
        const LessonEntry* after = lesson_after(shipped, shipped_courses, e.file);
        CHECK((after == nullptr ? "" : after->id) == e.then);
    }
}

TEST_CASE("without a folder of one's own there are the lessons that ship") {
    const test::Folder config;
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets", config.path);
    const LessonFolders folders = lesson_folders(presets);
    CHECK(folders.own == config.path / "lessons");
    CHECK(folders.own_glossary().empty());
    CHECK(list_lessons(folders).size() == list_lessons(folders.shipped).size());
    CHECK(lesson_folders(Presets(std::filesystem::path(SOURCE_DIR) / "presets")).own.empty());
}

TEST_CASE("the window offers translations beside the lessons, and explains terms in own texts") {
    const test::Folder config;
    config.put("lessons/03-tensor-parallel.md", lesson_text("Tensorparallel", "language: de\n"));
    config.put("lessons/glossary.json",
               R"({"entries": [{"id": "tp", "term": "Tensorparallelität", "text": "Schneidet Matrizen."}]})");
    Driver d("mesh-8", {1280, 720}, 1, config.path);
    const Command* german = command_called(d.shell, "lesson.03-tensor-parallel.de");
    REQUIRE(german != nullptr);
    CHECK(german->title == "Lesson Tensorparallel, 5 min (de)");
    CHECK(command_called(d.shell, "lesson.03-tensor-parallel") != nullptr);
    REQUIRE(d.shell.glossary().find("tp") != nullptr);
    CHECK(d.shell.glossary().find("tp")->text == "Schneidet Matrizen.");
    d.shell.run(*german);
    d.settle();
    CHECK(d.shell.lesson().open);
    CHECK(d.shell.lesson().lesson.title == "Tensorparallel");
}

TEST_CASE("an own glossary that is wrong is said, and the one that ships is used") {
    const test::Folder config;
    config.put("lessons/glossary.json",
               "{\"entries\": [{\"id\": \"tpp\", \"term\": \"x\", \"text\": \"X.\"}]}");
    const Driver d("mesh-8", {1280, 720}, 1, config.path);
    CHECK(d.shell.message().find("glossary.json:1") != std::string::npos);
    REQUIRE(d.shell.glossary().find("tp") != nullptr);
}

}  // namespace pentamesh::ui
