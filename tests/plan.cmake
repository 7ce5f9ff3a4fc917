rdmalab_test(plan_planner_test ROOMS plan)
rdmalab_test(plan_commands_test ROOMS plan)
rdmalab_test(plan_golden_test ROOMS lab plan)
rdmalab_test(rooms_test ROOMS base)
