#include "app/tables/search.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"
#include "core/plan/problem.h"
#include "core/step/step.h"

namespace pentamesh {
namespace {

Cell value_cell(const LayoutChoice& c, Varied v) {
    switch (v) {
    case Varied::tp: return c.tp;
    case Varied::cp: return c.cp;
    case Varied::pp: return c.pp;
    case Varied::virtual_stages: return c.virtual_stages;
    case Varied::schedule: return name_of(c.schedule);
    case Varied::ep: return c.ep;
    case Varied::etp: return c.etp;
    case Varied::dp_shard: return c.dp_shard;
    case Varied::dp_replicate: return c.dp_replicate;
    case Varied::zero: return c.zero;
    case Varied::micro_batch: return c.micro_batch;
    case Varied::recompute: return words_of(c.recompute);
    case Varied::order: return order_name(c.order);
    }
    return {};
}

bool is_words(Varied v) {
    return v == Varied::schedule || v == Varied::recompute || v == Varied::order;
}

}  // namespace

Table results_table(const SearchReport& r) {
    Table t;
    std::vector<Varied> shown;
    for (const Varied v : all_of<Varied>())
        if (r.space.values_of(v).size() > 1) shown.push_back(v);
    for (const Varied v : shown)
        t.columns.push_back({std::string(name_of(v)), is_words(v) ? Shown::words : Shown::plain});
    bool cost = false, causal = false, alike = false, robust = false;
    const bool ties = r.ties.count > 1;
    for (const SearchResult& x : r.results) {
        cost = cost || x.cost_per_token > 0;
        causal = causal || shows_causal_mfu(x.step);
        alike = alike || x.alike > 0;
        robust = robust || x.slow_link_s > 0 || x.slow_stage_s > 0;
    }
    t.columns.push_back({"step", Shown::seconds, "step_s"});
    t.columns.push_back({"tokens/s", Shown::count, "tokens_per_s"});
    t.columns.push_back({"MFU", Shown::share, "mfu"});
    if (causal) t.columns.push_back({"MFU (causal)", Shown::share, "mfu_causal"});
    const std::vector<Table::Column> figures{{"fullest GPU", Shown::memory, "memory_bytes"},
                                             {"left", Shown::share, "headroom"},
                                             {"bubble and uneven stages", Shown::seconds, "bubble_s"},
                                             {"exposed", Shown::seconds, "exposed_s"}};
    t.columns.insert(t.columns.end(), figures.begin(), figures.end());
    if (cost) t.columns.push_back({"cost a million tokens", Shown::figure, "cost_per_million_tokens"});
    t.columns.push_back({"pareto"});
    if (alike) t.columns.push_back({"others alike", Shown::count, "alike"});
    if (ties) t.columns.push_back({"tied"});
    if (ties) t.columns.push_back({"changes of the plan", Shown::count, "changes"});
    if (robust) t.columns.push_back({"slow link", Shown::seconds, "slow_link_s"});
    if (robust) t.columns.push_back({"slow stage", Shown::seconds, "slow_stage_s"});
    for (const SearchResult& x : r.results) {
        Table::Row& row = t.rows.emplace_back();
        for (const Varied v : shown) row.push_back(value_cell(x.choice, v));
        row.insert(row.end(), {x.step_s, x.tokens_per_s, x.mfu});
        if (causal) row.emplace_back(mfu_causal(x.step));
        row.insert(row.end(), {whole_cell(x.memory_bytes), x.headroom, x.bubble_s, x.exposed_s});
        if (cost) row.emplace_back(x.cost_per_token * 1e6);
        row.emplace_back(x.pareto ? "yes" : "");
        if (alike) row.emplace_back(x.alike);
        if (ties) row.emplace_back(x.tied ? "yes" : "");
        if (ties) row.emplace_back(x.changes);
        const auto slowed = [&](double step_s) { row.push_back(step_s > 0 ? Cell(step_s) : Cell("")); };
        if (robust) slowed(x.slow_link_s), slowed(x.slow_stage_s);
    }
    return t;
}

Table found_table(std::span<const FoundRow> rows) {
    Table t;
    t.columns = {
        {"layout"}, {"step", Shown::seconds, "step_s"}, {"fullest GPU", Shown::memory, "memory_bytes"}};
    for (const FoundRow& r : rows) t.rows.push_back({r.layout, r.step_s, whole_cell(r.memory_bytes)});
    return t;
}

std::string choice_words(const Layout& l, const Training& t) {
    return sentence("tp ", l.tp, " cp ", l.cp, " pp ", l.pp, " v ", l.virtual_stages, " ",
                    name_of(l.schedule), " ep ", l.ep, " dp_shard ", l.dp_shard, " dp_replicate ",
                    l.dp_replicate.value_or(1), " zero ", std::int64_t{l.zero}, " micro_batch ",
                    t.micro_batch, " recompute ", words_of(t.recompute));
}

Table rejected_table(const SearchReport& r) {
    Table t;
    t.columns = {{"layouts that", Shown::words, "reason"},
                 {"layouts", Shown::count, "count"},
                 {"for example"},
                 {"message"}};
    for (const Rejection& x : r.rejected)
        t.rows.push_back(
            {reason_words(x.code), x.count, choice_words(x.example.layout, x.example.training), x.message});
    return t;
}

}  // namespace pentamesh
