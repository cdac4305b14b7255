#include "app/cli/import_request.h"

#include "app/cli/plan_argument.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <filesystem>
#include <optional>

namespace pentamesh::cli {
namespace {

interop::OtherFile files_beside(const std::filesystem::path& file) {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::absolute(file, ignored).parent_path();
    return [folder](const std::string& name) -> std::optional<std::string> {
        constexpr int kMostLevels = 12;
        const bool here = name.starts_with("./") || name.starts_with("/");
        // The folder "perf_recipes" may stand without the packages around it.
        for (std::string part = name, outside;;) {
            std::filesystem::path at = folder;
            for (int level = 0; level < (here ? 1 : kMostLevels); ++level, at = at.parent_path()) {
                if (outside.empty() || at.filename() == outside)
                    if (auto text = try_read_file(at / part)) return text;
                if (at == at.parent_path()) break;
            }
            const std::size_t slash = part.find('/');
            if (here || slash == std::string::npos || part.starts_with("..")) return std::nullopt;
            outside = part.substr(0, slash);
            part.erase(0, slash + 1);
        }
    };
}

}  // namespace

interop::ImportRequest request_of(const Context& context, const JobArguments& job) {
    for (const std::string& v : job.variables)
        if (v.find('=') == std::string::npos) refuse("--var " + shown_text(v) + " is no NAME=VALUE");
    interop::ImportRequest r;
    r.gpus = job.gpus;
    const bool preset = job.model.empty() || context.presets.has(PresetKind::model, job.model);
    r.model = preset ? job.model : read_input(job.model);
    r.cluster = job.cluster;
    r.variables = job.variables;
    return r;
}

void put_file(interop::ImportRequest& request, const std::string& file, const std::string& text) {
    request.text = text;
    request.path = file;
    if (file != "-") request.other = files_beside(file);
}

}  // namespace pentamesh::cli
