// The pages of a review, small, while it is asked how the review is to look.
#pragma once

#include "app/ui/review/review.h"
#include "core/evaluate.h"
#include "render/canvas.h"

#include <memory>

namespace pentamesh::ui {

struct ReviewContent;

// What the pages of a preview are made of; takes a while, and may be made on another thread. The presets have
// to outlive it.
class ReviewPages {
  public:
    ReviewPages(const Presets& presets, std::vector<Plan> plans);
    ~ReviewPages();
    ReviewPages(const ReviewPages&) = delete;
    ReviewPages& operator=(const ReviewPages&) = delete;

    // Page `page` (from 1; beyond the last: that) as large as fits the box, in its middle. Returns how many
    // pages the review has. Error as make_review's for pages that there are not.
    int draw(Canvas& canvas, Rect box, const ReviewRequest& request, int page);

  private:
    std::unique_ptr<ReviewContent> content_;
    std::vector<int> begins_;  // how many pages lie before each of content_->pages, and before the end
    std::optional<ReviewRequest> counted_;
    void count(const ReviewRequest& request);
};

// The first page alone, which needs nothing worked out.
class ReviewFirstPage {
  public:
    // `e` of that plan, with advice.
    ReviewFirstPage(const Presets& presets, const Plan& plan, const Evaluation& e);
    ~ReviewFirstPage();
    ReviewFirstPage(const ReviewFirstPage&) = delete;
    ReviewFirstPage& operator=(const ReviewFirstPage&) = delete;

    void draw(Canvas& canvas, Rect box, const ReviewRequest& request);

  private:
    std::unique_ptr<ReviewContent> content_;
};

}  // namespace pentamesh::ui
