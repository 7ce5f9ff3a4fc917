# `cmake --install` puts files where a distribution would.
install(TARGETS rdmalab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY labs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rdmalab/labs)
get_property(bpf_objects GLOBAL PROPERTY RDMALAB_BPF_OBJECTS)
install(FILES ${bpf_objects} DESTINATION ${CMAKE_INSTALL_LIBDIR}/rdmalab/bpf)
install(FILES docs/rdmalab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
