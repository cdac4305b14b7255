#include "core/interop/manifest.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace pentamesh::interop {
namespace {

constexpr std::int64_t kMostOfManifest = 1 << 20;

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

std::string last_part(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

struct ManifestCommand {
    std::string called, text, variables;
    int line = 0;
    bool on_gpus = false;
    std::size_t document = 0;  // of the text, that it stands in
    int weight = 0;            // the heaviest is read
};

// A tool that is read comes before GPUs: under MPI the launcher has none.
void weigh(std::vector<ManifestCommand>& commands) {
    for (ManifestCommand& c : commands)
        c.weight = (guess_tools("#!/bin/bash\n" + c.text).empty() ? 0 : 2) + (c.on_gpus ? 1 : 0);
}

// Says under which keys a task has its nodes, its devices (in `resources`), its environment and its command.
struct TaskKeys {
    const char *called, *scheduler, *nodes, *devices, *environment, *command;
};
constexpr TaskKeys kSky{"a SkyPilot task", "SkyPilot", "num_nodes", "accelerators", "envs", "run"};
constexpr TaskKeys kDstack{"a dstack task", "dstack", "nodes", "gpu", "env", "commands"};
// commandJob.schema.json: nodes stand in `resources`, which names no devices.
constexpr TaskKeys kAzure{"an Azure ML job", "", "instance_count", "", "environment_variables", "command"};

// Returns a command without the rank of its node, which is another one on each.
std::string without_rank(const std::string& command) {
    std::string out;
    bool rank = false;
    for (const std::string_view word : split_words(command, " \t\r\n")) {
        const bool skipped = std::exchange(rank, false);
        const std::string_view name = word.substr(0, word.find('='));
        const bool is_rank = name == "--node_rank" || name == "--node-rank" || name == "--machine_rank";
        rank = is_rank && name == word;
        if (!skipped && !is_rank) out += std::string(word) + " ";
    }
    return out;
}

class ManifestReading {
  public:
    ManifestReading(const ImportRequest& r, Manifest& out) : out_(out) {
        for (const std::string& v : r.variables)
            if (const std::size_t equals = v.find('='); equals != std::string::npos)
                given_[v.substr(0, equals)] = v.substr(equals + 1);
    }

    std::map<std::string, std::pair<std::string, int>> files;  // of ConfigMaps, with their lines
    std::vector<ManifestCommand> commands;
    std::string kind;  // of the document that is read

    // Keeps the counts of each document, and those of all together: a job may stand in several.
    template <typename Read>
    void document(Read&& read) {
        const std::string by = std::exchange(operator_, {});
        const std::int64_t processes = std::exchange(processes_, 0);
        Manifest all = std::exchange(out_, {});
        const std::size_t first = commands.size();
        read();
        for (std::size_t k = first; k < commands.size(); ++k) commands[k].document = documents_.size();
        if (commands.size() > first) documents_.push_back({out_, operator_, processes_});
        if (operator_.empty()) operator_ = by;
        if (processes_ == 0) processes_ = processes;
        out_.nodes = std::min(out_.nodes + all.nodes, kMostOfManifest);
        out_.gpus = std::max(out_.gpus, all.gpus);
        if (!all.device.empty()) out_.device = all.device;
        if (!all.unknown.empty()) out_.unknown = all.unknown;
        all.rows.insert(all.rows.end(), out_.rows.begin(), out_.rows.end());
        out_.rows = std::move(all.rows);
    }
    // Leaves only what that document says, if it counts anything.
    void keep(std::size_t document) {
        if (documents_[document].counts.nodes == 0) return;
        out_ = documents_[document].counts;
        operator_ = documents_[document].by;
        processes_ = documents_[document].processes;
    }

    void kubernetes(const Node& root) {
        kind = text_of(root.find("kind"));
        if (const Node* data = root.find("data"); data && kind == "ConfigMap")
            for (const Node::Entry& e : data->entries)
                if (e.value.kind == NodeKind::scalar) files[e.key] = {e.value.text, e.value.line};
        const Node* spec = root.find("spec");
        if (!spec) return;
        if (const Node* n = spec->find("nprocPerNode")) processes_ = count_in(n, "nprocPerNode", false);
        walk(*spec, 1, "spec.");
        if (kind == "PyTorchJob" || kind == "TrainJob") operator_ = kind;
    }

    void task(const Node& root, const TaskKeys& k) {
        const Node* resources = root.find("resources");
        out_.nodes = nodes_in(&root, k.nodes);
        if (const Node* devices = resources ? resources->find(k.devices) : nullptr)
            of_devices(*devices, std::string("resources.") + k.devices);
        command_of(root, k);
    }

    // Azure ML has as many processes on an instance as `distribution` says.
    void azure(const Node& root) {
        const Node* distribution = root.find("distribution");
        out_.nodes = nodes_in(root.find("resources"), kAzure.nodes);
        if (distribution && distribution->find("process_count_per_instance"))
            out_.gpus = counted(*distribution, "process_count_per_instance");
        command_of(root, kAzure);
    }

    // Returns what the scheduler itself puts into the environment, where the counts are known.
    [[nodiscard]] std::string of_operator() const {
        if (!out_.unknown.empty() || out_.nodes == 0) return {};
        const std::string nodes = std::to_string(out_.nodes), gpus = std::to_string(out_.gpus);
        std::string out;
        const auto put = [&](const char* name, const std::string& value) {
            out += "export " + std::string(name) + "=" + value + "; ";
        };
        if (operator_ == "PyTorchJob" || operator_ == "TrainJob") {
            put("PET_NNODES", nodes);
            if (processes_ > 0 || out_.gpus > 0)
                put("PET_NPROC_PER_NODE", processes_ > 0 ? std::to_string(processes_) : gpus);
        }
        // kubeflow/training-operator, pkg/controller.v1/pytorch/envvar.go: replicas times nprocPerNode.
        if (operator_ == "PyTorchJob")
            put("WORLD_SIZE", std::to_string(out_.nodes * std::max<std::int64_t>(processes_, 1)));
        if (operator_ == kSky.scheduler) put("SKYPILOT_NUM_NODES", nodes);
        if (operator_ == kSky.scheduler && out_.gpus > 0) put("SKYPILOT_NUM_GPUS_PER_NODE", gpus);
        if (operator_ == kDstack.scheduler) put("DSTACK_NODES_NUM", nodes);
        if (operator_ == kDstack.scheduler && out_.gpus > 0) {
            put("DSTACK_GPUS_PER_NODE", gpus);
            put("DSTACK_GPUS_NUM", std::to_string(out_.gpus * out_.nodes));
        }
        return out;
    }

  private:
    static std::string text_of(const Node* node) {
        return node && node->kind == NodeKind::scalar ? node->text : std::string();
    }

    void say(std::string name, const Node& node, std::string path) {
        out_.rows.push_back({std::move(name), one_line(node), std::move(path), "", node.line, ""});
    }

    // Returns a value with the variables that are given: a manifest may be a template of envsubst.
    [[nodiscard]] std::string filled(std::string text) const {
        for (const auto& [name, value] : given_)
            for (const std::string& written : {"${" + name + "}", "$" + name})
                if (text == written) return value;
        return text;
    }

    // Returns a count, or 0; keeps what is written in its place.
    std::int64_t count_in(const Node* node, const std::string& name, bool asks = true) {
        if (!node || node->kind != NodeKind::scalar) return 0;
        const auto n = parse_integer(filled(node->text));
        if (!n && asks && out_.unknown.empty())
            out_.unknown = name + " is " + node->text + " (line " + std::to_string(node->line) + ")";
        return n && *n > 0 && *n <= kMostOfManifest ? *n : 0;
    }

    std::int64_t counted(const Node& in, const char* key) {
        const Node& node = *in.find(key);
        say(key, node, "/cluster/gpus");
        return count_in(&node, key);
    }

    std::int64_t nodes_in(const Node* node, const char* key) {
        return node && node->find(key) ? counted(*node, key) : 1;
    }

    void command_of(const Node& root, const TaskKeys& k) {
        const Node& command = *root.find(k.command);
        environment(root.find(k.environment));
        operator_ = k.scheduler;
        std::string text = text_of(&command);
        for (const Node::Entry& e : command.entries) text += e.value.text + "\n";  // of a list: a line each
        add(command, text, k.called, true);
    }

    // Reads "H100:8", {H100: 8}, {name: H100, count: 8}, "8".
    void of_devices(const Node& node, const std::string& name) {
        say(name, node, "/cluster/gpus");
        if (node.kind == NodeKind::scalar) {
            const std::size_t colon = node.text.rfind(':');
            const auto alone = parse_integer(node.text);
            const auto n =
                colon == std::string::npos ? std::nullopt : parse_integer(node.text.substr(colon + 1));
            out_.gpus = alone.value_or(n.value_or(colon == std::string::npos ? 1 : 0));
            if (!alone) out_.device = node.text.substr(0, colon);
        } else if (const Node* n = node.find("count")) {
            out_.gpus = count_in(n, name);
            out_.device = text_of(node.find("name"));
        } else if (node.kind == NodeKind::map && node.entries.size() == 1) {
            out_.gpus = count_in(&node.entries.front().value, name);
            out_.device = node.entries.front().key;
        }
        if (out_.gpus <= 0 || out_.gpus > kMostOfManifest) out_.gpus = 0;
    }

    void walk(const Node& node, std::int64_t copies, const std::string& at) {
        if (node.kind == NodeKind::list) {
            for (const Node::Entry& e : node.entries) walk(e.value, copies, at);
            return;
        }
        if (node.kind != NodeKind::map) return;
        if (const Node* group = node.find("leaderWorkerTemplate"))
            return leader_and_workers(*group, at + "leaderWorkerTemplate.");
        for (const char* key : {"replicas", "parallelism", "numNodes"})
            if (const Node* n = node.find(key); n && n->kind == NodeKind::scalar) {
                copies = std::min(copies * count_in(n, key), kMostOfManifest);
                say(at + key, *n, "/cluster/gpus");
            }
        if (const Node* selector = node.find("nodeSelector"))
            for (const char* label : {"cloud.google.com/gke-tpu-accelerator",
                                      "cloud.google.com/gke-accelerator", "nvidia.com/gpu.product"})
                if (out_.device.empty()) out_.device = text_of(selector->find(label));
        for (const char* key : {"containers", "container"})
            if (const Node* list = node.find(key)) {
                if (list->kind == NodeKind::map) container(*list, copies, at + key + ".");
                for (const Node::Entry& e : list->entries)
                    if (list->kind == NodeKind::list) container(e.value, copies, at + key + ".");
            }
        if (const Node* text = node.find("entrypoint"); text && kind == "RayJob")
            add(*text, text_of(text), "a Kubernetes RayJob", true);
        if (node.find("numNodes")) container(node, copies, at);  // TrainJob's trainer
        for (const Node::Entry& e : node.entries)
            if (e.key != "containers" && e.key != "container" && e.key != "initContainers")
                walk(e.value, copies, at + e.key + ".");
    }

    // A replica of a LeaderWorkerSet is a job of its own, of `size` pods with the leader
    // (kubernetes-sigs/lws, docs/examples/sample).
    void leader_and_workers(const Node& group, const std::string& at) {
        const Node *leader = group.find("leaderTemplate"), *worker = group.find("workerTemplate");
        const Node* size = group.find("size");
        const std::int64_t pods = std::max<std::int64_t>(count_in(size, "size"), 1);
        if (size) say(at + "size", *size, "/cluster/gpus");
        if (leader) walk(*leader, 1, at + "leaderTemplate.");
        if (const std::int64_t workers = pods - (leader ? 1 : 0); worker && workers > 0)
            walk(*worker, workers, at + "workerTemplate.");
    }

    void set(const std::string& name, const Node& value) {
        if (value.kind != NodeKind::scalar || name.empty() || !is_name_start(name[0])
            || !std::all_of(name.begin(), name.end(), is_name_char))
            return;
        if (value.text != "$" + name && value.text != "${" + name + "}")
            variables_ += "export " + name + "=" + word_for_shell(value.text) + "; ";
        names_.insert(name);
    }

    void environment(const Node* list) {
        if (!list) return;
        for (const Node::Entry& e : list->entries) {
            if (list->kind == NodeKind::map) set(e.key, e.value);
            const Node *name = e.value.find("name"), *value = e.value.find("value");
            if (list->kind == NodeKind::list && name && value) set(name->text, *value);
            const std::size_t equals = e.value.text.find('=');  // dstack: "NAME=value"
            if (list->kind == NodeKind::list && equals != std::string::npos) {
                Node of = e.value;
                of.text.erase(0, equals + 1);
                set(e.value.text.substr(0, equals), of);
            }
        }
    }

    bool takes_gpus(const Node& c, std::int64_t copies, const std::string& at) {
        static constexpr const char* kDevices[] = {"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
                                                   "habana.ai/gaudi"};
        const Node* resources = c.find("resources");
        if (!resources) resources = c.find("resourcesPerNode");
        for (const char* kind_of : {"limits", "requests"})
            for (const char* device : kDevices) {
                const Node* of = resources ? resources->find(kind_of) : nullptr;
                const Node* n = of ? of->find(device) : nullptr;
                if (!n || n->kind != NodeKind::scalar || n->text == "0") continue;
                out_.gpus = std::max(out_.gpus, count_in(n, device));
                out_.nodes = std::min(out_.nodes + copies, kMostOfManifest);
                say(at + "resources." + kind_of + "." + device, *n, "/cluster/gpus");
                return true;
            }
        return false;
    }

    void container(const Node& c, std::int64_t copies, const std::string& at) {
        if (c.kind != NodeKind::map) return;
        const bool on_gpus = takes_gpus(c, copies, at);
        std::vector<std::string> words;
        std::vector<const Node*> from;  // what each word is written in
        for (const char* key : {"command", "args"})
            if (const Node* list = c.find(key); list && list->kind == NodeKind::list)
                for (const Node::Entry& e : list->entries) {
                    from.push_back(&e.value);
                    words.push_back(e.value.text);
                }
        if (words.empty()) return;
        variables_.clear();
        names_.clear();
        environment(c.find("env"));
        const auto shell = std::find_if(words.begin(), words.end(), [](const std::string& w) {
            return w.size() > 1 && w.size() < 7 && w[0] == '-' && w[1] != '-' && w.ends_with('c');
        });
        const bool text = shell != words.end() && shell + 1 != words.end() && shell - words.begin() < 4;
        for (const char* of_all : {"PET_NNODES", "PET_NPROC_PER_NODE", "WORLD_SIZE"}) names_.insert(of_all);
        for (std::string& word : words) take_own_variables(word);
        const Node& node = text ? *from[static_cast<std::size_t>(shell - words.begin()) + 1] : *from.front();
        add(node, text ? *(shell + 1) : join(words, " ", word_for_shell), "a Kubernetes " + kind, on_gpus);
    }

    // Kubernetes puts its own variables into a command: $(NAME).
    void take_own_variables(std::string& word) const {
        for (std::size_t k = word.find("$("); k != std::string::npos; k = word.find("$(", k + 1)) {
            std::size_t end = k + 2;
            while (end < word.size() && is_name_char(word[end])) ++end;
            if (end < word.size() && word[end] == ')' && names_.contains(word.substr(k + 2, end - k - 2)))
                word[k + 1] = '{', word[end] = '}';
        }
    }

    void add(const Node& at, std::string text, std::string called, bool on_gpus) {
        if (text.empty()) return;
        const int line =
            at.line + (text.find('\n') == std::string::npos ? 0 : 1);  // of "run: |" the next one
        commands.push_back({std::move(called), std::move(text), variables_, line, on_gpus});
    }

    struct Document {
        Manifest counts;
        std::string by;  // "PyTorchJob"
        std::int64_t processes = 0;
    };

    Manifest& out_;
    GivenValues given_;
    std::string variables_, operator_;
    std::set<std::string> names_;
    std::int64_t processes_ = 0;
    std::vector<Document> documents_;
};

std::string program_in(const std::string& command) {
    const std::vector<std::string_view> words = split_words(command, " \t\r\n");
    for (const std::string_view w : words)
        if (w.ends_with(".py") || w.ends_with(".sh")) return std::string(w);
    for (std::size_t k = 0; k + 1 < words.size(); ++k)
        if (words[k] == "-m") return std::string(words[k + 1]);
    return words.empty() ? "nothing" : std::string(words.front());
}

// Says by which of its schedulers a manifest is read.
enum class Scheduler : std::uint8_t { none, kubernetes, sky, dstack, azure };

Scheduler scheduler_of(std::string_view text) {
    if (has_line(text, "apiVersion:") && has_line(text, "kind:")) return Scheduler::kubernetes;
    if (has_line(text, "run:") && (has_line(text, "num_nodes:") || has_line(text, "accelerators:")))
        return Scheduler::sky;
    if (has_line(text, "type: task") && has_line(text, "commands:")) return Scheduler::dstack;
    if (has(text, "commandJob.schema.json") && has_line(text, "command:")) return Scheduler::azure;
    return Scheduler::none;
}

// Reads a document of the text; returns its kind where it may hold a job's command.
std::string read_document(ManifestReading& reading, Scheduler scheduler, const Node& root) {
    const auto is = [&](const char* key, NodeKind kind) {
        const Node* node = root.find(key);
        return node && node->kind == kind;
    };
    if (root.kind != NodeKind::map) return {};
    switch (scheduler) {
    case Scheduler::kubernetes:
        if (!is("kind", NodeKind::scalar) || !is("apiVersion", NodeKind::scalar)) return {};
        reading.kubernetes(root);
        return "a Kubernetes " + reading.kind;
    case Scheduler::sky:
        if (!is(kSky.command, NodeKind::scalar)) return {};
        reading.task(root, kSky);
        return kSky.called;
    case Scheduler::dstack:
        if (!is(kDstack.command, NodeKind::list) || !is("type", NodeKind::scalar)) return {};
        reading.task(root, kDstack);
        return kDstack.called;
    case Scheduler::azure:
        if (!is(kAzure.command, NodeKind::scalar)) return {};
        reading.azure(root);
        return kAzure.called;
    case Scheduler::none: break;
    }
    return {};
}

// Reads every document; lines keep the numbers that they have in the text. Returns the first one's kind.
std::string read_documents(ManifestReading& reading, Scheduler scheduler, const ImportRequest& r) {
    std::string part, called;
    std::size_t lines = 0;
    const auto document = [&] {
        std::string kind;
        reading.document([&] { kind = read_document(reading, scheduler, read_yaml(part, r.path)); });
        if (called.empty()) called = kind;
    };
    for (const std::string_view each : split(r.text, '\n')) {
        if (each.starts_with("---")) {
            document();
            part.assign(lines, '\n');
        } else {
            part.append(each);
        }
        part.push_back('\n');
        ++lines;
    }
    document();
    return called;
}

// Puts a script of a ConfigMap of the same text in the place of a command that starts it. Kubernetes takes no
// larger one than a MiB.
void put_scripts(ManifestReading& reading) {
    std::size_t room = std::size_t{1} << 20;
    for (ManifestCommand& c : reading.commands) {
        const std::string command = c.text;
        for (const std::string_view word : split_words(command, " \t\r\n;&\"'")) {
            if (!word.ends_with(".sh")) continue;
            const auto file = reading.files.find(last_part(word));
            if (file == reading.files.end() || file->second.first.size() > room) continue;
            room -= file->second.first.size();
            c.text = file->second.first, c.line = file->second.second;
        }
    }
}

// Says which of several commands is read, with the counts of its own document: those of other jobs are
// theirs.
void choose_command(ManifestReading& reading, Scheduler scheduler, const ManifestCommand& best,
                    Manifest& out) {
    const std::string own = without_rank(best.text);
    std::set<std::string> others;
    bool elsewhere = scheduler != Scheduler::kubernetes;
    for (const ManifestCommand& c : reading.commands) {
        if (c.weight <= 1 && !(c.on_gpus && c.document != best.document)) continue;
        std::string other = without_rank(c.text);
        if (other == own) continue;
        others.insert(std::move(other));
        elsewhere = elsewhere || c.document != best.document;
    }
    if (elsewhere) reading.keep(best.document);
    if (others.empty()) return;
    out.others = plain("The manifest has ", others.size() + 1, " commands that differ: that of line ",
                       best.line, " (", best.called, ") is read, ", others.size(),
                       others.size() == 1 ? " other is not." : " others are not.");
}

// Returns the cluster that stands for an accelerator, "tpu7x", "nvidia-h100-80gb"; empty: none does.
std::string cluster_of_device(std::string_view device, const Presets& presets) {
    std::string name;
    for (const char c : device)
        name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    for (const auto& row : words("device_clusters"))
        if (has(name, word_of(row["has"])) && presets.has(PresetKind::cluster, word_of(row["cluster"])))
            return std::string(word_of(row["cluster"]));
    return {};
}

}  // namespace

std::optional<Manifest> take_manifest(ImportRequest& r) {
    if (without_blanks(r.text).starts_with("#!")) return std::nullopt;
    const Scheduler scheduler = scheduler_of(r.text);
    if (scheduler == Scheduler::none) return std::nullopt;
    Manifest out;
    ManifestReading reading(r, out);
    try {
        out.called = read_documents(reading, scheduler, r);
    } catch (const Error&) {
        if (!has(r.text, "{{")) throw;
        throw Error(
            ErrorKind::invalid, r.path, "",
            "it is a template ({{ … }}) of a manifest: what is made of it, by `helm template` for one, "
            "can be read");
    }
    if (out.called.empty()) return std::nullopt;
    put_scripts(reading);
    weigh(reading.commands);
    const auto best = std::max_element(
        reading.commands.begin(), reading.commands.end(),
        [](const ManifestCommand& a, const ManifestCommand& b) { return a.weight < b.weight; });
    if (best == reading.commands.end())
        throw Error(ErrorKind::invalid, r.path, "",
                    out.called
                        + ": it holds no command; the script or the file that the job takes can be read");
    choose_command(reading, scheduler, *best, out);
    out.called = best->called;
    const ManifestCommand job = *best;
    if (!reading.files.empty())
        r.other = [files = reading.files, before = r.other](const std::string& name) {
            const auto file = files.find(last_part(name));
            if (file != files.end()) return std::optional<std::string>(file->second.first);
            return before ? before(name) : std::nullopt;
        };
    out.program = program_in(job.text);
    out.counts_nodes = !has(job.text, "nnodes") && !has(job.text, "num_machines");
    if (out.device == "tpu7x") out.gpus = std::min(out.gpus * 2, kMostOfManifest);
    std::string text = "#!/bin/bash\n" + reading.of_operator() + job.variables;
    // The command stands on its own line, where those before it have room.
    const auto before = 1 + std::count(text.begin(), text.end(), '\n');
    if (job.line > before) text.append(static_cast<std::size_t>(job.line - before), '\n');
    r.text = text + job.text + "\n";
    return out;
}

void put_counts(const Manifest& manifest, Launch& launch) {
    if (!manifest.unknown.empty() && launch.gpus == 0 && launch.gpus_unknown.empty())
        launch.gpus_unknown = manifest.unknown;
    if (manifest.nodes == 0 || !manifest.unknown.empty()) return;
    const std::int64_t each = launch.gpus_per_node > 0 ? launch.gpus_per_node : manifest.gpus;
    const bool one_node = manifest.counts_nodes && launch.gpus > 0 && launch.gpus == launch.gpus_per_node;
    if (each == 0 || (launch.gpus > 0 && !one_node)) return;
    launch.gpus_per_node = each;
    launch.gpus = std::min(each * manifest.nodes, kMostOfManifest);
    launch.gpus_unknown.clear();
}

void take_named_device(const Manifest* manifest, const Launch* launch, const Tool& tool,
                       const Presets& presets, SettingsSheet& sheet, PlanDraft& draft) {
    const Setting* flag = tool.reader == Reader::bridge ? sheet.last("gpu") : nullptr;
    std::string device = launch ? launch->device : std::string();
    if (device.empty() && manifest) device = manifest->device;
    if (device.empty() && flag) device = flag->value;
    const std::string cluster = device.empty() ? std::string() : cluster_of_device(device, presets);
    if (draft.named_cluster.empty() && !flag && !cluster.starts_with("tpu")) draft.named_device = device;
    if (draft.named_cluster.empty()) draft.named_cluster = cluster;
    if (manifest && !manifest->others.empty())
        sheet.problem(Severity::warning, "several-jobs", manifest->others);
    if (flag && !cluster.empty()) sheet.map("gpu", "/cluster");
    if (device == "tpu7x")
        sheet.problem(Severity::warning, "devices-of-chip",
                      "JAX has two devices on a chip of TPU7x: the plan counts devices, and a GPU of the "
                      "preset is a whole chip, with the memory and speed of two.");
    const std::int64_t asked = manifest && manifest->unknown.empty() ? manifest->nodes * manifest->gpus : 0;
    const std::int64_t started = launch ? launch->gpus : 0;
    if (asked > 0 && started > 0 && asked != started)
        sheet.problem(Severity::warning, "gpus-of-manifest", "The manifest asks for ", asked,
                      " GPUs; its command starts ", started, " processes, which stand in the plan.");
}

}  // namespace pentamesh::interop
