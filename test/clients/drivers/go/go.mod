module countersign.example/driver

go 1.19

require countersign.example/client v0.0.0

replace countersign.example/client => ../../../../clients/go
