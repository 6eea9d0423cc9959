"""Report: the results of a run, for people and for machines.

In:  each `Verdict` of a run as it is settled, its `Subject`, and how it was made.
Out: a `Report`, and its JSON, journal, HTML page, Markdown, JUnit XML and replay files; read again, the verdicts of a run that
ended early (`resume`) and the failures of the last one (`history`). `progress` is what a terminal shows meanwhile, `explain`
says in words what a case does.
"""
