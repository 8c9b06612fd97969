/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the component and its parameters for Open MPI. */
#include "coll_dxp.h"

int coll_dxp_priority = 95;

static struct {
	char *mode, *switches, *collectives;
	int verbose, min_hosts, deadline_ms, create_ms, spin_us, retry_calls, measure_calls;
	size_t max_bytes;
	bool user_plane, reliable, compat, no_icrc_check;
} values;

/* Open MPI's type has no const; it replaces the pointers, and does not write here. */
static char mode_default[] = "node", collectives_default[] = DXP_MPI_COLLECTIVES_DEFAULT;

static int register_params(void);
static int open_component(void);
static int close_component(void);

static int init_query(bool progress_threads, bool mpi_threads)
{
	return OMPI_SUCCESS;
}

OMPI_MODULE_DECLSPEC extern mca_coll_base_component_t mca_coll_dxp_component;
mca_coll_base_component_t mca_coll_dxp_component = {
	.collm_version =
		{
			COLL_DXP_VERSION,
			.mca_component_name = "dxp",
			MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
					      OMPI_RELEASE_VERSION),
			.mca_open_component = open_component,
			.mca_close_component = close_component,
			.mca_register_component_params = register_params,
		},
	.collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
	.collm_init_query = init_query,
	.collm_comm_query = coll_dxp_comm_query,
};

static void parameter(const char *name, const char *help, mca_base_var_type_t type, void *storage)
{
	mca_base_component_var_register(&mca_coll_dxp_component.collm_version, name, help, type,
					NULL, 0, 0, OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY,
					storage);
}

static void set_defaults(void)
{
	values.mode = mode_default;
	values.switches = NULL;
	values.collectives = collectives_default;
	values.verbose = 0;
	values.min_hosts = 2;
	values.deadline_ms = values.create_ms = 0;
	values.spin_us = DXP_MPI_SPIN_US;
	values.retry_calls = 1000;
	values.measure_calls = DXP_MPI_MEASURE_CALLS;
	values.max_bytes = 0;
	values.user_plane = values.reliable = values.compat = values.no_icrc_check = false;
	coll_dxp_priority = 95;
}

static int register_params(void)
{
	set_defaults();
	parameter("priority", "Priority of coll/dxp; below 0: never selected",
		  MCA_BASE_VAR_TYPE_INT, &coll_dxp_priority);
	parameter("verbose",
		  "0: only failures, once; 1: also why calls are left to ordinary MPI; 2: also "
		  "each communicator that is offloaded",
		  MCA_BASE_VAR_TYPE_INT, &values.verbose);
	parameter("mode",
		  "Ranks that use the switches: node (a leader on each host), socket (a leader on "
		  "each CPU socket, if all ranks are bound) or flat (every rank)",
		  MCA_BASE_VAR_TYPE_STRING, &values.mode);
	parameter("switch",
		  "Address of the switch next to each host, or NETWORK/BITS=ADDRESS,...; empty: "
		  "DXP_INC_SWITCH in the environment, then /etc/dxp/inc.conf",
		  MCA_BASE_VAR_TYPE_STRING, &values.switches);
	parameter("collectives", "Which calls are offloaded, of " DXP_MPI_COLLECTIVES_DEFAULT,
		  MCA_BASE_VAR_TYPE_STRING, &values.collectives);
	parameter(
		"max_bytes",
		"Longer messages are left to ordinary MPI; 0: by measure_calls, or, if that is 0, "
		"65536 among fewer than 8 leaders, otherwise no limit",
		MCA_BASE_VAR_TYPE_SIZE_T, &values.max_bytes);
	parameter("min_hosts", "Communicators on fewer hosts are left to ordinary MPI",
		  MCA_BASE_VAR_TYPE_INT, &values.min_hosts);
	parameter("deadline_ms",
		  "Time without an answer of the switches until ordinary MPI continues; 0: 2000",
		  MCA_BASE_VAR_TYPE_INT, &values.deadline_ms);
	parameter("create_ms",
		  "Maximum time to set up the group of a communicator on the switches; 0: 5000",
		  MCA_BASE_VAR_TYPE_INT, &values.create_ms);
	parameter("spin_us",
		  "Time that a wait for the switch polls before it sleeps; 0: never polls",
		  MCA_BASE_VAR_TYPE_INT, &values.spin_us);
	parameter("retry_calls",
		  "Number of calls after which lost or rejecting switches are tried again, doubled "
		  "each time; 0: never",
		  MCA_BASE_VAR_TYPE_INT, &values.retry_calls);
	parameter("measure_calls",
		  "Number of calls of one kind and size after which switches and ordinary MPI are "
		  "timed again, and the faster one is used; 0: never timed",
		  MCA_BASE_VAR_TYPE_INT, &values.measure_calls);
	parameter("user_plane", "Use the switches' user-space plane even if they have XDP",
		  MCA_BASE_VAR_TYPE_BOOL, &values.user_plane);
	parameter("reliable", "RoCEv2 RC framing instead of UD", MCA_BASE_VAR_TYPE_BOOL,
		  &values.reliable);
	parameter(
		"compat",
		"Header of the source paper: allreduces of at most 256 bytes; others are ordinary",
		MCA_BASE_VAR_TYPE_BOOL, &values.compat);
	parameter("no_icrc_check", "Do not check the ICRC of packets that arrive",
		  MCA_BASE_VAR_TYPE_BOOL, &values.no_icrc_check);
	return OMPI_SUCCESS;
}

static void progress(void *nothing)
{
	opal_progress();
}

static int at_least(int value, int least)
{
	return value < least ? least : value;
}

static int open_component(void)
{
	enum dxp_inc_mode mode = DXP_INC_NODE;
	unsigned collectives = DXP_MPI_ALLREDUCE | DXP_MPI_IALLREDUCE | DXP_MPI_BARRIER |
			       DXP_MPI_BCAST | DXP_MPI_REDUCE;

	dxp_mpi_settings.label = "coll/dxp";
	dxp_mpi_mode_read(values.mode ? values.mode : "", &mode);
	dxp_mpi_collectives_read(values.collectives ? values.collectives : "", &collectives);
	dxp_mpi_settings = (struct dxp_mpi_settings){
		.label = "coll/dxp",
		.switches = values.switches,
		.verbose = values.verbose,
		.mode = mode,
		.collectives = collectives,
		.max_bytes = values.max_bytes > LONG_MAX ? LONG_MAX : (long)values.max_bytes,
		.min_hosts = at_least(values.min_hosts, 1),
		.retry_calls = at_least(values.retry_calls, 0),
		.measure_calls = at_least(values.measure_calls, 0),
		.deadline_ms = at_least(values.deadline_ms, 0),
		.create_ms = at_least(values.create_ms, 0),
		.spin_us = at_least(values.spin_us, 0),
		.user_plane = values.user_plane,
		.reliable = values.reliable,
		.compat = values.compat,
		.no_icrc_check = values.no_icrc_check,
		.progress = progress,
		.has_outstanding = coll_dxp_has_outstanding,
		.made_private = coll_dxp_made_private,
	};
	return OMPI_SUCCESS;
}

static int close_component(void)
{
	coll_dxp_request_close();
	return OMPI_SUCCESS;
}
