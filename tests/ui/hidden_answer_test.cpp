// No answer is shown next to its question: every question of every lesson is opened, and its answer is looked
// for in all that can be read on the page.
#include "app/ui/shell/lesson_sheet.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/teach/glossary.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Returns true if a judge would take a number on the page for the answer, read with its unit, word by word.
// It does not use the program's own hiding: it reads a page as a person would, without knowing what was
// hidden.
bool gives_number(const std::string& text, const LessonQuestion& q, const Answer& a) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
        if (i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0) continue;
        const bool range = text.substr(0, i).ends_with("± ");  // a tolerance, not a figure
        std::string digits;
        std::size_t k = i;
        for (;
             k < text.size()
             && (std::isdigit(static_cast<unsigned char>(text[k])) != 0 || text[k] == ',' || text[k] == '.');
             ++k)
            if (text[k] != ',') digits += text[k];
        const double value = std::atof(digits.c_str());
        const bool same = std::abs(value - a.number) <= std::max(q.tolerance, 0.005) * std::abs(a.number);
        const std::string behind = text.substr(k, a.unit.size() + 1);
        const bool with_unit = !a.unit.empty() && behind == " " + a.unit;
        if (range) {
            i = k;
            continue;
        }
        if (same && with_unit) return true;
        const auto figures = std::count_if(digits.begin(), digits.end(), [](char c) { return c != '.'; });
        const bool exact = std::abs(value - a.number) <= 0.005 * std::abs(a.number);
        if (exact && figures >= 3) return true;
        i = k;
    }
    return false;
}

bool page_says(const std::string& text, const std::string& what) {
    for (std::size_t at = text.find(what); !what.empty() && at != std::string::npos;
         at = text.find(what, at + 1))
        if ((at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0)
            && (at + what.size() == text.size() || std::isdigit(static_cast<unsigned char>(what.back())) == 0
                || std::isdigit(static_cast<unsigned char>(text[at + what.size()])) == 0))
            return true;
    return false;
}

// Returns a count or word with the words that accompany it on a page.
std::vector<std::string> sayings(const std::string& text, const LessonQuestion& q, const Answer& a) {
    if (q.query.starts_with("with ")) return {};
    const std::string first = q.query.substr(0, q.query.find(' ')),
                      second = first.size() < q.query.size() ? q.query.substr(first.size() + 1) : "";
    if (first == "groups") return {a.text + " groups"};
    if (first == "spilling") return {a.text + " of them", a.text + " groups"};
    if (first == "degree") return {second + " " + a.text, "groups of " + a.text, second + "=" + a.text};
    // Cells count from 0: the last one has a name that is one less.
    if (first == "world") return {a.text, std::to_string(std::llround(a.number) - 1)};
    if (first == "minimum") return {a.text + " GPUs", a.text + " ranks"};
    // The cluster's wires are listed next to it, each with its rate: that does not say who crosses which.
    if (first == "tier_of" && text.find("B/s") == std::string::npos) return {a.text};
    if (first == "inside") return {"inside", "across"};
    if (first == "collective") return {a.text};
    if (first == "layout") return {a.text};
    if (first == "fits") return {"does not fit", "fits", " GiB of "};
    // The answer is a word that the map says of one axis: no page has it.
    if (first == "axis")
        return {q.query.substr(q.query.rfind(' ') + 1), a.working.substr(a.working.find(": ") + 2)};
    if (first == "microbatches") return {a.text + " micro-batches"};
    if (first == "samples") return {a.text + " sequences", a.text + " micro-batches"};
    if (first == "experts")
        return {a.text + " expert", a.text + " to each", a.text + " of ", a.text + " a GPU"};
    if (first == "calls") return {a.text + " per layer"};
    return {};
}

// For a question for the least or most option: returns true if the page has the figure, with its unit and to
// all its digits.
bool gives_option(const std::string& text, const Answer& one) {
    return one.kind == Answer::Kind::number && !one.unit.empty() && page_says(text, one.text);
}

bool of_one_plan(const LessonQuestion& q) {
    return q.kind != QuestionKind::choose || q.rule == LessonQuestion::Rule::matches;
}

bool gives_away(const std::string& text, const LessonQuestion& q, const Answer& a) {
    if (a.kind == Answer::Kind::number && gives_number(text, q, a)) return true;
    const auto said = sayings(text, q, a);
    return std::any_of(said.begin(), said.end(), [&](const std::string& s) { return page_says(text, s); });
}

// The memory of a GPU is a line in the picture, and stays where it is not the answer itself.
std::string without_capacity(std::string text, const Gpu& gpu, const Answer& a) {
    if (!a.unit.ends_with('B')) return text;
    for (const std::string& shown :
         {pentamesh::memory_text(gpu.hbm_bytes), bytes_text(gpu.hbm_bytes), gpu.name})
        if (const std::size_t at = text.find(shown); at != std::string::npos && !shown.starts_with(a.text))
            text.replace(at, shown.size(), "-");
    return text;
}

std::string small(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// Returns true if title and words name the right option, and not the others.
bool words_choose(const std::string& text, const LessonQuestion& q, const Solution& s) {
    if (q.kind != QuestionKind::choose || q.rule != LessonQuestion::Rule::matches || s.option < 0)
        return false;
    const auto named = [&](const LessonQuestion::Option& o) {
        const std::string label = small(o.label.substr(0, o.label.find(',')));
        return label.size() > 3 && page_says(small(text), label);
    };
    return named(q.options[static_cast<std::size_t>(s.option)])
           && std::count_if(q.options.begin(), q.options.end(), named) == 1;
}

}  // namespace

TEST_CASE(
    "no answer can be read off the page while its question is open; when it is answered, it can again") {
    Driver d("mesh-8", {1600, 900});
    int questions = 0, hidden = 0;
    for (const LessonEntry& entry : d.shell.lessons()) {
        CAPTURE(entry.id);
        d.shell.open_lesson(entry.file);
        d.settle();
        LessonSession& l = d.shell.lesson();
        for (std::size_t i = 0; i < l.lesson.steps.size(); ++i, d.press({Key::page_down})) {
            const LessonStep& step = l.lesson.steps[i];
            if (!step.question) continue;
            CAPTURE(step.title);
            ++questions;
            std::vector<Answer> several = l.solution.options;  // lowest, highest, a curve: each is hidden
            if (step.question->given >= 0) several.erase(several.begin() + step.question->given);
            d.time_s += 20;  // the line about the last step passes by
            d.settle();
            const LessonQuestion& q = *step.question;
            const Answer a = l.solution.answer;
            const auto panel = d.shell.ui_state().rect_of("lesson.leave");
            REQUIRE(panel);
            const float left = d.shell.ui_state().rect_of("lesson.back")->x - 16;
            const auto check = [&](bool open) {
                d.surface.record_text(true);
                d.settle();
                for (const TextRun& run : d.surface.text_runs()) {
                    if (run.at.x >= left) continue;  // the question itself, and what there is to choose from
                    const bool said = gives_away(without_capacity(run.text, d.plan().cluster.gpu, a), q, a);
                    if (open && !of_one_plan(q))
                        for (const Answer& one : several)
                            CHECK_MESSAGE(!gives_option(run.text, one),
                                          run.text << " beside the question: " << q.prompt << " "
                                                   << one.text);
                    else if (open)
                        CHECK_MESSAGE(!said,
                                      run.text << " beside the question: " << q.prompt << " " << a.text);
                }
                d.surface.record_text(false);
            };
            check(true);
            CHECK_FALSE(words_choose(step.title + ". " + l.words, q, l.solution));
            if (q.query.starts_with("axis "))
                CHECK_FALSE(page_says(l.words, a.working.substr(a.working.find(": ") + 2)));
            // The plan's title stands over the page and, as the window's, on the desktop.
            if (of_one_plan(q)) CHECK_FALSE(gives_away(d.shell.title(), q, a));
            if (of_one_plan(q) && a.kind == Answer::Kind::number) CHECK_FALSE(gives_number(l.words, q, a));
            for (const Answer& one : several) CHECK_FALSE(gives_option(l.words, one));
            if (a.kind == Answer::Kind::text && a.text.size() > 3) CHECK_FALSE(page_says(step.title, a.text));
            if (l.hidden_answer.open) {
                ++hidden;
                for (const Command& c : d.shell.commands())
                    if (c.id == "export.table" || c.id == "export.csv" || c.id == "file.review")
                        CHECK_FALSE(c.can_run());
            }
            l.state().revealed = true;
            d.settle();
            CHECK_FALSE(l.hidden_answer.open);
            CHECK(l.hidden_answer.places.empty());
            l.state() = {};
        }
    }
    CHECK(questions >= 90);
    CHECK(hidden >= 40);
}

TEST_CASE("a handout hides what its questions ask, in words and pictures, until its last page") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    int pictures = 0;
    for (const LessonEntry& entry : list_lessons(std::filesystem::path(SOURCE_DIR) / "assets" / "lessons")) {
        CAPTURE(entry.id);
        const Lesson lesson = read_lesson(entry.file).lesson;
        for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
            const LessonStep& step = lesson.steps[i];
            if (!step.question || !of_one_plan(*step.question)) continue;
            CAPTURE(step.title);
            const StepSheet sheet = sheet_of(lesson, i, presets.plan("mesh-8"), presets);
            const Answer& a = sheet.solution.answer;
            if (a.kind == Answer::Kind::number) CHECK_FALSE(gives_number(sheet.asked, *step.question, a));
            if (picture_answers(sheet)) continue;  // it stands with the answers
            PictureRequest request = picture_request_of(sheet, true);
            CHECK(request.uncolored == (step.question->kind == QuestionKind::ranks));
            std::vector<TextRun> runs;
            request.text_runs = &runs;
            (void)make_picture(presets, sheet.plan, request, "png", fonts);
            ++pictures;
            CHECK(runs.size() > 5);
            CHECK_FALSE(gives_away(title_of(sheet.plan), *step.question, a));
            for (const TextRun& run : runs)
                CHECK_MESSAGE(
                    !gives_away(without_capacity(run.text, sheet.plan.cluster.gpu, a), *step.question, a),
                    run.text << " beside: " << step.question->prompt);
        }
    }
    CHECK(pictures >= 25);  // a view that is covered is no picture of a handout
}

TEST_CASE("what one step of a course asks, its other steps do not say before it is answered") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const LessonEntry& entry :
         list_lessons(std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "courses")) {
        CAPTURE(entry.id);
        const Lesson lesson = read_lesson(entry.file).lesson;
        std::vector<StepSheet> sheets;
        for (std::size_t i = 0; i < lesson.steps.size(); ++i)
            sheets.push_back(sheet_of(lesson, i, presets.plan("mesh-8"), presets));
        for (const StepSheet& s : sheets) {
            if (!s.step.question || !of_one_plan(*s.step.question)) continue;
            // No other step with the same peak may show the figure that answers a question about fitting.
            if (!s.step.question->query.starts_with("fits")) continue;
            for (const StepSheet& other : sheets)
                if (&other != &s && other.evaluation.memory.peak() == s.evaluation.memory.peak())
                    CHECK_MESSAGE(!gives_away(other.asked, *s.step.question, s.solution.answer),
                                  other.step.title << " answers " << s.step.title);
        }
    }
}

TEST_CASE("a task's picture advises nothing that the task does not allow") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const auto file = std::filesystem::path(SOURCE_DIR) / "assets" / "lessons" / "14-model-to-layout.md";
    const Lesson lesson = read_lesson(file).lesson;
    const auto at = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                 [](const LessonStep& s) { return s.task.has_value(); });
    REQUIRE(at != lesson.steps.end());
    const StepSheet sheet = sheet_of(lesson, static_cast<std::size_t>(at - lesson.steps.begin()),
                                     presets.plan("mesh-8"), presets);
    const auto advises = [](const Evaluation& e) {
        return std::any_of(e.problems.begin(), e.problems.end(), [](const Problem& p) {
            return std::any_of(p.fix.begin(), p.fix.end(), [](const Edit& edit) {
                return edit.path.find("recompute") != std::string::npos;
            });
        });
    };
    CHECK(advises(sheet.evaluation));  // without the task it would
    Driver d("mesh-8");
    d.shell.open_lesson(file);
    d.settle();
    while (!d.shell.lesson().current()->task) d.press({Key::page_down});
    CHECK_FALSE(advises(d.shell.evaluation()));
    d.press({Key::page_down});
    CHECK_FALSE(d.shell.lesson().current()->task);
    PictureRequest request = picture_request_of(sheet, true);
    std::vector<TextRun> runs;
    request.text_runs = &runs;
    (void)make_picture(presets, sheet.plan, request, "png",
                       find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
    for (const TextRun& run : runs)
        CHECK_MESSAGE(run.text.find("recompute = ") == std::string::npos, run.text);
    for (const std::string& goal : goals_of(sheet)) CHECK_MESSAGE(goal.find("==") == std::string::npos, goal);
}

TEST_CASE("a question covers the views that show its answer, the plan where its fields do, of another plan "
          "only what "
          "is the same") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-70b-3d");
    const Evaluation e = evaluate(plan);
    LessonStep step;
    const auto hidden_now = [&] {
        const Solution s = step.question ? solve(*step.question, plan, e, presets) : Solution{};
        return hidden_answer_of(step, s, plan, e, presets);
    };
    const auto covered = [&](QuestionKind kind, std::string query) {
        step.question.emplace();
        step.question->kind = kind;
        step.question->query = std::move(query);
        return hidden_now();
    };
    CHECK_FALSE(hidden_now().open);
    HiddenAnswer hidden = covered(QuestionKind::number, "calls tp per layer");
    CHECK(hidden.open);
    CHECK(hidden.covers("comm"));
    CHECK_FALSE(hidden.covers("memory"));
    CHECK_FALSE(hidden.covers(kPlanPlace));
    hidden = covered(QuestionKind::number, "degree tp");
    for (const ViewEntry& view : view_table()) CHECK(hidden.covers(view.name));
    CHECK(hidden.covers(kPlanPlace));
    CHECK_FALSE(hidden.covers(kFiguresPlace));
    CHECK(covered(QuestionKind::number, "mfu").covers(kFiguresPlace));
    hidden = covered(QuestionKind::number, "with tp=4: degree tp");
    CHECK(hidden.open);
    CHECK(hidden.places.empty());
    // The layers are as many with any tp.
    CHECK(covered(QuestionKind::number, "with tp=4: layers").covers(kPlanPlace));
    hidden = covered(QuestionKind::ranks, "peers tp 5");
    CHECK_FALSE(hidden.open);
    CHECK(hidden.places.empty());
    // If there are several options, each is asked of the plan.
    step.question->kind = QuestionKind::choose;
    step.question->rule = QuestionRule::lowest;
    step.question->query.clear();
    step.question->options = {{"one", "bytes tp per step"}, {"other", "bytes pp per step"}};
    CHECK(hidden_now().covers("comm"));
    // A step that compares two plans shows the difference in every view.
    step.scene.against = {"tp=4"};
    step.question->options = {{"one", "layers"}, {"other", "hidden"}};
    CHECK(hidden_now().covers("mesh"));
    step.question.reset();
    CHECK_FALSE(hidden_now().covers("mesh"));
}

TEST_CASE(
    "a page that leaves out what is asked stays open: the uncut loaf, the wires without who crosses them") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Lesson lesson = read_lesson(lesson_file("00-five-cuts")).lesson;
    Driver d("mesh-8", {1600, 900});
    d.shell.open_lesson(lesson_file("00-five-cuts"));
    d.settle();
    int seen = 0;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i, d.press({Key::page_down})) {
        const bool loaf = lesson.steps[i].title == "The loaf", race = lesson.steps[i].title == "The race";
        if (!loaf && !race) continue;
        ++seen;
        CHECK_FALSE(says_just(d, "The answer stands here"));
        CHECK(says(d, loaf ? "16 layers" : "One GB into every wire at once"));
        // On paper it stands next to the question, and all of it with the answer.
        const StepSheet sheet = sheet_of(lesson, i, presets.plan("mesh-8"), presets);
        CHECK_FALSE(picture_answers(sheet));
        CHECK(picture_leaves_out(sheet));
    }
    CHECK(seen == 2);
}

TEST_CASE("a covered view says where the answer stands, and is drawn once it is given") {
    Driver d("mesh-8", {1920, 1080});
    d.shell.open_lesson(lesson_file("17-inside-a-layer"));
    d.settle();
    REQUIRE(d.shell.full_view() == ViewId::layer);
    REQUIRE(d.shell.lesson().current()->question->query == "calls tp per layer");
    CHECK(says_just(d, "The answer stands here"));
    CHECK_FALSE(says_just(d, "1 of 4"));
    REQUIRE(d.click("lesson.reveal"));
    CHECK_FALSE(says_just(d, "The answer stands here"));
    CHECK(says_just(d, "1 of 4"));
}
