#include "tests/core/memory_plans.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::test;

TEST_CASE("every category explains itself with symbols, this plan's numbers and a source") {
    for (Plan p : {plan_of_size(16, 1024, 8), moe_plan()})
        for (int zero = 0; zero < 4; ++zero) {
            p.layout.zero = zero;
            const Mesh mesh = build_mesh(p);
            const Memory m = memory_of(p);
            for (int c = 0; c < kMemoryCategoryCount; ++c)
                for (std::size_t d = 0; d < m.stage.size(); ++d) {
                    const Explanation e =
                        explain_memory(p, mesh, m, static_cast<int>(d), static_cast<MemoryCategory>(c));
                    CHECK_FALSE(e.empty());
                    CHECK(e.title.find(name_of(static_cast<MemoryCategory>(c))) != std::string::npos);
                    CHECK(e.substituted.find_first_of("0123456789") != std::string::npos);
                    std::string digits = e.result;
                    std::erase(digits, ',');
                    const double bytes = bytes_of(m.stage[d], static_cast<MemoryCategory>(c));
                    CHECK(digits.find(std::to_string(static_cast<std::int64_t>(bytes)) + " bytes")
                          != std::string::npos);
                    CHECK_FALSE(e.source.empty());
                }
        }
}

TEST_CASE("an explanation of ZeRO-1 states bytes, numbers and shards") {
    Plan p = plan_of_size(16, 1024, 8);
    p.layout.dp_shard = 8;
    p.layout.zero = 1;
    p.training.global_batch = 8;
    const Memory m = memory_of(p);
    const Explanation e = explain_memory(p, build_mesh(p), m, 0, MemoryCategory::optimizer);
    CHECK(e.formula.rfind("b · N / (dp_shard · cp)", 0) == 0);
    CHECK(e.substituted == "12 · 530,613,248 / 8");
    CHECK(e.result == "= 759 MiB (795,919,872 bytes)");
    CHECK(explain_memory(p, build_mesh(p), m, 1, MemoryCategory::optimizer).empty());
}
