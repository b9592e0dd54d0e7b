"""The Linux calls that Python does not wrap: namespaces, Landlock, seccomp, capabilities. Each raises OSError."""

from __future__ import annotations

import ctypes
import os
import platform
import stat
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
NEWUSER, NEWPID, NEWNET, NEWIPC, NEWNS = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000
MOUNT_PRIVATE, MOUNT_HARMLESS = 0x4000 | 0x40000, 0xE  # all that is below; no set-user-id, devices or programs
SET_PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS, CAPBSET_DROP = 1, 4, 22, 36, 38, 24
SET_TIMERSLACK, USUAL_TIMERSLACK = 29, 0  # ns by which a sleep may be longer; as when the process began
SET_ATTRIBUTES, NOT_FOR_CHILDREN, SHORT_SLICE_NS = {"x86_64": 314, "aarch64": 274}, 1, 100_000
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
MOUNT_BIND, MOUNT_SETATTR, ATTRIBUTE_READ_ONLY, AT_FDCWD, AT_RECURSIVE = 0x1000 | 0x4000, 442, 1, -100, 0x8000
LANDLOCK_WRITES = 0x7FF2  # everything of ABI 1 to 3 but execute, read file and read folder
M_PERTURB = -6


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def unshare(flags: int) -> None:
    _check(LIBC.unshare(flags), "unshare")


def own_proc() -> None:
    """A /proc that shows the processes of this process namespace only, in a mount namespace of its own."""
    unshare(NEWNS)
    _check(LIBC.mount(b"none", b"/", None, ctypes.c_ulong(MOUNT_PRIVATE), None), "mount /")
    _check(LIBC.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(MOUNT_HARMLESS), None), "mount /proc")


def read_only_but(folders: list[str], hidden: list[str]) -> None:
    """In a mount namespace of this process's own: nothing can be changed but what lies in these folders, not even the mode of
    a file, for which Landlock has no rule. `hidden`: files and folders that are empty from now on."""
    _check(LIBC.mount(b"none", b"/", None, ctypes.c_ulong(MOUNT_PRIVATE), None), "mount /")
    for folder in folders:
        path = folder.encode()
        _check(LIBC.mount(path, path, None, ctypes.c_ulong(MOUNT_BIND), None), f"mount {folder}")
    for path in filter(os.path.isfile, hidden):
        _check(LIBC.mount(os.devnull.encode(), path.encode(), None, ctypes.c_ulong(MOUNT_BIND), None), f"mount {path}")
    for path in filter(os.path.isdir, hidden):
        _check(LIBC.mount(b"none", path.encode(), b"tmpfs", ctypes.c_ulong(0), None), f"mount {path}")
    _set_attributes("/", set=ATTRIBUTE_READ_ONLY, flags=AT_RECURSIVE)
    for folder in folders:
        _set_attributes(folder, clear=ATTRIBUTE_READ_ONLY)


def _set_attributes(path: str, set: int = 0, clear: int = 0, flags: int = 0) -> None:
    attributes = struct.pack("4Q", set, clear, 0, 0)
    arguments = (AT_FDCWD, path.encode(), flags, attributes, ctypes.c_size_t(len(attributes)))
    _check(LIBC.syscall(MOUNT_SETATTR, *arguments), f"mount_setattr {path}")


def prctl(option: int, argument: int) -> None:
    _check(LIBC.prctl(option, ctypes.c_ulong(argument), 0, 0, 0), f"prctl {option}")


def be_prompt() -> None:
    """When this thread wakes it need not wait until others have used up their slice of a core: sched_setattr(2). Kernels before
    6.12 have no such slices, and let in who has slept. What it forks has the usual slice."""
    number = SET_ATTRIBUTES.get(platform.machine())
    attributes = struct.pack("=IIQiIQQQ", 48, 0, NOT_FOR_CHILDREN, 0, 0, SHORT_SLICE_NS, 0, 0)
    if number is not None:
        LIBC.syscall(number, 0, attributes, 0)  # where that fails clocks are noisier, and verdicts say by how much


def poison_memory(byte: int | None) -> None:
    """Every block that malloc hands out is filled with this byte (None: memory is left as it is)."""
    LIBC.mallopt(M_PERTURB, 0 if byte is None else byte ^ 0xFF)


def drop_capabilities() -> None:
    """No privileges left, none to be gained."""
    prctl(SET_NO_NEW_PRIVS, 1)
    for capability in range(41):
        LIBC.prctl(CAPBSET_DROP, capability, 0, 0, 0)  # fails where we may not: then there is nothing to drop
    header = struct.pack("Ii", 0x20080522, 0)
    _check(LIBC.capset(header, struct.pack("6I", 0, 0, 0, 0, 0, 0)), "capset")


def landlock(writable: list[str]) -> None:
    """Files can be changed only below these paths; no TCP and no signals to others where the kernel can (5.13, 6.7, 6.12).
    A path that is not what it was made as is no reason to go without: ValueError."""
    abi = _check(LIBC.syscall(LANDLOCK_CREATE, None, 0, 1), "landlock")
    handled = LANDLOCK_WRITES & (0x1FFF if abi < 2 else 0x3FFF if abi < 3 else 0x7FFF)
    attributes = struct.pack("QQQ", handled, 3, 3) if abi >= 6 else struct.pack("Q", handled)
    ruleset = _check(LIBC.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0), "landlock")
    for path in writable:
        place = _place(path)
        allowed = handled if stat.S_ISDIR(os.fstat(place).st_mode) else handled & 0x4002  # a file: write and truncate
        _check(LIBC.syscall(LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", allowed, place), 0), f"landlock {path}")
        os.close(place)
    _check(LIBC.syscall(LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _place(path: str) -> int:
    """A descriptor of what lies at a path, which must not be a link: a rule would follow it."""
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError(f"{path} cannot be opened") from error
    if stat.S_ISLNK(os.fstat(place).st_mode):
        raise ValueError(f"{path} is a link")
    return place


# Calls that a kernel file has no business with: number on x86_64 and aarch64, and the error they give.
EPERM, EACCES, ENOSYS = 1, 13, 38
DENIED = {
    "ptrace": (101, 117, EPERM),
    "process_vm_readv": (310, 270, EPERM),
    "process_vm_writev": (311, 271, EPERM),
    "connect": (42, 203, EACCES),
    "bind": (49, 200, EACCES),
    "listen": (50, 201, EACCES),
    "mount": (165, 40, EPERM),
    "unshare": (272, 97, EPERM),
    "setns": (308, 268, EPERM),
    "bpf": (321, 280, EPERM),
    "perf_event_open": (298, 241, EPERM),
    "userfaultfd": (323, 282, EPERM),
    "keyctl": (250, 219, EPERM),
    "io_uring_setup": (425, 425, ENOSYS),
}
# The driver of NVIDIA GPUs listens on a local socket of each process that uses it, to share memory with others. Those in a
# guest's own network namespace are seen by nobody, and `connect` stays denied.
NEEDED_BY_CUDA = frozenset(["bind", "listen"])
SOCKET = (41, 198)
AF_UNIX = 1
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def _instruction(code: int, jump_true: int, jump_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, jump_true, jump_false, value)


def seccomp_program(needed: frozenset[str] = frozenset()) -> bytes:
    """A BPF program over (call, architecture, first argument) that denies the calls above, but for those needed, and all
    non-local sockets."""
    column, architecture = ARCHITECTURES[platform.machine()]
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    allow, kill, error = 0x7FFF0000, 0x80000000, 0x00050000
    program = [
        _instruction(load, 0, 0, 4),
        _instruction(equal, 1, 0, architecture),
        _instruction(answer, 0, 0, kill),
        _instruction(load, 0, 0, 0),
        _instruction(at_least, 0, 1, 0x40000000),  # x32's numbers
        _instruction(answer, 0, 0, error | EPERM),
    ]
    for row in (row for name, row in DENIED.items() if name not in needed):
        program += [_instruction(equal, 0, 1, row[column]), _instruction(answer, 0, 0, error | row[2])]
    program += [
        _instruction(equal, 0, 3, SOCKET[column]),
        _instruction(load, 0, 0, 16),
        _instruction(equal, 1, 0, AF_UNIX),
        _instruction(answer, 0, 0, error | EACCES),
        _instruction(answer, 0, 0, allow),
    ]
    return b"".join(program)


def seccomp(needed: frozenset[str] = frozenset()) -> None:
    """Installs the filter for this process and all it starts. Needs no_new_privs."""
    program = seccomp_program(needed)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _check(LIBC.prctl(SET_SECCOMP, ctypes.c_ulong(2), header, 0, 0), "seccomp")
