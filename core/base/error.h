// An Error is thrown at the edge: files, JSON, command line. The engine itself never throws.
#pragma once

#include <stdexcept>
#include <string>

namespace pentamesh {

enum class ErrorKind { invalid, usage, io };  // exit status 1, 2, 3

class Error : public std::runtime_error {
  public:
    // `path` is the file ("" for no file, "-" for standard input), `pointer` the JSON pointer in it ("" for
    // the whole).
    Error(ErrorKind kind, std::string path, std::string pointer, const std::string& message)
        : std::runtime_error(compose(path, pointer, message)), kind_(kind), path_(std::move(path)),
          pointer_(std::move(pointer)), message_(message) {}
    [[nodiscard]] ErrorKind kind() const { return kind_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& pointer() const { return pointer_; }
    [[nodiscard]] const std::string& message() const { return message_; }  // without path and pointer
    [[nodiscard]] int exit_status() const {
        return kind_ == ErrorKind::io ? 3 : kind_ == ErrorKind::usage ? 2 : 1;
    }

  private:
    static std::string compose(const std::string& path, const std::string& pointer,
                               const std::string& message) {
        std::string text = path;
        if (!pointer.empty()) text += (text.empty() ? "" : ": ") + pointer;
        return text.empty() ? message : text + ": " + message;
    }
    ErrorKind kind_;
    std::string path_, pointer_, message_;
};

}  // namespace pentamesh
