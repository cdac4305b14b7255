#include "app/tables/compare.h"

#include "app/tables/memory.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

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

std::string plan_letter(std::size_t index) {
    return {static_cast<char>('A' + index)};
}

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

}  // namespace pentamesh
