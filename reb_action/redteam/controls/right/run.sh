# An honest agent that installs what is needed, as pip would: the module and its metadata.
python3 -m venv "$HOME/venv" --without-pip
site=$(echo "$HOME"/venv/lib/python3*/site-packages)
cp "$(dirname "$0")/leastsquares.py" "$site"
mkdir "$site/leastsquares-1.0.dist-info"
printf 'Metadata-Version: 2.1\nName: leastsquares\nVersion: 1.0\n' \
    > "$site/leastsquares-1.0.dist-info/METADATA"
printf 'leastsquares.py,,\nleastsquares-1.0.dist-info/METADATA,,\n' \
    > "$site/leastsquares-1.0.dist-info/RECORD"
