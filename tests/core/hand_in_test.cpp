// Answers that were handed in are judged by the lessons: the file says nothing of what is right.
#include "core/teach/hand_in.h"

#include "core/base/error.h"
#include "core/io/plan_json.h"
#include "core/teach/task.h"
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
choose: layout name
prompt: Which?
option: DDP => ddp
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
    static const AnswerKey made = answer_key(lesson(), presets().plan("single-gpu"), presets());
    return made;
}

MarkedLesson marked(const std::string& marks, std::vector<std::string> given) {
    return mark_lesson({"Handed in", 0, marks, std::move(given)}, key(), presets());
}

}  // namespace

TEST_CASE("each answer is judged anew: the file cannot say that it is right") {
    REQUIRE(key().steps.size() == 6);
    const std::string slow = key().steps[2].plan.cluster.tiers.back().name;
    const std::string four = write_plan(plan_with(presets().plan("mesh-8"), {"tp=4"}, presets()));
    const MarkedLesson right = marked("rrsr t", {"4", "DDP", slow, "3", "", four});
    REQUIRE(right.steps.size() == 5);
    CHECK(right.refused.empty());
    CHECK(right.steps[0].mark == Mark::right);
    CHECK(right.steps[2].mark == Mark::second);
    CHECK(right.steps[3].mark == Mark::right);
    CHECK(right.steps[4].step == 5);
    CHECK(right.count(Mark::done) == 1);

    // All of this is claimed to be right.
    const std::string two = write_plan(presets().plan("mesh-8"));
    const MarkedLesson wrong = marked("rrrr t", {"8", "no", "carrier pigeon", "1, 3", "", two});
    CHECK(wrong.count(Mark::wrong) == 4);
    CHECK(wrong.count(Mark::right) == 0);
    CHECK(wrong.steps[0].mistake == "That is every GPU.");
    CHECK(wrong.steps[4].mark == Mark::none);

    const MarkedLesson open = marked("v--- t", {"", "", "", "", "", "no plan"});
    CHECK(open.count(Mark::shown) == 1);
    CHECK(open.count(Mark::none) == 4);
    CHECK(marked("rr", {}).refused.find("another version") != std::string::npos);
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
    HandIn h{
        "Ada", "1 May 2026", {{"One", 3, "r-v ", {"tp 4", "", "", ""}}, {"Two", 0, "t", {"{}"}}}, {"Fit"}};
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
    CHECK(kept[0] == LessonProgress{"B", 0, "r", {"", "x"}});
}
