# Outstays its time.
sleep 300
