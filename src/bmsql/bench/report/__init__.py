"""Reports: several runs compared, as Markdown and as one HTML page that needs nothing else."""

from bmsql.bench.report._blocks import percent
from bmsql.bench.report._collect import Report, RunReport, collect
from bmsql.bench.report._html import html_report
from bmsql.bench.report._markdown import markdown_report
from bmsql.bench.report._write import write_report

__all__ = ["Report", "RunReport", "collect", "html_report", "markdown_report", "percent", "write_report"]
