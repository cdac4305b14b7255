#include "app/cli/commands.h"

int main(int argc, char** argv) {
    return pentamesh::cli::run(argc, argv);
}
