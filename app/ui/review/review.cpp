#include "app/ui/review/review.h"

#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/tables/table.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/search/search_found.h"
#include "app/ui/views/step/view.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/decide/search.h"
#include "core/decide/why_not.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "render/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, kReviewPageCount> kPageNames{
    "summary",     "placement",  "memory", "time",  "communication",
    "assumptions", "comparison", "scale",  "tried", "risk"};
constexpr std::size_t kNearestRuns = 6, kChecksumDigits = 12;

bool wants(const ReviewContent& c, ReviewPage page) {
    return std::find(c.pages.begin(), c.pages.end(), page) != c.pages.end();
}

}  // namespace

// An impossible plan has no figures: its pages have the request and the errors.
std::vector<ReviewPage> review_pages_of(const ReviewRequest& request, bool two, bool valid) {
    if (request.brief()) {
        std::vector<ReviewPage> out{ReviewPage::summary};
        if (two) out.insert(out.begin(), ReviewPage::comparison);
        if (valid)
            for (const ReviewPage p : {ReviewPage::placement, ReviewPage::memory, ReviewPage::time,
                                       ReviewPage::communication, ReviewPage::tried, ReviewPage::risk})
                out.push_back(p);
        return out;
    }
    if (!request.all()) {
        if (!two
            && std::find(request.pages.begin(), request.pages.end(), ReviewPage::comparison)
                   != request.pages.end())
            throw Error(ErrorKind::usage, "", "", "page 7, the comparison, needs a second plan");
        return request.pages;
    }
    std::vector<ReviewPage> out;
    for (int i = 0; i < kReviewPageCount; ++i) {
        const auto page = static_cast<ReviewPage>(i);
        const bool figures = page != ReviewPage::summary && page != ReviewPage::comparison;
        if (page == ReviewPage::assumptions && valid)  // they come last
            for (const ReviewPage p : {ReviewPage::risk, ReviewPage::scale}) out.push_back(p);
        // The summary has what was tried.
        const bool placed = page == ReviewPage::comparison || page >= ReviewPage::scale;
        if ((valid || !figures) && !placed) out.push_back(page);
    }
    if (two) out.insert(out.begin(), ReviewPage::comparison);  // it decides, and comes before the evidence
    return out;
}

ReviewContent review_content_of(const Presets& presets, std::span<const Plan> plans,
                                const ReviewRequest& request) {
    ReviewContent c{{plans.begin(), plans.end()}, {}, presets, request, {}, {}, {}, 0, {}};
    c.take_words();
    for (const Plan& p : plans) c.evaluations.push_back(assess(p));
    if (plans.size() > 1 && !is_refuted(c)) c.shown = better_of(c).value_or(0);
    const Evaluation& e = c.evaluations[c.shown];
    const Plan& plan = plans[c.shown];
    c.pages = review_pages_of(request, plans.size() > 1, e.valid);
    if (e.step && wants(c, ReviewPage::time)) c.sensitivity = sensitivity_of(plan, presets);
    if (e.step && (wants(c, ReviewPage::assumptions) || wants(c, ReviewPage::summary))) {
        try {
            NearestRuns runs(load_published_runs(presets));
            c.runs = runs.runs().size();
            if (const Evaluation& own = c.evaluations[0]; own.step)
                c.measured = measured_mfu(plans[0], *own.step, runs.runs());
            if (wants(c, ReviewPage::assumptions)) c.near_runs = near_runs_table(runs, plan, kNearestRuns);
        } catch (const std::exception&) {  // a list that cannot be read is left out
        }
    }
    if (e.step && wants(c, ReviewPage::scale)) c.scaling = scale_picture_of(plan, {});
    if (e.step
        && (wants(c, ReviewPage::summary) || wants(c, ReviewPage::tried) || wants(c, ReviewPage::risk)))
        c.try_changes();
    if (e.step && plans.size() == 1) c.decision = decide(plan, e);
    if (e.step && wants(c, ReviewPage::risk)) c.ask_turns();
    if (!c.evaluations[0].valid) c.mended = mended_plan(plans[0]);
    if (plans.size() > 1 && (wants(c, ReviewPage::comparison) || wants(c, ReviewPage::summary))) {
        if (request.second_is_a)
            c.comparison =
                compare(std::vector{c.plans[1], c.plans[0]}, std::vector{c.evaluations[1], c.evaluations[0]});
        else
            c.comparison = compare(c.plans, c.evaluations);
    }
    return c;
}

void draw_review_page(ReviewSheet& sheet, const ReviewContent& content, ReviewPage page) {
    static constexpr std::array kDraw{summary_page,       placement_page,   memory_page,     time_page,
                                      communication_page, assumptions_page, comparison_page, scale_page,
                                      tried_page,         risk_page};
    static_assert(kDraw.size() == kReviewPageCount);
    kDraw[static_cast<std::size_t>(page)](sheet, content);
}

std::string review_banner(const Evaluation& e) {
    return e.valid ? "" : "This plan is impossible and has no figures. " + first_error(e.problems);
}

namespace {

// Returns what stands below the headings: the plan that is shown in detail.
std::string page_title(const ReviewContent& content, const ReviewRequest& request) {
    if (!request.title.empty()) return request.title;
    const std::string title = title_of(content.plans[content.shown]);
    return content.plans.size() < 2 ? title : plan_letter(content.compared(content.shown)) + ": " + title;
}

void draw_pages(ReviewSheet& sheet, const ReviewContent& content) {
    for (const ReviewPage p : content.pages) draw_review_page(sheet, content, p);
}

// Makes the bytes of the review: its content, the assumptions, and the parts that every page has.
struct Printer {
    ReviewContent content;
    Paper paper;
    std::shared_ptr<const TypeFaces> faces;
    std::vector<std::string> embedded{};  // the plans' texts
    std::string title{}, foot{}, banner{};
    std::string under{};  // below the headings of pages
    int pages = 0;
    int cut = 0;                     // texts that did not fit
    std::vector<SheetMark> marks{};  // of all pages
    std::vector<float> spare{};      // of each page, as they were counted

    // Returns where links of that name lead to; null: nowhere.
    [[nodiscard]] const SheetMark* place(const std::string& name) const {
        const auto at = std::find_if(marks.begin(), marks.end(), [&](const SheetMark& m) {
            return m.kind == SheetMark::Kind::place && m.words == name;
        });
        return at == marks.end() ? nullptr : &*at;
    }

    ReviewSheet sheet(std::function<Canvas(const std::string&)> turn,
                      std::function<void(const SheetMark&)> mark = {},
                      std::function<void(std::string_view)> piece = {}) {
        return {{std::move(turn), pages, std::move(mark), std::move(piece), &spare},
                paper,
                theme_of(content.request.theme),
                under,
                foot,
                banner};
    }
    // Counts the pages. A last one with a few lines moves up to those before it, where a narrower margin of
    // the paper makes the room.
    void count_pages() {
        constexpr float kFewLines = 0.85f, kNarrower = 0.84f;  // of the page empty; of the margin
        const float empty = settle();
        if (paper.wide || empty < kFewLines) return;
        const int before = pages;
        const float margin = paper.margin;
        paper.margin *= kNarrower;
        (void)settle();
        if (pages < before) return;
        paper.margin = margin;
        (void)settle();
    }
    // Fills pages that are not kept until figures have grown to what they leave empty, twice: one that grew
    // may move what follows. Returns which share of the last page stays empty.
    float settle() {
        constexpr int kTimes = 2;
        spare.clear();
        std::vector<float> left;
        float empty = fill_blank(left);
        for (int i = 0; i < kTimes; ++i) {
            spare.resize(std::max(spare.size(), left.size()));
            for (std::size_t page = 0; page < left.size(); ++page) spare[page] += left[page];
            empty = fill_blank(left);
        }
        return empty;
    }
    // `left` gets what stays empty on each page with a figure that may grow.
    float fill_blank(std::vector<float>& left) {
        pages = 0;
        marks.clear();
        if (content.request.text_runs != nullptr) content.request.text_runs->clear();
        Page blank(PageSpec{PageFormat::none, paper.size, faces, "", {}, 1, content.request.text_runs});
        ReviewSheet s = sheet([&](const std::string&) { return Canvas(nullptr, 1, &blank); },
                              [&](const SheetMark& m) { marks.push_back(m); });
        draw_pages(s, content);
        pages = s.page();
        left = s.spare();
        cut = s.cut();
        return s.left() / s.whole();
    }
    [[nodiscard]] PageSpec spec(PageFormat format, bool with_plan) const {
        return {format, paper.size, faces, title, with_plan ? embedded : std::vector<std::string>{},
                1,      nullptr};
    }
    std::string pdf();
    // Returns one file for each page.
    std::vector<ReviewFile> single(const PageSpec& of, std::string_view ending) {
        std::vector<ReviewFile> out;
        std::vector<std::unique_ptr<Page>> made;
        const auto turn = [&](const std::string&) {
            made.push_back(std::make_unique<Page>(of));
            const std::string number = std::to_string(made.size());
            out.push_back({(number.size() < 2 ? "0" : "") + number + "." + std::string(ending), ""});
            return Canvas(nullptr, 1, made.back().get());
        };
        ReviewSheet s = sheet(turn, {}, [&](std::string_view name) { put_piece(*made.back(), name); });
        draw_pages(s, content);
        for (std::size_t i = 0; i < made.size(); ++i) out[i].bytes = made[i]->finish();
        return out;
    }
    std::string html();
};

std::string html_head(const Printer& p) {
    const Theme& t = theme_of(p.content.request.theme);
    const auto hex = [](Color c) {
        std::string out = "#";
        for (const unsigned v : {unsigned{c.r}, unsigned{c.g}, unsigned{c.b}}) {
            out += "0123456789abcdef"[v >> 4U];
            out += "0123456789abcdef"[v & 15U];
        }
        return out;
    };
    const std::string w = exact_text(static_cast<double>(p.paper.size.x) / 96),
                      h = exact_text(static_cast<double>(p.paper.size.y) / 96);
    return "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" "
           "content=\"Pentamesh " PENTAMESH_VERSION "\">\n<meta name=\"viewport\" "
           "content=\"width=device-width\">\n<title>"
           + html_text(p.title) + "</title>\n<style>\n@page{size:" + w + "in " + h
           + "in;margin:0}\nbody{margin:0;background:" + hex(t.window)
           + "}\nsection{margin:24px auto;max-width:" + exact_text(static_cast<double>(p.paper.size.x))
           + "px;box-shadow:0 0 0 1px " + hex(t.hairline)
           + "}\nsection>svg{display:block;width:100%;height:auto}\nh2,h3{position:absolute;width:1px;height:"
             "1px;"
             "margin:0;overflow:hidden;clip-path:inset(50%)}\nnav{max-width:60em;margin:24px "
             "auto;font:15px/1.5 "
             "system-ui,sans-serif;color:"
           + hex(t.secondary) + "}\nnav>ol{columns:2}\nnav a{color:" + hex(t.text)
           + "}\n@media print{nav{display:none}section{margin:0;max-width:"
             "none;box-shadow:none;break-after:page;-webkit-print-color-adjust:exact;print-color-adjust:"
             "exact}"
             "section:last-of-type{break-after:auto}}\n</style>\n";
}

std::string Printer::pdf() {
    Page page(spec(PageFormat::pdf, true));
    bool first = true;
    const auto turn = [&](const std::string&) {
        if (!first) page.next();
        first = false;
        return Canvas(nullptr, 1, &page);
    };
    const auto place_of = [](const SheetMark& m) { return PagePlace{m.page, {m.box.x, m.box.y}}; };
    const auto mark = [&](const SheetMark& m) {
        const SheetMark* to = m.kind == SheetMark::Kind::link ? place(m.words) : nullptr;
        if (to != nullptr) page.link(m.box, place_of(*to));
    };
    ReviewSheet s = sheet(turn, mark, [&](std::string_view name) { put_piece(page, name); });
    draw_pages(s, content);
    int section = 0;
    for (const SheetMark& m : marks) {
        if (m.kind == SheetMark::Kind::section) section = page.outline(m.words, place_of(m));
        if (m.kind == SheetMark::Kind::heading) page.outline(m.words, place_of(m), section);
    }
    return page.finish();
}

// Returns the list of contents, which is not printed.
std::string html_contents(const Printer& p) {
    std::string out = "<nav aria-label=\"Contents\">\n<ol>\n";
    bool item = false, list = false;
    const auto link = [](const SheetMark& m) {
        return "<a href=\"#p" + std::to_string(m.page) + "\">" + html_text(m.words) + "</a>";
    };
    for (const SheetMark& m : p.marks) {
        if (m.kind == SheetMark::Kind::section) {
            out += (list ? "</ol>" : "") + std::string(item ? "</li>\n" : "") + "<li>" + link(m);
            item = true, list = false;
        } else if (m.kind == SheetMark::Kind::heading && item) {
            out += (list ? "" : "<ol>") + std::string("<li>") + link(m) + "</li>";
            list = true;
        }
    }
    return out + (list ? "</ol>" : "") + (item ? "</li>\n" : "") + "</ol>\n</nav>\n";
}

// Returns a page's headings, for those who hear the page: its picture has them as words among others.
std::string html_headings(const Printer& p, int page) {
    std::string out;
    for (const SheetMark& m : p.marks) {
        if (m.page != page) continue;
        if (m.kind == SheetMark::Kind::section) out += "<h2>" + html_text(m.words) + "</h2>\n";
        if (m.kind == SheetMark::Kind::heading) out += "<h3>" + html_text(m.words) + "</h3>\n";
    }
    return out;
}

// Returns the links of a page, each over the part of the picture that leads elsewhere.
std::string svg_links(const Printer& p, int page) {
    std::string out;
    const auto number = [](float v) { return exact_text(std::round(static_cast<double>(v))); };
    for (const SheetMark& m : p.marks) {
        const SheetMark* to = m.page == page && m.kind == SheetMark::Kind::link ? p.place(m.words) : nullptr;
        if (to == nullptr || to->page == page) continue;
        out += "<a href=\"#p" + std::to_string(to->page) + "\"><rect x=\"" + number(m.box.x) + "\" y=\""
               + number(m.box.y) + "\" width=\"" + number(m.box.w) + "\" height=\"" + number(m.box.h)
               + "\" fill=\"transparent\"/></a>";
    }
    return out;
}

std::string Printer::html() {
    const PageFormat format = content.request.outlines ? PageFormat::svg_outlines : PageFormat::svg;
    PageSpec of = spec(format, false);
    of.title.clear();
    std::string out = html_head(*this) + html_contents(*this);
    int page = 0;
    for (const ReviewFile& f : single(of, "svg")) {
        std::string svg = f.bytes.substr(f.bytes.find("<svg"));
        ++page;
        svg.insert(svg.rfind("</svg>"), svg_links(*this, page));
        out += "<section id=\"p" + std::to_string(page) + "\">\n" + html_headings(*this, page) + svg
               + "</section>\n";
    }
    return out + html_embedded(embedded) + "</html>\n";
}

Printer printer_of(const Presets& presets, std::span<const Plan> plans, const ReviewRequest& request,
                   const FontFiles& fonts) {
    Printer p{review_content_of(presets, plans, request), request.page(), load_faces(fonts)};
    std::string sums, all;
    for (const Plan& plan : p.content.plans) {
        p.embedded.push_back(write_plan(without_own_presets(plan, presets)));  // it is opened elsewhere
        all += p.embedded.back();
        sums += (sums.empty() ? " " : ", ") + sha256_of(p.embedded.back()).substr(0, kChecksumDigits);
    }
    if (plans.size() > 2)
        sums = " " + sha256_of(all).substr(0, kChecksumDigits);  // of all, one after another
    p.title = request.title.empty() ? title_of(plans[0]) : request.title;
    p.foot = std::string(name_and_version()) + "   ·   sha256 of the " + (plans.size() > 1 ? "plans" : "plan")
             + sums + (request.date.empty() ? "" : "   ·   " + request.date);
    p.under = page_title(p.content, request);
    p.banner = review_banner(p.content.detail().evaluation);
    p.count_pages();
    return p;
}

}  // namespace

Paper ReviewRequest::page() const {
    Paper out = size ? slide_of(*size) : paper_of(paper);
    if (out.wide && !one_a_page) out = for_reading(out);
    out.flows = brief();
    out.one_a_page = one_a_page;
    return out;
}

std::string_view name_of(ReviewPage page) {
    return kPageNames[static_cast<std::size_t>(page)];
}

std::vector<ReviewPage> review_pages_named(std::string_view list) {
    const auto one = [&](std::string_view word) {
        const std::int64_t n = parse_whole(word).value_or(0);
        if (n >= 1 && n <= kReviewPageCount) return static_cast<int>(n - 1);
        for (int i = 0; i < kReviewPageCount; ++i)
            if (kPageNames[static_cast<std::size_t>(i)] == word) return i;
        std::string all;
        for (int i = 0; i < kReviewPageCount; ++i)
            all += (i == 0 ? "" : ", ") + std::to_string(i + 1) + " "
                   + std::string(kPageNames[static_cast<std::size_t>(i)]);
        throw Error(ErrorKind::usage, "", "",
                    "there is no page \"" + std::string(word) + "\" in a review; there are " + all
                        + ", and all");
    };
    std::vector<ReviewPage> out;
    if (list == "all") list = "1-10";
    for (std::string_view rest = list; !rest.empty();) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        const std::size_t dash = item.find('-');
        const int first = one(item.substr(0, dash));
        const int last = dash == std::string_view::npos ? first : one(item.substr(dash + 1));
        if (first > last)
            throw Error(ErrorKind::usage, "", "",
                        "the pages \"" + std::string(item) + "\" of a review go backwards");
        for (int i = first; i <= last; ++i) {
            const auto page = static_cast<ReviewPage>(i);
            if (std::find(out.begin(), out.end(), page) == out.end()) out.push_back(page);
        }
    }
    return out;
}

ReviewForm review_form_of(std::string_view file) {
    std::string ending(file.substr(std::min(file.size(), file.find_last_of("./\\"))));
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (ending == ".pdf") return ReviewForm::pdf;
    if (ending == ".html" || ending == ".htm") return ReviewForm::html;
    if (ending == ".md" || ending == ".markdown") return ReviewForm::markdown;
    for (const std::string_view other : {".svg", ".png", ".jpg", ".jpeg", ".txt", ".json", ".csv", ".docx",
                                         ".pptx", ".odt", ".odp", ".xlsx", ".tex", ".ps"})
        if (ending == other)
            throw Error(
                ErrorKind::usage, "", "",
                "a review is written to a file that ends in .pdf, .html or .md, or to a folder of SVG "
                "and PNG; found \""
                    + std::string(file) + "\"");
    return ReviewForm::folder;
}

std::vector<ReviewFile> make_review(const Presets& presets, std::span<const Plan> plans,
                                    const ReviewRequest& request, ReviewForm form, const FontFiles& fonts) {
    Printer p = printer_of(presets, plans, request, fonts);
    if (form == ReviewForm::pdf) return {{"", p.pdf()}};
    if (form == ReviewForm::html) return {{"", p.html()}};
    if (form == ReviewForm::markdown) return markdown_review(p.content, p.title, p.foot, p.embedded, fonts);
    const PageFormat svg = request.outlines ? PageFormat::svg_outlines : PageFormat::svg;
    std::vector<ReviewFile> out = p.single(p.spec(svg, true), "svg");
    if (!pages_available()) return out;
    PageSpec png = p.spec(PageFormat::png, true);
    constexpr float kFullHd = 1920;
    png.scale = std::max(1.0f, kFullHd / std::max(p.paper.size.x, p.paper.size.y));
    for (ReviewFile& f : p.single(png, "png")) out.push_back(std::move(f));
    return out;
}

void draw_review(const Presets& presets, std::span<const Plan> plans, const ReviewRequest& request,
                 const FontFiles& fonts, const std::function<Page&(const PageSpec&)>& turn) {
    Printer p = printer_of(presets, plans, request, fonts);
    const PageSpec of = p.spec(PageFormat::none, false);
    ReviewSheet s = p.sheet([&](const std::string&) { return Canvas(nullptr, 1, &turn(of)); });
    draw_pages(s, p.content);
}

std::string files_folder_of(const std::filesystem::path& text) {
    return text.stem().string() + "_files";
}

void write_review(const std::filesystem::path& to, const std::vector<ReviewFile>& files, ReviewForm form) {
    const std::filesystem::path home = form == ReviewForm::folder ? to : to.parent_path();
    for (const ReviewFile& f : files) {  // before anything is written
        if (f.name.empty()) continue;
        const std::filesystem::path folder = (home / f.name).parent_path();
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        if (error) throw Error(ErrorKind::io, folder.string(), "", "cannot be made: " + error.message());
    }
    for (const ReviewFile& f : files) write_file(f.name.empty() ? to : home / f.name, f.bytes);
}

std::string make_review_picture(const Presets& presets, const Plan& plan, const ReviewRequest& request,
                                std::string_view ending, float scale, const FontFiles& fonts) {
    ReviewRequest asked = request;
    const bool as_high = request.size && request.size->y <= 0;
    if (as_high) asked.size->y = std::round(asked.size->x * 9 / 16);
    Printer p = printer_of(presets, {&plan, 1}, asked, fonts);
    constexpr float kMostHeight = 20000;
    while (as_high && p.pages > 1 && asked.size->y < kMostHeight) {
        asked.size->y = std::min(kMostHeight, std::round(asked.size->y * 1.08f));
        p.paper = asked.page();
        p.count_pages();
    }
    PageSpec of = p.spec(ending == "svg"   ? request.outlines ? PageFormat::svg_outlines : PageFormat::svg
                         : ending == "pdf" ? PageFormat::pdf
                                           : PageFormat::png,
                         true);
    of.scale = scale;
    return p.single(of, ending).front().bytes;
}

namespace {

// Holds the page in the box, and its canvas.
struct Small {
    Paper paper;
    Rect shown;
    float k;

    Small(Rect box, const ReviewRequest& request)
        : paper(request.page()), k(std::min(box.w / paper.size.x, box.h / paper.size.y)) {
        shown = {box.x + (box.w - paper.size.x * k) / 2, box.y, paper.size.x * k, paper.size.y * k};
    }
    [[nodiscard]] Canvas canvas(const Canvas& window) const { return {window.list(), window.scale() * k}; }
    [[nodiscard]] Vec2 corner() const { return {shown.x / k, shown.y / k}; }
};

ReviewSheet sheet_of(const Small& small, const ReviewContent& content, const ReviewRequest& request,
                     SheetTarget target) {
    return {std::move(target),
            small.paper,
            theme_of(request.theme),
            page_title(content, request),
            std::string(name_and_version()),
            review_banner(content.detail().evaluation)};
}

}  // namespace

ReviewPages::ReviewPages(const Presets& presets, std::vector<Plan> plans) {
    ReviewRequest all;  // each page that may be asked for is worked out
    all.pages = review_pages_named("1-10");
    all.second_is_a = true;
    content_ = std::make_unique<ReviewContent>(review_content_of(presets, plans, all));
}

ReviewPages::~ReviewPages() = default;

// Lays all pages out without drawing them.
void ReviewPages::count(const ReviewRequest& request) {
    ReviewContent& c = *content_;
    c.pages = review_pages_of(request, c.plans.size() > 1, c.detail().evaluation.valid);
    c.request = request;
    c.request.second_is_a = true;
    c.take_words();
    const Small small({0, 0, 100, 100}, request);
    bool first = true, joined = false;
    SheetTarget target{[](const std::string&) { return Canvas(nullptr, 1); }};
    target.mark = [&](const SheetMark& m) {
        if (m.kind != SheetMark::Kind::section || !std::exchange(first, false)) return;
        joined = m.box.y > 0;
    };
    ReviewSheet sheet = sheet_of(small, c, request, std::move(target));
    begins_.clear();
    for (const ReviewPage p : c.pages) {
        first = true, joined = false;
        const int before = sheet.page();
        draw_review_page(sheet, c, p);
        begins_.push_back({before, joined});
    }
    all_ = sheet.page();
    spare_ = sheet.spare();
    counted_ = request;
}

int ReviewPages::draw(Canvas& canvas, Rect box, const ReviewRequest& request, int page) {
    const Small small(box, request);
    if (small.k <= 0 || canvas.list() == nullptr) return 0;
    const auto same = [](const ReviewRequest& a, const ReviewRequest& b) {
        return a.paper == b.paper && a.theme == b.theme && a.pages == b.pages && a.title == b.title
               && a.author == b.author && a.date == b.date && a.words == b.words && a.run == b.run
               && a.one_a_page == b.one_a_page;
    };
    if (!counted_ || !same(*counted_, request)) count(request);
    page = held_between(page, 1, all_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < begins_.size(); ++i)
        if (!begins_[i].joined && begins_[i].before < page) at = i;
    int turned = begins_[at].before;
    const auto turn = [&](const std::string&) {
        return ++turned == page ? small.canvas(canvas) : Canvas(nullptr, canvas.scale() * small.k);
    };
    {
        const Canvas::Clip clip = canvas.clip(small.shown);
        SheetTarget target{turn, all_};
        target.spare = &spare_;
        ReviewSheet sheet = sheet_of(small, *content_, request, std::move(target));
        sheet.go_on_after(begins_[at].before);
        sheet.lay_at(small.corner());
        for (; at < begins_.size() && sheet.page() <= page; ++at)
            draw_review_page(sheet, *content_, content_->pages[at]);
    }
    canvas.frame(small.shown, theme_of(request.theme).hairline, 1);
    return all_;
}

ReviewFirstPage::ReviewFirstPage(const Presets& presets, const Plan& plan, const Evaluation& e)
    : content_(new ReviewContent{{plan}, {e}, presets, {}, {ReviewPage::summary}, {}, {}, 0, {}}) {
    if (!e.valid) content_->mended = mended_plan(plan);
    if (!e.step) return;
    content_->try_changes();
    content_->decision = decide(plan, e);
}

ReviewFirstPage::~ReviewFirstPage() = default;

void ReviewFirstPage::draw(Canvas& canvas, Rect box, const ReviewRequest& request) {
    const Small small(box, request);
    if (small.k <= 0 || canvas.list() == nullptr) return;
    content_->request = request;
    content_->take_words();
    bool first = true;
    const auto turn = [&](const std::string&) {  // the rest, on another page, is not shown
        return std::exchange(first, false) ? small.canvas(canvas) : Canvas(nullptr, canvas.scale() * small.k);
    };
    {
        const Canvas::Clip clip = canvas.clip(small.shown);
        ReviewSheet sheet = sheet_of(small, *content_, request, {turn});
        sheet.lay_at(small.corner());
        summary_page(sheet, *content_);
    }
    canvas.frame(small.shown, theme_of(request.theme).hairline, 1);
}

namespace {

constexpr float kReportWidth = 960, kTallest = 60000;  // the figure ends where it ends

bool has_figure(const Evaluation& e, ReportFigure figure) {
    if (!e.valid) return false;
    switch (figure) {
    case ReportFigure::placement: return !axes_in_use(e).empty();
    case ReportFigure::memory: return !e.memory.stage.empty();
    case ReportFigure::time: return e.step.has_value();
    case ReportFigure::pipeline: return !e.timeline.empty() && e.timeline.shape.devices > 1;
    }
    return false;
}

void draw_report_figure(ReviewSheet& sheet, const Reviewed& of, ReportFigure figure) {
    const Evaluation& e = of.evaluation;
    switch (figure) {
    case ReportFigure::placement: draw_axes_grid(sheet, of, axes_in_use(e)); break;
    case ReportFigure::memory: draw_held(sheet, sheet.take(memory_height(sheet, e.memory)), of); break;
    case ReportFigure::time: {
        RowChart parts = step_rows(sheet.ink(), *e.step, e.step->time_s);
        draw_chart(sheet.ink(), sheet.take(chart_height(sheet.ink(), parts)), parts);
        break;
    }
    case ReportFigure::pipeline:
        draw_pipeline(sheet, sheet.take(pipeline_height(sheet, e.timeline)), of);
        break;
    }
}

}  // namespace

std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e, ReportFigure figure,
                          const FontFiles& fonts) {
    if (!has_figure(e, figure)) return {};
    return figure_svg(fonts, [&](ReviewSheet& sheet) {
        draw_report_figure(sheet, {plan, e, presets}, figure);
    });
}

std::string figure_svg(const FontFiles& fonts, const std::function<void(ReviewSheet&)>& draw) {
    Paper paper = paper_of(PaperKind::a4);
    paper.size = {kReportWidth, kTallest};
    paper.margin = 16;
    PageSpec spec{PageFormat::none, paper.size, load_faces(fonts), "", {}, 1, nullptr};
    // The figure is drawn twice: first to learn its height, then for the file.
    std::string svg;
    for (const PageFormat format : {PageFormat::none, PageFormat::svg}) {
        spec.format = format, spec.size = paper.size;
        Page page(spec);
        ReviewSheet sheet({[&](const std::string&) { return Canvas(nullptr, 1, &page); }, 0}, paper,
                          theme_of(ThemeId::light), "", "", "");
        sheet.begin_bare();
        draw(sheet);
        paper.size.y = std::ceil(paper.size.y - sheet.left()) + 1;
        if (format == PageFormat::svg) svg = page.finish();
    }
    return svg;
}

// Writes a review as Markdown, for a design document or a pull request: the same words and tables as the
// pages, with the figures as SVG files next to it.

namespace {

class MarkdownText {
  public:
    MarkdownText(const FontFiles& fonts, std::string folder) : fonts_(fonts), folder_(std::move(folder)) {}

    void title(const std::string& words) { out_ += "# " + markdown_text(words) + "\n"; }
    void head(const std::string& words) { out_ += "\n## " + markdown_text(words) + "\n"; }
    void words(const std::string& words) {
        if (!words.empty()) out_ += "\n" + markdown_text(words) + "\n";
    }
    void items(const std::vector<std::string>& list, const char* mark = "- ") {
        out_ += "\n";
        for (const std::string& item : list) out_ += mark + markdown_text(item) + "\n";
    }
    void table(const Table& t) {
        if (!t.rows.empty()) out_ += "\n" + write_table(printed(t), TableFormat::markdown);
    }
    // A table that is read when it is opened.
    void folded(const std::string& summary, const Table& t) {
        if (t.rows.empty()) return;
        out_ += "\n<details><summary>" + html_text(summary) + "</summary>\n\n"
                + write_table(printed(t), TableFormat::markdown) + "\n</details>\n";
    }
    void picture(const std::string& name, const std::string& words, std::string svg) {
        if (svg.empty()) return;
        const std::string file = folder_ + "/" + name + ".svg";
        out_ += "\n![" + markdown_text(words) + "](" + file + ")\n";
        files_.push_back({file, std::move(svg)});
    }
    void picture(const std::string& name, const std::string& words,
                 const std::function<void(ReviewSheet&)>& draw) {
        picture(name, words, figure_svg(fonts_, draw));
    }
    [[nodiscard]] const FontFiles& fonts() const { return fonts_; }

    // Returns the text, then what stands next to it.
    std::vector<ReviewFile> finish(const std::string& foot, const std::vector<std::string>& plans) {
        std::string inside;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            const std::string file =
                folder_ + "/plan" + (i == 0 ? std::string() : "-" + std::to_string(i + 1)) + ".json";
            inside += (i == 0 ? "" : ", ") + std::string("[") + file + "](" + file + ")";
            files_.push_back({file, plans[i]});
        }
        out_ += "\n---\n\n" + markdown_text(foot) + ": " + inside + "\n";
        files_.insert(files_.begin(), {"", std::move(out_)});
        return std::move(files_);
    }

  private:
    const FontFiles& fonts_;
    std::string folder_, out_;
    std::vector<ReviewFile> files_;
};

// Returns what was tried, with what each takes.
Table tried_table(const ReviewContent& content) {
    Table t;
    t.columns = {{"change"}, {"step", Shown::seconds}, {"fullest GPU", Shown::memory}, {"why not"}};
    const Reviewed of = content.detail();
    const Evaluation& e = of.evaluation;
    t.rows.push_back({"this plan", e.step->time_s, e.memory.peak(), std::string(name_of(fit_of_plan(e)))});
    for (const auto* list : {&content.tried, &content.unfit})
        for (const SearchResult& r : *list)
            t.rows.push_back({change_words(of.plan, r.choice), r.step_s, r.memory_bytes,
                              why_not(e, content.decision, r).sentence});
    return t;
}

void write_author(MarkdownText& out, const ReviewContent& content) {
    const AuthorWords& own = content.plans[0].review;
    const Evaluation& e = content.evaluations[0];
    std::vector<std::string> questions = items_of(own.open_questions);
    if (questions.empty() && e.step) questions = open_questions(content, 0);
    if (!own.alternatives.empty()) {
        out.head("Alternatives");
        out.items(items_of(own.alternatives));
    }
    if (!questions.empty()) {
        out.head("Open questions");
        out.items(questions, "- [ ] ");
    }
    if (!own.risks.empty()) {
        out.head("Risks");
        out.items(items_of(own.risks));
    }
    if (!own.owner.empty()) out.words("Owner: " + own.owner);
}

void write_comparison(MarkdownText& out, const ReviewContent& content) {
    const PlanComparison& c = *content.comparison;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < c.plans.size(); ++i)
        names.push_back(plan_letter(i) + ": " + c.plans[i]
                        + (c.fit[i] ? "; it " + std::string(name_of(*c.fit[i])) : std::string()));
    out.items(names);
    if (!c.why.empty() && c.plans.size() == 2)
        out.picture("way", "The step of A, what differs, the step of B",
                    [&](ReviewSheet& sheet) { pair_figures(sheet, content); });
    if (c.plans.size() > 2)
        out.picture("candidates", "Each plan's step and memory, on one scale",
                    [&](ReviewSheet& sheet) { candidate_figures(sheet, content); });
    out.head("The figures");
    out.table(worded_figures_table(c));
    out.head("What differs");
    out.table(shown_fields(c));
    out.folded("Why: the parts of the step", brief_why_table(c));
}

void write_decision(MarkdownText& out, const ReviewContent& content) {
    const Reviewed of = content.first();
    out.head("The figures");
    out.table(key_figures_table(of.plan, of.evaluation));
    if (!axes_in_use(of.evaluation).empty())
        out.picture("mesh", "Where it runs, and what each axis costs",
                    [&](ReviewSheet& sheet) { draw_where(sheet, of); });
    out.head("What else was tried, one change each");
    if (content.tried.empty() && content.unfit.empty())
        out.words("No other layout within one change fits.");
    else
        out.table(tried_table(content));
}

// Returns the problems as the pages list them.
std::vector<std::string> problem_lines(const Evaluation& e) {
    std::vector<std::string> out;
    for (const Problem& p : e.problems) out.push_back(problem_words(p));
    return out;
}

void write_evidence(MarkdownText& out, const ReviewContent& content) {
    const Reviewed of = content.detail();
    const Evaluation& e = of.evaluation;
    const auto figure = [&](ReportFigure which) {
        return report_figure(of.presets, of.plan, e, which, out.fonts());
    };
    if (e.step) {
        out.head("Where the " + time_text(e.step->time_s) + " go");
        out.picture("step", "The parts of the step", figure(ReportFigure::time));
        out.folded("The parts as numbers", step_table(*e.step));
        out.picture("pipeline", "The pipeline in one step", figure(ReportFigure::pipeline));
        if (const Table cost = cost_table(of.plan, &*e.step); !cost.rows.empty()) {
            out.head("What the training takes");
            out.table(cost);
        }
    }
    if (content.request.run && content.shown == 0) {
        out.head("What was measured");
        out.words(typeset(content.request.run->summary));
        out.table(columns_of(measured_parts_table(*content.request.run),
                             {"part", "predicted_s", "measured_s", "difference_s", "share"}));
    }
    out.head("What each GPU holds");
    out.picture("memory", "Memory by stage", figure(ReportFigure::memory));
    out.folded("By stage and category", stages_of(e.memory));
    if (!e.comm.operations.empty()) {
        out.head("What the GPUs say to each other, in one step");
        out.table(axes_traffic_table(e));
        out.folded("By link", links_traffic_table(of.plan, e));
    }
    out.head("Problems and advice");
    out.items(e.problems.empty() ? std::vector<std::string>{"None."} : problem_lines(e));
    out.head("What is left out of the estimates");
    out.items(left_out_of_estimates(of.plan, e));
    out.folded("Where each figure comes from", explanations_table(of.plan, e));
}

}  // namespace

std::vector<ReviewFile> markdown_review(const ReviewContent& content, const std::string& title,
                                        const std::string& foot, const std::vector<std::string>& plans,
                                        const FontFiles& fonts) {
    const Reviewed of = content.first();
    const Evaluation& e = of.evaluation;
    MarkdownText out(fonts, content.request.files_folder);
    if (!e.step && !content.comparison) {
        out.title(impossible_decision(content));
        out.words(title + ". " + review_banner(e));
        out.items(problem_lines(e));
        write_author(out, content);
        return out.finish(foot, plans);
    }
    const SearchResult* proposed = proposal_of(content);
    out.title(decision_of(content, proposed));
    if (e.step) out.words(reason_of(content, proposed));
    out.words(title + ". " + asked_line(of.plan, e.valid ? e.microbatches : 0));
    out.words(by_and_when(content.request));
    if (content.comparison)
        write_comparison(out, content);
    else
        write_decision(out, content);
    write_author(out, content);
    if (!of.plan.notes.empty()) {
        out.head("Notes of the plan");
        out.words(of.plan.notes);
    }
    if (content.detail().evaluation.step) write_evidence(out, content);
    return out.finish(foot, plans);
}

}  // namespace pentamesh::ui
