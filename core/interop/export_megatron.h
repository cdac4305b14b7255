// Writes the parts of Megatron's settings, by question.
#pragma once

#include "core/interop/export_page.h"

namespace pentamesh::interop {

void fill_megatron(Page& page);
void fill_megatron_model(Page& page);
void fill_megatron_training(Page& page);

}  // namespace pentamesh::interop
