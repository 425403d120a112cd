"""Reports for CI: JUnit, SARIF, GitHub annotations, GitLab code quality."""
