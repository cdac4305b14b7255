#include "app/tables/map.h"

#include "core/mesh/places.h"

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
        t.rows.push_back({std::string(w.key), cell(r.degree), r.setting, std::string(w.cuts),
                          r.collectives.empty() ? std::string(w.says) : collectives_text(r),
                          whole_cell(r.calls), whole_cell(r.sent_bytes), cell(r.time_s), cell(r.exposed_s),
                          tier_label(plan.cluster, r.tier), std::string(name_of(r.verdict)), r.reason,
                          std::string(w.reach)});
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
        std::vector<std::string>& row = t.rows.emplace_back();
        row.emplace_back(w.key);
        for (const MapWordsColumn& k : kMapScope) row.emplace_back(w.*k.words);
        for (const MapWordsColumn& k : kMapMaster) row.emplace_back(w.*k.words);
    }
    return t;
}

}  // namespace pentamesh
