// An Explanation says how a number came about. It is built only when asked for, by the module that computes
// the number.
#pragma once

#include <string>

namespace pentamesh {

struct Explanation {
    std::string title;        // "tp sends", "compute"
    std::string part = {};    // of what the title names: "activations before the MLP"; empty: all of it
    std::string formula;      // with symbols: "4 · 2(t-1)/t · s·b·h·2 · L/p · m"
    std::string substituted;  // the same with this plan's numbers
    std::string result;       // "= 237 GB per step"
    std::string source;       // paper and equation, or framework file
    [[nodiscard]] std::string whole_title() const { return part.empty() ? title : title + ", " + part; }
    [[nodiscard]] bool empty() const { return formula.empty(); }
};

}  // namespace pentamesh
