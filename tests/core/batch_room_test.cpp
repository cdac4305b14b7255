// Tests which micro-batches a plan has room for: by evaluations of the plan with each.
#include "core/explain/batch_room.h"
#include "tests/core/shipped.h"

#include <doctest/doctest.h>

using namespace pentamesh;

TEST_CASE("a plan names the largest micro-batch that it has room for") {
    for (const char* id : {"mesh-8", "llama-3-8b-fsdp", "llama-3-70b-3d", "mixtral-8x7b-ep"}) {
        CAPTURE(id);
        Plan plan = test::presets().plan(id);
        const std::vector<BatchRoom> rooms = batch_rooms(plan);
        REQUIRE_FALSE(rooms.empty());
        std::int64_t largest = 0;
        bool own = false;
        for (const BatchRoom& r : rooms) {
            own = own || r.micro_batch == plan.training.micro_batch;
            Plan q = plan;
            q.training.micro_batch = r.micro_batch;
            const Evaluation e = evaluate(q);
            REQUIRE(e.valid);
            CHECK(e.memory.peak() == r.fullest.total());
            CHECK(e.memory.fit() == r.fit);
            if (e.memory.fit() == MemoryFit::yes) largest = r.micro_batch;
        }
        CHECK(own);
        REQUIRE(largest > 0);
        CHECK(words_of(rooms).find("largest micro-batch that fits: " + std::to_string(largest)) == 0);
        // Twice as much is more than there is, or more than the batch has.
        Plan twice = plan;
        twice.training.micro_batch = 2 * largest;
        const Evaluation e = evaluate(twice);
        CHECK((!e.valid || e.memory.fit() != MemoryFit::yes));
    }
    Plan large = test::presets().plan("mesh-8");
    large.cluster.gpu.hbm_bytes = 4e9;
    CHECK(words_of(batch_rooms(large)).find("no micro-batch surely fits: 1 would need") == 0);
}
