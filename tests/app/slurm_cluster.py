# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Slurm: munged, slurmctld and slurmd on this machine, in one folder, ended with the test."""
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("munge", "sbatch", "srun", "scancel", "scontrol", "sinfo")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

SLURM_CONF = """\
ClusterName=ringweave_test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MpiDefault=pmix
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={cores} RealMemory={memory} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=60 State=UP
"""


class Unavailable(Exception):
    """Says why Slurm is not available."""


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def children():
    """Returns every descendant of this process, the nearest first."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text()
                parents[int(entry.name)] = int(stat[stat.rindex(")") + 2:].split()[1])
    found, of = [], [os.getpid()]
    while of:
        of = [process for process, parent in parents.items() if parent in of]
        found += of
    return found


class SlurmCluster:
    """One node with the cores of this machine, two at least, and as many GPUs as GPU_FILES, which are GPUs for Slurm only.

    A context manager; entering raises Unavailable.
    """

    GPU_FILES = ("/dev/null", "/dev/zero")

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "SRUN", "OMPI_", "PMIX_"))}
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.processes = []

    def __enter__(self):
        try:
            self.require_what_it_needs()
            # Orphaned processes become our children, so that they are ended too.
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
            # Another program may take a port between looking and binding.
            for _ in range(3):
                if self.come_up():
                    return self
                self.stop()
            raise Unavailable("Slurm does not start here:\n" + self.logs())
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.processes:
            with contextlib.suppress(Exception):
                self.call("scancel", "--user=root", "--full", "--signal=KILL", timeout=5)
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def require_what_it_needs():
        if os.geteuid() != 0:
            raise Unavailable("Slurm's daemons need root")
        missing = [name for name in DAEMONS + CLIENTS if not find(name)]
        if missing:
            raise Unavailable(f"not installed: {', '.join(missing)}")
        if len(os.sched_getaffinity(0)) < 2:
            raise Unavailable("two ranks are to be bound to cores of their own, and there is one")

    def start(self, name, *arguments):
        output = open(self.folder / f"{name}.out", "w", encoding="utf-8")  # pylint: disable=consider-using-with
        with output:
            self.processes.append(subprocess.Popen(
                [find(name), *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, preexec_fn=die_with_parent, start_new_session=True))

    def come_up(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("state", "spool", "pmix"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        control_port, node_port = free_ports(2)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        (self.folder / "slurm.conf").write_text(SLURM_CONF.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, control_port=control_port,
            node_port=node_port, cores=len(os.sched_getaffinity(0)), memory=memory, gpus=len(self.GPU_FILES)), encoding="ascii")
        (self.folder / "gres.conf").write_text(
            "AutoDetect=off\n" + "".join(f"Name=gpu File={file}\n" for file in self.GPU_FILES), encoding="ascii")
        (self.folder / "cgroup.conf").write_text("", encoding="ascii")
        # Under /tmp the folders of a step are named after the job alone; those left by another
        # Slurm would stop it.
        (self.folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={self.folder}/pmix\n", encoding="ascii")
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munge.log",
                   f"--seed-file={self.folder}/munge.seed")
        if not self.becomes_true(lambda: (self.folder / "munge.socket").exists(), 20):
            return False
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D")
        return self.becomes_true(self.is_idle, 30)

    def is_idle(self):
        return self.call("sinfo", "-h", "-o", "%t").stdout.split() == ["idle"]

    def becomes_true(self, holds, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(process.poll() is not None for process in self.processes):
                return False
            if holds():
                return True
            time.sleep(0.2)
        return False

    def stop(self):
        # Parents first, so that they start no others.
        for _ in range(50):
            left = children()
            if not left:
                break
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.05)
        for process in self.processes:
            with contextlib.suppress(OSError):
                process.wait(1)
        self.processes = []

    def logs(self):
        texts = []
        for path in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")]):
            texts.append(f"{path.name}: " + "\n  ".join(path.read_text(errors="replace").splitlines()[-8:]))
        return "\n".join(texts)

    def call(self, *command, timeout=20, **options):
        return subprocess.run(list(map(str, command)), env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=timeout, check=False, **options)

    def submit(self, *command, cwd, **variables):
        """Calls sbatch; returns the number of the job."""
        environment = {**self.environment, **variables}
        done = subprocess.run(["sbatch", "--parsable", *map(str, command)], env=environment, cwd=cwd,
                              stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=20, check=False)
        if done.returncode != 0:
            raise AssertionError(f"sbatch {command}: {done.stderr}")
        return done.stdout.strip()

    def tasks(self, job):
        """Returns Slurm's data on a job, one dictionary per task of an array."""
        lines = self.call("scontrol", "--oneliner", "show", "job", job).stdout.splitlines()
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines if line.strip()]

    def wait(self, job, states, seconds=120):
        """Waits until every task of the job is in one of these states; returns the tasks."""
        end = time.monotonic() + seconds
        while True:
            tasks = self.tasks(job)
            if tasks and all(task["JobState"] in states for task in tasks):
                return tasks
            if time.monotonic() > end:
                raise AssertionError(f"job {job} is not {states} after {seconds} s: {tasks}\n{self.logs()}")
            time.sleep(0.2)
