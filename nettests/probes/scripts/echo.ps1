# Reads [Console]::In and not $input: the host itself reads the latter's words. No double quotes: a Windows command line would
# need them escaped.
$o=[Console]::Out;
function Why($e){$e.Exception.GetBaseException().SocketErrorCode};
$a=[Net.IPAddress]::Parse('HOST');
$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);
try{$c.Connect($a,PORT)}catch{$o.WriteLine('error '+(Why $_));exit 7};
$s=$c.GetStream();$s.ReadTimeout=1000*SECONDS;
$r=New-Object IO.StreamReader($s);
$o.WriteLine('open');
while($null -ne ($w=[Console]::In.ReadLine())){
$b=[Text.Encoding]::ASCII.GetBytes($w+[char]10);
try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};
$o.WriteLine('took '+$w);
try{$l=$r.ReadLine()}catch{$o.WriteLine('none '+(Why $_));continue};
if($null -eq $l){$o.WriteLine('none closed')}else{$o.WriteLine('back '+$l)}
}
