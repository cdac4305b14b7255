// Export > Picture of this view: how it is to look, with a preview, and where it goes; its copy for another
// program; and what is said of a file that was written.
#include "app/ui/shell/dialogs.h"
#include "render/page.h"
#include "render/shown_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kPictureLabel = 74, kPreviewWidth = 500, kPreviewHeight = 330, kPreviewGap = 24;
constexpr double kPreviewRest_s = 0.12;  // after a change, until the preview follows
constexpr float kMostPreview = 4000e3;   // logical pixels; more would take seconds
constexpr std::array<Vec2, 3> kSizes{{{1600, 900}, {1600, 1200}, {1600, 0}}};
constexpr int kOwnSize = 3;
constexpr std::string_view kSizeWords[] = {"16:9", "4:3", "as high as it takes", "own"};

constexpr std::uint32_t kPdf = 1U << static_cast<unsigned>(PictureFile::pdf);

std::string pixels_words(const PictureChoice& c) {
    if (c.file != PictureFile::png) {
        const std::string page = c.text == 1 ? "" : "The page is smaller, its type stays. ";
        return page + "Text in it is text; the plan is inside, and opens by a drop.";
    }
    const auto side = [&](float v) { return std::to_string(std::lround(v * c.scale)); };
    return (c.size.y > 0 ? side(c.size.x) + " × " + side(c.size.y) + " pixels."
                         : side(c.size.x) + " pixels wide.")
           + " The plan is inside: the picture opens by a drop.";
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
        kDialogRow * 7 + ui.canvas().paragraph_height(380, pixels_words(picture_.choice), ui.small(), 18);
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
    room.cut_top(ui.canvas().paragraph(room, pixels_words(choice), ui.small(), 18));
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

}  // namespace pentamesh::ui
