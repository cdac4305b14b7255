// Gives text to the reader of the glossary. Each entry that it accepts is found by its name.
#include "core/base/files.h"
#include "core/teach/glossary.h"
#include "tests/fuzz/fuzz.h"

using namespace pentamesh;
using namespace pentamesh::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    Glossary g;
    try {
        g = load_glossary(text, "fuzz");
    } catch (const Error&) {
        return 0;
    }
    for (const GlossaryEntry& e : g.entries) {
        if (g.find(e.id) != &e) complain("an entry is not found by its id", e.id);
        if (g.find(e.term) == nullptr) complain("an entry is not found by its term", e.term);
        static_cast<void>(glossary_match(e, text.substr(0, 40)));
    }
    return 0;
}
