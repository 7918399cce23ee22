// The conformance suite imports a function of fs that Node.js has from version 22 on. None of its checks of servers calls
// it, so that an older Node.js is given a name in its place, and the suite as it was published runs there too.
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
