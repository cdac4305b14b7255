#include "core/interop/python_text.h"

#include "core/base/characters.h"

#include <algorithm>

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

}  // namespace pentamesh::interop
