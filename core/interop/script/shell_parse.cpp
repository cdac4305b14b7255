// Reads quotes, dollars and backquotes within a word.
#include "core/interop/script/shell_parse.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <array>
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

// A part takes 30 times the two letters that may name it.
void WordReader::add_part(Word& w, Part p) const {
    constexpr std::size_t kMostParts = 1'000'000;
    if (++parts_ > kMostParts)
        fail("the text has more than 1,000,000 parts of words, the most that are read");
    w.parts.push_back(std::move(p));
}

void WordReader::put_literal(Word& w, char c, bool quoted) const {
    if (w.parts.empty() || w.parts.back().kind != PartKind::literal || w.parts.back().quoted != quoted)
        add_part(w, {PartKind::literal, quoted, {}, {}, {}, {}});
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
    add_part(w, std::move(p));
}

Word WordReader::operand(std::string_view text) const {
    WordReader inner(text, *path_, line_);
    inner.level_ = level_ + 1;
    if (inner.level_ > kMostWordLevels) fail("values are nested more than 40 levels deep");
    inner.parts_ = parts_;
    Word out = inner.double_quoted_all();
    parts_ = inner.parts_;
    return out;
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
    add_part(w, std::move(p));
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
            if (next == '\n') {  // the line goes on
                at_ += 2;
                continue;
            }
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

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool ends_word(char c) {
    return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<'
           || c == '>';
}

}  // namespace

std::string plain_text(const Word& word) {
    std::string text;
    for (const Part& p : word.parts) {
        if (p.kind != PartKind::literal) return "";
        text += p.text;
    }
    return text;
}

void WordReader::fail_at(int line, const std::string& what) const {
    throw Error(ErrorKind::invalid, *path_, "", interop::plain("line ", line, ": ", what));
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
        if (p.into) p.into->push_back({std::move(body), p.quoted});
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
    return (c != '&' && c != '<' && c != '>') || look.placeholder() > 0;
}

std::size_t WordReader::placeholder() const {
    if (at_ + 1 >= text_.size() || text_[at_] != '<' || !is_name_start(text_[at_ + 1])) return 0;
    const std::size_t end = text_.find_first_of("<>\n\"';|&(", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '>' || is_blank(text_[end - 1])) return 0;
    const char after = end + 1 < text_.size() ? text_[end + 1] : '\n';  // "<in >out" has a file's name here
    return is_blank(after) || after == '\n' || after == '/' || after == '_' || after == ')' ? end + 1 - at_
                                                                                            : 0;
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

Word WordReader::word() {
    skip_blanks();
    Word w;
    w.line = line_;
    while (!at_end() && (!ends_word(text_[at_]) || placeholder() > 0)) {
        const char c = text_[at_];
        if (c == '<') {
            for (std::size_t n = placeholder(); n > 0; --n) put_literal(w, text_[at_++], true);
        } else if (c == '\'') {
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
        fail("\"", text_.substr(at_, 1), "\" stands where a word must stand");
    return w;
}

Word WordReader::test_word() {
    skip_blanks();
    for (const std::string_view op : {std::string_view("&&"), std::string_view("||"), std::string_view("("),
                                      std::string_view(")"), std::string_view("<"), std::string_view(">")})
        if (take(op)) {
            Word w;
            w.line = line_;
            add_part(w, {PartKind::literal, false, std::string(op), {}, {}, {}});
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
    if (end < text_.size() && text_[end] == '[') {
        const std::size_t close = text_.find(']', end);
        const std::size_t line_end = text_.find('\n', end);
        if (close == std::string_view::npos || close > line_end || close == end + 1) return false;
        a.index = text_.substr(end + 1, close - end - 1);
        end = close + 1;
    }
    if (end < text_.size() && text_[end] == '+') {
        a.append = true;
        ++end;
    }
    if (end >= text_.size() || text_[end] != '=') return false;
    at_ = end + 1;
    line_ = look.line_;
    if (starts("(") && a.index.empty()) {
        ++at_;
        a.array = true;
        a.elements.clear();
        const int began = line_;
        while (true) {
            skip_blank_lines();
            if (take(")")) break;
            if (at_end()) fail_at(began, "the list " + a.name + "=( has no \")\"");
            // Words that a command would end at are taken as they are here.
            if (ends_word(text_[at_])) {
                ++at_;
                continue;
            }
            a.elements.push_back(word());
        }
    } else if (!at_end() && (!ends_word(text_[at_]) || placeholder() > 0)) {
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

bool WordReader::skip_redirections(std::vector<Document>* documents, std::vector<Word>* strings,
                                   std::vector<Word>* outputs) {
    bool any = false;
    while (true) {
        WordReader look = *this;
        look.skip_blanks();
        const std::size_t digits = look.at_;
        while (!look.at_end() && is_digit(look.text_[look.at_])) ++look.at_;
        const bool errors = look.at_ > digits && look.text_.substr(digits, look.at_ - digits) != "1";
        const bool both = look.starts("&>");
        if (look.placeholder() > 0) return any;
        if (!both && !look.starts(">") && !look.starts("<")) return any;
        if (look.starts("<(") || look.starts(">(")) {  // a process: its words say nothing
            look.at_ += 2;
            (void)look.until_matching('(', ')');
            *this = look;
            any = true;
            continue;
        }
        const bool string = look.starts("<<<"), here = !string && look.starts("<<");
        const bool output = look.starts(">") && !errors;
        look.at_ += both ? 2 : 0;
        while (!look.at_end() && (look.text_[look.at_] == '<' || look.text_[look.at_] == '>')) ++look.at_;
        const bool strip = here && look.take("-");
        const bool same = !here && look.take("&");  // >&2
        if (!here && !same) look.take("|");
        look.skip_blanks();
        *this = look;
        if (starts("<(") || starts(">(")) continue;  // > >(tee log)
        const Word target = word();
        if (string && strings) strings->push_back(target);
        if (output && !same && outputs) outputs->push_back(target);
        const bool quoted =
            std::any_of(target.parts.begin(), target.parts.end(), [](const Part& p) { return p.quoted; });
        if (here) pending_.push_back({plain_text(target), strip, quoted, documents});
        any = true;
    }
}

namespace {

constexpr int kMostCommandLevels = 200;

bool is_reserved(std::string_view word) {
    static constexpr std::array<std::string_view, 14> words{
        "then", "else", "elif", "fi", "do", "done", "esac", "}", ")", ";;", ";&", ";;&", "in", ""};
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Parses the text by recursive descent. A word is read by the WordReader; this reads the rest between words.
class Parser {
  public:
    Parser(std::string_view text, const std::string& path, int first_line) : read_(text, path, first_line) {}

    CommandPtr script() {
        CommandPtr all = list({});
        read_.skip_blank_lines();
        if (!read_.at_end()) read_.fail("\"", read_.rest().substr(0, 1), "\" stands by itself");
        return all;
    }

  private:
    struct Level {
        Parser& p;
        explicit Level(Parser& parser) : p(parser) {
            if (++p.level_ > kMostCommandLevels) p.read_.fail("blocks are nested more than 200 levels deep");
        }
        ~Level() { --p.level_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
    };

    static std::shared_ptr<Command> make(CommandKind kind, int line) {
        auto c = std::make_shared<Command>();
        c->kind = kind;
        c->line = line;
        return c;
    }

    // Reads commands until one of `ends` or the end of the text.
    CommandPtr list(std::initializer_list<std::string_view> ends) {
        const Level level(*this);
        auto all = make(CommandKind::sequence, read_.line());
        while (true) {
            read_.skip_blank_lines();
            if (read_.at_end()) break;
            const std::string_view word = read_.peek_plain();
            if (std::find(ends.begin(), ends.end(), word) != ends.end()) break;
            if (word == ")" || word == ";;" || word == "}"
                || (is_reserved(word) && !word.empty() && word != "in")) {
                if (level_ == 1) read_.fail("\"", word, "\" without its beginning");
                break;
            }
            all->body.push_back(and_or());
            read_.skip_blanks();
            if (!read_.take(";;", false) && !read_.take(";&", false)) {
                if (!read_.take(";") && !read_.take("&")) read_.take("\n");
            }
        }
        return all;
    }

    CommandPtr and_or() {
        CommandPtr left = pipeline();
        while (true) {
            read_.skip_blanks();
            const bool both = read_.take("&&");
            if (!both && !read_.take("||")) return left;
            read_.skip_blank_lines();
            auto c = make(both ? CommandKind::both : CommandKind::either, read_.line());
            c->body = {left, pipeline()};
            left = c;
        }
    }

    CommandPtr pipeline() {
        const Level level(*this);
        read_.skip_blanks();
        if (read_.take_word("!")) {
            auto c = make(CommandKind::negated, read_.line());
            c->body = {pipeline()};
            return c;
        }
        CommandPtr first = command();
        read_.skip_blanks();
        if (read_.starts("||") || !read_.starts("|")) return first;
        auto c = make(CommandKind::pipeline, read_.line());
        c->body.push_back(first);
        while (!read_.starts("||") && (read_.take("|&") || read_.take("|"))) {
            read_.skip_blank_lines();
            c->body.push_back(command());
            read_.skip_blanks();
        }
        return c;
    }

    void expect(std::string_view word, std::string_view of, int line) {
        read_.skip_blank_lines();
        if (!read_.take_word(word) && !read_.take_operator(word))
            read_.fail("\"", of, "\" of line ", line, " has no \"", word, "\"");
    }

    CommandPtr command() {
        read_.skip_blanks();
        const int line = read_.line();
        CommandPtr c;
        if (read_.take_word("if"))
            c = branch(line);
        else if (read_.take_word("for") || read_.take_word("select"))
            c = loop(line);
        else if (read_.take_word("while"))
            c = repeat(line, false);
        else if (read_.take_word("until"))
            c = repeat(line, true);
        else if (read_.take_word("case"))
            c = match(line);
        else if (read_.take_word("function"))
            c = function(line);
        else if (read_.starts("((")) {
            auto a = make(CommandKind::arithmetic, line);
            a->name = read_.double_parentheses();
            c = a;
        } else if (read_.take_word("[["))
            c = test(line);
        else if (read_.take_word("{")) {
            c = list({"}"});
            expect("}", "{", line);
        } else if (read_.take("(")) {
            auto inner = make(CommandKind::subshell, line);
            inner->body.push_back(list({")"}));
            expect(")", "(", line);
            c = inner;
        } else
            return simple(line);
        read_.skip_redirections(nullptr);
        return c;
    }

    CommandPtr branch(int line) {
        auto c = make(CommandKind::choice, line);
        c->body.push_back(list({"then"}));
        expect("then", "if", line);
        c->body.push_back(list({"elif", "else", "fi"}));
        if (read_.take_word("elif")) {
            c->body.push_back(branch(line));
            return c;
        }
        c->body.push_back(read_.take_word("else") ? list({"fi"}) : make(CommandKind::sequence, line));
        expect("fi", "if", line);
        return c;
    }

    CommandPtr do_block(std::string_view of, int line) {
        read_.skip_blank_lines();
        read_.take(";");
        expect("do", of, line);
        CommandPtr body = list({"done"});
        expect("done", of, line);
        return body;
    }

    CommandPtr loop(int line) {
        read_.skip_blanks();
        if (read_.starts("((")) {
            auto c = make(CommandKind::repeat, line);
            c->name = read_.double_parentheses();
            c->body.push_back(do_block("for", line));
            return c;
        }
        auto c = make(CommandKind::loop, line);
        c->name = read_.name();
        read_.skip_blank_lines();
        if (read_.take_word("in"))
            while (read_.more_words()) c->words.push_back(read_.word());
        c->body.push_back(do_block("for", line));
        return c;
    }

    CommandPtr repeat(int line, bool until) {
        auto c = make(CommandKind::repeat, line);
        c->until = until;
        c->body.push_back(list({"do"}));
        c->body.push_back(do_block("while", line));
        return c;
    }

    CommandPtr match(int line) {
        auto c = make(CommandKind::match, line);
        read_.skip_blanks();
        c->words.push_back(read_.word());
        read_.skip_blank_lines();
        expect("in", "case", line);
        while (true) {
            read_.skip_blank_lines();
            if (read_.take_word("esac")) return c;
            if (read_.at_end()) read_.fail("\"case\" of line ", line, " has no \"esac\"");
            Case one;
            read_.take("(");
            do {
                read_.skip_blanks();
                one.patterns.push_back(read_.word());
                read_.skip_blanks();
            } while (read_.take("|"));
            expect(")", "case", line);
            one.body = list({";;", ";&", ";;&", "esac"});
            read_.skip_blank_lines();
            if (read_.take(";;&"))
                one.end = CaseEnd::next_match;
            else if (!read_.take(";;") && read_.take(";&"))
                one.end = CaseEnd::next_body;
            c->cases.push_back(std::move(one));
        }
    }

    CommandPtr function(int line) {
        auto c = make(CommandKind::function, line);
        read_.skip_blanks();
        c->name = read_.name();
        read_.skip_blanks();
        if (read_.take("(")) expect(")", "function", line);
        read_.skip_blank_lines();
        c->body.push_back(command());
        return c;
    }

    CommandPtr test(int line) {
        auto c = make(CommandKind::test, line);
        while (true) {
            read_.skip_blank_lines();
            if (read_.take_word("]]")) return c;
            if (read_.at_end()) read_.fail("\"[[\" of line ", line, " has no \"]]\"");
            c->words.push_back(read_.test_word());
        }
    }

    CommandPtr simple(int line) {
        auto c = make(CommandKind::simple, line);
        while (true) {
            read_.skip_blanks();
            if (read_.skip_redirections(&c->documents, &c->strings, &c->outputs)) continue;
            Assignment a;
            if (c->words.empty() && read_.assignment(a)) {
                c->assignments.push_back(std::move(a));
                continue;
            }
            if (!read_.more_words()) break;
            // In `export A=(…)`, `local B+=1` an assignment follows the word that declares.
            if (!c->words.empty() && interop::is_among("shell_declares", plain_text(c->words.front()))
                && read_.assignment(a)) {
                c->assignments.push_back(std::move(a));
                continue;
            }
            c->words.push_back(read_.word());
            if (c->words.size() == 1 && c->assignments.empty() && read_.empty_parentheses()) {
                auto f = make(CommandKind::function, line);
                f->name = plain_text(c->words.front());
                read_.skip_blank_lines();
                f->body.push_back(command());
                return f;
            }
        }
        if (c->words.empty() && c->assignments.empty() && c->documents.empty() && !read_.skipped_something())
            read_.fail("\"", read_.rest().substr(0, 1), "\" stands where a command must begin");
        return c;
    }

    WordReader read_;
    int level_ = 0;
};

}  // namespace

CommandPtr parse(std::string_view text, const std::string& path, int first_line) {
    return Parser(text, path, first_line).script();
}

}  // namespace pentamesh::shell
