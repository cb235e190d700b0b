"""Example questions with their SQL, and the nearest of them to a new question."""

from bmsql.fewshot._example import Example, skeleton_similarity
from bmsql.fewshot._index import Embeddings, LexicalIndex, VectorIndex
from bmsql.fewshot._mask import mask_question
from bmsql.fewshot._skeleton import skeleton
from bmsql.fewshot._store import ExampleStore, HoldOut, Scored, same_template

__all__ = [
    "Embeddings",
    "Example",
    "ExampleStore",
    "HoldOut",
    "LexicalIndex",
    "Scored",
    "VectorIndex",
    "mask_question",
    "same_template",
    "skeleton",
    "skeleton_similarity",
]
