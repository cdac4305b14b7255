#include "core/interop/beside.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/dialect.h"
#include "core/interop/script/settings.h"
#include "core/plan/names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace pentamesh::interop {
namespace {

constexpr std::string_view kDefault = "the default of ";

// Returns true where a tool's file says it for the program too. What the program says itself stands.
bool is_handed_on(std::string_view key) {
    static constexpr std::string_view kKeys[] = {own::kAccumulation.name,
                                                 own::kEngineCopy.name,
                                                 own::kKeptGradients.name,
                                                 own::kUpcast.name,
                                                 own::kGpus.name,
                                                 "/training/micro_batch",
                                                 "/training/global_batch",
                                                 "/training/recompute",
                                                 "/training/gradients",
                                                 "/training/master_weights",
                                                 "/training/optimizer_state"};
    return key.starts_with("/layout/") || key.starts_with("/training/offload/")
           || key.starts_with("/training/overlap/")
           || std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

bool names_json(std::string_view value) {
    return value.ends_with(".json") || value.ends_with(".conf");
}

class Reading {
  public:
    Reading(const ImportRequest& request, const Presets& presets, SettingsText& text)
        : r_(request), presets_(presets), text_(text) {}

    Beside read() {
        std::vector<Setting> accelerate;
        if (text_.launch) hosts_of_deepspeed();
        if (text_.launch) launchers(accelerate);
        if (!accelerate.empty()) of_accelerate(std::move(accelerate));
        std::vector<Setting> fsdp;
        std::erase_if(text_.settings, [&](const Setting& s) { return file_of_fsdp(s, fsdp); });
        std::move(fsdp.begin(), fsdp.end(), std::back_inserter(text_.settings));
        for (Setting& s : text_.settings)
            if (names_deepspeed(s) && out_.files.size() < kMostFiles) {
                of_deepspeed(s);
                s.unknown.clear();
            }
        if (!out_.files.empty()) say_files();
        if (text_.launch) loose();
        return std::move(out_);
    }

  private:
    static constexpr std::size_t kMostFiles = 10;

    static std::string leaf_of(const Setting& s) {
        return s.name.starts_with("-") ? flag_key(s.name) : leaf_key(s.name);
    }

    // Returns the file of that name that the script itself writes, or null.
    [[nodiscard]] const std::string* written(std::string_view name) const {
        if (!text_.launch || name.empty()) return nullptr;
        const auto plain = [](std::string_view path) {
            while (path.starts_with("./")) path.remove_prefix(2);
            return path;
        };
        for (const auto& [file, text] : text_.launch->written)
            if (plain(file) == plain(name)) return &text;
        return nullptr;
    }

    [[nodiscard]] bool names_deepspeed(const Setting& s) const {
        const std::string leaf = leaf_of(s);
        static constexpr std::string_view kNames[] = {
            "deepspeed", "deepspeed_config", "deepspeed_config_file",
            "ds_config", "ds_config_path",   "deepspeed_file"};
        return (s.unknown.empty() || written(s.value)) && (names_json(s.value) || written(s.value))
               && std::find(std::begin(kNames), std::end(kNames), leaf) != std::end(kNames);
    }

    static Listed row_of(const Setting& s, std::string path = {}, std::string why = {}) {
        return {s.name, s.value, std::move(path), std::move(why), s.at.line, s.at.file};
    }

    // Counts the GPUs of DeepSpeed's list of hosts, "worker-1 slots=8", where the command does not say them
    // all (launcher/runner.py: fetch_hostfile, parse_resource_filter).
    void hosts_of_deepspeed() {
        std::optional<Setting> file;
        std::string include, exclude;
        std::int64_t nodes = 0, each = 0;
        for (const Setting& s : text_.launch->before) {
            if (s.of != "deepspeed" || !s.unknown.empty()) continue;
            const std::string key = flag_key(s.name);
            if (key == "hostfile" || key == "H") file = s;
            if (key == "include" || key == "i") include = s.value;
            if (key == "exclude" || key == "e") exclude = s.value;
            if (key == "num_nodes") nodes = parse_integer(s.value).value_or(0);
            if (key == "num_gpus") each = parse_integer(s.value).value_or(0);
        }
        const auto text = file ? text_of(file->value) : std::nullopt;
        if (!text || (text_.launch->gpus > 0 && (each == 0 || nodes > 0))) return;
        const auto taken = slots_of_filter(include), left = slots_of_filter(exclude);
        std::int64_t gpus = 0, hosts = 0;
        for (const std::string_view line : split(*text, '\n')) {
            const std::vector<std::string_view> all = split_words(line);
            if (all.size() < 2 || all[0].starts_with('#') || !all[1].starts_with("slots=")) continue;
            std::int64_t slots = parse_integer(all[1].substr(6)).value_or(0);
            const auto with = taken.find(all[0]), without = left.find(all[0]);
            const bool goes = (!include.empty() && with == taken.end())
                              || (without != left.end() && without->second.empty());
            if (goes || (nodes > 0 && hosts >= nodes)) continue;
            if (with != taken.end() && !with->second.empty()) slots = std::ssize(with->second);
            if (without != left.end()) slots -= std::ssize(without->second);
            slots = std::clamp<std::int64_t>(slots, 0, 1 << 10);
            gpus += each > 0 ? std::min(each, slots) : slots;
            ++hosts;
        }
        if (gpus < 1 || gpus > (1 << 20)) return;
        text_.launch->gpus = gpus;
        text_.launch->gpus_unknown.clear();
        out_.files.push_back(file->value);
    }

    // A launcher's words end in a list each; those of accelerate are settings of its own file.
    void launchers(std::vector<Setting>& accelerate) {
        std::optional<Setting> processes;  // HYBRID_SHARD counts those of a machine
        for (Setting& s : text_.launch->before) {
            const auto& all = words("launchers");
            const auto of = all.find(s.of);
            if (of == all.end()) {
                out_.lists.unmapped.push_back(
                    row_of(s, {}, "a word of " + s.of + ", which hands the command on"));
                continue;
            }
            const auto& row = *of;
            const std::string key = flag_key(s.name);
            const auto is_listed = [&](const char* list) {
                const auto found = row.find(list);
                return found != row.end() && std::any_of(found->begin(), found->end(), [&](const auto& one) {
                           return word_of(one) == key;
                       });
            };
            // "-lu": switches of one letter each.
            const auto are_letters = [&] {
                const bool several = s.name.starts_with("-") && !s.name.starts_with("--") && key.size() > 1;
                return several && std::all_of(key.begin(), key.end(), [&](char c) {
                           const auto& list = row.at("switches");
                           return std::find(list.begin(), list.end(), std::string(1, c)) != list.end();
                       });
            };
            if (key == "config_file") {
                file_of_accelerate(s, accelerate);
            } else if (key == "num_processes" && row.contains("settings") && parse_integer(s.value)) {
                processes = s;
            } else if (is_listed("gpus")) {
                out_.lists.mapped.push_back(row_of(s, "/cluster/gpus"));
            } else if (is_listed("harmless") || are_letters()) {
                out_.lists.ignored.push_back(row_of(s));
            } else if (row.contains("settings")) {
                if (!s.stated) s.value = "true", s.stated = true;
                accelerate.push_back(std::move(s));
            } else {
                out_.lists.not_known.push_back(row_of(s));
            }
        }
        if (processes && accelerate.empty()) out_.lists.mapped.push_back(row_of(*processes, "/cluster/gpus"));
        if (processes && !accelerate.empty()) accelerate.push_back(std::move(*processes));
    }

    std::optional<std::string> text_of(const std::string& name) const {
        if (const std::string* own = written(name))
            return own->empty() ? std::nullopt : std::optional<std::string>(*own);
        return r_.other && !name.empty() ? r_.other(name) : std::nullopt;
    }

    std::vector<Setting> settings_of(const std::string& name, const std::string& text) {
        std::vector<Setting> out;
        const bool own = written(name) != nullptr;
        try {
            out = flatten(read_yaml(text, name));
        } catch (const Error&) {
            if (own) return {};  // an unknown value may be a part of its syntax
            throw;
        }
        for (Setting& s : out) {
            s.at.file = name;
            const std::size_t open = own ? s.value.find('$') : std::string::npos;
            if (open != std::string::npos) s.unknown = s.value.substr(open + 1);
        }
        out_.files.push_back(name);
        return out;
    }

    void file_of_accelerate(const Setting& s, std::vector<Setting>& accelerate) {
        const auto text = s.unknown.empty() || written(s.value) ? text_of(s.value) : std::nullopt;
        std::vector<Setting> settings;
        if (text) settings = settings_of(s.value, *text);
        if (settings.empty()) {  // the program's tool says what may stand in it
            Setting flag = s;
            flag.of.clear();
            text_.settings.push_back(flag);
            text_.launch->flags.push_back(std::move(flag));
            return;
        }
        out_.lists.mapped.push_back(row_of(s, "/layout"));
        accelerate.insert(accelerate.begin(), std::make_move_iterator(settings.begin()),
                          std::make_move_iterator(settings.end()));
    }

    // transformers' fsdp_config may be a file (training_args.py): its keys are those of the dictionary.
    bool file_of_fsdp(const Setting& s, std::vector<Setting>& out) {
        if (leaf_of(s) != "fsdp_config" || !s.unknown.empty() || !s.value.ends_with(".json")) return false;
        const auto text = text_of(s.value);
        if (!text) return false;
        std::vector<Setting> keys = settings_of(s.value, *text);
        if (keys.empty()) return false;
        out_.lists.mapped.push_back(row_of(s, "/layout"));
        for (Setting& key : keys) {
            key.name = "fsdp_config." + key.name;
            out.push_back(std::move(key));
        }
        return true;
    }

    void of_accelerate(std::vector<Setting> settings) {
        static constexpr std::pair<std::string_view, const char*> kTypes[] = {
            {"--use_fsdp", "FSDP"},
            {"--use_deepspeed", "DEEPSPEED"},
            {"--multi_gpu", "MULTI_GPU"},
            {"--use_megatron_lm", "MEGATRON_LM"},
            {"--cpu", "MULTI_CPU"}};
        std::vector<Setting> types;
        for (const Setting& s : settings)
            for (const auto& [flag, type] : kTypes)
                if (s.name.starts_with("-") && flag_key(s.name) == flag_key(flag)) {
                    types.push_back(s);
                    types.back().value = type;
                    types.back().key = "distributed_type";
                }
        // launch.py, _validate_launch_command: Megatron's does not exclude the others.
        std::set<std::string> engines;
        for (const Setting& s : types)
            if (s.value != "MEGATRON_LM") engines.insert(s.value);
        if (engines.size() > 1) {
            Setting all = types.front();
            all.key = "engines";
            all.value = std::to_string(engines.size());
            types.push_back(std::move(all));
        }
        settings.insert(settings.end(), types.begin(), types.end());
        // A file of DeepSpeed that accelerate's own file names.
        std::optional<Setting> json;
        for (const Setting& s : settings)
            if (names_deepspeed(s) && text_of(s.value)) json = s;
        part("accelerate", std::move(settings), json.has_value());
        if (json) of_deepspeed(*json);
    }

    void of_deepspeed(const Setting& named) {
        if (std::find(out_.files.begin(), out_.files.end(), named.value) != out_.files.end()) return;
        const auto text = text_of(named.value);
        if (!text || !without_blanks(*text).starts_with("{")) return;
        if (std::vector<Setting> settings = settings_of(named.value, *text); !settings.empty())
            part("deepspeed", std::move(settings));
    }

    // Reads settings of a tool of fields; what it says for the program is handed on. `more`: a file that it
    // names is read too.
    void part(std::string_view tool, std::vector<Setting> settings, bool more = false) {
        Dialect dialect(tool, presets_);
        if (more) dialect.silence("file-by-name"), dialect.silence("not-read");
        const KnownSettings known(tool, presets_);
        dialect.complete(settings);
        bool typed = tool == "deepspeed", open_type = false;
        std::string type;
        for (const Setting& s : settings) {
            const std::string key = s.key.empty() ? dialect.key_of(s.name) : s.key;
            if (key == "distributed_type") typed = true, type = s.value;
            if ((key == "bf16" || key == "fp16") && s.value == "auto") open_type = true;
        }
        for (const Setting& s : settings) {
            const std::string key = s.key.empty() ? dialect.key_of(s.name) : s.key;
            const bool usual = s.name.starts_with(kDefault) && key != own::kEngineCopy.name;
            if (key == "processes" && !s.name.starts_with("-"))
                hand_on(s, std::string(own::kGpus.name));  // a flag is the launcher's
            if (key == "/training/compute" && !open_type && !usual && s.value != "fp32") hand_on(s, key);
            if (is_handed_on(key) && s.value != "auto" && (!usual || (typed && key == "/layout/zero")))
                hand_on(s, key);
        }
        const Software engine = tool == "deepspeed" || type == "DEEPSPEED" ? Software::deepspeed
                                : type == "MEGATRON_LM"                    ? Software::megatron
                                                                           : Software::fsdp;
        if (typed) {
            Setting software;
            software.name = std::string(kDefault) + std::string(tool);
            software.value = pentamesh::name_of(engine);
            hand_on(software, "/training/software");
        }
        lists_of(dialect, known, std::move(settings));
    }

    void hand_on(const Setting& s, const std::string& key) {
        const auto same = std::find_if(out_.fields.begin(), out_.fields.end(),
                                       [&](const Setting& f) { return f.key == key; });
        Setting made = s;
        made.key = key;
        if (same != out_.fields.end())
            *same = std::move(made);  // DeepSpeed's own file wins over what accelerate says
        else
            out_.fields.push_back(std::move(made));
    }

    void lists_of(const Dialect& dialect, const KnownSettings& known, std::vector<Setting> settings) {
        SettingsSheet sheet(std::move(settings),
                            [&](const std::string& name) { return dialect.key_of(name); });
        for (const std::string& key : sheet.open_keys()) {
            if (key.starts_with("/")) sheet.map(key, key);
            for (const OwnName& name :
                 {own::kGpus, own::kNodes, own::kGpusPerNode, own::kAccumulation, own::kKeptGradients,
                  own::kUpcast, own::kUsualStored, own::kOptimizerName, own::kEngineCopy})
                if (key == name.name) sheet.map(name);
            if (key == "processes" || key == "machines") sheet.map(key, own::kGpus.field);
            for (const char* engine : {"use_fsdp", "use_deepspeed", "multi_gpu", "use_megatron_lm"})
                if (key == engine) sheet.map(key, "/layout/zero");
            if (key == "engines") sheet.map(key, "/layout/zero");
        }
        dialect.mark(sheet);
        sort_rest(sheet, known);
        sheet.lists(out_.lists);
        for (ImportProblem& p : sheet.problems)
            if (p.code != "precision-default") out_.problems.push_back(std::move(p));
    }

    void say_files() {
        ImportProblem read;
        read.severity = Severity::info;
        read.code = "files-read";
        const bool own = std::all_of(out_.files.begin(), out_.files.end(),
                                     [&](const std::string& file) { return written(file) != nullptr; });
        const bool one = out_.files.size() == 1;
        read.message = join(out_.files, " and ")
                       + (own   ? ", which the script writes,"
                          : one ? " stands beside the text and"
                                : " stand beside the text and")
                       + (one ? " was read too." : " were read too.");
        out_.problems.push_back(std::move(read));
    }

    // Words that are no settings but may bring some.
    void loose() {
        for (const Setting& s : text_.launch->loose) {
            const bool unset = !s.unknown.empty();
            ImportProblem word;
            if (s.unknown == "$@") {  // the script itself has no word in it
                word.severity = Severity::info;
                word.code = "arguments-of-script";
                word.message = "The script hands its own arguments on: none are given (--args on the command "
                               "line).";
                out_.problems.push_back(std::move(word));
                continue;
            }
            word.severity = Severity::warning;
            word.code = "word-not-read";
            word.name = s.unknown;
            word.message = s.name
                           + (unset ? " is not set in the text: settings may stand in it ("
                                    : ": the file is not read with the text: settings may stand in it (")
                           + words_of(s.at) + ").";
            out_.problems.push_back(std::move(word));
            out_.lists.not_known.push_back(row_of(s));
        }
    }

    const ImportRequest& r_;
    const Presets& presets_;
    SettingsText& text_;
    Beside out_;
};

}  // namespace

Beside read_beside(const ImportRequest& request, const Presets& presets, SettingsText& text) {
    return Reading(request, presets, text).read();
}

}  // namespace pentamesh::interop
