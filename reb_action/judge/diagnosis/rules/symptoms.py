"""Rules for symptoms rather than causes: they count when no other rule explains them."""

from reb_action.judge.diagnosis.rules.rule import Rule, rule
from reb_action.model.diagnosis import Cause

SYMPTOMS: tuple[Rule, ...] = (
    rule(
        Cause.NATIVE_EXTENSION_NOT_BUILT,
        "pip, setuptools, PyTorch's extension builder",
        r"Error (?:building|compiling objects for) extension",
        r"ninja: build stopped",
        r"Command '\['ninja'",
        r"Configuring incomplete, errors occurred",
        r"error: command '[^'\n]{1,200}' failed with exit",
        r"Failed building wheel for|Could not build wheels|^ {0,8}Failed to build \w",
        r"[Ff]ailed to build installable wheels",
        r"Getting requirements to build \w{1,10} did not run successfully",
        r"metadata-generation-failed|subprocess-exited-with-error",
        r"Command errored out with exit status",
    ),
    rule(
        Cause.REPOSITORY_DEFECT,
        "CUDA runtime, Lightning: a device number that is not there",
        r"invalid device ordinal",
        r"But your machine only has: ",
        of_ranks=Cause.GPU_HIDDEN,
    ),
    rule(
        Cause.REPOSITORY_DEFECT,
        "Python, PyTorch: errors that no installation mends",
        r"UnboundLocalError: ",
        r"NameError: name '\w{1,80}' is not defined",
        r"(?:Indentation|Tab)Error: ",
        r"SyntaxError: ",
        r"shapes cannot be multiplied",
        r"Expected all tensors to be on the same device",
        r"can't open file '",
        r"(?:bash|sh): .{0,80}\.(?:sh|py): (?:not found|No such file)",
        r"\.pyx' doesn't match any files",
        r"error: can't copy '.{1,200}': doesn't exist",
    ),
)
