#include "core/interop/python_values.h"

#include "core/base/characters.h"
#include "core/interop/sheet.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pentamesh::interop {
namespace {

using Kind = PythonValue::Kind;

constexpr int kMostExpressionLevels = 60;
constexpr std::size_t kMostListItems = 5'000;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 50;

PythonValue number(std::int64_t n) {
    return n > kMostNumber || n < -kMostNumber ? PythonValue{} : PythonValue{Kind::number, n, {}, {}};
}
PythonValue flag(PythonTruth t) {
    return t == PythonTruth::unknown ? PythonValue{} : PythonValue{Kind::flag, t == PythonTruth::yes, {}, {}};
}
PythonTruth truth(bool b) {
    return b ? PythonTruth::yes : PythonTruth::no;
}
bool is_part(char c) {
    return is_name_char(c) || c == '.';
}
bool counts(const PythonValue& v) {
    return v.kind == Kind::number || v.kind == Kind::flag;
}

constexpr std::string_view kDict = "dict";  // text of a list that is {a: b}

class Expression {
  public:
    Expression(std::string_view text, const std::function<PythonValue(const std::string&)>& look_up)
        : s_(text), look_up_(look_up) {}

    PythonValue whole() {
        PythonValue v = choice();
        blanks();
        return at_ == s_.size() && sound_ ? v : PythonValue{};
    }

  private:
    void blanks() {
        while (at_ < s_.size() && std::isspace(static_cast<unsigned char>(s_[at_])) != 0) ++at_;
    }
    bool take(std::string_view what) {
        blanks();
        if (!s_.substr(at_).starts_with(what)) return false;
        const std::size_t end = at_ + what.size();
        if (is_part(what.back()) && end < s_.size() && is_part(s_[end])) return false;  // "in" of "index"
        at_ = end;
        return true;
    }
    PythonValue broken() {
        sound_ = false;
        at_ = s_.size();
        return {};
    }

    PythonValue choice() {
        if (++level_ > kMostExpressionLevels) return broken();
        PythonValue yes = either();
        if (take("if")) {
            const PythonTruth t = truth_of(either());
            if (!take("else")) return broken();
            PythonValue no = choice();
            yes = t == PythonTruth::yes ? yes : t == PythonTruth::no ? no : PythonValue{};
        }
        --level_;
        return yes;
    }
    PythonValue either() {
        PythonValue v = both();
        while (take("or")) {
            PythonValue w = both();
            const PythonTruth t = truth_of(v);
            v = t == PythonTruth::yes ? v : t == PythonTruth::no ? w : PythonValue{};
        }
        return v;
    }
    PythonValue both() {
        PythonValue v = negated();
        while (take("and")) {
            PythonValue w = negated();
            const PythonTruth t = truth_of(v), u = truth_of(w);
            v = t == PythonTruth::no    ? v
                : t == PythonTruth::yes ? w
                : u == PythonTruth::no  ? flag(u)
                                        : PythonValue{};
        }
        return v;
    }
    PythonValue negated() {
        if (!take("not")) return compared();
        if (++level_ > kMostExpressionLevels) return broken();
        const PythonTruth t = truth_of(negated());
        --level_;
        return flag(t == PythonTruth::unknown ? t : truth(t == PythonTruth::no));
    }
    PythonValue compared() {
        PythonValue a = sum();
        for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">", "is not", "is", "not in", "in"}) {
            if (!take(op)) continue;
            const PythonValue b = sum();
            if (!a.known() || !b.known()) return {};
            if (op == "==" || op == "is") return flag(truth(same(a, b)));
            if (op == "!=" || op == "is not") return flag(truth(!same(a, b)));
            if (op == "in" || op == "not in") {
                if (b.kind != Kind::list) return {};
                bool has = false;
                const std::size_t step = b.text == kDict ? 2 : 1;
                for (std::size_t i = 0; i < b.items.size(); i += step) {
                    if (!b.items[i].known()) return {};
                    has = has || same(a, b.items[i]);
                }
                return flag(truth(has == (op == "in")));
            }
            if (!counts(a) || !counts(b)) return {};
            const std::int64_t x = a.number, y = b.number;
            return flag(truth(op == "<" ? x < y : op == ">" ? x > y : op == "<=" ? x <= y : x >= y));
        }
        return a;
    }
    static bool same(const PythonValue& a, const PythonValue& b) {
        return counts(a) && counts(b) ? a.number == b.number : a == b;
    }
    PythonValue sum() {
        PythonValue v = product();
        while (true) {
            const bool plus = take("+");
            if (!plus && !take("-")) return v;
            const PythonValue w = product();
            if (plus && v.kind == Kind::list && w.kind == Kind::list
                && v.items.size() + w.items.size() < kMostListItems)
                v.items.insert(v.items.end(), w.items.begin(), w.items.end());
            else
                v = counts(v) && counts(w) ? number(plus ? v.number + w.number : v.number - w.number)
                                           : PythonValue{};
        }
    }
    PythonValue product() {
        PythonValue v = unary();
        while (true) {
            const bool times = take("*"), whole = !times && take("//"), rest = !times && !whole && take("%");
            if (!times && !whole && !rest) return v;
            const PythonValue w = unary();
            const std::int64_t x = v.number, y = w.number;
            if (times && v.kind == Kind::list && v.text.empty() && counts(w) && y >= 0
                && static_cast<std::size_t>(y) * v.items.size() < kMostListItems) {
                const std::vector<PythonValue> once = std::exchange(v.items, {});
                for (std::int64_t i = 0; i < y; ++i) v.items.insert(v.items.end(), once.begin(), once.end());
                continue;
            }
            const bool small = x < (1 << 25) && x > -(1 << 25) && y < (1 << 25) && y > -(1 << 25);
            if (!counts(v) || !counts(w) || (times ? !small : y <= 0 || x < 0))
                v = {};
            else
                v = number(times ? x * y : whole ? x / y : x % y);
        }
    }
    PythonValue unary() {
        if (!take("-")) return power();
        if (++level_ > kMostExpressionLevels) return broken();
        const PythonValue v = unary();
        --level_;
        return counts(v) ? number(-v.number) : PythonValue{};
    }
    PythonValue power() {
        PythonValue v = primary();
        if (!take("**")) return v;
        if (++level_ > kMostExpressionLevels) return broken();
        const PythonValue w = unary();
        --level_;
        if (!counts(v) || !counts(w) || v.number < 0 || v.number > 4096 || w.number < 0) return {};
        std::int64_t n = 1;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(w.number, 51) && n <= kMostNumber; ++i)
            n *= v.number;
        return number(n);
    }
    PythonValue primary() {
        blanks();
        if (at_ >= s_.size()) return broken();
        const char c = s_[at_];
        if (c == '"' || c == '\'') return quoted();
        if (c == '{') {
            ++at_;
            return after(pairs());
        }
        if (c == '(' || c == '[') {
            ++at_;
            return after(items(c == '(' ? ")" : "]", c == '('));
        }
        const std::size_t begin = at_;
        while (at_ < s_.size() && is_part(s_[at_])) ++at_;
        if (begin == at_) return broken();
        const std::string word(s_.substr(begin, at_ - begin));
        if (word == "None") return {Kind::none, 0, {}, {}};
        if (word == "True" || word == "False") return flag(truth(word == "True"));
        if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
            const auto n = parse_integer(word);
            return n ? number(*n) : PythonValue{};
        }
        if (word == "str") return {Kind::unknown, 0, word, {}};
        if (take("(")) return after(word == "getattr" ? attribute() : called(word, items(")", false).items));
        return after(look_up_(word));
    }
    // getattr(cfg.model, "name", otherwise) is known where the text sets cfg.model.name.
    PythonValue attribute() {
        blanks();
        const std::size_t begin = at_;
        while (at_ < s_.size() && is_part(s_[at_])) ++at_;
        const std::string path(s_.substr(begin, at_ - begin));
        if (path.empty() || !take(",")) return broken();
        const PythonValue rest = items(")", false);
        if (rest.items.empty() || rest.items[0].kind != Kind::text) return {};
        return look_up_(path + "." + rest.items[0].text);
    }
    // Reads what follows a value: a part of it, or a call of it, is not worked out.
    PythonValue after(PythonValue v) {
        while (true) {
            const bool part = take("[");
            if (!part && !take("(")) break;
            const PythonValue index = items(part ? "]" : ")", part);
            PythonValue found;
            for (std::size_t i = 0; part && v.text == kDict && i + 1 < v.items.size(); i += 2)
                if (same(v.items[i], index)) found = v.items[i + 1];
            v = std::move(found);
        }
        if (at_ >= s_.size() || s_[at_] != '.') return v;
        while (at_ < s_.size() && is_part(s_[at_])) ++at_;
        return after({});
    }
    // Reads {a: b}: a list of a, b, marked.
    PythonValue pairs() {
        PythonValue list{Kind::list, 0, std::string(kDict), {}};
        if (++level_ > kMostExpressionLevels) return broken();
        while (!take("}")) {
            if (at_ >= s_.size()) return broken();
            list.items.push_back(choice());
            if (!take(":")) return broken();
            list.items.push_back(choice());
            (void)take(",");
        }
        --level_;
        return list;
    }
    // Reads "a, b" up to the bracket; of ( ) with one value that value.
    PythonValue items(std::string_view close, bool single) {
        PythonValue list{Kind::list, 0, {}, {}};
        bool comma = false;
        if (++level_ > kMostExpressionLevels) return broken();
        while (!take(close)) {
            if (at_ >= s_.size()) return broken();
            const std::size_t before = at_;
            while (at_ < s_.size() && is_part(s_[at_])) ++at_;
            blanks();
            const bool keyword =
                at_ > before && s_.substr(at_).starts_with("=") && !s_.substr(at_).starts_with("==");
            keyword ? ++at_ : at_ = before;
            const std::size_t began = at_;
            list.items.push_back(choice());
            const std::string_view element = s_.substr(began, at_ - began);
            if (take("for")) return copied(element, close);
            comma = take(",") || comma;
            if (at_ == before) return broken();
        }
        --level_;
        return single && !comma && list.items.size() == 1 ? std::move(list.items.front()) : std::move(list);
    }
    // Reads what follows the "for" of [x for x in list], which is a copy of the list; so is [list(x) for …].
    PythonValue copied(std::string_view element, std::string_view close) {
        blanks();
        const std::size_t begin = at_;
        while (at_ < s_.size() && is_part(s_[at_])) ++at_;
        const std::string name(s_.substr(begin, at_ - begin));
        if (!take("in")) return broken();
        PythonValue v = either();
        --level_;
        if (!take(close)) return broken();
        const std::size_t end = element.find_last_not_of(' ');
        element = element.substr(0, end + 1);
        return element == name || element == "list(" + name + ")" ? v : PythonValue{};
    }
    PythonValue called(const std::string& name, const std::vector<PythonValue>& given) const {
        if (name == "torch.cuda.is_available") return flag(PythonTruth::yes);
        if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) {
            PythonValue of = look_up_(name.substr(0, dot));
            return of.kind == Kind::text ? method(std::move(of), name.substr(dot + 1), given) : PythonValue{};
        }
        if (given.empty()) return {};
        if (name == "isinstance" && given.size() == 2 && given[1].text == "str" && given[0].known())
            return flag(truth(given[0].kind == Kind::text));
        if (name == "int" && given.size() == 1 && counts(given[0])) return number(given[0].number);
        if (name == "list" && given.size() == 1 && given[0].kind == Kind::list) return given[0];
        if (name == "bool" && given.size() == 1) return flag(truth_of(given[0]));
        if ((name == "min" || name == "max") && std::all_of(given.begin(), given.end(), counts)) {
            std::int64_t n = given[0].number;
            for (const PythonValue& v : given)
                n = name == "min" ? std::min(n, v.number) : std::max(n, v.number);
            return number(n);
        }
        return {};
    }
    static PythonValue method(PythonValue of, std::string_view name, const std::vector<PythonValue>& given) {
        if (name == "lower" && given.empty()) {
            std::transform(of.text.begin(), of.text.end(), of.text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            return of;
        }
        if (name != "startswith" || given.size() != 1 || !given[0].is_whole()) return {};
        const std::vector<PythonValue>& any = given[0].kind == Kind::list ? given[0].items : given;
        return flag(truth(std::any_of(any.begin(), any.end(), [&](const PythonValue& v) {
            return v.kind == Kind::text && of.text.starts_with(v.text);
        })));
    }
    PythonValue quoted() {
        PythonValue v{Kind::text, 0, {}, {}};
        while (at_ < s_.size() && (s_[at_] == '"' || s_[at_] == '\'')) {
            const char q = s_[at_++];
            while (at_ < s_.size() && s_[at_] != q) {
                if (s_[at_] == '\\' && at_ + 1 < s_.size()) ++at_;
                v.text.push_back(s_[at_++]);
            }
            if (at_ >= s_.size()) return broken();
            ++at_;
            blanks();
        }
        return after(std::move(v));
    }

    std::string_view s_;
    const std::function<PythonValue(const std::string&)>& look_up_;
    std::size_t at_ = 0;
    int level_ = 0;
    bool sound_ = true;
};

}  // namespace

bool PythonValue::is_whole() const {
    if (kind == Kind::list && !text.empty()) return false;
    return known()
           && std::all_of(items.begin(), items.end(), [](const PythonValue& v) { return v.is_whole(); });
}

std::string PythonValue::written() const {
    switch (kind) {
    case Kind::none: return "None";
    case Kind::flag: return number != 0 ? "True" : "False";
    case Kind::number: return std::to_string(number);
    case Kind::text: return text;
    case Kind::unknown: return "";
    case Kind::list: break;
    }
    std::string out = "[";
    for (const PythonValue& v : items) out += (out.size() > 1 ? ", " : "") + v.written();
    return out + "]";
}

PythonTruth truth_of(const PythonValue& v) {
    switch (v.kind) {
    case Kind::unknown: return PythonTruth::unknown;
    case Kind::none: return PythonTruth::no;
    case Kind::flag:
    case Kind::number: return truth(v.number != 0);
    case Kind::text: return truth(!v.text.empty());
    case Kind::list: break;
    }
    return truth(!v.items.empty());
}

PythonValue python_value(std::string_view text,
                         const std::function<PythonValue(const std::string&)>& look_up) {
    return Expression(text, look_up).whole();
}

}  // namespace pentamesh::interop
