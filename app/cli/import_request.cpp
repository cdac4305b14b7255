#include "app/cli/import_request.h"

#include "app/cli/plan_argument.h"
#include "core/base/files.h"
#include "core/base/nearest.h"

#include <filesystem>
#include <optional>

namespace pentamesh::cli {
namespace {

namespace fs = std::filesystem;

// Returns true if a folder may be the package "a/b" without the packages around it: the folder around it is
// named by the next one, or is no package.
bool may_be_package(const fs::path& folder, const fs::path& package) {
    if (package.empty()) return true;
    if (folder.filename() != package.filename()) return false;
    const fs::path around = package.parent_path();
    std::error_code ignored;
    return around.empty() || folder.parent_path().filename() == around.filename()
           || !fs::exists(folder.parent_path() / "__init__.py", ignored);
}

interop::OtherFile files_beside(const fs::path& file) {
    std::error_code ignored;
    const fs::path own = fs::absolute(file, ignored);
    return [own](const std::string& name) -> std::optional<std::string> {
        constexpr int kMostLevels = 12;
        const bool here = name.starts_with("./") || name.starts_with("/");
        // The folder "perf_recipes" may stand without the packages around it.
        for (std::string part = name, outside;;) {
            fs::path at = own.parent_path();
            for (int level = 0; level < (here ? 1 : kMostLevels); ++level, at = at.parent_path()) {
                if (may_be_package(at, outside) && at / part != own)
                    if (auto text = try_read_file(at / part)) return text;
                if (at == at.parent_path()) break;
            }
            const std::size_t slash = part.find('/');
            if (here || slash == std::string::npos || part.starts_with("..")) return std::nullopt;
            outside += (outside.empty() ? "" : "/") + part.substr(0, slash);
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
