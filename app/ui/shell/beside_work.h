// What is worked out beside the window, each on a thread of its own; null: not wanted yet.
#pragma once

#include "app/ui/kit/beside.h"
#include "app/ui/review/preview.h"
#include "core/calibrate/calibrate.h"
#include "core/decide/compare.h"
#include "core/decide/nearby.h"
#include "core/decide/sensitivity.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pentamesh::ui {

class SearchRunner;

struct BesideWork {
    using Review =
        Beside<std::shared_ptr<ReviewPages>, std::pair<std::uint64_t, std::shared_ptr<const Plan>>>;
    using Near = Beside<std::optional<SearchResult>, std::uint64_t>;
    using Path = Beside<std::vector<PathEdit>, std::pair<std::uint64_t, std::uint64_t>>;
    using Tornado = Beside<Sensitivity, std::uint64_t>;
    using Fit = Beside<Calibrated, std::uint64_t>;

    std::unique_ptr<Review> review;
    std::unique_ptr<Near> near;
    std::unique_ptr<SearchRunner> search;
    std::unique_ptr<Path> path;
    std::unique_ptr<Tornado> tornado;
    std::unique_ptr<Fit> fit;
};

}  // namespace pentamesh::ui
