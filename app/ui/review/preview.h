// Shows the pages of a review, small, while the user chooses its form.
#pragma once

#include "app/ui/review/review.h"
#include "core/evaluate.h"
#include "render/canvas.h"

#include <memory>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
