// The command line under Node has no window.
#include "app/platform/window.h"
#include "core/base/files.h"

namespace pentamesh {

void run_window(const Presets&, const WindowArgs&) {
    throw Error(ErrorKind::io, "", "",
                "Node has no window: open pentamesh.html in a browser, or give a command (--help)");
}

}  // namespace pentamesh
