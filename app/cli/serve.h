// `serve` and `mcp` read requests of other programs, a line each, and run their commands by these.
#pragma once

#include "app/cli/commands.h"

#include <cstddef>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

namespace pentamesh::cli {

inline constexpr std::size_t kMostRequestBytes = std::size_t{64} << 20;  // as much as a plan file may have

struct Line {
    std::string text;
    bool too_long = false;  // it has more than kMostRequestBytes
    bool blank = false;
};
// Reads up to the next line break; nothing at the end of the input. Of a line that is too long the rest is
// passed over.
[[nodiscard]] std::optional<Line> read_line(std::streambuf& in);

// Holds what one command line did.
struct Ran {
    int status = 0;                     // its exit status
    std::vector<std::string> messages;  // a line of standard error each, without the program's name
    std::string result;                 // what it wrote
    bool json = false;                  // the result is JSON
};
// Runs a command line with streams of its own: `input` is its standard input. It does not throw.
[[nodiscard]] Ran run_request(Context& context, const std::vector<std::string>& words,
                              const std::string& input);

}  // namespace pentamesh::cli
