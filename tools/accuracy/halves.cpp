#include "tools/accuracy/halves.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json_reader.h"

namespace pentamesh {

Halves::Halves(std::string_view text, const std::string& path) : path_(path) {
    const nlohmann::json root = parse_json(text, path);
    try {
        fitted_ = root.at("fitted").get<std::set<std::string>>();
        judged_ = root.at("judged").get<std::set<std::string>>();
    } catch (const nlohmann::json::exception& e) {
        throw Error(ErrorKind::invalid, path, "", e.what());
    }
    for (const std::string& name : judged_)
        if (fitted_.contains(name))
            throw Error(ErrorKind::invalid, path, "/judged", "a source is in both halves: " + name);
}

bool Halves::judged(const std::string& source) const {
    const bool judged = judged_.contains(source);
    if (!judged && !fitted_.contains(source))
        throw Error(ErrorKind::invalid, path_, "", "has no half for the source \"" + source + "\"");
    return judged;
}

Halves read_halves_file(const std::string& path) {
    return {read_file(path), path};
}

}  // namespace pentamesh
