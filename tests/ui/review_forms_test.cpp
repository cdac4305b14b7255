// Tests the forms of a design review: PDF, HTML, Markdown and pictures, with the plans inside.
#include "app/tables/review.h"
#include "app/ui/review/review.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/page.h"
#include "tests/ui/review_text.h"

#include <regex>
#include <set>

namespace pentamesh::ui {

TEST_CASE("the same plans give the same review in every form, and it gives the plans back") {
    const std::vector<Plan> plans = plans_of({"llama-3-70b-3d", "hsdp-64"});
    for (const ReviewForm form : {ReviewForm::pdf, ReviewForm::html, ReviewForm::folder}) {
        if (form == ReviewForm::pdf && !pages_available()) continue;
        ReviewRequest request;
        if (form == ReviewForm::folder) request.pages = {ReviewPage::summary, ReviewPage::comparison};
        const auto first = make_review(shipped(), plans, request, form, review_fonts());
        const auto again = make_review(shipped(), plans, request, form, review_fonts());
        REQUIRE(first.size() == again.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            CAPTURE(first[i].name);
            const bool same = first[i].bytes == again[i].bytes;
            CHECK(same);
            const Incoming in = read_incoming(first[i].bytes, "review", shipped());
            CHECK(in.kind == IncomingKind::plan_inside);
            CHECK(in.plan == plans[0]);
            REQUIRE(in.others.size() == 1);
            CHECK(in.others[0] == plans[1]);
        }
        if (form != ReviewForm::folder) CHECK(first[0].bytes.size() < 2000000);
    }
}

TEST_CASE("text of a review in SVG is text, unless outlines are asked for") {
    const std::vector<Plan> plans = plans_of({"mesh-8"});
    ReviewRequest request;
    request.pages = {ReviewPage::memory};
    const std::string text =
        make_review(shipped(), plans, request, ReviewForm::html, review_fonts())[0].bytes;
    CHECK(has(text, ">By stage and category</text>"));
    CHECK_FALSE(has(text, "<image"));
    if (!pages_available()) return;
    request.outlines = true;
    const std::string shapes =
        make_review(shipped(), plans, request, ReviewForm::html, review_fonts())[0].bytes;
    CHECK_FALSE(has(shapes, "<text"));
}

TEST_CASE("a review in Markdown is one text with its pictures and the plan next to it") {
    const Plan plan = shipped().plan("llama-3.1-405b-16k");
    ReviewRequest request;
    request.files_folder = "r_files";
    const auto files =
        make_review(shipped(), std::vector{plan}, request, ReviewForm::markdown, review_fonts());
    REQUIRE(files.size() > 3);
    const std::string& text = files[0].bytes;
    CHECK(files[0].name.empty());
    CHECK(text.starts_with("# Run it as it is"));
    std::set<std::string> named;
    const std::regex link(R"(\]\((r_files/[^)]+)\))");
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
        named.insert((*it)[1]);
    CHECK(named.size() == files.size() - 1);
    for (std::size_t i = 1; i < files.size(); ++i) {
        CAPTURE(files[i].name);
        CHECK(named.count(files[i].name) == 1);
        CHECK((has(files[i].bytes, "<svg") || files[i].bytes == write_plan(plan)));
    }
    const Evaluation e = assess(plan);
    for (const auto& row : worded(key_figures_table(plan, e)).rows) CHECK(has(text, row[1].text()));
    CHECK_FALSE(std::regex_search(text, std::regex("[0-9]\\.[0-9]{4}|[0-9]{10}")));  // figures are rounded
    const auto pair = make_review(shipped(), plans_of({"llama-3.1-405b-8k", "llama-3.1-405b-16k"}), request,
                                  ReviewForm::markdown, review_fonts());
    CHECK(has(pair[0].bytes, "# A does not fit. Take B"));
    CHECK(has(pair[0].bytes, "r_files/plan-2.json"));
}

TEST_CASE("an HTML review has contents, headings and links that lead to pages that are there") {
    ReviewRequest whole;
    whole.pages = review_pages_named("all");
    const std::string page =
        make_review(shipped(), plans_of({"mesh-8"}), whole, ReviewForm::html, review_fonts())[0].bytes;
    CHECK(has(page, "<nav aria-label=\"Contents\">"));
    CHECK(has(page, "<h2>Memory: what each GPU holds</h2>"));
    CHECK(has(page, "<h3>By stage and category</h3>"));
    const std::regex link("href=\"#(p[0-9]+)\"");
    std::size_t links = 0;
    for (std::sregex_iterator it(page.begin(), page.end(), link), end; it != end; ++it, ++links)
        CHECK(has(page, "<section id=\"" + (*it)[1].str() + "\">"));
    CHECK(links > 15);
}

TEST_CASE("a PDF review has an outline, links and text that says what it is") {
    if (!pages_available()) return;
    const std::string pdf =
        make_review(shipped(), plans_of({"mesh-8"}), {}, ReviewForm::pdf, review_fonts())[0].bytes;
    CHECK(has(pdf, "/Outlines"));
    CHECK(has(pdf, "/Subtype /Link"));
    CHECK(has(pdf, "/StructTreeRoot"));
    for (const char* piece : {"/H1", "/H2", "/Table", "/TH", "/TD"}) CHECK(has(pdf, piece));
}

namespace {

std::size_t count_in(std::string_view text, std::string_view of) {
    std::size_t n = 0;
    for (std::size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("a PDF review is tagged, has a heading or its continuation a page, and words for each figure") {
    if (!pages_available()) return;
    const std::vector<Plan> plans = plans_of({"llama-3-70b-3d"});
    const std::string pdf = make_review(shipped(), plans, {}, ReviewForm::pdf, review_fonts())[0].bytes;
    const bool same = pdf == make_review(shipped(), plans, {}, ReviewForm::pdf, review_fonts())[0].bytes;
    CHECK(same);
    CHECK(has(pdf, "/MarkInfo << /Marked true >>"));
    CHECK(count_in(pdf, "/S /Document") == 1);
    CHECK(has(pdf, "/Lang (en)"));
    CHECK(has(pdf, "/DisplayDocTitle true"));
    // Each figure's element stands in the file as Cairo wrote it, and again with its words.
    const std::size_t words = count_in(pdf, "/Alt <FEFF");
    CHECK(words >= 4);
    CHECK(count_in(pdf, "/S /Figure") == 2 * words);
    CHECK_FALSE(has(pdf, "/Alt <FEFF>"));
    const std::size_t pages = count_in(pdf, "/Type /Page") - count_in(pdf, "/Type /Pages");
    CHECK(pages > 4);
    CHECK(count_in(pdf, "/S /H1") + count_in(joined(text_of(plans, {})), "continued") >= pages);
}

TEST_CASE("the date stands on each page as it is given") {
    ReviewRequest request;
    request.date = "3 May 2026";
    request.pages = {ReviewPage::memory};
    CHECK(has(joined(text_of(plans_of({"mesh-8"}), request)), "   ·   3 May 2026"));
    request.date.clear();
    CHECK_FALSE(has(joined(text_of(plans_of({"mesh-8"}), request)), "2026"));
}

}  // namespace pentamesh::ui
