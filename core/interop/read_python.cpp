#include "core/interop/read_python.h"

#include "core/base/error.h"

#include <algorithm>
#include <cctype>

namespace pentamesh::interop {
namespace {

constexpr int kMostPythonLevels = 60;

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Reads statements a line at a time: `a.b = value`, `return Call(...)`, `x = Call(k=v, ...)`. It passes over
// everything else: Python is not run.
class PythonReader {
  public:
    PythonReader(std::string_view text, const std::string& path) : s_(text), path_(path) {}

    std::vector<Setting> all() {
        while (at_ < s_.size()) statement();
        return std::move(out_);
    }

  private:
    void newline() {
        if (s_[at_] == '\n') ++line_;
        ++at_;
    }
    // Skips blanks; inside brackets newlines and comments too.
    void blanks(bool inside) {
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
    void rest_of_line() {
        while (at_ < s_.size() && s_[at_] != '\n') {
            if (s_[at_] == '"' || s_[at_] == '\'')
                (void)quoted();
            else if (s_[at_] == '#')
                blanks(false);
            else
                ++at_;
        }
        if (at_ < s_.size()) newline();
    }
    std::string dotted() {
        const std::size_t begin = at_;
        while (at_ < s_.size() && (is_word(s_[at_]) || s_[at_] == '.')) ++at_;
        return std::string(s_.substr(begin, at_ - begin));
    }
    std::string quoted() {
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

    void statement() {
        blanks(true);
        if (at_ >= s_.size()) return;
        const int line = line_;
        if (s_[at_] == '"' || s_[at_] == '\'') {
            (void)quoted();
            return;
        }
        std::string target = dotted();
        if (target == "return") {
            blanks(false);
            value("", line, 0);
            rest_of_line();
            return;
        }
        blanks(false);
        if (target == "def" || target == "class" || target == "import" || target == "from"
            || target.empty()) {
            if (target.empty() && at_ < s_.size() && s_[at_] != '\n') ++at_;
            if (!target.empty()) header();
            return;
        }
        if (at_ < s_.size() && s_[at_] == ':'
            && s_.substr(at_, 2) != ":=") {  // an annotation: name: type = value
            while (at_ < s_.size() && s_[at_] != '=' && s_[at_] != '\n') ++at_;
        }
        if (at_ < s_.size() && s_[at_] == '=' && s_.substr(at_, 2) != "==") {
            ++at_;
            blanks(false);
            value(target, line, 0);
        } else if (at_ < s_.size() && s_[at_] == '(') {
            call(target, "", line, 0);
        }
        rest_of_line();
    }

    // Skips the header of a def or an import: its brackets hold no settings.
    void header() {
        int depth = 0;
        while (at_ < s_.size() && (s_[at_] != '\n' || depth > 0)) {
            if (s_[at_] == '(') ++depth;
            if (s_[at_] == ')') --depth;
            newline();
        }
    }

    void put(const std::string& name, std::string text, bool quoted, int line) {
        if (name.empty()) return;
        Setting s;
        s.name = name;
        s.value = std::move(text);
        s.quoted = quoted;
        s.line = line;
        out_.push_back(std::move(s));
    }

    // Reads a value that ends at a comma, a closing bracket or the line's end. Calls give their keywords as
    // settings of their own, named CALL.keyword; the value of the name itself is then the call's name.
    void value(const std::string& name, int line, int level) {
        if (level > kMostPythonLevels)
            throw Error(ErrorKind::invalid, path_, "",
                        "line " + std::to_string(line_) + ": values are nested too deep");
        blanks(level > 0);
        std::string text;
        bool is_text = false, called = false;
        while (at_ < s_.size()) {
            const char c = s_[at_];
            if (c == '"' || c == '\'') {
                is_text = text.empty();
                text += quoted();
            } else if (c == '(' && !text.empty() && is_word(text.back())) {
                const std::string path = callee(text);
                call(path, name, line_, level);
                called = true;
            } else if (c == '(' || c == '[' || c == '{') {
                const std::size_t begin = at_;
                brackets();
                text += s_.substr(begin, at_ - begin);
            } else if (c == ',' || c == ')' || c == ']' || c == '}') {
                break;
            } else if (c == '\n' || c == '#') {
                if (level == 0) break;
                blanks(true);
            } else {
                text.push_back(c);
                ++at_;
            }
        }
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
            text.pop_back();
        if (!called || !text.empty()) put(name, text, is_text, line);
    }

    static std::string callee(const std::string& text) {
        std::size_t begin = text.size();
        while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
        return text.substr(begin);
    }

    // Moves past a bracket and its partner.
    void brackets() {
        int depth = 0;
        do {
            const char c = s_[at_];
            if (c == '"' || c == '\'') {
                (void)quoted();
                continue;
            }
            if (c == '(' || c == '[' || c == '{') ++depth;
            if (c == ')' || c == ']' || c == '}') --depth;
            newline();
        } while (at_ < s_.size() && depth > 0);
    }

    // Reads Callee(positional, keyword=value, ...): keywords become CALLEE.keyword; the first positional text
    // becomes CALLEE().
    void call(const std::string& callee_name, const std::string& target, int line, int level) {
        ++at_;
        int position = 0;
        put(target.empty() ? callee_name + "()" : target + "()", callee_name, false, line);
        while (at_ < s_.size()) {
            blanks(true);
            if (at_ >= s_.size()) return;
            if (s_[at_] == ')') {
                ++at_;
                return;
            }
            if (s_[at_] == ',') {
                ++at_;
                continue;
            }
            const std::size_t before = at_;
            const int key_line = line_;
            const std::string key = dotted();
            blanks(true);
            if (!key.empty() && at_ < s_.size() && s_[at_] == '=' && s_.substr(at_, 2) != "==") {
                ++at_;
                value(callee_name + "." + key, key_line, level + 1);
            } else {
                at_ = before;
                line_ = key_line;
                value(callee_name + "(" + std::to_string(position++) + ")", key_line, level + 1);
            }
            if (at_ == before) ++at_;
        }
    }

    std::string_view s_;
    const std::string& path_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::vector<Setting> out_;
};

}  // namespace

std::vector<Setting> read_python(std::string_view text, const std::string& path) {
    return PythonReader(text, path).all();
}

}  // namespace pentamesh::interop
