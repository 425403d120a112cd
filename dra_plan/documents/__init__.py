"""The printed documents of dra-plan, as frozen structs; JSON, tables, reports and schemas are built from them.

This package has the structs that several questions share; the document of one question is in its folder.

Documents are only values: planning code creates them, printing code reads them.
Nothing here plans, words or formats anything.
"""
