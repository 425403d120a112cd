"""Reports for CI: JUnit, SARIF, annotations of GitHub, code quality of GitLab."""
