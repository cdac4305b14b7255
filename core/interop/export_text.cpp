// Writes values and settings in the frameworks' formats.
#include "core/base/text.h"
#include "core/interop/export_page.h"
#include "core/plan/names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh::interop {
namespace {

using Json = nlohmann::ordered_json;

template <typename... F>
struct Cases : F... {
    using F::operator()...;
};
template <typename... F>
Cases(F...) -> Cases<F...>;

// Returns "0.1", "1.0": always with a point.
std::string decimal(double x) {
    std::string s = Json(x).dump();
    return s;
}

template <typename T, typename F>
std::string listed(const std::vector<T>& all, const F& text) {
    return "[" + join(all, ", ", text) + "]";
}

// Returns a text in double quotes: the escapes of JSON are understood by YAML and by Python.
std::string in_quotes(const std::string& s) {
    return Json(s).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Puts quotes around words that YAML takes for something else, and others that need them.
std::string yaml_word(const std::string& s) {
    static constexpr std::string_view own[] = {"yes",   "no",   "on", "off", "true",
                                               "false", "null", "y",  "n",   "~"};
    std::string low;
    bool plain = !s.empty() && !(s[0] >= '0' && s[0] <= '9');
    for (const char c : s) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        plain =
            plain
            && (letter || c == '_' || c == '/' || (c == '-' && !low.empty()) || (c == '.' && !low.empty()));
        low.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (std::find(std::begin(own), std::end(own), low) != std::end(own)) return "'" + s + "'";
    return plain ? s : in_quotes(s);
}

// Returns a value of a file, with the format's words for true and false, and its form of a word.
template <typename Word>
std::string value_text(const Value& value, const char* yes, const char* no, Word word) {
    return std::visit(
        Cases{[](std::int64_t n) { return std::to_string(n); }, [](double x) { return decimal(x); },
              [&](bool b) { return std::string(b ? yes : no); },
              [&](const std::string& s) { return word(s); }, [](const Bare& b) { return b.text; },
              [](const std::vector<std::int64_t>& v) {
                  return listed(v, [](std::int64_t n) { return std::to_string(n); });
              },
              [&](const std::vector<std::string>& v) { return listed(v, word); },
              [&](const Parts& v) {
                  return listed(v, [&](const std::vector<std::string>& p) { return listed(p, word); });
              }},
        value);
}

std::string yaml_value(const Value& value) {
    return value_text(value, "true", "false", yaml_word);
}

Json json_value(const Value& value) {
    return std::visit(Cases{[](const Bare& b) { return b.text == "null" ? Json(nullptr) : Json(b.text); },
                            [](const auto& x) { return Json(x); }},
                      value);
}

void put_at(Json& root, std::string_view name, Json value) {
    Json* at = &root;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        at = &(*at)[std::string(name.substr(0, dot))];
        name.remove_prefix(dot + 1);
    }
    (*at)[std::string(name)] = std::move(value);
}

struct Branch {
    std::string name, value;
    std::vector<Branch> below;
    Branch& at(std::string_view key) {
        for (Branch& b : below)
            if (b.name == key) return b;
        return below.emplace_back(Branch{std::string(key), {}, {}});
    }
};

void write_branch(const Branch& b, std::size_t level, std::string& out) {
    for (const Branch& child : b.below) {
        out += std::string(2 * level, ' ') + child.name + ":";
        if (child.below.empty())
            out += " " + child.value + "\n";
        else
            out += "\n", write_branch(child, level + 1, out);
    }
}

std::string one_line_of(std::string_view text) {
    std::string out;
    for (const char c : text) out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
    return out;
}

constexpr std::string_view kWhose[] = {"Megatron-LM", "Megatron-Bridge", "torchtitan",
                                       "DeepSpeed",   "accelerate",      "nanotron",
                                       "picotron",    "Hugging Face",    "PyTorch's DeviceMesh"};

}  // namespace

std::vector<std::string> head_lines(const Page& page) {
    const Plan& p = page.plan;
    const Layout& l = p.layout;
    const auto n = [](std::int64_t x) { return std::to_string(x); };
    const std::string order = join(l.order, "-", [](const Axis a) { return pentamesh::name_of(a); });
    std::vector<std::string> out{
        "Pentamesh plan \"" + p.name + "\" for " + std::string(kWhose[static_cast<std::size_t>(page.target)])
            + ": " + p.model.name + " on " + n(p.cluster.gpus) + " GPUs (" + p.cluster.name + ")",
        "tp " + n(l.tp) + ", cp " + n(l.cp) + ", pp " + n(l.pp) + ", ep " + n(l.ep) + ", dp_shard "
            + n(l.dp_shard) + ", dp_replicate " + n(replicas(p)) + ", ZeRO-" + std::to_string(l.zero)
            + ", order " + order + " (innermost first)"};
    if (!page.out.lost.empty()) out.emplace_back("Lost, the framework cannot say it:");
    for (const Unsaid& u : page.out.lost) out.push_back("  " + u.pointer + ": " + u.why);
    if (!page.out.notes.empty()) out.emplace_back("Not said here:");
    for (const std::string& s : page.out.notes) out.push_back("  " + s);
    for (std::string& line : out) line = one_line_of(line);
    return out;
}

std::string as_comment(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += "# " + line + "\n";
    return out;
}

std::string python_text(const Value& value) {
    return value_text(value, "True", "False", in_quotes);
}

std::string shell_word(std::string_view word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
               || c == '-' || c == '.' || c == '/' || c == '+' || c == ',' || c == ':' || c == '=';
    });
    if (plain) return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string flags_text(const std::vector<Said>& said) {
    std::string out;
    for (const Said& s : said) {
        std::string value;
        if (const bool* on = std::get_if<bool>(&s.value)) {
            if (!*on) continue;
        } else if (const std::string* word = std::get_if<std::string>(&s.value)) {
            value = " " + shell_word(*word);
        } else if (const auto* words = std::get_if<std::vector<std::string>>(&s.value)) {
            for (const std::string& w : *words) value += " " + shell_word(w);
        } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&s.value)) {
            for (const std::int64_t n : *numbers) value += " " + std::to_string(n);
        } else {
            value = " " + yaml_value(s.value);
        }
        out += "    " + s.name + value + "\n";
    }
    return out;
}

std::string yaml_text(const std::vector<Said>& said) {
    Branch root;
    for (const Said& s : said) {
        Branch* at = &root;
        std::string_view name = s.name;
        for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
            at = &at->at(name.substr(0, dot));
            name.remove_prefix(dot + 1);
        }
        at->at(name).value = yaml_value(s.value);
    }
    std::string out;
    write_branch(root, 0, out);
    return out;
}

std::string json_text(const std::vector<Said>& said, const std::vector<std::string>& head) {
    Json root = Json::object();
    if (!head.empty()) root["_comment"] = head;
    for (const Said& s : said) put_at(root, s.name, json_value(s.value));
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pentamesh::interop
