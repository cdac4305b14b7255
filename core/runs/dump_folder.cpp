#include "core/runs/dump_folder.h"

#include "core/base/files.h"
#include "core/base/threads.h"
#include "core/runs/gzip.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <system_error>

namespace pentamesh::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDumpBytes = std::size_t{512} << 20U, kMostUnpacked = std::size_t{128} << 20U;
constexpr const char* kTraceWords = "a trace, no dump of a flight recorder: `pentamesh measured` reads it";

void read_bytes(const fs::path& file, std::string& out) {
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) refuse("is no file");
    if (const std::string wrong = try_read_file(file, kMostDumpBytes, out); !wrong.empty()) refuse(wrong);
}

struct NamedFile {
    fs::path path;
    std::int64_t rank = -1;
};

std::uint64_t size_of(const NamedFile& file) {
    std::error_code failed;
    const std::uintmax_t bytes = fs::file_size(file.path, failed);
    return failed ? 0 : bytes;
}

std::vector<NamedFile> list_files(const fs::path& place) {
    std::error_code failed;
    std::vector<NamedFile> out;
    if (fs::is_regular_file(place, failed)) return {{place, rank_in_name(place.filename().string())}};
    const bool folder = fs::is_directory(place, failed);
    const fs::path in = folder ? place : place.has_parent_path() ? place.parent_path() : fs::path(".");
    const std::string begin = folder ? "" : place.filename().string();
    fs::directory_iterator it(in, failed);
    if (failed) throw Error(ErrorKind::io, place.string(), "", "cannot be read: " + failed.message());
    for (const fs::directory_iterator end; it != end; it.increment(failed)) {
        const std::string name = it->path().filename().string();
        if (name.starts_with(begin) && !name.starts_with(".") && !it->is_directory(failed))
            out.push_back({it->path(), rank_in_name(name)});
        if (failed) break;
    }
    if (!folder && out.empty())
        throw Error(ErrorKind::io, place.string(), "", "there is no such folder or file");
    std::sort(out.begin(), out.end(), [](const NamedFile& a, const NamedFile& b) {
        return std::pair(a.rank, a.path) < std::pair(b.rank, b.path);
    });
    return out;
}

// Holds what came of one file.
struct ReadFile {
    std::optional<Dump> dump;
    std::string why;
};

// Works through the files until none is left; several run at once.
void work(const std::vector<NamedFile>& files, std::vector<ReadFile>& read, std::atomic<std::size_t>& next,
          RunNames& names, ReadWatch* watch) {
    Values values;
    std::string bytes, unpacked;
    for (std::size_t i; (i = next++) < files.size();) {
        if (watch != nullptr && watch->cancelled) return;
        if (!read[i].why.empty()) continue;
        try {
            read_bytes(files[i].path, bytes);
            if (watch != nullptr) watch->bytes += bytes.size();
            read[i].dump = read_dump_bytes(bytes, names, values, unpacked);
            read[i].dump->rank = files[i].rank;
            read[i].dump->file = files[i].path.filename().string();
        } catch (const Error& e) {
            read[i].why = e.message();
        } catch (const std::bad_alloc&) {
            read[i].why = "there is not enough memory for it";
        } catch (const std::exception& e) {
            read[i].why = e.what();
        }
    }
}

std::string settings_words(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const char sign = first == std::string_view::npos ? ' ' : text[first];
    if (text.find("\"traceEvents\"") != std::string_view::npos) return kTraceWords;
    if (text.substr(0, 4096).find("pentamesh.plan/") != std::string_view::npos)
        return "a plan, no dump of a flight recorder";
    return sign == '#' || sign == '-' || sign == '['
               ? "settings or text, no dump: import reads settings"
               : "neither a pickle nor JSON: no dump of a flight recorder";
}

}  // namespace

std::int64_t rank_in_name(std::string_view name) {
    for (bool cut = true; cut;) {
        cut = false;
        for (const std::string_view ending : {".gz", ".json", ".pkl", ".pickle"})
            if (name.ends_with(ending)) name.remove_suffix(ending.size()), cut = true;
    }
    std::size_t begin = name.size();
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
    std::int64_t rank = -1;
    const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), rank);
    return error == std::errc() && end == name.data() + name.size() && rank <= kMostRank ? rank : -1;
}

Dump read_dump_bytes(std::string_view bytes, RunNames& names, Values& values, std::string& unpacked) {
    if (is_gzip(bytes)) {
        unpack_gzip(bytes, kMostUnpacked, unpacked);
        bytes = unpacked;
    }
    if (bytes.empty()) refuse("is empty");
    values.clear();
    if (bytes.front() == '{')
        read_json_values(bytes, values);
    else if (bytes.front() == '\x80')
        read_pickle(bytes, values);
    else
        refuse(settings_words(bytes));
    if (values.find(values.root, "traceEvents")) refuse(kTraceWords);
    return read_dump(values, names);
}

bool is_dump_text(std::string_view text) {
    if (text.starts_with('\x80')) return text.size() > 1 && text[1] >= 2 && text[1] <= 5;
    if (!text.starts_with('{')) return false;
    const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
    return has("\"pg_config\"") && has("\"pg_status\"");
}

DumpFolder read_dump_folder(const fs::path& place, ReadWatch* watch) {
    DumpFolder out;
    const std::vector<NamedFile> files = list_files(place);
    if (watch != nullptr)
        for (const NamedFile& f : files) watch->all_bytes += size_of(f);
    std::vector<ReadFile> read(files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
        if (files[i].rank < 0) read[i].why = "its name does not end in a rank";
    std::atomic<std::size_t> next{0};
    run_on_threads(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(cores()), files.size())),
                   [&] { work(files, read, next, *out.names, watch); });
    end_if_cancelled(watch);
    std::set<std::string> versions;
    std::set<std::int64_t> ranks;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (read[i].dump && !ranks.insert(files[i].rank).second) {
            read[i].dump.reset();
            read[i].why = "another file has rank " + std::to_string(files[i].rank);
        }
        if (read[i].dump) {
            versions.insert(read[i].dump->version);
            out.dumps.push_back(std::move(*read[i].dump));
        } else {
            out.unreadable.push_back({files[i].path.filename().string(), read[i].why, files[i].rank});
        }
    }
    out.versions.assign(versions.begin(), versions.end());
    return out;
}

}  // namespace pentamesh::runs
