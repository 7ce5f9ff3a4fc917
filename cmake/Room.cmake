# rdmalab_room(NAME [USES room...] [LIBS lib...]): the static library of src/NAME.
# USES names the rooms it may include from: the arrows of docs/architecture.md. A room that includes
# from one it does not link is caught by tests/unit/rooms_test.cpp.
function(rdmalab_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(sources)
    set(scope PUBLIC)
    add_library(rdmalab_${name} STATIC ${sources})
  else()
    set(scope INTERFACE)
    add_library(rdmalab_${name} INTERFACE)
  endif()
  target_link_libraries(rdmalab_${name} ${scope} rdmalab_options ${ROOM_LIBS})
  foreach(room ${ROOM_USES})
    target_link_libraries(rdmalab_${name} ${scope} rdmalab_${room})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY RDMALAB_ROOMS "${name}:${ROOM_USES}")
endfunction()
