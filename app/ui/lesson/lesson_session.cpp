#include "app/ui/lesson/lesson_session.h"

#include "app/ui/views/table.h"
#include "core/base/files.h"
#include "core/explain/verdict.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/names.h"
#include "core/teach/lesson.h"
#include "core/teach/translation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace pentamesh::ui {
namespace {

constexpr double kLookEvery_s = 1;

std::filesystem::file_time_type time_of(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::last_write_time(file, ignored);
}

// Returns the file of a course's lesson, in the course's folder or one folder up.
std::optional<std::filesystem::path> lesson_beside(const std::filesystem::path& course,
                                                   const std::string& id) {
    std::error_code ignored;
    for (const auto& folder : {course.parent_path(), course.parent_path().parent_path()}) {
        const auto file = folder / (std::filesystem::path(id).filename().string() + ".md");
        if (std::filesystem::is_regular_file(file, ignored)) return file;
    }
    return std::nullopt;
}

// A file that cannot be read is listed under its name: opening it says why.
LessonEntry entry_of(const std::filesystem::path& file) {
    LessonEntry out{file.stem().string(), file.stem().string(), file};
    const std::optional<std::string> text = try_read_file(file);
    if (!text) return out;
    out.language = language_of(*text);
    std::string title;
    if (is_course(*text)) {
        const Course course = parse_course(*text).course;
        title = course.title;
        out.then = course.then;
        out.minutes = minutes_of(course, [&](const std::string& id) {
            const auto beside = lesson_beside(file, id);
            return beside ? try_read_file(*beside) : std::nullopt;
        });
    } else {
        const Lesson lesson = skim_lesson(*text);
        title = lesson.title;
        out.minutes = lesson.minutes;
        for (const LessonStep& step : lesson.steps)
            if (step.task) out.tasks.push_back(step.title);
        out.only_tasks = out.tasks.size() == lesson.steps.size();
    }
    if (!title.empty()) out.title = title;
    return out;
}

// Returns true if the end of a scale would say the answer: what is asked is drawn on it. A count is not.
bool is_on_a_scale(const LessonQuestion& q, const Solution& solution) {
    const auto asks = [](std::string_view query) {
        const std::string_view of = split_query(query).query;
        return std::ranges::any_of(
            std::array<std::string_view, 6>{"step", "memory", "tokens", "mfu", "fits", "exposed"},
            [&](std::string_view name) { return of.starts_with(name); });
    };
    if (q.kind == QuestionKind::curve) return true;
    if (q.kind == QuestionKind::number && !solution.answer.unit.empty()) return true;
    return asks(q.query)
           || std::ranges::any_of(q.options, [&](const LessonQuestion::Option& o) { return asks(o.value); });
}

// The larger of the step's own plan and of the one that the answer shows sets the scales from the question
// on, so that what did not change has one length; only where that says nothing of the answer.
void set_axes(LessonSession& s, const LessonQuestion& q, bool asked, const Presets& presets) {
    if (s.asked.first < 0 || (asked && is_on_a_scale(q, s.solution))) return;
    try {
        const AskedPlan& shown = s.asked.plans[static_cast<std::size_t>(s.asked.first)];
        s.axis_plan = std::make_shared<const Plan>(plan_with(s.start, shown.sets, presets));
        extend_axes(evaluate(*s.axis_plan), s.axes);
        extend_axes(s.start_evaluation, s.axes);
    } catch (const Error&) {  // showing it says why
        s.axes = {};
        s.axis_plan.reset();
    }
}

// Evaluates the plan of each point. A field that does not fit leaves its point without facts.
std::vector<CurveFact> curve_facts(const LessonQuestion& q, const Solution& solution, const Plan& start,
                                   const Presets& presets) {
    std::vector<CurveFact> out(q.options.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        const AskedQuery asked = split_query(q.options[i].value);
        if (asked.sets.empty()) continue;
        const std::string& set = asked.sets.front();
        std::string field = set.substr(0, set.find('='));
        field = field.substr(field.find_last_of("./") + 1);
        try {
            const Evaluation e = evaluate(plan_with(start, asked.sets, presets), {.timeline = false});
            if (!e.valid) continue;
            out[i].fit = fit_of(e.memory);
            out[i].memory_bytes = e.memory.peak();
            const auto axis = parse_name<Axis>(field);
            if (!axis) continue;
            out[i].group = group_of(*axis);
            const GroupSummary& group = e.groups[out[i].group];
            out[i].tier = group.degree > 1 ? group.slowest_tier : 0;
            if (e.step && solution.answer.unit == "s") out[i].waits_s = e.step->exposed_comm_s[out[i].group];
        } catch (const Error&) {
        }
    }
    return out;
}

}  // namespace

ParsedLesson read_lesson(const std::filesystem::path& file, const Presets* presets) {
    const LessonNames names{lesson_views(), presets};
    try {
        const std::string text = read_file(file.string());
        if (!is_course(text)) return parse_lesson(text, names);
        return lesson_of_course(
            parse_course(text),
            [&](const std::string& id) {
                const auto beside = lesson_beside(file, id);
                return beside ? std::optional(read_file(*beside)) : std::nullopt;
            },
            names);
    } catch (const Error& e) {
        ParsedLesson none;
        none.errors.push_back({0, e.message()});
        return none;
    }
}

bool LessonSession::asks_for_ranks() const {
    const LessonStep* s = current();
    return open && s != nullptr && s->question && s->question->kind == QuestionKind::ranks
           && !states[step].shown();
}

std::int64_t LessonSession::asked_rank() const {
    const LessonStep* s = current();
    if (!open || s == nullptr || !s->question || s->question->kind != QuestionKind::ranks) return -1;
    const std::string& query = s->question->query;
    const auto rank = parse_ranks(query.substr(query.find_last_of(' ') + 1));
    return rank && !rank->empty() ? rank->front() : -1;
}

std::vector<LessonEntry> list_lessons(const std::filesystem::path& folder) {
    std::vector<LessonEntry> out;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".md") continue;
        out.push_back(entry_of(entry.path()));
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return out;
}

namespace {

bool is_english(std::string_view language) {
    return language.empty() || language == "en" || language.starts_with("en-");
}

std::vector<LessonEntry> list_both(const std::filesystem::path& shipped, const std::filesystem::path& own) {
    std::vector<LessonEntry> out = list_lessons(shipped);
    if (own.empty()) return out;
    for (LessonEntry& e : list_lessons(own)) {
        e.own = true;
        if (is_english(e.language))
            std::erase_if(out, [&](const LessonEntry& s) { return !s.own && s.id == e.id; });
        out.push_back(std::move(e));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return out;
}

}  // namespace

std::filesystem::path LessonFolders::own_glossary() const {
    std::error_code ignored;
    std::filesystem::path file = own / "glossary.json";
    return !own.empty() && std::filesystem::exists(file, ignored) ? file : std::filesystem::path();
}

LessonFolders lesson_folders(const Presets& presets, const std::filesystem::path& named) {
    LessonFolders out{presets.root().parent_path() / "assets" / "lessons", named};
    if (named.empty() && !presets.own_root().empty()) out.own = presets.own_root() / "lessons";
    return out;
}

std::vector<LessonEntry> list_lessons(const LessonFolders& folders) {
    return list_both(folders.shipped, folders.own);
}

std::vector<LessonEntry> list_courses(const LessonFolders& folders) {
    return list_both(folders.shipped / "courses",
                     folders.own.empty() ? folders.own : folders.own / "courses");
}

namespace {

using Entries = std::vector<LessonEntry>;

Entries::const_iterator entry_of_file(const Entries& entries, const std::filesystem::path& file) {
    return std::ranges::find_if(entries, [&](const LessonEntry& e) {
        std::error_code ignored;
        return e.file == file || std::filesystem::equivalent(e.file, file, ignored);
    });
}

// Returns the one in that language where there is one, else any of that id; null where nothing has it.
const LessonEntry* entry_of_id(const Entries& entries, std::string_view id, std::string_view language) {
    const LessonEntry* out = nullptr;
    for (const LessonEntry& e : entries)
        if (e.id == id && (out == nullptr || (e.language == language && out->language != language))) out = &e;
    return out;
}

}  // namespace

const LessonEntry* lesson_after(const Entries& lessons, const Entries& courses,
                                const std::filesystem::path& file) {
    if (const auto course = entry_of_file(courses, file); course != courses.end())
        return entry_of_id(lessons, course->then, course->language);
    const auto at = entry_of_file(lessons, file);
    if (at == lessons.end()) return nullptr;
    const auto next = at->id == "tour"
                          ? lessons.begin()
                          : std::find_if(at, lessons.end(), [&](const auto& e) { return e.id != at->id; });
    if (next == lessons.end() || next->id == "tour") return nullptr;
    return entry_of_id(lessons, next->id, at->language);
}

void begin_lesson(LessonSession& session, const std::filesystem::path& file, const Presets& presets,
                  double now_s) {
    session = {};
    session.open = true;
    session.file = file;
    session.file_time = time_of(file);
    session.checked_s = session.begun_s = now_s;
    ParsedLesson read = read_lesson(file, &presets);
    session.lesson = std::move(read.lesson);
    session.errors = std::move(read.errors);
    if (session.lesson.title.empty()) session.lesson.title = file.stem().string();
    session.states.resize(session.lesson.steps.size());
    session.scene_wanted = true;
}

bool reload_lesson(LessonSession& session, const Presets& presets, double now_s) {
    if (!session.open || now_s - session.checked_s < kLookEvery_s) return false;
    session.checked_s = now_s;
    const auto time = time_of(session.file);
    if (time == session.file_time) return false;
    session.file_time = time;
    ParsedLesson read = read_lesson(session.file, &presets);
    session.errors = std::move(read.errors);
    if (!session.errors.empty() && !session.lesson.steps.empty()) return true;
    const LessonScene before = session.current() != nullptr ? session.current()->scene : LessonScene{};
    read.lesson.software = session.lesson.software;
    session.lesson = std::move(read.lesson);
    session.states.assign(session.lesson.steps.size(), {});
    session.step = std::min(session.step, std::max<std::size_t>(1, session.lesson.steps.size()) - 1);
    session.scene_wanted = session.current() != nullptr && !(session.current()->scene == before);
    session.made_of = 0;
    return true;
}

bool may_ask_software(const Lesson& lesson) {
    return std::ranges::any_of(lesson.steps, [](const LessonStep& s) { return !s.scene.open.empty(); });
}

bool file_changed(const LessonSession& session) {
    return session.open && time_of(session.file) != session.file_time;
}

void go_to_step(LessonSession& session, std::size_t step) {
    if (step >= session.lesson.steps.size()) return;
    session.step = step;
    session.scroll = 0;
    session.follow = session.refocus = session.show_more = false;
    session.scene_wanted = true;
    session.made_of = 0;
}

Plan plan_of(const LessonSession& session, const Plan& base, const Presets& presets) {
    return plan_shown(session.lesson, session.step, base, presets);
}

Mark mark_of(const LessonSession& session, std::size_t step) {
    const StepState& s = session.states[step];
    if (s.passed) return Mark::done;
    // An answer that was seen before, or given wrong, leaves no first try.
    const bool first = s.tries == 1 && (s.before == Mark::none || s.before == Mark::right);
    if (s.answered) return !s.right ? Mark::wrong : first ? Mark::right : Mark::second;
    if (s.revealed) return Mark::shown;
    return session.continued ? s.before : Mark::none;
}

std::string marks_of(const LessonSession& session) {
    std::string out;
    for (std::size_t i = 0; i < session.lesson.steps.size(); ++i) {
        const LessonStep& step = session.lesson.steps[i];
        const Mark mark = mark_of(session, i);
        const bool counts = step.question || (step.task && mark == Mark::done);
        out += counts ? static_cast<char>(mark) : ' ';
    }
    return out;
}

std::string summary_of(const LessonSession& session) {
    const auto tasks = std::count_if(session.lesson.steps.begin(), session.lesson.steps.end(),
                                     [](const LessonStep& s) { return s.task.has_value(); });
    return summary_of(marks_of(session), static_cast<int>(tasks));
}

void make_texts(LessonSession& s, const Plan& plan, const Evaluation& evaluation, const Presets& presets,
                std::uint64_t revision) {
    const LessonStep* step = s.current();
    if (step == nullptr) return;
    const bool asked = step->question && !s.state().shown();
    if (s.made_of == revision && s.made_step == s.step && s.made_asked == asked) return;
    s.made_of = revision;
    s.made_step = s.step;
    s.made_asked = asked;
    s.plan_changed = s.asked_shown < 0 && !(plan == s.start);
    const auto said = [&](const std::string& text) {
        return expand(text, s.start, s.start_evaluation, presets);
    };
    if (step->question) s.solution = solve(*step->question, s.start, s.start_evaluation, presets);
    const auto shown = [&](const std::string& text) {
        return said(asked ? hide_answer(*step, s.solution, text, s.start, s.start_evaluation, presets)
                          : text);
    };
    s.keeps_software = keeps_its_software(s.lesson, s.step, s.start);
    s.words = shown(step->words);
    s.more = shown(step->more);
    s.notes = said(step->notes);
    s.prompt = s.why = {};
    s.hidden_answer = {};
    s.asked = {};
    s.axes = {};
    s.axis_plan.reset();
    s.hints.clear();
    s.mistakes.clear();
    if (step->task) {
        s.prompt = said(step->task->prompt);
        for (const std::string& hint : step->task->hints) s.hints.push_back(said(hint));
        s.task = judge_task(*step->task, s.start, plan, evaluation, presets);
        if (s.task.passed) s.why = expand(step->task->why, plan, evaluation, presets);  // it may search
        if (s.task.passed && !std::exchange(s.state().passed, true))
            s.state().handed = write_plan(without_own_presets(plan, presets));
    }
    if (!step->question) return;
    s.prompt = said(step->question->prompt);
    s.why = said(step->question->why_of(s.start.training.software));
    for (const LessonQuestion::Mistake& m : step->question->mistakes)
        s.mistakes.push_back({said(m.given), said(m.because), m.line});
    s.asked = asked_plans(*step->question, s.solution);
    set_axes(s, *step->question, asked, presets);
    s.curve.clear();
    if (!asked && step->question->kind == QuestionKind::curve)
        s.curve = curve_facts(*step->question, s.solution, s.start, presets);
    if (asked) s.hidden_answer = hidden_answer_of(*step, s.solution, plan, evaluation, presets);
}

bool judge(LessonSession& s) {
    const LessonStep* step = s.current();
    if (step == nullptr || !step->question) return false;
    StepState& state = s.state();
    const QuestionKind kind = step->question->kind;
    const bool picks = kind == QuestionKind::choose || kind == QuestionKind::tier;
    if (picks && (state.given.option < 0 || state.given.option == state.missed)) return false;
    if (!picks) {
        const Given typed = given_as_typed(*step->question, s.solution, state.typed, s.start);
        if (!typed.ranks.empty()) state.picked = typed.ranks;
        state.given.numbers = typed.numbers;
        state.given.ranks = state.picked;
        if (state.given.numbers.empty() && state.given.ranks.empty()) {
            state.remark = kind == QuestionKind::number ? "\"" + state.typed + "\" is no number."
                           : kind == QuestionKind::ranks
                               ? "Pick GPUs, or type them as 1, 4-7."
                               : "Draw " + std::to_string(step->question->options.size())
                                     + " points, or type them: 3, 2, 1.";
            return false;
        }
        state.remark.clear();
    }
    const bool right = is_right(*step->question, s.solution, state.given);
    std::string handed = given_text(*step->question, state.given, s.start);
    if (handed.empty()) handed = state.typed;
    state.mistake = mistake_made(*step->question, s.mistakes, s.solution, state.given, s.start);
    // If there are two options, a wrong answer gives the right one away.
    const bool two = kind == QuestionKind::choose && step->question->options.size() <= 2;
    if (++state.tries == 1 && !right && !two && s.solution.solvable(kind)) {
        state.remark = "Not quite. " + (state.mistake.empty() ? "" : state.mistake + " ")
                       + "Try once more, or show the answer.";
        if (picks) state.missed = std::exchange(state.given.option, -1);
        state.handed_first = std::move(handed);
        s.follow = s.refocus = true;
        return false;
    }
    state.answered = true;
    state.right = right;
    state.handed = std::move(handed);
    state.remark.clear();
    return true;
}

}  // namespace pentamesh::ui
