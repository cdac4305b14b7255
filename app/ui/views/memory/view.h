// The view Memory shows what each GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/memory/savings.h"

#include <array>
#include <string_view>
#include <vector>

namespace pentamesh::ui {

inline constexpr std::array<std::string_view, 2> kMemoryPages{"stages", "saved"};

struct MemoryViewState {
    std::uint32_t hidden = 0;               // categories switched off, by bit
    bool saved = false;                     // the waterfall "what each axis saved" instead of the stages
    Kept<std::vector<SavingStep>> savings;  // by revision
};
void draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene, MemoryViewState& state,
                 std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table memory_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
