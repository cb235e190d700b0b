"""Servers on this machine that stand for services elsewhere."""
