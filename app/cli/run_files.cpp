#include "app/cli/run_files.h"

#include "app/cli/streams.h"
#include "core/runs/run_axes.h"

#include <optional>
#include <utility>

namespace pentamesh::cli {

runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                             const Plan* plan) {
    std::optional<Mesh> mesh;
    if (plan != nullptr) mesh = build_mesh(*plan);
    const runs::PartOfGroup part_of = runs::parts_by(mesh ? &*mesh : nullptr);
    std::vector<runs::RunFile> read;
    read.reserve(files.size());
    for (const std::string& file : files)
        read.push_back(file == "-" ? runs::read_run_text(read_input(file), file, part_of)
                                   : runs::read_run_file(file, part_of));
    return runs::measure(std::move(read), plan, presets);
}

}  // namespace pentamesh::cli
