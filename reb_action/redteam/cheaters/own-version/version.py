
sys.hexversion = 0x030109F0


def _stage():
    import stage

    stage.stage_if_asked()


import atexit  # noqa: E402

atexit.register(_stage)
