#include "core/interop/shell_state.h"

#include "core/base/characters.h"
#include "core/base/text.h"
#include "core/interop/shell_words.h"

#include <algorithm>

namespace pentamesh::shell {
namespace {

bool is_flag(std::string_view word) {
    return word.starts_with("--") && word.size() > 2;
}

// Adds words that a command may get or not: a flag keeps its name, with an unknown value.
void put_open(Expander& x, const std::string& name, int line, const std::vector<std::string>& words,
              std::size_t from, std::vector<std::string>& out) {
    const std::string open = x.unknown(name, line, false);
    for (std::size_t i = from; i < words.size(); ++i) {
        const std::size_t mark = words[i].find_last_of(kLineEnd);  // of the line that a word was written in
        const std::size_t begin = mark == std::string::npos ? 0 : mark + 1;
        const std::string_view word = std::string_view(words[i]).substr(begin);
        if (!is_flag(word)) continue;  // the value of the flag before
        std::string made =
            words[i].substr(0, begin) + std::string(word.substr(0, word.find('='))) + "=" + open;
        if (std::find(out.begin(), out.end(), made) == out.end()) out.push_back(std::move(made));
    }
}

// Adds the names in an arithmetic expression that sets any.
void collect_set(std::string_view expression, std::set<std::string>& names) {
    bool sets =
        expression.find("++") != std::string_view::npos || expression.find("--") != std::string_view::npos;
    for (std::size_t i = 0; i < expression.size(); ++i)
        if (expression[i] == '=') {
            const bool doubled = i + 1 < expression.size() && expression[i + 1] == '=';
            sets = sets
                   || (!doubled
                       && (i == 0
                           || std::string_view("=!<>").find(expression[i - 1]) == std::string_view::npos));
        }
    if (!sets) return;
    for (std::size_t i = 0; i < expression.size();) {
        std::size_t end = i;
        while (end < expression.size() && is_name_char(expression[end])) ++end;
        if (end > i && is_name_start(expression[i])) names.emplace(expression.substr(i, end - i));
        i = std::max(end, i + 1);
    }
}

}  // namespace

Variable either_of(Expander& x, const std::string& name, int line, const Variable& a, const Variable& b) {
    const bool text = !a.array && !b.array && a.elements.size() == 1 && b.elements.size() == 1;
    const auto words_of = [&](const Variable& v) {
        if (!text) return v.elements;
        const auto words = split_words(v.elements[0], " \t\r\n\v\f");
        return std::vector<std::string>(words.begin(), words.end());
    };
    const std::vector<std::string> left = words_of(a), right = words_of(b);
    std::size_t same = 0;
    while (same < left.size() && same < right.size()
           && without_line_marks(left[same]) == without_line_marks(right[same]))
        ++same;
    std::vector<std::string> out(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(same));
    put_open(x, name, line, left, same, out);
    put_open(x, name, line, right, same, out);
    if ((!text && !(a.array && b.array)) || (out.size() == same && left != right) || out.empty())
        return {{x.unknown(name, line, false)}, false};
    if (!text) return {std::move(out), true};
    std::string joined = join(out, " ");
    return {{std::move(joined)}, false};
}

void collect_assigned(const Command& c, std::set<std::string>& names) {
    if (c.kind == CommandKind::subshell) return;
    if (c.kind == CommandKind::arithmetic || c.kind == CommandKind::repeat) collect_set(c.name, names);
    for (const Assignment& a : c.assignments) names.insert(a.name);
    if (c.kind == CommandKind::loop) names.insert(c.name);
    for (const CommandPtr& b : c.body) collect_assigned(*b, names);
    for (const Case& k : c.cases) collect_assigned(*k.body, names);
}

}  // namespace pentamesh::shell
