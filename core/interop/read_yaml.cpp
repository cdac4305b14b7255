// Reads YAML by libyaml's events: lines are known, aliases cost only where they are used.
#include "core/base/error.h"
#include "core/interop/settings.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <yaml.h>

namespace pentamesh::interop {
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
