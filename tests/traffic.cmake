rdmalab_test(traffic_payload_test ROOMS traffic)
rdmalab_test(traffic_figure_test ROOMS traffic)
rdmalab_test(traffic_endpoint_test ROOMS traffic)
rdmalab_test(traffic_receives_test ROOMS traffic)

# Not a test of its own: endpoints without the rest of rdmalab, to be run by hand in a guest.
add_executable(traffic_guest_check EXCLUDE_FROM_ALL unit/traffic_guest_check.cpp)
target_link_libraries(traffic_guest_check PRIVATE rdmalab_traffic)
