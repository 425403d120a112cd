"""Reports against the schemas of their formats, and what they say in one shape."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
from lxml import etree

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"
FORMS = ["junit", "sarif", "gitlab"]


class Said(NamedTuple):
    """One entry, as far as all formats tell it."""

    code: str
    file: str
    line: int


def validate(form: str, text: str) -> None:
    """Fails unless `text` is valid for the schema of its format."""
    if form == "junit":
        etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd")).assertValid(etree.fromstring(text.encode()))
    elif form == "sarif":
        schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
        jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(json.loads(text))
    else:
        schema = json.loads((SCHEMAS / "gitlab-codequality.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))


def failures(text: str) -> list[str]:
    """The codes of the test cases of a JUnit report that did not pass."""
    return [case[0].get("type") for case in etree.fromstring(text.encode()) if case.tag == "testcase" and len(case)]


def said(form: str, text: str) -> list[Said]:
    """What a report with places says, in order."""
    read: Any = json.loads(text)
    if form == "gitlab":
        places = [(issue["location"]["path"], issue["location"]["lines"]["begin"]) for issue in read]
        return [Said(issue["check_name"], *place) for issue, place in zip(read, places, strict=True)]
    found = []
    for result in read["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        found.append(
            Said(result["ruleId"], physical["artifactLocation"]["uri"], physical["region"]["startLine"]),
        )
    return found
