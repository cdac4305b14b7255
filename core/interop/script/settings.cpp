#include "core/interop/script/settings.h"

#include "core/base/files.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <toml++/toml.h>
#include <unordered_map>
#include <yaml.h>

namespace pentamesh::interop {
namespace {

// This is written at configure time from presets/frameworks/words.json.
constexpr std::string_view kWordsText =
#include "words.inc"
    ;

}  // namespace

const nlohmann::ordered_json& words(std::string_view table) {
    static const auto all = nlohmann::ordered_json::parse(kWordsText);
    return all.at(table);
}

std::string_view word_of(const nlohmann::ordered_json& text) {
    return text.get_ref<const std::string&>();
}

std::vector<std::string_view> word_list(std::string_view table) {
    std::vector<std::string_view> out;
    for (const auto& word : words(table)) out.push_back(word_of(word));
    return out;
}

bool is_among(std::string_view table, std::string_view word) {
    const auto& all = words(table);
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return word_of(one) == word; });
}

std::string words_of(const TextPlace& place) {
    return (place.file.empty() ? "" : place.file + ", ") + "line " + std::to_string(place.line);
}

bool says_nothing(std::string_view value) {
    return value.empty() || value == "None" || value == "null" || value == "~" || value == "none-given";
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text.front() == '_' || text.back() == '_') return std::nullopt;
    std::int64_t n = 0;
    for (const char c : text) {
        if (c == '_') continue;
        if (c < '0' || c > '9' || n > (std::int64_t{1} << 58)) return std::nullopt;
        n = n * 10 + (c - '0');
    }
    return negative ? -n : n;
}

std::optional<bool> flag_of_word(std::string_view value) {
    std::string word;
    for (const char c : value) word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    if (word.empty() || word == "true" || word == "yes" || word == "on" || word == "1") return true;
    if (word == "false" || word == "no" || word == "off" || word == "0") return false;
    return std::nullopt;
}

namespace {

void collect(const Node& node, const std::string& prefix, int line, std::vector<Setting>& out) {
    if (node.kind == NodeKind::map && !node.entries.empty()) {
        for (const Node::Entry& e : node.entries)
            collect(e.value, prefix.empty() ? e.key : prefix + "." + e.key, e.line, out);
        return;
    }
    Setting s;
    s.name = prefix;
    s.value = one_line(node);
    s.quoted = node.quoted;
    s.at.line = line > 0 ? line : node.line;
    out.push_back(std::move(s));
}

}  // namespace

std::vector<Setting> read_argument_log(std::string_view text) {
    std::vector<Setting> out;
    int line = 0;
    bool inside = text.find("- arguments -")
                  == std::string_view::npos;  // before the block and behind it stands what a run says
    for (const std::string_view row : split_lines(text)) {
        ++line;
        if (row.find("- arguments -") != std::string_view::npos) inside = true;
        if (row.find("end of arguments") != std::string_view::npos) inside = false;
        if (!inside) continue;
        const std::size_t dots = row.find(" ..");
        if (dots == std::string_view::npos) continue;
        const std::size_t value = row.find_first_not_of(". ", dots);
        std::size_t begin = dots;
        while (begin > 0 && row[begin - 1] != ' ' && row[begin - 1] != ':') --begin;
        if (begin == dots || value == std::string_view::npos) continue;
        Setting s;
        s.name = row.substr(begin, dots - begin);
        s.value = row.substr(value);
        while (!s.value.empty() && (s.value.back() == ' ' || s.value.back() == '\r')) s.value.pop_back();
        s.at.line = line;
        out.push_back(std::move(s));
    }
    return out;
}

const Node* Node::find(std::string_view key) const {
    const Node* found = nullptr;
    for (const Entry& e : entries)
        if (e.key == key) found = &e.value;
    return found;
}

std::vector<Setting> flatten(const Node& root) {
    std::vector<Setting> out;
    if (root.kind == NodeKind::map && !root.entries.empty()) collect(root, "", 0, out);
    return out;
}

std::string one_line(const Node& node) {
    constexpr std::size_t longest = 400;
    switch (node.kind) {
    case NodeKind::null: return "null";
    case NodeKind::scalar: return node.text;
    case NodeKind::list:
    case NodeKind::map: break;
    }
    const bool map = node.kind == NodeKind::map;
    std::string out = map ? "{" : "[";
    for (const Node::Entry& e : node.entries) {
        if (out.size() > longest) {
            out += ", …";
            break;
        }
        out += (out.size() > 1 ? ", " : "") + (map ? e.key + ": " : std::string()) + one_line(e.value);
    }
    return out + (map ? "}" : "]");
}

namespace {

std::optional<std::string> value_of_reference(const std::string& inside, const std::string& of,
                                              const std::map<std::string, std::string>& plain,
                                              const GivenValues& given) {
    const std::size_t colon = inside.find(':');
    std::string name = inside.substr(0, colon);
    static constexpr std::string_view kResolvers[] = {"multiply", "mul", "sum", "add", "div"};
    if (std::find(std::begin(kResolvers), std::end(kResolvers), name) != std::end(kResolvers)) {
        const std::size_t comma = inside.find(',');
        if (comma == std::string::npos) return std::nullopt;
        const auto number = [](std::string text) {
            std::erase(text, ' ');
            return parse_integer(text).value_or(0);
        };
        const std::int64_t a = number(inside.substr(colon + 1, comma - colon - 1)),
                           b = number(inside.substr(comma + 1));
        if (a <= 0 || b <= 0 || a > (1 << 25) || b > (1 << 25)) return std::nullopt;
        if (name == "div") return std::to_string(a / b);
        return std::to_string(name == "sum" || name == "add" ? a + b : a * b);
    }
    const std::string after = colon == std::string::npos ? std::string() : inside.substr(colon + 1);
    if (name == "oc.env" || name == "env" || name == "oc.select") {  // OmegaConf's: a name, and a default
        name = after.substr(0, after.find(','));
        const auto end = name.find_last_not_of(' ');
        name.resize(end == std::string::npos ? 0 : end + 1);
        if (const auto it = given.find(name); it != given.end()) return it->second;
        if (const auto it = plain.find(name); it != plain.end()) return it->second;
        if (after.find(',') == std::string::npos) return std::nullopt;
        return std::string(trimmed(std::string_view(after).substr(after.find(',') + 1), " '\""));
    }
    if (name.starts_with(".")) name = of.substr(0, of.rfind('.')) + name;
    if (const auto it = given.find(name); it != given.end()) return it->second;
    // A file of a group that others include is named with the group: "training.trainer.precision".
    for (std::string part = name;; part = part.substr(part.find('.') + 1)) {
        if (const auto it = plain.find(part); it != plain.end()) return it->second;
        if (std::count(part.begin(), part.end(), '.') < 2) break;
    }
    if (const auto it = given.find(inside); it != given.end()) return it->second;
    // "${GPUS:8}" has a default, "${art:data,pack_size}" calls a function of the program.
    const bool variable = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return colon == std::string::npos || !variable ? std::nullopt : std::optional(after);
}

// Returns the name by which --var gives a reference its value.
std::string name_of_reference(const std::string& inside) {
    for (const std::string_view resolver : {"oc.env:", "env:", "oc.select:"})
        if (inside.starts_with(resolver)) return inside.substr(resolver.size());
    return inside;
}

}  // namespace

void resolve_references(std::vector<Setting>& settings, const GivenValues& given) {
    std::map<std::string, std::string> plain;
    for (const Setting& s : settings)
        if (s.value.find("${") == std::string::npos) plain[s.name] = s.value;
    for (Setting& s : settings) {
        for (std::size_t at = 0; (at = s.value.rfind("${")) != std::string::npos;) {
            const std::size_t end = s.value.find('}', at);
            if (end == std::string::npos) break;
            const std::string inside = s.value.substr(at + 2, end - at - 2);
            const std::optional<std::string> value = value_of_reference(inside, s.name, plain, given);
            if (!value) s.unknown = name_of_reference(inside);
            if (!value) break;
            s.value.replace(at, end + 1 - at, *value);
            if (s.value.size() > 4096) break;
        }
    }
}

// Reads TOML by toml++.

namespace {

Node node_of(const toml::node& from);

std::string scalar_text(const toml::node& from, bool& quoted) {
    if (const auto* s = from.as_string()) {
        quoted = true;
        return s->get();
    }
    if (const auto* i = from.as_integer()) return std::to_string(i->get());
    if (const auto* b = from.as_boolean()) return b->get() ? "true" : "false";
    std::ostringstream out;
    out.imbue(std::locale::classic());
    from.visit([&](const auto& n) {
        if constexpr (toml::is_value<decltype(n)>) out << n;
    });
    return out.str();
}

int line_of(const toml::node& n) {
    return static_cast<int>(n.source().begin.line);
}

Node node_of(const toml::node& from) {
    Node n;
    n.line = line_of(from);
    if (const auto* table = from.as_table()) {
        n.kind = NodeKind::map;
        for (const auto& [key, value] : *table)
            n.entries.push_back(
                {std::string(key.str()), static_cast<int>(key.source().begin.line), node_of(value)});
        // toml++ sorts keys by name; a reader wants the text's order.
        std::stable_sort(n.entries.begin(), n.entries.end(),
                         [](const Node::Entry& a, const Node::Entry& b) { return a.line < b.line; });
    } else if (const auto* array = from.as_array()) {
        n.kind = NodeKind::list;
        for (const auto& value : *array) n.entries.push_back({"", line_of(value), node_of(value)});
    } else {
        n.kind = NodeKind::scalar;
        n.text = scalar_text(from, n.quoted);
    }
    return n;
}

// toml++ makes a table of each part of a key, one inside the other, and takes 80 bytes for one of a value.
constexpr std::size_t kMostTomlBytes = std::size_t{4} << 20U;
constexpr int kMostKeyParts = 64;

// Returns the line on which a key has more parts than that, or 0.
int line_of_deep_key(std::string_view text) {
    int line = 1, dots = 0;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') ++line, dots = 0;
        if (quote != 0) {
            if (c == '\\' && quote == '"') ++i;
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else if (c == '=' || c == ',' || c == '{' || c == '[') {
            dots = 0;
        } else if (c == '.' && ++dots >= kMostKeyParts) {
            return line;
        }
    }
    return 0;
}

}  // namespace

Node read_toml(std::string_view text, const std::string& path) {
    if (text.size() > kMostTomlBytes)
        throw Error(ErrorKind::invalid, path, "", "is larger than 4 MiB, the most that is read as TOML");
    if (const int line = line_of_deep_key(text); line > 0)
        throw Error(ErrorKind::invalid, path, "",
                    "line " + std::to_string(line) + ": a key of more than 64 parts");
    try {
        return node_of(toml::parse(text, path));
    } catch (const toml::parse_error& e) {
        throw Error(ErrorKind::invalid, path, "",
                    "line " + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
    }
}

// Reads YAML by libyaml's events: lines are known, aliases cost only where they are used.

namespace {

constexpr int kMostYamlLevels = 64;
constexpr std::size_t kMostNodes = 200'000;

class YamlReader {
  public:
    YamlReader(std::string_view text, const std::string& path, std::vector<std::string>* duplicates)
        : path_(path), duplicates_(duplicates) {
        yaml_parser_initialize(&parser_);
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size());
    }
    ~YamlReader() { yaml_parser_delete(&parser_); }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;

    Node document() {
        Node root;
        while (true) {
            const Event e = next();
            if (e->type == YAML_STREAM_END_EVENT) return root;
            if (e->type == YAML_DOCUMENT_START_EVENT) {
                root = value(next(), 0);
                return root;  // the first document is the configuration
            }
        }
    }

  private:
    struct Delete {
        void operator()(yaml_event_t* e) const {
            yaml_event_delete(e);
            delete e;
        }
    };
    using Event = std::unique_ptr<yaml_event_t, Delete>;

    [[noreturn]] void fail(std::size_t line, const std::string& what) const {
        throw Error(ErrorKind::invalid, path_, "", "line " + std::to_string(line) + ": " + what);
    }

    Event next() {
        auto raw = std::make_unique<yaml_event_t>();
        if (yaml_parser_parse(&parser_, raw.get()) == 0)
            fail(parser_.problem_mark.line + 1, parser_.problem ? parser_.problem : "it cannot be read");
        return Event(raw.release());
    }

    static std::string text_of(const unsigned char* s) { return s ? reinterpret_cast<const char*>(s) : ""; }

    using Places = std::unordered_map<std::string, std::size_t>;  // of the keys of one map

    Node value(const Event& e, int level) {
        const std::size_t line = e->start_mark.line + 1;
        if (level > kMostYamlLevels) fail(line, "values are nested more than 64 levels deep");
        if (++nodes_ > kMostNodes) fail(line, "more than 200,000 values, aliases counted each time");
        Node n;
        n.line = static_cast<int>(line);
        std::string anchor;
        switch (e->type) {
        case YAML_ALIAS_EVENT: {
            const auto it = anchors_.find(text_of(e->data.alias.anchor));
            if (it == anchors_.end())
                fail(line, "the alias *" + text_of(e->data.alias.anchor) + " has no anchor");
            nodes_ += it->second.second;
            if (nodes_ > kMostNodes) fail(line, "more than 200,000 values, aliases counted each time");
            return it->second.first;
        }
        case YAML_SCALAR_EVENT: {
            const auto& s = e->data.scalar;
            anchor = text_of(s.anchor);
            n.kind = NodeKind::scalar;
            n.text.assign(reinterpret_cast<const char*>(s.value), s.length);
            n.quoted = s.style != YAML_PLAIN_SCALAR_STYLE;
            if (!n.quoted && (n.text.empty() || n.text == "null" || n.text == "~" || n.text == "Null"))
                n.kind = NodeKind::null;
            break;
        }
        case YAML_SEQUENCE_START_EVENT: {
            anchor = text_of(e->data.sequence_start.anchor);
            const std::size_t before = nodes_;
            n.kind = NodeKind::list;
            for (Event item = next(); item->type != YAML_SEQUENCE_END_EVENT; item = next()) {
                const int at = static_cast<int>(item->start_mark.line + 1);
                n.entries.push_back({"", at, value(item, level + 1)});
            }
            return remember(anchor, std::move(n), nodes_ - before);
        }
        case YAML_MAPPING_START_EVENT: {
            anchor = text_of(e->data.mapping_start.anchor);
            const std::size_t before = nodes_;
            n.kind = NodeKind::map;
            Places at;
            for (Event key = next(); key->type != YAML_MAPPING_END_EVENT; key = next())
                entry(n, at, key, level);
            return remember(anchor, std::move(n), nodes_ - before);
        }
        default: fail(line, "it cannot be read");
        }
        return remember(anchor, std::move(n), 1);
    }

    void entry(Node& map, Places& at, const Event& key, int level) {
        const int line = static_cast<int>(key->start_mark.line + 1);
        const Node name = value(key, level + 1);
        const Node content = value(next(), level + 1);
        const std::string text = name.kind == NodeKind::null ? "null" : one_line(name);
        if (text == "<<" && !name.quoted) {  // a merge key: what stands in the map itself wins
            const auto merge = [&](const Node& from) {
                for (const Node::Entry& e : from.entries)
                    if (at.try_emplace(e.key, map.entries.size()).second) map.entries.push_back(e);
            };
            if (content.kind == NodeKind::map) merge(content);
            if (content.kind == NodeKind::list)
                for (const Node::Entry& e : content.entries) merge(e.value);
            merged_ = true;
            return;
        }
        const auto [place, fresh] = at.try_emplace(text, map.entries.size());
        if (fresh) {
            map.entries.push_back({text, line, content});
            return;
        }
        if (duplicates_ && !merged_) duplicates_->push_back(text);
        map.entries[place->second] = {text, line, content};
    }

    Node remember(const std::string& anchor, Node n, std::size_t size) {
        if (!anchor.empty()) anchors_[anchor] = {n, size};
        return n;
    }

    yaml_parser_t parser_{};
    const std::string& path_;
    std::vector<std::string>* duplicates_;
    std::map<std::string, std::pair<Node, std::size_t>> anchors_;
    std::size_t nodes_ = 0;
    bool merged_ = false;
};

}  // namespace

Node read_yaml(std::string_view text, const std::string& path, std::vector<std::string>* duplicates) {
    return YamlReader(text, path, duplicates).document();
}

}  // namespace pentamesh::interop
