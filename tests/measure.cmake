# The CPU ledger: its state machine on a clock of its own; the programs in this machine's kernel, where that has
# BTF and lets us (skipped otherwise, with the reason); and a tool that checks in the guest run.
rdmalab_test(measure_cpu_machine LIBS bpf_cpu_ledger)
rdmalab_test(measure_path_machine LIBS bpf_path_ledger)
rdmalab_test(ebpf_log_test ROOMS ebpf)

add_executable(cpu_ledger_test bpf/cpu_ledger_test.cpp)
target_link_libraries(cpu_ledger_test PRIVATE rdmalab_measure GTest::gtest_main)
gtest_discover_tests(cpu_ledger_test PROPERTIES LABELS bpf)

add_executable(cpu_ledger_tool bpf/cpu_ledger_tool.cpp)
target_link_libraries(cpu_ledger_tool PRIVATE rdmalab_measure)

add_executable(path_ledger_test bpf/path_ledger_test.cpp)
target_link_libraries(path_ledger_test PRIVATE rdmalab_measure GTest::gtest_main)
gtest_discover_tests(path_ledger_test PROPERTIES LABELS bpf)
