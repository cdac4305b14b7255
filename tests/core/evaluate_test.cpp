// evaluate() depends only on the plan: nothing of an older plan stays in a reused Evaluation, and an
// impossible plan has no figures.
#include "core/evaluate.h"

#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;

namespace {

class Walk {
  public:
    explicit Walk(unsigned seed) : random_(seed) {
        for (const Presets::Entry& e : presets_.list(PresetKind::plan)) plans_.push_back(presets_.plan(e.id));
        for (const Presets::Entry& e : presets_.list(PresetKind::model))
            models_.push_back(presets_.model(e.id));
        now_ = plans_.front();
    }

    const Plan& next() {
        const int what = whole(0, 19);
        if (what == 0)
            now_ = pick(plans_);
        else if (what == 1)
            now_.model = pick(models_);
        else if (what < 8)
            mend();
        else if (what < 13)
            change_layout(now_.layout);
        else if (what < 16)
            change_pipeline(now_.layout);
        else
            change_training(now_);
        // A replay of a million operations shows nothing that one of a thousand does not.
        now_.training.global_batch = std::min<std::int64_t>(now_.training.global_batch, 4096);
        return now_;
    }

  private:
    int whole(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
    template <typename T>
    const T& pick(const std::vector<T>& of) {
        return of[static_cast<std::size_t>(whole(0, static_cast<int>(of.size()) - 1))];
    }
    std::int64_t one_of(std::initializer_list<std::int64_t> of) {
        return *(of.begin() + whole(0, static_cast<int>(of.size()) - 1));
    }

    // Applies fixes until the plan is valid.
    void mend() {
        for (int k = 0; k < 8; ++k) {
            const Evaluation e = evaluate(now_, {.timeline = false});
            if (e.valid) return;
            for (const Problem& p : e.problems)
                if (!p.fix.empty()) {
                    CHECK(apply_in_core(now_, p.fix));
                    break;
                }
        }
    }
    void change_layout(Layout& l) {
        switch (whole(0, 9)) {
        case 0: l.tp = one_of({1, 2, 3, 4, 8}); break;
        case 1: l.cp = one_of({1, 2, 4}); break;
        case 2: l.ep = one_of({1, 2, 8, 64}); break;
        case 3: l.dp_shard = one_of({1, 2, 8, 16}); break;
        case 4: l.dp_replicate = one_of({1, 2, 4}); break;
        case 5: l.dp_replicate.reset(); break;
        case 6: l.etp.reset(); break;
        case 7: l.etp = one_of({1, 2}); break;
        case 8: l.zero = static_cast<int>(one_of({0, 1, 2, 3})); break;
        default:
            l.sequence_parallel = whole(0, 1);
            l.cp_comm = static_cast<CpComm>(whole(0, 2));
            std::shuffle(l.order.begin(), l.order.end(), random_);
        }
    }
    void change_pipeline(Layout& l) {
        switch (whole(0, 3)) {
        case 0: l.pp = one_of({1, 2, 4, 5, 16}); break;
        case 1: l.virtual_stages = one_of({1, 2, 3, 4}); break;
        case 2: {
            l.schedule = static_cast<Schedule>(whole(0, kScheduleCount - 1));
            l.virtual_stages = chunks_for(l.schedule, l.virtual_stages);
            break;
        }
        default:
            l.stage_layers.assign(static_cast<std::size_t>(l.pp * l.virtual_stages), 1);
            l.stage_layers.back() += now_.model.layers - l.pp * l.virtual_stages + one_of({0, 0, 0, 1});
        }
    }
    void change_training(Plan& p) {
        Training& t = p.training;
        switch (whole(0, 8)) {
        case 0: t.global_batch = one_of({64, 512, 1023, 2048}); break;
        case 1: t.micro_batch = one_of({1, 2, 3}); break;
        case 2: t.recompute = static_cast<Recompute>(whole(0, 2)); break;
        case 3: t.optimizer = static_cast<Optimizer>(whole(0, 3)); break;
        case 4: t.compute = static_cast<Dtype>(whole(0, 5)); break;
        case 5: t.sequence_length = one_of({1023, 4096, 8192}); break;
        case 6: t.straggler_cv = 0.05 * whole(0, 1); break;
        case 7:
            t.overlap = {whole(0, 1) == 1, whole(0, 1) == 1, whole(0, 1) == 1, whole(0, 1) == 1, false};
            break;
        default: p.cluster.gpus = one_of({8, 64, 100, 512, 2048});
        }
    }

    Presets presets_{SOURCE_DIR "/presets"};
    std::vector<Plan> plans_;
    std::vector<Model> models_;
    Plan now_;
    std::mt19937 random_;
};

}  // namespace

TEST_CASE("a reused evaluation equals a fresh one along a walk over valid and broken plans") {
    Walk walk(20261122);
    Evaluation reused;
    int valid = 0, with_timeline = 0, steps = 0;
    for (int k = 0; k < test::rounds(4000); ++k) {
        const Plan& p = walk.next();
        const EvaluateOptions options{.timeline = k % 3 != 0, .messages = k % 2 == 0, .report = k % 5 != 0};
        evaluate(p, reused, options);
        const Evaluation fresh = evaluate(p, options);
        const bool equal = reused == fresh;
        CHECK_MESSAGE(equal, "step ", k);
        valid += fresh.valid;
        with_timeline += !fresh.timeline.empty();
        steps += fresh.step.has_value();
        if (!equal) reused = fresh;
    }
    CHECK(valid > test::rounds(1000));
    CHECK(valid < test::rounds(3500));
    CHECK(with_timeline > test::rounds(500));
    CHECK(steps == valid);
}

TEST_CASE("what layouts are compared by is the same to the last bit without a report, along the same walk") {
    Walk walk(20261123);
    Evaluation quick;
    int steps = 0, fewer = 0;
    for (int k = 0; k < test::rounds(4000); ++k) {
        const Plan& p = walk.next();
        const bool timeline = k % 3 == 0;
        const Evaluation e = evaluate(p, {.timeline = timeline});
        evaluate(p, quick, {.timeline = timeline, .messages = false, .report = false});
        CAPTURE(k);
        REQUIRE(quick.valid == e.valid);
        REQUIRE(quick.step.has_value() == e.step.has_value());
        REQUIRE(quick.problems.size() == e.problems.size());
        for (std::size_t i = 0; i < e.problems.size(); ++i)
            CHECK(quick.problems[i].code == e.problems[i].code);
        if (!e.step) continue;
        ++steps;
        CHECK(quick.step->time_s == e.step->time_s);
        CHECK(quick.step->tokens_per_s == e.step->tokens_per_s);
        CHECK(quick.step->optimizer_s == e.step->optimizer_s);
        CHECK((quick.step->exposed_comm_s == e.step->exposed_comm_s));
        CHECK((quick.costs == e.costs));
        CHECK(quick.in_flight == e.in_flight);
        CHECK(quick.memory.peak() == e.memory.peak());
        CHECK(quick.memory.fits() == e.memory.fits());
        CHECK((quick.comm.reduced == e.comm.reduced));
        REQUIRE(quick.comm.operations.size() == e.comm.operations.size());
        // The listed stages include every kind of stage.
        for (const StageMemory& s : e.memory.stage)
            CHECK(
                std::any_of(quick.memory.stage.begin(), quick.memory.stage.end(), [&](const StageMemory& q) {
                    return q.layers == s.layers && q.types == s.types;
                }));
        for (std::size_t i = 0; i < e.comm.operations.size(); ++i) {
            const Operation &with = e.comm.operations[i], &without = quick.comm.operations[i];
            CHECK(without.call_s == with.call_s);
            if (with.unit == Unit::step || with.unit == Unit::boundary) CHECK(without.time_s == with.time_s);
        }
        fewer += quick.memory.stage.size() < e.memory.stage.size();
    }
    CHECK(steps > test::rounds(1000));
    CHECK(fewer > test::rounds(300));
}

TEST_CASE("an impossible plan has no figures") {
    const Presets presets(SOURCE_DIR "/presets");
    Evaluation e;
    for (const char* id : {"zoom-1024", "deepseek-v3-2048", "mesh-8"}) {
        Plan p = presets.plan(id);
        evaluate(p, e);
        REQUIRE(e.valid);
        REQUIRE(e.step);
        REQUIRE_FALSE(e.memory.stage.empty());
        p.training.global_batch = 1023;
        evaluate(p, e);
        CHECK_FALSE(e.valid);
        CHECK((e.memory == Memory{}));
        CHECK((e.comm == Comm{}));
        CHECK((e.work == StepWork{}));
        CHECK((e.costs == TimelineCosts{}));
        CHECK((e.timeline == Timeline{}));
        CHECK(e.in_flight.empty());
        CHECK_FALSE(e.step);
    }
}

TEST_CASE(
    "an impossible plan still says what its ranks hold of the states, where no broken rule bears on them") {
    const Presets presets(SOURCE_DIR "/presets");
    int spared = 0;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        CAPTURE(entry.id);
        const Plan whole = presets.plan(entry.id);
        const Evaluation valid = evaluate(whole);
        if (!valid.valid) continue;
        CHECK(valid.states.stage.empty());
        Plan p = whole;
        p.training.micro_batch = 3;
        p.training.global_batch = 1024;
        const Evaluation e = evaluate(p);
        REQUIRE_FALSE(e.valid);
        CHECK(evaluate(p, {.report = false}).states.stage.empty());
        // Under ZeRO-2 and 3 gradients depend on the batch.
        if (e.states.stage.empty()) continue;
        ++spared;
        REQUIRE(e.states.stage.size() == valid.memory.stage.size());
        for (std::size_t i = 0; i < e.states.stage.size(); ++i) {
            CHECK(e.states.stage[i].parameters == valid.memory.stage[i].parameters);
            CHECK(e.states.stage[i].gradients == valid.memory.stage[i].gradients);
            CHECK(e.states.stage[i].optimizer == valid.memory.stage[i].optimizer);
            CHECK(e.states.stage[i].activations == 0);
            CHECK(e.states.stage[i].most() == e.states.stage[i].least());
        }
        double most = 0;
        for (const StageMemory& m : valid.memory.stage)
            most = std::max(most, m.parameters + m.gradients + m.optimizer);
        CHECK(e.states.peak() == most);
        p.layout.pp = p.model.layers + 1;  // this bears on the states
        CHECK(evaluate(p).states.stage.empty());
    }
    CHECK(spared >= 8);
}
