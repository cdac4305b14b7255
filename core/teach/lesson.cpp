#include "core/teach/lesson.h"

#include "core/base/characters.h"
#include "core/base/json_reader.h"
#include "core/base/nearest.h"
#include "core/mesh/mesh.h"
#include "core/teach/lesson_answers.h"
#include "core/teach/lesson_pieces.h"
#include "core/teach/task.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr std::size_t kMostSteps = 200, kMostOptions = 8, kMostErrors = 50;

class LessonReader {
  public:
    // Without `checked`, a lesson's queries are not checked: a list of lessons needs only their titles.
    LessonReader(std::string_view text, std::span<const std::string_view> views, bool checked)
        : text_(text), views_(views), checked_(checked) {}

    ParsedLesson read() {
        if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
        read_front_matter();
        while (next_line()) {
            if (line_.starts_with("## "))
                begin_step(trimmed(line_.substr(3)));
            else if (steps().empty())
                before_first_step();
            else
                step_line();
        }
        finish_step();
        if (steps().empty()) error(0, "a lesson needs at least one step: a line \"## Title\"");
        return std::move(out_);
    }

  private:
    std::string_view text_, line_;
    std::span<const std::string_view> views_;
    bool checked_;
    int number_ = 0;
    bool in_head_ = false;  // the "key: value" lines right below a heading
    ParsedLesson out_;

    std::vector<LessonStep>& steps() { return out_.lesson.steps; }
    void error(int line, std::string message) {
        if (out_.errors.size() < kMostErrors) out_.errors.push_back({line, std::move(message)});
    }
    void unknown(std::string_view what, std::string_view word, const std::vector<std::string_view>& known) {
        std::string all;
        for (const auto k : known) all += (all.empty() ? "" : ", ") + std::string(k);
        error(number_, "there is no " + std::string(what) + " \"" + shown_text(word) + "\", the closest is \""
                           + std::string(nearest(word, known)) + "\"; there are: " + all);
    }

    bool next_line() {
        if (text_.empty()) return false;
        const std::size_t end = text_.find('\n');
        line_ = text_.substr(0, end);
        text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
        if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
        ++number_;
        return true;
    }

    void read_front_matter() {
        const std::string_view rest = text_;
        if (!next_line() || trimmed(line_) != "---") {
            error(1, "a lesson begins with a line \"---\", then \"title: ...\", \"minutes: ...\", \"---\"");
            text_ = rest;
            number_ = 0;
            return;
        }
        while (next_line() && trimmed(line_) != "---") {
            if (trimmed(line_).empty()) continue;
            const auto kv = key_value(line_);
            std::int64_t minutes = 0;
            if (!kv)
                error(number_, "expected \"key: value\"");
            else if (kv->key == "title")
                out_.lesson.title = kv->value;
            else if (kv->key == "summary")
                out_.lesson.summary = kv->value;
            else if (kv->key == "minutes" && parse_integer(kv->value, minutes) && minutes > 0
                     && minutes < 600)
                out_.lesson.minutes = static_cast<int>(minutes);
            else if (kv->key == "minutes")
                error(number_, "minutes is a whole number from 1 to 599");
            else
                unknown("field", kv->key, {"title", "minutes", "summary"});
        }
        if (out_.lesson.title.empty()) error(number_, "the lesson has no title");
    }

    void before_first_step() {
        if (!trimmed(line_).empty())
            error(number_, "text before the first step: begin one with a line \"## Title\"");
    }

    void begin_step(std::string_view title) {
        finish_step();
        if (steps().size() >= kMostSteps) {
            error(number_, "more than " + std::to_string(kMostSteps) + " steps");
            text_ = {};
            return;
        }
        LessonStep step;
        step.title = title;
        step.line = number_;
        steps().push_back(std::move(step));
        in_head_ = true;
    }

    void finish_step() {
        if (steps().empty()) return;
        LessonStep& s = steps().back();
        while (!s.words.empty() && (s.words.back() == '\n' || s.words.back() == ' ')) s.words.pop_back();
        check_text(s.words, s.line);
    }

    void check_text(std::string_view text, int line) {
        if (!checked_) return;
        for (const Placeholder& p : placeholders(text))
            if (const std::string wrong = check_query(p.query); !wrong.empty())
                error(line, "{{" + shown_text(p.query) + "}}: " + wrong);
    }

    void step_line() {
        if (in_head_) {
            if (trimmed(line_).empty()) {
                in_head_ = false;
                return;
            }
            if (const auto kv = key_value(line_)) {
                head_line(*kv);
                return;
            }
            in_head_ = false;
        }
        if (line_.starts_with("```")) {
            block(trimmed(line_.substr(3)));
            return;
        }
        LessonStep& s = steps().back();
        if (s.words.empty() && trimmed(line_).empty()) return;
        s.words += line_;
        s.words += '\n';
    }

    void head_line(const KeyValue& kv) {
        LessonScene& scene = steps().back().scene;
        if (kv.key == "open") {
            scene.open = kv.value;
        } else if (kv.key == "set") {
            set_line(kv.value, scene.sets);
        } else if (kv.key == "against") {
            set_line(kv.value, scene.against);
        } else if (kv.key == "view") {
            scene.view = kv.value;
            if (checked_ && std::find(views_.begin(), views_.end(), kv.value) == views_.end())
                unknown("view", kv.value, {views_.begin(), views_.end()});
        } else if (kv.key == "axis") {
            scene.axis = kv.value;
            check_axis(kv.value);
        } else if (kv.key == "rank") {
            if (!parse_integer(kv.value, scene.rank) || scene.rank < 0)
                error(number_, "rank is a whole number from 0");
        } else if (kv.key == "stage") {
            std::int64_t stage = 0;
            if (!parse_integer(kv.value, stage) || stage < 0) error(number_, "stage is a number from 0");
            scene.stage = kv.value;
        } else if (kv.key == "ranks") {
            for (const std::string& word : split_list(kv.value)) {
                std::int64_t rank = -1;
                if (!parse_integer(word, rank) || rank < 0)
                    error(number_, "ranks are whole numbers, separated by commas");
                else
                    scene.ranks.push_back(rank);
            }
        } else if (kv.key == "highlight") {
            for (auto& name : split_list(kv.value)) scene.highlight.push_back(std::move(name));
        } else if (kv.key == "covers") {
            for (auto& id : split_list(kv.value)) steps().back().covers.push_back(std::move(id));
        } else if (kv.key == "broken") {
            scene.broken = kv.value == "yes";
            if (kv.value != "yes" && kv.value != "no") error(number_, "broken is yes or no");
        } else {
            unknown("field of a step", kv.key,
                    {"open", "set", "against", "view", "axis", "rank", "stage", "ranks", "highlight",
                     "covers", "broken"});
        }
    }

    // In "layout.tp = 4" blanks about the sign are the author's, not the field's.
    void set_line(std::string_view value, std::vector<std::string>& into) {
        const std::size_t equals = value.find('=');
        if (equals == std::string_view::npos || trimmed(value.substr(0, equals)).empty()) {
            error(number_, "set and against are POINTER = VALUE, such as layout.tp = 4");
            return;
        }
        into.push_back(std::string(trimmed(value.substr(0, equals))) + "="
                       + std::string(trimmed(value.substr(equals + 1))));
    }

    void check_axis(std::string_view name) {
        std::vector<std::string_view> known;
        for (int k = 0; k < kGroupKindCount; ++k) known.push_back(name_of(static_cast<GroupKind>(k)));
        if (std::find(known.begin(), known.end(), name) == known.end()) unknown("axis", name, known);
    }

    void block(std::string_view kind) {
        const int begun = number_;
        if (kind == "task") {
            task_block(begun);
            return;
        }
        const bool ask = kind == "ask", notes = kind == "notes";
        if (!ask && !notes) unknown("block", kind, {"ask", "task", "notes"});
        LessonQuestion q;
        q.line = begun;
        bool closed = false, any_kind = false;
        std::string* last = nullptr;
        while (next_line()) {
            if (line_.starts_with("```")) {
                closed = true;
                break;
            }
            if (notes) {
                steps().back().notes += line_;
                steps().back().notes += '\n';
            } else if (ask) {
                ask_line(q, any_kind, last);
            }
        }
        if (!closed) error(begun, "this block is never closed: it ends with a line ```");
        if (!ask) return;
        if (steps().back().task) error(begun, "a step asks or sets a task, not both");
        if (steps().back().question) error(begun, "a step has one question, this is its second");
        check_question(q, any_kind);
        steps().back().question = std::move(q);
    }

    // A line that is no "key: value" belongs to the text before it.
    void continued(std::string* last) {
        if (last == nullptr)
            error(number_, "expected \"key: value\"");
        else
            *last += " " + std::string(trimmed(line_));
    }

    void ask_line(LessonQuestion& q, bool& any_kind, std::string*& last) {
        if (trimmed(line_).empty()) return;
        const auto kv = key_value(line_);
        if (!kv) return continued(last);
        last = nullptr;
        const auto is_kind = [&](QuestionKind kind) {
            if (any_kind) error(number_, "a question is of one kind");
            any_kind = true;
            q.kind = kind;
            q.query = kv->value;
        };
        if (kv->key == "choose") {
            is_kind(QuestionKind::choose);
            if (kv->value == "lowest" || kv->value == "highest") {
                q.rule = kv->value == "lowest" ? LessonQuestion::Rule::lowest : LessonQuestion::Rule::highest;
                q.query.clear();
            }
        } else if (kv->key == "number") {
            is_kind(QuestionKind::number);
        } else if (kv->key == "ranks") {
            is_kind(QuestionKind::ranks);
        } else if (kv->key == "tier") {
            is_kind(QuestionKind::tier);
        } else if (kv->key == "prompt") {
            q.prompt = kv->value;
            last = &q.prompt;
        } else if (kv->key == "why") {
            q.why = kv->value;
            last = &q.why;
        } else if (kv->key == "tolerance") {
            if (!parse_tolerance(kv->value, q.tolerance))
                error(number_, "tolerance is a share of the answer, such as 10 %");
        } else if (kv->key == "option") {
            const std::size_t arrow = kv->value.find("=>");
            const bool plain = arrow == std::string_view::npos;
            q.options.push_back({std::string(trimmed(kv->value.substr(0, arrow))),
                                 std::string(plain ? kv->value : trimmed(kv->value.substr(arrow + 2)))});
        } else if (kv->key == "mistake") {
            q.mistakes.push_back(mistake_of(kv->value));
            last = &q.mistakes.back().because;
        } else {
            unknown("field of a question", kv->key,
                    {"choose", "number", "ranks", "tier", "prompt", "option", "mistake", "tolerance", "why"});
        }
    }

    // Reads "GIVEN => why that is wrong".
    LessonQuestion::Mistake mistake_of(std::string_view text) {
        const std::size_t arrow = text.find("=>");
        if (arrow == std::string_view::npos || trimmed(text.substr(0, arrow)).empty()
            || trimmed(text.substr(arrow + 2)).empty()) {
            error(number_, "a mistake is \"mistake: WHAT IS GIVEN => where it comes from\"");
            return {"", "", number_};
        }
        return {std::string(trimmed(text.substr(0, arrow))), std::string(trimmed(text.substr(arrow + 2))),
                number_};
    }

    void check_mistake(const LessonQuestion& q, const LessonQuestion::Mistake& m) {
        check_text(m.given, m.line);
        check_text(m.because, m.line);
        const bool listed = std::any_of(q.options.begin(), q.options.end(),
                                        [&](const auto& o) { return o.label == m.given; });
        if (q.kind == QuestionKind::choose && !listed && !m.given.empty())
            error(m.line, "no option reads \"" + shown_text(m.given) + "\"");
    }

    void task_block(int begun) {
        LessonTask t;
        t.line = begun;
        std::string* last = nullptr;
        bool closed = false;
        while (!closed && next_line()) {
            closed = line_.starts_with("```");
            if (!closed && !trimmed(line_).empty()) task_line(t, last);
        }
        if (!closed) error(begun, "this block is never closed: it ends with a line ```");
        if (steps().back().task) error(begun, "a step has one task, this is its second");
        if (steps().back().question) error(begun, "a step asks or sets a task, not both");
        for (const std::string& wrong : task_mistakes(t)) error(begun, wrong);
        check_text(t.prompt, begun);
        check_text(t.why, begun);
        for (const std::string& hint : t.hints) check_text(hint, begun);
        steps().back().task = std::move(t);
    }

    void task_line(LessonTask& t, std::string*& last) {
        const auto kv = key_value(line_);
        if (!kv) return continued(last);
        last = nullptr;
        std::int64_t edits = 0;
        if (kv->key == "prompt" || kv->key == "why") {
            last = kv->key == "why" ? &t.why : &t.prompt;
            *last = kv->value;
        } else if (kv->key == "hint") {
            t.hints.emplace_back(kv->value);
            last = &t.hints.back();
        } else if (kv->key == "goal") {
            TaskGoal goal = parse_goal(kv->value);
            goal.line = number_;
            if (const std::string wrong = check_goal(goal); !wrong.empty()) error(number_, wrong);
            t.goals.push_back(std::move(goal));
        } else if (kv->key == "allow") {
            for (auto& field : split_list(kv->value)) t.allow.push_back(std::move(field));
        } else if (kv->key == "edits" && parse_integer(kv->value, edits) && edits > 0 && edits < 100) {
            t.edits = static_cast<int>(edits);
        } else if (kv->key == "edits") {
            error(number_, "edits is a whole number from 1 to 99");
        } else if (kv->key == "solution") {
            set_line(kv->value, t.solution);
        } else {
            unknown("field of a task", kv->key,
                    {"prompt", "goal", "allow", "edits", "hint", "solution", "why"});
        }
    }

    void check_question(const LessonQuestion& q, bool any_kind) {
        if (!checked_) return;
        if (!any_kind) {
            error(q.line, "a question has one of choose, number, ranks or tier, and a query behind it");
            return;
        }
        if (q.prompt.empty()) error(q.line, "a question needs a prompt");
        check_text(q.prompt, q.line);
        check_text(q.why, q.line);
        for (const LessonQuestion::Mistake& m : q.mistakes) check_mistake(q, m);
        const bool by_option = q.kind == QuestionKind::choose && q.rule != LessonQuestion::Rule::matches;
        if (!by_option)
            if (const std::string wrong = check_query(q.query); !wrong.empty()) error(q.line, wrong);
        if (q.kind == QuestionKind::choose && (q.options.size() < 2 || q.options.size() > kMostOptions))
            error(q.line, "choose offers 2 to " + std::to_string(kMostOptions) + " lines \"option: ...\"");
        if (q.kind != QuestionKind::choose && !q.options.empty()) error(q.line, "only choose has options");
        if (by_option)
            for (const auto& o : q.options)
                if (const std::string wrong = check_query(o.value); !wrong.empty())
                    error(q.line, "option \"" + shown_text(o.label) + "\": " + wrong);
    }
};

}  // namespace

ParsedLesson parse_lesson(std::string_view text, std::span<const std::string_view> views) {
    const std::string readable = as_utf8(text);
    ParsedLesson out = LessonReader(readable, views, true).read();
    const auto broken = std::mismatch(text.begin(), text.end(), readable.begin(), readable.end()).first;
    if (broken != text.end()) {
        const auto line = static_cast<int>(std::count(text.begin(), broken, '\n')) + 1;
        out.errors.insert(out.errors.begin(), {line, "the file is no UTF-8 text; a letter cannot be read"});
    }
    return out;
}

Lesson skim_lesson(std::string_view text) {
    const std::string readable = as_utf8(text);
    return LessonReader(readable, {}, false).read().lesson;
}

}  // namespace pentamesh
