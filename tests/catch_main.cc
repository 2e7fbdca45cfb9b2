// The one main of every Catch2 executable: compiled once, as it is slow to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
