// Tests tables that views show as data: rules that must hold between their columns, in every plan that ships.
#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;

namespace {

const Presets& all_presets() {
    static const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    return presets;
}

double number_at(const Table& t, const Table::Row& row, std::string_view key) {
    const auto at = std::find_if(t.columns.begin(), t.columns.end(), [&](const Table::Column& c) {
        return (c.key.empty() ? c.title : c.key) == key;
    });
    REQUIRE(at != t.columns.end());
    return row[static_cast<std::size_t>(at - t.columns.begin())].number();
}

void check_widths(const Table& t) {
    for (const auto& row : t.rows) REQUIRE(row.size() == t.columns.size());
}

template <typename Check>
void for_plans(Check check) {
    for (const Presets::Entry& entry : all_presets().list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan plan = all_presets().plan(entry.id);
        const Evaluation e = evaluate(plan, {.timeline = false});
        if (e.valid) check(plan, e);
    }
}

}  // namespace

TEST_CASE("at each level of the nest, boxes times the GPUs in one are the cluster") {
    for_plans([](const Plan& plan, const Evaluation& e) {
        for (const Fold fold : {Fold::dense, Fold::experts}) {
            const Table t = nest_table(plan, e, fold, {});
            check_widths(t);
            const std::size_t levels = nest_of(plan, e.mesh, fold).levels.size();
            REQUIRE(t.rows.size() >= levels);  // a single GPU has none, and what is in it
            for (std::size_t k = 0; k < levels; ++k)
                CHECK(number_at(t, t.rows[k], "boxes") * number_at(t, t.rows[k], "gpus_in_one")
                      == static_cast<double>(e.mesh.world));
            if (levels > 0) CHECK(number_at(t, t.rows[levels - 1], "gpus_in_one") == 1);
        }
    });
}

TEST_CASE("a path into a GPU adds what is in it to the nest's table, and the cut of its tensors") {
    const Plan plan = all_presets().plan("llama-3-70b-3d");
    const Evaluation e = evaluate(plan, {.timeline = false});
    const Nest nest = nest_of(plan, e.mesh, Fold::dense);
    const NestPath gpu = path_of_rank(nest, 11);
    const Table outside = nest_table(plan, e, Fold::dense, {}),
                inside = nest_table(plan, e, Fold::dense, gpu);
    CHECK(inside.rows.size() == outside.rows.size() + children_of(nest, gpu).items.size());
    for (std::size_t k = 0; k < gpu.size(); ++k) CHECK(number_at(inside, inside.rows[k], "here") == gpu[k]);
}

TEST_CASE("the categories of a strategy's memory are its total, to the byte but for rounding") {
    for_plans([](const Plan& plan, const Evaluation&) {
        StrategyPrices prices;
        price_strategies(plan, 4, prices);
        const Table t = strategies_table(prices);
        check_widths(t);
        REQUIRE(t.rows.size() == 1 + static_cast<std::size_t>(kStrategyCount));
        for (std::size_t i = 0; i < t.rows.size(); ++i) {
            if (i > 0 && !prices.price[i - 1].possible) continue;
            double sum = 0;
            for (const char* key : {"parameters", "gradients", "optimizer", "activations", "buffers"})
                sum += number_at(t, t.rows[i], key);
            CHECK(std::abs(sum - number_at(t, t.rows[i], "total_bytes")) <= 5);
        }
    });
}

TEST_CASE("no rank holds more of a tensor than the whole of it") {
    for_plans([](const Plan& plan, const Evaluation& e) {
        const std::vector<Placement> placements =
            list_placements(plan, e.mesh, TensorState::parameters, Moment::at_rest);
        for (const std::int64_t rank : {std::int64_t{0}, e.mesh.world - 1}) {
            std::vector<Part> parts;
            for (const Placement& p : placements) parts.push_back(part_of(plan, e.mesh, p, rank));
            std::vector<HeldTensor> held;
            for (std::size_t i = 0; i < parts.size(); ++i) held.push_back({placements[i], parts[i]});
            const Table t = held_table(e.mesh, rank, held);
            check_widths(t);
            for (const auto& row : t.rows)
                CHECK(number_at(t, row, "bytes_there") <= number_at(t, row, "bytes_whole"));
        }
    });
}

TEST_CASE("memory and communication stand in their tables as they are, each in its own column") {
    for_plans([](const Plan& plan, const Evaluation& e) {
        const Table memory = memory_table(e.memory);
        check_widths(memory);
        REQUIRE(memory.rows.size() == e.memory.stage.size());
        for (std::size_t i = 0; i < e.memory.stage.size(); ++i) {
            const StageMemory& s = e.memory.stage[i];
            const auto at = [&](const char* key) { return number_at(memory, memory.rows[i], key); };
            CHECK(at("parameters") == std::round(s.parameters));
            CHECK(at("gradients") == std::round(s.gradients));
            CHECK(at("optimizer") == std::round(s.optimizer));
            CHECK(at("activations") == std::round(s.activations));
            CHECK(at("buffers") == std::round(s.buffers));
            CHECK(at("total") == std::round(s.total()));
        }
        const Table calls = comm_table(plan, e);
        check_widths(calls);
        REQUIRE(calls.rows.size() == e.comm.operations.size());
        for (std::size_t i = 0; i < e.comm.operations.size(); ++i) {
            CHECK(number_at(calls, calls.rows[i], "time_s") == e.comm.operations[i].time_s);
            CHECK(number_at(calls, calls.rows[i], "exposed_s") == e.comm.operations[i].exposed_s);
            CHECK(number_at(calls, calls.rows[i], "message_bytes")
                  == std::round(e.comm.operations[i].message_bytes));
        }
    });
}

TEST_CASE("what the ranks of an axis share follows the stage of ZeRO in force") {
    const auto has = [](std::string_view text, std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    Plan p = all_presets().plan("llama-3-8b-fsdp");
    for (const int zero : {0, 1, 2, 3}) {
        p.layout.zero = zero;
        const Evaluation e = evaluate(p);
        REQUIRE(e.valid);
        const Table t = groups_table(p, e, kinds_of(e), false);
        int seen = 0;
        for (const Table::Row& row : t.rows) {
            if (row.front() != "dp_shard" && row.front() != "fsdp") continue;
            const std::string_view means = row.back().words();
            CAPTURE(means);
            CHECK(has(means, "ZeRO-" + std::to_string(zero)) == (zero > 0));
            CHECK(has(means, "FSDP") == (zero == 3));
            ++seen;
        }
        CHECK(seen == 2);
    }
}

TEST_CASE("a column of what fits has three answers") {
    const Plan p = all_presets().plan("llama-3-8b-fsdp");
    const Evaluation e = evaluate(p);
    Sensitivity s;
    s.step_s = e.step->time_s;
    for (const MemoryFit fit : {MemoryFit::yes, MemoryFit::tight, MemoryFit::if_small, MemoryFit::no}) {
        Nudge n{"2", p, {}};
        n.step_s = n.same_tokens_s = s.step_s;
        n.fit = fit;
        SensitivityRow& row = s.rows.emplace_back();
        row.up = n;
    }
    const Table t = sensitivity_table(s, false);
    std::vector<std::string> said;
    for (std::size_t c = 0; c < t.columns.size(); ++c)
        if (t.columns[c].title == "fits")
            for (const Table::Row& row : t.rows) said.push_back(row[c].text());
    CHECK(said == std::vector<std::string>{"yes", "may not fit", "may not fit", "no"});
}

TEST_CASE("the map's figures and the constants stand in their tables as they are") {
    for_plans([](const Plan& plan, const Evaluation& e) {
        const std::vector<MapRow> rows = map_rows(plan, e, MapStyle::modifiers);
        const Table map = map_table(plan, rows);
        check_widths(map);
        REQUIRE(map.rows.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(number_at(map, map.rows[i], "time_s") == rows[i].time_s);
            CHECK(number_at(map, map.rows[i], "exposed_s") <= number_at(map, map.rows[i], "time_s") + 1e-12);
        }
        const std::vector<Constant> constants = list_constants(plan, all_presets());
        const Table t = constants_table(constants);
        check_widths(t);
        REQUIRE(t.rows.size() == constants.size());
        for (std::size_t i = 0; i < constants.size(); ++i)
            CHECK(number_at(t, t.rows[i], "value") == constants[i].value);
    });
    check_widths(map_reference_table());
}
