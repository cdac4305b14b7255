#include "core/plan/edit_words.h"

#include "core/base/text.h"

namespace pentamesh {
namespace {

struct ValueWords {
    std::string operator()(std::int64_t n) const { return with_commas(n); }
    std::string operator()(double x) const { return three_digits(x); }
    std::string operator()(bool b) const { return b ? "on" : "off"; }
    std::string operator()(const std::string& s) const { return s; }
    std::string operator()(const std::vector<std::string>& list) const { return join(list, "-"); }
    std::string operator()(const std::vector<std::int64_t>& list) const {
        std::string text;
        for (std::size_t i = 0, next = 0; i < list.size(); i = next) {
            while (next < list.size() && list[next] == list[i]) ++next;
            text += (text.empty() ? "" : ", ") + with_commas(list[i]);
            if (next - i > 1) text += sentence(" (", next - i, " times)");
        }
        return text.empty() ? "an even split" : text;
    }
};

}  // namespace

std::string words_of(const EditValue& value) {
    return std::visit(ValueWords{}, value);
}

std::string_view field_of(const Edit& edit) {
    return std::string_view(edit.path).substr(edit.path.rfind('/') + 1);
}

std::string words_of(const std::vector<Edit>& edits) {
    std::string text;
    for (std::size_t i = 0; i < edits.size(); ++i)
        text += sentence(i == 0                  ? ""
                         : i + 1 == edits.size() ? " and "
                                                 : ", ",
                         field_of(edits[i]), " = ", words_of(edits[i].value));
    return text;
}

}  // namespace pentamesh
