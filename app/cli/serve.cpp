// `serve` answers requests: each line of standard input is one, each line of standard output an answer
// (docs/python.md).
#include "app/cli/json_of.h"
#include "app/cli/run.h"
#include "app/cli/streams.h"
#include "core/base/json_reader.h"
#include "core/base/nearest.h"
#include "core/base/text.h"

#include <iostream>
#include <optional>

namespace pentamesh::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a request: as much as a plan file may have

struct Line {
    std::string text;
    bool too_long = false;
};

// Reads up to the next line break; nothing at the end of the input. Of a line that is too long the rest is
// passed over.
std::optional<Line> read_line(std::streambuf& in) {
    using Traits = std::streambuf::traits_type;
    Line line;
    int c = in.sbumpc();
    if (Traits::eq_int_type(c, Traits::eof())) return std::nullopt;
    for (; !Traits::eq_int_type(c, Traits::eof()) && c != '\n'; c = in.sbumpc()) {
        if (line.text.size() == kMostBytes) line.too_long = true;
        if (!line.too_long) line.text += Traits::to_char_type(c);
    }
    return line;
}

std::string text_of(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Request {
    std::string id = "null";  // as JSON; null until it is known
    std::vector<std::string> words;
    std::string input;
};

[[noreturn]] void refuse_request(const std::string& pointer, const std::string& why) {
    throw Error(ErrorKind::usage, "", pointer, why);
}

// Returns a word of the command line: a plan may stand as an object.
std::string word_of(const nlohmann::json& value, std::size_t index) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number() || value.is_object()) return value.dump();
    refuse_request("/args/" + std::to_string(index),
                   "found " + shown_json(value) + ", must be a text, a number or a plan");
}

void read_request(const nlohmann::json& line, Request& out) {
    if (!line.is_object()) refuse_request("", "found " + shown_json(line) + ", a request must be an object");
    if (const auto id = line.find("id"); id != line.end()) {
        if (id->is_structured()) refuse_request("/id", "must be a text or a number");
        out.id = text_of(*id);
    }
    for (const auto& item : line.items())
        if (const std::string& k = item.key(); k != "id" && k != "command" && k != "args" && k != "input")
            refuse_request("/" + escape_token(shown_text(k)),
                           "unknown key; a request has id, command, args and input");
    const auto command = line.find("command");
    if (command == line.end() || !command->is_string())
        refuse_request("/command", "must be the name of a command");
    out.words = {command->get<std::string>()};
    if (out.words.front() == "serve") refuse_request("/command", "serve is running already");
    if (const auto args = line.find("args"); args != line.end()) {
        if (!args->is_array()) refuse_request("/args", "must be a list");
        for (const auto& a : *args) out.words.push_back(word_of(a, out.words.size() - 1));
    }
    if (const auto input = line.find("input"); input != line.end()) {
        if (!input->is_string()) refuse_request("/input", "must be a text");
        out.input = input->get<std::string>();
    }
}

// Takes line breaks and the blanks after them out of JSON: neither stands inside a string.
std::string on_one_line(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    bool begins = false;
    for (const char c : json) {
        if (c == '\n')
            begins = true;
        else if (!(begins && c == ' '))
            out += c, begins = false;
    }
    return out;
}

// Returns what was written to standard error, line by line, without the program's name.
std::vector<std::string> lines_of(const std::string& messages) {
    constexpr std::string_view kName = "pentamesh: ";
    std::vector<std::string> out;
    for (std::string_view line : split_lines(messages)) {
        if (line.starts_with(kName)) line.remove_prefix(kName.size());
        if (!line.empty()) out.push_back(as_utf8(std::string(line)));
    }
    return out;
}

std::string answer_of(const std::string& id, int status, const std::vector<std::string>& messages,
                      const std::string& result) {
    const std::string error = join(messages, "\n");
    std::string out = "{\"id\": " + id + ", \"status\": " + std::to_string(status);
    if (status != 0) out += ", \"error\": " + text_of(error.empty() ? "it did not do what was asked" : error);
    if (status == 0 && !messages.empty()) out += ", \"messages\": " + text_of(Json(messages));
    return out + (result.empty() ? "" : ", \"result\": " + result) + "}\n";
}

std::string answer(Context& context, const Request& request) {
    std::string result;
    std::vector<std::string> messages;
    int status = 0;
    {
        OwnStreams streams(request.input);
        status = run_words(context, request.words, false);
        messages = lines_of(streams.messages());
        result = streams.output();
    }
    const bool json = context.json && !result.empty() && (status == 0 || nlohmann::json::accept(result));
    if (!result.empty()) result = json ? on_one_line(result) : text_of(as_utf8(result));
    return answer_of(request.id, status, messages, result);
}

std::string answer_line(Context& context, const Line& line) {
    Request request;
    try {
        if (line.too_long) refuse_request("", sentence("a request has at most ", bytes_text(kMostBytes)));
        read_request(parse_json(line.text, ""), request);
        return answer(context, request);
    } catch (const Error& e) {
        return answer_of(request.id, 2, {std::string("the request: ") + as_utf8(e.what())}, "");
    } catch (const std::bad_alloc&) {
        return answer_of(request.id, 1, {"there is not enough memory for this"}, "");
    } catch (const std::exception& e) {
        return answer_of(request.id, 1, {as_utf8(e.what())}, "");
    }
}

int serve(Context& context) {
    std::streambuf& in = *std::cin.rdbuf();
    while (const std::optional<Line> line = read_line(in)) {
        if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
        if (!print_json(answer_line(context, *line))) break;  // nobody reads any more
    }
    return 0;
}

}  // namespace

void add_serve(Options& app, Context& context) {
    app.callback([&context] { context.run = [&context] { return serve(context); }; });
}

}  // namespace pentamesh::cli
