// The view Memory shows what each GPU holds.
#pragma once

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/kept.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/memory/savings.h"
#include "core/teach/zero_rungs.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pentamesh::ui {

enum class MemoryPage : std::uint8_t { stages, saved, sheds };
inline constexpr std::array<std::string_view, 3> kMemoryPages{"stages", "saved", "sheds"};

struct MemoryViewState {
    std::uint32_t hidden = 0;  // categories switched off, by bit
    MemoryPage page = MemoryPage::stages;
    std::int64_t microbatches = 0;  // that the rungs of ZeRO have instead of the plan's; 0: the plan's
    Kept<std::vector<SavingStep>> savings;                          // by revision
    Kept<ZeroRungs, std::pair<std::uint64_t, std::int64_t>> rungs;  // by revision and micro-batches
};
[[nodiscard]] std::optional<PlanEdit> draw_memory(Ui& ui, Rect head_row, Rect room, Scene& scene,
                                                  MemoryViewState& state, std::uint64_t revision);
// `part` is one of the tables that app/ui/views/table.cpp names.
[[nodiscard]] Table memory_data(const Scene& scene, int part);

}  // namespace pentamesh::ui
