#include "app/tables/constants.h"

#include <array>

namespace pentamesh {

Table constants_table(const std::vector<Constant>& constants) {
    static constexpr std::array<std::string_view, 7> kUnits{"share",  "s",   "bytes", "bytes/s",
                                                            "FLOP/s", "1 :", "on"};
    Table t;
    t.columns = {{"constant"}, {"value", Shown::figure}, {"unit"}, {"changed"}};
    for (const Constant& c : constants)
        t.rows.push_back({c.name, cell(c.value), std::string(kUnits[static_cast<std::size_t>(c.unit)]),
                          c.changed() ? "yes" : ""});
    return t;
}

}  // namespace pentamesh
