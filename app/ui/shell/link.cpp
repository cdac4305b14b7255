#include "app/ui/shell/link.h"

#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/base/number.h"

#include <algorithm>
#include <cstdint>
#include <vector>
#include <zlib.h>

namespace pentamesh::ui {

namespace {

constexpr std::string_view kSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kMostText = std::size_t{1} << 20;  // a larger text is refused
constexpr std::size_t kMostLessonSteps = 10000;

[[noreturn]] void damaged(const std::string& how) {
    throw Error(ErrorKind::invalid, "the link", "", how);
}

// RFC 4648, section 5, without padding.
std::string base64url(const std::vector<Bytef>& bytes) {
    std::string out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const Bytef b : bytes) {
        bits = bits << 8U | b, held += 8;
        for (; held >= 6; held -= 6) out += kSigns[bits >> static_cast<unsigned>(held - 6) & 63U];
    }
    if (held > 0) out += kSigns[bits << static_cast<unsigned>(6 - held) & 63U];
    return out;
}

std::vector<Bytef> bytes_of(std::string_view text) {
    std::vector<Bytef> out;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const std::size_t at = kSigns.find(c);
        if (at == std::string_view::npos)
            damaged("its plan has a sign that no link has; it was changed on its way");
        bits = bits << 6U | static_cast<std::uint32_t>(at), held += 6;
        if (held >= 8) out.push_back(static_cast<Bytef>(bits >> static_cast<unsigned>(held -= 8) & 255U));
    }
    return out;
}

std::vector<Bytef> packed(const std::string& text) {
    uLongf size = compressBound(static_cast<uLong>(text.size()));
    std::vector<Bytef> out(size);
    const auto* from = reinterpret_cast<const Bytef*>(text.data());
    if (compress2(out.data(), &size, from, static_cast<uLong>(text.size()), Z_BEST_COMPRESSION) != Z_OK)
        throw Error(ErrorKind::io, "", "", "the plan could not be compressed");
    out.resize(size);
    return out;
}

std::string unpacked(const std::vector<Bytef>& bytes) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) damaged("its plan could not be unpacked");
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    int state = Z_OK;
    while (state == Z_OK && out.size() <= kMostText) {
        const std::size_t before = out.size();
        out.resize(before + (std::size_t{1} << 14U));
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        stream.avail_out = static_cast<uInt>(out.size() - before);
        state = inflate(&stream, Z_NO_FLUSH);
        out.resize(out.size() - stream.avail_out);
        if (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) state = Z_BUF_ERROR;
    }
    inflateEnd(&stream);
    if (out.size() > kMostText) damaged("its plan is larger than a megabyte");
    if (state != Z_STREAM_END) damaged("a part of its plan is missing or was changed on its way");
    return out;
}

std::size_t number_of(std::string_view text) {
    const std::int64_t n = parse_whole(text).value_or(0);
    if (n < 1 || n > std::int64_t{kMostLessonSteps})
        damaged("step=" + shown_text(text) + " is no number of a step");
    return static_cast<std::size_t>(n);
}

std::string id_of_lesson(std::string_view text) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), plain))
        damaged("lesson=" + shown_text(text) + " is no lesson");
    return std::string(text);
}

}  // namespace

std::string write_link(const Link& link) {
    std::string out;
    const auto add = [&](std::string_view key, const std::string& value) {
        out += (out.empty() ? "#" : "&") + std::string(key) + "=" + value;
    };
    if (!link.plan.empty()) add("plan", base64url(packed(link.plan)));
    if (link.view) add("view", std::string(view_of(*link.view).name));
    if (!link.lesson.empty()) add("lesson", link.lesson);
    if (link.step > 0) add("step", std::to_string(link.step));
    return out;
}

bool is_link(std::string_view text) {
    const std::size_t at = text.find('#');
    if (at == std::string_view::npos || text.substr(0, at).find_first_of(" \n{") != std::string_view::npos)
        return false;
    const std::string_view end = text.substr(at + 1);
    return end.starts_with("plan=") || end.starts_with("view=") || end.starts_with("lesson=");
}

Link read_link(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
        text.remove_suffix(1);
    text.remove_prefix(std::min(text.size(), text.find('#') + 1));
    Link link;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::size_t equal = part.find('=');
        const std::string_view key = part.substr(0, equal),
                               value = equal == std::string_view::npos ? "" : part.substr(equal + 1);
        if (key == "plan") {
            link.plan = unpacked(bytes_of(value));
        } else if (key == "view") {
            link.view = view_named(value);
            if (!link.view && value != "dashboard") damaged("view=" + shown_text(value) + " is no view");
        } else if (key == "lesson") {
            link.lesson = id_of_lesson(value);
        } else if (key == "step") {
            link.step = number_of(value);
        } else {
            damaged("\"" + shown_text(key) + "\" says nothing here; it knows plan, view, lesson and step");
        }
    }
    return link;
}

}  // namespace pentamesh::ui
