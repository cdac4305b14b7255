// Evaluates $(( )): whole numbers with the operators of C. A number that is not known, overflows or is
// divided by zero is unknown.
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/script/shell_parse.h"
#include "core/interop/script/shell_state.h"

#include <algorithm>
#include <limits>

namespace pentamesh::shell {
namespace {

constexpr int kMostLevels = 600;  // three for a pair of brackets
constexpr const char* kFolderHere = ".";

class Arithmetic {
  public:
    Arithmetic(Expander& expander, std::string_view text) : expander_(expander), s_(text) {}

    std::optional<std::int64_t> value() {
        const auto v = choice();
        blanks();
        return at_ == s_.size() ? v : std::nullopt;
    }

  private:
    using Number = std::optional<std::int64_t>;

    void blanks() {
        while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t' || s_[at_] == '\n' || s_[at_] == '\r'))
            ++at_;
    }
    bool take(std::string_view op) {
        blanks();
        if (!s_.substr(at_).starts_with(op)) return false;
        at_ += op.size();
        return true;
    }

    // Counts how deep brackets, signs and powers are nested.
    struct Deeper {
        int& level;
        explicit Deeper(int& l) : level(++l) {}
        ~Deeper() { --level; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
    };
    Number give_up() {
        at_ = s_.size();
        return std::nullopt;
    }

    Number choice() {
        const Deeper deeper(level_);
        if (level_ > kMostLevels) return give_up();
        const Number c = binary(0);
        if (!take("?")) return c;
        const Number a = choice();
        if (!take(":")) return std::nullopt;
        const Number b = choice();
        return !c ? std::nullopt : *c != 0 ? a : b;
    }

    // Lists operators by strength, the weakest first; two characters before one.
    Number binary(int strength) {
        static constexpr std::string_view table[][4] = {
            {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
        constexpr int levels = 6;
        if (strength == levels) return power();
        Number left = binary(strength + 1);
        while (true) {
            std::string_view op;
            for (const std::string_view o : table[strength])
                if (!o.empty() && take(o)) {
                    op = o;
                    break;
                }
            if (op.empty()) return left;
            // x++ and x-- set a variable.
            if ((op == "+" || op == "-") && s_.substr(at_).starts_with(op)) return give_up();
            left = combine(op, left, binary(strength + 1));
        }
    }

    static Number combine(std::string_view op, Number a, Number b) {
        if (!a || !b) return std::nullopt;
        std::int64_t r = 0;
        if (op == "+") return __builtin_add_overflow(*a, *b, &r) ? std::nullopt : Number(r);
        if (op == "-") return __builtin_sub_overflow(*a, *b, &r) ? std::nullopt : Number(r);
        if (op == "*") return __builtin_mul_overflow(*a, *b, &r) ? std::nullopt : Number(r);
        if (op == "/" || op == "%") {
            if (*b == 0 || (*a == std::numeric_limits<std::int64_t>::min() && *b == -1)) return std::nullopt;
            return op == "/" ? *a / *b : *a % *b;
        }
        if (op == "**") {
            r = 1;
            if (*b < 0 || *b > 63) return std::nullopt;
            for (std::int64_t i = 0; i < *b; ++i)
                if (__builtin_mul_overflow(r, *a, &r)) return std::nullopt;
            return r;
        }
        if (op == "==") return *a == *b;
        if (op == "!=") return *a != *b;
        if (op == "<") return *a < *b;
        if (op == ">") return *a > *b;
        if (op == "<=") return *a <= *b;
        if (op == ">=") return *a >= *b;
        if (op == "&&") return *a != 0 && *b != 0;
        return *a != 0 || *b != 0;
    }

    // From right to left: 2**3**2 is 2**9. A sign is stronger: -2**2 is 4.
    Number power() {
        const Deeper deeper(level_);
        if (level_ > kMostLevels) return give_up();
        const Number base = unary();
        return take("**") ? combine("**", base, power()) : base;
    }

    Number unary() {
        const Deeper deeper(level_);
        if (level_ > kMostLevels) return give_up();
        if (take("--") || take("++")) return give_up();  // they set a variable
        if (take("-")) {
            const Number v = unary();
            return v && *v != std::numeric_limits<std::int64_t>::min() ? Number(-*v) : std::nullopt;
        }
        if (take("+")) return unary();
        if (take("!")) {
            const Number v = unary();
            return v ? Number(*v == 0) : std::nullopt;
        }
        if (take("(")) {
            const Number v = choice();
            return take(")") ? v : std::nullopt;
        }
        return atom();
    }

    Number atom() {
        blanks();
        const std::size_t begin = at_;
        while (at_ < s_.size() && is_name_char(s_[at_])) ++at_;
        const std::string word(s_.substr(begin, at_ - begin));
        if (word.empty()) return std::nullopt;
        if (is_name_start(word[0])) {
            const auto it = expander_.state.variables.find(word);
            if (it == expander_.state.variables.end() || it->second.elements.empty()) return std::nullopt;
            const auto text = expander_.known(it->second.elements.front());
            return text ? number(*text) : std::nullopt;
        }
        return number(word);
    }

    static Number number(std::string_view text) {
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
        const bool negative = text.starts_with('-');
        if (negative) text.remove_prefix(1);
        if (text.empty()) return std::nullopt;
        const std::int64_t base = text.size() > 1 && text.front() == '0' ? 8 : 10;
        std::int64_t n = 0;
        for (const char c : text) {
            if (c < '0' || c >= '0' + base) return std::nullopt;
            if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, c - '0', &n))
                return std::nullopt;
        }
        return negative ? -n : n;
    }

    Expander& expander_;
    std::string_view s_;
    std::size_t at_ = 0;
    int level_ = 0;
};

}  // namespace

std::string Expander::calculate(std::string_view expression, int line) {
    const std::string text = expand_joined(parse_double_quoted(expression, line));
    const auto plain = known(text);
    const auto value = plain ? Arithmetic(*this, *plain).value() : std::nullopt;
    if (value) return std::to_string(*value);
    const Unknown* of = unknown_in(script, text);
    return unknown(of ? of->what : "$((" + std::string(expression.substr(0, 40)) + "))", line, false);
}

// Matches Bash patterns, and takes away and replaces what they match.

namespace {

// Returns how many characters at the beginning the pattern matches at most; nullopt: it does not match.
std::optional<std::size_t> longest_match(const std::string& pattern, std::string_view text) {
    for (std::size_t n = text.size() + 1; n-- > 0;)
        if (matches(pattern, text.substr(0, n))) return n;
    return std::nullopt;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
    // This is the usual walk with one place to go back to: the last star.
    std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        bool one = false;
        std::size_t next = p + 1;
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                star = p++;
                from = t;
                continue;
            }
            const std::size_t close = pattern[p] == '[' ? pattern.find(']', p + 2) : std::string_view::npos;
            if (close != std::string_view::npos) {
                std::string_view set = pattern.substr(p + 1, close - p - 1);
                const bool negated = set.front() == '!' || set.front() == '^';
                if (negated) set.remove_prefix(1);
                bool in = false;
                for (std::size_t i = 0; i < set.size(); ++i) {
                    if (i + 2 < set.size() && set[i + 1] == '-') {
                        in = in || (text[t] >= set[i] && text[t] <= set[i + 2]);
                        i += 2;
                    } else {
                        in = in || set[i] == text[t];
                    }
                }
                one = in != negated;
                next = close + 1;
            } else {
                one = pattern[p] == '?' || pattern[p] == text[t];
            }
        }
        if (one) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string trimmed(const std::string& text, const std::string& pattern, bool front, bool longest) {
    if (text.size() > 4096) return text;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const std::size_t n = longest ? text.size() - i : i;
        const std::string_view part =
            front ? std::string_view(text).substr(0, n) : std::string_view(text).substr(text.size() - n);
        if (matches(pattern, part)) return front ? text.substr(n) : text.substr(0, text.size() - n);
    }
    return text;
}

std::optional<std::string> replaced(const std::string& text, std::string what, const std::string& with,
                                    bool all) {
    constexpr std::size_t kMostMatched = 128, kMostPattern = 32;
    const bool front = !all && what.starts_with('#'), back = !all && what.starts_with('%');
    if (what.empty()) return text;
    if (with.find('&') != std::string::npos) return std::nullopt;  // since 5.2 the text that was matched
    if (front || back) what.erase(0, 1);
    const bool plain = what.find_first_of("*?[") == std::string::npos;
    if (!plain && (text.size() > kMostMatched || what.size() > kMostPattern)) return std::nullopt;
    if (back) {
        if (plain) return text.ends_with(what) ? text.substr(0, text.size() - what.size()) + with : text;
        for (std::size_t i = 0; i <= text.size(); ++i)
            if (matches(what, std::string_view(text).substr(i))) return text.substr(0, i) + with;
        return text;
    }
    std::string out;
    bool done = false;
    for (std::size_t at = 0; at < text.size() || (front && at == 0 && !done);) {
        const std::string_view rest = std::string_view(text).substr(at);
        const std::optional<std::size_t> n =
            done    ? std::nullopt
            : plain ? rest.starts_with(what) ? std::optional(what.size()) : std::nullopt
                    : longest_match(what, rest);
        if (out.size() > kMostValueBytes) return std::nullopt;
        if (n && (*n > 0 || front)) {
            out += with;
            at += *n;
            done = !all;
        } else {
            if (at < text.size()) out += text[at];
            ++at;
        }
        if (front) done = true;
    }
    return out;
}

// Evaluates [ ] and [[ ]]: true, false, or unknown.

namespace {

Truth truth(bool b) {
    return b ? Truth::yes : Truth::no;
}

// Joins two answers of which `wins` decides for both.
Truth joined(Truth t, Truth u, Truth wins) {
    if (t == wins || u == wins) return wins;
    return t == Truth::unknown ? t : u == Truth::unknown ? u : negated(wins);
}

class Test {
  public:
    Test(Expander& expander, std::vector<std::string> words) : expander_(expander), w_(std::move(words)) {}

    Truth whole() {
        if (w_.empty()) return Truth::no;
        const Truth t = either();
        return at_ == w_.size() ? t : Truth::unknown;
    }

  private:
    bool take(std::string_view word) {
        if (at_ >= w_.size() || w_[at_] != word) return false;
        ++at_;
        return true;
    }
    Truth either() {
        Truth t = both();
        while (take("||") || take("-o")) t = joined(t, both(), Truth::yes);
        return t;
    }
    Truth both() {
        Truth t = one();
        while (take("&&") || take("-a")) t = joined(t, one(), Truth::no);
        return t;
    }
    Truth one() {
        if (++level_ > 100) return Truth::unknown;
        if (take("!")) return negated(one());
        if (take("(")) {
            const Truth t = either();
            return take(")") ? t : Truth::unknown;
        }
        const auto is_binary = [](const std::string& s) {
            static constexpr std::string_view ops[] = {"=",   "==",  "!=",  "=~",  "<",   ">",
                                                       "-eq", "-ne", "-gt", "-ge", "-lt", "-le"};
            return std::find(std::begin(ops), std::end(ops), s) != std::end(ops);
        };
        if (at_ + 2 < w_.size() && is_binary(w_[at_ + 1])) {
            const std::string a = w_[at_], op = w_[at_ + 1], b = w_[at_ + 2];
            at_ += 3;
            return compare(a, op, b);
        }
        if (at_ + 1 < w_.size() && w_[at_].size() == 2 && w_[at_][0] == '-') {
            const std::string op = w_[at_], a = w_[at_ + 1];
            at_ += 2;
            const auto text = expander_.known(a);
            if (op == "-z" || op == "-n")
                return !text ? Truth::unknown : truth(text->empty() == (op == "-z"));
            if (op == "-v") return text ? truth(expander_.state.variables.contains(*text)) : Truth::unknown;
            return Truth::unknown;  // files and the like
        }
        if (at_ >= w_.size()) return Truth::no;
        const auto text = expander_.known(w_[at_++]);
        return text ? truth(!text->empty()) : Truth::unknown;
    }
    Truth compare(const std::string& a, std::string_view op, const std::string& b) {
        const auto x = expander_.known(a), y = expander_.known(b);
        if (!x || !y || op == "=~") return Truth::unknown;
        if (op == "=" || op == "==") return truth(matches(*y, *x));
        if (op == "!=") return truth(!matches(*y, *x));
        if (op == "<" || op == ">") return truth(op == "<" ? *x < *y : *x > *y);
        // [ ] reads 010 as ten, [[ ]] as eight.
        for (const std::string* text : {&*x, &*y})
            if (text->size() > 1 && text->front() == '0') return Truth::unknown;
        const auto difference = expander_.known(expander_.calculate("(" + *x + ")-(" + *y + ")", 0));
        if (!difference || difference->empty()) return Truth::unknown;
        const bool zero = *difference == "0", below = difference->front() == '-';
        if (op == "-eq") return truth(zero);
        if (op == "-ne") return truth(!zero);
        if (op == "-gt") return truth(!zero && !below);
        if (op == "-ge") return truth(!below);
        if (op == "-lt") return truth(below);
        return truth(zero || below);
    }

    Expander& expander_;
    std::vector<std::string> w_;
    std::size_t at_ = 0;
    int level_ = 0;
};

}  // namespace

Truth Expander::test(std::vector<std::string> words) {
    for (std::string& w : words) w = without_line_marks(w);
    return Test(*this, std::move(words)).whole();
}

namespace {

constexpr int kMostDepth = 60;

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool has_unknown(std::string_view text) {
    return text.find(kUnknownBegin) != std::string_view::npos;
}

std::int64_t number_or(const std::optional<std::string>& text, std::int64_t otherwise) {
    return text && text->size() <= 9 ? parse_whole(*text).value_or(otherwise) : otherwise;
}

int last_line_mark(std::string_view text, int otherwise) {
    const std::size_t begin = text.rfind(kLineBegin);
    if (begin == std::string_view::npos) return otherwise;
    int line = 0;
    for (std::size_t i = begin + 1; i < text.size() && text[i] != kLineEnd; ++i)
        line = line * 10 + (text[i] - '0');
    return line;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) out += (i > 0 ? " " : "") + texts[i];
    return out;
}

// Returns the place of an element; one behind the last: the array has no such key.
std::size_t place_of_key(const Variable& v, const std::string& key) {
    if (!v.keys.empty())
        return static_cast<std::size_t>(std::find(v.keys.begin(), v.keys.end(), key) - v.keys.begin());
    const auto n = v.map ? std::nullopt : parse_whole(key);
    return n && *n >= 0 ? std::min(static_cast<std::size_t>(*n), v.elements.size()) : v.elements.size();
}

// Returns the number behind the last element's.
std::int64_t next_place(const Variable& v) {
    if (v.keys.empty()) return std::ssize(v.elements);
    return parse_whole(v.keys.back()).value_or(std::ssize(v.elements)) + 1;
}

constexpr std::size_t kMostKeys = 2'000;  // of an array with holes

// Sets an element, or adds to it. Those of numbers stand in their order.
void put_element(Variable& v, const std::string& key, const std::string& value, bool append) {
    const std::int64_t number = v.map ? 0 : parse_whole(key).value_or(0);
    const bool behind = !v.map && number >= next_place(v);
    const std::size_t at = behind ? v.elements.size() : place_of_key(v, key);
    if (at < v.elements.size()) {
        v.elements[at] = append ? v.elements[at] + value : value;
        return;
    }
    if (v.elements.size() >= kMostElements) return;
    if (behind && v.keys.empty() && number == next_place(v)) {
        v.elements.push_back(value);
        return;
    }
    if (std::max(v.keys.size(), v.elements.size()) >= kMostKeys) return;
    if (v.keys.empty())
        for (std::size_t i = 0; i < v.elements.size(); ++i) v.keys.push_back(std::to_string(i));
    std::size_t place = v.keys.size();
    while (!v.map && place > 0 && parse_whole(v.keys[place - 1]).value_or(0) > number) --place;
    v.keys.insert(v.keys.begin() + static_cast<std::ptrdiff_t>(place), key);
    v.elements.insert(v.elements.begin() + static_cast<std::ptrdiff_t>(place), value);
}

}  // namespace

std::string line_mark(int line) {
    return kLineBegin + std::to_string(line) + kLineEnd;
}

std::string without_line_marks(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != kLineBegin) {
            out.push_back(text[i]);
            continue;
        }
        const std::size_t end = text.find(kLineEnd, i);
        if (end == std::string_view::npos) break;
        i = end;
    }
    return out;
}

std::string Expander::unknown(std::string what, int line, bool unset) {
    if (const auto it = given.find(what); it != given.end()) return it->second;
    std::size_t i = 0;
    while (i < script.unknowns.size()
           && !(script.unknowns[i].what == what && script.unknowns[i].unset == unset))
        ++i;
    if (i == script.unknowns.size()) script.unknowns.push_back({std::move(what), line, unset});
    return kUnknownBegin + std::to_string(i) + kUnknownEnd;
}

std::optional<std::string> Expander::known(std::string_view text) const {
    const std::string plain = without_line_marks(text);
    std::string out;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        if (plain[i] != kUnknownBegin) {
            out.push_back(plain[i]);
            continue;
        }
        const Unknown* u = unknown_in(script, std::string_view(plain).substr(i));
        if (!u || !u->unset) return std::nullopt;
        i = plain.find(kUnknownEnd, i);
    }
    return out;
}

// ---- parameters ---------------------------------------------------------------------------------------

Expander::Looked Expander::look_up(const Part& p, int line) {
    Looked out;
    const bool all = p.index == "@" || p.index == "*";
    out.separate = p.index == "@";
    if (p.text == "@" || p.text == "*") {
        out.set = state.in_function;
        out.texts = state.in_function ? state.arguments : std::vector<std::string>{unknown("$@", line, true)};
        return out;
    }
    if (p.text == "#" || p.text == "?" || p.text == "$" || p.text == "!" || p.text == "-") {
        out.set = true;
        out.texts = {p.text == "#" && state.in_function ? std::to_string(state.arguments.size())
                     : p.text == "#"                    ? "0"
                                                        : unknown("$" + p.text, line, false)};
        return out;
    }
    if (const auto place = parse_whole(p.text); place && *place >= 0) {
        const auto n = static_cast<std::size_t>(*place);
        out.set = n > 0 && state.in_function && n <= state.arguments.size();
        out.texts = {out.set ? state.arguments[n - 1] : unknown("$" + p.text, line, n > 0)};
        return out;
    }
    const auto it = state.variables.find(p.text);
    if (it == state.variables.end()) {
        // The folder that the script is started in: files are looked for where the text lies.
        out.set = (p.text == "PWD" || p.text == "SLURM_SUBMIT_DIR") && !given.contains(p.text);
        out.texts = {out.set ? std::string(kFolderHere) : unknown(p.text, line, true)};
        return out;
    }
    const Variable& v = it->second;
    out.set = true;
    if (all) {
        out.texts = v.elements;
        return out;
    }
    const std::optional<std::string> key = key_of(v, p.index, line);
    if (!key) {
        out.texts = {unknown("${" + p.text + "[" + p.index + "]}", line, false)};
        return out;
    }
    const std::size_t at = place_of_key(v, *key);
    out.set = at < v.elements.size();
    out.texts = {out.set ? v.elements[at] : std::string()};
    return out;
}

std::optional<std::string> Expander::key_of(const Variable& v, const std::string& index, int line) {
    if (index.empty()) return "0";
    if (v.map) {
        std::string plain;
        for (const char c : index)
            if (c != '"' && c != '\'') plain.push_back(c);
        return known(expand_joined(parse_double_quoted(plain, line)));
    }
    constexpr std::int64_t kNone = -1'000'000'000;
    std::int64_t i = number_or(known(calculate(index, line)), kNone);
    if (i == kNone) return std::nullopt;
    if (i < 0) i += next_place(v);
    return i < 0 ? std::string() : std::to_string(i);
}

std::optional<std::int64_t> Expander::number_of(const Part& p, std::size_t operand, int line) {
    const std::string text = without_line_marks(expand_joined(p.operands[operand]));
    if (text.find_first_not_of(' ') == std::string::npos) return 0;
    constexpr std::int64_t kNone = -1'000'000'000;
    const std::int64_t n = number_or(known(calculate(text, line)), kNone);
    return n == kNone ? std::nullopt : std::optional(n);
}

Expander::Looked Expander::slice(const Part& p, Looked looked, int line) {
    if (!looked.set) return looked;
    // $0 stands before the first argument.
    const std::int64_t before = p.text == "@" || p.text == "*" ? 1 : 0;
    const auto size = static_cast<std::int64_t>(looked.texts.size());
    const std::optional<std::int64_t> first = number_of(p, 0, line),
                                      count = p.operands.size() > 1 ? number_of(p, 1, line)
                                                                    : std::optional(size + before);
    if (!first || !count || *count < 0 || (before > 0 && *first == 0))
        return {{unknown("${" + p.text + "}", line, false)}, false, true};
    const std::int64_t from = (*first < 0 ? size + before + *first : *first) - before;
    Looked out{{}, looked.separate, true};
    if (from < 0) return out;
    for (std::int64_t i = from; i < size && i - from < *count; ++i) out.texts.push_back(looked.texts[i]);
    return out;
}

std::string Expander::changed(const Part& p, const std::string& value, int line) {
    const std::string& op = p.operation;
    const auto operand = [&](std::size_t i) {
        return i < p.operands.size() ? without_line_marks(expand_joined(p.operands[i])) : std::string();
    };
    const std::string plain = without_line_marks(value);
    if (has_unknown(plain)) return value;
    if (op == "#" || op == "##") return trimmed(plain, operand(0), true, op == "##");
    if (op == "%" || op == "%%") return trimmed(plain, operand(0), false, op == "%%");
    const auto open = [&] { return unknown("${" + p.text + "}", line, false); };
    if (op == "/" || op == "//") {
        const std::string what = operand(0), with = operand(1);
        if (has_unknown(what) || has_unknown(with)) return open();
        const std::optional<std::string> made = replaced(plain, what, with, op == "//");
        return made ? *made : open();
    }
    if (op == "^^" || op == ",," || op == "^" || op == ",") {
        std::string out = plain;
        const std::size_t n = op.size() == 2 ? out.size() : std::min<std::size_t>(1, out.size());
        for (std::size_t i = 0; i < n; ++i) {
            const char c = out[i];
            if (op[0] == '^' && c >= 'a' && c <= 'z') out[i] = static_cast<char>(c - 'a' + 'A');
            if (op[0] == ',' && c >= 'A' && c <= 'Z') out[i] = static_cast<char>(c - 'A' + 'a');
        }
        return out;
    }
    if (op == ":") {
        const auto size = static_cast<std::int64_t>(plain.size());
        const std::optional<std::int64_t> first = number_of(p, 0, line), count = p.operands.size() > 1
                                                                                     ? number_of(p, 1, line)
                                                                                     : std::optional(size);
        if (!first || !count) return open();
        const std::int64_t from = *first < 0 ? size + *first : *first;
        if (from < 0 || from > size) return "";
        const std::int64_t end = *count < 0 ? size + *count : std::min(size, from + *count);
        if (end < from) return open();  // Bash stops with an error
        return plain.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(end - from));
    }
    return value;
}

Expander::Looked Expander::parameter(const Part& p, int line) {
    Looked looked = look_up(p, line);
    const std::string& op = p.operation;
    if (op.empty()) return looked;
    const auto empty = [&] {
        for (const std::string& t : looked.texts)
            if (const auto text = known(t); !text || !text->empty()) return false;
        return true;
    };
    const auto instead = [&](std::size_t i) {
        return Looked{{i < p.operands.size() ? expand_joined(p.operands[i]) : std::string()}, false, true};
    };
    const bool colon = op.size() == 2 && op[0] == ':';
    const bool missing = !looked.set || (colon && empty());
    if (op == ":-" || op == "-") return missing ? instead(0) : looked;
    if (op == ":=" || op == "=") {
        if (!missing) return looked;
        looked = instead(0);
        state.variables[p.text] = {looked.texts, false};
        return looked;
    }
    if (op == ":+" || op == "+") return missing ? Looked{{}, false, true} : instead(0);
    if (op == ":?" || op == "?") return looked;
    if (op == "length") {
        const bool all = p.index == "@" || p.index == "*";
        const auto text = known(looked.texts.empty() ? std::string() : looked.texts.front());
        if (all) return {{std::to_string(looked.set ? looked.texts.size() : 0)}, false, true};
        return {
            {text ? std::to_string(text->size()) : unknown("${#" + p.text + "}", line, false)}, false, true};
    }
    const bool several = p.text != "@" && p.text != "*" && (p.index == "@" || p.index == "*");
    if (op == "indirect" && several) {  // the places that an array has
        Looked out{{}, looked.separate, true};
        const auto it = state.variables.find(p.text);
        const bool keyed = it != state.variables.end() && !it->second.keys.empty();
        for (std::size_t i = 0; looked.set && i < looked.texts.size(); ++i)
            out.texts.push_back(keyed ? it->second.keys[i] : std::to_string(i));
        return out;
    }
    if (op == "indirect") {
        const auto name = known(looked.texts.empty() ? std::string() : looked.texts.front());
        Part other;
        other.text = name.value_or("");
        if (other.text.empty()) return {{unknown("${!" + p.text + "}", line, false)}, false, true};
        return look_up(other, line);
    }
    if (op == "unknown" || op == "@") return {{unknown("${" + p.text + "}", line, false)}, false, true};
    if (op == ":" && !p.index.empty() && (p.index == "@" || p.index == "*")) {
        const auto it = state.variables.find(p.text);
        if (it != state.variables.end() && !it->second.keys.empty())
            return {{unknown("${" + p.text + "}", line, false)}, false, true};
        return slice(p, std::move(looked), line);
    }
    for (std::string& t : looked.texts) t = changed(p, t, line);
    return looked;
}

// ---- words --------------------------------------------------------------------------------------------

// Collects the fields of a word as it is split.
class Expander::Fields {
  public:
    // `apart`: IFS. A blank in it ends a field, and several do so together; another character ends one each.
    Fields(int line, bool split, std::string apart = {})
        : line_(line), apart_(std::move(apart)), split_(split) {}

    void put(std::string_view text, bool quoted) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            const bool ends = split_ && !quoted && apart_.find(c) != std::string::npos;
            if (split_ && c == kLineBegin) {
                i = mark(text, i);
            } else if (ends && is_space(c)) {
                blank_ = blank_ || open_;
                close();
            } else if (ends) {
                if (!blank_) open();
                blank_ = false;
                close();
            } else {
                blank_ = false;
                open();
                if (fields_.back().text.size() < kMostValueBytes) fields_.back().text.push_back(c);
            }
        }
    }
    void put_quoted_empty() { open(); }
    void next_field() {
        close();
        blank_ = false;
        if (fields_.size() > kMostElements) fields_.pop_back();
    }
    std::vector<Argument>& fields() { return fields_; }

  private:
    std::size_t mark(std::string_view text, std::size_t i) {
        int line = 0;
        while (++i < text.size() && text[i] != kLineEnd) line = line * 10 + (text[i] - '0');
        line_ = line;
        // The line of a field is the one of its first character.
        if (open_ && fields_.back().text.empty()) fields_.back().line = line;
        return i;
    }
    void open() {
        if (!open_) fields_.push_back({{}, line_});
        open_ = true;
    }
    void close() { open_ = false; }

    std::vector<Argument> fields_;
    int line_;
    std::string apart_;
    bool split_, open_ = false;
    bool blank_ = false;  // a blank ended the field before: what is no blank in IFS is of that end
};

namespace {

// Returns what `expr` is to work out as $(( )) writes it: "expr 16 \\* $N"; nullopt for another command.
std::optional<std::string> expr_of(std::string_view command) {
    constexpr std::string_view kExpr = "expr ";
    while (command.starts_with(' ')) command.remove_prefix(1);
    if (!command.starts_with(kExpr)) return std::nullopt;
    std::string out(command.substr(kExpr.size()));
    std::erase_if(out, [](char c) { return c == '\\' || c == '\'' || c == '"'; });
    return out;
}

}  // namespace

std::string Expander::apart() const {
    const auto it = state.variables.find("IFS");
    const bool set = it != state.variables.end() && !it->second.elements.empty();
    const auto text = set ? known(it->second.elements.front()) : std::nullopt;
    if (!text) return " \t\n\r";
    std::string out;  // IFS=$'\n' is kept as it is written
    for (std::size_t i = 0; i < text->size(); ++i) {
        const char next = (*text)[i] == '\\' && i + 1 < text->size() ? (*text)[i + 1] : '\0';
        const bool written = next == 'n' || next == 't' || next == 'r';
        out.push_back(!written ? (*text)[i] : next == 'n' ? '\n' : next == 't' ? '\t' : '\r');
        if (written) ++i;
    }
    return out;
}

std::string Expander::between() const {
    return apart().substr(0, 1);
}

void Expander::put_parts(const Word& word, Fields& fields) {
    int line = word.line;
    for (const Part& p : word.parts) {
        switch (p.kind) {
        case PartKind::literal:
            if (p.quoted && p.text.empty()) fields.put_quoted_empty();
            fields.put(p.text, true);
            line = last_line_mark(p.text, line);
            break;
        case PartKind::command: {
            if (const auto expression = expr_of(p.text)) {
                fields.put(calculate(*expression, word.line), true);
                break;
            }
            if (pentamesh::trimmed(p.text, " \t\r\n") == "pwd") {
                fields.put(kFolderHere, true);
                break;
            }
            if (const auto text = echoed(p.text, word.line)) {
                fields.put(*text, p.quoted);
                break;
            }
            const std::string shown = "$(" + p.text.substr(0, 40) + (p.text.size() > 40 ? "…" : "") + ")";
            fields.put(unknown(shown, word.line, false), true);
            break;
        }
        case PartKind::arithmetic: fields.put(calculate(p.text, word.line), true); break;
        case PartKind::parameter: {
            const Looked looked = parameter(p, word.line);
            for (std::size_t i = 0; i < looked.texts.size(); ++i) {
                if (i > 0 && (looked.separate || !p.quoted)) fields.next_field();
                if (i > 0 && !looked.separate && p.quoted) fields.put(between(), true);
                fields.put(looked.texts[i], p.quoted);
            }
            if (p.quoted && !looked.separate) fields.put_quoted_empty();
            // The value brought the lines of its own text: the text after it is on this line again.
            fields.put(line_mark(line), true);
            break;
        }
        }
    }
}

void Expander::expand(const Word& word, std::vector<Argument>& out) {
    if (++depth_ < kMostDepth) {
        Fields fields(word.line, true, apart());
        put_parts(word, fields);
        for (Argument& a : fields.fields()) out.push_back(std::move(a));
    } else {
        out.push_back({unknown("a value nested too deep", word.line, false), word.line});
    }
    --depth_;
}

std::string Expander::expand_joined(const Word& word) {
    if (++depth_ >= kMostDepth) {
        --depth_;
        return unknown("a value nested too deep", word.line, false);
    }
    Fields fields(word.line, false);
    put_parts(word, fields);
    --depth_;
    std::vector<std::string> texts;
    for (Argument& a : fields.fields()) texts.push_back(std::move(a.text));
    std::string out = joined(texts);
    return out.size() >= kMostValueBytes ? unknown("a value of more than 256 KiB", word.line, false) : out;
}

// Reads A=(a [7]=b "c d"): each field is an element, behind the one before; one with a key stands at its own.
Variable Expander::list_of(const Assignment& a) {
    Variable made;
    if (const auto it = state.variables.find(a.name); it != state.variables.end()) {
        if (a.append) made = it->second;
        made.map = it->second.map;
    }
    if (!made.array && !made.elements.empty() && without_line_marks(made.elements.front()).empty())
        made.elements.clear();
    made.array = true;
    for (const Word& w : a.elements) {
        const bool bracket = !w.parts.empty() && w.parts.front().kind == PartKind::literal
                             && !w.parts.front().quoted
                             && without_line_marks(w.parts.front().text).starts_with("[");
        const std::string text = bracket ? without_line_marks(expand_joined(w)) : std::string();
        if (const std::size_t close = text.find("]="); bracket && close != std::string::npos) {
            const auto key = key_of(made, text.substr(1, close - 1), w.line);
            put_element(made, key.value_or(std::to_string(next_place(made))),
                        line_mark(w.line) + text.substr(close + 2), false);
            continue;
        }
        std::vector<Argument> fields;
        expand(w, fields);
        for (const Argument& f : fields)
            put_element(made, std::to_string(next_place(made)), line_mark(f.line) + f.text, false);
    }
    return made;
}

// Reads A[1]=x and A[tp]+=x. Where the index is not known, it may be any of them.
void Expander::assign_element(const Assignment& a) {
    const std::string value = line_mark(a.line) + expand_joined(a.elements.front());
    Variable& to = state.variables[a.name];
    const auto key = key_of(to, a.index, a.line);
    to.array = true;
    if (!key) {
        if (to.elements.empty()) to.elements.emplace_back();
        for (std::string& e : to.elements) e = unknown(a.name, a.line, false);
    } else if (to.map || !key->empty()) {
        put_element(to, *key, value, a.append);
        const std::size_t at = place_of_key(to, *key);
        if (at == to.elements.size() || to.elements[at].size() >= kMostValueBytes)
            to.elements.front() = unknown(a.name + ", too large", a.line, false);
    }
}

void Expander::unset(const std::string& name, int line) {
    const std::size_t bracket = name.find('[');
    const auto it = state.variables.find(name.substr(0, bracket));
    if (it == state.variables.end()) return;
    if (bracket == std::string::npos || !name.ends_with(']')) {
        state.variables.erase(it);
        return;
    }
    Variable& v = it->second;
    const auto key = key_of(v, name.substr(bracket + 1, name.size() - bracket - 2), line);
    const std::size_t at = key ? place_of_key(v, *key) : v.elements.size();
    if (at >= v.elements.size()) return;
    if (v.keys.empty())
        for (std::size_t i = 0; i < v.elements.size(); ++i) v.keys.push_back(std::to_string(i));
    v.keys.erase(v.keys.begin() + static_cast<std::ptrdiff_t>(at));
    v.elements.erase(v.elements.begin() + static_cast<std::ptrdiff_t>(at));
}

void Expander::assign(const Assignment& a) {
    if (a.array) {
        Variable list = list_of(a);
        state.variables[a.name] = std::move(list);
        return;
    }
    if (!a.index.empty()) return assign_element(a);
    std::string value = line_mark(a.line) + expand_joined(a.elements.front());
    if (const auto it = given.find(a.name); it != given.end() && has_unknown(value)) value = it->second;
    Variable& to = state.variables[a.name];
    if (!a.append) {
        to = {{std::move(value)}, false};
        return;
    }
    if (to.elements.empty()) to.elements.emplace_back();
    to.elements.front() += value;
    if (to.elements.front().size() >= kMostValueBytes)
        to.elements.front() = unknown(a.name + ", more than 256 KiB", a.line, false);
}

}  // namespace pentamesh::shell
