#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Returns the xPUs of a job also if its compute node has failed, so that no epilog runs there. For
# EpilogSlurmctld in slurm.conf; slurmctld sets SLURM_JOB_ID, but no PATH. DIR is the folder of the
# fabric with an operator's key, which SlurmUser can read.
DIR=/etc/dxp/slurm
export PATH=/usr/local/bin:/usr/bin:/bin
exec timeout 60 dxp job end "slurm-$SLURM_JOB_ID-*" --dir "$DIR"
