# analysis/ and report/, and the values record and result that they read and write
rdmalab_test(analysis_statistics_test ROOMS analysis)
rdmalab_test(analysis_model_test ROOMS analysis)
rdmalab_test(analysis_analyse_test ROOMS analysis)
rdmalab_test(analysis_compare_test ROOMS analysis)
rdmalab_test(record_test ROOMS record)
rdmalab_test(report_text_test ROOMS report)
rdmalab_test(report_formats_test ROOMS report)
rdmalab_test(analysis_recovery_test ROOMS analysis)
