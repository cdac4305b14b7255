#include "app/tables/comm.h"

#include "core/explain/collective_steps.h"
#include "core/mesh/places.h"
#include "core/plan/names.h"

namespace pentamesh {

Table comm_table(const Plan& plan, const Evaluation& e) {
    Table t;
    t.columns = {{"axis"},
                 {"scope"},
                 {"what"},
                 {"collective"},
                 {"ranks", Shown::count, "group_size"},
                 {"tier"},
                 {"phase"},
                 {"per"},
                 {"calls", Shown::count, "count_per_step"},
                 {"message", Shown::traffic, "message_bytes"},
                 {"sent per step", Shown::traffic, "sent_bytes_per_rank"},
                 {"time", Shown::seconds, "time_s"},
                 {"exposed", Shown::seconds, "exposed_s"},
                 {"hidden behind", Shown::words, "hidden_behind"}};
    for (const Operation& o : e.comm.operations)
        t.rows.push_back({std::string(name_of(o.group)), std::string(name_of(o.scope)),
                          std::string(words_of(o.what)), std::string(name_of(o.collective)),
                          cell(o.group_size), std::string(tier_name(plan.cluster, o.tier)),
                          std::string(name_of(o.phase)), std::string(o.per), whole_cell(o.count_per_step),
                          whole_cell(o.message_bytes), whole_cell(o.sent_bytes_per_rank), cell(o.time_s),
                          cell(o.exposed_s), std::string(name_of(o.hidden_behind))});
    return t;
}

Table traffic_table(const TrafficMatrix& m) {
    Table t;
    t.columns = {{"axis"}, {"from ranks"}, {"to ranks"}, {"sent per step", Shown::traffic, "bytes"}};
    const auto ranks = [&](int block) {
        const std::int64_t first = block * m.block;
        return m.block == 1 ? cell(first) : cell(first) + " – " + cell(first + m.block - 1);
    };
    for (int from = 0; from < m.blocks; ++from)
        for (int to = 0; to < m.blocks; ++to)
            if (m.at(from, to) > 0)
                t.rows.push_back(
                    {std::string(name_of(m.group)), ranks(from), ranks(to), whole_cell(m.at(from, to))});
    return t;
}

Table phases_table(const Plan& plan, const Evaluation& e, int operation) {
    Table t;
    t.columns = {{"phase"},
                 {"tier"},
                 {"ranks", Shown::count},
                 {"members apart", Shown::count, "stride"},
                 {"steps", Shown::count},
                 {"bytes in a step", Shown::traffic, "chunk_bytes"},
                 {"time of a step", Shown::seconds, "step_s"}};
    const auto i = static_cast<std::size_t>(operation);
    if (i >= e.comm.operations.size()) return t;
    for (const CollectivePhase& p : collective_phases(plan, e, e.comm.operations[i]))
        t.rows.push_back({std::string(name_of(p.shape)), std::string(tier_name(plan.cluster, p.tier)),
                          cell(p.ranks), cell(p.stride), cell(p.steps), whole_cell(p.chunk_bytes),
                          cell(p.step_s)});
    return t;
}

}  // namespace pentamesh
