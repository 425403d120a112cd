"""What dra-plan prints, as frozen structs: one file per document. JSON, tables, reports and schemas are made of them.

Values only: who plans makes them, who prints reads them. Nothing here plans, words or formats anything.
"""
