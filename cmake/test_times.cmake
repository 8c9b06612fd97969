# SPDX-License-Identifier: BSD-3-Clause
# Long tests, and tests that mostly wait. tools/check gives ctest DXP_CORE_SLOTS job slots for each
# core: a computing test takes all of a core, any other program or script 2, a waiting one 1. Of
# scripts and unit tests, three keep a core busy.
set(DXP_CORE_SLOTS 6)

# Seconds of a test among others on 2 cores. ctest starts the longest first, so none runs alone at
# the end.
set(DXP_LONG_TESTS
	net/opencl_suite 149 net/opencl_faults 128 net/opencl_collective 104 net/model 100
	net/bench_bridge 90 net/bench_slots 89 net/bench_xpus 88 net/bench_labs 87
	net/rotate 84 net/web_hostile 82 net/mpi_device 82 net/model_check 81
	net/rv32 65 net/managers_partition 60 net/rekey 57 net/bridge 54 net/data_path 52
	net/chaos 50 net/slurm 48 tools/tidy 45 net/managers_crowd 44 unit/slot_zygote 43
	net/badinput 42 net/bridge_far 39 unit/group 39 net/train 38 unit/slot_workers 36
	tools/libraries 36 net/silence 34 net/admission 33 net/opencl_run 30 net/train_tree 29
	unit/kernel_allreduce 29 unit/dxpd 28 net/inc_compat 28 net/inc_faults 27 net/web 27
	unit/host_bridge 26 net/inc_hostile 26 net/kernel_put 26 security/switches 26 net/job 25
	device/c++ 25 unit/slot_nic_hosts_process 25 tools/rc_dissector 24 net/inc_loss 24
	models/data 24 tools/man 23 net/advertise 23 net/fabric_stats 23 net/inc_limits 22
	unit/kernel_allreduce_process 22 net/managers 21 unit/host_mmd 21 unit/group_faults 21
	net/parted 19 net/registry_move 18 net/etcd_full 18 unit/group_switches 17
	unit/slot_hostile 17 net/inc_priority 17 unit/model_allreduce 16 net/opencl_programs 16
	net/output 16 sim/stress 16 security/binaries 16 net/train_faults 15 security/folders 15
	models/credit 14 unit/slot_bridge_random 13 unit/group_rejoin 13 unit/registry 13
	security/text 13 sim/staged 13 net/bench_to 13 unit/slot_bridged_faults 12
	net/kernel_allreduce 11 net/observe 11 net/web_paths 11)
# Each uses less than a quarter of a core.
set(DXP_WAITING_TESTS
	net/web_hostile net/data_path net/badinput net/silence net/output net/bridge_far
	net/inc_loss net/admission net/advertise net/inc_compat net/inc_hostile
	net/inc_limits net/managers net/managers_partition net/sessions net/observe
	net/parted net/bench_to net/web net/slurm net/job net/etcd_full net/fabric_stats
	net/rotate net/registry_move net/events net/two_processes net/sandbox
	unit/dxpd unit/host_bridge unit/host_mmd)

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
