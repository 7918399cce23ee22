// The conformance suite imports a function of fs that exists since Node.js 22. No check of servers calls the
// function, so older versions of Node.js get a stub and can run the published suite.
import fs from 'node:fs';
import { register } from 'node:module';

if (!fs.globSync) {
  const shim = 'export * from "node:fs"; export function globSync() { throw new Error("this needs Node.js 22"); }';
  const hook = `export async function resolve(specifier, context, next) {
    if (specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')) {
      return { url: 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(shim)}), shortCircuit: true };
    }
    return next(specifier, context);
  }`;
  register('data:text/javascript,' + encodeURIComponent(hook), import.meta.url);
}
