#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/script/read_python.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace pentamesh::interop {
namespace {

using Kind = PythonValue::Kind;

constexpr int kMostExpressionLevels = 60;
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
    Expression(std::string_view text, const std::function<PythonValue(const std::string&)>& look_up,
               std::size_t most_items)
        : s_(text), look_up_(look_up), most_items_(most_items) {}

    PythonValue whole() {
        PythonValue v = choice();
        blanks();
        return at_ == s_.size() && sound_ ? v : PythonValue{};
    }

  private:
    // Passes blanks, and comments of a value on several lines.
    void blanks() {
        while (at_ < s_.size()) {
            if (s_[at_] == '#')
                at_ = std::min(s_.find('\n', at_), s_.size());
            else if (std::isspace(static_cast<unsigned char>(s_[at_])) != 0)
                ++at_;
            else
                return;
        }
    }
    bool take(std::string_view what) {
        blanks();
        if (!s_.substr(at_).starts_with(what)) return false;
        const std::size_t end = at_ + what.size();
        if (is_part(what.back()) && end < s_.size() && is_part(s_[end])) return false;  // "in" of "index"
        at_ = end;
        return true;
    }
    [[nodiscard]] PythonValue value_of(const std::string& name) const {
        return look_up_ ? look_up_(name) : PythonValue{};
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
            if (t == PythonTruth::yes)
                v = std::move(w);
            else if (t == PythonTruth::unknown)
                v = u == PythonTruth::no ? flag(u) : PythonValue{};
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
            if (plus && v.kind == Kind::list && w.kind == Kind::list && size_of(v) + size_of(w) < most_items_)
                v.items.insert(v.items.end(), w.items.begin(), w.items.end());
            else
                v = counts(v) && counts(w) ? number(plus ? v.number + w.number : v.number - w.number)
                                           : PythonValue{};
        }
    }
    // Reads "0.5"; nothing where another value stands there.
    std::optional<double> decimal() {
        blanks();
        std::size_t end = at_;
        while (end < s_.size() && (std::isdigit(static_cast<unsigned char>(s_[end])) != 0 || s_[end] == '.'))
            ++end;
        if (end == at_ || (end < s_.size() && is_part(s_[end]))) return std::nullopt;
        const std::string_view word = s_.substr(at_, end - at_), behind = s_.substr(end);
        if (behind.substr(std::min(behind.find_first_not_of(' '), behind.size())).starts_with("**"))
            return std::nullopt;
        if (word.find('.') == word.npos) return std::nullopt;
        const std::optional<double> x = parse_double(word);
        if (!x) return std::nullopt;
        at_ = end;
        return *x;
    }
    // Returns a share of a number where it is whole: int(0.5 * 4096).
    static PythonValue share_of(double share, const PythonValue& of) {
        const double x = counts(of) ? share * static_cast<double>(of.number) : 0.5;
        return std::floor(x) == x && std::abs(x) < static_cast<double>(kMostNumber)
                   ? number(static_cast<std::int64_t>(x))
                   : PythonValue{};
    }
    PythonValue product() {
        std::optional<double> share = decimal();
        PythonValue v = share ? PythonValue{} : unary();
        while (true) {
            const bool times = take("*"), whole = !times && take("//"), rest = !times && !whole && take("%");
            if (!times && !whole && !rest) return v;
            const std::optional<double> by = decimal();
            if (share || by) {
                const PythonValue of = by ? v : unary();
                v = !times || (share && by) ? PythonValue{} : share_of(by ? *by : share.value_or(1.0), of);
                share.reset();
                continue;
            }
            const PythonValue w = unary();
            const std::int64_t x = v.number, y = w.number;
            if (times && v.kind == Kind::list && v.text.empty() && counts(w) && y >= 0
                && static_cast<std::size_t>(y) * size_of(v) < most_items_) {
                const std::vector<PythonValue> once = std::exchange(v.items, {});
                for (std::int64_t i = 0; i < y && !once.empty(); ++i)
                    v.items.insert(v.items.end(), once.begin(), once.end());
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
        return after(value_of(word));
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
        return value_of(path + "." + rest.items[0].text);
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
            if (keyword)
                ++at_;
            else
                at_ = before;
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
    // Returns how many items a list has, with those of the lists in it.
    static std::size_t size_of(const PythonValue& list) {
        std::size_t n = list.items.size();
        for (const PythonValue& item : list.items) n += size_of(item);
        return n;
    }
    // Returns list(range(begin, end)).
    [[nodiscard]] PythonValue numbers(std::int64_t begin, std::int64_t end) const {
        PythonValue list{Kind::list, 0, {}, {}};
        if (end - begin >= static_cast<std::int64_t>(most_items_)) return {};
        for (std::int64_t n = begin; n < end; ++n) list.items.push_back(number(n));
        return list;
    }
    PythonValue called(const std::string& name, const std::vector<PythonValue>& given) const {
        if (name == "torch.cuda.is_available") return flag(PythonTruth::yes);
        if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) {
            PythonValue of = value_of(name.substr(0, dot));
            return of.kind == Kind::text ? method(std::move(of), name.substr(dot + 1), given) : PythonValue{};
        }
        if (given.empty()) return {};
        if (name == "isinstance" && given.size() == 2 && given[1].text == "str" && given[0].known())
            return flag(truth(given[0].kind == Kind::text));
        if (name == "int" && given.size() == 1 && counts(given[0])) return number(given[0].number);
        if (name == "range" && given.size() < 3 && std::all_of(given.begin(), given.end(), counts))
            return numbers(given.size() == 2 ? given[0].number : 0, given.back().number);
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
    std::size_t most_items_;
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

PythonValue python_value(std::string_view text, const std::function<PythonValue(const std::string&)>& look_up,
                         std::size_t most_items) {
    return Expression(text, look_up, most_items).whole();
}

namespace {

constexpr std::size_t kMostExpression = 16'384, kMostSettingsRead = 250'000;

std::vector<PythonParameter> parameters(std::string_view text) {
    std::vector<PythonParameter> out;
    int depth = 0;
    std::string part;
    for (const char c : std::string(text) + ",") {
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (c != ',' || depth > 0) {
            part.push_back(c);
            continue;
        }
        const std::size_t equals = part.find('='), name_end = std::min(part.find(':'), equals);
        PythonParameter p{python_trimmed(part.substr(0, name_end)), ""};
        if (equals != std::string::npos) p.value = python_trimmed(part.substr(equals + 1));
        part.clear();
        if (!p.name.empty() && p.name[0] != '*' && p.name[0] != '/' && p.name[0] != '#')
            out.push_back(std::move(p));
    }
    return out;
}

// "a.b" is "a/b.py"; ".b" stands in the folder of the text, "..b" above it.
std::string file_of(std::string_view module) {
    std::string path = module.starts_with(".") ? "./" : "";
    for (module.remove_prefix(path.empty() ? 0 : 1); module.starts_with("."); module.remove_prefix(1))
        path += "../";
    path += module;
    std::replace(path.begin() + static_cast<std::ptrdiff_t>(path.size() - module.size()), path.end(), '.',
                 '/');
    return path + ".py";
}

}  // namespace

void PythonModules::scan(std::string_view text, const std::string& module) {
    const auto kept = std::make_tuple(s_, at_, line_, module_);
    s_ = text, at_ = 0, line_ = 1, module_ = module;
    while (at_ < s_.size()) {
        blanks(true);
        if (at_ >= s_.size()) break;
        const bool top = column() == 0;
        const std::string word = dotted();
        blanks(false);
        if (top && word == "def")
            header();
        else if (top && word == "from")
            imports();
        else if (top && word == "async")
            continue;
        else if (top && !word.empty() && at_ < s_.size() && (s_[at_] == '=' || s_[at_] == ':')) {
            PythonFunction made{s_, "", at_ + 1, 0, line_, {}, maker_ + "Config"};
            const std::string row = until('\n');
            made.end = at_;
            if (!maker_.empty() && module_.empty() && row.find(maker_ + "(") != std::string::npos
                && functions_.try_emplace(":" + word, made).second)
                in_order_.push_back(word);
            const std::size_t equals = row.find('='), begin = std::min(equals, row.size() - 1) + 1;
            const std::string said =
                python_trimmed(std::string_view(row).substr(begin, row.find('#') - begin));
            if (equals != std::string::npos && word.ends_with("_config") && said.ends_with("_config")
                && said == callee_of(said))
                other_name(word, said, made.line);
            else if (equals != std::string::npos)
                constants_[module_ + ":" + word] = worked_out(said);
        } else
            rest_of_line();
    }
    std::tie(s_, at_, line_, module_) = kept;
}

// Reads `a_config = b_config`: a configuration that is another one by name.
void PythonModules::other_name(const std::string& name, const std::string& of, int line) {
    const std::string& text = texts_.emplace_back("return " + of + "()\n");
    PythonFunction f{text, module_, 0, text.size(), line, {}, "Config"};
    if (functions_.try_emplace(module_ + ":" + name, std::move(f)).second && module_.empty())
        in_order_.push_back(name);
}

void PythonModules::header() {
    const std::string name = dotted();
    PythonFunction f{s_, module_, 0, 0, 0, {}, {}};
    blanks(false);
    const std::size_t open = at_;
    if (at_ >= s_.size() || s_[at_] != '(') return rest_of_line();
    brackets();
    const std::string_view inside = s_.substr(open + 1, at_ - open - 2);
    const std::string rest = until(':');
    f.returns = rest.starts_with("->") ? python_trimmed(rest.substr(2)) : rest;
    f.begin = at_;
    f.line = line_;
    f.parameters = parameters(inside);
    skip_suite(0);
    f.end = at_;
    if (module_ == kKnown)
        known_.try_emplace(name, std::move(f));
    else if (functions_.try_emplace(module_ + ":" + name, std::move(f)).second && module_.empty())
        in_order_.push_back(name);
}

void PythonModules::imports() {
    const std::string module = dotted();
    blanks(false);
    if (dotted() != "import") return rest_of_line();
    blanks(false);
    const std::size_t begin = at_;
    rest_of_line();
    std::string list;
    bool comment = false;
    for (const char c : s_.substr(begin, at_ - begin)) {
        comment = c == '#' || (comment && c != '\n');
        list.push_back(comment || c == '(' || c == ')' || c == '\\' ? ' ' : c);
    }
    for (const std::string_view piece : split(list, ',')) {
        const std::string part = python_trimmed(piece);
        const std::size_t as = part.find(" as ");
        const std::string name = python_trimmed(std::string_view(part).substr(0, as));
        if (!name.empty() && imported_.size() < 10'000)
            imported_.try_emplace(
                module_ + ":" + (as == std::string::npos ? name : python_trimmed(part.substr(as + 4))),
                module, name);
    }
}

const PythonFunction* PythonModules::function_called(const std::string& name) {
    std::string module = module_, wanted = name;
    if (const auto k = known_.find(name);
        k != known_.end() && !k->second.parameters.empty() && k->second.parameters.back().name == "instead")
        return &k->second;
    for (int hops = 0; hops < kMostPythonLevels; ++hops) {
        if (const auto it = functions_.find(module + ":" + wanted); it != functions_.end())
            return &it->second;
        const auto from = imported_.find(module + ":" + wanted);
        if (from == imported_.end() || wanted == "model_registry") break;
        std::tie(module, wanted) = from->second;
        if (other_ && modules_.size() < 100 && modules_.insert(module).second)
            if (const auto text = other_(file_of(module))) scan(texts_.emplace_back(*text), module);
    }
    const auto it = known_.find(wanted);
    return it == known_.end() ? nullptr : &it->second;
}

PythonValue PythonModules::look_up(const std::string& name) const {
    if (const auto k = constants_.find(std::string(kKnown) + ":" + name); k != constants_.end())
        return k->second;
    if (name.find('.') == std::string::npos) {
        for (const auto* names : {&locals_, &globals_})
            if (const auto it = names->find(name); it != names->end()) return it->second;
        const auto from = imported_.find(module_ + ":" + name);
        const auto it = constants_.find(
            from == imported_.end() ? module_ + ":" + name : from->second.first + ":" + from->second.second);
        return it == constants_.end() ? PythonValue() : it->second;
    }
    for (const std::string_view key : {after_first(name), leaf_of(name)})
        if (const auto it = latest_.find(std::string(key)); it != latest_.end()) {
            const Setting& s = out_.settings[it->second];
            if (s.name.empty() || !s.unknown.empty()) return {};
            if (s.quoted) return {PythonValue::Kind::text, 0, s.value, {}};
            return python_value(s.value, [](const std::string&) { return PythonValue(); });
        }
    return {};
}

PythonValue PythonModules::worked_out(std::string_view text) const {
    if (text.size() > kMostExpression) return {};
    return python_value(text, [&](const std::string& n) { return look_up(n); });
}

void PythonModules::put(const std::string& name, std::string text, bool quoted, int line) {
    if (name.empty() || quiet_ || out_.settings.size() > kMostSettingsRead) return;
    Setting s;
    s.name = guard_.empty() ? name : name + " (" + guard_ + ")";
    s.value = std::move(text);
    s.quoted = quoted;
    s.at = place_at(line);
    s.variable = std::none_of(name.begin(), name.end(), [](char c) {  // a constant of the text
        return c == '.' || (c >= 'a' && c <= 'z');
    });
    if (guard_.empty())
        for (const std::string_view key : {after_first(name), leaf_of(name)})
            latest_[std::string(key)] = out_.settings.size();
    out_.settings.push_back(std::move(s));
}

TextPlace PythonModules::place_at(int line) const {
    if (caller_) return *caller_;
    return {line, module_.empty() ? std::string() : file_of(module_)};
}

void PythonModules::forget_earlier(const std::string& callee_name, const std::string& target) {
    if (!guard_.empty() || target.empty()) return;
    const auto [it, fresh] =
        began_.try_emplace(callee_name + "=" + std::string(leaf_of(target)), out_.settings.size());
    if (fresh) return;
    for (std::size_t i = it->second; i < out_.settings.size(); ++i) {
        std::string& name = out_.settings[i].name;
        if (name.starts_with(callee_name) && name.size() > callee_name.size()
            && (name[callee_name.size()] == '.' || name[callee_name.size()] == '('))
            name.clear();
    }
    it->second = out_.settings.size();
}

bool PythonFunction::takes(std::string_view name) const {
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
}

std::string callee_of(const std::string& text) {
    std::size_t begin = text.size();
    while (begin > 0 && (is_name_char(text[begin - 1]) || text[begin - 1] == '.')) --begin;
    return text.substr(begin);
}

bool may_set(const std::string& callee) {
    const std::string_view leaf = leaf_of(callee);
    const char first = leaf.empty() ? '.' : leaf[0];
    return (callee.find('.') == std::string::npos || any_in(callee, {"recipe", "config"})) && first >= '_'
           && first <= 'z' && callee.find("from_") == std::string::npos
           && !is_among("python_sets_nothing", leaf);
}

std::vector<std::pair<std::string, std::string>> device_of(const std::string& recipe) {
    for (const auto& [word, gpu] : words("devices").items())
        if (recipe.find(word) != std::string::npos) return {{".major", gpu[0]}, {".name", gpu[1]}};
    return {};
}

bool is_recipe(const std::string& name, const PythonFunction& f) {
    if (name.starts_with("_") || name.starts_with("test") || name == "main") return false;
    for (const PythonParameter& p : f.parameters)
        if (p.value.empty()) return false;
    if (!f.returns.empty())
        return f.returns.ends_with("Config") || any_in(f.returns, {"ConfigContainer", "Partial", "Recipe"});
    const std::string_view body = f.text.substr(f.begin, f.end - f.begin);
    return body.find("return ") != std::string_view::npos
           && any_in(body, {"parallel", "batch_size", "recipe", "_config("});
}

}  // namespace pentamesh::interop
