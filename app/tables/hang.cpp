#include "app/tables/hang.h"

#include "core/base/text.h"
#include "core/runs/hang_words.h"

namespace pentamesh {

Table hang_table(const runs::HangRun& run) {
    Table out;
    out.columns = {{"ranks"}, {"does"}, {"at"}, {"for"}, {"call"}, {"over"}, {"why"}};
    const runs::Hang& h = run.hang;
    const auto add = [&](const std::string& ranks, const std::string& does, const std::string& at,
                         const std::string& whom, const runs::RunCall& call, const std::string& why) {
        Table::Row& row = out.rows.emplace_back();
        for (const std::string& cell : {ranks, does, at, whom, call_words(h, *run.run.names, call),
                                        std::string(run.tier_name_of(call)), why})
            row.emplace_back(cell);
    };
    for (const runs::Culprit& c : h.culprits)
        add(std::to_string(c.rank), sentence(name_of(c.kind), c.sure ? "" : " (not sure)"),
            coordinate_words(h.layout, c.rank), "", c.call, c.why);
    for (const runs::RunCall& c : h.groups_stuck)
        add(ranks_text(run.run.names->ranks(c.group)), "stuck", "", "", c, "all are there and nothing moves");
    for (const runs::WaitingCall& w : waiting_by_call(h))
        add(ranks_text(w.who), "waits", "", ranks_text(w.whom), w.call, "");
    if (!h.held_up.empty())
        add(ranks_text(h.held_up), "held up", "", "", {},
            "nobody is missing in their own calls: they wait behind the others");
    return out;
}

}  // namespace pentamesh
