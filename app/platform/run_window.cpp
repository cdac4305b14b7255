// This is the loop around a desktop's window.
#include "app/platform/window.h"

namespace pentamesh {

void run_window(const Presets& presets, const WindowArgs& args) {
    WindowRun window(presets, args);
    while (window.turn()) {
    }
    window.closed();
}

}  // namespace pentamesh
