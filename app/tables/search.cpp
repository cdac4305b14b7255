#include "app/tables/search.h"

#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/plan/order_presets.h"
#include "core/plan/problem.h"
#include "core/step/step.h"

namespace pentamesh {
namespace {

std::string value_cell(const LayoutChoice& c, Varied v) {
    switch (v) {
    case Varied::tp: return cell(c.tp);
    case Varied::cp: return cell(c.cp);
    case Varied::pp: return cell(c.pp);
    case Varied::virtual_stages: return cell(c.virtual_stages);
    case Varied::schedule: return std::string(name_of(c.schedule));
    case Varied::ep: return cell(c.ep);
    case Varied::etp: return cell(c.etp);
    case Varied::dp_shard: return cell(c.dp_shard);
    case Varied::dp_replicate: return cell(c.dp_replicate);
    case Varied::zero: return cell(std::int64_t{c.zero});
    case Varied::micro_batch: return cell(c.micro_batch);
    case Varied::recompute: return words_of(c.recompute);
    case Varied::order: return std::string(order_name(c.order));
    }
    return "";
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
    bool cost = false, causal = false;
    for (const SearchResult& x : r.results) {
        cost = cost || x.cost_per_token > 0;
        causal = causal || shows_causal_mfu(x.step);
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
    for (const SearchResult& x : r.results) {
        std::vector<std::string>& row = t.rows.emplace_back();
        for (const Varied v : shown) row.push_back(value_cell(x.choice, v));
        for (std::string text : {cell(x.step_s), cell(x.tokens_per_s), cell(x.mfu)})
            row.push_back(std::move(text));
        if (causal) row.push_back(cell(mfu_causal(x.step)));
        for (std::string text :
             {whole_cell(x.memory_bytes), cell(x.headroom), cell(x.bubble_s), cell(x.exposed_s)})
            row.push_back(std::move(text));
        if (cost) row.push_back(cell(x.cost_per_token * 1e6));
        row.emplace_back(x.pareto ? "yes" : "");
    }
    return t;
}

Table found_table(std::span<const FoundRow> rows) {
    Table t;
    t.columns = {
        {"layout"}, {"step", Shown::seconds, "step_s"}, {"fullest GPU", Shown::memory, "memory_bytes"}};
    for (const FoundRow& r : rows) t.rows.push_back({r.layout, cell(r.step_s), whole_cell(r.memory_bytes)});
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
        t.rows.push_back({std::string(reason_words(x.code)), cell(x.count),
                          choice_words(x.example.layout, x.example.training), x.message});
    return t;
}

}  // namespace pentamesh
