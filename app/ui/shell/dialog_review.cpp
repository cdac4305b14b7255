// File > Export review: what it is to look like, then where it goes.
#include "app/ui/review/preview.h"
#include "app/ui/scene/real_run.h"
#include "app/ui/shell/dialogs.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/plan/title.h"
#include "render/page.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kReviewLabel = 78, kWordsLabel = 92;
constexpr float kWordsBox = 80;                      // three lines and the gap below
constexpr float kPreview = 440, kPreviewHigh = 330;  // of a page, at the right where there is room
constexpr float kTurn = 30;                          // the row that turns its pages

// "Pages: 1 summary, ..., 7 the comparison with A."
std::string pages_note() {
    std::string out = "Pages: ";
    for (int i = 0; i < kReviewPageCount; ++i) {
        const auto page = static_cast<ReviewPage>(i);
        const std::string name(name_of(page));
        out += (i > 0 ? ", " : "") + std::to_string(i + 1) + " "
               + (page == ReviewPage::comparison ? "the " + name + " with A" : name);
    }
    return out + ". Empty: all. The plans are inside the file, which opens here again.";
}

}  // namespace

// Returns the plan that the open one is compared with; null: no plan.
std::shared_ptr<const Plan> Dialogs::review_second() const {
    using With = ReviewChoice::With;
    if (review_.with == With::file) return review_.second;
    const KeptPlan* a = window_.views.compare.pinned();
    return review_.with == With::pinned && a != nullptr ? a->plan : nullptr;
}

std::vector<Plan> Dialogs::reviewed_plans() const {
    std::vector<Plan> out{window_.document.plan()};
    if (const auto second = review_second()) out.push_back(*second);
    return out;
}

std::string Dialogs::review_note() const {
    const auto second = review_second();
    const std::string run = review_.request.run == nullptr
                                ? ""
                                : "The run of " + window_.real_run->name + " stands beside the estimate. ";
    return (second == nullptr ? "" : "A: " + title_of(*second) + ". ") + run + std::string(pages_note());
}

float Dialogs::review_height(Ui& ui, float width) const {
    const float text = ui.canvas().paragraph_height(std::min(width, 408.0f), review_note(), ui.small(), 18);
    const float rows = kDialogRow * 9 + text;
    return width > 2 * kPreview - 60 ? std::max(rows, kPreviewHigh) : rows;
}

// Draws a page as it will be. Until all of them are worked out, it is the first.
void Dialogs::draw_review_page(Ui& ui, Rect box) {
    Rect row = box.cut_bottom(kTurn);
    const auto& made = review_.pages_of;
    if (!made.value || made.running) {
        const auto make = [&] {
            return std::make_shared<ReviewFirstPage>(window_.presets, window_.document.plan(),
                                                     window_.evaluation);
        };
        review_.first.get(window_.evaluated, make)->draw(ui.canvas(), box, review_.request);
        ui.canvas().text_in(row, made.error.empty() ? "Page 1; the others are worked out" : made.error,
                            ui.small(), Align::center);
        return;
    }
    ReviewRequest shown = review_.request;
    try {
        shown.pages = review_pages_named(review_.pages);
        const int all = made.value->draw(ui.canvas(), box, shown, review_.shown);
        review_.shown = std::clamp(review_.shown, 1, std::max(1, all));
        const float side = std::max(0.0f, (row.w - 190) / 2);
        row = {row.x + side, row.y + 4, 190, row.h - 4};
        if (ui.button("review.back", row.cut_left(36), "‹", 0, review_.shown > 1)) --review_.shown;
        if (ui.button("review.on", row.cut_right(36), "›", 0, review_.shown < all)) ++review_.shown;
        ui.canvas().text_in(row, "page " + std::to_string(review_.shown) + " of " + std::to_string(all),
                            ui.small(), Align::center);
    } catch (const Error& e) {
        ui.canvas().paragraph(box, e.what(), ui.small(), 18);
    }
}

// Works the pages out on another thread while the dialog is open.
void Dialogs::update() {
    const bool open = dialog_.kind == DialogKind::review && window_.evaluated == window_.document.revision();
    if (!open && !review_work_) return;
    const std::pair key{window_.document.revision(), open ? review_second() : nullptr};
    if (!review_work_) review_work_ = std::make_unique<Review>(window_.host.wake);
    const auto make = [&]() -> Review::Work {
        return [plans = reviewed_plans(), &presets = window_.presets](const std::atomic<bool>&) {
            return std::make_shared<ReviewPages>(presets, plans);
        };
    };
    if (review_work_->tend(open, key, review_.pages_of, make)) window_.dirty = true;
}

// Asks what the pages are to look like. Returns true if Enter was pressed in a field.
bool Dialogs::draw_review_form(Ui& ui, Rect& room) {
    ReviewRequest& r = review_.request;
    const auto row = [&](std::string_view name) { return dialog_row(ui, room, name, kReviewLabel); };
    static constexpr std::string_view kPapers[] = {"16:9", "A4", "Letter"}, kThemes[] = {"light", "dark"};
    draw_review_second(ui, row("Compare"));
    static constexpr std::string_view kDense[] = {"as many as fit", "one figure or table"};
    r.one_a_page = ui.segments("review.dense", row("On a page"), kDense, r.one_a_page ? 1 : 0) == 1;
    Rect line = row("Paper");
    r.paper = static_cast<PaperKind>(
        ui.segments("review.paper", line.cut_left(200), kPapers, static_cast<int>(r.paper)));
    line.cut_left(8);
    const int dark = ui.segments("review.theme", line, kThemes, r.theme == ThemeId::dark ? 1 : 0);
    r.theme = dark == 1 ? ThemeId::dark : ThemeId::light;
    bool changed = false;
    bool entered =
        ui.text_field("review.pages", row("Pages"), review_.pages, "all, or 1,3-5", dialog_.fresh, &changed);
    entered =
        ui.text_field("review.title", row("Title"), r.title, title_of(window_.document.plan())) || entered;
    entered = ui.text_field("review.author", row("Author"), r.author, "") || entered;
    entered =
        ui.text_field("review.date", row("Date"), r.date, "as it is to stand there; else today") || entered;
    room.cut_top(ui.canvas().paragraph(room, review_note(), ui.small(), 18));
    if (changed) dialog_.error.clear();
    return entered;
}

// Asks for what the author says in the place of the program. The plan keeps it once a file is chosen.
bool Dialogs::draw_review_words(Ui& ui, Rect& room) {
    AuthorWords& w = review_.words;
    const auto row = [&](std::string_view name, float high) {
        Rect line = room.cut_top(high);
        line.cut_bottom(kDialogRow - kDialogField);
        ui.canvas().text_in(line.cut_left(kWordsLabel).cut_top(kDialogField), name,
                            ui.style(13, Tone::secondary));
        return line;
    };
    const bool decided = ui.text_field("review.decision", row("Decision", kDialogRow), w.decision,
                                       "in the place of the program's sentence", dialog_.fresh);
    const bool owned = ui.text_field("review.owner", row("Owner", kDialogRow), w.owner, "");
    static constexpr std::array<std::array<const char*, 3>, 3> kBoxes{
        {{"review.alternatives", "Alternatives", "a line for each: what else, and why not"},
         {"review.questions", "Questions", "a line for each, in the place of the program's"},
         {"review.risks", "Risks", "a line for each"}}};
    const std::array<std::string*, 3> texts{&w.alternatives, &w.open_questions, &w.risks};
    for (std::size_t i = 0; i < kBoxes.size(); ++i)
        ui.text_box(kBoxes[i][0], row(kBoxes[i][1], kWordsBox), *texts[i], review_.known[i], kBoxes[i][2]);
    return decided || owned;
}

// Returns true if the dialog is done.
bool Dialogs::draw_review(Ui& ui, Rect room, Rect buttons) {
    ReviewRequest& r = review_.request;
    const RealRun* run = window_.real_run.get();
    r.run = run != nullptr && run->measured_of == window_.document.revision() ? run->measured : nullptr;
    if (room.w > 2 * kPreview - 60) {
        const Rect preview = room.cut_right(kPreview);
        room.cut_right(24);
        const bool upright = r.paper != PaperKind::slide;
        const float high = upright ? preview.h : kPreview * 9 / 16 + kTurn;
        draw_review_page(ui, {preview.x, preview.y, preview.w, std::min(preview.h, high)});
    }
    static constexpr std::string_view kParts[] = {"Pages", "The author's words"};
    Rect parts = room.cut_top(kDialogRow);
    parts.cut_bottom(kDialogRow - kDialogField);
    const bool asks = ui.segments("review.part", parts, kParts, review_.asks_words ? 1 : 0) == 1;
    if (std::exchange(review_.asks_words, asks) != asks) dialog_.fresh = true;
    const bool entered = asks ? draw_review_words(ui, room) : draw_review_form(ui, room);
    dialog_.fresh = false;
    r.words = review_.words;
    dialog_error_text(ui, room, dialog_.error);
    if (dialog_button(ui, buttons, "review.file", "Choose a file…", true, 130) || entered)
        window_.later("", [this] { ask_review_file(); });
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

// Draws the choice of what the plan is compared with: nothing, the pinned A, a plan of a file.
void Dialogs::draw_review_second(Ui& ui, Rect row) {
    using With = ReviewChoice::With;
    const KeptPlan* a = window_.views.compare.pinned();
    static constexpr std::string_view kWith[] = {"with none", "with A, pinned", "with a file…"};
    if (review_.with == With::pinned && a == nullptr) review_.with = With::none;
    const With was = review_.with;
    const int picked =
        ui.segments("review.with", row, kWith, static_cast<int>(was), {}, a == nullptr ? 2U : 0U);
    if (static_cast<With>(picked) == was) return;
    if (picked == 2)
        window_.later("", [this] { ask(DialogKind::review_second, "", nullptr); });
    else
        review_.with = static_cast<With>(picked);
    dialog_.error.clear();
}

// Takes the plan of a file, which may be a preset's, to compare with.
void Dialogs::take_review_second(const std::filesystem::path& path) {
    const Incoming in = read_incoming(read_file(path), path.string(), window_.presets);
    if (in.kind != IncomingKind::plan && in.kind != IncomingKind::plan_inside)
        throw Error(ErrorKind::invalid, path.string(), "", "is no plan, and has none inside");
    review_.second = std::make_shared<const Plan>(in.plan);
    review_.with = ReviewChoice::With::file;
    ask(DialogKind::review, "", nullptr);
}

void Dialogs::ask_review() {
    // A pinned plan is most likely the one to compare with.
    if (review_.with == ReviewChoice::With::none && window_.views.compare.pinned() != nullptr
        && !review_.asked)
        review_.with = ReviewChoice::With::pinned;
    review_.asked = true;
    review_.words = window_.document.plan().review;
    ask(DialogKind::review, "", nullptr);
}

void Dialogs::ask_review_file() {
    try_in_dialog([&] {
        review_.request.pages = review_pages_named(review_.pages);
        review_.request.second_is_a = true;
        for (const ReviewPage p : review_.request.pages)
            if (p == ReviewPage::comparison && review_second() == nullptr)
                throw Error(ErrorKind::usage, "", "",
                            "page 7 compares two plans: choose above what this one is compared with");
        if (review_.words != window_.document.plan().review) {
            PlanEdit edit{window_.document.plan(), "Words of the review", ""};
            edit.plan.review = review_.words;
            window_.apply(std::move(edit));
        }
        ask(DialogKind::review_file, window_.proposed_file(pages_available() ? "review.pdf" : "review.html"),
            nullptr);
    });
}

}  // namespace pentamesh::ui
