# Errors go to the same stream as the words, so that they precede the word that they belong to. Stderr is kept open as 4:
# containerd 2.1 takes its end for the end of the process's output, and closes its input.
exec 4>&2 2>&1; trap '' PIPE;
exec 3<>"/dev/tcp/$0/$1" || exit 7;
echo open;
while read -r word; do
if read -t 0 -u 3; then echo "took $word"; read -r -t "$2" back <&3; echo "none 1"; exit 0; fi;
printf 'HEAD / HTTP/1.1\r\nHost: %s\r\n\r\n' "$3" >&3 ||
{ echo "failed $word"; exit 55; };
echo "took $word";
if read -r -t "$2" back <&3; then
while read -r -t "$2" rest <&3 && [[ $rest != $'\r' && -n $rest ]]; do :; done;
case "$back" in HTTP/*) echo "back $word";; *) echo "none other";; esac;
else echo "none $?"; fi;
done
