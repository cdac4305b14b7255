#include "core/io/presets.h"
#include "core/teach/map.h"
#include "tests/near.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

struct Case {
    explicit Case(const char* preset, MapStyle style = MapStyle::modifiers)
        : plan(Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan(preset)), e(evaluate(plan)),
          rows(map_rows(plan, e, style)) {}
    Plan plan;
    Evaluation e;
    std::vector<MapRow> rows;
    [[nodiscard]] const MapRow& row(MapRowId id) const {
        return *std::find_if(rows.begin(), rows.end(), [&](const MapRow& r) { return r.id == id; });
    }
    [[nodiscard]] bool has(MapRowId id) const {
        return std::any_of(rows.begin(), rows.end(), [&](const MapRow& r) { return r.id == id; });
    }
};

}  // namespace

TEST_CASE("the map's axes together send what the communication view says each GPU sends") {
    for (const char* preset : {"llama-3.1-405b-16k", "deepseek-v3-2048", "mesh-8", "mixtral-8x7b-ep",
                               "hsdp-64", "llama-3.1-405b-131k"})
        for (const MapStyle style : {MapStyle::modifiers, MapStyle::own_rows}) {
            CAPTURE(preset);
            const Case c(preset, style);
            double all = 0, map = 0, exposed = 0, map_exposed = 0;
            for (const AxisTraffic& t : c.e.comm.by_axis)
                all += t.sent_bytes_per_rank, exposed += t.exposed_s;
            for (const MapRow& r : c.rows)
                if (!r.modifier || r.id == MapRowId::etp) map += r.sent_bytes, map_exposed += r.exposed_s;
            CHECK(map == near(all));
            CHECK(map_exposed == near(exposed));
        }
}

TEST_CASE("tensor parallelism inside a node is fine there and costly across InfiniBand") {
    const Case inside("zoom-1024"), across("broken-tp-over-ib");
    CHECK(inside.row(MapRowId::tp).tier == 0);
    CHECK(across.row(MapRowId::tp).tier == 1);
    CHECK(across.row(MapRowId::tp).verdict == Verdict::costly);
    CHECK(across.row(MapRowId::tp).reason.find("InfiniBand") != std::string::npos);
}

TEST_CASE("an axis of one rank is off, sends nothing and says what that means here") {
    const Case c("llama-3-8b-fsdp");
    for (const MapRowId id : {MapRowId::tp, MapRowId::sp, MapRowId::pp, MapRowId::cp, MapRowId::ep}) {
        const MapRow& r = c.row(id);
        CAPTURE(words_of(id).key);
        CHECK(r.verdict == Verdict::off);
        CHECK(r.sent_bytes == 0);
        CHECK_FALSE(r.reason.empty());
    }
    CHECK(c.row(MapRowId::ep).reason == "the model has no experts");
    CHECK(c.row(MapRowId::pp).reason == "every GPU runs all 32 layers");
}

TEST_CASE("fully sharded data parallelism gathers twice and scatters once a layer") {
    const Case c("llama-3-8b-fsdp");
    const MapRow& r = c.row(MapRowId::zero);
    CHECK(r.setting == "ZeRO-3 over 64");
    CHECK(r.calls_per_layer == 3);
    CHECK(r.calls == near(3.0 * 32 * static_cast<double>(c.e.microbatches)));
    CHECK(r.sent_bytes == c.row(MapRowId::dp).sent_bytes);  // all of dp's talk is sharding's
}

TEST_CASE("as rows of their own, dp keeps what is reduced over replicas and FSDP what is gathered") {
    const Case c("hsdp-64", MapStyle::own_rows);
    const MapRow &dp = c.row(MapRowId::dp), &fsdp = c.row(MapRowId::zero);
    CHECK_FALSE(fsdp.modifier);
    CHECK(dp.kind == GroupKind::dp_replicate);
    CHECK(dp.collectives == std::vector<Collective>{Collective::all_reduce});
    CHECK(std::find(fsdp.collectives.begin(), fsdp.collectives.end(), Collective::all_reduce)
          == fsdp.collectives.end());
    CHECK(dp.degree * fsdp.degree == 64);
}

TEST_CASE("sequence parallelism adds no bytes of its own and saves activations") {
    const Case c("llama-3.1-405b-16k");
    CHECK(c.row(MapRowId::sp).sent_bytes == 0);
    CHECK(c.row(MapRowId::sp).without > c.e.memory.peak());
}

TEST_CASE("what the rows make the step wait is what the step waits") {
    for (const char* preset : {"llama-3.1-405b-16k", "deepseek-v3-2048", "hsdp-64"}) {
        CAPTURE(preset);
        const Case c(preset);
        double waits = 0, rows = 0;
        for (const double s : c.e.step->exposed_comm_s) waits += s;
        for (const MapRow& r : c.rows)
            if (!r.modifier || r.id == MapRowId::etp) rows += r.waits_s;
        CHECK(rows == near(waits));
    }
}

TEST_CASE("without an axis that cuts the weights the fullest GPU holds more, by the degree at most") {
    const Case c("zoom-1024");
    const double peak = c.e.memory.peak();
    for (const MapRowId id : {MapRowId::tp, MapRowId::pp}) {
        CHECK(c.row(id).without > 2 * peak);
        CHECK(c.row(id).without < 8 * peak);
    }
    CHECK(c.row(MapRowId::dp).without == 0);
}

TEST_CASE("an axis sits on each level that its calls cross, and storage has no invented figure") {
    const Case c("llama-3.1-405b-16k");
    const auto levels = map_levels(c.plan, c.rows);
    CHECK(levels.front().name == "HBM");
    CHECK(levels.back().name == "storage");
    CHECK(levels.back().bytes_per_s == 0);
    std::vector<double> placed(c.rows.size(), 0);
    for (const MapLevel& l : levels)
        for (const MapLevel::Sitter& s : l.sitters) placed[static_cast<std::size_t>(s.row)] += s.sent_bytes;
    for (std::size_t i = 0; i < c.rows.size(); ++i)
        CHECK(placed[i] == near(c.rows[i].modifier ? 0 : c.rows[i].sent_bytes));
    for (std::size_t i = 1; i + 1 < levels.size(); ++i)
        CHECK(levels[i].bytes_per_s < levels[i - 1].bytes_per_s);
    CHECK(levels[3].bytes_per_s == near(50e9 / 7));  // the spine, 1:7
}

TEST_CASE("HSDP keeps its shards on the fast wire: only the replicas' bytes lie on the slow one") {
    const Case c("hsdp-64");
    const auto levels = map_levels(c.plan, c.rows);
    const auto on = [&](std::size_t level) {
        double bytes = 0;
        for (const MapLevel::Sitter& s : levels[level].sitters)
            if (c.rows[static_cast<std::size_t>(s.row)].id == MapRowId::dp) bytes += s.sent_bytes;
        return bytes;
    };
    const auto sent = [&](GroupKind k) { return c.e.comm.by_axis[k].sent_bytes_per_rank; };
    CHECK(on(1) == near(sent(GroupKind::dp_shard)));
    CHECK(on(2) == near(sent(GroupKind::dp_replicate)));
    CHECK(on(1) > 5 * on(2));
}

TEST_CASE("DeepSeek-V3 is pp + ep + dp without tp; Llama 3 405B is tp + pp + dp") {
    const auto here = [](const Case& c) {
        std::vector<std::string_view> names;
        for (const Combination& x : map_combinations(c.plan, c.e))
            if (x.here) names.push_back(x.what);
        return names;
    };
    CHECK(here(Case("deepseek-v3-2048")) == std::vector<std::string_view>{"pp + ep + dp"});
    CHECK(here(Case("llama-3.1-405b-16k")) == std::vector<std::string_view>{"tp + pp + dp"});
    CHECK(here(Case("llama-3-8b-fsdp")) == std::vector<std::string_view>{"FSDP"});
    CHECK(here(Case("hsdp-64")) == std::vector<std::string_view>{"HSDP"});
}

TEST_CASE("the recipe finds tp beyond the fast domain and pp together with ZeRO-3") {
    const Case tp("broken-tp-over-ib"), both("broken-pp-zero3"), good("llama-3.1-405b-16k");
    CHECK(map_recipe(tp.plan, tp.e)[0].verdict == Verdict::costly);
    CHECK(map_recipe(both.plan, both.e)[1].verdict == Verdict::costly);
    for (const RecipeStep& s : map_recipe(good.plan, good.e)) CHECK(s.verdict != Verdict::costly);
}

TEST_CASE("every group kind has its row, and a plan that is broken still has a map") {
    Case c("deepseek-v3-2048");
    for (int k = 0; k < kGroupKindCount; ++k) CHECK(row_of(c.rows, static_cast<GroupKind>(k)) >= 0);
    c.plan.layout.tp = 7;
    const Evaluation broken = evaluate(c.plan);
    CHECK_FALSE(broken.valid);
    CHECK(map_rows(c.plan, broken, MapStyle::modifiers).size() >= 7);
    CHECK(pipeline_or_sharding(c.plan, broken).size() == 6);
}
