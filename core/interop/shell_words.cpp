#include "core/interop/shell_words.h"

#include "core/base/characters.h"
#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace pentamesh::shell {
namespace {

constexpr int kMostWordLevels = 40;

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool ends_word(char c) {
    return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<'
           || c == '>';
}

}  // namespace

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_char(char c) {
    return is_name_start(c) || is_digit(c);
}

std::string plain_text(const Word& word) {
    std::string text;
    for (const Part& p : word.parts) {
        if (p.kind != PartKind::literal) return "";
        text += p.text;
    }
    return text;
}

void WordReader::fail(const std::string& what) const {
    throw Error(ErrorKind::invalid, *path_, "", "line " + std::to_string(line_) + ": " + what);
}

bool WordReader::take(std::string_view s, bool advance) {
    if (!starts(s)) return false;
    if (advance) {
        if (s == "\n")
            next_line();
        else
            at_ += s.size();
    }
    return true;
}

bool WordReader::take_word(std::string_view s) {
    if (!starts(s)) return false;
    const std::size_t end = at_ + s.size();
    if (end < text_.size() && !ends_word(text_[end])) return false;
    at_ = end;
    return true;
}

bool WordReader::take_operator(std::string_view s) {
    return (s == ")" || s == "}") && take(s);
}

void WordReader::next_line() {
    ++at_;
    ++line_;
    if (!pending_.empty()) read_here_documents();
}

void WordReader::read_here_documents() {
    const std::vector<Pending> wanted = std::exchange(pending_, {});
    for (const Pending& p : wanted) {
        std::string body;
        while (!at_end()) {
            const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
            std::string_view row = text_.substr(at_, stop - at_);
            at_ = std::min(stop + 1, text_.size());
            ++line_;
            if (p.strip_tabs) row.remove_prefix(std::min(row.find_first_not_of('\t'), row.size()));
            if (row == p.end) break;
            body.append(row).push_back('\n');
        }
        if (p.into) p.into->push_back(std::move(body));
    }
}

void WordReader::skip_blanks() {
    while (!at_end()) {
        const char c = text_[at_];
        if (is_blank(c)) {
            ++at_;
        } else if (starts("\\\n") || starts("\\\r\n")) {
            at_ += c == '\\' && text_[at_ + 1] == '\r' ? 3 : 2;
            ++line_;
        } else if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else {
            break;
        }
    }
    command_began_ = at_;
}

void WordReader::skip_blank_lines() {
    while (true) {
        skip_blanks();
        if (starts("\n"))
            next_line();
        else if (starts(";") && !starts(";;") && !starts(";&"))
            ++at_;
        else
            return;
    }
}

std::string_view WordReader::peek_plain() const {
    if (at_end()) return {};
    for (const std::string_view op : {std::string_view(";;&"), std::string_view(";;"), std::string_view(";&"),
                                      std::string_view(")"), std::string_view("}")})
        if (starts(op)) return text_.substr(at_, op.size());
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
}

bool WordReader::more_words() const {
    WordReader look = *this;
    look.skip_blanks();
    if (look.at_end()) return false;
    const char c = look.text_[look.at_];
    if (c == '(' || c == ')' || c == '\n' || c == ';' || c == '|') return false;
    return c != '&' && c != '<' && c != '>';
}

std::string WordReader::name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (!at_end() && !ends_word(text_[at_])) ++at_;
    if (begin == at_) fail("a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
}

bool WordReader::empty_parentheses() {
    WordReader look = *this;
    look.skip_blanks();
    if (!look.take("(")) return false;
    look.skip_blanks();
    if (!look.take(")")) return false;
    at_ = look.at_;
    line_ = look.line_;
    return true;
}

// ---- words --------------------------------------------------------------------------------------------

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

void WordReader::single_quotes(Word& w) {
    const int began = line_;
    ++at_;
    put_literal(w, 'x', true);  // a part, even where it stays empty
    w.parts.back().text.pop_back();
    while (true) {
        if (at_end()) {
            line_ = began;
            fail("the quote ' that begins here does not end");
        }
        const char c = text_[at_];
        ++at_;
        if (c == '\'') return;
        put_literal(w, c, true);
        if (c == '\n') {
            ++line_;
            line_mark(w, true);
        }
    }
}

void WordReader::double_quotes(Word& w) {
    const int began = line_;
    ++at_;
    put_literal(w, 'x', true);
    w.parts.back().text.pop_back();
    while (true) {
        if (at_end()) {
            line_ = began;
            fail("the quote \" that begins here does not end");
        }
        const char c = text_[at_];
        if (c == '"') {
            ++at_;
            return;
        }
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
            ++at_;
            put_literal(w, c, true);
            if (c == '\n') {
                ++line_;
                line_mark(w, true);
            }
        }
    }
}

// From behind `open` to its `close`, which is passed; quotes hide either.
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
    line_ = began;
    fail(std::string("\"") + open + "\" that begins here has no \"" + close + "\"");
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

// Behind "${": name, index, operation and operands, to its "}".
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
        if (close == std::string_view::npos) fail("\"${" + p.text + "[\" has no \"]\"");
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
        const std::size_t cut = two ? s.find(op == ":" ? ':' : '/') : std::string_view::npos;
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

Word WordReader::double_quoted_all() {
    Word w;
    w.line = line_;
    while (!at_end()) {
        const char c = text_[at_];
        if (c == '"') {
            double_quotes(w);
        } else if (c == '$') {
            dollar(w, true);
        } else if (c == '`') {
            backquotes(w, true);
        } else if (c == '\\' && at_ + 1 < text_.size()) {
            put_literal(w, text_[at_ + 1], true);
            at_ += 2;
        } else {
            put_literal(w, c, true);
            ++at_;
        }
    }
    return w;
}

Word parse_double_quoted(std::string_view text, int line) {
    static const std::string no_path;
    WordReader read(text, no_path, line);
    return read.double_quoted_all();
}

Word WordReader::word() {
    skip_blanks();
    Word w;
    w.line = line_;
    while (!at_end() && !ends_word(text_[at_])) {
        const char c = text_[at_];
        if (c == '\'') {
            single_quotes(w);
        } else if (c == '"') {
            double_quotes(w);
        } else if (c == '$') {
            dollar(w, false);
        } else if (c == '`') {
            backquotes(w, false);
        } else if (c == '\\') {
            if (starts("\\\n")) {
                at_ += 2;
                ++line_;
                if (!at_end() && (is_blank(text_[at_]) || text_[at_] == '\n')) break;
            } else {
                if (at_ + 1 < text_.size()) put_literal(w, text_[at_ + 1], true);
                at_ = std::min(at_ + 2, text_.size());
            }
        } else {
            put_literal(w, c, false);
            ++at_;
        }
    }
    if (w.parts.empty() && !at_end() && ends_word(text_[at_]) && w.line == line_)
        fail(std::string("\"") + text_[at_] + "\" stands where a word must stand");
    return w;
}

Word WordReader::test_word() {
    skip_blanks();
    for (const std::string_view op : {std::string_view("&&"), std::string_view("||"), std::string_view("("),
                                      std::string_view(")"), std::string_view("<"), std::string_view(">")})
        if (take(op)) {
            Word w;
            w.line = line_;
            w.parts.push_back({PartKind::literal, false, std::string(op), {}, {}, {}});
            return w;
        }
    return word();
}

bool WordReader::assignment(Assignment& out) {
    WordReader look = *this;
    look.skip_blanks();
    std::size_t end = look.at_;
    if (end >= text_.size() || !is_name_start(text_[end])) return false;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    Assignment a;
    a.line = look.line_;
    a.name = text_.substr(look.at_, end - look.at_);
    if (end < text_.size() && text_[end] == '[') return false;  // A[0]=…: rare, and left as a word
    if (end < text_.size() && text_[end] == '+') {
        a.append = true;
        ++end;
    }
    if (end >= text_.size() || text_[end] != '=') return false;
    at_ = end + 1;
    line_ = look.line_;
    if (starts("(")) {
        ++at_;
        a.array = true;
        a.elements.clear();
        const int began = line_;
        while (true) {
            skip_blank_lines();
            if (take(")")) break;
            if (at_end()) {
                line_ = began;
                fail("the list " + a.name + "=( has no \")\"");
            }
            // Words that a command would end at are part of nothing here: taken as they stand.
            if (ends_word(text_[at_])) {
                ++at_;
                continue;
            }
            a.elements.push_back(word());
        }
    } else if (!at_end() && !ends_word(text_[at_])) {
        a.elements = {word()};
    } else {
        a.elements = {Word{{}, line_}};
    }
    out = std::move(a);
    return true;
}

std::string WordReader::double_parentheses() {
    at_ += 2;
    std::string inside = until_matching('(', ')');
    if (!take(")")) fail("\"((\" has no \"))\"");
    return inside;
}

bool WordReader::skip_redirections(std::vector<std::string>* documents) {
    bool any = false;
    while (true) {
        WordReader look = *this;
        look.skip_blanks();
        while (!look.at_end() && is_digit(look.text_[look.at_])) ++look.at_;
        const bool both = look.starts("&>");
        if (!both && !look.starts(">") && !look.starts("<")) return any;
        if (look.starts("<(") || look.starts(">(")) {  // a process: its words say nothing
            look.at_ += 2;
            (void)look.until_matching('(', ')');
            *this = look;
            any = true;
            continue;
        }
        const bool here = look.starts("<<") && !look.starts("<<<");
        look.at_ += both ? 2 : 0;
        while (!look.at_end() && (look.text_[look.at_] == '<' || look.text_[look.at_] == '>')) ++look.at_;
        const bool strip = here && look.take("-");
        if (!here) look.take("&") || look.take("|");
        look.skip_blanks();
        *this = look;
        const Word target = word();
        if (here) pending_.push_back({plain_text(target), strip, documents});
        any = true;
    }
}

}  // namespace pentamesh::shell
