#include "app/cli/streams.h"

#include "app/platform/platform.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace pentamesh::cli {
namespace {

std::string* taken = nullptr;  // takes what is printed; nullptr: standard output does
int own_streams = 0;
std::vector<std::filesystem::path> inputs;

bool write_out(const std::string& text) {
    if (taken) {
        *taken += text;
        return true;
    }
    errno = 0;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE)
        throw Error(ErrorKind::io, "standard output", "",
                    "cannot be written: " + std::generic_category().message(errno));
    return written;
}

}  // namespace

std::string read_input(const std::string& name) {
    note_input(name);
    return name == "-" ? read_stream(std::cin, "-") : read_file(name);
}

bool print(const std::string& text) {
    return write_out(printable(text));
}

bool print_json(const std::string& json) {
    return write_out(printable_json(json));
}

void say_error(const std::string& line) {
    std::cerr << printable(line) << "\n";
}

void print_to(const std::string& file, const std::string& text) {
    if (file.empty() || file == "-")
        print(text);
    else
        write_output(file, text);
}

void write_output(const std::filesystem::path& file, const std::string& text) {
    refuse_input(file);
    write_file(file, text);
}

void note_input(const std::string& name) {
    if (name != "-") inputs.emplace_back(name);
}

void forget_inputs() {
    inputs.clear();
}

void refuse_input(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    for (const std::filesystem::path& input : inputs)
        if (std::filesystem::equivalent(input, file, ignored))
            throw Error(ErrorKind::usage, file.string(), "",
                        "is a file that was read, and would be lost: write to another one");
}

bool has_own_streams() {
    return own_streams > 0;
}

std::size_t output_width() {
    return taken ? 0 : terminal_width();
}

KeptOutput::KeptOutput() : before_(std::exchange(taken, &text_)) {}

KeptOutput::~KeptOutput() {
    taken = before_;
}

struct OwnStreams::Impl {
    std::istringstream in;
    std::ostringstream err;
    KeptOutput out;
    std::streambuf *old_in, *old_err;
    explicit Impl(const std::string& input)
        : in(input), old_in(std::cin.rdbuf(in.rdbuf())), old_err(std::cerr.rdbuf(err.rdbuf())) {
        ++own_streams;
    }
    ~Impl() {
        --own_streams;
        std::cin.rdbuf(old_in);
        std::cin.clear();  // the end of one input is not that of the next
        std::cerr.rdbuf(old_err);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
};

OwnStreams::OwnStreams(const std::string& input) : impl_(std::make_unique<Impl>(input)) {}
OwnStreams::~OwnStreams() = default;

const std::string& OwnStreams::output() const {
    return impl_->out.text();
}

std::string OwnStreams::messages() const {
    return impl_->err.str();
}

}  // namespace pentamesh::cli
