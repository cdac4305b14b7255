#include "core/base/json_reader.h"

#include "core/base/files.h"
#include "core/base/text.h"

#include <optional>
#include <vector>

namespace pentamesh {
namespace {

using nlohmann::json;

// Builds the value from the parser's events, keeping the path to where it stands.
class Builder {
  public:
    Builder(std::string_view text, const std::string& path) : text_(text), path_(path) {}
    [[nodiscard]] json take() { return std::move(root_); }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

    bool null() { return add(nullptr); }
    bool boolean(bool v) { return add(v); }
    bool number_integer(std::int64_t v) { return add(v); }
    bool number_unsigned(std::uint64_t v) { return add(v); }
    bool number_float(double v, const std::string&) { return add(v); }
    bool string(std::string& v) { return add(std::move(v)); }
    bool binary(json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(json::object()); }
    bool start_array(std::size_t) { return open(json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& k) {
        levels_.back().key = k;
        return !levels_.back().value->contains(k) || fail("the key stands here twice");
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) {
        return fail(reason(e.what()) + where(position));
    }

  private:
    struct Level {
        json* value;
        std::string key;
    };

    bool add(json v) {
        place(std::move(v));
        return true;
    }
    json* place(json v) {
        if (levels_.empty()) {
            root_ = std::move(v);
            return &root_;
        }
        json& parent = *levels_.back().value;
        if (parent.is_array()) {
            parent.push_back(std::move(v));
            return &parent.back();
        }
        return &(parent[levels_.back().key] = std::move(v));
    }
    bool open(json v) {
        if (levels_.size() >= static_cast<std::size_t>(kMostJsonLevels))
            return fail("is nested deeper than " + std::to_string(kMostJsonLevels) + " levels");
        json* at = place(std::move(v));
        levels_.push_back({at, {}});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }

    [[nodiscard]] std::string pointer() const {
        std::string p;
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            const Level& level = levels_[i];
            const bool inside = i + 1 < levels_.size();  // then its last element is being read, not the next
            if (level.value->is_array())
                p += "/" + std::to_string(level.value->size() - (inside ? 1 : 0));
            else if (!level.key.empty())
                p += "/" + escape_token(shown_text(level.key));
        }
        return p;
    }
    // Reading ends with false.
    bool fail(const std::string& what) {
        error_.emplace(ErrorKind::invalid, path_, pointer(), what);
        return false;
    }
    // Cuts the beginning off "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error
    // while ...": the line is counted here, since errors of numbers have none.
    [[nodiscard]] static std::string reason(std::string what) {
        if (const auto end = what.find("] "); end != std::string::npos) what = what.substr(end + 2);
        if (what.rfind("parse error", 0) == 0)
            if (const auto colon = what.find(": "); colon != std::string::npos) what = what.substr(colon + 2);
        return "not JSON: " + shown_message(what);
    }
    [[nodiscard]] static std::string shown_message(const std::string& what) {
        std::string out;
        for (const char c : what.substr(0, 240)) {
            const auto byte = static_cast<unsigned char>(c);
            out += byte < 0x20 || byte >= 0x7f ? '?' : c;
        }
        return out;
    }
    [[nodiscard]] std::string where(std::size_t position) const {
        const std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i] == '\n') {
                ++line;
                start = i + 1;
            }
        return " (line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1)
               + ")";
    }

    std::string_view text_;
    const std::string& path_;
    json root_;
    std::vector<Level> levels_;
    std::optional<Error> error_;
};

// Python's json writes Infinity and NaN, which are no JSON, into a config.json of Hugging Face: they read as
// null.
std::string without_infinities(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
        const std::string_view rest = text.substr(i);
        std::size_t n = 0;
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
            if (!quoted && n == 0 && rest.starts_with(word)) n = word.size();
        if (n > 0)
            out += "null";
        else
            out.push_back(text[i]);
        i += n > 0 ? n - 1 : 0;
    }
    return out;
}

// Returns an error where the text is refused; else its value is in `out`.
std::optional<Error> read_json(std::string_view text, const std::string& path, json& out) {
    if (text.size() > kMostFileBytes)
        return Error(ErrorKind::invalid, path, "",
                     "is larger than " + std::to_string(kMostFileBytes >> 20)
                         + " MiB, the most that is read");
    std::string plain;
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    if (has("\"model_type\"") && (has("Infinity") || has("NaN"))) text = plain = without_infinities(text);
    Builder builder(text, path);
    json::sax_parse(text.begin(), text.end(), &builder);
    if (!builder.error()) out = builder.take();
    return builder.error();
}

}  // namespace

json parse_json(std::string_view text, const std::string& path) {
    json out;
    if (const std::optional<Error> error = read_json(text, path, out)) throw Error(*error);
    return out;
}

std::optional<json> try_parse_json(std::string_view text) {
    json out;
    if (read_json(text, "", out)) return std::nullopt;
    return out;
}

std::string escape_token(std::string_view token) {
    std::string out;
    for (const char c : token) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i);
        if (first < 0x80) {
            ++i;
            continue;
        }
        if (first < 0xC2 || first > 0xF4) return false;
        const std::size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (text.size() - i <= more) return false;
        // The limits of the second byte keep out longer spellings than needed, surrogates and code points
        // beyond U+10FFFF.
        const unsigned second = byte(i + 1);
        const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (second < least || second > most) return false;
        for (std::size_t k = 2; k <= more; ++k)
            if ((byte(i + k) & 0xC0) != 0x80) return false;
        i += more + 1;
    }
    return true;
}

std::string as_utf8(std::string_view text) {
    if (is_utf8(text)) return std::string(text);  // nearly always, and many times faster
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string shown_json(const json& value) {
    if (value.is_object()) return value.empty() ? "{}" : "an object";
    if (value.is_array() && value.size() > 16) return "a list of " + std::to_string(value.size());
    return shown_text(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace pentamesh
