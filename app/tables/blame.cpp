#include "app/tables/blame.h"

#include "app/tables/groups.h"
#include "core/mesh/places.h"

namespace pentamesh {

std::string kinds_text(const SharedGroup& group) {
    std::string text(name_of(group.kind));
    for (const GroupKind kind : group.also) text += " = " + std::string(name_of(kind));
    return text;
}

Table shared_groups_table(const Plan& plan, const Blame& blame) {
    Table t;
    t.columns = {{"axis"},
                 {"group", Shown::count},
                 {"GPUs", Shown::count, "degree"},
                 {"others that wait", Shown::count, "others"},
                 {"slowest tier", Shown::words, "slowest_tier"},
                 {"ranks"}};
    for (const SharedGroup& g : blame.groups)
        t.rows.push_back({kinds_text(g), cell(g.index), cell(static_cast<std::int64_t>(g.members.size())),
                          cell(static_cast<std::int64_t>(g.members.size() - blame.ranks.size())),
                          std::string(tier_name(plan.cluster, g.tier)), folded_ranks(g.members)});
    return t;
}

Table waits_table(const Plan& plan, const Evaluation& e, const Blame& blame) {
    Table t;
    t.columns = {
        {"axis"}, {"collective"}, {"of"}, {"in", Shown::words, "phase"}, {"once per", Shown::words, "per"},
        {"over"}};
    for (const SharedGroup& g : blame.groups)
        for (const int i : g.operations) {
            const Operation& o = e.comm.operations[static_cast<std::size_t>(i)];
            t.rows.push_back({std::string(name_of(o.group)), std::string(name_of(o.collective)),
                              std::string(words_of(o.what)), std::string(name_of(o.phase)),
                              std::string(o.per), std::string(tier_name(plan.cluster, g.tier))});
        }
    return t;
}

Table spread_table(const Blame& blame) {
    Table t;
    t.columns = {{"axis"},
                 {"GPUs a group", Shown::count, "degree"},
                 {"groups with any of them", Shown::count, "groups"},
                 {"most in one", Shown::count, "most"},
                 {"that is group", Shown::count, "most_in"}};
    for (const AxisSpread& s : blame.spread)
        t.rows.push_back(
            {std::string(name_of(s.kind)), cell(s.degree), cell(s.groups), cell(s.most), cell(s.most_in)});
    return t;
}

}  // namespace pentamesh
