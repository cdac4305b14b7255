#include "core/interop/shell_words.h"

#include "core/base/characters.h"
#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace pentamesh::shell {
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

bool WordReader::skip_redirections(std::vector<Document>* documents, std::vector<Word>* strings) {
    bool any = false;
    while (true) {
        WordReader look = *this;
        look.skip_blanks();
        while (!look.at_end() && is_digit(look.text_[look.at_])) ++look.at_;
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
        look.at_ += both ? 2 : 0;
        while (!look.at_end() && (look.text_[look.at_] == '<' || look.text_[look.at_] == '>')) ++look.at_;
        const bool strip = here && look.take("-");
        if (!here) look.take("&") || look.take("|");
        look.skip_blanks();
        *this = look;
        if (starts("<(") || starts(">(")) continue;  // > >(tee log)
        const Word target = word();
        if (string && strings) strings->push_back(target);
        const bool quoted =
            std::any_of(target.parts.begin(), target.parts.end(), [](const Part& p) { return p.quoted; });
        if (here) pending_.push_back({plain_text(target), strip, quoted, documents});
        any = true;
    }
}

}  // namespace pentamesh::shell
