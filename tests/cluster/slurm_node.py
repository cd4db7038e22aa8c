"""A real Slurm on loopback: one node, no accounting, no cgroups. Stopped by pid."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

CONF = Path("/etc/slurm/slurm.conf")
MARK = "# Written by the tests of moralscale."
SETTINGS = """{mark}
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,batch_sched_delay=0
# A job that uses more memory than it asked for is killed, without cgroups.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# squeue knows a job for as long after its end, which is all that says how it ended.
MinJobAge=300
# More than there may be: nothing here waits for a larger machine.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why no Slurm can be started here; None where it can."""
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not _find(name)]
    if missing:
        return f"no {', '.join(missing)}: install Debian's slurm-wlm and munge"
    if os.getuid() != 0:
        return "slurmd needs root"
    if CONF.exists() and not CONF.read_text().startswith(MARK):
        return f"{CONF} is somebody else's"
    return None


@contextmanager
def running_slurm(folder):
    """Start munged, slurmctld and slurmd, wait until the node is idle, and stop all three."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().split(".")[0]
    ports = [_free_port(), _free_port()]
    CONF.parent.mkdir(parents=True, exist_ok=True)
    how = {"host": host, "ports": ports, "folder": folder}
    CONF.write_text(SETTINGS.format(mark=MARK, **how))
    started = []
    try:
        started.append(_start(folder, "munged", _munge(folder)))
        _wait(lambda: (folder / "munge.socket").exists(), folder, "munged")
        started.append(_start(folder, "slurmctld", ["-D", "-c"]))
        started.append(_start(folder, "slurmd", ["-D", "-c", "-N", host]))
        _wait(lambda: "idle" in _said("sinfo", "-h", "-o", "%T"), folder, "slurmd")
        try:
            yield
        finally:
            subprocess.run(["scancel", "--partition=all"], check=False)
            _wait(lambda: not _said("squeue", "-h", "-o", "%i"), folder, "scancel")
    finally:
        for process in reversed(started):
            _stop(process)
        CONF.unlink()


def _munge(folder):
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    folder.chmod(0o755)
    files = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munge.seed"}
    return ["--foreground", "--force", *(f"--{name}={path}" for name, path in files.items())]


def _find(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def _start(folder, name, arguments):
    command = [_find(name), *arguments]
    with (folder / f"{name}.out").open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)


def _stop(process):
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _wait(ready, folder, name, seconds=120):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            logs = [f"{p.name}: {p.read_text()[-2000:]}" for p in sorted(folder.glob(f"{name}*"))]
            raise AssertionError(f"{name} did not start\n" + "\n".join(logs))
        time.sleep(0.2)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
