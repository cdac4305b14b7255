// Evaluates $(( )): whole numbers with the operators of C. A number that is not known, overflows or is
// divided by zero is unknown.
#include "core/base/characters.h"
#include "core/interop/shell_state.h"
#include "core/interop/shell_words.h"

#include <limits>

namespace pentamesh::shell {
namespace {

constexpr int kMostLevels = 600;  // three for a pair of brackets

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

}  // namespace pentamesh::shell
