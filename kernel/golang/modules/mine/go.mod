module example.org/mine

go 1.22
