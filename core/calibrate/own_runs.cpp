#include "core/calibrate/own_runs.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/plan/names.h"
#include "core/runs/measured.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace pentamesh {

OwnFile own_file_kind(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool object = first != std::string_view::npos && text[first] == '{';
    // A log may begin with "[rank0]"; a list of runs begins with an object.
    const std::size_t second =
        first == std::string_view::npos ? first : text.find_first_not_of(" \t\r\n", first + 1);
    const bool list = first != std::string_view::npos && text[first] == '['
                      && second != std::string_view::npos && (text[second] == '{' || text[second] == ']');
    if (object || list) return OwnFile::table;
    return interop::fabric_tool(text) == interop::FabricTool::nccl_tests ? OwnFile::links : OwnFile::log;
}

std::string add_own_file(OwnFiles& own, const std::string& text, const std::string& path, const Plan* plan,
                         const std::string& cluster, const Presets& presets) {
    std::string found;
    switch (own_file_kind(text)) {
    case OwnFile::table: {
        const std::vector<MeasuredRun> runs = read_measured(text, path, presets);
        const std::size_t before = own.runs.size();
        std::copy_if(runs.begin(), runs.end(), std::back_inserter(own.runs),
                     [](const MeasuredRun& r) { return r.has_time(); });
        const std::size_t timed = own.runs.size() - before;
        found = count_text(static_cast<std::int64_t>(timed), "run");
        if (timed < runs.size())
            found += ", " + std::to_string(runs.size() - timed) + " without a time left out";
        break;
    }
    case OwnFile::links:
        own.links.push_back({text, path});
        found = "a table of nccl-tests";
        break;
    case OwnFile::log: {
        MeasuredRun run = read_log(text, path, plan, cluster, presets);
        run.id = std::filesystem::path(path).filename().string();
        found = "a log of " + count_text(static_cast<std::int64_t>(runs::read_run_log(text).steps), "step");
        own.runs.push_back(std::move(run));
        break;
    }
    }
    own.from += (own.from.empty() ? "" : ", ") + std::filesystem::path(path).filename().string();
    return found;
}

void add_run_files(OwnFiles& own, std::vector<runs::RunFile> files, const Plan& plan,
                   const Presets& presets) {
    if (files.empty()) return;
    const runs::Measured m = runs::measure(std::move(files), &plan, presets);
    std::string name = m.files.front().file;
    if (m.files.size() > 1)
        name += sentence(" and ", count_text(static_cast<std::int64_t>(m.files.size()) - 1, "file"));
    if (!m.predicted_s && !m.problems.empty())
        throw Error(ErrorKind::invalid, name, "", m.problems.front().message);
    if (m.measured_s) {
        MeasuredRun run;
        run.id = name, run.plan = plan;
        run.framework = name_of(plan.training.software);
        run.step_s = *m.measured_s, run.compute_s = m.compute_s;
        own.runs.push_back(std::move(run));
    }
    std::vector<runs::Fitting> fits = m.links;
    for (const runs::PartRow& r : m.parts)
        if (r.part == runs::RunPart::optimizer || r.fitting.constant == "efficiency.overlap")
            fits.push_back(r.fitting);
    for (const runs::Fitting& f : fits)
        if (!f.constant.empty()) own.parts.push_back({f.constant, f.would_be, name});
    if (!m.measured_s && own.parts.empty())
        throw Error(ErrorKind::invalid, name, "", "says no step, and no transfer that the plan has too");
    own.from += (own.from.empty() ? "" : ", ") + name;
}

bool is_measured_text(const std::string& text) {
    if (own_file_kind(text) == OwnFile::log)
        return runs::read_run_log(text).steps > 0 && interop::guess_framework(text).empty();
    if (own_file_kind(text) != OwnFile::table) return false;
    const std::optional<nlohmann::json> value = try_parse_json(text);
    if (!value) return false;
    const nlohmann::json* const cases = value->is_array()          ? &*value
                                        : value->contains("cases") ? &value->at("cases")
                                                                   : nullptr;
    return cases != nullptr && cases->is_array() && !cases->empty() && cases->at(0).is_object()
           && cases->at(0).contains("measured");
}

const Cluster* cluster_of_runs(const OwnFiles& own) {
    return own.runs.empty() ? nullptr : &own.runs.front().plan.cluster;
}

}  // namespace pentamesh
