// Files as the command line and the window read and write them.
#pragma once

#include "core/files.h"
