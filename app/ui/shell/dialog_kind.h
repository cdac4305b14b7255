// The dialogs of the window.
#pragma once

#include <cstdint>

namespace pentamesh::ui {

enum class DialogKind : std::uint8_t {
    none,
    open,
    save,
    picture,       // its size, theme and file
    picture_file,  // the file to write
    table,
    review,         // its pages and paper
    review_file,    // the file to write
    review_second,  // the plan to compare with
    written,        // says where something was written
    handout,        // of the open lesson
    results,        // a picture of the tasks that are done
    runs,           // measured runs, to calibrate from
    settings,
    close,
    recover,
    about,
    missing,
    preset,
    presets
};
inline constexpr int kDialogKinds = static_cast<int>(DialogKind::presets) + 1;

}  // namespace pentamesh::ui
