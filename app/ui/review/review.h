// Makes a design review: a plan, or several, as pages to print, show and send. Its formats are PDF, one HTML
// file, a folder of SVG and PNG. Every figure is evaluate's own and comes from the tables that the window
// shows.
#pragma once

#include "app/ui/kit/theme.h"
#include "app/ui/review/sheet.h"
#include "core/evaluate.h"
#include "core/io/presets.h"
#include "core/plan/plan.h"
#include "render/canvas.h"
#include "render/page.h"
#include "render/surface.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {
struct Measured;
}

namespace pentamesh::ui {

enum class ReviewPage : std::uint8_t {
    summary,
    placement,
    memory,
    time,
    communication,
    assumptions,
    comparison,  // with a second plan
    scale,
    tried,  // what else was tried, and why not
    risk    // what would turn the decision
};
inline constexpr int kReviewPageCount = 10;
[[nodiscard]] std::string_view name_of(ReviewPage page);  // "summary"
// Reads "1,3-5" or "summary,memory-communication": in this order, each once; "all" is each page there is.
// Throws Error of kind usage.
[[nodiscard]] std::vector<ReviewPage> review_pages_named(std::string_view list);

enum class ReviewForm : std::uint8_t { pdf, html, markdown, folder };
// Returns the form for a file's ending; a name without one of those is a folder.
[[nodiscard]] ReviewForm review_form_of(std::string_view file);

struct ReviewRequest {
    PaperKind paper = PaperKind::slide;
    std::optional<Vec2> size{};  // of a slide of another size
    ThemeId theme = ThemeId::light;
    std::vector<ReviewPage> pages{};              // empty: those that decide, brief; kReviewPageCount: all
    std::string title{}, author{}, date{};        // empty: the plan's own title, none, none
    std::optional<AuthorWords> words{};           // in the place of those of the first plan
    std::shared_ptr<const runs::Measured> run{};  // of the first plan, measured; null: none
    bool first_page_only = false;                 // of the summary: for a picture
    bool second_is_a = false;                   // the comparison calls the second plan A, as what was pinned
    bool outlines = false;                      // SVG: text as shapes
    bool one_a_page = false;                    // each figure and table has a page of its own
    std::string files_folder = "review_files";  // Markdown: of its pictures, next to it
    std::vector<TextRun>* text_runs = nullptr;  // gets all text of the pages, in drawing order
    [[nodiscard]] bool brief() const { return pages.empty(); }
    [[nodiscard]] bool all() const { return pages.size() == kReviewPageCount; }
    [[nodiscard]] Paper page() const;
};

struct ReviewFile {
    std::string name;  // in a folder: "01.svg"; of a picture next to a text: "review_files/memory.svg"
    std::string bytes;
};

// Takes one plan, or up to kMostCompared; the first is the one under review, the others are compared with it.
// An impossible plan has pages that say so and
// show no figures. The same plans give the same bytes. Throws Error for a page that does not exist (usage),
// or without Cairo where PDF or PNG is asked for (io).
[[nodiscard]] std::vector<ReviewFile> make_review(const Presets& presets, std::span<const Plan> plans,
                                                  const ReviewRequest& request, ReviewForm form,
                                                  const FontFiles& fonts);
// Draws the same pages, each on one that `turn` makes of what it is given.
void draw_review(const Presets& presets, std::span<const Plan> plans, const ReviewRequest& request,
                 const FontFiles& fonts, const std::function<Page&(const PageSpec&)>& turn);
// Writes what make_review returned: one file, a folder of files, or a text with a folder next to it. Throws
// Error of kind io.
void write_review(const std::filesystem::path& to, const std::vector<ReviewFile>& files, ReviewForm form);
// Returns the name of the folder next to a text of that name: "review_files".
[[nodiscard]] std::string files_folder_of(const std::filesystem::path& text);
// Returns the first page of it as a picture, of `request.size`; a height of 0 is as much as the page takes.
// The form is "png", "svg" or "pdf". `scale` is the number of pixels of a PNG per logical pixel.
[[nodiscard]] std::string make_review_picture(const Presets& presets, const Plan& plan,
                                              const ReviewRequest& request, std::string_view ending,
                                              float scale, const FontFiles& fonts);

// Shows the pages of a review, small, while the user chooses its form.

struct ReviewContent;

// Holds the content of a preview's pages; making it takes a while, and may run on another thread. The presets
// must outlive it.
class ReviewPages {
  public:
    ReviewPages(const Presets& presets, std::vector<Plan> plans);
    ~ReviewPages();
    ReviewPages(const ReviewPages&) = delete;
    ReviewPages& operator=(const ReviewPages&) = delete;

    // Draws page `page` (from 1; the last one where it is larger) as large as fits the box, in its middle.
    // Returns how many pages the review has. Throws Error as make_review does for pages that do not exist.
    int draw(Canvas& canvas, Rect box, const ReviewRequest& request, int page);

  private:
    std::unique_ptr<ReviewContent> content_;
    struct Begin {
        int before = 0;       // pages
        bool joined = false;  // it begins below another on one page
    };
    std::vector<Begin> begins_;  // of content_->pages
    std::vector<float> spare_;   // of each page
    int all_ = 0;                // pages
    std::optional<ReviewRequest> counted_;
    void count(const ReviewRequest& request);
};

// Shows only the first page, for which nothing has to be worked out.
class ReviewFirstPage {
  public:
    // `e` is of that plan, with advice.
    ReviewFirstPage(const Presets& presets, const Plan& plan, const Evaluation& e);
    ~ReviewFirstPage();
    ReviewFirstPage(const ReviewFirstPage&) = delete;
    ReviewFirstPage& operator=(const ReviewFirstPage&) = delete;

    void draw(Canvas& canvas, Rect box, const ReviewRequest& request);

  private:
    std::unique_ptr<ReviewContent> content_;
};

// Makes the figures of a review by themselves, which an HTML report has between its tables.

enum class ReportFigure : std::uint8_t { placement, memory, time, pipeline };

// Returns an <svg> element on light ground, its text as text. It is empty where the plan has no such figure.
[[nodiscard]] std::string report_figure(const Presets& presets, const Plan& plan, const Evaluation& e,
                                        ReportFigure figure, const FontFiles& fonts);

class ReviewSheet;
// Draws on a page that is as high as what is drawn; returns it as SVG.
[[nodiscard]] std::string figure_svg(const FontFiles& fonts, const std::function<void(ReviewSheet&)>& draw);

}  // namespace pentamesh::ui
