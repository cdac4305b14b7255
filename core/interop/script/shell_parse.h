// Reads the words of a launch script: quotes, expansions, here-documents, and the text between words.
#pragma once

#include "core/interop/script/settings.h"
#include "core/interop/script/shell_state.h"

#include <functional>

namespace pentamesh::shell {

// Marks a line's number inside a text: an option in a long quoted string keeps the line that it is on.
inline constexpr char kLineBegin = '\x04', kLineEnd = '\x05';

// Returns the word as written where it holds no expansion; empty otherwise.
[[nodiscard]] std::string plain_text(const Word& word);

class WordReader {
  public:
    WordReader(std::string_view text, const std::string& path, int line = 1)
        : text_(text), path_(&path), line_(line) {}

    template <typename... Parts>
    [[noreturn]] void fail(const Parts&... what) const {
        fail_at(line_, interop::plain(what...));
    }
    [[noreturn]] void fail_at(int line, const std::string& what) const;
    [[nodiscard]] int line() const { return line_; }
    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
    [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
    [[nodiscard]] bool starts(std::string_view s) const { return rest().starts_with(s); }
    // Moves past `s` where it comes next; with `advance` false it only looks.
    bool take(std::string_view s, bool advance = true);
    // Moves past the word `s` where it comes next and is a word of its own.
    bool take_word(std::string_view s);
    // Does the same for ")" and "}", which need no blank after them.
    bool take_operator(std::string_view s);

    void skip_blanks();       // blanks, continued lines, a comment
    void skip_blank_lines();  // newlines and single semicolons too
    // Returns "then", "fi", ")" ...: the unquoted word or operator that comes next; empty for anything else.
    [[nodiscard]] std::string_view peek_plain() const;
    [[nodiscard]] bool more_words() const;

    [[nodiscard]] std::string name();
    [[nodiscard]] Word word();
    [[nodiscard]] Word test_word();  // of [[ ]]: && || ( ) < > are words too
    bool assignment(Assignment& out);
    bool empty_parentheses();                        // of `name ()`
    [[nodiscard]] std::string double_parentheses();  // the text in (( ))
    // Returns true if at least one redirection was passed. Texts of here-documents are added to `documents`,
    // words behind <<< to `strings`.
    bool skip_redirections(std::vector<Document>* documents, std::vector<Word>* strings = nullptr,
                           std::vector<Word>* outputs = nullptr);
    [[nodiscard]] bool skipped_something() const { return at_ > command_began_; }
    // Returns the parts of a text as between double quotes, to the end.
    [[nodiscard]] Word double_quoted_all(bool document = false);

  private:
    struct Pending {
        std::string end;
        bool strip_tabs = false, quoted = false;
        std::vector<Document>* into = nullptr;
    };
    // Returns the length of a "<path to the data>" that stands here: what a template leaves to its reader.
    [[nodiscard]] std::size_t placeholder() const;
    void next_line();
    void read_here_documents();
    void add_part(Word& w, Part p) const;
    void put_literal(Word& w, char c, bool quoted) const;
    void open_quotes(Word& w);       // moves past one; a part begins, even where it stays empty
    void quoted_character(Word& w);  // moves past it, and marks the line that it ends
    void line_mark(Word& w, bool quoted) const;
    void single_quotes(Word& w);
    void double_quotes(Word& w);
    void dollar(Word& w, bool quoted);
    void braces(Part& p);
    void backquotes(Word& w, bool quoted);
    [[nodiscard]] std::string until_matching(char open, char close);
    [[nodiscard]] Word operand(std::string_view text) const;

    std::string_view text_;
    const std::string* path_;  // never null; outlives the reader
    std::size_t at_ = 0, command_began_ = 0;
    int line_ = 1;
    int level_ = 0;                  // of values inside values
    mutable std::size_t parts_ = 0;  // of all words
    std::vector<Pending> pending_;
};

}  // namespace pentamesh::shell
