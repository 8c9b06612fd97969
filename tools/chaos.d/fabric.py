# SPDX-License-Identifier: BSD-3-Clause
"""The fabric under test: a lab (tools/lab) with a manager and daemons on its hosts.

                s0                       the spine
            /        \\
          s1          s2                 leaves
        / | \\       / | \\
      h0 h1 h2     h3 h4 h5              h0: loads; h1 .. h4: xpu1 .. xpu4, ranks; h5: manager

All processes see a private /dev/shm, and a small file system of its own for the manager's state.
"""
import json
import os
import pathlib
import signal
import subprocess
import time

from plan import KEEP_HOSTS, SWITCHES, XPUS

HOSTS, LEAVES = 6, 2
HOST_OF = {"host": "h0", "manager": "h5", **{xpu: f"h{i}" for i, xpu in enumerate(XPUS, 1)}}
MANAGER = "10.77.0.6"
LEAF_OF = {"h0": 1, "h1": 1, "h2": 1, "h3": 2, "h4": 2, "h5": 2}
STATE_BYTES = "24M"    # manager.db with a full event log has 4 MB, its write-ahead log the same
MEMORY = "512M"        # of each xPU
READY_S = 120          # a start takes longer only if it hangs
TOOLS = pathlib.Path(__file__).resolve().parent.parent


class FabricError(Exception):
    """The fabric does not start; the message names the next step."""


class Skip(Exception):
    """This machine cannot run the fabric; the message is the reason."""


def exists(pid):
    """Whether the process runs: it exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def descendants(pid):
    found, queue = [], [pid]
    while queue:
        for task in pathlib.Path(f"/proc/{queue.pop()}/task").glob("*/children"):
            try:
                children = [int(word) for word in task.read_text().split()]
            except OSError:
                continue
            found += children
            queue += children
    return found


class Member:
    """A daemon or the manager. `down` is true while a fault has ended its process."""

    def __init__(self, name, argv, ready):
        self.name, self.argv, self.ready = name, argv, ready
        self.process, self.starts, self.down = None, 0, False

    def pid(self):
        return self.process.pid


class Fabric:
    def __init__(self, folder, programs, name, plane):
        self.folder, self.programs, self.name, self.plane = folder, programs, name, plane
        self.lab_folder = folder / "lab"
        self.holder = None
        self.members = {}
        self.switch_down = set()
        self.private = True  # whether mount namespaces work here
        self.environment = self.environment_make()

    def environment_make(self):
        e = {k: v for k, v in os.environ.items()
             if not k.startswith(("DXP_", "DXPD_", "OMPI_", "XDG_")) or k == "DXP_CACHE"}
        e.update(DXP_BIN=str(self.programs), DXP_CONFIG="", DXP_DIR=str(self.folder / "fabric"),
                 DXP_RUN=str(self.folder / "run"), DXP_STATS=str(self.folder / "stats"),
                 XDG_CACHE_HOME=str(self.folder / "cache"), TMPDIR=str(self.folder / "tmp"),
                 PATH=f"{self.programs}:{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        e.setdefault("DXP_CACHE", str(self.folder / "kernels"))
        return e

    def load_environment(self, load):
        """Loads find only the OpenCL devices of the fabric; mpirun, which looks for some, none."""
        driver = self.programs.parent / "lib/libdxp-opencl.so" if load != "mpi" else "/dev/null"
        return {**self.environment, "OCL_ICD_VENDORS": str(driver)}

    # ---- start and end ----

    def up(self):
        for name in ("fabric", "run", "stats", "tmp", "cache", "state", "logs"):
            (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        made = self.lab("up", "--hosts", str(HOSTS), "--leaves", str(LEAVES), "--plane", self.plane,
                        "--dir", str(self.lab_folder))
        if made.returncode != 0:
            reason = made.stderr.strip() or made.stdout.strip()
            if "not allowed" in reason or "cannot be entered" in reason or "need root" in reason:
                raise Skip(reason.splitlines()[-1])
            raise FabricError(f"tools/lab makes no lab: {reason}")
        self.holder_start()
        self.member_add("manager", ["dxp-manager", "-v", "--key", self.path("fabric/fabric.key"),
                                    "--new-key", "--state", self.path("state"), "--bind", MANAGER,
                                    "--admit", "key", "--grants", "explicit"], "listening on")
        self.start("manager")
        self.wait_ready("manager")
        (self.folder / "fabric/manager").write_text(f"{MANAGER}:4795\n")
        for i, xpu in enumerate(XPUS, 1):
            self.member_add(xpu, self.daemon_argv(i), f"{xpu}: node")
            self.start(xpu)
        for xpu in XPUS:
            self.wait_ready(xpu)
        granted = self.dxp("grant", "*", "*")
        if granted.returncode != 0:
            raise FabricError(f"dxp grant: {granted.stderr.strip()}")

    def daemon_argv(self, i):
        leaf = f"10.77.0.{241 + LEAF_OF[f'h{i}']}"
        return ["dxpd", "-v", "--manager", MANAGER, "--key", self.path("fabric/fabric.key"),
                "--first", str(i), "--memory", MEMORY, "--state", self.path(f"xpu{i}"),
                "--switch", leaf, "--share-cache", "--keep-hosts", str(KEEP_HOSTS)]

    def holder_start(self):
        """Starts the process whose mount namespace all members and loads use."""
        mounts = (f"mount -t tmpfs -o size={STATE_BYTES},mode=700 none '{self.path('state')}' && "
                  "mount -t tmpfs none /dev/shm && echo ready && exec sleep infinity")
        self.holder = subprocess.Popen(
            ["ip", "netns", "exec", f"{self.name}-h5", "unshare", "--mount", "sh", "-c", mounts],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env=self.environment)
        self.private = self.holder.stdout.readline() == "ready\n"
        if not self.private:
            self.holder.kill()
            self.holder.wait()

    def down(self):
        for member in self.members.values():
            if member.process and member.process.poll() is None:
                member.process.send_signal(signal.SIGCONT)
                member.process.terminate()
        if self.holder:
            self.holder.kill()
            self.holder.wait()
        self.lab("down")
        for member in self.members.values():
            if member.process:
                member.process.wait()

    # ---- processes ----

    def path(self, name):
        return str(self.folder / name)

    def lab(self, command, *words):
        return subprocess.run([self.lab_tool(), command, self.name, *words], text=True,
                              capture_output=True, env=self.environment, stdin=subprocess.DEVNULL)

    def lab_tool(self):
        return TOOLS / "lab"

    def inside(self, argv, host=None):
        """Returns the command line that runs argv in the private mounts, and on a host."""
        prefix = []
        if self.private:
            prefix += ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt"]
        if host:
            prefix += ["ip", "netns", "exec", f"{self.name}-{host}"]
        return prefix + [str(word) for word in argv]

    def dxp(self, *words, host="h0", timeout=60):
        try:
            return subprocess.run(self.inside(["dxp", *words], host), text=True, timeout=timeout,
                                  capture_output=True, env=self.environment,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "", f"no end within {timeout} s")

    def member_add(self, name, argv, ready):
        self.members[name] = Member(name, argv, ready)

    def log_of(self, name):
        return self.lab_folder / f"{name}.log" if name in SWITCHES \
            else self.folder / "logs" / f"{name}.log"

    def start(self, name):
        member = self.members[name]
        with open(self.log_of(name), "ab") as log:
            member.process = subprocess.Popen(
                self.inside(member.argv, HOST_OF.get(name, "h0")), stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=self.environment)
        member.starts += 1
        member.down = False

    def is_ready(self, name):
        member = self.members[name]
        try:
            return self.log_of(name).read_text(errors="replace").count(member.ready) >= \
                member.starts
        except OSError:
            return False

    def wait_ready(self, name):
        end = time.monotonic() + READY_S
        while not self.is_ready(name):
            if self.members[name].process.poll() is not None or time.monotonic() > end:
                raise FabricError(f"{name} does not start: {self.tail(name)}")
            time.sleep(0.05)

    def tail(self, name, lines=5):
        try:
            text = self.log_of(name).read_text(errors="replace")
        except OSError as error:
            return str(error)
        return "\n".join(text.splitlines()[-lines:])

    def kill(self, name):
        """Kills a member; returns the processes that depend on it, which must end too."""
        member = self.members[name]
        dependent = descendants(member.pid())
        member.down = True
        member.process.kill()
        member.process.wait()
        return dependent

    def switch_pid(self, name):
        try:
            pid = int((self.lab_folder / f"{name}.pid").read_text())
        except (OSError, ValueError):
            return None
        return pid if exists(pid) else None

    def pids(self):
        """Returns the processes in the namespaces of the lab, without the holder."""
        found = set()
        for node in [f"h{i}" for i in range(HOSTS)] + list(SWITCHES):
            said = subprocess.run(["ip", "netns", "pids", f"{self.name}-{node}"], text=True,
                                  capture_output=True)
            found.update(int(word) for word in said.stdout.split())
        found.discard(self.holder.pid if self.holder else None)
        return {pid for pid in found if exists(pid)}

    def hidden(self, path):
        """Returns a path in the private mounts as a path of this process."""
        return pathlib.Path(f"/proc/{self.holder.pid}/root{path}")

    def table(self):
        """Returns rows of `dxp nodes`, or None and the reason."""
        said = self.dxp("nodes", "--json")
        if said.returncode != 0:
            return None, said.stderr.strip()
        return json.loads(said.stdout), ""
