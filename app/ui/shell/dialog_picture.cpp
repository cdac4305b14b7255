#include "app/ui/shell/dialog_picture.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/review.h"
#include "app/ui/scene/scene.h"
#include "app/ui/shell/dialogs.h"
#include "app/ui/views/mesh/mesh_draw.h"
#include "core/base/files.h"
#include "core/plan/names.h"
#include "core/plan/stand_in.h"
#include "core/teach/loaf.h"
#include "render/page.h"
#include "render/surface.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

namespace pentamesh::ui {

std::optional<Vec2> picture_size_named(std::string_view text) {
    const auto within = [](int side, float least, float most) {
        return static_cast<float>(side) >= least && static_cast<float>(side) <= most;
    };
    int width = 0, height = 0;
    const char* end = text.data() + text.size();
    const auto w = std::from_chars(text.data(), end, width);
    if (w.ec != std::errc() || !within(width, kLeastPicture.x, kMostPicture.x)) return std::nullopt;
    const std::string_view rest(w.ptr, static_cast<std::size_t>(end - w.ptr));
    if (rest == "xauto") return Vec2{static_cast<float>(width), 0};
    if (!rest.starts_with('x')) return std::nullopt;
    const auto h = std::from_chars(w.ptr + 1, end, height);
    if (h.ec != std::errc() || h.ptr != end || !within(height, kLeastPicture.y, kMostPicture.y))
        return std::nullopt;
    return Vec2{static_cast<float>(width), static_cast<float>(height)};
}

std::string picture_limits_words() {
    return picture_size_words(kLeastPicture) + " to " + picture_size_words(kMostPicture);
}

std::string picture_size_words(Vec2 size) {
    const auto whole = [](float v) { return std::to_string(std::lround(v)); };
    return whole(size.x) + "x" + (size.y > 0 ? whole(size.y) : "auto");
}

std::string_view ending_of(PictureFile file) {
    return file == PictureFile::svg ? "svg" : file == PictureFile::pdf ? "pdf" : "png";
}

// Export > Picture of this view: how it is to look, with a preview, and where it goes; its copy for another
// program; and what is said of a file that was written.

namespace {

constexpr float kPictureLabel = 74, kPreviewWidth = 500, kPreviewHeight = 330, kPreviewGap = 24;
constexpr double kPreviewRest_s = 0.12;  // after a change, until the preview follows
constexpr float kMostPreview = 4000e3;   // logical pixels; more would take seconds
constexpr std::array<Vec2, 3> kSizes{{{1600, 900}, {1600, 1200}, {1600, 0}}};
constexpr int kOwnSize = 3;
constexpr std::string_view kSizeWords[] = {"16:9", "4:3", "as high as it takes", "own"};

constexpr std::uint32_t kPdf = 1U << static_cast<unsigned>(PictureFile::pdf);

// A run without its plan has no plan to put into a picture.
std::string pixels_words(const PictureChoice& c, bool has_plan) {
    if (c.file != PictureFile::png) {
        const std::string page = c.text == 1 ? "" : "The page is smaller, its type stays. ";
        return page + "Text in it is text"
               + (has_plan ? "; the plan is inside, and opens by a drop." : "; no plan is inside.");
    }
    const auto side = [&](float v) { return std::to_string(std::lround(v * c.scale)); };
    return (c.size.y > 0 ? side(c.size.x) + " × " + side(c.size.y) + " pixels."
                         : side(c.size.x) + " pixels wide.")
           + (has_plan ? " The plan is inside: the picture opens by a drop." : " No plan is inside.");
}

// Draws the size that was chosen, or the field of one's own. Returns false if that is no size.
bool draw_size(Ui& ui, Rect line, PictureDialog& picture) {
    if (picture.size != kOwnSize) {
        picture.choice.size = kSizes[static_cast<std::size_t>(picture.size)];
        ui.canvas().text_in(line, picture_size_words(picture.choice.size), ui.small());
        return true;
    }
    (void)ui.text_field("picture.own", line.cut_left(124), picture.own, "1600x900 or 1600xauto");
    const auto size = picture_size_named(picture.own);
    if (size) {
        picture.choice.size = *size;
        return true;
    }
    line.cut_left(10);
    TextStyle bad = ui.small();
    bad.color = ui.theme().bad;
    ui.label(line, picture_limits_words(), bad);
    return false;
}

}  // namespace

std::string Dialogs::pictured_view() const {
    return window_.full ? std::string(view_of(*window_.full).name) : std::string(kDashboardName);
}

float Dialogs::picture_height(Ui& ui, float width) const {
    const float rows =
        kDialogRow * 7
        + ui.canvas().paragraph_height(
            380, pixels_words(picture_.choice, !is_stand_in(window_.document.plan())), ui.small(), 18);
    return width > 380 + kPreviewWidth / 2 ? std::max(rows, kPreviewHeight) : rows;
}

// The preview follows a little after what was changed last.
void Dialogs::update_preview() {
    const PictureChoice& c = picture_.choice;
    if (!(c == picture_.asked) || picture_.asked_revision != window_.document.revision()
        || picture_.asked_view != pictured_view()) {
        picture_.asked = c;
        picture_.asked_revision = window_.document.revision();
        picture_.asked_view = pictured_view();
        picture_.due_s = window_.now_s + kPreviewRest_s;
    }
    if (picture_.due_s < 0 || window_.now_s < picture_.due_s || !window_.host.save_picture) return;
    picture_.due_s = -1;
    picture_.reason.clear();
    if (c.size.x * std::max(c.size.y, c.size.x / 2) > kMostPreview)
        show_preview({}, "Too large for a preview.");
    else
        window_.host.save_picture({PictureOrder::Use::preview, pictured_view(), c, {}});
}

void Dialogs::show_preview(Image image, std::string reason) {
    picture_.preview = std::move(image);
    picture_.reason = std::move(reason);
    ++picture_.preview_number;
    window_.dirty = true;
}

void Dialogs::draw_picture_preview(Ui& ui, Rect box) const {
    Canvas& c = ui.canvas();
    if (!picture_.reason.empty())
        c.paragraph(box, picture_.reason, ui.small(), 18);
    else if (picture_.preview.width > 0)
        c.frame(show_image(c, box, picture_.preview, picture_.preview_number), ui.theme().hairline, 1);
    else
        c.text_in(box, "Drawing the preview…", ui.small(), Align::center);
}

// Returns true if the dialog is done.
bool Dialogs::draw_picture(Ui& ui, Rect room, Rect buttons) {
    take_focus("picture.to_file");
    PictureChoice& choice = picture_.choice;
    const float left = room.w > 380 + kPreviewWidth / 2 ? 380.0f : room.w;
    Rect preview = room;
    preview.cut_left(left + kPreviewGap);
    room.w = left;
    const auto row = [&](std::string_view name) { return dialog_row(ui, room, name, kPictureLabel); };
    const bool whole = pictured_view() == kDashboardName;
    picture_.size = ui.segments("picture.size", row("Size"), kSizeWords, picture_.size);
    const bool sized = draw_size(ui, row(""), picture_);
    static constexpr std::string_view kThemes[] = {"the window's", "dark", "light", "contrast"},
                                      kOver[] = {"with title", "without"},
                                      kUnder[] = {"with caption", "without"},
                                      kFiles[] = {"PNG", "SVG", "PDF"}, kScales[] = {"×1", "×2", "×3", "×4"};
    const int theme = ui.segments("picture.theme", row("Theme"), kThemes,
                                  choice.theme ? 1 + static_cast<int>(*choice.theme) : 0);
    choice.theme.reset();
    if (theme > 0) choice.theme = static_cast<ThemeId>(theme - 1);
    Rect line = row("Words");
    const std::uint32_t fixed = whole ? 3U : 0U;  // the whole window has its own
    const float half = (line.w - 8) / 2;
    choice.title =
        ui.segments("picture.title", line.cut_left(half), kOver, choice.title || whole ? 0 : 1, {}, fixed)
        == 0;
    line.cut_left(8);
    choice.caption =
        ui.segments("picture.caption", line, kUnder, choice.caption || whole ? 0 : 1, {}, fixed) == 0;
    line = row("File");
    const Rect files = line.cut_left(half);
    choice.file = static_cast<PictureFile>(ui.segments(
        "picture.file", files, kFiles, static_cast<int>(choice.file), {}, pages_available() ? 0U : kPdf));
    if (!pages_available() && ui.hovers(files))
        ui.tooltip("This program is without Cairo, which writes PDF. A browser prints SVG as PDF.");
    line.cut_left(8);
    if (choice.file == PictureFile::png)
        choice.scale = static_cast<float>(
            1 + ui.segments("picture.scale", line, kScales, static_cast<int>(choice.scale) - 1));
    static constexpr std::array<float, 4> kTypes{1, 1.25f, 1.5f, 2};
    static constexpr std::string_view kTypeWords[] = {"as on the screen", "×1.25", "×1.5", "×2"};
    const auto now = std::find(kTypes.begin(), kTypes.end(), choice.text) - kTypes.begin();
    choice.text = kTypes[static_cast<std::size_t>(
        ui.segments("picture.type", row("Type"), kTypeWords, static_cast<int>(now)))];
    room.cut_top(ui.canvas().paragraph(room, pixels_words(choice, !is_stand_in(window_.document.plan())),
                                       ui.small(), 18));
    dialog_error_text(ui, room, dialog_.error);
    if (sized) update_preview();
    if (preview.w > 100)
        draw_picture_preview(ui, {preview.x, preview.y, preview.w, std::min(preview.h, kPreviewHeight)});
    if (dialog_button(ui, buttons, "picture.to_file", "Choose a file…", sized, 130))
        window_.later("", [this] {
            const std::string name = pictured_view() + "." + std::string(ending_of(picture_.choice.file));
            ask(DialogKind::picture_file, window_.proposed_file(name), nullptr);
        });
    if (dialog_button(ui, buttons, "picture.copy", "Copy", sized)) copy_picture();
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

void Dialogs::copy_picture() {
    if (!window_.host.save_picture) return;
    PictureChoice choice = picture_.choice;
    choice.file = PictureFile::png;
    window_.host.save_picture({PictureOrder::Use::clipboard, pictured_view(), choice, {}});
}

// Enter does what is most likely wanted.
void Dialogs::take_focus(std::string_view button) {
    if (!std::exchange(dialog_.fresh, false)) return;
    window_.state.focus = id_of(button);
    window_.dirty = true;
}

// ---- a file that was written ----------------------------------------------------------------------------

void Dialogs::wrote(const std::filesystem::path& path) {
    if (window_.host.in_page) return window_.say("Downloaded " + path.filename().string());
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
    ask(DialogKind::written, (whole.empty() ? path : whole).string(), nullptr);
}

// Returns true if the dialog is done.
bool Dialogs::draw_written(Ui& ui, Rect room, Rect buttons) {
    take_focus("dialog.ok");
    dialog_error_text(ui, room, dialog_.error);
    bool done = dialog_button(ui, buttons, "dialog.ok", "Close");
    if (window_.host.set_clipboard && dialog_button(ui, buttons, "written.copy", "Copy path")) {
        window_.host.set_clipboard(dialog_.text);
        window_.say("Copied the path");
        done = true;
    }
    if (window_.host.open_outside && dialog_button(ui, buttons, "written.open", "Open")) {
        const std::string reason = window_.host.open_outside(dialog_.text);
        if (!reason.empty()) window_.say(reason);
        done = done || reason.empty();
    }
    return done;
}

// The plans that ship, as small pictures: the smallest first, those that cannot run last.

namespace {

constexpr float kCardHeight = 114, kCardGap = 10, kLeastCard = 200;

std::vector<GalleryPlan> gallery_of(const Presets& presets) {
    std::vector<GalleryPlan> out;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        if (!entry.broken.empty()) continue;
        GalleryPlan& g = out.emplace_back();
        g.name = entry.name;
        g.plan = presets.plan(entry.id);
        g.evaluation = evaluate(g.plan);
    }
    std::stable_sort(out.begin(), out.end(), [](const GalleryPlan& a, const GalleryPlan& b) {
        return std::tuple(!a.evaluation.valid, a.plan.cluster.gpus)
               < std::tuple(!b.evaluation.valid, b.plan.cluster.gpus);
    });
    return out;
}

std::size_t columns_for(float width) {
    return static_cast<std::size_t>(std::max(1.0f, (width + kCardGap) / (kLeastCard + kCardGap)));
}

std::string figures_of(const GalleryPlan& g) {
    const std::string gpus = plural(g.plan.cluster.gpus, "GPU", "GPUs");
    if (!g.evaluation.valid || !g.evaluation.step) return gpus + " · cannot run";
    return gpus + " · " + memory_text(g.evaluation.memory.peak()) + " · "
           + time_text(g.evaluation.step->time_s);
}

void draw_thumbnail(Ui& ui, Rect room, const GalleryPlan& g, const Presets& presets) {
    Selection plain;
    // Without tensor parallelism the first axis in use is coloured.
    const GroupKind kind = kind_of_loaf(g.evaluation.groups, GroupKind::tp);
    if (kind != GroupKind::tp) plain.choose(kind);
    const Hover none;
    Hover unused;
    const Scene scene{.plan = g.plan,
                      .evaluation = g.evaluation,
                      .presets = presets,
                      .selection = plain,
                      .hover = none,
                      .next_hover = unused};
    const Canvas::Clip clip = ui.canvas().clip(room.inset(-2));
    draw_still_mesh(ui, room, scene);
}

bool draw_card(Ui& ui, Rect card, std::size_t i, const GalleryPlan& g, const Presets& presets) {
    const Hit hit = ui.area("gallery.plan", card, i);
    ui.canvas().rect(card, hit.hovered ? ui.theme().raised : ui.theme().window, 6);
    ui.canvas().frame(card, hit.hovered ? ui.theme().secondary : ui.theme().hairline, 1, 6);
    Rect room = card.inset(10, 7);
    put_paragraph(ui, room, g.name, ui.style(12, Tone::text, Face::semibold), 15);
    ui.label(room.cut_top(16), figures_of(g), ui.small());
    room.cut_top(5);
    draw_thumbnail(ui, room, g, presets);
    if (hit.focused) ui.focus_ring(card, 6);
    return hit.clicked;
}

}  // namespace

float Dialogs::gallery_height(Ui& /*ui*/, float width) const {
    const std::size_t plans = window_.presets.list(PresetKind::plan).size(), columns = columns_for(width);
    const std::size_t rows = (plans + columns - 1) / columns;
    return static_cast<float>(rows) * (kCardHeight + kCardGap);
}

bool Dialogs::draw_gallery(Ui& ui, Rect room, Rect buttons) {
    gallery_.update(0, [&] { return gallery_of(window_.presets); });
    const std::size_t columns = columns_for(room.w);
    const float w = (room.w - kCardGap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    bool done = false;
    {
        ScrollArea area(ui, "gallery", room, dialog_.scroll);
        Rect row{};
        for (std::size_t i = 0; i < gallery_->size(); ++i) {
            if (i % columns == 0) {
                row = area.room.cut_top(kCardHeight);
                area.room.cut_top(kCardGap);
            }
            const Rect card = row.cut_left(w);
            row.cut_left(kCardGap);
            if (!draw_card(ui, card, i, (*gallery_)[i], window_.presets)) continue;
            const GalleryPlan& g = (*gallery_)[i];
            window_.later(g.name,
                          [this, plan = g.plan, name = g.name] { files_.replace_plan({plan}, name); });
            done = true;
        }
    }
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel") || done;
}

// File > Export review: what it is to look like, then where it goes.

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
    return out
           + ". Empty: those that decide, in brief; all: everything. The plans are inside the file, which "
             "opens here again.";
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
    if (!*made || made.running()) {
        const auto make = [&] {
            return std::make_shared<ReviewFirstPage>(window_.presets, window_.document.plan(),
                                                     window_.evaluation);
        };
        review_.first.get(window_.evaluated, make)->draw(ui.canvas(), box, review_.request);
        ui.canvas().text_in(row, made.error().empty() ? "Page 1; the others are worked out" : made.error(),
                            ui.small(), Align::center);
        return;
    }
    ReviewRequest shown = review_.request;
    try {
        shown.pages = review_pages_named(review_.pages);
        const int all = (*made)->draw(ui.canvas(), box, shown, review_.shown);
        review_.shown = held_between(review_.shown, 1, all);
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
    const std::pair key{window_.document.revision(), open ? review_second() : nullptr};
    const auto make = [&] {
        return [plans = reviewed_plans(), &presets = window_.presets](const std::atomic<bool>&) {
            return std::make_shared<ReviewPages>(presets, plans);
        };
    };
    if (review_.pages_of.work_out(window_.host.wake, open, key, make)) window_.dirty = true;
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
    bool entered = ui.text_field("review.pages", row("Pages"), review_.pages, "in brief; all, or 1,3-5",
                                 dialog_.fresh, &changed);
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
            if (!review_.request.all() && p == ReviewPage::comparison && review_second() == nullptr)
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
