"""What each alert must say to series whose meaning is known.

Values are in promtool's notation: `0+1x40` rises by one 40 times, `_x8` is a gap of
eight scrapes. https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
"""

from __future__ import annotations

from dataclasses import dataclass, field

EXPORTER = 'job="exporter",instance="exporter:9810"'
ENGINE = 'job="engine",instance="server:8000"'
CHIP = f'{EXPORTER},npu="0",chip="0"'
OTHER_CHIP = 'job="npu-exporter",instance="host:8082",id="0",model_name="910B3-Ascend-V1"'


@dataclass(frozen=True)
class Case:
    """Series by name, and how many alerts of each severity fire at `at`.

    An alert that must not fire must not have fired at any time before `at` either.
    """

    alert: str
    why: str
    series: dict[str, str]
    fires: dict[str, int] = field(default_factory=dict)
    at: str = "20m"
    interval: str = "15s"


PAGE, TICKET = {"page": 1}, {"ticket": 1}


def up(job: str, values: str) -> dict[str, str]:
    labels = {"engine": ENGINE, "exporter": EXPORTER}[job]
    return {f"up{{{labels}}}": values}


def ours(name: str, values: str, labels: str = EXPORTER) -> dict[str, str]:
    return {f"bundle_{name}{{{labels}}}": values}


def probes(name: str, within: str, every: str) -> dict[str, str]:
    """Give a latency's histogram: at most the objective, and all."""
    objective = {"ttft": "0.5", "tpot": "0.03"}[name]
    bucket = f'{EXPORTER},le="{objective}"'
    return {
        **ours(f"probe_{name}_seconds_bucket", within, bucket),
        **ours(f"probe_{name}_seconds_count", every),
    }


def slo(name: str) -> list[Case]:
    alert = {"ttft": "TtftSlow", "tpot": "TpotSlow"}[name]

    def case(why: str, within: str, every: str, **options: object) -> Case:
        return Case(alert, why, probes(name, within, every), **options)  # type: ignore[arg-type]

    day = {"at": "1d", "interval": "2m"}
    return [
        case("all slow for ten minutes", "0+0x40", "0+1x40", fires=PAGE, at="10m"),
        case(
            "8% slow for hours",
            "0+23x400",
            "0+25x400",
            at="400m",
            interval="1m",
            fires={"page": 1, "ticket": 1},
        ),
        case("4% slow for a day", "0+24x720", "0+25x720", fires=TICKET, **day),
        case("all within", "0+1x80", "0+1x80"),
        case("half a per cent slow for a day", "0+199x720", "0+200x720", **day),
        case("one slow of twenty", "0+1x20 20+0x1 21+1x60", "0+1x82"),
        case("slow, but only five", "0+0x5 0+0x75", "0+1x5 5+0x75"),
        case("restart: counters begin again", "0+1x40 0+1x40", "0+1x40 0+1x40"),
        case("a gap", "0+1x40 _x12 53+1x30", "0+1x40 _x12 53+1x30"),
        case("zero traffic", "7+0x80", "9+0x80"),
        case("nothing is there", "_x80", "_x80"),
    ]


def requests(error: str, every: str) -> dict[str, str]:
    ended = f'{EXPORTER},engine="0",finished_reason='
    return {
        f'bundle_engine_requests_total{{{ended}"error"}}': error,
        f'bundle_engine_requests_total{{{ended}"stop"}}': every,
    }


def http(errors: str, good: str) -> dict[str, str]:
    return {
        f'http_requests_total{{{ENGINE},status="5xx"}}': errors,
        f'http_requests_total{{{ENGINE},status="2xx"}}': good,
    }


def canary(wrong: str, correct: str) -> dict[str, str]:
    return {
        **ours("canary_wrong_total", wrong),
        **ours("canary_correct_total", correct),
    }


def sent(failures: str, attempts: str, reason: str = "timeout") -> dict[str, str]:
    labels = f'{EXPORTER},reason="{reason}"'
    return {
        **ours("probe_failures_total", failures, labels),
        **ours("probe_attempts_total", attempts),
    }


def going(attempts: str, skipped: str, interval: str = "15") -> dict[str, str]:
    return {
        **ours("probe_attempts_total", attempts),
        **ours("probe_skipped_total", skipped),
        **ours("probe_interval_seconds", f"{interval}+0x160"),
    }


def died(values: str) -> dict[str, str]:
    return ours("engine_deaths_total", values, f'{EXPORTER},cause="out-of-memory"')


def memory(used: str, size: str, kind: str = "hbm") -> dict[str, str]:
    return {
        **ours(f"npu_{kind}_used_bytes", used, CHIP),
        **ours(f"npu_{kind}_size_bytes", size, CHIP),
    }


def other(name: str, values: str) -> dict[str, str]:
    return {f"npu_chip_info_{name}{{{OTHER_CHIP}}}": values}


SERVER = [
    ("answers no more", up("engine", "1+0x8 0+0x80"), PAGE),
    ("/health says no", {**up("engine", "1+0x80"), **ours("server_up", "0+0x80")}, PAGE),
    ("is scraped no more", up("exporter", "1+0x80"), PAGE),
    ("is up", {**up("engine", "1+0x80"), **ours("server_up", "1+0x80")}, {}),
    ("restart within a minute", up("engine", "1+0x40 0+0x3 1+0x40"), {}),
    ("a gap", up("engine", "1+0x40 _x8 1+0x40"), {}),
    ("zero traffic", {**up("engine", "1+0x80"), **requests("0+0x80", "0+0x80")}, {}),
]
PROBES_FAILING = [
    ("all fail", sent("0+1x80", "0+1x80"), PAGE),
    ("one of three fails", sent("0+1x80", "0+3x80"), {}),
    ("two fail, and no more are sent", sent("0+1x2 2+0x78", "0+1x2 2+0x78"), {}),
    ("nobody listens: a cold start", sent("0+1x80", "0+1x80", "refused"), {}),
    ("restart", sent("5+0x40 0+0x40", "40+1x40 0+1x40"), {}),
    ("a gap", sent("5+0x40 _x12 5+0x30", "0+1x40 _x12 53+1x30"), {}),
    ("zero traffic", sent("5+0x80", "9+0x80"), {}),
]
CANARY_WRONG = [
    ("all wrong", canary("0+1x80", "9+0x80"), PAGE),
    ("one of three wrong", canary("0+1x80", "0+2x80"), {}),
    ("two wrong, and no more are asked", canary("0+1x2 2+0x78", "9+0x80"), {}),
    ("restart", canary("9+0x40 0+0x40", "90+1x40 0+1x40"), {}),
    ("a gap", canary("9+0x40 _x12 9+0x30", "0+1x40 _x12 53+1x30"), {}),
    ("zero traffic", canary("9+0x80", "3+0x80"), {}),
]
ERRORS_HIGH = [
    ("one of five ends in error", requests("0+1x80", "0+4x80"), PAGE),
    ("one of five is 5xx", http("0+1x80", "0+4x80"), PAGE),
    ("one of fifty", requests("0+1x80", "0+49x80"), {}),
    ("one of two, and no more", requests("0+0x9 1+0x71", "0+0x9 1+0x71"), {}),
    ("restart", requests("30+0x40 0+0x40", "300+4x40 0+4x40"), {}),
    ("a gap", requests("3+0x40 _x12 3+0x30", "0+4x40 _x12 212+4x30"), {}),
    ("zero traffic", requests("30+0x80", "40+0x80"), {}),
]
QUEUE = [
    ("long for long", ours("engine_requests_waiting", "80+0x80"), PAGE),
    ("short", ours("engine_requests_waiting", "10+0x80"), {}),
    ("long for a moment", ours("engine_requests_waiting", "0+0x20 80+0x8 0+0x50"), {}),
    ("restart", ours("engine_requests_waiting", "80+0x8 _x4 0+0x60"), {}),
    ("a gap", ours("engine_requests_waiting", "3+0x40 _x12 3+0x30"), {}),
    ("zero traffic", ours("engine_requests_waiting", "0+0x80"), {}),
]
KV_CACHE = [
    ("full", ours("engine_kv_cache_usage_ratio", "0.99+0x80"), TICKET),
    ("half full", ours("engine_kv_cache_usage_ratio", "0.5+0x80"), {}),
    ("a moment", ours("engine_kv_cache_usage_ratio", "0+0x20 1+0x8 0+0x50"), {}),
    ("restart", ours("engine_kv_cache_usage_ratio", "1+0x8 _x4 0+0x60"), {}),
    ("a gap", ours("engine_kv_cache_usage_ratio", "0.5+0x40 _x12 0.5+0x30"), {}),
    ("zero traffic", ours("engine_kv_cache_usage_ratio", "0+0x80"), {}),
]
PREEMPTIONS = [
    ("one in five seconds", ours("engine_preemptions_total", "0+3x80"), TICKET),
    ("one in a minute", ours("engine_preemptions_total", "0+0.25x80"), {}),
    ("restart", ours("engine_preemptions_total", "900+0x40 0+0x40"), {}),
    ("a gap", ours("engine_preemptions_total", "9+0x40 _x12 9+0x30"), {}),
    ("zero traffic", ours("engine_preemptions_total", "0+0x80"), {}),
]
ENGINE_DIED = [
    ("once", died("0+0x20 1+0x60"), TICKET),
    ("never", died("0+0x80"), {}),
    ("long ago", died("1+0x80"), {}),
    ("restart of the exporter", died("3+0x40 0+0x40"), {}),
    ("a gap", died("1+0x40 _x12 1+0x30"), {}),
]
NPU_UNHEALTHY = [
    ("not OK", ours("npu_health", "1+0x20 0+0x60", CHIP), PAGE),
    ("not known", ours("npu_health", "-1+0x80", CHIP), PAGE),
    ("not known to npu-exporter", other("health_status", "-1+0x80"), PAGE),
    (
        "ours says OK, and counts",
        {**ours("npu_health", "1+0x80", CHIP), **other("health_status", "0+0x80")},
        {},
    ),
    ("OK", ours("npu_health", "1+0x80", CHIP), {}),
    ("OK to npu-exporter", other("health_status", "1+0x80"), {}),
    ("one odd reading", ours("npu_health", "1+0x20 0+0x2 1+0x60", CHIP), {}),
    ("restart", ours("npu_health", "1+0x40 _x4 1+0x36", CHIP), {}),
    ("no NPU", up("engine", "1+0x80"), {}),
]
NPU_HOT = [
    ("hot", ours("npu_temperature_celsius", "95+0x80", CHIP), TICKET),
    ("hot to npu-exporter", other("temperature", "95+0x80"), TICKET),
    ("warm", ours("npu_temperature_celsius", "70+0x80", CHIP), {}),
    ("a moment", ours("npu_temperature_celsius", "70+0x20 95+0x8 70+0x50", CHIP), {}),
    ("a gap", ours("npu_temperature_celsius", "70+0x40 _x12 70+0x30", CHIP), {}),
    ("no NPU", up("engine", "1+0x80"), {}),
]
NPU_MEMORY = [
    ("full", memory("99+0x80", "100+0x80"), TICKET),
    ("full without HBM", memory("99+0x80", "100+0x80", "memory"), TICKET),
    (
        "full to npu-exporter",
        {
            **other("hbm_used_memory", "99+0x80"),
            **other("hbm_total_memory", "100+0x80"),
        },
        TICKET,
    ),
    ("as much as the engine takes", memory("93+0x80", "100+0x80"), {}),
    ("restart", memory("93+0x40 3+0x40", "100+0x80"), {}),
    ("a gap", memory("93+0x40 _x12 93+0x30", "100+0x40 _x12 100+0x30"), {}),
    ("a size of zero", memory("0+0x80", "0+0x80"), {}),
]
NPU_STALE = [
    ("old", ours("npu_readings_age_seconds", "0+15x80"), TICKET),
    ("fresh", ours("npu_readings_age_seconds", "9+0x80"), {}),
    ("restart", ours("npu_readings_age_seconds", "9+0x20 70+0x3 9+0x60"), {}),
    ("a gap", ours("npu_readings_age_seconds", "9+0x40 _x12 9+0x30"), {}),
    ("no NPU", up("engine", "1+0x80"), {}),
]
EXPORTER_DOWN = [
    ("answers no more", up("exporter", "1+0x8 0+0x80"), TICKET),
    ("is scraped no more", up("engine", "1+0x80"), TICKET),
    ("is up", up("exporter", "1+0x80"), {}),
    ("restart", up("exporter", "1+0x40 0+0x4 1+0x40"), {}),
    ("a gap", up("exporter", "1+0x40 _x8 1+0x40"), {}),
]
READS = f'{EXPORTER},collector="engine"'
COLLECTOR = [
    (
        "one cannot be read",
        {**ours("collector_success", "0+0x80", READS), **ours("server_up", "1+0x80")},
        TICKET,
    ),
    (
        "the server is down: that is another alert",
        {**ours("collector_success", "0+0x80", READS), **ours("server_up", "0+0x80")},
        {},
    ),
    ("all can be read", ours("collector_success", "1+0x80", READS), {}),
    ("restart", ours("collector_success", "1+0x40 0+0x8 1+0x40", READS), {}),
    ("a gap", ours("collector_success", "1+0x40 _x12 1+0x30", READS), {}),
]
PROBES_MISSING = [
    ("none for long", going("9+0x160", "3+0x160"), TICKET),
    ("they go on", going("0+1x160", "0+0x160"), {}),
    ("all skipped", going("9+0x160", "0+1x160"), {}),
    ("rare by the setting", going("9+0x160", "0+0x160", "3600"), {}),
    ("restart", going("90+1x80 0+1x80", "0+0x160"), {}),
    ("a gap", going("0+1x80 _x12 93+1x60", "0+0x80 _x12 0+0x60"), {}),
]
WATCHDOG = [("nothing is there", up("engine", "_x80"), {"none": 1})]

TABLES = {
    "ServerDown": SERVER,
    "ProbesFailing": PROBES_FAILING,
    "CanaryWrong": CANARY_WRONG,
    "ErrorsHigh": ERRORS_HIGH,
    "QueueGrowing": QUEUE,
    "KvCacheFull": KV_CACHE,
    "Preemptions": PREEMPTIONS,
    "EngineDied": ENGINE_DIED,
    "NpuUnhealthy": NPU_UNHEALTHY,
    "NpuHot": NPU_HOT,
    "NpuMemoryFull": NPU_MEMORY,
    "NpuReadingsStale": NPU_STALE,
    "ExporterDown": EXPORTER_DOWN,
    "CollectorFailing": COLLECTOR,
    "Watchdog": WATCHDOG,
}
CASES = [
    *slo("ttft"),
    *slo("tpot"),
    *(
        Case(alert, why, series, fires)
        for alert, rows in TABLES.items()
        for why, series, fires in rows
    ),
    *(
        Case("ProbesMissing", why, series, fires, at="40m")
        for why, series, fires in PROBES_MISSING
    ),
]
