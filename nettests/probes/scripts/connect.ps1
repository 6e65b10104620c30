# Reads [Console]::In and not $input: the host itself reads the latter's words. No double quotes: a Windows command line would
# need them escaped.
$o=[Console]::Out;
function Why($e){$e.Exception.GetBaseException().SocketErrorCode};
$a=[Net.IPAddress]::Parse('HOST');
$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);
try{$c.Connect($a,PORT)}catch{$o.WriteLine('error '+(Why $_));exit 7};
$s=$c.GetStream();$s.ReadTimeout=1000*SECONDS;
