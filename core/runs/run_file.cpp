#include "core/runs/run_file.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/runs/dump_folder.h"
#include "core/runs/gzip.h"
#include "core/runs/values.h"

#include <fstream>
#include <sstream>
#include <system_error>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kPlanHead = 4096;  // a plan says within that what it is

// Returns the rank in a name such as "rank3.pt.trace.json.gz" or "trace_rank-3.json"; -1: it has none.
std::int64_t rank_in_trace_name(const std::string& name) {
    const std::size_t at = name.find("rank");
    if (at == std::string::npos) return -1;
    const std::size_t begin = name.find_first_of("0123456789", at);
    if (begin == std::string::npos || begin > at + 5) return -1;
    return rank_in_name(name.substr(0, name.find_first_not_of("0123456789", begin)));
}

// Decides by the first block of a file.
std::optional<RunFileKind> kind_of(std::string_view head) {
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    const char sign = first == std::string_view::npos ? ' ' : head[first];
    const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
    if (sign == '{' && has("\"inspector_output_format_version\"")) return RunFileKind::nccl_inspector;
    if ((sign == '{' || sign == '[') && (has("\"forward-compute\"") || has("\"backward-compute\"")))
        return RunFileKind::straggler_timeline;
    if (sign == '{' || (sign == '[' && has("\"ph\""))) return RunFileKind::kineto;
    return std::nullopt;
}

std::string dump_words() {
    return "this is a dump of PyTorch's flight recorder; `pentamesh hang` reads the folder in which it lies";
}

// Counts what is read of a file, and ends it where nobody waits for it any more.
class WatchedFile : public std::filebuf {
  public:
    explicit WatchedFile(ReadWatch* watch) : watch_(watch) {}

  protected:
    std::streamsize xsgetn(char* to, std::streamsize most) override {
        if (watch_ == nullptr) return std::filebuf::xsgetn(to, most);
        if (watch_->cancelled) return 0;
        const std::streamsize count = std::filebuf::xsgetn(to, most);
        watch_->bytes += static_cast<std::uint64_t>(count);
        return count;
    }

  private:
    ReadWatch* watch_;
};

// Says what settings are that are given where a run is expected; empty for all else.
std::string settings_words(const std::string& text) {
    if (const auto fits = interop::guess_framework(text); !fits.empty())
        return sentence("these are settings (",
                        interop::kFrameworkNames[static_cast<std::size_t>(fits.front())],
                        "), no file of a run; `pentamesh import` reads them");
    if (interop::fabric_tool(text))
        return "this is what a tool says of the fabric; `pentamesh import` and `pentamesh calibrate` read it";
    return "";
}

// Throws again what a reader said of a file; of settings it says what they are.
[[noreturn]] void refuse_file(const Error& e, const std::string& name, const std::string& text) {
    const std::string words = e.kind() == ErrorKind::invalid ? settings_words(text) : "";
    throw Error(e.kind(), name, "", words.empty() ? e.message() : words);
}

}  // namespace

void end_if_cancelled(const ReadWatch* watch) {
    if (watch != nullptr && watch->cancelled) refuse("was not read to its end");
}

std::string unpacked_begin(std::string_view text) {
    constexpr std::size_t kHead = std::size_t{1} << 18U;
    std::istringstream in{std::string(text.substr(0, kHead))};
    UnpackedBytes bytes(in);
    try {
        return std::string(bytes.peek());
    } catch (const Error&) {
        return "";
    }
}

std::optional<RunFileKind> run_file_kind(std::string_view begin) {
    const std::string head = unpacked_begin(begin);
    const std::optional<RunFileKind> kind = kind_of(head);
    // Other JSON begins with a brace too.
    const bool trace = head.find("\"traceEvents\"") != std::string::npos || head.starts_with('[');
    return kind == RunFileKind::kineto && !trace ? std::nullopt : kind;
}

std::string run_file_words(std::string_view text) {
    if (is_dump_text(text) || is_dump_text(unpacked_begin(text))) return dump_words();
    const std::optional<RunFileKind> kind = run_file_kind(text);
    if (!kind) return "";
    return std::string("this is ")
           + (*kind == RunFileKind::nccl_inspector       ? "a file of the NCCL Inspector"
              : *kind == RunFileKind::straggler_timeline ? "a timeline of workers"
                                                         : "a trace of a run")
           + ", no settings; `pentamesh measured` reads it";
}

RunFile read_run_stream(std::istream& in, const std::string& name, const PartOfGroup& part_of) {
    UnpackedBytes bytes(in);
    const std::string_view head = bytes.peek();
    RunFile out;
    if (head.empty()) refuse("is empty");
    if (is_dump_text(head)) refuse(dump_words());
    if (head.substr(0, kPlanHead).find("pentamesh.plan/") != std::string_view::npos)
        refuse("this is a plan, no file of a run: give it with --plan");
    const std::optional<RunFileKind> kind = kind_of(head);
    if (!kind) {
        out = read_run_log(bytes);
        if (out.steps == 0)
            refuse(
                "is no run that can be read: traces of PyTorch (JSON), logs of Megatron (\"elapsed time per "
                "iteration (ms): ...\") and torchtitan (\"tps: ...\"), files of the NCCL Inspector and "
                "timelines of workers are");
    } else {
        switch (*kind) {
        case RunFileKind::nccl_inspector: out = read_inspector(bytes); break;
        case RunFileKind::straggler_timeline: out = read_worker_timeline(bytes); break;
        default: out = read_kineto(bytes, part_of); break;
        }
        out.kind = *kind;
    }
    out.file = name;
    if (out.rank < 0 && out.kind == RunFileKind::kineto) out.rank = rank_in_trace_name(name);
    return out;
}

RunFile read_run_file(const std::filesystem::path& path, const PartOfGroup& part_of, ReadWatch* watch) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed))
        throw Error(ErrorKind::io, path.string(), "",
                    std::filesystem::exists(path, failed) ? "is no plain file" : "there is no such file");
    WatchedFile file(watch);
    if (file.open(path, std::ios::in | std::ios::binary) == nullptr)
        throw Error(ErrorKind::io, path.string(), "", "cannot be read");
    std::istream in(&file);
    try {
        RunFile out = read_run_stream(in, path.filename().string(), part_of);
        end_if_cancelled(watch);  // what it has then is cut off
        return out;
    } catch (const Error& e) {
        end_if_cancelled(watch);
        constexpr std::size_t kMostSettings = std::size_t{4} << 20U;
        std::string text;
        if (e.kind() == ErrorKind::invalid) static_cast<void>(try_read_file(path, kMostSettings, text));
        refuse_file(e, path.string(), text);
    }
}

RunFile read_run_text(const std::string& text, const std::string& name, const PartOfGroup& part_of) {
    try {
        std::istringstream in(text);
        return read_run_stream(in, name, part_of);
    } catch (const Error& e) {
        refuse_file(e, name, text);
    }
}

}  // namespace pentamesh::runs
