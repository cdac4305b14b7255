// Sequence parallelism sends the bytes of the all-reduces that it stands for, and gathers inputs once more.
#include "core/explain/sequence_parallel.h"

#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <string>

using namespace pentamesh;
using test::near;

TEST_CASE("the bytes of sequence parallelism are those of the closed form") {
    // Korthikanti et al. 2022, section 4.2: 2 (n - 1) / n S for an all-reduce, (n - 1) / n S for each half;
    // Megatron gathers the inputs of attention and of the MLP once more in the backward.
    for (const std::int64_t tp : {2, 4, 8})
        for (const bool on : {false, true}) {
            Plan plan = test::presets().plan("llama-3-70b-3d");
            plan.layout.tp = tp, plan.layout.dp_shard = 64 / tp, plan.layout.sequence_parallel = on;
            const auto bytes = sequence_parallel_bytes(plan, evaluate(plan));
            REQUIRE(bytes);
            const auto n = static_cast<double>(tp);
            const double buffer = 8192.0 * 8192 * 2, half = (n - 1) / n * buffer;
            CHECK(bytes->on == on);
            CHECK(bytes->all_reduces == 4);
            CHECK(bytes->without_bytes == near(4 * 2 * half, 1e-12));
            CHECK(bytes->with_bytes == near(bytes->without_bytes, 1e-12));
            CHECK(bytes->again_bytes == near(2 * half, 1e-12));
            const std::string words = words_of(*bytes);
            CHECK(words.find("4 all-reduces") != std::string::npos);
            CHECK(words.find(on ? "as here, gathers" : "as here: 4") != std::string::npos);
            CHECK(words.find("the same ") != std::string::npos);
        }
}

TEST_CASE("a plan of one tp rank has no such bytes, and a comparison holds on plans that ship") {
    CHECK_FALSE(sequence_parallel_bytes(test::presets().plan("llama-3-8b-fsdp"),
                                        evaluate(test::presets().plan("llama-3-8b-fsdp"))));
    int told = 0;
    for (const Presets::Entry& entry : test::presets().list(PresetKind::plan)) {
        const Plan plan = test::presets().plan(entry.id);
        const Evaluation e = evaluate(plan);
        const auto bytes = sequence_parallel_bytes(plan, e);
        if (!bytes) continue;
        CAPTURE(entry.id);
        ++told;
        // The step's own rows of a plan with it, without the table of words, are what a layer sends.
        if (!bytes->on || !bytes->one_kind) continue;
        double sent = 0;
        for (const Operation& o : e.comm.operations)
            if (o.group == GroupKind::tp && o.scope == Scope::layer && !o.recomputed)
                sent += o.calls * sent_bytes(o.collective, o.group_size, o.message_bytes);
        CHECK(bytes->with_bytes + bytes->again_bytes == near(sent, 1e-9));
    }
    CHECK(told > 3);
}
