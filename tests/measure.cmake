# The CPU ledger: its state machine on a clock of its own; the programs in this machine's kernel, where that has
# BTF and lets us (skipped otherwise); and a tool that the guest checks run.
rdmalab_test(measure_cpu_machine LIBS bpf_cpu_ledger)
rdmalab_test(measure_bpf_log ROOMS measure)

add_executable(cpu_ledger_tool bpf/cpu_ledger_tool.cpp)
target_link_libraries(cpu_ledger_tool PRIVATE rdmalab_measure)
