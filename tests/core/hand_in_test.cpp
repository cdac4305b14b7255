// Answers that were handed in are judged by the lessons: the file says nothing of what is right.
#include "core/teach/hand_in.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/io/plan_json.h"
#include "tests/core/plans.h"
#include "tests/core/shipped.h"

#include <nlohmann/json.hpp>

using namespace pentamesh;
using test::presets;

namespace {

// mesh-8: tp 2, dp_shard 2, dp_replicate 2 over two nodes of four GPUs.
constexpr std::string_view kLesson = R"(---
title: Handed in
---

## Count
open: mesh-8

```ask
number: groups tp
prompt: How many groups?
mistake: {{world}} => That is every GPU.
```

## Choose

```ask
choose: fits
prompt: Does it fit?
option: It fits => yes
option: no => no
```

## Wire

```ask
tier: tier_of dp_replicate
prompt: Which wire?
```

## Peers

```ask
ranks: peers tp 2
prompt: Whom?
```

## Words

Nothing is asked.

## Task

```task
prompt: More tp.
goal: layout.tp == 4
allow: layout
hint: One.
hint: Two.
hint: Three.
solution: tp = 4
```
)";

Lesson lesson() {
    static constexpr std::array<LessonView, 1> kViews{{{"mesh", {}}}};
    return parse_lesson(kLesson, {kViews, &presets()}).lesson;
}

const AnswerKey& key() {
    static const AnswerKey made = answer_key(lesson(), nullptr, presets());
    return made;
}

MarkedLesson marked(const std::string& marks, std::vector<std::string> given,
                    std::vector<std::string> missed = {}) {
    return mark_lesson({"Handed in", 0, marks, key().version, std::move(given), std::move(missed)}, key(),
                       presets(), {"Task"});
}

}  // namespace

TEST_CASE("each answer is judged anew: the file cannot say that it is right") {
    REQUIRE(key().steps.size() == 6);
    const std::string slow = key().steps[2].plan.cluster.tiers.back().name;
    const std::string four = write_plan(plan_with(presets().plan("mesh-8"), {"tp=4"}, presets()));
    const MarkedLesson right = marked("rrsr t", {"4", "It fits", slow, "3", "", four});
    REQUIRE(right.steps.size() == 5);
    CHECK(right.refused.empty());
    CHECK(right.steps[0].mark == Mark::right);
    CHECK(right.steps[1].mark == Mark::right);
    CHECK(right.steps[2].mark == Mark::second);
    CHECK(right.steps[3].mark == Mark::right);
    CHECK(right.steps[4].step == 5);
    CHECK(right.count(Mark::done) == 1);
    CHECK(right.steps[4].helped);
    CHECK(right.steps[0].wrong.empty());

    // All of this is claimed to be right.
    const std::string two = write_plan(presets().plan("mesh-8"));
    const MarkedLesson wrong = marked("rrrr t", {"8", "no", "carrier pigeon", "1, 3", "", two});
    CHECK(wrong.count(Mark::wrong) == 4);
    CHECK(wrong.count(Mark::right) == 0);
    CHECK(wrong.steps[0].mistake == "That is every GPU.");
    CHECK(wrong.steps[0].wrong == "8");
    CHECK(wrong.steps[4].mark == Mark::none);
    CHECK(wrong.steps[4].note == "its plan does not pass");
    // The first of two answers says what a pupil thought.
    const MarkedLesson twice = marked("s--- -", {"4"}, {" 8.0 "});
    CHECK(twice.steps[0].mark == Mark::second);
    CHECK(twice.steps[0].wrong == "8");
    CHECK(twice.steps[0].mistake == "That is every GPU.");

    const MarkedLesson open = marked("v--- t", {"", "It fits", "", "", "", "no plan"});
    CHECK(open.count(Mark::shown) == 1);
    CHECK(open.count(Mark::none) == 4);  // what is marked as not answered is not judged either
    CHECK(open.steps[4].note == "its plan cannot be read");
    CHECK(marked("rr", {}).refused.find("another version") != std::string::npos);
}

TEST_CASE(
    "what cannot be judged is said, and answers to another version of a lesson are not taken for its own") {
    Lesson changed = lesson();
    changed.steps[0].question->query = "groups dp_shard";
    CHECK_FALSE(version_of(changed) == version_of(lesson()));
    CHECK_FALSE(mark_lesson({"Handed in", 0, "rrrr t", version_of(changed), {"4"}, {}}, key(), presets())
                    .refused.empty());
    // Without the plan that was open.
    Lesson floating = lesson();
    floating.steps[0].scene.open.clear();
    const AnswerKey none = answer_key(floating, nullptr, presets());
    CHECK(none.steps[0].unjudged.find("--plan") != std::string::npos);
    const Plan eight = presets().plan("mesh-8");
    CHECK(answer_key(floating, &eight, presets()).steps[0].unjudged.empty());
    // A plan that cannot be made, and one without an answer: the other steps are judged.
    Lesson broken = lesson();
    broken.steps[3].scene.sets = {"tp=none"};
    broken.steps[0].question->query = "experts per gpu";
    const AnswerKey half = answer_key(broken, nullptr, presets());
    CHECK(half.steps[3].unjudged.find("none") != std::string::npos);
    CHECK(half.steps[0].unjudged == "this plan has no answer to it");
    const MarkedLesson some =
        mark_lesson({"Handed in", 0, "rr-- -", half.version, {"4", "It fits"}, {}}, half, presets());
    CHECK(some.steps[0].mark == Mark::none);
    CHECK(some.steps[0].note == half.steps[0].unjudged);
    CHECK(some.steps[1].mark == Mark::right);
}

TEST_CASE("answers are typed back as they were given") {
    const AnswerKey::Step& wire = key().steps[2];
    for (std::size_t i = 0; i < wire.plan.cluster.tiers.size(); ++i) {
        Given given;
        given.option = static_cast<int>(i);
        const std::string text = given_text(*wire.question, given, wire.plan);
        CHECK(given_as_typed(*wire.question, wire.solution, text, wire.plan).option == given.option);
    }
    const AnswerKey::Step& peers = key().steps[3];
    const Given ranks{-1, {}, {0, 2, 3, 4, 7}};
    CHECK(given_as_typed(*peers.question, peers.solution, given_text(*peers.question, ranks, peers.plan),
                         peers.plan)
              .ranks
          == ranks.ranks);
    CHECK(given_as_typed(*wire.question, wire.solution, "no wire", wire.plan).option == -1);
}

TEST_CASE("a file that is handed in says the same when it is read, and others are refused") {
    HandIn h{"Ada",
             "1 May 2026",
             {{"One", 3, "r-v ", "1a", {"tp 4", "", "", ""}, {"tp 2"}}, {"Two", 0, "t", "2b", {"{}"}, {}}},
             {"Fit"}};
    const HandIn read = read_hand_in(write_hand_in(h), "ada.json");
    CHECK(read.learner == "Ada");
    CHECK(read.date == "1 May 2026");
    CHECK(read.lessons == h.lessons);
    CHECK(read.helped == h.helped);
    CHECK_THROWS_AS(static_cast<void>(read_hand_in("{}", "x.json")), Error);
    CHECK_THROWS_AS(static_cast<void>(read_hand_in("[1", "x.json")), Error);
    const auto odd = nlohmann::json::parse(
        R"([1, {"title": "A", "marks": "rx"}, {"title": "B", "marks": "r", "given": [3, "x"], "step": -1},
            {"title": "B", "marks": "w"}])");
    const std::vector<LessonProgress> kept = progress_from_json(odd);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0] == LessonProgress{"B", 0, "r", "", {"", "x"}, {}});
    // A name is no row of its own, no command of a terminal, no formula of a sheet.
    h.learner = "=1+2\nBo  10";
    h.lessons[0].title = "\x1b[2JOne";
    const HandIn tame = read_hand_in(write_hand_in(h), "ada.json");
    CHECK(tame.learner == "1+2 Bo  10");
    CHECK(tame.lessons[0].title == "[2JOne");
    h.learner = std::string(119, 'x') + "é";
    CHECK(is_utf8(read_hand_in(write_hand_in(h), "ada.json").learner));
}
