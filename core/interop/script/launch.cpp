#include "core/interop/script/shell_script.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace pentamesh::interop {
namespace {

using shell::Argument;
using shell::Invocation;
using shell::Script;

// Returns true for a short option with its number behind it: "-N4".
bool holds_number(std::string_view word) {
    return word.size() > 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]))
           && std::all_of(word.begin() + 2, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns true for the same long option with dashes or underscores: accelerate and torchrun take both
// (accelerate/commands/launch.py, _CustomHelpAction; torch/distributed/run.py).
bool same_option(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return x == y || ((x == '-' || x == '_') && (y == '-' || y == '_'));
    });
}

const nlohmann::ordered_json& words_of_launchers() {
    return interop::words("launchers");
}

bool is_flag(std::string_view word) {
    return word.size() > 1 && word[0] == '-'
           && ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z')
               || (word[1] == '-' && word.size() > 2));
}

std::string_view base_name(std::string_view word) {
    return word.substr(word.find_last_of('/') + 1);
}

// Returns how many words from `k` on are the row's: "axolotl train"; 0: they are others.
std::size_t words_of_row(const Invocation& i, std::size_t k, const nlohmann::ordered_json& row) {
    std::size_t n = 0;
    for (const auto& word : row["words"]) {
        if (k + n >= i.words.size()) return 0;
        const std::string& w = i.words[k + n].text;
        if (word_of(word) != (n == 0 ? base_name(w) : std::string_view(w))) return 0;
        ++n;
    }
    return n;
}

// Holds a tool's own command among the words, and the file of settings that it is given.
struct FrontWords {
    const nlohmann::ordered_json* row = nullptr;  // of words.json, "front_ends"; null: no row
    std::size_t begin = 0, end = 0, file = 0;     // its words are [begin, end)
};

// The file's name may be a variable that the text does not set.
FrontWords front_words(const Script& script, const Invocation& i) {
    for (std::size_t k = 0; k < i.words.size(); ++k)
        for (const auto& row : interop::words("front_ends")) {
            const std::size_t n = words_of_row(i, k, row);
            if (n == 0) continue;
            const FrontWords at{&row, k, k + n, 0};
            for (std::size_t f = at.end; f < i.words.size() && i.words[f].text != "--"; ++f) {
                const std::string& w = i.words[f].text;
                const std::string& before = i.words[f - 1].text;
                const bool named = f == at.end || before == "-c" || before == "--config" || before == "@";
                const bool joined = w.starts_with("--config=");
                if ((named && !is_flag(w) && (is_settings_file(w) || shell::sole_unknown_in(script, w)))
                    || (joined && is_settings_file(w)))
                    return {at.row, at.begin, at.end, f};
            }
        }
    return {};
}

// Returns true for commands whose words look like a job's and start none.
bool starts_nothing(const Invocation& i) {
    const std::string_view name = base_name(i.words.front().text);
    return is_among("starts_no_job", name)
           || ((name == "swift" || name == "megatron") && i.words.size() > 1
               && is_among("runs_a_model", i.words[1].text));
}

int score(const Script& script, const Invocation& i) {
    if (starts_nothing(i)) return -1;
    int n = 0;
    bool program = front_words(script, i).row != nullptr;
    for (const Argument& w : i.words) {
        n += w.text.starts_with("--") ? 2 : w.text.find('=') != std::string::npos ? 1 : 0;
        program = program || w.text.ends_with(".py") || w.text == "-m";
    }
    return program ? n + 2 : is_flag(i.words.front().text) ? n : n > 4 ? n - 2 : 0;
}

// Returns the place of the job's program among the words: its own arguments follow it.
std::size_t program_at(const Invocation& i, std::string& name) {
    // A program may hand its command on to a launcher: `submit.py --nodes 4 -- torchrun train.py`,
    // `mason.py -- accelerate launch train.py`.
    const auto handed_on =
        std::adjacent_find(i.words.begin(), i.words.end(), [](const Argument& a, const Argument& b) {
            return a.text == "--" && words_of_launchers().contains(std::string(base_name(b.text)));
        });
    const auto launcher = handed_on == i.words.end() ? 0 : handed_on - i.words.begin() + 1;
    for (std::size_t k = 0; k < i.words.size(); ++k) {
        const std::string& w = i.words[k].text;
        if (w.ends_with(".py") && std::cmp_greater_equal(k, launcher)) {
            name = base_name(w);
            return k;
        }
        if ((w == "-m" || w == "--module") && k + 1 < i.words.size() && std::cmp_greater_equal(k, launcher)) {
            const std::string& module = i.words[k + 1].text;
            if (module.starts_with("torch.distributed") || module.starts_with("accelerate")) continue;
            name = module;
            return k + 1;
        }
    }
    return i.words.size();
}

class Frame {
  public:
    Frame(const Script& script, const Invocation& i, std::size_t end, Launch& out)
        : script_(script), i_(i), end_(end), out_(out) {}

    void read() {
        if (starts("xpk")) return read_xpk();
        group_ = shell::group_suffix(option({"--het-group"}).value_or(0));
        auto per_node = option({"--nproc_per_node", "--nproc-per-node", "--num_gpus"});
        auto nodes = option({"--nnodes", "--num_nodes"});
        const bool base_command = starts("bcprun");  // without -n it is all nodes that its job has
        if (base_command && !nodes) nodes = option({"-n"});
        if (base_command && !per_node) per_node = option({"--npernode", "-p"});
        const bool torchrun = starts("torchrun") || module("torch.distributed.run")
                              || module("torch.distributed.launch") || starts("deepspeed");
        const auto included = devices_included();
        // One task of a job of several nodes starts the processes of all of them, as Ray's does.
        const bool one_task =
            starts("srun") && sbatch("nodes").value_or(1) > 1 && option({"--ntasks", "-n"}) == 1;
        const auto tasks_a_node =
            one_task ? sbatch("ntasks-per-node") : job({"--ntasks-per-node"}, "ntasks-per-node");
        const auto job_nodes = one_task ? sbatch("nodes") : job({"--nodes", "-N"}, "nodes");
        const auto job_tasks = one_task ? sbatch("ntasks") : job({"--ntasks", "-n"}, "ntasks");
        auto total = option({"--num_processes", "-np"});
        if (!total && !base_command && starts("mpirun")) total = option({"-n"});
        if (total) {
            // open-instruct's mason.py (533-540) writes the processes of all of its nodes in their place.
            const bool of_a_node = starts("mason.py") && said({"--num_nodes"}) && !said({"--num_machines"});
            out_.gpus = *total * (of_a_node ? nodes.value_or(0) : 1);
        } else if (!per_node && included) {
            out_.gpus = *included;
        } else if (per_node || (torchrun && nodes)) {
            out_.gpus_per_node = per_node.value_or(gpus_of_job().value_or(0));
            const std::int64_t n = nodes.value_or(
                !base_command && !said({"--nnodes", "--num_nodes"}) ? job_nodes.value_or(1) : 0);
            if (out_.gpus_per_node > 0 && n > 0) out_.gpus = out_.gpus_per_node * n;
        } else if (job_tasks && !torchrun) {
            out_.gpus = *job_tasks;
            out_.gpus_per_node = tasks_a_node.value_or(0);
            out_.gpus_of_tasks = true;
        } else if (job_nodes && (tasks_a_node || gpus_of_job())) {
            // A torchrun on each node starts one process a GPU there; srun without it starts one a task.
            const std::int64_t one = torchrun ? gpus_of_job().value_or(tasks_a_node.value_or(0))
                                              : tasks_a_node.value_or(gpus_of_job().value_or(0));
            out_.gpus_per_node = one;
            out_.gpus = *job_nodes * one;
            out_.gpus_of_tasks = !torchrun && tasks_a_node.has_value();
        } else if (const auto each = variable("NPROC_PER_NODE")) {
            out_.gpus_per_node = *each;
            out_.gpus = *each * variable("NNODES").value_or(1);
        }
    }

  private:
    // xpk names a slice by its type: "tpu7x-4x8x8" has as many chips of two devices, "v5p-512" half as many
    // as cores, "v6e-256" as many; a node of GPUs is "h100-mega-80gb-8" (AI-Hypercomputer/xpk,
    // src/xpk/core/system_characteristics.py).
    void read_xpk() {
        std::string type;
        for (std::size_t k = 0; k < end_ && k < i_.words.size(); ++k)
            for (const std::string_view name : {"--device-type", "--tpu-type"}) {
                const std::string& w = i_.words[k].text;
                if (w == name && k + 1 < i_.words.size()) type = i_.words[k + 1].text;
                if (w.starts_with(name) && w.substr(0, w.find('=')) == name && w != name)
                    type = w.substr(w.find('=') + 1);
            }
        const std::size_t dash = type.rfind('-');
        if (dash == std::string::npos || shell::unknown_in(script_, type)) {
            if (!type.empty()) out_.gpus_unknown = "--device-type is " + shell::shown(script_, type);
            return;
        }
        out_.device = type.substr(0, dash);
        std::int64_t n = 1;
        for (const std::string_view side : split(std::string_view(type).substr(dash + 1), 'x'))
            n = std::min(n * std::clamp<std::int64_t>(parse_integer(side).value_or(0), 0, kMostOfXpk),
                         kMostOfXpk);
        const bool cores = out_.device == "v5p" || out_.device == "v4";
        if (out_.device == "tpu7x") n *= 2;
        if (cores) n /= 2;
        const auto slices = option({"--num-slices", "--num-nodes"});
        if (!slices && said({"--num-slices", "--num-nodes"})) return;  // it is not known
        out_.gpus = std::min(n * slices.value_or(1), kMostOfXpk);
        if (!out_.device.starts_with("v") && !out_.device.starts_with("tpu")) out_.gpus_per_node = n;
    }

    static constexpr std::int64_t kMostOfXpk = std::int64_t{1} << 20;

    [[nodiscard]] bool starts(std::string_view program) const {
        for (std::size_t k = 0; k < end_ && k < i_.words.size(); ++k)
            if (base_name(i_.words[k].text) == program) return true;
        return false;
    }
    [[nodiscard]] bool module(std::string_view name) const {
        for (std::size_t k = 0; k < end_ && k < i_.words.size(); ++k)
            if (i_.words[k].text == name) return true;
        return false;
    }
    [[nodiscard]] bool said(std::initializer_list<std::string_view> names) const {
        for (std::size_t k = 0; k < end_ && k < i_.words.size(); ++k)
            for (const std::string_view n : names)
                if (same_option(i_.words[k].text.substr(0, i_.words[k].text.find('=')), n)) return true;
        return false;
    }
    std::optional<std::int64_t> option(std::initializer_list<std::string_view> names) {
        std::optional<std::int64_t> found;
        for (std::size_t k = 0; k < end_ && k < i_.words.size(); ++k) {
            const std::string& w = i_.words[k].text;
            const std::size_t equals = w.find('=');
            const bool glued = holds_number(w);
            const std::string_view name = std::string_view(w).substr(0, glued ? 2 : equals);
            if (std::none_of(names.begin(), names.end(),
                             [&](std::string_view n) { return same_option(name, n); }))
                continue;
            std::string value;
            if (glued)
                value = w.substr(2);
            else if (equals != std::string::npos)
                value = w.substr(equals + 1);
            else if (k + 1 < i_.words.size())
                value = i_.words[k + 1].text;
            if (const shell::Unknown* u = shell::unknown_in(script_, value)) {
                out_.gpus_unknown = std::string(name) + " is set from " + u->what + " ("
                                    + words_of(place_in(script_, i_.words[k].line)) + ")";
                continue;
            }
            const std::size_t colon = value.find(':');  // an elastic job, MIN:MAX
            const auto n = parse_integer(colon == std::string::npos ? value : value.substr(colon + 1));
            if (n && colon != std::string::npos && parse_integer(value.substr(0, colon)) != n)
                out_.elastic = std::string(name) + " " + value;
            if (n && *n > 0 && *n <= (1 << 20)) found = n;
        }
        return found;
    }
    // deepspeed --include localhost:0,1,2,3@worker-1:0,1: as many as are named, where each host names them.
    std::optional<std::int64_t> devices_included() const {
        if (!starts("deepspeed")) return std::nullopt;
        for (std::size_t k = 0; k + 1 < end_ && k + 1 < i_.words.size(); ++k) {
            const std::string& w = i_.words[k].text;
            const bool apart = w == "--include" || w == "-i";
            if (!apart && !w.starts_with("--include=")) continue;
            const std::string value = apart ? i_.words[k + 1].text : w.substr(w.find('=') + 1);
            if (shell::unknown_in(script_, value)) return std::nullopt;
            std::int64_t gpus = 0;
            for (const auto& host : slots_of_filter(value)) {
                if (host.second.empty()) return std::nullopt;
                gpus += std::ssize(host.second);
            }
            return gpus;
        }
        return std::nullopt;
    }
    std::optional<std::int64_t> variable(std::string_view name) const {
        const auto it = i_.environment.find(name);
        const auto n = it == i_.environment.end() ? std::nullopt : parse_integer(it->second);
        return n && *n > 0 && *n <= (1 << 20) ? n : std::nullopt;
    }
    std::optional<std::int64_t> sbatch(std::string_view name) const {
        const auto it = script_.sbatch.find(std::string(name) + group_);
        if (it == script_.sbatch.end()) return std::nullopt;
        const auto n = parse_integer(std::string_view(it->second).substr(it->second.find_last_of(':') + 1));
        return n && *n > 0 && *n <= (1 << 20) ? n : std::nullopt;
    }
    std::optional<std::int64_t> job(std::initializer_list<std::string_view> names,
                                    std::string_view directive) {
        if (starts("srun") || starts("sbatch"))
            if (const auto n = option(names)) return n;
        return sbatch(directive);
    }
    std::optional<std::int64_t> gpus_of_job() {
        for (const std::string_view name :
             {std::string_view("gpus-per-node"), std::string_view("gres"), std::string_view("gpus-per-task")})
            if (const auto n = sbatch(name)) return n;
        return option({"--gpus-per-node", "--gres"});
    }

    const Script& script_;
    const Invocation& i_;
    std::size_t end_;
    Launch& out_;
    std::string group_{};  // of Slurm's nodes, as the end of an option's name
};

Setting setting_of(const Script& script, std::string name, const Argument* value, std::string_view text,
                   int line) {
    Setting s;
    s.name = std::move(name);
    s.value = shell::shown(script, text);
    s.at = place_in(script, line);
    s.stated = value != nullptr;
    if (const shell::Unknown* u = shell::unknown_in(script, text)) s.unknown = u->what;
    return s;
}

// Returns a value without the quotes that stand around all of it: Hydra takes them off.
std::string_view unquoted(std::string_view value) {
    const bool pair =
        value.size() > 1 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'');
    return pair ? value.substr(1, value.size() - 2) : value;
}

// Keeps a word that is no setting by itself, but may bring some: what the text does not set, a command's
// output, a file of arguments or of settings.
void keep_loose(const Script& script, const Argument& word, Launch& out) {
    const std::string& w = word.text;
    const bool file = w.starts_with("@") || is_settings_file(w);
    const bool variable = w.find('=') != std::string::npos;  // of the environment: NAME=value
    if (variable || (!file && !shell::unknown_in(script, w))) return;
    Setting s = setting_of(script, shell::shown(script, w), nullptr, "", word.line);
    if (const shell::Unknown* u = shell::unknown_in(script, w)) s.unknown = u->what;
    out.loose.push_back(std::move(s));
}

// Returns true for a word that is nothing but a name that the text does not set.
bool is_unset(const Script& script, std::string_view word) {
    const shell::Unknown* u = shell::sole_unknown_in(script, word);
    return u && u->unset;
}

// Returns true for Hydra's "~model.peft", which takes a setting away.
bool is_taken_away(std::string_view word) {
    return word.size() > 1 && word[0] == '~' && is_name_start(word[1]) && word.find('/') == word.npos;
}

void read_arguments(const Script& script, const std::vector<Argument>& words, std::size_t from,
                    const std::function<bool(std::string_view)>& is_switch, Launch& out) {
    for (std::size_t k = from; k < words.size(); ++k) {
        const std::string& w = words[k].text;
        const std::size_t equals = w.find('=');
        if (!is_flag(w)) {
            if (is_taken_away(w))
                out.words.push_back(setting_of(script, w.substr(0, equals), nullptr, "", words[k].line));
            else if (equals != std::string::npos && equals > 0)
                out.words.push_back(setting_of(script, w.substr(0, equals), &words[k],
                                               unquoted(std::string_view(w).substr(equals + 1)),
                                               words[k].line));
            else
                keep_loose(script, words[k], out);
            continue;
        }
        if (equals != std::string::npos) {
            out.flags.push_back(setting_of(script, w.substr(0, equals), &words[k],
                                           std::string_view(w).substr(equals + 1), words[k].line));
            continue;
        }
        std::string value;
        const bool takes = !is_switch(flag_key(w));
        std::size_t last = k;
        while (takes && last + 1 < words.size() && !is_flag(words[last + 1].text)
               && words[last + 1].text != "--") {
            const std::string& next = words[last + 1].text;
            // An override after a flag with its value is a word of its own, as are the arguments in an array
            // that is set elsewhere.
            if (!value.empty()
                && (next.find('=') != std::string::npos || is_unset(script, next) || is_taken_away(next)))
                break;
            value += (value.empty() ? "" : " ") + next;
            ++last;
        }
        out.flags.push_back(
            setting_of(script, w, value.empty() ? nullptr : &words[k + 1], value, words[k].line));
        k = last;
    }
}

// Reads the flags that stand before the program, each of the launcher before it (words.json, "launchers"):
// `srun -N 4 accelerate launch --use_fsdp train.py`.
void read_launchers(const Script& script, const std::vector<Argument>& words, std::size_t end, Launch& out) {
    static const nlohmann::ordered_json nothing = nlohmann::ordered_json::object();
    const auto& known = words_of_launchers();
    std::string launcher;
    for (std::size_t k = 0; k < end && k < words.size(); ++k) {
        const std::string& w = words[k].text;
        std::string name(base_name(w));
        if (w.starts_with("torch.distributed.")) name = "torchrun";
        if (w.starts_with("accelerate.commands")) name = "accelerate";
        if (known.contains(name)) {
            launcher = name;
            continue;
        }
        if (w.ends_with(".py")) {  // a program that hands its command on: what follows is its own
            launcher = name;
            continue;
        }
        if (launcher.empty() || !is_flag(w)) {
            if (!is_flag(w)) keep_loose(script, words[k], out);
            continue;
        }
        if (w == "-m" || w == "--module") continue;  // the program follows
        const std::size_t equals = w.find('=');
        const bool glued = holds_number(w);
        const std::string flag = w.substr(0, glued ? 2 : equals);
        const auto of = known.find(launcher);
        const auto& row = of == known.end() ? nothing : *of;
        const auto is_listed = [&](const char* list) {
            const auto found = row.find(list);
            return found != row.end() && std::any_of(found->begin(), found->end(), [&](const auto& one) {
                       return word_of(one) == flag_key(flag);
                   });
        };
        Setting s;
        if (glued || equals != std::string::npos) {
            s = setting_of(script, flag, &words[k], std::string_view(w).substr(glued ? 2 : equals + 1),
                           words[k].line);
        } else if (!is_listed("switches") && k + 1 < end && !is_flag(words[k + 1].text)
                   && words[k + 1].text != "--"
                   && !known.contains(std::string(base_name(words[k + 1].text)))) {
            s = setting_of(script, flag, &words[k + 1], words[k + 1].text, words[k].line);
            ++k;
        } else {
            s = setting_of(script, flag, nullptr, "", words[k].line);
        }
        s.of = launcher;
        out.before.push_back(std::move(s));
    }
}

// Returns the program of a command: "pretrain_gpt.py", "megatron sft".
std::string command_of(const Invocation& i) {
    std::string name;
    if (program_at(i, name) == i.words.size() && i.words.size() > 1)
        name = i.words[0].text + " " + i.words[1].text;
    return name;
}

// Returns the command of most settings, or the job that is named; `out` gets the names of all that start the
// same program.
const Invocation* job_of(const Script& script, std::string_view which, Launch& out) {
    const Invocation* best = nullptr;
    for (const Invocation& i : script.invocations)
        if (score(script, i) > (best ? score(script, *best) : 0)) best = &i;
    if (!best) return nullptr;
    const Invocation* job = which.empty() ? best : nullptr;
    std::set<std::string> seen, names;
    for (const Invocation& i : script.invocations) {
        std::string all;
        for (const Argument& w : i.words) all += w.text + " ";
        if (score(script, i) < 1 || command_of(i) != command_of(*best) || !seen.insert(all).second) continue;
        std::string name = "line-" + std::to_string(own_line(script, i.line));
        for (int n = 2; !names.insert(name).second; ++n)
            name = "line-" + std::to_string(own_line(script, i.line)) + "-" + std::to_string(n);
        out.jobs.push_back(name);
        if (name == which) job = &i;
        if (&i == job) out.job = name;
    }
    return job;
}

// Puts the launcher that a front end is asked for, and its words behind "--", before the front end: `axolotl
// train x.yaml --launcher torchrun -- --nproc_per_node=8`.
Invocation launched(const Invocation& job, const FrontWords& front) {
    const auto split = std::find_if(job.words.begin() + static_cast<std::ptrdiff_t>(front.end),
                                    job.words.end(), [](const Argument& w) { return w.text == "--"; });
    if (split == job.words.end()) return job;
    Argument launcher{"accelerate", split->line};
    std::vector<Argument> own;
    for (auto w = job.words.begin(); w != split; ++w) {
        const std::size_t equals = w->text.find('=');
        if (w->text.substr(0, equals) != "--launcher") {
            own.push_back(*w);
        } else if (equals != std::string::npos) {
            launcher.text = w->text.substr(equals + 1);
        } else if (w + 1 != split) {
            launcher.text = (++w)->text;
        }
    }
    Invocation out = job;
    out.words = {launcher};
    out.words.insert(out.words.end(), split + 1, job.words.end());
    out.words.insert(out.words.end(), own.begin(), own.end());
    return out;
}

}  // namespace

bool is_settings_file(std::string_view name) {
    static constexpr std::string_view kEndings[] = {".yaml", ".yml", ".json", ".toml"};
    return std::any_of(std::begin(kEndings), std::end(kEndings),
                       [&](std::string_view end) { return name.ends_with(end) && name.size() > end.size(); });
}

SlotsOfHosts slots_of_filter(std::string_view filter) {
    SlotsOfHosts out;
    for (const std::string_view part : split(filter, '@')) {
        const std::size_t colon = part.find(':');
        auto& slots = out[std::string(part.substr(0, colon))];
        if (colon == std::string_view::npos) continue;
        for (const std::string_view slot : split(part.substr(colon + 1), ',')) slots.emplace(slot);
    }
    return out;
}

std::string flag_key(std::string_view name) {
    while (name.starts_with('-')) name.remove_prefix(1);
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

Launch read_launch(std::string_view text, const std::string& path,
                   const std::function<bool(std::string_view)>& is_switch, const shell::Given& given,
                   std::string_view which) {
    const Script script = shell::read_script(text, path, given);
    Launch out;
    out.unread = script.unread;
    out.written = script.written;
    // These are bare flags, a line or a file of them: every line is a part of one command.
    const auto bare = [](const Invocation& i) { return is_flag(i.words.front().text); };
    if (!script.invocations.empty()
        && std::all_of(script.invocations.begin(), script.invocations.end(), bare)) {
        for (const Invocation& i : script.invocations) read_arguments(script, i.words, 0, is_switch, out);
        return out;
    }
    const Invocation* job = job_of(script, which, out);
    // A file of flags that another script reads in starts nothing.
    if (!job && which.empty() && !script.lists.empty()) {
        for (const shell::FlagList& list : script.lists)
            read_arguments(script, list.words, 0, is_switch, out);
        return out;
    }
    const bool asks =
        std::any_of(script.unknowns.begin(), script.unknowns.end(), [](const shell::Unknown& u) {
            return u.what.size() > 1 && u.what[0] == '$' && u.what[1] >= '1' && u.what[1] <= '9';
        });
    if (!job)
        throw Error(
            ErrorKind::invalid, path, "",
            (which.empty() ? "no command in it starts a training job"
                           : "it starts no job " + std::string(which))
                + (asks ? ", as long as its arguments are not given (--args on the command line)" : ""));
    if (const auto list = script.sbatch.find("nodelist"); list != script.sbatch.end())
        out.hosts = list->second;
    Invocation words = *job;
    words.words.insert(words.words.begin(), job->outer.begin(), job->outer.end());
    std::size_t program = 0;
    if (const FrontWords front = front_words(script, words); front.row) {
        words = launched(words, front);
        const FrontWords moved = front_words(script, words);
        program = moved.end - 1;
        for (const auto& word : (*moved.row)["words"])
            out.program += (out.program.empty() ? "" : " ") + std::string(word_of(word));
    } else {
        program = program_at(words, out.program);
        // A tool's own command without a file: "trl dpo --model_name_or_path a".
        for (std::size_t k = 0; program == words.words.size() && k + 1 < program; ++k)
            for (const std::string_view tool : {"trl", "swift", "megatron"})
                if (out.program.empty() && base_name(words.words[k].text) == tool)
                    out.program = std::string(tool) + " " + words.words[k + 1].text;
    }
    Frame(script, words, program, out).read();
    if (program < words.words.size()) read_launchers(script, words.words, program, out);
    read_arguments(script, words.words, program == words.words.size() ? 0 : program + 1, is_switch, out);
    return out;
}

std::optional<FrontEnd> front_end_in(std::string_view text, const std::string& path,
                                     const shell::Given& given) {
    const auto stands = [&](const nlohmann::ordered_json& row) {
        return std::all_of(row["words"].begin(), row["words"].end(), [&](const auto& word) {
            return text.find(word_of(word)) != std::string_view::npos;
        });
    };
    const auto& rows = words("front_ends");
    if (std::none_of(rows.begin(), rows.end(), stands)) return std::nullopt;
    Script script;
    try {
        script = shell::read_script(text, path, given);
    } catch (const Error&) {
        return std::nullopt;
    }
    for (const Invocation& i : script.invocations) {
        const FrontWords front = front_words(script, i);
        if (!front.row || starts_nothing(i)) continue;
        FrontEnd out{std::string(word_of((*front.row)["tool"])), {}, {}};
        for (const auto& word : (*front.row)["words"])
            out.command += (out.command.empty() ? "" : " ") + std::string(word_of(word));
        const std::string& w = i.words[front.file].text;
        out.file = shell::shown(script, w.starts_with("--config=") ? w.substr(w.find('=') + 1) : w);
        out.known = !shell::unknown_in(script, w);
        if (front.row->contains("under"))
            for (const auto& [variable, tool] : (*front.row)["under"].items())
                if (text.find(variable) != std::string_view::npos) {
                    out.tool = word_of(tool);
                    out.sure = true;
                }
        return out;
    }
    return std::nullopt;
}

}  // namespace pentamesh::interop
