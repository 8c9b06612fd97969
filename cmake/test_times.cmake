# SPDX-License-Identifier: BSD-3-Clause
# Long tests, and tests that mostly wait. tools/check gives ctest 4 job slots per core: a computing
# test takes 4, any other program or script 2, a waiting one 1.

# Seconds of a test alone on 2 cores. ctest starts the longest first, so none runs alone at the end.
set(DXP_LONG_TESTS
	net/opencl_faults 83 net/web_hostile 82 net/model 45 net/opencl_suite 51
	net/data_path 50 net/rotate 55 net/managers 60 net/managers_partition 65
	net/rv32 45 tools/rc_dissector 40
	tools/tidy 40 unit/slot_workers 40 net/bridge 40 net/badinput 37 net/silence 35
	net/opencl_run 33 net/model_check 32 tools/man 30 tools/libraries 30 net/output 30
	net/bench_bridge 34
	net/opencl_programs 30 net/bridge_far 30 net/kernel_put 30 models/data 25
	net/bench_xpus 29 unit/dxpd 28 net/inc_faults 25 net/bench_slots 25 unit/host_bridge 24
	net/inc_loss 24 unit/group 22 net/web 22 net/advertise 22 unit/slot_hostile 20
	unit/fault 20 unit/slot_process 18 unit/slot_nic_process 18
	unit/slot_nic_hosts_process 18 unit/slot_nic_bridged_process 18 net/admission 20
	net/inc_compat 20 net/inc_hostile 20 unit/switch_rc 20 device/c++ 16
	unit/worker_process 14 unit/slot_zygote 16 unit/host_mmd 16 net/inc_limits 16
	net/sessions 16 net/opencl_collective 50 net/observe 16 models/credit 15
	unit/model_allreduce 15 unit/group_faults 14 security/binaries 14 unit/model_crossbar 13
	net/inc_priority 13 unit/registry 12 net/model_page 12 net/bench_to 12 sim/stress 12
	sim/staged 12)
# Each uses less than a quarter of a core.
set(DXP_WAITING_TESTS
	net/web_hostile net/data_path net/badinput net/silence net/output net/bridge_far
	net/inc_faults net/inc_loss net/admission net/advertise net/inc_compat net/inc_hostile
	net/inc_limits net/inc_priority net/managers net/managers_partition net/sessions net/observe
	net/parted net/bench_to net/chaos net/web unit/dxpd unit/host_bridge unit/host_mmd
	unit/fault)

# Sets the cost and the job slots of a test. `slots`: those of its kind.
function(dxp_test_time name slots)
	if(name IN_LIST DXP_WAITING_TESTS)
		set(slots 1)
	endif()
	set_tests_properties(${name} PROPERTIES PROCESSORS ${slots})
	list(FIND DXP_LONG_TESTS ${name} at)
	if(at GREATER_EQUAL 0)
		math(EXPR at "${at} + 1")
		list(GET DXP_LONG_TESTS ${at} seconds)
		set_tests_properties(${name} PROPERTIES COST ${seconds})
	endif()
endfunction()
