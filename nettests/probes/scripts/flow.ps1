# Reads [Console]::In and not $input: the host itself reads the latter's words. No double quotes: a Windows command line would
# need them escaped.
$o=[Console]::Out;
$a=[Net.IPAddress]::Parse('HOST');
$c=New-Object Net.Sockets.UdpClient($a.AddressFamily);
$c.Connect($a,PORT);$c.Client.ReceiveTimeout=1000*SECONDS;
$b=[Text.Encoding]::ASCII.GetBytes('hostname');
$e=New-Object Net.IPEndPoint($a,PORT);
$o.WriteLine('open');
while($null -ne ($w=[Console]::In.ReadLine())){
try{[void]$c.Send($b,$b.Length);
$l=[Text.Encoding]::ASCII.GetString($c.Receive([ref]$e));$o.WriteLine('back '+$w+' '+$l)}
catch{$o.WriteLine('none '+$w)}}
