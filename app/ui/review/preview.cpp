#include "app/ui/review/preview.h"

#include "app/ui/kit/version.h"
#include "app/ui/review/pages.h"
#include "core/decide/nearby.h"
#include "core/plan/title.h"

#include <algorithm>
#include <utility>

namespace pentamesh::ui {

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
    const std::string title = request.title.empty() ? title_of(content.plans[0]) : request.title;
    return {std::move(target),
            small.paper,
            theme_of(request.theme),
            title,
            std::string(name_and_version()),
            review_banner(content.evaluations[0])};
}

}  // namespace

ReviewPages::ReviewPages(const Presets& presets, std::vector<Plan> plans) {
    ReviewRequest all;
    all.second_is_a = true;
    content_ = std::make_unique<ReviewContent>(review_content_of(presets, plans, all));
}

ReviewPages::~ReviewPages() = default;

// Lays all pages out without drawing them.
void ReviewPages::count(const ReviewRequest& request) {
    ReviewContent& c = *content_;
    c.pages = review_pages_of(request, c.plans.size() > 1, c.evaluations[0].valid);
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
    page = std::clamp(page, 1, std::max(1, all_));
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

}  // namespace pentamesh::ui
