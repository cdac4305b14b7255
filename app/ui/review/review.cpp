#include "app/ui/review/review.h"

#include "app/tables/review.h"
#include "app/ui/kit/version.h"
#include "app/ui/review/pages.h"
#include "core/advice/advice.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/sha256.h"
#include "core/decide/nearby.h"
#include "core/io/own_presets.h"
#include "core/io/plan_json.h"
#include "core/plan/problem.h"
#include "core/plan/title.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

constexpr std::array<std::string_view, kReviewPageCount> kPageNames{
    "summary", "placement", "memory", "time", "communication", "assumptions", "comparison", "scale"};
constexpr std::size_t kNearestRuns = 6, kChecksumDigits = 12;

bool wants(const ReviewContent& c, ReviewPage page) {
    return std::find(c.pages.begin(), c.pages.end(), page) != c.pages.end();
}

}  // namespace

// An impossible plan has no figures: its pages have the request and the errors.
std::vector<ReviewPage> review_pages_of(const ReviewRequest& request, bool two, bool valid) {
    if (!request.pages.empty()) {
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
        if (page == ReviewPage::assumptions && valid) out.push_back(ReviewPage::scale);  // they come last
        const bool placed = page == ReviewPage::comparison || page == ReviewPage::scale;
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
    const Evaluation& e = c.evaluations[0];
    c.pages = review_pages_of(request, plans.size() > 1, e.valid);
    if (e.step && wants(c, ReviewPage::time)) c.sensitivity = sensitivity_of(plans[0], presets);
    if (e.step && (wants(c, ReviewPage::assumptions) || wants(c, ReviewPage::summary))) {
        try {
            NearestRuns runs(load_published_runs(presets));
            c.runs = runs.runs().size();
            c.measured = measured_mfu(plans[0], *e.step, runs.runs());
            if (wants(c, ReviewPage::assumptions))
                c.near_runs = near_runs_table(runs, plans[0], kNearestRuns);
        } catch (const std::exception&) {  // a list that cannot be read is left out
        }
    }
    if (e.step && wants(c, ReviewPage::scale)) c.scaling = scale_picture_of(plans[0], {});
    if (e.step && wants(c, ReviewPage::summary)) c.try_changes();
    if (!e.valid) c.mended = mended_plan(plans[0]);
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
                                      communication_page, assumptions_page, comparison_page, scale_page};
    static_assert(kDraw.size() == kReviewPageCount);
    kDraw[static_cast<std::size_t>(page)](sheet, content);
}

std::string review_banner(const Evaluation& e) {
    return e.valid ? "" : "This plan is impossible and has no figures. " + first_error(e.problems);
}

namespace {

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
                title,
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
        ReviewSheet s = sheet([&](const std::string&) {
            made.push_back(std::make_unique<Page>(of));
            const std::string number = std::to_string(made.size());
            out.push_back({(number.size() < 2 ? "0" : "") + number + "." + std::string(ending), ""});
            return Canvas(nullptr, 1, made.back().get());
        });
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
    const auto piece = [&](std::string_view name) {
        if (name.empty())
            page.end_piece();
        else
            page.begin_piece(name);
    };
    ReviewSheet s = sheet(turn, mark, piece);
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
    p.banner = review_banner(p.content.evaluations[0]);
    p.count_pages();
    return p;
}

}  // namespace

Paper ReviewRequest::page() const {
    Paper out = size ? slide_of(*size) : paper_of(paper);
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
                    "there is no page \"" + std::string(word) + "\" in a review; there are " + all);
    };
    std::vector<ReviewPage> out;
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
    for (const std::string_view other : {".svg", ".png", ".jpg", ".jpeg", ".txt", ".json", ".csv"})
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
        p.paper = slide_of(*asked.size);
        p.count_pages();
    }
    PageSpec of = p.spec(ending == "svg"   ? request.outlines ? PageFormat::svg_outlines : PageFormat::svg
                         : ending == "pdf" ? PageFormat::pdf
                                           : PageFormat::png,
                         true);
    of.scale = scale;
    return p.single(of, ending).front().bytes;
}

}  // namespace pentamesh::ui
