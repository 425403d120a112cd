"""The documents that dra-plan prints, as frozen structs. JSON output, tables, reports and schemas are built from them.

The structs here are shared by several questions; each question's own document is in its folder. Documents are plain
values: planning code creates them, and printing code reads them.
"""
