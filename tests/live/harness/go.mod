module muster.test/live

go 1.23
