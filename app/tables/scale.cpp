#include "app/tables/scale.h"

#include "core/plan/names.h"

#include <array>

namespace pentamesh {

bool in_use(const Scale& s, GroupKind k) {
    for (const ScalePoint& p : s.points)
        if (p.time_s[k] > 0 || p.waits_s[k] > 0) return true;
    return false;
}

Table scale_table(const Scale& s) {
    Table t;
    const std::string over(name_of(s.request.over));
    t.columns = {{over, Shown::count, "at"},
                 {"step", Shown::seconds, "step_s"},
                 {"compute", Shown::seconds, "compute_s"},
                 {"bubble", Shown::seconds, "bubble_s"}};
    for (const GroupKind k : all_of<GroupKind>())
        if (in_use(s, k))
            t.columns.push_back(
                {std::string(name_of(k)) + " waits", Shown::seconds, std::string(name_of(k)) + "_waits_s"});
    const std::array<Table::Column, 6> rest{{{"tokens/s", Shown::count, "tokens_per_s"},
                                             {"MFU", Shown::share, "mfu"},
                                             {"of the best per GPU", Shown::share, "of_best"},
                                             {"fullest GPU", Shown::memory, "memory_bytes"},
                                             {"fits"},
                                             {"reason"}}};
    t.columns.insert(t.columns.end(), rest.begin(), rest.end());
    for (const ScalePoint& p : s.points) {
        Table::Row& row = t.rows.emplace_back();
        row.emplace_back(p.at);
        const auto number = [&](double x) { row.push_back(p.possible() ? Cell(x) : Cell("")); };
        for (const double x : {p.step_s, p.compute_s, p.bubble_s}) number(x);
        for (const GroupKind k : all_of<GroupKind>())
            if (in_use(s, k)) number(p.waits_s[k]);
        for (const double x : {p.tokens_per_s, p.mfu, p.of_best}) number(x);
        row.push_back(p.possible() ? whole_cell(p.memory_bytes) : Cell(""));
        row.emplace_back(p.possible() ? name_of(p.fit) : "");
        row.emplace_back(p.reason);
    }
    return t;
}

Table turns_table(const Scale& s) {
    Table t;
    t.columns = {{"turn"},
                 {"axis"},
                 {std::string(name_of(s.request.over)), Shown::count, "at"},
                 {"in words", Shown::words, "words"}};
    for (const ScaleCrossing& c : s.crossings)
        t.rows.push_back({name_of(c.turn), c.of_axis() ? name_of(c.axis) : std::string_view(),
                          whole_cell(c.at), c.words()});
    return t;
}

}  // namespace pentamesh
