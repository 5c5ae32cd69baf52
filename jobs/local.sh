#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a ringweave command on this machine with suitable numbers of ranks and threads, each rank bound to its own cores.
#   jobs/local.sh COMMAND [OPTION...]            for example: jobs/local.sh smooth sky.h5 smooth.h5 --fwhm 30arcmin
# Environment
#   RANKS       MPI ranks; default: one per NUMA node, since threads share tables and memory but ranks do not
#   THREADS     OpenMP threads per rank; default: the cores divided by the ranks
#   MPIRUN      the launcher of the MPI that the program is linked with; default: mpirun
#   RINGWEAVE   the program; default: the release build beside this folder, else the one on PATH
set -euo pipefail

[ $# -gt 0 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }

here=$(cd "$(dirname "$0")/.." && pwd)
built=$here/build/release/src/app/ringweave
if [ -z "${RINGWEAVE:-}" ]; then
  if [ -x "$built" ]; then RINGWEAVE=$built; else RINGWEAVE=$(command -v ringweave || true); fi
fi
[ -n "$RINGWEAVE" ] || { echo "no ringweave: run make build, or set RINGWEAVE to the program" >&2; exit 2; }

# Cores, not hardware threads: two threads on a core share its arithmetic units. nproc respects a container's limits.
distinct() { lscpu -p="$1" 2>/dev/null | grep -v '^#' | sort -u | wc -l; }
cores=$(distinct CORE,SOCKET)
allowed=$(nproc)
if [ "$cores" -lt 1 ] || [ "$cores" -gt "$allowed" ]; then cores=$allowed; fi
numa_nodes=$(distinct NODE)
if [ "$numa_nodes" -lt 1 ] || [ "$numa_nodes" -gt "$cores" ]; then numa_nodes=1; fi
ranks=${RANKS:-$numa_nodes}
threads=${THREADS:-$((cores > ranks ? cores / ranks : 1))}

export OMP_NUM_THREADS=$threads OMP_PLACES=cores
if [ $((ranks * threads)) -le "$cores" ]; then
  export OMP_PROC_BIND=close
  bound=yes
else
  echo "warning: $ranks ranks x $threads threads on $cores cores; not bound" >&2
  export OMP_PROC_BIND=false
  bound=no
fi

echo "+ $ranks ranks x $threads threads: ringweave $*" >&2
if [ "$ranks" -eq 1 ]; then exec "$RINGWEAVE" "$@"; fi

launcher=${MPIRUN:-mpirun}
launch=("$launcher" -n "$ranks")
if "$launcher" --version 2>/dev/null | grep -qi 'open mpi\|open-mpi\|openrte'; then
  # mpirun refuses root by default; containers run as root.
  if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
  if [ "$bound" = yes ]; then
    launch+=(--map-by "slot:PE=$threads" --bind-to core)
  else
    launch+=(--oversubscribe --bind-to none)
  fi
elif [ "$bound" = yes ]; then
  launch+=(-bind-to "core:$threads")
fi
exec "${launch[@]}" "$RINGWEAVE" "$@"
