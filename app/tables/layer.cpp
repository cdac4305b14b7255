#include "app/tables/layer.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace pentamesh {

std::string shape_text(const LayerTensor& tensor) {
    return join(tensor.dims, " × ", [](const LayerDim& d) {
        return with_commas(std::llround(d.local))
               + (d.local < d.size ? " of " + with_commas(std::llround(d.size)) : "");
    });
}

namespace {

std::string texts(const std::vector<LayerTensor>& list, Notation notation, bool dp) {
    return join(list, "; ", [&](const LayerTensor& t) { return text_of(t, notation, dp); });
}

std::string kept_text(const std::vector<KeptTensor>& list) {
    return join(list, ", ", [](const KeptTensor& k) { return k.name; });
}

// Returns "all-gather", as in the tables of calls.
std::string step_words(LayerOp op) {
    std::string out(name_of(op));
    std::replace(out.begin(), out.end(), '_', '-');
    return out;
}

}  // namespace

Table layer_table(const LayerList& list, Notation notation, bool dp) {
    Table t;
    t.columns = {{"n", Shown::count},
                 {"phase"},
                 {"step", Shown::words, "op"},
                 {"what"},
                 {"again"},
                 {"axis"},
                 {"program", Shown::words, "line"},
                 {"in"},
                 {"out"},
                 {"FLOPs", Shown::figure, "flops"},
                 {"moved", Shown::traffic, "bytes_moved"},
                 {"message", Shown::traffic, "message_bytes"},
                 {"sent", Shown::traffic, "sent_bytes"},
                 {"calls", Shown::count},
                 {"time", Shown::seconds, "time_s"},
                 {"keeps", Shown::words, "kept"},
                 {"lets go", Shown::words, "freed"},
                 {"stash", Shown::memory, "stash_bytes"}};
    for (const LayerStep& s : list.steps) {
        const bool speaks = is_collective(s.op);
        t.rows.push_back({s.n, name_of(s.phase), step_words(s.op), words_of(s.what),
                          s.recomputed ? "yes" : "", speaks ? name_of(s.group) : "", line_of(s, notation, dp),
                          texts(s.in, notation, dp), texts(s.out, notation, dp), s.flops,
                          whole_cell(s.bytes_moved), speaks ? whole_cell(s.message_bytes) : Cell(),
                          speaks ? whole_cell(s.sent_bytes) : Cell(), speaks ? Cell(s.calls) : Cell(),
                          s.time_s, kept_text(s.kept), kept_text(s.freed), whole_cell(s.stash_bytes)});
    }
    return t;
}

PlanCalls plan_calls(const Comm& comm, int type, GroupKind axis, Collective collective) {
    PlanCalls sum;
    for (const Operation& o : comm.operations) {
        if (o.group != axis || o.collective != collective || !has(o.types, type)) continue;
        sum.calls = std::max(sum.calls, 0.0) + o.calls;
        sum.sent_bytes =
            std::max(sum.sent_bytes, 0.0) + o.calls * sent_bytes(o.collective, o.group_size, o.message_bytes);
    }
    return sum;
}

Table layer_calls_table(const LayerList& list, const Comm& comm) {
    Table t;
    t.columns = {{"axis"},
                 {"collective"},
                 {"calls", Shown::count},
                 {"sent", Shown::traffic, "sent_bytes"},
                 {"the plan's calls", Shown::count, "plan_calls"},
                 {"the plan's bytes", Shown::traffic, "plan_sent_bytes"}};
    for (const LayerCallSum& c : list.totals.calls) {
        const PlanCalls plan = plan_calls(comm, list.type, c.group, collective_of(c.op));
        t.rows.push_back({name_of(c.group), words_of(collective_of(c.op)), c.calls, whole_cell(c.sent_bytes),
                          plan.calls < 0 ? Cell() : Cell(plan.calls),
                          plan.calls < 0 ? Cell() : whole_cell(plan.sent_bytes)});
    }
    return t;
}

}  // namespace pentamesh
