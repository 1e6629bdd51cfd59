module muster.test/extract

go 1.26.0
