"""The report's own words in Chinese; what a model or a check said stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], str]

Language = Literal["en", "zh"]

ZH = {
    "pass": "通过",
    "fail": "未通过",
    "not run": "未运行",
    "not checked": "未检查",
    "right": "正确",
    "wrong": "错误",
    "truncated": "截断",
    "empty": "空",
    "valid": "有效",
    "invalid": "无效",
    "Suite": "套件",
    "made": "生成于",
    "Verdict": "结论",
    "check": "检查项",
    "verdict": "结论",
    "found": "结果",
    "required": "要求",
    "questions": "问答",
    "benchmark": "性能测试",
    "Environment": "环境",
    "what": "项目",
    "value": "值",
    "server": "服务地址",
    "engine version": "引擎版本",
    "the server does not tell": "服务未说明",
    "served models": "所服务的模型",
    "model": "模型",
    "source": "来源",
    "licence": "许可证",
    "commercial use allowed": "允许商用",
    "commercial use not allowed": "不允许商用",
    "machine that checked": "检查所用机器",
    "its CPU": "其 CPU",
    "its memory": "其内存",
    "device": "设备",
    "manifest of the weights": "权重清单",
    "not told": "未说明",
    "driver": "驱动",
    "cards": "卡",
    "engine packages": "引擎软件包",
    "engine command": "引擎命令行",
    "Benchmark": "性能测试",
    "metric": "指标",
    "baseline": "基线",
    "ratio": "比值",
    "Beside the baseline": "与基线对照",
    "faster": "更快",
    "same": "相当",
    "slower": "更慢",
    "shown only": "仅供参考",
    "Rate sweep": "速率扫描",
    "Knee": "拐点",
    "none": "无",
    "offered": "发送速率",
    "achieved": "完成速率",
    "output tok/s": "输出词元/秒",
    "TTFT P50 / P90, ms": "TTFT P50 / P90, 毫秒",
    "TPOT P50 / P90, ms": "TPOT P50 / P90, 毫秒",
    "within objectives": "达标比例",
    "Pareto": "帕累托最优",
    "all at once": "同时发送",
    "offered requests per second": "每秒发送请求数",
    "TTFT, cumulative share of requests": "TTFT 累积分布",
    "TPOT, requests by bin": "TPOT 分布",
    "Requests over time, before and after the first token": "请求时间线",
    "Throughput by offered rate": "吞吐与发送速率",
    "Latency by offered rate": "延迟与发送速率",
    "Throughput against TPOT, Pareto points": "吞吐与 TPOT 的取舍",
    "The run is": "本次测试",
    "Goodput counts requests within": "有效吞吐只计满足以下目标的请求",
    "Questions": "问答",
    "question": "问题",
    "answer": "回答",
    "right is": "正确答案",
    "Not run": "未运行",
    "part": "部分",
    "why": "原因",
}


def say(language: Language) -> Say:
    """Give the function that turns the report's words into `language`."""
    return (lambda text: ZH.get(text, text)) if language == "zh" else str
