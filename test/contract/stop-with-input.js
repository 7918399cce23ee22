'use strict';

// Loaded before Prism. Ends Prism when its standard input closes, which the system does when the program that
// started Prism ends for any reason.
process.stdin.resume().on('end', () => process.exit(0));
