"""What the page says, in two languages, and which one a browser wants."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Every word of the page; a language that lacks one does not type-check."""

    lang: str
    up: str
    silent: str
    wrong: str
    down: str
    since: str
    engine: str
    objective: str
    no_probe: str
    requests: str
    running: str
    waiting: str
    throughput: str
    per_second: str
    last_hour: str
    npu: str
    health: str
    healthy: str
    unhealthy: str
    unknown: str
    memory: str
    aicore: str
    temperature: str
    power: str
    canary: str
    question: str
    answer: str
    verdicts: dict[str, str]
    no_answer: str
    smoke: str
    smoke_verdicts: dict[str, str]
    no_smoke: str
    report: str
    failing: str
    ago: str
    units: tuple[str, str, str, str]
    metrics: str
    runbook: str
    refreshed: str


ENGLISH = Words(
    lang="en",
    up="Up",
    silent="Up, but no answer comes back",
    wrong="Up, but the answers are wrong",
    down="Down",
    since="started",
    engine="engine",
    objective="objective",
    no_probe="no probe yet",
    requests="Requests",
    running="running",
    waiting="waiting",
    throughput="Tokens generated",
    per_second="per second",
    last_hour="last hour, client side",
    npu="NPU cards",
    health="Health",
    healthy="healthy",
    unhealthy="not healthy",
    unknown="not known",
    memory="Memory",
    aicore="AI Core",
    temperature="Temperature",
    power="Power",
    canary="Last answers to questions with a known answer",
    question="Question",
    answer="Answer",
    verdicts={"right": "right", "wrong": "wrong", "garbled": "garbled"},
    no_answer="none in the last hour",
    smoke="Smoke test",
    smoke_verdicts={"pass": "passed", "fail": "failed", "not run": "not run"},
    no_smoke="none yet: make smoke",
    report="report",
    failing="cannot be read; the exporter's log says why",
    ago="{} ago",
    units=("s", "min", "h", "d"),
    metrics="Metrics",
    runbook="Runbook",
    refreshed="renewed every 15 s; time of this page",
)

CHINESE = Words(
    lang="zh-CN",
    up="运行正常",
    silent="已启动，但没有回答",
    wrong="已启动，但回答错误",
    down="无法访问",
    since="启动于",
    engine="引擎",
    objective="目标",
    no_probe="尚无探测结果",
    requests="请求",
    running="处理中",
    waiting="排队中",
    throughput="生成速度",
    per_second="词元/秒",
    last_hour="最近一小时，客户端实测",
    npu="NPU 卡",
    health="健康状态",
    healthy="正常",
    unhealthy="异常",
    unknown="未知",
    memory="显存",
    aicore="AI Core",
    temperature="温度",
    power="功耗",
    canary="对已知答案问题的最近回答",
    question="问题",
    answer="回答",
    verdicts={"right": "正确", "wrong": "错误", "garbled": "乱码"},
    no_answer="最近一小时没有",
    smoke="冒烟测试",
    smoke_verdicts={"pass": "通过", "fail": "未通过", "not run": "未运行"},
    no_smoke="尚未进行：make smoke",
    report="报告",
    failing="无法读取，原因见 exporter 日志",
    ago="{}前",
    units=("秒", "分钟", "小时", "天"),
    metrics="指标",
    runbook="运维手册",
    refreshed="每 15 秒刷新；本页时间",
)


def choose(accept_language: str) -> Words:
    """Give the language that `Accept-Language` prefers; English if it names neither.

    https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4
    """
    best, words = 0.0, ENGLISH
    for part in accept_language.lower().split(","):
        match = re.fullmatch(r"\s*(zh|en)\b[\w-]*\s*(?:;\s*q=([\d.]{1,5}))?\s*", part)
        weight = _number(match[2]) if match else 0.0
        if match and weight > best:
            best, words = weight, CHINESE if match[1] == "zh" else ENGLISH
    return words


def _number(text: str | None) -> float:
    try:
        return 1.0 if text is None else float(text)
    except ValueError:
        return 0.0
