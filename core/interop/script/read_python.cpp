#include "core/interop/script/read_python.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace pentamesh::interop {

void PythonText::newline() {
    if (s_[at_] == '\n') ++line_;
    ++at_;
}

void PythonText::blanks(bool inside) {
    while (at_ < s_.size()) {
        const char c = s_[at_];
        if (c == '#')
            while (at_ < s_.size() && s_[at_] != '\n') ++at_;
        else if (c == ' ' || c == '\t' || c == '\r' || (inside && c == '\n'))
            newline();
        else if (c == '\\' && at_ + 1 < s_.size() && s_[at_ + 1] == '\n') {
            ++at_;
            newline();
        } else
            return;
    }
}

void PythonText::rest_of_line() {
    while (at_ < s_.size() && s_[at_] != '\n') {
        if (skip_whole()) continue;
        if (s_[at_] == '#' || s_[at_] == '\\') {
            const std::size_t before = at_;
            blanks(false);
            if (at_ == before) ++at_;
        } else
            ++at_;
    }
    if (at_ < s_.size()) newline();
}

std::string PythonText::dotted() {
    const std::size_t begin = at_;
    while (at_ < s_.size() && (is_name_char(s_[at_]) || s_[at_] == '.')) ++at_;
    return std::string(s_.substr(begin, at_ - begin));
}

std::string PythonText::quoted() {
    const char q = s_[at_];
    const bool triple = s_.substr(at_).starts_with(std::string(3, q));
    const std::string end(triple ? 3 : 1, q);
    at_ += end.size();
    std::string text;
    while (at_ < s_.size() && !s_.substr(at_).starts_with(end)) {
        if (!triple && s_[at_] == '\n') break;
        if (s_[at_] == '\\' && at_ + 1 < s_.size()) ++at_;
        text.push_back(s_[at_]);
        newline();
    }
    at_ = std::min(at_ + end.size(), s_.size());
    return text;
}

void PythonText::brackets() {
    int depth = 0;
    do {
        const char c = s_[at_];
        if (c == '"' || c == '\'') {
            (void)quoted();
            continue;
        }
        if (c == '#') {
            blanks(true);
            continue;
        }
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') --depth;
        newline();
    } while (at_ < s_.size() && depth > 0);
}

bool PythonText::skip_whole() {
    const char c = s_[at_];
    if (c == '"' || c == '\'')
        (void)quoted();
    else if (c == '(' || c == '[' || c == '{')
        brackets();
    else
        return false;
    return true;
}

std::string PythonText::until(char stop) {
    const std::size_t begin = at_;
    while (at_ < s_.size() && s_[at_] != stop && s_[at_] != '\n') {
        if (!skip_whole()) ++at_;
    }
    std::string text = python_trimmed(s_.substr(begin, at_ - begin));
    if (at_ < s_.size() && s_[at_] == stop) newline();
    return text;
}

int PythonText::column() const {
    const std::size_t begin = at_ == 0 ? 0 : s_.rfind('\n', at_ - 1) + 1;
    return static_cast<int>(at_ - begin);
}

void PythonText::skip_suite(int outside) {
    rest_of_line();
    while (at_ < s_.size()) {
        blanks(true);
        if (at_ >= s_.size() || column() <= outside) return;
        if (s_[at_] == '"' || s_[at_] == '\'') (void)quoted();
        rest_of_line();
    }
}

std::string python_trimmed(std::string_view text) {
    return std::string(trimmed(text, " \t\r\n"));
}

std::string_view after_first(std::string_view name) {
    return name.substr(std::min(name.find('.'), name.size() - 1) + 1);
}

std::string_view leaf_of(std::string_view name) {
    return name.substr(name.rfind('.') + 1);
}

bool any_in(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view p) { return text.find(p) != std::string_view::npos; });
}

namespace {

constexpr int kMostNested = 150;
constexpr std::size_t kMostSpent = std::size_t{64} << 20;
constexpr const char* kGrown = "(grown)";    // the text of a list that the text makes step by step
constexpr const char* kObject = "(object)";  // the text of a value that a class makes
constexpr int kMostInlined = 2'000;          // calls of functions that are read in place

// Reads statements: `a.b = value`, `return Call(...)`, `x = Call(k=v, ...)`, `if`. It passes over all others.
class PythonReader final : PythonModules {
  public:
    PythonReader(std::string_view text, const std::string& path, const OtherFile& other)
        : PythonModules(text, other), path_(path) {}

    PythonSettings all(const std::string& recipe, std::string_view known_recipes) {
        if (!known_recipes.empty()) scan(texts_.emplace_back(known_recipes), kKnown);
        maker_ = constants_[std::string(kKnown) + ":recipes"].text;
        scan(s_, "");
        std::vector<std::string>& known = out_.recipes;
        for (const std::string& name : in_order_)
            if (is_recipe(name, functions_.at(":" + name))) known.push_back(name);
        if (!recipe.empty() && std::find(known.begin(), known.end(), recipe) == known.end()) {
            const std::vector<std::string_view> names(known.begin(), known.end());
            throw Error(
                ErrorKind::usage, path_, "",
                "it has no configuration " + recipe
                    + (names.empty() ? "" : "; the closest is " + std::string(nearest(recipe, names))));
        }
        quiet_ = !recipe.empty();  // what the module does with others is not asked for
        run(s_, "", 0, s_.size(), 1);
        if (quiet_) read_.clear(), chosen_ = {recipe};
        quiet_ = false;
        if (chosen_.empty() && known.size() == 1) chosen_ = {known[0]};
        if (known.size() > 1 && chosen_.size() != 1) {
            out_.settings.clear();
            return std::move(out_);
        }
        if (!chosen_.empty()) out_.recipe = *chosen_.begin();
        if (known.empty())
            for (const std::string& name : in_order_)
                if (!read_.contains(name)) inline_call(name, {});
        if (!out_.recipe.empty() && !read_.contains(out_.recipe)) inline_call(out_.recipe, {});
        std::erase_if(out_.settings, [](const Setting& s) { return s.name.empty(); });
        return std::move(out_);
    }

  private:
    // ---- statements ---------------------------------------------------------------------------------------

    void run(std::string_view text, const std::string& module, std::size_t begin, std::size_t end, int line) {
        const auto kept = std::make_tuple(s_, at_, line_, end_, module_);
        s_ = text, at_ = begin, line_ = line, end_ = end, module_ = module;
        const bool left = std::exchange(left_, (spent_ += end - begin) > kMostSpent);
        block(-1);
        left_ = left;
        std::tie(s_, at_, line_, end_, module_) = kept;
    }
    // Reads statements that stand further right than `outside`.
    void block(int outside) {
        while (!left_) {
            blanks(true);
            if (at_ >= end_ || column() <= outside) return;
            statement();
        }
    }
    void suite(int outside) {
        if (++depth_ > kMostPythonLevels) fail_deep();
        blanks(false);
        if (at_ < s_.size() && s_[at_] != '\n')
            statement();
        else
            block(outside);
        --depth_;
    }
    [[noreturn]] void fail_deep() const {
        throw Error(ErrorKind::invalid, path_, "",
                    "line " + std::to_string(line_) + ": values are nested too deep");
    }
    // Reads a block that may be run or not: its settings carry why.
    void guarded(const std::string& why, int outside) {
        const std::string before = guard_;
        guard_ = guard_.empty() ? why : guard_;
        suite(outside);
        guard_ = before;
        left_ = false;
    }
    void choice(int outside) {
        bool open = true, in_doubt = false;
        for (std::string word = "if"; true;) {
            const std::string condition = word == "else" ? "" : until(':');
            const PythonTruth t = !open ? PythonTruth::no
                                  : word == "else" || condition.find("__name__") != std::string::npos
                                      ? PythonTruth::yes
                                      : truth_of(worked_out(condition));
            if (word == "else") (void)until(':');
            if (t == PythonTruth::no) {
                skip_suite(outside);
            } else if (t == PythonTruth::yes && !in_doubt) {
                suite(outside);
                open = false;
            } else {
                guarded(word == "else" ? "else" : "if " + condition, outside);
                in_doubt = true;
            }
            if (left_) break;
            blanks(true);
            const std::size_t before = at_;
            const int line = line_;
            if (at_ >= end_ || column() != outside) break;
            word = dotted();
            if (word == "elif" || word == "else") continue;
            at_ = before;
            line_ = line;
            break;
        }
    }

    void statement() {
        const int line = line_, outside = column();
        if (s_[at_] == '"' || s_[at_] == '\'') return (void)quoted();
        if (s_[at_] == '@') return rest_of_line();
        std::string target = dotted();
        blanks(false);
        if (target == "return") {
            returns_ = true;
            PythonValue v = value("", line, 0);
            returns_ = false;
            rest_of_line();
            if (guard_.empty()) returned_ = std::move(v);
            left_ = guard_.empty();
            return;
        }
        if (target == "if") return choice(outside);
        if (target == "def" || target == "except") return skip_suite(outside);
        if (target == "for" || target == "while") {
            const std::string head = until(':');
            return guarded(target + " " + head, outside);
        }
        if (target == "class" || target == "with" || target == "try" || target == "finally"
            || target == "else") {
            (void)until(':');
            return suite(outside);
        }
        if (target == "raise") left_ = guard_.empty();
        if (target == "from") return imports();
        if (target == "import" || target == "raise" || target == "assert") return rest_of_line();
        if (target.empty() && at_ < s_.size() && s_[at_] == '(' && names_in_brackets()) {
            ++at_;  // (a, b) = (4, 2)
            blanks(false);
            target = dotted();
            blanks(false);
        }
        if (target.empty()) {
            if (at_ < s_.size() && s_[at_] != '\n') brackets();
            return;
        }
        if (grows(target)) return rest_of_line();
        if (at_ < s_.size() && s_[at_] == ',') {
            several(target, line);
        } else if (at_ < s_.size() && s_[at_] == ':'
                   && s_.substr(at_, 2) != ":=") {  // an annotation: name: type = value
            while (at_ < s_.size() && s_[at_] != '=' && s_[at_] != '\n') ++at_;
        }
        if (at_ < s_.size() && s_[at_] == '=' && s_.substr(at_, 2) != "==") {
            ++at_;
            blanks(false);
            assigned(std::move(target), line);
        } else if (const std::size_t end = s_.find_first_not_of("+-*/%", at_);
                   end > at_ && end < s_.size() && s_[end] == '=') {  // a += b
            const std::string op(s_.substr(at_, end - at_));
            at_ = end + 1;
            change(target, op, line);
        } else if (at_ < s_.size() && s_[at_] == '(') {
            PythonValue none;
            call(target, "", line, 0, none);
        }
        blanks(false);
        if (at_ < s_.size() && s_[at_] == ';') {  // another statement of the line
            ++at_;
            blanks(false);
            if (at_ < s_.size() && s_[at_] != '\n' && s_[at_] != '#') return statement();
        }
        rest_of_line();
    }

    // Returns true where a list is changed in its place, `x.append(…)` or `x[0] = …`: it is not known from
    // there on.
    bool grows(const std::string& target) {
        const std::size_t dot = target.find('.');
        const bool part = dot == std::string::npos && at_ < s_.size() && s_[at_] == '[';
        const bool method = dot != std::string::npos && at_ < s_.size() && s_[at_] == '('
                            && is_among("python_list_methods", std::string_view(target).substr(dot + 1));
        if (!part && !method) return false;
        for (auto* names : {&locals_, &globals_}) {
            const auto it = names->find(target.substr(0, dot));
            if (it == names->end()) continue;
            PythonValue& list = it->second;
            if (list.kind == PythonValue::Kind::list && list.text.empty())
                list = {PythonValue::Kind::unknown, 0, kGrown, {}};
            return list.text == kGrown;
        }
        return false;
    }

    // Reads the value behind `a =`, and that of `a = b = 4` for each of its names.
    void assigned(std::string target, int line) {
        std::vector<std::string> names{std::move(target)};
        for (;;) {
            std::size_t end = at_;
            while (end < s_.size() && (is_name_char(s_[end]) || s_[end] == '.')) ++end;
            const std::size_t next = s_.find_first_not_of(" \t", end);
            if (end == at_ || next >= s_.size() || s_[next] != '=' || s_.substr(next, 2) == "==") break;
            names.emplace_back(s_.substr(at_, end - at_));
            at_ = next + 1;
            blanks(false);
        }
        const std::size_t begin = at_;
        const int first = line_;
        for (const std::string& name : names) {
            // A recipe of its own is read where it is asked for.
            if (!maker_.empty() && calls_.empty() && functions_.contains(":" + name)) continue;
            at_ = begin, line_ = first;
            value(name, line, 0);
        }
    }

    // Returns true at the "(a, b) =" of an assignment.
    [[nodiscard]] bool names_in_brackets() const {
        const std::size_t close = s_.find_first_of(")\n", at_);
        if (close >= s_.size() || s_[close] != ')') return false;
        for (std::size_t i = at_ + 1; i < close; ++i)
            if (!is_name_char(s_[i]) && s_[i] != '.' && s_[i] != ',' && s_[i] != ' ') return false;
        const std::size_t next = s_.find_first_not_of(" \t", close + 1);
        return next < s_.size() && s_[next] == '=' && s_.substr(next, 2) != "==";
    }

    // Reads `a, b = 4, 2`: as many values as names, each for its own.
    void several(const std::string& first, int line) {
        std::vector<std::string> names{first};
        while (at_ < s_.size() && s_[at_] == ',') {
            ++at_;
            blanks(false);
            names.push_back(dotted());
            blanks(false);
        }
        if (at_ < s_.size() && s_[at_] == ')') ++at_;  // of "(a, b)"
        blanks(false);
        if (at_ >= s_.size() || s_[at_] != '=' || s_.substr(at_, 2) == "==") return;
        ++at_;
        std::string_view rest = s_.substr(at_, s_.find('\n', at_) - at_);
        rest = rest.substr(0, rest.find(';'));  // another statement of the line
        PythonValue all = python_value("[" + std::string(rest.substr(0, rest.find('#'))) + "]",
                                       [this](const std::string& name) { return look_up(name); });
        blanks(false);
        const bool inside = all.kind == PythonValue::Kind::list && all.items.size() == 1
                            && all.items[0].kind == PythonValue::Kind::list && at_ < s_.size()
                            && (s_[at_] == '(' || s_[at_] == '[');
        if (inside) {  // "= (4, 2)"
            PythonValue only = std::move(all.items[0]);
            all = std::move(only);
            ++at_;
        }
        if (all.kind != PythonValue::Kind::list || all.items.size() != names.size()) return;
        for (const std::string& name : names) {
            blanks(false);
            if (!name.empty()) value(name, line, 0);
            if (at_ < s_.size() && s_[at_] == ',') ++at_;
        }
        if (inside && at_ < s_.size()) ++at_;
    }

    // Reads "target op= value".
    void change(const std::string& target, const std::string& op, int line) {
        const auto end = s_.find('\n', at_);
        const std::string text = target + " " + op + " (" + std::string(s_.substr(at_, end - at_)) + "\n)";
        const PythonValue v = guard_.empty() ? worked_out(text) : PythonValue();
        if (target.find('.') != std::string::npos)
            return put(target, v.is_whole() ? v.written() : text, false, line);
        (calls_.empty() ? globals_ : locals_)[target] = v;
    }

    // ---- values -------------------------------------------------------------------------------------------

    // Reads a value that ends at a comma, a closing bracket or the line's end. Calls give their keywords as
    // settings of their own, named CALL.keyword; the value of the name itself is then the call's name.
    PythonValue value(const std::string& name, int line, int level) {
        if (level > kMostPythonLevels || nested_ > kMostNested) fail_deep();
        ++nested_;
        PythonValue v = read_value(name, line, level);
        --nested_;
        return v;
    }
    // Holds a value as it is read: its text and, where a call is all of it, what that returns.
    struct ReadText {
        std::string text{};
        PythonValue made{};
        bool quoted = false, called = false, own = false;
        bool entries = false;  // it was a dictionary, whose entries are settings
    };
    ReadText read_text(const std::string& name, int level) {
        ReadText out;
        std::string& text = out.text;
        while (at_ < s_.size()) {
            const char c = s_[at_];
            if (c == '"' || c == '\'') {
                out.quoted = text.empty();
                text += quoted();
            } else if (c == '(' && !text.empty() && is_name_char(text.back())
                       && !is_among("python_values", callee_of(text))) {
                out.own = text == callee_of(text) && call(text, name, line_, level, out.made);
                if (!out.own && text != callee_of(text)) call(callee_of(text), name, line_, level, out.made);
                out.called = true;
            } else if (c == '{' && level > 0 && !maker_.empty() && text.empty()) {
                entries(name, level);
                out.entries = true;
                return out;
            } else if (c == '(' || c == '[' || c == '{') {
                const std::size_t begin = at_;
                brackets();
                text += s_.substr(begin, at_ - begin);
            } else if (c == ',' || c == ')' || c == ']' || c == '}' || (c == ';' && level == 0)) {
                break;
            } else if (c == '\n' || c == '#') {
                if (level == 0) break;
                blanks(true);
            } else {
                out.own = out.own && (c == ' ' || c == '\r');  // more than the call
                text.push_back(c);
                ++at_;
            }
        }
        text = python_trimmed(text);
        return out;
    }
    PythonValue read_value(const std::string& name, int line, int level) {
        blanks(level > 0);
        const std::size_t whole = at_;
        const ReadText read = read_text(name, level);
        if (read.entries) return read.made;
        const std::string& text = read.text;
        const bool called = read.called, own = read.own;
        PythonValue v = read.made;
        if (!own) v = called ? PythonValue() : worked_out(s_.substr(whole, at_ - whole));
        const bool local = level == 0 && name.find('.') == std::string::npos;
        if (local && !name.empty()) {
            PythonValue& kept = (calls_.empty() ? globals_ : locals_)[name] =
                guard_.empty() ? v : PythonValue();
            const std::string_view of = leaf_of(text);
            if (called && !own && !of.empty() && of[0] >= 'A' && of[0] <= 'Z') kept.text = kObject;
            if (called || !calls_.empty()) objects_.insert(name);
            if (!calls_.empty() && !called) return v;  // a variable of a function is no setting
        }
        if (v.is_whole()) {
            if (!own || !local) put(name, v.written(), v.kind == PythonValue::Kind::text, line);
            return v;
        }
        if (!v.known() && v.text == kGrown && !(local && own)) {
            put(name, text, false, line);
            if (!quiet_ && !name.empty()) out_.settings.back().unknown = text;
            return v;
        }
        if (own) return v;
        // A name that nothing here gives a value: of the same setting elsewhere it says nothing.
        const bool plain =
            !called && !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0
            && std::all_of(text.begin(), text.end(), [](char c) { return is_name_char(c) || c == '.'; });
        const bool of_object = plain && objects_.contains(text.substr(0, text.find('.')));
        if (of_object && leaf_of(text) == leaf_of(name)) return v;
        const bool constant =
            plain && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        if (constant && imported_.contains(module_ + ":" + text)) {  // of another file
            put(name + " (" + text + ")", text, false, line);
            return v;
        }
        if (of_object && look_up(text).text == kObject) return v;  // its fields are settings
        put(name, text, read.quoted, line);
        if (quiet_ || name.empty()) return v;
        if (local && called && !calls_.empty()) out_.settings.back().variable = true;
        if (of_object) out_.settings.back().unknown = text;
        return v;
    }

    // Reads {"key": value, ...}: each is a setting, NAME.key.
    void entries(const std::string& name, int level) {
        ++at_;
        for (blanks(true); at_ < s_.size() && s_[at_] != '}'; blanks(true)) {
            const std::size_t before = at_;
            std::string key = s_[at_] == '"' || s_[at_] == '\'' ? name + "." + quoted() : "";
            blanks(true);
            at_ += at_ < s_.size() && (s_[at_] == ':' || s_[at_] == ',') ? 1 : 0;
            value(key, line_, level + 1);
            if (at_ < s_.size() && s_[at_] != '}' && (s_[at_] == ',' || at_ == before)) ++at_;
        }
        if (at_ < s_.size()) ++at_;
    }

    // Reads the name that an argument begins with. Returns true, and passes over it, if it is `name=`.
    bool takes_keyword(std::string& name) {
        const std::size_t before = at_;
        const int line = line_;
        name = dotted();
        blanks(true);
        const bool keyword = !name.empty() && at_ < s_.size() && s_[at_] == '=' && s_.substr(at_, 2) != "==";
        if (keyword)
            ++at_;
        else
            at_ = before, line_ = line;
        return keyword;
    }
    // Reads Callee(positional, keyword=value, ...): keywords become CALLEE.keyword; the first positional text
    // becomes CALLEE(). A function that the text has is read instead, with its arguments.
    // Returns true where it does, with what the function returns.
    bool call(const std::string& callee_name, const std::string& target, int line, int level,
              PythonValue& made) {
        ++at_;
        const PythonFunction* own = function_called(callee_name);
        std::map<std::string, PythonValue> given;
        int position = 0;
        // Does it make or change the configuration itself?
        bool hands_on = returns_ || (!target.empty() && target.find_first_of(".(") == std::string::npos);
        if (!own) {
            forget_earlier(callee_name, target);
            put(target.empty() ? callee_name + "()" : target + "()", callee_name, false, line);
            if (leaf_of(callee_name) == "get_device_properties")
                for (const auto& [field, said] : device_of(out_.recipe))
                    put(target + field, said, field == ".name", line);
        }
        while (at_ < s_.size()) {
            blanks(true);
            if (at_ >= s_.size()) break;
            if (s_[at_] == ')') {
                ++at_;
                break;
            }
            if (s_[at_] == ',') {
                ++at_;
                continue;
            }
            const std::size_t before = at_;
            const int key_line = line_;
            std::string key;
            const bool keyword = takes_keyword(key);
            if (!keyword) {
                hands_on =
                    hands_on
                    || (target.empty() && level == 0 && objects_.contains(key.substr(0, key.find('.'))));
                key.clear();
                if (own && static_cast<std::size_t>(position) < own->parameters.size())
                    key = own->parameters[static_cast<std::size_t>(position)].name;
                ++position;
            }
            const bool taken = own && (own->module != kKnown || own->takes(key));
            PythonValue v = value(taken     ? std::string()
                                  : keyword ? callee_name + "." + key
                                            : callee_name + "(" + std::to_string(position - 1) + ")",
                                  key_line, level + 1);
            if (own && !key.empty()) given[key] = std::move(v);
            if (at_ == before) ++at_;
        }
        if (own) {
            inline_call(callee_name, given);
            made = std::exchange(returned_, {});
            return true;
        }
        if (hands_on && out_.unread.empty() && !quiet_ && may_set(callee_name))
            out_.unread = callee_name + " (" + words_of(place_at(line)) + ")";
        return false;
    }

    void inline_call(const std::string& name, const std::map<std::string, PythonValue>& given) {
        const PythonFunction* f = function_called(name);
        if (!f || calls_.contains(f) || ++inlined_ > kMostInlined
            || calls_.size() > static_cast<std::size_t>(kMostPythonLevels))
            return;
        const auto is_known = [&](const PythonFunction* of) {
            return of->module.empty()
                   && std::any_of(out_.recipes.begin(), out_.recipes.end(),
                                  [&](const std::string& n) { return &functions_.at(":" + n) == of; });
        };
        if (f->module.empty()) read_.insert(name);
        if (is_known(f) && std::none_of(calls_.begin(), calls_.end(), is_known)) chosen_.insert(name);
        std::map<std::string, PythonValue> locals;
        std::set<std::string> objects;
        for (const PythonParameter& p : f->parameters) {
            const auto it = given.find(p.name);
            locals[p.name] =
                it != given.end() ? it->second : python_value(p.value, [&](const std::string& n) {
                    const auto g = globals_.find(n);
                    return g == globals_.end() ? PythonValue() : g->second;
                });
            objects.insert(p.name);
        }
        std::swap(locals, locals_);
        std::swap(objects, objects_);
        returned_ = {};
        std::optional<TextPlace> caller;
        if (f->module == kKnown) caller = place_at(line_);
        std::swap(caller, caller_);
        calls_.insert(f);
        run(f->text, f->module, f->begin, f->end, f->line);
        calls_.erase(f);
        std::swap(caller, caller_);
        std::swap(objects, objects_);
        std::swap(locals, locals_);
    }

    const std::string& path_;
    std::size_t end_ = 0;
    int depth_ = 0, inlined_ = 0, nested_ = 0;
    std::size_t spent_ = 0;  // characters that were read
    bool left_ = false, returns_ = false;
    std::set<const PythonFunction*> calls_;
    std::set<std::string> read_, chosen_, objects_;
    PythonValue returned_;  // by the function that was read last
};

}  // namespace

PythonSettings read_python(std::string_view text, const std::string& path, const std::string& recipe,
                           const OtherFile& other, std::string_view known) {
    return PythonReader(text, path, other).all(recipe, known);
}

}  // namespace pentamesh::interop
