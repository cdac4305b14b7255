// Draws segments over an enum, and makes the edit of a choice.
#pragma once

#include "app/ui/panels/plan_blocks.h"
#include "core/plan/names.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

template <typename Set>
[[nodiscard]] PlanEdit changed(const Scene& scene, std::string what, Set&& set) {
    Plan p = scene.plan;
    set(p);
    return PlanEdit{std::move(p), std::move(what), ""};
}

// Draws a segment for each value, by its name; returns the value that was clicked.
template <typename E>
[[nodiscard]] std::optional<E> choose_of(Ui& ui, std::string_view name, Rect box, std::span<const E> values,
                                         E current) {
    std::vector<std::string_view> labels;
    for (const E e : values) labels.push_back(name_of(e));
    const auto at = std::find(values.begin(), values.end(), current);
    const int now = at == values.end() ? -1 : static_cast<int>(at - values.begin());
    const int to = ui.segments(name, box, labels, now);
    return to == now ? std::nullopt : std::optional(values[to]);
}
template <typename E>
[[nodiscard]] constexpr auto all_values() {
    std::array<E, kNames<E>.size()> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<E>(i);
    return values;
}
template <typename E>
[[nodiscard]] std::optional<E> choose(Ui& ui, std::string_view name, Rect box, E current) {
    static constexpr auto kAll = all_values<E>();
    return choose_of<E>(ui, name, box, kAll, current);
}

}  // namespace pentamesh::ui
