// Tests lessons as files: which are read, which are refused and where, and that together they teach the whole
// list.
#include "core/teach/lesson.h"

#include "tests/core/plans.h"
#include "tests/core/shipped_lessons.h"
#include "tests/near.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

constexpr std::string_view kMeshPages[] = {"places", "both"};
constexpr LessonView kViews[] = {{"dashboard"}, {"mesh", kMeshPages}, {"zoom"},  {"shards"},  {"map"},
                                 {"memory"},    {"timeline"},         {"comm"},  {"tensors"}, {"step"},
                                 {"compare"},   {"search"},           {"layer"}, {"scale"}};

ParsedLesson parse(std::string_view text) {
    return parse_lesson(text, {kViews, &test::presets()});
}

constexpr const char* kGood = R"(---
title: A lesson
minutes: 4
---

## First
open: mesh-8
set: layout.tp = 4
set: layout.dp_shard=1
view: mesh
page: both
axis: tp
ranks: 0, 3
highlight: layout.tp, mod.zero 3
covers: C01, N02

Words with **bold** and {{world}} GPUs.

- a bullet

more:
Folded, with {{gpus}} of them.

```ask
number: groups tp
prompt: How many
  groups are there?
tolerance: 5 %
show: layout.zero = 3, tp=2
why: Because.
```

```notes
Say it slowly.
```

## Second
set: layout.zero = 1

More.
)";

std::vector<std::filesystem::path> shipped() {
    std::vector<std::filesystem::path> out;
    for (const auto& e : std::filesystem::directory_iterator(SOURCE_DIR "/assets/lessons"))
        if (e.path().extension() == ".md") out.push_back(e.path());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

TEST_CASE("a lesson is read into steps, scenes, words, a question and notes") {
    const ParsedLesson read = parse(kGood);
    for (const auto& e : read.errors) FAIL_CHECK(e.line << ": " << e.message);
    const Lesson& l = read.lesson;
    CHECK(l.title == "A lesson");
    CHECK(l.minutes == 4);
    REQUIRE(l.steps.size() == 2);
    const LessonStep& s = l.steps[0];
    CHECK(s.title == "First");
    CHECK(s.line == 6);
    CHECK(s.scene.open == "mesh-8");
    CHECK(s.scene.sets == std::vector<std::string>{"layout.tp=4", "layout.dp_shard=1"});
    CHECK(s.scene.page == "both");
    CHECK(s.scene.ranks == std::vector<std::int64_t>{0, 3});
    CHECK(s.scene.highlight == std::vector<std::string>{"layout.tp", "mod.zero 3"});
    CHECK(s.covers == std::vector<std::string>{"C01", "N02"});
    CHECK(s.words.starts_with("Words with"));
    CHECK(s.words.ends_with("- a bullet"));
    CHECK(s.more == "Folded, with {{gpus}} of them.");
    REQUIRE(s.question);
    CHECK(s.question->prompt == "How many groups are there?");
    CHECK(s.question->tolerance == near(0.05));
    CHECK(s.question->shows);
    CHECK(s.question->shown == std::vector<std::string>{"layout.zero=3", "tp=2"});
    CHECK(s.notes == "Say it slowly.\n");
    CHECK_FALSE(l.steps[1].question);
}

TEST_CASE("a step's plan is the last one opened with every field set since") {
    const Lesson l = parse(kGood).lesson;
    const LessonPlan p = plan_of_step(l, 1);
    CHECK(p.open == "mesh-8");
    CHECK(p.sets == std::vector<std::string>{"layout.tp=4", "layout.dp_shard=1", "layout.zero=1"});
}

TEST_CASE("what is wrong is said with its line and with what is allowed") {
    struct Case {
        const char *from, *to;
        int line;
        const char* says;
    };
    const Case cases[] = {
        {"view: mesh", "view: mash", 10, "the closest is \"mesh\""},
        {"page: both", "page: bot", 11, "view mesh has no page \"bot\", the closest is \"both\""},
        {"view: mesh", "rank: 2", 11, "page needs a view in the same step"},
        {"view: mesh", "view: zoom", 11, "view zoom has one page"},
        {"view: mesh", "fly: maybe", 10, "fly is yes or no"},
        {"axis: tp", "fly: yes", 6, "fly needs \"page: zoom\""},
        {"axis: tp", "axis: pt", 12, "there is no axis \"pt\""},
        {"open: mesh-8", "opne: mesh-8", 7, "\"open\""},
        {"open: mesh-8", "open: mesh-9", 7, "there is no plan \"mesh-9\", the closest is \"mesh-8\""},
        {"minutes: 4", "minutes: soon", 3, "whole number"},
        {"title: A lesson", "titel: A lesson", 2, "\"title\""},
        {"number: groups tp", "number: gropus tp", 25, "there is no query"},
        {"number: groups tp", "number: with layout.tpp=4: world", 25, "the closest"},
        {"number: groups tp", "choose: groups tp", 25, "2 to 8"},
        {"number: groups tp", "choose: change", 25, "change asks of a changed plan"},
        {"number: groups tp", "choose: chance\nquery: with tp=4: world", 25, "the closest is \"change\""},
        {"number: groups tp", "choose: chance\nquery: with tp=4: world", 25, "there are: change, lowest"},
        {"number: groups tp", "choose: lowest\nquery: with tp=4: world", 26, "only with \"choose: change\""},
        {"number: groups tp", "number: groups tp\nquery: world", 26, "only with \"choose: change\""},
        {"{{world}}", "{{wrld}}", 17, "wrld"},
        {"{{gpus}}", "{{gpsu}}", 22, "gpsu"},
        {"How many", "How {{mayn}}", 26, "mayn"},
        {"tolerance: 5 %", "tolerance: much", 28, "share of the answer"},
        {"show: layout.zero = 3", "show: maybe", 29, "show is yes, no or POINTER = VALUE"},
        {"show: layout.zero = 3", "show: layout.zoro = 3", 29, "\"zero\""},
        {"ranks: 0, 3", "ranks: 0, x", 13, "whole numbers"},
        {"set: layout.tp = 4", "set: layout.tp", 8, "POINTER = VALUE"},
        {"set: layout.tp = 4", "set: tp = four", 8, "layout.tp wants a whole number from 1, \"four\""},
        {"set: layout.tp = 4", "set: layout.tq = 4", 8, "tq"},
        {"```notes", "```nots", 33, "\"notes\""},
        {"Folded, with {{gpus}} of them.", "more:", 22, "folds once"},
    };
    for (const Case& c : cases) {
        CAPTURE(std::string(c.to));
        std::string text = kGood;
        text.replace(text.find(c.from), std::string(c.from).size(), c.to);
        const ParsedLesson read = parse(text);
        REQUIRE_FALSE(read.errors.empty());
        const bool said = std::any_of(read.errors.begin(), read.errors.end(), [&](const LessonError& e) {
            return e.line == c.line && e.message.find(c.says) != std::string::npos;
        });
        CHECK_MESSAGE(said, read.errors[0].line << ": " << read.errors[0].message);
    }
    const auto first = [](const char* text) {
        const auto errors = parse(text).errors;
        return errors.empty() ? std::string() : errors.front().message;
    };
    CHECK(first("").find("a lesson begins with a line \"---\"") != std::string::npos);
    CHECK(first("---\ntitle: x\n").find("at least one step") != std::string::npos);
    CHECK(first("---\ntitle: x\n---\nwords\n").find("step") != std::string::npos);
}

TEST_CASE("broken and random files never stop the reader") {
    std::mt19937 random(7);
    const std::string good = kGood;
    for (int i = 0; i < 3000; ++i) {
        std::string text = good;
        for (int k = 0; k < 1 + i % 9; ++k) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
            case 0: text[at] = static_cast<char>(random() % 256); break;
            case 1: text.erase(at, random() % 40); break;
            case 2: text.insert(at, good.substr(random() % good.size(), random() % 60)); break;
            default: text.insert(at, 1, "\n#`{}:=-,"[random() % 9]); break;
            }
            if (text.empty()) text = " ";
        }
        const ParsedLesson read = parse(text);
        for (const auto& e : read.errors) CHECK_FALSE(e.message.empty());
        if (read.errors.empty()) CHECK_FALSE(read.lesson.steps.empty());
    }
}

TEST_CASE("every lesson that ships is read without a mistake") {
    const auto files = shipped();
    CHECK(files.size() == 24);
    for (const auto& file : files) {
        CAPTURE(file.filename().string());
        const ParsedLesson read = test::parse_shipped(file);
        for (const auto& e : read.errors) FAIL_CHECK(e.line << ": " << e.message);
        const std::string text = read_file(file.string());
        CHECK(read.lesson.minutes == std::stoi(text.substr(text.find("\nminutes: ") + 10)));
        CHECK(read.lesson.steps.size() >= 4);
        for (const auto& s : read.lesson.steps) CHECK_MESSAGE(!s.scene.view.empty(), s.title);
    }
}

TEST_CASE("together the lessons teach every line of the list, and name none that is not on it") {
    std::set<std::string> wanted, taught;
    std::istringstream list(test::read_text(GOLDEN_DIR "/teaching_checklist.txt"));
    for (std::string id; list >> id;) wanted.insert(id);
    REQUIRE(wanted.size() == 52);
    for (const auto& file : shipped())
        for (const auto& s : test::parse_shipped(file).lesson.steps)
            for (const auto& id : s.covers) {
                CAPTURE(id);
                CHECK(wanted.count(id) == 1);
                taught.insert(id);
            }
    for (const auto& id : wanted) {
        CAPTURE(id);
        CHECK(taught.count(id) == 1);
    }
}

TEST_CASE("a lesson is read in a room: each step that ships has at most 60 words before its answer") {
    for (const auto& file : shipped())
        for (const LessonStep& step : test::parse_shipped(file).lesson.steps) {
            CAPTURE(file.filename().string());
            CAPTURE(step.title);
            CHECK(words_before(step) > 10);
            CHECK(words_before(step) <= kMostWords);
        }
}

TEST_CASE("words before an answer are those of the step, its prompt and its options; a query is one word") {
    LessonStep step;
    step.words = "Two **bold** words, {{with tp=4, layout.zero=3: memory fullest}}.\n- a bullet: `tp` = 4";
    CHECK(words_before(step) == 8);
    step.more = "Not these.";
    CHECK(words_before(step) == 8);
    step.question.emplace();
    step.question->prompt = "Which one?";
    step.question->options = {{"the first", "1"}, {"none", "2"}};
    CHECK(words_before(step) == 13);
}

TEST_CASE("words have a form for the screen and one for paper, and half a form is a mistake") {
    CHECK(on_screen("Which? [[Click it.|Mark it.]] So.") == "Which? Click it. So.");
    CHECK(on_paper("Which? [[Click it.|Mark it.]] So.") == "Which? Mark it. So.");
    CHECK(on_paper("Which? [[Drag it there.|]]") == "Which?");
    CHECK(on_paper("{{tier_of tp}} a | b") == "{{tier_of tp}} a | b");
    const std::string text = "---\ntitle: a\n---\n\n## One\n\nWords [[here.\n";
    const ParsedLesson broken = parse(text);
    REQUIRE(broken.errors.size() == 1);
    CHECK(broken.errors[0].message.find("[[on the screen|on paper]]") != std::string::npos);
    LessonStep step;
    step.words = "One [[two three|four five six]].";
    CHECK(words_before(step) == 3);
}

TEST_CASE("a guess is a number that is drawn, a quarter off by default") {
    std::string text = kGood;
    text.replace(text.find("number: groups tp"), 17, "guess: memory fullest");
    CHECK(parse(text).lesson.steps[0].question->drawn);
    CHECK(parse(text).lesson.steps[0].question->tolerance == near(0.05));  // its own
    text.erase(text.find("tolerance: 5 %\n"), 15);
    const LessonQuestion q = *parse(text).lesson.steps[0].question;
    CHECK(q.kind == QuestionKind::number);
    CHECK(q.tolerance == near(0.25));
    CHECK_FALSE(parse(kGood).lesson.steps[0].question->drawn);
}

TEST_CASE("a guess over the values of a field is a curve, of which one point may be given") {
    std::string text = kGood;
    text.erase(text.find("tolerance: 5 %\n"), 15);
    const std::string plain = text;
    const auto with = [&](const std::string& asked) {
        std::string changed = plain;
        changed.replace(changed.find("number: groups tp"), 17, asked);
        return parse(changed);
    };
    const ParsedLesson good = with("guess: step time over tp 1, 2, 4\ngiven: 2");
    CHECK(good.errors.empty());
    const LessonQuestion q = *good.lesson.steps[0].question;
    CHECK(q.kind == QuestionKind::curve);
    CHECK(q.query == "step time");
    CHECK(q.tolerance == near(0.25));
    REQUIRE(q.options.size() == 3);
    CHECK(q.options[2].label == "4");
    CHECK(q.options[2].value == "with tp=4: step time");
    CHECK(q.given == 1);
    REQUIRE_FALSE(with("guess: step time over tp 1, 2, 4\ngiven: 3").errors.empty());
    CHECK(with("guess: step time over tp 1, 2, 4\ngiven: 3").errors[0].message.find("no point \"3\"")
          != std::string::npos);
    REQUIRE_FALSE(with("guess: step time over tp 1").errors.empty());
    CHECK(with("guess: step time over tp 1").errors[0].message.find("2 to 8 values") != std::string::npos);
    REQUIRE_FALSE(with("guess: step tyme over tp 1, 2").errors.empty());
    CHECK(with("guess: step tyme over tp 1, 2").errors[0].message.find("step tyme") != std::string::npos);
}

TEST_CASE("a lesson with a letter that is no UTF-8 says its line and shows the mark for it") {
    std::string text(kGood);
    const std::size_t at = text.find("title: ") + 8;
    text[at] = '\xb4';
    const ParsedLesson read = parse(text);
    REQUIRE_FALSE(read.errors.empty());
    CHECK(read.errors.front().line == 2);
    CHECK(read.lesson.title.find("\xef\xbf\xbd") != std::string::npos);
    CHECK(parse(kGood).errors.empty());
}
