// Tests what a translation of the lessons needs of the engine: tags of languages, a glossary's own texts.
#include "core/teach/translation.h"

#include "core/base/files.h"
#include "core/teach/lesson.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;

namespace {

const std::string kGlossary = std::string(SOURCE_DIR) + "/assets/glossary.json";

std::string refused(const std::string& own) {
    const Glossary shipped = load_glossary(read_file(kGlossary), kGlossary);
    try {
        static_cast<void>(with_own_texts(shipped, own, "own/glossary.json"));
    } catch (const Error& e) {
        CHECK(e.kind() == ErrorKind::invalid);
        return e.what();
    }
    return {};
}

// Returns the first mistake of a lesson with this line in its front matter; empty where it has none.
LessonError first_error(const std::string& line) {
    const std::string text = "---\ntitle: Mine\n" + line + "\nminutes: 5\n---\n\n## One\n\nWords.\n";
    const ParsedLesson read = parse_lesson(text, {});
    return read.errors.empty() ? LessonError{} : read.errors.front();
}

}  // namespace

TEST_CASE("tags of languages are those of BCP 47, and others are refused at their line") {
    for (const char* tag : {"de", "pt-BR", "zh-Hant", "zh-Hant-TW", "gsw", "es-419"}) {
        CAPTURE(tag);
        CHECK(is_language(tag));
        CHECK(first_error("language: " + std::string(tag)).message.empty());
    }
    for (const char* text :
         {"", "d", "German", "DE", "de_DE", "de-", "de-x", "de DE", "-de", "de-verylongpart"}) {
        CAPTURE(text);
        CHECK_FALSE(is_language(text));
        if (*text == '\0') continue;
        const LessonError e = first_error("language: " + std::string(text));
        CHECK(e.line == 3);
        CHECK(e.message.find("language is a tag such as de or pt-BR") == 0);
    }
    CHECK(first_error("langauge: de").message.find("language") != std::string::npos);
}

TEST_CASE("the language of a lesson and of a course stands in the front matter, and nowhere else") {
    CHECK(language_of("---\ntitle: Eins\nlanguage: de\n---\n## A\n") == "de");
    CHECK(language_of("\xef\xbb\xbf---\r\nlanguage:  pt-BR \r\ntitle: Um\r\n---\r\n") == "pt-BR");
    CHECK(language_of("---\ncourse: yes\nlanguage: fr\n---\n").size() == 2);
    CHECK(language_of("---\ntitle: One\n---\nlanguage: de\n").empty());
    CHECK(language_of("language: de\n").empty());
    CHECK(language_of("---\nlanguage: no tag\n---\n").empty());
    CHECK(language_of("").empty());
    const ParsedCourse course =
        parse_course("---\ncourse: yes\ntitle: Kurs\nlanguage: de\n---\n\n## 01-two-walls\n");
    CHECK(course.errors.empty());
    const ParsedCourse bad =
        parse_course("---\ncourse: yes\ntitle: Kurs\nlanguage: ??\n---\n\n## 01-two-walls\n");
    REQUIRE(bad.errors.size() == 1);
    CHECK(bad.errors.front().line == 4);
}

TEST_CASE("texts of an own glossary stand in the place of those of the same id") {
    const Glossary shipped = load_glossary(read_file(kGlossary), kGlossary);
    const Glossary own = with_own_texts(
        shipped,
        R"({"entries": [{"id": "tp", "term": "Tensorparallelität", "also": ["TP"], "text": "Schneidet Matrizen."}]})",
        "own/glossary.json");
    REQUIRE(own.entries.size() == shipped.entries.size());
    const GlossaryEntry* tp = own.find("tp");
    REQUIRE(tp != nullptr);
    CHECK(tp->term == "Tensorparallelität");
    CHECK(tp->text == "Schneidet Matrizen.");
    CHECK(tp->axis == shipped.find("tp")->axis);
    CHECK(own.find("Tensorparallelität") == tp);
    CHECK(own.find("tensor parallelism") == tp);  // the name of before
    CHECK(std::count(tp->also.begin(), tp->also.end(), "TP") == 1);
    for (std::size_t i = 0; i < own.entries.size(); ++i) {
        const GlossaryEntry &a = own.entries[i], &b = shipped.entries[i];
        CAPTURE(a.id);
        CHECK(a.id == b.id);
        if (a.id != "tp") CHECK((a.term == b.term && a.text == b.text && a.also == b.also));
    }
}

TEST_CASE("an own glossary that is wrong is named with its line and the closest id") {
    const std::string unknown = refused("{\"entries\": [\n"
                                        "  {\"id\": \"tp\", \"term\": \"tpp\", \"text\": \"A.\"},\n"
                                        "  {\"text\": \"B.\", \"term\": \"b\",\n"
                                        "   \"id\" : \"tpp\"}\n]}\n");
    CHECK(unknown.find("own/glossary.json:4: /entries/1/id") == 0);
    CHECK(unknown.find("closest is \"tp\"") != std::string::npos);
    CHECK(refused("{\"entries\": [{\"id\": \"tp\", \"term\": \"x\"}]}").find("own/glossary.json: /entries/0")
          == 0);
    CHECK(refused("{").find("own/glossary.json") == 0);
    CHECK(refused("[]").find("own/glossary.json") == 0);
    CHECK(refused("{\"entries\": []}").empty());
}
