module countersign.example/client

go 1.19
