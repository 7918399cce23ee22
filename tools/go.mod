// The programs that check pressroom. They have a module of their own, so that what they need does not
// become something the service needs.
module pressroom/tools

go 1.26.8
