// Puts values in the place of references inside a document: OmegaConf's ${.key} of the same map, ${a.b} from
// the root and ${multiply:4, ${.a}}; and ${NAME:otherwise} of the environment.
#pragma once

#include "core/interop/settings.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pentamesh::interop {

using GivenValues = std::map<std::string, std::string, std::less<>>;  // "TP" -> "4"

// A reference that nothing gives a value becomes the setting's unknown.
void resolve_references(std::vector<Setting>& settings, const GivenValues& given);

}  // namespace pentamesh::interop
