"""The tests of bmsql, one folder per part."""
