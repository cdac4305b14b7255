#include "core/interop/settings.h"
#include "core/base/text.h"

namespace pentamesh::interop {
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
    s.line = line > 0 ? line : node.line;
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
        s.line = line;
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

}  // namespace pentamesh::interop
