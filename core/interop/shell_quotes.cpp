// Reads quotes, dollars and backquotes within a word.
#include "core/base/characters.h"
#include "core/interop/shell_words.h"

#include <utility>

namespace pentamesh::shell {
namespace {

constexpr int kMostWordLevels = 40;

// Returns where the character stands outside quotes and braces, a colon outside parentheses too.
std::size_t find_outside(std::string_view s, char wanted, std::size_t from) {
    bool quoted = false;
    int depth = 0;
    for (std::size_t i = from; i < s.size(); ++i) {
        const char c = s[i];
        if (c == '\\')
            ++i;
        else if (c == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (c == wanted && depth <= 0)
            return i;
        else if (c == '{' || (c == '(' && wanted == ':'))
            ++depth;
        else if (c == '}' || (c == ')' && wanted == ':'))
            --depth;
    }
    return std::string_view::npos;
}

}  // namespace

void WordReader::put_literal(Word& w, char c, bool quoted) const {
    if (w.parts.empty() || w.parts.back().kind != PartKind::literal || w.parts.back().quoted != quoted)
        w.parts.push_back({PartKind::literal, quoted, {}, {}, {}, {}});
    w.parts.back().text.push_back(c);
}

void WordReader::line_mark(Word& w, bool quoted) const {
    put_literal(w, kLineBegin, quoted);
    for (const char c : std::to_string(line_)) put_literal(w, c, quoted);
    put_literal(w, kLineEnd, quoted);
}

void WordReader::open_quotes(Word& w) {
    ++at_;
    put_literal(w, 'x', true);
    w.parts.back().text.pop_back();
}

void WordReader::quoted_character(Word& w) {
    const char c = text_[at_++];
    put_literal(w, c, true);
    if (c != '\n') return;
    ++line_;
    line_mark(w, true);
}

void WordReader::single_quotes(Word& w) {
    const int began = line_;
    open_quotes(w);
    while (!at_end() && text_[at_] != '\'') quoted_character(w);
    if (!take("'")) fail_at(began, "the quote ' that begins here does not end");
}

void WordReader::double_quotes(Word& w) {
    const int began = line_;
    open_quotes(w);
    while (!take("\"")) {
        if (at_end()) fail_at(began, "the quote \" that begins here does not end");
        const char c = text_[at_];
        if (c == '\\' && at_ + 1 < text_.size()) {
            const char next = text_[at_ + 1];
            at_ += 2;
            if (next == '\n') {
                ++line_;
                line_mark(w, true);
            } else {
                if (std::string_view("$`\"\\").find(next) == std::string_view::npos)
                    put_literal(w, '\\', true);
                put_literal(w, next, true);
            }
        } else if (c == '$') {
            dollar(w, true);
        } else if (c == '`') {
            backquotes(w, true);
        } else {
            quoted_character(w);
        }
    }
}

// Reads from after `open` to its `close`, which is passed; quotes hide either.
std::string WordReader::until_matching(char open, char close) {
    const int began = line_;
    const std::size_t begin = at_;
    int depth = 1;
    char quote = 0;
    for (; !at_end(); ++at_) {
        const char c = text_[at_];
        if (c == '\n') ++line_;
        if (c == '\\' && quote != '\'') {
            if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++line_;
            ++at_;
        } else if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') {
            if (!(c == '\'' && open == '{')) quote = c;
        } else if (c == open) {
            ++depth;
        } else if (c == close && --depth == 0) {
            return std::string(text_.substr(begin, at_++ - begin));
        }
    }
    fail_at(began, std::string("\"") + open + "\" that begins here has no \"" + close + "\"");
}

void WordReader::dollar(Word& w, bool quoted) {
    ++at_;
    Part p;
    p.quoted = quoted;
    if (starts("((")) {
        at_ += 2;
        p.kind = PartKind::arithmetic;
        p.text = until_matching('(', ')');
        if (!take(")")) fail("\"$((\" has no \"))\"");
    } else if (take("(")) {
        p.kind = PartKind::command;
        p.text = until_matching('(', ')');
    } else if (take("{")) {
        p.kind = PartKind::parameter;
        braces(p);
    } else if (!at_end() && (is_name_start(text_[at_]))) {
        p.kind = PartKind::parameter;
        while (!at_end() && is_name_char(text_[at_])) p.text.push_back(text_[at_++]);
    } else if (!at_end()
               && (is_digit(text_[at_])
                   || std::string_view("@*#?$!-").find(text_[at_]) != std::string_view::npos)) {
        p.kind = PartKind::parameter;
        p.text = text_[at_++];
        if (p.text == "@" || p.text == "*") p.index = p.text;
    } else if (!quoted && !at_end() && (text_[at_] == '"' || text_[at_] == '\'')) {
        return;  // $"…" and $'…': the quotes follow
    } else {
        put_literal(w, '$', quoted);
        return;
    }
    w.parts.push_back(std::move(p));
}

Word WordReader::operand(std::string_view text) const {
    WordReader inner(text, *path_, line_);
    inner.level_ = level_ + 1;
    if (inner.level_ > kMostWordLevels) fail("values are nested more than 40 levels deep");
    return inner.double_quoted_all();
}

// Reads after "${": name, index, operation and operands, to its "}".
void WordReader::braces(Part& p) {
    const std::string inside = until_matching('{', '}');
    std::string_view s = inside;
    if (s.starts_with("#") && s.size() > 1) {
        p.operation = "length";
        s.remove_prefix(1);
    } else if (s.starts_with("!") && s.size() > 1) {
        p.operation = "indirect";
        s.remove_prefix(1);
    }
    std::size_t n = 0;
    while (n < s.size() && is_name_char(s[n])) ++n;
    if (n == 0 && !s.empty()) n = 1;  // ${@}, ${*}, ${?}
    p.text = s.substr(0, n);
    if (p.text == "@" || p.text == "*") p.index = p.text;
    s.remove_prefix(n);
    if (s.starts_with("[")) {
        const std::size_t close = s.find(']');
        if (close == std::string_view::npos) fail("\"${", p.text, "[\" has no \"]\"");
        p.index = s.substr(1, close - 1);
        s.remove_prefix(close + 1);
    }
    if (s.empty() || !p.operation.empty()) return;
    static constexpr std::string_view operations[] = {":-", ":=", ":+", ":?", "##", "%%", "//",
                                                      "^^", ",,", "-",  "=",  "+",  "?",  "#",
                                                      "%",  "/",  ":",  "^",  ",",  "@"};
    for (const std::string_view op : operations) {
        if (!s.starts_with(op)) continue;
        p.operation = op;
        s.remove_prefix(op.size());
        const bool two = op == "/" || op == "//" || op == ":";
        // In ${X////-} the third slash is the pattern.
        const std::size_t from = op != ":" && s.starts_with('/') ? 1 : 0;
        const std::size_t cut = two ? find_outside(s, op == ":" ? ':' : '/', from) : std::string_view::npos;
        p.operands.push_back(operand(s.substr(0, cut)));
        if (cut != std::string_view::npos) p.operands.push_back(operand(s.substr(cut + 1)));
        return;
    }
    p.operation = "unknown";
}

void WordReader::backquotes(Word& w, bool quoted) {
    const std::size_t begin = ++at_;
    while (!at_end() && text_[at_] != '`') {
        if (text_[at_] == '\n') ++line_;
        at_ += text_[at_] == '\\' ? 2 : 1;
    }
    if (at_end()) fail("the quote ` has no end");
    Part p;
    p.kind = PartKind::command;
    p.quoted = quoted;
    p.text = text_.substr(begin, at_++ - begin);
    w.parts.push_back(std::move(p));
}

Word WordReader::double_quoted_all(bool document) {
    Word w;
    w.line = line_;
    while (!at_end()) {
        const char c = text_[at_];
        if (c == '"' && !document) {
            double_quotes(w);
        } else if (c == '$') {
            dollar(w, true);
        } else if (c == '`') {
            backquotes(w, true);
        } else if (c == '\\' && at_ + 1 < text_.size()) {
            const char next = text_[at_ + 1];
            if (document && std::string_view("$`\\").find(next) == std::string_view::npos)
                put_literal(w, c, true);
            put_literal(w, next, true);
            at_ += 2;
        } else {
            put_literal(w, c, true);
            ++at_;
        }
    }
    return w;
}

Word parse_double_quoted(std::string_view text, int line, bool document) {
    static const std::string no_path;
    WordReader read(text, no_path, line);
    return read.double_quoted_all(document);
}

}  // namespace pentamesh::shell
