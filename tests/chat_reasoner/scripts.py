"""What the tests of the steps share: a question, its tables, and what a scripted model says."""

from __future__ import annotations

from bmsql.testing import ScriptedChatModel

BIN1 = "Which SNPs near BIN1 are significant for Alzheimer's disease?"
AD = "AlzheimerDisease_CombinedGeneData_UUID"
PD = "ParkinsonDisease_CompleteGeneData_No23andMe"
AGREES = {"use_reading": True}
INCOMPLETE = {"complete": False, "tables": [AD]}
GOOD = f"SELECT UUID, SNP, p FROM `{AD}` WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))"


def steps_of(chat: ScriptedChatModel) -> list[str]:
    return [call.step for call in chat.calls]
