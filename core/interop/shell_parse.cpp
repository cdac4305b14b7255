#include "core/base/error.h"
#include "core/interop/shell_words.h"
#include "core/interop/words.h"

#include <algorithm>
#include <array>

namespace pentamesh::shell {
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
        if (!read_.at_end()) read_.fail("\"", read_.rest().substr(0, 1), "\" stands alone");
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
        else if (read_.take_word("while") || read_.take_word("until"))
            c = repeat(line);
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

    CommandPtr repeat(int line) {
        auto c = make(CommandKind::repeat, line);
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
            if (read_.skip_redirections(&c->documents, &c->strings)) continue;
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
