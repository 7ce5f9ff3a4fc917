# bpf_object(NAME [FLAG...]): compiles bpf/NAME.bpf.c for the BPF target and generates NAME.skel.h beside the build;
# link bpf_NAME to include it. Only uapi headers are used, no vmlinux.h.
find_program(BPF_CLANG NAMES clang REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-multiarch OUTPUT_VARIABLE multiarch OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCH "^[^-]+" bpf_machine "${multiarch}")
if(bpf_machine STREQUAL "x86_64")
  set(bpf_arch x86)
elseif(bpf_machine STREQUAL "aarch64")
  set(bpf_arch arm64)
else()
  message(FATAL_ERROR "no BPF target architecture known for ${bpf_machine}")
endif()

function(bpf_object name)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c")
  if(NOT EXISTS "${source}") # of a test
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/bpf/${name}.bpf.c")
  endif()
  set(object "${PROJECT_BINARY_DIR}/bpf/${name}.bpf.o")
  set(skeleton "${PROJECT_BINARY_DIR}/bpf/${name}.skel.h")
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bpf/*.h")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${BPF_CLANG} -g -O2 -Wall -Werror ${ARGN} -target bpf -D__TARGET_ARCH_${bpf_arch}
            -idirafter /usr/include/${multiarch} -I "${PROJECT_SOURCE_DIR}/bpf" -c "${source}" -o "${object}"
    DEPENDS "${source}" ${headers} VERBATIM)
  add_custom_command(
    OUTPUT "${skeleton}"
    COMMAND sh -c "'${BPFTOOL}' gen skeleton '${object}' name ${name}_bpf > '${skeleton}'"
    DEPENDS "${object}" VERBATIM)
  add_custom_target(bpf_${name}_skeleton DEPENDS "${skeleton}")
  add_library(bpf_${name} INTERFACE)
  add_dependencies(bpf_${name} bpf_${name}_skeleton)
  target_include_directories(bpf_${name} SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/bpf")
  target_include_directories(bpf_${name} INTERFACE "${PROJECT_SOURCE_DIR}/bpf")
  target_link_libraries(bpf_${name} INTERFACE PkgConfig::bpf)
  if(CMAKE_CURRENT_SOURCE_DIR STREQUAL "${PROJECT_SOURCE_DIR}/bpf") # what Install.cmake installs
    set_property(GLOBAL APPEND PROPERTY RDMALAB_BPF_OBJECTS "${object}")
  endif()
endfunction()
