#include "core/plan/edits.h"

#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/field_list.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

using namespace pentamesh;

namespace {
using test::presets;

Plan read_back(const Plan& plan) {
    return parse_plan(write_plan(plan), "plan", presets());
}
}  // namespace

TEST_CASE("every number at both ends of its range can be typed, saved and read") {
    const Plan start = presets().plan("llama-3-70b-3d");
    int numbers = 0;
    for (const auto& f : list_fields(start)) {
        const auto range = range_of(f.pointer());
        if (!range) continue;
        for (const double end : {range->least, range->most}) {
            CAPTURE(f.pointer());
            CAPTURE(end);
            const double x = range->above && end == range->least ? end + 1e-6 : end;
            Plan plan = start;
            if (range->whole) {
                const Quantity typed =
                    parse_quantity(std::to_string(static_cast<std::int64_t>(x)), Dimension::count);
                REQUIRE(typed.value);
                REQUIRE(range->allows(*typed.value));
                plan = with_number(start, f.pointer(), static_cast<std::int64_t>(*typed.value));
            } else {
                REQUIRE(apply_in_core(plan, {{f.pointer(), x}}));
            }
            CHECK(read_back(plan) == plan);
            static_cast<void>(evaluate(plan));  // no overflow on the way, for any result
            ++numbers;
        }
    }
    CHECK(numbers == 2 * 32);
}

TEST_CASE("numbers beyond a range are not allowed, and a plan file refuses them too") {
    const Plan start = presets().plan("llama-3-70b-3d");
    for (const auto& f : list_fields(start)) {
        const auto range = range_of(f.pointer());
        if (!range || !range->whole) continue;
        CAPTURE(f.pointer());
        CHECK_FALSE(range->allows(range->least - 1));
        CHECK_FALSE(range->allows(range->most + 1));
        CHECK_FALSE(range->allows(range->least + 0.5));
        const std::string set =
            f.pointer() + "=" + std::to_string(static_cast<std::int64_t>(range->most) + 1);
        CHECK_THROWS_AS(static_cast<void>(parse_plan(write_plan(start), "", presets(), {set})), Error);
        CHECK(with_number(start, f.pointer(), static_cast<std::int64_t>(range->most) + 1)
              == with_number(start, f.pointer(), static_cast<std::int64_t>(range->most)));
    }
    CHECK_FALSE(range_of("/layout/sequence_parallel"));
    CHECK_FALSE(range_of("/layout/xp"));
    CHECK(range_text(*range_of("/cluster/gpus")) == "a whole number from 1 to 1,048,576");
    CHECK(range_of("/training/sequence_length")->allows(10e6));  // a context of 10 M tokens
}

TEST_CASE("steps stay in their field's range and come back") {
    for (const auto* pointer :
         {"/cluster/gpus", "/training/global_batch", "/training/sequence_length", "/training/micro_batch"}) {
        CAPTURE(pointer);
        const FieldRange range = *range_of(pointer);
        std::int64_t n = 1;
        for (int i = 0; i < 70; ++i) {
            const std::int64_t up = next_value(pointer, n, 1);
            CHECK(range.allows(static_cast<double>(up)));
            if (up != n) CHECK(next_value(pointer, up, -1) == n);
            n = up;
        }
        CHECK(next_value(pointer, 1, -1) == 1);
        const auto most = static_cast<std::int64_t>(range.most);
        CHECK(next_value(pointer, most, 1) == most);
        CHECK(next_value(pointer, most + 5, -1) == most);
    }
    CHECK(next_value("/training/global_batch", 1023, -1) == 1023);
    CHECK(next_value("/training/micro_batch", 3, 1) == 4);
}

TEST_CASE("another number of GPUs goes to data parallelism, and the last tier spans them") {
    const Plan start = presets().plan("llama-3-70b-3d");
    const Plan twice = with_gpus(start, start.cluster.gpus * 2);
    CHECK(data_parallel(twice) == 2 * data_parallel(start));
    CHECK(ranks_laid_out(twice) == twice.cluster.gpus);
    CHECK(domain_of(twice.cluster, twice.cluster.tiers.size() - 1) == twice.cluster.gpus);
    CHECK(read_back(twice) == twice);
    CHECK(with_gpus(start, 5'000'000).cluster.gpus == kMostDegree);
}

TEST_CASE("another cluster keeps the GPUs, another model drops what it has no use for") {
    const Plan start = presets().plan("llama-3-70b-3d");
    const Plan moved_to = with_cluster(start, presets().cluster("a100-80gb-ib"), "a100-80gb-ib");
    CHECK(moved_to.cluster.gpus == start.cluster.gpus);
    CHECK(moved_to.cluster_source.preset == "a100-80gb-ib");
    CHECK(read_back(moved_to) == moved_to);
    Plan experts = start;
    experts.layout.ep = 8, experts.layout.etp = 1;
    experts.layout.stage_layers = {1, 2, 3};
    const Plan dense = with_model(experts, presets().model("llama-3-8b"), "llama-3-8b");
    CHECK(dense.layout.ep == 1);
    CHECK_FALSE(dense.layout.etp.has_value());
    CHECK(dense.layout.stage_layers.empty());
}

TEST_CASE("another schedule keeps the layers of stages only with as many chunks") {
    Plan p = presets().plan("llama-3-70b-3d");
    p.layout.stage_layers = {1, 2, 3};
    p.layout.microbatch_group = 4;
    const std::int64_t v = p.layout.virtual_stages;
    CHECK(with_schedule(p, Schedule::gpipe, v).layout.stage_layers == p.layout.stage_layers);
    const Plan other = with_schedule(p, Schedule::interleaved, v + 1);
    CHECK(other.layout.stage_layers.empty());
    CHECK_FALSE(other.layout.microbatch_group.has_value());
}

TEST_CASE("moving an axis keeps the others in their order") {
    const AxisOrder order{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};
    CHECK(moved(order, 0, 2)
          == AxisOrder{Axis::cp, Axis::ep, Axis::tp, Axis::dp_shard, Axis::dp_replicate, Axis::pp});
    CHECK(moved(order, 5, 0)
          == AxisOrder{Axis::pp, Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate});
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = 0; j < order.size(); ++j) {
            CHECK(moved(order, i, j)[j] == order[i]);
            CHECK(moved(moved(order, i, j), j, i) == order);
        }
}

TEST_CASE("edits reach every field of the layout and the training that a plan file has") {
    Plan plan = presets().plan("llama-3-70b-3d");
    const auto file = nlohmann::json::parse(write_plan(plan));
    for (const char* owner : {"/layout", "/training"})
        for (const auto& item : file.at(nlohmann::json::json_pointer(owner)).items()) {
            CAPTURE(item.key());
            const std::string pointer = std::string(owner) + "/" + item.key();
            bool listed = item.key() == "overlap";  // its fields are listed one by one
            for (const auto& f : list_fields(plan)) listed = listed || f.is(pointer);
            CHECK(listed);
        }
}

TEST_CASE("edits of a fix leave out replicas that follow from the others") {
    Plan from = presets().plan("llama-3-70b-3d");  // 256 GPUs
    from.layout.tp = 8, from.layout.cp = 1, from.layout.pp = 4, from.layout.dp_shard = 4;
    from.layout.dp_replicate.reset();  // 2 are left
    Plan to = from;
    to.layout.tp = 4, to.layout.dp_shard = 8, to.layout.dp_replicate = 2;
    const std::vector<Edit> edits = needed_edits(from, to);
    CHECK(edits.size() == 2);
    CHECK(edits_between(from, to).size() == 3);
    Plan got = from;
    REQUIRE(apply_in_core(got, edits));
    CHECK(replicas_in_force(got) == 2);
    to.layout.dp_replicate = 4;  // does not fill the cluster: it must be said
    CHECK(needed_edits(from, to).size() == 3);
    from.layout.dp_replicate = 1;
    to.layout.dp_replicate = 2;
    CHECK(needed_edits(from, to).size() == 3);
}

TEST_CASE("the edits between two plans turn one into the other") {
    const Plan from = presets().plan("llama-3-70b-3d");
    Plan to = from;
    to.cluster.gpus = 4096;
    to.layout.order = moved(to.layout.order, 0, 5);
    to.layout.schedule = Schedule::zb_v, to.layout.virtual_stages = 2;
    to.layout.etp = 2, to.layout.zero = 3;
    to.training.parameters = Dtype::fp8, to.training.optimizer = Optimizer::muon;
    to.training.master_weights = MasterWeights::none, to.training.dropout = true;
    to.training.straggler_cv = 0.25, to.training.overlap.ep = true;
    const std::vector<Edit> edits = edits_between(from, to);
    CHECK(edits.size() == 12);
    Plan got = from;
    CHECK(apply_in_core(got, edits));
    CHECK(got == to);
    CHECK(edits_between(got, to).empty());
    CHECK_FALSE(apply_in_core(got, {{"/layout/tp", std::string("eight")}}));
    CHECK_FALSE(apply_in_core(got, {{"/layout/schedule", std::string("eight")}}));
    CHECK_FALSE(apply_in_core(got, {{"/layout/nothing", std::int64_t{1}}}));
}

TEST_CASE("of a cluster whose GPUs per node were changed the last tiers can be removed, saved and read") {
    Plan plan = with_gpus_per_node(presets().plan("mesh-8"), 2);
    REQUIRE(plan.cluster.tiers.size() > 1);
    CHECK(read_back(plan) == plan);
    std::vector<Tier> one{plan.cluster.tiers.front()};
    one.front().domain = 0;
    plan = with_tiers(plan, one);
    CHECK(read_back(plan) == plan);
    Plan stated = parse_plan(R"({"format": "pentamesh.plan/1", "model": "llama-3-8b",
        "cluster": {"preset": "h100-sxm-ib", "gpus": 8, "fast_domain": 4}, "layout": {"dp_shard": 8}})",
                             "plan", presets());
    stated = with_tiers(stated, one);
    CHECK(read_back(stated) == stated);
}
