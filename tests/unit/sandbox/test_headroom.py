"""What a child may take, read from the files of kernels and containers."""

from __future__ import annotations

import pytest

from firstcause.sandbox import memory

GIB = 1 << 30
MEMINFO = {"/proc/meminfo": "MemTotal:       64000000 kB\nMemAvailable:   33554432 kB\n"}
UNIFIED = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


@pytest.fixture
def machine(monkeypatch):
    def describe(files: dict[str, str]) -> None:
        monkeypatch.setattr(memory, "_lines", lambda path: (MEMINFO | files).get(path, "").splitlines())

    return describe


def test_this_machine():
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    assert 0 < memory.headroom() <= available * 1.1
    assert memory.shortage() == ""


def test_no_control_group(machine):
    machine({})
    assert memory.headroom() == 32 * GIB


def test_the_tightest_group_above_counts_and_cached_files_do_not(machine):
    machine(
        {
            "/proc/self/cgroup": "0::/user.slice/job/step\n",
            "/proc/self/mountinfo": UNIFIED,
            "/sys/fs/cgroup/user.slice/job/step/memory.max": "max\n",
            "/sys/fs/cgroup/user.slice/job/step/memory.current": f"{3 * GIB}\n",
            "/sys/fs/cgroup/user.slice/job/memory.max": f"{8 * GIB}\n",
            "/sys/fs/cgroup/user.slice/job/memory.current": f"{7 * GIB}\n",
            "/sys/fs/cgroup/user.slice/job/memory.stat": f"anon {5 * GIB}\ninactive_file {2 * GIB}\n",
            "/sys/fs/cgroup/user.slice/memory.max": f"{100 * GIB}\n",
            "/sys/fs/cgroup/user.slice/memory.current": f"{7 * GIB}\n",
        }
    )
    assert memory.headroom() == 3 * GIB


def test_a_container_that_sees_its_own_group_as_the_root(machine):
    machine(
        {
            "/proc/self/cgroup": "0::/docker/abc\n",
            "/proc/self/mountinfo": "29 23 0:26 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
            "/sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
            "/sys/fs/cgroup/memory.current": f"{1 * GIB}\n",
        }
    )
    assert memory.headroom() == 3 * GIB


def test_the_older_hierarchy(machine):
    machine(
        {
            "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/job\n1:cpu:/\n0::/\n",
            "/proc/self/mountinfo": "30 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "31 25 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
            "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{2 * GIB}\n",
            "/sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{GIB}\n",
            "/sys/fs/cgroup/memory/job/memory.stat": "inactive_file 5\ntotal_inactive_file 7\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
        }
    )
    assert memory.headroom() == GIB + 7


def test_a_group_that_is_over_its_limit(machine):
    machine(
        {
            "/proc/self/cgroup": "0::/\n",
            "/proc/self/mountinfo": UNIFIED,
            "/sys/fs/cgroup/memory.max": f"{GIB}\n",
            "/sys/fs/cgroup/memory.current": f"{2 * GIB}\n",
            "/proc/self/status": "VmRSS:   3000000 kB\nRssAnon: 2097152 kB\nRssFile: 900000 kB\nRssShmem:  2097152 kB\n",
        }
    )
    assert memory.headroom() == 0
    assert (
        memory.shortage()
        == "0 MiB are free, 2048 MiB are needed: half of the 4096 MiB that the program holds"
    )
