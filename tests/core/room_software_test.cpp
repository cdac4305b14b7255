// Tests lessons for what the room runs: the plans of their steps are run by it where it can, and every
// question and task of those that ship still has an answer.
#include "core/advice/advice.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "tests/core/shipped.h"
#include "tests/core/shipped_lessons.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

using namespace pentamesh;

namespace {

std::filesystem::path lesson_file(const char* id) {
    return std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / (std::string(id) + ".md");
}

// Says of one step what does not hold when that software runs it.
void check_step(const Lesson& lesson, std::size_t i) {
    const LessonStep& step = lesson.steps[i];
    const Presets& presets = test::presets();
    CAPTURE(step.title);
    const Plan plan = plan_shown(lesson, i, Plan(), presets);
    const Evaluation e = assess(plan);
    if (!step.scene.broken) CHECK(e.valid);
    const std::string words = expand(step.words + step.more + step.notes, plan, e, presets);
    CHECK_MESSAGE(words.find("not in this plan") == std::string::npos, words);
    if (!step.question) return;
    const LessonQuestion& q = *step.question;
    const Solution s = solve(q, plan, e, presets);
    CHECK_MESSAGE(s.solvable(q.kind), s.answer.working);
    const std::string why = expand(q.why_of(plan.training.software), plan, e, presets);
    CHECK_MESSAGE(why.find("not in this plan") == std::string::npos, why);
    // A known mistake never says that the right answer is one: it is only asked of wrong ones.
    for (const LessonQuestion::Mistake& m : q.mistakes) {
        const Given given = given_as_typed(q, s, expand(m.given, plan, e, presets), plan);
        if (is_right(q, s, given)) CHECK(mistake_made(q, q.mistakes, s, given, plan).empty());
    }
}

}  // namespace

TEST_CASE("every question and task that ships has an answer under each software that a room may run") {
    const auto folder = std::filesystem::path(SOURCE_DIR) / "assets" / "lessons";
    for (const RoomSoftware& room : kRoomSoftware)
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            if (file.path().extension() != ".md") continue;
            Lesson lesson = test::parse_shipped(file.path()).lesson;
            lesson.software = room.software;
            CAPTURE(file.path().filename().string());
            CAPTURE(std::string(room.name));
            for (const LessonError& wrong : check_lesson(lesson, test::presets()))
                CHECK_MESSAGE(false, wrong.line << ": " << wrong.message);
            for (std::size_t i = 0; i < lesson.steps.size(); ++i)
                if (!plan_of_step(lesson, i).open.empty()) check_step(lesson, i);
        }
}

TEST_CASE("the room's software runs the plan of a step, unless the step chooses one or it lacks the layout") {
    const Presets& presets = test::presets();
    const LessonNames names{{}, &presets};
    Lesson lesson = parse_lesson("---\ntitle: T\n---\n## One\nopen: mesh-8\n\nWords.\n\n## Two\nset: "
                                 "training.software = deepspeed\n\nWords.\n",
                                 names)
                        .lesson;
    REQUIRE(lesson.steps.size() == 2);
    CHECK(plan_shown(lesson, 0, Plan(), presets).training.software == Software::megatron);
    lesson.software = Software::torchtitan;
    CHECK(plan_shown(lesson, 0, Plan(), presets).training.software == Software::torchtitan);
    CHECK(plan_shown(lesson, 1, Plan(), presets).training.software == Software::deepspeed);
    CHECK(keeps_its_software(lesson, 1, plan_shown(lesson, 1, Plan(), presets)).sentence().empty());
    // DeepSpeed has not all of this layout: the step stays its own software's, and says why.
    lesson = parse_lesson("---\ntitle: T\n---\n## One\nopen: llama-3.1-405b-131k\n\nWords.\n", names).lesson;
    const Plan own = plan_shown(lesson, 0, Plan(), presets);
    lesson.software = Software::deepspeed;
    Plan run = own;
    run.training.software = Software::deepspeed;
    REQUIRE(lacks_of(run, Software::deepspeed).any());
    const Plan shown = plan_shown(lesson, 0, Plan(), presets);
    CHECK(shown.training.software == own.training.software);
    const KeptSoftware kept = keeps_its_software(lesson, 0, shown);
    CHECK(kept.whose == "This step is Megatron's");
    CHECK_FALSE(kept.because.empty());
    CHECK(kept.sentence() == kept.whose + ": " + kept.because + ".");
}

TEST_CASE("gradients that FSDP sums after each micro-batch make the answer of the lesson another one") {
    const Presets& presets = test::presets();
    Lesson lesson = test::parse_shipped(lesson_file("00-five-cuts")).lesson;
    const auto at = std::ranges::find(lesson.steps, "Cut the batch", &LessonStep::title);
    REQUIRE(at != lesson.steps.end());
    const auto i = static_cast<std::size_t>(at - lesson.steps.begin());
    const auto answer = [&](std::optional<Software> software) {
        lesson.software = software;
        const Plan plan = plan_shown(lesson, i, Plan(), presets);
        return answer_words(*at->question, solve(*at->question, plan, assess(plan), presets));
    };
    CHECK(answer(std::nullopt) == "they stay");
    CHECK(answer(Software::torchtitan) == "eight times as many");
}

TEST_CASE("the words of a step say how often the room's software sums its gradients") {
    Lesson lesson = test::parse_shipped(lesson_file("00-five-cuts")).lesson;
    const auto at = std::ranges::find(lesson.steps, "Cut the batch", &LessonStep::title);
    REQUIRE(at != lesson.steps.end());
    const auto i = static_cast<std::size_t>(at - lesson.steps.begin());
    for (const RoomSoftware& room : kRoomSoftware) {
        CAPTURE(std::string(room.name));
        lesson.software = room.software;
        const Plan plan = plan_shown(lesson, i, Plan(), test::presets());
        const std::string said = expand(at->words, plan, assess(plan), test::presets());
        const bool each = room.software == Software::torchtitan;
        CHECK((said.find("once a micro-batch.") != std::string::npos) == each);
        CHECK((said.find("once a step.") != std::string::npos) == !each);
    }
}

TEST_CASE("a step keeps its software where the room's does not run the plan that is asked about") {
    const Presets& presets = test::presets();
    const auto lesson_of = [&](const std::string& query) {
        Lesson out = parse_lesson("---\ntitle: T\n---\n## One\nopen: llama-3-8b-fsdp\nset: cluster.gpus = 8\n"
                                  "set: layout.dp_shard = 8\nset: layout.zero = 0\nset: "
                                  "training.global_batch = 8\n\nWords.\n\n```ask\nguess: "
                                      + query + "\nprompt: How much?\n```\n",
                                  {{}, &presets})
                         .lesson;
        out.software = Software::torchtitan;
        return out;
    };
    const Software own = presets.plan("llama-3-8b-fsdp").training.software;
    // Its ZeRO is stage 3 (torchtitan distributed/fsdp.py: fully_shard).
    const Lesson one = lesson_of("with layout.zero=1: memory fullest");
    const Plan shown = plan_shown(one, 0, Plan(), presets);
    CHECK(shown.training.software == own);
    CHECK(keeps_its_software(one, 0, shown).because == "torchtitan does not run what is asked about");
    for (const char* query : {"with layout.zero=3: memory fullest", "memory fullest"})
        CHECK(plan_shown(lesson_of(query), 0, Plan(), presets).training.software == Software::torchtitan);
}

TEST_CASE("the steps of the course about cuts are of the room's own software, where it has the cut") {
    Lesson lesson = test::parse_shipped(lesson_file("00-five-cuts")).lesson;
    for (const RoomSoftware& room : kRoomSoftware)
        for (const char* title : {"The loaf", "Cut the batch", "The copies shed", "Cut the depth"}) {
            CAPTURE(std::string(room.name));
            CAPTURE(std::string(title));
            const auto at = std::ranges::find(lesson.steps, title, &LessonStep::title);
            REQUIRE(at != lesson.steps.end());
            lesson.software = room.software;
            const auto i = static_cast<std::size_t>(at - lesson.steps.begin());
            const Plan shown = plan_shown(lesson, i, Plan(), test::presets());
            CHECK(shown.training.software == room.software);
            CHECK_FALSE(lacks_of(shown, room.software).any());
        }
}

TEST_CASE("the six predictions are of the room's own software, whichever it runs") {
    Lesson lesson = test::parse_shipped(lesson_file("23-predictions")).lesson;
    REQUIRE(lesson.steps.size() == 6);
    for (const RoomSoftware& room : kRoomSoftware) {
        lesson.software = room.software;
        for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
            CAPTURE(lesson.steps[i].title);
            const Plan shown = plan_shown(lesson, i, Plan(), test::presets());
            CHECK(shown.training.software == room.software);
            CHECK(keeps_its_software(lesson, i, shown).whose.empty());
        }
    }
}
