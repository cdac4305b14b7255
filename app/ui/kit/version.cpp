#include "app/ui/kit/version.h"

namespace pentamesh::ui {
namespace {

std::string_view other_text;  // empty: this release

}  // namespace

std::string_view name_and_version() {
    return other_text.empty() ? std::string_view("Pentamesh " PENTAMESH_VERSION) : other_text;
}

OtherVersion::OtherVersion(std::string_view text) {
    other_text = text;
}

OtherVersion::~OtherVersion() {
    other_text = {};
}

}  // namespace pentamesh::ui
