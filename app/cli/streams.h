// Commands read and write by these functions, so that `serve` can give each request streams of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace pentamesh::cli {

// Returns the text of a file, or of standard input for "-".
[[nodiscard]] std::string read_input(const std::string& name);
// Writes a text to standard output: what a terminal would obey is named. Returns false if the reader closed
// the pipe: it has all it wanted, and more of the text need not come.
bool print(const std::string& text);
// Does the same with a JSON text, whose values stay.
bool print_json(const std::string& json);
// Writes a line to standard error as `print` does.
void say_error(const std::string& line);
// Writes to a file, or to standard output for "" and "-". A file that was read is refused.
void print_to(const std::string& file, const std::string& text);

// Writes a file that the command line names; one that was read is refused.
void write_output(const std::filesystem::path& file, const std::string& text);
// Notes that a file was read, as read_input does; another command line has read none.
void note_input(const std::string& name);
void forget_inputs();
// Throws Error (usage) where the file is one that was read: nobody means to lose it.
void refuse_input(const std::filesystem::path& file);

// Returns true while a request of `serve` is answered.
[[nodiscard]] bool has_own_streams();
// Returns the letters of a line of the terminal that is written to; 0 where it is a file or a pipe.
[[nodiscard]] std::size_t output_width();

// Keeps what is printed, while it lives.
class KeptOutput {
  public:
    KeptOutput();
    ~KeptOutput();
    KeptOutput(const KeptOutput&) = delete;
    KeptOutput& operator=(const KeptOutput&) = delete;
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
    std::string* before_;
};

// Puts a text in the place of standard input, and keeps what goes to standard error and output.
class OwnStreams {
  public:
    explicit OwnStreams(const std::string& input);
    ~OwnStreams();
    OwnStreams(const OwnStreams&) = delete;
    OwnStreams& operator=(const OwnStreams&) = delete;
    [[nodiscard]] const std::string& output() const;
    [[nodiscard]] std::string messages() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pentamesh::cli
