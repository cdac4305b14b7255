// Explanations are arithmetic that a reader can do: here it is done, and compared with the figure that it
// explains.
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/explain/traffic.h"
#include "core/explain/verdict.h"
#include "core/sharding/placement.h"
#include "tests/core/memory_plans.h"
#include "tests/core/shipped.h"
#include "tests/near.h"

#include <charconv>
#include <cmath>
#include <doctest/doctest.h>
#include <optional>
#include <string_view>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

// Works out "4.6 · (20 · 268 MiB) + 294 KiB": products before sums, units of bytes, commas in numbers, no
// words.
class Arithmetic {
  public:
    explicit Arithmetic(std::string_view text) : left_(text) {}
    std::optional<double> value() {
        const double all = sum();
        return wrong_ || !left_.empty() ? std::nullopt : std::optional(all);
    }
    // Returns true if a division left a rest.
    [[nodiscard]] bool uneven() const { return uneven_; }

  private:
    bool take(std::string_view word) {
        while (left_.starts_with(' ')) left_.remove_prefix(1);
        if (!left_.starts_with(word)) return false;
        left_.remove_prefix(word.size());
        return true;
    }
    double sum() {
        double all = product();
        while (!wrong_)
            if (take("+"))
                all += product();
            else if (take("- "))
                all -= product();
            else
                break;
        return all;
    }
    double product() {
        double all = factor();
        while (!wrong_)
            if (take("·"))
                all *= factor();
            else if (take("/")) {
                const double parts = factor();
                uneven_ = uneven_ || std::fmod(all, parts) != 0;
                all /= parts;
            } else
                break;
        return all;
    }
    double factor() {
        if (take("(")) {
            const double inside = sum();
            wrong_ = wrong_ || !take(")");
            return inside;
        }
        static_cast<void>(take(""));
        std::string digits;
        while (!left_.empty()
               && std::string_view("0123456789.,").find(left_.front()) != std::string_view::npos) {
            if (left_.front() != ',') digits += left_.front();
            left_.remove_prefix(1);
        }
        double number = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        wrong_ = wrong_ || digits.empty() || read.ec != std::errc();
        const std::pair<std::string_view, double> units[] = {
            {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
            {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"PB", 1e15},    {"B", 1}};
        for (const auto& [unit, times] : units)
            if (take(unit)) return number * times;
        return number;
    }
    std::string_view left_;
    bool wrong_ = false, uneven_ = false;
};

// Plans that ship, each with every stage of ZeRO that it can have.
template <typename Use>
void each_plan(const Use& use) {
    for (const Presets::Entry& entry : presets().list(PresetKind::plan))
        for (int zero = 0; zero < 4; ++zero) {
            Plan p = presets().plan(entry.id);
            p.layout.zero = zero;
            const Evaluation e = evaluate(p);
            if (!e.valid || !e.step) continue;
            CAPTURE(entry.id);
            CAPTURE(zero);
            use(p, e);
        }
}

}  // namespace

TEST_CASE("the arithmetic of a test is right itself") {
    CHECK(Arithmetic("4.6 · (20 · 268 MiB) + 294 KiB").value() == near(4.6 * 20 * 268 * 0x1p20 + 294 * 1024));
    CHECK(Arithmetic("12 · 2,271 / 8").value() == near(12.0 * 2271 / 8));
    CHECK_FALSE(Arithmetic("2 · many").value());
}

// Its figures have three digits.
TEST_CASE("what explains a GPU's memory comes to its bytes") {
    int worked_out = 0;
    each_plan([&](const Plan& p, const Evaluation& e) {
        for (std::size_t d = 0; d < e.memory.stage.size(); d += 3)
            for (int c = 0; c < kMemoryCategoryCount; ++c) {
                const auto category = static_cast<MemoryCategory>(c);
                const Explanation x = explain_memory(p, e.mesh, e.memory, static_cast<int>(d), category);
                CAPTURE(x.formula);
                CAPTURE(x.substituted);
                CHECK(Arithmetic(x.substituted).value() == near(bytes_of(e.memory.stage[d], category), 0.01));
                ++worked_out;
            }
    });
    CHECK(worked_out > 500);
}

TEST_CASE("what explains a tensor comes to the bytes of its largest part") {
    int worked_out = 0;
    each_plan([&](const Plan& p, const Evaluation& e) {
        for (const TensorState state : {TensorState::parameters, TensorState::gradients,
                                        TensorState::optimizer, TensorState::activations})
            for (const Moment moment : {Moment::at_rest, Moment::computing})
                for (const Placement& t : list_placements(p, e.mesh, state, moment)) {
                    const Part part = part_of(p, e.mesh, t, 0);
                    if (!part.held) continue;
                    const Explanation x = explain_tensor(p, e.mesh, t, 0);
                    CAPTURE(x.formula);
                    CAPTURE(x.substituted);
                    Arithmetic work(x.substituted);
                    const std::optional<double> bytes = work.value();
                    REQUIRE(bytes.has_value());
                    if (work.uneven())  // the first ranks hold one more
                        CHECK(*bytes <= part.bytes);
                    else
                        CHECK(*bytes == near(part.bytes, 0.01));
                    ++worked_out;
                }
    });
    CHECK(worked_out > 4000);
}

TEST_CASE("what explains a collective comes to the bytes that it sends, its steps to its time") {
    int worked_out = 0;
    each_plan([&](const Plan& p, const Evaluation& e) {
        for (const Operation& o : e.comm.operations) {
            const Explanation x = explain_operation(p, e, o);
            std::string sum = x.substituted;
            const std::size_t ranks = sum.find(" (n = ");
            REQUIRE(ranks != std::string::npos);
            CHECK(sum.substr(ranks).starts_with(" (n = " + with_commas(o.group_size) + ")"));
            sum.erase(ranks, sum.find(')', ranks) + 1 - ranks);
            CAPTURE(x.formula);
            CAPTURE(x.substituted);
            CHECK(Arithmetic(sum).value() == near(o.sent_bytes_per_rank, 0.02));
            CHECK(x.result == "= " + bytes_text(o.sent_bytes_per_rank, Zeros::kept) + " per GPU and step");
            double time = 0;
            for (const CollectivePhase& phase : collective_phases(p, e, o))
                time += static_cast<double>(phase.steps) * phase.step_s;
            CHECK(time == near(o.call_s, 1e-6));
            ++worked_out;
        }
    });
    CHECK(worked_out > 400);
}

TEST_CASE("what explains a part of the step ends in its seconds and its share") {
    each_plan([&](const Plan& p, const Evaluation& e) {
        const Step& s = *e.step;
        for (const auto& [bound_part, seconds] : {std::pair(StepPart::compute, s.compute_s),
                                                  {StepPart::recompute, s.recompute_s},
                                                  {StepPart::optimizer, s.optimizer_s},
                                                  {StepPart::straggler, s.straggler_s},
                                                  {StepPart::products, s.below.products},
                                                  {StepPart::uneven, s.uneven_s},
                                                  {StepPart::bubble, schedule_bubble_s(s)}}) {
            const auto& part = bound_part;
            CAPTURE(name_of(part));
            CHECK(explain_step(p, e, part).result
                  == "= " + time_text(seconds, Zeros::kept) + ", "
                         + percent_text(seconds / s.time_s, Zeros::kept) + " of the step");
        }
        const std::string flops = three_digits(s.model_flops_per_gpu / 1e12) + " TFLOP";
        CHECK(explain_step(p, e, StepPart::compute).substituted
              == with_commas(e.microbatches) + (e.microbatches == 1 ? " micro-batch" : " micro-batches")
                     + " on the average stage, " + flops + " per GPU and step");
        CHECK(explain_step(p, e, StepPart::ideal).substituted.starts_with(flops + ", "));
        CHECK(
            explain_step(p, e, StepPart::products)
                .substituted.starts_with("of " + time_text(s.compute_s - s.ideal_s, Zeros::kept) + " that"));
        for (const GroupKind kind : all_of<GroupKind>())
            CHECK(explain_step(p, e, StepPart::exposed, kind)
                      .result.starts_with("= " + time_text(s.exposed_comm_s[kind], Zeros::kept) + ", "));
    });
}

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
