#include "app/cli/run_files.h"

#include "app/cli/streams.h"
#include "core/base/error.h"
#include "core/runs/run_axes.h"

#include <optional>
#include <sstream>
#include <utility>

namespace pentamesh::cli {
namespace {

runs::RunFile read_one(const std::string& file, const runs::PartOfGroup& part_of) {
    if (file != "-") return runs::read_run_file(file, part_of);
    const std::string text = read_input(file);
    try {
        std::istringstream in(text);
        return runs::read_run_stream(in, file, part_of);
    } catch (const Error& e) {
        const std::string words = e.kind() == ErrorKind::invalid ? runs::settings_words(text) : "";
        throw Error(e.kind(), file, "", words.empty() ? e.message() : words);
    }
}

}  // namespace

runs::Measured measure_files(const Presets& presets, const std::vector<std::string>& files,
                             const Plan* plan) {
    std::optional<Mesh> mesh;
    if (plan != nullptr) mesh = build_mesh(*plan);
    const runs::PartOfGroup part_of = runs::parts_by(mesh ? &*mesh : nullptr);
    std::vector<runs::RunFile> read;
    read.reserve(files.size());
    for (const std::string& file : files) read.push_back(read_one(file, part_of));
    return runs::measure(std::move(read), plan, presets);
}

}  // namespace pentamesh::cli
