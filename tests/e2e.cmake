# tests/e2e/NAME.sh: whole runs of the program that was built, as $RDMALAB; exit status 77 is a skip. A guest takes a core
# and a gigabyte, so one test at a time.
file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/e2e/*.sh")
foreach(script ${scripts})
  get_filename_component(name "${script}" NAME_WE)
  add_test(NAME e2e.${name} COMMAND bash "${script}" WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT 900 SKIP_RETURN_CODE 77 RUN_SERIAL TRUE
                       ENVIRONMENT "RDMALAB=$<TARGET_FILE:rdmalab>")
endforeach()
