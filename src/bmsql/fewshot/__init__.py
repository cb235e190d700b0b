"""stand-in"""


class ExampleStore:
    def __init__(self, examples, path=None, *, embed=None):
        self.path = path

    def nearest(self, question, mentions, *, k=3, hold_out=None):
        return []
