# The wire room: bytes in, values out, no kernel. The pcapng test asks tshark too, where there is one.
rdmalab_test(wire_packet_test ROOMS wire)
rdmalab_test(wire_roce_test ROOMS wire)
rdmalab_test(wire_icrc_test ROOMS wire)
rdmalab_test(wire_pcapng_test ROOMS wire)
rdmalab_test(wire_trace_file_test ROOMS wire)
