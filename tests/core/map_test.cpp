#include "core/base/text.h"
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

TEST_CASE(
    "a row's figures are sums over the calls of its axis, and its reason says what the step waits for") {
    const std::pair<MapRowId, GroupKind> axes[] = {{MapRowId::tp, GroupKind::tp},
                                                   {MapRowId::pp, GroupKind::pp},
                                                   {MapRowId::cp, GroupKind::cp},
                                                   {MapRowId::ep, GroupKind::ep}};
    for (const char* preset : {"llama-3.1-405b-16k", "deepseek-v3-2048", "mixtral-8x7b-ep", "llama-3-70b-3d",
                               "llama-3.1-405b-131k", "broken-tp-over-ib", "zoom-1024"}) {
        CAPTURE(preset);
        const Case c(preset);
        const double step = c.e.step->time_s;
        for (const auto& [bound_id, kind] : axes) {
            const auto& id = bound_id;
            const MapRow& r = c.row(id);
            CAPTURE(words_of(id).key);
            CHECK(r.degree == c.e.groups[kind].degree);
            CHECK(r.kind == kind);
            CHECK(r.setting == with_commas(r.degree));
            double calls = 0, sent = 0, time = 0, exposed = 0;
            int tier = -1;
            std::array<double, kMaxTiers> by_tier{};
            for (const Operation& o : c.e.comm.operations) {
                if (o.group != kind || o.on_other_stage) continue;
                calls += o.count_per_step, sent += o.sent_bytes_per_rank;
                time += o.time_s, exposed += o.exposed_s;
                by_tier[static_cast<std::size_t>(o.tier)] += o.sent_bytes_per_rank;
                tier = std::max(tier, o.tier);
            }
            CHECK(r.calls == near(calls));
            CHECK(r.sent_bytes == near(sent));
            CHECK(r.time_s == near(time));
            CHECK(r.exposed_s == near(exposed));
            CHECK(r.tier == tier);
            for (std::size_t i = 0; i < by_tier.size(); ++i) CHECK(r.sent_by_tier[i] == near(by_tier[i]));
            CHECK(r.waits_s == near(c.e.step->exposed_comm_s[kind]));
            const double bubble = id == MapRowId::pp ? c.e.step->bubble_s : 0;
            CHECK(r.bubble_s + r.uneven_s == near(bubble));
            if (r.degree == 1) continue;
            const double share = (r.waits_s + bubble) / step;
            CHECK((r.verdict == Verdict::costly)
                  == (share > kCostlyShare || (id == MapRowId::tp && tier > 0)));
            if (bubble > r.waits_s)
                CHECK(r.reason.starts_with(percent_text(r.bubble_s / step) + " bubble, "));
            else if (r.waits_s > 0)
                CHECK(r.reason.starts_with(percent_text(share) + " of the step waits for it"));
            else
                CHECK(r.reason.starts_with("hidden behind compute"));
            CHECK((r.reason.find(", across ") != std::string::npos)
                  == (id == MapRowId::tp && tier > 0 && bubble <= r.waits_s));
        }
    }
}

TEST_CASE("what bounds an axis, how often it talks and what it means that it is off") {
    // Llama 3.1 405B: 126 layers, 128 heads, 8 of keys and values; tp 8, pp 16, dp 128, 2,048 sequences of
    // 8,192 tokens.
    const Case c("llama-3.1-405b-16k");
    CHECK(c.row(MapRowId::tp).bound == "128 heads, 8 of keys and values");
    CHECK(c.row(MapRowId::sp).bound == "128 heads, 8 of keys and values");
    CHECK(c.row(MapRowId::pp).bound == "126 layers");
    CHECK(c.row(MapRowId::cp).bound == "8,192 tokens, in 2 pieces a rank");
    CHECK(c.row(MapRowId::ep).bound == "no experts");
    CHECK(c.row(MapRowId::dp).bound == "a global batch of 2,048 in micro-batches of 1");
    CHECK(c.row(MapRowId::tp).often == "10 per layer and micro-batch");
    CHECK(c.row(MapRowId::pp).often == "per micro-batch, both ways");
    CHECK(c.row(MapRowId::cp).reason == "each GPU sees all 8,192 tokens");
    CHECK(c.row(MapRowId::sp).setting == "on");
    CHECK(short_setting(c.row(MapRowId::zero)) == std::to_string(c.plan.layout.zero));
    // DeepSeek-V3: latent attention has as many heads of keys as of queries; 256 experts.
    const Case d("deepseek-v3-2048");
    CHECK(d.row(MapRowId::tp).bound == "128 heads");
    CHECK(d.row(MapRowId::ep).bound == "256 experts");
    CHECK(d.row(MapRowId::ep).often.ends_with(" per MoE layer and micro-batch"));
    CHECK(d.row(MapRowId::tp).reason == "every matrix is whole on its GPU");
    CHECK(d.row(MapRowId::sp).reason == "there is no tp to go with");
    CHECK(d.row(MapRowId::zero).setting == "ZeRO-1 over 128");
    // Without a pipeline sharded weights are gathered for each micro-batch.
    CHECK(Case("llama-3-8b-fsdp").row(MapRowId::zero).often == "3 per layer and micro-batch");
    Plan whole = Case("mixtral-8x7b-ep").plan;
    whole.layout.ep = 1, whole.layout.zero = 0;
    const Evaluation e = evaluate(whole);
    const std::vector<MapRow> rows = map_rows(whole, e, MapStyle::modifiers);
    CHECK(rows[static_cast<std::size_t>(row_of(rows, GroupKind::ep))].reason
          == "every GPU has all 8 experts");
    for (const MapRow& r : rows)
        if (r.id == MapRowId::zero) CHECK(r.reason == "each replica keeps the whole state");
}

TEST_CASE("without sequence parallelism the fullest GPU holds what that plan says") {
    for (const char* preset : {"llama-3.1-405b-16k", "llama-3-70b-3d"}) {
        CAPTURE(preset);
        const Case c(preset);
        Plan copied = c.plan;
        copied.layout.sequence_parallel = false;
        const double more = evaluate(copied).memory.peak();
        CHECK(c.row(MapRowId::sp).without == near(more));
        CHECK(c.row(MapRowId::sp).reason
              == "saves " + memory_text(more - c.e.memory.peak()) + "; costs one gather more");
    }
}

TEST_CASE("a row names its calls by what they carry, and leaves out what is next to nothing") {
    const auto talks = [](const Plan& plan, MapRowId id) {
        const Evaluation e = evaluate(plan);
        for (const MapRow& r : map_rows(plan, e, MapStyle::modifiers))
            if (r.id == id) return r.talk;
        return std::string();
    };
    Plan plan = Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("mesh-8");
    CHECK(talks(plan, MapRowId::dp).starts_with("all-gather of parameters, "));
    CHECK(talks(plan, MapRowId::cp).empty());  // it is off
    plan.layout.sequence_parallel = false;
    CHECK(talks(plan, MapRowId::tp) == "all-reduce of activations and their gradients");  // not of the loss
    plan.layout.zero = 0;
    CHECK(talks(plan, MapRowId::dp) == "all-reduce of gradients");
}
