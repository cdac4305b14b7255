// Lists settings that bear on memory or time and that no import puts into a plan: one table a framework. Each
// row says why: the plan has no field for it, or it has the field and the import does not read the setting.
#pragma once

#include "core/interop/import.h"
#include "core/interop/sheet.h"

#include <span>
#include <string>
#include <string_view>

namespace pentamesh::interop {

struct Unheld {
    std::string_view key;    // as a reader asks for it
    std::string_view why;    // a clause; empty where `field` says all
    std::string_view field;  // the plan's field that can say the same, "/model/pattern"; empty: it has none
};

// Returns the rows of the framework; empty where it has none.
[[nodiscard]] std::span<const Unheld> unheld_settings(Framework framework);
// Returns the row of a setting, or null.
[[nodiscard]] const Unheld* find_unheld(Framework framework, std::string_view key);
// Returns "the import does not read it; /model/pattern of the plan can say the same"; else why the plan
// cannot.
[[nodiscard]] std::string words_of(const Unheld& setting);
// Lists the setting as one that the plan does not hold; if its value switches nothing on, as ignored.
void say_unheld(Sheet& sheet, const Unheld& setting);

}  // namespace pentamesh::interop
