// Gives text to the readers of `pentamesh calibrate`: runs as JSON, logs, constants; and to those of lists of
// ranks and of hosts, and of courses. No text stops them.
#include "core/base/files.h"
#include "core/mesh/places.h"
#include "core/runs/calibrate.h"
#include "core/teach/lesson.h"
#include "tests/fuzz/fuzz.h"

#include <string>

using namespace pentamesh;
using namespace pentamesh::fuzz;

namespace {

// A refusal throws an Error, and nothing else.
template <typename Read>
void refused_or_read(const Read& read) {
    try {
        static_cast<void>(read());
    } catch (const Error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(text_of(data, size));
    refused_or_read([&] { return read_measured(text, "fuzz", presets()); });
    refused_or_read([&] { return read_log(text, "fuzz", nullptr, "", presets()); });
    refused_or_read([&] { return read_constants(text, "fuzz", presets()); });
    refused_or_read([&] { return hosts_of(text, 16, 8); });
    refused_or_read([&] { return parse_course(text); });
    return 0;
}
