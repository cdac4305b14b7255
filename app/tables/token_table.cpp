#include "app/tables/token_table.h"

#include "core/base/text.h"

namespace pentamesh {

Table token_table(const TokenWay& way) {
    Table t;
    t.columns = {{"GPU", Shown::plain, "rank"},
                 {"node", Shown::plain},
                 {"experts"},
                 {"tokens", Shown::count},
                 {"of the mean", Shown::figure, "load"},
                 {"waits", Shown::share, "idle_share"},
                 {"of the token", Shown::words, "picked"}};
    for (std::size_t i = 0; i < way.size(); ++i) {
        const TokenDrawer& d = way.drawers[i];
        std::string held = with_commas(d.experts.begin);
        if (d.experts.size() > 1) held += "-" + with_commas(d.experts.end - 1);
        if (d.experts.size() == 0) held.clear();
        std::string picked;
        for (const TokenPick& p : way.picks)
            if (p.drawer == i) picked += (picked.empty() ? "" : ", ") + with_commas(p.expert);
        t.rows.push_back({d.rank, d.node, std::move(held), whole_cell(d.tokens), d.load, way.idle_share(i),
                          picked.empty() ? "" : "expert " + picked + ", made up"});
    }
    return t;
}

}  // namespace pentamesh
