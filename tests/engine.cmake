# engine/: what of it is pure
rdmalab_test(engine_rule_flows_test ROOMS engine)
