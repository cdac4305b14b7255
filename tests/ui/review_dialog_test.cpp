// Tests the dialog that asks for a design review.
#include "app/ui/review/review.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

TEST_CASE("the Export menu has the review too") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.type("review for a meeting");
    d.press({Key::enter});
    d.settle();
    CHECK(d.shell.dialog() == DialogKind::review);
}

TEST_CASE("File > Export review asks how it is to look and where it goes") {
    const std::filesystem::path home = std::filesystem::temp_directory_path();
    Driver d("mesh-8", {1600, 900}, 1, {}, home);
    const auto command = std::find_if(d.shell.commands().begin(), d.shell.commands().end(),
                                      [](const Command& c) { return c.id == "file.review"; });
    REQUIRE(command != d.shell.commands().end());
    command->run();
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review);
    REQUIRE(d.click("review.paper", 1));
    REQUIRE(d.click("review.theme", 1));
    REQUIRE(d.click("review.dense", 1));
    REQUIRE(d.click("review.pages"));
    d.type("7");
    REQUIRE(d.click("review.file"));
    d.settle();
    CHECK(d.shell.dialog_error().find("choose above what this one is compared with") != std::string::npos);
    REQUIRE(d.click("review.pages"));
    d.press({.key = Key::a, .ctrl = true});
    d.type("1,3");
    for (const char* field : {"review.title", "review.author", "review.date"}) {
        REQUIRE(d.click(field));
        d.type("T");
    }
    REQUIRE(d.click("review.part", 1));
    for (const char* field :
         {"review.decision", "review.owner", "review.alternatives", "review.questions", "review.risks"}) {
        REQUIRE(d.click(field));
        d.type("W");
    }
    CHECK(d.plan().review == AuthorWords{});  // not before a file is chosen
    REQUIRE(d.click("review.file"));
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review_file);
    d.press({.key = Key::a, .ctrl = true});
    d.type((home / "a-review.svg").string());
    d.press({Key::enter});
    d.settle();
    REQUIRE(d.shell.dialog() == DialogKind::review_file);
    CHECK(d.shell.dialog_error().find(".pdf, .html or .md") != std::string::npos);
    d.press({.key = Key::a, .ctrl = true});
    d.type((home / "a-review-that-is-not-there").string());
    d.press({Key::enter});
    d.settle();
    CHECK(d.shell.dialog() == DialogKind::none);
    REQUIRE(d.reviews.size() == 1);
    CHECK(d.reviews[0].second == home / "a-review-that-is-not-there.pdf");
    const ReviewRequest& r = d.reviews[0].first;
    CHECK(r.paper == PaperKind::a4);
    CHECK(r.one_a_page);
    CHECK(r.theme == ThemeId::dark);
    CHECK(r.pages == std::vector<ReviewPage>{ReviewPage::summary, ReviewPage::memory});
    CHECK(r.title == "T");
    const AuthorWords said{"W", "W", "W", "W", "W"};
    CHECK(r.words == said);
    CHECK(d.plan().review == said);
}

}  // namespace pentamesh::ui
