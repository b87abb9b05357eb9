// Nothing: what is wanted are the headers that CMake compiles with it (CMakeLists.txt).
