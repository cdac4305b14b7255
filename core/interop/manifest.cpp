#include "core/interop/manifest.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

constexpr std::int64_t kMostOfManifest = 1 << 20;

// Returns a count that a job can have; 0 of any other text.
std::int64_t count_of(std::string_view text) {
    const auto n = parse_integer(text);
    return n && *n > 0 && *n <= kMostOfManifest ? *n : 0;
}
std::int64_t count_in(const Node* node) {
    return node ? count_of(node->text) : 0;
}

// Returns a word as a shell takes it; variables in it stay.
std::string word_for_shell(const std::string& word) {
    if (!word.empty() && word.find_first_of(" \t\n'\"\\;&|<>()*?#`") == std::string::npos) return word;
    std::string out = "\"";
    for (const char c : word) {
        if (c == '"' || c == '\\' || c == '`') out.push_back('\\');
        out.push_back(c);
    }
    return out + "\"";
}

class ManifestReading {
  public:
    explicit ManifestReading(Manifest& out) : out_(out) {}

    std::string command, variables;
    int line = 0;

    void walk(const Node& node, std::int64_t copies, const std::string& at) {
        if (node.kind == NodeKind::list) {
            for (const Node::Entry& e : node.entries) walk(e.value, copies, at);
            return;
        }
        if (node.kind != NodeKind::map) return;
        if (const Node* group = node.find("leaderWorkerTemplate"))
            return leader_and_workers(*group, at + "leaderWorkerTemplate.");
        for (const char* key : {"replicas", "parallelism"})
            if (const std::int64_t n = count_in(node.find(key)); n > 0) {
                copies = std::min(copies * n, kMostOfManifest);
                say(at + key, *node.find(key), "/cluster/gpus");
            }
        if (const Node* list = node.find("containers"))
            for (const Node::Entry& e : list->entries) container(e.value, copies, at + "containers.");
        if (const Node* text = node.find("entrypoint");
            text && text->kind == NodeKind::scalar && command.empty())
            take(text->text, *text, at + "entrypoint");
        for (const Node::Entry& e : node.entries)
            if (e.key != "containers" && e.key != "initContainers") walk(e.value, copies, at + e.key + ".");
    }

    void sky(const Node& root) {
        out_.nodes = std::max<std::int64_t>(count_in(root.find("num_nodes")), 1);
        if (const Node* n = root.find("num_nodes")) say("num_nodes", *n, "/cluster/gpus");
        const Node* resources = root.find("resources");
        const Node* devices = resources ? resources->find("accelerators") : nullptr;
        if (devices && devices->kind == NodeKind::scalar) {
            const std::size_t colon = devices->text.find(':');
            out_.gpu = devices->text.substr(0, colon);
            out_.gpus =
                colon == std::string::npos ? 1 : count_of(std::string_view(devices->text).substr(colon + 1));
            say("resources.accelerators", *devices, "/cluster/gpus");
        } else if (devices && devices->kind == NodeKind::map && devices->entries.size() == 1) {
            out_.gpu = devices->entries.front().key;
            out_.gpus = count_in(&devices->entries.front().value);
            say("resources.accelerators", *devices, "/cluster/gpus");
        }
        environment(root.find("envs"));
        const Node* run = root.find("run");
        take(run->text, *run, "run");
    }

  private:
    void say(std::string name, const Node& node, std::string path) {
        out_.rows.push_back({std::move(name), one_line(node), std::move(path), "", node.line, ""});
    }

    // A replica of a LeaderWorkerSet is a job of its own, of `size` pods with the leader
    // (kubernetes-sigs/lws, docs/examples/sample).
    void leader_and_workers(const Node& group, const std::string& at) {
        const Node *leader = group.find("leaderTemplate"), *worker = group.find("workerTemplate");
        const Node* size = group.find("size");
        const std::int64_t pods = std::max<std::int64_t>(count_in(size), 1);
        if (size) say(at + "size", *size, "/cluster/gpus");
        if (leader) walk(*leader, 1, at + "leaderTemplate.");
        if (const std::int64_t workers = pods - (leader ? 1 : 0); worker && workers > 0)
            walk(*worker, workers, at + "workerTemplate.");
    }

    void take(const std::string& text, const Node& node, const std::string& name) {
        command = text;
        line = node.line + (text.find('\n') == std::string::npos ? 0 : 1);  // of "run: |" it is the next one
        out_.rows.push_back({name, std::string(split(text, '\n').front()), "/layout", "", node.line, ""});
    }

    void set(const std::string& name, const Node& value) {
        if (value.kind != NodeKind::scalar || name.empty() || !is_name_start(name[0])
            || !std::all_of(name.begin(), name.end(), is_name_char))
            return;
        variables += "export " + name + "=" + word_for_shell(value.text) + "; ";
        names_.push_back(name);
    }

    void environment(const Node* list) {
        if (!list) return;
        for (const Node::Entry& e : list->entries) {
            if (list->kind == NodeKind::map) set(e.key, e.value);
            const Node *name = e.value.find("name"), *value = e.value.find("value");
            if (list->kind == NodeKind::list && name && value) set(name->text, *value);
        }
    }

    void container(const Node& c, std::int64_t copies, const std::string& at) {
        if (c.kind != NodeKind::map) return;
        const Node* resources = c.find("resources");
        for (const char* kind : {"limits", "requests"}) {
            const Node* of = resources ? resources->find(kind) : nullptr;
            const Node* n = of ? of->find("nvidia.com/gpu") : nullptr;
            if (const std::int64_t gpus = count_in(n); gpus > 0) {
                out_.nodes += copies;
                out_.gpus = std::max(out_.gpus, gpus);
                say(at + "resources." + kind + ".nvidia.com/gpu", *n, "/cluster/gpus");
                break;
            }
        }
        if (!command.empty()) return;  // a master's and its workers' are one
        std::vector<std::string> words;
        std::vector<const Node*> from;  // what each word is written in
        for (const char* key : {"command", "args"})
            if (const Node* list = c.find(key); list && list->kind == NodeKind::list)
                for (const Node::Entry& e : list->entries) {
                    from.push_back(&e.value);
                    words.push_back(e.value.text);
                }
        if (words.empty()) return;
        environment(c.find("env"));
        for (std::string& word : words)  // Kubernetes puts its own variables into a command: $(NAME)
            for (const std::string& name : names_) {
                const std::string own = "$(" + name + ")";
                for (std::size_t k = word.find(own); k != std::string::npos; k = word.find(own, k + 1))
                    word.replace(k, own.size(), "${" + name + "}");
            }
        const auto shell = std::find_if(words.begin(), words.end(), [](const std::string& w) {
            return w.size() > 1 && w.size() < 6 && w[0] == '-' && w[1] != '-' && w.ends_with('c');
        });
        const bool text = shell != words.end() && shell + 1 != words.end() && shell - words.begin() < 4;
        const Node& node = text ? *from[static_cast<std::size_t>(shell - words.begin()) + 1] : *from.front();
        take(text ? *(shell + 1) : join(words, " ", word_for_shell), node, at + "command");
    }

    Manifest& out_;
    std::vector<std::string> names_;
};

std::string program_in(const std::string& command) {
    const std::vector<std::string_view> words = split_words(command, " \t\r\n");
    for (const std::string_view w : words)
        if (w.ends_with(".py")) return std::string(w);
    return words.empty() ? "nothing" : std::string(words.front());
}

}  // namespace

std::optional<Manifest> take_manifest(ImportRequest& r) {
    if (without_blanks(r.text).starts_with("#!")) return std::nullopt;
    const bool kubernetes = has_line(r.text, "apiVersion:") && has_line(r.text, "kind:");
    const bool sky = !kubernetes && has_line(r.text, "run:")
                     && (has_line(r.text, "num_nodes:") || has_line(r.text, "accelerators:"));
    if (!kubernetes && !sky) return std::nullopt;
    Manifest out;
    ManifestReading reading(out);
    std::string part;
    int skipped = 0;
    const auto document = [&] {
        const Node root = read_yaml(part, r.path);
        if (root.kind != NodeKind::map) return;
        const Node* run = root.find("run");
        if (sky && run && run->kind == NodeKind::scalar) {
            out.called = "a SkyPilot task";
            reading.sky(root);
        }
        const Node *kind = root.find("kind"), *spec = root.find("spec");
        if (kubernetes && kind && spec && reading.command.empty()) {
            reading.walk(*spec, 1, "spec.");
            if (!reading.command.empty() || out.called.empty()) out.called = "a Kubernetes " + kind->text;
        }
    };
    for (const std::string_view each : split(r.text, '\n')) {
        if (each.starts_with("---")) {
            document();
            // Lines of the next document keep their numbers.
            part.assign(static_cast<std::size_t>(skipped), '\n');
        } else {
            part.append(each);
        }
        part.push_back('\n');
        ++skipped;
    }
    document();
    if (out.called.empty()) return std::nullopt;
    if (reading.command.empty())
        throw Error(ErrorKind::invalid, r.path, "",
                    out.called + ": it holds no command; the command that its image starts can be read");
    out.program = program_in(reading.command);
    out.counts_nodes = !has(reading.command, "nnodes") && !has(reading.command, "num_machines");
    std::string text = "#!/bin/bash\n" + reading.variables;
    // The command stands on its own line, where those before it have room.
    const auto before = 1 + std::count(text.begin(), text.end(), '\n');
    if (reading.line > before) text.append(static_cast<std::size_t>(reading.line - before), '\n');
    r.text = text + reading.command + "\n";
    return out;
}

std::string cluster_of(const Manifest& manifest, const Presets& presets) {
    if (manifest.gpu.empty()) return {};
    const std::size_t length = manifest.gpu.size();
    for (const Presets::Entry& e : presets.list(PresetKind::cluster))
        if (!e.own && e.id.size() > length && e.id[length] == '-'
            && same_letters(std::string_view(e.id).substr(0, length), manifest.gpu))
            return e.id;
    return {};
}

void put_counts(const Manifest& manifest, Launch& launch) {
    if (manifest.nodes == 0) return;
    const std::int64_t each = launch.gpus_per_node > 0 ? launch.gpus_per_node : manifest.gpus;
    const bool one_node = manifest.counts_nodes && launch.gpus > 0 && launch.gpus == launch.gpus_per_node;
    if (each == 0 || (launch.gpus > 0 && !one_node)) return;
    launch.gpus_per_node = each;
    launch.gpus = each * manifest.nodes;
    launch.gpus_unknown.clear();
}

}  // namespace pentamesh::interop
