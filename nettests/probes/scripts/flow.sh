# dd reads a whole datagram; bash's read reads its first byte, and loses the others.
exec 2>/dev/null; trap '' PIPE;
exec 3<>"/dev/udp/$0/$1" || exit 7;
echo open;
while read -r word; do
printf hostname >&3;
if back=$(timeout "$2" dd bs=2048 count=1 <&3) && [[ -n $back ]];
then echo "back $word $back"; else echo "none $word"; fi;
done
