# What the tests of trellis-mpi share: they are skipped where it was not built or mpirun is missing.
. tests/cli/lib.sh
mpi=$TRELLIS_BUILD/trellis-mpi
[ -x "$mpi" ] && command -v mpirun >/dev/null || { echo "no MPI"; exit 77; }
case ${TRELLIS_SANITIZE:-} in *thread*) echo "MPI itself is not built for the thread sanitizer"; exit 77 ;; esac
export ASAN_OPTIONS=detect_leaks=0 # of MPI
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_orte_abort_print_stack=0

# ranks N ARGUMENT...: runs trellis-mpi on N ranks; its standard error is in $err, its status in $status.
ranks() {
    local n=$1
    shift
    status=0
    timeout 120 mpirun -n "$n" "$mpi" "$@" >$out 2>$err || status=$?
}
