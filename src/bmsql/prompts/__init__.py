"""What is said to a chat model: versioned data files, strictly rendered.

Each file has a version, which is raised when its meaning changes, and a hash of its text; both are
recorded in the trace of an answer, so that a result can be told from one of other prompts.
"""

from bmsql.prompts._prompt import Prompt, load_prompt, prompt_names

__all__ = ["Prompt", "load_prompt", "prompt_names"]
