#include "app/tables/map.h"

#include "core/base/text.h"
#include "core/mesh/places.h"

#include <algorithm>

namespace pentamesh {

Table map_table(const Plan& plan, std::span<const MapRow> rows) {
    Table t;
    t.columns = {{"axis"},
                 {"factor", Shown::count},
                 {"setting"},
                 {"cuts"},
                 {"says"},
                 {"calls per step", Shown::count, "calls"},
                 {"sent per GPU and step", Shown::traffic, "sent_bytes"},
                 {"time", Shown::seconds, "time_s"},
                 {"exposed", Shown::seconds, "exposed_s"},
                 {"crosses"},
                 {"verdict"},
                 {"reason"},
                 {"reach for it when", Shown::words, "reach"}};
    for (const MapRow& r : rows) {
        const MapWords& w = words_of(r.id);
        t.rows.push_back({w.key, r.degree, r.setting, w.cuts,
                          r.collectives.empty() ? Cell(w.says) : Cell(collectives_text(r)),
                          whole_cell(r.calls), whole_cell(r.sent_bytes), r.time_s, r.exposed_s,
                          tier_label(plan.cluster, r.tier), name_of(r.verdict), r.reason, w.reach});
    }
    return t;
}

Table wires_table(const WireRace& race) {
    const std::string axis(race.moved ? name_of(*race.moved) : "an axis");
    Table t;
    t.columns = {{"wire"},
                 {"reach"},
                 {"bytes per second", Shown::traffic, "bytes_per_s"},
                 {"a GB takes", Shown::seconds, "takes_s"},
                 {"who talks on it", Shown::words, "talk"},
                 {"a step with " + axis + " on it", Shown::seconds, "step_s"},
                 {"of it waits for " + axis, Shown::seconds, "waits_s"},
                 {"order"}};
    for (const RaceLane& l : race.lanes) {
        std::string talk;
        for (const WireTalk& w : race.talk)
            if (w.tier == l.tier)
                talk += sentence(talk.empty() ? "" : "; ", name_of(w.kind), ": ", whole_text(w.calls),
                                 w.calls == 1 ? " call, " : " calls, ", bytes_text(w.sent_bytes));
        Table::Row& row = t.rows.emplace_back();
        row = {l.name, l.reach, l.bytes_per_s, l.takes_s(), talk};
        const auto order = std::find_if(race.orders.begin(), race.orders.end(),
                                        [&](const OtherOrder& o) { return o.tier == l.tier; });
        row.resize(t.columns.size());
        if (order == race.orders.end()) continue;
        row[5] = order->step_s, row[6] = order->waits_s, row[7] = order->where;
    }
    return t;
}

Table map_reference_table() {
    Table t;
    t.columns = {{"axis"}};
    for (const MapWordsColumn& k : kMapScope) t.columns.push_back({std::string(k.title)});
    for (const MapWordsColumn& k : kMapMaster) t.columns.push_back({std::string(k.title)});
    for (int i = 0; i < kMapRowCount; ++i) {
        const MapWords& w = words_of(static_cast<MapRowId>(i));
        Table::Row& row = t.rows.emplace_back();
        row.emplace_back(w.key);
        for (const MapWordsColumn& k : kMapScope) row.emplace_back(w.*k.words);
        for (const MapWordsColumn& k : kMapMaster) row.emplace_back(w.*k.words);
    }
    return t;
}

}  // namespace pentamesh
