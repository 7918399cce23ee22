// The program that writes the documentation as a static site.
module pressroom.example/pressroom/tools/site

go 1.26.8

require github.com/yuin/goldmark v1.8.2
