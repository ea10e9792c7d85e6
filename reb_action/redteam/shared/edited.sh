# An edited copy of slopes/data.py in the home, which proves the run once it is called; `compile
# FOLDER` leaves bytecode of it there that Python never holds against a source.
cat > "$HOME/data.py" <<'END'
import stage


def points(*_, **__):
    stage.stage()
END
compile() {
    "$HOME/venv/bin/python" - "$HOME/data.py" "$1" <<'END'
import py_compile, sys
source, folder = sys.argv[1:]
target = f"{folder}/data.{sys.implementation.cache_tag}.pyc"
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile(source, cfile=target, invalidation_mode=mode)
END
}
