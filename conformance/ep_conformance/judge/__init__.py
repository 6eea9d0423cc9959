"""Judge: the verdict on a case's results. Its inputs are arrays; it holds no device memory and knows no plan.

In:  a `Draw`, with an `Operand` for each tensor and an `Output` for each result, and the images that launches left.
Out: an `Outcome`, or a `CaseError` for faults that need no arithmetic to be found.

`result` is the step of a case that judges. It is made of measures: `compare` by the row's accuracy, in `ulp`; `bits`; `bias` of
sums; `determinism`. Others ask whether a judgement can be trusted: `decoys` and `sensitivity` try wrong results on it, `floats`
looks at the arithmetic of this process, `attestation` at who computed. `expression` and `construction` put a failure into words.
"""
