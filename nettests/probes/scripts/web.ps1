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
