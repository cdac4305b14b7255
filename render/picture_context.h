// Where pictures are drawn without a display: an OpenGL context of their own (EGL), or in a browser the
// window's.
#pragma once

#include <memory>
#include <string>

struct ImGuiContext;

namespace pentamesh {

// Error of kind io: no picture can be drawn, and why.
[[noreturn]] void fail_picture(const std::string& why);

class PictureContext {
  public:
    // Error (kind io) where there is none.
    PictureContext();
    ~PictureContext();
    PictureContext(const PictureContext&) = delete;
    PictureContext& operator=(const PictureContext&) = delete;

  private:
    friend class BorrowedContext;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// While it lives, the picture's contexts are current; afterwards whatever was before, so that a window can
// draw a picture in the middle of its own frame.
class BorrowedContext {
  public:
    explicit BorrowedContext(const PictureContext& context);
    ~BorrowedContext();
    BorrowedContext(const BorrowedContext&) = delete;
    BorrowedContext& operator=(const BorrowedContext&) = delete;

  private:
    const PictureContext* context_;
    void* window_;
    ImGuiContext* imgui_;
};

}  // namespace pentamesh
