// Reads TOML by toml++.
#include "core/base/error.h"
#include "core/interop/settings.h"

#include <algorithm>
#include <sstream>
#include <toml++/toml.h>

namespace pentamesh::interop {
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

}  // namespace

Node read_toml(std::string_view text, const std::string& path) {
    try {
        return node_of(toml::parse(text, path));
    } catch (const toml::parse_error& e) {
        throw Error(ErrorKind::invalid, path, "",
                    "line " + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
    }
}

}  // namespace pentamesh::interop
