#include "app/tables/decide_tables.h"

#include "app/tables/plan_tables.h"
#include "core/base/text.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/plan/problem.h"
#include "core/plan/software.h"
#include "core/rules/software_runs.h"
#include "core/step/step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace pentamesh {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// Returns the exact value, in the unit that the table names.
Cell figure_cell(const FigureRow& row, std::size_t plan) {
    if (!row.values[plan]) return {};
    return row.unit == FigureRow::Unit::bytes ? *row.values[plan] / kGiB : *row.values[plan];
}

void add_plans(Table& t, const PlanComparison& c, Shown shown) {
    for (std::size_t i = 0; i < c.plans.size(); ++i) t.columns.push_back({plan_letter(i), shown});
}

std::string figure_words(const FigureRow& row, std::size_t plan) {
    using U = FigureRow::Unit;
    const double x = *row.values[plan];
    switch (row.unit) {
    case U::seconds: return time_text(x, Zeros::kept);
    case U::tokens_per_s: return with_commas(static_cast<std::int64_t>(std::llround(x))) + " tokens/s";
    case U::share: return percent_text(x, Zeros::kept);
    case U::bytes: return memory_text(x, Zeros::kept);
    case U::money:
        return three_digits(x)
               + (row.currency[plan].empty() ? " in the price's currency" : " " + row.currency[plan]);
    default: return three_digits(x) + " " + unit_words(row);
    }
}

std::string better_plan(const FigureRow& row) {
    const auto better = row.better();
    return better ? plan_letter(*better) : "";
}

// "null" is a field that a plan leaves out.
std::string value_cell(const std::string& json) {
    return json == "null" ? "—" : json;
}

}  // namespace

std::string unit_words(const FigureRow& row) {
    using U = FigureRow::Unit;
    switch (row.unit) {
    case U::seconds: return "s";
    case U::tokens_per_s: return "1/s";
    case U::share: return "share";
    case U::bytes: return "GiB";
    case U::days: return "days";
    case U::gpu_hours: return "GPU-hours";
    case U::money: {
        const std::string currency = row.one_currency();
        return currency.empty() ? "its price's currency" : currency;
    }
    case U::kwh: return "kWh";
    }
    return "";
}

Table fields_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"field"}};
    add_plans(t, c, Shown::words);
    for (const FieldDifference& f : c.fields) {
        Table::Row& row = t.rows.emplace_back();
        row.push_back(f.pointer);
        for (const std::string& v : f.values) row.push_back(value_cell(v));
    }
    return t;
}

Table figures_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"figure"}};
    add_plans(t, c, Shown::figure);
    t.columns.push_back({"unit"});
    t.columns.push_back({"better"});
    for (const FigureRow& f : c.figures) {
        Table::Row& row = t.rows.emplace_back();
        row.emplace_back(f.name);
        for (std::size_t i = 0; i < f.values.size(); ++i) row.push_back(figure_cell(f, i));
        row.push_back(unit_words(f));
        row.push_back(better_plan(f));
    }
    return t;
}

Table worded_figures_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"figure"}};
    add_plans(t, c, Shown::words);
    t.columns.push_back({"better"});
    for (const FigureRow& f : c.figures) {
        Table::Row& row = t.rows.emplace_back();
        row.emplace_back(f.name);
        for (std::size_t i = 0; i < f.values.size(); ++i)
            row.push_back(f.values[i] ? figure_words(f, i) : "");
        const bool read_alike =
            std::all_of(row.begin() + 1, row.end(), [&](const Cell& x) { return x == row[1]; });
        row.push_back(read_alike ? "" : better_plan(f));
    }
    return t;
}

Table why_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"part"}};
    for (std::size_t i = 0; i < c.plans.size(); ++i)
        t.columns.push_back({plan_letter(i), Shown::seconds, plan_letter(i) + "_s"});
    for (std::size_t i = 1; i < c.plans.size(); ++i)
        t.columns.push_back({plan_letter(i) + " - A", Shown::seconds, plan_letter(i) + "_delta_s"});
    t.columns.push_back({"because"});
    std::vector<double> steps(c.plans.size()), deltas(c.plans.size());
    const auto put = [&](const std::string& name, const std::vector<double>& values,
                         const std::vector<double>& delta, const std::string& why) {
        Table::Row& row = t.rows.emplace_back();
        row.push_back(name);
        for (const double v : values) row.emplace_back(v);
        for (std::size_t i = 1; i < delta.size(); ++i) row.emplace_back(delta[i]);
        row.push_back(why);
    };
    for (const PartRow& p : c.why) {
        put(p.part, p.values_s, p.delta_s, p.because);
        for (std::size_t i = 0; i < steps.size(); ++i) deltas[i] += p.delta_s[i];
    }
    if (c.why.empty()) return t;
    for (const FigureRow& f : c.figures)
        if (f.key == "step.time_s")
            for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = f.values[i].value_or(0);
    put("step", steps, deltas, "");
    return t;
}

Table brief_why_table(const PlanComparison& c) {
    constexpr double kKnown = 1e-3;  // of A's step
    Table t = why_table(c);
    if (t.rows.empty()) return t;
    const std::size_t n = c.plans.size(), because = 2 * n;
    const double least_s = kKnown * t.rows.back()[1].number();
    const auto step = t.rows.end() - 1;  // the last row is the whole
    const auto small = std::stable_partition(t.rows.begin(), step, [&](const Table::Row& row) {
        return std::any_of(row.begin() + static_cast<std::ptrdiff_t>(n) + 1,
                           row.begin() + static_cast<std::ptrdiff_t>(because),
                           [&](const Cell& delta) { return std::abs(delta.number()) >= least_s; });
    });
    if (step - small < 2) return t;
    Table::Row together = *small;
    std::string names = small->front().text();
    for (auto row = small + 1; row != step; ++row) {
        names += ", " + row->front().text();
        for (std::size_t i = 1; i < because; ++i) together[i] = together[i].number() + (*row)[i].number();
    }
    together.front() = "other parts, together";
    together[because] = names + ": each differs by less than " + percent_text(kKnown) + " of A's step";
    *small = std::move(together);
    t.rows.erase(small + 1, step);
    return t;
}

Table path_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"edit"},
                 {"step", Shown::seconds, "step_s"},
                 {"tokens/s", Shown::count, "tokens_per_s"},
                 {"fullest GPU", Shown::memory, "memory_bytes"},
                 {"fits"}};
    for (const PathEdit& e : c.path)
        t.rows.push_back({e.edit, e.step_s, e.tokens_per_s, whole_cell(e.memory_bytes), fit_cell(e.fit)});
    return t;
}

Table comparison_table(const PlanComparison& c) {
    Table t;
    t.columns = {{"table"}, {"row"}, {"unit"}};
    add_plans(t, c, Shown::plain);
    t.columns.push_back({"note"});
    const auto put = [&](std::string table, std::string row, std::string unit, Table::Row values,
                         std::string note) {
        Table::Row& out = t.rows.emplace_back();
        out = {std::move(table), std::move(row), std::move(unit)};
        values.resize(c.plans.size());
        for (Cell& v : values) out.push_back(std::move(v));
        out.push_back(std::move(note));
    };
    for (const FieldDifference& f : c.fields)
        put("fields", f.pointer, "", {f.values.begin(), f.values.end()}, "");
    for (const FigureRow& f : c.figures) {
        Table::Row values;
        for (std::size_t i = 0; i < f.values.size(); ++i) values.push_back(figure_cell(f, i));
        const auto better = f.better();
        put("figures", std::string(f.key), unit_words(f), std::move(values),
            better ? plan_letter(*better) : "");
    }
    Table::Row fit;
    for (const std::optional<MemoryFit> f : c.fit) fit.emplace_back(f ? fit_cell(*f) : "");
    put("figures", "memory.fits", "", std::move(fit), "");
    for (const bool delta : {false, true})
        for (const PartRow& p : c.why) {
            const std::vector<double>& values = delta ? p.delta_s : p.values_s;
            put(delta ? "delta" : "why", p.part, "s", {values.begin(), values.end()}, delta ? "" : p.because);
        }
    for (const PathEdit& e : c.path)
        put("path", e.edit, "s", {"", e.step_s}, e.fit == MemoryFit::yes ? "" : std::string(name_of(e.fit)));
    return t;
}

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
    case Varied::gradients: return name_of(c.settings.gradients);
    case Varied::optimizer_state: return name_of(c.settings.optimizer_state);
    case Varied::reshard: return name_of(c.settings.reshard);
    case Varied::overlap_tp: return name_of(c.settings.overlap_tp);
    case Varied::overlap_pp: return name_of(c.settings.overlap_pp);
    case Varied::offload_layers: return with_commas(c.settings.offload_layers);
    case Varied::offload_optimizer: return three_digits(c.settings.offload_optimizer);
    }
    return {};
}

bool is_words(Varied v) {
    return v == Varied::schedule || v == Varied::recompute || v == Varied::order || is_held_by_default(v);
}

}  // namespace

Table results_table(const SearchReport& r) {
    Table t;
    std::vector<Varied> shown;
    for (const Varied v : all_of<Varied>())
        if (r.space.values_of(v).size() > 1) shown.push_back(v);
    for (const Varied v : shown)
        t.columns.push_back({std::string(name_of(v)), is_words(v) ? Shown::words : Shown::plain});
    bool cost = false, causal = false, alike = false, robust = false, tight = false, days = false;
    const bool ties = r.ties.count > 1;
    for (const SearchResult& x : r.results) {
        tight = tight || x.fit != MemoryFit::yes;
        cost = cost || x.cost_per_token > 0;
        days = days || x.plan.training.tokens_total > 0;
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
    if (tight) t.columns.push_back({"fits"});
    if (cost) t.columns.push_back({"cost a million tokens", Shown::figure, "cost_per_million_tokens"});
    if (days) t.columns.push_back({"days of training", Shown::figure, "days"});
    if (days) t.columns.push_back({"GPU-hours", Shown::figure, "gpu_hours"});
    if (days && cost) t.columns.push_back({"cost of training", Shown::figure, "money"});
    t.columns.push_back({"pareto"});
    if (alike) t.columns.push_back({"others alike", Shown::count, "alike"});
    if (ties) t.columns.push_back({"tied"});
    if (ties) t.columns.push_back({"changes of the plan", Shown::count, "changes"});
    if (robust) t.columns.push_back({"slow link", Shown::seconds, "slow_link_s"});
    if (robust) t.columns.push_back({"slow stage", Shown::seconds, "slow_stage_s"});
    const bool any_software = !r.space.software;
    if (any_software) t.columns.push_back({"run by", Shown::words, "run_by"});
    for (const SearchResult& x : r.results) {
        Table::Row& row = t.rows.emplace_back();
        for (const Varied v : shown) row.push_back(value_cell(x.choice, v));
        row.insert(row.end(), {x.step_s, x.tokens_per_s, x.mfu});
        if (causal) row.emplace_back(mfu_causal(x.step));
        row.insert(row.end(), {whole_cell(x.memory_bytes), x.headroom, x.bubble_s, x.exposed_s});
        if (tight) row.emplace_back(fit_cell(x.fit));
        if (cost) row.emplace_back(x.cost_per_token * 1e6);
        const Cost training = days ? cost_of(x.plan, x.tokens_per_s) : Cost{};
        if (days) row.insert(row.end(), {training.days.value_or(0), training.gpu_hours.value_or(0)});
        if (days && cost) row.emplace_back(training.money.value_or(0));
        row.emplace_back(x.pareto ? "yes" : "");
        if (alike) row.emplace_back(x.alike);
        if (ties) row.emplace_back(x.tied ? "yes" : "");
        if (ties) row.emplace_back(x.changes);
        const auto slowed = [&](double step_s) { row.push_back(step_s > 0 ? Cell(step_s) : Cell("")); };
        if (robust) slowed(x.slow_link_s), slowed(x.slow_stage_s);
        if (any_software) row.emplace_back(run_by_words(x.plan));
    }
    return t;
}

std::string run_by_words(const Plan& plan) {
    const std::vector<std::string_view> names = software_that_runs(plan);
    return names.empty() ? "no known software" : join(names, ", ");
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

Table constants_table(const std::vector<Constant>& constants) {
    static constexpr std::array<std::string_view, 7> kUnits{"share",  "s",   "bytes", "bytes/s",
                                                            "FLOP/s", "1 :", "on"};
    Table t;
    t.columns = {{"constant"}, {"value", Shown::figure}, {"unit"}, {"changed"}};
    for (const Constant& c : constants)
        t.rows.push_back(
            {c.name, c.value, kUnits[static_cast<std::size_t>(c.unit)], c.changed() ? "yes" : ""});
    return t;
}

namespace {

enum class FigureUnit : std::uint8_t { plain, bytes, factor, share, seconds };

struct FigureWords {
    std::string_view key, words;
    FigureUnit unit = FigureUnit::plain;
};
constexpr std::array<FigureWords, 36> kFigures{{
    {"loss_bytes", "bytes of a logit that live at once between head and loss"},
    {"loss_bytes_cut", "the same where tp cuts the vocabulary"},
    {"loss_bytes_other", "bytes a logit that a loss of another library may keep in addition"},
    {"vocab_multiple", "the vocabulary is padded to a multiple of this times tp"},
    {"inputs_whole", "products keep their gathered input"},
    {"attention_copies", "tensors kept next to attention's output, as wide"},
    {"activation_apart", "the activation is kept beside its product"},
    {"selective_keeps", "kept under selective recomputation"},
    {"gradient_copy_bytes", "bytes of a 16-bit gradient beside the fp32 sum"},
    {"working_hidden", "16-bit hidden tensors that live at a layer's backward"},
    {"reserved", "reserved over allocated memory: low, middle, high", FigureUnit::factor},
    {"reserved_bytes", "reserved on top: low, middle, high", FigureUnit::bytes},
    {"context_bytes", "the driver's context and libraries: low, middle, high", FigureUnit::bytes},
    {"backward_layer", "gradients of a layer that runs again, over what is made again"},
    {"products", "rate of products, over Megatron's", FigureUnit::factor},
    {"grouped", "rate of the experts' grouped products, over Megatron's", FigureUnit::factor},
    {"attention", "rate of attention, over Megatron's", FigureUnit::factor},
    {"element_wise", "passes over memory of element-wise kernels, over fused ones", FigureUnit::factor},
    {"launches", "host time of launches, over Megatron's", FigureUnit::factor},
    {"routing_syncs", "waits of the host for the router of a MoE layer"},
    {"new_gpu_products", "rate of dense products on GPUs with fp4, over later software", FigureUnit::factor},
    {"graphs_layers", "of that, what CUDA graphs of each layer leave", FigureUnit::share},
    {"graphs_step", "of what a step takes on top, what a CUDA graph of an iteration leaves",
     FigureUnit::share},
    {"fp8_rowwise", "rate of fp8 products with a scale a row, over a scale a tensor", FigureUnit::factor},
    {"fp8_blockwise", "the same with scales of blocks of 128", FigureUnit::factor},
    {"fp8_mxfp8", "the same of MXFP8", FigureUnit::factor},
    {"tp_hidden", "share of what overlap of tp lets hide that does hide", FigureUnit::share},
    {"cp_hidden", "the same of cp", FigureUnit::share},
    {"dp_hidden", "the same of dp", FigureUnit::share},
    {"gathers_ahead", "layers that ZeRO-3 gathers ahead"},
    {"bucket_numbers", "numbers of a bucket that moves once a step; 0: a layer"},
    {"bucket_numbers_of_rank", "the same for each data-parallel rank, where that is more"},
    {"step_s", "once a step, on top of the GPU's", FigureUnit::seconds},
    {"ep_comm", "how tokens are exchanged where a plan does not say"},
    {"selective_share", "share of a layer's forward that selective recomputation repeats", FigureUnit::share},
}};

std::string figure_of(const nlohmann::json& value, FigureUnit unit) {
    if (value.is_array()) {
        const std::string out =
            join(value, ", ", [&](const nlohmann::json& v) { return figure_of(v, unit); });
        return out.empty() ? "all but the attention core" : out;
    }
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    const double x = value.get<double>();
    switch (unit) {
    case FigureUnit::bytes: return memory_text(x);
    case FigureUnit::factor: return three_digits(x) + " x";
    case FigureUnit::share: return percent_text(x);
    case FigureUnit::seconds: return time_text(x);
    case FigureUnit::plain: break;
    }
    return three_digits(x);
}

Cell figure_cell(const nlohmann::json& value, FigureUnit unit) {
    if (value.is_number() && unit == FigureUnit::plain) return value.get<double>();
    return figure_of(value, unit);
}

}  // namespace

Table software_table(Software software) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::plain}, {"key"}, {"known by"}, {"source"}};
    for (const SoftwareFacts::Figure& f : facts_of(software).figures) {
        FigureWords words{f.key, f.key};
        for (const FigureWords& known : kFigures)
            if (known.key == f.key) words = known;
        t.rows.push_back({words.words, figure_cell(nlohmann::json::parse(f.value), words.unit), f.key,
                          f.from != SoftwareFacts::Figure::From::source ? "fit" : "source", f.source});
    }
    return t;
}

namespace {

void put_nudge(Table& t, const Sensitivity& s, const SensitivityRow& row, const std::optional<Nudge>& n,
               bool moving_only) {
    if (!n || (moving_only && !n->valid())) return;
    Table::Row& out = t.rows.emplace_back();
    out = {name_of(row.kind), row.id, row.name, row.value, n->value};
    if (n->valid())
        out.insert(out.end(), {n->same_tokens_s - s.step_s, n->same_tokens_s / s.step_s - 1, n->step_s,
                               n->tokens_per_s, whole_cell(n->memory_bytes), fit_cell(n->fit), ""});
    else
        out.insert(out.end(), {"", "", "", "", "", "", n->refused});
}

}  // namespace

Table sensitivity_table(const Sensitivity& s, bool moving_only) {
    Table t;
    t.columns = {{"kind"},
                 {"id"},
                 {"name"},
                 {"from"},
                 {"to"},
                 {"change, same tokens", Shown::seconds, "delta_s"},
                 {"share", Shown::share},
                 {"step", Shown::seconds, "step_s"},
                 {"tokens/s", Shown::count, "tokens_per_s"},
                 {"fullest GPU", Shown::memory, "memory_bytes"},
                 {"fits"},
                 {"refused"}};
    std::vector<std::size_t> order(s.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (moving_only) order = s.by_reach();
    for (const std::size_t i : order) {
        put_nudge(t, s, s.rows[i], s.rows[i].down, moving_only);
        put_nudge(t, s, s.rows[i], s.rows[i].up, moving_only);
    }
    return t;
}

Table calibrated_runs_table(const Calibrated& made) {
    Table t;
    t.columns = {{"run"},
                 {"measured", Shown::seconds, "measured_s"},
                 {"before", Shown::seconds, "before_s"},
                 {"after", Shown::seconds, "after_s"},
                 {"off before", Shown::share, "error_before"},
                 {"off after", Shown::share, "error_after"},
                 {"off, fitted to the others", Shown::share, "error_left_out"},
                 {"better"}};
    for (const CalibratedRun& r : made.runs) {
        const auto off = [&](double ours) { return r.measured_s / ours - 1; };
        t.rows.push_back({r.id, r.measured_s, r.before_s, r.after_s, off(r.before_s), off(r.after_s),
                          off(r.left_out_s), r.better() ? "yes" : "no"});
    }
    return t;
}

Table calibrated_constants_table(const Calibrated& made) {
    Table t;
    t.columns = {{"constant"},
                 {"before", Shown::figure},
                 {"after", Shown::figure},
                 {"least", Shown::figure},
                 {"most", Shown::figure},
                 {"from"}};
    for (const CalibratedConstant& c : made.constants) {
        const bool edge = !c.measured && (c.after <= c.least || c.after >= c.most);
        t.rows.push_back({c.id, c.before, c.after, c.least, c.most,
                          c.measured ? "nccl-tests"
                          : edge     ? "the runs, at the edge of what a GPU does"
                                     : "the runs"});
    }
    return t;
}

std::vector<std::string> calibrated_lines(const Calibrated& made) {
    if (made.runs.empty()) return {};
    const auto better =
        std::count_if(made.runs.begin(), made.runs.end(), [](const CalibratedRun& r) { return r.better(); });
    std::vector<std::string> out{"Off in the median: " + percent_text(made.before) + " before, "
                                 + percent_text(made.after) + " after, " + percent_text(made.left_out)
                                 + " where a run is left out of the fit. Nearer: " + std::to_string(better)
                                 + " of " + std::to_string(made.runs.size()) + "."};
    if (made.left_out >= made.before)
        out.emplace_back(
            "On runs that it does not know it is no better than before: these runs do not say enough.");
    out.emplace_back("Off: measured over estimated time, less 1; above 0 the estimate is too fast.");
    return out;
}

std::string label_of(const StepSlice& s) {
    return s.part == StepPart::exposed ? std::string(name_of(s.group)) + " exposed"
                                       : std::string(name_of(s.part));
}

Table step_table(const Step& step) {
    Table t;
    t.columns = {{"part"},
                 {"time", Shown::seconds, "time_s"},
                 {"share", Shown::share},
                 {"at least", Shown::seconds, "low_s"},
                 {"at most", Shown::seconds, "high_s"}};
    for (const StepSlice& s : waterfall(step))
        if (s.time_s > 1e-6 * step.time_s)
            t.rows.push_back({label_of(s), s.time_s, s.time_s / step.time_s, "", ""});
    const Band range = band_of(step.time_s, step.error);
    t.rows.push_back({"step", step.time_s, 1, range.low, range.high});
    return t;
}

Table rates_table(const Step& step, double budget_tokens, std::string_view budget_words) {
    Table t;
    t.columns = {{"figure"},
                 {"value", Shown::figure},
                 {"at least", Shown::figure, "low"},
                 {"at most", Shown::figure, "high"},
                 {"unit"}};
    const auto add = [&](std::string name, double value, const Band& r, std::string unit) {
        t.rows.push_back({std::move(name), value, r.low, r.high, std::move(unit)});
    };
    add("MFU", step.mfu, band_of(step.mfu, step.error), "of the peak");
    if (shows_causal_mfu(step))
        add("MFU (causal)", mfu_causal(step), band_of(mfu_causal(step), step.error), "of the peak");
    add("HFU", step.hfu, band_of(step.hfu, step.error), "of the peak");
    add("tokens", step.tokens_per_s, band_of(step.tokens_per_s, step.error), "1/s");
    add("model FLOPs per GPU", step.tflops_per_gpu, band_of(step.tflops_per_gpu, step.error), "TFLOP/s");
    if (budget_tokens > 0) {
        const double days = days_for(step, budget_tokens);
        add("time for " + std::string(budget_words) + " tokens", days, band_of(days, step.error), "days");
    }
    return t;
}

Table cost_table(const Plan& plan, const Step* step) {
    Table t;
    t.columns = {{"figure"}, {"value", Shown::figure}, {"unit"}, {"from"}};
    const Cluster& c = plan.cluster;
    const Cost cost = cost_of(plan, step ? step->tokens_per_s : 0);
    const auto put = [&](std::string figure, const std::optional<double>& value, std::string unit,
                         std::string from) {
        if (value) t.rows.push_back({std::move(figure), *value, std::move(unit), std::move(from)});
    };
    put("training, without a failure", cost.days, "days",
        three_digits(plan.training.tokens_total / 1e9) + " billion tokens");
    put("GPU time", cost.gpu_hours, "GPU-hours", count_text(c.gpus, "GPU"));
    put("cost", cost.money, c.currency.empty() ? "in the price's currency" : c.currency,
        three_digits(c.price_per_gpu_hour) + " a GPU-hour");
    put("energy", cost.kwh, "kWh",
        three_digits(c.gpu_watts) + " W a GPU" + (c.pue > 0 ? ", PUE " + three_digits(c.pue) : ""));
    put("between failures", cost.hours_between_failures, "hours",
        three_digits(c.failures_per_gpu_day) + " failures a GPU and day");
    put("best time between checkpoints", cost.checkpoint_every_s, "s",
        three_digits(plan.training.checkpoint_s) + " s to write one");
    put("goodput", cost.goodput, "of the time", "checkpoints and work lost to failures");
    put("training, with failures", cost.days_with_failures, "days", "");
    return t;
}

Table devices_table(const Timeline& t) {
    Table out;
    out.columns = {{"device", Shown::plain},
                   {"busy", Shown::seconds},
                   {"bubble", Shown::share, "bubble_fraction"},
                   {"idle within its span", Shown::seconds, "idle_within_span"},
                   {"micro-batches held", Shown::figure, "peak_in_flight"}};
    for (std::size_t d = 0; d < t.device.size(); ++d) {
        const DeviceTime& time = t.device[d];
        out.rows.push_back({d, time.busy, t.makespan > 0 ? (t.makespan - time.busy) / t.makespan : 0.0,
                            time.idle_within_span(), time.peak_in_flight});
    }
    return out;
}

Table operations_table(const Timeline& t, std::size_t most) {
    Table out;
    out.columns = {{"stage", Shown::plain},   {"op"},
                   {"chunk", Shown::plain},   {"micro-batch", Shown::plain, "microbatch"},
                   {"start", Shown::seconds}, {"end", Shown::seconds}};
    out.left_out = t.order.ops.size() > most ? t.order.ops.size() - most : 0;
    for (std::size_t d = 0; d + 1 < t.order.begin.size(); ++d)
        for (std::size_t i = t.order.begin[d]; i < t.order.begin[d + 1] && out.rows.size() < most; ++i) {
            const Op& op = t.order.ops[i];
            out.rows.push_back({d, letters_of(op.kind), op.chunk, op.microbatch, t.start[i], t.end[i]});
        }
    return out;
}

}  // namespace pentamesh
