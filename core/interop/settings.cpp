#include "core/interop/settings.h"

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
