"""The quantities of synthetic variants as SQL, all derived from the variant's number by hashing.

A variant is the same in every table (identifier, place, alleles, frequency); what a study found of it differs.
DuckDB computes row after row from a list of stretches, so that memory does not grow with the rows.
"""

from __future__ import annotations

from bmsql.loading._synth_plan import number_of, specification

# erfc(x) = t exp(-x^2 + P(t)) with t = 1 / (1 + x / 2): least squares over 0.02 < t < 1 at Chebyshev nodes, with
# a relative error below 1e-6 from x = 0 to 27, where erfc underflows. Constant term first.
ERFC = (
    -1.26551289142,
    1.00005589171,
    0.373579503197,
    0.100652983089,
    -0.202437089639,
    0.318916045735,
    -1.19564431432,
    1.54296846697,
    -0.84906378325,
    0.176485266558,
)
_HALF = 2**32
# Pairs of alleles: transitions are twice as common as transversions.
_ALLELES = ("AG", "GA", "CT", "TC", "AG", "GA", "CT", "TC", "AC", "CA", "GT", "TG")


def quantities(table: str, prefix: str, seed: int, part: int, missing: dict[str, str]) -> str:
    """A SELECT of all quantities, by name, for the variants of one part of the table `stretches`.

    missing: by quantity, the literal that stands for a position that could not be lifted over.
    """
    spec = specification()
    two_sided = _erfc("abs(effect / standard_error) / sqrt(2e0)")
    lifted = f"failed >= {spec['liftover_failures']}"
    return f"""
WITH numbered AS (
    SELECT *, unnest(range(first, last)) AS variant FROM stretches WHERE part = {part}
), drawn AS (
    SELECT *, {_uniforms("place", seed, "u_place", "u_frequency")}, {_uniforms("kind", seed, "u_kind", "failed")},
        {_uniforms(f"normal {table}", seed, "u_radius", "u_angle")}, {_uniforms(f"z {table}", seed, "u_tail", "u_ld")}
    FROM numbered
), placed AS (
    SELECT *,
        CAST(start_bp + floor((variant - first + u_place) * ((end_bp - start_bp) / (last - first))) AS BIGINT) + 1
            AS position,
        {spec["least_minor_frequency"]} * pow({0.5 / spec["least_minor_frequency"]}, u_frequency) AS minor,
        sqrt(-2 * ln(u_radius)) * cos(2 * pi() * u_angle) AS normal,
        CAST(floor(u_kind * {2 * len(_ALLELES)}) AS INTEGER) AS kind
    FROM drawn
), tested AS (
    SELECT *,
        round(greatest(CASE WHEN kind % 2 = 0 THEN minor ELSE 1 - minor END, 0.0001), 4) AS frequency,
        normal * CASE WHEN u_tail < {spec["polygenic"]["share"]} THEN {spec["polygenic"]["spread"]}
            ELSE {spec["null_spread"]} END
            + coalesce(peak_z * exp(-abs(position - peak_position) / peak_width) * (0.3 + 0.7 * u_ld), 0) AS z
    FROM placed
), measured AS (
    SELECT *, round(greatest(1 / sqrt(2 * minor * (1 - minor) * {spec["effective_sample_size"]}), 1e-5), 5)
        AS standard_error
    FROM tested
), effects AS (
    SELECT *, round(z * standard_error, 5) AS effect FROM measured
)
SELECT
    '{prefix}' || (variant + 1) AS key,
    'rs' || ({spec["first_rsid"]} + variant) AS rsid,
    {_allele(0)} AS effect_allele,
    {_allele(1)} AS other_allele,
    frequency, effect, standard_error,
    least({two_sided}, 1) AS p_value,
    chromosome AS chromosome_37,
    greatest(position + shift, 1) AS position_37,
    CASE WHEN {lifted} THEN chromosome ELSE {missing.get("chromosome_38", "NULL")} END AS chromosome_38,
    CASE WHEN {lifted} THEN position ELSE {missing.get("position_38", "NULL")} END AS position_38,
    genes
FROM effects
"""  # noqa: S608 - numbers, and a prefix that was quoted


def _uniforms(stream: str, seed: int, first: str, second: str) -> str:
    """Two numbers between 0 and 1 (exclusive) from the halves of one hash of the variant's number."""
    hashed = f"hash(xor(CAST(variant AS UBIGINT), {number_of(stream, seed)}::UBIGINT))"
    return (
        f"(({hashed} >> 32) + 0.5e0) / {_HALF}e0 AS {first}, (({hashed} & {_HALF - 1}) + 0.5e0) / {_HALF}e0 AS {second}"
    )


def _allele(place: int) -> str:
    letters = "".join(pair[place] for pair in _ALLELES)
    return f"substr('{letters}', kind // 2 + 1, 1)"


def _erfc(x: str) -> str:
    """The complementary error function of SQL that is not negative."""
    t = f"(1 / (1 + 0.5e0 * ({x})))"
    polynomial = f"{ERFC[-1]!r}e0"
    for coefficient in reversed(ERFC[:-1]):
        polynomial = f"({coefficient!r}e0 + {t} * {polynomial})"
    return f"{t} * exp(-({x}) * ({x}) + {polynomial})"
