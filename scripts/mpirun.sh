#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Launches a program on this machine with any number of ranks, even more than cores, and also as root (containers).
#   scripts/mpirun.sh RANKS PROGRAM [ARG...]
# Environment
#   MPIRUN           the launcher of the MPI that the program is linked with, Open MPI or MPICH; default: mpirun
#   MPIRUN_TIMEOUT   seconds until a hang is a failure; default: 280
set -eu
ranks=$1
shift
launcher=${MPIRUN:-mpirun}
time_limit=${MPIRUN_TIMEOUT:-280}
case $("$launcher" --version) in
  *"Open MPI"* | *OpenRTE*) ;;
  *)
    # MPICH binds no ranks and counts no cores.
    export MPIEXEC_TIMEOUT=$time_limit
    exec "$launcher" -n "$ranks" "$@"
    ;;
esac
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# All ranks are on one machine, so shared memory suffices; the search for networks takes a third of a short launch. With
# device memory in MPI (CUDA-aware), set both variables to what it needs.
export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}" OMPI_MCA_btl="${OMPI_MCA_btl:-self,vader}"
# Idle ranks yield to working ones when there are more ranks than cores.
[ "$ranks" -gt "$(nproc)" ] && export OMPI_MCA_mpi_yield_when_idle=1
exec "$launcher" --timeout "$time_limit" --bind-to none -n "$ranks" "$@"
