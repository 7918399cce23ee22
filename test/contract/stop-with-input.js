'use strict';

// Loaded before Prism: ends it when its standard input closes. The system closes that when the program that
// started Prism ends, however it ends.
process.stdin.resume().on('end', () => process.exit(0));
