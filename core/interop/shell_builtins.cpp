// Runs `read`, `printf -v`, $(echo …) and $(cat <<EOF …), whose output a script's own text makes.
#include "core/base/error.h"
#include "core/interop/shell_state.h"
#include "core/interop/shell_words.h"

#include <algorithm>

namespace pentamesh::shell {

void read_into(Expander& x, const std::vector<Argument>& words, const Command& c) {
    std::vector<std::string> names;
    bool array = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string n = x.known(words[i].text).value_or("-");
        if (n == "-a" || n == "-ra") array = true;
        if (!n.starts_with("-")) names.push_back(n);
    }
    std::string apart = " \t\n";
    for (const Assignment& a : c.assignments)
        if (a.name == "IFS") apart = without_line_marks(x.expand_joined(a.elements.front()));
    std::vector<std::string> fields;
    const std::string text = c.strings.empty() ? "" : without_line_marks(x.expand_joined(c.strings[0]));
    for (std::size_t at = text.find_first_not_of(' '); at < text.size();) {
        const bool rest = !array && fields.size() + 1 == names.size();
        const std::size_t end = rest ? text.size() : std::min(text.find_first_of(apart, at), text.size());
        fields.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    if (array && !names.empty() && !c.strings.empty()) {
        x.state.variables[names[0]] = {std::move(fields), true};
        return;
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        x.state.variables[names[i]] = {{c.strings.empty()   ? x.unknown(names[i], c.line, false)
                                        : i < fields.size() ? fields[i]
                                                            : ""},
                                       false};
}

void print_into(Expander& x, const std::vector<Argument>& words) {
    if (words.size() < 4 || without_line_marks(words[1].text) != "-v") return;
    const std::string format = without_line_marks(words[3].text);
    std::string out;
    std::size_t next = 4;
    bool known = true;
    do {  // the format is used again while words are left
        const std::size_t before = next;
        for (std::size_t i = 0; i < format.size(); ++i) {
            const char kind = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : ' ';
            known = known && format[i] != '\\' && (format[i] != '%' || kind == 's' || kind == 'd');
            if (format[i] != '%')
                out.push_back(format[i]);
            else if (++i; next < words.size())
                out += without_line_marks(words[next++].text);
        }
        if (next == before) break;
    } while (next < words.size() && out.size() < kMostValueBytes);
    if (!known) out = x.unknown("printf " + format, words.front().line, false);
    x.state.variables[without_line_marks(words[2].text)] = {{std::move(out)}, false};
}

std::string Expander::written(const Document& document, int line) {
    if (document.quoted) return document.text;
    try {
        return expand_joined(parse_double_quoted(document.text, line, true));
    } catch (const Error&) {
        return document.text;  // the shell would say the error where it runs
    }
}

std::optional<std::string> Expander::echoed(const std::string& source, int line) {
    static constexpr int kMostDepth = 20;
    if (depth_ > kMostDepth) return std::nullopt;
    CommandPtr parsed;
    try {
        parsed = parse(source, "", line);
    } catch (const Error&) {
        return std::nullopt;
    }
    if (parsed->kind != CommandKind::sequence || parsed->body.empty()) return std::nullopt;
    for (const CommandPtr& c : parsed->body)
        if (c->kind != CommandKind::simple || c->words.empty() != (c != parsed->body.back()))
            return std::nullopt;
    // Other commands are not expanded: what is not known in their arguments is not asked for.
    const Command& last = *parsed->body.back();
    const std::string program = plain_text(last.words.front());
    if (program == "cat" && last.words.size() == 1 && last.documents.size() == 1)
        return written(last.documents.front(), last.line);
    if (program != "echo") return std::nullopt;
    // Its own variables are gone behind it. They are set by "=", or by ${A:=1}.
    std::optional<State> before;
    if (source.find('=') != std::string::npos) before = state;
    ++depth_;
    for (const CommandPtr& c : parsed->body)
        for (const Assignment& a : c->assignments) assign(a);
    std::vector<Argument> words;
    for (const Word& w : parsed->body.back()->words) expand(w, words);
    --depth_;
    if (before) state = std::move(*before);
    const auto text = [&](std::size_t i) { return without_line_marks(words[i].text); };
    if (words.size() > 1 && text(1).starts_with("-")) return std::nullopt;
    std::string out;
    for (std::size_t i = 1; i < words.size(); ++i) out += (i > 1 ? " " : "") + text(i);
    return out;
}

}  // namespace pentamesh::shell
