# The fault room: rules, tables, books without a kernel; the programs under BPF_PROG_TEST_RUN and between real
# namespaces in this machine's kernel (skipped, with the reason, where it can't).
rdmalab_test(fault_rule_test ROOMS fault)
rdmalab_test(fault_tables_test ROOMS fault)
rdmalab_test(fault_ledger_test ROOMS fault)
rdmalab_test(fault_reach_test ROOMS fault)

foreach(name fault_match_test fault_chance_test fault_action_test fault_fabric_test
             fault_reach_programs_test)
  add_executable(${name} bpf/${name}.cpp)
  target_link_libraries(${name} PRIVATE rdmalab_fault GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS bpf)
endforeach()

bpf_object(unsafe) # the verifier refuses it
add_executable(ebpf_load_test bpf/ebpf_load_test.cpp)
target_link_libraries(ebpf_load_test PRIVATE rdmalab_ebpf bpf_unsafe GTest::gmock GTest::gtest_main)
gtest_discover_tests(ebpf_load_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS bpf)

# Runs in the guest, where rxe, netem and fq are.
add_executable(fault_guest_check EXCLUDE_FROM_ALL bpf/fault_guest_check.cpp)
target_link_libraries(fault_guest_check PRIVATE rdmalab_fault rdmalab_traffic)
