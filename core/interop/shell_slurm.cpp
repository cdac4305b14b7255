#include "core/base/text.h"
#include "core/interop/shell_state.h"

#include <algorithm>
#include <utility>

namespace pentamesh::shell {

bool writes_variable(const Command& c) {
    if (c.words.size() != 2) return false;
    const std::vector<Part>& parts = c.words[1].parts;  // in quotes an empty literal stands before it
    return !parts.empty() && parts.back().kind == PartKind::parameter
           && std::all_of(parts.begin(), parts.end() - 1,
                          [](const Part& p) { return p.kind == PartKind::literal && p.text.empty(); });
}

bool begins_as_script(std::string_view text) {
    return text.starts_with("#!") && text.substr(0, text.find('\n')).find("python") == std::string_view::npos;
}

void read_sbatch(std::string_view text, Expander& x) {
    static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
        {"N", "nodes"}, {"n", "ntasks"}, {"c", "cpus-per-task"}, {"G", "gpus"}, {"w", "nodelist"}};
    for (std::string_view row : split_lines(text)) {
        if (!row.starts_with("#SBATCH")) continue;
        row.remove_prefix(7);
        row = row.substr(0, row.find(" #"));
        const std::vector<std::string_view> words = split_words(row, " \t\r=");
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string_view w = words[i];
            const std::string value(i + 1 < words.size() && !words[i + 1].starts_with("-") ? words[i + 1]
                                                                                           : "");
            if (w.starts_with("--")) {
                x.script.sbatch.insert_or_assign(std::string(w.substr(2)), value);
            } else if (w.size() >= 2 && w[0] == '-') {
                for (const auto& [letter, name] : kShort)
                    if (w.substr(1, 1) == letter)
                        x.script.sbatch.insert_or_assign(std::string(name),
                                                         w.size() > 2 ? std::string(w.substr(2)) : value);
            }
        }
    }
    const auto set = [&](std::string_view option, std::initializer_list<const char*> variables) {
        const auto it = x.script.sbatch.find(option);
        if (it == x.script.sbatch.end() || it->second.empty()) return;
        for (const char* v : variables) x.state.variables[v] = {{it->second}, false};
    };
    set("nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
    set("nodelist", {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
    set("ntasks-per-node", {"SLURM_NTASKS_PER_NODE"});
    set("ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"});
    set("gpus-per-node", {"SLURM_GPUS_PER_NODE"});
    set("cpus-per-task", {"SLURM_CPUS_PER_TASK"});
}

}  // namespace pentamesh::shell
