"""kubectl's templates."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_plan.errors import UsageError
from dra_plan.text.jsonpath import Template

DOCUMENT: dict[str, Any] = {
    "items": [
        {"name": "a", "fits": True, "nodes": ["n1", "n2", "n3"], "size": 3, "labels": {"k8s.io/arch": "arm", "x": "1"}},
        {"name": "b", "fits": False, "nodes": [], "size": 10, "owner": None},
        {"name": "c", "nodes": ["n9"], "size": 2.5},
    ],
    "count": 3,
    "text": "it's",
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.count}", "3"),
        ("{$.count}", "3"),
        ("{@.count}", "3"),
        ("{count}", "3"),
        ("{['count']}", "3"),
        ('{["count"]}', "3"),
        ("count: {.count}!", "count: 3!"),
        ("{.items[*].name}", "a b c"),
        ("{.items[*]['name','size']}", "a 3 b 10 c 2.5"),
        ("{.items.*.name}", "a b c"),
        ("{.items[*].nodes}", '["n1","n2","n3"] [] ["n9"]'),
        ("{.items[*].nodes[*]}", "n1 n2 n3 n9"),
        ("{.items[0].nodes[0]}", "n1"),
        ("{.items[-1].name}", "c"),
        ("{.items[0].nodes[1:]}", "n2 n3"),
        ("{.items[0].nodes[:-1]}", "n1 n2"),
        ("{.items[0].nodes[::2]}", "n1 n3"),
        ("{.items[0].nodes[0,2]}", "n1 n3"),
        ("{.items[0].nodes[ 0 : 1 ]}", "n1"),
        ("{..name}", "a b c"),
        ("{.items..name}", "a b c"),
        (r"{.items[0].labels.k8s\.io/arch}", "arm"),
        ("{.items[0].labels['k8s.io/arch']}", "arm"),
        ("{.items[0].labels.*}", "arm 1"),
        ("{.items[0].labels}", '{"k8s.io/arch":"arm","x":"1"}'),
        ("{.items[0].fits}", "true"),
        ("{.items[1].owner}", "null"),
        ('{.items[?(@.name=="b")].size}', "10"),
        ("{.items[?(@.name=='b')].size}", "10"),
        ('{.items[?(@.name!="b")].size}', "3 2.5"),
        ("{.items[?(@.size>2.5)].name}", "a b"),
        ("{.items[?(@.size>=2.5)].name}", "a b c"),
        ("{.items[?(@.size<3)].name}", "c"),
        ("{.items[?( @.size <= 3 )].name}", "a c"),
        ("{.items[?(3==@.size)].name}", "a"),
        ("{.items[?(@.fits==true)].name}", "a"),
        ("{.items[?(@.fits)].name}", "a b"),
        ("{.items[?(@.nodes[0])].name}", "a c"),
        ('{.items[?(@.nodes[0]=="n9")].name}', "c"),
        ('{.items[*].nodes[?(@=="n2")]}', "n2"),
        ("{.items[?(@.size==$.count)].name}", "a"),
        ('{.items[?(@.name=="3")].name}', ""),
        ('{range .items[*]}{.name}{"\\t"}{.size}{"\\n"}{end}', "a\t3\nb\t10\nc\t2.5\n"),
        ("{range .items[*]}{.name}:{range .nodes[*]} {@}{end};{end}", "a: n1 n2 n3;b:;c: n9;"),
        ("{range .items}{.name}{end}", "abc"),
        ('{range .items[*].nodes[*]}{.}{","}{end}', "n1,n2,n3,n9,"),
        ("{range .items[*]}{$.count}{end}", "333"),
        ("{.text}{'\\'s'}", "it's's"),
        ('{"a{b}"}', "a{b}"),
        ("{.nothing}", ""),
        ("{.items[7].name}", ""),
        ("{.count.deeper}", ""),
        ("{.items.name}", ""),
        ("[{.nothing[*].x}]", "[]"),
        ("{}", ""),
    ],
)
def test_templates(template: str, text: str) -> None:
    assert Template(template).render(DOCUMENT) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (".count", "no expression in '.count'; write expressions in braces: {.claimSets[*]}"),
        ("", "no expression in ''; write expressions in braces: {.claimSets[*]}"),
        ("{.count", "'}' is missing at character 8 of '{.count'"),
        ("{.items[}", "expected an index, a slice, '*', a quoted name or ?(...) at character 9 of '{.items[}'"),
        ("{.items[1.5]}", "expected an index, a slice, '*', a quoted name or ?(...) at character 9 of '{.items[1.5]}'"),
        ("{.items[0}", "expected ']' at character 10 of '{.items[0}'"),
        ("{.items[::0]}", "the step of a slice must be positive at character 9 of '{.items[::0]}'"),
        ("{.items[?(@.x=1)]}", "expected ==, !=, <, <=, > or >= at character 14 of '{.items[?(@.x=1)]}'"),
        (
            "{.items[?(name)]}",
            "expected @, a quoted text, a number, true or false at character 11 of '{.items[?(name)]}'",
        ),
        ('{.items[?(@.x=="a)]}', "quote is not closed at character 21 of '{.items[?(@.x==\"a)]}'"),
        ("{range .items[*]}{.name}", "{range} without {end} at character 25 of '{range .items[*]}{.name}'"),
        ("{.count}{end}", "{end} without {range} at character 9 of '{.count}{end}'"),
        ("{.items[*]..}", "expected a field name at character 13 of '{.items[*]..}'"),
        ("{.count]}", "expected a field name at character 8 of '{.count]}'"),
    ],
)
def test_malformed_templates(template: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Template(template)
    assert str(caught.value) == f"--output jsonpath: {message}"


@given(st.text(alphabet="{}[]().$@*?:,'\"=<>!\\ abrange end0-1n", max_size=30))
def test_any_text_is_a_template_or_a_usage_error(source: str) -> None:
    try:
        template = Template(source)
    except UsageError:
        return
    assert isinstance(template.render(DOCUMENT), str)
