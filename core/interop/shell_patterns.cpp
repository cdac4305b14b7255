// Matches Bash patterns, and takes away and replaces what they match.
#include "core/interop/shell_state.h"

namespace pentamesh::shell {
namespace {

// Returns how many characters at the beginning the pattern matches at most; nullopt: it does not match.
std::optional<std::size_t> longest_match(const std::string& pattern, std::string_view text) {
    for (std::size_t n = text.size() + 1; n-- > 0;)
        if (matches(pattern, text.substr(0, n))) return n;
    return std::nullopt;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
    // This is the usual walk with one place to go back to: the last star.
    std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        bool one = false;
        std::size_t next = p + 1;
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                star = p++;
                from = t;
                continue;
            }
            const std::size_t close = pattern[p] == '[' ? pattern.find(']', p + 2) : std::string_view::npos;
            if (close != std::string_view::npos) {
                std::string_view set = pattern.substr(p + 1, close - p - 1);
                const bool negated = set.front() == '!' || set.front() == '^';
                if (negated) set.remove_prefix(1);
                bool in = false;
                for (std::size_t i = 0; i < set.size(); ++i) {
                    if (i + 2 < set.size() && set[i + 1] == '-') {
                        in = in || (text[t] >= set[i] && text[t] <= set[i + 2]);
                        i += 2;
                    } else {
                        in = in || set[i] == text[t];
                    }
                }
                one = in != negated;
                next = close + 1;
            } else {
                one = pattern[p] == '?' || pattern[p] == text[t];
            }
        }
        if (one) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string trimmed(const std::string& text, const std::string& pattern, bool front, bool longest) {
    if (text.size() > 4096) return text;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const std::size_t n = longest ? text.size() - i : i;
        const std::string_view part =
            front ? std::string_view(text).substr(0, n) : std::string_view(text).substr(text.size() - n);
        if (matches(pattern, part)) return front ? text.substr(n) : text.substr(0, text.size() - n);
    }
    return text;
}

std::optional<std::string> replaced(const std::string& text, std::string what, const std::string& with,
                                    bool all) {
    constexpr std::size_t kMostMatched = 128, kMostPattern = 32;
    const bool front = !all && what.starts_with('#'), back = !all && what.starts_with('%');
    if (what.empty()) return text;
    if (with.find('&') != std::string::npos) return std::nullopt;  // since 5.2 the text that was matched
    if (front || back) what.erase(0, 1);
    const bool plain = what.find_first_of("*?[") == std::string::npos;
    if (!plain && (text.size() > kMostMatched || what.size() > kMostPattern)) return std::nullopt;
    if (back) {
        if (plain) return text.ends_with(what) ? text.substr(0, text.size() - what.size()) + with : text;
        for (std::size_t i = 0; i <= text.size(); ++i)
            if (matches(what, std::string_view(text).substr(i))) return text.substr(0, i) + with;
        return text;
    }
    std::string out;
    bool done = false;
    for (std::size_t at = 0; at < text.size() || (front && at == 0 && !done);) {
        const std::string_view rest = std::string_view(text).substr(at);
        const std::optional<std::size_t> n =
            done    ? std::nullopt
            : plain ? rest.starts_with(what) ? std::optional(what.size()) : std::nullopt
                    : longest_match(what, rest);
        if (out.size() > kMostValueBytes) return std::nullopt;
        if (n && (*n > 0 || front)) {
            out += with;
            at += *n;
            done = !all;
        } else {
            if (at < text.size()) out += text[at];
            ++at;
        }
        if (front) done = true;
    }
    return out;
}

}  // namespace pentamesh::shell
