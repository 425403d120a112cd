"""What `validate --fix` writes: corrections that are certain, as edits of the text at exact positions.

A fix changes what is wrong and moves nothing else: comments, quotes and layout stay. Each says which value the object
must have afterwards, and is dropped unless the edited text gives that value. Nothing here reads or writes files.
"""
