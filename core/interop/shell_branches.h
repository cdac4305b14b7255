// Says what is left of variables behind code that is run or not.
#pragma once

#include "core/interop/shell_state.h"

#include <set>
#include <string>

namespace pentamesh::shell {

// Returns a variable after two branches of which either may be taken: a list of flags keeps the common
// beginning of both, and the names of the others; any other value is unknown.
[[nodiscard]] Variable either_of(Expander& x, const std::string& name, int line, const Variable& a,
                                 const Variable& b);
// Adds the names of the variables that a command may set.
void collect_assigned(const Command& c, std::set<std::string>& names);

}  // namespace pentamesh::shell
