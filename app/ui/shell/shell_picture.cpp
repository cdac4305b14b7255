// Export > Picture of this view: how it is to look, with a preview, and where it goes; its copy for another
// program; and what is said of a file that was written.
#include "app/ui/shell/dialog_parts.h"
#include "app/ui/shell/shell.h"
#include "app/ui/views/frame.h"
#include "core/base/files.h"
#include "render/page.h"
#include "render/shown_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kPictureRow = 38, kPictureLabel = 74, kPreviewWidth = 500, kPreviewHeight = 330,
                kPreviewGap = 24;
constexpr double kPreviewRest_s = 0.12;  // after a change, until the preview follows
constexpr float kMostPreview = 4000e3;   // logical pixels; more would take seconds
constexpr std::array<Vec2, 3> kSizes{{{1600, 900}, {1600, 1200}, {1600, 0}}};
constexpr int kOwnSize = 3;
constexpr std::string_view kSizeWords[] = {"16:9", "4:3", "as high as it takes", "own"};

constexpr std::uint32_t kPdf = 1U << static_cast<unsigned>(PictureFile::pdf);

std::string pixels_words(const PictureChoice& c) {
    if (c.file != PictureFile::png) return "Text in it is text; the plan is inside, and opens by a drop.";
    const auto side = [&](float v) { return std::to_string(std::lround(v * c.scale)); };
    return (c.size.y > 0 ? side(c.size.x) + " × " + side(c.size.y) + " pixels."
                         : side(c.size.x) + " pixels wide.")
           + " The plan is inside: the picture opens by a drop.";
}

}  // namespace

std::string Shell::pictured_view() const {
    return full_ ? std::string(view_of(*full_).name) : std::string(kDashboardName);
}

float Shell::picture_dialog_height(Ui& ui, float width) const {
    const float rows =
        kPictureRow * 6 + ui.canvas().paragraph_height(380, pixels_words(picture_.choice), ui.small(), 18);
    return width > 380 + kPreviewWidth / 2 ? std::max(rows, kPreviewHeight) : rows;
}

// The preview follows a little after what was changed last.
void Shell::tend_preview() {
    const PictureChoice& c = picture_.choice;
    if (!(c == picture_.asked) || picture_.asked_revision != document_.revision()
        || picture_.asked_view != pictured_view()) {
        picture_.asked = c;
        picture_.asked_revision = document_.revision();
        picture_.asked_view = pictured_view();
        picture_.due_s = now_s_ + kPreviewRest_s;
    }
    if (picture_.due_s < 0 || now_s_ < picture_.due_s || !host_.save_picture) return;
    picture_.due_s = -1;
    picture_.reason.clear();
    if (c.size.x * std::max(c.size.y, c.size.x / 2) > kMostPreview)
        show_preview({}, "Too large for a preview.");
    else
        host_.save_picture({PictureOrder::Use::preview, pictured_view(), c, {}});
}

void Shell::show_preview(Image image, std::string reason) {
    picture_.preview = std::move(image);
    picture_.reason = std::move(reason);
    ++picture_.preview_number;
    dirty_ = true;
}

void Shell::draw_picture_preview(Ui& ui, Rect box) const {
    Canvas& c = ui.canvas();
    if (!picture_.reason.empty())
        c.paragraph(box, picture_.reason, ui.small(), 18);
    else if (picture_.preview.width > 0)
        c.frame(show_image(c, box, picture_.preview, picture_.preview_number), ui.theme().hairline, 1);
    else
        c.text_in(box, "Drawing the preview…", ui.small(), Align::center);
}

// True: the dialog is done.
bool Shell::draw_picture_dialog(Ui& ui, Rect room, Rect buttons) {
    take_dialog_focus("picture.to_file");
    PictureChoice& choice = picture_.choice;
    const float left = room.w > 380 + kPreviewWidth / 2 ? 380.0f : room.w;
    Rect preview = room;
    preview.cut_left(left + kPreviewGap);
    room.w = left;
    const auto row = [&](std::string_view name) {
        Rect line = room.cut_top(kPictureRow);
        line.cut_bottom(kPictureRow - kDialogField);
        ui.canvas().text_in(line.cut_left(kPictureLabel), name, ui.style(13, Tone::secondary));
        return line;
    };
    const bool whole = pictured_view() == kDashboardName;
    picture_.size = ui.segments("picture.size", row("Size"), kSizeWords, picture_.size);
    Rect line = row("");
    bool sized = true;
    if (picture_.size == kOwnSize) {
        (void)ui.text_field("picture.own", line.cut_left(124), picture_.own, "1600x900 or 1600xauto");
        const auto size = picture_size_named(picture_.own);
        sized = size.has_value();
        if (size) choice.size = *size;
        line.cut_left(10);
        if (!sized) {
            TextStyle bad = ui.small();
            bad.color = ui.theme().bad;
            ui.label(line, picture_limits_words(), bad);
        }
    } else {
        choice.size = kSizes[static_cast<std::size_t>(picture_.size)];
        ui.canvas().text_in(line, picture_size_words(choice.size), ui.small());
    }
    static constexpr std::string_view kThemes[] = {"the window's", "dark", "light", "contrast"},
                                      kOver[] = {"with title", "without"},
                                      kUnder[] = {"with caption", "without"},
                                      kFiles[] = {"PNG", "SVG", "PDF"}, kScales[] = {"×1", "×2", "×3", "×4"};
    const int theme = ui.segments("picture.theme", row("Theme"), kThemes,
                                  choice.theme ? 1 + static_cast<int>(*choice.theme) : 0);
    choice.theme.reset();
    if (theme > 0) choice.theme = static_cast<ThemeId>(theme - 1);
    line = row("Words");
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
    room.cut_top(ui.canvas().paragraph(room, pixels_words(choice), ui.small(), 18));
    dialog_error_text(ui, room, dialog_.error);
    if (sized) tend_preview();
    if (preview.w > 100)
        draw_picture_preview(ui, {preview.x, preview.y, preview.w, std::min(preview.h, kPreviewHeight)});
    if (dialog_button(ui, buttons, "picture.to_file", "Choose a file…", sized, 130))
        later("", [this] {
            const std::string name = pictured_view() + "." + std::string(ending_of(picture_.choice.file));
            ask(DialogKind::picture_file, proposed_file(name), nullptr);
        });
    if (dialog_button(ui, buttons, "picture.copy", "Copy", sized)) copy_picture();
    return dialog_button(ui, buttons, "dialog.cancel", "Cancel");
}

void Shell::copy_picture() {
    if (!host_.save_picture) return;
    PictureChoice choice = picture_.choice;
    choice.file = PictureFile::png;
    host_.save_picture({PictureOrder::Use::clipboard, pictured_view(), choice, {}});
}

void Shell::picture_failed(const std::filesystem::path& path, std::string reason) {
    ask(DialogKind::picture_file, path.string(), nullptr, std::move(reason));
}

// Enter does what is most likely wanted.
void Shell::take_dialog_focus(std::string_view button) {
    if (!std::exchange(dialog_.fresh, false)) return;
    state_.focus = id_of(button);
    dirty_ = true;
}

// ---- tables -------------------------------------------------------------------------------------------

// The view that fills the window; else the uppermost that is shown as a table; else the uppermost.
ViewId Shell::tabled_view() const {
    if (full_) return *full_;
    for (const ViewId id : views_.in_pane)
        if (views_.as_data[static_cast<std::size_t>(id)]) return id;
    return views_.in_pane.front();
}

// The table of the view as it would be shown as data, in the form that the file's ending names.
void Shell::save_table(const std::filesystem::path& path) {
    Hover none;
    const std::string ending = path.extension().string();
    const TableFormat format = ending == ".md"     ? TableFormat::markdown
                               : ending == ".json" ? TableFormat::json
                               : ending == ".html" ? TableFormat::html
                               : ending == ".txt"  ? TableFormat::text
                                                   : TableFormat::csv;
    const std::string table = write_table(data_of(scene_of(none), tabled_view(), views_), format);
    const std::string title(view_of(tabled_view()).title);
    write_file(path, format == TableFormat::html ? "<!doctype html>\n<meta charset=\"utf-8\">\n<title>"
                                                       + html_text(title) + "</title>\n" + table
                                                 : table);
}

void Shell::copy_table(TableFormat format) {
    if (!host_.set_clipboard) return;
    Hover none;
    host_.set_clipboard(write_table(data_of(scene_of(none), tabled_view(), views_), format));
    say("Copied the data of " + std::string(view_of(tabled_view()).title));
}

// ---- a file that was written ----------------------------------------------------------------------------

void Shell::wrote(const std::filesystem::path& path) {
    if (host_.in_page) return say("Downloaded " + path.filename().string());
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
    ask(DialogKind::written, (whole.empty() ? path : whole).string(), nullptr);
}

// True: the dialog is done.
bool Shell::draw_written_dialog(Ui& ui, Rect room, Rect buttons) {
    take_dialog_focus("dialog.ok");
    dialog_error_text(ui, room, dialog_.error);
    bool done = dialog_button(ui, buttons, "dialog.ok", "Close");
    if (host_.set_clipboard && dialog_button(ui, buttons, "written.copy", "Copy path")) {
        host_.set_clipboard(dialog_.text);
        say("Copied the path");
        done = true;
    }
    if (host_.open_outside && dialog_button(ui, buttons, "written.open", "Open")) {
        const std::string reason = host_.open_outside(dialog_.text);
        if (!reason.empty()) say(reason);
        done = done || reason.empty();
    }
    return done;
}

// ---- commands -----------------------------------------------------------------------------------------

void Shell::make_export_commands() {
    add({.id = "export.picture",
         .title = "Picture of this view…",
         .menu = "Export",
         .chord = ctrl(Key::e),
         .run = [this] { ask(DialogKind::picture, "", nullptr); },
         .enabled = [this] { return static_cast<bool>(host_.save_picture); }});
    add({.id = "export.copy_picture",
         .title = "Copy the picture of this view",
         .menu = "Export",
         .run = [this] { copy_picture(); },
         .enabled = [this] { return static_cast<bool>(host_.save_picture); }});
    // The answer to a question that is open stands in none of these.
    const auto tells_nothing = [this] { return !veil_.hides(); };
    add({.id = "export.table",
         .title = "This table…",
         .menu = "Export",
         .separator = true,
         .run =
             [this] {
                 const std::string name(view_of(tabled_view()).name);
                 ask(DialogKind::table, proposed_file(name + ".csv"), nullptr);
             },
         .enabled = tells_nothing});
    struct Format {
        TableFormat format;
        const char *id, *title;
    };
    static constexpr std::array<Format, 4> kFormats{
        {{TableFormat::csv, "export.csv", "Copy data as CSV"},
         {TableFormat::markdown, "export.markdown", "Copy data as Markdown"},
         {TableFormat::json, "export.json", "Copy data as JSON"},
         {TableFormat::text, "export.text", "Copy data as text"}}};
    for (const Format& f : kFormats)
        add({.id = f.id,
             .title = f.title,
             .menu = "Export",
             .run = [this, format = f.format] { copy_table(format); },
             .enabled = [this] { return host_.set_clipboard && !veil_.hides(); }});
}

}  // namespace pentamesh::ui
