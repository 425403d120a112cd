"""What dra-plan prints, as frozen structs; JSON, tables, reports and schemas are made of them.

A file for each document, and for parts that several share. Values only: who plans makes them, who prints reads them.
Nothing here plans, words or formats anything.
"""
