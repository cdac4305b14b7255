#include "app/ui/shell/run_reading.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/calibrate/own_runs.h"
#include "core/interop/import.h"
#include "core/runs/gzip.h"
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
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return "";
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

// Returns the files of a folder that say that they are traces, Inspector files or timelines, by name. A
// folder with a dump is one of dumps: its other files, which may be thousands, are not looked into.
Places run_files_in(const fs::path& folder, const runs::ReadWatch* watch) {
    Places all, out;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
        if (it->is_regular_file(failed)) all.push_back(it->path());
    std::sort(all.begin(), all.end());
    for (const fs::path& file : all) {
        runs::end_if_cancelled(watch);
        const std::string begin = begin_of(file);
        if (runs::run_file_kind(begin))
            out.push_back(file);
        else if (!runs::run_file_words(begin).empty())
            return {};
    }
    return out;
}

bool has_steps(const std::string& text) {
    return own_file_kind(text) == OwnFile::log && runs::read_run_log(text).steps > 0;
}

bool says_settings(const runs::RunFile& file, const fs::path& path) {
    using runs::RunFileKind;
    if (file.kind != RunFileKind::megatron_log && file.kind != RunFileKind::torchtitan_log) return false;
    return !interop::guess_framework(runs::unpacked_begin(begin_of(path))).empty();
}

// Reads dumps: with the open plan, if its layout is theirs, else with a plan of their own.
RealRun hang_at(const fs::path& place, const Plan& open, const Presets& presets, runs::ReadWatch* watch) {
    runs::HangRun run = runs::read_hang(place, &open, presets, watch);
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
    return !runs::run_file_words(begin).empty() || has_steps(runs::unpacked_begin(begin));
}

std::string log_text(const fs::path& path) {
    constexpr std::size_t kMostLog = std::size_t{64} << 20U;
    std::string text = read_file(path);
    if (!runs::is_gzip(text)) return text;
    std::string unpacked;
    runs::unpack_gzip(text, kMostLog, unpacked);
    return unpacked;
}

RealRun read_real_run(const Places& places, const Plan& open, const Presets& presets,
                      runs::ReadWatch* watch) {
    Places files;
    for (const fs::path& place : places) {
        if (is_folder(place)) {
            const Places in = run_files_in(place, watch);
            if (in.empty()) return hang_at(place, open, presets, watch);
            files.insert(files.end(), in.begin(), in.end());
        } else if (is_dump(place)) {
            return hang_at(runs::place_of_dumps(place), open, presets, watch);
        } else {
            files.push_back(place);
        }
    }
    const Mesh mesh = build_mesh(open);
    const runs::PartOfGroup part_of = runs::parts_by(&mesh);
    RealRun out;
    for (const fs::path& file : files) {
        std::error_code failed;
        const std::uintmax_t bytes = fs::file_size(file, failed);
        if (watch != nullptr && !failed) watch->all_bytes += bytes;
    }
    for (const fs::path& file : files) {
        out.files.push_back(read_run_file(file, part_of, watch));
        if (out.settings.empty() && says_settings(out.files.back(), file)) out.settings = file;
    }
    if (out.files.empty()) throw Error(ErrorKind::invalid, "", "", "there is no file of a run");
    out.name = out.files.front().file;
    if (files.size() > 1)
        out.name +=
            sentence(" and ", pentamesh::count_text(static_cast<std::int64_t>(files.size()) - 1, "file"));
    return out;
}

}  // namespace pentamesh::ui
