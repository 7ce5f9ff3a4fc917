# engine/: what of it is pure
rdmalab_test(engine_rule_flows_test ROOMS engine)
rdmalab_test(engine_channel_test ROOMS engine)
