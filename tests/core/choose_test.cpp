// Which of several plans to take: the words of each case, and one base for a gain.
#include "core/decide/choose.h"

#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace pentamesh;
using test::near;

namespace {

Plan seventy(const char* set) {
    return with_sets(test::presets().plan("llama-3-70b-3d"), {set}, test::presets());
}

}  // namespace

TEST_CASE("a gain within the estimate's range is said with a condition, the same share in both sentences") {
    const Plan a = test::presets().plan("llama-3-70b-3d"), b = seventy("layout.virtual_stages=1");
    Plan plain = b;
    plain.layout.schedule = Schedule::one_f_one_b;
    const Evaluation ea = evaluate(a), eb = evaluate(plain);
    REQUIRE(ea.step);
    REQUIRE(eb.step);
    const double gain = 1 - ea.step->time_s / eb.step->time_s, range = ea.step->error;
    REQUIRE(gain > kWorthIt);
    REQUIRE(gain < range);
    const PlanChoice c = choose_among(std::array{JudgedPlan{&a, &ea}, JudgedPlan{&plain, &eb}});
    CHECK(c.take == 0);
    CHECK_FALSE(c.sure);
    // Every share is of A's step, whichever of the two is faster.
    const double slower = eb.step->time_s / ea.step->time_s - 1;
    const std::string share = std::to_string(slower * 100).substr(0, 3);
    CHECK(c.sentence.find("Take A if it measures faster: B is " + share) == 0);
    if (slower < range) CHECK(c.caution.find("A difference of " + share) == 0);
    const PlanChoice turned = choose_among(std::array{JudgedPlan{&plain, &eb}, JudgedPlan{&a, &ea}});
    const std::string saved = std::to_string(gain * 100).substr(0, 3);
    CHECK(turned.sentence.find("Take B if it measures faster: " + saved) == 0);
    CHECK(turned.caution.find("A gain of " + saved) == 0);
    CHECK(tie_caution(range, *ea.step, *ea.step).empty());
    CHECK(tie_caution(kWorthIt / 2, *ea.step, *ea.step).empty());
}

TEST_CASE(
    "a plan that does not fit is not taken, of other models none is, and one without a step cannot be") {
    const Plan a = test::presets().plan("llama-3-70b-3d");
    const Evaluation ea = evaluate(a);
    Plan full = a;
    full.training.micro_batch = 8;
    const Evaluation ef = evaluate(full);
    REQUIRE(ef.step);
    REQUIRE_FALSE(ef.memory.fits());
    const PlanChoice c = choose_among(std::array{JudgedPlan{&full, &ef}, JudgedPlan{&a, &ea}});
    CHECK(c.take == 1);
    CHECK(c.sentence.find("A does not fit. Take B: it fits with ") == 0);
    CHECK(c.caution.empty());  // what does not fit gains nothing
    const Plan other = test::presets().plan("llama-3-8b-fsdp");
    const Evaluation eo = evaluate(other);
    CHECK_FALSE(choose_among(std::array{JudgedPlan{&a, &ea}, JudgedPlan{&other, &eo}}).take.has_value());
    Plan broken = a;
    broken.layout.tp = 3;
    const Evaluation eb = evaluate(broken);
    CHECK(choose_among(std::array{JudgedPlan{&a, &ea}, JudgedPlan{&broken, &eb}}).sentence
          == "B cannot be built.");
    const std::array three{JudgedPlan{&broken, &eb}, JudgedPlan{&full, &ef}, JudgedPlan{&a, &ea}};
    CHECK(choose_among(three).take == 2);
    CHECK(best_among(three) == 2);
}

TEST_CASE("a leaner plan that is slower by less than 1 % is not said to be no slower") {
    Plan a = test::presets().plan("llama-3-70b-3d"), b = a;
    b.training.micro_batch = 2;
    const Evaluation ea = evaluate(a), eb = evaluate(b);
    REQUIRE(ea.step);
    REQUIRE(eb.step);
    REQUIRE(ea.step->time_s > eb.step->time_s);
    REQUIRE(ea.step->time_s < 1.01 * eb.step->time_s);
    const std::string said = choose_among(std::array{JudgedPlan{&a, &ea}, JudgedPlan{&b, &eb}}).sentence;
    CAPTURE(said);
    CHECK(said.find("Take A: it holds ") == 0);
    CHECK(said.find("less, and is as fast to within 1 %.") != std::string::npos);
}

TEST_CASE("a plan that its verdict says may not fit is not said to fit beside another") {
    Plan a = test::presets().plan("llama-3-70b-3d"), b = a;
    b.training.micro_batch = 2;
    // The GPU has just what b takes, and a twentieth: b fits by the sum, and is above 92 %.
    a.cluster.gpu.hbm_bytes = b.cluster.gpu.hbm_bytes = evaluate(b).memory.peak() / 0.95;
    const Evaluation ea = evaluate(a), eb = evaluate(b);
    REQUIRE(ea.step);
    REQUIRE(eb.step);
    REQUIRE(ea.memory.fit() == MemoryFit::yes);
    REQUIRE(eb.memory.fit() == MemoryFit::tight);
    const std::string said = choose_among(std::array{JudgedPlan{&a, &ea}, JudgedPlan{&b, &eb}}).sentence,
                      turned = choose_among(std::array{JudgedPlan{&b, &eb}, JudgedPlan{&a, &ea}}).sentence;
    CAPTURE(said);
    CAPTURE(turned);
    CHECK(said.find("oth fit") == std::string::npos);
    CHECK(turned.find("oth fit") == std::string::npos);
    CHECK(open_fit_words(ea.memory).empty());
    CHECK(open_fit_words(eb.memory).find("GiB") != std::string::npos);
}
