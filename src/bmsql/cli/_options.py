"""The arguments and options of the commands, so that a command's signature is a list of their names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

QUESTION_VARIABLE = "BMSQL_QUESTION"

# What is None, empty or off when it is not given has no default to show.
_argument = partial(typer.Argument, show_default=False)
_option = partial(typer.Option, show_default=False)

# -- the agent --------------------------------------------------------------------------------------

Model = Annotated[
    str | None,
    _option(
        "--model", help='"offline" (the default), or a chat model as provider:name, such as openai:NAME. [BMSQL_MODEL]'
    ),
]
Backend = Annotated[
    str | None,
    _option(
        "--backend", help='"embedded" (the default) or duckdb:///path or bigquery://project/dataset. [BMSQL_BACKEND]'
    ),
]
SemanticModelFile = Annotated[
    str | None,
    _option("--semantic-model", help="Semantic model of the database, a YAML file. [BMSQL_SEMANTIC_MODEL]"),
]
Profile = Annotated[
    str | None, _option("--profile", help="Conventions: strict (the default) or biomedsql. [BMSQL_PROFILE]")
]
Rules = Annotated[
    list[Path] | None,
    _option("--rules", metavar="FILE", help="A rule file; may be given several times. [BMSQL_RULES]"),
]
Names = Annotated[
    Path | None, _option("--names", help="A file of further names for genes, drugs, diseases. [BMSQL_NAMES]")
]
MaxPasses = Annotated[
    int | None, _option("--max-passes", help="Plans per question, 1 to 10; 1 by default. [BMSQL_MAX_PASSES]")
]
LimitOptions = Annotated[
    list[str] | None,
    _option(
        "--limit",
        metavar="NAME=NUMBER",
        help="rows, seconds, memory_mb and the like; may be given several times. [BMSQL_LIMIT_ROWS, ...]",
    ),
]
SendRows = Annotated[
    bool | None,
    _option(
        "--send-rows/--no-send-rows",
        help="Whether a reasoner that sends data elsewhere may see rows. [BMSQL_SEND_ROWS]",
    ),
]
Candidates = Annotated[
    int | None,
    _option(
        "--candidates",
        help="Drafts of a chat model, of which the commonest result is taken; 1 by default. [BMSQL_CANDIDATES]",
    ),
]
Examples = Annotated[Path | None, _option("--examples", help="A file of your own example queries. [BMSQL_EXAMPLES]")]
Cache = Annotated[Path | None, _option("--cache", help="A file to keep a chat model's replies in. [BMSQL_CACHE]")]

# -- every command ----------------------------------------------------------------------------------

Json = Annotated[bool, _option("--json", help="One JSON document on standard output, errors too.")]
Debug = Annotated[bool, _option("--debug", help="Show where an error came from.")]

# -- questions and queries --------------------------------------------------------------------------

Question = Annotated[str | None, _argument(help=f"The question; - reads it from standard input. [{QUESTION_VARIABLE}]")]
MaxRows = Annotated[int, typer.Option("--max-rows", min=0, help="Rows to show.")]
CheckedSql = Annotated[str | None, _argument(help="BigQuery SQL; - reads it from standard input.")]
CheckedQuestion = Annotated[str, _option("--question", help="The question it is to answer: shows its conventions too.")]
GoogleSql = Annotated[
    bool, _option("--googlesql", help="Ask GoogleSQL's own analyser too; needs the extra bmsql[googlesql].")
]
RuledSql = Annotated[str, _option("--sql", help="Show what the conventions make of this SQL.")]
RuledQuestion = Annotated[str, _option("--question", help="Show which conventions this question implies.")]

# -- semantic models --------------------------------------------------------------------------------

Table = Annotated[str | None, _argument(help="One table or family only.")]
ModelSource = Annotated[
    str | None, _option("--from", help="Write a first semantic model for this database, written as --backend.")
]
ModelOutput = Annotated[Path | None, _option("--output", "-o", help="With --from: the file to write.")]
ReplaceModel = Annotated[bool, _option("--force", help="With -o: replace a file that exists.")]

# -- knowledge bases --------------------------------------------------------------------------------

To = Annotated[str, _option("--to", help="Where to: duckdb:///path.duckdb or bigquery://project/dataset.")]
Memory = Annotated[int, typer.Option("--memory", min=128, metavar="MIB", help="Memory for loading, in MiB.")]
TablePaths = Annotated[
    list[Path],
    _argument(metavar="PATH", help="Files (.parquet, .csv, .csv.gz, .tsv, .tsv.gz), or folders of them."),
]
Only = Annotated[
    list[str] | None,
    _option("--only", metavar="TABLE", help="This table only; may be given several times."),
]
CheckColumns = Annotated[
    bool, typer.Option("--check/--no-check", help="Whether tables must have the columns of the semantic model.")
]
Nulls = Annotated[
    list[str] | None,
    _option(
        "--null",
        metavar="TEXT",
        help="A cell of a text file that stands for no value; may be given several times. Empty cells always do.",
    ),
]
Source = Annotated[str, _option("--source", help="What answers cite as the source of these rows.")]
LoadAnew = Annotated[bool, _option("--force", help="Load anew what is there already.")]
Revision = Annotated[str | None, _option("--revision", help="Branch, tag or commit; the newest by default.")]
Repository = Annotated[str | None, _option("--repository", help="Another dataset of the hub than NIH-CARD/BiomedSQL.")]
SyntheticRows = Annotated[int, _option("--rows", min=1, help="Synthetic rows in all.")]
SyntheticTo = Annotated[
    str, typer.Option("--to", help="Where to: duckdb:///path.duckdb or bigquery://project/dataset.")
]
RowsSeed = Annotated[int, typer.Option("--seed", help="The same seed makes the same rows.")]
Families = Annotated[
    list[str] | None,
    _option(
        "--family",
        metavar="FAMILY",
        help="Tables of this family of the semantic model get rows; may be given several times. "
        "Association studies (gwas) by default.",
    ),
]
ReplaceFile = Annotated[bool, _option("--force", help="Replace a file that holds no synthetic rows.")]
Yes = Annotated[bool, _option("--yes", "-y", help="Build it without asking, whatever it costs.")]
MaxBytes = Annotated[
    int | None, _option("--max-bytes", min=0, help="Build it without asking up to this cost, and not above.")
]

# -- the benchmark ----------------------------------------------------------------------------------

QuestionsOut = Annotated[Path, _option("--out", help="The file to write: .jsonl or .parquet.")]
HowMany = Annotated[int, typer.Option("--n", min=1, help="Questions to build, over all templates.")]
QuestionsSeed = Annotated[int, typer.Option("--seed", help="The same seed gives the same questions.")]
BuiltSplit = Annotated[
    Literal["train", "dev", "test"] | None, _option("--split", help="Only templates of this split: train, dev or test.")
]
TemplateFiles = Annotated[
    list[Path] | None,
    _option(
        "--templates",
        metavar="FILE",
        help="A template file for another knowledge base; may be given several times.",
    ),
]
QuestionFile = Annotated[
    Path, _option("--questions", help="Question file: .csv (as published), .yaml, .jsonl, .parquet.")
]
RunOut = Annotated[Path, _option("--out", metavar="FOLDER", help="Folder of the run; given again, the run is resumed.")]
System = Annotated[str, typer.Option("--system", help="The system, one of `bmsql bench systems`.")]
Without = Annotated[
    list[str] | None,
    _option(
        "--without",
        metavar="PART",
        help="Leave out a part of the system, for an ablation; may be given several times.",
    ),
]
OwnOptions = Annotated[
    list[str] | None,
    _option("--option", metavar="NAME=VALUE", help="An option of this system alone; may be given several times."),
]
ExtraKb = Annotated[
    list[Path] | None,
    _option(
        "--extra-kb",
        metavar="FOLDER",
        help="Parquet files to add to the knowledge base as further tables; may be given several times.",
    ),
]
AskedSplits = Annotated[
    list[str] | None,
    _option("--split", metavar="SPLIT", help="Ask questions of this split only; may be given several times."),
]
AskedTemplates = Annotated[
    list[str] | None,
    _option("--template", metavar="TEMPLATE", help="Ask questions of this template only; may be given several times."),
]
Sample = Annotated[int | None, _option("--sample", min=1, help="Ask so many, chosen by the seed.")]
SampleSeed = Annotated[int, typer.Option("--seed", help="Decides which questions a sample has.")]
StoredGold = Annotated[
    bool, _option("--stored-gold", help="Believe the rows of gold in the file, where there are any.")
]
SkipFailingGold = Annotated[
    bool, _option("--skip-failing-gold", help="Leave out questions whose gold query does not run.")
]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="How many are under way at once.")]
MaxCost = Annotated[float | None, _option("--max-cost", help="Begin no question beyond this cost, in US dollars.")]
PricesFile = Annotated[Path | None, _option("--prices", help="Prices of models and bytes, a YAML file.")]
RetryErrors = Annotated[bool, _option("--retry-errors", help="Ask again what ended in an error before.")]
Runs = Annotated[list[Path], _argument(metavar="RUN", help="Folders of runs.")]
Judge = Annotated[
    str | None,
    _option(
        "--judge",
        metavar="MODEL",
        help="Chat model that judges answers, as provider:name; it sees questions, rows of gold and answers.",
    ),
]
Processes = Annotated[int | None, _option("--processes", min=1, help="Processes that score.")]
ReportOut = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for report.md and report.html.")]
Failures = Annotated[int, typer.Option("--failures", min=0, help="Failed questions to show of each run.")]
HumanScores = Annotated[
    Path | None, _option("--human", help="People's scores of the answers, to hold the judge against.")
]


def read_limits(texts: list[str] | None) -> dict[str, int | float] | None:
    """`["rows=10", "seconds=2.5"]` as numbers by name; None where none is given."""
    from bmsql.types import Limits

    found: dict[str, int | float] = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        if name.strip() not in Limits.model_fields:
            raise typer.BadParameter(
                f"--limit {text!r}: use one of {', '.join(f'{n}=...' for n in Limits.model_fields)}."
            )
        try:
            found[name.strip()] = float(value) if "." in value or "e" in value.lower() else int(value)
        except ValueError as error:
            raise typer.BadParameter(f"--limit {text!r}: {value!r} is no number.") from error
    return found or None


def read_own_options(texts: list[str] | None) -> dict[str, str]:
    """`["shots=3"]` as `{"shots": "3"}`."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"--option {text!r}: write NAME=VALUE.")
        found[name.strip()] = value
    return found
