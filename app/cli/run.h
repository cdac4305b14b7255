// The whole program runs here: it finds the command, runs it, turns every error into a message and an exit
// status.
#pragma once

namespace pentamesh::cli {

int run(int argc, char** argv);

}  // namespace pentamesh::cli
