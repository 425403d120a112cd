"""Names that want to be more than text. Kubernetes would reject most; what a file holds is anybody's guess."""

MARKUP = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<!--<script>window.hacked=1",
    "--><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg onload=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "<iframe src=javascript:parent.hacked=1>",
    "<a href=javascript:window.hacked=1>x</a>",
    "javascript:window.hacked=1",
    "</style><style>*{display:none}</style>",
    "</title><h1>x</h1>",
    "</pre></details></main>",
    "</textarea><b>x",
    "<base href=https://example.com/>",
    "<meta http-equiv=refresh content=0;url=https://example.com>",
    "<link rel=stylesheet href=https://example.com/x.css>",
    "<object data=x>",
    "<embed src=x>",
    "<form action=https://example.com><input>",
    "<math><mi xlink:href=x>",
    "<details open ontoggle=window.hacked=1>",
    "<body onload=window.hacked=1>",
    "<![CDATA[x]]>",
    "<?xml version='1.0'?>",
    "&lt;script&gt;",
    "&#60;script&#62;window.hacked=1",
    "&amp;&quot;&apos;",
]
TEMPLATES = ["{{ 7 * 7 }}", "{% raw %}", "{{ self }}", "{# x #}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "`window.hacked=1`"]
QUOTES = ['"', "'", '"onmouseover="window.hacked=1', "' onfocus='window.hacked=1", "\\", "\\u003cscript>", '"};x={"']
CONTROLS = [
    "a\u202eb",
    "a\u2066b\u2069",
    "a\u200bb",
    "a\ufeffb",
    "a\u0000b",
    "a\u001b[31mb",
    "a\u2028b",
    "a\u0085b",
    "line\nbreak",
]
NAMES = [*MARKUP, *TEMPLATES, *QUOTES, *CONTROLS]
