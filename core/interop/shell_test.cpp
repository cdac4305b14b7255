// Evaluates [ ] and [[ ]]: true, false, or unknown.
#include "core/interop/shell_state.h"

#include <algorithm>

namespace pentamesh::shell {
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

}  // namespace pentamesh::shell
