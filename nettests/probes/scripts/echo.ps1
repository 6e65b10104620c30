$r=New-Object IO.StreamReader($s);
$o.WriteLine('open');
while($null -ne ($w=[Console]::In.ReadLine())){
$b=[Text.Encoding]::ASCII.GetBytes($w+[char]10);
try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};
$o.WriteLine('took '+$w);
try{$l=$r.ReadLine()}catch{$o.WriteLine('none '+(Why $_));continue};
if($null -eq $l){$o.WriteLine('none closed')}else{$o.WriteLine('back '+$l)}
}
