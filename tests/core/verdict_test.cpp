#include "core/explain/verdict.h"
#include "core/plan/problem.h"

#include "core/base/text.h"
#include "plans.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

Plan with_hbm(Plan p, double bytes) {
    p.cluster.gpu.hbm_bytes = bytes;
    return p;
}

bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the verdict follows the memory of the GPU: fits, may not fit, does not fit") {
    Plan p = small_plan(64);
    p.layout.pp = 4, p.layout.tp = 8, p.layout.dp_shard = 2;
    const Evaluation e = evaluate(p);
    REQUIRE(e.valid);
    const StageMemory& s = e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)];
    REQUIRE(s.buffers_low < s.buffers);
    const auto of = [&](double hbm) { return verdict_of(evaluate(with_hbm(p, hbm))); };
    double roomy = 0;  // the head's stage needs more for another loss than the fullest one
    for (const StageMemory& held : e.memory.stage)
        roomy = std::max({roomy, held.most(), held.total() / kTightShare, held.total() + held.loss_other});
    CHECK(of(roomy + 1).fit == MemoryFit::yes);
    CHECK(says(of(roomy + 1).sentence, "Fits."));
    CHECK(of(s.most() - 1).fit == MemoryFit::tight);
    CHECK(says(of(s.most() - 1).sentence, "May not fit: little room is left."));
    CHECK(says(of(s.most() - 1).reason, "With the largest buffers that were measured"));
    CHECK(of(s.total() - 1e6).fit == MemoryFit::if_small);
    CHECK(says(of(s.total() - 1e6).sentence, "May not fit: only if buffers stay small."));
    const PlanVerdict not_at_all = of(s.least() / 2);
    CHECK(not_at_all.fit == MemoryFit::no);
    CHECK(says(not_at_all.sentence, "Does not fit in memory."));
    CHECK(says(not_at_all.reason, memory_text(s.least() / 2, Zeros::kept)));
    p.layout.tp = 7;
    const Evaluation broken = evaluate(p);
    CHECK(verdict_of(broken).fit == std::nullopt);
    CHECK(verdict_of(broken).reason == broken.problems.front().message);
}

TEST_CASE("the largest loss is the largest part of the step that another layout can mend") {
    std::mt19937 rng(5);
    int with_bubble = 0, with_wire = 0;
    for (int i = 0; i < 60; ++i) {
        Plan p = small_plan(64);
        p.layout.pp = 1 << rng() % 4, p.layout.tp = 1 << rng() % 3;
        p.layout.dp_shard = 64 / p.layout.pp / p.layout.tp;
        p.training.recompute = static_cast<Recompute>(rng() % 3);
        const Evaluation e = evaluate(p);
        if (!e.valid || !e.step) continue;
        const Step& s = *e.step;
        double most = std::max({schedule_bubble_s(s), s.uneven_s, s.recompute_s, s.straggler_s});
        for (const double x : s.exposed_comm_s) most = std::max(most, x);
        const auto loss = largest_loss(s);
        REQUIRE(loss.has_value() == (most >= 0.01 * s.time_s));
        if (!loss) continue;
        CHECK(loss->time_s == near(most));
        CHECK(says(verdict_of(e).sentence, percent_text(most / s.time_s, Zeros::kept) + " of the step."));
        with_bubble += loss->part == StepPart::bubble ? 1 : 0;
        with_wire += loss->part == StepPart::exposed ? 1 : 0;
    }
    CHECK(with_bubble > 0);
    CHECK(with_wire > 0);
}

TEST_CASE("stages that hold the same as the fullest are named together") {
    Memory m;
    for (const double gib : {60.0, 70.0, 70.001, 70.002, 50.0}) {
        StageMemory s;
        s.activations = gib * 1024 * 1024 * 1024;
        m.stage.push_back(s);
    }
    m.peak_stage = 3;
    CHECK(words_of(fullest_stages(m), m) == "Stages 1 to 3");
    m.stage.resize(1), m.peak_stage = 0;
    CHECK(words_of(fullest_stages(m), m) == "Every GPU");
}

TEST_CASE("one stage needs, several need, and every GPU holds") {
    constexpr double kGib = 1024.0 * 1024 * 1024;
    const auto reason = [](double hbm, const std::vector<double>& stages) {
        Evaluation e;
        e.valid = true;
        e.memory.hbm = hbm * kGib;
        for (const double gib : stages) e.memory.stage.emplace_back().activations = gib * kGib;
        e.memory.peak_stage =
            static_cast<int>(std::max_element(stages.begin(), stages.end()) - stages.begin());
        return verdict_of(e).reason;
    };
    CHECK(reason(80, {60, 70, 50}).starts_with("Stage 1 is fullest: "));
    CHECK(reason(80, {60, 70, 70}).starts_with("Stages 1 and 2 are fullest: "));
    CHECK(reason(80, {70, 70}).starts_with("Every GPU holds "));
    CHECK(reason(40, {60, 70, 50}).starts_with("Stage 1 needs "));
    CHECK(reason(40, {60, 70, 70}).starts_with("Stages 1 and 2 need "));
    CHECK(reason(40, {70, 70}).starts_with("Every GPU needs "));
}

TEST_CASE("each problem has a title of its own, short enough for one line") {
    for (const ProblemCode code : all_of<ProblemCode>()) {
        const std::string_view title = title_of(code);
        CAPTURE(name_of(code));
        CHECK(title.size() > 8);
        CHECK(title.size() <= 42);
        CHECK(title.back() != '.');
    }
}
