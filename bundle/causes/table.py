"""The known ways to die, from public reports and from what was seen here.

`marks` are looked for first, as plain text, in the whole log; `pattern` then decides on
the lines that have one. `rows` are the numbers of the reports in docs/runbook.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A way to die: what its log line looks like, what it means, the one remedy.

    A `consequence` is named only where nothing else is found: it follows other causes.
    """

    id: str
    marks: tuple[str, ...]
    pattern: str
    what: str
    remedy: str
    consequence: bool = False

    @property
    def page(self) -> str:
        """Where to read more."""
        return f"docs/runbook.md#{self.id}"


_ONE_CARD = "stop the other service: one service a card"
_OLD_DRIVER = "upgrade driver and firmware to 25.5.1 or newer"

CAUSES = (
    # --- driver, devices, CANN ---
    Cause(
        "driver-library-missing",
        ("libascend_hal.so",),
        r"libascend_hal\.so: cannot open shared object file",
        "the driver's library is not found",
        "mount /usr/local/Ascend/driver/lib64 and name the devices exactly",
    ),
    Cause(
        "cann-not-sourced",
        ("libhccl.so", "libascendcl.so", "libge_runner.so", "libruntime.so"),
        r"lib(hccl|ascendcl|ge_runner|runtime)\.so[\d.]*: cannot open shared object file",
        "CANN's libraries are not found",
        "start by /opt/bundle/entrypoint/cann.sh, which sources CANN",
    ),
    Cause(
        "atb-missing",
        ("libatb.so",),
        r"libatb\.so: cannot open shared object file",
        "ATB's library is not found",
        "source /usr/local/Ascend/nnal/atb/set_env.sh, as cann.sh does",
    ),
    Cause(
        "no-device-type",
        ("Failed to infer device type",),
        r"Failed to infer device type",
        "the engine finds no device that it can use",
        "run `docker compose stop server`, then `docker compose run --rm server doctor`",
        consequence=True,
    ),
    Cause(
        "card-held",
        ("ret is -80", "(g_conLogLevel=3)"),
        r"ret is -80(05|20)|DrvMngGetConsoleLogLevel failed\. \(g_conLogLevel=3\)",
        "another container holds the card, or this user may not ask it",
        _ONE_CARD,
    ),
    Cause(
        "device-id",
        (
            "107001",
            "507899",
            "devId is invalid",
            "input visible devices",
            "Invalid device ",
            "(ret=4)",
            "open device ",
        ),
        r"invalid device=\d+, input visible devices|drv devId is invalid"
        r"|Invalid device (ID|id)\b|([Cc]ode|ret|Count)\D{0,20}(107001|507899)"
        r"|DrvMngGetConsoleLogLevel failed\. \(ret=4\)|\bopen device \d+ failed",
        "the engine was given a card's number that does not exist here",
        "unset ASCEND_RT_VISIBLE_DEVICES: a container numbers its cards from 0",
    ),
    Cause(
        "device-start",
        ("E39007",),
        r"\bE39007\b|Device_Subprocess_Startup_Timeout",
        "the card did not start for this process",
        "unset ASCEND_RT_VISIBLE_DEVICES; else reset the card",
    ),
    Cause(
        "driver-mismatch",
        ("50703", "aicpu start failed"),
        r"(code|ret|SetDevice)\D{0,40}507033|aicpu start failed",
        "driver and CANN do not fit each other, or the card is broken",
        f"{_OLD_DRIVER}, or reset the card",
    ),
    Cause(
        "opp-broken",
        ("E30006",),
        r"\bE30006\b",
        "CANN's operator package does not fit the driver",
        "use the image of this release, and a driver of 25.5.1 or newer",
    ),
    Cause(
        "graph-engine",
        ("GEInitialize",),
        r"GEInitialize failed",
        "CANN's graph engine does not start: environment or driver do not fit",
        "start by cann.sh; upgrade the driver",
    ),
    Cause(
        "driver-old",
        ("Driver Version",),
        r"Driver Version: .* is invalid or not supported yet",
        "the driver is older than this CANN takes",
        _OLD_DRIVER,
    ),
    Cause(
        "aicore-fault",
        ("50703",),
        r"(code|ret)\D{0,20}507035",
        "a kernel failed on the card",
        "restart; if it comes again, look at `npu-smi info -t health`",
    ),
    Cause(
        "two-on-one-die",
        ("halGetDeviceInfo",),
        r"halGetDeviceInfo.*ret\D{0,3}87",
        "two services share one die",
        _ONE_CARD,
    ),
    # --- wrong image or packages ---
    Cause(
        "wrong-family",
        ("match the installed version's", "bin package does not match"),
        r"does not match the installed version's device type"
        r"|socversion \w+ of bin package does not match the current device",
        "the image is built for another card family",
        "use the image with this card's FAMILY_SUFFIX",
    ),
    Cause(
        "triton-clash",
        ("from 'triton", "named 'triton", "module 'triton"),
        r"(ImportError|ModuleNotFoundError|AttributeError): .*'triton",
        "triton and triton-ascend have spoilt each other",
        "uninstall both, and install triton-ascend again",
    ),
    Cause(
        "jemalloc-missing",
        ("from LD_PRELOAD cannot be preloaded",),
        r"object '.*' from LD_PRELOAD cannot be preloaded",
        "LD_PRELOAD names a library that is not there",
        "unset LD_PRELOAD",
        consequence=True,
    ),
    Cause(
        "architecture-unknown",
        ("Model architecture",),
        r"Model architectures? .*not supported",
        "this engine release does not know the model's architecture",
        "serve the native format: unset BUNDLE_WEIGHTS_FORMAT",
    ),
    Cause(
        "libnuma-missing",
        ("libnuma.so.1",),
        r"libnuma\.so\.1: cannot open shared object file",
        "the engine's extension does not load without libnuma",
        "install libnuma1 (Debian, Ubuntu) or numactl-libs",
    ),
    Cause(
        "compiler-missing",
        ("C++ compiler", "CxxCompiler"),
        r"No working C\+\+ compiler|InvalidCxxCompiler",
        "there is no working C++ compiler",
        "install g++ and Python's headers",
    ),
    Cause(
        "torch-mismatch",
        ("undefined symbol", "requires torch==", "depends on torch=="),
        r"libtorch_npu\.so: undefined symbol|vllm.*(requires|depends on) torch==",
        "torch, torch-npu and vLLM are not of releases that fit",
        "use the image, or install as its Dockerfile does",
    ),
    Cause(
        "triton-ascend-not-found",
        ("triton-ascend",),
        r"No matching distribution found for triton-ascend",
        "the package index has no triton-ascend",
        "name Huawei's index by --build-arg ASCEND_INDEX",
    ),
    Cause(
        "card-unsupported",
        ("soc_version",),
        r"(Can not support|Unsupported) soc_version",
        "this engine does not know the card",
        "use Atlas A2, A3, 300I Duo (310P) or 950; or BUNDLE_DEVICE=cpu",
    ),
    Cause(
        "other-architecture",
        ("exec format error", "requested image's platform"),
        r"exec format error|requested image's platform .* does not match",
        "the image is built for another processor",
        "build it on this host (`make image`)",
    ),
    Cause(
        "image-unreadable",
        ("invalid tar header",),
        r"invalid tar header",
        "this host's Docker cannot unpack the image",
        "load it from `docker save` on another host (`make bundle-offline`)",
    ),
    Cause(
        "processor-too-old",
        ("Illegal instruction", "SIG", "Failed core proc"),
        r"Illegal instruction|\bSIGILL\b|Failed core proc\(s\): \{.*: -4\b",
        "the processor lacks instructions that the engine is built with",
        "use one with AVX2 (x86_64) or NEON (aarch64)",
    ),
    # --- memory ---
    Cause(
        "hbm-taken",
        ("Free memory on device",),
        r"Free memory on device .* on startup is less than desired",
        "another process holds memory of the card",
        "end it, or set BUNDLE_MEMORY_UTILIZATION lower",
    ),
    Cause(
        "hbm-full",
        ("KV cache memory: -",),
        r"Available KV cache memory: -",
        "the weights leave no memory of the card for the KV cache",
        "end what holds the card, or set BUNDLE_MAX_NUM_SEQS lower",
    ),
    Cause(
        "npu-out-of-memory",
        ("NPU out of memory",),
        r"NPU out of memory",
        "the card's memory ran out",
        "set BUNDLE_MEMORY_UTILIZATION or BUNDLE_MAX_NUM_SEQS lower",
    ),
    Cause(
        "kv-cache-too-small",
        ("KV cache is needed",),
        r"KV cache is needed, which is larger than the available KV cache",
        "one request of full length does not fit into the KV cache",
        "set BUNDLE_MAX_MODEL_LEN lower",
    ),
    Cause(
        "out-of-memory",
        ("emory",),
        r"(?<!OutOf)MemoryError|Cannot allocate memory"
        r"|not enough memory: you tried to allocate",
        "the host's memory ran out",
        "end other programs, or take a smaller model or batch",
    ),
    Cause(
        "killed",
        ("SIG", "Failed core proc", "Killed", "exited"),
        r"SIGKILL|Failed core proc\(s\): \{.*: -9\b|(?m:\bKilled(?=\s*$|[ ]{2}))"
        r"|Out of memory: Killed process|OOMKilled|exit(ed with code| status) 137\b",
        "something killed the engine, most often the kernel for lack of memory",
        "see `dmesg`; give the container more memory",
    ),
    Cause(
        "shm-small",
        ("timed out", "Bus error", "SIG", "Failed core proc"),
        # Not "No available shared memory broadcast block": at level INFO, any start says
        # it that compiles for longer than a minute.
        r"RPC call to \w+ timed out|Bus error|\bSIGBUS\b"
        r"|Failed core proc\(s\): \{.*: -7\b",
        "a worker hangs, or /dev/shm is too small",
        "give the container shm_size: 1gb; else look at the worker's own error",
        consequence=True,
    ),
    Cause(
        "streams-short",
        ("207008", "Stream resources are insufficient"),
        r"(code|ret)\D{0,20}207008|Stream resources are insufficient",
        "graph capture needs more streams than this driver has",
        f"{_OLD_DRIVER}, or set BUNDLE_EXTRA_ARGS=--enforce-eager",
    ),
    Cause(
        "bfloat16-unknown",
        ("DT_BFLOAT16",),
        r"EZ1001.*DT_BFLOAT16|DT_BFLOAT16.*not support",
        "this card computes no bfloat16",
        "set BUNDLE_DTYPE=float16",
    ),
    Cause(
        "cpu-memory-taken",
        ("Available memory on node",),
        r"Available memory on node .* is less than",
        "the host's memory is short for weights and KV cache",
        "end other programs, or take a smaller model",
    ),
    # --- several cards ---
    Cause(
        "hccl-access",
        ("HcclGetRootInfo", "ra init failed"),
        r"HcclGetRootInfo.*error code is 19|ra init failed",
        "this user may not open the card's network",
        "join group 1000 and give the uid an entry in /etc/passwd",
    ),
    Cause(
        "hccl-timeout",
        ("EI0006", "Getting socket times out", "hcclCommInitRootInfoConfig"),
        r"EI0006|Getting socket times out|hcclCommInitRootInfoConfig\D*code\D*11\b",
        "the cards do not reach each other",
        "mount /etc/hccn.conf, and end processes of an earlier start",
    ),
    Cause(
        "hccl-port",
        ("EJ0003",),
        r"EJ0003",
        "a port between the cards is taken",
        "end processes of an earlier start, or set HCCL_IF_BASE_PORT",
    ),
    Cause(
        "cpus-short",
        ("NUMA nodes to bind threads",),
        r"Not enough allowed NUMA nodes to bind threads",
        "the CPU engine finds no NUMA node for each worker",
        "set VLLM_CPU_OMP_THREADS_BIND, as 0|1 for two workers",
    ),
    # --- settings and files ---
    Cause(
        "bad-flag",
        ("error: unrecognized arguments", "error: argument "),
        r"error: (unrecognized arguments: .+|argument \S+: .+)",
        "the engine does not know a flag, or its value",
        "correct BUNDLE_EXTRA_ARGS",
    ),
    Cause(
        "port-taken",
        ("ddress already in use",),
        r"[Aa]ddress already in use",
        "another process listens on the server's port",
        "end that process (`ss -ltnp` names it)",
    ),
    Cause(
        "weights-broken",
        ("SafetensorError", "deserializing header"),
        r"SafetensorError|Error while deserializing header",
        "a weights file is broken",
        "run `make weights`, which fetches it again",
    ),
    Cause(
        "disk-full",
        ("No space left on device",),
        r"No space left on device",
        "a disk is full",
        "free some disk",
    ),
    Cause(
        "context-too-long",
        ("greater than the derived max_model_len",),
        r"max_model_len .* is greater than the derived max_model_len",
        "the context is longer than the model's",
        "set BUNDLE_MAX_MODEL_LEN lower, or unset it",
    ),
    Cause(
        "service-named-vllm",
        ("appears to be a URI",),
        r"VLLM_PORT.*appears to be a URI",
        "a Kubernetes Service called vllm has set VLLM_PORT",
        "set enableServiceLinks: false, or name the Service otherwise",
    ),
    Cause(
        "too-many-files",
        ("Too many open files",),
        r"(?m)^(?!.*WARNING).*Too many open files",
        "the engine may not open as many files as it needs",
        "raise the limit (`docker run --ulimit nofile=65536`)",
    ),
    Cause(
        "core-vanished",
        ("exited", "died unexpectedly"),
        r"(core|proc|process|Worker).* (exited|died) unexpectedly",
        "a process of the engine ended without a word, as one that is killed does",
        "see `dmesg`; give the container more memory",
        consequence=True,
    ),
    Cause(
        "native-crash",
        (
            "egmentation fault",
            "Segfault encountered",
            "Fatal Python error",
            "terminate called",
            "core dumped",
            "Aborted",
            "double free",
            "(): invalid",
            "corrupt",
            "stack smashing detected",
            "pure virtual method called",
            "loating point exception",
            "SIG",
            "Failed core proc",
            "exited",
        ),
        r"\b[Ss]egmentation fault|Segfault encountered"
        r"|Fatal Python error: (?!Illegal|Bus|Segm)|terminate called (after|without)"
        r"|\(core dumped\)|(?m:\bAborted\s*$)|double free or corruption"
        r"|\b(free|malloc|realloc|munmap_chunk)\(\): |corrupted (size|double)"
        r"|stack smashing detected|pure virtual method called"
        r"|\b[Ff]loating point exception|\bSIG(SEGV|ABRT|FPE)\b"
        r"|Failed core proc\(s\): \{.*: -(6|8|11)\b"
        r"|exit(ed with code| status) 13[469]\b",
        "native code crashed, of the engine or below it",
        "read what stands before it; if nothing does, report it with the support bundle",
        consequence=True,
    ),
    Cause(
        "hub-asked",
        ("huggingface.co",),
        r"(Error|Exception).*huggingface\.co|huggingface\.co.*(Max retries|not resolve)",
        "the engine asks a hub for what should lie on disk",
        "unset VLLM_USE_MODELSCOPE, and serve a local folder",
    ),
)
