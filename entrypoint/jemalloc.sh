# Preload jemalloc, where the image has it and the operator has no preload of his own.
for library in "/usr/lib/$(uname -m)-linux-gnu/libjemalloc.so.2" /usr/lib64/libjemalloc.so.2; do
  [ -z "$LD_PRELOAD" ] && [ -f "$library" ] && export LD_PRELOAD=$library
done
