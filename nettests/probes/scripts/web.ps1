# Reads [Console]::In and not $input: the host itself reads the latter's words. No double quotes: a Windows command line would
# need them escaped.
$o=[Console]::Out;
function Why($e){$e.Exception.GetBaseException().SocketErrorCode};
$a=[Net.IPAddress]::Parse('HOST');
$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);
try{$c.Connect($a,PORT)}catch{$o.WriteLine('error '+(Why $_));exit 7};
$s=$c.GetStream();$s.ReadTimeout=1000*SECONDS;
$r=New-Object IO.StreamReader($s);$n=[string][char]13+[char]10;
$o.WriteLine('open');
while($null -ne ($w=[Console]::In.ReadLine())){
if($c.Client.Poll(0,'SelectRead')){$o.WriteLine('took '+$w);
try{$l=$r.ReadLine();$o.WriteLine('none closed')}catch{$o.WriteLine('none '+(Why $_))};exit 0};
$b=[Text.Encoding]::ASCII.GetBytes('HEAD / HTTP/1.1'+$n+'Host: NAME'+$n+$n);
try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};
$o.WriteLine('took '+$w);
try{$l=$r.ReadLine();$h=$l;while($h){$h=$r.ReadLine()}}
catch{$o.WriteLine('none '+(Why $_));continue};
if($null -eq $l){$o.WriteLine('none closed')}
elseif($l.StartsWith('HTTP/')){$o.WriteLine('back '+$w)}
else{$o.WriteLine('none other')}
}
