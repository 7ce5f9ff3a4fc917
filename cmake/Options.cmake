# Warnings for our own code; sanitizers, clang-tidy and ccache by option.
add_library(rdmalab_options INTERFACE)
# Errors only where we build for ourselves: GCC 12 sees ghosts in its own library and the JSON library when it optimises.
target_compile_options(rdmalab_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual $<$<CONFIG:Debug>:-Werror> $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict -Wno-maybe-uninitialized>)
if(RDMALAB_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # It takes an included .cpp for a header, whose types must not hold what is private to a file.
  target_compile_options(rdmalab_options INTERFACE -Wno-subobject-linkage)
endif()
# Assertions stay on in what people run; line tables are enough for a stack trace.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
target_include_directories(rdmalab_options INTERFACE "${PROJECT_SOURCE_DIR}/src")

if(RDMALAB_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(RDMALAB_TIDY)
  find_program(CLANG_TIDY clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY "${CLANG_TIDY};--quiet;--warnings-as-errors=*")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the tree, so that another clone finds what this one compiled.
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()
