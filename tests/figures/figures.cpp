#include "tests/figures/figures.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace pentamesh::test {
namespace {

// Seven digits are off by one in the last where a compiler rounds otherwise.
constexpr double kSameFigure = 1.5e-6;
constexpr int kMostPrinted = 20;  // lines of a failure
constexpr const char* kRefresh =
    "PENTAMESH_REFRESH_FIGURES=1 build/release/bin/core_tests --test-case=\"golden figures*\"";

void add_leaves(const nlohmann::ordered_json& now, const nlohmann::ordered_json& usual,
                const std::string& name, std::string& out) {
    if (now == usual) return;
    if (now.is_object()) {
        for (const auto& item : now.items())
            add_leaves(item.value(),
                       usual.is_object() ? usual.value(item.key(), nlohmann::ordered_json())
                                         : nlohmann::ordered_json(),
                       name.empty() ? item.key() : name + "." + item.key(), out);
        return;
    }
    if (!out.empty()) out += ", ";
    const std::string text = now.is_number_float() ? figure_text(now.get<double>())
                             : now.is_string()     ? one_line(now.get<std::string>())
                                                   : now.dump();
    out += name + " " + text;
}

std::vector<std::string_view> words_in(std::string_view text) {
    constexpr std::string_view kBetween = " ,():";
    std::vector<std::string_view> out;
    for (std::size_t at = 0; (at = text.find_first_not_of(kBetween, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        out.push_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

// Whole numbers and words are the same exactly, other numbers nearly.
bool same_word(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (a.find_first_of(".e") == std::string_view::npos && b.find_first_of(".e") == std::string_view::npos)
        return false;
    const std::string x(a), y(b);
    char *end_x = nullptr, *end_y = nullptr;
    const double v = std::strtod(x.c_str(), &end_x), w = std::strtod(y.c_str(), &end_y);
    return *end_x == 0 && *end_y == 0 && std::abs(v - w) <= kSameFigure * std::abs(v);
}

FigureLines read_lines(const std::string& file) {
    FigureLines out;
    if (!std::filesystem::exists(file)) return out;
    std::string about;
    const std::string all = read_file(file);
    for (std::string_view rest = all; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t colon = line.find(": ");
        if (line.starts_with("== "))
            about = line.substr(3);
        else if (colon != std::string_view::npos)
            out.push_back(
                {about + "\n" + std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))});
    }
    return out;
}

}  // namespace

std::string figure_text(double x) {
    constexpr double kNothing = 1e-12;
    if (std::abs(x) < kNothing) return "0";
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", x);
    return text;
}

std::string settings_text(const Plan& plan) {
    static const nlohmann::ordered_json usual = plan_to_json(Plan{});
    std::string out;
    add_leaves(plan_to_json(plan), usual, "", out);
    return out;
}

std::string one_line(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '\n')
            out += " | ";
        else
            out += c;
    while (out.ends_with(' ') || out.ends_with('|')) out.pop_back();
    return out;
}

bool same_text(std::string_view a, std::string_view b) {
    if (a == b) return true;
    const auto x = words_in(a), y = words_in(b);
    return std::ranges::equal(x, y, same_word);
}

bool same_lines(const FigureLines& a, const FigureLines& b) {
    return std::ranges::equal(a, b, [](const FigureLine& x, const FigureLine& y) {
        return x.label == y.label && same_text(x.text, y.text);
    });
}

void append_lines(FigureLines& out, const std::string& label, const FigureLines& lines) {
    for (const FigureLine& l : lines) out.push_back({label + l.label, l.text});
}

Figures::Figures(const std::string& topic) : file_(GOLDEN_DIR "/figures/" + topic + ".txt") {}

void Figures::about(const std::string& name) {
    about_ = name;
}

void Figures::add(const std::string& label, const FigureLines& lines) {
    for (const FigureLine& l : lines)
        now_.push_back({about_ + "\n" + label + l.label, l.text.empty() ? "nothing" : l.text});
}

void Figures::put_once(const std::string& label, const std::string& text) {
    if (!text.empty() && once_.insert(text).second) put(label, text);
}

void Figures::put_text(const std::string& label, std::string_view text) {
    int n = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        put_once(label + " line " + std::to_string(++n), std::string(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    put(label + " lines", n);
}

int Figures::differing() {
    const FigureLines golden = read_lines(file_);
    std::map<std::string_view, const std::string*> before;
    for (const FigureLine& l : golden) before[l.label] = &l.text;
    CHECK_MESSAGE(before.size() == golden.size(), file_, ": two lines have one name");
    int differ = 0;
    const auto say = [&](const FigureLine& l, const std::string& sign, const std::string& text) {
        std::string name = l.label;
        name.replace(name.find('\n'), 1, ", ");
        if (++differ <= kMostPrinted) MESSAGE((file_ + ": " + name + "\n  " + sign + " " + text));
    };
    std::string text, about;
    for (FigureLine& l : now_) {
        const auto found = before.find(l.label);
        if (found == before.end()) {
            say(l, "+", l.text);
        } else if (same_text(*found->second, l.text)) {
            l.text = *found->second;
        } else {
            say(l, "-", *found->second + "\n  + " + l.text);
        }
        if (found != before.end()) before.erase(found);
        const std::size_t end = l.label.find('\n');
        if (text.empty() || l.label.substr(0, end) != about) {
            about = l.label.substr(0, end);
            text += (text.empty() ? "== " : "\n== ") + about + "\n";
        }
        text += l.label.substr(end + 1) + ": " + l.text + "\n";
    }
    for (const FigureLine& l : golden)
        if (before.contains(l.label)) say(l, "-", l.text);
    if (differ == 0) return 0;
    if (std::getenv("PENTAMESH_REFRESH_FIGURES") != nullptr) {
        std::filesystem::create_directories(std::filesystem::path(file_).parent_path());
        write_file(file_, text);
        return 0;
    }
    MESSAGE((file_ + ": " + std::to_string(differ)
             + " lines differ. Where a change is meant, read them, then run\n  " + kRefresh));
    return differ;
}

}  // namespace pentamesh::test
