rdmalab_test(net_message_test ROOMS net)
rdmalab_test(net_netem_test ROOMS net)
rdmalab_test(net_kernel_test ROOMS net)

# Runs in the guest, where rxe and netem are; prints PASS or says what is wrong.
add_executable(net_guest_check unit/net_guest_check.cpp)
target_link_libraries(net_guest_check PRIVATE rdmalab_net)
