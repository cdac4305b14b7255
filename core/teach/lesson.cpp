#include "core/teach/lesson.h"

#include "core/base/characters.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/mesh/mesh.h"
#include "core/teach/lesson_faults.h"
#include "core/teach/lesson_pieces.h"
#include "core/teach/lesson_question.h"
#include "core/teach/task.h"

#include <algorithm>

namespace pentamesh {
namespace {

constexpr std::size_t kMostSteps = 200;

class LessonReader {
  public:
    // Without `checked`, a lesson's queries are not checked: a list of lessons needs only their titles.
    LessonReader(std::string_view text, const LessonNames& names, bool checked)
        : text_(text), checked_(checked), faults_(names, out_.errors) {}

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
    bool checked_;
    int number_ = 0;
    bool in_head_ = false;  // the "key: value" lines right below a heading
    bool in_more_ = false;  // below a line "more:"
    int page_line_ = 0;
    ParsedLesson out_;
    LessonFaults faults_;

    std::vector<LessonStep>& steps() { return out_.lesson.steps; }
    void error(int line, std::string message) { faults_.error(line, std::move(message)); }
    void unknown(std::string_view what, std::string_view word, const std::vector<std::string_view>& known) {
        faults_.unknown(number_, what, word, known);
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
        in_more_ = false;
        page_line_ = 0;
    }

    void finish_step() {
        if (steps().empty()) return;
        LessonStep& s = steps().back();
        for (std::string* text : {&s.words, &s.more}) {
            while (!text->empty() && (text->back() == '\n' || text->back() == ' ')) text->pop_back();
            check_whole_text(*text, s.line);
        }
        if (s.scene.flies && s.scene.view != "zoom")
            error(s.line, "fly needs \"view: zoom\" in the same step");
        if (checked_ && page_line_ > 0) faults_.check_page(page_line_, s.scene.view, s.scene.page);
    }

    void check_text(std::string_view text, int line) {
        if (checked_) faults_.check_text(line, text);
    }
    void check_whole_text(std::string_view text, int line) {
        if (checked_) faults_.check_whole_text(line, text);
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
        if (trimmed(line_) == "more:") {
            if (in_more_) error(number_, "a step folds once: this is its second line \"more:\"");
            in_more_ = true;
            return;
        }
        std::string& words = in_more_ ? steps().back().more : steps().back().words;
        if (words.empty() && trimmed(line_).empty()) return;
        check_text(line_, number_);
        words += line_;
        words += '\n';
    }

    void head_line(const KeyValue& kv) {
        LessonScene& scene = steps().back().scene;
        if (kv.key == "open") {
            scene.open = kv.value;
            if (checked_) faults_.open_plan(number_, kv.value);
        } else if (kv.key == "set") {
            if (set_line(kv.value, scene.sets) && checked_) faults_.set_field(number_, scene.sets.back());
        } else if (kv.key == "against") {
            if (set_line(kv.value, scene.against) && checked_)
                faults_.check_field(number_, "against", scene.against.back());
        } else if (kv.key == "view") {
            scene.view = kv.value;
            if (checked_) faults_.check_view(number_, kv.value);
        } else if (kv.key == "page") {
            scene.page = kv.value;
            page_line_ = number_;
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
        } else if (kv.key == "broken" || kv.key == "fly") {
            (kv.key == "fly" ? scene.flies : scene.broken) = kv.value == "yes";
            if (kv.value != "yes" && kv.value != "no") error(number_, std::string(kv.key) + " is yes or no");
        } else {
            unknown("field of a step", kv.key,
                    {"open", "set", "against", "view", "page", "axis", "rank", "stage", "ranks", "highlight",
                     "covers", "broken", "fly"});
        }
    }

    bool set_line(std::string_view value, std::vector<std::string>& into) {
        std::string set = pointer_value(value);
        if (set.empty()) {
            error(number_, "set and against are POINTER = VALUE, such as layout.tp = 4");
            return false;
        }
        into.push_back(std::move(set));
        return true;
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
        QuestionReader question(faults_, begun, checked_);
        bool closed = false;
        while (next_line()) {
            if (line_.starts_with("```")) {
                closed = true;
                break;
            }
            if (notes) {
                check_text(line_, number_);
                steps().back().notes += line_;
                steps().back().notes += '\n';
            } else if (ask) {
                question.line(line_, number_);
            }
        }
        if (!closed) error(begun, "this block is never closed: it ends with a line ```");
        if (!ask) return;
        if (steps().back().task) error(begun, "a step asks or sets a task, not both");
        if (steps().back().question) error(begun, "a step has one question, this is its second");
        steps().back().question = question.finish();
    }

    // A line that is no "key: value" belongs to the text before it.
    void continued(std::string* last) {
        if (last == nullptr)
            error(number_, "expected \"key: value\"");
        else
            *last += " " + std::string(trimmed(line_));
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
        check_whole_text(t.prompt, begun);
        check_whole_text(t.why, begun);
        for (const std::string& hint : t.hints) check_whole_text(hint, begun);
        steps().back().task = std::move(t);
    }

    void task_line(LessonTask& t, std::string*& last) {
        check_text(line_, number_);
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
};

}  // namespace

ParsedLesson parse_lesson(std::string_view text, const LessonNames& names) {
    const std::string readable = as_utf8(text);
    ParsedLesson out = LessonReader(readable, names, true).read();
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

int words_before(const LessonStep& step) {
    const auto count = [](std::string_view written) {
        const std::string text = on_screen(written);
        std::string plain;
        std::size_t at = 0;
        for (const Placeholder& p : placeholders(text)) {
            plain += text.substr(at, p.begin - at) + "x";
            at = p.end;
        }
        plain += text.substr(at);
        const auto words = split_words(plain, " \t\r\n");
        return std::count_if(words.begin(), words.end(), [](std::string_view w) {
            return std::any_of(w.begin(), w.end(), [](char c) { return is_name_char(c) || is_digit(c); });
        });
    };
    auto n = count(step.words);
    if (step.question) n += count(step.question->prompt);
    if (step.task) n += count(step.task->prompt);
    if (step.question)
        for (const LessonQuestion::Option& o : step.question->options) n += count(o.label);
    return static_cast<int>(n);
}

}  // namespace pentamesh
