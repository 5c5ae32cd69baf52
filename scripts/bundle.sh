#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a folder with our programs, GPU tests and benches and all libraries they need except glibc and the GPU's driver,
# for another x86-64 Linux with a glibc at least as new: no network, no installation, root or not.
#   scripts/bundle.sh BUILD TARGET         also writes TARGET.tar.gz
#   TARGET/run.sh ringweave ...            any program of the bundle
#   TARGET/run.sh mpirun 4 ringweave ...   on ranks of this machine
#   TARGET/run.sh cuda-check [OUT]         scripts/cuda_check.sh with the bundle's programs
# cuFFT and cuBLAS are too large to include: they are looked up where they are installed, or in CUDA_LIBRARIES.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=$2
if [ -e "$target" ]; then
  echo "bundle: $target exists; choose a new name" >&2
  exit 2
fi
mkdir -p "$target/bin" "$target/lib/openmpi" "$target/share/openmpi" "$target/etc"
target=$(cd "$target" && pwd)

# Programs.
find "$build/src/app" -maxdepth 1 -type f -name ringweave -exec cp {} "$target/bin" \;
if [ -d "$build/bench" ]; then
  find "$build/bench" -maxdepth 1 -type f -perm -u+x \( -name device_bench -o -name transform_bench \) -exec cp {} "$target/bin" \;
fi
[ -d "$build/tests" ] && "$here/device_tests.sh" "$build/tests" | xargs -r cp -t "$target/bin"
if [ -z "$(ls "$target/bin")" ]; then
  echo "bundle: no programs in $build: build it first" >&2
  exit 2
fi
if ! ldd "$target"/bin/* | grep 'libmpi\.so' >/dev/null; then
  echo "bundle: the programs of $build do not use Open MPI, which a bundle includes; give a build with Open MPI" >&2
  exit 2
fi

# Open MPI: its launcher and the plugins one machine needs.
mpirun=$(readlink -f "$(command -v mpirun)")
cp "$mpirun" "$target/bin/mpirun"
cp "$(readlink -f "$(command -v orted)")" "$target/bin/orted"
plugins=$(ompi_info --path pkglibdir --parsable | cut -d: -f3)
for plugin in "$plugins"/mca_*.so; do
  case $(basename "$plugin" .so) in
    *ucx* | *ofi* | *psm* | *openib* | *flux* | *slurm* | *jsm* | *gridengine* | *monitoring* | *vprotocol* | *netlink*) ;;
    mca_memheap_* | mca_scoll_* | mca_spml_* | mca_sshmem_* | mca_crs_* | mca_filem_* | mca_plm_rsh*) ;;
    *) cp "$plugin" "$target/lib/openmpi" ;;
  esac
done
cp "$(ompi_info --path pkgdatadir --parsable | cut -d: -f3)"/*.txt "$target/share/openmpi"
rm -f "$target"/share/openmpi/*wrapper-data*

# Libraries, except the system's own, which belong to the kernel, the loader and the driver of the other machine.
is_of_the_system() {
  case $(basename "$1") in
    ld-linux* | libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | libresolv.so* | libutil.so* | libmvec.so*) return 0 ;;
    libcuda.so* | libnvidia-*) return 0 ;;
    *) return 1 ;;
  esac
}
ldd "$target"/bin/* "$target"/lib/openmpi/*.so 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3} $3 == "not" {print $1, "missing"}' |
  sort -u | while read -r name path; do
  if [ "$path" = missing ]; then
    echo "bundle: $name is needed but not found" >&2
    exit 2
  fi
  is_of_the_system "$name" || cp -L "$path" "$target/lib/$name"
done
chmod u+w "$target"/bin/* "$target"/lib/*.so* "$target"/lib/openmpi/*.so
strip --strip-unneeded "$target"/bin/* "$target"/lib/*.so* "$target"/lib/openmpi/*.so

cp "$here/mpirun.sh" "$here/cuda_check.sh" "$here/compare_backends.sh" "$here/device_tests.sh" "$target/etc"
cat >"$target/run.sh" <<'RUN'
#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a program of this folder, wherever the folder is.
#   run.sh PROGRAM [ARG...]     run.sh mpirun RANKS PROGRAM [ARG...]     run.sh cuda-check [OUT]
set -eu
bundle=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
libraries=$bundle/lib
for folder in $(echo "${CUDA_LIBRARIES:-}" | tr : " ") ${CUDA_HOME:+"$CUDA_HOME/lib64"} /usr/local/cuda/lib64; do
  [ -d "$folder" ] && libraries=$libraries:$folder
done
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PATH=$bundle/bin:${PATH:-/usr/bin:/bin}
export OPAL_PREFIX=$bundle OPAL_BINDIR=$bundle/bin OPAL_LIBDIR=$bundle/lib OPAL_PKGLIBDIR=$bundle/lib/openmpi
export OPAL_DATADIR=$bundle/share OPAL_PKGDATADIR=$bundle/share/openmpi OPAL_SYSCONFDIR=$bundle/etc
# One machine: shared memory between ranks, no ssh, no rights that containers lack.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PMIX_MCA_pcompress_base_silence_warning=1 HWLOC_PLUGINS_PATH=$bundle/lib/openmpi
# PMIx also looks for plugins where it was built to look; those of another version there are skipped silently.
export PMIX_MCA_mca_base_component_show_load_errors=0
case ${1:-} in
  cuda-check) exec "$bundle/etc/cuda_check.sh" "$bundle/bin" "${2:-cuda-check}" ;;
  mpirun)
    ranks=$2
    shift 2
    exec "$bundle/etc/mpirun.sh" "$ranks" "$@"
    ;;
  '')
    echo "usage: run.sh PROGRAM [ARG...] | mpirun RANKS PROGRAM [ARG...] | cuda-check [OUT]; programs:" $(ls "$bundle/bin") >&2
    exit 2
    ;;
  *) exec "$bundle/bin/$1" "${@:2}" ;;
esac
RUN
chmod +x "$target/run.sh"
tar -C "$(dirname "$target")" -czf "$target.tar.gz" "$(basename "$target")"
du -sh "$target" "$target.tar.gz" | awk '{print $1, $2}'
