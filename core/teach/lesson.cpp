#include "core/teach/lesson.h"

#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/io/presets.h"
#include "core/mesh/mesh.h"
#include "core/plan/names.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson_parts.h"
#include "core/teach/translation.h"

#include <algorithm>
#include <array>
#include <utility>

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
            else if (kv->key == "language" && is_language(kv->value))
                continue;  // language_of reads it
            else if (kv->key == "language")
                error(number_, no_language(kv->value));
            else
                unknown("field", kv->key, {"title", "minutes", "summary", "language"});
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
        if (s.scene.flies && s.scene.view != "zoom" && s.scene.page != "zoom")
            error(s.line, "fly needs \"page: zoom\" of the view mesh in the same step");
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
    if (out.errors.empty() && names.presets != nullptr) out.errors = check_lesson(out.lesson, *names.presets);
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

std::string panel_name(std::string_view pointer) {
    struct Named {
        std::string_view field, name;
    };
    static constexpr std::array kNamed{Named{"zero", "ZeRO"},
                                       Named{"gpus", "GPUs"},
                                       Named{"global_batch", "batch"},
                                       Named{"micro_batch", "micro-batch"},
                                       Named{"sequence_length", "sequence"},
                                       Named{"virtual_stages", "chunks"}};
    const std::string_view last = pointer.substr(pointer.rfind('.') + 1);
    for (const Named& n : kNamed)
        if (n.field == last) return std::string(n.name);
    if (parse_name<Axis>(last) && std::ranges::count(pointer, '.') < 2) return std::string(last);
    std::string field(pointer.substr(pointer.find('.') + 1));  // "offload optimizer"
    std::replace_if(
        field.begin(), field.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
    return field;
}

bool parse_integer(std::string_view text, std::int64_t& out) {
    const auto n = parse_whole(trimmed(text));
    out = n.value_or(out);
    return n.has_value();
}

bool parse_tolerance(std::string_view text, double& out) {
    text = trimmed(text);
    const bool percent = !text.empty() && text.back() == '%';
    if (percent) text = trimmed(text.substr(0, text.size() - 1));
    const std::optional<double> read = parse_double(text);
    if (!read) return false;
    out = percent ? *read / 100 : *read;
    return out >= 0 && out <= 1;
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view part : split(text, ','))
        if (!trimmed(part).empty()) out.emplace_back(trimmed(part));
    return out;
}

std::vector<std::string> split_values(std::string_view text) {
    std::vector<std::string> out;
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 0;
    const auto part = [&](std::size_t end) {
        if (const auto one = trimmed(text.substr(begin, end - begin)); !one.empty()) out.emplace_back(one);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted) continue;
        if (text[i] == '[' || text[i] == '{') ++depth;
        if (text[i] == ']' || text[i] == '}') --depth;
        if (text[i] == ',' && depth <= 0) part(i);
    }
    if (begin < text.size()) part(text.size());
    return out;
}

namespace {

// Holds the places of one "[[screen|paper]]".
struct Forms {
    std::size_t begin, bar, end;
};
std::optional<Forms> next_forms(std::string_view text, std::size_t from) {
    const std::size_t begin = text.find("[[", from), bar = text.find('|', begin), end = text.find("]]", bar);
    if (begin == text.npos || bar == text.npos || end == text.npos) return std::nullopt;
    return Forms{begin, bar, end};
}

std::string one_form(std::string_view text, bool paper) {
    std::string out;
    std::size_t at = 0;
    while (const auto forms = next_forms(text, at)) {
        const std::size_t first = paper ? forms->bar + 1 : forms->begin + 2;
        const std::string_view said = text.substr(first, (paper ? forms->end : forms->bar) - first);
        out += text.substr(at, forms->begin - at);
        if (said.empty() && out.ends_with(' ')) out.pop_back();
        out += said;
        at = forms->end + 2;
    }
    return out += text.substr(at);
}

}  // namespace

std::string on_screen(std::string_view text) {
    return one_form(text, false);
}

std::string on_paper(std::string_view text) {
    return one_form(text, true);
}

bool has_whole_forms(std::string_view text) {
    const std::string left = on_screen(text) + on_paper(text);
    return left.find("[[") == left.npos && left.find("]]") == left.npos;
}

std::string pointer_value(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) return "";
    return std::string(trimmed(text.substr(0, equals))) + "=" + std::string(trimmed(text.substr(equals + 1)));
}

std::optional<KeyValue> key_value(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    if (line.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz") != line.npos)
        return std::nullopt;
    return KeyValue{line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

namespace {

constexpr std::size_t kMostErrors = 50;

std::string list_of(const std::vector<std::string_view>& known) {
    return join(known, ", ");
}

}  // namespace

void LessonFaults::error(int line, std::string message) {
    if (out_.size() < kMostErrors) out_.push_back({line, std::move(message)});
}

void LessonFaults::unknown(int line, std::string_view what, std::string_view word,
                           const std::vector<std::string_view>& known) {
    error(line, "there is no " + std::string(what) + " \"" + shown_text(word) + "\", the closest is \""
                    + std::string(nearest(word, known)) + "\"; there are: " + list_of(known));
}

void LessonFaults::check_view(int line, std::string_view name) {
    std::vector<std::string_view> known;
    for (const LessonView& view : names_.views) known.push_back(view.name);
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown(line, "view", name, known);
}

void LessonFaults::check_page(int line, std::string_view view, std::string_view page) {
    if (view.empty()) return error(line, "page needs a view in the same step");
    const auto at = std::find_if(names_.views.begin(), names_.views.end(),
                                 [&](const LessonView& v) { return v.name == view; });
    if (at == names_.views.end()) return;  // that is said of the view
    const std::vector<std::string_view> known(at->pages.begin(), at->pages.end());
    if (known.empty()) return error(line, "view " + std::string(view) + " has one page, without a name");
    if (std::find(known.begin(), known.end(), page) != known.end()) return;
    error(line, "view " + std::string(view) + " has no page \"" + shown_text(page) + "\", the closest is \""
                    + std::string(nearest(page, known)) + "\"; there are: " + list_of(known));
}

void LessonFaults::open_plan(int line, std::string_view id) {
    plan_.reset();
    if (names_.presets == nullptr) return;
    try {
        plan_ = names_.presets->plan(id);
    } catch (const Error&) {
        std::vector<std::string_view> known;
        for (const auto& entry : names_.presets->list(PresetKind::plan)) known.push_back(entry.id);
        error(line, "there is no plan \"" + shown_text(id) + "\", the closest is \""
                        + std::string(nearest(id, known)) + "\"");
    }
}

// Returns what is wrong with "POINTER=VALUE" for the plan at hand; empty where nothing is known to be.
std::string LessonFaults::wrong_field(const std::string& set) const {
    const std::size_t equals = set.find('=');
    const std::string_view field = std::string_view(set).substr(0, equals),
                           value = std::string_view(set).substr(equals + 1);
    std::int64_t factor = 0;
    if (parse_name<Axis>(field) && (!parse_integer(value, factor) || factor < 1))
        return "layout." + std::string(field) + " wants a whole number from 1, \"" + shown_text(value)
               + "\" is not one";
    if (!plan_) return "";
    try {
        (void)plan_with(*plan_, {set}, *names_.presets);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

void LessonFaults::set_field(int line, const std::string& set) {
    if (const std::string wrong = wrong_field(set); !wrong.empty()) return error(line, "set: " + wrong);
    if (plan_) plan_ = plan_with(*plan_, {set}, *names_.presets);
}

void LessonFaults::check_field(int line, std::string_view what, const std::string& set) {
    if (const std::string wrong = wrong_field(set); !wrong.empty())
        error(line, std::string(what) + ": " + wrong);
}

void LessonFaults::check_query(int line, std::string_view query) {
    if (const std::string wrong = pentamesh::check_query(query); !wrong.empty()) return error(line, wrong);
    for (const std::string& set : split_query(query).sets) check_field(line, "with", set);
}

void LessonFaults::check_text(int line, std::string_view text) {
    for (const Placeholder& p : placeholders(text)) {
        seen_.insert(p.query);
        const std::string wrong = pentamesh::check_query(p.query);
        if (!wrong.empty())
            error(line, "{{" + shown_text(p.query) + "}}: " + wrong);
        else
            check_query(line, p.query);
    }
}

void LessonFaults::check_whole_text(int line, std::string_view text) {
    if (!has_whole_forms(text))
        error(line, "two forms of words are [[on the screen|on paper]]; one of them may be empty");
    for (const Placeholder& p : placeholders(text))
        if (seen_.count(p.query) == 0) check_text(line, "{{" + p.query + "}}");
}

namespace {

constexpr std::size_t kMostParts = 60, kMostListed = 200;

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return trimmed(line);
}

// Holds "key: value"; the key is empty where the line has another form.
struct CourseLine {
    std::string_view key, value;
};
CourseLine course_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

// Reads "1, 3-5" as it is written, from 1.
std::optional<std::vector<std::size_t>> steps_named(std::string_view text) {
    std::vector<std::size_t> out;
    for (const std::string_view one : split_lines(text, ',')) {
        const std::size_t dash = one.find('-');
        const std::int64_t first = parse_whole(trimmed(one.substr(0, dash))).value_or(0);
        const std::int64_t last =
            dash == std::string_view::npos ? first : parse_whole(trimmed(one.substr(dash + 1))).value_or(0);
        if (first < 1 || last < first || last > std::int64_t{kMostListed} || out.size() > kMostListed)
            return std::nullopt;
        for (std::int64_t i = first; i <= last; ++i) out.push_back(static_cast<std::size_t>(i - 1));
    }
    return out.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

bool is_course(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (take_line(text) != "---") return false;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line == "---") return false;
        if (const CourseLine kv = course_line(line); kv.key == "course") return kv.value == "yes";
    }
    return false;
}

ParsedCourse parse_course(std::string_view text) {
    ParsedCourse out;
    const auto wrong = [&](int line, std::string message) {
        out.errors.push_back({line, std::move(message)});
    };
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    int number = 0;
    bool head = false;
    while (!text.empty() && out.errors.size() < 50) {
        const std::string_view line = take_line(text);
        ++number;
        if (line == "---") {
            head = number == 1;
            continue;
        }
        if (line.empty()) continue;
        if (line.starts_with("## ")) {
            if (out.course.parts.size() >= kMostParts) {
                wrong(number, "more than " + std::to_string(kMostParts) + " lessons");
                break;
            }
            out.course.parts.push_back({std::string(trimmed(line.substr(3))), {}, {}, 0, number});
            continue;
        }
        const CourseLine kv = course_line(line);
        const std::int64_t minutes = parse_whole(kv.value).value_or(0);
        CoursePart* part = out.course.parts.empty() ? nullptr : &out.course.parts.back();
        if (head && part == nullptr && kv.key == "title")
            out.course.title = kv.value;
        else if (head && part == nullptr && kv.key == "summary")
            out.course.summary = kv.value;
        else if (head && part == nullptr && kv.key == "then")
            out.course.then = kv.value;
        else if (head && part == nullptr && kv.key == "course")
            continue;
        else if (head && part == nullptr && kv.key == "language") {
            if (!is_language(kv.value)) wrong(number, no_language(kv.value));
        } else if (part != nullptr && kv.key == "title")
            part->title = kv.value;
        else if (part != nullptr && kv.key == "steps") {
            if (auto steps = steps_named(kv.value))
                part->steps = std::move(*steps);
            else
                wrong(number, "steps are numbers from 1, such as 1, 3-5");
        } else if (part != nullptr && kv.key == "minutes" && minutes > 0 && minutes < 600)
            part->minutes = static_cast<int>(minutes);
        else
            wrong(number, part == nullptr
                              ? "the head of a course has title, summary, language, then and \"course: yes\""
                              : "a line \"## LESSON\" is followed by \"steps: 1, 3-5\", "
                                "\"minutes: N\" and \"title: WORDS\"");
    }
    if (out.course.title.empty()) wrong(0, "the course has no title");
    if (out.course.parts.empty()) wrong(0, "a course names at least one lesson: a line \"## 01-two-walls\"");
    return out;
}

ParsedLesson lesson_of_course(const ParsedCourse& from, const LessonSource& lessons,
                              const LessonNames& names) {
    ParsedLesson out;
    out.errors = from.errors;
    out.lesson.title = from.course.title;
    out.lesson.summary = from.course.summary;
    for (const CoursePart& part : from.course.parts) {
        const std::optional<std::string> text = lessons(part.lesson);
        if (!text) {
            out.errors.push_back({part.line, "there is no lesson \"" + shown_text(part.lesson) + "\""});
            continue;
        }
        const ParsedLesson read = parse_lesson(*text, names);
        for (const LessonError& e : read.errors)
            out.errors.push_back(
                {part.line, part.lesson + ".md, line " + std::to_string(e.line) + ": " + e.message});
        std::vector<std::size_t> steps = part.steps;
        for (std::size_t i = 0; part.steps.empty() && i < read.lesson.steps.size(); ++i) steps.push_back(i);
        bool first = true;
        for (const std::size_t i : steps) {
            if (i >= read.lesson.steps.size()) {
                out.errors.push_back({part.line, part.lesson + " has no step " + std::to_string(i + 1)});
                continue;
            }
            LessonStep step = read.lesson.steps[i];
            const LessonPlan plan = plan_of_step(read.lesson, i);
            step.scene.open = plan.open;
            step.scene.sets = plan.sets;
            if (first) step.part = part.title.empty() ? read.lesson.title : part.title;
            first = false;
            out.lesson.steps.push_back(std::move(step));
        }
        out.lesson.minutes += part.minutes > 0 ? part.minutes : read.lesson.minutes;
    }
    return out;
}

int minutes_of(const Course& course, const LessonSource& lessons) {
    int sum = 0;
    for (const CoursePart& part : course.parts) {
        const std::optional<std::string> text = part.minutes > 0 ? std::nullopt : lessons(part.lesson);
        sum += text ? skim_lesson(*text).minutes : part.minutes;
    }
    return sum;
}

}  // namespace pentamesh
