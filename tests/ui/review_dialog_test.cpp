// Tests the dialog that asks for a design review, names of pages, and the checksum in their foot.
#include "app/ui/review/review.h"
#include "core/base/files.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

namespace pentamesh::ui {

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
    CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
          == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256_of(std::string(1000000, 'a'))
          == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pages are named by number or word") {
    using P = ReviewPage;
    CHECK(review_pages_named("").empty());
    CHECK(review_pages_named("1,3-5") == std::vector<P>{P::summary, P::memory, P::time, P::communication});
    CHECK(review_pages_named("memory,summary") == std::vector<P>{P::memory, P::summary});
    CHECK_THROWS_AS((void)review_pages_named("11"), Error);
    CHECK_THROWS_AS((void)review_pages_named("mesh"), Error);
}

TEST_CASE("the Export menu has the review too") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.type("review for a meeting");
    d.press({Key::enter});
    d.settle();
    CHECK(d.shell.dialog() == DialogKind::review);
    d.press({Key::escape});
    CHECK(d.shell.dialog() == DialogKind::none);
    run_id(d, "export.review");
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
