// Asks what the probe of mutants and the golden figures both ask.
#pragma once

#include "core/decide/search.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace pentamesh::test {

// Returns the files in a folder and those below it, in the order of their paths.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
}

// Returns the five best of a space with their ties, found by one thread.
inline SearchReport five_best(const Plan& plan, const SearchSpace& space, Goal goal) {
    SearchOptions options;
    options.threads = 1, options.goal = goal, options.top = 5;
    SearchReport r = search(plan, space, options);
    TieOptions ties;
    ties.robust = true;
    find_ties(plan, ties, r);
    return r;
}

}  // namespace pentamesh::test
