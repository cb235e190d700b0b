"""The picture of the graph, drawn from the compiled graph itself."""

from __future__ import annotations

from bmsql.graph._build import ROUTES, Graph

_LABELS = {"__start__": "question", "__end__": "Answer"}


def diagram(graph: Graph) -> str:
    """`graph` as a Mermaid flowchart: each node and each route that it was compiled with.

    The first route of a node is drawn solid, the others dotted.
    """
    usual = {(node, targets[0]) for node, (_, targets) in ROUTES.items()}
    drawn = graph.get_graph()
    lines = ["flowchart TD"]
    lines += [
        f"    {node}([{_LABELS[node]}])" if node in _LABELS else f"    {node}[{node}]" for node in sorted(drawn.nodes)
    ]
    for edge in sorted(drawn.edges, key=lambda edge: (edge.source, edge.target)):
        solid = not edge.conditional or (edge.source, edge.target) in usual
        lines.append(f"    {edge.source} {'-->' if solid else '-.->'} {edge.target}")
    return "\n".join(lines)
