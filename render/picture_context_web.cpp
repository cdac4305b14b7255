// In a page pictures are drawn in the window's own context, on framebuffers other than its canvas.
#include "core/base/error.h"
#include "render/picture_context.h"

#include <emscripten/html5.h>
#include <imgui.h>

namespace pentamesh {

void fail_picture(const std::string& why) {
    throw Error(ErrorKind::io, "", "", "no picture can be drawn here: " + why);
}

struct PictureContext::Impl {};

PictureContext::PictureContext() : impl_(std::make_unique<Impl>()) {
    if (emscripten_webgl_get_current_context() == 0)
        fail_picture("this is the program for Node, which has no WebGL; open the page, or use the program");
}
PictureContext::~PictureContext() = default;

BorrowedContext::BorrowedContext(const PictureContext& context)
    : context_(&context), window_(nullptr), imgui_(ImGui::GetCurrentContext()) {}
BorrowedContext::~BorrowedContext() {
    ImGui::SetCurrentContext(imgui_);
}

}  // namespace pentamesh
