#include "app/ui/shell/run_reading.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/calibrate/own_runs.h"
#include "core/runs/dump_folder.h"
#include "core/runs/run_axes.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace pentamesh::ui {
namespace {

namespace fs = std::filesystem;
using Places = std::vector<fs::path>;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

// Returns what a file begins with; empty where it cannot be read.
std::string begin_of(const fs::path& path) {
    constexpr std::size_t kBegin = std::size_t{1} << 18U;
    std::string out(kBegin, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    return out;
}

bool is_dump(const fs::path& path) {
    const std::string begin = begin_of(path), words = runs::run_file_words(begin);
    return !words.empty() && !runs::run_file_kind(begin);
}

// Returns the files of a folder that say that they are traces, Inspector files or timelines, by name.
Places run_files_in(const fs::path& folder) {
    Places out;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
        if (it->is_regular_file(failed) && runs::run_file_kind(begin_of(it->path())))
            out.push_back(it->path());
    std::sort(out.begin(), out.end());
    return out;
}

// Reads dumps: with the open plan, if its layout is theirs, else with a plan of their own.
RealRun hang_at(const fs::path& place, const Plan& open, const Presets& presets) {
    runs::HangRun run = runs::read_hang(place, &open, presets);
    if (!run.differences.empty()) {
        std::vector<std::string> differences = std::move(run.differences);
        run = hang_of(std::move(run.run), nullptr, presets);
        run.differences = std::move(differences);
    }
    RealRun out;
    out.name = place.filename().string();
    out.hang = std::make_shared<const runs::HangRun>(std::move(run));
    return out;
}

}  // namespace

bool is_run_place(const fs::path& path) {
    if (is_folder(path)) return true;
    const std::string begin = begin_of(path);
    return !runs::run_file_words(begin).empty() || is_run_log(runs::unpacked_begin(begin));
}

std::uint64_t bytes_of(const Places& places) {
    std::uint64_t all = 0;
    for (const fs::path& place : places) {
        std::error_code failed;
        const std::uintmax_t bytes = is_folder(place) ? 0 : fs::file_size(place, failed);
        if (!failed) all += bytes;
    }
    return all;
}

RealRun read_real_run(const Places& places, const Plan& open, const Presets& presets,
                      runs::ReadWatch* watch) {
    Places files;
    for (const fs::path& place : places) {
        if (is_folder(place)) {
            const Places in = run_files_in(place);
            if (in.empty()) return hang_at(place, open, presets);
            files.insert(files.end(), in.begin(), in.end());
        } else if (is_dump(place)) {
            return hang_at(runs::place_of_dumps(place), open, presets);
        } else {
            files.push_back(place);
        }
    }
    const Mesh mesh = build_mesh(open);
    const runs::PartOfGroup part_of = runs::parts_by(&mesh);
    RealRun out;
    for (const fs::path& file : files) out.files.push_back(read_run_file(file, part_of, watch));
    if (out.files.empty()) throw Error(ErrorKind::invalid, "", "", "there is no file of a run");
    out.name = out.files.front().file;
    if (files.size() > 1)
        out.name += sentence(" and ", count_text(static_cast<std::int64_t>(files.size()) - 1, "file"));
    return out;
}

}  // namespace pentamesh::ui
