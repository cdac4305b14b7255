#include "app/ui/scene/drawn_slice.h"

namespace pentamesh::ui {

std::uint64_t index_of(const StepSlice& slice) {
    return static_cast<std::uint64_t>(slice.part) * 64 + static_cast<std::uint64_t>(slice.group);
}

DrawnSlice drawn_slice(const Ui& ui, std::string_view name, const StepSlice& slice) {
    const std::uint64_t begin = 2 * index_of(slice), length = begin + 1;
    DrawnSlice out{slice, std::nullopt};
    out.now.from_s = ui.glide(name, slice.from_s, begin);
    out.now.time_s = ui.glide(name, slice.time_s, length);
    if (const auto time = ui.before(name, length)) {
        out.before = slice;
        out.before->from_s = ui.before(name, begin).value_or(slice.from_s);
        out.before->time_s = *time;
    }
    return out;
}

}  // namespace pentamesh::ui
