"""What dra-plan prints, as frozen structs; JSON, tables, reports and schemas are made of them.

What documents of several questions share; the document of one question is in its folder.

Values only: who plans makes them, who prints reads them.
Nothing here plans, words or formats anything.
"""
